/* The distinct chunks of a text, sorted out for the words as people write them: see surfaces.py. */
#include "leaf.h"

typedef struct {
    const char *bytes;
    size_t size;
} Piece;

typedef struct {
    Piece *at;
    uint32_t count, room;
    Table table;
    HashKey key;
} Pieces;

/* 1 where a piece is new, 0 where it was there, -1 where memory ends. */
static int add_piece(Pieces *pieces, Piece piece)
{
    Table *table = &pieces->table;
    uint32_t hash = hash_of(&pieces->key, piece.bytes, piece.size);
    for (uint32_t place = hash & table->mask; table->at[place].number; place = (place + 1) & table->mask) {
        const Piece *known = &pieces->at[table->at[place].number - 1];
        if (table->at[place].hash == hash && known->size == piece.size
            && !memcmp(known->bytes, piece.bytes, piece.size))
            return 0;
    }
    if (make_room((void **)&pieces->at, pieces->count, &pieces->room, sizeof *pieces->at)
        || fill_slot(table, hash, pieces->count))
        return -1;
    pieces->at[pieces->count++] = piece;
    return 1;
}

typedef struct {
    PyObject *words, *others;
    size_t least, most; /* letters of a word */
} Sieve;

static int append_new(PyObject *list, PyObject *item)
{
    int failed = !item || PyList_Append(list, item);
    Py_XDECREF(item);
    return failed ? -1 : 0;
}

static int sift_piece(Sieve *sieve, Piece piece)
{
    size_t letters = 0, digits = 0;
    for (size_t place = 0; place < piece.size; place++) {
        letters += (size_t)is_letter(piece.bytes[place]);
        digits += (size_t)is_digit(piece.bytes[place]);
    }
    if (letters + digits < piece.size)
        return append_new(sieve->others, PyBytes_FromStringAndSize(piece.bytes, (Py_ssize_t)piece.size));
    if (digits || piece.size < sieve->least || piece.size > sieve->most)
        return 0;
    return append_new(sieve->words, PyUnicode_FromStringAndSize(piece.bytes, (Py_ssize_t)piece.size));
}

/* Whether a letter is of a plain run, as PLAIN_RUN of scripts.py says. */
static int is_plain(uint32_t code)
{
    return code >= 0x3041 && (code <= 0x3094 || (code >= 0x30A1 && code <= 0x30FA) || code == 0x30FC
                              || (code >= 0x4E00 && code <= 0x9FFF) || (code >= 0xAC00 && code <= 0xD7A3));
}

/* Whether a space or a letter of a plain run stands at a place, which moves behind that. */
static int is_between(const char *bytes, size_t size, size_t *place)
{
    if (!(bytes[*place] & 0x80))
        return bytes[(*place)++] == ' ';
    return is_plain(next_code(bytes, size, place));
}

static int sift_all(Sieve *sieve, Pieces *pieces, const char *bytes, size_t size)
{
    if (make_key(&pieces->key) || make_table(&pieces->table))
        return -1;
    for (size_t start = 0, place = 0; place < size; start = place) {
        size_t end = place;
        while (end < size && !is_between(bytes, size, &place))
            end = place;
        Piece piece = {bytes + start, end - start};
        int is_new = piece.size ? add_piece(pieces, piece) : 0;
        if (is_new < 0 || (is_new && sift_piece(sieve, piece)))
            return -1;
    }
    return 0;
}

/* sift_chunks(spaced, least, most): see sift_chunks in surfaces.py. */
PyObject *find_words(PyObject *module, PyObject *arguments)
{
    (void)module;
    Py_buffer text;
    Py_ssize_t least, most;
    if (!PyArg_ParseTuple(arguments, "y*nn", &text, &least, &most))
        return NULL;
    Sieve sieve = {PyList_New(0), PyList_New(0), (size_t)least, (size_t)most};
    Pieces pieces = {0};
    int failed = !sieve.words || !sieve.others || sift_all(&sieve, &pieces, text.buf, (size_t)text.len);
    free(pieces.at);
    free(pieces.table.at);
    PyBuffer_Release(&text);
    if (!failed)
        return Py_BuildValue("(NN)", sieve.words, sieve.others);
    Py_XDECREF(sieve.words);
    Py_XDECREF(sieve.others);
    return NULL;
}
