"""Broken requests and JSON forms, some thousands of them; `benchmarks/fuzz_service.py` feeds a million."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parent.parent / "benchmarks" / "fuzz_service.py"


@pytest.fixture(scope="module")
def fuzz_service():
    spec = importlib.util.spec_from_file_location("fuzz_service", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_broken_input_gets_an_answer_or_an_error_of_ours(fuzz_service):
    counts, _ = fuzz_service.fuzz(4000, seed=11)
    assert sum(counts.values()) == 4000
    # The mutations reach behind the first checks.
    assert counts["read"] > 100
    assert sum(name.startswith("PositionError") for name in counts) > 8
    assert any(name.startswith("IllegalActionError") for name in counts)


def test_the_fuzzer_notices_what_should_not_be_raised(fuzz_service, monkeypatch):
    monkeypatch.setattr(fuzz_service, "read_position", None)
    with pytest.raises(TypeError):
        fuzz_service.fuzz(200, seed=1)
