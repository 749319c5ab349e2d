ISLAND: tuple[str, ...]
