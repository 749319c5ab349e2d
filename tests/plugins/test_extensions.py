"""What `game_extensions` asks of the compiler; nothing is compiled here."""

import pytest

from cext import build


@pytest.fixture
def extension(monkeypatch):
    """Return a function that gives the extension of a module, not translated."""
    monkeypatch.setattr(build, "cythonize", lambda extensions, **options: extensions)

    def make(**options):
        (extension,) = build.game_extensions(["my_game.ops"], **options)
        return extension

    return make


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("include_dirs", ["headers"]),
        ("define_macros", [("MY_GAME", "1")]),
        ("extra_compile_args", ["-g"]),
        ("extra_link_args", ["-lm"]),
    ],
)
def test_lists_are_added_to_what_the_core_needs(extension, option, values):
    needed = getattr(extension(), option)
    assert needed
    assert getattr(extension(**{option: values}), option) == [*needed, *values]


def test_other_options_go_to_setuptools(extension):
    made = extension(depends=["facts.h"], libraries=["m"], compile_args=["-O1"])
    assert (made.sources, made.depends, made.libraries) == (["my_game/ops.pyx"], ["facts.h"], ["m"])
    assert "-O1" in made.extra_compile_args
