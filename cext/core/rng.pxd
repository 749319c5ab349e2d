"""Random streams: numpy's bit generators, used from C without the GIL. No global generator anywhere."""

from libc.stdint cimport uint64_t
from numpy.random cimport bitgen_t


cdef class Stream:
    """Owner of one numpy bit generator; `bitgen` stays valid as long as the owner lives."""
    cdef object _bit_generator
    cdef bitgen_t* bitgen


cdef inline uint64_t rng_next(bitgen_t* rng) noexcept nogil:
    return rng.next_uint64(rng.state)


cdef inline double rng_uniform(bitgen_t* rng) noexcept nogil:
    """A double in [0, 1)."""
    return rng.next_double(rng.state)


# A uniform integer in [0, n), 1 <= n < 2^32. Unbiased: Lemire, "Fast random integer generation in an interval"
# (2019), with the multiplication on 32 bits.
cdef inline int rng_below(bitgen_t* rng, int n) noexcept nogil:
    cdef uint64_t bound = <uint64_t>n
    cdef uint64_t product = <uint64_t>rng.next_uint32(rng.state) * bound
    cdef uint64_t threshold
    if (product & 0xffffffffu) < bound:
        threshold = ((<uint64_t>1 << 32) - bound) % bound
        while (product & 0xffffffffu) < threshold:
            product = <uint64_t>rng.next_uint32(rng.state) * bound
    return <int>(product >> 32)


cdef inline uint64_t mix_bits(uint64_t x) noexcept nogil:
    """The finaliser of splitmix64: a hash of 64 bits."""
    x = (x ^ (x >> 30)) * <uint64_t>0xbf58476d1ce4e5b9
    x = (x ^ (x >> 27)) * <uint64_t>0x94d049bb133111eb
    return x ^ (x >> 31)
