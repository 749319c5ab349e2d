"""Whether JSON is of a type that is declared as a TypedDict."""

import types
import typing


def faults(data, kind, path="$"):
    """Yield where JSON is not of a declared type."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if typing.is_typeddict(kind):
        hints = typing.get_type_hints(kind, include_extras=True)
        needed = {key for key, value in hints.items() if typing.get_origin(value) is not typing.NotRequired}
        if not isinstance(data, dict) or not needed <= data.keys() <= hints.keys():
            yield f"{path}: given {data}; expected the keys {', '.join(hints)}"
            return
        for key, value in data.items():
            yield from faults(value, hints[key], f"{path}.{key}")
    elif origin is typing.NotRequired:
        yield from faults(data, *arguments, path)
    elif origin is types.UnionType:
        if all(list(faults(data, one, path)) for one in arguments):
            yield f"{path}: given {data!r}; expected {kind}"
    elif origin is list and isinstance(data, list):
        for index, one in enumerate(data):
            yield from faults(one, *arguments, f"{path}[{index}]")
    elif origin is dict and isinstance(data, dict):
        for key, one in data.items():
            yield from faults(one, arguments[1], f"{path}.{key}")
    elif origin is typing.Literal:
        if data not in arguments:
            yield f"{path}: given {data!r}; expected {kind}"
    elif kind is not typing.Any and type(data) not in {float: (int, float)}.get(kind, (kind,)):
        yield f"{path}: given {data!r}; expected {kind}"
