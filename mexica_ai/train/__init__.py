"""Fitting a game on self-play: games (`selfplay`), `positions`, the evaluation (`fit`), the `priors`."""
