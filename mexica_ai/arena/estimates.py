"""A figure with its interval."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A mean and its 95 % interval.

    Parameters
    ----------
    mean : float or None
        None where there is nothing to take the mean of.
    low, high : float or None
        None with fewer than two blocks.
    """

    mean: float | None
    low: float | None = None
    high: float | None = None
