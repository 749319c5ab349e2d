"""Broken requests and JSON forms, two thousand of them; `tests/fuzz/service.py` feeds a million."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PATH = Path(__file__).parents[1] / "fuzz" / "service.py"


@pytest.fixture(scope="module")
def fuzz_service():
    spec = importlib.util.spec_from_file_location("fuzz_service", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_broken_input_gets_an_answer_or_an_error_of_ours(fuzz_service, capfd):
    with capfd.disabled():  # so that the tracebacks of a hang, which end everything, are seen
        counts, _ = fuzz_service.fuzz(2000, seed=11)
    assert sum(counts.values()) == 2000
    # The mutations reach behind the first checks.
    assert counts["read"] > 100
    assert sum(name.startswith("PositionError") for name in counts) > 8
    assert any(name.startswith("IllegalActionError") for name in counts)
    # So they do in requests that search.
    assert counts["SearchError INVALID_LIMITS"] > 8
    assert counts["BusyError NO_TIME_LEFT"] > 8


def test_the_fuzzer_notices_what_should_not_be_raised(fuzz_service, monkeypatch):
    monkeypatch.setattr(fuzz_service, "read_position", None)
    with pytest.raises(TypeError):
        fuzz_service.fuzz(200, seed=1)


def test_the_fuzzer_notices_what_is_kept(fuzz_service, monkeypatch):
    # One MB for each position, as if it were kept: real memory falls, too, when what tests before left is freed.
    positions = []
    monkeypatch.setattr(fuzz_service, "read_position", positions.append)
    monkeypatch.setattr(fuzz_service, "resident_mb", lambda: float(len(positions)))
    with pytest.raises(AssertionError, match="MB more than after 100 inputs"):
        fuzz_service.fuzz(400, seed=1)


@pytest.mark.real("processes")
def test_the_fuzzer_measures_resident_memory():
    script = (
        "import runpy\n"
        f"resident_mb = runpy.run_path({str(PATH)!r})['resident_mb']\n"
        "before = resident_mb()\n"
        "kept = bytearray(b'x') * (256 << 20)\n"
        "print(resident_mb() - before)\n"
    )
    command = [sys.executable, "-P", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    # Less than all: a machine short of memory may have swapped a part out.
    assert 64 < float(done.stdout) < 320


@pytest.mark.real("processes")
def test_the_fuzzer_ends_a_hang(tmp_path):
    script = tmp_path / "hang.py"
    script.write_text(
        "import runpy, time\n"
        f"fuzz = runpy.run_path({str(PATH)!r})['fuzz']\n"
        "fuzz.__globals__['HANG_S'] = 2.0\n"
        "fuzz.__globals__['read_position'] = lambda form: time.sleep(50)\n"
        "fuzz(200, seed=1)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 1
    assert "Timeout (0:00:02)!" in done.stderr
    assert "in outcome_of" in done.stderr
