"""The processors and the memory that this process may use: the machine's, its affinity, and its control group.

A container may use less than its machine has. Control groups of both versions and their mounts are described in
the kernel's documentation (admin-guide/cgroup-v1, admin-guide/cgroup-v2.rst, cgroup_namespaces(7)).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

MB = 1 << 20


def num_processors(root: str = "/") -> float:
    """Return how many processors this process may use: those it may run on, and at most its group's quota.

    Parameters
    ----------
    root : str
        Where /proc and the mounted control groups are looked for.

    Returns
    -------
    float
        Above 0; a quota may be a fraction of a processor.
    """
    # Only Linux tells on which ones a process may run.
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min([float(usable), *_quotas(root)])


def memory_mb(root: str = "/") -> int:
    """Return how much memory this process may use, in MiB: the machine's, and at most its group's limit."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min([machine, *_memory_limits(root)]) // MB)


def _quotas(root: str) -> Iterator[float]:
    """Yield the quotas of processor time, in processors, of the group and the groups around it."""
    for folder, version in _groups(root, "cpu"):
        if version == 2:
            quota, period = [*_words(folder / "cpu.max"), "", ""][:2]
        else:
            quota, period = ("".join(_words(folder / f"cpu.cfs_{name}_us")) for name in ("quota", "period"))
        # No quota is "max" in version 2, -1 in version 1.
        if quota.isdigit() and period.isdigit() and int(quota) and int(period):
            yield int(quota) / int(period)


def _memory_limits(root: str) -> Iterator[int]:
    for folder, version in _groups(root, "memory"):
        limit = "".join(_words(folder / ("memory.max" if version == 2 else "memory.limit_in_bytes")))
        if limit.isdigit():
            yield int(limit)


def _groups(root: str, controller: str) -> Iterator[tuple[Path, int]]:
    """Yield the folder and the version of this process's group of a controller, and of those around it."""
    groups = {}  # version -> path of the group
    for line in _lines(root, "proc/self/cgroup"):
        hierarchy, controllers, path = [*line.split(":", 2), "", ""][:3]
        if hierarchy == "0":
            groups[2] = path
        elif controller in controllers.split(","):
            groups[1] = path
    for mount_root, mount_point, kind, options in _mounts(root):
        is_v1 = kind == "cgroup" and controller in options.split(",")
        version = 2 if kind == "cgroup2" else 1 if is_v1 else 0
        if version not in groups:
            continue
        top = Path(root, mount_point.lstrip("/"))
        folder = top
        # A container may see the path of its group on the machine but only this group mounted: the mount's root
        # is then the group, or one that is not its beginning.
        if f"{groups[version]}/".startswith(f"{mount_root.rstrip('/')}/"):
            folder = top / groups[version][len(mount_root.rstrip("/")) :].lstrip("/")
        if ".." in folder.parts or not folder.is_dir():
            folder = top
        while True:
            yield folder, version
            if folder == top:
                break
            folder = folder.parent


def _mounts(root: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield root, mount point, type and the file system's options of each mount; see proc_pid_mountinfo(5)."""
    for line in _lines(root, "proc/self/mountinfo"):
        before, _, after = line.partition(" - ")
        fields, more = before.split(), after.split()
        if len(fields) >= 5 and len(more) >= 3:
            yield _unescape(fields[3]), _unescape(fields[4]), more[0], more[2]


def _unescape(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)


def _lines(root: str, path: str) -> list[str]:
    try:
        return Path(root, path).read_text(errors="replace").splitlines()
    except OSError:  # no such file system here
        return []


def _words(path: Path) -> list[str]:
    try:
        return path.read_text(errors="replace").split()
    except OSError:
        return []
