"""Clients in other languages, generated from the protos and compiled, as docs/clients.md says; two of them are run.

Each language is left out where its tools are missing. On Debian they are in the packages protobuf-compiler; for Go
golang-go, protoc-gen-go, protoc-gen-go-grpc, golang-google-grpc-dev and golang-github-golang-protobuf-1-5-dev; for Java
default-jdk-headless, protobuf-compiler-grpc-java-plugin, libgrpc-java and libgeronimo-annotation-1.3-spec-java. For
TypeScript: npm install in examples/clients/typescript.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from certificates import make_certificate
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from servers import RunningServer, unavailable_at_first

import mexica_ai as ai

ROOT = Path(__file__).parents[2]
PROTO = ROOT / "proto"
PROTOS = sorted(str(path.relative_to(PROTO)) for path in PROTO.glob("mexica_ai/v1/*.proto"))
EXAMPLES = ROOT / "examples"
TYPESCRIPT = EXAMPLES / "clients" / "typescript"
GOCODE = Path("/usr/share/gocode")
JARS = Path("/usr/share/java")
BUF = sorted(ROOT.glob("build/buf-*/node_modules/.bin/buf"))
C_SHARP = {"Coatl.cs", "Engine.cs", "Mexica.cs", "Nim.cs", "Tzolkin.cs"}

pytestmark = pytest.mark.slow
processes = pytest.mark.real("processes", "ports")


def need(*tools):
    """Skip a test if a program or a path is missing."""
    for tool in ("protoc", *tools):
        if not (tool.exists() if isinstance(tool, Path) else shutil.which(tool)):
            pytest.skip(f"needs {tool}")


def run(*command, **options):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=280, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def generate(*options, protos=PROTOS):
    run("protoc", "-I", PROTO, *options, *protos)


@pytest.fixture(scope="module")
def server():
    running = RunningServer(None, port=0)
    yield running.address
    running.close()


def example_of(language):
    """Return the example of docs/clients.md in a language."""
    (found,) = re.findall(
        rf"^```{language}\n(.*?)^```$", (ROOT / "docs" / "clients.md").read_text(), re.DOTALL | re.MULTILINE
    )
    return found


# ---- what lies in proto/


@pytest.mark.parametrize("name", ["annotations", "http"])
def test_the_annotations_are_those_of_the_installed_package(tmp_path, name):
    """Except for the comments, which descriptors lack."""
    from google.api import annotations_pb2, http_pb2
    from grpc_tools import protoc

    modules = {"annotations": annotations_pb2, "http": http_pb2}
    includes = [f"-I{PROTO}", f"-I{Path(protoc.__file__).parent / '_proto'}"]
    out = tmp_path / "descriptors"
    assert protoc.main(["protoc", *includes, f"--descriptor_set_out={out}", f"google/api/{name}.proto"]) == 0
    (found,) = FileDescriptorSet.FromString(out.read_bytes()).file
    installed = FileDescriptorProto()
    modules[name].DESCRIPTOR.CopyToProto(installed)
    for each in (found, installed):
        each.ClearField("options")  # packages of other languages
    # protoc also writes the names for JSON that follow from the others.
    assert re.sub(r"\s*json_name: .*", "", str(found)) == str(installed)


@processes
@pytest.mark.skipif(not BUF, reason="needs make lint-protos, which installs buf")
def test_buf_generates(tmp_path):
    need()
    plugins = [{"protoc_builtin": "csharp", "out": str(tmp_path)}]
    template = json.dumps({"version": "v2", "plugins": plugins})
    run(BUF[0], "generate", PROTO, "--path", PROTO / "mexica_ai", "--template", template, cwd=ROOT)
    assert {path.name for path in tmp_path.iterdir()} == C_SHARP


# ---- Node.js; the example has its own tests


@processes
def test_node_loads_the_published_service_config(server, tmp_path):
    modules = EXAMPLES / "clients" / "node" / "node_modules"
    need("node", modules / "@grpc" / "grpc-js")
    (tmp_path / "node_modules").symlink_to(modules)
    (tmp_path / "games.mjs").write_text(example_of("js").replace("127.0.0.1:50051", server))
    assert run("node", tmp_path / "games.mjs", cwd=ROOT).split() == ["coatl", "mexica", "nim", "tzolkin"]


# ---- Go


def test_the_excerpt_is_of_the_example():
    lines = [line.strip() for line in (EXAMPLES / "clients" / "go" / "main.go").read_text().splitlines()]
    for line in example_of("go").splitlines():
        assert line.strip() in lines


@pytest.fixture(scope="module")
def go_client(tmp_path_factory):
    """The example, compiled with Debian's packages."""
    grpc = GOCODE / "src" / "google.golang.org" / "grpc"
    need("go", "protoc-gen-go", "protoc-gen-go-grpc", grpc, GOCODE / "src" / "google.golang.org" / "protobuf")
    need(
        GOCODE / "src" / "github.com" / "golang" / "protobuf" / "proto" / "registry.go"
    )  # 1.3, the other one, lacks it
    if subprocess.run(["protoc-gen-go", "--version"], input=b"", capture_output=True).returncode:
        pytest.skip("needs protoc-gen-go 1.20 or later")
    folder = tmp_path_factory.mktemp("go")
    place = folder / "src" / "mexica_ai"
    shutil.copytree(EXAMPLES / "clients" / "go", place)
    options = [f"--{name}{end}" for name in ("go", "go-grpc") for end in (f"_out={place}", "_opt=module=mexica_ai")]
    generate(*options)
    environ = {"GO111MODULE": "off", "GOPATH": f"{folder}:{GOCODE}", "GOCACHE": str(folder / "cache")}
    run("go", "vet", ".", "./v1", cwd=place, env={**os.environ, **environ})
    run("go", "build", "-o", folder / "client", ".", cwd=place, env={**os.environ, **environ})
    return folder / "client"


def go(client, *args, **environ):
    config = ROOT / "mexica_ai" / "rpc" / "service_config.json"
    command = [client, "-service-config", config, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **environ})


@processes
def test_go_plays_the_best_turn_and_shows_the_faults_by_field(go_client, server, tmp_path):
    for name in ("nim.json", "mexica_midgame.json", "coatl_midgame.json", "tzolkin_midgame.json"):
        done = go(go_client, "-time", 0.2, "-host", server, EXAMPLES / name)
        assert done.returncode == 0, done.stderr
        turn, figures = done.stdout.splitlines()
        ai.load(EXAMPLES / name).push(turn)
        assert "STOP_REASON_" in figures
    (tmp_path / "broken.json").write_text('{"game": "nim", "version": 1, "players": 9}')
    done = go(go_client, "-host", server, tmp_path / "broken.json")
    assert done.returncode == 1
    assert done.stderr.startswith("InvalidArgument: ")
    assert "position.nim.to_move: " in done.stderr
    assert go(go_client).returncode == 2


@processes
def test_go_retries_by_the_published_service_config(go_client):
    with unavailable_at_first(2, ["take 1 1"]) as (address, requests):
        done = go(go_client, "-host", address, EXAMPLES / "nim.json", GRPC_GO_RETRY="on")
    assert done.returncode == 0, done.stderr
    assert len(requests) == 3


@processes
def test_go_uses_tls_and_the_name_in_the_certificate(go_client, tmp_path):
    make_certificate(tmp_path, "server")
    (tmp_path / "tokens").write_text("go go-0123456789-abc\n")
    certificate, key, tokens = (str(tmp_path / name) for name in ("server.pem", "server.key", "tokens"))
    server = RunningServer(None, port=0, host="127.0.0.2", tls_certificate=certificate, tls_key=key, tokens_file=tokens)
    ask = ["-time", 0.1, "-host", server.address, "-ca", certificate, EXAMPLES / "nim.json"]
    try:
        done = go(go_client, "-authority", "localhost", *ask, ENGINE_TOKEN="go-0123456789-abc")
        assert done.returncode == 0, done.stderr
        assert "Unauthenticated" in go(go_client, "-authority", "localhost", *ask).stderr
        assert "x509" in go(go_client, *ask, ENGINE_TOKEN="go-0123456789-abc").stderr
    finally:
        server.close()


# ---- Java


@processes
def test_java_compiles(tmp_path):
    annotation = JARS / "geronimo-annotation-1.3-spec.jar"
    names = ("protobuf", "grpc-api", "grpc-stub", "grpc-protobuf", "guava")
    jars = [annotation, *(JARS / f"{name}.jar" for name in names)]
    need("javac", "grpc_java_plugin", *jars)
    sources, classes = tmp_path / "sources", tmp_path / "classes"
    sources.mkdir()
    plugin = f"--plugin=protoc-gen-grpc-java={shutil.which('grpc_java_plugin')}"
    # The classes of google/api are in proto-google-common-protos, which Debian lacks.
    protos = [*PROTOS, "google/api/annotations.proto", "google/api/http.proto"]
    generate(f"--java_out={sources}", f"--grpc-java_out={sources}", plugin, protos=protos)
    files = sorted(sources.rglob("*.java"))
    package = sources / "com" / "mexica_ai" / "v1"
    assert {package / "EngineServiceGrpc.java", package / "BestTurnRequest.java"} <= set(files)
    run("javac", "-nowarn", "-d", classes, "-cp", ":".join(map(str, jars)), *files)
    assert (classes / "com" / "mexica_ai" / "v1" / "EngineServiceGrpc.class").exists()


# ---- C#


@processes
def test_c_sharp_is_generated(tmp_path):
    need()
    generate(f"--csharp_out={tmp_path}")
    assert {path.name for path in tmp_path.iterdir()} == C_SHARP
    assert all("namespace MexicaAi.V1 {" in (tmp_path / name).read_text() for name in C_SHARP)


# ---- TypeScript


@processes
def test_typescript_plays_the_best_turn(server, tmp_path):
    modules = TYPESCRIPT / "node_modules"
    need("node", "npm", modules / ".bin" / "tsc", modules / ".bin" / "protoc-gen-ts_proto")
    place = tmp_path / "typescript"
    shutil.copytree(TYPESCRIPT, place, ignore=shutil.ignore_patterns("node_modules", "gen", "out"))
    (place / "node_modules").symlink_to(modules)
    for script in ("generate", "check", "build"):
        run("npm", "run", script, cwd=place, env={**os.environ, "PROTOS": str(PROTO)})
    turn = run("node", place / "out" / "best_turn.js", EXAMPLES / "mexica_midgame.json", server)
    ai.load(EXAMPLES / "mexica_midgame.json").push(turn.strip())
