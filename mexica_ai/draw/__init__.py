"""Pictures as SVG: what all games and plots share. The picture of a game is in ``mexica_ai/games/GAME/draw.py``.

A picture for a file has presentation attributes only: no styles, no scripts, nothing from elsewhere. With the theme
``page`` it has classes in place of colours, which a style sheet gives.
"""
