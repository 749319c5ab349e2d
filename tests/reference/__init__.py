"""Slow, obvious implementations of the rules, to test the compiled ones against."""
