"""Shut the Box for mexica-ai."""

from mexica_ai.game.registry import GameEntry
from mexica_ai_shutbox.codec import CODEC
from mexica_ai_shutbox.ops import GAME

ENTRY = GameEntry("shutbox", GAME, CODEC)
