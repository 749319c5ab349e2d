"""Sets of numbers from 0 to 63, as bits."""

from libc.stdint cimport uint64_t


cdef extern from *:
    """
    #define cext_set_first(set) __builtin_ctzll(set)
    #define cext_set_size(set) __builtin_popcountll(set)
    #ifdef __BMI2__
    #define cext_set_member(set, k) __builtin_ctzll(__builtin_ia32_pdep_di(1ull << (k), set))
    #else
    static inline int cext_set_member(unsigned long long set, int k) {
        while (k-- > 0)
            set &= set - 1;
        return __builtin_ctzll(set);
    }
    #endif
    """
    int set_first "cext_set_first"(uint64_t set) noexcept nogil        # the lowest member; the set is not empty
    int set_size "cext_set_size"(uint64_t set) noexcept nogil
    int set_member "cext_set_member"(uint64_t set, int k) noexcept nogil   # the k-th lowest member, from 0
