"""An event loop on a virtual clock, and a search that sleeps on it: hours of a server pass in seconds."""

import asyncio
import selectors
import threading

import mexica_ai as ai


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time stands still while something runs, and then jumps to the next timer.

    What `run_in_executor` runs counts as running until it ends, but for the time that it spends in `sleep`. An error
    that nobody awaits, as in a callback, is raised when the loop is closed.
    """

    def __init__(self):
        self._now = 0.0
        self._errors = []
        self._lock = threading.Lock()
        self._num_running = 0
        super().__init__(_JumpingSelector(self))

    def time(self):
        return self._now

    def run_in_executor(self, executor, function, *args):
        self._count(1)
        future = executor.submit(function, *args)
        wrapped = asyncio.wrap_future(future, loop=self)
        future.add_done_callback(lambda _: self._count(-1))  # after the one by which the loop learns of the end
        return wrapped

    def sleep(self, seconds, stop):
        """Wait in a worker thread until this time has passed or the `Stop` is set; return whether it was."""
        nap = _Nap(self)
        self.call_soon_threadsafe(self.call_later, seconds, nap.end)
        with stop.calling(nap.stop):
            self._count(-1)
            nap.over.wait()
        return stop.is_set()

    def call_exception_handler(self, context):
        self._errors.append(context)

    def close(self):
        super().close()
        errors, self._errors = self._errors, []
        assert not errors, errors

    def is_idle(self):
        """Return whether nothing runs."""
        with self._lock:
            return not self._num_running

    def jump(self, seconds):
        """Let this time pass."""
        self._now += seconds

    def _count(self, change):
        with self._lock:
            self._num_running += change
        if change < 0:
            self.call_soon_threadsafe(int)  # wakes the loop


class _Nap:
    def __init__(self, loop):
        self._loop = loop
        self.over = threading.Event()

    def end(self):
        if not self.over.is_set():
            self._loop._count(1)
            self.over.set()

    stop = end


class _JumpingSelector(selectors.DefaultSelector):
    def __init__(self, loop):
        super().__init__()
        self._loop = loop

    def select(self, timeout=None):
        # First whether anything runs: what ends afterwards has told the loop before.
        is_idle = self._loop.is_idle()
        ready = super().select(0 if is_idle or timeout == 0 else 60)  # whatever runs wakes the loop
        if not ready and timeout != 0:
            assert is_idle, "what runs never ends"
            assert timeout is not None, "nothing runs, and no timer is set"
            self._loop.jump(timeout)
        return ready


class SleepingSearch:
    """Stands in for the search: takes its time on a virtual clock, and notes who held slots when.

    Attributes
    ----------
    most : int
        The largest number of searches at the same time.
    """

    def __init__(self, loop):
        self._loop = loop
        self._lock = threading.Lock()
        self._running = 0
        self.most = 0

    def __call__(self, position, limits, *, seed, candidates, stop, weights, level):
        with self._lock:
            self._running += 1
            self.most = max(self.most, self._running)
        begin = self._loop.time()
        was_stopped = self._loop.sleep(1e9 if limits.time_s is None else limits.time_s, stop)
        with self._lock:
            self._running -= 1
        found = [ai.Candidate(["take 1 1"], 1, [0.5, 0.5], [0.0, 0.0], 1.0, [])]
        reason = "stopped" if was_stopped else "time"
        return ai.Result(found, 1, 1, 1, self._loop.time() - begin, reason, seed, limits.threads)

    def watch(self, position, limits, *, interval_s, **options):
        yield self(position, limits, **options)
