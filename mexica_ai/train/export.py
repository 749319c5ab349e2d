"""Data for learning from records of games: a row for each action that a seat played, in shards.

A row has what the seat saw, its legal actions, which of them it played, how often a new search tried each of them (with
`iterations`), and how the game ended. ``docs/env.md`` describes the columns. Main function: `export`.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cext.core.learning.tensor import observation
from cext.core.search.search import Search
from mexica_ai.analysis.search import weights_for
from mexica_ai.game import registry
from mexica_ai.game.observations import action_schema, check_actions, schema
from mexica_ai.game.position import Position
from mexica_ai.game.records import parse_record, position_at, replay
from mexica_ai.game.schema import SEATS
from mexica_ai.io import files
from mexica_ai.io.arguments import bad_option
from mexica_ai.io.errors import MexicaAIError, NotationError, SearchError
from mexica_ai.io.strict import check_shape, parse_json
from mexica_ai.train.job_file import run_jobs

VERSION = 1  # of the columns
FORMATS = ("parquet", "npz")
ACTIONS = ("ids", "features")
MANIFEST = "export.json"
RECORDS_PER_SHARD = 64


Row = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """How rows are made.

    Attributes
    ----------
    game : str
    format : str
        One of `FORMATS`.
    iterations : int or None
        Of a search before each turn, whose visits become the policies; None: no search.
    seed : int
        Of the searches.
    positions : bool
        Whether rows also have the seat's view as JSON.
    actions : str or None
        What rows also have of their legal actions: ``"ids"``, ``"features"``, or nothing.
    """

    game: str
    format: str
    iterations: int | None
    seed: int
    positions: bool
    actions: str | None = None


@dataclass
class Summary:
    """The figures of an export.

    Attributes
    ----------
    shards, written : int
        Shards of the export, and those of them written now.
    rows, records, unfinished : int
        Rows, records and unfinished records, which have no rows, of the shards written now.
    """

    shards: int
    written: int = 0
    rows: int = 0
    records: int = 0
    unfinished: int = 0


def export(
    records: Sequence[tuple[str, bytes]],
    folder: Path,
    executor: Executor,
    *,
    format: str = FORMATS[0],
    iterations: int | None = None,
    seed: int = 1,
    positions: bool = False,
    actions: str | None = None,
    records_per_shard: int = RECORDS_PER_SHARD,
    concurrency: int = 1,
    on_progress: Callable[[int, int], None] = lambda done, shards: None,
) -> Summary:
    """Write the shards that a folder lacks; a shard appears as a whole, so an interrupted export can go on.

    Parameters
    ----------
    records : sequence of (str, bytes)
        For each record where it stands, for messages, and its text. All of one game.
    folder : Path
        Made if it does not exist. The file `MANIFEST` describes the export.
    executor : Executor
        Runs the shards. Not shut down.
    format : str
        One of `FORMATS`.
    iterations : int, optional
        Of the search before each turn; without it there are no policies.
    seed : int
        Of the searches.
    positions : bool
        Whether rows also have the seat's view as JSON.
    actions : str, optional
        ``"ids"`` or ``"features"``: what rows also have of their legal actions.
    records_per_shard : int
    concurrency : int
        Shards at a time.
    on_progress : callable
        Called with the number of shards that are there, and of all.

    Raises
    ------
    NotationError, UnknownGameError, PositionError, IllegalActionError
        A record is bad, or they are of several games (reason SEVERAL_GAMES), or there is none (NO_RECORD).
    SearchError
        `format`, `actions` or `records_per_shard` is out of range (reason INVALID_OPTION), the game has no observations
        (NO_OBSERVATIONS), ids (NO_ACTION_IDS) or features of actions (NO_ACTION_FEATURES), the folder holds shards of
        another export (INVALID_PATH), or as `mexica_ai.train.job_file.run_jobs`.
    OSError
        A file cannot be written.
    """
    if format not in FORMATS:
        raise bad_option("format", format, " or ".join(FORMATS))
    if type(records_per_shard) is not int or records_per_shard < 1:
        raise bad_option("records_per_shard", records_per_shard, "an integer of at least 1")
    if not records:
        raise NotationError("no records; expected at least one", reason="NO_RECORD")
    settings = Settings(_game_of(records), format, iterations, seed, positions, actions)
    check_actions(settings.game, actions)
    shards = [records[at : at + records_per_shard] for at in range(0, len(records), records_per_shard)]
    _begin(folder, settings, records, records_per_shard)
    paths = [folder / f"shard-{number:05}.{format}" for number in range(len(shards))]
    missing = [number for number, path in enumerate(paths) if not path.exists()]
    summary = Summary(len(shards))
    on_progress(len(shards) - len(missing), len(shards))

    def write(number: int, found: tuple[bytes, int, int]) -> None:
        data, rows, unfinished = found
        files.replace(str(paths[number]), data, "--out")
        summary.written += 1
        summary.rows += rows
        summary.records += len(shards[number])
        summary.unfinished += unfinished
        on_progress(len(shards) - len(missing) + summary.written, len(shards))

    def job(number: int) -> Callable[[], tuple[bytes, int, int]]:
        return partial(make_shard, shards[number], number * records_per_shard, settings)

    run_jobs(missing, job, write, executor, concurrency=concurrency, name="shard")
    return summary


def _game_of(records: Sequence[tuple[str, bytes]]) -> str:
    games: dict[str, str] = {}
    for where, text in records:
        record = parse_record(text, where)
        check_shape(record, dict, where)
        check_shape(record.get("game"), str, f"{where}.game")
        games.setdefault(record["game"], where)
    if len(games) > 1:
        (first, _), (other, where), *_ = games.items()
        raise NotationError(
            f"{where}: a record of {other}, after records of {first}; expected records of one game",
            reason="SEVERAL_GAMES",
        )
    ((game, where),) = games.items()
    try:
        registry.get(game)
    except MexicaAIError as error:
        error.args = (f"{where}: {error}",)
        raise
    return game


def _begin(folder: Path, settings: Settings, records: Sequence[tuple[str, bytes]], records_per_shard: int) -> None:
    """Write the manifest of an export, or check that the one that is there is the same.

    A manifest without shards is replaced: the records may have been corrected since.
    """
    digest = hashlib.sha256()
    for _, text in records:
        digest.update(text.strip() + b"\n")
    manifest = {
        "version": VERSION,
        "settings": asdict(settings),
        "records": len(records),
        "records_per_shard": records_per_shard,
        "sha256": digest.hexdigest(),
        "observation": schema(settings.game).to_json(),
    }
    if settings.actions == "features":
        manifest["actions"] = action_schema(settings.game).to_json()
    if settings.iterations is not None and (weights := registry.get(settings.game).weights()) is not None:
        manifest["weights"] = weights.version
    with files.writing(folder, "--out"):
        folder.mkdir(parents=True, exist_ok=True)
    path = folder / MANIFEST
    if path.exists() and any(folder.glob("shard-*")):
        try:
            known = parse_json(files.read_text(path, files.MAX_JSON))
        except NotationError:
            known = None
        if known != manifest:
            raise SearchError(
                f"{folder} holds an export of other records or settings; expected an empty folder, or the same again",
                reason="INVALID_PATH",
            )
        return
    files.replace(str(path), json.dumps(manifest, indent=1) + "\n", "--out")


def make_shard(records: Sequence[tuple[str, bytes]], first: int, settings: Settings) -> tuple[bytes, int, int]:
    """Return a shard as the content of its file, its number of rows, and that of unfinished records.

    Parameters
    ----------
    records : sequence of (str, bytes)
    first : int
        Number of the first record in the whole export.
    settings : Settings
    """
    rows: list[dict[str, Any]] = []
    unfinished = 0
    for number, (where, text) in enumerate(records, first):
        try:
            found = list(_rows_of(text, number, settings))
        except MexicaAIError as error:
            error.args = (f"{where}: {error}",)
            raise
        unfinished += not found
        rows += found
    return _WRITERS[settings.format](rows, settings), len(rows), unfinished


def _rows_of(text: bytes, number: int, settings: Settings) -> Iterator[Row]:
    """Yield the rows of a record; none if the game is not over."""
    record = parse_record(text)
    end = replay(record)
    if not end.is_over:
        return
    parse_action = registry.get(settings.game).text.parse_action
    returns, scores = end.state.returns(), end.scores
    position = position_at(record, 0)
    for turn_index, turn in enumerate(record["turns"]):
        if position.is_chance:
            position.push(turn)
            continue
        seat, state = position.to_move, position.state.copy()
        assert seat is not None
        search = _search(position, settings, (number, turn_index))
        value = search.result(1)["candidates"][0]["value"] if search else [0.0] * position.players
        for action_index, action_text in enumerate(turn):
            legal, action = state.legal_actions(), parse_action(action_text)
            visits = (search.visits_at(state) if search else None) or {}
            row = {
                "record": number,
                "turn": turn_index,
                "action": action_index,
                "seat": seat,
                "players": position.players,
                "observation": observation(state, seat),
                "legal": legal,
                "played": legal.index(action) if action in legal else -1,
                "searched": any(visits.values()),
                "visits": [visits.get(one, 0) for one in legal] if search else [],
                "value": from_seat(value, seat),
                "returns": from_seat(returns, seat),
                "scores": from_seat(scores, seat),
            }
            if settings.actions == "ids":
                row["action_ids"] = state.action_ids()
            elif settings.actions == "features":
                row["action_features"] = state.action_features()
            if settings.positions:
                row["position"] = json.dumps(Position(settings.game, state.copy()).view(seat).to_json())
            yield row
            state.apply(action)
        position.push(turn)


def _search(position: Position, settings: Settings, place: tuple[int, int]) -> Search | None:
    """Return a finished search of a turn; None without iterations."""
    if settings.iterations is None:
        return None
    seed = int(np.random.SeedSequence((settings.seed, *place)).generate_state(1, np.uint64)[0]) >> 1
    search = Search(position.state, weights=weights_for(settings.game, None), seed=seed, solve=0)
    search.run(iterations=settings.iterations)
    return search


def from_seat(numbers: Sequence[float], seat: int) -> list[float]:
    """Return the numbers of the seats from a seat on, then 0 for those that there are not."""
    numbers = [float(number) for number in numbers]
    return numbers[seat:] + numbers[:seat] + [0.0] * (SEATS - len(numbers))


_TYPES: dict[str, type[np.generic]] = {
    "record": np.int32, "turn": np.int32, "action": np.int16, "seat": np.int8, "players": np.int8,
    "played": np.int32, "searched": np.bool_,
}  # fmt: skip


def _features(rows: list[Row], settings: Settings) -> np.ndarray:
    """Return the features of the legal actions of all rows, one after the other."""
    none = np.zeros((0, action_schema(settings.game).size), np.float32)
    return np.concatenate([none, *(row["action_features"] for row in rows)])


def _write_npz(rows: list[Row], settings: Settings) -> bytes:
    columns: dict[str, Any] = {name: np.array([row[name] for row in rows], kind) for name, kind in _TYPES.items()}
    size = schema(settings.game).size
    columns["observation"] = np.array([row["observation"] for row in rows], np.float32).reshape(-1, size)
    for name in ("value", "returns", "scores"):
        columns[name] = np.array([row[name] for row in rows], np.float32).reshape(-1, SEATS)
    columns["legal_offsets"] = np.cumsum([0, *(len(row["legal"]) for row in rows)], dtype=np.int64)
    columns["legal"] = np.array([action for row in rows for action in row["legal"]], np.uint64)
    columns["visits"] = np.array([visits for row in rows for visits in row["visits"]], np.uint32)
    if settings.actions == "ids":
        columns["action_ids"] = np.array([number for row in rows for number in row["action_ids"]], np.int32)
    elif settings.actions == "features":
        columns["action_features"] = _features(rows, settings)
    if settings.positions:
        columns["position"] = np.array([row["position"] for row in rows], np.str_)
    content = io.BytesIO()
    np.savez_compressed(content, **columns)
    return content.getvalue()


def _write_parquet(rows: list[Row], settings: Settings) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    columns: dict[str, Any] = {
        name: pa.array(np.array([row[name] for row in rows], kind)) for name, kind in _TYPES.items()
    }
    size = schema(settings.game).size
    flat = np.concatenate([row["observation"] for row in rows]) if rows else np.zeros(0, np.float32)
    columns["observation"] = pa.FixedSizeListArray.from_arrays(pa.array(flat, pa.float32()), size)
    for name in ("value", "returns", "scores"):
        flat = np.array([row[name] for row in rows], np.float32).reshape(-1)
        columns[name] = pa.FixedSizeListArray.from_arrays(pa.array(flat, pa.float32()), SEATS)
    columns["legal"] = pa.array([row["legal"] for row in rows], pa.list_(pa.uint64()))
    columns["visits"] = pa.array([row["visits"] for row in rows], pa.list_(pa.uint32()))
    if settings.actions == "ids":
        columns["action_ids"] = pa.array([row["action_ids"] for row in rows], pa.list_(pa.int32()))
    elif settings.actions == "features":
        flat = _features(rows, settings)
        offsets = np.cumsum([0, *(len(row["legal"]) for row in rows)], dtype=np.int32)
        actions = pa.FixedSizeListArray.from_arrays(pa.array(flat.reshape(-1), pa.float32()), flat.shape[1])
        columns["action_features"] = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), actions)
    if settings.positions:
        columns["position"] = pa.array([row["position"] for row in rows], pa.string())
    content = pa.BufferOutputStream()
    parquet.write_table(pa.table(columns), content, compression="zstd")
    return content.getvalue().to_pybytes()


_WRITERS: dict[str, Callable[[list[Row], Settings], bytes]] = {"parquet": _write_parquet, "npz": _write_npz}
