"""Builds an earlier version of the package into a folder of its own, to play against.

    python benchmarks/freeze.py 22778c4

The commit is unpacked and installed into an environment in build/frozen/COMMIT, whose engine is
`build/frozen/COMMIT/bin/mexica-ai engine`. That takes a few minutes, once: a second time nothing is done.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = Path("build/frozen")  # below `ROOT`, so that specs of engines are the same on each machine


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit")
    print(freeze(parser.parse_args().commit))


def freeze(commit):
    """Build a commit unless that was done, and return the path of its command.

    The commit is a hash: what a name such as HEAD names changes, and what was built of it would not.
    """
    if not re.fullmatch("[0-9a-f]{7,40}", commit):
        raise SystemExit(f"freeze.py: error: {commit} is no commit; expected 7 to 40 hexadecimal digits")
    command = ROOT / FOLDER / commit / "bin" / "mexica-ai"
    if command.exists():
        return command
    environment = command.parents[1]
    environment.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=environment.parent) as sources:
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE, check=True)
        subprocess.run(["tar", "--extract", "--directory", sources], input=archive.stdout, check=True)
        subprocess.run([sys.executable, "-P", "-m", "venv", "--clear", environment], check=True)
        pip = [environment / "bin" / "python", "-m", "pip", "install", "--quiet", sources]
        subprocess.run(pip, env=os.environ | {"MEXICA_AI_NATIVE": "1"}, check=True)
    return command


if __name__ == "__main__":
    main()
