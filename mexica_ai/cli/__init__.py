"""The command line. `main.py` is the entry point; each subcommand has its own file; docs/cli.md describes all.

A subcommand's module has `SUMMARY` (one line), `DESCRIPTION`, `add_arguments(parser)` and `run(args)`, which
returns the exit code.
"""
