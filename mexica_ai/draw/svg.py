"""Elements of SVG as text: escaping, numbers, and the document around them."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable

TIMES = "\N{MULTIPLICATION SIGN}"
FONT = "'Segoe UI','Helvetica Neue',Arial,'DejaVu Sans',sans-serif"

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escape(text: object) -> str:
    """Return a text for an element or an attribute; characters that XML forbids are replaced."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", str(text)).translate(_ESCAPES)


def number(value: float) -> str:
    """Return a number with at most two digits after the point.

    Raises
    ------
    ValueError
        If it is not finite.
    """
    if not math.isfinite(value):
        raise ValueError(f"{value} in a picture; expected a finite number")
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")  # + 0.0: no -0


def element(name: str, *children: str, **attributes: object) -> str:
    """Return an element. Its children are elements; `attributes` are names with ``_`` for ``-``, None left out."""
    words = [name]
    for key, value in attributes.items():
        if value is not None:
            shown = number(value) if isinstance(value, float) else escape(value)
            words.append(f'{key.rstrip("_").replace("_", "-")}="{shown}"')
    start = " ".join(words)
    return f"<{start}>{''.join(children)}</{name}>" if children else f"<{start}/>"


def text(x: float, y: float, content: object, size: float, **attributes: object) -> str:
    """Return a text whose base line begins at a point, unless `text_anchor` says otherwise."""
    return element("text", escape(content), x=float(x), y=float(y), font_size=float(size), **attributes)


def group(children: Iterable[str], **attributes: object) -> str:
    """Return a group of elements, "" without any."""
    body = "".join(children)
    return element("g", body, **attributes) if body else ""


def path(points: Iterable[tuple[float, float]], *, closed: bool = True) -> str:
    """Return the data of a path along points."""
    steps = [f"{'ML'[bool(index)]}{number(x)} {number(y)}" for index, (x, y) in enumerate(points)]
    return "".join(steps) + "Z" * closed


def document(width: float, height: float, body: str, title: str) -> str:
    """Return a whole picture.

    Parameters
    ----------
    width, height : float
        In pixels at scale 1.
    body : str
        Elements. Where ``id="..."`` and ``url(#...)`` stand, a prefix made of the picture's content is set, so that two
        pictures in one page share none.
    title : str
        A description of the picture, for those who do not see it.
    """
    prefix = "p" + hashlib.sha256(body.encode()).hexdigest()[:10] + "-"
    body = body.replace(' id="', f' id="{prefix}').replace("url(#", f"url(#{prefix}")
    return element(
        "svg",
        element("title", escape(title)),
        body,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=float(width),
        height=float(height),
        role="img",
        font_family=FONT,
    )
