"""Several servers behind gRPC's own load balancing: one dies, one drains, and nothing is lost."""

import asyncio
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

import mexica_ai as ai
from mexica_ai.rpc.client import AsyncClient, Client

pytestmark = [pytest.mark.slow, pytest.mark.real("processes")]

NUM_CLIENTS = 48  # many more than the slots of all servers
CALLS = 6  # of each client


def start_server():
    command = [sys.executable, "-P", "-m", "mexica_ai", "serve", "--port", "0", "--slots", "2"]
    command += ["--max-waiting", "1000", "--grace", "2", "--log-level", "error"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    return server, server.stdout.readline().split()[-1]


def test_no_request_is_lost_when_one_server_dies_and_one_drains():
    servers, addresses = zip(*(start_server() for _ in range(3)), strict=True)
    position = ai.new_game("nim", piles=[7, 6, 5])
    answered = Counter()
    lost = []

    async def ask(client, number):
        for call in range(CALLS):
            try:
                result = await client.best_turn(position, iterations=200, seed=number * CALLS + call)
                assert result.turn
                assert await client.legal_actions(position)
                answered[call] += 1
            except ai.SearchError as error:
                lost.append(str(error))
            await asyncio.sleep(0.1)

    async def disturb():
        while sum(answered.values()) < NUM_CLIENTS * CALLS // 6:
            await asyncio.sleep(0.01)
        servers[0].kill()
        while sum(answered.values()) < NUM_CLIENTS * CALLS // 2:
            await asyncio.sleep(0.01)
        servers[1].send_signal(signal.SIGTERM)

    async def play():
        clients = [AsyncClient("ipv4:" + ",".join(addresses)) for _ in range(4)]
        asking = (ask(clients[i % len(clients)], i) for i in range(NUM_CLIENTS))
        await asyncio.wait_for(asyncio.gather(disturb(), *asking), 600)
        for client in clients:
            await client.close()

    # Not asyncio.run, which would leave the main thread without a loop that grpc looks for.
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(play())
        assert lost == []
        assert sum(answered.values()) == NUM_CLIENTS * CALLS
        assert servers[0].wait(10) == -signal.SIGKILL
        assert servers[1].wait(20) == 0
        assert servers[2].poll() is None
    finally:
        loop.close()
        for server in servers:
            server.kill()
            server.wait()
            server.stdout.close()


def test_where_nobody_listens_the_retries_end():
    server, address = start_server()
    server.kill()
    server.wait()
    server.stdout.close()
    began = time.monotonic()
    with Client(address) as client, pytest.raises(ai.SearchError) as caught:
        client.best_turn(ai.new_game("nim"), iterations=10, timeout_s=60)
    assert caught.value.reason == "UNAVAILABLE"
    assert time.monotonic() - began < 30
