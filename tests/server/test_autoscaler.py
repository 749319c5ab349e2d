"""The autoscaler of examples/deploy in a simulation: real schedulers on a virtual clock, the formula of Kubernetes."""

import asyncio
import math
import random
import re
from pathlib import Path

import pytest
import yaml
from searching import fake_runs
from virtual_clock import SleepingSearch, VirtualLoop

import mexica_ai as ai
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.server.calls import Call, Question
from mexica_ai.server.config import ServerConfig
from mexica_ai.server.metrics import PrometheusMetrics
from mexica_ai.server.scheduler import Scheduler
from mexica_ai.server.slots import BusyError

DEPLOY = Path(__file__).parents[2] / "examples" / "deploy"
NIM = ai.new_game("nim", piles=[7, 6, 5])
TIME_S, DEADLINE_S = 0.3, 0.6
WINDOW_S = 60.0
TOLERANCE = 0.1  # of Kubernetes
PODS = 2


class Pod:
    """One server, of which Prometheus keeps the counters."""

    def __init__(self, loop, slots):
        search = SleepingSearch(loop)
        self.metrics = PrometheusMetrics("127.0.0.1", 0)
        self.scheduler = Scheduler(ServerConfig(slots=slots), self.metrics, fake_runs(search, search.watch))
        slots_ = self.scheduler.admission.slots
        self.metrics.server("1", slots, lambda: slots_.num_waiting, slots_.busy_s)

    def sample(self, name, **labels):
        value = self.metrics.registry.get_sample_value(name, labels)
        assert value is not None, f"{name} {labels} is not there before its first event"
        return value

    def totals(self):
        rejected = [self.sample("mexica_ai_rejections_total", reason=reason) for reason in refused()]
        names = "mexica_ai_slot_busy_seconds_total", "mexica_ai_searches_total"
        return [sum(rejected), *map(self.sample, names)]


def refused():
    """Return the reasons of refusals that the adapter counts."""
    return ("NO_TIME_LEFT", "TOO_MANY_WAITING")


def desired(found):
    """Return the number of pods that the autoscaler wants, by its targets and the mean of each metric."""
    autoscaler = yaml.safe_load((DEPLOY / "kubernetes" / "autoscaler.yaml").read_text())
    wanted = []
    for metric in autoscaler["spec"]["metrics"]:
        target = int(metric["pods"]["target"]["averageValue"].removesuffix("m")) / 1000
        ratio = found[metric["pods"]["metric"]["name"]] / target
        wanted.append(PODS if abs(ratio - 1) <= TOLERANCE else math.ceil(PODS * ratio))
    return max(wanted)


def simulate(slots, load):
    """Return the metrics of pods under calls for this share of what their slots can do, at random times."""
    loop = VirtualLoop()
    pods = [Pod(loop, slots) for _ in range(PODS)]
    draws = random.Random(slots)

    async def ask(pod):
        call = Call("", deadline=loop.time() + DEADLINE_S)
        settings = SearchSettings(pod.scheduler.admission.clamp(time_s=TIME_S), 1)
        try:
            pod.scheduler.admission.check(call, settings)
            await pod.scheduler.search(Question(NIM, settings), call)
        except BusyError:
            pass

    async def play():
        async with asyncio.TaskGroup() as calls:
            while loop.time() < WINDOW_S:
                await asyncio.sleep(draws.expovariate(load * PODS * slots / TIME_S) if load else WINDOW_S)
                if load:
                    calls.create_task(ask(draws.choice(pods)))
        for pod in pods:
            await pod.scheduler.close(0.1)

    loop.run_until_complete(play())
    shares = []
    for pod in pods:
        rejected, busy_s, searches = pod.totals()
        shares.append((busy_s / WINDOW_S / slots, rejected / max(1, rejected + searches)))
        pod.scheduler.end_workers()
    loop.close()
    busy, rejected = (sum(each) / PODS for each in zip(*shares, strict=True))
    return {"mexica_ai_slots_busy_share": busy, "mexica_ai_rejected_share": rejected}


@pytest.mark.parametrize("slots", [1, 2, 4])
def test_more_pods_if_calls_are_refused(slots):
    found = simulate(slots, 2.0)
    assert found["mexica_ai_rejected_share"] > 0.3
    assert found["mexica_ai_slots_busy_share"] > 0.8
    assert desired(found) > PODS
    assert desired({**found, "mexica_ai_rejected_share": 0.0}) > PODS  # the busy slots alone say so


@pytest.mark.parametrize("slots", [1, 2, 4])
def test_no_more_pods_at_half_the_load(slots):
    assert desired(simulate(slots, 0.5)) <= PODS


@pytest.mark.parametrize("slots", [1, 2, 4])
def test_fewer_pods_without_calls(slots):
    assert desired(simulate(slots, 0.0)) < PODS


def test_the_adapter_counts_the_refusals_of_the_simulation():
    text = (DEPLOY / "prometheus" / "adapter.yml").read_text()
    assert text.count(f'reason=~"{"|".join(refused())}"') == 2


def test_the_share_of_refusals_of_a_pod_without_calls_is_a_figure():
    rules = yaml.safe_load((DEPLOY / "prometheus" / "adapter.yml").read_text())["rules"]
    (query,) = [rule["metricsQuery"] for rule in rules if rule["name"]["as"] == "mexica_ai_rejected_share"]
    assert " / clamp_min(" in query  # 0 / 0 would be none
    assert not re.search(r"[<>=] *\d", query)  # a comparison would leave it out
