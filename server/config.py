"""The configuration of a server, and its sources: flags, the environment and a TOML file."""

from __future__ import annotations

import contextlib
import difflib
import ipaddress
import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from mexica_ai.analysis.limits import (
    DEFAULT_MEMORY_MB,
    DEFAULT_THREADS,
    DEFAULT_TIME_S,
    MAX_CANDIDATES,
    MAX_MEMORY_MB,
    MAX_THREADS,
    resolve_threads,
)
from mexica_ai.analysis.resources import memory_mb as available_mb
from mexica_ai.analysis.resources import num_processors
from mexica_ai.io.errors import NotationError, SearchError, Violation
from mexica_ai.io.files import read_text
from mexica_ai.io.numbers import MAX_INT64, MAX_TIME_S
from mexica_ai.io.strict import quote
from mexica_ai.rpc.targets import MAX_PORT
from mexica_ai.rpc.wire import WEIGHTS_NAME
from mexica_ai.server import search_options
from mexica_ai.server.weight_sets import WeightSets, read_weight_sets

ENVIRONMENT_PREFIX = "MEXICA_AI_"
CONFIG_VARIABLE = "MEXICA_AI_CONFIG"
# Variables of other commands, of the build and of the tests, which a shell that serves may have set.
_OTHER_VARIABLES = {CONFIG_VARIABLE} | {
    ENVIRONMENT_PREFIX + name
    for name in (
        *("GAMES", "TOKEN", "VARIANT", "NATIVE"),
        *("BROWSER", "REQUIRE_BROWSER", "SEED", "WALKS", "WRITE_GOLDENS"),
    )
}
INVALID = "INVALID_CONFIG"
MAX_ITERATIONS = 10**12  # more than any search does
_UNITS = ("_s", "_mb")  # endings of fields that flags leave out

_TEXT = r"^[^\x00]*$"
_HOST_HELP: dict[str, Any] = {"metavar": "HOST", "expected": "the name or the address of an interface"}
_PATH_HELP: dict[str, Any] = {"metavar": "FILE", "expected": "the path of a file"}
_ORIGINS_HELP: dict[str, Any] = {
    "metavar": "ORIGIN",
    "expected": 'a list such as ["https://play.example.org"]',
    "expected_entry": "an origin such as https://play.example.org, or *",
    "default_text": "none",
}
_HOSTS_HELP: dict[str, Any] = {
    "metavar": "NAME",
    "expected": 'a list such as ["engine.example.org"]',
    "expected_entry": "the name of a host without a port",
    "default_text": "none",
}
_WEIGHTS_HELP: dict[str, Any] = {
    "metavar": "NAME=FILE",
    "expected": 'a list such as ["strong=weights.json"]',
    "expected_entry": "NAME=FILE, the name of 1 to 64 letters, digits and ._-",
    "default_text": "none",
}
_OPTIONS_HELP: dict[str, Any] = {
    "metavar": "NAME=LOW:HIGH",
    "expected": 'a list such as ["exploration=0.5:2.5"]',
    "expected_entry": search_options.EXPECTED,
    "default_text": "none",
}
FilePath = Annotated[str, Field(min_length=1, pattern=_TEXT, json_schema_extra=_PATH_HELP)]
NamedFile = Annotated[str, Field(pattern=rf"^{WEIGHTS_NAME}=[^\x00]+$")]
OptionRange = Annotated[str, AfterValidator(search_options.check_entry)]
Origin = Annotated[str, Field(pattern=r"^(\*|https?://[A-Za-z0-9.\[\]:_-]+)$")]
HostName = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,253}$")]
Seconds = Annotated[float, Field(gt=0, le=MAX_TIME_S)]
Threads = Annotated[int, BeforeValidator(resolve_threads)]


class Settings(BaseModel):
    """The fields of the configuration, each with its range; `ServerConfig` checks them together."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True)

    host: str = Field(
        "127.0.0.1", min_length=1, pattern=_TEXT, json_schema_extra=_HOST_HELP, description="the address to listen on"
    )
    port: int = Field(50051, ge=0, le=MAX_PORT, description="the port to listen on; 0: any that is free")
    threads: Threads = Field(
        DEFAULT_THREADS,
        ge=1,
        le=MAX_THREADS,
        description="threads of one search at most; auto: as many as there are processors",
        json_schema_extra={"expected": f"an integer from 1 to {MAX_THREADS}, or auto"},
    )
    slots: int = Field(
        default_factory=lambda data: min(1024, max(1, int(num_processors() // data["threads"]))),
        ge=1,
        le=1024,
        description="searches at a time",
        json_schema_extra={"default_text": "what the processors allow with --threads each"},
    )
    max_waiting: int = Field(64, ge=0, le=10**6, description="calls that may wait for a slot")
    max_waiting_per_caller: int = Field(16, ge=1, le=10**6, description="calls of one caller that may wait")
    default_time_s: Seconds = Field(DEFAULT_TIME_S, description="time of a search that asks for none")
    max_time_s: Seconds = Field(60.0, description="time of one search at most")
    max_iterations: int = Field(MAX_ITERATIONS, ge=1, le=MAX_INT64, description="iterations of one search at most")
    memory_mb: int = Field(DEFAULT_MEMORY_MB, ge=1, le=MAX_MEMORY_MB, description="memory of one search's tree at most")
    total_memory_mb: int = Field(
        default_factory=lambda data: max(data["slots"], min(data["memory_mb"] * data["slots"], available_mb() // 2)),
        ge=1,
        le=1024 * MAX_MEMORY_MB,
        description="memory of the trees of all searches together",
        json_schema_extra={"default_text": "--memory for each slot, but at most half of what the process may use"},
    )
    cache_mb: int = Field(
        16,
        ge=0,
        le=MAX_MEMORY_MB,
        description="memory for results that answer equal questions with a seed and an iteration limit; 0: none",
    )
    share_results: bool = Field(
        False, description="answer a caller from the results of all callers, which tells it what others have asked"
    )
    max_candidates: int = Field(100, ge=1, le=MAX_CANDIDATES, description="candidate turns of an answer at most")
    max_record_turns: int = Field(2000, ge=1, le=10**6, description="turns of a record at most")
    min_interval_s: float = Field(0.05, ge=0, le=MAX_TIME_S, description="time between partial results at least")
    weights: list[NamedFile] = Field(
        [],
        description="weights that requests choose by NAME, besides those that ship; the file says of which game; "
        "may be repeated",
        json_schema_extra=_WEIGHTS_HELP,
    )
    search_options: list[OptionRange] = Field(
        [],
        description="an option of the search that requests may set, within a range; may be repeated",
        json_schema_extra=_OPTIONS_HELP,
    )
    max_moves: int = Field(
        0,
        ge=0,
        le=4,
        description="how often a call that finds no slot free is refused at once, so that its client "
        "asks another server; for clients with the published service config",
    )
    max_calls_per_caller: int = Field(
        default_factory=lambda data: data["slots"] + data["max_waiting_per_caller"] + 16,
        ge=1,
        le=10**6,
        description="calls of one caller with a name that may be in work, whatever they ask",
        json_schema_extra={"default_text": "--slots and --max-waiting-per-caller and 16 more"},
    )
    max_call_rate: int = Field(
        200, ge=1, le=10**6, description="calls of one caller with a name in a second; more are delayed"
    )
    max_streams_per_connection: int = Field(
        default_factory=lambda data: data["slots"] + data["max_waiting"] + 100,
        ge=1,
        le=2 * 10**6,
        description="calls of one connection, beside its watch of the health; a client keeps more waiting",
        json_schema_extra={"default_text": "--slots and --max-waiting and 100 more"},
    )
    light_workers: int = Field(2, ge=1, le=64, description="threads for the calls that do not search")
    # For stopping (up to 10 ms), answering and the way back (under 1 ms on loopback). On overbooked cores the
    # margin is twice the largest lateness of recent answers, if that is more, up to four times this.
    deadline_margin_s: float = Field(
        0.075, ge=0.02, le=MAX_TIME_S, description="what a search leaves of the caller's deadline"
    )
    max_connections_per_address: int = Field(
        200, ge=1, le=10**6, description="connections of one address; the newest of more are closed"
    )
    max_connection_age_s: Seconds = Field(
        3600.0,
        description="age at which a connection takes no more calls, so that clients connect anew, "
        "perhaps to another server",
    )
    max_connection_idle_s: Seconds = Field(900.0, description="time after which a connection without calls is closed")
    grace_s: Seconds = Field(10.0, description="time that running searches get when the server ends")
    tls_certificate: FilePath | None = Field(None, description="PEM file of the server's certificate chain")
    tls_key: FilePath | None = Field(None, description="PEM file of the server's private key")
    tls_client_ca: FilePath | None = Field(
        None, description="PEM file of authorities; a client certificate of theirs is then required"
    )
    tokens_file: FilePath | None = Field(
        None, description="file of bearer tokens, NAME TOKEN in each line; one is then required"
    )
    max_slots_per_caller: int = Field(
        default_factory=lambda data: (
            max(1, data["slots"] - 1) if data["tokens_file"] or data["tls_client_ca"] else data["slots"]
        ),
        ge=1,
        le=1024,
        description="searches of one caller at a time",
        json_schema_extra={"default_text": "all slots but one if callers have names, else all"},
    )
    insecure: bool = Field(
        False,
        description="allow an address that others can reach without encryption or authentication",
    )
    metrics_port: int | None = Field(
        None,
        ge=0,
        le=MAX_PORT,
        description="port of the metrics for Prometheus; 0: any that is free",
        json_schema_extra={"default_text": "no metrics"},
    )
    # Metrics have neither encryption nor authentication, so others do not reach them unless that is said.
    metrics_host: str = Field(
        default_factory=lambda data: data["host"] if data["insecure"] or is_loopback(data["host"]) else "127.0.0.1",
        pattern=_TEXT,
        json_schema_extra={
            **_HOST_HELP,
            "default_text": "--host if that is a loopback address or with --insecure, else 127.0.0.1",
        },
        description="the address of the metrics",
    )
    http_port: int | None = Field(
        None,
        ge=0,
        le=MAX_PORT,
        description="port of the same service over HTTP and JSON; 0: any that is free",
        json_schema_extra={"default_text": "no HTTP"},
    )
    http_host: str = Field(
        default_factory=lambda data: data["host"],
        pattern=_TEXT,
        json_schema_extra={**_HOST_HELP, "default_text": "--host"},
        description="the address of HTTP",
    )
    http_hosts: list[HostName] = Field(
        [],
        description="name under which clients reach HTTP if they need no token; may be repeated",
        json_schema_extra=_HOSTS_HELP,
    )
    http_cors_origins: list[Origin] = Field(
        [],
        description="origin whose pages may use HTTP (CORS); *, which needs --tokens-file: any; may be repeated",
        json_schema_extra=_ORIGINS_HELP,
    )
    tracing: bool = Field(
        False,
        description="send spans of all calls to an OpenTelemetry collector, by the environment variables OTEL_*",
    )
    log_format: Literal["text", "json"] = Field("text", description="the form of the log")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="the least that is logged")


class ServerConfig(Settings):
    """The configuration of one server, checked when made; files that it names are read later.

    Its parameters are the fields of `Settings`; None is the same as not given.

    Raises
    ------
    SearchError
        Reason INVALID_CONFIG, naming the field, what was given and what was expected. An address that others
        can reach is refused unless there is TLS with `tokens_file` or `tls_client_ca`, or else `insecure`:
        whoever can connect can use the processor.
    """

    def __init__(self, **values: Any) -> None:
        values = {name: value for name, value in values.items() if value is not None}
        _raise_all(_find_faults(values, str))
        super().__init__(**values)
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
        addresses = ["host"] if self.http_port is None else ["host", "http_host"]
        for name in addresses:
            if self.insecure or has_callers or is_loopback(getattr(self, name)):
                continue
            self._refuse(
                name,
                "a loopback address (127.0.0.1, ::1 or localhost), or both encryption (tls_certificate and "
                "tls_key) and authentication (tokens_file or tls_client_ca), or else insecure",
            )
        if "*" in self.http_cors_origins and not self.tokens_file:
            self._refuse("http_cors_origins", "names of origins, or tokens_file too")

    @property
    def address(self) -> str:
        """`host:port` as gRPC wants it."""
        return format_address(self.host, self.port)

    def read_weights(self) -> WeightSets:
        """Return the sets of weights, read from the files in `weights`.

        Raises
        ------
        SearchError
            Reason INVALID_CONFIG; `violations` lists what is wrong with each file or name.
        """
        sets, faults = read_weight_sets(self.weights)
        _raise_all([Violation("weights", INVALID, f"weights: {fault}") for fault in faults])
        return sets

    def _refuse(self, name: str, expected: str) -> NoReturn:
        refuse(name, f"given {quote(getattr(self, name))}; expected {expected}")


# The JSON schema of each field, with that of the value where it may also be null.
_FIELDS: dict[str, dict[str, Any]] = {
    name: {**schema, **schema.get("anyOf", [{}])[0]}
    for name, schema in Settings.model_json_schema()["properties"].items()
}
_VARIABLES = {ENVIRONMENT_PREFIX + name.upper(): name for name in _FIELDS}


def _expected(name: str, is_entry: bool = False) -> str:
    """Return what messages say of the values of a field, or of the entries of a list."""
    schema = _FIELDS[name]
    if is_entry:
        return str(schema["expected_entry"])
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    if schema["type"] == "boolean":
        return "true or false"
    if schema["type"] == "integer":
        return str(schema.get("expected", f"an integer from {schema['minimum']} to {schema['maximum']}"))
    if schema["type"] == "number":
        low = f"of at least {schema['minimum']:g}" if "minimum" in schema else "above 0"
        return f"a number of seconds {low}, at most {schema['maximum']:.0f}"
    return str(schema["expected"])


def _find_faults(values: Mapping[str, Any], source: Callable[[str], str]) -> list[Violation]:
    """Return what is wrong with single values; `source` gives how messages name a field."""
    try:
        Settings(**values)
    except ValidationError as error:
        faults = [(fault["loc"], quote(fault["input"])) for fault in error.errors()]
        return [  # of a list, each wrong entry
            Violation(name, INVALID, f"{source(name)}: given {given}; expected {_expected(name, len(place) > 1)}")
            for name in values
            for place, given in faults
            if place[0] == name and name in _FIELDS
        ]
    return []


def _raise_all(faults: list[Violation]) -> None:
    if not faults:
        return
    message, *others = (fault.message for fault in faults)
    if others:
        message += f" (and {len(others)} more: {' | '.join(others)})"
    raise SearchError(message, reason=INVALID, path=faults[0].path, violations=faults)


def _read_text(name: str, text: str) -> Any:
    """Return the value that a text gives; the text itself if it gives none, which a field then refuses."""
    kind = _FIELDS[name]["type"]
    if kind == "integer" and re.fullmatch(r"-?\d{1,20}", text, re.ASCII):
        return int(text)
    if kind == "number" and re.fullmatch(r"-?(\d+(\.\d*)?|\.\d+)", text, re.ASCII):
        return float(text)
    if kind == "boolean":
        return {"true": True, "1": True, "false": False, "0": False}.get(text, text)
    if kind == "array":
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(text)
    return text


@dataclass(frozen=True)
class Flag:
    """The flag of a field, such as ``--max-time``, with what argparse needs to know of it.

    `parse` returns the value that a text gives; its ValueError says what is expected. A switch has an empty
    `metavar`. A flag that `repeats` gives a list, one entry each time.
    """

    name: str
    parse: Callable[[str], Any]
    metavar: str
    help: str
    repeats: bool = False


def flags() -> dict[str, Flag]:
    """Return the flags of the command line by field."""
    return {name: _flag(name) for name in _FIELDS}


def _flag(name: str) -> Flag:
    schema = _FIELDS[name]

    is_list = schema["type"] == "array"

    def parse(text: str) -> Any:
        value = text if is_list else _read_text(name, text)
        if _find_faults({name: [value] if is_list else value}, str):
            raise ValueError(_expected(name, is_list))
        return value

    if "enum" in schema:
        metavar = "|".join(schema["enum"])
    elif schema["type"] == "integer":
        metavar = "MB" if name.endswith("_mb") else "N"
    else:
        metavar = {"boolean": "", "number": "SECONDS"}.get(schema["type"]) or schema.get("metavar", "")
    help_text = schema["description"]
    if schema["type"] != "boolean":
        default = schema.get("default_text", schema.get("default"))
        default = f"{default:g}" if isinstance(default, float) else default
        help_text += f" (default: {'none' if default is None else default})"
    return Flag(flag_name(name), parse, metavar, help_text, is_list)


def flag_name(field: str) -> str:
    """Return the flag of a field: ``--max-time`` for ``max_time_s``."""
    for unit in _UNITS:
        field = field.removesuffix(unit)
    return "--" + field.replace("_", "-")


def load_config(path: str | None, environ: Mapping[str, str], flags: Mapping[str, Any] | None = None) -> ServerConfig:
    """Return the configuration from all sources: flags override the environment, which overrides the file.

    Parameters
    ----------
    path : str, optional
        A TOML file with fields as keys; by default the file that the variable ``MEXICA_AI_CONFIG`` names, if it
        is set. Paths in the file are relative to its directory.
    environ : mapping
        The environment. A variable named ``MEXICA_AI_`` and a field in capitals sets that field; a list is JSON.
    flags : mapping, optional
        Values by field; None is the same as not given.

    Raises
    ------
    SearchError
        Reason INVALID_CONFIG: a source cannot be read, a name is not that of a field, a value is not valid for
        its field, or a file is not a file of weights. The message names the source; `violations` lists all faults.
    """
    faults: list[Violation] = []
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}  # field -> how messages name where its value comes from

    def take(found: Mapping[str, Any], source: Callable[[str], str]) -> None:
        faults.extend(_find_faults(found, source))
        values.update(found)
        sources.update({name: source(name) for name in found})

    path = path or environ.get(CONFIG_VARIABLE)
    if path:
        file, found = _name_of_file(path), _read_toml(path)
        for key in found:
            if key not in _FIELDS:
                problem = f"no such key; expected {_nearest(key, _FIELDS)}"
                faults.append(Violation(key, INVALID, f"{file}: {quote(key)}: {problem}"))
        take(_resolve_paths(found, path), lambda name: f"{file}: {name}")

    for variable in sorted(environ.keys() - _VARIABLES.keys() - _OTHER_VARIABLES):
        if variable.startswith(ENVIRONMENT_PREFIX):
            problem = f"no such variable; expected {_nearest(variable, _VARIABLES)}"
            faults.append(Violation(variable, INVALID, f"{quote(variable)}: {problem}"))
    given = {name: _read_text(name, environ[variable]) for variable, name in _VARIABLES.items() if variable in environ}
    take(given, lambda name: ENVIRONMENT_PREFIX + name.upper())

    take({name: value for name, value in (flags or {}).items() if value is not None}, flag_name)

    if "weights" in values and all(fault.path != "weights" for fault in faults):
        for problem in read_weight_sets(values["weights"])[1]:
            faults.append(Violation("weights", INVALID, f"{sources['weights']}: {problem}"))
    _raise_all(faults)
    try:
        return ServerConfig(**values)
    except SearchError as error:
        # An error about several fields names one of them; the message names that field's source instead.
        source = sources.get(error.path, error.path)
        message = f"{source}{str(error).removeprefix(error.path)}"
        raise SearchError(message, reason=error.reason, path=error.path) from None


def _resolve_paths(found: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return the fields of a configuration file, the paths among them relative to its directory."""
    folder = Path(path).absolute().parent
    values = {name: value for name, value in found.items() if name in _FIELDS}
    for name, value in values.items():
        metavar = _FIELDS[name].get("metavar")
        if metavar == "FILE" and isinstance(value, str) and value:
            values[name] = str(folder / value)
        elif metavar == "NAME=FILE" and isinstance(value, list):
            values[name] = [_resolve_named(entry, folder) for entry in value]
    return values


def _resolve_named(entry: Any, folder: Path) -> Any:
    """Return an entry NAME=FILE with the path relative to a folder; what is no such entry, as it is."""
    if isinstance(entry, str) and (found := re.fullmatch(rf"({WEIGHTS_NAME})=(.+)", entry, re.DOTALL)):
        return f"{found[1]}={folder / found[2]}"
    return entry


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
    try:
        return tomllib.loads(read_text(path))
    except NotationError as error:
        refuse("config", str(error))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        refuse("config", f"{_name_of_file(path)} is not TOML: {error}; expected lines such as port = 50051")


def _name_of_file(path: str) -> str:
    """Return a path for messages: whole, and with what is not printable escaped."""
    return json.dumps(path)[1:-1]


def _nearest(given: str, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(given, known, n=1)
    return f"{near[0]}, perhaps" if near else f"one of {', '.join(known)}"


def refuse(field: str, problem: str) -> NoReturn:
    """Raise the SearchError INVALID_CONFIG for a field; its message is the field and the problem."""
    raise SearchError(f"{field}: {problem}", reason=INVALID, path=field)


def is_loopback(host: str) -> bool:
    """Return whether a host can be reached from this machine only."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def format_address(host: str, port: int) -> str:
    """Return `host:port`, an IPv6 host in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
