"""An estimate with its confidence interval."""

from __future__ import annotations

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
