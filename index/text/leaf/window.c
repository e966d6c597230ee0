/* The window of a shown text that holds most different words of a query: see best_mark in index/results/snippet.py. */
#include "leaf.h"

typedef struct {
    Py_ssize_t start, end, term; /* the term by its number */
} Mark;

typedef struct {
    Py_UCS4 *text;
    Py_ssize_t size, chars, edge, count;
    double most_signs; /* of a window's letters at most such a share, where it is sentences */
    Mark *marks;
    Py_ssize_t *inside; /* how often each term is in the window */
} Window;

static int is_prose(const Window *window, Py_ssize_t begin)
{
    Py_ssize_t signs = 0, end = window->size - begin > window->chars ? begin + window->chars : window->size;
    for (Py_ssize_t at = begin; at < end; at++)
        signs += window->text[at] < 0x80 && window->text[at] && strchr("{}()[];=<>|\\/_$#*\n\t", (int)window->text[at]);
    return (double)signs <= window->most_signs * (double)(end > begin ? end - begin : 0);
}

static int read_mark(Mark *mark, PyObject *row, PyObject *numbers)
{
    PyObject *term;
    if (!PyTuple_Check(row) || !PyArg_ParseTuple(row, "nnO", &mark->start, &mark->end, &term))
        return -1;
    PyObject *number = PyDict_GetItemWithError(numbers, term);
    if (number) {
        mark->term = PyLong_AsSsize_t(number);
        return 0;
    }
    mark->term = PyDict_Size(numbers);
    number = PyErr_Occurred() ? NULL : PyLong_FromSsize_t(mark->term);
    int failed = !number || PyDict_SetItem(numbers, term, number);
    Py_XDECREF(number);
    return failed ? -1 : 0;
}

static int read_marks(Window *window, PyObject *text, PyObject *marks)
{
    PyObject *numbers = PyDict_New();
    window->count = PyList_Size(marks);
    window->size = PyUnicode_GetLength(text);
    window->text = PyUnicode_AsUCS4Copy(text);
    window->marks = calloc((size_t)window->count + 1, sizeof *window->marks);
    window->inside = calloc((size_t)window->count + 1, sizeof *window->inside);
    int failed = !numbers || !window->text || !window->marks || !window->inside;
    if (failed && !PyErr_Occurred())
        PyErr_NoMemory();
    for (Py_ssize_t at = 0; !failed && at < window->count; at++)
        failed = read_mark(&window->marks[at], PyList_GetItem(marks, at), numbers);
    Py_XDECREF(numbers);
    return failed ? -1 : 0;
}

static Py_ssize_t best_of(Window *window)
{
    Py_ssize_t best_different = 0, best_total = 0, best = 0, last = 0, different = 0, total = 0;
    for (Py_ssize_t at = 0; at < window->count; at++) {
        const Mark *mark = &window->marks[at];
        Py_ssize_t begin = mark->start > window->edge ? mark->start - window->edge : 0;
        for (; last < window->count && window->marks[last].end <= begin + window->chars; last++, total++)
            different += !window->inside[window->marks[last].term]++;
        if (different + 1 > best_different || (different + 1 == best_different && total > best_total)) {
            Py_ssize_t value = different + is_prose(window, begin);
            if (value > best_different || (value == best_different && total > best_total)) {
                best_different = value;
                best_total = total;
                best = mark->start;
            }
        }
        different -= !--window->inside[mark->term]; /* the next window begins after this mark */
        total--;
    }
    return best;
}

/* best_mark(text, marks, chars, edge, share) */
PyObject *find_window(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *text, *marks;
    Window window = {0};
    if (!PyArg_ParseTuple(arguments, "UO!nnd", &text, &PyList_Type, &marks, &window.chars, &window.edge,
                          &window.most_signs))
        return NULL;
    PyObject *found = read_marks(&window, text, marks) ? NULL : PyLong_FromSsize_t(best_of(&window));
    PyMem_Free(window.text);
    free(window.marks);
    free(window.inside);
    return found;
}
