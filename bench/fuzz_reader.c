/* The native reader with any bytes, of which the first says whether the charset is known.
   `python -m bench reader --fuzz SECONDS` builds it with libFuzzer and sanitizers. */

#include "reader.c"

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count, (void)arguments;
    Py_Initialize();
    fill_kinds();
    fill_tags();
    fill_entities();
    fill_rough();
    return 0;
}

static void drop(PyObject *result)
{
    if (result == NULL)
        abort();
    Py_DECREF(result);
}

static void read_links(PyObject *page, PyObject *read)
{
    char *places;
    Py_ssize_t size;
    uint32_t place[2];
    PyBytes_AsStringAndSize(PyTuple_GetItem(read, 5), &places, &size);
    for (Py_ssize_t at = 0; at + 8 <= size; at += 8) {
        memcpy(place, places + at, 8);
        PyObject *given[] = {page, PyLong_FromUnsignedLong(place[0]), PyLong_FromUnsignedLong(place[1])};
        drop(text_between(NULL, given, 3));
        Py_DECREF(given[1]);
        Py_DECREF(given[2]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    PyObject *page = PyBytes_FromStringAndSize((const char *)data + 1, (Py_ssize_t)size - 1);
    PyObject *given[] = {page, PyLong_FromLong(data[0] & 1 ? 0 : 1024)};
    PyObject *read = read_page(NULL, given, 2);
    if (read != NULL && PyTuple_Check(read))
        read_links(page, read);
    drop(read);
    PyObject *text[] = {page, page};
    drop(rough(NULL, page));
    drop(may_need_a_browser(NULL, page));
    drop(has_age(NULL, page));
    closes_what_it_opens(data + 1, data + size, 1000); /* larger pages only get there */
    drop(lines_of(NULL, text, 2));
    Py_DECREF(given[1]);
    Py_DECREF(page);
    return 0;
}
