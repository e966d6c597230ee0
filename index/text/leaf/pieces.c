/* The pieces of a shown text in which the words of a query may stand: see pieces_with in index/results/first_letters.py. */
#include "leaf.h"

enum { LETTERS = 1 << 16, NO_LETTER = LETTERS - 1, GROUPS = 256 };

typedef struct {
    const char *letters; /* 16 bits each */
    size_t size;         /* in bytes */
    size_t from;         /* where its next place may be */
    Py_ssize_t left;     /* so many more of its places count */
    uint32_t next;       /* of those whose first letter has the same low byte, by its number from 1 on */
} Beginning;

typedef struct {
    uint32_t *codes; /* of the text, with a space for each tab and end of line */
    uint16_t *plain; /* the letters that stand for them */
    size_t size;
    Beginning *beginnings;
    uint32_t group[GROUPS];
} Search;

static uint32_t *group_of(Search *search, const void *letter)
{
    uint16_t first;
    memcpy(&first, letter, sizeof first);
    return &search->group[first % GROUPS];
}

/* 1 where the text was read, 0 where it holds a letter whose lower case is not one letter, or depends on others. */
static int read_text(Search *search, PyObject *text, const char *table)
{
    search->size = (size_t)PyUnicode_GetLength(text);
    search->codes = PyUnicode_AsUCS4Copy(text);
    search->plain = search->codes ? malloc((search->size + 1) * sizeof *search->plain) : NULL;
    if (!search->plain) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t at = 0; at < search->size; at++) {
        uint32_t code = search->codes[at];
        if (code == 0x130 || code == 0x3A3)
            return 0;
        if (code == '\n' || code == '\t')
            search->codes[at] = code = ' ';
        search->plain[at] = NO_LETTER;
        if (code < LETTERS)
            memcpy(&search->plain[at], table + code * sizeof *search->plain, sizeof *search->plain);
    }
    return 1;
}

static int read_beginnings(Search *search, PyObject *beginnings, Py_ssize_t most)
{
    Py_ssize_t count = PyTuple_Size(beginnings), size;
    search->beginnings = calloc((size_t)count + 1, sizeof *search->beginnings);
    if (!search->beginnings) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t number = 0; number < count; number++) {
        char *letters;
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(beginnings, number), &letters, &size))
            return -1;
        if (size < 2)
            continue;
        uint32_t *group = group_of(search, letters);
        search->beginnings[number] = (Beginning){letters, (size_t)size, 0, most, *group};
        *group = (uint32_t)number + 1;
    }
    return 0;
}

/* Whether any beginning stands at a place; each has its next place behind this one. */
static int is_place(Search *search, size_t place)
{
    int found = 0;
    for (uint32_t number = *group_of(search, search->plain + place); number;) {
        Beginning *one = &search->beginnings[number - 1];
        number = one->next;
        if (place < one->from || !one->left || one->size / 2 > search->size - place
            || memcmp(one->letters, search->plain + place, one->size))
            continue;
        one->from = place + one->size / 2;
        one->left--;
        found = 1;
    }
    return found;
}

static int add_piece(PyObject *list, PyObject *text, size_t begin, size_t end)
{
    PyObject *piece = PyUnicode_Substring(text, (Py_ssize_t)begin, (Py_ssize_t)end);
    PyObject *found = piece ? Py_BuildValue("(nN)", (Py_ssize_t)begin, piece) : NULL;
    int failed = !found || PyList_Append(list, found);
    Py_XDECREF(found);
    return failed ? -1 : 0;
}

static int list_pieces(Search *search, PyObject *list, PyObject *text)
{
    size_t done = 0;
    for (size_t place = 0; place < search->size; place++) {
        if (!*group_of(search, search->plain + place) || !is_place(search, place) || place < done)
            continue;
        size_t begin = place, end = place;
        while (begin > done && search->codes[begin - 1] != ' ')
            begin--;
        while (end < search->size && search->codes[end] != ' ')
            end++;
        if (add_piece(list, text, begin, end))
            return -1;
        done = end + 1;
    }
    return 0;
}

/* pieces_with(text, table, beginnings, most): None where the text holds what Python alone knows. */
PyObject *find_pieces(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *text, *beginnings, *list = NULL;
    const char *table;
    Py_ssize_t size, most;
    if (!PyArg_ParseTuple(arguments, "Uy#O!n", &text, &table, &size, &PyTuple_Type, &beginnings, &most))
        return NULL;
    if (size != LETTERS * 2)
        return PyErr_Format(PyExc_ValueError, "a table of %zd bytes", size);
    Search search = {0};
    int known = read_beginnings(&search, beginnings, most) ? -1 : read_text(&search, text, table);
    if (known > 0 && (list = PyList_New(0)) && list_pieces(&search, list, text))
        Py_CLEAR(list);
    free(search.beginnings);
    free(search.plain);
    PyMem_Free(search.codes);
    return known ? list : Py_NewRef(Py_None);
}
