"""Processor cores for games that are played at the same time: each game keeps some for itself (Linux).

Programs that a game starts inherit its cores, so two games never take each other's time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from mexica_ai.io.errors import SearchError

MAX_CPU = 1 << 16
_SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


def parse_cpus(text: str) -> tuple[int, ...]:
    """Read "all", which is empty, or numbers of processors and ranges of them, such as 0,2,4-7.

    Raises
    ------
    ValueError
        With the expected form.
    """
    if text == "all":
        return ()
    cpus: list[int] = []
    for word in text.split(","):
        match = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?", word.strip(), re.ASCII)
        if not match or int(match[2] or match[1]) < int(match[1]) or int(match[2] or match[1]) > MAX_CPU:
            raise ValueError("all, or numbers of processors and ranges, such as 0,2,4-7")
        cpus += range(int(match[1]), int(match[2] or match[1]) + 1)
    return tuple(dict.fromkeys(cpus))


def share_cpus(asked: tuple[int, ...], concurrency: int) -> list[frozenset[int]]:
    """Return the processors of each of the games that are played at the same time.

    All get equally many. If there are enough cores, each gets whole ones: two processors of one core (hyperthreads)
    are never those of two games.

    Parameters
    ----------
    asked : tuple of int
        Those that may be used; empty for all that this process may use.
    concurrency : int

    Raises
    ------
    SearchError
        Not on Linux (reason UNSUPPORTED), a processor that this process may not use, or more games than processors
        (BAD_AFFINITY).
    """
    if not hasattr(os, "sched_getaffinity"):
        raise SearchError(
            "--affinity: this system cannot bind processes to processors; it needs Linux", reason="UNSUPPORTED"
        )
    usable = os.sched_getaffinity(0)
    if unknown := sorted(set(asked) - usable):
        raise SearchError(
            f"--affinity: given processor {unknown[0]}; expected some of {_ranges(usable)}, which this process may use",
            reason="BAD_AFFINITY",
        )
    cpus = set(asked) or usable
    if concurrency > len(cpus):
        raise SearchError(
            f"--affinity: {concurrency} games at a time on processors {_ranges(cpus)}; expected at least one processor "
            "for each: lower --concurrency",
            reason="BAD_AFFINITY",
        )
    return divide(cores_of(cpus), concurrency)


def divide(cores: list[list[int]], games: int) -> list[frozenset[int]]:
    """Return the processors of each game, from the processors of each core."""
    if games <= len(cores):
        each = len(cores) // games
        groups = [cores[number * each : (number + 1) * each] for number in range(games)]
        return [frozenset(cpu for core in group for cpu in core) for group in groups]
    cpus = [cpu for core in cores for cpu in core]
    each = len(cpus) // games
    return [frozenset(cpus[number * each : (number + 1) * each]) for number in range(games)]


def cores_of(cpus: Iterable[int]) -> list[list[int]]:
    """Return processors by their cores, as the kernel tells them; each by itself if it does not."""
    cores: dict[str, list[int]] = {}
    for cpu in sorted(cpus):
        try:
            siblings = Path(_SIBLINGS.format(cpu)).read_text().strip()
        except OSError:
            siblings = str(cpu)
        cores.setdefault(siblings, []).append(cpu)
    return list(cores.values())


def _ranges(cpus: Iterable[int]) -> str:
    """Return numbers as text, such as 0-3,8."""
    parts: list[list[int]] = []
    for cpu in sorted(cpus):
        if parts and parts[-1][-1] == cpu - 1:
            parts[-1] = [parts[-1][0], cpu]
        else:
            parts.append([cpu])
    return ",".join("-".join(map(str, part)) for part in parts)
