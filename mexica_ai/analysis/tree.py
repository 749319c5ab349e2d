"""The tree of a search as text: JSON lines for programs, DOT for pictures."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from cext.core.search.search import Search
from mexica_ai.analysis.limits import out_of_memory
from mexica_ai.analysis.search import SearchRun
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.io.errors import SearchError
from mexica_ai.io.numbers import MAX_INT64


@out_of_memory()
def search_tree(position: Position, settings: SearchSettings, *, visits: int = 1) -> list[dict[str, Any]]:
    """Search a position and return the nodes of the search's graph.

    Parameters
    ----------
    position : Position
        Not changed.
    settings : SearchSettings
    visits : int
        Nodes and edges with fewer visits are left out.

    Returns
    -------
    list of dict
        The root first. Each node has `id`, `seat` (None: a random event, or the end), `turn` (turns after the root's),
        `visits`, `value`, `expected_scores` and `edges`, the most visited first; an edge has `action` as text (None
        for an outcome of a random event), `visits`, `prior` and `node`, the id of the node that it leads to (None if
        that is left out, or depends on what is hidden).

    Raises
    ------
    GameOverError, PositionError, SearchError
        As `mexica_ai.best_turn`; or `visits` is above those of the root (SearchError, reason INVALID_LIMITS).
    """
    run = SearchRun(position, settings)
    run.result()
    search = run.search
    assert isinstance(search, Search)
    found = search.tree(min(visits, MAX_INT64))
    if not found:
        root = search.tree(1)[0]["visits"]
        raise SearchError(
            f"visits: given {visits}; expected at most {root}, those of the root",
            reason="INVALID_LIMITS",
            path="visits",
        )
    format_action = registry.get(position.game).text.format_action
    nodes = []
    for number, node in enumerate(found):
        edges = [
            edge | {"action": None if edge["action"] is None else format_action(edge["action"])}
            for edge in node["edges"]
        ]
        nodes.append({"id": number, **node, "edges": edges})
    return nodes


def format_json_lines(nodes: Iterable[dict[str, Any]]) -> str:
    """Return one JSON object a line for each node."""
    return "".join(json.dumps(node) + "\n" for node in nodes)


def format_dot(nodes: Iterable[dict[str, Any]]) -> str:
    """Return the graph in the DOT language of Graphviz; edges that lead to no node of it are left out."""
    lines = ["digraph search {", "  node [shape=box];"]
    for node in nodes:
        who = "" if node["seat"] is None else f"seat {node['seat']}\\n"
        value = " ".join(f"{share:.3f}" for share in node["value"])
        lines.append(f'  n{node["id"]} [label="{who}{node["visits"]} visits\\n{value}"];')
        for edge in node["edges"]:
            if edge["node"] is not None:
                label = json.dumps(f"{edge['action'] or 'event'}: {edge['visits']}")
                lines.append(f"  n{node['id']} -> n{edge['node']} [label={label}];")
    return "\n".join([*lines, "}"]) + "\n"
