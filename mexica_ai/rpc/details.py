"""Actions as data in messages."""

from __future__ import annotations

from typing import Any

from mexica_ai.game.details import ActionDetail, TargetDetail
from mexica_ai.game.entry import MENU, Entry, Kind, Target
from mexica_ai.v1 import engine_pb2

_KIND = "TARGET_KIND_"


def detail_to_message(detail: ActionDetail) -> engine_pb2.ActionDetail:
    """Return the message of a legal action as data."""
    targets = [engine_pb2.ActionDetail.Target(kind=_KIND + one.kind, **_fields(one)) for one in detail.targets]
    return engine_pb2.ActionDetail(
        action=detail.action,
        verb=detail.verb,
        targets=targets,
        costs=[engine_pb2.Step.Cost(name=name, amount=amount) for name, amount in detail.costs.items()],
        label=detail.label,
        tool=detail.tool,
        key=detail.key,
        any_order=detail.any_order,
    )


def _fields(target: TargetDetail) -> dict[str, Any]:
    return {"name": target.name, "words": target.words, "seat": target.seat, "element": target.element}


def detail_from_message(message: engine_pb2.ActionDetail) -> ActionDetail:
    """Read a legal action as data from its message; a kind that this version does not know is UNSPECIFIED."""
    kinds = engine_pb2.TargetKind
    targets = [
        TargetDetail(
            kinds.Name(one.kind).removeprefix(_KIND) if one.kind in kinds.values() else Kind.UNSPECIFIED.name,
            one.name,
            one.words,
            one.seat if one.HasField("seat") else None,
            one.element,
        )
        for one in message.targets
    ]
    paths = (Target(one.element or MENU + one.words, Kind[one.kind], one.name, one.seat) for one in targets)
    return ActionDetail(
        action=message.action,
        verb=message.verb,
        targets=targets,
        costs={cost.name: cost.amount for cost in message.costs},
        label=message.label,
        tool=message.tool,
        key=message.key,
        any_order=message.any_order,
        entry=Entry(message.tool, tuple(paths)),
    )
