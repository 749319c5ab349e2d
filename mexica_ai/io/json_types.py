"""Types of JSON values."""

from typing import Any, TypeAlias

# An object whose shape has been checked, or is about to be.
JsonObject: TypeAlias = dict[str, Any]
JsonValue: TypeAlias = JsonObject | list[Any] | str | int | float | bool | None
