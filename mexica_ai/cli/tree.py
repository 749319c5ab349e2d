"""`mexica-ai tree`: the tree of a search, to a file."""

from __future__ import annotations

import argparse

from mexica_ai.analysis.limits import DEFAULT_MEMORY_MB, DEFAULT_THREADS, DEFAULT_TIME_S, Limits
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.analysis.tree import format_dot, format_json_lines, search_tree
from mexica_ai.cli import common
from mexica_ai.engines.specs import whole_number
from mexica_ai.io import files, terminal
from mexica_ai.io.errors import NotationError

DESCRIPTION = """\
Search a position and write the nodes of the search with at least --visits
visits. A file that ends in .dot gets a graph in the language of Graphviz, any
other one JSON object a line: id, seat, turn, visits, value, expected_scores,
and edges with action, visits, prior and node, the id of where it leads. The
first node is the root. Different orders of the same actions lead to one node.

Examples:
  mexica-ai tree game.json --iterations 20000 --visits 100 --out tree.jsonl
  mexica-ai tree game.json --time 2 --visits 200 --out tree.dot
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    common.add_position_argument(parser)
    parser.add_argument("--out", required=True, metavar="FILE", help="where to write; .dot for Graphviz")
    parser.add_argument(
        "--visits",
        type=common.argument(whole_number(1)),
        default=10,
        metavar="N",
        help="leave out nodes and edges with fewer visits (default: 10)",
    )
    common.add_search_options(parser, "1, if --iterations is not given either", has_level=False)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    position = common.read_position(args.position)
    if problem := files.problem_of(args.out, args.position):
        raise NotationError(f"--out: cannot write {args.out!r}: {problem}", reason="BAD_USAGE")
    time_s = DEFAULT_TIME_S if args.time is None and args.iterations is None else args.time
    limits = Limits(time_s, args.iterations, args.memory or DEFAULT_MEMORY_MB, args.threads or DEFAULT_THREADS)
    settings = SearchSettings(limits, args.seed)
    nodes = search_tree(position, settings, visits=args.visits)
    write = format_dot if args.out.endswith(".dot") else format_json_lines
    files.replace(args.out, write(nodes), "--out")
    what = f"{len(nodes):,} nodes with at least {args.visits:,} visits of {nodes[0]['visits']:,}"
    terminal.say(f"{what}: {args.out}; seed {settings.seed}")
    return 0
