"""The examples that train networks run; whether they learn is written down in docs/evaluators.md and docs/env.md."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mexica_ai.analysis.evaluators import OnnxEvaluator

EXAMPLE = Path(__file__).parents[2] / "examples" / "train_network.py"


@pytest.mark.real("processes")
def test_it_trains_and_plays_a_match(tmp_path):
    pytest.importorskip("torch", reason="needs the extra train")
    pytest.importorskip("onnxruntime")
    arguments = ["--game", "nim", "--generations", "1", "--games", "2", "--iterations", "8", "--match", "2"]
    done = subprocess.run(
        [sys.executable, EXAMPLE, *arguments, "--out", tmp_path], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"^generation 1: 2 games in \d+ s, \d+ positions, loss 0\.\d{4}$", done.stdout, re.MULTILINE)
    assert re.search(r"^version1\.onnx against version0\.onnx: \d(\.5)? of 2 points$", done.stdout, re.MULTILINE)
    for number in range(2):
        OnnxEvaluator(tmp_path / f"version{number}.onnx").check("nim")


@pytest.mark.real("processes")
@pytest.mark.parametrize("game", ["nim", "coatl"])
def test_alphazero_plays_and_learns(game, tmp_path):
    pytest.importorskip("torch", reason="needs the extra train")
    arguments = ["--minutes", "0", "--num-games", "2", "--iterations", "4", "--rows", "8", "--steps", "1"]
    arguments += ["--game", game, "--levels", "1", "--blocks", "1", "--out", tmp_path / "network.pt"]
    done = subprocess.run(
        [sys.executable, EXAMPLE.with_name("alphazero.py"), *arguments], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"^generation 0\nagainst level=1: .* of 2 games$", done.stdout, re.MULTILINE)
    assert re.search(r"^\d+ rows/s, losses of policy and value \[\d", done.stdout, re.MULTILINE)
    assert (tmp_path / "network.pt").stat().st_size > 10_000
