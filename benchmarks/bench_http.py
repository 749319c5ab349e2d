"""Measures the service over HTTP and JSON beside the same calls over gRPC, both on one connection over loopback.

    python benchmarks/bench_http.py [--json] [--calls 2000]

Calls of the two doors alternate. The time of the client is part of the figures; the processor time is the server's.
"""

import argparse
import http.client
import json
import statistics
import subprocess
import sys
import time

import grpc
from google.protobuf import json_format

import mexica_ai as ai
from mexica_ai.rpc import wire
from mexica_ai.v1 import engine_pb2, engine_pb2_grpc

PARTS = 10  # into which the calls of each kind are split
COMMAND = [sys.executable, "-P", "-m", "mexica_ai", "serve", "--port", "0", "--http-port", "0", "--log-level", "error"]
TICKS = 100  # a second, in /proc


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=2000, help="calls of each kind")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, text=True) as server:
        try:
            address, http_address = (server.stdout.readline().split()[-1] for _ in range(2))
            figures = measure(server.pid, address, http_address, args.calls)
        finally:
            server.terminate()
    if args.json:
        print(json.dumps(figures))
        return
    for name, found in figures.items():
        print(f"{name:22} p50 {found['p50_ms']:.2f} ms, p95 {found['p95_ms']:.2f} ms, server {found['cpu_ms']:.2f} ms")


def measure(pid, address, http_address, number):
    """Return the figures by kind of call."""
    legal = engine_pb2.LegalActionsRequest(position=wire.position_to_message(ai.new_game("mexica", players=3, seed=4)))
    body = json_format.MessageToJson(legal, indent=None)
    connection = http.client.HTTPConnection(http_address, timeout=60)

    def ask(verb, path, body=None):
        connection.request(verb, path, body, {"Content-Type": "application/json"} if body else {})
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        answer.read()

    with grpc.insecure_channel(address) as channel:
        stub = engine_pb2_grpc.EngineServiceStub(channel)
        kinds = {
            "grpc ListGames": lambda: stub.ListGames(engine_pb2.ListGamesRequest()),
            "http /v1/games": lambda: ask("GET", "/v1/games"),
            "grpc LegalActions": lambda: stub.LegalActions(legal),
            "http /v1/legal-actions": lambda: ask("POST", "/v1/legal-actions", body),
        }
        times, spent = {kind: [] for kind in kinds}, dict.fromkeys(kinds, 0.0)
        for part in range(PARTS + 1):  # the first one warms up
            for kind, call in kinds.items():
                begin = processor_s(pid)
                found = [timed(call) for _ in range(max(1, number // PARTS))]
                if part:
                    times[kind] += found
                    spent[kind] += processor_s(pid) - begin
    return {kind: summary(times[kind], spent[kind]) for kind in kinds}


def timed(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def summary(times, spent):
    cuts = statistics.quantiles(times, n=20)
    return {"p50_ms": 1000 * statistics.median(times), "p95_ms": 1000 * cuts[-1], "cpu_ms": 1000 * spent / len(times)}


def processor_s(pid):
    """Return the processor time of a process."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


if __name__ == "__main__":
    main()
