"""The report of an annotated game: one HTML file with the win shares, the worst turns as boards, and all turns.

`report` is the main function. The file is self-contained. Its short script sorts the table, and highlights the turn
that was clicked.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from mexica_ai.analysis.annotate import NOTE, TurnEvaluation, seat_turns
from mexica_ai.analysis.grades import MARKS, PHASES, describe_turning_points, seat_accuracies
from mexica_ai.analysis.ledger import accounts_of, describe_accounts
from mexica_ai.analysis.luck import EventWorth, events_in
from mexica_ai.draw import palette, shares
from mexica_ai.game.position import Position
from mexica_ai.game.position_text import TURN_SEPARATOR
from mexica_ai.io.errors import NotationError

WORST = 5  # turns drawn as boards, unless said otherwise
SEAT_MARKS = "▲●■◆"

_STYLE = """
:root { --s0: #c8421c; --s1: #34479c; --s2: #0b8068; --s3: #b07f00; --now: #ffe14d66; }
@media (prefers-color-scheme: dark) {
  :root { --s0: #ef7a56; --s1: #93a4f0; --s2: #45c2a5; --s3: #f0b51c; --now: #ffe14d33; } }
body { margin: 0 auto; padding: 1rem; max-width: 78rem; background: var(--paper); color: var(--ink);
  font: 16px/1.45 "Segoe UI", "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; }
a { color: inherit; } h2 { margin-top: 2rem; } p.note, figcaption { color: var(--soft); max-width: 62rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
td.n, th.n { text-align: right; white-space: nowrap; } th button { all: unset; cursor: pointer; }
tr:target, tr.now { background: var(--now); } tr[data-turn] { cursor: pointer; } tr.best { color: var(--soft); }
.boards { display: flex; flex-wrap: wrap; gap: 1rem; } .boards figure { margin: 0; flex: 1 1 30rem; min-width: 0;
  background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .6rem; }
.boards svg { width: 100%; height: auto; }
pre { overflow: auto; margin: 0; font: 12px/1.2 "DejaVu Sans Mono", monospace; }
section.turn { scroll-margin-top: .5rem; } body > svg { width: 100%; height: auto; } svg a:hover { opacity: .7; }
.s0 { --seat: var(--s0); } .s1 { --seat: var(--s1); } .s2 { --seat: var(--s2); }
.s3 { --seat: var(--s3); } .seat { color: var(--seat); white-space: nowrap; }
"""
_SCRIPT = """
const body = document.querySelector("#turns tbody"), by = key => (a, b) => key(a.dataset) - key(b.dataset);
const show = () => { const at = location.hash.match(/^#(?:turn|boards)-([0-9]+)$/); for (const one of
  document.querySelectorAll("[data-turn]")) one.classList.toggle("now", !!at && one.dataset.turn === at[1]); };
document.querySelectorAll("th button").forEach(one => one.onclick = () => body.append(...[...body.rows].sort(
  one.value === "loss" ? by(row => -row.loss) : by(row => row.turn))));
body.onclick = event => { const row = event.target.closest("tr"), id = "boards-" + row.dataset.turn;
  if (!event.target.closest("a")) location.hash = document.getElementById(id) ? id : "turn-" + row.dataset.turn; };
addEventListener("hashchange", show); show();
"""


def report(
    record: dict[str, Any],
    evaluations: Sequence[TurnEvaluation],
    events: Sequence[EventWorth] | None = None,
    *,
    worst: int = WORST,
) -> str:
    """Return the HTML report of a game.

    Parameters
    ----------
    record : dict
        A record that `mexica_ai.analysis.annotate.check_played` accepts.
    evaluations : sequence of TurnEvaluation
        Of any of its turns, in their order.
    events : sequence of EventWorth, optional
        What its random events were worth; found here if it is not given.
    worst : int
        How many of the turns that lost most are drawn: the turn played and the engine's side by side.
    """
    losing = sorted((one for one in evaluations if one.loss > 0), key=lambda one: -one.loss)[:worst]
    shown = {one.turn_index for one in losing}
    positions = _positions(record, shown)
    title = f"{record['game'].capitalize()}: review of a game"
    parts = [
        f"<h1>{escape(title)}</h1>",
        _summary(record, evaluations),
        _course(record, evaluations, events_in(record) if events is None else events),
        "<h2>Share of the win</h2>",
        shares.draw_shares(
            graph_turns(record, evaluations), players=record["start"]["players"], theme="page", link="#turn-{}"
        ),
        "<p class=note>The lines are each seat's expected share of the win after each turn; the bars below are what "
        "the mover gave away. A click leads to the turn. Turns that were not evaluated are gaps.</p>",
        "<h2>The worst turns</h2>" if losing else "<p>No turn gave anything away.</p>" if evaluations else "",
        *(_boards(one, positions[one.turn_index]) for one in losing),
        "<h2>All turns</h2>",
        f"<p class=note>{escape(NOTE)}</p>",
        _table(evaluations, shown),
    ]
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<title>{escape(title)}</title><style>{palette.style_sheet()}\n{_STYLE}</style></head>\n<body>\n"
        + "\n".join(parts)
        + f"\n<script>{_SCRIPT}</script></body></html>\n"
    )


def _positions(record: dict[str, Any], indices: set[int]) -> dict[int, Position]:
    """Return the positions before the turns with these indices."""
    position = Position.from_json(record["start"])
    positions: dict[int, Position] = {}
    for index, turn in enumerate(record["turns"]):
        if index in indices:
            positions[index] = position.copy()
        position.push(turn)
    return positions


def _seat(seat: int) -> str:
    return f'<span class="seat s{seat}">{SEAT_MARKS[seat]} seat {seat}</span>'


def _turn(turn: list[str]) -> str:
    return escape(TURN_SEPARATOR.join(turn))


def _summary(record: dict[str, Any], evaluations: Sequence[TurnEvaluation]) -> str:
    rows = []
    players, engines = record["start"]["players"], record.get("engines")
    accuracies = seat_accuracies(evaluations, len(record["turns"]))
    for seat in range(players):
        own = [one for one in evaluations if one.seat == seat]
        losses = [one.loss for one in own]
        marks = [MARKS[one.grade] for one in own]
        total, phases = accuracies.get(seat, (None, dict.fromkeys(PHASES)))
        parts = "".join(f"<td class=n>{_whole(part)}" for part in (total, *phases.values()))
        mean = f"{sum(losses) / len(losses):.3f}" if losses else "-"
        score = record["scores"][seat] if record.get("scores") else "-"
        won = " (won)" if seat in (record.get("winners") or ()) else ""
        name = escape(engines[seat]) if engines else ""
        rows.append(
            f"<tr><td>{_seat(seat)}<td>{name}<td class=n>{score}{won}<td class=n>{len(losses)}<td class=n>{mean}"
            f"<td class=n>{marks.count('?!')}<td class=n>{marks.count('?')}<td class=n>{marks.count('??')}{parts}"
        )
    return (
        "<table><thead><tr><th>seat<th>engine<th class=n>points<th class=n>turns<th class=n>mean loss"
        "<th class=n>?!<th class=n>?<th class=n>??<th class=n>accuracy"
        + "".join(f"<th class=n>{phase}" for phase in PHASES)
        + "</thead><tbody>"
        + "".join(rows)
        + "</tbody></table>"
    )


def _whole(number: float | None) -> str:
    return "-" if number is None else f"{number:.0f}"


def _course(record: dict[str, Any], evaluations: Sequence[TurnEvaluation], events: Sequence[EventWorth]) -> str:
    """Return the turning points of the game, and what turns and luck did for each seat."""
    text = f"<p>{escape(describe_turning_points(evaluations))}</p>"
    if accounts := accounts_of(record, evaluations, events):
        text += "<p>From the first share of the win to the result, in percentage points:</p><ul>"
        text += "".join(f"<li>{escape(line)}</li>" for line in describe_accounts(accounts)) + "</ul>"
    return text


def graph_turns(record: dict[str, Any], evaluations: Sequence[TurnEvaluation]) -> list[shares.Turn]:
    """Return the turns of the graph of a game: its lines have gaps where a turn of a seat was not evaluated."""
    order = {index: number for number, index in enumerate(seat_turns(record))}
    turns: list[shares.Turn] = []
    last = -2
    for one in evaluations:
        is_next = order[one.turn_index] == last + 1
        last = order[one.turn_index]
        before = None if is_next else one.before
        label = TURN_SEPARATOR.join(one.turn)
        turns.append(shares.Turn(one.turn_index + 1, one.seat, one.after, one.loss, label, one.mark, before))
    return turns


def _boards(one: TurnEvaluation, position: Position) -> str:
    number, seat = one.turn_index + 1, one.seat
    what = one.grade or "a turn"
    why = f"<p>{escape(' '.join(one.explanation))}</p>" if one.explanation else ""
    return (
        f'<section class=turn id="boards-{number}"><h3>Turn {number}, {_seat(seat)}: {what} that lost {one.loss:.3f} '
        f"{one.mark}</h3><div class=boards>"
        f"<figure>{_board(position, one.turn)}<figcaption>Played: {_turn(one.turn)}</figcaption></figure>"
        f"<figure>{_board(position, one.choice)}<figcaption>Better: {_turn(one.choice)}</figcaption></figure>"
        f"</div>{why}<p class=note>Expected points after it {_numbers(one.expected_scores_after)}, before it "
        f'{_numbers(one.expected_scores_before)} by seat. <a href="#turn-{number}">Row of the table</a></p></section>'
    )


def _board(position: Position, turn: list[str]) -> str:
    """Return the picture of the position after a turn, or its text where the game has no picture."""
    try:
        return position.svg(turn=turn, theme="page")
    except NotationError:
        after = position.copy()
        after.push(turn)
        return f"<pre>{escape(str(after).rstrip())}</pre>"


def _table(evaluations: Sequence[TurnEvaluation], shown: set[int]) -> str:
    rows = []
    for one in evaluations:
        number, seat = one.turn_index + 1, one.seat
        link = f' <a href="#boards-{number}">boards</a>' if one.turn_index in shown else ""
        better = "" if one.choice == one.turn else f"<br><small>engine: {_turn(one.choice)}</small>"
        rows.append(
            f'<tr id="turn-{number}" data-turn="{number}" data-loss="{one.loss}"><td class=n>{number}<td>{_seat(seat)}'
            f"<td class=n>{one.before[seat]:.3f} → {one.after[seat]:.3f}<td class=n>{one.loss:.3f} {one.mark}"
            f"<td class=n>{_numbers(one.scores, 'g')}<td>{_turn(one.turn)}{link}{better}"
        )
    return (
        '<table id="turns"><thead><tr><th class=n><button value=turn title="sort by turn">turn ↕</button><th>seat'
        "<th class=n>share of the win<th class=n>"
        '<button value=loss title="sort by loss">loss ↕</button><th class=n>points'
        "<th>turn; below it the engine's, if different</thead><tbody>" + "\n".join(rows) + "</tbody></table>"
    )


def _numbers(values: list[float], form: str = ".1f") -> str:
    return " ".join(format(value, form) for value in values)
