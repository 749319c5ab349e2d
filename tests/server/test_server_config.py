"""The configuration of a server: its sources, their order, and the errors for invalid values."""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import mexica_ai as ai
from mexica_ai.cli import serve
from mexica_ai.cli.main import main
from mexica_ai.server import config as server_config
from mexica_ai.server.config import ServerConfig, load_config, to_toml
from mexica_ai.server.http.door import MAX_CONNECTIONS

ROOT = Path(__file__).parents[2]
FIELDS = list(ServerConfig.model_fields)
SHIPPED = {game: ROOT / "cext" / "games" / game / "weights.json" for game in ("coatl", "mexica")}
TLS = {"tls_certificate": "server.pem", "tls_key": "server.key"}


@pytest.fixture
def cli(capsys):
    """Call `mexica-ai`; `code`, `out` and `err` are those of the last call."""

    def call(*args):
        call.code = main(args)
        call.out, call.err = capsys.readouterr()
        return call.code

    def refused(*args):
        assert call(*args) == 2
        assert call.out == ""
        assert re.fullmatch(r"mexica-ai: error: .+\n", call.err)
        return call.err

    call.refused = refused
    return call


@pytest.fixture
def toml(tmp_path):
    """Write a configuration file and return its path."""

    def write(text):
        path = tmp_path / "server.toml"
        path.write_text(text)
        return str(path)

    return write


def refusal(path=None, environ=None, flags=None):
    with pytest.raises(ai.SearchError) as caught:
        load_config(path, environ or {}, flags)
    assert caught.value.reason == "INVALID_CONFIG"
    return caught.value


# ---- sources


def test_nothing_gives_the_defaults():
    assert load_config(None, {}) == ServerConfig()
    assert load_config(None, {"PATH": "/bin", "MEXICA_AI_NATIVE": "1"}, {"port": None}) == ServerConfig()


def test_variables_of_other_commands_and_of_the_tests_are_no_faults():
    names = "TOKEN", "VARIANT", "GAMES", "NATIVE", "BROWSER", "REQUIRE_BROWSER", "SEED", "WALKS", "WRITE_GOLDENS"
    assert load_config(None, {f"MEXICA_AI_{name}": "x" for name in names}) == ServerConfig()


def test_flags_go_before_the_environment_and_that_before_the_file(toml):
    path = toml("port = 1\nthreads = 2\nslots = 3\n")
    environ = {"MEXICA_AI_THREADS": "4", "MEXICA_AI_SLOTS": "5"}
    config = load_config(path, environ, {"slots": 6, "port": None})
    assert (config.port, config.threads, config.slots) == (1, 4, 6)


def test_the_environment_names_the_file(toml):
    environ = {"MEXICA_AI_CONFIG": toml("port = 7")}
    assert load_config(None, environ).port == 7
    assert load_config(toml("port = 8"), {"MEXICA_AI_CONFIG": "no such file"}).port == 8


def test_every_field_has_a_flag_and_a_variable_and_a_key(toml):
    values = ServerConfig(
        **{name: f"/x/{name}" for name in FIELDS if name.startswith("tls_")},
        weights=[f"first={SHIPPED['mexica']}", f"second={SHIPPED['coatl']}"],
        tokens_file="/x/tokens",
        host="::",
        metrics_port=9,
        http_port=8,
        http_cors_origins=["https://a.example", "http://[::1]:3000"],
        http_hosts=["engine"],
        log_level="debug",
        log_format="json",
        tracing=True,
    ).model_dump()
    assert set(values) == set(FIELDS)
    text = "\n".join(f"{name} = {server_config._toml_value(value)}" for name, value in values.items())
    variables = {
        f"MEXICA_AI_{name.upper()}": value if isinstance(value, str) else json.dumps(value)
        for name, value in values.items()
    }
    parser = argparse.ArgumentParser()
    serve.add_arguments(parser)
    given = []
    for name, flag in server_config.flags().items():
        if not flag.metavar:
            given.append(flag.name if values[name] else flag.name.replace("--", "--no-", 1))
            continue
        for value in values[name] if flag.repeats else [values[name]]:
            given += [flag.name, str(value)]
    flags = {name: value for name, value in vars(parser.parse_args(given)).items() if name in FIELDS}
    for config in (load_config(toml(text), {}), load_config(None, variables), load_config(None, {}, flags)):
        assert config.model_dump() == values


def test_the_old_flags_keep_their_names():
    names = {flag.name for flag in server_config.flags().values()}
    assert {"--host", "--port", "--threads", "--slots", "--max-time", "--memory", "--insecure"} <= names


def test_switches():
    for text, is_on in (("true", True), ("1", True), ("false", False), ("0", False)):
        assert load_config(None, {"MEXICA_AI_INSECURE": text}).insecure is is_on
    assert not load_config(None, {"MEXICA_AI_INSECURE": "true"}, {"insecure": False}).insecure


def test_paths_of_a_file_are_relative_to_it(toml, tmp_path):
    config = load_config(toml('tokens_file = "tokens"'), {})
    assert config.tokens_file == str(tmp_path / "tokens")
    assert load_config(toml('tokens_file = "/etc/tokens"'), {}).tokens_file == "/etc/tokens"
    assert load_config(None, {"MEXICA_AI_TOKENS_FILE": "tokens"}).tokens_file == "tokens"
    shutil.copy(SHIPPED["mexica"], tmp_path / "a=b.json")
    assert load_config(toml('weights = ["strong=a=b.json"]'), {}).weights == [f"strong={tmp_path / 'a=b.json'}"]


def test_what_is_printed_gives_the_same_configuration(toml):
    config = ServerConfig(
        **TLS, tokens_file='odd "name"\\\x7f\n\N{SNOWMAN}', metrics_port=0, grace_s=2, weights=["a=b", "c=d e"]
    )
    assert ServerConfig(**tomllib.loads(to_toml(config))) == config


# ---- mistakes


@pytest.mark.parametrize(
    ("key", "given", "quoted", "expected"),
    [
        ("slots", "0", "0", "an integer from 1 to 1024"),
        ("slots", "true", "true", "an integer from 1 to 1024"),
        ("slots", '"2"', '"2"', "an integer from 1 to 1024"),
        ("port", "65536", "65536", "an integer from 0 to 65535"),
        ("metrics_port", "-1", "-1", "an integer from 0 to 65535"),
        ("light_workers", "65", "65", "an integer from 1 to 64"),
        ("max_waiting_per_caller", "0", "0", "an integer from 1 to 1000000"),
        ("max_time_s", "nan", "nan", "a number of seconds above 0"),
        ("max_time_s", '"1"', '"1"', "a number of seconds above 0"),
        ("min_interval_s", "-0.1", "-0.1", "a number of seconds of at least 0,"),
        ("deadline_margin_s", "0.01", "0.01", "a number of seconds of at least 0.02"),
        ("insecure", "1", "1", "true or false"),
        ("log_format", '"xml"', '"xml"', "one of text, json"),
        ("tokens_file", '""', '""', "the path of a file"),
        ("host", "[1]", "a list of 1 entries", "the name or the address"),
        ("host", '""', '""', "the name or the address"),
        ("weights", '"a=b"', '"a=b"', 'a list such as ["strong=weights.json"]'),
        ("weights", "[1]", "1", "NAME=FILE, the name of 1 to 64 letters, digits and ._-"),
        ("weights", '["file"]', '"file"', "NAME=FILE"),
        ("weights", '["=file"]', '"=file"', "NAME=FILE"),
        ("weights", '["name="]', '"name="', "NAME=FILE"),
        ("weights", '["a/b=file"]', '"a/b=file"', "NAME=FILE"),
    ],
)
def test_a_bad_value_in_a_file(toml, key, given, quoted, expected):
    path = toml(f"{key} = {given}")
    error = refusal(path)
    assert str(error).startswith(f"{path}: {key}: given {quoted}; expected {expected}")
    assert error.path == key


@pytest.mark.parametrize(
    ("variable", "given", "quoted"),
    [
        ("SLOTS", "0", "0"),
        ("SLOTS", "", '""'),
        ("SLOTS", "1e3", '"1e3"'),
        ("MAX_TIME_S", "inf", '"inf"'),
        ("MAX_TIME_S", "0", "0.0"),
        ("INSECURE", "yes", '"yes"'),
        ("TLS_KEY", "", '""'),
        ("WEIGHTS", "", '""'),
        ("WEIGHTS", "a=b", '"a=b"'),
        ("WEIGHTS", '{"a": "b"}', "an object of 1 keys"),
        ("LOG_LEVEL", "INFO", '"INFO"'),
    ],
)
def test_a_bad_value_in_the_environment(variable, given, quoted):
    error = refusal(environ={f"MEXICA_AI_{variable}": given})
    assert str(error).startswith(f"MEXICA_AI_{variable}: given {quoted}; expected ")
    assert error.path == variable.lower()


def test_unknown_names(toml):
    path = toml("slot = 1")
    assert str(refusal(path)) == f'{path}: "slot": no such key; expected slots, perhaps'
    error = refusal(environ={"MEXICA_AI_MAX_TIME": "5"})
    assert str(error) == '"MEXICA_AI_MAX_TIME": no such variable; expected MEXICA_AI_MAX_TIME_S, perhaps'
    assert "expected one of host, port" in str(refusal(toml("[server]\nport = 1")))


def test_all_faults_are_told(toml):
    path = toml("slots = 0\nthreads = 0\n")
    error = refusal(path, {"MEXICA_AI_PORT": "x"}, {"max_time_s": -1.0})
    assert [fault.path for fault in error.violations] == ["slots", "threads", "port", "max_time_s"]
    for fault in error.violations:
        assert fault.message in str(error)
    assert error.violations[3].message.startswith("--max-time: given -1.0; ")


def test_faults_of_weights_are_told_with_all_others(toml, tmp_path):
    torn = tmp_path / "torn.json"
    torn.write_bytes(SHIPPED["mexica"].read_bytes()[:-500])
    names = [f"a={SHIPPED['mexica']}", f"a={SHIPPED['coatl']}", f"a={SHIPPED['mexica']}", f"shipped={SHIPPED['coatl']}"]
    path = toml(f"slots = 0\nweights = {json.dumps([*names, 'b=torn.json', f'b={tmp_path}/none.json'])}\n")
    error = refusal(path)
    assert [fault.path for fault in error.violations] == ["slots"] + ["weights"] * 4
    for fault, problem in zip(
        error.violations[1:],
        [
            "expected another name: mexica has weights a already",
            "expected another name: coatl has weights shipped already",
            "expected a file of weights of coatl or mexica or tzolkin",
            f"cannot read {tmp_path}/none.json: No such file or directory; expected a file of weights",
        ],
        strict=True,
    ):
        assert fault.message.startswith(f"{path}: weights: ")
        assert problem in fault.message
        assert fault.message in str(error)


def test_an_entry_of_weights_is_told_by_itself(toml):
    error = refusal(toml('weights = ["a", "b=c", "d"]'))
    assert [re.search(r'given "(\w+)"', fault.message)[1] for fault in error.violations] == ["a", "d"]


def test_fields_that_do_not_fit_together_name_their_source(toml):
    path = toml('host = "0.0.0.0"')
    assert str(refusal(path)).startswith(f'{path}: host: given "0.0.0.0"; expected a loopback address')
    assert str(refusal(flags={"tls_key": "x"})) == '--tls-key: given "x"; expected tls_certificate too'


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"port 1", "is not TOML"),
        (b"port = 1\nport = 2", "is not TOML"),
        (b"\xff", "not UTF-8 at byte 0"),
        (b"a = " + b"[" * 100_000, "is not TOML"),
        (b"#" * (1 << 20) + b"\n", "over 1,048,576 bytes"),
    ],
    ids=["no TOML", "a key twice", "no UTF-8", "nested deeply", "large"],
)
def test_a_file_that_is_no_configuration(tmp_path, content, problem):
    path = tmp_path / "server.toml"
    path.write_bytes(content)
    error = refusal(str(path))
    assert str(path) in str(error)
    assert problem in str(error)


def test_a_file_that_is_not_there(tmp_path):
    assert "No such file" in str(refusal(str(tmp_path / "server.toml")))
    assert "directory" in str(refusal(str(tmp_path)))


# ---- safety


@pytest.mark.parametrize(
    "fields",
    [{}, TLS, {"tokens_file": "t"}, {**TLS, "insecure": False}],
    ids=["nothing", "encryption only", "tokens without encryption", "not insecure"],
)
def test_others_are_not_let_near_without_encryption_and_authentication(fields):
    with pytest.raises(ai.SearchError, match="expected a loopback address") as caught:
        ServerConfig(host="0.0.0.0", **fields)
    assert caught.value.path == "host"
    assert ServerConfig(host="127.0.0.1", **fields)


@pytest.mark.parametrize("fields", [{"tokens_file": "t"}, {"tls_client_ca": "ca"}])
def test_encryption_and_authentication_open_the_door(fields):
    config = ServerConfig(host="0.0.0.0", **TLS, **fields)
    assert config.address == "0.0.0.0:50051"
    # The metrics have neither.
    assert config.metrics_host == "127.0.0.1"
    assert ServerConfig(host="0.0.0.0", insecure=True).metrics_host == "0.0.0.0"
    assert ServerConfig(host="::1").metrics_host == "::1"
    # Unless somebody says so.
    assert ServerConfig(host="0.0.0.0", metrics_host="10.0.0.1", **TLS, **fields).metrics_host == "10.0.0.1"


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"tls_certificate": "x"}, "tls_certificate"),
        ({"tls_key": "x"}, "tls_key"),
        ({"tls_client_ca": "x"}, "tls_client_ca"),
    ],
)
def test_half_of_an_encryption_is_refused(fields, path):
    with pytest.raises(ai.SearchError, match="expected tls_") as caught:
        ServerConfig(**fields)
    assert caught.value.path == path


def test_the_memory_of_all_searches(monkeypatch):
    monkeypatch.setattr(server_config, "available_mb", lambda: 1 << 20)
    assert ServerConfig(slots=3, memory_mb=10).total_memory_mb == 30
    assert ServerConfig(slots=3, memory_mb=10, total_memory_mb=15).total_memory_mb == 15


def test_every_slot_needs_some_of_the_memory_of_all_searches(toml):
    assert ServerConfig(slots=3, total_memory_mb=3).total_memory_mb == 3
    path = toml("slots = 3\ntotal_memory_mb = 2\n")
    error = refusal(path)
    assert str(error) == f"{path}: total_memory_mb: given 2; expected at least 3: 1 MB for each slot"
    assert error.path == "total_memory_mb"


# ---- the command


def test_check_config_prints_what_is_in_force(cli, toml, tmp_path, monkeypatch):
    (tmp_path / "tokens").write_text("alice 0123456789abcdef\n")
    path = toml('tokens_file = "tokens"\nport = 1234\nslots = 3\n')
    monkeypatch.setenv("MEXICA_AI_SLOTS", "4")
    assert cli("serve", "--config", path, "--max-time", "2.5", "--check-config") == 0
    assert "0123456789abcdef" not in cli.out
    printed = tomllib.loads(cli.out)
    assert (printed["port"], printed["slots"], printed["max_time_s"]) == (1234, 4, 2.5)
    assert printed["tokens_file"] == str(tmp_path / "tokens")
    assert "# tls_key: none" in cli.out


@pytest.mark.parametrize(
    ("args", "mentions"),
    [
        (["--host", "0.0.0.0"], '--host: given "0.0.0.0"; expected a loopback address'),
        (["--config", "no-such-file"], "cannot read no-such-file: No such file"),
        (["--log-level", "loud"], "'loud' is not one of debug, info, warning, error"),
        (["--tokens-file", "no-such-file"], "tokens_file: cannot read no-such-file: No such file"),
        (["--tls-certificate", "nope", "--tls-key", "nope"], "tls_certificate: cannot read nope: No such file"),
        (["--weights", "nope"], "'nope' is not NAME=FILE"),
        (["--weights", "a=nope"], "--weights: cannot read nope: No such file or directory; expected a file of weights"),
    ],
)
def test_check_config_refuses(cli, args, mentions):
    assert mentions in cli.refused("serve", *args, "--check-config")


def test_check_config_prints_weights(cli):
    entries = [f"strong={SHIPPED['mexica']}", f"strong={SHIPPED['coatl']}"]
    assert cli("serve", "--weights", entries[0], "--weights", entries[1], "--check-config") == 0
    assert tomllib.loads(cli.out)["weights"] == entries


def test_a_bad_variable_is_bad_input(cli, monkeypatch):
    monkeypatch.setenv("MEXICA_AI_SLOTS", "none")
    assert 'MEXICA_AI_SLOTS: given "none"; expected an integer' in cli.refused("serve")


@pytest.mark.real("processes")
@pytest.mark.parametrize(
    "program",
    [
        "import mexica_ai, mexica_ai.rpc.client",
        "from mexica_ai.cli.main import main; main(['best', 'examples/nim.json', '--iterations', '10'])",
    ],
)
def test_only_the_server_imports_pydantic(program):
    program += "; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert "mexica_ai.game.position" in done.stdout.split()
    assert not {"pydantic", "mexica_ai.server"} & set(done.stdout.split())


def test_metrics_without_the_package(cli, monkeypatch):
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    assert "pip install 'mexica-ai[metrics]'" in cli.refused("serve", "--metrics-port", "0")


# ---- the examples


def test_the_example_file_is_one():
    path = ROOT / "examples" / "deploy" / "server.toml"
    config = load_config(str(path), {})
    assert config.tls_certificate
    assert config.tokens_file
    # What is shown as a comment is right too, and every field is shown.
    text = re.sub(r"^#(\w+ = )", r"\1", path.read_text(), flags=re.MULTILINE)
    assert set(tomllib.loads(text)) == set(FIELDS)
    assert ServerConfig(**tomllib.loads(text))


def test_the_comments_of_the_example_file_show_what_holds(monkeypatch):
    monkeypatch.setattr(server_config, "available_mb", lambda: 1 << 20)  # as on a machine with enough memory
    path = ROOT / "examples" / "deploy" / "server.toml"
    config = load_config(str(path), {})
    shown = tomllib.loads("\n".join(re.findall(r"^#(\w+ = .*)$", path.read_text(), re.MULTILINE)))
    # The file says that these are not set.
    for name in ("tls_client_ca", "http_port"):
        assert shown.pop(name)
        assert getattr(config, name) is None
    assert shown == {name: getattr(config, name) for name in shown}
    assert {"deadline_margin_s", "total_memory_mb", "grace_s"} <= set(shown)


def test_operating_md_has_every_setting():
    page = (ROOT / "docs" / "operating.md").read_text()
    assert [name for name in FIELDS if not re.search(rf"\b{name}\b", page)] == []


def test_http_is_as_safe_as_grpc():
    assert ServerConfig(http_port=0).http_host == "127.0.0.1"
    assert ServerConfig(http_host="0.0.0.0").http_port is None  # nothing listens there
    for fields in ({}, {"tokens_file": "t"}, TLS):
        assert "http_host: " in str(refused(http_port=0, http_host="0.0.0.0", **fields))
    assert ServerConfig(http_port=0, host="0.0.0.0", tokens_file="t", **TLS).http_host == "0.0.0.0"
    assert "tokens_file too" in str(refused(http_cors_origins=["*"]))
    assert ServerConfig(http_cors_origins=["*"], tokens_file="t").http_cors_origins == ["*"]
    for wrong in ("play.example", "https://a.example/", "https://*.example", "null"):
        assert "http_cors_origins: " in str(refused(http_cors_origins=[wrong]))
    assert "http_hosts: " in str(refused(http_hosts=["a.example:80"]))


def refused(**fields):
    with pytest.raises(ai.SearchError) as caught:
        ServerConfig(**fields)
    return caught.value


def test_the_units_stop_after_the_searches():
    unit = (ROOT / "examples" / "deploy" / "mexica-ai.service").read_text()
    config = load_config(str(ROOT / "examples" / "deploy" / "server.toml"), {})
    assert int(re.search(r"^TimeoutStopSec=(\d+)$", unit, re.MULTILINE)[1]) > config.grace_s + 1


def test_the_unit_has_memory_for_the_searches_and_says_how_much():
    unit = (ROOT / "examples" / "deploy" / "mexica-ai.service").read_text()
    config = load_config(str(ROOT / "examples" / "deploy" / "server.toml"), {})
    searches, rest, limit = map(
        int,
        re.search(
            r"^# (\d+) GiB for the searches .+, and (\d+) GiB for everything else\.\nMemoryMax=(\d+)G$",
            unit,
            re.MULTILINE,
        ).groups(),
    )
    assert searches * 1024 == config.total_memory_mb
    assert searches + rest == limit


def test_the_unit_has_descriptors_for_all_connections_of_http():
    unit = (ROOT / "examples" / "deploy" / "mexica-ai.service").read_text()
    assert int(re.search(r"^LimitNOFILE=(\d+)$", unit, re.MULTILINE)[1]) > 10 * MAX_CONNECTIONS


def test_the_unit_lets_searches_lower_their_priority():
    unit = (ROOT / "examples" / "deploy" / "mexica-ai.service").read_text()
    filters = re.findall(r"^SystemCallFilter=(.+)$", unit, re.MULTILINE)
    # The last word on a call holds, and @resources has setpriority in it.
    assert filters.index("setpriority") > filters.index("~@privileged @resources")


@pytest.mark.real("processes")
def test_systemd_accepts_the_unit(tmp_path):
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("needs systemd-analyze")
    version = subprocess.run([analyze, "--version"], capture_output=True, text=True, check=True).stdout
    if int(re.match(r"systemd (\d+)", version)[1]) < 250:
        pytest.skip("needs systemd 250, which knows the directory of the credentials as %d")
    unit = (ROOT / "examples" / "deploy" / "mexica-ai.service").read_text()
    program = "/opt/mexica-ai/bin/mexica-ai"
    assert f"\nExecStart={program} serve\n" in unit
    # It asks whether the programs exist, and mexica-ai is not installed there: one that exists stands in.
    copy = tmp_path / "mexica-ai.service"
    # The second one shows that it has an eye on such files at all.
    for text, accepted in ((unit, True), (unit.replace("\nKillMode=", "\nKilMode="), False)):
        copy.write_text(text.replace(program, shutil.which("true")))
        done = subprocess.run([analyze, "verify", "--man=no", copy], capture_output=True, text=True)
        complaints = [line for line in (done.stdout + done.stderr).splitlines() if copy.name in line]
        assert (complaints == []) is accepted, complaints
