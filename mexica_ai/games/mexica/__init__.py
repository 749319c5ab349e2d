"""Mexica outside the compiled core: the board's facts, the text forms, what makes a position valid, and the text board."""
