/* The numbers of a document by which a query scores it: see top_hits.py, forward_index.py and scoring.py. */
#include "leaf.h"

enum {
    RUN = 32, /* forward_index.py */
    HEADINGS = 1024,
    URL = 4096,
    BODY = 8192,
    BOILERPLATE = 28672,
    FIELDS = 4,
    CLOSE_ONE = 1024, /* scoring.py */
    CLOSE_REACH = 16,
    CLOSE_POSITIONS = 256,
    JOINED_GAP = 2,
    FAR = 1 << 16,
};

typedef struct {
    const uint32_t *at; /* ascending */
    size_t count;
} Places;

typedef struct {
    const unsigned char *table, *rows, *low;
    Py_ssize_t table_size, rows_size, low_size, half, many; /* half: the size of both rows of numbers */
} Record;

static int damaged(void)
{
    PyErr_SetString(PyExc_ValueError, "no tables of a forward record");
    return -1;
}

/* The number that stands at a place, where it is this one of its row; -1 where there is none. */
static Py_ssize_t value_at(const Record *record, Py_ssize_t place, Py_ssize_t number)
{
    Py_ssize_t sum = 0;
    if (number < 0 || place >= record->half)
        return damaged();
    for (Py_ssize_t each = place - number % RUN; each <= place; each++)
        sum += record->rows[each] + (record->rows[record->half + each] << 8);
    return sum;
}

/* Write where the term of this number stands to `out`, which has so much room. */
static int read_positions(const Record *record, Py_ssize_t number, uint32_t *out, Py_ssize_t room, Places *found)
{
    found->at = out;
    if (room < 1)
        return damaged();
    if (number >= record->many) {
        Py_ssize_t once = value_at(record, number + 1, number - record->many);
        *out = (uint32_t)once;
        found->count = 1;
        return once < 0 ? -1 : 0;
    }
    Py_ssize_t first = value_at(record, number, number);
    Py_ssize_t last = first < 0 ? -1 : value_at(record, number + 1, number + 1);
    if (last < 0)
        return -1;
    if (last < first || last > record->low_size || last - first > room)
        return damaged();
    const unsigned char *high = record->rows + 2 * record->half;
    for (Py_ssize_t each = first; each < last; each++)
        *out++ = (uint32_t)(record->low[each] | high[each] << 8);
    found->count = (size_t)(last - first);
    return 0;
}

/* Where some terms stand, by their places in the table, below 0 for those that are missing. The table is gone through
   once: `order` has the terms by their places. */
static int find_positions(const Record *record, const Py_ssize_t *places, size_t *order, size_t terms, uint32_t *out,
                          Places *found)
{
    for (size_t each = 0; each < terms; each++) {
        size_t at = each;
        for (; at && places[order[at - 1]] > places[each]; at--)
            order[at] = order[at - 1];
        order[at] = each;
    }
    Py_ssize_t number = 0, counted = 0, room = record->low_size + (Py_ssize_t)terms;
    for (size_t each = 0; each < terms; each++) {
        size_t term = order[each];
        if (places[term] < 0)
            continue;
        if (each && places[order[each - 1]] == places[term]) {
            found[term] = found[order[each - 1]];
            continue;
        }
        if (places[term] > record->table_size)
            return damaged();
        for (; counted < places[term]; counted++)
            number += !record->table[counted];
        if (read_positions(record, number, out, room, &found[term]))
            return -1;
        out += found[term].count;
        room -= (Py_ssize_t)found[term].count;
    }
    return 0;
}

static int holds(Places places, uint32_t position)
{
    size_t low = 0, high = places.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (places.at[middle] < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low < places.count && places.at[low] == position;
}

/* Add where the terms of one way to write a phrase follow each other. Returns -1 for what is no way. */
static int add_begins(PyObject *way, const Places *found, Py_ssize_t terms, Numbers *begins)
{
    Py_ssize_t size = PyTuple_Size(way), first = size < 1 ? -1 : PyLong_AsSsize_t(PyTuple_GetItem(way, 0));
    if (first < 0 || first >= terms)
        return PyErr_Occurred() ? -1 : damaged();
    for (size_t each = 0; each < found[first].count; each++) {
        uint32_t begin = found[first].at[each];
        int is_there = 1;
        for (Py_ssize_t offset = 1; is_there && offset < size; offset++) {
            Py_ssize_t term = PyLong_AsSsize_t(PyTuple_GetItem(way, offset));
            if (term < 0 || term >= terms)
                return PyErr_Occurred() ? -1 : damaged();
            is_there = holds(found[term], begin + (uint32_t)offset);
        }
        if (is_there && push_number(begins, begin))
            return -1;
    }
    return 0;
}

static int by_number(const void *one, const void *other)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return (a > b) - (a < b);
}

/* Where a leaf begins: one term by its number, or any of the ways to write a phrase. */
static int find_leaf(PyObject *leaf, const Places *found, Py_ssize_t terms, Numbers *begins, Places *begin)
{
    if (PyLong_Check(leaf)) {
        Py_ssize_t term = PyLong_AsSsize_t(leaf);
        if (term < 0 || term >= terms)
            return PyErr_Occurred() ? -1 : damaged();
        *begin = found[term];
        return 0;
    }
    for (Py_ssize_t way = 0, ways = PyTuple_Size(leaf); way < ways; way++)
        if (add_begins(PyTuple_GetItem(leaf, way), found, terms, begins))
            return -1;
    if (PyErr_Occurred())
        return -1;
    if (begins->count)
        qsort(begins->at, begins->count, sizeof *begins->at, by_number);
    *begin = (Places){begins->at, begins->count};
    return 0;
}

/* Leave the boilerplate out, which comes last, and count the others by field. */
static PyObject *count_fields(Places *begin)
{
    long counts[FIELDS] = {0};
    size_t each = 0;
    for (; each < begin->count && begin->at[each] < BOILERPLATE; each++) {
        uint32_t at = begin->at[each];
        counts[at < HEADINGS ? 0 : at < URL ? 1 : at < BODY ? 2 : 3]++;
    }
    begin->count = each;
    PyObject *tuple = PyTuple_New(FIELDS);
    for (Py_ssize_t field = 0; tuple && field < FIELDS; field++) {
        PyObject *number = PyLong_FromLong(counts[field]);
        if (!number || PyTuple_SetItem(tuple, field, number)) {
            Py_DECREF(tuple);
            return NULL;
        }
    }
    return tuple;
}

/* The least distance between an end of one leaf and the begin of the other, at least 1. */
static long gap_of(Places a, long a_span, Places b, long b_span)
{
    size_t here = 0, there = 0;
    size_t all_a = a.count < CLOSE_POSITIONS ? a.count : CLOSE_POSITIONS;
    size_t all_b = b.count < CLOSE_POSITIONS ? b.count : CLOSE_POSITIONS;
    long best = FAR;
    while (here < all_a && there < all_b) {
        long one = (long)a.at[here], other = (long)b.at[there], gap;
        if (one == other) {
            gap = JOINED_GAP;
            if (++there < all_b && (long)b.at[there] - one - a_span + 1 < gap)
                gap = (long)b.at[there] - one - a_span + 1;
            if (++here < all_a && (long)a.at[here] - other - b_span + 1 < gap)
                gap = (long)a.at[here] - other - b_span + 1;
        } else if (one < other) {
            gap = other - one - a_span + 1;
            here++;
        } else {
            gap = one - other - b_span + 1;
            there++;
        }
        if (gap <= 1)
            return 1;
        if (gap < best)
            best = gap;
    }
    return best;
}

static long closeness_of(const Places *begins, PyObject *spans, Py_ssize_t leaves)
{
    long near = 0;
    for (Py_ssize_t each = 0; each + 1 < leaves; each++) {
        if (!begins[each].count || !begins[each + 1].count)
            continue;
        long one = PyLong_AsLong(PyTuple_GetItem(spans, each)), other = PyLong_AsLong(PyTuple_GetItem(spans, each + 1));
        long gap = gap_of(begins[each], one, begins[each + 1], other);
        near += gap <= CLOSE_REACH ? CLOSE_ONE / gap : 0;
    }
    return leaves > 1 ? near / (leaves - 1) : 0;
}

/* What is made of a record for the leaves of a query. */
typedef struct {
    Py_ssize_t *places;
    size_t *order;
    uint32_t *positions;
    Places *found, *begins; /* of each term, of each leaf */
    Numbers *phrases;       /* of each leaf that is one */
} Measure;

static PyObject *measure_record(Measure *work, const Record *record, PyObject *places, PyObject *leaves,
                                PyObject *spans)
{
    Py_ssize_t terms = PyList_Size(places), count = PyTuple_Size(leaves);
    for (Py_ssize_t term = 0; term < terms; term++)
        work->places[term] = PyLong_AsSsize_t(PyList_GetItem(places, term));
    if (PyErr_Occurred() ||
        find_positions(record, work->places, work->order, (size_t)terms, work->positions, work->found))
        return NULL;
    PyObject *tfs = PyTuple_New(count);
    int is_anywhere = 0;
    for (Py_ssize_t leaf = 0; tfs && leaf < count; leaf++) {
        Places *begin = &work->begins[leaf];
        PyObject *counts = NULL;
        if (!find_leaf(PyTuple_GetItem(leaves, leaf), work->found, terms, &work->phrases[leaf], begin)) {
            is_anywhere |= begin->count > 0;
            counts = count_fields(begin);
        }
        if (!counts || PyTuple_SetItem(tfs, leaf, counts))
            Py_CLEAR(tfs);
    }
    if (!tfs)
        return NULL;
    long near = closeness_of(work->begins, spans, count);
    if (PyErr_Occurred()) {
        Py_DECREF(tfs);
        return NULL;
    }
    return Py_BuildValue("NlO", tfs, near, is_anywhere ? Py_True : Py_False);
}

PyObject *measure_leaves(PyObject *module, PyObject *arguments)
{
    (void)module;
    Record record;
    PyObject *places, *leaves, *spans, *measured = NULL;
    if (!PyArg_ParseTuple(arguments, "y#y#y#nO!O!O!", &record.table, &record.table_size, &record.rows,
                          &record.rows_size, &record.low, &record.low_size, &record.many, &PyList_Type, &places,
                          &PyTuple_Type, &leaves, &PyTuple_Type, &spans))
        return NULL;
    record.half = (record.rows_size - record.low_size) / 2;
    if (record.rows_size < record.low_size || PyTuple_Size(spans) != PyTuple_Size(leaves)) {
        damaged();
        return NULL;
    }
    size_t terms = (size_t)PyList_Size(places), count = (size_t)PyTuple_Size(leaves);
    Measure work = {
        malloc((terms + 1) * sizeof *work.places),
        malloc((terms + 1) * sizeof *work.order),
        malloc((terms + (size_t)record.low_size + 1) * sizeof *work.positions),
        calloc(terms + 1, sizeof *work.found),
        calloc(count + 1, sizeof *work.begins),
        calloc(count + 1, sizeof *work.phrases),
    };
    if (work.places && work.order && work.positions && work.found && work.begins && work.phrases)
        measured = measure_record(&work, &record, places, leaves, spans);
    else
        PyErr_NoMemory();
    for (size_t leaf = 0; work.phrases && leaf < count; leaf++)
        free(work.phrases[leaf].at);
    free(work.places);
    free(work.order);
    free(work.positions);
    free(work.found);
    free(work.begins);
    free(work.phrases);
    return measured;
}
