"""The doors: what reads bytes of strangers, and what must hold of all that it accepts. `doors.py` fuzzes them.

A door reads one input. It may refuse it with an error of the package, whose message is one line, and nothing else;
what it accepts must survive its own text forms, be playable, and be searchable.
"""

# ruff: noqa: PT017, PT018, what is checked here is no outcome of a test

import contextlib
import copy
import functools
import importlib
import json
import pkgutil
import random
import tempfile
import time
import zlib
from pathlib import Path

import numpy as np
from fuzz import material
from mutators import mutated_json, mutated_raw, mutated_words
from searching import run_search
from weighed import Search, evaluate

import mexica_ai as ai
from cext.core.contract.game import CHANCE
from cext.core.contract.playout import random_playout
from cext.core.learning.weights import WeightsSpec, load_weights
from mexica_ai import games
from mexica_ai.analysis import drill
from mexica_ai.analysis.annotate import check_played
from mexica_ai.analysis.limits import Limits
from mexica_ai.game import registry
from mexica_ai.game.records import make_record, parse_record, replay
from mexica_ai.io.errors import MexicaAIError
from mexica_ai.rpc import wire
from mexica_ai.v1 import engine_pb2

ROOT = Path(__file__).parents[2]
# The games' modules are imported when they are needed; a fuzzer must see them all.
for module in pkgutil.walk_packages(games.__path__, games.__name__ + "."):
    importlib.import_module(module.name)
GAMES = ("nim", "mexica", "coatl", "tzolkin")
MAX_MESSAGE = 1 << 11  # characters of an error
SLOW_S = 5.0  # of processor time; most inputs take milliseconds
ITERATIONS, MANY = 8, 200  # of searches; some faults need many
DOORS = {}


class Door:
    """One door.

    Parameters
    ----------
    read : callable
        Reads bytes; raises what it should not only if there is a fault.
    seeds : callable
        Returns inputs to begin with.
    mutate : callable
        From (random generator, input) to a changed input, by what the input is made of.
    covers : sequence of str
        The files of the parsers and checks whose coverage counts, as patterns below the root of the repository.
    """

    def __init__(self, read, seeds, mutate, covers):
        self.read, self.mutate, self.covers = read, mutate, covers
        self.seeds = functools.cache(seeds)
        DOORS[read.__name__] = self

    def __call__(self, data):
        """Read an input as a stranger's: errors of the package are answers."""
        begin = time.process_time()
        try:
            self.read(data)
        except MexicaAIError as error:
            look_at_error(error)
        seconds = time.process_time() - begin
        assert seconds < SLOW_S, f"took {seconds:.1f} s"


def door(seeds, mutate, *covers):
    """Return a decorator that makes a door of a function."""
    return lambda read: Door(read, seeds, mutate, covers)


def look_at_error(error):
    """Check that an error is fit for a log: a short line of printable text, with a reason."""
    text = str(error)
    assert text.isprintable() and len(text) <= MAX_MESSAGE, f"the message of {type(error).__name__}: {text[:300]!r}"
    assert error.reason.replace("_", "").isupper(), error.reason
    for violation in error.violations:
        assert violation.message.isprintable() and len(violation.message) <= MAX_MESSAGE, violation


def look_at(position, dice):
    """Check an accepted position: its forms, its views, and that it can be played and searched."""
    form = position.to_json()
    assert ai.Position.from_json(json.dumps(form, allow_nan=False)).to_json() == form
    line = position.to_compact()
    assert line.isprintable() and ai.Position.from_compact(line) == position
    message = wire.position_to_message(position).SerializeToString()
    assert wire.position_from_message(engine_pb2.Position.FromString(message)) == position
    assert str(position)
    look_at_view(position, dice.randrange(position.players) if position.viewer is None else position.viewer)
    if dice.random() < 0.02:  # by far the slowest
        assert position.svg().startswith("<svg")
    play(position, dice)


def look_at_view(position, seat):
    """Check what a seat sees of a position."""
    view = position.view(seat)
    assert view.view(seat) == view
    assert view.state.view_hash(seat) == position.state.view_hash(seat)
    if position.to_move == seat:
        assert view.legal_actions() == position.legal_actions()


def play(position, dice):
    """Play some actions, each taken back once, and search what comes of them."""
    position = position.copy()
    for _ in range(dice.choice((0, 1, 4))):
        if position.is_over:
            break
        before = position.copy()
        try:
            if position.is_chance:
                position.draw(dice.getrandbits(40))
            else:
                legal = position.legal_actions()
                position.push_action(dice.choice(legal))
        except MexicaAIError as error:  # what comes next is not known
            assert error.reason in UNKNOWN, error
            return
        after = position.copy()
        actions = position.pop()
        assert position == before
        if position.viewer is None:
            position.push_action(actions[0])
            assert position == after
        else:
            position = after
    explore(position, dice)


UNKNOWN = ("UPCOMING_UNKNOWN", "NOT_UNCOVERED", "NOT_ITS_VIEW", "NO_WORLD")


def explore(position, dice):
    """Search a position, and play it on by the compiled layer alone, which must bear all of it."""
    state = position.state.copy()
    state.check()
    if position.to_move is not None and position.viewer in (None, position.to_move):
        search = Search(state, memory_mb=1, seed=dice.getrandbits(40))
        search.run(iterations=MANY if dice.random() < 0.2 else ITERATIONS)
        check_result(search.result(3))
    if position.viewer is None:
        state.determinize(dice.randrange(state.num_players), dice.getrandbits(40))
    else:
        try:
            state = position.guess(dice.getrandbits(40)).state
        except MexicaAIError as error:
            assert error.reason == "NO_WORLD", error
            return
    state.check()
    if state.current_player >= 0:
        evaluate(state)
    if state.current_player != CHANCE:
        random_playout(state, dice.getrandbits(40))
    for _ in range(8):
        if state.is_terminal:
            break
        material.step(state, dice)
        state.check()


def check_result(result):
    """Check that a search's numbers are numbers."""
    for candidate in result["candidates"]:
        assert np.isfinite([*candidate["value"], *candidate["expected_scores"], candidate["prior"]]).all(), candidate


def dice_of(data):
    """Return a random generator that depends on an input alone."""
    return random.Random(zlib.crc32(data))


# Seeds


@functools.cache
def positions():
    """Return positions of play of all games: views, random events and the end among them."""
    found = []
    for number in range(12):
        dice = random.Random(number)
        game = GAMES[number % 4]
        position = ai.new_game(game, players=2 + number % 3, seed=number)
        length = dice.choice((3, 40, 160, 420, 700))
        for step in range(5000):
            if position.is_over or (step >= length and dice.random() < 0.1):
                break
            if position.is_chance:
                if step % 30 == 0:
                    found.append(position.copy())
                position.draw(step)
            else:
                position.push_action(dice.choice(position.legal_actions()))
            if step % 120 == 1:
                found.append(position.copy())
        found.append(position.copy())
    for path in sorted((ROOT / "examples").glob("*.json")):
        found.append(ai.load(path))
    return found


def views():
    return [position.view(seat) for position in positions() for seat in range(min(2, position.players))]


def records():
    """Return records of all games, and beginnings of them."""
    found = []
    for path in sorted((ROOT / "examples").glob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            record = json.loads(line)
            found.append(record)
            short = {key: value for key, value in record.items() if key not in ("scores", "winners", "termination")}
            found.append(short | {"turns": record["turns"][:4]})
    for number, game in enumerate(GAMES):
        position = ai.new_game(game, players=2, seed=number)
        for step in range(6):
            if position.is_chance:
                position.draw(step)
            elif not position.is_over:
                position.push(run_search(position, Limits(iterations=4, memory_mb=1), seed=step).turn)
        played = make_record(position, engines=["a", "b"], seeds=[1, None], times=[0.5, None], comment="x")
        found.append(played)
        if not position.is_over:
            found.append(make_record(position, forfeit={"seat": 1, "reason": "TIME", "detail": "late"}))
            rule = {"rule": "resign", "by": "a", "forecast": [0.9, 0.1]}
            found.append(played | {"termination": "adjudicated", "adjudication": rule, "winners": [0]})
        shares = ("before", "after", "choice_value", "expected_scores_before", "expected_scores_after", "scores")
        turn = {"turn_index": 0, "seat": 0, "turn": played["turns"][0], "choice": ["end"], "loss": 0.0, "seconds": 0.1,
                "iterations": 4, **{key: [0.5, 0.5] for key in shares}}  # fmt: skip
        evaluations = {"time_s": 1.0, "iterations": None, "seed": 1, "turns": [turn]}
        odd = {"seed": 1, "iterations": 4, "game": 0, "styles": [0.5], "odd_turns": [1]}
        found.append(played | {"evaluations": evaluations, "self_play": odd, "arena": {}, "weights": ["a", None]})
    return found


def as_text(forms):
    return [json.dumps(form, separators=(",", ":")).encode() for form in forms]


# Doors of positions and records

NOTATION = ("mexica_ai/io/strict.py", "mexica_ai/games/*/notation.py", "mexica_ai/games/*/invariants*.py")


@door(lambda: as_text(each.to_json() for each in positions()), mutated_json, *NOTATION)
def position(data):
    """A position as JSON, or whatever a file with a position may hold."""
    look_at(ai.Position.from_text(data), dice_of(data))


def lines():
    return [each.to_compact().encode() for each in positions() + views()]


@door(lines, mutated_words, "mexica_ai/game/compact.py", "mexica_ai/games/*/compact.py", *NOTATION[1:])
def compact(data):
    """A position in its compact form."""
    look_at(ai.Position.from_compact(data.decode("utf-8", "surrogateescape")), dice_of(data))


@door(lambda: as_text(each.to_json() for each in views()), mutated_json, *NOTATION)
def view(data):
    """A seat's view: it is dealt out, and played on by all seats."""
    position, dice = ai.Position.from_json(data), dice_of(data)
    seat = dice.randrange(position.players) if position.viewer is None else position.viewer
    view = position.view(seat)
    look_at(view, dice)
    try:
        world = view.guess(dice.getrandbits(40))
    except MexicaAIError as error:
        assert error.reason == "NO_WORLD", error
        return
    assert world.viewer is None
    # A world may lack the memory, which then does not say what became hidden.
    assert world.view(seat).to_json() | {"memory": 0} == view.to_json() | {"memory": 0}
    if dice.random() < 0.2:
        look_at(world, dice)
    action = world.copy().draw(1)[0] if world.is_chance else dice.choice([*world.legal_actions(), "end"])
    with contextlib.suppress(MexicaAIError):
        view.push_action(action)
        explore(view, dice)


@door(
    lambda: as_text(records()),
    mutated_json,
    "mexica_ai/game/records.py",
    "mexica_ai/game/position.py",
    "mexica_ai/game/position_text.py",
    *NOTATION[:2],
)
def record(data):
    """A record of a game, replayed; and one that is annotated."""
    form = parse_record(data)
    try:
        end = replay(form)
    except MexicaAIError:
        check_played(form)
        return
    assert replay(json.dumps(form)) == end
    again = make_record(end)
    assert replay(again) == end and again["turns"] == form["turns"]
    if not end.is_over:
        explore(end, dice_of(data))


def exercises():
    """Return exercises of drills in all games, some of views."""
    found = []
    for number, each in enumerate(positions()):
        if each.to_move is None:
            continue
        shown = drill.seen_by_mover(each)
        turn = run_search(shown, Limits(iterations=4, memory_mb=1), seed=number).turn
        source = drill.Source("game.jsonl", 1, number + 1)
        value = [1 / each.players] * each.players
        found.append(drill.Exercise(shown, each.to_move, turn, 0.25, turn, value, source).to_json())
    return found


@door(lambda: as_text(exercises()), mutated_json, "mexica_ai/analysis/drill.py", *NOTATION[:2])
def exercise(data):
    """A line of a drill: it comes back the same, and what is hidden from its seat is not in it."""
    found = drill.read_exercise(data)
    again = drill.read_exercise(json.dumps(found.to_json()))
    assert again.to_json() == found.to_json() and again.key == found.key
    assert drill.seen_by_mover(found.position) == found.position
    assert drill.known_verdict(found, found.better).by == "better"


# Weights


def small_spec():
    """Return a spec with all parts, and so few numbers that its files are short."""
    return WeightsSpec(
        "nim", "", own_features=("a",), shared_features=("b",), estimates=(0, 0), features=None, categories=("c", "d"),
        prior_rows=1, summary=("s",), action_features=("f",), policy_inputs=lambda state, weights: None,
    )  # fmt: skip


SPEC = small_spec()


@functools.cache
def weights_file():
    """Return the path of the file that is read."""
    folder = tempfile.TemporaryDirectory(prefix="mexica-ai-fuzz-")
    weights_file.folder = folder  # removed when the process ends
    return Path(folder.name) / "weights.json"


def weights_seeds():
    found = []
    for shapes in (SPEC.shapes, SPEC.shapes | SPEC.policy):
        SPEC.save(weights_file(), SPEC.make({name: np.ones(shape) for name, shape in shapes.items()}))
        found.append(weights_file().read_bytes().replace(b"1.0", b"1"))
    return found


@door(weights_seeds, mutated_json)
def weights(data):
    """A file of weights. A checksum that does not fit is put right, for no mutation finds one."""
    weights_file().write_bytes(data)
    try:
        found = load_weights(weights_file(), [SPEC])
    except MexicaAIError as error:
        assert error.reason == "BAD_WEIGHTS"
        if "checksum" not in str(error):
            raise
        content = json.loads(data)
        made = SPEC.make({name: content["weights"][name] for name in content["weights"]})
        weights_file().write_text(json.dumps(content | {"sha256": made.sha256, "version": made.version}))
        found = load_weights(weights_file(), [SPEC])
    SPEC.save(weights_file(), found)
    again = load_weights(weights_file(), [SPEC])
    assert again.sha256 == found.sha256 and again.provenance == found.provenance


# The compiled layer


class Choices:
    """Numbers chosen by the bytes of an input; 0 after its end."""

    def __init__(self, data):
        self._bytes = iter(data)

    def below(self, number):
        value = next(self._bytes, 0)
        if number > 256:
            value = value << 8 | next(self._bytes, 0)
        return value % number if number else 0

    def one_of(self, entries):
        return entries[self.below(len(entries))]


@functools.cache
def starts():
    """Return the forms of the positions that inputs change."""
    return [each.to_json() for each in (*positions(), *views()) if not each.is_over]


def moved(form, choices):
    """Change a position in one place, in a way that often leaves a valid one: what is moved stays in the game."""
    spots = mutable_spots(form)
    owner, key = choices.one_of(spots)
    value = owner[key]
    like = [(o, k) for o, k in spots if type(o[k]) is type(value)]
    match choices.below(5):
        case 0 if isinstance(value, int):
            owner[key] = choices.below(24)
        case 1 if isinstance(value, list) and value:
            other, there = choices.one_of(like)
            if other[there] is not value:
                other[there].append(value.pop(choices.below(len(value))))
        case 2 if isinstance(value, str):
            other, there = choices.one_of(like)
            at = choices.below(len(value) + 1)
            owner[key], other[there] = value[:at] + value[at + 1 :], other[there] + value[at : at + 1]
        case 3 if isinstance(value, bool):
            owner[key] = not value
        case _:
            other, there = choices.one_of(like)
            # Copies, for one may be inside the other.
            owner[key], other[there] = copy.deepcopy(other[there]), copy.deepcopy(owner[key])


def mutable_spots(form):
    """Return (owner, key) of all values in a form but its name and version."""
    found, left = [], [form]
    while left:
        owner = left.pop()
        for key, value in owner.items() if isinstance(owner, dict) else enumerate(owner):
            if key not in ("game", "version", "players"):
                found.append((owner, key))
            if isinstance(value, (dict, list)):
                left.append(value)
    return found


def state_seeds():
    dice = random.Random(1)
    return [bytes([number, dice.randrange(4), *dice.randbytes(40)]) for number in range(len(starts()))]


@door(state_seeds, mutated_raw, "mexica_ai/games/*/invariants*.py")
def state(data):
    """The compiled layer, by bytes: a position of play, changes of it, and if it is accepted, actions and a search."""
    choices = Choices(data)
    form = copy.deepcopy(choices.one_of(starts()))
    for _ in range(choices.below(6)):
        moved(form, choices)
    position = ai.Position.from_json(form)
    for _ in range(choices.below(40)):
        if position.is_over:
            break
        position.state.check()
        try:
            if position.is_chance:
                position.draw(choices.below(256))
            else:
                actions = position.state.legal_actions() if position.viewer is None else position.legal_actions()
                position.push_action(text_of(position, choices.one_of(actions)))
        except MexicaAIError as error:
            assert error.reason in UNKNOWN, error
            break
    explore(position, dice_of(data))


def text_of(position, action):
    """Return the text of an action that may be an integer."""
    return action if isinstance(action, str) else registry.get(position.game).text.format_action(action)


def values_seeds():
    return [bytes([number]) + b"\0" * 8 for number in range(len(starts()))]


FACTORS = (0.0, -1.0, 1e-30, 1e-6, 0.5, 2.0, 1e3, 1e6, 1e12, 1e30, 3e38, -1e3, -1e30)


@door(values_seeds, mutated_raw, "mexica_ai/games/*/notation.py")
def values(data):
    """Weights with odd numbers that a file may hold: a search with them may be bad, but ends, with numbers."""
    choices = Choices(data)
    position = ai.Position.from_json(choices.one_of(starts()))
    spec = registry.get(position.game).learning.weights
    if spec is None or position.to_move is None or position.viewer not in (None, position.to_move):
        return
    arrays = registry.get(position.game).weights().arrays()
    for _ in range(1 + choices.below(3)):
        name, factor = choices.one_of(sorted(arrays)), np.float32(choices.one_of(FACTORS))
        flat = arrays[name].reshape(-1)
        where = choices.below(len(flat) + 1)
        with np.errstate(over="ignore"):
            flat[where - 1 if where else slice(None)] *= factor
    made = spec.make(arrays)
    search = Search(position.state, weights=made, memory_mb=1, seed=1)
    search.run(iterations=ITERATIONS)
    check_result(search.result(3))
