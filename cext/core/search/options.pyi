OPTIONS: dict[str, tuple[float, float, float]]
