/* The module crawl.content._leaf, which crawl/content/page_leaf.py alone imports. */
#include "leaf.h"

#ifndef LEAF_SOURCES
#define LEAF_SOURCES "" /* a digest of these files as they were when this was built, by hatch_build.py */
#endif

static PyMethodDef functions[] = {
    {"read_texts", read_texts, METH_VARARGS, "Main text, boilerplate and steady text."},
    {"steady_of", find_steady, METH_O, "A text without counters and names of days."},
    {"sign", sign_text, METH_O, "The signature of a text."},
    {"count_letters", count_letters, METH_VARARGS, "The letters of a text, by their scripts."},
    {"count_votes", count_votes, METH_VARARGS, "The small words of a text, by their languages."},
    {"names_in", names_in, METH_VARARGS, "The names that a source has, as bits."},
    {NULL, NULL, 0, NULL},
};

static int fill_module(PyObject *module)
{
    return PyModule_AddStringConstant(module, "SOURCES", LEAF_SOURCES);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)fill_module},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_leaf", "Texts of pages, compiled.", 0, functions, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__leaf(void)
{
    return PyModuleDef_Init(&definition);
}
