"""Learns a game by self-play with PPO, in one file, as CleanRL's examples do; needs torch.

    python examples/policy_gradient.py nim --minutes 5 --level 3
    python examples/policy_gradient.py coatl --minutes 30 --level 1 --out coatl.pt --curve coatl.jsonl

If the actions of the game have fixed ids, the network has an output for each; else it rates each legal action from the
observation and the action's features. At the end it plays a match against a level. Games of two seats.
"""

import argparse
import json
import sys
import time

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import mexica_ai as ai
from mexica_ai import env
from mexica_ai.game import registry

HIDDEN = 128
LARGE = 1000  # fields of an observation with more numbers are left out, for speed
STEPS, MINIBATCH, EPOCHS = 32, 4, 3  # actions of each game between two updates; steps of a minibatch; passes over them
DISCOUNT, TRACE, CLIP, VALUE_WEIGHT, CLIP_NORM = 1.0, 0.95, 0.2, 0.5, 0.5
NEVER = -1e9  # the logit of what is not legal


class Network(nn.Module):
    """A policy over the legal actions, and the value of the seat to move, from -1 (lost) to 1 (won)."""

    def __init__(self, game):
        super().__init__()
        self.game, self.num_ids = game, env.num_action_ids(game)
        kept = np.concatenate([np.full(field.size, field.size <= LARGE) for field in env.schema(game).fields])
        self.register_buffer("kept", torch.from_numpy(np.flatnonzero(kept)))
        self.register_buffer("mean", torch.zeros(int(kept.sum())))
        self.register_buffer("std", torch.ones(int(kept.sum())))
        self.body = nn.Sequential(nn.Linear(int(kept.sum()), HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU())
        self.value = nn.Linear(HIDDEN, 1)
        if self.num_ids:
            self.policy = nn.Linear(HIDDEN, self.num_ids)
        else:
            size = env.action_schema(game).size
            self.register_buffer("action_scale", torch.from_numpy(env.action_schema(game).scale))
            self.of_state, self.of_action = nn.Linear(HIDDEN, HIDDEN), nn.Linear(size, HIDDEN)
            self.policy, self.direct = nn.Linear(HIDDEN, 1), nn.Linear(size, 1)

    @torch.no_grad()
    def normalize(self, observations):
        """Scale the observations by what random games show."""
        seen = observations[:, self.kept]
        self.mean[:], std = seen.mean(0), seen.std(0)
        self.std[:] = torch.where(std > 0, std, 1)

    def forward(self, observations, actions):
        """Return the logits [N, K] and the values [N]; `actions` are masks [N, ids], or features and offsets."""
        seen = (observations[:, self.kept] - self.mean) / self.std
        hidden = self.body(seen.clamp(-5, 5))
        value = torch.tanh(self.value(hidden)).squeeze(1)
        if self.num_ids:
            return self.policy(hidden).masked_fill(actions == 0, NEVER), value
        features, offsets = actions
        counts = offsets.diff()
        rows = torch.repeat_interleave(torch.arange(len(counts)), counts)
        features = features / self.action_scale
        rated = self.policy(torch.relu(self.of_state(hidden)[rows] + self.of_action(features))) + self.direct(features)
        logits = torch.full((len(counts), int(counts.max())), NEVER)
        logits[rows, torch.arange(len(rows)) - offsets[rows]] = rated.squeeze(1)
        return logits, value


def look(games):
    """Return copies of what the network reads of the games: the environment overwrites its arrays."""
    observations = torch.from_numpy(games.observations.copy())
    if games.masks is not None:
        return observations, torch.from_numpy(games.masks.copy())
    return observations, (torch.from_numpy(games.action_features.copy()), torch.from_numpy(games.offsets.copy()))


def joined(steps, which):
    """Return the observations and actions of some steps as one batch."""
    observations = torch.cat([steps[k]["seen"][0] for k in which])
    actions = [steps[k]["seen"][1] for k in which]
    if torch.is_tensor(actions[0]):
        return observations, torch.cat(actions)
    counts = torch.cat([offsets.diff() for _, offsets in actions])
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64), counts.cumsum(0)])
    return observations, (torch.cat([features for features, _ in actions]), offsets)


@torch.no_grad()
def play(games, network):
    """Play `STEPS` actions in each game, and return what was seen and done, with the advantages."""
    steps = []
    for _ in range(STEPS):
        seen, seat = look(games), games.to_move.copy()
        logits, value = network(*seen)
        choice = Categorical(logits=logits)
        action = choice.sample()
        games.step(action.numpy())
        share = games.rewards[np.arange(games.num_games), seat]
        reward = np.where(games.done, 2 * share - 1, 0)
        # The value is that of the seat to move: what the other one has is the opposite. A game that ended has none.
        sign = np.where(games.done, 0.0, np.where(games.to_move == seat, 1.0, -1.0))
        steps.append({"seen": seen, "action": action, "log_prob": choice.log_prob(action), "value": value,
                      "reward": torch.from_numpy(reward).float(), "sign": torch.from_numpy(sign).float()})  # fmt: skip
    _, after = network(*look(games))
    advantage = torch.zeros_like(after)
    for step in reversed(steps):
        error = step["reward"] + DISCOUNT * step["sign"] * after - step["value"]
        advantage = error + DISCOUNT * TRACE * step["sign"] * advantage
        step["advantage"], after = advantage, step["value"]
    return steps


def update(network, optimizer, steps, entropy_weight):
    """Improve the network by what was played, and return the mean entropy of the policy."""
    entropies = []
    for _ in range(EPOCHS):
        for which in torch.randperm(len(steps)).split(MINIBATCH):
            logits, value = network(*joined(steps, which))
            old = {name: torch.cat([steps[k][name] for k in which])
                   for name in ("action", "log_prob", "value", "advantage")}  # fmt: skip
            choice = Categorical(logits=logits)
            ratio = (choice.log_prob(old["action"]) - old["log_prob"]).exp()
            gain = (old["advantage"] - old["advantage"].mean()) / (old["advantage"].std() + 1e-8)
            policy_loss = -torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
            value_loss = (value - (old["value"] + old["advantage"])).square().mean()
            entropy = choice.entropy().mean()
            loss = policy_loss + VALUE_WEIGHT * value_loss - entropy_weight * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), CLIP_NORM)
            optimizer.step()
            entropies.append(entropy.item())
    return float(np.mean(entropies))


class Policy:
    """Plays the action that the network likes best, again and again until the turn ends."""

    def __init__(self, network):
        self.network = network

    @torch.no_grad()
    def best_turn(self, position):
        """Return a turn as a list of actions."""
        state, seat, turn = position.state.copy(), position.to_move, []
        started = state.turn
        while not state.is_terminal and state.current_player == seat and state.turn == started:
            legal = state.legal_actions()
            if self.network.num_ids:
                ids = state.action_ids()
                actions = torch.zeros(1, self.network.num_ids)
                actions[0, ids] = 1
            else:
                actions = torch.from_numpy(state.action_features()), torch.tensor([0, len(legal)])
            seen = torch.from_numpy(env.observe(ai.Position(position.game, state), seat))[None]
            best = int(self.network(seen, actions)[0].argmax())
            action = legal[ids.index(best) if self.network.num_ids else best]
            turn.append(registry.get(position.game).text.format_action(action))
            state.apply(action)
        return turn


def match(policy, game, level, num_games, seed):
    """Return the policy's share of the win in games against a level, each deal with both seatings."""
    total = 0.0
    for number in range(num_games):
        position, own = ai.new_game(game, players=2, seed=seed + number // 2), number % 2
        while not position.is_over:
            if position.is_chance:
                position.draw(seed + number)
            elif position.to_move == own:
                position.push(policy.best_turn(position))
            else:
                position.push(ai.best_turn(position.view(position.to_move), level=level, seed=seed + number).turn)
        total += position.state.returns()[own]
    return total / num_games


def openings(args):
    """Return where games of self-play begin: half of them new, half within random games, so that all is explored."""
    new = env.vector(args.game, 1024, players=2, seed=args.seed, starts=1024)
    starts = [new.position(i) for i in range(new.num_games)]
    for begin in range(0, len(starts), 128):
        new.step_random(1 + args.spread * begin // len(starts))
        starts += [new.position(i) for i in range(begin, begin + 128)]
    return starts


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", choices=["nim", "coatl", "mexica", "tzolkin"])
    parser.add_argument("--minutes", type=float, default=5.0, help="of processor time for training, matches left out")
    parser.add_argument("--games", type=int, default=128, help="that run at a time")
    parser.add_argument("--level", type=int, default=1, help="of the opponent in matches")
    parser.add_argument("--match", type=int, default=200, help="games of the last match")
    parser.add_argument("--rate", type=float, default=1e-3, help="of learning, at the start; it falls to 0")
    parser.add_argument("--entropy", type=float, default=0.01, help="weight of the policy's entropy, falling to 0")
    parser.add_argument("--points", type=int, default=6, help="of the curve")
    parser.add_argument("--probe", type=int, default=20, help="games of the matches during the training")
    parser.add_argument("--spread", type=int, default=6, help="actions of the random games between the openings")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", help="file of weights to begin with")
    parser.add_argument("--out", help="file for the weights of the network")
    parser.add_argument("--curve", help="file for the curve, as lines of JSON")
    return parser.parse_args()


def main():
    args = parse()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    network = Network(args.game)
    kind = {"masks": True, "actions": "ids"} if network.num_ids else {"actions": "features"}
    games = env.vector(args.game, args.games, seed=args.seed, observations=True, starts=openings(args), **kind)
    if args.start:
        network.load_state_dict(torch.load(args.start))
    else:
        network.normalize(torch.cat([look(games)[0] for _ in range(50) if games.step_random(3) >= 0]))
    optimizer = torch.optim.Adam(network.parameters(), lr=args.rate, eps=1e-5)
    curve = [{"command": " ".join(["python", *sys.argv]), "torch": torch.__version__}]
    trained_s, decisions, played, entropy = 0.0, 0, 0, 0.0
    for point in range(args.points + 1):
        while trained_s < args.minutes * 60 * point / max(1, args.points):
            began = time.process_time()
            left = max(0.0, 1 - trained_s / (args.minutes * 60))
            optimizer.param_groups[0]["lr"] = args.rate * left
            steps = play(games, network)
            entropy = update(network, optimizer, steps, args.entropy * left)
            decisions += STEPS * args.games
            played += int(sum((step["sign"] == 0).sum() for step in steps))
            trained_s += time.process_time() - began
            if args.out:
                torch.save(network.state_dict(), args.out)
        is_last = point == args.points
        size = args.match if is_last else args.probe
        seed = 10**6 if is_last else 10**5
        share = match(Policy(network), args.game, args.level, size, seed) if size else None
        curve.append({"minutes": round(trained_s / 60, 2), "decisions": decisions, "games": played,
                      "entropy": round(entropy, 3), "level": args.level, "match": size, "share": share})  # fmt: skip
        print(json.dumps(curve[-1]), flush=True)
        if args.curve:
            with open(args.curve, "w", encoding="utf-8") as file:
                file.writelines(json.dumps(line) + "\n" for line in curve)


if __name__ == "__main__":
    main()
