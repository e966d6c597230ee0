/* The type Cutter: the lines of a document to its vocabulary, and to the place of each term in that. */
#include "leaf.h"

enum { LINES_AROUND = 4, SHARED = 1 }; /* title, headings that share one limit, address, main text, all else */

static int cut_chunks(Cutter *self, const char *text, size_t size)
{
    for (size_t place = 0; place < size && self->said.count < self->full;) {
        while (place < size && text[place] == ' ')
            place++;
        size_t start = place;
        while (place < size && text[place] != ' ')
            place++;
        size_t end = place;
        if (end > start && place < size && text[end - 1] == '.') /* a full stop that ends a chunk says nothing */
            end--;
        if (end > start && cut_chunk(self, text + start, end - start))
            return -1;
    }
    return 0;
}

/* Put the first `limit` terms of a line behind those of the document, its joined forms last. */
static int cut_bytes(Cutter *self, const char *text, size_t size, size_t limit)
{
    char *spaced = malloc(size + 1);
    if (!spaced) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t place = 0; place < size; place++)
        spaced[place] = (char)self->spaced[(unsigned char)text[place]];
    self->joined.count = 0;
    self->full = self->said.count + limit;
    int failed = cut_chunks(self, spaced, size);
    free(spaced);
    for (size_t form = 0; !failed && form < self->joined.count && self->said.count < self->full; form++)
        failed = push_number(&self->said, self->joined.at[form]);
    if (self->said.count > self->full)
        self->said.count = self->full;
    return failed;
}

static Py_ssize_t cut_line(Cutter *self, PyObject *text, size_t limit)
{
    size_t before = self->said.count;
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "replace");
    int failed = !bytes || cut_bytes(self, PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes), limit);
    Py_XDECREF(bytes);
    return failed ? -1 : (Py_ssize_t)(self->said.count - before);
}

static int append_length(PyObject *lengths, Py_ssize_t length)
{
    PyObject *number = PyLong_FromSsize_t(length);
    int failed = !number || PyList_Append(lengths, number);
    Py_XDECREF(number);
    return failed ? -1 : 0;
}

/* `limits`: of the title, of all headings, of the address, the main text and the rest. */
static int cut_lines(Cutter *self, PyObject *lines, const Py_ssize_t *limits, PyObject *lengths)
{
    Py_ssize_t count = PySequence_Size(lines), room = limits[SHARED];
    for (Py_ssize_t line = 0; line < count; line++) {
        int is_heading = line > 0 && line < count - LINES_AROUND + 1;
        Py_ssize_t limit = is_heading ? room : limits[line ? line - count + LINES_AROUND + 1 : 0];
        PyObject *text = PySequence_GetItem(lines, line);
        Py_ssize_t length = text ? cut_line(self, text, (size_t)limit) : -1;
        Py_XDECREF(text);
        if (length < 0)
            return -1;
        room -= is_heading ? length : 0;
        if ((length || !is_heading) && append_length(lengths, length))
            return -1;
    }
    return 0;
}

static void forget_all(Cutter *self)
{
    forget_chunks(&self->memo);
    forget_terms(&self->terms);
    self->document = 0;
}

/* Write the place of each term in the vocabulary of the document, which lists each once. */
static int number_terms(Cutter *self, PyObject *vocabulary, uint16_t *places)
{
    uint32_t count = 0;
    for (size_t at = 0; at < self->said.count; at++) {
        Term *term = &self->terms.at[self->said.at[at]];
        if (term->document != self->document) {
            term->document = self->document;
            term->place = count++;
            if (PyList_Append(vocabulary, term->text))
                return -1;
        }
        if (term->place > UINT16_MAX) {
            PyErr_SetString(PyExc_OverflowError, "a document of more than 65,536 terms");
            return -1;
        }
        places[at] = (uint16_t)term->place;
    }
    return 0;
}

static PyObject *cut_document(Cutter *self, PyObject *lines, const Py_ssize_t *limits)
{
    PyObject *lengths = PyList_New(0), *vocabulary = PyList_New(0), *places = NULL;
    self->said.count = 0;
    if (lengths && vocabulary && !cut_lines(self, lines, limits, lengths))
        places = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(self->said.count * sizeof(uint16_t)));
    if (places && !number_terms(self, vocabulary, (uint16_t *)(void *)PyBytes_AsString(places)))
        return Py_BuildValue("(NNN)", vocabulary, places, lengths);
    Py_XDECREF(lengths);
    Py_XDECREF(vocabulary);
    Py_XDECREF(places);
    return NULL;
}

static int are_limits(const Py_ssize_t *limits, PyObject *lines)
{
    for (int limit = 0; limit < LINES_AROUND + 1; limit++)
        if (limits[limit] < 0)
            return 0;
    return PySequence_Size(lines) >= LINES_AROUND;
}

/* cut(lines, limits, stem_class): see cut_lines in field_terms.py. Threads take turns at it, which their caller sees
   to: while it asks Python, another one may run. */
static PyObject *Cutter_cut(Cutter *self, PyObject *arguments)
{
    PyObject *lines;
    Py_ssize_t limits[LINES_AROUND + 1];
    int stem_class;
    if (!PyArg_ParseTuple(arguments, "O(nnnnn)i", &lines, limits, limits + 1, limits + 2, limits + 3, limits + 4,
                          &stem_class))
        return NULL;
    if (!are_limits(limits, lines) || stem_class < 0 || stem_class > UINT8_MAX || self->is_busy) {
        PyErr_SetString(PyExc_ValueError, "no such lines, limits or stem class; or another thread cuts a document");
        return NULL;
    }
    if (self->memo.count >= self->most_chunks || self->terms.count >= self->most_terms
        || self->document == UINT32_MAX)
        forget_all(self);
    self->document++;
    self->stem_class = stem_class;
    self->is_busy = 1;
    self->stem = PyObject_CallFunction(self->latin, "i", stem_class);
    PyObject *found = self->stem ? cut_document(self, lines, limits) : NULL;
    Py_CLEAR(self->stem);
    self->is_busy = 0;
    return found;
}

static PyObject *Cutter_forget(Cutter *self, PyObject *unused)
{
    (void)unused;
    if (!self->is_busy)
        forget_all(self);
    Py_RETURN_NONE;
}

static int copy_table(PyObject *from, void *to, size_t size)
{
    if (PyBytes_Size(from) != (Py_ssize_t)size) {
        PyErr_SetString(PyExc_ValueError, "a table of another size");
        return -1;
    }
    memcpy(to, PyBytes_AsString(from), size);
    return 0;
}

static int make_tables_of(Cutter *self)
{
    if (make_key(&self->terms.key))
        return -1;
    self->memo.key = self->terms.key;
    return make_table(&self->terms.table) || make_table(&self->memo.table) ? -1 : 0;
}

/* Cutter(spaced, letters, latin, known, word, most_chunks, most_terms) */
static PyObject *Cutter_new(PyTypeObject *type, PyObject *arguments, PyObject *names)
{
    PyObject *spaced, *letters, *latin, *known, *word;
    unsigned int most_chunks, most_terms;
    if (names && PyDict_Size(names)) {
        PyErr_SetString(PyExc_TypeError, "Cutter takes no names");
        return NULL;
    }
    if (!PyArg_ParseTuple(arguments, "SSOOOII", &spaced, &letters, &latin, &known, &word, &most_chunks,
                          &most_terms))
        return NULL;
    allocfunc make = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Cutter *self = (Cutter *)make(type, 0); /* all of it is 0 */
    if (!self)
        return NULL;
    self->latin = Py_NewRef(latin);
    self->known = Py_NewRef(known);
    self->word = Py_NewRef(word);
    self->most_chunks = most_chunks;
    self->most_terms = most_terms;
    if (make_tables_of(self) || copy_table(spaced, self->spaced, sizeof self->spaced)
        || copy_table(letters, self->letters, sizeof self->letters))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void Cutter_dealloc(PyObject *object)
{
    Cutter *self = (Cutter *)object;
    PyTypeObject *type = Py_TYPE(object);
    for (uint32_t number = 0; number < self->terms.count; number++)
        Py_DECREF(self->terms.at[number].text);
    void *owned[] = {self->terms.at, self->terms.table.at, self->memo.at, self->memo.bytes, self->memo.numbers.at,
                     self->memo.table.at, self->said.at, self->joined.at};
    for (size_t each = 0; each < sizeof owned / sizeof *owned; each++)
        free(owned[each]);
    Py_XDECREF(self->latin);
    Py_XDECREF(self->known);
    Py_XDECREF(self->word);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"cut", (PyCFunction)(void (*)(void))Cutter_cut, METH_VARARGS, "Cut the lines of a document."},
    {"characters_in", (PyCFunction)(void (*)(void))find_characters, METH_VARARGS, "The characters of a text."},
    {"forget", (PyCFunction)(void (*)(void))Cutter_forget, METH_NOARGS, "Forget all chunks and terms."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)Cutter_new},
    {Py_tp_dealloc, (void *)Cutter_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {"index.text._leaf.Cutter", sizeof(Cutter), 0, Py_TPFLAGS_DEFAULT, slots};

int add_cutter(PyObject *module)
{
    PyObject *type = PyType_FromSpec(&spec);
    int failed = !type || PyModule_AddObjectRef(module, "Cutter", type);
    Py_XDECREF(type);
    return failed ? -1 : 0;
}
