"""The command line: `main.py` is the entry, every subcommand has a file of its own; docs/cli.md is the
reference.

A subcommand's module has `SUMMARY` (one line), `DESCRIPTION`, `add_arguments(parser)` and `run(args) -> exit
code`.
"""
