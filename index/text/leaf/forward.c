/* The tables of a document's forward record, and its sketch: see forward_index.py and sketch.py. */
#include "leaf.h"

enum { COLUMNS = 64 };

/* Numbers of 16 bits, as numpy and array have them. */
typedef struct {
    const uint16_t *at;
    size_t count;
} Shorts;

static Shorts shorts_in(const Py_buffer *buffer)
{
    return (Shorts){buffer->buf, (size_t)buffer->len / sizeof(uint16_t)};
}

/* Count how often each term stands; all places are of the vocabulary. */
static int count_places(Shorts places, uint32_t *counts, size_t terms)
{
    for (size_t each = 0; each < places.count; each++) {
        if (places.at[each] >= terms) {
            PyErr_SetString(PyExc_ValueError, "a place that is none in the vocabulary");
            return -1;
        }
        counts[places.at[each]]++;
    }
    return 0;
}

/* What is made of a document, one block of memory for all. */
typedef struct {
    size_t terms, many; /* distinct ones, and those of them that stand more than once */
    uint32_t *counts, *order, *next;
    uint16_t *starts, *sorted; /* where those begin; all positions, by the order of their terms */
} Work;

static void *make_work(Work *work, size_t terms, size_t places)
{
    char *block = calloc(1, 3 * terms * sizeof(uint32_t) + (terms + 1 + places) * sizeof(uint16_t));
    if (!block)
        return PyErr_NoMemory();
    work->terms = terms;
    work->counts = (uint32_t *)(void *)block;
    work->order = work->counts + terms;
    work->next = work->order + terms;
    work->starts = (uint16_t *)(work->next + terms);
    work->sorted = work->starts + terms + 1;
    return block;
}

/* Those terms first that stand more than once, each kind as they come; then positions by their terms. */
static void sort_positions(Work *work, Shorts places, Shorts positions)
{
    for (size_t term = 0; term < work->terms; term++)
        work->many += work->counts[term] > 1;
    size_t again = 0, once = work->many;
    for (size_t term = 0; term < work->terms; term++)
        work->order[work->counts[term] > 1 ? again++ : once++] = (uint32_t)term;
    uint32_t start = 0;
    for (size_t rank = 0; rank < work->terms; rank++) {
        if (rank < work->many)
            work->starts[rank] = (uint16_t)start;
        work->next[work->order[rank]] = start;
        start += work->counts[work->order[rank]];
        if (rank < work->many)
            work->starts[rank + 1] = (uint16_t)start;
    }
    for (size_t each = 0; each < places.count; each++)
        work->sorted[work->next[places.at[each]]++] = positions.at[each];
}

static PyObject *table_of(const Work *work, PyObject *vocabulary)
{
    if (!work->terms)
        return PyBytes_FromStringAndSize("", 0);
    size_t size = 1;
    for (size_t rank = 0; rank < work->terms; rank++) {
        Py_ssize_t length;
        if (!PyUnicode_AsUTF8AndSize(PyList_GetItem(vocabulary, work->order[rank]), &length))
            return NULL;
        size += (size_t)length + 1;
    }
    PyObject *table = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    char *at = table ? PyBytes_AsString(table) : NULL;
    if (at)
        *at++ = 0;
    for (size_t rank = 0; at && rank < work->terms; rank++) {
        Py_ssize_t length;
        const char *bytes = PyUnicode_AsUTF8AndSize(PyList_GetItem(vocabulary, work->order[rank]), &length);
        memcpy(at, bytes, (size_t)length + 1);
        at += length + 1;
    }
    return table;
}

/* Write the low and the high bytes of a row of ascending numbers, as distances but for each `run`th. */
static void write_row(Shorts row, size_t run, char *low, char *high)
{
    for (size_t each = 0; each < row.count; each++) {
        unsigned number = each % run ? (unsigned)(row.at[each] - row.at[each - 1]) : row.at[each];
        low[each] = (char)number;
        high[each] = (char)(number >> 8);
    }
}

static PyObject *rows_of(const Work *work, size_t places, size_t run, char *low)
{
    size_t again = work->starts[work->many], half = work->many + 1 + places - again;
    PyObject *rows = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(2 * half + again));
    if (!rows)
        return NULL;
    char *at = PyBytes_AsString(rows);
    write_row((Shorts){work->starts, work->many + 1}, run, at, at + half);
    write_row((Shorts){work->sorted + again, places - again}, run, at + work->many + 1, at + half + work->many + 1);
    for (size_t each = 0; each < again; each++) {
        low[each] = (char)work->sorted[each];
        at[2 * half + each] = (char)(work->sorted[each] >> 8);
    }
    return rows;
}

static PyObject *tables_of(Work *work, PyObject *vocabulary, Shorts places, Shorts positions, size_t run)
{
    if (count_places(places, work->counts, work->terms))
        return NULL;
    sort_positions(work, places, positions);
    PyObject *low = PyBytes_FromStringAndSize(NULL, work->starts[work->many]);
    PyObject *table = low ? table_of(work, vocabulary) : NULL;
    PyObject *rows = table ? rows_of(work, places.count, run, PyBytes_AsString(low)) : NULL;
    if (rows)
        return Py_BuildValue("(nNNN)", (Py_ssize_t)work->many, low, table, rows);
    Py_XDECREF(low);
    Py_XDECREF(table);
    return NULL;
}

/* tables_of(vocabulary, places, positions, run): see tables_of in forward_index.py. */
PyObject *make_tables(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *vocabulary, *found = NULL;
    Py_buffer places, positions;
    unsigned int run;
    Work work = {0};
    if (!PyArg_ParseTuple(arguments, "O!y*y*I", &PyList_Type, &vocabulary, &places, &positions, &run))
        return NULL;
    if (places.len != positions.len || places.len > 2 * UINT16_MAX || !run)
        PyErr_SetString(PyExc_ValueError, "not a position for each place, or too many");
    else {
        void *block = make_work(&work, (size_t)PyList_Size(vocabulary), (size_t)places.len / 2);
        if (block)
            found = tables_of(&work, vocabulary, shorts_in(&places), shorts_in(&positions), run);
        free(block);
    }
    PyBuffer_Release(&places);
    PyBuffer_Release(&positions);
    return found;
}

static int hash_terms(PyObject *vocabulary, uint32_t *hashes)
{
    for (Py_ssize_t term = 0; term < PyList_Size(vocabulary); term++) {
        Py_ssize_t size;
        const char *bytes = PyUnicode_AsUTF8AndSize(PyList_GetItem(vocabulary, term), &size);
        if (!bytes)
            return -1;
        hashes[term] = crc32_of(bytes, (size_t)size);
    }
    return 0;
}

static void set_bit(uint64_t *columns, uint32_t place)
{
    columns[place / 64 % COLUMNS] |= (uint64_t)1 << place % 64;
}

/* A bit for each term, and one for each two that stand side by side. */
static int fill_columns(uint64_t *columns, Shorts places, const uint32_t *hashes, size_t terms, unsigned shift,
                        uint32_t factor)
{
    uint32_t before = 0;
    for (size_t each = 0; each < places.count; each++) {
        if (places.at[each] >= terms) {
            PyErr_SetString(PyExc_ValueError, "a place that is none in the vocabulary");
            return -1;
        }
        uint32_t hash = hashes[places.at[each]];
        set_bit(columns, hash >> shift);
        if (each)
            set_bit(columns, (hash + before) * factor >> shift);
        before = hash;
    }
    return 0;
}

static PyObject *list_of(const uint64_t *columns)
{
    PyObject *list = PyList_New(COLUMNS);
    for (Py_ssize_t each = 0; list && each < COLUMNS; each++) {
        PyObject *number = PyLong_FromUnsignedLongLong(columns[each]);
        if (!number || PyList_SetItem(list, each, number))
            Py_CLEAR(list);
    }
    return list;
}

/* columns_of(vocabulary, places, shift, factor): see columns_of in sketch.py. */
PyObject *make_sketch(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *vocabulary;
    Py_buffer places;
    unsigned int shift, factor;
    uint64_t columns[COLUMNS] = {0};
    if (!PyArg_ParseTuple(arguments, "O!y*II", &PyList_Type, &vocabulary, &places, &shift, &factor))
        return NULL;
    size_t terms = (size_t)PyList_Size(vocabulary);
    uint32_t *hashes = calloc(terms + 1, sizeof *hashes);
    int failed = !hashes || shift > 31;
    if (failed)
        PyErr_NoMemory();
    failed = failed || hash_terms(vocabulary, hashes)
             || fill_columns(columns, shorts_in(&places), hashes, terms, shift, factor);
    free(hashes);
    PyBuffer_Release(&places);
    return failed ? NULL : list_of(columns);
}
