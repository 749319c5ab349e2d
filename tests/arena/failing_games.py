"""What workers do in place of a game in tests of how they end; each of them imports this, and so it imports little."""

import os
import signal
import time

from mexica_ai.arena import play
from mexica_ai.arena.play import play_game


def play_or_die(task):
    """Die in place of the first engine's worker, as long as engines are not isolated."""
    if task.game.seating[0] == 0 and not task.isolated:
        os.kill(os.getpid(), signal.SIGKILL)
    return play_game(task)


def play_or_end(task):
    """Like `play_or_die`, with SIGTERM."""
    if task.game.seating[0] == 0 and not task.isolated:
        os.kill(os.getpid(), signal.SIGTERM)
    return play_game(task)


def die(task):
    os._exit(1)


def hang_in_native_code(task):
    """Act like an engine that ignores its stop flag, unless engines are isolated."""
    if not task.isolated:
        play.KILL_AFTER_S = 0.2
        with play._watchdog.watch(0.1, 0.1):
            time.sleep(1000)
    return play_game(task)
