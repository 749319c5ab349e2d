"""A minimal external engine that plays random legal actions and speaks the stdio protocol (docs/cli.md).

    mexica-ai best examples/mexica_midgame.json --engine cmd:"python examples/engine_random.py"

It uses only `mexica_ai.Position`, for the legal actions; an engine in another language needs its own rules.
"""

import json
import random
import sys

from mexica_ai import MexicaAIError, Position


def random_turn(position: Position, rng: random.Random) -> list[str]:
    """Return random legal actions up to the end of the turn; action points bound every turn."""
    turn = []
    seat = position.to_move
    position = position.copy()
    while not turn or turn[-1] != "end":
        turn.append(rng.choice(position.legal_actions()))
        position.push_action(turn[-1])
        if position.to_move != seat:  # a placement has no "end"
            break
    return turn


def answer(request: dict) -> dict:
    """Answer one request."""
    if "hello" in request:
        return {"hello": 1, "name": "random example", "games": ["mexica"]}
    try:
        position = Position.from_json(request["position"])
        turn = random_turn(position, random.Random(request.get("seed")))
    except MexicaAIError as error:
        return {"id": request["id"], "error": str(error)}
    return {"id": request["id"], "turn": turn, "info": {"iterations": 1}}


for line in sys.stdin:
    request = json.loads(line)
    if "stop" not in request:  # requests are answered at once, so there is nothing to stop
        print(json.dumps(answer(request)), flush=True)
