"""Data from records, and the tree of a search: what is written is what was played and searched."""

import dataclasses
import io
import json
from concurrent.futures import Future

import numpy as np
import pytest

import mexica_ai as ai
from cext.core.search.search import Search
from mexica_ai import env
from mexica_ai.analysis.tree import search_tree
from mexica_ai.cli.main import main
from mexica_ai.game import registry
from mexica_ai.io.errors import MexicaAIError, NotationError, SearchError
from mexica_ai.train.export import MANIFEST, Settings, export, make_shard


class Here:
    """An executor that runs each call at once, and can be told to fail."""

    def __init__(self, fails=()):
        self.fails = set(fails)
        self.calls = 0

    def submit(self, call):
        future = Future()
        self.calls += 1
        if self.calls in self.fails:
            future.set_exception(RuntimeError("no power"))
        else:
            try:
                future.set_result(call())
            except Exception as error:
                future.set_exception(error)
        return future


def nim_record(seed, *, finished=True):
    position = ai.new_game("nim", piles=[2, 1 + seed % 3], plies_per_turn=2)
    while not position.is_over and (finished or not position.history):
        position.push(ai.best_turn(position, iterations=2, seed=seed).turn)
    return json.dumps(ai.make_record(position)).encode()


def records(count):
    return [(f"games:{number + 1}", nim_record(number)) for number in range(count)]


def load(folder, number):
    return np.load(folder / f"shard-{number:05}.npz")


def test_rows_are_what_was_played(tmp_path):
    given = [*records(3), ("games:4", nim_record(1, finished=False))]
    summary = export(given, tmp_path, Here(), format="npz", records_per_shard=2, iterations=40, positions=True)
    assert (summary.shards, summary.written, summary.records, summary.unfinished) == (2, 2, 4, 1)
    rows, parts = 0, registry.get("nim")
    for shard in range(2):
        data = load(tmp_path, shard)
        for i, number in enumerate(data["record"]):
            record = json.loads(given[number][1])
            turn, action = data["turn"][i], data["action"][i]
            position = ai.position_at(record, int(turn))
            for text in record["turns"][turn][:action]:
                position.push_action(text)
            seat = position.to_move
            np.testing.assert_array_equal(data["observation"][i], env.observe(position))
            legal = data["legal"][data["legal_offsets"][i] : data["legal_offsets"][i + 1]]
            assert legal.tolist() == position.state.legal_actions()
            assert parts.text.format_action(int(legal[data["played"][i]])) == record["turns"][turn][action]
            visits = data["visits"][data["legal_offsets"][i] : data["legal_offsets"][i + 1]]
            assert visits.any() == data["searched"][i]
            if action == 0 and len(legal) > 1:
                assert visits.sum() >= 1
                assert abs(data["value"][i].sum() - 1) < 1e-6
            returns = ai.replay(record).state.returns()
            assert data["returns"][i].tolist() == [*returns[seat:], *returns[:seat], 0, 0]
            assert ai.Position.from_json(json.loads(str(data["position"][i]))) == position
            rows += 1
    assert rows == summary.rows == sum(len(turn) for _, text in given[:3] for turn in json.loads(text)["turns"])


def test_an_export_goes_on_where_it_stopped(tmp_path):
    given = records(5)
    with pytest.raises(RuntimeError, match="no power"):
        export(given, tmp_path, Here(fails=[2]), format="npz", records_per_shard=2)
    assert load(tmp_path, 0)["record"].max() == 1
    progress = []
    summary = export(
        given, tmp_path, Here(), format="npz", records_per_shard=2, on_progress=lambda *done: progress.append(done)
    )
    assert (summary.shards, summary.written) == (3, 2)
    assert progress == [(1, 3), (2, 3), (3, 3)]
    assert load(tmp_path, 2)["record"].tolist() == [4] * len(load(tmp_path, 2)["record"])
    with pytest.raises(SearchError, match="other records or settings"):
        export(given[:4], tmp_path, Here(), format="npz", records_per_shard=2)
    with pytest.raises(SearchError, match="other records or settings"):
        export(given, tmp_path, Here(), format="npz", records_per_shard=2, iterations=5)
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    assert manifest["observation"] == env.schema("nim").to_json()


@pytest.mark.parametrize("actions", ["ids", "features"])
def test_rows_have_what_is_known_of_the_actions(tmp_path, actions):
    export(records(2), tmp_path, Here(), format="npz", actions=actions)
    data = load(tmp_path, 0)
    for i, number in enumerate(data["record"]):
        record, turn = json.loads(nim_record(int(number))), int(data["turn"][i])
        position = ai.position_at(record, turn)
        for text in record["turns"][turn][: data["action"][i]]:
            position.push_action(text)
        state = position.state
        expected = state.action_ids() if actions == "ids" else state.action_features()
        rows = slice(data["legal_offsets"][i], data["legal_offsets"][i + 1])
        np.testing.assert_array_equal(data[f"action_{actions}"][rows], expected)
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    assert manifest["settings"]["actions"] == actions
    assert manifest.get("actions") == (env.action_schema("nim").to_json() if actions == "features" else None)


@pytest.mark.parametrize("actions", [None, "ids", "features"])
def test_both_formats_hold_the_same(actions):
    parquet = pytest.importorskip("pyarrow.parquet")
    found = {}
    for format in ("npz", "parquet"):
        data, found[format], _ = make_shard(records(2), 0, Settings("nim", format, 20, 3, True, actions))
        found[format] = np.load(io.BytesIO(data)) if format == "npz" else parquet.read_table(io.BytesIO(data))
    table, arrays = found["parquet"], found["npz"]
    for name in ("record", "turn", "action", "seat", "played", "searched", "observation", "value", "returns", "scores"):
        assert table[name].to_pylist() == arrays[name].tolist()
    kept = [f"action_{actions}"] if actions else []
    assert [name for name in table.column_names if name.startswith("action_")] == kept
    for name in ("legal", "visits", *kept):
        assert [one for row in table[name].to_pylist() for one in row] == arrays[name].tolist()
    assert table["position"].to_pylist() == arrays["position"].tolist()


def test_what_is_refused(tmp_path):
    mixed = [*records(1), ("games:2", b'{"game": "mexica"}')]
    with pytest.raises(NotationError, match="games:2: a record of mexica, after records of nim"):
        export(mixed, tmp_path, Here())
    with pytest.raises(NotationError, match="no records"):
        export([], tmp_path, Here())
    bad = [("games:1", records(1)[0][1].replace(b"take", b"give"))]
    with pytest.raises(NotationError, match=r"^games:1: "):
        export(bad, tmp_path, Here(), format="npz")


@pytest.mark.parametrize("game", registry.names())
def test_a_tree_adds_up(game):
    position = ai.new_game(game, players=2, seed=1)
    nodes = search_tree(position, ai.SearchSettings(ai.Limits(None, 300), seed=1))
    assert nodes[0]["visits"] == 300
    assert nodes[0]["turn"] == 0
    legal = set(position.legal_actions())
    assert {edge["action"] for edge in nodes[0]["edges"]} <= legal
    assert sum(edge["visits"] for edge in nodes[0]["edges"]) in (299, 300)
    for number, node in enumerate(nodes):
        assert node["id"] == number
        for edge in node["edges"]:
            if edge["node"] is not None:
                assert nodes[edge["node"]]["visits"] >= edge["visits"]
                assert nodes[edge["node"]]["turn"] - node["turn"] in (0, 1)
    with pytest.raises(SearchError, match=r"visits: given 1000000.*; expected at most 300, those of the root"):
        search_tree(position, ai.SearchSettings(ai.Limits(None, 300), seed=1), visits=10**30)
    few = search_tree(position, ai.SearchSettings(ai.Limits(None, 300), seed=1), visits=30)
    assert [node["visits"] for node in few] == [node["visits"] for node in nodes if node["visits"] >= 30]
    assert all(edge["visits"] >= 30 for node in few for edge in node["edges"])


def test_visits_at_a_state():
    position = ai.new_game("nim", piles=[2, 1], plies_per_turn=2)
    search = Search(position.state, seed=1, solve=0)
    search.run(iterations=50)
    visits = search.visits_at(position.state)
    assert sum(visits.values()) in (49, 50)
    after = position.state.copy()
    after.apply(max(visits, key=visits.get))
    assert search.visits_at(after)
    fresh = Search(position.state, seed=1, solve=0)
    fresh.run(iterations=1)
    later = position.state.copy()
    later.apply(later.legal_actions()[1])
    later.apply(later.legal_actions()[-1])
    assert fresh.visits_at(later) is None
    with pytest.raises(TypeError, match="expected a state of nim"):
        search.visits_at(ai.new_game("mexica").state)


def test_a_tree_as_dot(tmp_path, capsys):
    path = tmp_path / "tree.dot"
    assert main(["tree", "examples/nim.json", "--iterations", "200", "--seed", "1", "--out", str(path)]) == 0
    text = path.read_text()
    assert text.startswith("digraph search {\n")
    assert text.endswith("}\n")
    nodes = [line for line in text.splitlines() if "visits" in line]
    assert capsys.readouterr().out == f"{len(nodes)} nodes with at least 10 visits of 200: {path}; seed 1\n"
    assert main(["tree", "examples/nim.json", "--out", str(tmp_path / "no" / "tree.dot")]) == 2


def test_a_tree_with_fewer_visits_than_asked_for_is_refused_and_writes_nothing(tmp_path, capsys):
    path = tmp_path / "tree.jsonl"
    command = ["tree", "examples/nim.json", "--iterations", "20", "--visits", "21", "--out", str(path)]
    assert main(command) != 0
    assert "visits: given 21; expected at most 20, those of the root" in capsys.readouterr().err
    assert not path.exists()


def test_a_bad_record_can_be_corrected_before_the_first_shard(tmp_path):
    bad = [records(1)[0], ("games:2", records(1)[0][1].replace(b"take", b"give"))]
    with pytest.raises(NotationError, match=r"^games:2: "):
        export(bad, tmp_path, Here(), format="npz")
    assert export(records(2), tmp_path, Here(), format="npz").written == 1
    with pytest.raises(SearchError, match="other records or settings"):
        export(records(3), tmp_path, Here(), format="npz")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[1, 2]", "games:1: given a list of 2 entries; expected an object"),
        (b"{}", r"games:1\.game: given null; expected a string"),
        (b'{"game": [1]}', r"games:1\.game: given a list of 1 entries; expected a string"),
        (b'{"game": "chess"}', "games:1: .*chess"),
    ],
)
def test_a_record_without_a_game_is_named(tmp_path, text, message):
    with pytest.raises(MexicaAIError, match=message):
        export([("games:1", text)], tmp_path / "new", Here(), format="npz")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "csv"}, 'format: given "csv"; expected parquet or npz'),
        ({"actions": "text"}, 'actions: given "text"; expected "ids", "features" or None'),
        ({"records_per_shard": 0}, "records_per_shard: given 0; expected an integer of at least 1"),
        ({"records_per_shard": 2.5}, "records_per_shard: given 2.5; expected an integer of at least 1"),
    ],
)
def test_options_of_an_export_out_of_range_are_refused(tmp_path, options, message):
    with pytest.raises(SearchError, match=message):
        export(records(1), tmp_path / "new", Here(), **options)
    assert not (tmp_path / "new").exists()


def test_records_of_a_game_without_observations_are_bad_input(tmp_path, monkeypatch, capsys):
    (tmp_path / "game.json").write_bytes(nim_record(1))
    game = registry.get("nim")
    without = dataclasses.replace(game, learning=dataclasses.replace(game.learning, schema=None))
    monkeypatch.setattr(registry, "get", lambda name: without)
    command = ["export", str(tmp_path / "game.json"), "--format", "npz", "--out", str(tmp_path / "new")]
    assert main(command) == 2
    assert "nim has observations, but no layout of them" in capsys.readouterr().err
