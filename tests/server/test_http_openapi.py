"""The description of the service over HTTP is that of the protos, and of what the server answers."""

import contextlib
import json
import runpy
from pathlib import Path

import pytest
from google.api import annotations_pb2
from jsonschema import Draft202012Validator, FormatChecker
from openapi_spec_validator import validate
from servers import RunningServer
from test_http_calls import EXAMPLES, LINES, NIM, SERVICE

ROOT = Path(__file__).parents[2]
WRITTEN = ROOT / "server" / "http" / "openapi.json"


@pytest.fixture(scope="module")
def description():
    return json.loads(WRITTEN.read_text())


@pytest.fixture(scope="module")
def server():
    with contextlib.closing(RunningServer(None, http_port=0)) as server:
        yield server


def validator(description, name):
    schema = {"$ref": f"#/components/schemas/{name}", "components": description["components"]}
    return Draft202012Validator(schema, format_checker=FormatChecker())


@pytest.mark.real("processes")  # protoc
def test_it_is_made_from_the_protos(description):
    made = runpy.run_path(str(ROOT / ".ci" / "openapi"))["describe"]()
    assert made == description, "expected it written again by .ci/openapi"


def test_it_is_valid(description):
    validate(description)
    schemas = description["components"]["schemas"]
    assert all(schema.get("description") for name, schema in schemas.items() if name != "Health")
    for schema in schemas.values():
        assert all(field.get("description") for name, field in schema["properties"].items() if schema is not schemas[
            "Health"]) if schema["type"] == "object" else schema["enum"]  # fmt: skip


def test_it_has_every_method_and_no_other(description):
    paths = {"/healthz": ["get"], "/v1/openapi.json": ["get"]}
    for method in SERVICE.methods:
        rule = method.GetOptions().Extensions[annotations_pb2.http]
        verb = rule.WhichOneof("pattern")
        paths[getattr(rule, verb)] = [verb]
    assert {path: list(verbs) for path, verbs in description["paths"].items()} == paths


def test_the_server_gives_it_to_everybody(server, description):
    with server.http() as http:
        answer = http.get("/v1/openapi.json")
    assert answer.json() == description
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("method", list(SERVICE.methods), ids=lambda method: method.name)
def test_requests_and_answers_have_its_form(server, description, method):
    rule = method.GetOptions().Extensions[annotations_pb2.http]
    verb = rule.WhichOneof("pattern")
    given = EXAMPLES.get(method.name, {"position": NIM})
    validator(description, method.input_type.name).validate(given)
    headers = LINES if method.client_streaming else {"content-type": "application/json"}
    with server.http() as http:
        content = None if verb == "get" else json.dumps(given)
        answer = http.request(verb, getattr(rule, verb), content=content, headers=headers)
    assert answer.status_code == 200
    for line in answer.text.splitlines():
        validator(description, method.output_type.name).validate(json.loads(line))


def test_problems_have_its_form(server, description):
    with server.http() as http:
        for answer in (http.post("/v1/best-turn", json={}), http.get("/"), http.get("/v1/games?x=1")):
            validator(description, "Problem").validate(answer.json())
            assert set(answer.json()) <= set(description["components"]["schemas"]["Problem"]["properties"])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Position", {"nim": {}, "mexica": {}}),
        ("Position", {"nim": {"piles": ["x"]}}),
        ("BestTurnRequest", {"seed": True}),
        ("SearchResult", {"stopReason": "STOP_REASON_X"}),
    ],
)
def test_it_refuses_other_forms(description, name, value):
    assert not validator(description, name).is_valid(value)
