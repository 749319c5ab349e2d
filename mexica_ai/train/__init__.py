"""Fitting a game's evaluation on self-play: games (`selfplay`), positions (`positions`), the fit (`fit`)."""
