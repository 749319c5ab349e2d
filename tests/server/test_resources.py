"""The processors and the memory that a process may use, read from file systems laid out as containers see them."""

import os
import subprocess
import sys

import pytest

from mexica_ai.analysis import resources
from mexica_ai.server import config as server_config
from mexica_ai.server.config import ServerConfig

GIB = 1 << 30
MANY = 1 << 10  # more than any machine of the tests has


@pytest.fixture(autouse=True)
def large_machine(monkeypatch):
    """A machine with so many processors and so much memory that the groups decide."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(MANY)))
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": MANY * GIB // 4096, "SC_PAGE_SIZE": 4096}.__getitem__)


def lay_out(root, cgroup, mounts, files):
    """Write /proc/self and the files of the groups; a mount is (root, mount point, type, options)."""
    own = root / "proc" / "self"
    own.mkdir(parents=True)
    (own / "cgroup").write_text(cgroup)
    lines = [f"3{n} 1 0:2{n} {r} {p} rw,nosuid - {t} {t} {o}\n" for n, (r, p, t, o) in enumerate(mounts)]
    (own / "mountinfo").write_text("20 1 8:1 / / rw - ext4 /dev/sda1 rw\n" + "".join(lines))
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


V2 = [("/", "/sys/fs/cgroup", "cgroup2", "rw")]
V1 = [("/", "/sys/fs/cgroup/cpu,cpuacct", "cgroup", "rw,cpu,cpuacct"),
      ("/", "/sys/fs/cgroup/memory", "cgroup", "rw,memory")]  # fmt: skip
V1_GROUPS = "5:memory:{0}\n4:cpu,cpuacct:{0}\n1:name=systemd:{0}\n"
CASES = {
    "v2, a container with a namespace of its own": (
        "0::/\n",
        V2,
        {"sys/fs/cgroup/cpu.max": "150000 100000\n", "sys/fs/cgroup/memory.max": f"{GIB}\n"},
        (1.5, 1024),
    ),
    "v2, a service of systemd": (
        "0::/system.slice/mexica-ai.service\n",
        V2,
        {
            "sys/fs/cgroup/system.slice/mexica-ai.service/cpu.max": "400000 100000\n",
            "sys/fs/cgroup/system.slice/mexica-ai.service/memory.max": f"{5 * GIB}\n",
        },
        (4.0, 5120),
    ),
    "v2, the group around it has less": (
        "0::/slice/service\n",
        V2,
        {
            "sys/fs/cgroup/slice/cpu.max": "50000 100000\n",
            "sys/fs/cgroup/slice/memory.max": f"{2 * GIB}\n",
            "sys/fs/cgroup/slice/service/cpu.max": "max 100000\n",
            "sys/fs/cgroup/slice/service/memory.max": f"{3 * GIB}\n",
        },
        (0.5, 2048),
    ),
    "v2, no limits": (
        "0::/\n",
        V2,
        {"sys/fs/cgroup/cpu.max": "max 100000\n", "sys/fs/cgroup/memory.max": "max\n"},
        (MANY, MANY * 1024),
    ),
    "v1, a group of the machine": (
        V1_GROUPS.format("/jobs/one"),
        V1,
        {
            "sys/fs/cgroup/cpu,cpuacct/jobs/one/cpu.cfs_quota_us": "300000\n",
            "sys/fs/cgroup/cpu,cpuacct/jobs/one/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/memory/jobs/one/memory.limit_in_bytes": f"{GIB // 2}\n",
        },
        (3.0, 512),
    ),
    "v1, a container that sees only its own group mounted": (
        V1_GROUPS.format("/docker/abc"),
        [("/docker/abc", *mount[1:]) for mount in V1],
        {
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "200000\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{GIB}\n",
        },
        (2.0, 1024),
    ),
    "v1, the path of the machine below a mount of the container": (
        V1_GROUPS.format("/docker/abc"),
        V1,
        {
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "200000\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{GIB}\n",
        },
        (2.0, 1024),
    ),
    "v1, no limits": (
        V1_GROUPS.format("/"),
        V1,
        {
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
        },
        (MANY, MANY * 1024),
    ),
    "both versions, the limits are those of v1": (
        V1_GROUPS.format("/a") + "0::/a\n",
        [*V1, ("/", "/sys/fs/cgroup/unified", "cgroup2", "rw")],
        {
            "sys/fs/cgroup/unified/a/cgroup.procs": "1\n",
            "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "100000\n",
            "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/memory/a/memory.limit_in_bytes": f"{GIB}\n",
        },
        (1.0, 1024),
    ),
    "a mount point with a space": (
        "0::/\n",
        [("/", "/sys/fs/my\\040groups", "cgroup2", "rw")],
        {"sys/fs/my groups/cpu.max": "100000 100000\n", "sys/fs/my groups/memory.max": f"{GIB}\n"},
        (1.0, 1024),
    ),
    "files that say nothing": (
        "0::/../..\nnonsense\n",
        V2,
        {"sys/fs/cgroup/cpu.max": "", "sys/fs/cgroup/memory.max": "\ufffd\n"},
        (MANY, MANY * 1024),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_group_may_use(tmp_path, case):
    *layout, expected = CASES[case]
    lay_out(tmp_path, *layout)
    assert (resources.num_processors(str(tmp_path)), resources.memory_mb(str(tmp_path))) == expected


def test_a_machine_without_control_groups(tmp_path):
    assert resources.num_processors(str(tmp_path)) == MANY
    assert resources.memory_mb(str(tmp_path)) == MANY * 1024


@pytest.mark.parametrize(
    ("processors", "memory_mb", "given", "slots", "total_mb"),
    [
        (8.0, 1 << 20, {}, 8, 8 * 1024),
        (8.0, 1 << 20, {"threads": 3}, 2, 2 * 1024),
        (3.9, 1 << 20, {}, 3, 3 * 1024),
        (0.5, 1 << 20, {}, 1, 1024),
        (8.0, 4096, {}, 8, 2048),  # half of the memory
        (8.0, 8, {}, 8, 8),  # 1 MB for each slot at least
        (8.0, 4096, {"memory_mb": 100, "slots": 3}, 3, 300),
        (5000.0, 1 << 30, {}, 1024, 1024 * 1024),
    ],
)
def test_the_defaults_of_a_server(monkeypatch, processors, memory_mb, given, slots, total_mb):
    monkeypatch.setattr(server_config, "num_processors", lambda: processors)
    monkeypatch.setattr(server_config, "available_mb", lambda: memory_mb)
    config = ServerConfig(**given)
    assert (config.slots, config.total_memory_mb) == (slots, total_mb)


@pytest.mark.real("processes")
def test_a_process_on_one_processor_has_one_slot():
    program = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from mexica_ai.server.config import ServerConfig; print(ServerConfig().slots)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
