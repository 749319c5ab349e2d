"""Engine specs: the text that names an engine, `kind[:target][,key=value]...`, read strictly.

`KINDS` lists the engine kinds. Examples: ``mcts``, ``mcts,time=2,threads=2``, ``mcts,level=3``,
``random,seed=7``, ``grpc:localhost:50051,time=1``, ``cmd:"./my-engine --flag",name=mine``, ``py:my_module:MyClass``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from cext.core.search.options import OPTIONS
from mexica_ai.analysis import levels
from mexica_ai.analysis.limits import AUTO, MAX_BATCH, MAX_MEMORY_MB, MAX_THREADS
from mexica_ai.analysis.ratings import MAX_ELO
from mexica_ai.io.errors import NotationError
from mexica_ai.io.numbers import MAX_INT64, MAX_TIME_S, is_time
from mexica_ai.io.suggest import did_you_mean
from mexica_ai.rpc import targets

SEARCH_OPTIONS = OPTIONS  # (default, least, most) by name, docs/search.md


@dataclass(frozen=True)
class EngineSpec:
    """A parsed spec.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    target : str or None
        The command line of `cmd`, the module and the class of `py`, or the address of `grpc`; unquoted. None for
        other kinds.
    options : dict
        Typed values by key; only those given.
    """

    kind: str
    target: str | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        head = self.kind if self.target is None else f"{self.kind}:{_quoted(self.target)}"
        return ",".join([head, *(f"{key}={_quoted(_text(value))}" for key, value in self.options.items())])


# Parsers of values, of the command line, too. Their ValueError names the expected form.


_PLAIN = r"(?:\d+(?:\.\d*)?|\.\d+)"
_NUMBER = rf"{_PLAIN}(?:[eE][+-]?\d{{1,3}})?"
_UNITS = {"": 1, "ms": 1e-3, "s": 1, "m": 60, "min": 60, "h": 3600}  # of a time, in seconds


def seconds(text: str) -> float:
    """Read a time, above 0: a number of seconds such as 2, 0.5 or 1e3, or one with a unit, such as 2m."""
    match = re.fullmatch(rf"({_NUMBER})({'|'.join(_UNITS)})", text, re.ASCII)
    if not (match and is_time(value := float(match[1]) * _UNITS[match[2]])):
        raise ValueError(f"a number of seconds above 0, at most {MAX_TIME_S}{_hint(text, is_time=True)}")
    return value


def whole_number(low: int, high: int = MAX_INT64, others: str = "") -> Callable[[str], int]:
    """Return the parser of a whole number from `low` (0 or more) to `high`, such as 2000 or 2e3.

    `others` ends what its error expects: what else the caller reads.
    """

    def parse(text: str) -> int:
        value = _whole(text)
        if value is None or not low <= value <= high:
            shown = "2**63 - 1" if high == MAX_INT64 else high
            raise ValueError(f"a whole number from {low} to {shown}{others}{_hint(text, is_whole=True)}")
        return value

    return parse


def thread_count(high: int = MAX_THREADS) -> Callable[[str], int | str]:
    """Return the parser of a number of threads, up to `high`, or "auto" (`limits.resolve_threads`)."""
    parse = whole_number(1, high, f", or {AUTO}")
    return lambda text: AUTO if text == AUTO else parse(text)


def _whole(text: str) -> int | None:
    """Return the whole number that a text is, exactly; None if it is none."""
    if re.fullmatch(r"0*\d{1,19}", text, re.ASCII):
        return int(text[-19:])
    if re.fullmatch(rf"{_PLAIN}[eE]\+?\d{{1,2}}", text, re.ASCII):
        number = Fraction(text)
        return int(number) if number.denominator == 1 else None
    return None


def _number(low: float, high: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        if not (re.fullmatch(_NUMBER, text, re.ASCII) and low <= float(text) <= high):
            raise ValueError(f"a number from {low:g} to {high:g}{_hint(text)}")
        return float(text)

    return parse


def _hint(text: str, *, is_time: bool = False, is_whole: bool = False) -> str:
    """Return advice on a number in a foreign notation, such as 1,000 or 2k; empty for other text."""
    groups = r"\d{1,3}([,_' ]\d{3})+" if is_whole else r"\d{1,3}([_' ]\d{3})+"
    if re.fullmatch(groups, text, re.ASCII):
        return f"; write {re.sub('[^0-9]', '', text)}, without separators"
    if (match := re.fullmatch(r"(\d+),(\d+)([a-z]*)", text, re.ASCII)) and not is_whole:
        return f"; write {match[1]}.{match[2]}{match[3]}, with a point"
    match = re.fullmatch(rf"({_PLAIN}) ?([A-Za-z]+)", text, re.ASCII)
    if match and is_time:
        return f"; units are {', '.join(filter(None, _UNITS))}, as in 2m"
    if match and match[2].lower() in ("k", "m"):
        return f"; write {match[1]}e{3 if match[2].lower() == 'k' else 6}"
    return f"; write {match[1]}, without a unit" if match else ""


def _printable(expected: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if not text or not text.isprintable():
            raise ValueError(expected)
        return text

    return parse


KEYS: dict[str, Callable[[str], Any]] = {
    "time": seconds,
    "iterations": whole_number(1),
    "threads": thread_count(),
    "memory": whole_number(1, MAX_MEMORY_MB),
    "margin": seconds,
    "width": whole_number(1, 100_000),
    "level": whole_number(1, levels.HIGHEST),
    "elo": whole_number(1, MAX_ELO),
    "temper": whole_number(0),
    "seed": whole_number(0),
    "name": _printable("a label of printable characters"),
    "weights": _printable("a file, or for grpc the name of weights of the server"),
    "evaluator": _printable("a file"),
    "batch": whole_number(1, MAX_BATCH),
    "batches": whole_number(1, 2),
    "reuse": whole_number(0, 1),
    "ponder": seconds,
    "tls_ca": _printable("a PEM file with the authorities that sign the server's certificate"),
    "tls_certificate": _printable("a PEM file"),
    "tls_key": _printable("a PEM file"),
    "authority": _printable("a name of the server's certificate"),
    "token_file": _printable("a file with a bearer token"),
    # Options of the search, see docs/search.md.
    **{name: _number(low, high) for name, (_, low, high) in SEARCH_OPTIONS.items()},
}
_BUDGET = ("time", "iterations", "threads", "memory", "seed", "name")
_ONE_THREAD = tuple(key for key in _BUDGET if key != "threads")


_ADDRESS = "HOST:PORT"
_CLASS = "MODULE:CLASS"
_DOTTED = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"  # names of Python


@dataclass(frozen=True)
class EngineKind:
    """A kind of engine: the path of its class, the keys it takes, and the name of its target ("" for none).

    Kinds with `is_instant` answer at once, or keep no time, so they ignore the limits; they take these keys like every
    engine. To those with `is_restrictable` one can say which first actions to allow or avoid. `targets` lists all
    targets, where there are few; `extra` is the extra of this package that the kind needs.
    """

    path: str  # "module:class", imported when the first engine of the kind is made
    summary: str
    keys: tuple[str, ...] = _BUDGET
    target: str = ""
    is_instant: bool = False
    is_restrictable: bool = False
    targets: tuple[str, ...] = ()
    extra: str = ""


KINDS = {
    "mcts": EngineKind(
        "mexica_ai.engines.native:MctsEngine",
        "the search of this project",
        (*_BUDGET, "level", "elo", "weights", "evaluator", "batch", "batches", "reuse", "ponder", *SEARCH_OPTIONS),
        is_restrictable=True,
    ),
    "uct": EngineKind("mexica_ai.engines.native:UctEngine", "baseline: textbook UCT over single actions", _ONE_THREAD),
    "beam": EngineKind(
        "mexica_ai.engines.native:BeamEngine",
        "baseline: the best whole turn by beam search (width=40)",
        (*_ONE_THREAD, "width", "weights"),
    ),
    "greedy": EngineKind(
        "mexica_ai.engines.native:GreedyEngine",
        "baseline: the best next action, again and again",
        (*_BUDGET, "weights"),
        is_instant=True,
    ),
    "planner": EngineKind(
        "mexica_ai.engines.native:PlannerEngine",
        "sparring partner of another style, not in all games",
        (*_BUDGET, "temper", "weights"),
        is_instant=True,
    ),
    "random": EngineKind("mexica_ai.engines.native:RandomEngine", "baseline: random legal actions", is_instant=True),
    "cmd": EngineKind(
        "mexica_ai.engines.process:ProcessEngine",
        "a program that speaks the stdio protocol",
        ("time", "iterations", "margin", "seed", "name"),
        "a command line",
    ),
    "py": EngineKind(
        "mexica_ai.engines.python:PythonEngine",
        "a class of Python code, which chooses turns or actions",
        ("time", "iterations", "seed", "name", "weights"),
        _CLASS,
    ),
    "grpc": EngineKind(
        "mexica_ai.engines.grpc:GrpcEngine",
        "a server (`mexica-ai serve`)",
        (*_BUDGET, "weights", "tls_ca", "tls_certificate", "tls_key", "authority", "token_file"),
        _ADDRESS,
        is_restrictable=True,
        extra="client",
    ),
    "spiel": EngineKind(
        "mexica_ai.env.spiel_bots:SpielEngine",
        "a bot of OpenSpiel: mcts, ismcts, random, uniform",
        ("time", "iterations", "seed", "name"),
        "a bot of OpenSpiel",
        is_instant=True,
        targets=("mcts", "ismcts", "random", "uniform"),
        extra="spiel",
    ),
}


def parse_spec(text: str) -> EngineSpec:
    """Read a spec, `kind[:target][,key=value]...`.

    A target or a value with a comma must be in double or single quotes. In double quotes, a backslash escapes
    a quote or a backslash.

    Parameters
    ----------
    text : str
        For example ``mcts,time=2,threads=2``.

    Returns
    -------
    EngineSpec

    Raises
    ------
    NotationError
        The kind or a key is unknown, a key is given twice or without another that it needs, or a value has the wrong
        type.
    """

    def error(problem: str, reason: str = "BAD_ENGINE_SPEC") -> NotationError:
        return NotationError(f"engine spec {text!r}: {problem}", reason=reason, path="engine")

    try:
        text.encode()
    except UnicodeEncodeError:  # of bytes of the command line; no record could name the engine
        raise error("expected text in UTF-8") from None
    head = re.split("[:,]", text, maxsplit=1)[0]
    kind = KINDS.get(head)
    if kind is None:
        known = f"{', '.join(KINDS)}{did_you_mean(head, KINDS)}"
        raise error(f"unknown kind {head!r}; known kinds: {known}", "UNKNOWN_ENGINE_KIND")
    at = len(head)
    target = None
    if text[at : at + 1] == ":":
        if not kind.target:
            raise error(f"{head} takes no target; one is given after the colon")
        target, at = _scan_value(text, at + 1, error)
    if kind.target and not (target or "").strip():
        raise error(f"{head} needs {kind.target} as its target, {head}:TARGET")
    if kind.targets and target not in kind.targets:
        hint = did_you_mean(target or "", kind.targets)
        raise error(f"{head} has no {target!r}; expected one of {', '.join(kind.targets)}{hint}", "BAD_ENGINE_VALUE")
    if kind.target == _ADDRESS and target is not None:
        try:
            targets.parse(target)
        except ValueError as expected:
            raise error(f"{target} is not {expected}", "BAD_ENGINE_VALUE") from None
    if kind.target == _CLASS and not re.fullmatch(rf"{_DOTTED}:{_DOTTED}", target or ""):
        raise error(f"{target} is not {_CLASS}, such as my_policies:Careful", "BAD_ENGINE_VALUE")

    options: dict[str, Any] = {}
    while at < len(text):
        match = re.compile(r",([^=,]*)=").match(text, at)
        if match is None:
            hint = "; write a number with a point, or without separators" if re.match(r",\d", text[at:]) else ""
            raise error(f"expected ,key=value at {text[at:]!r}{hint}")
        key = match[1]
        if key not in kind.keys:
            hint = did_you_mean(key, kind.keys)
            raise error(
                f"unknown key {key!r} for {head}; known keys: {', '.join(kind.keys)}{hint}", "UNKNOWN_ENGINE_KEY"
            )
        if key in options:
            raise error(f"key {key!r} is given twice")
        value, at = _scan_value(text, match.end(), error)
        try:
            options[key] = KEYS[key](value)
        except ValueError as expected:
            raise error(f"{key}={value} is not {expected}", "BAD_ENGINE_VALUE") from None
    for name in ("batch", "batches"):
        if name in options and "evaluator" not in options:
            raise error(f"{name} is given without evaluator; expected both")
    if "level" in options and "elo" in options:
        raise error("level and elo are given; expected one of them")
    return EngineSpec(head, target, options)


def takes_all_cores(
    spec: EngineSpec, *, level: int | None = None, elo: int | None = None, seed: int | None = None
) -> bool:
    """Return whether an engine may search with all cores for a person who has not said with how many threads.

    So does the search of this project at full strength. A seed is to repeat a turn, and levels are measured with one
    thread.

    Parameters
    ----------
    spec : EngineSpec
    level, elo, seed : int, optional
        Those of the command line, which the keys of the spec override.
    """
    options = spec.options
    if not options.keys() & {"level", "elo"}:
        options = options | {"level": level, "elo": elo}
    is_full = options.get("level") in (None, levels.HIGHEST) and options.get("elo") is None
    return spec.kind == "mcts" and is_full and options.get("seed", seed) is None


def level_spec(text: str) -> str:
    """Return the spec that names an opponent: ``level=3`` is short for ``mcts,level=3``, ``elo=`` likewise."""
    return f"mcts,{text}" if text.startswith(("level=", "elo=")) else text


def _scan_value(text: str, at: int, error: Callable[[str], NotationError]) -> tuple[str, int]:
    """Read the value at index `at`, quoted or up to the next comma; return it and the index after it."""
    if text[at : at + 1] not in ('"', "'"):
        value = text[at:].partition(",")[0]
        return value, at + len(value)
    pattern = r'"((?:[^"\\]|\\.)*)"' if text[at] == '"' else r"'([^']*)'"
    match = re.compile(pattern, re.DOTALL).match(text, at)
    if match is None:
        raise error(f"the quote at {text[at:]!r} is not closed")
    if text[match.end() : match.end() + 1] not in ("", ","):
        raise error(f"expected a comma or the end after {match[0]}, got {text[match.end() :]!r}")
    value = re.sub(r'\\(["\\])', r"\1", match[1]) if text[at] == '"' else match[1]
    return value, match.end()


def _quoted(text: str) -> str:
    """Return a value in the form that `_scan_value` reads back."""
    if "," not in text and text[:1] not in ('"', "'"):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _text(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{Decimal(str(value)):f}".rstrip("0").rstrip(".")  # all digits, without an exponent; 1.0 is 1
