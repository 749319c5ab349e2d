"""Training: fitting the evaluation and the priors of a game to self-play.

Start with `recipe`, whose functions are the steps. Below it: games (`selfplay`) and walks off their paths (`probes`) in
files that stopped runs can continue (`job_file`), samples of them (`positions`), the fits of the network (`fit`) and of
the `priors`, and what a game's authors add to a fit (`corrections`). docs/training.md has an example.
"""
