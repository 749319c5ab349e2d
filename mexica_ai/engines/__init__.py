"""Engines: everything that answers a position with a turn, behind one interface and named by a spec.

The interface is `Engine` (base.py); `parse_spec` and `make_engine` (specs.py) make one from text such as
``mcts,time=2``. The module of a kind is imported when its first engine is made, so that searching works
without the packages that other kinds need, such as grpcio.
"""

from mexica_ai.engines.base import Engine
from mexica_ai.engines.specs import KINDS, EngineSpec, make_engine, parse_spec

__all__ = ["KINDS", "Engine", "EngineSpec", "make_engine", "parse_spec"]
