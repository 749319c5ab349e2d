"""Compiled functions that no Python function of the package shows, for tests of their own."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from cext.core.search.graph cimport (GraphC, graph_expect, graph_find, graph_find_or_add, graph_free, graph_init,
                                     graph_memory)
from cext.core.search.history cimport history_add, history_advantage, history_t
from cext.core.search.listings cimport LISTINGS_MOST, ListingsC, listings_find, listings_init, listings_keep
from cext.core.search.team cimport team_is_settled
from cext.core.contract.types cimport action_t
from cext.games.coatl.cards cimport (FACES, NUM_COLORS, NUM_FACES, NUM_TEMPLES, card_points, card_reached, card_times,
                                     neighbors_of, temple_met)


def turn_is_settled(double most, double second, double iterations, double spent_s, double left_s):
    """Return what `team_is_settled` returns."""
    return bool(team_is_settled(most, second, iterations, spent_s, left_s))


def learnt_advantage(double advantage, long long descents):
    """Return the mean advantage that the history knows after descents that all had this one."""
    cdef history_t slot = 0
    cdef long long _
    with nogil:
        for _ in range(descents):
            history_add(&slot, advantage)
    return history_advantage(&slot, 0.0)


cdef class Graph:
    """The nodes of a search for Python.

    Parameters
    ----------
    memory_mb : float
    expected : float
        Nodes for which the table has a place at first.
    """
    cdef GraphC _graph

    def __cinit__(self, double memory_mb, double expected):
        if graph_init(&self._graph, memory_mb) < 0:
            raise MemoryError
        graph_expect(&self._graph, expected)

    def __dealloc__(self):
        graph_free(&self._graph)

    def add(self, const uint64_t[::1] keys not None):
        """Return the index of the node of each key, added where it has none; 0 where there is no memory.

        Releases the GIL.
        """
        cdef list found = [0] * keys.shape[0]
        cdef uint32_t* indexes = <uint32_t*>malloc(keys.shape[0] * sizeof(uint32_t))
        cdef Py_ssize_t i, n = keys.shape[0]
        cdef bint is_new
        if indexes == NULL:
            raise MemoryError
        with nogil:
            for i in range(n):
                indexes[i] = graph_find_or_add(&self._graph, keys[i], 0, 0, 0, 0, &is_new)
        for i in range(n):
            found[i] = indexes[i]
        free(indexes)
        return found

    def find(self, uint64_t key):
        """Return the index of the node of a key, 0 if it has none."""
        return graph_find(&self._graph, key)

    @property
    def capacity(self):
        """Nodes for which there is memory, and index 0."""
        return self._graph.node_capacity

    @property
    def levels(self):
        """Levels of the table."""
        return self._graph.num_levels

    @property
    def memory(self):
        """Bytes touched so far."""
        return graph_memory(&self._graph)


cdef class Listings:
    """Kept listings for Python, as a thread of a search has them."""
    cdef ListingsC* _listings

    def __cinit__(self):
        self._listings = <ListingsC*>malloc(sizeof(ListingsC))
        if self._listings == NULL:
            raise MemoryError
        listings_init(self._listings)

    def __dealloc__(self):
        free(self._listings)

    def find(self, uint64_t key):
        """Return the actions and priors that are kept under a key.

        Parameters
        ----------
        key : int
            0 <= key < 2**64.

        Returns
        -------
        tuple of (list of int, list of float) or None
            None if nothing is kept there (any more).
        """
        cdef action_t actions[LISTINGS_MOST]
        cdef float priors[LISTINGS_MOST]
        cdef int i, n = listings_find(self._listings, key, actions, priors)
        return ([actions[i] for i in range(n)], [priors[i] for i in range(n)]) if n > 0 else None

    def keep(self, uint64_t key, list actions not None, list priors not None):
        """Keep actions and their priors under a key; nothing happens if they are more than `LISTINGS_MOST`.

        Parameters
        ----------
        key : int
            0 <= key < 2**64.
        actions : list of int
        priors : list of float
            As many as actions.
        """
        cdef action_t kept_actions[LISTINGS_MOST + 1]
        cdef float kept_priors[LISTINGS_MOST + 1]
        cdef int i, n = min(<int>len(actions), LISTINGS_MOST + 1)
        for i in range(n):
            kept_actions[i] = actions[i]
            kept_priors[i] = priors[i]
        listings_keep(self._listings, key, kept_actions, kept_priors, n)


cdef int _fill_word(uint8_t* word, int face, pieces) except -1:
    """Write a sequence of colours to an array. Raises ValueError if the face or the word is out of range."""
    if not 0 <= face < NUM_FACES or len(pieces) > 64 or not all(0 <= color < NUM_COLORS for color in pieces):
        raise ValueError(f"face {face!r}, pieces {pieces!r}: out of range")
    for i, color in enumerate(pieces):
        word[i] = color
    return 0


def count_times(int face, pieces, bint strict_left=False, bint strict_right=False):
    """Return the number of disjoint occurrences of a face's pattern in a word.

    Parameters
    ----------
    face : int
        0 to 48.
    pieces : sequence of int
        At most 64 colours, 0 to 4, from head to tail.
    strict_left, strict_right : bool
        Whether the end counts as a neighbour of every colour.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If the face or the pieces are out of range.
    """
    cdef uint8_t word[64]
    _fill_word(word, face, pieces)
    return card_times(face, word, len(pieces), strict_left, strict_right)


def is_reached(int face, pieces, bint strict_left=False, bint strict_right=False):
    """Return whether a word reaches a face's first level, as the rules compute it; see `count_times`."""
    cdef uint8_t word[64]
    _fill_word(word, face, pieces)
    return (not FACES[face].neighbors & ~neighbors_of(word, len(pieces))
            and card_reached(face, word, len(pieces), strict_left, strict_right))


def count_met(int temple, pieces):
    """Return how many requirements of temple 0 to 14 a complete Coatl of these colours meets."""
    cdef uint8_t counts[NUM_COLORS]
    cdef int color
    if not 0 <= temple < NUM_TEMPLES or not all(0 <= color < NUM_COLORS for color in pieces):
        raise ValueError(f"temple {temple!r}, pieces {pieces!r}: out of range")
    for color in range(NUM_COLORS):
        counts[color] = 0
    for color in pieces:
        counts[color] += 1
    return temple_met(temple, counts, len(pieces))


def points_of(int face, int times):
    """Return the points of a face (0 to 48) for a number of occurrences (>= 0)."""
    if not 0 <= face < NUM_FACES or times < 0:
        raise ValueError(f"face {face!r}, times {times!r}: out of range")
    return card_points(face, times)
