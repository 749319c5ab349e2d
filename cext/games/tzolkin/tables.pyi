from typing import Any

FACTS: dict[str, Any]
