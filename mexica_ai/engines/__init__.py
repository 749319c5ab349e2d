"""Engines: everything that answers a position with a turn, behind one interface and named by a spec.

The interface is `Engine` (base.py); `parse_spec` (specs.py) reads text such as ``mcts,time=2``, and `make_engine`
(make.py) makes the engine. The module of a kind is imported when its first engine is made, so that searching works
without the packages that other kinds need, such as grpcio. A `Policy` (policy.py) is Python code of users as it plays
inside an engine or an environment.
"""

from mexica_ai.engines.base import Engine
from mexica_ai.engines.make import make_engine
from mexica_ai.engines.specs import KINDS, EngineSpec, parse_spec

__all__ = ["KINDS", "Engine", "EngineSpec", "make_engine", "parse_spec"]
