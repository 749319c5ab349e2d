"""An engine of nim for the tests of the arena, which fails as its argument says; it needs nothing installed.

    python nim_engine.py KIND [TURN [FILE]]

It takes one object from the first pile that has any. Before its TURN-th turn (from 0, in this process) it
fails; FILE gets the number of the process and of a child that it starts and that would outlive it. Kind
"mute" does not even greet; "deaf" notes its number in FILE at once and ends on neither SIGTERM nor the end of
its input.
"""

import json
import os
import signal
import subprocess
import sys
import time

kind = sys.argv[1]
fails_at = int(sys.argv[2]) if len(sys.argv) > 2 else 0
if kind == "mute":
    time.sleep(1000)
if kind == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with open(sys.argv[3], "a") as file:
        file.write(f"{os.getpid()}\n")
turns = 0
for line in sys.stdin:
    request = json.loads(line)
    if "hello" in request:
        answer = {"hello": 1, "name": "nim", "games": ["nim"]}
    elif "stop" in request:
        continue
    else:
        piles = request["position"]["piles"]
        pile = next(index for index, size in enumerate(piles) if size)
        turn = [f"take 1 {pile + 1}"] * min(request["position"]["plies_left"], sum(piles))
        answer = {"id": request["id"], "turn": turn}
        if turns == fails_at:
            if kind == "crash":
                print("out of cheese", file=sys.stderr)
                os.kill(os.getpid(), 9)
            elif kind == "hang":
                child = subprocess.Popen([sys.executable, "-P", "-c", "import time; time.sleep(1000)"])
                with open(sys.argv[3], "w") as file:
                    file.write(f"{os.getpid()} {child.pid}")
                time.sleep(1000)
            elif kind == "deaf":
                time.sleep(1000)
            elif kind == "slow":
                time.sleep(float(sys.argv[3]))
            elif kind == "garbage":
                answer = "%&/("
            elif kind == "illegal":
                answer["turn"] = ["take 60 1"]
            elif kind == "error":
                answer = {"id": request["id"], "error": "no idea"}
            elif kind == "once":  # crashes, but only the first process that comes here
                try:
                    os.close(os.open(sys.argv[3], os.O_CREAT | os.O_EXCL))
                    os._exit(3)
                except FileExistsError:
                    pass
            elif kind == "clock":
                with open(sys.argv[3], "w") as file:
                    json.dump(request, file)
        turns += 1
    print(answer if isinstance(answer, str) else json.dumps(answer), flush=True)
if kind == "deaf":
    time.sleep(1000)
