"""Random streams derived from a seed. The functions that draw are inline in ``rng.pxd``."""

from cpython.pycapsule cimport PyCapsule_GetPointer

from numpy.random import SFC64, SeedSequence

from cext.core.contract.errors import SearchError


cdef class Stream:
    """One independent random stream.

    Parameters
    ----------
    seed : int
        0 <= seed < 2**63. The same seed and stream give the same numbers, on every machine.
    stream : int
        Index of the stream, >= 0, such as a thread's index. The streams of a seed are independent
        (`numpy.random.SeedSequence` with a spawn key).

    Raises
    ------
    SearchError
        Reason INVALID_SEED, if the seed is not an integer in this range.
    """

    def __cinit__(self, seed, stream=0):
        if not isinstance(seed, int) or not 0 <= seed < 2**63:
            raise SearchError(f"seed: {seed!r}, expected an integer from 0 to 2**63 - 1", reason="INVALID_SEED")
        self._bit_generator = SFC64(SeedSequence(entropy=seed, spawn_key=(stream,)))
        self.bitgen = <bitgen_t*>PyCapsule_GetPointer(self._bit_generator.capsule, "BitGenerator")

    def __reduce__(self):
        raise TypeError("a Stream cannot be copied or pickled: make one from its seed and its number")
