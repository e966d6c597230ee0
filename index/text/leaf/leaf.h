/* The compiled leaf of the analysis of text: what its files know of each other.

   The leaf gives, byte for byte, what the Python functions of index/text give that it stands for: they are its
   definition, and serve where no compiler was. It reads what strangers wrote, so every table is bounded and keyed.
   It decides nothing by a character that its tables, which Python makes, do not know: of such it asks Python. */
#ifndef LEAF_H
#define LEAF_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Functions that return int return 0, or -1 with an exception of Python's set, unless they say something else. */

/* numbers.c: lists of numbers, and tables of places by hashes. */
typedef struct {
    uint32_t *at;
    size_t count, room;
} Numbers;

typedef struct {
    uint32_t hash, number; /* number 0: nothing is here */
} Slot;

typedef struct {
    Slot *at;
    uint32_t mask, count;
} Table;

int push_number(Numbers *numbers, uint32_t number);
int make_table(Table *table);
int fill_slot(Table *table, uint32_t hash, uint32_t number);
void empty_table(Table *table);
int make_room(void **items, uint32_t count, uint32_t *room, size_t size);

/* hashes.c */
typedef struct {
    uint64_t first, second;
} HashKey;

int make_key(HashKey *key);
uint32_t hash_of(const HashKey *key, const char *bytes, size_t size);
uint32_t crc32_of(const char *bytes, size_t size);

/* terms.c: each term once, numbered as they come. */
typedef struct {
    PyObject *text;
    const char *bytes; /* of `text`, in UTF-8 */
    uint32_t size;
    uint32_t document; /* the last one that had the term, and its place in that document's vocabulary */
    uint32_t place;
} Term;

typedef struct {
    Term *at;
    uint32_t count, room;
    Table table;
    HashKey key;
} Terms;

int64_t number_of_bytes(Terms *terms, const char *bytes, size_t size);
int64_t number_of_text(Terms *terms, PyObject *text);
void forget_terms(Terms *terms);

/* memo.c: the terms of the chunks that were cut. */
enum { MEMO_BYTES = 64, MEMO_TERMS = 8 };

typedef struct {
    uint32_t start; /* in `bytes` */
    uint32_t first; /* in `numbers`: its terms, then its joined forms */
    uint8_t size, stem_class, terms, joined;
} Chunk;

typedef struct {
    Chunk *at;
    uint32_t count, room;
    char *bytes;
    uint32_t byte_count, byte_room;
    Numbers numbers;
    Table table;
    HashKey key;
} Memo;

uint32_t hash_of_chunk(const Memo *memo, int stem_class, const char *chunk, size_t size);
const Chunk *find_chunk(const Memo *memo, uint32_t hash, int stem_class, const char *chunk, size_t size);
int remember_chunk(Memo *memo, uint32_t hash, Chunk chunk, const char *bytes, const uint32_t *terms,
                   const uint32_t *joined);
void forget_chunks(Memo *memo);

/* chunks.c: chunks to terms. */
enum { PLAIN_FROM = 256 }; /* a letter of the table from here on is of a run, and is the letter as it is written */
enum Letter {
    ASK = 0,    /* only Python knows */
    REST = 1,   /* may stand between runs; but words beside it are known to Python alone */
    JOINER = 2, /* joins words to one */
    GAP = 3,    /* is part of no word, and joins none */
    WORD = 4,   /* a letter or digit of a script that is written with spaces */
};

typedef struct {
    PyObject_HEAD
    PyObject *latin; /* (stem class) -> the stemmer of its words in ASCII */
    PyObject *known; /* (chunk, stem class) -> its terms and its joined forms */
    PyObject *word;  /* the same for a chunk of nothing but WORD letters */
    PyObject *stem;  /* that of the document's class, while it is cut */
    int stem_class, is_busy;
    unsigned char spaced[256];
    uint16_t letters[1 << 16];
    Terms terms;
    Memo memo;
    Numbers said, joined; /* terms of the document, joined forms of the line */
    size_t full;          /* of `said`: what comes after so many is not kept */
    uint32_t document, most_chunks, most_terms;
} Cutter;

int cut_chunk(Cutter *self, const char *chunk, size_t size);

/* The code point at a place of valid UTF-8, UINT32_MAX where it is cut off; the place moves behind it. */
static inline uint32_t next_code(const char *text, size_t size, size_t *place)
{
    const unsigned char *at = (const unsigned char *)text + *place;
    size_t length = *at < 0x80 ? 1 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : 4;
    if (length > size - *place) {
        *place = size;
        return UINT32_MAX;
    }
    *place += length;
    switch (length) {
    case 1:
        return *at;
    case 2:
        return (at[0] & 0x1Fu) << 6 | (at[1] & 0x3Fu);
    case 3:
        return (at[0] & 0x0Fu) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu);
    default:
        return (at[0] & 0x07u) << 18 | (at[1] & 0x3Fu) << 12 | (at[2] & 0x3Fu) << 6 | (at[3] & 0x3Fu);
    }
}

static inline uint16_t letter_of(const Cutter *self, uint32_t code)
{
    return code < 1 << 16 ? self->letters[code] : ASK;
}

static inline uint16_t next_letter(const Cutter *self, const char *text, size_t size, size_t *place)
{
    return letter_of(self, next_code(text, size, place));
}

/* cutter.c, forward.c, lines.c, measure.c, words.c, pieces.c, window.c, characters.c: what the module and its Cutter offer. */
int add_cutter(PyObject *module);
PyObject *make_tables(PyObject *module, PyObject *arguments);
PyObject *make_sketch(PyObject *module, PyObject *arguments);
PyObject *write_lines(PyObject *module, PyObject *arguments);
PyObject *measure_leaves(PyObject *module, PyObject *arguments);
PyObject *find_pieces(PyObject *module, PyObject *arguments);
PyObject *find_window(PyObject *module, PyObject *arguments);
PyObject *find_words(PyObject *module, PyObject *arguments);
PyObject *find_characters(Cutter *self, PyObject *arguments);

static inline int is_letter(char c) { return c >= 'a' && c <= 'z'; } /* of ASCII, in lower case as all chunks are */
static inline int is_digit(char c) { return c >= '0' && c <= '9'; }

#endif
