"""All colours of pictures, for light and dark paper."""

from __future__ import annotations

THEMES = ("light", "dark", "page")

# Name: light, dark.
COLORS: dict[str, tuple[str, str]] = {
    "paper": ("#fbf7ec", "#1d1915"),
    "card": ("#ffffff", "#2a241d"),
    "line": ("#e2d6b8", "#40382d"),
    "ink": ("#35271a", "#efe6d6"),
    "soft": ("#6f5d47", "#b9a98f"),
    "lake": ("#79b8c8", "#2a5563"),
    "shallows": ("#8cc6d2", "#336675"),
    "canal": ("#5aa3bd", "#2f7590"),
    "bank": ("#3f7f98", "#173844"),
    "land": ("#efe3c3", "#cdbd95"),
    "shore": ("#fbf4de", "#a8976c"),
    "palace": ("#d9bf94", "#b89c6c"),
    "seat0": ("#c8421c", "#c8421c"),
    "seat1": ("#34479c", "#34479c"),
    "seat2": ("#0b8068", "#0b8068"),
    "seat3": ("#f0b51c", "#f0b51c"),
    "neutral": ("#8d877d", "#8d877d"),
    "course0": ("#c8421c", "#ef7a56"),
    "course1": ("#34479c", "#93a4f0"),
    "course2": ("#0b8068", "#45c2a5"),
    "course3": ("#b07f00", "#f0b51c"),
    "rim0": ("#7d2309", "#7d2309"),
    "rim1": ("#1b2660", "#1b2660"),
    "rim2": ("#064a3c", "#064a3c"),
    "rim3": ("#7a5600", "#7a5600"),
    "rimneutral": ("#55514a", "#55514a"),
    "on0": ("#ffffff", "#ffffff"),
    "on1": ("#ffffff", "#ffffff"),
    "on2": ("#ffffff", "#ffffff"),
    "on3": ("#2a1c00", "#2a1c00"),
    "onneutral": ("#ffffff", "#ffffff"),
    "tint0": ("#f0b79b", "#dd9a7c"),
    "tint1": ("#b3bce6", "#98a4db"),
    "tint2": ("#9fd3bd", "#84bfa6"),
    "tint3": ("#fbe08d", "#e2c66c"),
    "tintneutral": ("#cfcac2", "#a9a49b"),
    "calpulli": ("#d99a34", "#d99a34"),
    "calpullirim": ("#7c4d10", "#7c4d10"),
    "calpulliink": ("#35271a", "#35271a"),
    "wood": ("#a8713a", "#a8713a"),
    "woodrim": ("#5f3b17", "#5f3b17"),
    "mark": ("#1c1712", "#1c1712"),
    "edge": ("#1c1712", "#a4937c"),
    "glow": ("#ffe14d", "#ffe14d"),
    "landink": ("#6f5d47", "#4a3c2a"),
    "Y": ("#f4c430", "#f4c430"),
    "R": ("#bf3119", "#bf3119"),
    "K": ("#37322f", "#37322f"),
    "G": ("#5fbb70", "#5fbb70"),
    "B": ("#2f5fc0", "#2f5fc0"),
    "onY": ("#2a1c00", "#2a1c00"),
    "onR": ("#ffffff", "#ffffff"),
    "onK": ("#ffffff", "#ffffff"),
    "onG": ("#10240f", "#10240f"),
    "onB": ("#ffffff", "#ffffff"),
    "table": ("#e8eee0", "#26302a"),
    "corn": ("#e2b53c", "#e2b53c"),
    "stone": ("#9aa0a6", "#9aa0a6"),
    "gold": ("#f0b51c", "#f0b51c"),
    "skull": ("#4fa3b5", "#4fa3b5"),
}


def style_sheet() -> str:
    """Return CSS that colours pictures of the theme ``page``: light, or dark where the reader prefers that."""
    colors = [f"--{name}: light-dark({light}, {dark});" for name, (light, dark) in COLORS.items()]
    rules = [f".fill-{name} {{ fill: var(--{name}); }} .stroke-{name} {{ stroke: var(--{name}); }}" for name in COLORS]
    return "\n".join(
        [
            f":root {{ color-scheme: light dark; {' '.join(colors)} }}",
            ".fill-none:not([fill]) { fill: none; }",  # stripes have a pattern of their own
            *rules,
        ]
    )


class Paint:
    """The colours of one theme, as attributes of elements.

    Parameters
    ----------
    theme : str
        light, dark, or page: then classes such as ``fill-lake``, which a style sheet colours.
    """

    def __init__(self, theme: str = "light") -> None:
        if theme not in THEMES:
            raise ValueError(f"theme: given {theme!r}; expected one of {', '.join(THEMES)}")
        self._theme = theme

    def __call__(self, fill: str | None = None, stroke: str | None = None, width: float = 1.0) -> dict[str, object]:
        """Return the attributes that fill and stroke an element with named colours; None: not."""
        found: dict[str, object] = {}
        if self._theme == "page":
            names = [f"fill-{fill or 'none'}"]
            if stroke:
                names.append(f"stroke-{stroke}")
            found["class_"] = " ".join(names)
        else:
            index = THEMES.index(self._theme)
            found["fill"] = COLORS[fill][index] if fill else "none"
            if stroke:
                found["stroke"] = COLORS[stroke][index]
        if stroke:
            found["stroke_width"] = float(width)
        return found
