/* The module index.text._leaf, which index/text/text_leaf.py alone imports. */
#include "leaf.h"

#ifndef LEAF_SOURCES
#define LEAF_SOURCES "" /* a digest of these files as they were when this was built, by hatch_build.py */
#endif

static PyMethodDef functions[] = {
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
