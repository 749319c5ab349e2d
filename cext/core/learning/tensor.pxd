"""Observations as rows of floats: the writers that the games' `observe` share. Each returns where the next one goes on.

Seats are counted from the viewer: its own is 0, the one that plays after it 1. What belongs to seats that do not take
part is 0.
"""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

from cext.core.contract.types cimport MAX_SEATS


cdef inline float* tensor_number(float* out, double number) noexcept nogil:
    out[0] = <float>number
    return out + 1


# `size` numbers: 1 at the index, else 0; all 0 if there is no such index.
cdef inline float* tensor_one_hot(float* out, int index, int size) noexcept nogil:
    memset(out, 0, size * sizeof(float))
    if 0 <= index < size:
        out[index] = 1.0
    return out + size


cdef inline float* tensor_zeros(float* out, int size) noexcept nogil:
    memset(out, 0, size * sizeof(float))
    return out + size


cdef inline float* tensor_bytes(float* out, const uint8_t* numbers, int size) noexcept nogil:
    cdef int i
    for i in range(size):
        out[i] = numbers[i]
    return out + size


# The lowest `size` bits of a set.
cdef inline float* tensor_bits(float* out, uint64_t bits, int size) noexcept nogil:
    cdef int i
    for i in range(size):
        out[i] = <float>(bits >> i & 1)
    return out + size


# The seat that is k-th from the viewer on, 0 <= k < MAX_SEATS; -1 if there are fewer.
cdef inline int tensor_seat(int viewer, int k, int num_players) noexcept nogil:
    return (viewer + k) % num_players if k < num_players else -1


# How far a seat is from the viewer, for one-hot: -1 (no index) for CHANCE and TERMINAL.
cdef inline int tensor_distance(int viewer, int seat, int num_players) noexcept nogil:
    return (seat - viewer + num_players) % num_players if seat >= 0 else -1


# What every observation begins with: the number of seats, and the seat to move (MAX_SEATS numbers; all 0 if none is).
cdef inline float* tensor_head(float* out, int viewer, int player, int num_players) noexcept nogil:
    out = tensor_number(out, num_players)
    return tensor_one_hot(out, tensor_distance(viewer, player, num_players), MAX_SEATS)
