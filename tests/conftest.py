"""Fixtures that several files of tests share."""

import os
import signal

import pytest

# Before NumPy is loaded: its threads take the processors from the other workers.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from mexica_ai.cli.main import main


def pytest_configure():
    # A job in the background of a script starts with SIGINT ignored, and its children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def cli(capfd):
    """Call `mexica-ai arena`; `code`, `out` and `err` hold what came of the last call."""

    def call(*args):
        call.code = main(["arena", *map(str, args)])
        call.out, call.err = capfd.readouterr()
        return call.code

    return call
