"""Training: new weights of a game from those in use, by self-play.

Start with `pipeline`, whose steps are in modules of their own: games (`selfplay`, which begin at `starts`) and walks
off their paths (`probes`) in files that stopped runs can continue (`job_file`), the fits of the `value` and of the
`policy`, and the `match` against the weights in use. `positions` says which games a fit may see. `export` is apart: it
makes data of games for other programs. docs/training.md describes the whole.
"""
