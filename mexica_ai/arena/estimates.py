"""An estimate with its confidence interval."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A mean and its 95 % confidence interval.

    Parameters
    ----------
    mean : float or None
        None if there are no values.
    low, high : float or None
        Ends of the interval; None with fewer than two blocks.
    """

    mean: float | None
    low: float | None = None
    high: float | None = None

    def to_json(self) -> list[float | None]:
        """Return the estimate as [mean, low, high]; unknown and infinite numbers are null."""
        numbers = (self.mean, self.low, self.high)
        return [None if number is None or not math.isfinite(number) else round(number, 6) for number in numbers]
