"""Descriptors: how many a server takes, and the cap on the connections of an address where they run out.

The cap with sockets: test_server_floods.py.
"""

import contextlib
import os
import resource

import pytest

from mexica_ai.server import main
from mexica_ai.server.connections import Connections, network_of


def test_it_looks_where_no_descriptor_is_left(monkeypatch):
    looked, listdir = [], os.listdir
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    watched = Connections([1], max_per_address=1)
    monkeypatch.setattr(os, "listdir", lambda path: looked.append(listdir(path)) or looked[-1])
    with contextlib.ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, listdir("/proc/self/fd"))) + 4, hard))
        with contextlib.suppress(OSError):
            while True:
                stack.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        assert watched.enforce() == 0
        assert watched.enforce() == 0
    assert len(looked) == 2


def test_a_look_that_fails_is_not_the_last(monkeypatch):
    looked, watched = [], Connections([1], max_per_address=1)

    def full(_path):
        looked.append("in vain")
        raise OSError("too many open files")

    monkeypatch.setattr(os, "listdir", full)
    assert watched.enforce() == 0
    monkeypatch.setattr(os, "listdir", lambda path: looked.append("again") or [])
    assert watched.enforce() == 0
    assert looked == ["in vain", "again"]


@pytest.mark.parametrize(
    ("limits", "wanted"),
    [((1024, 65536), [(65536, 65536)]), ((1024, -1), [(-1, -1)]), ((9, 9), [])],  # -1: none
)
@pytest.mark.parametrize("is_refused", [False, True])
def test_a_server_takes_the_descriptors_that_it_may_have(monkeypatch, limits, wanted, is_refused):
    asked = []

    def set_limit(kind, given):
        assert kind == resource.RLIMIT_NOFILE
        asked.append(given)
        if is_refused:
            raise OSError("not permitted")

    async def end(_config):
        pass

    monkeypatch.setattr(resource, "getrlimit", lambda _kind: limits)
    monkeypatch.setattr(resource, "setrlimit", set_limit)
    monkeypatch.setattr(main, "_serve", end)
    assert main.serve(port=0) == 0
    assert asked == wanted


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("::ffff:10.0.0.1", "::ffff:10.0.0.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("", ""),
    ],
)
def test_addresses_of_one_host_count_together(address, network):
    assert network_of(address) == network
