"""Weights: the numbers that a game's `policy` and `evaluate` use, as an immutable value."""

from cext.core.contract.game cimport GameOps


cdef class Weights:
    """Owner of one set of weights. The memory never changes, and is valid as long as the owner lives."""
    cdef readonly str game
    cdef readonly str sha256
    cdef const float* data          # aligned to 64 bytes, `size` bytes; the game documents the layout
    cdef size_t size
    cdef dict _shapes
    cdef bint _has_policy
    cdef int _policy_size           # floats that memory has room for, the last one apart
    cdef object _provenance


# The pointer to pass to a game's `policy` and `evaluate`: NULL for a game without weights. The caller holds a reference
# to `weights` (Weights or None) while it uses the pointer. Raises TypeError if the game needs weights and there are
# none, or they are of another game.
cdef const void* weights_data(const GameOps* ops, object weights) except? NULL
