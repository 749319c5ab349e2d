from typing import Self

class Stream:
    def __new__(cls, seed: int, stream: int = 0) -> Self: ...
