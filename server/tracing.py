"""Traces of calls: the `traceparent` of a caller (W3C Trace Context), and spans for OpenTelemetry.

Without the setting `tracing` a call only has the trace id of its caller, for the log. With it, each call but those of
health checks is a span below the caller's, and what the call waits for are spans below that: `queue`, `search`,
`answer`. The standard environment variables `OTEL_*` say where spans go and which are kept.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import re
import threading
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mexica_ai.rpc.targets import DIRECT, proxy_of
from mexica_ai.server.config import ServerConfig, refuse

if TYPE_CHECKING:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider

SERVICE = "mexica-ai"
CLOSE_S = 2.0  # longest time at the end to send the last spans

# https://www.w3.org/TR/trace-context/#traceparent-header; later versions may have more fields.
_TRACEPARENT = re.compile(r"(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?")
_HEADERS = ("traceparent", "tracestate")
_HEALTH = "grpc.health.v1.Health"  # each client watches it as long as it is connected


class Span:
    """A span that nobody records; also the call of a caller that has sent a trace id.

    Attributes
    ----------
    trace_id : str
        32 hexadecimal digits, "" if the call belongs to no trace.
    """

    def __init__(self, trace_id: str = "") -> None:
        self.trace_id = trace_id

    def begin(self, _name: str) -> Span:
        """Return a span within this one, which begins now."""
        return self

    def end(self, **attributes: Any) -> None:
        """End the span, with attributes to record. Ends after the first do nothing."""


CALL: contextvars.ContextVar[Span] = contextvars.ContextVar("mexica_ai_span", default=Span())  # noqa: B039, it has no state
"""The span of the current call."""


@contextlib.contextmanager
def span(name: str) -> Iterator[Span]:
    """Record what runs inside as a span of the current call."""
    inner = CALL.get().begin(name)
    try:
        yield inner
    finally:
        inner.end()


class Tracing:
    """The traces of a server; this class only reads trace ids."""

    def begin(self, method: str, metadata: Mapping[str, str]) -> Span:
        """Return the span of a call that begins now.

        Parameters
        ----------
        method : str
            Such as ``/mexica_ai.v1.EngineService/BestTurn``.
        metadata : mapping
            Of the request. A `traceparent` that is none is ignored, as the standard asks.
        """
        found = _TRACEPARENT.fullmatch(metadata.get("traceparent", ""))
        return Span(found[2] if found and not (found[1] == "00" and found[3]) else "")

    def close(self) -> None:
        """Send the last spans."""


class OpenTelemetry(Tracing):
    """Traces with spans.

    Parameters
    ----------
    provider : opentelemetry.sdk.trace.TracerProvider
        Keeps and exports spans.
    """

    def __init__(self, provider: TracerProvider) -> None:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._provider = provider
        self._tracer = provider.get_tracer("mexica_ai.server")
        self._propagator = TraceContextTextMapPropagator()

    def begin(self, method: str, metadata: Mapping[str, str]) -> Span:
        from opentelemetry.trace import SpanKind

        service, _, name = method.removeprefix("/").rpartition("/")
        if service == _HEALTH:
            return super().begin(method, metadata)
        carrier = {key: metadata[key] for key in _HEADERS if key in metadata}
        recorded = self._tracer.start_span(
            f"{service}/{name}",
            self._propagator.extract(carrier),
            SpanKind.SERVER,
            {"rpc.system": "grpc", "rpc.service": service, "rpc.method": name},
        )
        return _Recorded(self._tracer, recorded)

    def close(self) -> None:
        # Without a collector the exporter would try for longer; a daemon does not keep the process.
        closing = threading.Thread(target=self._provider.shutdown, daemon=True)
        closing.start()
        closing.join(CLOSE_S)


class _Recorded(Span):
    def __init__(self, tracer: trace.Tracer, recorded: trace.Span) -> None:
        super().__init__(f"{recorded.get_span_context().trace_id:032x}")
        self._tracer, self._recorded = tracer, recorded

    def begin(self, name: str) -> Span:
        # Not as the current span of the context: abandoned streams end in another task, where it cannot be reset.
        from opentelemetry.trace import set_span_in_context

        return _Recorded(self._tracer, self._tracer.start_span(name, set_span_in_context(self._recorded)))

    def end(self, **attributes: Any) -> None:
        if self._recorded.is_recording():
            self._recorded.set_attributes(attributes)
            self._recorded.end()


def make_tracing(config: ServerConfig, version: str) -> Tracing:
    """Return the tracing of a server.

    Raises
    ------
    SearchError
        `tracing` is set, but OpenTelemetry is not installed; reason INVALID_CONFIG, path ``tracing``.
    """
    if not config.tracing:
        return Tracing()
    try:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as error:
        refuse(
            "tracing",
            f"is set, which needs OpenTelemetry ({error}); expected it installed: pip install 'mexica-ai[tracing]'",
        )
    own = Resource.create({SERVICE_NAME: SERVICE, SERVICE_VERSION: version})
    provider = TracerProvider(resource=own.merge(OTELResourceDetector().detect()), shutdown_on_exit=False)
    options: Any = _channel_options()  # the exporter annotates a tuple of exactly one option
    exporter = OTLPSpanExporter(channel_options=options)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return OpenTelemetry(provider)


def _channel_options() -> tuple[tuple[str, int | str], ...]:
    """Return the options of the channel to the collector that OpenTelemetry's variables name."""
    variables = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    endpoint = next(filter(None, map(os.environ.get, variables)), "localhost:4317")
    return DIRECT if proxy_of(endpoint.partition("://")[2] or endpoint, os.environ) is None else ()
