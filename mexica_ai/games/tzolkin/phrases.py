"""Actions, tiles, temples and tracks of Tzolk'in as phrases, which can be said in each language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mexica_ai.game.phrases import Phrase, phrase
from mexica_ai.games.tzolkin.facts import BUILDINGS, CHICHEN, GEARS, MONUMENTS, WEALTH
from mexica_ai.io.json_types import JsonObject


def temple(name: str) -> Phrase:
    """Return the name of a temple."""
    return phrase(f"temple.{name}")


def track(name: str) -> Phrase:
    """Return the name of a technology."""
    return phrase(f"track.{name}")


def gear(name: str) -> Phrase:
    """Return the name of a gear."""
    return phrase(f"gear.{name}")


def materials(amounts: Mapping[str, int]) -> list[Phrase]:
    """Return amounts in words."""
    return [phrase(f"material.{kind}", number=number) for kind, number in amounts.items()]


def effect(found: JsonObject) -> Phrase:
    """Return one effect of a tile."""
    match found["do"]:
        case "gain":
            return phrase("effect.gain", materials=materials(found["materials"]))
        case "points":
            return phrase("effect.points", points=found["points"])
        case "temple_up":
            return phrase("effect.temple_up", temple=temple(found["temple"]), steps=found["steps"])
        case "research":
            return phrase("effect.research", track=track(found["track"]))
        case "research_any":
            return phrase("effect.research_any", steps=found["steps"])
        case "feed_free_workers":
            return phrase("effect.feed_free_workers", workers=found["workers"])
        case "feed_discount_per_worker":
            return phrase("effect.feed_discount_per_worker", corn=found["corn"])
    return phrase(f"effect.{found['do']}")


def effects(found: Iterable[JsonObject]) -> list[Phrase]:
    """Return the effects of a tile."""
    return [effect(one) for one in found]


def building(name: str) -> Phrase:
    """Return a building by its kind and effects."""
    tile = BUILDINGS[name]
    return phrase("tile.building", category=phrase(f"category.{tile['category']}"), effects=effects(tile["effects"]))


def wealth(name: str) -> Phrase:
    """Return a starting tile."""
    return phrase("tile.wealth", effects=effects(WEALTH[name]["effects"]))


def scoring(name: str, players: int) -> Phrase:
    """Return what a monument counts."""
    tile = MONUMENTS[name]
    rule, key = tile["scoring"], f"scoring.{tile['scoring']['kind']}"
    match rule["kind"]:
        case "tiles_of_category":
            return phrase(key, points=rule["points"], category=phrase(f"category.{rule['category']}"))
        case "harvest_tiles":
            return phrase(f"{key}.{rule['tile']}", points=rule["points"])
        case "monuments_of_all":
            return phrase(key, points=rule["points_by_players"][str(players)])
        case "full_tracks":
            one, two, three, *_ = rule["points_by_count"][1:]
            return phrase(key, one=one, two=two, three=three)
        case "workers":
            counts = rule["points_by_count"]
            return phrase(key, four=counts["4"], five=counts["5"], six=counts["6"])
        case "temple_points":
            return phrase(key)
    return phrase(key, points=rule["points"])


def monument(name: str, players: int) -> Phrase:
    """Return a monument by its kind and what it counts."""
    category = phrase(f"category.{MONUMENTS[name]['category']}")
    return phrase("tile.monument", category=category, scoring=scoring(name, players))


def gear_action(name: str, space: int) -> Phrase:
    """Return what an action of a gear does; its number is from 1 on."""
    if space >= GEARS[name]["free_choice_from"]:
        return phrase("action.any", gear=gear(name))
    found = GEARS[name]["actions"][space - 1]
    match found["do"]:
        case "fish":
            return phrase("action.fish", corn=found["corn"])
        case "harvest":
            key = "action.harvest" if found["wood"] else "action.harvest_corn"
            return phrase(key, corn=found["corn"], wood=found["wood"])
        case "gain":
            return phrase("action.gain", materials=materials(found["materials"]))
        case "research":
            return phrase(f"action.research.{found['advances']}")
        case "build":
            return phrase("action.build.corn" if found["pay"] == "corn" else f"action.build.{found['buildings']}")
        case "climb":
            return phrase(f"action.climb.{found['temples']}")
        case "place_skull":
            key = "action.skull_take" if found["take"] else "action.skull"
            return phrase(key, points=found["points"], temple=temple(found["temple"]))
    return phrase(f"action.{found['do']}")


def is_full(fields: JsonObject, name: str, space: int) -> bool:
    """Return whether an action of Chichen Itza has its skull."""
    return name == CHICHEN and space in fields["skulls_placed"]
