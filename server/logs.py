"""The log of a server: one line per call, as text or as JSON, with everything escaped.

Log records have their fields in `record.fields`, a dict, which the formatters write. The id, the trace and the
caller of the current call are added to every line.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
import sys
import time
import uuid
from collections.abc import AsyncIterator, Collection, Mapping
from datetime import UTC, datetime
from typing import Any, TextIO

import grpc

from mexica_ai.server import handlers, tracing
from mexica_ai.server.auth import CALLER, OPEN_PREFIX
from mexica_ai.server.config import ServerConfig
from mexica_ai.server.handlers import REQUEST_ID, Context, Continuation, Handler
from mexica_ai.server.metrics import OTHER, Metrics
from mexica_ai.server.tracing import Span, Tracing

ID_KEY = "x-request-id"
MAX_METHOD_CHARS = 200

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_BARE = re.compile(r"[A-Za-z0-9._/:\[\]+-]+")
_logger = logging.getLogger("mexica_ai.server.calls")


class LoggingInterceptor(grpc.aio.ServerInterceptor):
    """Logs and measures every call, and gives it an id, which the trailing metadata return to the caller.

    The id is that of the request's metadata ``x-request-id`` if it consists of 1 to 64 letters, digits and
    ``._-``; else it is drawn. Health checks that have not failed are logged at the level DEBUG only.

    Parameters
    ----------
    metrics : Metrics
    methods : collection of str
        The existing methods, such as ``/grpc.health.v1.Health/Check``; all others count as one.
    traces : Tracing
    """

    def __init__(self, metrics: Metrics, methods: Collection[str], traces: Tracing) -> None:
        self._metrics = metrics
        self._traces = traces
        self._methods = frozenset(methods)

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> Handler | None:
        """Return the handler of a call with logging around it."""
        begin = time.monotonic()
        method = handler_call_details.method
        pairs = handler_call_details.invocation_metadata or ()
        metadata = {key: value for key, value in pairs if isinstance(value, str)}
        request_id = request_id_of(metadata)
        span = self._traces.begin(method if method in self._methods else OTHER, metadata)
        handler = await continuation(handler_call_details)
        if handler is None:
            self._log(request_id, span, method, "UNIMPLEMENTED", begin)
            return None

        @contextlib.asynccontextmanager
        async def around(_request: Any, context: Context) -> AsyncIterator[None]:
            REQUEST_ID.set(request_id)
            handlers.ALLOWED_S.set(handlers.remaining_s(context))  # before limits of rates hold the call
            tracing.CALL.set(span)
            code, peer = "", context.peer()  # now, since the connection may be gone later
            try:
                # Not the initial metadata, since gRPC does not retry a call that has received some. The
                # details of an error contain the id, too.
                context.set_trailing_metadata(((ID_KEY, request_id),))
                yield
            except grpc.aio.AbortError:
                raise
            except (asyncio.CancelledError, GeneratorExit):
                remaining_s = context.time_remaining()
                is_late = remaining_s is not None and remaining_s <= 0
                code = "DEADLINE_EXCEEDED" if is_late else "CANCELLED"
                raise
            except BaseException:
                code = "UNKNOWN"  # gRPC's status for other exceptions
                raise
            finally:
                self._log(request_id, span, method, code or _code_name(context.code()), begin, peer)

        return handlers.wrap(handler, around)

    def _log(self, request_id: str, span: Span, method: str, code: str, begin: float, peer: str = "") -> None:
        seconds = time.monotonic() - begin
        self._metrics.call(method if method in self._methods else OTHER, code, seconds)
        is_quiet = code in ("OK", "CANCELLED") and method.startswith(OPEN_PREFIX)  # how a watch ends
        fields = {
            "id": request_id,
            "trace": span.trace_id,
            "caller": CALLER.get(),
            "peer": peer,
            "method": method[:MAX_METHOD_CHARS],
            "code": code,
            "ms": round(1000 * seconds, 1),
        }
        span.end(**{"rpc.grpc.status_code": grpc.StatusCode[code].value[0], "mexica_ai.request_id": request_id})
        _logger.log(logging.DEBUG if is_quiet else logging.INFO, "call", extra={"fields": fields})


def request_id_of(metadata: Mapping[str, str]) -> str:
    """Return the id that a call gives itself, or a new one."""
    value = metadata.get(ID_KEY, "")
    return value if _ID.fullmatch(value) else uuid.uuid4().hex


def _code_name(code: Any) -> str:
    """Return the name of the status code of a context: a StatusCode, a number, or None for OK."""
    if isinstance(code, grpc.StatusCode):
        return code.name
    return _CODE_NAMES.get(code or 0, "UNKNOWN")


_CODE_NAMES = {code.value[0]: code.name for code in grpc.StatusCode}


def escape(text: str) -> str:
    """Return a text with all characters but visible ASCII and spaces escaped as in Python strings."""
    if text.isascii() and text.isprintable():
        return text
    return text.encode("unicode_escape").decode("ascii")


class TextFormatter(logging.Formatter):
    """``TIME LEVEL LOGGER: MESSAGE key=value ...``, then the lines of a traceback, each indented."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines of a record."""
        parts = [_time(record), record.levelname, f"{record.name}:", escape(record.getMessage())]
        parts += [f"{key}={_text_value(value)}" for key, value in _fields(record).items()]
        # Indented, since a line of an exception's message could look like a line of the log.
        return "\n  | ".join([" ".join(parts), *map(escape, _traceback(record))])


class JsonFormatter(logging.Formatter):
    """One JSON object per line: time, level, logger, message, the fields, and any exception."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        entry = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        if traceback := _traceback(record):
            entry["exception"] = "\n".join(traceback)
        return json.dumps(entry, default=str)


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    known = {"id": REQUEST_ID.get(), "trace": tracing.CALL.get().trace_id, "caller": CALLER.get()}
    fields = {**known, **getattr(record, "fields", {})}
    return {key: value for key, value in fields.items() if value != ""}


def _text_value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if _BARE.fullmatch(text) else json.dumps(text).replace("\x7f", "\\u007f")


def _traceback(record: logging.LogRecord) -> list[str]:
    if not record.exc_info:
        return []
    return re.split(r"\r\n|\r|\n", logging.Formatter().formatException(record.exc_info))


def configure(config: ServerConfig, stream: TextIO | None = None) -> None:
    """Set up the log of this process by a configuration; it goes to `stream`, by default standard error."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter() if config.log_format == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    # Messages of other libraries below WARNING are of no use here.
    root.setLevel(max(logging.WARNING, _level(config)))
    logging.getLogger("mexica_ai").setLevel(_level(config))


def _level(config: ServerConfig) -> int:
    return logging.getLevelNamesMapping()[config.log_level.upper()]
