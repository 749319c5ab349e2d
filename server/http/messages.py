"""Requests and answers as JSON: the mapping of protobuf, read strictly."""

from __future__ import annotations

import re
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from google.protobuf import json_format
from google.protobuf.message import Message

from mexica_ai.io import strict
from mexica_ai.io.errors import NotationError

MAX_PARAMETERS = 1024  # of a query
ROOT = "request"  # names the whole request in messages

_UNKNOWN = re.compile(
    r'has no field named "(.*?)" at "(.*?)"\.\s*Available Fields\(except extensions\): "\[(.*?)\]"', re.DOTALL
)
_TWICE = re.compile(r'should not have multiple "(.*?)" oneof fields at "(.*?)"')
_INSIDE = re.compile(r"Failed to parse (\w{1,60}) field: ")
_AT = re.compile(r" at (\w+(?:\.\w+(?:\[\d+\])?)+)\.*$")
# What the library says in words of Python.
_WRONG_TYPE = re.compile(r"object|expected string or bytes|unhashable|attribute|argument")

M = TypeVar("M", bound=Message)


def read(data: bytes, kind: type[M], name: str = ROOT) -> M:
    """Return the message that a JSON text holds.

    Raises
    ------
    NotationError
        It is not JSON, or not that of this message; `path` says where, as far as that is known.
    """
    value = strict.parse_json(data, name)
    if not isinstance(value, dict):
        raise NotationError(f"{name}: given {strict.quote(value)}; expected an object", reason="WRONG_TYPE", path=name)
    return _message(value, kind, name)


def read_query(query: bytes, kind: type[M]) -> M:
    """Return the message whose fields a query gives; a repeated field may occur more than once.

    Raises
    ------
    NotationError
        It has something else than fields of this message that are no messages.
    """
    fields = {name: field for field in kind.DESCRIPTOR.fields for name in (field.name, field.json_name)}
    value: dict[str, Any] = {}
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_PARAMETERS)
    except ValueError:
        raise NotationError("query: cannot be read; expected parameters in UTF-8", reason="BAD_UTF8") from None
    for name, text in pairs:
        field = fields.get(name)
        if field is None or field.message_type is not None:
            known = ", ".join(sorted({each.json_name for each in fields.values() if each.message_type is None}))
            expected = f"expected only {known}" if known else "expected no parameters"
            raise NotationError(f"query: unknown field {strict.quote(name)}; {expected}", reason="UNKNOWN_FIELD")
        item = {"true": True, "false": False}.get(text, text) if field.type == field.TYPE_BOOL else text
        if field.is_repeated:
            value.setdefault(field.json_name, []).append(item)
        elif field.json_name in value:
            raise NotationError(f"query: {strict.quote(name)} occurs twice; expected it once", reason="DUPLICATE_KEY")
        else:
            value[field.json_name] = item
    return _message(value, kind, "query")


def _message(value: dict[str, Any], kind: type[M], name: str) -> M:
    _check_form(value, kind.DESCRIPTOR, "", name)
    message = kind()
    try:
        json_format.ParseDict(value, message)
    except json_format.ParseError as error:
        raise _fault(str(error), name) from None
    except (TypeError, ValueError, AttributeError, RecursionError):
        raise _wrong_type(name) from None
    return message


def _check_form(value: dict[str, Any], kind: Any, start: str, name: str) -> None:
    """Refuse what the library lets pass: a field by both of its names, and an empty list or text for a message."""
    fields = {key: field for field in kind.fields for key in (field.name, field.json_name)}
    given: set[str] = set()
    for key, item in value.items():
        field = fields.get(key)
        if field is None:
            continue  # the library says which fields there are
        path = f"{start}{field.name}"
        if field.name in given:
            problem = f"{start.rstrip('.') or name}: the key {strict.quote(field.json_name)} occurs twice in one object"
            raise NotationError(f"{problem}; expected every key once", reason="DUPLICATE_KEY", path=path)
        given.add(field.name)
        inner = field.message_type
        if item is None:
            continue
        is_map = inner is not None and inner.GetOptions().map_entry
        if field.is_repeated and not isinstance(item, dict if is_map else list):
            raise _wrong_type(path)
        if inner is None or is_map:
            continue
        for index, entry in enumerate(item if field.is_repeated else [item]):
            where = f"{path}[{index}]" if field.is_repeated else path
            if isinstance(entry, dict):
                _check_form(entry, inner, f"{where}.", name)
            elif entry is not None:  # which the library refuses in a list
                raise _wrong_type(where)


def write(message: Message) -> str:
    """Return a message as one line of JSON, with the fields that have their default values."""
    return json_format.MessageToJson(message, indent=None, always_print_fields_with_no_presence=True)


def _fault(text: str, name: str) -> NotationError:
    if found := _UNKNOWN.search(text):
        known = ", ".join(re.findall(r"\w+", found[3]))
        key = strict.quote(found[1])
        path = _path(found[2], name)
        within = f"{path}.{found[1]}" if re.fullmatch(r"\w{1,60}", found[1]) else path
        within = within.removeprefix(f"{name}.")
        expected = f"expected only {known}" if known else "expected no fields"
        return NotationError(f"{within}: unknown field {key}; {expected}", reason="UNKNOWN_FIELD", path=within)
    if found := _TWICE.search(text):
        path = _path(found[2], name)
        return NotationError(f"{path}: has several fields of `{found[1]}`; expected one", reason="BAD_VALUE", path=path)
    names = _INSIDE.findall(text)
    problem = _INSIDE.sub("", text).rstrip(". ")
    if at := _AT.search(problem):
        path, problem = _path(at[1], name), problem[: at.start()]
    else:
        path = ".".join(map(_original, names)) or name
    if _WRONG_TYPE.search(problem):
        return _wrong_type(path)
    problem = problem[:1].lower() + problem[1:200]
    return NotationError(f"{path}: {problem}; expected a value of this field", reason="BAD_VALUE", path=path)


def _wrong_type(path: str) -> NotationError:
    return NotationError(f"{path}: has the wrong type; expected the JSON of this field", reason="WRONG_TYPE", path=path)


def _path(text: str, name: str) -> str:
    """Return a path of the library, such as ``BestTurnRequest.position.mexica``, as the service writes it."""
    return _original(text.partition(".")[2]) or name


def _original(text: str) -> str:
    """Return names in lowerCamelCase as in the proto."""
    return re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", text)
