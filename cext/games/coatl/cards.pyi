COLORS: tuple[str, ...]
