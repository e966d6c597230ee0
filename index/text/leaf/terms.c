/* Each term once, numbered as they come: a string of Python's that all documents share. */
#include "leaf.h"

static int64_t find_term(const Terms *terms, uint32_t hash, const char *bytes, size_t size)
{
    const Table *table = &terms->table;
    for (uint32_t place = hash & table->mask; table->at[place].number; place = (place + 1) & table->mask) {
        if (table->at[place].hash != hash)
            continue;
        const Term *term = &terms->at[table->at[place].number - 1];
        if (term->size == size && !memcmp(term->bytes, bytes, size))
            return table->at[place].number - 1;
    }
    return -1;
}

/* It holds the text from now on; `bytes` are the text's own. */
static int64_t add_term(Terms *terms, uint32_t hash, PyObject *text, const char *bytes, size_t size)
{
    if (make_room((void **)&terms->at, terms->count, &terms->room, sizeof *terms->at))
        return -1;
    if (fill_slot(&terms->table, hash, terms->count))
        return -1;
    Py_INCREF(text);
    terms->at[terms->count] = (Term){text, bytes, (uint32_t)size, 0, 0};
    return terms->count++;
}

int64_t number_of_text(Terms *terms, PyObject *text)
{
    Py_ssize_t size;
    const char *bytes = PyUnicode_AsUTF8AndSize(text, &size);
    if (!bytes)
        return -1;
    uint32_t hash = hash_of(&terms->key, bytes, (size_t)size);
    int64_t found = find_term(terms, hash, bytes, (size_t)size);
    return found >= 0 ? found : add_term(terms, hash, text, bytes, (size_t)size);
}

int64_t number_of_bytes(Terms *terms, const char *bytes, size_t size)
{
    int64_t found = find_term(terms, hash_of(&terms->key, bytes, size), bytes, size);
    if (found >= 0)
        return found;
    PyObject *text = PyUnicode_FromStringAndSize(bytes, (Py_ssize_t)size);
    if (text)
        found = number_of_text(terms, text);
    Py_XDECREF(text);
    return found;
}

void forget_terms(Terms *terms)
{
    for (uint32_t number = 0; number < terms->count; number++)
        Py_DECREF(terms->at[number].text);
    terms->count = 0;
    empty_table(&terms->table);
}
