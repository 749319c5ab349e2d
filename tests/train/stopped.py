"""Folders of training runs that were stopped, for tests of how they go on."""


def stop(folder, stopped, kept, torn):
    """Copy the files `kept` of a finished run, and half of the lines of the file `torn`, the last one broken off."""
    for name in ["settings.json", *kept]:
        (stopped / name).write_bytes((folder / name).read_bytes())
    if torn:
        lines = (folder / torn).read_bytes().splitlines(keepends=True)
        half = len(lines) // 2
        (stopped / torn).write_bytes(b"".join(lines[:half]) + lines[half][:50])
