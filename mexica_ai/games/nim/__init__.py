"""The Python half of nim: a solved toy, and the smallest complete example of a game."""
