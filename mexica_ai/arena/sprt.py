"""The sequential probability ratio test (SPRT) on block scores.

Main function: `Sprt.state`. The score of a block is the share of the win per seat of engine 0 ("A"), see
`statistics`. Shapes: B blocks, V different scores.

Sources: Wald, "Sequential tests of statistical hypotheses", Annals of Mathematical Statistics 16 (1945); Van
den Bergh's note on multinomial distributions with a given expectation,
http://hardy.uhasselt.be/Fishtest/support_MLE_multinomial.pdf, as used by fishtest on pairs of games
(pentanomial) and here on blocks with any scores; Owen, "Empirical likelihood ratio confidence intervals for
a single functional", Biometrika 75 (1988).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mexica_ai.arena.blocks import Games
from mexica_ai.arena.outcomes import Outcome

# Weight of the prior of log_likelihood_ratios, in blocks. Error rates at alpha = beta = 5 %, at most, in 1,000
# to 2,000 simulated tests each (2-4 seats, nine shapes of blocks; 2026-11): 5.5 % with 0.001; 5.3 % with 0.25
# and 1-12 % more games; 4.7 % with 1 and 4-30 % more games.
PRIOR_BLOCKS = 0.25
MAX_ELO = 2000.0  # a share of 1 in 100,000
ADJUSTED_DIGITS = 3  # adjusted scores all differ; so there are at most some thousand values
_BISECTIONS = 32  # half of the digits suffice, since the ratio is stationary at the solution


@dataclass(frozen=True)
class SprtState:
    """The state of a test.

    Parameters
    ----------
    llr : float
        Logarithm of the generalised likelihood ratio of H1 to H0.
    lower, upper : float
        Wald's bounds: at or below `lower` H0 is accepted, at or above `upper` H1.
    decision : "H0", "H1" or None
        None while the test goes on.
    blocks : int
        Complete blocks of engine 0 up to the decision; later ones are ignored.
    """

    llr: float
    lower: float
    upper: float
    decision: Literal["H0", "H1"] | None
    blocks: int


class SequentialTest:
    """What all tests of two hypotheses about the block scores of engine 0 have; a subclass gives the ratios.

    Attributes
    ----------
    alpha : float
        Accepted probability of deciding for H1 if H0 is true, in (0, 0.5).
    beta : float
        Accepted probability of deciding for H0 if H1 is true, in (0, 0.5).
    """

    alpha: float
    beta: float

    def log_likelihood_ratios(self, scores: np.ndarray, highest: float = 1.0) -> np.ndarray:
        """Return the logarithm of the generalised likelihood ratio of H1 to H0 after each block.

        Parameters
        ----------
        scores : array of float, shape (B,)
            In [0, highest], in the order of the blocks.
        highest : float
            Greatest possible score.

        Returns
        -------
        array of float, shape (B,)
        """
        raise NotImplementedError

    def describe(self) -> str:
        """Return the two hypotheses as text."""
        raise NotImplementedError

    def _check_errors(self) -> None:
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < value < 0.5:
                raise ValueError(f"SPRT: {name} {value:g} given, a number between 0 and 0.5 expected")

    @property
    def bounds(self) -> tuple[float, float]:
        """Wald's bounds of the logarithm of the ratio."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def check_reachable(self, highest: float) -> None:
        """Raise ValueError if H1 is out of reach where `highest` is the greatest possible score of a block."""

    def state(
        self, outcomes: Sequence[Outcome], *, games_per_block: int | None = None, adjust: bool = False
    ) -> SprtState:
        """Return the state of the test after these games.

        Checks after every block, in the order in which they were completed, and keeps the first decision.
        Games that ended after the decision change nothing, so a journal always gives the same answer.

        Parameters
        ----------
        outcomes : sequence of Outcome
            In the order in which the games ended.
        games_per_block : int, optional
            Blocks with fewer games do not count. By default every block counts as complete.
        adjust : bool
            Test the shares adjusted for luck; each outcome has its luck.

        Raises
        ------
        ValueError
            A block cannot reach share1: with two of three seats, an engine has at most 1/2 per seat.

        Notes
        -----
        O(B V) per call.
        """
        games = Games(outcomes, games_per_block)
        means = games.share_means(games.on_seats(0))
        lower, upper = self.bounds
        if not len(means.values):
            return SprtState(0.0, lower, upper, None, 0)
        scores = means.values
        if adjust:
            scores = games.adjusted_means(games.on_seats(0)).values.round(ADJUSTED_DIGITS)
        llrs = self.log_likelihood_ratios(scores, means.high)
        block = self.first_decision(llrs)
        blocks = len(llrs) if block is None else block + 1
        llr = float(llrs[blocks - 1])
        decision: Literal["H0", "H1"] | None = None if block is None else "H0" if llr <= lower else "H1"
        return SprtState(llr, lower, upper, decision, blocks)

    def first_decision(self, llrs: np.ndarray) -> int | None:
        """Return the index of the first ratio at or beyond a bound."""
        lower, upper = self.bounds
        beyond = (llrs <= lower) | (llrs >= upper)
        return int(beyond.argmax()) if beyond.any() else None


@dataclass(frozen=True)
class Sprt(SequentialTest):
    """A test of H0 "the share per seat of engine 0 is share0" against H1 "it is share1".

    Parameters
    ----------
    share0, share1 : float
        In (0, 1), share0 below share1.
    alpha : float
        Accepted probability of deciding for H1 if H0 is true, in (0, 0.5).
    beta : float
        Accepted probability of deciding for H0 if H1 is true, in (0, 0.5).

    Raises
    ------
    ValueError
        A number is out of its range.
    """

    share0: float
    share1: float
    alpha: float
    beta: float

    def __post_init__(self) -> None:
        if not 0 < self.share0 < self.share1 < 1:
            raise ValueError(
                f"SPRT: shares {self.share0:g} and {self.share1:g} given, 0 < share0 < share1 < 1 expected"
            )
        self._check_errors()

    def describe(self) -> str:
        """Return the two hypotheses as text."""
        return f"H0: share {self.share0:.2%}, H1: {self.share1:.2%}"

    @classmethod
    def parse(cls, text: str, players: int) -> Sprt:
        """Read "elo0,elo1,alpha,beta" (two seats) or "share0,share1,alpha,beta" (more seats).

        With "share:" before the numbers they are shares with two seats as well. Elo is that of
        `statistics.elo`, from -2000 to 2000.

        Raises
        ------
        ValueError
            Not four numbers, or numbers out of range.

        Examples
        --------
        >>> Sprt.parse("share:0.25,0.3,0.05,0.05", 4) == Sprt.parse("0.25,0.3,0.05,0.05", 4)
        True
        """
        prefix, colon, rest = text.partition(":")
        if colon and prefix.strip() != "share":
            raise ValueError(
                f'SPRT "{text}": "{prefix.strip()}:" is unknown, only "share:" and, with two seats, "nelo:" may stand '
                "there"
            )
        as_elo = players == 2 and not colon
        names = "elo0,elo1,alpha,beta" if as_elo else "share0,share1,alpha,beta"
        try:
            numbers = [float(word) for word in (rest if colon else text).split(",")]
        except ValueError:
            numbers = []
        if len(numbers) != 4 or not all(map(math.isfinite, numbers)):
            raise ValueError(f'SPRT "{text}": four numbers expected: {names}')
        low, high, alpha, beta = numbers
        if as_elo:
            if not -MAX_ELO <= low < high <= MAX_ELO:
                raise ValueError(f'SPRT "{text}": elo0 below elo1 expected, both from {-MAX_ELO:g} to {MAX_ELO:g}')
            low, high = (1 / (1 + 10 ** (-elo / 400)) for elo in (low, high))
        return cls(low, high, alpha, beta)

    def check_reachable(self, highest: float) -> None:
        """Raise ValueError if share1 is not below `highest`, the greatest possible score of a block."""
        if self.share1 >= highest:
            raise ValueError(f"SPRT: share1 is {self.share1:g}, but a block gives at most {highest:g} a seat")

    def log_likelihood_ratios(self, scores: np.ndarray, highest: float = 1.0) -> np.ndarray:
        """Return the logarithm of the generalised likelihood ratio after each block.

        The scores are a multinomial sample with unknown probabilities. Each hypothesis gets the probabilities
        of maximum likelihood among those with its mean. The prior is PRIOR_BLOCKS observations, split between
        the least and the greatest possible score so that their mean is midway between the hypotheses: it has
        the greatest possible variance and favours neither. It keeps the ratio small while the few scores so
        far happen to be equal, and makes both means possible from the first block on.

        Parameters
        ----------
        scores : array of float, shape (..., B)
            In the order of the blocks; in [0, highest], or adjusted for luck and then without bounds.
        highest : float
            Greatest possible score that is not adjusted.

        Returns
        -------
        array of float, shape (..., B)
        """
        self.check_reachable(highest)
        # Scores that differ only by rounding count as equal.
        scores, ends = np.round(np.asarray(scores, dtype=float), 9), np.round([0.0, highest], 9)
        values = np.unique(np.append(scores, ends))
        counts = np.cumsum(scores[..., None] == values, axis=-2, dtype=float)
        middle = (self.share0 + self.share1) / 2 / highest
        counts[..., np.searchsorted(values, ends[0])] += PRIOR_BLOCKS * (1 - middle)
        counts[..., np.searchsorted(values, ends[1])] += PRIOR_BLOCKS * middle
        logs = [np.log(tilt(values, counts, share)) for share in (self.share0, self.share1)]
        ratios: np.ndarray = np.einsum("...v,...v->...", counts, logs[0] - logs[1])
        return ratios


def tilt(values: np.ndarray, counts: np.ndarray, mean: float) -> np.ndarray:
    """Return the divisors that turn the observed frequencies into the most likely ones with this mean.

    They are 1 + x (value - mean), with x chosen to give the mean (Van den Bergh, Proposition 1.1); same shape
    as `counts`. The values are those of all blocks, shape (V,), or of each, shape (..., V); there are values on both
    sides of the mean.
    """
    # Without the values that no block has had so far: later blocks change nothing.
    away = np.where(counts > 0, values - mean, 0.0)
    low = -1 / away.max(axis=-1)
    high = -1 / away.min(axis=-1)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        # Falls with x, from +inf to -inf.
        rest = np.einsum("...v,...v->...", counts, away / (1 + middle[..., None] * away))
        low, high = np.where(rest > 0, middle, low), np.where(rest > 0, high, middle)
    divisors: np.ndarray = 1 + ((low + high) / 2)[..., None] * away
    return divisors
