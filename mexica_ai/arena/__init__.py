"""The arena: tournaments between engines, and their statistics.

Read in this order: `tournament` (the schedule: engines, seats and seeds of each game), `play` (one game),
`journal` (the file of finished games), `pool` (worker processes), `runner` (the main loop), `outcomes` and
`statistics` (estimates from the games), `report` and `plot` (output). The command is `mexica_ai.cli.arena`;
docs/arena.md describes it; `evaluation` rates a policy from Python.
"""
