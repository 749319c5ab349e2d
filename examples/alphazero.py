"""AlphaZero: a network learns values and a policy from games that the search plays with it against itself.

    python examples/alphazero.py --game nim --minutes 20 --out nim.pt

In games with fixed ids of actions the network gives a logit for each id, in others it rates features of the actions.
Searches begin with sequential halving of actions drawn by Gumbel noise, and most are short and not learnt from (playout
caps). Before each generation the network plays against levels. Needs torch; docs/env.md tells more.
"""

import argparse
import itertools
import time

import numpy as np
import torch
from torch.nn import Linear, ReLU, Sequential
from torch.nn.functional import relu
from torch.nn.utils.rnn import pad_sequence

import mexica_ai as ai
from mexica_ai import env


class Network(torch.nn.Module):
    def __init__(self, game, width=256):
        super().__init__()
        layout, self.num_ids = env.schema(game), env.num_action_ids(game)
        self.register_buffer("scale", torch.from_numpy(layout.scale))
        self.body = Sequential(Linear(layout.size, width), ReLU(), Linear(width, width), ReLU())
        self.value = Linear(width, 4)
        self.logit = Linear(width, self.num_ids or 1)
        if not self.num_ids:
            actions = env.action_schema(game)
            self.register_buffer("action_scale", torch.from_numpy(actions.scale))
            self.action = Linear(actions.size, width)

    def forward(self, observations, features, rows):
        """Return logits of the seats' shares, and of all ids or of the actions, whose observations are these rows."""
        body = self.body(observations / self.scale)
        if self.num_ids:
            return self.value(body), self.logit(body)
        return self.value(body), self.logit(relu(self.action(features / self.action_scale) + body[rows]))[:, 0]


class Evaluator:
    """The network as the search calls it; `best_turn` makes it a player for `mexica_ai.evaluate`."""

    def __init__(self, network, players, iterations):
        self.network, self.players, self.iterations = network, players, iterations
        self.policy = "ids" if network.num_ids else "features"

    @torch.inference_mode()
    def __call__(self, observations, features=None, offsets=None):
        rows = None if offsets is None else np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        values, logits = self.network(*(to(self.network, array) for array in (observations, features, rows)))
        return values[:, : self.players].softmax(1).cpu().numpy(), None, logits.cpu().numpy()

    def best_turn(self, position):
        return ai.best_turn(position, iterations=self.iterations, evaluator=self, batch_size=4, seed=1).turn


def to(network, array):
    return None if array is None else torch.as_tensor(array, device=network.scale.device)


def fit(network, optimizer, rows, players, steps, rng, size=256):
    """Learn who wins and what the searches made of the actions; return the mean losses."""
    losses = []
    for chosen in rng.integers(len(rows), size=(steps, size)):
        picked = [rows[i] for i in chosen]
        wanted = pad_sequence([torch.from_numpy(row["policy"]) for row in picked], batch_first=True).to(
            network.scale.device
        )
        counts = np.array([len(row["legal"]) for row in picked])
        where = torch.from_numpy(np.arange(wanted.shape[1]) < counts[:, None]).to(wanted.device)
        features = None if network.num_ids else np.concatenate([row["action_features"] for row in picked])
        observations = np.stack([row["observation"] for row in picked])
        values, found = network(*(to(network, a) for a in (observations, features, np.repeat(np.arange(size), counts))))
        logits = torch.full(wanted.shape, -1e9, device=wanted.device)
        if network.num_ids:
            ids = np.concatenate([row["action_ids"] for row in picked])
            found = found[to(network, np.repeat(np.arange(size), counts)), to(network, ids.astype(np.int64))]
        logits[where] = found
        policy_loss = -(wanted * logits.log_softmax(1)).sum(1).mean()
        returns = to(network, np.array([row["returns"][:players] for row in picked], np.float32))
        value_loss = -(returns * values[:, :players].log_softmax(1)).sum(1).mean()
        optimizer.zero_grad()
        (policy_loss + value_loss).backward()
        optimizer.step()
        losses.append((policy_loss.item(), value_loss.item()))
    return np.mean(losses, axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="nim")
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--num-games", type=int, default=64, help="games at a time")
    parser.add_argument("--iterations", type=int, default=64, help="of the searches that are learnt from")
    parser.add_argument("--rows", type=int, default=4000, help="of self-play in a generation")
    parser.add_argument("--steps", type=int, default=200, help="of the optimizer in a generation")
    parser.add_argument("--levels", default="1,3", help="that each generation plays against")
    parser.add_argument("--blocks", type=int, default=20, help="deals of a match, each on all seats")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", help="file of the network")
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    end = time.monotonic() + 60 * args.minutes
    rng = np.random.default_rng(args.seed)
    network = Network(args.game).to(args.device)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=1e-4)
    evaluator = Evaluator(network, args.players, args.iterations)
    played = ai.selfplay(
        args.game, args.num_games, evaluator, args.iterations, players=args.players, seed=args.seed, gumbel=16,
        full_share=0.25, leaves=4, threads=args.threads, overlap=args.device != "cpu",
    )  # fmt: skip
    window = []
    levels = [f"level={level}" for level in args.levels.split(",")]
    for generation in itertools.count():
        found = ai.evaluate(evaluator, levels, args.blocks, game=args.game, players=args.players, seed=generation)
        print(f"generation {generation}\n{found}", flush=True)
        if generation and time.monotonic() > end:
            break
        began = time.monotonic()
        window += [row for row in itertools.islice(played, args.rows) if row["searched"]]
        window = window[-10 * args.rows :]
        played_s = time.monotonic() - began
        losses = fit(network, optimizer, window, args.players, args.steps, rng)
        print(f"{args.rows / played_s:.0f} rows/s, losses of policy and value {losses.round(3)}", flush=True)
    if args.out:
        torch.save(network.state_dict(), args.out)


if __name__ == "__main__":
    main()
