"""The scheduler's other calls on a virtual clock: series, records, light calls, equal questions, no threads."""

import asyncio
import contextlib
import gc
import threading

import pytest
from searching import fake_runs, run_search
from virtual_clock import SleepingSearch, VirtualLoop

import mexica_ai as ai
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.analysis.stopping import Stop
from mexica_ai.game.records import make_record
from mexica_ai.server.calls import Call, Question
from mexica_ai.server.config import ServerConfig
from mexica_ai.server.metrics import Metrics
from mexica_ai.server.scheduler import RECORD_RETRY_S, Scheduler
from mexica_ai.server.slots import PATIENCE_S, BusyError

NIM = ai.new_game("nim", piles=[7, 6, 5])


class World:
    """A scheduler whose searches sleep on a virtual clock."""

    def __init__(self, loop, search=None, metrics=None, **config):
        self.loop = loop
        self.count = 0
        self._search = search or SleepingSearch(loop)
        self.scheduler = Scheduler(ServerConfig(**config), metrics, make_run=fake_runs(self.search))

    def search(self, *args, **options):
        self.count += 1
        return self._search(*args, **options)

    def question(self, **options):
        return Question(NIM, SearchSettings(self.scheduler.admission.clamp(**options), 1))

    def ask(self, caller="a", time_s=1.0, deadline_s=None):
        return asyncio.ensure_future(self.scheduler.search(self.question(time_s=time_s), self.call(caller, deadline_s)))

    def ask_patiently(self, caller="a", time_s=1.0, deadline_s=None):
        question = self.question(time_s=time_s)
        return asyncio.ensure_future(self.scheduler.search_patiently(question, self.call(caller, deadline_s)))

    def call(self, caller, deadline_s=None):
        return Call(caller, deadline=None if deadline_s is None else self.loop.time() + deadline_s)

    def run(self, coroutine):
        self.loop.run_until_complete(coroutine)
        self.loop.run_until_complete(self.scheduler.close(0.1))
        self.scheduler.end_workers()


class Counted(Metrics):
    """Remembers rejections and waits."""

    def __init__(self):
        self.reasons, self.waits, self.num_cancelled = [], [], 0

    def rejected(self, reason):
        self.reasons.append(reason)

    def queue_wait(self, seconds):
        self.waits.append(seconds)

    def cancelled(self):
        self.num_cancelled += 1


@pytest.fixture
def loop():
    loop = VirtualLoop()
    yield loop
    loop.close()


# --- series


def test_a_patient_call_tries_again_while_the_queue_is_full(loop):
    metrics = Counted()
    world = World(loop, metrics=metrics, slots=1, max_waiting_per_caller=1)

    async def play():
        running, waiting = world.ask(), world.ask()
        await asyncio.sleep(0.1)
        with pytest.raises(BusyError) as caught:
            await world.ask()
        assert caught.value.reason == "TOO_MANY_WAITING"
        metrics.reasons.clear()
        metrics.waits.clear()
        patient = world.ask_patiently(time_s=0.2)
        await asyncio.wait([running, waiting])
        result = await patient
        assert result.seconds == pytest.approx(0.2)
        # The queue has room from 1.0 on, the slot is free at 2.0.
        assert loop.time() <= 2.0 + RECORD_RETRY_S + 0.2 + 1e-6
        # Its own attempts are no rejected calls, and its wait is one.
        assert metrics.reasons == []
        assert metrics.waits == [pytest.approx(1.0), pytest.approx(1.9, abs=RECORD_RETRY_S)]

    world.run(play())


@pytest.mark.parametrize("deadline_s", [0.05, 1.3])
def test_a_patient_call_gives_up_when_its_time_is_over(loop, deadline_s):
    metrics = Counted()
    world = World(loop, metrics=metrics, slots=1, max_waiting_per_caller=1, deadline_margin_s=0.02)

    async def play():
        calls = [world.ask(time_s=2.0), world.ask(time_s=2.0)]
        await asyncio.sleep(0.1)
        begin = loop.time()
        with pytest.raises(BusyError):
            await world.ask_patiently(deadline_s=deadline_s)
        assert loop.time() - begin <= deadline_s
        assert len(metrics.reasons) == 1
        await asyncio.wait(calls)

    world.run(play())


@pytest.mark.parametrize("kind", ["ask", "ask_patiently", "analyze"])
def test_a_slot_that_comes_too_late_is_one_rejection(loop, kind, monkeypatch):
    metrics = Counted()
    world = World(loop, metrics=metrics, slots=1)
    slots = world.scheduler.admission.slots
    take = slots.take

    async def take_late(*args):
        ticket = await take(*args)
        loop.jump(5.0)  # the processors were busy
        return ticket

    async def analyze(time_s, deadline_s):
        question, call = world.question(time_s=time_s), world.call("a", deadline_s)
        return [found async for found in world.scheduler.analyze(question, call, 0.5, asyncio.Event())]

    async def play():
        monkeypatch.setattr(slots, "take", take_late)
        ask = analyze if kind == "analyze" else getattr(world, kind)
        with pytest.raises(BusyError) as caught:
            await ask(time_s=1.0, deadline_s=2.0)
        assert metrics.reasons == [caught.value.reason] == ["NO_TIME_LEFT"]
        monkeypatch.setattr(slots, "take", take)
        assert (await world.ask()).seconds == pytest.approx(1.0)  # the slot is free

    world.run(play())


@pytest.mark.parametrize("is_stopped", [True, False])
def test_an_analysis_that_is_stopped_before_it_has_a_slot_is_not_cancelled(loop, is_stopped):
    metrics = Counted()
    world = World(loop, metrics=metrics, slots=1)

    async def play():
        running, stopping = world.ask(), asyncio.Event()
        await asyncio.sleep(0.1)
        analysis = world.scheduler.analyze(world.question(), world.call("b"), 0.5, stopping)
        first = asyncio.ensure_future(anext(analysis))
        await asyncio.sleep(0.1)
        if is_stopped:
            stopping.set()
            assert (await first).stop_reason == "stopped"
        else:
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
        await running
        assert metrics.num_cancelled == (0 if is_stopped else 1)
        assert metrics.waits == [0.0, pytest.approx(0.1)]

    world.run(play())


def test_the_first_of_a_series_is_due_like_a_call_without_a_deadline(loop):
    world = World(loop, slots=1)

    async def play():
        running = world.ask(time_s=PATIENCE_S)
        await asyncio.sleep(0.1)
        order = []
        calls = {
            "later": world.ask(time_s=0.5, deadline_s=PATIENCE_S + 5.0),
            "patient": world.ask_patiently(time_s=0.5, deadline_s=100.0),
            "earlier": world.ask(time_s=0.5, deadline_s=PATIENCE_S - 1.0 + 3.0),
        }
        for name, call in calls.items():
            call.add_done_callback(lambda _, name=name: order.append(name))
        await asyncio.wait([running, *calls.values()])
        assert order == ["patient", "earlier", "later"]

    world.run(play())


def test_a_patient_call_is_answered_from_the_results_kept(loop):
    world = World(loop, run_search, slots=1, memory_mb=64)

    async def play():
        limits = world.scheduler.admission.clamp(iterations=20, threads=1, memory_mb=8)
        question = Question(NIM, SearchSettings(limits, 1), has_seed=True)
        first = await world.scheduler.search(question, Call("a"))
        assert await world.scheduler.search_patiently(question, Call("a")) == first
        assert await world.scheduler.search(question, Call("a")) == first
        assert world.count == 1

    world.run(play())


# --- records


async def until(is_so):
    """Wait on the real clock until something is so."""
    async with asyncio.timeout(60):
        while not is_so():
            await asyncio.sleep(0.002)  # however long threads need


@pytest.mark.parametrize("is_slow", [False, True])
def test_an_evaluation_that_is_left_gives_up_its_place_in_the_queue(monkeypatch, is_slow):
    # Its thread waits for the loop, so the clock cannot be virtual.
    ending, going_on = threading.Event(), threading.Event()
    submit = asyncio.run_coroutine_threadsafe

    def submit_slowly(*args):
        future = submit(*args)
        going_on.wait(60)  # the thread gets no processor until the evaluation is left
        return future

    if is_slow:
        monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", submit_slowly)

    def search(position, limits, **options):
        ending.wait()
        return run_search(position, ai.Limits(iterations=1), seed=1)

    async def play():
        scheduler = Scheduler(ServerConfig(slots=1), make_run=fake_runs(search))
        limits = scheduler.admission.clamp(time_s=1.0)
        running = asyncio.ensure_future(scheduler.search(Question(NIM, SearchSettings(limits, 1)), Call("b")))
        await asyncio.sleep(0)
        played = NIM.copy()
        played.push(["take 1 2"])
        record = make_record(played)
        evaluation = scheduler.evaluate(lambda: record, range(1), Call("a"), limits, seed=1, weights=None)
        leaving = asyncio.ensure_future(anext(evaluation))
        await until(lambda: scheduler.admission.slots.num_waiting == 1)
        leaving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await leaving
        going_on.set()
        await until(lambda: scheduler.admission.slots.num_waiting == 0)
        assert not running.done()
        ending.set()
        await running
        await scheduler.close(0.0)
        scheduler.end_workers()

    asyncio.run(play())


def test_records_take_turns_by_caller(loop):
    world = World(loop, slots=1, max_waiting=0)
    order = []
    played = NIM.copy()
    played.push(["take 1 2"])

    async def evaluate(name):
        def record():
            order.append(name)
            loop.sleep(1.0, Stop())
            return make_record(played)

        limits = world.scheduler.admission.clamp(time_s=1.0)
        async for _ in world.scheduler.evaluate(record, range(0), Call(name), limits, seed=1, weights=None):
            pass

    async def play():
        await asyncio.gather(*map(evaluate, "aaab"))
        assert order == ["a", "a", "b", "a"]  # the first has its thread at once

    world.run(play())


# --- light calls


def test_light_calls_take_turns_by_caller_and_strangers_by_connection(loop):
    world = World(loop, slots=1, light_workers=1)
    order = []

    async def play():
        def work(name):
            order.append(name)
            loop.sleep(1.0, stop)

        stop = Stop()
        calls = [*[Call("a", "1")] * 3, *[Call("", "2")] * 2, Call("", "3"), Call("b", "1")]
        await asyncio.gather(*(world.scheduler.light(call, work, call.caller or call.peer) for call in calls))
        # The first has its place at once; then each in turn.
        assert order == ["a", "a", "2", "3", "b", "a", "2"]

    world.run(play())


def test_a_light_call_that_fails_after_its_caller_has_left_is_no_news(loop):
    world = World(loop, slots=1, light_workers=1)

    async def play():
        def fail():
            loop.sleep(1.0, Stop())
            raise ZeroDivisionError

        call = asyncio.ensure_future(world.scheduler.light(Call("a"), fail))
        await asyncio.sleep(0.5)
        call.cancel()
        await asyncio.wait([call])
        await asyncio.sleep(1.0)
        with pytest.raises(ZeroDivisionError):
            await world.scheduler.light(Call("a"), fail)

    world.run(play())
    gc.collect()  # what nobody retrieved is told to the loop now, which fails


def test_the_end_waits_for_light_calls_as_for_searches(loop):
    world = World(loop, light_workers=1)

    def light(seconds):
        return asyncio.ensure_future(world.scheduler.light(Call("a"), loop.sleep, seconds, Stop()))

    async def play():
        calls = [light(1.0), light(1.0)]
        await asyncio.sleep(0.5)
        await world.scheduler.close(5.0)
        assert all(call.done() for call in calls)
        assert loop.time() == pytest.approx(2.0)
        late = light(3.0)
        await asyncio.sleep(0)
        await world.scheduler.close(1.0)
        assert loop.time() == pytest.approx(3.0)
        await late

    world.run(play())


# --- no threads


def test_without_threads_a_call_is_refused_and_its_slot_and_place_are_free_again(loop, monkeypatch):
    world = World(loop, slots=1, light_workers=1)

    async def play():
        def refuse(executor, function, *args):
            raise RuntimeError("can't start new thread")

        with monkeypatch.context() as patch:
            patch.setattr(loop, "run_in_executor", refuse)
            for _ in range(3):
                for asked in (world.ask(), world.scheduler.light(Call("a"), int)):
                    with pytest.raises(BusyError) as caught:
                        await asked
                    assert caught.value.reason == "NO_THREADS"
        assert (await world.ask(time_s=0.5)).seconds == pytest.approx(0.5)
        assert await world.scheduler.light(Call("a"), int) == 0

    world.run(play())


def test_a_patient_call_that_found_no_thread_is_searched_once_there_is_one(loop, monkeypatch):
    world = World(loop, slots=1)
    run, num_refused = loop.run_in_executor, 0

    def refuse_at_first(executor, function, *args):
        nonlocal num_refused
        if num_refused < 2:
            num_refused += 1
            raise RuntimeError("can't start new thread")
        return run(executor, function, *args)

    monkeypatch.setattr(loop, "run_in_executor", refuse_at_first)

    async def play():
        result = await world.ask_patiently(time_s=0.5)
        assert (result.stop_reason, result.seconds) == ("time", pytest.approx(0.5))

    world.run(play())
