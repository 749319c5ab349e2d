"""The metrics of a server, for Prometheus."""

from __future__ import annotations

import contextlib
import platform
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import grpc

from mexica_ai.io.errors import SearchError
from mexica_ai.server.config import ServerConfig, format_address, refuse
from mexica_ai.server.connections import words_of
from mexica_ai.server.metrics_http import MetricsHttpServer
from mexica_ai.v1 import engine_pb2

MAX_LABELS = 64  # values of a label; later ones are counted as "other"
OTHER = "other"
_WAIT_BUCKETS = (0.001, 0.005, 0.02, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60)
_MARGIN_BUCKETS = (-0.1, -0.01, 0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.3, 1, 10)
_CALL_BUCKETS = (0.001, 0.005, 0.02, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300)
# What is counted from 0. To Prometheus a series that begins at 1 has no increase, so that the first error of a method
# would raise no alert; of series that are not there the autoscaler has no figure, without which it takes no pod away.
REASONS = ("NO_TIME_LEFT", "SLOTS_TAKEN", "TOO_MANY_CALLS", "TOO_MANY_WAITING")
ERRORS = ("INTERNAL", "UNKNOWN")
_SERVICE = engine_pb2.DESCRIPTOR.services_by_name["EngineService"]

M = TypeVar("M")  # a kind of metric


class Metrics:
    """The interface of metrics; this class discards them. The methods may be called from any thread.

    Attributes
    ----------
    address : str
        `host:port` where the metrics are served, "" if they are not.
    """

    address = ""

    def server(self, version: str, slots: int, num_waiting: Callable[[], int], busy_s: Callable[[], float]) -> None:
        """Record what stays as it is, what tells how many calls wait, and how long slots have been taken in all."""

    def weights(self, *, is_usable: bool) -> None:
        """Record whether the files of weights could be read again; if not, older ones are in force."""

    def queue_wait(self, seconds: float) -> None:
        """Record how long a call has waited for a search slot, whether or not it got one."""

    def reused(self) -> None:
        """Record that a result from memory was the answer."""

    def search_started(self) -> None:
        """Record the start of a search."""

    def search_ended(self, iterations: int, deadline_margin_s: float | None) -> None:
        """Record the end of a search.

        Parameters
        ----------
        iterations : int
            Iterations of this search; 0 if it failed.
        deadline_margin_s : float, optional
            Seconds left until the caller's deadline; None if there is no deadline.
        """

    def rejected(self, reason: str) -> None:
        """Record that a call was rejected, with a reason such as TOO_MANY_WAITING."""

    @contextlib.contextmanager
    def noting_rejections(self) -> Iterator[None]:
        """Record the rejection that is raised inside the context, if any."""
        try:
            yield
        except SearchError as error:
            self.rejected(error.reason)
            raise

    def cancelled(self) -> None:
        """Record that a caller has cancelled its call."""

    def call(self, method: str, code: str, seconds: float) -> None:
        """Record an answered call: its method, its status code, and how long it took."""

    def secrets(self, field: str, is_usable: bool) -> None:
        """Record whether the files of a field of the configuration can be used; if not, older ones are in force."""

    def exposed(self, field: str, is_exposed: bool) -> None:
        """Record whether others can read the file of secrets of a field of the configuration."""

    def expiry(self, field: str, end_s: float) -> None:
        """Record when the certificates of a field of the configuration expire, in seconds since 1970."""

    def start(self) -> None:
        """Start to serve the metrics over HTTP."""

    def close(self) -> None:
        """Stop serving the metrics."""


class PrometheusMetrics(Metrics):
    """Metrics in a Prometheus registry.

    Parameters
    ----------
    host : str
    port : int
        The address at which `start` serves them over HTTP.

    Raises
    ------
    ModuleNotFoundError
        prometheus_client is not installed.
    """

    def __init__(self, host: str, port: int) -> None:
        import prometheus_client as prometheus

        self._prometheus = prometheus
        self._host, self._port = host, port
        self._http_server: MetricsHttpServer | None = None
        disable: Callable[[], None] = prometheus.disable_created_metrics
        disable()  # else each counter has a second metric, of the time when it was made
        self.registry = registry = prometheus.CollectorRegistry()
        prometheus.ProcessCollector(registry=registry)

        def make(kind: Callable[..., M], name: str, text: str, labels: Sequence[str] = (), **options: Any) -> M:
            return kind(f"mexica_ai_{name}", text, labels, registry=registry, **options)

        counter, histogram = prometheus.Counter, prometheus.Histogram
        self._in_flight = make(prometheus.Gauge, "searches_in_flight", "Searches that run now")
        self._searches = make(counter, "searches", "Searches that have ended")
        self._iterations = make(counter, "iterations", "Iterations of all searches")
        self._queue_wait = make(histogram, "queue_wait_seconds", "Time waited for a search slot", buckets=_WAIT_BUCKETS)
        self._reused = make(counter, "reused_results", "Searches that were answered from memory")
        self._margin = make(
            histogram,
            "deadline_margin_seconds",
            "Time left until the caller's deadline when its search ended",
            buckets=_MARGIN_BUCKETS,
        )
        self._rejections = make(counter, "rejections", "Calls that were rejected", ["reason"])
        self._cancellations = make(counter, "cancellations", "Calls that were cancelled")
        self._calls = make(counter, "calls", "Calls that were answered", ["method", "code"])
        self._call_seconds = make(
            histogram, "call_seconds", "Time from a call to its answer", ["method"], buckets=_CALL_BUCKETS
        )
        self._secrets = make(
            prometheus.Gauge,
            "secrets_usable",
            "1 if the files of this setting can be used, 0 if older ones are in force",
            ["setting"],
        )
        self._exposed = make(
            prometheus.Gauge, "secrets_exposed", "1 if others can read the file of this setting", ["setting"]
        )
        self._expiry = make(
            prometheus.Gauge, "certificate_expiry_timestamp_seconds", "When certificates expire", ["setting"]
        )
        self._weights = make(
            prometheus.Gauge, "weights_usable", "1 if the files of weights could be read, 0 if older ones are in force"
        )
        self._weights.set(1)
        self._build = make(prometheus.Info, "build", "The package that runs")
        self._slots = make(prometheus.Gauge, "slots", "Searches that can run at the same time")
        self._waiting = make(prometheus.Gauge, "waiting_calls", "Calls that wait for a search slot now")
        self._reasons, self._methods = _Labels(), _Labels()
        self._begin()

    def _begin(self) -> None:
        """Make the series that are there before what they count."""
        for reason in REASONS:
            self._rejections.labels(self._reasons.bounded(reason))
        for method in _SERVICE.methods:
            name = self._methods.bounded(f"/{_SERVICE.full_name}/{method.name}")
            for code in ERRORS:
                self._calls.labels(name, code)

    def server(self, version: str, slots: int, num_waiting: Callable[[], int], busy_s: Callable[[], float]) -> None:
        python = platform.python_version()
        self._build.info({"version": version, "python": python, "grpc": grpc.__version__})
        self._slots.set(slots)
        self._waiting.set_function(num_waiting)
        self.registry.register(_BusySlots(busy_s))

    def weights(self, *, is_usable: bool) -> None:
        self._weights.set(is_usable)

    def queue_wait(self, seconds: float) -> None:
        self._queue_wait.observe(seconds)

    def reused(self) -> None:
        self._reused.inc()

    def search_started(self) -> None:
        self._in_flight.inc()

    def search_ended(self, iterations: int, deadline_margin_s: float | None) -> None:
        self._in_flight.dec()
        self._searches.inc()
        self._iterations.inc(iterations)
        if deadline_margin_s is not None:
            self._margin.observe(deadline_margin_s)

    def rejected(self, reason: str) -> None:
        self._rejections.labels(self._reasons.bounded(reason)).inc()

    def cancelled(self) -> None:
        self._cancellations.inc()

    def call(self, method: str, code: str, seconds: float) -> None:
        method = self._methods.bounded(method)
        self._calls.labels(method, code).inc()
        self._call_seconds.labels(method).observe(seconds)

    def secrets(self, field: str, is_usable: bool) -> None:
        self._secrets.labels(field).set(is_usable)

    def exposed(self, field: str, is_exposed: bool) -> None:
        self._exposed.labels(field).set(is_exposed)

    def expiry(self, field: str, end_s: float) -> None:
        self._expiry.labels(field).set(end_s)

    def start(self) -> None:
        """Start to serve the metrics; raise OSError if this address cannot be used."""

        def render() -> bytes:
            text: bytes = self._prometheus.generate_latest(self.registry)
            return text

        server = MetricsHttpServer(self._host, self._port, render)
        try:
            server.start()
        except OSError as error:
            address = format_address(self._host, self._port)
            raise OSError(f"cannot listen on {address} for metrics: {words_of(error)}") from None
        self._http_server = server
        self.address = format_address(self._host, server.port)

    def close(self) -> None:
        if self._http_server:
            self._http_server.close()
            self._http_server = None


class _BusySlots:
    """A counter that is read when it is asked for, so that searches that still run are in it."""

    def __init__(self, busy_s: Callable[[], float]) -> None:
        self._busy_s = busy_s

    def collect(self) -> Iterator[Any]:
        """Yield the metric."""
        from prometheus_client.core import CounterMetricFamily

        yield CounterMetricFamily(
            "mexica_ai_slot_busy_seconds",
            "Time for which search slots were taken; its rate divided by slots is the share that is busy",
            value=self._busy_s(),
        )


class _Labels:
    """The first `MAX_LABELS` values of a label; bounded, since each value uses memory for ever."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._lock = threading.Lock()

    def bounded(self, value: str) -> str:
        with self._lock:
            if value not in self._known:
                if len(self._known) >= MAX_LABELS:
                    return OTHER
                self._known.add(value)
        return value


def make_metrics(config: ServerConfig) -> Metrics:
    """Return the metrics of a server, not yet started.

    Raises
    ------
    SearchError
        `metrics_port` is set, but prometheus_client is not installed; reason INVALID_CONFIG, path
        ``metrics_port``.
    """
    if config.metrics_port is None:
        return Metrics()
    try:
        return PrometheusMetrics(config.metrics_host, config.metrics_port)
    except ModuleNotFoundError as error:
        refuse(
            "metrics_port",
            f"given {config.metrics_port}, which needs prometheus-client ({error}); expected it installed: "
            "pip install 'mexica-ai[metrics]'",
        )
