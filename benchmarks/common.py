"""Code shared by the benchmarks: the machine's description, the page, opening positions, summaries of figures."""

import contextlib
import platform
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import mexica_ai as ai


def describe_machine():
    """Return the names of the processor and of the Python implementation."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": models[0] if models else platform.processor() or platform.machine(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


@contextlib.contextmanager
def page_process():
    """Start `mexica-ai web`; give the process, and its URL."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-P", "-m", "mexica_ai", "web", "--no-open", "--port", "0", "--games", folder]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.terminate()
            process.wait(timeout=10)
            process.stdout.close()


def opening(players, seed, game="mexica"):
    """Return a position after a random first turn of each seat: pillis are placed, prophecies kept."""
    position = ai.new_game(game, players=players, seed=seed)
    rng = random.Random(seed)
    for _ in range(players):
        turns = position.state.turn
        while position.state.turn == turns and not position.is_over:
            if position.is_chance:
                position.draw(rng.getrandbits(32))
            else:
                position.push_action(rng.choice(position.legal_actions()))
    while position.is_chance:
        position.draw(rng.getrandbits(32))
    return position


def quantiles(values, digits=2):
    """Return the smallest, the median, the 99 % quantile and the largest of some figures."""
    values = sorted(values)
    p99 = statistics.quantiles(values, n=100, method="inclusive")[98] if len(values) > 1 else values[0]
    figures = {"min": values[0], "p50": statistics.median(values), "p99": p99, "max": values[-1]}
    return {name: round(value, digits) for name, value in figures.items()}


def p95(values):
    """Return the 95 % quantile."""
    return round(statistics.quantiles(values, n=20, method="inclusive")[18], 1)


def positive(kind):
    """Return an argparse type for finite numbers of this kind above 0."""

    def number(text):
        value = kind(text)
        if not 0 < value < float("inf"):
            raise ValueError
        return value

    number.__name__ = f"positive {kind.__name__}"  # used in argparse's messages
    return number
