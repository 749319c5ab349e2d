"""The build that is tested is the one that was asked for."""

import os
import sys
from pathlib import Path

import pytest

from cext.core import game


@pytest.mark.skipif(os.environ.get("CEXT_DEBUG") != "1", reason="only where make debug-test runs the tests")
def test_the_debug_build_is_tested_and_not_the_checkouts():
    assert game.IS_DEBUG_BUILD
    assert Path(game.__file__).is_relative_to(sys.prefix)
