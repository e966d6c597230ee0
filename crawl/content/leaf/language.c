/* What a language is guessed by: see language.py. Of what their tables do not know these functions return None. */
#include "leaf.h"

enum { SCRIPTS = 12, OWNERS = 3, FEWEST_LETTERS = 20, LANGUAGES = 28, SLOT_BITS = 13, LONGEST = 8, WEIGHT_FROM = 56 };
static const uint64_t GOLDEN = 0x9E3779B97F4A7C15u;

const uint16_t *letters_in(PyObject *table)
{
    if (PyBytes_Size(table) == PLANE * (Py_ssize_t)sizeof(uint16_t))
        return (const uint16_t *)(const void *)PyBytes_AsString(table);
    PyErr_SetString(PyExc_ValueError, "a table of another size");
    return NULL;
}

static PyObject *tuple_of(const Py_ssize_t *numbers, Py_ssize_t count)
{
    PyObject *found = PyTuple_New(count);
    for (Py_ssize_t at = 0; found && at < count; at++) {
        PyObject *number = PyLong_FromSsize_t(numbers[at]);
        if (!number || PyTuple_SetItem(found, at, number))
            Py_CLEAR(found);
    }
    return found;
}

/* Count letters, foreign ones, those of one language, of no script, of each; 0 where a character is unknown. */
static int count_each(const unsigned char *at, const unsigned char *end, const uint16_t *letters, Py_ssize_t *counts)
{
    for (int size; at < end; at += size) {
        uint32_t point = point_at(at, &size);
        if (point >= PLANE)
            return 0;
        unsigned known = letters[point];
        counts[0] += (known & ALPHA) != 0;
        counts[1] += (known & FOREIGN) != 0;
        for (int own = 0; own < OWNERS; own++)
            counts[2 + own] += (known & (unsigned)OF_ONE << own) != 0;
        counts[2 + OWNERS + (known >> SCRIPT_FROM)]++;
    }
    return 1;
}

/* count_letters(sample, letters) */
PyObject *count_letters(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *sample, *table;
    const uint16_t *letters;
    if (!PyArg_ParseTuple(arguments, "SS", &sample, &table) || !(letters = letters_in(table)))
        return NULL;
    const unsigned char *bytes = (const unsigned char *)PyBytes_AsString(sample);
    Py_ssize_t counts[3 + OWNERS + 256] = {0};
    if (!count_each(bytes, bytes + PyBytes_Size(sample), letters, counts))
        Py_RETURN_NONE;
    if (counts[1] < FEWEST_LETTERS)
        memset(counts, 0, sizeof counts);
    memmove(counts + 2 + OWNERS, counts + 3 + OWNERS, SCRIPTS * sizeof *counts); /* without those of no script */
    return tuple_of(counts, 2 + OWNERS + SCRIPTS);
}

typedef struct {
    uint64_t word, languages; /* a bit each, and the weight of a vote from bit WEIGHT_FROM on */
} Small;

static void vote(const Small *words, uint64_t word, Py_ssize_t *votes)
{
    for (size_t slot = word * GOLDEN >> (64 - SLOT_BITS); words[slot].word; slot = (slot + 1) % (1 << SLOT_BITS))
        if (words[slot].word == word) {
            uint64_t languages = words[slot].languages;
            Py_ssize_t weight = (Py_ssize_t)(languages >> WEIGHT_FROM);
            languages &= ((uint64_t)1 << LANGUAGES) - 1;
            for (int language = 0; languages; language++, languages >>= 1)
                votes[language] += languages & 1 ? weight : 0;
            return;
        }
}

static int count_words(const unsigned char *at, const unsigned char *end, const uint16_t *letters, const Small *words,
                       Py_ssize_t *votes)
{
    uint64_t word = 0;
    int length = 0;
    for (int size; at < end; at += size) {
        uint32_t point = point_at(at, &size);
        if (point >= PLANE)
            return 0;
        int is_part = point < 128 ? is_letter((unsigned char)point) : (letters[point] & PART) != 0;
        for (int byte = 0; is_part && byte < size; byte++, length++)
            word |= length < LONGEST ? (uint64_t)at[byte] << 8 * length : 0;
        if (is_part)
            continue;
        if (length && length <= LONGEST)
            vote(words, word, votes);
        word = 0;
        length = 0;
    }
    if (length && length <= LONGEST)
        vote(words, word, votes);
    return 1;
}

/* count_votes(lower, letters, words) */
PyObject *count_votes(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *lower, *table, *words;
    const uint16_t *letters;
    if (!PyArg_ParseTuple(arguments, "SSS", &lower, &table, &words) || !(letters = letters_in(table)))
        return NULL;
    if (PyBytes_Size(words) != (Py_ssize_t)sizeof(Small) << SLOT_BITS)
        return PyErr_Format(PyExc_ValueError, "a table of words of another size");
    const unsigned char *bytes = (const unsigned char *)PyBytes_AsString(lower);
    const Small *small = (const Small *)(const void *)PyBytes_AsString(words);
    Py_ssize_t votes[LANGUAGES] = {0};
    if (!count_words(bytes, bytes + PyBytes_Size(lower), letters, small, votes))
        Py_RETURN_NONE;
    return tuple_of(votes, LANGUAGES);
}
