"""Pages of the arena: the frame of an HTML file that needs nothing else, and its tables.

All that is put into a page goes through `text`, since names of engines and details of failures come from others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from mexica_ai.draw import palette
from mexica_ai.io import terminal

SEAT_MARKS = "▲●■◆"
_STYLE = """
:root { --s0: #c8421c; --s1: #34479c; --s2: #0b8068; --s3: #b07f00; }
@media (prefers-color-scheme: dark) {
  :root { --s0: #ef7a56; --s1: #93a4f0; --s2: #45c2a5; --s3: #f0b51c; } }
body { margin: 0 auto; padding: 1rem; max-width: 78rem; background: var(--paper); color: var(--ink);
  font: 16px/1.45 "Segoe UI", "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; }
a { color: inherit; } h1 { margin: .2rem 0 .6rem; } h2 { margin-top: 2rem; }
p { max-width: 62rem; overflow-wrap: anywhere; } .soft { color: var(--soft); }
.warn { border-left: 4px solid var(--s0); padding-left: .6rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--soft); font-weight: 600; } td.n, th.n { text-align: right; white-space: nowrap; }
.name { overflow-wrap: anywhere; min-width: 9rem; } td svg { display: block; }
pre { overflow-x: auto; font: 13px/1.3 "DejaVu Sans Mono", monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
pre.board { white-space: pre; font: 12px/1.2 "DejaVu Sans Mono", monospace; }
figure { margin: 0; overflow-x: auto; } figure svg { max-width: 100%; height: auto; }
figure.chart svg { min-width: 34rem; }
.s0 { color: var(--s0); } .s1 { color: var(--s1); } .s2 { color: var(--s2); } .s3 { color: var(--s3); }
.seat { white-space: nowrap; }
"""


class Html(str):
    """A text that is HTML already."""

    __slots__ = ()


def text(value: object) -> str:
    """Return a value as HTML: a text of others on one line, with escapes for all that cannot be seen."""
    return value if isinstance(value, Html) else escape(terminal.escape(str(value)))


def page(title: str, parts: Iterable[str], *, refresh_s: int | None = None) -> str:
    """Return a whole page.

    Parameters
    ----------
    title : str
    parts : iterable of str
        HTML.
    refresh_s : int, optional
        Every how many seconds a browser loads it again.
    """
    refresh = f'<meta http-equiv="refresh" content="{refresh_s}">' if refresh_s else ""
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">{refresh}'
        f"<title>{text(title)}</title><style>{palette.style_sheet()}\n{_STYLE}</style></head>\n<body>\n"
        f"<h1>{text(title)}</h1>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    numbers: Sequence[int] = (),
    wide: Sequence[int] = (0,),
) -> Html:
    """Return a table; texts are escaped. `numbers` are the columns that are set to the right, `wide` those of texts."""

    def line(cells: Sequence[object], tag: str) -> str:
        classes = [
            " class=n" if column in numbers else " class=name" if column in wide else "" for column in range(len(cells))
        ]
        parts = (f"<{tag}{kind}>{text(cell)}" for kind, cell in zip(classes, cells, strict=True))
        return f"<tr>{''.join(parts)}"

    body = "\n".join(line(row, "td") for row in rows)
    return Html(f"<div class=wide><table><thead>{line(head, 'th')}</thead><tbody>\n{body}</tbody></table></div>")


def chart(picture: str) -> Html:
    """Return a picture in a frame that scrolls where the screen is narrow."""
    return Html(f"<figure class=chart>{picture}</figure>")


def paragraph(words: str, kind: str = "") -> Html:
    """Return a paragraph of a text."""
    return Html(f"<p{f' class={kind}' if kind else ''}>{text(words)}</p>")


def heading(words: str, level: int = 2) -> Html:
    """Return a heading."""
    return Html(f"<h{level}>{text(words)}</h{level}>")


def seat(number: int, words: str = "") -> Html:
    """Return the mark of a seat in its colour, and a text behind it."""
    mark = f"<span class='s{number}'>{SEAT_MARKS[number]}</span>&nbsp;"
    return Html(mark + text(words) if words else f"<span class=seat>{mark}seat {number}</span>")


def link(target: str, words: str) -> Html:
    """Return a link to a page of ours."""
    return Html(f'<a href="{escape(target)}">{text(words)}</a>')
