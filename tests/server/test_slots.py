"""Search slots and the scheduler's use of them on a virtual clock: calls that leave, answers that are late."""

import asyncio

import pytest
from searching import fake_runs
from virtual_clock import SleepingSearch, VirtualLoop

import mexica_ai as ai
from mexica_ai.analysis.margin import FACTOR
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.server.config import ServerConfig
from mexica_ai.server.scheduler import FORCED_CHECK_S, Call, Question, Scheduler
from mexica_ai.server.slots import PATIENCE_S, BusyError, SearchSlots

NIM = ai.new_game("nim", piles=[7, 6, 5])


@pytest.fixture
def loop():
    loop = VirtualLoop()
    yield loop
    loop.close()


async def settle():
    """Let everything run that needs no time."""
    for _ in range(5):
        await asyncio.sleep(0)


def waiting_call(slots, caller, budget_s=1.0, deadline=None, **options):
    return asyncio.ensure_future(slots.take(caller, budget_s, deadline, **options))


# --- slots


def test_a_call_that_is_cancelled_just_as_it_gets_a_slot_gives_it_back(loop):
    async def play():
        slots = SearchSlots(1, 10, 10)
        first = await slots.take("a", 1.0, None)
        second = waiting_call(slots, "b")
        await settle()
        slots.give_back(first)  # grants the slot to the second call, which has not run since
        second.cancel()
        await asyncio.wait([second])
        assert second.cancelled()
        third = waiting_call(slots, "c")
        await settle()
        assert third.done()

    loop.run_until_complete(play())


def test_a_call_whose_time_is_up_just_as_it_gets_a_slot_keeps_it(loop):
    async def play():
        slots = SearchSlots(1, 10, 10)
        first = await slots.take("a", 1.0, None)
        second = waiting_call(slots, "b", 1.0, deadline=4.0)
        # It gives up when half of its search time is gone, at 3.49, the moment at which the slot becomes free.
        loop.call_at(3.49, slots.give_back, first)
        ticket = await second
        assert loop.time() == pytest.approx(3.49)
        slots.give_back(ticket)

    loop.run_until_complete(play())


def test_cancelled_calls_leave_the_queue(loop):
    async def play():
        slots = SearchSlots(1, 10, 10)
        first = await slots.take("a", 1.0, None)
        calls = [waiting_call(slots, name) for name in "bcd"]
        await settle()
        assert slots.num_waiting == 3
        calls[1].cancel()
        await settle()
        assert slots.num_waiting == 2
        for call in (calls[0], calls[2]):
            slots.give_back(first)
            first = await call
        assert slots.num_waiting == 0

    loop.run_until_complete(play())


@pytest.mark.parametrize("num_calls", [1, 2, 3])
@pytest.mark.parametrize("by_now", [0.5, 2.0, 100.0])
def test_as_many_unlimited_searches_end_as_calls_of_others_wait(loop, num_calls, by_now):
    async def play():
        slots = SearchSlots(4, 10, 10, yield_s=1.0)
        ended = []

        def unlimited(number):
            return slots.take("a", 60.0, None, end=lambda: ended.append(number))

        for number in range(4):
            await unlimited(number)
            await asyncio.sleep(0.01)
        await asyncio.sleep(by_now)
        calls = [waiting_call(slots, name) for name in "bcd"[:num_calls]]
        await asyncio.sleep(0.25)
        # After `yield_s` those that have run longest, and no more.
        assert ended == (list(range(num_calls)) if by_now > 1.0 else [])
        await asyncio.sleep(0.75)
        assert ended == list(range(num_calls))
        for call in calls:
            call.cancel()
        await settle()
        assert ended == list(range(num_calls))

    loop.run_until_complete(play())


@pytest.mark.parametrize("num_calls", [1, 2])
def test_as_many_unlimited_searches_end_as_calls_of_their_own_caller_wait(loop, num_calls):
    async def play():
        slots = SearchSlots(3, 10, 10, yield_s=1.0)
        ended = []
        for number in range(3):
            await slots.take("a", 60.0, None, end=lambda number=number: ended.append(number))
            await asyncio.sleep(0.01)
        calls = [waiting_call(slots, "a") for _ in range(num_calls)]
        await asyncio.sleep(59.75)
        assert ended == []  # nobody else waits
        await asyncio.sleep(0.5)
        assert ended == list(range(num_calls))
        for call in calls:
            call.cancel()
        await settle()

    loop.run_until_complete(play())


def test_a_series_of_short_deadlines_does_not_keep_out_a_call_without_one(loop):
    async def play():
        slots = SearchSlots(1, 100, 100)
        running = await slots.take("a", 1.0, None)
        patient = waiting_call(slots, "a")
        await settle()
        for _ in range(20):
            hasty = waiting_call(slots, "a", 0.5, deadline=loop.time() + 3.0)
            await asyncio.sleep(1.0)
            slots.give_back(running)
            await settle()
            if patient.done():
                break
            assert hasty.done()
            running = hasty.result()
        # Its turn comes when it is due before the next deadline.
        assert PATIENCE_S - 3.0 <= loop.time() <= PATIENCE_S
        slots.give_back(patient.result())
        await asyncio.wait([hasty])

    loop.run_until_complete(play())


def test_a_closed_queue_rejects_those_that_wait_and_those_that_come(loop):
    async def play():
        slots = SearchSlots(1, 10, 10)
        first = await slots.take("a", 1.0, None)
        second = waiting_call(slots, "b")
        await settle()
        slots.close()
        for call in (second, waiting_call(slots, "c")):
            with pytest.raises(BusyError) as caught:
                await call
            assert caught.value.reason == "SHUTTING_DOWN"
        assert slots.num_waiting == 0
        slots.give_back(first)
        with pytest.raises(BusyError) as caught:
            slots.check("d", 1.0, None)
        assert caught.value.reason == "SHUTTING_DOWN"

    loop.run_until_complete(play())


def test_a_free_slot_is_no_reason_to_reject_a_call_unread(loop):
    async def play():
        slots = SearchSlots(2, 10, 10)
        slots.check("a", 1.0, loop.time() - 1.0)
        running = [await slots.take("a", 1.0, None) for _ in range(2)]
        with pytest.raises(BusyError) as caught:
            slots.check("a", 1.0, loop.time())
        assert caught.value.reason == "NO_TIME_LEFT"
        for ticket in running:
            slots.give_back(ticket)

    loop.run_until_complete(play())


@pytest.mark.parametrize("num_slots", [1, 2, 3])
def test_a_rejected_call_learns_when_a_slot_becomes_free(loop, num_slots):
    async def play():
        slots = SearchSlots(num_slots, 10, 10)
        await slots.take("b", 3.0, None)
        for _ in range(num_slots - 1):
            await slots.take("b", 5.0, None)
        waiting = waiting_call(slots, "a", 4.0)
        await settle()
        with pytest.raises(BusyError) as caught:
            slots.check("a", 1.0, loop.time() + 2.0)
        assert (caught.value.reason, caught.value.retry_s) == ("NO_TIME_LEFT", pytest.approx(3.0))
        waiting.cancel()
        await settle()

    loop.run_until_complete(play())


def test_a_call_is_not_blamed_for_those_that_would_be_late_without_it(loop):
    async def play():
        slots = SearchSlots(1, 10, 10)
        running = await slots.take("a", 1.0, None)
        late = waiting_call(slots, "a", 1.0, deadline=3.0)
        await asyncio.sleep(2.1)
        # The running search is late, so the waiting call cannot start by 2.0 any more.
        earlier = waiting_call(slots, "a", 0.2, deadline=2.9)
        await settle()
        assert slots.num_waiting == 2
        slots.give_back(running)
        slots.give_back(await earlier)
        slots.give_back(await late)

    loop.run_until_complete(play())


def test_a_full_queue_makes_room_only_for_a_caller_that_has_fewer_calls_afterwards(loop):
    async def play():
        slots = SearchSlots(1, 3, 10)
        running = await slots.take("a", 1.0, None)
        two = [waiting_call(slots, "a") for _ in range(2)]
        one = [waiting_call(slots, "b")]
        await settle()
        with pytest.raises(BusyError) as caught:  # two each would be no fairer
            await slots.take("b", 1.0, None)
        assert caught.value.reason == "TOO_MANY_WAITING"
        one += [waiting_call(slots, "c")]
        await settle()
        assert two[1].exception().reason == "TOO_MANY_WAITING"
        assert slots.num_waiting == 3
        for call in (two[0], *one):
            slots.give_back(running)
            running = await call
        slots.give_back(running)
        assert slots.num_waiting == 0

    loop.run_until_complete(play())


def test_nothing_is_kept_of_callers_that_have_gone(loop):
    async def play():
        slots = SearchSlots(2, 10, 10)
        for number in range(50):
            first, second = [await slots.take(f"{number} {index}", 1.0, None) for index in range(2)]
            waiting = waiting_call(slots, f"{number} waiting")
            await asyncio.sleep(0.5)
            slots.give_back(first)
            third = await waiting
            slots.give_back(second)
            await asyncio.sleep(0.5)
            assert len(slots._callers) <= 3
            slots.give_back(third)
            assert not slots._callers
        # Who has used slots while others did nothing owes nobody anything.
        assert slots._served_s == 0.0

    loop.run_until_complete(play())


# --- the scheduler


class World:
    """A scheduler on a virtual clock, and the limits of its searches."""

    def __init__(self, loop, **config):
        self.loop, self.limits = loop, []
        self.late_s = 0.0
        self._search = SleepingSearch(loop)
        self.scheduler = Scheduler(ServerConfig(**config), make_run=fake_runs(self.search, self._search.watch))

    def search(self, position, limits, **options):
        self.limits.append(limits)
        late = ai.Limits(time_s=limits.time_s + self.late_s)
        return self._search(position, late, **options)

    def run(self, coroutine):
        self.loop.run_until_complete(coroutine)
        self.loop.run_until_complete(self.scheduler.close(0.1))
        self.scheduler.end_workers()

    async def ask(self, caller="a", time_s=60.0, deadline_s=None):
        call = Call(caller, deadline=None if deadline_s is None else self.loop.time() + deadline_s)
        limits = self.scheduler.admission.clamp(time_s=time_s)
        return await self.scheduler.search(Question(NIM, SearchSettings(limits, 1)), call)


def test_late_answers_make_later_searches_end_earlier(loop):
    world = World(loop, slots=1, deadline_margin_s=0.1)

    async def play():
        await world.ask(deadline_s=5.0)
        assert world.limits[-1].time_s == pytest.approx(4.9)
        world.late_s = 0.15
        await world.ask(time_s=1.0)
        await world.ask(deadline_s=5.0)
        assert world.limits[-1].time_s == pytest.approx(5.0 - FACTOR * 0.15)
        world.late_s = 0.0
        # What was late more than a minute ago counts no more.
        await asyncio.sleep(70.0)
        await world.ask(deadline_s=5.0)
        assert world.limits[-1].time_s == pytest.approx(4.9)

    world.run(play())


def test_a_call_cancelled_just_as_it_gets_a_slot_leaves_it_to_others(loop):
    world = World(loop, slots=1)

    async def play():
        stopping = asyncio.Event()
        for ask in (
            lambda: world.ask("b"),
            lambda: anext(
                world.scheduler.analyze(
                    Question(NIM, SearchSettings(ai.Limits(time_s=1.0), 1)), Call("b"), 0.5, stopping
                )
            ),
        ):
            await asyncio.sleep(0.1)  # until the thread of the answer before has ended
            running = asyncio.ensure_future(world.ask("a", 1.0))
            await settle()
            leaving = asyncio.ensure_future(ask())
            await settle()
            assert world.scheduler.admission.slots.num_waiting == 1
            give_back = world.scheduler.admission.slots.give_back

            def and_cancel(ticket, leaving=leaving, give_back=give_back):
                give_back(ticket)
                leaving.cancel()

            world.scheduler.admission.slots.give_back = and_cancel
            await running
            await asyncio.wait([leaving])
            world.scheduler.admission.slots.give_back = give_back
            assert leaving.cancelled()
            assert world.scheduler.admission.slots.num_waiting == 0
            begin = loop.time()
            await world.ask("c", 0.5)
            assert loop.time() - begin == pytest.approx(0.5)

    world.run(play())


def test_positions_of_rejected_calls_are_looked_at_a_few_times_a_second(loop):
    world = World(loop, slots=1)

    async def play():
        looks = 0
        for _ in range(1000):
            looks += world.scheduler.may_look()
            await asyncio.sleep(0.01)
        # The clock of the loop counts in hundredths here, so a look may come up to one later.
        assert 0.9 * 10.0 / FORCED_CHECK_S <= looks <= 10.0 / FORCED_CHECK_S + 1
        await asyncio.sleep(1.0)
        assert [world.scheduler.may_look() for _ in range(3)] == [True, False, False]
        await world.scheduler.close(0.0)
        await asyncio.sleep(1.0)
        assert not world.scheduler.may_look()

    world.run(play())


def test_the_expected_time_of_a_search_by_iterations_follows_the_speed_of_those_before(loop):
    world = World(loop, slots=1, max_time_s=100.0)
    scheduler = world.scheduler
    limits = scheduler.admission.clamp(iterations=10_000)

    async def play():
        before_s = scheduler.admission.expected_s(limits)
        slow = ai.Result([], 1000, 1, 1, 10.0, "iterations", 1, 1)
        scheduler.admission.note_result(slow, 0.0)
        assert scheduler.admission.expected_s(limits) > before_s
        for _ in range(100):
            scheduler.admission.note_result(slow, 0.0)
        # A hundred a second, with a factor of three for safety, is more than a search may take.
        assert scheduler.admission.expected_s(limits) == 100.0
        assert scheduler.admission.expected_s(scheduler.admission.clamp(iterations=1000)) == pytest.approx(30, rel=0.01)
        few = ai.Result([], 99, 1, 1, 0.001, "iterations", 1, 1)
        for _ in range(100):
            scheduler.admission.note_result(few, 0.0)  # too few to tell
        assert scheduler.admission.expected_s(scheduler.admission.clamp(iterations=1000)) == pytest.approx(30, rel=0.01)

    world.run(play())
