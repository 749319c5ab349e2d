"""The contract tests of games: what `mexica_ai.game.contract` and ``cext/core/contract/game.pxd`` ask for.

The author of a game runs ``testing.check(GAME)``, or the check of one part. Each plays random games by the rules and
looks at the states on the way. A fault raises an AssertionError, whose one line names the fault and the position.
Nothing but the standard library is needed to run them.

Every check takes the same arguments: the game; `starts`, the states in which the games begin (by default a new game for
each number of seats: give others with options, and those that play seldom reaches); `seed` of all that is random; and
`stride`: expensive checks look at every `stride`-th state only.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence

from cext.core.baselines.simple import determinize
from cext.core.contract.game import CHANCE, TERMINAL, State
from cext.core.contract.playout import random_playout
from cext.core.search.options import OPTIONS
from mexica_ai.game.compact import VERSION
from mexica_ai.game.contract import Game, try_parse
from mexica_ai.game.entry import MENU, Gain
from mexica_ai.io.errors import IllegalActionError, NotationError, PositionError, SearchError
from mexica_ai.testing.actions import check_features, check_ids, check_observations
from mexica_ai.testing.case import JUNK, SAMPLE, SEED, STRIDE, Case, Check, for_each_start
from mexica_ai.testing.reference import check_reference as check_reference
from mexica_ai.testing.teaching import look as _teaching
from mexica_ai.testing.words import check_words

# --- the compiled rules


def _facts(case: Case) -> None:
    rules = case.game.rules
    case.expect(rules.name == case.game.name, f"the rules are named {rules.name}")
    case.expect(rules.rules_version >= 1, f"rules_version is {rules.rules_version}; expected 1 or more")
    case.expect(rules.state_size % 64 == 0, f"state_size is {rules.state_size}; expected a multiple of 64")
    case.expect(2 <= rules.max_players <= 4, f"max_players is {rules.max_players}; expected 2 to 4")
    for name, value in rules.search_options.items():
        default, low, high = OPTIONS[name]
        case.expect(low <= value <= high, f"the search option {name} is {value}; expected {low} to {high}")
        case.expect(value != default, f"the search option {name} is the default, {value}; expected another value")


def _legal_actions(case: Case) -> None:
    for state, _ in case.walk():
        legal, is_turn = state.legal_actions(), state.current_player not in (CHANCE, TERMINAL)
        is_sorted = all(one < other for one, other in itertools.pairwise(legal))
        case.expect(is_sorted, "legal_actions are not ascending and unique", state)
        case.expect(len(legal) <= case.game.rules.max_actions, "there are more legal_actions than max_actions", state)
        case.expect(bool(legal) == is_turn, "legal_actions are empty where a seat is to move, or not elsewhere", state)
        for action in legal[:1] + legal[-1:]:
            case.expect(state.is_legal(action), f"is_legal denies {action:#x}, one of legal_actions", state)
        state.check()


def _illegal_actions(case: Case) -> None:
    earlier = {0, 1, 2**64 - 1}
    for state, _ in case.some():
        legal, before = state.legal_actions(), state.hash
        # Legal at other times, or one bit beside a legal one.
        candidates = case.rng.sample(sorted(earlier), min(SAMPLE, len(earlier)))
        candidates += [action ^ 1 << case.rng.randrange(64) for action in legal[:SAMPLE]]
        for action in set(candidates) - set(legal):
            if state.current_player == CHANCE and state.is_legal(action):
                continue  # an outcome of the random event
            play = functools.partial(state.apply, action)
            is_refused = not state.is_legal(action) and case.refused(play, IllegalActionError)
            case.expect(is_refused, f"{action:#x} is applied, which is not one of legal_actions", state)
        case.expect(state.hash == before, "an action that was refused changes the state", state)
        earlier.update(case.rng.sample(legal, min(SAMPLE, len(legal))))


def _copies(case: Case) -> None:
    for state, action in case.some():
        copy = state.copy()
        is_same = copy == state and (copy.hash, copy.turn, copy.round) == (state.hash, state.turn, state.round)
        case.expect(is_same, "a copy differs", state)
        if action is not None:
            before = case.fields(state)
            copy.apply(action)
            case.expect(copy != state and case.fields(copy) != before, f"{action:#x} changes nothing", state)
            case.expect(case.fields(state) == before, "an action of a copy changes the state itself", state)


def _hashes(case: Case) -> None:
    text_of: dict[int, str] = {}
    hash_of: dict[str, int] = {}
    for state, _ in case.some():
        legal = state.legal_actions()
        children = [state]
        for action in case.rng.sample(legal, min(SAMPLE, len(legal))):
            children.append(state.copy())
            children[-1].apply(action)
        for each in children:
            text, number = json.dumps(case.fields(each)), each.hash
            case.expect(text_of.setdefault(number, text) == text, "another position has the same hash", each)
            case.expect(hash_of.setdefault(text, number) == number, "the same position has had another hash", each)


def _returns(case: Case) -> None:
    for state, _ in case.walk():
        points = case.game.scores(state)
        case.expect(len(points) == state.num_players, "scores are not one for each seat", state)
        case.expect(points == state.scores(), "Game.scores differ from those of the rules", state)
        if not state.is_terminal:
            case.expect(case.refused(state.returns, SearchError), "returns come before the end", state)
    shares = state.returns()
    is_whole = len(shares) == state.num_players and all(0 <= share <= 1 for share in shares)
    case.expect(is_whole and abs(sum(shares) - 1) < 1e-6, f"returns are {shares}; expected shares of 1", state)


def _turns(case: Case) -> None:
    before, length = None, 0
    for state, action in case.walk():
        length += action is not None
        now = (state.turn, state.round, state.current_player)
        if before is not None:
            case.expect(now[0] >= before[0] and now[1] >= before[1], "turn or round has decreased", state)
            passed = (now[2] != before[2] and before[2] != CHANCE) or now[1] > before[1]
            case.expect(not passed or now[0] > before[0], "another seat is to move in the same turn", state)
        elif now[2] == CHANCE:
            continue
        before = now
    most = case.game.rules.max_game_length
    case.expect(length <= most, f"a game has {length} actions; expected max_game_length at most, {most}")


def _playouts(case: Case) -> None:
    one, other = random_playout(case.start, 7), random_playout(case.start, 7)
    case.expect(one[0] == other[0] and one[1] == other[1], "the same seed plays two different games", case.start)
    case.expect(one[0].is_terminal, "a random game does not end", case.start)
    state = case.start.copy()
    for action in one[1]:
        if state.current_player == CHANCE:
            break  # what is drawn is not among the actions
        case.expect(action in state.legal_actions(), f"the random player plays {action:#x}, which is not legal", state)
        state.apply(action)


def _chance(case: Case) -> None:
    for state, action in case.some():
        if state.current_player == CHANCE:
            one, other = state.copy(), state.copy()
            for each in (one, other):
                each.resolve_chance(3)
            case.expect(one == other, "the same seed resolves a random event in two ways")
            case.expect(one.current_player != CHANCE, "a random event is due again after it was resolved")
            one.check()
        elif action is not None:
            is_refused = case.refused(functools.partial(state.resolve_chance, 3), SearchError)
            case.expect(is_refused, "a random event is resolved where none is due", state)


def _worlds(case: Case) -> None:
    spec = case.game.learning.weights
    weights = None if spec is None else spec.load()
    for state, _ in case.some():
        for viewer in range(0 if state.is_terminal else state.num_players):
            world = state.copy()
            belief = case.rng.choice((0, 1))
            has_several = determinize(world, viewer, case.rng.getrandbits(63), weights=weights, belief=belief)
            world.check()
            case.expect(world.view_hash(viewer) == state.view_hash(viewer), "determinize changes what is seen", state)
            if viewer == state.current_player or case.game.views is None:
                case.expect(world.legal_actions() == state.legal_actions(), "determinize changes what is legal", state)
            same = (world.turn, world.round, world.scores()) == (state.turn, state.round, state.scores())
            case.expect(same, "determinize changes turn, round or scores", state)
            case.expect(has_several or world == state, "determinize says that nothing is hidden, and deals", state)
    for seat in (-1, case.start.num_players):
        is_refused = case.refused(functools.partial(case.start.view_hash, seat), ValueError)
        case.expect(is_refused, f"view_hash answers for seat {seat}")


check_rules = for_each_start(
    _facts, _legal_actions, _illegal_actions, _copies, _hashes, _returns, _turns, _playouts, _chance, check_ids,
    check_features, check_observations, _worlds,
)  # fmt: skip


# --- text


def _round_trips(case: Case) -> None:
    text = case.game.text
    for state in case.positions():
        data = case.fields(state)
        again = text.parse_position(data)
        case.expect(again == state and again.hash == state.hash, "parse_position reads another state", state)
        case.expect(again.legal_actions() == state.legal_actions(), "a position that was read has other actions", state)
        written = [list(text.format_position(each).items()) for each in (again, state)]
        case.expect(written[0] == written[1], "equal states are written differently", state)
        for action in state.legal_actions():
            spelt = text.format_action(action)
            case.expect(text.parse_action(spelt) == action, f"parse_action({spelt!r}) is not the action written", state)
        line = text.format_compact(data)
        case.expect(line.isascii() and line.isprintable(), f"format_compact gives {line!r}; expected one line", state)
        back = {"game": case.game.name, "version": VERSION, **text.parse_compact(line)}
        case.expect(back == data, "parse_compact does not give back what format_compact was given", state)
        case.expect(bool(case.game.board(state).strip()), "the board is empty", state)


def _played_on(case: Case) -> None:
    for state, action in case.some():
        if action is not None:
            again, expected = case.game.text.parse_position(case.fields(state)), state.copy()
            for each in (again, expected):
                each.apply(action)
            case.expect(again == expected, "a position that was read plays on in another way", state)


def _faulty_texts(case: Case) -> None:
    text, data = case.game.text, case.fields(case.start)
    changed = [{**data, key: junk} for key in data if key != "game" for junk in JUNK]
    changed += [{other: data[other] for other in data if other != key} for key in data if key != "game"]
    for given in [*changed, {**data, "unheard_of": 1}]:
        before = json.dumps(given)
        try:
            again = text.parse_position(given, "here")
        except (NotationError, PositionError) as error:
            paths = [error.path] if not error.violations else [one.path for one in error.violations]
            case.expect(all(path.startswith("here") for path in paths), f"an error of parse_position lies at {paths}")
        except Exception as error:
            raise AssertionError(f"{case.game.name}: parse_position raises {error!r} for {before}") from error
        else:
            is_kept = text.parse_position(case.fields(again)) == again
            case.expect(is_kept, f"parse_position reads {before}, but not what format_position makes of it")
        case.expect(json.dumps(given) == before, "parse_position changes what it is given")
    for reads, what in ((text.parse_action, "parse_action"), (text.parse_compact, "parse_compact")):
        for junk in JUNK if reads is text.parse_action else [junk for junk in JUNK if isinstance(junk, str)]:
            is_refused = False
            try:
                reads(junk)
            except NotationError:
                is_refused = True
            except Exception as error:
                raise AssertionError(f"{case.game.name}: {what} raises {error!r} for {junk!r}") from error
            case.expect(is_refused, f"{what} reads {junk!r}; expected a NotationError")


check_text = for_each_start(_round_trips, _played_on, _faulty_texts)


# --- the other parts


def _new_games(case: Case) -> None:
    starts = case.game.starts
    nothing = {option.name: None for option in starts.options}
    defaults = {
        option.name: list(option.default) if isinstance(option.default, tuple) else option.default
        for option in starts.options
    }
    for seed in range(3):
        one = starts.new_state(2, seed)
        case.expect(starts.new_state(2, seed) == one, "the same seed deals two different games")
        case.expect(starts.new_state(2, seed, **nothing) == one, "None is not the default of every option")
        case.expect(starts.new_state(2, seed, **defaults) == one, "an option has another default than it says")
    for players in (1, case.game.rules.max_players + 1, -1):
        is_refused = case.refused(functools.partial(starts.new_state, players, 1), PositionError)
        case.expect(is_refused, f"new_state deals a game for {players}; expected a PositionError")
    for name in ("players", *nothing):
        deal = functools.partial(starts.new_state, seed=1, **{"players": 2, name: "junk"})
        is_refused = case.refused(deal, NotationError)
        case.expect(is_refused, f'new_state takes {name}="junk"; expected a NotationError')


check_starts = for_each_start(_new_games)


def _views(case: Case) -> None:
    views, text = case.game.views, case.game.text
    if views is None:
        return
    found = failed = 0
    for state in case.positions():
        for viewer in range(state.num_players):
            full = case.fields(state)
            data = json.loads(json.dumps(views.view(case.fields(state), viewer)))
            view = text.parse_position(data)
            view.check()
            back = {"game": case.game.name, "version": VERSION, **text.parse_compact(text.format_compact(data))}
            case.expect(back == data, f"parse_compact does not give back the view of seat {viewer}", state)
            case.expect(case.fields(view) == data, f"the view of seat {viewer} is written in another way", state)
            case.expect(views.view(data, viewer) == data, f"the view of seat {viewer} has another view", state)
            # Where nothing is hidden a view may be the position itself.
            is_right = views.viewer(view) == (None if data == full else viewer) and views.viewer(state) is None
            case.expect(is_right, f"viewer names another seat for the view of {viewer}, or one for no view", state)
            same = view.view_hash(viewer) == state.view_hash(viewer) and view.current_player == state.current_player
            same = same and view.scores() == state.scores()
            case.expect(same, f"seat {viewer} sees something else in its view", state)
            if viewer == state.current_player:
                case.expect(view.legal_actions() == state.legal_actions(), "a seat cannot know what it may do", state)
            one, other = view.copy(), state.copy()
            same_deal = one.determinize(viewer, 5) == other.determinize(viewer, 5)
            case.expect(same_deal and one.view_hash(viewer) == other.view_hash(viewer), "views deal differently", state)
            for seat in (-1, state.num_players):
                is_refused = case.refused(functools.partial(views.view, case.fields(state), seat), PositionError)
                case.expect(is_refused, f"view answers for seat {seat}; expected a PositionError", state)
            spectators = views.view(data, None)
            is_right = spectators == views.view(case.fields(state), None) == views.view(spectators, None)
            case.expect(is_right, "a spectator sees something else in a view", state)
            is_right = case.fields(text.parse_position(spectators)) == spectators
            case.expect(is_right, "the view of a spectator is written in another way", state)
            if views.viewer(view) is None:
                continue
            try:
                world = views.world_of(view, case.rng.getrandbits(63))
            except PositionError as error:
                case.expect(error.reason == "NO_WORLD", f"world_of raises {error!r}", state)
                failed += 1
                continue
            found += 1
            world.check()
            case.expect(views.viewer(world) is None, "world_of gives no full position", state)
            seen = views.view(case.fields(world), viewer)
            for each in (seen, data):
                each.pop("memory", None)  # a drawn world has no past
            case.expect(seen == data, f"seat {viewer} sees something else in a world of its view", state)
    case.expect(failed <= found / 20, f"world_of finds no world for {failed} of {failed + found} views")


check_views = for_each_start(_views)


def _secrets(case: Case) -> None:
    for state in case.turns():
        shown = case.game.redact(case.fields(state))
        read = try_parse(case.game.text.parse_position, json.loads(json.dumps(shown)))
        case.expect(read is not None, "redact gives no valid position", state)
        legal = None if read is None else read.legal_actions()
        case.expect(legal == state.legal_actions(), "redact hides what the seat to move needs", state)
        again = case.game.redact(json.loads(json.dumps(shown)))
        case.expect(again == shown, "redact hides more of what it has redacted", state)
        case.expect(type(case.game.secrets.has_one_world(state)) is bool, "has_one_world is no bool", state)


check_secrets = for_each_start(_secrets)


def _events(case: Case) -> None:
    events, text = case.game.events, case.game.text
    for state, _ in case.walk():
        if state.current_player != CHANCE:
            continue
        case.expect(events is not None, "a random event is due, but the game has no events")
        if events is None or events.draw_outcome is None:
            continue  # the position says what comes
        before = case.fields(state)
        for seed in range(3):
            outcome = events.draw_outcome(state, seed)
            case.expect(events.draw_outcome(state, seed) == outcome, "the same seed draws two outcomes", state)
            spelt = text.format_action(outcome)
            case.expect(text.parse_action(spelt) == outcome, f"parse_action({spelt!r}) is not the outcome", state)
            case.expect(state.is_legal(outcome), f"the outcome {spelt} is not accepted as an action", state)
            applied, resolved = state.copy(), state.copy()
            applied.apply(outcome)
            resolved.resolve_chance(seed)
            case.expect(applied == resolved, f"{spelt} does not do what resolve_chance does", state)
        case.expect(case.fields(state) == before, "draw_outcome changes the state", state)


check_events = for_each_start(_events)


def _is_svg(text: str) -> bool:
    try:
        return ET.fromstring(text).tag.endswith("svg")
    except ET.ParseError:
        return False


def _pictures(case: Case) -> None:
    picture = case.game.picture
    tools = {tool.name: tool for tool in picture.tools}
    case.expect(len({tool.key for tool in picture.tools}) == len(picture.tools), "two tools have the same key")
    for state in itertools.islice(case.turns(), 0, None, 4):
        fields = case.fields(state)
        shown: set[str] = set()
        for parts in (picture.parts, picture.parts[:1]):
            if picture.draw is None:
                break
            drawn = picture.draw(fields, parts=parts, theme="page", targets=True)
            case.expect(_is_svg(drawn), f"the picture of {parts} is no SVG", state)
            shown |= set(re.findall('data-target="([^"]+)"', drawn))
        actions = map(case.game.text.format_action, state.legal_actions())
        entries = {action: picture.entry(action, fields) for action in actions}
        paths: dict[tuple[str, ...], str] = {}
        for action, entry in entries.items():
            case.expect(not tools or entry.tool in tools, f"{action} is entered by {entry.tool!r}, no tool", state)
            path = (entry.tool, *entry.paths)
            case.expect(path not in paths, f"{action} and {paths.get(path)} are entered alike", state)
            paths[path] = action
            missing = {target for target in entry.paths if not target.startswith(MENU)} - shown
            case.expect(not missing, f"{action} is entered at {sorted(missing)}, which the picture lacks", state)
        for path, action in paths.items():
            shorter = [path[:length] for length in range(1, len(path)) if path[:length] in paths]
            case.expect(not shorter, f"the entry of {action} continues that of another action", state)
        case.expect(picture.describe_targets(fields).keys() <= shown, "a target is described that is not drawn", state)
        if picture.draw is not None:
            faulty = {**fields, case.rng.choice(sorted(fields)): case.rng.choice(JUNK)}
            case.expect(_is_svg(picture.draw(faulty)), "the picture of a faulty position is no SVG")


check_picture = for_each_start(_pictures)


def _editors(case: Case) -> None:
    editor = case.game.editor
    if editor is None:
        return
    for state in case.positions():
        fields = case.fields(state)
        case.expect(json.loads(json.dumps(editor.palette(fields))) is not None, "the palette is no JSON", state)
        case.expect(case.fields(state) == fields, "the palette changes the position", state)
        for command in JUNK:
            is_refused = case.refused(functools.partial(editor.edit, fields, command), NotationError)
            case.expect(is_refused, f"the editor takes the command {command!r}", state)


check_editor = for_each_start(_editors)


def _reasons(case: Case) -> None:
    reasons, text = case.game.reasons, case.game.text
    for state, action in case.some():
        if action is None:
            continue
        before, spelt = case.fields(state), text.format_action(action)
        why = case.game.why_illegal(state, spelt)
        case.expect(why == "", f"why_illegal says of {spelt}, which is legal: {why}", state)
        after = state.copy()
        after.apply(action)
        effects = reasons.describe_effects(before, case.fields(after), state.current_player)
        is_text = isinstance(effects, list) and all(isinstance(effect, str) and effect for effect in effects)
        case.expect(is_text, f"describe_effects gives {effects!r}; expected clauses", state)
        for stocks in (before, reasons.stocks(state) if reasons.stocks else before):
            seat = stocks.get("seats", [{}] * state.num_players)[state.current_player]
            for key in reasons.spends:
                value = stocks.get(key, seat.get(key) if isinstance(seat, dict) else None)
                case.expect(type(value) in (int, float), f"actions cost {key}, which is no number", state)


check_reasons = for_each_start(_reasons)


def _clicks(case: Case) -> None:
    clicks, picture, text = case.game.clicks, case.game.picture, case.game.text
    names = [tool.name for tool in picture.tools]
    case.expect(all(verb.isidentifier() for verb in clicks.walks), f"walks are {clicks.walks!r}; expected verbs")
    for state in case.turns():
        fields = case.fields(state)
        for action in case.rng.sample(state.legal_actions(), min(SAMPLE, len(state.legal_actions()))):
            after = state.copy()
            after.apply(action)
            gain = clicks.gain(fields, text.format_action(action), functools.partial(case.fields, after))
            case.expect(isinstance(gain, Gain) and "\n" not in gain.words, f"{gain!r} is no gain", state)
        targets = sorted(picture.describe_targets(fields))
        for tool in (*names, "", "no such tool"):
            asked = case.rng.sample(targets, min(case.rng.randrange(4), len(targets)))
            for meant in clicks.meant(fields, tool, asked)[:SAMPLE]:
                why = case.game.why_illegal(state, meant)
                case.expect(isinstance(clicks.plain(why), str), f"the reason {why!r} has no plain words", state)
        case.expect(isinstance(clicks.wasted(fields), str), "what is wasted is not said in words", state)


check_clicks = for_each_start(_clicks)


def _learning(case: Case) -> None:
    learning, rules = case.game.learning, case.game.rules
    size = 0 if learning.schema is None else learning.schema.size
    case.expect(size == rules.observation_size, f"the schema has {size} numbers; expected {rules.observation_size}")
    size = 0 if learning.actions is None else learning.actions.size
    case.expect(size == rules.action_size, f"the schema of actions has {size} numbers; expected {rules.action_size}")
    has_weights = rules.weights_size > 0
    case.expect((learning.weights is not None) == has_weights, "weights lack their layout, or a layout its weights")
    if learning.varied is not None:
        varied = learning.varied(case.fields(case.start), case.rng)
        state = try_parse(case.game.text.parse_position, varied)
        case.expect(state is not None, "varied gives no valid position", case.start)


check_learning = for_each_start(_learning)


def _proposals(case: Case) -> None:
    proposals = case.game.proposals
    if proposals is None:
        return
    for state in case.turns():
        before, offered = state.hash, proposals.offered(state)
        case.expect(proposals.offered(state) == offered, "offered has no fixed order", state)
        for action in offered:
            case.game.text.parse_action(action)
        asked = case.rng.sample(offered, min(2, len(offered)))
        opinions = proposals.judge(state, asked)
        case.expect([one.action for one in opinions] == asked, f"judge does not answer {asked} one by one", state)
        for one in opinions:
            is_told = re.fullmatch("[A-Z][A-Z0-9_]*", one.reason) and one.explanation
            case.expect(bool(is_told), f"the opinion about {one.action} lacks its reason", state)
            for action in one.evidence:
                case.game.text.parse_action(action)
        case.expect(state.hash == before, "judge changes the state", state)


check_proposals = for_each_start(_proposals)

# Of each part of `Game`, by the name of its attribute.
CHECKS: dict[str, Check] = {
    "rules": check_rules,
    "text": check_text,
    "starts": check_starts,
    "views": check_views,
    "secrets": check_secrets,
    "events": check_events,
    "picture": check_picture,
    "editor": check_editor,
    "reasons": check_reasons,
    "clicks": check_clicks,
    "words": check_words,
    "learning": check_learning,
    "proposals": check_proposals,
    "teaching": for_each_start(_teaching),
}


def check(
    game: Game,
    starts: Sequence[State] | None = None,
    *,
    seed: int = SEED,
    stride: int = STRIDE,
    reference: Game | None = None,
) -> None:
    """Check all parts of a game; see the module for the arguments.

    Parameters
    ----------
    reference : Game, optional
        Another implementation, which is played in lockstep with it (`check_reference`).

    Raises
    ------
    AssertionError
        The game breaks its contract; the message says where. Errors of the game itself go through.
    """
    for one in CHECKS.values():
        one(game, starts, seed=seed, stride=stride)
    if reference is not None:
        check_reference(game, reference, starts, seed=seed)
