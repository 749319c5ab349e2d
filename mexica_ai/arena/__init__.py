"""The arena: tournaments between engines, with statistics that can be trusted.

Read in this order: `tournament` (who plays whom, on which seats, with which seeds), `play` (one game),
`journal` (the file of finished games), `pool` (processes that play), `runner` (the main loop), `outcomes` and
`statistics` (what the games say), `report` and `plot` (for people and programs). The command is
`mexica_ai.cli.arena`; docs/arena.md describes it.
"""
