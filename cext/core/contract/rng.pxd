"""Random streams: numpy's bit generators, used from C without the GIL. There is no global generator."""

from libc.stdint cimport uint32_t, uint64_t
from numpy.random cimport bitgen_t


cdef class Stream:
    """Owner of a numpy bit generator. `bitgen` is valid as long as the owner lives."""
    cdef object _bit_generator
    cdef bitgen_t* bitgen


# 64 random bits.
cdef inline uint64_t rng_next(bitgen_t* rng) noexcept nogil:
    return rng.next_uint64(rng.state)


# A double in [0, 1).
cdef inline double rng_uniform(bitgen_t* rng) noexcept nogil:
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


cdef extern from "mix.h" nogil:
    const uint64_t MIX_STEP
    uint64_t mix_bits(uint64_t x)       # the finalizer of SplitMix64: a hash of 64 bits
    uint64_t mix_step(uint64_t hash, uint64_t word)     # a hash of several words, one after the other
    uint64_t mix_word(const void* bytes)                # 8 bytes as a word
    void mix_require(bint condition)                    # of the layout of a struct; fails while C is compiled


cdef inline uint64_t _next_u64(void* state) noexcept nogil:
    cdef uint64_t* at = <uint64_t*>state
    at[0] += MIX_STEP
    return mix_bits(at[0])


cdef inline uint32_t _next_u32(void* state) noexcept nogil:
    return <uint32_t>(_next_u64(state) >> 32)


cdef inline double _next_double(void* state) noexcept nogil:
    return (_next_u64(state) >> 11) * (1.0 / 9007199254740992.0)


# Makes `rng` a SplitMix64 generator with its state at `at`, which every draw changes. For a few numbers: one of numpy's
# generators takes too long to set up.
cdef inline void rng_splitmix(bitgen_t* rng, uint64_t* at) noexcept nogil:
    rng.state = at
    rng.next_uint64 = _next_u64
    rng.next_uint32 = _next_u32
    rng.next_double = _next_double
    rng.next_raw = _next_u64
