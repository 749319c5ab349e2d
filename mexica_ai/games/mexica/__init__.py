"""Mexica outside the compiled core: the board's facts, the text forms, valid positions, the text board."""
