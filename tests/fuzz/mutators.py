"""Changes of inputs by what they are made of: fields of JSON, words of a line, lines, fields of messages.

A fuzzer that changes bytes alone seldom gets behind the reader of JSON.
"""

import copy
import json

from service import VALUES, mutated_form

MAX_SPOTS = 400


def mutated_json(rng, data, others):
    """Return JSON that differs in some places; what is no JSON comes back as changed bytes."""
    try:
        form = json.loads(data)
        others = [json.loads(other) for other in rng.sample(others, min(2, len(others)))]
    except (ValueError, RecursionError):
        return None
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        form = changed(rng, form, others)
    return json.dumps(form, separators=(",", ":")).encode()


def changed(rng, form, others):
    """Return a form that differs in one place: by value, by another form's value there, or by a move of entries."""
    if not isinstance(form, (dict, list)) or not form:
        return copy.deepcopy(rng.choice(VALUES))
    kind = rng.randrange(6)
    if kind == 0:
        return mutated_form(rng, form)
    form = copy.deepcopy(form)
    spots = spots_of(form)
    owner, key, path = rng.choice(spots)
    if kind == 1:
        with_path = [value for other in others if (value := value_at(other, path)) is not MISSING]
        if with_path:
            owner[key] = copy.deepcopy(rng.choice(with_path))
    elif kind in (2, 3):
        like = [(o, k) for o, k, _ in spots if type(o[k]) is type(owner[key])]
        other, there = rng.choice(like)
        owner[key], other[there] = copy.deepcopy(other[there]), copy.deepcopy(owner[key])
    elif kind == 4:
        lists = [o[k] for o, k, _ in spots if isinstance(o[k], list)]
        if len(lists) > 1:
            origin, target = rng.sample(lists, 2)
            if origin and target is not origin:
                entry = origin.pop(rng.randrange(len(origin)))
                target.insert(rng.randrange(len(target) + 1), copy.deepcopy(entry))
    else:
        owner[key] = near(rng, owner[key])
    return form


def near(rng, value):
    """Return a value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice((value - 1, value + 1, 0, 1, 2, rng.randrange(16), rng.randrange(128), -1, 255, 256))
    if isinstance(value, float):
        return rng.choice((-value, value / 2, 0.0, 1e-9, 1e300, 1.0))
    if isinstance(value, str):
        if not value or rng.random() < 0.3:
            return rng.choice(("", "A1", "H6", "end", "pass", "T03", "P07", "RG", "?", value * 2))
        at = rng.randrange(len(value))
        return rng.choice((value[:at] + value[at + 1 :], value[:at] + rng.choice(value) + value[at:], value[::-1],
                           value[:at] + chr(32 + rng.randrange(95)) + value[at + 1 :]))  # fmt: skip
    if isinstance(value, list) and value:
        return rng.choice((value[:-1], value[1:], [*value, value[0]], value[::-1], sorted(value, key=str)))
    return value


MISSING = object()


def value_at(form, path):
    """Return what stands at a path of a form, MISSING if nothing does."""
    for key in path:
        try:
            form = form[key]
        except (KeyError, IndexError, TypeError):
            return MISSING
    return form


def spots_of(form, path=()):
    """Return (owner, key, path) of the values inside a form, MAX_SPOTS at most."""
    found, left = [], [(form, path)]
    while left and len(found) < MAX_SPOTS:
        owner, path = left.pop()
        entries = owner.items() if isinstance(owner, dict) else enumerate(owner)
        for key, value in entries:
            found.append((owner, key, (*path, key)))
            if isinstance(value, (dict, list)):
                left.append((value, (*path, key)))
    return found


def mutated_words(rng, data, others):
    """Return a line whose words, or the entries of one of them, differ."""
    words = data.split(b" ")
    theirs = rng.choice(others).split(b" ")
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(words))
        if rng.random() < 0.3 and len(theirs) > at:
            words[at] = theirs[at]
            continue
        separator = rng.choice((b",", b"/", b";", b":"))
        entries = words[at].split(separator)
        one, other = rng.randrange(len(entries)), rng.randrange(len(entries))
        match rng.randrange(5):
            case 0:
                entries[one], entries[other] = entries[other], entries[one]
            case 1:
                del entries[one]
            case 2:
                entries.insert(one, entries[other])
            case 3 if entries[one].isdigit():
                entries[one] = b"%d" % near(rng, int(entries[one][:6]))
            case _:
                entries[one] = near(rng, entries[one].decode("latin-1")).encode("latin-1")
        words[at] = separator.join(entries)
    return b" ".join(words)


def mutated_lines(rng, data, others):
    """Return lines of JSON of which one differs, is gone, comes twice or from another input."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    match rng.randrange(10):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[rng.randrange(len(lines))])
        case 2:
            lines.insert(at, rng.choice(rng.choice(others).split(b"\n")))
        case _:
            theirs = [line for other in others[:20] for line in other.split(b"\n") if line[:1] == b"{"]
            lines[at] = mutated_json(rng, lines[at], theirs) or mutated_text(rng, lines[at])
    return b"\n".join(lines)


def mutated_text(rng, data):
    return bytes(data[:1]) + data[1:].replace(b"}", rng.choice((b"", b"}}", b",}")), 1)


def mutated_raw(rng, data, others):
    """Leave bytes that mean nothing by themselves to the fuzzer."""
    return None
