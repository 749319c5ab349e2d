"""The files of examples/deploy fit the server, each other and the schemas of those who read them.

Nothing here starts a container: docs/operating.md lists further trials.
"""

import itertools
import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import kubernetes_validate
import prometheus_client
import pytest
import yaml
from certificates import make_certificate
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from mexica_ai.cli import serve
from mexica_ai.server.app import METHODS
from mexica_ai.server.config import ServerConfig, load_config
from mexica_ai.server.logs import ID_KEY
from mexica_ai.server.metrics import PrometheusMetrics
from mexica_ai.server.service import SERVICE_NAME

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "examples" / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
OLDEST, NEWEST = "1.31", "1.37"  # versions of Kubernetes


def manifests():
    """Return the manifests by kind."""
    found = [yaml.safe_load(path.read_text()) for path in sorted(KUBERNETES.glob("*.yaml"))]
    return {manifest["kind"]: manifest for manifest in found}


def pod():
    return manifests()["Deployment"]["spec"]["template"]["spec"]


def container():
    (found,) = pod()["containers"]
    return found


def compose():
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


# ---- the lock files


def locked(name):
    """Return the pinned versions of a lock file by package; each needs hashes."""
    text = (DEPLOY / name).read_text()
    text = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    pins = {}
    for entry in text.replace("\\\n", " ").splitlines():
        head, *hashes = re.split(r"\s+--hash=", entry)
        assert hashes, entry
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each) for each in hashes), entry
        requirement = Requirement(head)
        (pin,) = requirement.specifier
        assert pin.operator == "==", entry
        assert requirement.url is None, entry
        pins.setdefault(canonicalize_name(requirement.name), []).append(pin.version)
    return pins


@pytest.mark.parametrize(
    ("name", "required"),
    [
        (
            "requirements.lock",
            PROJECT["project"]["dependencies"]
            + [text for text in PROJECT["project"]["optional-dependencies"]["http"] if "mexica-ai" not in text]
            + PROJECT["project"]["optional-dependencies"]["metrics"]
            + PROJECT["project"]["optional-dependencies"]["tracing"],
        ),
        ("build.lock", PROJECT["build-system"]["requires"]),
    ],
)
def test_lock_files_have_what_is_required(name, required):
    pins = locked(name)
    for requirement in map(Requirement, required):
        versions = pins[canonicalize_name(requirement.name)]
        assert all(version in requirement.specifier for version in versions), requirement
    assert "://" not in (DEPLOY / name).read_text()


# ---- the image


def test_the_image_takes_its_packages_from_the_lock_files_only():
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", "")
    installs = re.findall(r"-m pip (?:install|wheel) (.*?)(?:&&|\n)", text)
    assert len(installs) == 4
    for install in installs:
        assert ("--require-hashes" in install) != ("--no-index --no-deps" in install), install
    assert re.findall(r"^FROM (\S+)", text, re.MULTILINE) == ["${BASE}"] * 2
    assert "\nUSER 10001\n" in text
    assert pod()["securityContext"]["runAsUser"] == int(re.search(r"useradd --uid (\d+)", text)[1])
    assert pod()["securityContext"]["runAsGroup"] == int(re.search(r"groupadd --gid (\d+)", text)[1])


def test_the_image_checks_its_health_by_the_command():
    text = (DEPLOY / "Dockerfile").read_text()
    asked = re.search(r"^HEALTHCHECK .* CMD \[(.+)\]$", text, re.MULTILINE)[1]
    assert asked == '"mexica-ai", "serve", "--check-health"'
    assert "--check-health" in serve.DESCRIPTION


def test_the_image_and_the_citation_have_the_version():
    (image,) = manifests()["Kustomization"]["images"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"]
    assert cited == image["newTag"] == PROJECT["project"]["version"]


# ---- compose


def test_the_servers_of_compose():
    service = compose()["services"]["mexica-ai"]
    environ = service["environment"]
    mounts = dict(volume.split(":")[:2] for volume in service["volumes"])
    # The settings are those of the file that is mounted, changed by the environment.
    assert mounts["./server.toml"] == environ["MEXICA_AI_CONFIG"]
    given = {name: value for name, value in environ.items() if name != "MEXICA_AI_CONFIG"}
    config = load_config(str(DEPLOY / "server.toml"), given)
    for path in (config.tls_certificate, config.tls_key, config.tokens_file):
        assert path.startswith(mounts["./secrets"] + "/")
    assert service["expose"] == [str(config.port), str(config.metrics_port)]
    assert config.host == config.metrics_host == "0.0.0.0"
    assert service["deploy"]["replicas"] == 2
    limits = service["deploy"]["resources"]["limits"]
    assert int(limits["cpus"]) == config.slots * config.threads
    assert int(limits["memory"].removesuffix("G")) * 1024 >= config.total_memory_mb + 3 * 1024
    assert int(service["stop_grace_period"].removesuffix("s")) > config.grace_s + 20
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("examples/deploy/Dockerfile.dockerignore", "{}"),  # the image's stage that builds copies all of the source
        (".gitignore", "/{}/"),
        ("MANIFEST.in", "prune {}"),
    ],
)
def test_the_secrets_of_compose_stay_where_they_are(name, line):
    (volume,) = [volume for volume in compose()["services"]["mexica-ai"]["volumes"] if "secrets" in volume]
    assert volume.startswith("./secrets:")
    path = ROOT / name
    if name == ".gitignore" and not path.exists():
        pytest.skip("not a checkout")
    assert line.format("examples/deploy/secrets") in path.read_text().splitlines()


def test_images_of_others_have_a_version():
    images = {service["image"] for service in compose()["services"].values()} - {"mexica-ai"}
    assert images
    assert all(re.fullmatch(r"\$\{[A-Z]+:-[a-z./-]+:v\d+\.\d+\.\d+\}", image) for image in images)


def test_the_client_of_compose_balances_over_the_servers(capsys):
    from mexica_ai.cli.main import build_parser

    client = compose()["services"]["client"]
    args = build_parser().parse_args([*client["entrypoint"][1:], *client["command"]])
    assert args.server == f"dns:///mexica-ai:{ServerConfig().port}"
    assert any(volume.split(":")[1] == args.tls_ca for volume in client["volumes"])
    assert set(client["networks"]) <= set(compose()["services"]["mexica-ai"]["networks"])


@pytest.mark.real("processes")
def test_the_tools_of_compose_accept_the_file():
    for tool in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(tool[0]):
            asked = subprocess.run([*tool, "version", "--short"], capture_output=True, text=True)
            if asked.returncode == 0 and not asked.stdout.startswith("1."):  # which knew an older form of the file
                break
    else:
        pytest.skip("needs docker compose, version 2 or later")
    subprocess.run([*tool, "--file", DEPLOY / "compose.yaml", "config", "--quiet"], check=True)


# ---- Prometheus


def test_prometheus_scrapes_the_servers_of_compose():
    config = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())
    (job,) = config["scrape_configs"]
    (found,) = job["dns_sd_configs"]
    services = compose()["services"]
    assert found["names"] == ["mexica-ai"]
    assert str(found["port"]) in services["mexica-ai"]["expose"]
    assert set(services["prometheus"]["networks"]) <= set(services["mexica-ai"]["networks"])


def metrics_there():
    """Return the names of the metrics of a server."""
    metrics = PrometheusMetrics("127.0.0.1", 0)
    metrics.server("1", 1, lambda: 0, lambda: 0.0)
    there = set()
    for family in metrics.registry.collect():
        there |= {family.name, *(f"{family.name}{ending}" for ending in ("_total", "_bucket", "_count", "_sum"))}
    return there


def adapter():
    return yaml.safe_load((DEPLOY / "prometheus" / "adapter.yml").read_text())["rules"]


def dashboard():
    return json.loads((DEPLOY / "grafana" / "dashboard.json").read_text())


@pytest.mark.parametrize("name", ["prometheus/rules.yml", "prometheus/adapter.yml", "grafana/dashboard.json"])
def test_only_metrics_that_there_are_are_asked_for(name):
    text = (DEPLOY / name).read_text()
    made = {rule["name"]["as"] for rule in adapter()}
    asked = set(re.findall(r"\b(?:mexica_ai|process)_[a-z_]+", text)) - made
    assert len(asked) >= 4
    assert asked <= metrics_there() | {"mexica_ai_v"}


def test_the_autoscaler_asks_for_metrics_of_the_adapter():
    metrics = manifests()["HorizontalPodAutoscaler"]["spec"]["metrics"]
    asked = [metric["pods"]["metric"]["name"] for metric in metrics]
    assert asked == [rule["name"]["as"] for rule in adapter()]


def test_metrics_have_no_second_one_of_the_time_when_they_were_made():
    text = prometheus_client.generate_latest(PrometheusMetrics("127.0.0.1", 0).registry).decode()
    assert "mexica_ai_searches_total" in text
    assert "_created" not in text


def test_bounds_of_histograms_that_are_asked_for_exist():
    metrics = PrometheusMetrics("127.0.0.1", 0)
    metrics.search_ended(1, 0.5)
    there = {
        sample.labels["le"]
        for family in metrics.registry.collect()
        for sample in family.samples
        if sample.name == "mexica_ai_deadline_margin_seconds_bucket"
    }
    text = (DEPLOY / "prometheus" / "rules.yml").read_text() + json.dumps(dashboard()).replace("\\", "")
    assert set(re.findall(r'le="([^"]+)"', text)) == {"0.0"} <= there


def test_the_dashboard():
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len({panel["title"] for panel in panels}) == len(panels) >= 10
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}
    assert len(places) == len(panels)
    for panel in panels:
        assert panel["targets"]
        assert all(target["expr"].count("(") == target["expr"].count(")") for target in panel["targets"])
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])
    assert {each["name"] for each in dashboard()["templating"]["list"]} == {"datasource", "job"}


def test_alerts_are_of_what_callers_suffer():
    (group,) = yaml.safe_load((DEPLOY / "prometheus" / "rules.yml").read_text())["groups"]
    names = [rule["alert"] for rule in group["rules"]]
    assert len(set(names)) == len(names)
    assert {"MexicaAiMissesDeadlines", "MexicaAiWaits", "MexicaAiSlow", "MexicaAiSlotsFull"} <= set(names)


def test_the_alert_counts_the_refusals_that_more_pods_prevent():
    (group,) = yaml.safe_load((DEPLOY / "prometheus" / "rules.yml").read_text())["groups"]
    (asked,) = [rule["expr"] for rule in group["rules"] if rule["alert"] == "MexicaAiRejects"]
    counted = re.findall(r'rejections_total{(reason=~"[^"]+")', str(adapter()))
    assert set(counted) == set(re.findall(r"rejections_total{([^}]*)}", asked))


def test_the_first_internal_error_of_a_method_is_an_increase():
    (group,) = yaml.safe_load((DEPLOY / "prometheus" / "rules.yml").read_text())["groups"]
    (asked,) = [rule["expr"] for rule in group["rules"] if rule["alert"] == "MexicaAiInternalErrors"]
    codes = re.search(r'code=~"([A-Z|]+)"', asked)[1].split("|")
    methods = [method for method in METHODS if method.startswith(f"/{SERVICE_NAME}/")]
    assert len(methods) > 10
    registry = PrometheusMetrics("127.0.0.1", 0).registry
    for method, code in itertools.product(methods, codes):
        assert registry.get_sample_value("mexica_ai_calls_total", {"method": method, "code": code}) == 0, method


@pytest.mark.real("processes")
@pytest.mark.parametrize("name", ["prometheus.yml", "kubernetes.yml"])
def test_prometheus_accepts_the_files(name):
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("needs promtool")
    # Only the syntax: a service account is a file that only a pod has.
    command = [promtool, "check", "config", "--syntax-only", DEPLOY / "prometheus" / name]
    done = subprocess.run(command, capture_output=True, text=True)
    if "kubernetes_sd_configs not found" in done.stderr:
        pytest.skip("needs a promtool that knows Kubernetes")
    assert done.returncode == 0, done.stderr
    subprocess.run([promtool, "check", "rules", DEPLOY / "prometheus" / "rules.yml"], check=True)


# ---- Envoy


def envoy():
    return yaml.safe_load((DEPLOY / "envoy.yaml").read_text())["static_resources"]


def test_envoy_passes_grpc_web_on_to_a_server():
    (listener,), (cluster,) = envoy()["listeners"], envoy()["clusters"]
    (manager,) = listener["filter_chains"][0]["filters"]
    config = manager["typed_config"]
    # What answers the questions of browsers comes first, what sends the request on comes last.
    assert [found["name"].rpartition(".")[2] for found in config["http_filters"]] == ["cors", "grpc_web", "router"]
    (host,) = config["route_config"]["virtual_hosts"]
    (route,) = host["routes"]
    assert route["match"]["prefix"] == f"/{SERVICE_NAME}/"
    assert route["route"]["cluster"] == cluster["name"]
    assert cluster["health_checks"][0]["grpc_health_check"]["service_name"] == SERVICE_NAME
    (endpoint,) = cluster["load_assignment"]["endpoints"][0]["lb_endpoints"]
    assert endpoint["endpoint"]["address"]["socket_address"] == {
        "address": ServerConfig().host,
        "port_value": ServerConfig().port,
    }
    (cors,) = host["typed_per_filter_config"].values()
    assert {"authorization", "content-type", "grpc-timeout", "traceparent", ID_KEY, "x-grpc-web"} <= set(
        cors["allow_headers"].split(",")
    )
    assert {"grpc-status", "grpc-message", "grpc-status-details-bin"} <= set(cors["expose_headers"].split(","))


@pytest.mark.real("processes")
def test_envoy_accepts_the_file(tmp_path):
    program = shutil.which("envoy")
    if program is None:
        pytest.skip("needs envoy")
    make_certificate(tmp_path, "server")
    text = (DEPLOY / "envoy.yaml").read_text().replace("/etc/mexica-ai/secrets", str(tmp_path))
    (tmp_path / "envoy.yaml").write_text(text)
    subprocess.run([program, "--mode", "validate", "--config-path", tmp_path / "envoy.yaml"], check=True)


@pytest.mark.real("processes")
def test_prometheus_accepts_the_queries_of_the_dashboard_and_the_adapter(tmp_path):
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("needs promtool")
    queries = [target["expr"] for panel in dashboard()["panels"] for target in panel["targets"]]
    queries += [rule["metricsQuery"] for rule in adapter()]
    given = {"$__rate_interval": "1m", "$job": "a", "<<.GroupBy>>": "pod", "<<.LabelMatchers>>": 'pod=~"a|b"'}
    for name, value in given.items():
        queries = [query.replace(name, value) for query in queries]
    rules = [{"record": f"query_{number}", "expr": query} for number, query in enumerate(queries)]
    path = tmp_path / "queries.yml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}))
    subprocess.run([promtool, "check", "rules", path], check=True)


ALERTS = """
rule_files: [%s]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - {series: 'mexica_ai_slots{job="a"}', values: '2x60'}
      - {series: 'mexica_ai_slot_busy_seconds_total{job="a"}', values: '0+%dx60'}
      - {series: 'mexica_ai_deadline_margin_seconds_bucket{job="a",le="0.0"}', values: '0+%dx60'}
      - {series: 'mexica_ai_deadline_margin_seconds_count{job="a"}', values: '0+100x60'}
    alert_rule_test:
      - {eval_time: 50m, alertname: MexicaAiSlotsFull, exp_alerts: [%s]}
      - {eval_time: 50m, alertname: MexicaAiMissesDeadlines, exp_alerts: [%s]}
"""


@pytest.mark.real("processes")
@pytest.mark.parametrize("is_bad", [False, True])
def test_alerts_of_full_slots_and_missed_deadlines(tmp_path, is_bad):
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("needs promtool")
    path = DEPLOY / "prometheus" / "rules.yml"
    (group,) = yaml.safe_load(path.read_text())["groups"]
    texts = {rule["alert"]: json.dumps(rule["annotations"]["summary"]) for rule in group["rules"]}
    told = [
        f'{{exp_labels: {{job: "a"}}, exp_annotations: {{summary: {texts[name]}}}}}' if is_bad else ""
        for name in ("MexicaAiSlotsFull", "MexicaAiMissesDeadlines")
    ]
    busy, late = (115, 5) if is_bad else (60, 0)  # of 120 seconds of slots, and of 100 calls, in a minute
    (tmp_path / "test.yml").write_text(ALERTS % (path, busy, late, *told))
    subprocess.run([promtool, "test", "rules", tmp_path / "test.yml"], check=True)


# ---- Kubernetes


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("kind", [kind for kind in manifests() if kind != "Kustomization"])
def test_manifests_fit_the_schemas(kind, version):
    manifest = manifests()[kind]
    kubernetes_validate.validate(manifest, version, strict=True)
    with pytest.raises(kubernetes_validate.ValidationError):  # it has an eye on what is within
        kubernetes_validate.validate({**manifest, "spec": {**manifest["spec"], "selectors": {}}}, version, strict=True)


@pytest.mark.real("processes")
def test_kustomize_builds_all():
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("needs kubectl")
    done = subprocess.run([kubectl, "kustomize", KUBERNETES], capture_output=True, text=True, check=True)
    built = {manifest["kind"]: manifest for manifest in yaml.safe_load_all(done.stdout)}
    assert set(built) == set(manifests()) - {"Kustomization"} | {"ConfigMap"}
    for manifest in built.values():
        kubernetes_validate.validate(manifest, NEWEST, strict=True)
    volumes = built["Deployment"]["spec"]["template"]["spec"]["volumes"]
    assert volumes[0]["configMap"]["name"] == built["ConfigMap"]["metadata"]["name"]
    assert built["ConfigMap"]["data"]["server.toml"] == (KUBERNETES / "server.toml").read_text()
    # The label of the servers is not asked of their clients.
    clients = built["NetworkPolicy"]["spec"]["ingress"][0]["from"][0]["podSelector"]["matchLabels"]
    assert clients == {"mexica-ai/client": "true"}


def test_the_settings_in_kubernetes():
    config = load_config(str(KUBERNETES / "server.toml"), {})
    ports = {port["name"]: port["containerPort"] for port in container()["ports"]}
    assert ports == {"grpc": config.port, "metrics": config.metrics_port}
    mounts = {mount["name"]: mount["mountPath"] for mount in container()["volumeMounts"]}
    for path, volume in (
        (config.tls_certificate, "tls"),
        (config.tls_key, "tls"),
        (config.tokens_file, "tokens"),
    ):
        assert Path(path).parent == Path(mounts[volume])
    assert mounts["config"] == re.search(r"MEXICA_AI_CONFIG=(\S+)", (DEPLOY / "Dockerfile").read_text())[1]


def test_the_service_and_the_pods_have_the_same_label():
    found = manifests()
    label = found["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert found["Service"]["spec"]["selector"] == label
    assert found["Service"]["spec"]["clusterIP"] == "None"
    for selector in (
        found["Deployment"]["spec"]["selector"],
        found["PodDisruptionBudget"]["spec"]["selector"],
        found["NetworkPolicy"]["spec"]["podSelector"],
    ):
        assert selector["matchLabels"] == label
    assert found["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]["name"] == found["Deployment"]["metadata"]["name"]
    names = {port["name"] for port in container()["ports"]}
    assert {port["targetPort"] for port in found["Service"]["spec"]["ports"]} == names
    asked = [port["port"] for rule in found["NetworkPolicy"]["spec"]["ingress"] for port in rule["ports"]]
    assert set(asked) == names


def test_a_pod_has_the_time_to_end():
    config = load_config(str(KUBERNETES / "server.toml"), {})
    wait_s = int(container()["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod()["terminationGracePeriodSeconds"] > wait_s + config.grace_s + 20


def test_a_pod_may_do_little():
    assert pod()["securityContext"]["runAsUser"] == 10001
    assert pod()["securityContext"]["runAsNonRoot"]
    assert container()["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    # The service's variables MEXICA_AI_PORT and so on would be taken for settings.
    assert pod()["enableServiceLinks"] is False


def test_probes_ask_the_running_server():
    for probe in ("startupProbe", "readinessProbe"):
        assert container()[probe]["exec"]["command"] == ["mexica-ai", "serve", "--check-health"]
        assert container()[probe]["timeoutSeconds"] > 5
    assert container()["livenessProbe"]["tcpSocket"]["port"] == "grpc"
