/* The module tamis._tamis. It has one set of types in a process, so it is initialized once. */
#include "binding.h"

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "tamis._tamis",
    .m_doc = "The C half of tamis. Use the package tamis instead.",
    .m_size = -1,
};

static bool add_constants(PyObject *m)
{
    static const struct {
        const char *name;
        long value;
    } constants[] = {
        {"STRICT", TAMIS_STRICT},
        {"COMPACT", TAMIS_COMPACT},
        {"AUTO_ROTATE", TAMIS_AUTO_ROTATE},
        {"TRANSFER", TAMIS_TRANSFER},
        {"CONSERVATIVE", TAMIS_CONSERVATIVE},
        {"REMOVABLE", TAMIS_REMOVABLE},
        {"SAVE_NEW", TAMIS_SAVE_NEW},
        {"SAVE_PACKED", TAMIS_SAVE_PACKED},
    };
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (PyModule_AddIntConstant(m, constants[i].name, constants[i].value) < 0) return false;
    return PyModule_AddStringConstant(m, "version", tamis_version()) == 0;
}

#if defined(__GNUC__) && !defined(_WIN32)
#pragma GCC visibility pop
#endif

PyMODINIT_FUNC PyInit__tamis(void);
PyMODINIT_FUNC PyInit__tamis(void)
{
    PyObject *m = PyModule_Create(&definition);
    if (m == NULL) return NULL;
    if (PyModule_AddFunctions(m, plan_functions) == 0 &&
        PyModule_AddFunctions(m, image_functions) == 0 &&
        PyModule_AddFunctions(m, file_functions) == 0 &&
        PyModule_AddFunctions(m, value_functions) == 0 && secret_register(m) &&
        handle_register(m) && add_constants(m))
        return m;
    Py_DECREF(m);
    return NULL;
}
