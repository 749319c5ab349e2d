"""Traces: the trace ids of callers, and the spans of a call."""

import logging
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from grpc_health.v1 import health_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from servers import IdleSearch, RunningServer, await_that, failure

import mexica_ai as ai
from mexica_ai.io.errors import SearchError
from mexica_ai.rpc import wire
from mexica_ai.server import app, tracing
from mexica_ai.server.config import ServerConfig
from mexica_ai.server.tracing import OpenTelemetry, Tracing, make_tracing
from mexica_ai.v1 import engine_pb2

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"


def question(**limits):
    position = wire.position_to_message(ai.new_game("nim", piles=[3, 4, 5]))
    return engine_pb2.BestTurnRequest(position=position, limits=engine_pb2.Limits(**limits))


@pytest.mark.parametrize(
    ("header", "trace_id"),
    [
        (PARENT, TRACE),
        (f"01-{TRACE}-{SPAN}-01", TRACE),
        (f"01-{TRACE}-{SPAN}-01-more", TRACE),
        (f"00-{TRACE}-{SPAN}-01-more", ""),
        (f"ff-{TRACE}-{SPAN}-01", ""),
        (f"00-{'0' * 32}-{SPAN}-01", ""),
        (f"00-{TRACE}-{'0' * 16}-01", ""),
        (PARENT.upper(), ""),
        (f"{PARENT}\n", ""),
        ("", ""),
    ],
)
def test_a_trace_id_is_read_as_the_standard_says(header, trace_id):
    assert Tracing().begin("/a/B", {"traceparent": header}).trace_id == trace_id
    assert Tracing().begin("/a/B", {}).trace_id == ""


def test_the_log_has_the_trace_id_of_the_caller(caplog):
    caplog.set_level(logging.INFO, "mexica_ai.server.calls")
    server = RunningServer(None)
    server.stub.BestTurn(question(iterations=5), metadata=[("traceparent", PARENT)])
    server.stub.BestTurn(question(iterations=5))
    await_that(lambda: len(caplog.records) == 2)
    server.close()
    assert [record.fields["trace"] for record in caplog.records] == [TRACE, ""]


@pytest.fixture
def spans(monkeypatch):
    """Let servers trace into a list."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(app, "make_tracing", lambda *_: OpenTelemetry(provider))
    return exporter.get_finished_spans


def test_health_checks_have_no_spans(spans):
    server = RunningServer(IdleSearch(), slots=1)
    server.health.Check(health_pb2.HealthCheckRequest(), metadata=[("traceparent", PARENT)])
    watch = server.health.Watch(health_pb2.HealthCheckRequest())
    assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
    watch.cancel()
    server.stub.ListGames(engine_pb2.ListGamesRequest())
    server.close()
    assert [span.name for span in spans()] == ["mexica_ai.v1.EngineService/ListGames"]


def test_a_call_has_spans_of_what_it_waits_for(spans):
    server = RunningServer(IdleSearch(), slots=1)
    server.stub.BestTurn(question(time_s=0.01), metadata=[("traceparent", PARENT)])
    await_that(lambda: len(spans()) == 4)
    found = {span.name: span for span in spans()}
    call = found.pop("mexica_ai.v1.EngineService/BestTurn")
    assert call.kind.name == "SERVER"
    assert f"{call.context.trace_id:032x}" == TRACE
    assert f"{call.parent.span_id:016x}" == SPAN
    assert call.attributes["rpc.method"] == "BestTurn"
    assert call.attributes["rpc.grpc.status_code"] == 0
    assert found.keys() == {"queue", "search", "answer"}
    for span in found.values():
        assert span.parent.span_id == call.context.span_id
        assert call.start_time <= span.start_time <= span.end_time <= call.end_time
    assert found["search"].attributes == {"iterations": 1, "stop_reason": "time"}
    assert found["queue"].end_time <= found["search"].start_time <= found["answer"].start_time
    server.close()


def test_calls_that_fail_and_streams_that_are_left_have_spans(spans):
    search = IdleSearch()
    server = RunningServer(search, watch=None, slots=1)
    assert failure(server.stub.BestTurn, engine_pb2.BestTurnRequest())[0] is grpc.StatusCode.INVALID_ARGUMENT
    await_that(lambda: len(spans()) == 1)
    assert spans()[0].attributes["rpc.grpc.status_code"] == grpc.StatusCode.INVALID_ARGUMENT.value[0]
    left = server.stub.BestTurn.future(question(time_s=60))
    search.await_start()
    left.cancel()
    await_that(lambda: len(spans()) == 4)
    codes = [span.attributes.get("rpc.grpc.status_code") for span in spans()[1:]]
    assert grpc.StatusCode.CANCELLED.value[0] in codes
    assert {span.name for span in spans()[1:]} == {"queue", "search", "mexica_ai.v1.EngineService/BestTurn"}
    server.close()


def test_the_searches_of_a_record_belong_to_its_call(spans):
    server = RunningServer(None, slots=1)
    game = ai.new_game("nim", piles=[1, 1, 2])
    start, turns = wire.position_to_message(game), []
    while not game.is_over:
        turns.append(engine_pb2.Turn(actions=game.legal_actions()[:1]))
        game.push(list(turns[-1].actions))
    limits = engine_pb2.Limits(iterations=20)
    request = engine_pb2.EvaluateRecordRequest(start=start, turns=turns, limits=limits)
    assert len(list(server.stub.EvaluateRecord(request))) == len(turns)
    name = "mexica_ai.v1.EngineService/EvaluateRecord"
    await_that(lambda: any(span.name == name for span in spans()))
    call = next(span for span in spans() if span.name == name)
    others = [span for span in spans() if span is not call]
    assert "search" in {span.name for span in others}
    assert {span.parent.span_id for span in others} == {call.context.span_id}
    server.close()


def test_without_the_extra_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(SearchError, match=r"^tracing: .*pip install 'mexica-ai\[tracing\]'$"):
        make_tracing(ServerConfig(tracing=True), "1")


def test_a_collector_that_is_away_does_not_keep_the_server(monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "mine")
    monkeypatch.setattr(tracing, "CLOSE_S", 0.1)
    traces = make_tracing(ServerConfig(tracing=True), "1")
    assert traces._provider.resource.attributes["service.name"] == "mine"
    assert traces._provider.resource.attributes["service.version"] == "1"
    traces.begin("/a/B", {}).end()
    traces.close()


@pytest.mark.real("ports")
def test_spans_reach_a_collector(monkeypatch):
    received = []

    class Collector(trace_service_pb2_grpc.TraceServiceServicer):
        def Export(self, request, context):  # noqa: N802
            received.append(request)
            return trace_service_pb2.ExportTraceServiceResponse()

    collector = grpc.server(ThreadPoolExecutor(1))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(Collector(), collector)
    port = collector.add_insecure_port("127.0.0.1:0")
    collector.start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # is not for a collector on this machine
    server = RunningServer(IdleSearch(), tracing=True)
    server.stub.BestTurn(question(time_s=0.01), metadata=[("traceparent", PARENT)])
    server.close()  # sends what is left
    await_that(lambda: received)
    collector.stop(None)
    (resource,) = (found for request in received for found in request.resource_spans)
    names = {attribute.key: attribute.value.string_value for attribute in resource.resource.attributes}
    assert names["service.name"] == "mexica-ai"
    spans = [span for scope in resource.scope_spans for span in scope.spans if span.trace_id.hex() == TRACE]
    assert {span.name for span in spans} == {"mexica_ai.v1.EngineService/BestTurn", "queue", "search", "answer"}
