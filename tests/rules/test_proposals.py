"""Proposals of any game: here of nim, in which seats agree to leave the last object of a pile alone."""

import dataclasses

import pytest

import mexica_ai as ai
from mexica_ai import testing
from mexica_ai.game import proposals, registry
from mexica_ai.game.contract import Opinion, Proposals
from mexica_ai.rpc import wire

NIM = registry.get("nim")


def offered(state):
    return [f"take {pile} {left}" for pile, left in enumerate(NIM.text.format_position(state)["piles"], 1) if left]


def judge(state, actions):
    return [Opinion(one, one.endswith(" 1"), "SMALL", "it is one object", [one.split()[1]], []) for one in actions]


@pytest.fixture
def nim(monkeypatch):
    game = dataclasses.replace(NIM, proposals=Proposals(offered, judge, "Agree …", "Is it the last one?"))
    find = registry.get
    monkeypatch.setattr(registry, "get", lambda name: game if name == "nim" else find(name))
    return game


def test_any_game_may_have_proposals(nim):
    position = ai.new_game("nim", piles=[1, 3, 0, 1])
    assert proposals.offered(position) == ["take 1 1", "take 2 3", "take 4 1"]
    verdict = ai.consider_proposal(position, ["take 4 1", "take 1 1"])
    assert (verdict.agrees, [one.places for one in verdict.opinions]) == (True, [["4"], ["1"]])
    assert not ai.consider_proposal(position, ["take 1 1", "take 2 3"]).agrees
    assert wire.verdict_from_message(wire.verdict_to_message(verdict)) == verdict
    with pytest.raises(ai.PositionError, match=r"actions\[1\]: .* each once: take 1 1, take 2 3, take 4 1$"):
        ai.consider_proposal(position, ["take 1 1", "take 1 1"])
    testing.check_proposals(nim)


def test_a_game_in_which_nothing_is_agreed_on_says_so():
    with pytest.raises(ai.PositionError, match="given one of nim; expected one of a game in which seats agree"):
        ai.consider_proposal(ai.new_game("nim"), ["take 1 1"])
