"""Asks a running server for the best turn of a saved position.

mexica-ai serve &
python examples/client.py examples/mexica_midgame.json
"""

import sys

import mexica_ai as ai
from mexica_ai.rpc.client import Client

position = ai.load(sys.argv[1])
with Client(sys.argv[2] if len(sys.argv) > 2 else "127.0.0.1:50051") as client:
    result = client.best_turn(position, time_s=2.0)

shares = ", ".join(f"{share:.3f}" for share in result.value)
print(f"{'; '.join(result.turn)}\nvalue {shares}; {result.iterations} iterations; {result.stop_reason}")
for candidate in result.candidates:
    print(f"{candidate.visits:>8} visits  {'; '.join(candidate.turn)}")
