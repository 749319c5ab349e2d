"""Search results as plain text, folded to the width of the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from mexica_ai.analysis.results import Candidate, Result
from mexica_ai.io import terminal

MIN_TURN_COLUMNS = 30  # a narrower column of turns is put below the rows
INDENT = "     "


def format_turn(turn: Sequence[str]) -> str:
    """Return a turn as one line of text."""
    return "; ".join(turn)


def format_candidates(candidates: Sequence[Candidate]) -> list[str]:
    """Return the lines of a table of candidates, best first; values (with their largest error) and scores by seat.

    A turn that is too long goes on below, in its column if that is wide enough.
    """
    rows = [["", "visits", "value", "score", "turn"]]
    for rank, candidate in enumerate(candidates, 1):
        rows.append(
            [
                f"{rank}",
                f"{candidate.visits}",
                _numbers(candidate.value, ".3f") + _error(candidate),
                _numbers(candidate.expected_scores, ".1f"),
            ]
        )
    rows[0].pop()
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    heads = [
        "  ".join(
            [row[0].rjust(widths[0]), row[1].rjust(widths[1]), row[2].ljust(widths[2]), row[3].ljust(widths[3]), ""]
        )
        for row in rows
    ]
    columns, margin = terminal.width(), " " * len(heads[0])
    longest = max((len(format_turn(candidate.turn)) for candidate in candidates), default=0)
    has_room = columns - len(margin) >= min(longest, MIN_TURN_COLUMNS)
    lines = [heads[0] + "turn" if has_room else heads[0].rstrip() + "  turn"]
    for head, candidate in zip(heads[1:], candidates, strict=True):
        if has_room:
            lines += terminal.wrap_turn(candidate.turn, columns, head, margin + "  ")
        else:
            lines += [head.rstrip(), *terminal.wrap_turn(candidate.turn, columns, INDENT, INDENT + "  ")]
    return lines


def _error(candidate: Candidate) -> str:
    """Return the largest standard error of the shares of a candidate, empty if there is none."""
    return f" \N{PLUS-MINUS SIGN}{max(candidate.value_error):.3f}" if candidate.value_error else ""


def explain_choice(candidates: Sequence[Candidate], seat: int) -> str:
    """Return why the first candidate is chosen where another one has the higher value; empty if none has.

    Parameters
    ----------
    candidates : sequence of Candidate
        Of a result.
    seat : int
        The seat to move.
    """
    if not all(candidate.value for candidate in candidates):  # not every engine tells values
        return ""
    chosen = candidates[0]
    rank, best = max(enumerate(candidates, 1), key=lambda item: item[1].value[seat])
    # A level below the highest plays another turn than the most visited one.
    if best.value[seat] <= chosen.value[seat] or chosen.visits < max(other.visits for other in candidates):
        return ""
    return (
        f"Number {rank} has a higher value for seat {seat} ({best.value[seat]:.3f} to {chosen.value[seat]:.3f}), but "
        f"visits decide ({chosen.visits} to {best.visits}): the search returned most often to the turn that held up, "
        "and a value of fewer visits is less sure."
    )


def format_statistics(result: Result) -> list[str]:
    """Return the lines of the statistics of a search."""
    speed = f" ({result.iterations / result.seconds:.0f}/s)" if result.seconds > 0 else ""
    ended = f"ended by: {terminal.shorten(result.stop_reason)}" if result.stop_reason else "searching"
    if result.stop_reason and result.is_fallback:
        ended = f"not searched, {ended}"
    counts = f"{result.iterations} iterations in {result.seconds:.2f} s{speed}, {result.nodes} nodes, "
    parts = [counts + f"{result.distinct_turns} distinct turns", f"{ended}; seed {result.seed}"]
    return terminal.wrap_turn(parts, terminal.width())


def format_expected_line(result: Result) -> list[str]:
    """Return the lines of the principal variation after the best turn, indented; empty if there is none."""
    line = result.candidates[0].line if result.candidates else []
    return [text for turn in line for text in terminal.wrap_turn(turn, terminal.width(), "  ", "    ")]


def format_best(result: Result, seat: int) -> list[str]:
    """Return the lines that name the best turn."""
    return terminal.wrap_turn(result.turn, terminal.width(), f"Best turn of seat {seat}: ", "  ")


def _numbers(values: Sequence[float], form: str) -> str:
    return " ".join(format(value, form) for value in values) or "-"
