"""The command line. `main.py` is the entry point, `commands.py` lists the subcommands; docs/cli.md describes all.

Each subcommand has a module of its own, with `DESCRIPTION`, `add_arguments(parser)` and `run(args)`, which returns the
exit code.
"""
