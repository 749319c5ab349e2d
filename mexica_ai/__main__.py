"""The command `mexica-ai`, also `python -m mexica_ai`: Ctrl-C while modules are imported ends it as it does later."""

import os
import signal
import sys

EXIT_INTERRUPTED = 130


def main() -> int:
    """Run the command line and return its exit code."""
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # a script's `command &` ignores it
    if is_default:
        signal.signal(signal.SIGINT, _leave)
    from mexica_ai.cli.commands import import_named
    from mexica_ai.cli.main import main as run

    import_named(sys.argv[1:])
    if is_default:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return run()


def _leave(_signal: int, _frame: object) -> None:
    """End the process. An exception would leave modules half imported, whose own errors would be shown."""
    try:
        os.write(sys.stderr.fileno(), b"mexica-ai: interrupted\n")
    finally:  # also where standard error is closed or full
        os._exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
