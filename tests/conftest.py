"""Fixtures that several files of tests share."""

import pytest

from mexica_ai.cli.main import main


@pytest.fixture
def cli(capfd):
    """Call `mexica-ai arena`; `code`, `out` and `err` hold what came of the last call."""

    def call(*args):
        call.code = main(["arena", *map(str, args)])
        call.out, call.err = capfd.readouterr()
        return call.code

    return call
