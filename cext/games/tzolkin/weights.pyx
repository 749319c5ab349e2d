"""The enumerations of ``weights.pxd``, for Python."""

from cext.core.network cimport network_size

assert network_size(NUM_INPUTS) == NUM_WEIGHTS
