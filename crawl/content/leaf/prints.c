/* What a fingerprint and a signature are made of: see fingerprint.py. */
#include "leaf.h"

enum { RUN = 16, BINS = 128, BIN_SHIFT = 57 };
static const uint64_t GOLDEN = 0x9E3779B97F4A7C15u, MIX = 0xBF58476D1CE4E5B9u;

/* Names of days and months: what each begins with, and the rest that it may have. */
static const char NAMES[][2][8] = {
    {"Mon", "day"}, {"Tue", "sday"}, {"Wed", "nesday"}, {"Thu", "rsday"}, {"Fri", "day"}, {"Sat", "urday"},
    {"Sun", "day"}, {"Jan", "uary"}, {"Feb", "ruary"}, {"Mar", "ch"}, {"Apr", "il"}, {"May", ""}, {"Jun", "e"},
    {"Jul", "y"}, {"Aug", "ust"}, {"Sep", "tember"}, {"Oct", "ober"}, {"Nov", "ember"}, {"Dec", "ember"},
};

static int is_word(char c) { return is_letter((unsigned char)c) || is_digit((unsigned char)c) || c == '_'; }

/* How many bytes of a name stand here, which ends in a NUL or later; 0 for none. */
static size_t name_at(const char *at)
{
    for (size_t name = 0; name < sizeof NAMES / sizeof *NAMES; name++) {
        if (at[0] != NAMES[name][0][0] || at[1] != NAMES[name][0][1] || at[2] != NAMES[name][0][2])
            continue; /* nothing behind a NUL is looked at */
        size_t rest = strlen(NAMES[name][1]);
        if (rest && !strncmp(at + 3, NAMES[name][1], rest) && !is_word(at[3 + rest]))
            return 3 + rest;
        return is_word(at[3]) ? 0 : 3;
    }
    return 0;
}

/* What becomes of a byte: it stays, it goes, or a name may begin with it. */
enum { STAYS, GOES, BEGINS };

static void fill_fates(unsigned char fates[256])
{
    memset(fates, STAYS, 256);
    for (const char *gone = "0123456789 \n"; *gone; gone++)
        fates[(unsigned char)*gone] = GOES;
    for (size_t name = 0; name < sizeof NAMES / sizeof *NAMES; name++)
        fates[(unsigned char)NAMES[name][0][0]] = BEGINS;
}

static size_t steady_bytes(const char *said, size_t size, char *steady)
{
    unsigned char fates[256];
    fill_fates(fates);
    size_t kept = 0;
    for (size_t at = 0; at < size; at++) {
        unsigned char fate = fates[(unsigned char)said[at]];
        size_t name = fate == BEGINS ? name_at(said + at) : 0;
        steady[kept] = said[at];
        kept += fate != GOES && !name;
        at += name ? name - 1 : 0;
    }
    return kept;
}

/* steady_of(said): bytes without names of days and months, digits and white space. */
PyObject *find_steady(PyObject *module, PyObject *said)
{
    (void)module;
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(said, &bytes, &size))
        return NULL;
    char *steady = malloc((size_t)size + 1);
    if (!steady)
        return PyErr_NoMemory();
    size_t kept = steady_bytes(bytes, (size_t)size, steady);
    PyObject *found = PyBytes_FromStringAndSize(steady, (Py_ssize_t)kept);
    free(steady);
    return found;
}

static uint64_t half_of(const unsigned char *at)
{
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24
           | (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 | (uint64_t)at[6] << 48 | (uint64_t)at[7] << 56;
}

/* Which bytes a run begins at: those between words, marks, and the first of each letter beyond ASCII. */
static void fill_begins(unsigned char begins[256])
{
    for (int byte = 0; byte < 256; byte++)
        begins[byte] = byte < 128 ? !is_letter((unsigned char)byte) && !is_digit((unsigned char)byte) : byte >= 0xC0;
}

static void keep_smallest(const unsigned char *data, size_t runs, uint64_t smallest[BINS], unsigned char has[BINS])
{
    unsigned char begins[256];
    fill_begins(begins);
    for (size_t at = 0; at < runs; at++) {
        if (!begins[data[at]])
            continue;
        uint64_t hash = half_of(data + at) * GOLDEN ^ half_of(data + at + 8);
        hash = (hash ^ hash >> 32) * MIX;
        unsigned bin = (unsigned)(hash >> BIN_SHIFT);
        if (!has[bin] || hash < smallest[bin])
            smallest[bin] = hash;
        has[bin] = 1;
    }
}

static void sign_runs(const unsigned char *data, size_t runs, unsigned char bits[BINS / 8])
{
    uint64_t smallest[BINS];
    unsigned char has[BINS] = {0};
    keep_smallest(data, runs, smallest, has); /* the first run counts always */
    memset(bits, 0, BINS / 8);
    for (unsigned bin = 0; bin < BINS; bin++) {
        unsigned distance = 0;
        while (!has[(bin + distance) % BINS])
            distance++;
        uint64_t mixed = smallest[(bin + distance) % BINS] + distance * MIX;
        mixed = (mixed ^ mixed >> 31) * GOLDEN;
        bits[bin / 8] |= (unsigned char)(mixed >> 63 << (7 - bin % 8));
    }
}

/* sign(data): a space before, NULs behind where the text is short. */
PyObject *sign_text(PyObject *module, PyObject *data)
{
    (void)module;
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(data, &bytes, &size))
        return NULL;
    size_t count = (size_t)size < RUN - 1 ? RUN - 1 : (size_t)size;
    unsigned char signature[BINS / 8], *padded = calloc(count + 1, 1);
    if (!padded)
        return PyErr_NoMemory();
    padded[0] = ' ';
    for (Py_ssize_t at = 0; at < size; at++) {
        unsigned char byte = (unsigned char)bytes[at];
        padded[at + 1] = byte == '\n' ? ' ' : byte >= 'A' && byte <= 'Z' ? byte | 32 : byte;
    }
    sign_runs(padded, count + 1 - RUN + 1, signature);
    free(padded);
    return PyBytes_FromStringAndSize((const char *)signature, sizeof signature);
}
