"""The board of Tzolk'in as text."""


def render(state):
    return ""
