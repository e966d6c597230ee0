/* The compiled leaf of the parser: what its files know of each other.

   The leaf gives, byte for byte, what the Python functions of crawl/content give that it stands for: they are its
   definition, and serve where no compiler was. It reads what strangers wrote, and takes as much memory as that, times
   a constant. Of characters beyond ASCII it knows what a table says that Python makes, see page_leaf.py. */
#ifndef LEAF_H
#define LEAF_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PLANE = 1 << 16 }; /* the table of letters has a number for each code point below */
enum Letter {
    SPACE = 1,
    UNSPACED = 2,    /* of a script without spaces */
    ALPHA = 4,       /* a letter to Python */
    PART = 8,        /* may be part of a small word */
    FOREIGN = 16,    /* beyond Latin */
    OF_ONE = 32,     /* of one language alone: three bits from here on */
    SCRIPT_FROM = 8, /* above so many bits is the number of the script */
};
const uint16_t *letters_in(PyObject *table); /* NULL with an exception set: it is of another size */

/* texts.c, prints.c, language.c, names.c: what the module offers. */
PyObject *count_letters(PyObject *module, PyObject *arguments);
PyObject *count_votes(PyObject *module, PyObject *arguments);
PyObject *read_texts(PyObject *module, PyObject *arguments);
PyObject *find_steady(PyObject *module, PyObject *said);
PyObject *sign_text(PyObject *module, PyObject *data);
PyObject *names_in(PyObject *module, PyObject *arguments);

/* The code point that begins here, and how many bytes it has: of UTF-8 that Python wrote, so that it is whole. */
static inline uint32_t point_at(const unsigned char *at, int *size)
{
    if (*at < 0x80) {
        *size = 1;
        return *at;
    }
    if (*at < 0xE0) {
        *size = 2;
        return (at[0] & 0x1Fu) << 6 | (at[1] & 0x3Fu);
    }
    if (*at < 0xF0) {
        *size = 3;
        return (at[0] & 0xFu) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu);
    }
    *size = 4;
    return (at[0] & 7u) << 18 | (at[1] & 0x3Fu) << 12 | (at[2] & 0x3Fu) << 6 | (at[3] & 0x3Fu);
}

static inline int is_letter(unsigned char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; } /* of ASCII */
static inline int is_digit(unsigned char c) { return c >= '0' && c <= '9'; }

#endif
