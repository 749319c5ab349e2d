"""Games in Python: a table of C functions that take the GIL and call the methods of an object.

`mexica_ai.pure` is the front; it lays out the memory and gives `PythonRules` the names.

A method never sees the memory of a state. It gets a record: an object with an attribute for each field, made of plain
integers and lists, which is written back, and checked, if the method may change it. So a method may keep what it gets,
and any number of threads may be in methods of a game at once. What needs no method (hash, check, draws of hidden
cards, observations, whose turn it is) runs without the GIL.
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int8_t, int16_t, int64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from numpy.random cimport bitgen_t

from cext.core.contract.failure cimport failure_is_left, failure_leave, failure_raise, failure_turn
from cext.core.contract.game cimport Game, GameOps, State, game_create, state_wrap
from cext.core.contract.heuristics cimport MOST_POINTS
from cext.core.contract.rng cimport Stream, mix_bits, mix_step, rng_below, rng_uniform
from cext.core.contract.types cimport (ALL_SEEING, CHANCE, MAX_SEATS, TERMINAL, action_t, aligned_alloc, int32_t,
                                       uint8_t, uint16_t, uint32_t, uint64_t)

from collections.abc import Mapping

from cext.core.contract.errors import PositionError, SearchError

cdef enum:
    MAX_GAMES = 4096            # of a process
    MAX_FIELDS = 64
    MAX_DIMS = 3
    MAX_KINDS = 255             # of cards; 0 is no card
    MAX_HIDDEN = 1024           # cards in hidden fields
    FULL = -1                   # viewer: of a full position
    BY_ALL = 0                  # seen_by
    BY_OWNER = 1
    BY_NOBODY = 2
    BAD_FIELD = 1               # codes of `check`
    BAD_CARDS = 2
    BAD_RULES = 3

HEAD_SIZE = sizeof(HeadC)
SEEN_BY_ALL, SEEN_BY_OWNER, SEEN_BY_NOBODY = BY_ALL, BY_OWNER, BY_NOBODY
LIMITS = {"fields": MAX_FIELDS, "dims": MAX_DIMS, "kinds": MAX_KINDS, "hidden": MAX_HIDDEN}


# The first bytes of each state; the fields of the record follow.
ctypedef struct HeadC:
    uint32_t game               # index of the game in `_tables`
    int8_t to_move              # as the methods set it
    int8_t current              # the seat to move, CHANCE or TERMINAL
    int8_t viewer               # whose view it is: FULL, a seat, or -2 for a spectator
    uint8_t players
    int32_t turn                # not part of the position
    int32_t length              # actions since the position was made; not part of it


ctypedef struct FieldC:
    int offset
    int size                    # bytes of a number
    bint is_signed
    bint is_flag
    bint is_cards               # a row of cards is as long as it has cards, then come zeros
    bint is_sorted              # the order within a row does not matter
    bint by_seat                # the first axis is that of the seats
    int seen_by
    int deck
    int num_dims
    int dims[MAX_DIMS]
    int num_rows                # of `row_length` numbers
    int row_length
    int rows_per_seat           # 0 unless by_seat
    int64_t low
    int64_t high


# What the functions without the GIL know of a game.
ctypedef struct TableC:
    GameOps ops
    PyObject* rules             # the PythonRules; never freed
    FieldC fields[MAX_FIELDS]
    int num_fields
    int num_decks
    int num_kinds
    uint8_t deck_of[MAX_KINDS + 1]
    uint8_t count_of[MAX_KINDS + 1]
    int num_actions             # those that seats play; events follow
    int max_length


cdef TableC* _tables[MAX_GAMES]
cdef int _num_tables = 0


cdef inline const TableC* _table(const void* data) noexcept nogil:
    return _tables[(<const HeadC*>data).game]


# --- the record: numbers and rows in memory

cdef inline int64_t _number(const FieldC* field, const char* at) noexcept nogil:
    cdef int8_t i1
    cdef int16_t i2
    cdef int32_t i4
    cdef int64_t i8
    if field.size == 1:
        memcpy(&i1, at, 1)
        return <int64_t>i1 if field.is_signed else <int64_t><uint8_t>i1
    if field.size == 2:
        memcpy(&i2, at, 2)
        return <int64_t>i2 if field.is_signed else <int64_t><uint16_t>i2
    if field.size == 4:
        memcpy(&i4, at, 4)
        return <int64_t>i4 if field.is_signed else <int64_t><uint32_t>i4
    memcpy(&i8, at, 8)
    return i8


cdef inline void _set_number(const FieldC* field, char* at, int64_t number) noexcept nogil:
    # Of a little-endian or big-endian machine alike: narrowed first.
    cdef int8_t i1 = <int8_t>number
    cdef int16_t i2 = <int16_t>number
    cdef int32_t i4 = <int32_t>number
    if field.size == 1:
        memcpy(at, &i1, 1)
    elif field.size == 2:
        memcpy(at, &i2, 2)
    elif field.size == 4:
        memcpy(at, &i4, 4)
    else:
        memcpy(at, &number, 8)


cdef inline const uint8_t* _row(const FieldC* field, const void* data, int row) noexcept nogil:
    return <const uint8_t*>data + field.offset + <size_t>row * field.row_length


cdef inline int _row_count(const uint8_t* row, int length) noexcept nogil:
    """Return the number of cards of a row."""
    cdef int n = 0
    while n < length and row[n] != 0:
        n += 1
    return n


cdef inline bint _is_hidden(const FieldC* field, int row, int viewer) noexcept nogil:
    """Return whether a viewer (a seat; others see what all see) does not see the cards of a row."""
    if field.seen_by == BY_ALL:
        return False
    return field.seen_by == BY_NOBODY or row // field.rows_per_seat != viewer


cdef void _sort_row(uint8_t* row, int n) noexcept nogil:
    cdef int i, j
    cdef uint8_t card
    for i in range(1, n):
        card = row[i]
        j = i
        while j > 0 and row[j - 1] > card:
            row[j] = row[j - 1]
            j -= 1
        row[j] = card


# --- functions of the table without the GIL

cdef int py_check(const void* data) noexcept nogil:
    cdef const TableC* table = _table(data)
    cdef const HeadC* head = <const HeadC*>data
    cdef const FieldC* field
    cdef const uint8_t* row
    cdef int counts[MAX_KINDS + 1]
    cdef int i, r, k, n, code = 0
    cdef int64_t number
    if (not 2 <= head.players <= table.ops.max_players or not 0 <= head.to_move < head.players
            or head.current >= head.players):
        return BAD_FIELD
    memset(counts, 0, sizeof(counts))
    for i in range(table.num_fields):
        field = &table.fields[i]
        if not field.is_cards:
            for k in range(field.num_rows * field.row_length):
                number = _number(field, <const char*>data + field.offset + k * field.size)
                # What belongs to seats that do not take part is 0.
                if field.by_seat and k // (field.rows_per_seat * field.row_length) >= head.players:
                    if number != 0:
                        return BAD_FIELD
                elif not field.low <= number <= field.high:
                    return BAD_FIELD
            continue
        for r in range(field.num_rows):
            row = _row(field, data, r)
            n = _row_count(row, field.row_length)
            for k in range(field.row_length):
                if (row[k] != 0) != (k < n) or row[k] > table.num_kinds:
                    return BAD_CARDS
                if k < n and (table.deck_of[row[k]] != field.deck or (field.is_sorted and k > 0
                                                                      and row[k - 1] > row[k])):
                    return BAD_CARDS
                counts[row[k]] += 1
            if n > 0 and field.by_seat and r // field.rows_per_seat >= head.players:
                return BAD_CARDS
    for k in range(1, table.num_kinds + 1):
        if counts[k] != table.count_of[k]:
            return BAD_CARDS
    if not failure_is_left():
        with gil:
            code = _check_by_method(head)
    return code


cdef const char* py_check_name(int code) noexcept nogil:
    return "field" if code == BAD_FIELD else "cards" if code == BAD_CARDS else "rules"


cdef int py_num_players(const void* data) noexcept nogil:
    return (<const HeadC*>data).players


cdef int py_current_player(const void* data) noexcept nogil:
    return TERMINAL if failure_is_left() else (<const HeadC*>data).current


cdef int py_turn(const void* data) noexcept nogil:
    return failure_turn() if failure_is_left() else (<const HeadC*>data).turn


cdef int py_round(const void* data) noexcept nogil:
    if failure_is_left():
        return failure_turn()
    return (<const HeadC*>data).turn // (<const HeadC*>data).players


cdef uint64_t py_hash(const void* data, int viewer) noexcept nogil:
    cdef const TableC* table = _table(data)
    cdef const HeadC* head = <const HeadC*>data
    cdef const FieldC* field
    cdef const uint8_t* row
    # Of a view, all that its viewer sees, and whose it is.
    cdef int seat = head.viewer if viewer == ALL_SEEING and head.viewer != FULL else viewer
    cdef uint64_t found = mix_step(0, head.players | <uint64_t><uint8_t>head.to_move << 8
                                   | <uint64_t><uint8_t>head.current << 16)
    cdef int i, r
    if viewer == ALL_SEEING:
        found = mix_step(found, <uint64_t>(head.viewer + 3))
    for i in range(table.num_fields):
        field = &table.fields[i]
        if field.seen_by == BY_ALL or seat == ALL_SEEING:
            found = _mix_bytes(found, <const uint8_t*>data + field.offset,
                               field.num_rows * field.row_length * field.size)
            continue
        for r in range(field.num_rows):
            row = _row(field, data, r)
            if _is_hidden(field, r, seat):
                found = mix_step(found, _hidden_word(_row_count(row, field.row_length)))
            else:
                found = _mix_bytes(found, row, field.row_length)
    return mix_bits(found)


cdef inline uint64_t _hidden_word(int count) noexcept nogil:
    """Return what stands for a hidden row: no shown row has the highest bit, and an empty one hides nothing."""
    return <uint64_t>count | (<uint64_t>1 << 63 if count > 0 else 0)


cdef inline uint64_t _mix_bytes(uint64_t found, const uint8_t* at, int n) noexcept nogil:
    cdef uint64_t word
    while n > 0:
        word = 0
        memcpy(&word, at, min(n, 8))
        found = mix_step(found, word)
        at += 8
        n -= 8
    return found


cdef bint py_determinize(void* data, int viewer, const void* belief, bitgen_t* rng) noexcept nogil:
    cdef const TableC* table = _table(data)
    cdef int deck
    cdef bint has_several = False
    for deck in range(table.num_decks):
        has_several |= _deal_deck(table, data, viewer, deck, rng)
    return has_several


cdef bint _deal_deck(const TableC* table, void* data, int viewer, int deck, bitgen_t* rng) noexcept nogil:
    """Deal the cards of a deck that a viewer does not see anew; return whether there is more than one way to."""
    cdef const FieldC* field
    cdef uint8_t* row
    cdef uint8_t cards[MAX_HIDDEN]
    cdef int i, r, k, j, n, num_cards = 0, num_rows = 0
    cdef bint has_order = False, are_equal = True
    for i in range(table.num_fields):
        field = &table.fields[i]
        if field.seen_by == BY_ALL or field.deck != deck:
            continue
        for r in range(field.num_rows):
            if not _is_hidden(field, r, viewer):
                continue
            row = <uint8_t*>_row(field, data, r)
            n = _row_count(row, field.row_length)
            num_rows += n > 0
            has_order |= n > 1 and not field.is_sorted
            for k in range(n):
                cards[num_cards] = row[k]
                are_equal &= row[k] == cards[0]
                num_cards += 1
    if are_equal or (num_rows < 2 and not has_order):
        return False
    # The draw must not depend on where the cards truly are.
    _sort_row(cards, num_cards)
    for k in range(num_cards - 1, 0, -1):
        j = rng_below(rng, k + 1)
        cards[k], cards[j] = cards[j], cards[k]
    num_cards = 0
    for i in range(table.num_fields):
        field = &table.fields[i]
        if field.seen_by == BY_ALL or field.deck != deck:
            continue
        for r in range(field.num_rows):
            if not _is_hidden(field, r, viewer):
                continue
            row = <uint8_t*>_row(field, data, r)
            n = _row_count(row, field.row_length)
            memcpy(row, cards + num_cards, n)
            num_cards += n
            if field.is_sorted:
                _sort_row(row, n)
    return True


cdef void py_observe(const void* data, int viewer, float* out) noexcept nogil:
    """Write the head of all observations, then each field; `schema_of` of ``mexica_ai/pure/fields.py`` names them."""
    cdef const TableC* table = _table(data)
    cdef const HeadC* head = <const HeadC*>data
    cdef const FieldC* field
    cdef int i, r, k, seat, per_seat, num_slots
    memset(out, 0, table.ops.observation_size * sizeof(float))
    if not 0 <= viewer < head.players:      # after a failure nobody is to move
        return
    out[0] = head.players
    if head.current >= 0:
        out[1 + (head.current - viewer + head.players) % head.players] = 1.0
    out += 1 + MAX_SEATS
    for i in range(table.num_fields):
        field = &table.fields[i]
        per_seat = field.rows_per_seat if field.by_seat else field.num_rows
        num_slots = MAX_SEATS if field.by_seat else 1
        for k in range(num_slots):
            seat = (viewer + k) % head.players if field.by_seat else 0
            for r in range(per_seat):
                if k < head.players or not field.by_seat:
                    _observe_row(table, field, data, seat * per_seat + r, viewer, out)
                out += _floats_of_row(table, field)


cdef inline int _floats_of_row(const TableC* table, const FieldC* field) noexcept nogil:
    """Return how many numbers of an observation a row has."""
    if not field.is_cards:
        return field.row_length
    return table.num_kinds + (0 if field.is_sorted else table.num_kinds) + (field.seen_by != BY_ALL)


cdef void _observe_row(const TableC* table, const FieldC* field, const void* data, int row, int viewer,
                       float* out) noexcept nogil:
    """Write a row: numbers; or how often it has each card, the last card if they have an order, the number unseen."""
    cdef const uint8_t* cards = _row(field, data, row)
    cdef int k, n
    if not field.is_cards:
        for k in range(field.row_length):
            out[k] = <float>_number(field, <const char*>data + field.offset
                                    + (row * field.row_length + k) * field.size)
        return
    n = _row_count(cards, field.row_length)
    if _is_hidden(field, row, viewer):
        out[_floats_of_row(table, field) - 1] = n
        return
    for k in range(n):
        out[cards[k] - 1] += 1
    if n > 0 and not field.is_sorted:
        out[table.num_kinds + cards[n - 1] - 1] = 1


# --- functions of the table that call methods

cdef int py_legal_actions(const void* data, action_t* actions) noexcept nogil:
    cdef int n
    actions[0] = 0
    if failure_is_left():
        return 1
    if (<const HeadC*>data).current < 0:
        return 0
    with gil:
        n = _legal_actions(<const HeadC*>data, actions)
    return n


cdef void py_apply_action(void* data, action_t action) noexcept nogil:
    if failure_is_left():
        return
    with gil:
        _apply_action(<HeadC*>data, action)


cdef void py_chance(void* data, bitgen_t* rng) noexcept nogil:
    if failure_is_left():
        return
    with gil:
        _chance(<HeadC*>data, rng)


cdef bint py_accepts_action(const void* data, action_t action) noexcept nogil:
    cdef const TableC* table = _table(data)
    cdef bint is_accepted
    if failure_is_left() or (<const HeadC*>data).current != CHANCE or action < <action_t>table.num_actions:
        return False
    with gil:
        is_accepted = _accepts_event(<const HeadC*>data, action)
    return is_accepted


cdef void py_returns(const void* data, double* shares) noexcept nogil:
    cdef int players = (<const HeadC*>data).players, seat
    for seat in range(players):
        shares[seat] = 1.0 / players
    if not failure_is_left():
        with gil:
            _seat_numbers(<const HeadC*>data, "returns", shares)


cdef void py_scores(const void* data, double* points) noexcept nogil:
    cdef int seat
    for seat in range((<const HeadC*>data).players):
        points[seat] = 0.0
    if not failure_is_left():
        with gil:
            _seat_numbers(<const HeadC*>data, "scores", points)


cdef int py_action_id(const void* data, action_t action) noexcept nogil:
    return <int>action


cdef void py_policy(const void* weights, void* cache, const void* data, const action_t* actions, int n,
                    float* priors) noexcept nogil:
    cdef int i
    for i in range(n):
        priors[i] = 1.0
    if not failure_is_left():
        with gil:
            _policy(<const HeadC*>data, actions, n, priors)


cdef void py_evaluate(const void* weights, void* cache, const void* data, double* values,
                      double* points) noexcept nogil:
    cdef int players = (<const HeadC*>data).players, seat
    for seat in range(players):
        values[seat] = 1.0 / players
        points[seat] = 0.0
    if not failure_is_left():
        with gil:
            _evaluate(<const HeadC*>data, values, points)


# --- the same with the GIL: nothing is raised, `failure_leave` notes the first failure of the thread

cdef inline PythonRules _rules(const HeadC* head):
    return <PythonRules>_tables[head.game].rules


cdef int _failed(const HeadC* head, str method, error) except -1:
    """Note an exception: one that ends the program as it is, any other as an error that names the method."""
    cdef PythonRules rules = _rules(head)
    if isinstance(error, Exception):
        try:
            told = str(error).partition("\n")[0]
        except Exception:
            told = "(its text cannot be had)"
        if isinstance(error, _BadAnswer):
            fault = SearchError(f"{rules.name}: {method} {told}", reason="GAME_FAULT")
        else:
            fault = SearchError(f"{rules.name}: {method} raised {type(error).__name__}: {told}", reason="GAME_FAULT")
            fault.__cause__ = error
        error = fault
    failure_leave(error)
    return 0


class _BadAnswer(Exception):
    """What is wrong with the answer of a method, such as ``gave 3; expected ...``."""


cdef int _legal_actions(const HeadC* head, action_t* actions) noexcept:
    try:
        return _rules(head).c_legal_actions(head, actions)
    except BaseException as error:
        _failed(head, "legal_actions", error)
        actions[0] = 0
        return 1


cdef void _apply_action(HeadC* head, action_t action) noexcept:
    try:
        _rules(head).c_apply(head, action)
    except BaseException as error:
        _failed(head, "apply_action", error)


cdef void _chance(HeadC* head, bitgen_t* rng) noexcept:
    cdef PythonRules rules = _rules(head)
    cdef action_t event
    try:
        event = rules.c_draw(head, rng)
    except BaseException as error:
        _failed(head, "outcomes", error)
        return
    _apply_action(head, event)


cdef bint _accepts_event(const HeadC* head, action_t action) noexcept:
    try:
        return action in _rules(head).c_outcomes(head)
    except BaseException as error:
        _failed(head, "outcomes", error)
        return False


cdef int _check_by_method(const HeadC* head) noexcept:
    try:
        return BAD_RULES if _rules(head).methods.check(_rules(head).c_load(head)) else 0
    except BaseException as error:
        _failed(head, "check", error)
        return 0


cdef void _seat_numbers(const HeadC* head, str method, double* out) noexcept:
    cdef PythonRules rules = _rules(head)
    cdef double total = 0
    cdef int seat
    try:
        record = rules.c_load(head)
        found = list(rules.methods.returns(record) if method == "returns" else rules.methods.scores(record))
        if len(found) != head.players:
            raise _BadAnswer(f"gave {found!r}; expected a number for each of {head.players} seats")
        for seat in range(head.players):
            out[seat] = found[seat]
            total += out[seat]
            if method == "returns" and not 0.0 <= out[seat] <= 1.0:
                raise _BadAnswer(f"gave {found!r}; expected shares of the win from 0 to 1")
        if method == "returns" and not 0.999999 < total < 1.000001:
            raise _BadAnswer(f"gave {found!r}; expected shares of the win that add up to 1")
        if not all(-MOST_POINTS <= out[seat] <= MOST_POINTS for seat in range(head.players)):
            raise _BadAnswer(f"gave {found!r}; expected numbers from {-MOST_POINTS:g} to {MOST_POINTS:g}")
    except BaseException as error:
        for seat in range(head.players):
            out[seat] = 1.0 / head.players
        _failed(head, method, error)


cdef void _policy(const HeadC* head, const action_t* actions, int n, float* priors) noexcept:
    cdef PythonRules rules = _rules(head)
    cdef int i
    try:
        found = list(rules.methods.policy(rules.c_load(head), [rules.actions[actions[i]] for i in range(n)]))
        if len(found) != n:
            raise _BadAnswer(f"gave {len(found)} numbers; expected {n}, one for each action")
        for i in range(n):
            priors[i] = found[i]
    except BaseException as error:
        _failed(head, "policy", error)


cdef void _evaluate(const HeadC* head, double* values, double* points) noexcept:
    cdef PythonRules rules = _rules(head)
    cdef double total = 0
    cdef int seat
    try:
        shares, scores = rules.methods.evaluate(rules.c_load(head))
        if len(shares) != head.players or len(scores) != head.players:
            raise _BadAnswer(f"gave {shares!r}, {scores!r}; expected two lists with a number for each seat")
        for seat in range(head.players):
            share = float(shares[seat])
            values[seat] = min(max(share, 0.0), 1.0) if share == share else 1.0 / head.players
            total += values[seat]
            points[seat] = scores[seat]
        for seat in range(head.players):
            values[seat] = values[seat] / total if total > 0 else 1.0 / head.players
    except BaseException as error:
        _failed(head, "evaluate", error)


cdef class PythonRules:
    """The table of one game in Python, and what converts its states. It lives as long as the process.

    Parameters
    ----------
    methods : mexica_ai.pure.PureGame
        Its methods are called.
    fields : list of dict
        The attributes of `FieldC` by name, and `name`.
    record : type
        Of the records; called without arguments.
    size : int
        Bytes of a state.
    kinds : list of (str, int, int)
        Name, deck and number of each kind of cards.
    observation_size : int
    """

    cdef readonly str name
    cdef readonly object methods
    cdef readonly list actions          # then the events
    cdef readonly Game game
    cdef dict _index                    # of actions and events
    cdef list _names                    # of the fields
    cdef list _kinds                    # None, then the names
    cdef dict _number_of                # of a kind
    cdef object _record
    cdef int _number                    # index in _tables
    cdef TableC* _table
    cdef bytes _c_name

    def __init__(self, methods, list fields, record, int size, list kinds, int observation_size):
        global _num_tables
        cdef TableC* table
        cdef int number, deck, count
        if _num_tables == MAX_GAMES:
            raise ValueError(f"a process has at most {MAX_GAMES} games in Python")
        self.name, self.methods, self._record = methods.name, methods, record
        self._c_name = self.name.encode()
        self.actions = [*methods.actions, *methods.events]
        self._index = {action: index for index, action in enumerate(self.actions)}
        self._names = [field["name"] for field in fields]
        self._kinds = [None, *(name for name, _, _ in kinds)]
        self._number_of = {name: index for index, name in enumerate(self._kinds) if index}
        table = <TableC*>calloc(1, sizeof(TableC))
        if table == NULL:
            raise MemoryError
        self._table = table
        for number, (_, deck, count) in enumerate(kinds, start=1):
            table.deck_of[number] = deck
            table.count_of[number] = count
            table.num_decks = max(table.num_decks, deck + 1)
        table.num_kinds = len(kinds)
        table.num_actions = len(methods.actions)
        table.max_length = methods.max_game_length
        for number, field in enumerate(fields):
            self._add_field(&table.fields[number], field)
        table.num_fields = len(fields)
        self._fill(&table.ops, size, observation_size)
        self.game = game_create(&table.ops, dict(methods.search_options))
        Py_INCREF(self)
        table.rules = <PyObject*>self
        self._number = _num_tables
        _tables[_num_tables] = table
        _num_tables += 1

    cdef int _add_field(self, FieldC* field, dict given) except -1:
        cdef int i
        dims = given["dims"]
        field.offset, field.size, field.is_signed = given["offset"], given["size"], given["is_signed"]
        field.is_flag, field.is_cards, field.is_sorted = given["is_flag"], given["is_cards"], given["is_sorted"]
        field.by_seat, field.seen_by, field.deck = given["by_seat"], given["seen_by"], given["deck"]
        field.low, field.high = given["low"], given["high"]
        field.num_dims = len(dims)
        for i, length in enumerate(dims):
            field.dims[i] = length
        field.row_length = field.num_rows = 1
        for i in range(field.num_dims):
            if i < field.num_dims - 1:
                field.num_rows *= field.dims[i]
            else:
                field.row_length = field.dims[i]
        if field.by_seat and len(dims) == 1:    # a number for each seat: rows of one
            field.num_rows, field.row_length = field.dims[0], 1
        field.rows_per_seat = field.num_rows // field.dims[0] if field.by_seat else 0
        return 0

    cdef int _fill(self, GameOps* ops, int size, int observation_size) except -1:
        """Fill in the table of functions."""
        methods = self.methods
        ops.name = self._c_name
        ops.rules_version = methods.rules_version
        ops.state_size = size
        ops.max_players = methods.max_players
        ops.max_actions = max(1, methods.max_legal or len(methods.actions))
        ops.max_game_length = methods.max_game_length
        ops.check = py_check
        ops.check_name = py_check_name
        ops.num_players = py_num_players
        ops.current_player = py_current_player
        ops.legal_actions = py_legal_actions
        ops.apply_action = py_apply_action
        ops.returns = py_returns
        ops.scores = py_scores
        ops.hash = py_hash
        ops.turn = py_turn
        ops.round = py_round
        if any(self._table.fields[i].seen_by != BY_ALL for i in range(self._table.num_fields)):
            ops.determinize = py_determinize
        if methods.events:
            ops.chance = py_chance
            ops.accepts_action = py_accepts_action
        if methods.policy is not None:
            ops.policy = py_policy
        if methods.evaluate is not None:
            ops.evaluate = py_evaluate
        ops.observation_size = observation_size
        ops.observe = py_observe
        ops.num_action_ids = len(methods.actions)
        ops.action_id = py_action_id
        return 0

    # --- records

    cdef object c_load(self, const HeadC* head):
        """Return the record of a state."""
        record = self._record()
        record.players, record.to_move, record.turn = head.players, head.to_move, head.turn
        cdef int i
        for i in range(self._table.num_fields):
            setattr(record, self._names[i], self._read(&self._table.fields[i], head, 0, 0))
        return record

    cdef object _read(self, const FieldC* field, const HeadC* head, int dim, int at):
        """Return the numbers or cards of a field from an axis on; `at` counts in units of that axis."""
        cdef const char* place
        cdef const uint8_t* row
        cdef int k, n
        if dim == field.num_dims:
            place = <const char*>head + field.offset + at * field.size
            return bool(_number(field, place)) if field.is_flag else _number(field, place)
        if field.is_cards and dim == field.num_dims - 1:
            row = _row(field, head, at)
            n = _row_count(row, field.row_length)
            return [self._kinds[row[k]] for k in range(n)]
        n = head.players if field.by_seat and dim == 0 else field.dims[dim]
        return [self._read(field, head, dim + 1, at * field.dims[dim] + k) for k in range(n)]

    cdef int c_store(self, HeadC* head, record) except -1:
        """Write a record to a state, with the seat that is to move."""
        cdef int i
        cdef int64_t turn = record.turn, to_move = record.to_move
        for i in range(self._table.num_fields):
            self._write(&self._table.fields[i], head, 0, 0, getattr(record, self._names[i]), self._names[i])
        if not 0 <= to_move < head.players:
            raise _BadAnswer(f"set to_move to {to_move}; expected a seat from 0 to {head.players - 1}")
        if not head.turn <= turn < 1 << 30:
            raise _BadAnswer(f"set turn to {turn}; expected {head.turn} or more")
        head.to_move = <int8_t>to_move
        head.turn = <int32_t>turn
        current = self.methods.current_player(record)
        if type(current) is not int or not TERMINAL <= current < head.players:
            raise _BadAnswer(f"is followed by current_player {current!r}; expected a seat from 0 to "
                             f"{head.players - 1}, CHANCE or TERMINAL")
        if current == CHANCE and self._table.ops.chance == NULL:
            raise _BadAnswer("is followed by CHANCE; expected a seat or TERMINAL, since the game has no events")
        head.current = current
        return self._count_cards(head)

    cdef int _write(self, const FieldC* field, HeadC* head, int dim, int at, values, name) except -1:
        cdef int k, n
        cdef int64_t number
        cdef uint8_t* row
        if dim == field.num_dims:
            try:
                number = values
            except (TypeError, ValueError, OverflowError):
                number = field.high + 1
            if not field.low <= number <= field.high or number != values:     # of 1.5 it is 1
                expected = "True or False" if field.is_flag else f"an integer from {field.low} to {field.high}"
                raise _BadAnswer(f"set {name} to {values!r}; expected {expected}")
            _set_number(field, <char*>head + field.offset + at * field.size, number)
            return 0
        if not isinstance(values, list):
            raise _BadAnswer(f"set {name} to {values!r}; expected a list")
        if field.is_cards and dim == field.num_dims - 1:
            n = len(values)
            if n > field.row_length:
                raise _BadAnswer(f"put {n} cards into {name}; expected {field.row_length} at most")
            row = <uint8_t*>_row(field, head, at)
            for k in range(n):
                kind = self._number_of.get(values[k])
                if kind is None or self._table.deck_of[<int>kind] != field.deck:
                    raise _BadAnswer(f"put {values[k]!r} into {name}; expected one of its cards")
                row[k] = kind
            memset(row + n, 0, field.row_length - n)
            if field.is_sorted:
                _sort_row(row, n)
            return 0
        n = head.players if field.by_seat and dim == 0 else field.dims[dim]
        if len(values) != n:
            raise _BadAnswer(f"gave {name} {len(values)} entries; expected {n}")
        for k in range(n):
            self._write(field, head, dim + 1, at * field.dims[dim] + k, values[k], name)
        return 0

    cdef int _count_cards(self, const HeadC* head) except -1:
        """Refuse a state in which cards are missing, or more than there are."""
        cdef const FieldC* field
        cdef const uint8_t* row
        cdef int counts[MAX_KINDS + 1]
        cdef int i, r, k
        if self._table.num_kinds == 0:
            return 0
        memset(counts, 0, sizeof(counts))
        for i in range(self._table.num_fields):
            field = &self._table.fields[i]
            if not field.is_cards:
                continue
            for r in range(field.num_rows):
                row = _row(field, head, r)
                for k in range(field.row_length):
                    counts[row[k]] += 1
        for k in range(1, self._table.num_kinds + 1):
            if counts[k] != self._table.count_of[k]:
                raise _BadAnswer(f"left {self._kinds[k]} in {counts[k]} places; expected {self._table.count_of[k]}")
        return 0

    # --- rules

    cdef int c_legal_actions(self, const HeadC* head, action_t* actions) except -1:
        cdef int n = 0, i
        cdef action_t index
        found = self.methods.legal_actions(self.c_load(head))
        for action in found:
            number = self._index.get(action)
            if number is None or number >= self._table.num_actions:
                raise _BadAnswer(f"gave {action!r}; expected some of `actions`")
            if n == self._table.ops.max_actions:
                raise _BadAnswer(f"gave more than {n} actions; expected at most that many")
            index = number
            i = n
            while i > 0 and actions[i - 1] > index:
                actions[i] = actions[i - 1]
                i -= 1
            if i > 0 and actions[i - 1] == index:
                raise _BadAnswer(f"gave {action!r} twice; expected each action once")
            actions[i] = index
            n += 1
        if n == 0:
            raise _BadAnswer(f"gave none, but seat {head.current} is to move; expected at least one action")
        return n

    cdef int c_apply(self, HeadC* head, action_t action) except -1:
        cdef int before = head.current, turn = head.turn
        cdef void* kept
        record = self.c_load(head)
        if head.length >= self._table.max_length:
            raise _BadAnswer(f"is called {self._table.max_length} times in one game; expected an end within "
                             "max_game_length actions")
        if action >= <action_t>len(self.actions):
            raise _BadAnswer(f"is called with {action:#x}; expected the integer of an action")
        self.methods.apply_action(record, self.actions[action])
        kept = malloc(self._table.ops.state_size)
        if kept == NULL:
            raise MemoryError
        memcpy(kept, head, self._table.ops.state_size)
        try:
            self.c_store(head, record)
        except BaseException:       # as it was before the action
            memcpy(head, kept, self._table.ops.state_size)
            raise
        finally:
            free(kept)
        head.length += 1
        # A turn ends when another seat, or none, is to move; a method may also count it.
        if before >= 0 and head.turn == turn and head.current != before:
            head.turn += 1
        return 0

    cdef dict c_outcomes(self, const HeadC* head):
        """Return the weights of the outcomes of the random event that is due, by action, ascending."""
        found = self.methods.outcomes(self.c_load(head))
        is_weighted = isinstance(found, (dict, Mapping))    # a dict first: the other question takes longer
        pairs = found.items() if is_weighted else ((event, 1) for event in found)
        weights = {}
        for event, weight in pairs:
            number = self._index.get(event)
            if number is None or number < self._table.num_actions:
                raise _BadAnswer(f"gave {event!r}; expected some of `events`")
            if not 0 <= weight < 1e300:
                raise _BadAnswer(f"gave the weight {weight!r}; expected a number from 0")
            if weight > 0:
                weights[number] = weights.get(number, 0) + weight
        if not weights:
            raise _BadAnswer("gave none, but a random event is due; expected at least one")
        return dict(sorted(weights.items()))

    cdef action_t c_draw(self, const HeadC* head, bitgen_t* rng) except? 0:
        """Draw an outcome of the random event that is due."""
        cdef action_t event = 0
        weights = self.c_outcomes(head)
        cdef double left = rng_uniform(rng) * sum(weights.values())
        for number, weight in weights.items():
            event = number
            left -= weight
            if left < 0:
                break
        return event

    # --- for Python

    def state(self, record, int players, int viewer=FULL):
        """Return the State of a record; PositionError if it breaks an invariant.

        Parameters
        ----------
        record : object
            Of the type that the rules were made with.
        players : int
        viewer : int
            Whose view it is: -1 for a full position, a seat, -2 for a spectator.
        """
        cdef HeadC* head = <HeadC*>aligned_alloc(64, self._table.ops.state_size)
        cdef State owner
        if head == NULL:
            raise MemoryError
        try:
            memset(head, 0, self._table.ops.state_size)
            head.game = self._number
            head.players = players
            head.viewer = viewer
            try:
                self.c_store(head, record)
            except _BadAnswer as error:
                raise PositionError(f"{self.name}: the position {error}", reason="BAD_RECORD") from None
            owner = state_wrap(self.game, head)
        finally:
            free(head)
        owner.check()
        return owner

    def record(self, State owner not None):
        """Return the record of a State: its own copy."""
        self._require(owner)
        return self.c_load(<const HeadC*>owner.data)

    def viewer(self, State owner not None):
        """Return whose view a State is: -1 for a full position, a seat, -2 for a spectator."""
        self._require(owner)
        return (<const HeadC*>owner.data).viewer

    def assign(self, State owner not None, State other not None):
        """Make a State equal to another one, in place."""
        self._require(owner)
        self._require(other)
        memcpy(owner.data, other.data, self._table.ops.state_size)

    def outcomes(self, State owner not None):
        """Return the outcomes of the random event that is due, ascending: integers of actions."""
        self._require(owner)
        try:
            return list(self.c_outcomes(<const HeadC*>owner.data))
        except _BadAnswer as error:
            raise SearchError(f"{self.name}: outcomes {error}", reason="GAME_FAULT") from None

    def draw(self, State owner not None, seed):
        """Return the outcome, as the integer of an action, that `State.resolve_chance` draws with this seed."""
        cdef Stream stream = Stream(seed)
        self._require(owner)
        try:
            return self.c_draw(<const HeadC*>owner.data, stream.bitgen)
        except _BadAnswer as error:
            raise SearchError(f"{self.name}: outcomes {error}", reason="GAME_FAULT") from None

    cdef int _require(self, State owner) except -1:
        failure_raise()
        if owner.game is not self.game:
            raise TypeError(f"expected a state of {self.name}, got one of {owner.game.name}")
        return 0

    def __reduce__(self):
        raise TypeError("PythonRules cannot be copied or pickled: they are a table of this process; make the game in "
                        "each process")
