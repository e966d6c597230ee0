/* The distinct characters of a text that are tags: see characters_in in tags.py. */
#include "leaf.h"

enum { CODES = 0x110000, FIRST = 0x2E80, FIRST_HAN = 0x3400 }; /* FIRST as in tags.py; runs before FIRST_HAN are kana */

typedef struct {
    uint64_t found[CODES / 64], asked[CODES / 64]; /* a bit for each */
    uint32_t last;                                 /* of those found */
} Characters;

static int has(const uint64_t *set, uint32_t code) { return set[code / 64] >> code % 64 & 1; }

static void add(Characters *characters, uint32_t code)
{
    characters->found[code / 64] |= (uint64_t)1 << code % 64;
    if (code > characters->last)
        characters->last = code;
}

/* Add what Python writes for a character: one, or nothing. */
static int ask(Characters *characters, PyObject *written, uint32_t code)
{
    if (has(characters->asked, code))
        return 0;
    characters->asked[code / 64] |= (uint64_t)1 << code % 64;
    PyObject *character = PyObject_CallFunction(written, "I", code);
    int failed = !character || !PyUnicode_Check(character);
    if (!failed && PyUnicode_GetLength(character) == 1)
        add(characters, PyUnicode_ReadChar(character, 0));
    Py_XDECREF(character);
    return failed ? -1 : 0;
}

static int find_all(Characters *characters, const Cutter *cutter, PyObject *written, const char *text, size_t size)
{
    for (size_t place = 0; place < size;) {
        if (!(text[place] & 0x80)) {
            place++;
            continue;
        }
        uint32_t code = next_code(text, size, &place);
        uint16_t letter = letter_of(cutter, code);
        if (letter >= FIRST_HAN)
            add(characters, letter);
        else if (letter < PLAIN_FROM && code >= FIRST && code < CODES && ask(characters, written, code))
            return -1;
    }
    return 0;
}

static PyObject *list_of(const Characters *characters)
{
    PyObject *list = PyList_New(0);
    for (uint32_t code = 0; list && code <= characters->last; code++) {
        if (!characters->found[code / 64])
            code |= 63; /* none of these */
        else if (has(characters->found, code)) {
            PyObject *character = PyUnicode_FromOrdinal((int)code);
            if (!character || PyList_Append(list, character))
                Py_CLEAR(list);
            Py_XDECREF(character);
        }
    }
    return list;
}

/* characters_in(text, written): `written` gives for a code point its character as the analyzer writes it, or "". */
PyObject *find_characters(Cutter *self, PyObject *arguments)
{
    Py_buffer text;
    PyObject *written, *list = NULL;
    if (!PyArg_ParseTuple(arguments, "y*O", &text, &written))
        return NULL;
    Characters *characters = calloc(1, sizeof *characters);
    if (!characters)
        PyErr_NoMemory();
    else if (!find_all(characters, self, written, text.buf, (size_t)text.len))
        list = list_of(characters);
    free(characters);
    PyBuffer_Release(&text);
    return list;
}
