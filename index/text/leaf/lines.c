/* The lines of a document as tantivy is given them: see written_lines in tantivy_documents.py. */
#include "leaf.h"

enum { FIRST_BYTES = 1 << 12 };

typedef struct {
    const char *bytes;
    uint32_t size;
    int is_number;
} Word;

typedef struct {
    char *at;
    size_t size, room;
} Text;

/* What is made of a document. `pair`: before two numbers that stand side by side. */
typedef struct {
    Word *words, mark, pair;
    const uint16_t *places;
    Text text;
} Lines;

static int make_text_room(Text *text, size_t size)
{
    if (text->room - text->size >= size)
        return 0;
    size_t room = 2 * (text->room + size) + FIRST_BYTES;
    char *found = realloc(text->at, room);
    if (!found) {
        PyErr_NoMemory();
        return -1;
    }
    text->at = found;
    text->room = room;
    return 0;
}

/* Put something where there is room for it. */
static void put(Text *text, const char *bytes, size_t size)
{
    memcpy(text->at + text->size, bytes, size);
    text->size += size;
}

static void put_word(Text *text, const Word *word) { put(text, word->bytes, word->size); }

static int is_number(const char *bytes, size_t size)
{
    for (size_t place = 0; place < size; place++)
        if (!is_digit(bytes[place]))
            return 0;
    return size > 0;
}

static int read_word(PyObject *from, Word *word)
{
    Py_ssize_t size;
    word->bytes = PyUnicode_AsUTF8AndSize(from, &size);
    if (!word->bytes)
        return -1;
    word->size = (uint32_t)size;
    word->is_number = is_number(word->bytes, (size_t)size);
    return 0;
}

static int put_terms(Lines *lines, size_t start, size_t end)
{
    Text *text = &lines->text;
    size_t size = 0;
    for (size_t each = start; each < end; each++)
        size += lines->words[lines->places[each]].size + lines->mark.size + 1;
    text->size = 0;
    if (make_text_room(text, size))
        return -1;
    for (size_t each = start; each < end; each++) {
        if (each > start)
            text->at[text->size++] = ' ';
        put_word(text, &lines->words[lines->places[each]]);
        if (lines->mark.size)
            put_word(text, &lines->mark);
    }
    return 0;
}

static int put_pair(Text *text, const char *gap, const Word *pair, const Word *first, const Word *second)
{
    if (make_text_room(text, strlen(gap) + pair->size + first->size + 1 + second->size))
        return -1;
    put(text, gap, strlen(gap));
    put_word(text, pair);
    put_word(text, first);
    put(text, ".", 1);
    put_word(text, second);
    return 0;
}

/* A dash stands between pairs that are no neighbours. */
static int put_pairs(Lines *lines, size_t start, size_t end)
{
    size_t before = 0;
    lines->text.size = 0;
    for (size_t each = start; each + 1 < end; each++) {
        const Word *first = &lines->words[lines->places[each]], *second = &lines->words[lines->places[each + 1]];
        if (!first->is_number || !second->is_number)
            continue;
        const char *gap = !lines->text.size ? "" : each > before + 1 ? " - " : " ";
        if (put_pair(&lines->text, gap, &lines->pair, first, second))
            return -1;
        before = each;
    }
    return 0;
}

static int append_text(PyObject *list, const Text *text)
{
    PyObject *made = PyUnicode_FromStringAndSize(text->at ? text->at : "", (Py_ssize_t)text->size);
    int failed = !made || PyList_Append(list, made);
    Py_XDECREF(made);
    return failed ? -1 : 0;
}

static int read_all(Lines *lines, PyObject *vocabulary, PyObject *mark, const Py_buffer *places)
{
    size_t terms = (size_t)PyList_Size(vocabulary);
    lines->words = calloc(terms + 1, sizeof *lines->words);
    if (!lines->words) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t term = 0; term < terms; term++)
        if (read_word(PyList_GetItem(vocabulary, (Py_ssize_t)term), &lines->words[term]))
            return -1;
    lines->places = places->buf;
    for (size_t each = 0; each < (size_t)places->len / sizeof *lines->places; each++)
        if (lines->places[each] >= terms) {
            PyErr_SetString(PyExc_ValueError, "a place that is none in the vocabulary");
            return -1;
        }
    return read_word(mark, &lines->mark);
}

static int write_all(Lines *lines, PyObject *lengths, size_t count, PyObject *const marks[2], PyObject *const lists[2])
{
    Py_ssize_t last = PyList_Size(lengths) - 1;
    for (Py_ssize_t line = 0, start = 0; line <= last; line++) {
        Py_ssize_t length = PyLong_AsSsize_t(PyList_GetItem(lengths, line)), end = start + length;
        if (length < 0 || (size_t)length > count - (size_t)start) {
            PyErr_SetString(PyExc_ValueError, "lines of other lengths");
            return -1;
        }
        if (read_word(marks[line == last], &lines->pair) || put_terms(lines, (size_t)start, (size_t)end)
            || append_text(lists[0], &lines->text) || put_pairs(lines, (size_t)start, (size_t)end)
            || append_text(lists[1], &lines->text))
            return -1;
        start = end;
    }
    return 0;
}

/* written_lines(vocabulary, places, lengths, mark, pair, last_pair): see written_lines in tantivy_documents.py. */
PyObject *write_lines(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *vocabulary, *lengths, *mark, *pairs[2], *lists[2] = {PyList_New(0), PyList_New(0)};
    Py_buffer places;
    if (!lists[0] || !lists[1]
        || !PyArg_ParseTuple(arguments, "O!y*O!UUU", &PyList_Type, &vocabulary, &places, &PyList_Type, &lengths, &mark,
                             &pairs[0], &pairs[1])) {
        Py_XDECREF(lists[0]);
        Py_XDECREF(lists[1]);
        return NULL;
    }
    Lines lines = {0};
    size_t count = (size_t)places.len / sizeof *lines.places;
    int failed = read_all(&lines, vocabulary, mark, &places) || write_all(&lines, lengths, count, pairs, lists);
    free(lines.words);
    free(lines.text.at);
    PyBuffer_Release(&places);
    if (!failed)
        return Py_BuildValue("(NN)", lists[0], lists[1]);
    Py_DECREF(lists[0]);
    Py_DECREF(lists[1]);
    return NULL;
}
