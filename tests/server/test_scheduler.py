"""The scheduler on a virtual clock: who gets the search slots, with many mixes of callers."""

import asyncio
import random
from dataclasses import dataclass, field

import pytest
from searching import fake_runs
from virtual_clock import SleepingSearch, VirtualLoop

import mexica_ai as ai
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.analysis.stopping import Stop
from mexica_ai.server.calls import Call, Question
from mexica_ai.server.config import ServerConfig
from mexica_ai.server.scheduler import Scheduler
from mexica_ai.server.slots import BusyError

NIM = ai.new_game("nim", piles=[7, 6, 5])
RUN_S = 20.0


@dataclass
class Tenant:
    """A caller of a simulation: so many programs, each of which asks again as soon as it has an answer.

    A program whose call is refused asks again after `pause_s`, which programs that ignore RetryInfo do.
    """

    name: str
    programs: int
    budget_s: tuple[float, ...]
    deadline_s: tuple[float | None, ...]
    pause_s: float = 0.25
    answered: int = 0
    refused: int = 0
    refused_late: int = 0
    answered_late: int = 0
    held_s: float = 0.0
    waits: list[float] = field(default_factory=list)


class World:
    """A scheduler whose searches sleep on a virtual clock."""

    def __init__(self, **config):
        self.loop = VirtualLoop()
        self.search = SleepingSearch(self.loop)
        self.config = ServerConfig(**config)
        self.scheduler = Scheduler(self.config, make_run=fake_runs(self._search, self._watch))

    def _search(self, *args, **options):
        return self.search(*args, **options)

    def _watch(self, *args, **options):
        return self.search.watch(*args, **options)

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.loop.run_until_complete(self.scheduler.close(0.1))
        self.scheduler.end_workers()
        self.loop.close()

    def run(self, coroutine):
        return self.loop.run_until_complete(coroutine)

    async def ask(self, caller, budget_s, deadline_s=None):
        """Search as a call of the service does."""
        call = Call(caller, deadline=None if deadline_s is None else self.loop.time() + deadline_s)
        limits = self.scheduler.admission.clamp(time_s=budget_s)
        self.scheduler.admission.check(call, SearchSettings(limits, 1))
        return await self.scheduler.search(Question(NIM, SearchSettings(limits, 1)), call)

    async def analyze(self, caller):
        """Analyse without limits until told to end; return the result."""
        limits = self.scheduler.admission.clamp(unlimited=True)
        question, call = Question(NIM, SearchSettings(limits, 1)), Call(caller)
        async for result in self.scheduler.analyze(question, call, 0.5, asyncio.Event()):
            last = result
        return last

    def play(self, tenants, seed, seconds=RUN_S):
        """Let tenants ask for this time."""
        random_ = random.Random(seed)

        async def program(tenant, end):
            await asyncio.sleep(random_.uniform(0, 0.2))
            while (begin := self.loop.time()) < end:
                budget_s, deadline_s = random_.choice(tenant.budget_s), random_.choice(tenant.deadline_s)
                try:
                    result = await self.ask(tenant.name, budget_s, deadline_s)
                except BusyError:
                    tenant.refused += 1
                    tenant.refused_late += deadline_s is not None and self.loop.time() > begin + deadline_s
                    await asyncio.sleep(tenant.pause_s)
                else:
                    took_s = self.loop.time() - begin
                    tenant.answered += 1
                    tenant.answered_late += deadline_s is not None and took_s > deadline_s
                    # Without what comes after the end, when the others ask no more.
                    tenant.held_s += max(0.0, result.seconds - max(0.0, self.loop.time() - end))
                    tenant.waits.append(took_s - result.seconds)

        async def play():
            end = self.loop.time() + seconds
            programs = [program(tenant, end) for tenant in tenants for _ in range(tenant.programs)]
            await asyncio.gather(*programs)

        self.run(play())


@pytest.mark.parametrize("max_slots_per_caller", [1, 2])
@pytest.mark.parametrize("deadline_s", [20.0, None])
def test_one_call_at_a_time_is_answered_beside_a_flood(deadline_s, max_slots_per_caller):
    many = Tenant("a", 20, (0.2,), (1.0, 1.5, 2.0))
    one = Tenant("b", 1, (0.2,), (deadline_s,))
    with World(slots=2, max_slots_per_caller=max_slots_per_caller) as world:
        world.play([many, one], seed=1)
    assert one.refused == 0
    assert max(one.waits) < 0.2 + 1e-6  # until one of the running searches ends
    assert one.answered >= 0.9 * RUN_S / 0.4
    # The flood gets what is left.
    assert many.held_s >= 0.95 * (2 * RUN_S - one.held_s if max_slots_per_caller == 2 else RUN_S)
    assert many.answered_late == many.refused_late == 0


def mix(seed):
    """Return a random server and its tenants, the modest ones with a single program each."""
    random_ = random.Random(seed)
    slots = random_.randint(1, 4)
    config = {"slots": slots, "max_slots_per_caller": random_.choice([slots, max(1, slots - 1)])}
    config["max_waiting_per_caller"] = random_.choice([4, 16, 64])
    floods = [
        Tenant(
            f"flood{index}",
            random_.choice([5, 20, 40]),
            random_.choice([(0.2,), (0.05, 0.5), (1.0,), (0.2, 3.0)]),
            random_.choice([(1.0, 2.0), (5.0,), (None,), (None, 2.0)]),
        )
        for index in range(random_.randint(1, 5))
    ]
    modest = [
        Tenant(f"modest{index}", 1, (random_.choice([0.1, 0.2, 1.0]),), (random_.choice([20.0, None]),))
        for index in range(random_.randint(1, 3))
    ]
    return config, floods, modest


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 8))])
def test_tenants_share_the_slots(seed):
    config, floods, modest = mix(seed)
    tenants = floods + modest
    with World(**config) as world:
        world.play(tenants, seed)
        assert world.search.most <= config["slots"]
        assert world.scheduler.admission.slots.num_waiting == 0
    longest_s = max(budget_s for tenant in tenants for budget_s in tenant.budget_s)
    for tenant in tenants:
        assert tenant.answered_late == tenant.refused_late == 0, tenant.name
    for tenant in modest:
        attempts = tenant.answered + tenant.refused
        assert tenant.answered >= 0.9 * attempts, tenant
        # Each of the others is served once or twice before it, at worst on a single slot.
        assert max(tenant.waits) <= 2 * longest_s * len(tenants), tenant
    # Nobody who always asks gets much less than an equal share, and no slot is left idle.
    cap_s = RUN_S * config["max_slots_per_caller"]
    share_s = min(RUN_S * config["slots"] / len(tenants), RUN_S, cap_s)
    for tenant in floods:
        assert tenant.held_s >= 0.75 * share_s, (tenant, share_s)
    used_s = sum(tenant.held_s for tenant in tenants)
    assert used_s >= 0.9 * min(RUN_S * config["slots"], len(floods) * cap_s)


def test_a_caller_keeps_within_its_share_even_alone():
    async def play(world):
        own = [asyncio.ensure_future(world.ask("a", 15.0)) for _ in range(3)]
        await asyncio.sleep(1.0)
        assert (world.search.most, world.scheduler.admission.slots.num_waiting) == (2, 1)
        begin = world.loop.time()
        await world.ask("b", 0.2, 1.0)
        assert world.loop.time() - begin == pytest.approx(0.2)
        await asyncio.gather(*own)
        assert world.loop.time() == pytest.approx(30.0)

    with World(slots=3, max_slots_per_caller=2) as world:
        world.run(play(world))


def test_by_default_callers_with_names_leave_a_slot_to_others():
    named = {"tokens_file": "tokens"}
    assert ServerConfig(slots=4).max_slots_per_caller == 4
    assert ServerConfig(slots=4, **named).max_slots_per_caller == 3
    assert ServerConfig(slots=1, **named).max_slots_per_caller == 1
    certificates = {"tls_client_ca": "ca", "tls_certificate": "chain", "tls_key": "key"}
    assert ServerConfig(slots=2, **certificates).max_slots_per_caller == 1
    assert ServerConfig(slots=2, max_slots_per_caller=2, **named).max_slots_per_caller == 2


def test_unlimited_analyses_end_for_other_callers_first_and_for_their_own_late():
    async def play(world):
        first = asyncio.ensure_future(world.analyze("a"))
        await asyncio.sleep(0.1)
        second = asyncio.ensure_future(world.analyze("a"))
        await asyncio.sleep(0.1)
        # Another caller's call waits until the longer one has had the time of a usual search.
        await world.ask("b", 0.2, 20.0)
        assert world.loop.time() == pytest.approx(1.0 + 0.2)
        assert (await first).stop_reason == "stopped"
        assert not second.done()
        # It has the slot that is free, so the other analysis goes on.
        await world.ask("b", 0.2)
        assert not second.done()
        third = asyncio.ensure_future(world.ask("a", 50.0))
        await asyncio.sleep(0.1)
        own = asyncio.ensure_future(world.ask("a", 0.2))
        await own
        assert third.done()  # it was due earlier than the analysis had to end
        assert not second.done()
        fourth = asyncio.ensure_future(world.ask("a", 50.0))
        await asyncio.sleep(0.1)
        await world.ask("a", 0.2)
        assert world.loop.time() == pytest.approx(0.1 + 60.0 + 0.2)
        assert (await second).stop_reason == "stopped"
        await fourth

    with World(slots=2, default_time_s=1.0, max_time_s=60.0) as world:
        world.run(play(world))


def test_as_many_analyses_end_as_calls_wait():
    async def play(world):
        analyses = [asyncio.ensure_future(world.analyze("a")) for _ in range(3)]
        await asyncio.sleep(5.0)
        await asyncio.gather(world.ask("b", 0.2), world.ask("c", 0.2))
        assert world.loop.time() == pytest.approx(5.2)
        assert [analysis.done() for analysis in analyses].count(True) == 2
        for analysis in analyses:
            analysis.cancel()
        await asyncio.wait(analyses)

    with World(slots=3) as world:
        world.run(play(world))


def test_a_full_queue_has_room_for_callers_with_few_calls():
    async def play(world):
        running = asyncio.ensure_future(world.ask("a", 1.0))
        await asyncio.sleep(0)
        many = [asyncio.ensure_future(world.ask("a", 1.0)) for _ in range(4)]
        await asyncio.sleep(0)
        with pytest.raises(BusyError) as caught:
            await world.ask("a", 1.0)
        assert (caught.value.reason, caught.value.retry_s) == ("TOO_MANY_WAITING", pytest.approx(5.0))
        begin = world.loop.time()
        await world.ask("b", 0.5, 20.0)
        assert world.loop.time() - begin == pytest.approx(1.5)
        # The last of the many has made room.
        (refused,) = [call for call in many if call.done()]
        assert refused is many[-1]
        assert refused.exception().reason == "TOO_MANY_WAITING"
        await asyncio.gather(running, *many[:-1])

    with World(slots=1, max_waiting=4) as world:
        world.run(play(world))


def test_calls_of_a_caller_are_weighed_against_its_own_only():
    async def play(world):
        running = asyncio.ensure_future(world.ask("a", 1.0))
        await asyncio.sleep(0)
        # With this one the slot is taken until 2.0. It must start by 1.125.
        waiting = asyncio.ensure_future(world.ask("a", 1.0, 2.2))
        await asyncio.sleep(0)
        for deadline_s in (2.1, 3.0):  # one that would come first, one that would come too late
            with pytest.raises(BusyError) as caught:
                await world.ask("a", 1.0, deadline_s)
            assert caught.value.reason == "NO_TIME_LEFT"
        await world.ask("b", 1.0, 2.5)
        assert world.loop.time() == pytest.approx(2.0)
        with pytest.raises(BusyError) as caught:
            await waiting
        assert caught.value.reason == "NO_TIME_LEFT"
        await running

    with World(slots=1, deadline_margin_s=0.075) as world:
        world.run(play(world))


# ---- searches that are stopped

DEAF_S = 3.0


class DeafSearch(SleepingSearch):
    """A search whose threads go on for a while after it was stopped, as on busy processors."""

    def __call__(self, *args, stop, **options):
        result = super().__call__(*args, stop=stop, **options)
        if stop.is_set():
            self._loop.sleep(DEAF_S, Stop())
        return result


async def cancel_a_call(world):
    call = asyncio.ensure_future(world.ask("a", 60.0))
    await asyncio.sleep(1)
    call.cancel()


async def stop_an_analysis(world):
    limits, stopping = world.scheduler.admission.clamp(time_s=60.0), asyncio.Event()
    analysis = anext(world.scheduler.analyze(Question(NIM, SearchSettings(limits, 1)), Call("a"), 0.5, stopping))
    world.kept = asyncio.ensure_future(analysis)
    await asyncio.sleep(1)
    stopping.set()


async def leave_an_analysis(world):
    call = asyncio.ensure_future(world.analyze("a"))
    await asyncio.sleep(1)
    call.cancel()


async def stop_all(world):
    world.kept = asyncio.ensure_future(world.ask("a", 60.0))
    await asyncio.sleep(1)
    world.scheduler.stop_searches()


@pytest.mark.parametrize("others", [0, 2])
@pytest.mark.parametrize("stop", [cancel_a_call, stop_an_analysis, leave_an_analysis, stop_all])
def test_a_call_may_wait_for_the_slot_of_a_stopped_search(stop, others):
    async def play(world):
        stopping = asyncio.ensure_future(stop(world))
        await asyncio.sleep(0.5)
        waiting = [asyncio.ensure_future(world.ask("b", 20.0)) for _ in range(others)]
        await stopping
        await asyncio.sleep(0.01)
        begin = world.loop.time()
        # Another caller's calls come in between, but the stopped search no longer counts with its 60 s.
        result = await world.ask("a", 0.5, 2 * DEAF_S + 20.0 * others)
        assert result.stop_reason == "time"
        assert world.loop.time() - begin > DEAF_S / 2  # the stopped search still had its slot
        await asyncio.gather(*waiting)

    with World(slots=1, max_time_s=60.0) as world:
        world.search = DeafSearch(world.loop)
        world.run(play(world))
