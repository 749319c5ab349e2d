"""Search results as plain text, the same on a terminal and in a file."""

from __future__ import annotations

from collections.abc import Sequence

from mexica_ai.results import Candidate, Result

WIDTH = 80  # of wrapped text


def format_turn(turn: Sequence[str]) -> str:
    """Return a turn as one line of text."""
    return "; ".join(turn)


def format_candidates(candidates: Sequence[Candidate]) -> list[str]:
    """Return the lines of a table of candidates, best first; values and scores are listed by seat."""
    rows = [["", "visits", "value", "score", "turn"]]
    for rank, candidate in enumerate(candidates, 1):
        rows.append(
            [
                f"{rank}",
                f"{candidate.visits}",
                _numbers(candidate.value, ".3f"),
                _numbers(candidate.expected_scores, ".1f"),
                format_turn(candidate.turn),
            ]
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            [
                row[0].rjust(widths[0]),
                row[1].rjust(widths[1]),
                row[2].ljust(widths[2]),
                row[3].ljust(widths[3]),
                row[4],
            ]
        ).rstrip()
        for row in rows
    ]


def format_statistics(result: Result) -> str:
    """Return one line with the statistics of a search."""
    speed = f" ({result.iterations / result.seconds:.0f}/s)" if result.seconds > 0 else ""
    ended = f"ended by: {result.stop_reason}" if result.stop_reason else "searching"
    return (
        f"{result.iterations} iterations in {result.seconds:.2f} s{speed}, {result.nodes} nodes, "
        f"{result.distinct_turns} distinct turns; {ended}; seed {result.seed}"
    )


def format_expected_line(result: Result) -> list[str]:
    """Return the principal variation after the best turn, one turn per line; empty if there is none."""
    return [format_turn(turn) for turn in result.candidates[0].line] if result.candidates else []


def _numbers(values: Sequence[float], form: str) -> str:
    return " ".join(format(value, form) for value in values) or "-"
