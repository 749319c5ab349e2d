"""Tzolk'in outside the compiled core: names and facts, the text forms, valid positions, the text board."""
