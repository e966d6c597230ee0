/* Which names a source has: all are looked for in one pass. Source: Wu and Manber, 1994, "A fast algorithm for
   multi-pattern searching", with blocks of two bytes. */
#include "leaf.h"

enum { MOST_NAMES = 32, FEWEST_BYTES = 2, MOST_BYTES = 255, BLOCKS = 1024 };

static inline size_t block_at(const unsigned char *at)
{
    return (at[0] * 32u + at[1]) % BLOCKS;
}

/* names_in(source, names): a bit for each name that stands in the source. */
PyObject *names_in(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *source, *names;
    if (!PyArg_ParseTuple(arguments, "SO!", &source, &PyTuple_Type, &names))
        return NULL;
    char *data, *texts[MOST_NAMES];
    Py_ssize_t size, sizes[MOST_NAMES], count = PyTuple_Size(names), least = MOST_BYTES;
    if (count < 1 || count > MOST_NAMES)
        return PyErr_Format(PyExc_ValueError, "%zd names", count);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(names, i), &texts[i], &sizes[i]) < 0)
            return NULL;
        if (sizes[i] < FEWEST_BYTES || sizes[i] > MOST_BYTES)
            return PyErr_Format(PyExc_ValueError, "a name of %zd bytes", sizes[i]);
        least = sizes[i] < least ? sizes[i] : least;
    }
    unsigned char steps[BLOCKS]; /* how far no name can end, by the last block that was read */
    memset(steps, (int)least - 1, sizeof steps);
    for (Py_ssize_t i = 0; i < count; i++)
        for (Py_ssize_t at = 0; at + 1 < least; at++) {
            unsigned char *step = &steps[block_at((unsigned char *)texts[i] + at)];
            unsigned char left = (unsigned char)(least - 2 - at);
            *step = left < *step ? left : *step;
        }
    PyBytes_AsStringAndSize(source, &data, &size);
    unsigned long found = 0, all = count == 32 ? 0xFFFFFFFFul : (1ul << count) - 1;
    const unsigned char *bytes = (unsigned char *)data;
    for (Py_ssize_t at = least - 2; at + 1 < size && found != all;) {
        unsigned step = steps[block_at(bytes + at)];
        if (step) {
            at += step;
            continue;
        }
        Py_ssize_t start = at - (least - 2);
        for (Py_ssize_t i = 0; i < count; i++)
            if (sizes[i] <= size - start && !memcmp(data + start, texts[i], (size_t)sizes[i]))
                found |= 1ul << i;
        at++;
    }
    return PyLong_FromUnsignedLong(found);
}
