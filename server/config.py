"""What can be configured about a server, and reading it from flags, the environment and a TOML file."""

from __future__ import annotations

import dataclasses
import difflib
import ipaddress
import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from mexica_ai.errors import SearchError, Violation
from mexica_ai.limits import MAX_CANDIDATES, MAX_INT64, MAX_MEMORY_MB, MAX_THREADS, MAX_TIME_S, is_time
from mexica_ai.strict import quote

ENVIRONMENT_PREFIX = "MEXICA_AI_"
CONFIG_VARIABLE = "MEXICA_AI_CONFIG"
# Variables of the build and of the tests, which a shell that serves may have set.
_OTHER_VARIABLES = {CONFIG_VARIABLE, "MEXICA_AI_NATIVE", "MEXICA_AI_SEED", "MEXICA_AI_WALKS"}
_MAX_FILE_BYTES = 1 << 20
_UNITS = ("_s", "_mb")  # endings of fields that flags leave out
LOG_FORMATS = ("text", "json")
LOG_LEVELS = ("debug", "info", "warning", "error")


@dataclass(frozen=True)
class Kind:
    """A kind of value.

    Attributes
    ----------
    expected : str
        What messages say.
    accepts : callable
        Whether a value is one of the kind.
    read : callable
        Turns text into a value; its ValueError means that the text is none.
    metavar : str
        How help names a value.
    """

    expected: str
    accepts: Callable[[Any], bool]
    read: Callable[[str], Any]
    metavar: str

    def parse(self, text: str) -> Any:
        """Return the value that a text gives; ValueError, saying what is expected, if it gives none."""
        try:
            value = self.read(text)
        except ValueError:
            raise ValueError(self.expected) from None
        if not self.accepts(value):
            raise ValueError(self.expected)
        return value


def _read_integer(text: str) -> int:
    if not re.fullmatch(r"-?\d{1,20}", text, re.ASCII):
        raise ValueError
    return int(text)


def _read_number(text: str) -> float:
    if not re.fullmatch(r"-?(\d+(\.\d*)?|\.\d+)", text, re.ASCII):
        raise ValueError
    return float(text)


def _read_switch(text: str) -> bool:
    if text not in ("true", "false", "1", "0"):
        raise ValueError
    return text in ("true", "1")


def _integer(low: int, high: int, metavar: str = "N") -> Kind:
    return Kind(
        f"an integer from {low} to {high}",
        lambda value: type(value) is int and low <= value <= high,
        _read_integer,
        metavar,
    )


def _seconds(low: float = 0.0, can_be_0: bool = False) -> Kind:
    smallest = f"of at least {low:g}" if low or can_be_0 else "above 0"
    return Kind(
        f"a number of seconds {smallest}, at most {MAX_TIME_S}",
        lambda value: (
            (is_time(value) and value >= low) or (can_be_0 and type(value) in (int, float) and value == 0)
        ),
        _read_number,
        "SECONDS",
    )


def _choice(names: tuple[str, ...]) -> Kind:
    return Kind(f"one of {', '.join(names)}", lambda value: value in names, str, "|".join(names))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and "\0" not in value


_HOST = Kind("the name or the address of an interface", _is_text, str, "HOST")
_PATH = Kind("the path of a file", lambda value: _is_text(value) and bool(value), str, "FILE")
_SWITCH = Kind("true or false", lambda value: isinstance(value, bool), _read_switch, "")


def _field(default: Any, kind: Kind, summary: str, default_text: str = "") -> Any:
    metadata = {"kind": kind, "summary": summary, "default_text": default_text}
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True)
class ServerConfig:
    """The configuration of one server, checked when made; files that it names are read later.

    Parameters
    ----------
    host : str
        Address to listen on. Only loopback addresses, unless there is TLS with `tokens_file` or
        `tls_client_ca`, or else `insecure`: whoever can connect can use the processor.
    port : int
        0 to 65535; 0 takes a free one.
    threads : int
        Native threads of a search, default and cap; at least 1.
    slots : int, optional
        Searches at the same time, at least 1; by default as many as the processor cores hold. Other calls
        wait.
    max_waiting : int
        Calls that may wait for a slot, at least 0; the next one is rejected at once.
    max_waiting_per_caller : int
        Calls of one caller that may wait for a slot, and others of it that may wait for a light worker; at
        least 1.
    default_time_s, max_time_s : float
        Time of a search in seconds, where a call asks for none, and cap; above 0.
    max_iterations : int
        Cap of iterations; at least 1.
    memory_mb : int
        Memory for the nodes of each search in MiB, default and cap; at least 1.
    total_memory_mb : int, optional
        Memory for the nodes of all searches together in MiB, at least 1 for each slot; by default `memory_mb`
        for each slot.
    max_candidates : int
        Cap of candidate turns in an answer; at least 1.
    max_record_turns : int
        Turns of a record that is sent, at most; at least 1.
    min_interval_s : float
        Seconds between two partial results of a search, at least; 0 or more.
    light_workers : int
        Threads that answer the calls that do not search but take long, 1 to 64.
    deadline_margin_s : float
        What a search leaves of the caller's remaining deadline for stopping, answering and the way back; at
        least 0.02. (The way back takes under 1 ms on loopback; stopping up to 10 ms.) On overbooked cores,
        where twice the largest lateness of recent answers exceeds this, it is that, up to four times as much.
    grace_s : float
        How long a server that shuts down lets searches run before it stops them; they then answer the best so
        far.
    tls_certificate, tls_key : str, optional
        PEM files of the server's certificate chain and its private key; both or none. With them the server
        speaks TLS only. Changed files are used for new connections.
    tls_client_ca : str, optional
        PEM file of the authorities whose client certificates are accepted; with it one is required.
    tokens_file : str, optional
        File of bearer tokens, of which every call but health checks then needs one; see `Tokens`.
    insecure : bool
        Allow addresses other than loopback without encryption or without authentication.
    metrics_port : int, optional
        Port on which Prometheus reads metrics over HTTP, 0 to 65535; 0 takes a free one. On a loopback
        address, unless `insecure`.
    log_format : str
        "text" or "json": the form of a line of the log.
    log_level : str
        "debug", "info", "warning" or "error".

    Raises
    ------
    SearchError
        Reason INVALID_CONFIG, naming the field, what was given and what was expected.
    """

    host: str = _field("127.0.0.1", _HOST, "the address to listen on")
    port: int = _field(50051, _integer(0, 65535), "the port to listen on; 0: any that is free")
    threads: int = _field(1, _integer(1, MAX_THREADS), "threads of one search at most")
    slots: int | None = _field(
        None,
        _integer(1, 1024),
        "searches at a time",
        "as many as the processors allow with --threads each",
    )
    max_waiting: int = _field(64, _integer(0, 10**6), "calls that may wait for a slot")
    max_waiting_per_caller: int = _field(16, _integer(1, 10**6), "calls of one caller that may wait")
    default_time_s: float = _field(1.0, _seconds(), "time of a search that asks for none")
    max_time_s: float = _field(60.0, _seconds(), "time of one search at most")
    max_iterations: int = _field(10**12, _integer(1, MAX_INT64), "iterations of one search at most")
    memory_mb: int = _field(1024, _integer(1, MAX_MEMORY_MB, "MB"), "memory of one search's tree at most")
    total_memory_mb: int | None = _field(
        None,
        _integer(1, 1024 * MAX_MEMORY_MB, "MB"),
        "memory of the trees of all searches together",
        "--memory for each slot",
    )
    max_candidates: int = _field(100, _integer(1, MAX_CANDIDATES), "candidate turns of an answer at most")
    max_record_turns: int = _field(2000, _integer(1, 10**6), "turns of a record at most")
    min_interval_s: float = _field(0.05, _seconds(can_be_0=True), "time between partial results at least")
    light_workers: int = _field(2, _integer(1, 64), "threads for the calls that do not search")
    deadline_margin_s: float = _field(0.075, _seconds(0.02), "what a search leaves of the caller's deadline")
    grace_s: float = _field(10.0, _seconds(), "time that running searches get when the server ends")
    tls_certificate: str | None = _field(None, _PATH, "PEM file of the server's certificate chain")
    tls_key: str | None = _field(None, _PATH, "PEM file of the server's private key")
    tls_client_ca: str | None = _field(
        None, _PATH, "PEM file of authorities; a client certificate of theirs is then required"
    )
    tokens_file: str | None = _field(
        None, _PATH, "file of bearer tokens, NAME TOKEN in each line; one is then required"
    )
    insecure: bool = _field(
        False, _SWITCH, "allow an address that others can reach without encryption or authentication"
    )
    metrics_port: int | None = _field(
        None, _integer(0, 65535), "port of the metrics for Prometheus; 0: any that is free", "no metrics"
    )
    log_format: str = _field("text", _choice(LOG_FORMATS), "the form of the log")
    log_level: str = _field("info", _choice(LOG_LEVELS), "the least that is logged")

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            kind = field.metadata["kind"]
            if not (kind.accepts(value) or (value is None and field.default is None)):
                self._refuse(field.name, kind.expected)
        if self.slots is None:
            object.__setattr__(self, "slots", min(1024, max(1, (os.cpu_count() or 1) // self.threads)))
        if self.total_memory_mb is None:
            object.__setattr__(self, "total_memory_mb", self.memory_mb * self.slots)
        if self.total_memory_mb < self.slots:
            self._refuse("total_memory_mb", f"at least {self.slots}: 1 MB for each slot")
        self._check_security()

    def _check_security(self) -> None:
        for name, needed in (
            ("tls_certificate", "tls_key"),
            ("tls_key", "tls_certificate"),
            ("tls_client_ca", "tls_certificate"),
        ):
            if getattr(self, name) is not None and getattr(self, needed) is None:
                self._refuse(name, f"{needed} too")
        has_callers = self.tls_certificate and (self.tokens_file or self.tls_client_ca)
        if not (self.insecure or has_callers or is_loopback(self.host)):
            self._refuse(
                "host",
                "a loopback address (127.0.0.1, ::1 or localhost), or both encryption (tls_certificate and "
                "tls_key) and authentication (tokens_file or tls_client_ca), or else insecure",
            )

    @property
    def address(self) -> str:
        """`host:port` as gRPC wants it."""
        return format_address(self.host, self.port)

    @property
    def metrics_host(self) -> str:
        """The address on which metrics are served: the server's own if that is allowed, else loopback."""
        return self.host if self.insecure or is_loopback(self.host) else "127.0.0.1"

    def _refuse(self, name: str, expected: str) -> NoReturn:
        refuse(name, f"given {quote(getattr(self, name))}; expected {expected}")


_FIELDS = {field.name: field for field in dataclasses.fields(ServerConfig)}


@dataclass(frozen=True)
class Flag:
    """The flag of a field: `name` such as ``--max-time``, the field's `kind`, and `help`."""

    name: str
    kind: Kind
    help: str


def flags() -> dict[str, Flag]:
    """Return the flags of the command line by field."""
    found = {}
    for name, field in _FIELDS.items():
        kind, default = field.metadata["kind"], field.default
        if default is None:
            default = field.metadata["default_text"] or "none"
        elif isinstance(default, float):
            default = f"{default:g}"
        text = field.metadata["summary"]
        found[name] = Flag(
            flag_name(name), kind, text if default is False else f"{text} (default: {default})"
        )
    return found


def flag_name(field: str) -> str:
    """Return the flag of a field: ``--max-time`` for ``max_time_s``."""
    for unit in _UNITS:
        field = field.removesuffix(unit)
    return "--" + field.replace("_", "-")


def load_config(
    path: str | None, environ: Mapping[str, str], flags: Mapping[str, Any] | None = None
) -> ServerConfig:
    """Return the configuration from all sources: a flag before the environment before the file.

    Parameters
    ----------
    path : str, optional
        A TOML file with fields as keys; by default what the variable ``MEXICA_AI_CONFIG`` names, if it is
        set. Paths in it are relative to its directory.
    environ : mapping
        The environment: ``MEXICA_AI_`` and a field in capitals gives that field.
    flags : mapping, optional
        Values by field; None is the same as not given.

    Raises
    ------
    SearchError
        Reason INVALID_CONFIG: something cannot be read, is no field or no value of it. The message names the
        source; `violations` lists all faults.
    """
    faults: list[Violation] = []
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}  # field -> how messages name where its value comes from

    def take(name: str, source: str, value: Any) -> None:
        kind = _FIELDS[name].metadata["kind"]
        if kind.accepts(value):
            values[name], sources[name] = value, source
        else:
            fault(name, f"{source}: given {quote(value)}; expected {kind.expected}")

    def fault(name: str, message: str) -> None:
        faults.append(Violation(name, "INVALID_CONFIG", message))

    path = path or environ.get(CONFIG_VARIABLE)
    file = _name_of_file(path or "")
    for key, value in (_read_toml(path) if path else {}).items():
        if key not in _FIELDS:
            fault(key, f"{file}: {quote(key)}: no such key; expected {_nearest(key, _FIELDS)}")
            continue
        if _FIELDS[key].metadata["kind"] is _PATH and _PATH.accepts(value):
            value = str(Path(path).absolute().parent / value)
        take(key, f"{file}: {key}", value)

    variables = {ENVIRONMENT_PREFIX + name.upper(): name for name in _FIELDS}
    for variable, text in sorted(environ.items()):
        if variable in variables:
            name = variables[variable]
            try:
                value = _FIELDS[name].metadata["kind"].read(text)
            except ValueError:
                value = text  # is refused, and quoted
            take(name, variable, value)
        elif variable.startswith(ENVIRONMENT_PREFIX) and variable not in _OTHER_VARIABLES:
            fault(variable, f"{quote(variable)}: no such variable; expected {_nearest(variable, variables)}")

    for name, value in (flags or {}).items():
        if value is not None:
            take(name, flag_name(name), value)

    if faults:
        more = f" (and {len(faults) - 1} more: " if faults[1:] else ""
        message = (
            faults[0].message + more + " | ".join(fault.message for fault in faults[1:]) + ")" * bool(more)
        )
        raise SearchError(message, reason="INVALID_CONFIG", path=faults[0].path, violations=faults)
    try:
        return ServerConfig(**values)
    except SearchError as error:
        # What is wrong with fields together is told of one of them.
        source = sources.get(error.path, error.path)
        message = f"{source}{str(error).removeprefix(error.path)}"
        raise SearchError(message, reason=error.reason, path=error.path) from None


def to_toml(config: ServerConfig) -> str:
    """Return a configuration as a TOML file that gives the same one; fields without a value are comments."""
    lines = []
    for name in _FIELDS:
        value = getattr(config, name)
        lines.append(f"# {name}: none" if value is None else f"{name} = {_toml_value(value)}")
    return "\n".join(lines) + "\n"


def _toml_value(value: Any) -> str:
    # The strings of JSON are those of TOML, except that JSON lets DEL stand as it is.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _read_toml(path: str) -> dict[str, Any]:
    source = _name_of_file(path)
    try:
        with open(path, "rb") as file:
            content = file.read(_MAX_FILE_BYTES + 1)
    except OSError as error:
        refuse("config", f"cannot read {source}: {error.strerror}; expected a TOML file")
    if len(content) > _MAX_FILE_BYTES:
        refuse("config", f"{source} has over {_MAX_FILE_BYTES} bytes; expected a TOML file of settings")
    try:
        return tomllib.loads(content.decode())
    except UnicodeDecodeError as error:
        refuse("config", f"{source} is not UTF-8 at byte {error.start}; expected a TOML file")
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        refuse("config", f"{source} is not TOML: {error}; expected lines such as port = 50051")


def _name_of_file(path: str) -> str:
    """Return a path for messages: whole, and with what is not printable escaped."""
    return json.dumps(path)[1:-1]


def _nearest(given: str, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(given, known, n=1)
    return f"{near[0]}, perhaps" if near else f"one of {', '.join(known)}"


def refuse(field: str, problem: str) -> NoReturn:
    """Raise the SearchError INVALID_CONFIG for a field; its message is the field and the problem."""
    raise SearchError(f"{field}: {problem}", reason="INVALID_CONFIG", path=field)


def is_loopback(host: str) -> bool:
    """Return whether a host can be reached from this machine only."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def format_address(host: str, port: int) -> str:
    """Return `host:port`, an IPv6 host in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
