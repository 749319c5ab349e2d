"""Files and functions of the product stay short enough to read; those that are longer are listed, with the reason."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAX_FILE, MAX_FUNCTION = 600, 60

# Lines of a file, and of a function without its docstring. What is listed and short fails the test, too.
LONG_FILES: dict[str, str] = {}
LONG_FUNCTIONS: dict[str, str] = {}


def product():
    """Return the Python files of the product, without those that protoc writes."""
    files = [path for folder in ("mexica_ai", "server", "cext") for path in sorted((ROOT / folder).rglob("*.py"))]
    found = [path for path in files if not path.name.endswith(("_pb2.py", "_pb2_grpc.py"))]
    assert len(found) > 100
    return found


def length(function):
    """Return the number of lines of a function without its docstring."""
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function, clean=False) is not None:
        lines -= function.body[0].end_lineno - function.body[0].lineno + 1
    return lines


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("def f():\n    return 1\n", 2),
        ('def f():\n    """Say.\n\n    More.\n    """\n    return 1\n', 2),
        ("async def f(\n    a,\n):\n    return a\n", 4),
    ],
)
def test_a_docstring_does_not_count(source, lines):
    assert list(map(length, functions(ast.parse(source)))) == [lines]


def test_files_are_short():
    long = {}
    for path in product():
        lines = len(path.read_text().splitlines())
        if lines > MAX_FILE:
            long[path.relative_to(ROOT).as_posix()] = lines
    assert long.keys() == LONG_FILES.keys(), long


def test_functions_are_short():
    long = {}
    for path in product():
        for function in functions(ast.parse(path.read_text())):
            if length(function) > MAX_FUNCTION:
                long[f"{path.relative_to(ROOT).as_posix()}: {function.name}"] = length(function)
    assert long.keys() == LONG_FUNCTIONS.keys(), long
