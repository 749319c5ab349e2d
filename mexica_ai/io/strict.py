"""Strict reading of JSON: a parser of JSON text and a checker of shapes, shared by positions and records.

A *shape* says what a JSON value must look like: `int`, `str`, `bool`, `float` (any finite number), a `Text`,
`choice(...)`, `dict` (any object), `object` (anything), `Nullable(shape)`, `[shape]` (a list of any length) or a dict
from keys to shapes, where a key that ends in ``?`` is optional. Nothing is converted: ``"3"``, ``3.0`` and ``true``
are not integers.
"""

import codecs
import functools
import json
import math
import re
import sys
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple, TypeAlias, cast

from mexica_ai.io.errors import MexicaAIError, NotationError, Violation
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.suggest import did_you_mean

# Enough to correct an input by hand. An input with a million faults must not fill the memory or a log.
MAX_VIOLATIONS = 100

Shape: TypeAlias = object  # see the module

_TYPE_NAMES: dict[object, str] = {
    int: "an integer",
    str: "a string",
    bool: "true or false",
    float: "a finite number",
    dict: "an object",
}


# Bounds of `readable`: above those of any position, and small enough to draw.
_MAX_ENTRIES, _MAX_NUMBER = 255, 1_000_000

HEAD = 4096  # bytes of a text that tell what it is
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)  # UTF-32-LE begins like UTF-16
_compiled = functools.cache(re.compile)


class Text(NamedTuple):
    """A shape: a string that matches all of `pattern`; `expected` describes it in messages."""

    pattern: str
    expected: str
    reason: str = "BAD_VALUE"


class Nullable(NamedTuple):
    """A shape: null, or the other shape."""

    shape: Shape


def choice(*words: str) -> Text:
    """Return the shape of a string that is one of `words`."""
    return Text("|".join(map(re.escape, words)), "one of " + ", ".join(f'"{word}"' for word in words))


def quote(value: object) -> str:
    """Return `value` as short ASCII text on one line for a message: JSON, or a description if it is long."""
    if isinstance(value, str):
        return json.dumps(value) if len(value) <= 60 else f'{json.dumps(value[:57])[:-1]}..."'
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int):
        return str(value) if value.bit_length() <= 128 else f"an integer of {value.bit_length()} bits"
    if isinstance(value, float):
        return str(value)
    if isinstance(value, dict):
        return f"an object of {len(value)} keys"
    if isinstance(value, list):
        return f"a list of {len(value)} entries"
    return f"a Python {type(value).__name__}"


def problem_of_text(data: bytes) -> str:
    """Return why bytes are no text in UTF-8, by the first `HEAD` of them; empty if nothing speaks against it."""
    head = data[:HEAD]
    if head.startswith(_WIDE_MARKS) or (b"\0" in head and (not any(head[::2]) or not any(head[1::2])) and any(head)):
        return "given UTF-16 or UTF-32; expected text in UTF-8"
    return "it is no text; expected text in UTF-8" if b"\0" in head else ""


def parse_json(text: str | bytes, path: str = "$") -> Any:
    """Read JSON text, more strictly than `json.loads`.

    Parameters
    ----------
    text : str or bytes
        Bytes must be UTF-8.
    path : str
        The name of the input in messages.

    Raises
    ------
    NotationError
        If the text is not JSON. Duplicate keys, NaN and Infinity, numbers that no float holds, integers with too
        many digits, invalid UTF-8, halves of surrogate pairs and deep nesting are errors, too: what is read can be
        written again.
    """

    def build_object(pairs: list[tuple[str, Any]]) -> JsonObject:
        result = dict(pairs)
        if len(result) < len(pairs):
            seen: set[str] = set()
            for twice, _ in pairs:
                if twice in seen:
                    break
                seen.add(twice)
            raise NotationError(
                f"{path}: the key {quote(twice)} occurs twice in one object; expected every key once",
                reason="DUPLICATE_KEY",
                path=path,
            )
        return result

    def refuse_constant(name: str) -> None:
        raise NotationError(f"{path}: {name} is not JSON; expected a finite number", reason="BAD_JSON", path=path)

    def read_float(digits: str) -> float:
        value = float(digits)
        if math.isinf(value):
            raise NotationError(
                f"{path}: {quote(digits)} is too large; expected a finite number", reason="BAD_JSON", path=path
            )
        return value

    try:
        if isinstance(text, bytes):
            if problem := problem_of_text(text):
                raise NotationError(f"{path}: {problem}", reason="BAD_UTF8", path=path)
            text = text.decode("utf-8")
        text = text.removeprefix("\ufeff")  # a byte order mark, as some editors write it
        value = json.loads(text, object_pairs_hook=build_object, parse_constant=refuse_constant, parse_float=read_float)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except NotationError:
        raise
    except UnicodeEncodeError:
        raise NotationError(
            f"{path}: a string has half a surrogate pair; expected whole characters", reason="BAD_JSON", path=path
        ) from None
    except UnicodeDecodeError as error:
        raise NotationError(f"{path}: expected JSON in UTF-8: {error}", reason="BAD_UTF8", path=path) from None
    except RecursionError:
        raise NotationError(f"{path}: the JSON is nested too deeply", reason="BAD_JSON", path=path) from None
    except json.JSONDecodeError as error:
        raise NotationError(
            f"{path}: expected JSON: {error}; given {quote(text)}", reason="BAD_JSON", path=path
        ) from None
    except ValueError:  # the only other one, of Python's own bound
        raise NotationError(
            f"{path}: an integer has over {sys.get_int_max_str_digits():,} digits; expected a shorter one",
            reason="BAD_JSON",
            path=path,
        ) from None


def _member(path: str, key: object) -> str:
    """Return the path of an object's member, or of the object if the key is not an identifier."""
    return f"{path}.{key}" if isinstance(key, str) and re.fullmatch("[A-Za-z_][A-Za-z0-9_]{0,60}", key) else path


class Findings:
    """Collects the faults of an input, so that one error can report all of them."""

    def __init__(self) -> None:
        self.violations: list[Violation] = []

    def add(self, path: str, reason: str, message: str) -> None:
        """Add one violation. Its text is the path and `message`, which says what was given and expected."""
        if len(self.violations) < MAX_VIOLATIONS:
            self.violations.append(Violation(path, reason, f"{path}: {message}"))

    def raise_as(self, error_class: type[MexicaAIError]) -> None:
        """Raise `error_class` with all violations, if there are any; its message is that of the first."""
        if not self.violations:
            return
        first, more = self.violations[0], len(self.violations) - 1
        suffix = f" (and {more} more)" if more else ""
        raise error_class(first.message + suffix, reason=first.reason, path=first.path, violations=self.violations)

    def check_range(self, path: str, value: int, low: int, high: int) -> bool:
        """Add a violation and return False if the integer is not in low..high, else return True."""
        if low <= value <= high:
            return True
        expected = f"an integer from {low} to {high}" if low < high else low
        self.add(path, "OUT_OF_RANGE", f"{quote(value)} is out of range; expected {expected}")
        return False

    def check_shape(self, path: str, value: Any, shape: Shape) -> None:
        """Add a violation for every place where `value` does not have `shape` (see the module)."""
        if shape is object or (type(value) is shape and shape is not float):
            return
        if isinstance(shape, dict):
            self._check_object(path, value, shape)
        elif isinstance(shape, list):
            if not isinstance(value, list):
                self._wrong_type(path, value, "a list")
                return
            (each,) = shape
            # Most lists hold hundreds of short texts: build no path for those that match.
            fits = _compiled(each.pattern).fullmatch if isinstance(each, Text) else None
            for index, entry in enumerate(value):
                if not (fits and type(entry) is str and fits(entry)):
                    self.check_shape(f"{path}[{index}]", entry, each)
        elif isinstance(shape, Nullable):
            if value is not None:
                self.check_shape(path, value, shape.shape)
        elif isinstance(shape, Text):
            if type(value) is not str:
                self._wrong_type(path, value, shape.expected)
            elif not _compiled(shape.pattern).fullmatch(value):
                self.add(path, shape.reason, f"given {quote(value)}; expected {shape.expected}")
        elif shape is float:
            # An integer may be too large for any float; NaN is not even equal to itself.
            if type(value) not in (int, float) or not abs(value) <= sys.float_info.max:
                self._wrong_type(path, value, _TYPE_NAMES[float])
        elif type(value) is not shape:
            self._wrong_type(path, value, _TYPE_NAMES[shape])

    def _check_object(self, path: str, value: object, shape: dict[str, Shape]) -> None:
        if not isinstance(value, dict):
            self._wrong_type(path, value, "an object")
            return
        known = {key.rstrip("?"): key for key in shape}
        for key in value:
            if key not in known:
                # Only for the first faults: a suggestion takes longer than all else.
                hint = did_you_mean(key, known) if len(self.violations) < MAX_VIOLATIONS else ""
                message = f"unknown key {quote(key)}; expected only {', '.join(known)}{hint}"
                self.add(_member(path, key), "UNKNOWN_KEY", message)
        for key, declared in known.items():
            if key in value:
                self.check_shape(f"{path}.{key}", value[key], shape[declared])
            elif declared == key:
                self.add(f"{path}.{key}", "MISSING_KEY", f"the key {quote(key)} is missing")

    def _wrong_type(self, path: str, value: object, expected: str) -> None:
        self.add(path, "WRONG_TYPE", f"given {quote(value)}; expected {expected}")


def check_shape(value: object, shape: Shape, path: str) -> None:
    """Raise NotationError, listing every violation, if `value` does not have `shape`."""
    findings = Findings()
    findings.check_shape(path, value, shape)
    findings.raise_as(NotationError)


def check_version(data: JsonObject, version: int, path: str) -> None:
    """Raise NotationError, reason UNSUPPORTED_VERSION, if an object of the text forms is of another version."""
    if data["version"] != version:
        raise NotationError(
            f"{path}.version: given {quote(data['version'])}; expected {version}",
            reason="UNSUPPORTED_VERSION",
            path=f"{path}.version",
        )


def readable(value: object, shape: dict[str, Any]) -> JsonObject:
    """Return the readable part of `value` as a dict shape; missing or wrong values become 0, "", False, None or [].

    The result has the shape, so that a faulty position can be drawn and mended. Entries of lists that cannot be read
    are left out, and numbers and lengths are bounded.
    """
    return cast(JsonObject, _read(value, shape))


_NOTHING = object()


def _read(value: Any, shape: Any) -> Any:
    """Return the readable part of a value, `_NOTHING` if there is none."""
    if isinstance(shape, dict):
        return _read_object(value if isinstance(value, dict) else {}, shape)
    if isinstance(shape, list):
        entries = value[:_MAX_ENTRIES] if isinstance(value, list) else ()
        return [entry for each in entries if (entry := _read(each, shape[0])) is not _NOTHING]
    if isinstance(shape, Nullable):
        entry = _NOTHING if value is None else _read(value, shape.shape)
        return None if entry is _NOTHING else entry
    if isinstance(shape, Text):
        fits = type(value) is str and len(value) <= _MAX_ENTRIES and _compiled(shape.pattern).fullmatch(value)
        return value if fits else _NOTHING
    if shape is float and type(value) in (int, float) and value == value:
        return max(-_MAX_NUMBER, min(value, _MAX_NUMBER))
    if type(value) is not shape:
        return _NOTHING
    if shape is int:
        return max(-_MAX_NUMBER, min(value, _MAX_NUMBER))
    return value[:_MAX_ENTRIES] if shape is str else value


def _read_object(value: JsonObject, shape: dict[str, Shape]) -> Any:
    found = {}
    for key, declared in shape.items():
        name = key.rstrip("?")
        entry = _read(value[name], declared) if name in value else _NOTHING
        if entry is _NOTHING and key == name:
            entry = _default(declared)
            if entry is _NOTHING:
                return _NOTHING
        if entry is not _NOTHING:
            found[name] = entry
    return found


def _default(shape: Any) -> Any:
    """Return what stands for a missing value: "", the first of several words, or `_NOTHING` for other texts."""
    if isinstance(shape, Text):
        words = ("", shape.pattern.split("|")[0])
        return next((word for word in words if _compiled(shape.pattern).fullmatch(word)), _NOTHING)
    if shape in (int, float, str, bool):
        return 0 if shape is float else shape()
    return _read(None, shape)


def check_options(game: str, given: Iterable[str], known: Collection[str]) -> None:
    """Raise NotationError, reason UNKNOWN_OPTION, if a new game is given an option that it does not have."""
    for name in given:
        if name not in known:
            expected = f"only {', '.join(known)}" if known else "none, for it has no options"
            raise NotationError(
                f"options: unknown option {quote(name)} of {game}; expected {expected}{did_you_mean(name, known)}",
                reason="UNKNOWN_OPTION",
                path="options",
            )


def match_action(text: object, forms: dict[str, tuple[str, str]], example: str, path: str) -> dict[str, str]:
    """Split the text of an action into its operands.

    Parameters
    ----------
    text : object
        The input; expected is a verb and its operands, separated by single spaces.
    forms : dict
        For each verb the regular expression of the whole text, and an example of it.
    example : str
        An action, for the message about input that is not a string.
    path : str
        Where the text stands, for messages.

    Returns
    -------
    dict of str to str
        The named groups of the verb's expression that are not empty.

    Raises
    ------
    NotationError
        The text is not a string (reason WRONG_TYPE), its verb is unknown (UNKNOWN_VERB), or the operands do
        not match the verb's expression (BAD_OPERANDS).
    """
    if not isinstance(text, str):
        raise NotationError(
            f'{path}: given {quote(text)}; expected an action such as "{example}"',
            reason="WRONG_TYPE",
            path=path,
        )
    verb = text.partition(" ")[0]
    if verb not in forms:
        known = f"one of the verbs {', '.join(forms)}{did_you_mean(verb, forms)}"
        raise not_an_action(text, path, "UNKNOWN_VERB", known)
    pattern, form = forms[verb]
    match = _compiled(pattern).fullmatch(text)
    if not match:
        is_lower = _compiled(pattern).fullmatch(verb + text.removeprefix(verb).upper())
        raise not_an_action(text, path, "BAD_OPERANDS", f"the form {form}{', in capitals' if is_lower else ''}")
    return {name: operand for name, operand in match.groupdict().items() if operand}


def not_an_action(text: str, path: str, reason: str, expected: str) -> NotationError:
    """Return the error for a text that is not an action."""
    advice = '; actions are joined by "; "' if "," in text else ""
    return NotationError(
        f"{path}: {quote(text)} is not an action; expected {expected}{advice}", reason=reason, path=path
    )
