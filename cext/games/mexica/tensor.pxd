"""Observations of Mexica, as floats; the layout is `SCHEMA` of ``mexica_ai/games/mexica/tensor.py``."""

from cext.core.contract.types cimport MAX_SEATS
from cext.games.mexica.board cimport NUM_COLUMNS, NUM_ROWS
from cext.games.mexica.state cimport NUM_OWNERS

cdef enum:
    NUM_SIZES = 11              # of calpulli tokens, 3 to 13
    NUM_PLANES = 1 + 1 + 2 + NUM_OWNERS + 1 + 1 + MAX_SEATS
    NUM_SCALARS = 10
    OBSERVATION_SIZE = (1 + MAX_SEATS + NUM_PLANES * NUM_ROWS * NUM_COLUMNS + 4 * NUM_SIZES + MAX_SEATS * (4 + 2)
                        + 3 + NUM_SCALARS)

# GameOps.observe.
cdef void tensor_observe(const void* data, int viewer, float* out) noexcept nogil
