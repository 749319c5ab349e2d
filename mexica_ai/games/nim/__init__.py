"""Nim outside the compiled core: a solved toy, and the smallest complete example of a game."""
