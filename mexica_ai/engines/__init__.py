"""Engines: anything that answers a position with a turn, behind one interface and named by a spec.

The interface is `Engine` (base.py); `parse_spec` and `make_engine` (specs.py) turn text such as
``mcts,time=2`` into one. The kinds live in a file each and are imported when first made, so that searching
works without what the others need (grpc, say).
"""

from mexica_ai.engines.base import Engine
from mexica_ai.engines.specs import KINDS, EngineSpec, make_engine, parse_spec

__all__ = ["KINDS", "Engine", "EngineSpec", "make_engine", "parse_spec"]
