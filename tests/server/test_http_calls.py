"""The door for HTTP and JSON: the same answers, callers, limits and errors as over gRPC."""

import contextlib
import json
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading

import httpx
import pytest
from certificates import make_certificate
from google.api import annotations_pb2
from google.protobuf import json_format, message_factory
from servers import IdleSearch, RunningServer, await_that

import mexica_ai as ai
from mexica_ai.rpc import wire
from mexica_ai.server.app import check
from mexica_ai.server.auth import Tokens
from mexica_ai.server.config import ServerConfig
from mexica_ai.server.http import endpoints
from mexica_ai.server.http.calls import peer_of
from mexica_ai.v1 import engine_pb2

SERVICE = engine_pb2.DESCRIPTOR.services_by_name["EngineService"]
LINES = {"content-type": "application/x-ndjson"}
EVENTS = {"accept": "text/event-stream"}
GOOD, OTHER = "g" * 20, "o" * 20
NIM = json_format.MessageToDict(wire.position_to_message(ai.new_game("nim", piles=[3, 2])))
MEXICA = json_format.MessageToDict(wire.position_to_message(ai.new_game("mexica", seed=7)))
LONG = {"position": NIM, "limits": {"timeS": 60}}
SEARCH = {"position": NIM, "limits": {"iterations": "200"}, "seed": "7"}
# Of methods that ask for more than a position.
EXAMPLES = {
    "BestTurn": SEARCH,
    "BestTurns": {"id": "a", "search": SEARCH},
    "Analyze": SEARCH,
    "StopAnalysis": {"analysisId": "a"},
    "NewGame": {"mexica": {}, "players": 3, "seed": "7"},
    "ApplyTurn": {"position": NIM, "turn": {"actions": ["take 1 1"]}, "withSteps": True},
    "EvaluateRecord": {"start": NIM, "turns": [{"actions": ["take 1 1"]}], "limits": {"iterations": 50}, "seed": "7"},
    "ConsiderProposal": {"position": MEXICA, "actions": ["remove 3"]},
    "GetView": {"position": NIM, "seat": 1},
    "ListGames": {},
    "GetEngineInfo": {},
}
MEASURED = {"seconds", "deadlineMarginS"}  # what is not the same twice


class IdleAnalysis(IdleSearch):
    """Has a first result at once, and then waits."""

    def watch(self, position, limits, *, interval_s, stop, **settings):
        candidate = ai.Candidate(["take 1 1"], 1, [0.5, 0.5], [0.0, 0.0], 1.0, [])
        yield ai.Result([candidate], 1, 1, 1, 0.0, "", 1, 1)
        yield self(position, limits, stop=stop, **settings)


@pytest.fixture(scope="module")
def server():
    with contextlib.closing(RunningServer(None, http_port=0)) as server:
        yield server


@pytest.fixture
def http(server):
    with server.http() as client:
        yield client


@pytest.fixture
def start_server(tmp_path):
    """Start servers that know two tokens."""
    tokens = tmp_path / "tokens"
    tokens.write_text(f"good {GOOD}\nother {OTHER}\n")
    tokens.chmod(0o600)
    with contextlib.ExitStack() as stack:

        def start(search=None, **config):
            config.setdefault("watch", getattr(search, "watch", None))
            server = RunningServer(search, **{"tokens_file": str(tokens), "http_port": 0, **config})
            stack.callback(server.close)
            return server

        yield start


def bearer(token, **headers):
    return {"authorization": f"Bearer {token}", **headers}


def comparable(value):
    """Return JSON without what is measured."""
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items() if key not in MEASURED}
    return [comparable(item) for item in value] if isinstance(value, list) else value


def same(answers):
    return [
        comparable(json.loads(json_format.MessageToJson(answer, always_print_fields_with_no_presence=True)))
        for answer in answers
    ]


def in_the_background(function, *args, **kwargs):
    """Return a function that waits for what `function` returns."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function(*args, **kwargs)))
    thread.start()

    def result():
        thread.join(60)
        return found[0]

    return result


# ---- the same answers


@pytest.mark.parametrize("method", list(SERVICE.methods), ids=lambda method: method.name)
def test_a_method_answers_as_over_grpc(server, http, method):
    rule = method.GetOptions().Extensions[annotations_pb2.http]
    verb = rule.WhichOneof("pattern")
    assert verb, "each method has a path"
    given = EXAMPLES.get(method.name, {"position": NIM})
    request = json_format.ParseDict(given, message_factory.GetMessageClass(method.input_type)())
    call = getattr(server.stub, method.name)
    answers = call(iter([request]) if method.client_streaming else request)
    expected = same(answers if method.server_streaming else [answers])
    path = getattr(rule, verb)
    if verb == "get":
        answer = http.get(path)
    elif method.client_streaming:
        answer = http.post(path, content=json.dumps(given), headers=LINES)
    else:
        answer = http.post(path, json=given)
    assert answer.status_code == 200, answer.text
    assert [comparable(json.loads(line)) for line in answer.text.splitlines()] == expected
    kind = "application/x-ndjson" if method.server_streaming else "application/json"
    assert answer.headers["content-type"] == kind
    if method.server_streaming:
        events = http.post(path, content=json.dumps(given), headers={"content-type": "application/json", **EVENTS})
        assert events.headers["content-type"] == "text/event-stream"
        texts = [text.removeprefix("data: ") for text in events.text.split("\n\n") if text]
        assert [comparable(json.loads(text)) for text in texts] == expected


def test_a_head_is_that_of_the_answer(http):
    answer = http.head("/v1/games")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-length"] == http.get("/v1/games").headers["content-length"]


@pytest.mark.parametrize(
    ("client", "peer"),
    [
        (("127.0.0.1", 5), "ipv4:127.0.0.1:5"),
        (("::ffff:127.0.0.1", 5), "ipv4:127.0.0.1:5"),
        (("::1", 5), "ipv6:%5B::1%5D:5"),
        (None, "unix:"),
    ],
)
def test_an_address_is_written_as_grpc_does(client, peer):
    assert peer_of(client) == peer


def test_calls_count_in_the_metrics(server, http, monkeypatch):
    counted = []
    monkeypatch.setattr(server.metrics, "call", lambda method, code, seconds: counted.append((method, code)))
    http.get("/v1/games")
    http.post("/v1/legal-actions", json={})
    prefix = "/mexica_ai.v1.EngineService"
    assert counted == [(f"{prefix}/ListGames", "OK"), (f"{prefix}/LegalActions", "INVALID_ARGUMENT")]


def test_an_error_of_the_door_itself_is_told_by_its_id(http, monkeypatch, caplog):
    monkeypatch.setattr(endpoints, "peer_of", lambda client: 1 / 0)
    answer = http.get("/v1/games", headers={"x-request-id": "mine"})
    assert (answer.status_code, answer.json()["reason"]) == (500, "INTERNAL")
    assert answer.headers["x-request-id"] == answer.json()["requestId"] == "mine"
    assert "ZeroDivisionError" in caplog.text
    assert "ZeroDivisionError" not in answer.text


def test_names_of_the_protos_are_read_and_zeros_are_written(http):
    answer = http.post("/v1/apply-turn", json={"position": NIM, "turn": {"actions": ["take 2 1"]}, "with_steps": True})
    assert answer.json()["steps"][0]["action"] == "take 2 1"
    assert answer.json()["isOver"] is False
    assert answer.json()["winners"] == []


def test_requests_of_a_stream_are_answered_as_they_come(server):
    def chunk(search_id):
        line = json.dumps({"id": search_id, "search": SEARCH}).encode() + b"\n"
        return b"%x\r\n%s\r\n" % (len(line), line)

    with socket.socket(socket.AF_UNIX) as client:
        client.connect(server.http_path)
        client.settimeout(60)
        client.sendall(
            b"POST /v1/best-turns HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        found = b""
        for name in ("first", "second"):
            client.sendall(chunk(name))
            while f'"id": "{name}"'.encode() not in found:
                found += client.recv(1 << 16)
        client.sendall(b"0\r\n\r\n")
        while not found.endswith(b"0\r\n\r\n"):
            found += client.recv(1 << 16)
        assert found.startswith(b"HTTP/1.1 200 ")


def test_one_of_many_that_is_wrong_has_a_failure_of_its_own(http):
    lines = [{"id": "long", "search": {**SEARCH, "weights": "x" * 70_000}}, {"id": "no", "search": {}}, {"id": "yes"}]
    lines[2]["search"] = SEARCH
    answer = http.post("/v1/best-turns", content="\n\n".join(map(json.dumps, lines)), headers=LINES)
    of_id = {found["id"]: found for found in map(json.loads, answer.text.splitlines())}
    assert of_id[""]["failure"]["reason"] == "TOO_LARGE"
    assert of_id["no"]["failure"]["reason"] == "MISSING_GAME"
    assert of_id["yes"]["result"]["turn"]


@pytest.mark.parametrize("headers", [LINES, LINES | EVENTS])
def test_an_error_in_a_stream_is_its_last_message(http, headers):
    content = json.dumps({"id": "a", "search": SEARCH}) + "\n{]\n"
    with contextlib.closing(http.post("/v1/best-turns", content=content, headers=headers)) as answer:
        last = answer.text.strip().splitlines()[-1]
    if answer.headers["content-type"] == "text/event-stream" and answer.status_code == 200:
        assert "event: error" in answer.text
    # The error may come before the first answer, and is then the whole answer.
    problem = json.loads(last.removeprefix("data: "))
    problem = problem.get("error", problem)
    assert problem["reason"] == "BAD_JSON"
    assert "line 2: expected JSON: " in problem["detail"]


def test_what_is_accepted_may_stand_in_several_headers(http):
    headers = [*LINES.items(), ("accept", "application/json"), *EVENTS.items()]
    answer = http.post("/v1/best-turns", content=json.dumps({"id": "a", "search": SEARCH}), headers=headers)
    assert answer.headers["content-type"] == "text/event-stream"


# ---- errors


@pytest.mark.parametrize(
    ("path", "body", "status", "reason", "field", "words"),
    [
        ("legal-actions", {"positon": NIM}, 400, "UNKNOWN_FIELD", "positon", "expected only position, actions"),
        ("legal-actions", {"position": {"nim": {"toMov": 1}}}, 400, "UNKNOWN_FIELD", "position.nim.toMov", "toMove"),
        (
            "legal-actions",
            {"position": {"mexica": {"seats": [{}, {"x": 1}]}}},
            400,
            "UNKNOWN_FIELD",
            "position.mexica.seats[1].x",
            "expected only score",
        ),
        ("legal-actions", {"position": {"nim": {}, "mexica": {}}}, 400, "BAD_VALUE", "position", "several fields"),
        ("legal-actions", {"position": 3}, 400, "WRONG_TYPE", "position", "wrong type"),
        ("legal-actions", {"position": []}, 400, "WRONG_TYPE", "position", "wrong type"),
        ("new-game", {"mexica": ""}, 400, "WRONG_TYPE", "mexica", "wrong type"),
        ("new-game", {"mexica": {"pool": 3}}, 400, "WRONG_TYPE", "mexica.pool", "wrong type"),
        ("best-turn", {"options": []}, 400, "WRONG_TYPE", "options", "wrong type"),
        ("evaluate-record", {"turns": [{}, []]}, 400, "WRONG_TYPE", "turns[1]", "wrong type"),
        ("evaluate-record", {"turns": [None]}, 400, "BAD_VALUE", "turns[0]", "null is not allowed"),
        ("best-turn", {"limits": {"timeS": 9, "time_s": 1}}, 400, "DUPLICATE_KEY", "limits.time_s", "occurs twice"),
        ("best-turn", {"withFirstActions": 1, "with_first_actions": 0}, 400, "DUPLICATE_KEY", "with_first_actions", ""),
        ("best-turn", {"limits": {"timeS": "x"}}, 400, "BAD_VALUE", "limits.time_s", "couldn't parse float: x"),
        ("best-turn", {"seed": -1}, 400, "BAD_VALUE", "seed", "out of range"),
        ("best-turn", {"explain": "true"}, 400, "BAD_VALUE", "explain", "without quotes"),
        ("best-turn", {"position": {"json": 5}}, 400, "WRONG_TYPE", "position.json", "wrong type"),
        ("best-turn", {"position": NIM, "limits": {"timeS": -1}}, 400, "INVALID_LIMITS", "limits.time_s", "-1"),
        ("best-turn", {}, 400, "MISSING_GAME", "position", "expected one of"),
    ],
)
def test_faults_of_requests_name_their_place(http, path, body, status, reason, field, words):
    answer = http.post(f"/v1/{path}", json=body, headers={"x-request-id": "mine-1"})
    problem = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, problem["status"], problem["reason"]) == (status, status, reason)
    assert problem["type"] == f"urn:mexica-ai:{reason}"
    assert problem["code"] == "INVALID_ARGUMENT"
    assert problem["violations"][0]["field"] == field
    assert problem["violations"][0]["reason"] == reason
    assert words in problem["detail"]
    assert problem["requestId"] == answer.headers["x-request-id"] == "mine-1"


@pytest.mark.parametrize(
    ("verb", "path", "headers", "status", "reason"),
    [
        ("GET", "/", {}, 404, "UNKNOWN_PATH"),
        ("GET", "/v1/games/", {}, 404, "UNKNOWN_PATH"),
        ("GET", "/v1/best-turn", {}, 405, "WRONG_METHOD"),
        ("OPTIONS", "/v1/best-turn", {"origin": "https://a.example"}, 405, "WRONG_METHOD"),
        ("POST", "/v1/games", {}, 405, "WRONG_METHOD"),
        ("GET", "/v1/games?players=2", {}, 400, "UNKNOWN_FIELD"),
        ("POST", "/v1/best-turn", {}, 415, "WRONG_CONTENT_TYPE"),
        ("POST", "/v1/best-turn", {"content-type": "text/plain"}, 415, "WRONG_CONTENT_TYPE"),
        ("POST", "/v1/best-turn", {"content-type": "application/x-www-form-urlencoded"}, 415, "WRONG_CONTENT_TYPE"),
        (
            "POST",
            "/v1/best-turn",
            {"content-type": "application/json", "content-encoding": "gzip"},
            415,
            "WRONG_CONTENT_TYPE",
        ),
        ("GET", "/v1/games", {"request-timeout": "-1"}, 400, "BAD_VALUE"),
        ("GET", "/v1/games", {"request-timeout": "0"}, 400, "BAD_VALUE"),
        ("GET", "/v1/games", {"request-timeout": "0." + "0" * 30 + "1"}, 400, "BAD_VALUE"),
        ("GET", "/v1/games", {"request-timeout": "1e99"}, 400, "BAD_VALUE"),
        ("GET", "/v1/games", {"host": "evil.example"}, 421, "WRONG_HOST"),
        ("GET", "/healthz", {"host": "localhost.evil.example:80"}, 421, "WRONG_HOST"),
    ],
)
def test_requests_that_are_no_calls(http, verb, path, headers, status, reason):
    answer = http.request(verb, path, headers=headers)
    problem = answer.json()
    assert (answer.status_code, problem["status"], problem["reason"]) == (status, status, reason)
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["requestId"] == answer.headers["x-request-id"]
    if status == 405:
        assert "GET" in answer.headers["allow"] or "POST" in answer.headers["allow"]


@pytest.mark.parametrize(
    "header",
    [("request-timeout", "20"), ("content-type", "application/json"), ("content-encoding", "identity")],
    ids=lambda header: header[0],
)
def test_headers_that_would_hide_another_are_refused(http, header):
    given = {"content-type": "application/json", header[0]: header[1]}
    answer = http.post("/v1/new-game", content=b'{"nim": {}}', headers=given)
    assert answer.status_code == 200, answer.text
    answer = http.post("/v1/new-game", content=b'{"nim": {}}', headers=[*given.items(), header])
    assert (answer.status_code, answer.json()["reason"]) == (400, "DUPLICATE_KEY")
    assert answer.json()["detail"] == f"{header[0]}: is given 2 times; expected it once"


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:50052", "[::1]:9", "10.1.2.3", "[::1]"])
def test_own_names_of_a_server_without_tokens(http, host):
    assert http.get("/v1/games", headers={"host": host}).status_code == 200


def test_other_names_are_configured_or_protected_by_tokens(start_server):
    server = start_server(tokens_file=None, http_hosts=["Engine.example"])
    with server.http() as http:
        assert http.get("/v1/games", headers={"host": "engine.example:8080"}).status_code == 200
        assert http.get("/v1/games", headers={"host": "other.example"}).status_code == 421
    with start_server().http() as http:
        answer = http.get("/v1/games", headers=bearer(GOOD, host="any.example"))
        assert answer.status_code == 200


# ---- callers, limits, deadlines


def test_calls_need_a_token_where_grpc_needs_one(start_server, caplog):
    caplog.set_level("INFO", "mexica_ai")
    with start_server().http() as http:
        for headers, reason in (({}, "NO_TOKEN"), (bearer("w" * 20), "WRONG_TOKEN")):
            answer = http.get("/v1/games", headers=headers)
            assert (answer.status_code, answer.json()["reason"]) == (401, reason)
            assert answer.headers["www-authenticate"] == "Bearer"
        twice = [("authorization", f"Bearer {GOOD}"), ("authorization", f"Bearer {GOOD}")]
        assert http.get("/v1/games", headers=twice).status_code == 401
        trace = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"
        answer = http.get("/v1/games", headers=bearer(GOOD, traceparent=trace, **{"x-request-id": "mine"}))
        assert answer.status_code == 200
        assert http.get("/healthz").json() == {"status": "SERVING"}
    (fields,) = (record.fields for record in caplog.records if getattr(record, "fields", {}).get("code") == "OK")
    assert fields["method"] == "/mexica_ai.v1.EngineService/ListGames"
    assert (fields["caller"], fields["id"], fields["trace"]) == ("good", "mine", "a" * 32)


def test_a_body_is_not_read_before_the_token(start_server):
    server = start_server()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(server.http_path)
        client.settimeout(60)
        client.sendall(b"POST /v1/best-turn HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n")
        client.sendall(b"Content-Length: 500\r\n\r\n")  # and no body
        assert client.recv(1 << 16).startswith(b"HTTP/1.1 401 ")


def test_calls_of_both_doors_count_as_those_of_one_caller(start_server):
    search = IdleSearch()
    server = start_server(search, max_calls_per_caller=1)
    grpc_call = server.stub.BestTurn.future(
        json_format.ParseDict(LONG, engine_pb2.BestTurnRequest()), metadata=(("authorization", f"Bearer {GOOD}"),)
    )
    search.await_start()
    with server.http() as http:
        answer = http.post("/v1/best-turn", json=LONG, headers=bearer(GOOD))
        assert (answer.status_code, answer.json()["reason"]) == (429, "TOO_MANY_CALLS")
        assert answer.headers["retry-after"] == "1"
        assert answer.json()["retryAfterS"] == 1
        assert http.get("/v1/games", headers=bearer(OTHER)).status_code == 200
    grpc_call.cancel()
    search.await_end()


@pytest.mark.parametrize("given", ["20", "20.50", str(20.1 + 0.2), str(20 + 1 / 3)])
def test_numbers_as_programs_print_them(http, given):
    assert http.get("/v1/games", headers={"request-timeout": given}).status_code == 200


def test_a_deadline_bounds_the_search(start_server):
    search = IdleSearch()
    server = start_server(search, deadline_margin_s=1.0)  # the answer may be late by as much
    with server.http() as http:
        answer = http.post("/v1/best-turn", json=LONG, headers=bearer(GOOD, **{"request-timeout": "5"}))
        assert answer.json()["result"]["stopReason"] == "STOP_REASON_TIME"
        assert 2 < search.limits[0].time_s < 4
        answer = http.post("/v1/best-turn", json=LONG, headers=bearer(GOOD, **{"request-timeout": "0.001"}))
        assert answer.status_code in (400, 429, 504)


def test_a_call_that_is_late_is_ended(start_server, caplog):
    server = start_server(IdleSearch())
    caplog.set_level("INFO", "mexica_ai")
    head = "POST /v1/legal-actions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n"
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(server.http_path)
        client.settimeout(60)
        client.sendall(f"{head}Authorization: Bearer {GOOD}\r\nRequest-Timeout: 0.05\r\n\r\n".encode())
        answer = b""
        while not answer.endswith(b"}"):
            answer += client.recv(1 << 16)
        assert answer.startswith(b"HTTP/1.1 504 ")
        assert b'"reason": "DEADLINE_EXCEEDED"' in answer
    assert "DEADLINE_EXCEEDED" in [getattr(record, "fields", {}).get("code") for record in caplog.records]


@pytest.mark.parametrize("path", ["best-turn", "analyze"])
def test_a_client_that_goes_stops_its_search(start_server, path):
    search = IdleAnalysis()
    server = start_server(search, tokens_file=None)
    body = json.dumps(LONG).encode()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(server.http_path)
        client.sendall(f"POST /v1/{path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n".encode())
        client.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        search.await_start()
    search.await_end()
    assert search.stop_reasons == ["stopped"]


def test_a_stream_ends_when_its_token_is_revoked(start_server, monkeypatch):
    search = IdleAnalysis()
    server = start_server(search)
    monkeypatch.setattr(Tokens, "refresh", lambda tokens: None)
    with (
        server.http() as http,
        http.stream("POST", "/v1/analyze", json={**LONG, "intervalS": 50}, headers=bearer(GOOD)) as answer,
    ):
        lines = answer.iter_lines()
        assert json.loads(next(lines))["isFinal"] is False
        search.await_start()
        monkeypatch.setattr(server._server._tokens, "_tokens", [])
        server._loop.call_soon_threadsafe(server._server._auth.end_revoked)
        (last,) = map(json.loads, lines)
    assert (last["error"]["reason"], last["error"]["status"]) == ("REVOKED_TOKEN", 401)
    search.await_end()


# ---- other sites


def test_no_page_of_another_site_may_ask_unless_it_is_named(start_server):
    asking = {"origin": "https://play.example", "access-control-request-method": "POST"}
    asking["access-control-request-headers"] = "authorization,content-type,request-timeout"
    with start_server().http() as http:
        answer = http.get("/v1/games", headers=bearer(GOOD, origin="https://play.example"))
        assert not [name for name in answer.headers if name.startswith("access-control")]
    with start_server(http_cors_origins=["https://play.example"]).http() as http:
        answer = http.options("/v1/best-turn", headers=asking)
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == "https://play.example"
        assert "access-control-allow-credentials" not in answer.headers
        refused = http.options("/v1/best-turn", headers={**asking, "origin": "https://evil.example"})
        assert refused.status_code == 400
        assert "access-control-allow-origin" not in refused.headers
        answer = http.get("/v1/games", headers=bearer(GOOD, origin="https://play.example"))
        assert answer.headers["access-control-allow-origin"] == "https://play.example"
        assert "x-request-id" in answer.headers["access-control-expose-headers"].lower()


# ---- encryption


def test_certificates_of_the_server_and_of_clients(start_server, tmp_path, caplog):
    caplog.set_level("INFO", "mexica_ai")
    authority = make_certificate(tmp_path, "authority")
    make_certificate(tmp_path, "server", authority)
    make_certificate(tmp_path, "client", authority, common_name="somebody")
    fields = {
        "tls_certificate": str(tmp_path / "server.pem"),
        "tls_key": str(tmp_path / "server.key"),
        "tls_client_ca": str(tmp_path / "authority.pem"),
    }
    server = start_server(tokens_file=None, **fields)
    trusting = ssl.create_default_context(cafile=tmp_path / "authority.pem")
    with server.http("https", verify=trusting) as http, pytest.raises(httpx.TransportError):
        http.get("/v1/games")
    with server.http() as http, pytest.raises(httpx.TransportError):
        http.get("/v1/games")
    trusting.load_cert_chain(tmp_path / "client.pem", tmp_path / "client.key")
    with server.http("https", verify=trusting) as http:
        assert http.get("/v1/games").status_code == 200
    assert [record.fields["caller"] for record in caplog.records if record.getMessage() == "call"] == ["somebody"]


def test_renewed_certificates_are_used_for_new_connections(start_server, tmp_path):
    authority = make_certificate(tmp_path, "authority")
    make_certificate(tmp_path, "server", authority)
    fields = {name: str(tmp_path / f"server.{ending}") for name, ending in (("certificate", "pem"), ("key", "key"))}
    server = start_server(**{f"tls_{name}": path for name, path in fields.items()})
    trusting = ssl.create_default_context(cafile=tmp_path / "authority.pem")

    def serial():
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(server.http_path)
            with trusting.wrap_socket(client, server_hostname="localhost") as encrypted:
                return encrypted.getpeercert()["serialNumber"]

    async def look():
        server._server._certificates._checked_s = float("-inf")
        server._server._look_at_secrets()

    first = serial()
    make_certificate(tmp_path, "server", authority)
    server.run(look())
    assert serial() != first
    (tmp_path / "server.pem").write_text("broken")
    second = serial()
    server.run(look())
    assert serial() == second

    async def renew():
        server._server._door.renew(99)

    server.run(renew())  # as if the files had been replaced after they were checked
    assert serial() == second
    make_certificate(tmp_path, "server", authority)
    server.run(renew())
    assert serial() != second


# ---- the end


def test_a_server_that_ends_finishes_answers_and_takes_no_more(tmp_path):
    search = IdleSearch()
    server = RunningServer(search, http_port=0, grace_s=4.0, slots=2)
    with contextlib.closing(server), server.http() as first, server.http() as second:
        running = in_the_background(first.post, "/v1/best-turn", json={**LONG, "limits": {"timeS": 2.5}})
        search.await_start()
        draining = in_the_background(server.drain)
        await_that(lambda: second.get("/healthz").status_code == 503)
        await_that(lambda: second.get("/v1/games").status_code == 503)
        refused = second.get("/v1/games")
        assert (refused.json()["reason"], refused.headers["connection"]) == ("SHUTTING_DOWN", "close")
        assert refused.headers["retry-after"] == "1"
        assert second.get("/healthz").json() == {"status": "NOT_SERVING"}
        assert running().json()["result"]["stopReason"] == "STOP_REASON_TIME"
        draining()
        with pytest.raises(httpx.TransportError):
            second.get("/healthz")


def test_grpc_goes_on_without_a_door():
    with contextlib.closing(RunningServer(None)) as server:
        assert server.stub.ListGames(engine_pb2.ListGamesRequest()).games
        with pytest.raises(httpx.TransportError):
            server.http().get("/healthz")


def test_a_call_over_grpc_and_one_over_http_find_each_other(start_server):
    search = IdleAnalysis()
    server = start_server(search)
    with server.http() as http:
        analysis = in_the_background(
            http.post, "/v1/analyze", json={**LONG, "analysisId": "mine", "intervalS": 50}, headers=bearer(GOOD)
        )
        search.await_start()
        metadata = (("authorization", f"Bearer {GOOD}"),)
        request = engine_pb2.StopAnalysisRequest(analysis_id="mine")
        assert server.stub.StopAnalysis(request, metadata=metadata).num_stopped == 1
        assert json.loads(analysis().text.splitlines()[-1])["isFinal"] is True


@pytest.mark.real("processes")
def test_a_process_serves_both_and_ends():
    command = [sys.executable, "-P", "-m", "mexica_ai", "serve", "--port", "0", "--http-port", "0", "--slots", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        first, second = process.stdout.readline(), process.stdout.readline()
        assert first.startswith("listening on 127.0.0.1:")
        address = second.removeprefix("HTTP on ").strip()
        body = {"position": MEXICA, "limits": {"timeS": 60}, "intervalS": 0.05}
        with (
            httpx.Client(base_url=f"http://{address}", timeout=60) as http,
            http.stream("POST", "/v1/analyze", json=body, headers=EVENTS) as answer,
        ):
            events = answer.iter_lines()
            assert next(events).startswith("data: ")
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGTERM)  # the second one ends the search now
            last = [line for line in events if line][-1]
        assert json.loads(last.removeprefix("data: "))["isFinal"] is True
        assert process.wait(60) == 0
        log = process.stderr.read()
        assert "Traceback" not in log
        assert f"http={address}" in log


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    for name in [name for name in sys.modules if name.startswith("mexica_ai.server.http.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("mexica_ai.server.http.door", raising=False)  # another test of the worker may have loaded it
    with pytest.raises(ai.SearchError, match=re.escape("pip install 'mexica-ai[http]'")) as caught:
        check(ServerConfig(http_port=0))
    assert caught.value.path == "http_port"
    check(ServerConfig())
