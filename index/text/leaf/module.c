/* The module index.text._leaf, which index/text/text_leaf.py alone imports. */
#include "leaf.h"

#ifndef LEAF_SOURCES
#define LEAF_SOURCES "" /* a digest of these files as they were when this was built, by hatch_build.py */
#endif

static PyMethodDef functions[] = {
    {"tables_of", make_tables, METH_VARARGS, "The tables of a forward record."},
    {"best_mark", find_window, METH_VARARGS, "Where the window begins that shows most words of a query."},
    {"columns_of", make_sketch, METH_VARARGS, "The columns of a sketch."},
    {"measure_leaves", measure_leaves, METH_VARARGS, "The numbers by which a query scores a document."},
    {"pieces_with", find_pieces, METH_VARARGS, "The pieces of a text that hold the beginnings of words."},
    {"sift_chunks", find_words, METH_VARARGS, "The words of a text, and what may hold others."},
    {"written_lines", write_lines, METH_VARARGS, "The lines of a document as an engine is given them."},
    {NULL, NULL, 0, NULL},
};

static int fill_module(PyObject *module)
{
    return add_cutter(module) || PyModule_AddStringConstant(module, "SOURCES", LEAF_SOURCES) ? -1 : 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)fill_module},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_leaf", "Text to terms, compiled.", 0, functions, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__leaf(void)
{
    return PyModuleDef_Init(&definition);
}
