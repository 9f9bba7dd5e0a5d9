/* Reads a page of HTML in one pass over its bytes: the text, the links and what the page says about
   itself, as documents/html.py defines them. It follows start and end tags; a page of which the
   parser would move elements or open them again is given up, as is anything that is rare.

   Safe with any input: elements stand in each other up to a fixed depth, the text is bounded by the
   length of the page, and everything else is at most as long as the page. */

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "age.h"
#include "bounds.h"
#include "candidate.h"
#include "document.h"
#include "rough.h"

/* The form of the answers; documents/native/__init__.py runs with no other. */
#define REVISION 3

enum { LONGEST_PAGE = 64 << 20 };

static PyObject *answer(Page *page, int is_ascii)
{
    Reader *reader = &page->tree;
    while (reader->depth > 1)
        pop(reader);
    Buffer *text = &reader->text;
    size_t from = 0;
    while (from < text->size && text->data[from] == '\n')
        from++;
    while (text->size > from && is(text->data[text->size - 1], SPACE))
        text->size--;
    PyObject *words =
        PyUnicode_DecodeUTF8(text->data ? (char *)text->data + from : "", (Py_ssize_t)(text->size - from), "strict");
    if (words == NULL) {
        PyErr_Clear();
        return PyUnicode_FromString("not UTF-8");
    }
    return Py_BuildValue("(NOOOOy#y#zO)", words, page->title ? page->title : Py_None,
                         page->language ? page->language : Py_None, page->hrefs, page->noted,
                         page->places.data ? (char *)page->places.data : "", (Py_ssize_t)page->places.size,
                         page->nofollow.data && page->refuses ? (char *)page->nofollow.data : "",
                         (Py_ssize_t)(page->refuses ? page->nofollow.size : 0), page->labelled ? page->label : NULL,
                         is_ascii ? Py_True : Py_False);
}

PyDoc_STRVAR(read_doc, "read(page, window, /)\n--\n\n"
                       "What a page in UTF-8 without carriage returns says, or why it is given up. In its first\n"
                       "`window` bytes a charset is looked for by those who do not know it.");

static PyObject *read_page(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    char *body;
    Py_ssize_t size;
    (void)self;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "read takes a page and a number");
        return NULL;
    }
    size_t window = PyLong_AsSize_t(given[1]);
    if ((window == (size_t)-1 && PyErr_Occurred()) || PyBytes_AsStringAndSize(given[0], &body, &size) < 0)
        return NULL;
    if (size > LONGEST_PAGE)
        return PyUnicode_FromString("long");
    if (memchr(body, 0, (size_t)size) != NULL)
        return PyUnicode_FromString("zero");
    const byte *end = (const byte *)body + size, *beyond = beyond_ascii((const byte *)body, end);
    if (!is_utf8(beyond, end))
        return PyUnicode_FromString("not UTF-8");
    if (!is_bounded((const byte *)body, (size_t)size))
        return PyUnicode_FromString("many elements");
    Page page;
    memset(&page, 0, offsetof(Page, tree) + offsetof(Reader, open));
    memset((char *)&page + offsetof(Reader, depth), 0, sizeof page - offsetof(Reader, depth));
    Reader *reader = &page.tree;
    reader->start = (const byte *)body;
    reader->end = end;
    reader->quirks = NO_DOCTYPE;
    reader->text.most = reader->scratch.most = 4 * (size_t)size + 65536;
    page.places.most = page.nofollow.most = 4 * (size_t)size + 65536;
    page.window = window;
    page.hrefs = PyList_New(0);
    page.noted = PyList_New(0);
    push(reader, TAG_HTML);
    PyObject *result = NULL;
    if (page.hrefs != NULL && page.noted != NULL) {
        reserve(&reader->text, (size_t)size / 2 + 64);
        read_markup(&page);
        if (reader->given_up == NULL)
            result = answer(&page, beyond == end);
        else if (!PyErr_Occurred())
            result = PyUnicode_FromString(reader->given_up);
    }
    Py_XDECREF(page.hrefs);
    Py_XDECREF(page.noted);
    Py_XDECREF(page.title);
    Py_XDECREF(page.language);
    free(reader->text.data);
    free(reader->scratch.data);
    free(page.places.data);
    free(page.nofollow.data);
    return result;
}

PyDoc_STRVAR(between_doc, "text_between(page, start, end, /)\n--\n\n"
                          "The text of a part of a page that `read` has read, between its tags.");

static PyObject *text_between(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    char *body;
    Py_ssize_t size;
    (void)self;
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "text_between takes a page and two numbers");
        return NULL;
    }
    size_t from = PyLong_AsSize_t(given[1]), to = PyLong_AsSize_t(given[2]);
    if (PyErr_Occurred() || PyBytes_AsStringAndSize(given[0], &body, &size) < 0)
        return NULL;
    if (from > to || to > (size_t)size) {
        PyErr_SetString(PyExc_ValueError, "no such part");
        return NULL;
    }
    Buffer text = {.most = 4 * (to - from) + 64};
    const byte *at = (const byte *)body + from, *end = (const byte *)body + to;
    while (at < end) {
        const byte *part = at;
        while ((at = memchr(at, '<', (size_t)(end - at))) != NULL) {
            if (at + 1 < end && (is(at[1], LETTER) || at[1] == '/' || at[1] == '!'))
                break;
            at++;
        }
        if (at == NULL)
            at = end;
        if (!resolve(&text, part, at, 0))
            break;
        if (at == end)
            break;
        if (at[1] == '!') {
            int is_comment = end - at > 3 && at[2] == '-' && at[3] == '-';
            for (at += is_comment ? 4 : 2; at < end; at++)
                if (*at == '>' && (!is_comment || (at[-1] == '-' && at[-2] == '-')))
                    break;
            at += at < end;
        } else {
            const byte *name = at + 1 + (at[1] == '/');
            for (at = name; at < end && !is(*at, ENDS_NAME); at++)
                ;
            int begins_lines = name[-1] != '/' && named(name, (size_t)(at - name), "pre");
            at = attributes(at, end, NULL);
            if (at == NULL)
                break;
            at += begins_lines && at < end && *at == '\n';
        }
    }
    PyObject *made = PyUnicode_DecodeUTF8(text.data ? (char *)text.data : "", (Py_ssize_t)text.size, "replace");
    free(text.data);
    return made;
}

/* The bytes of a text, which is ASCII, or bytes already; NULL if it is neither. */
static const byte *bytes_of(PyObject *text, size_t *size)
{
    char *bytes;
    Py_ssize_t count;
    if (PyUnicode_Check(text))
        bytes = (char *)PyUnicode_AsUTF8AndSize(text, &count);
    else if (PyBytes_AsStringAndSize(text, &bytes, &count) < 0)
        bytes = NULL;
    *size = bytes ? (size_t)count : 0;
    return (const byte *)bytes;
}

PyDoc_STRVAR(rough_doc, "rough(text, /)\n--\n\n"
                        "The letters of a text, coded, and which bits most of its words vote for.");

static PyObject *rough(PyObject *self, PyObject *given)
{
    size_t size;
    (void)self;
    const byte *text = bytes_of(given, &size);
    if (text == NULL)
        return NULL;
    byte *coded = malloc((size < MOST_TEXT ? size : MOST_TEXT) + 10);
    if (coded == NULL)
        return PyErr_NoMemory();
    coded[0] = 0;
    size_t count = code_text(text, size, coded + 1), letters = 0;
    memset(coded + 1 + count, 0, 9);
    uint64_t simhash = simhash_of(coded, count + 10);
    for (size_t at = 1; at <= count; at++) {
        coded[letters] = coded[at];
        letters += coded[at] != 0;
    }
    PyObject *made = Py_BuildValue("(y#L)", (char *)coded, (Py_ssize_t)letters, (long long)simhash);
    free(coded);
    return made;
}

PyDoc_STRVAR(lines_doc, "lines(text, name, /)\n--\n\n"
                        "The numbers of the lines of a text, without those that only repeat a name.");

static PyObject *lines_of(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    size_t size, named;
    (void)self;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "lines takes a text and a name");
        return NULL;
    }
    const byte *text = bytes_of(given[0], &size), *name = bytes_of(given[1], &named);
    if (text == NULL || name == NULL)
        return NULL;
    if (size > MOST_TEXT)
        size = MOST_TEXT;
    size_t most = size / SHORTEST_LINE + 1;
    byte *kept = malloc(size + 1);
    Line *lines = malloc(most * sizeof *lines);
    unsigned most_slots = 64;
    while (most_slots < LINE_SLOTS && most_slots < 2 * most)
        most_slots *= 2;
    uint16_t *slots = calloc(most_slots, sizeof *slots);
    PyObject *made = NULL;
    if (kept != NULL && lines != NULL && slots != NULL) {
        size_t found = lines_in(text, size, name, named, kept, lines, slots, most_slots);
        if (found > MOST_LINES) {
            qsort(lines, found, sizeof *lines, longer_first);
            found = MOST_LINES;
        }
        uint32_t numbers[MOST_LINES];
        for (size_t at = 0; at < found; at++) {
            uint32_t end = lines[at].size < LINE_END ? lines[at].size : LINE_END;
            numbers[at] = (crc32_of(lines[at].at + lines[at].size - end, end) & ~31u) | end >> 3;
        }
        made = PyBytes_FromStringAndSize((char *)numbers, (Py_ssize_t)(4 * found));
    } else {
        PyErr_NoMemory();
    }
    free(kept);
    free(lines);
    free(slots);
    return made;
}

PyDoc_STRVAR(candidate_doc, "may_need_browser(page, /)\n--\n\nWhether scripts may make a page.");

static PyObject *may_need_a_browser(PyObject *self, PyObject *given)
{
    size_t size;
    (void)self;
    const byte *page = bytes_of(given, &size);
    return page == NULL ? NULL : PyBool_FromLong(may_need_browser(page, page + size));
}

PyDoc_STRVAR(age_doc, "may_have_age(text, /)\n--\n\nWhether a text may say how long ago something was.");

static PyObject *has_age(PyObject *self, PyObject *given)
{
    size_t size;
    (void)self;
    const byte *text = bytes_of(given, &size);
    return text == NULL ? NULL : PyBool_FromLong(may_have_age(text, text + size));
}

static PyMethodDef METHODS[] = {
    {"read", (PyCFunction)(void (*)(void))read_page, METH_FASTCALL, read_doc},
    {"text_between", (PyCFunction)(void (*)(void))text_between, METH_FASTCALL, between_doc},
    {"rough", rough, METH_O, rough_doc},
    {"may_have_age", has_age, METH_O, age_doc},
    {"may_need_browser", may_need_a_browser, METH_O, candidate_doc},
    {"lines", (PyCFunction)(void (*)(void))lines_of, METH_FASTCALL, lines_doc},
    {NULL, NULL, 0, NULL},
};

static int prepare(PyObject *module)
{
    fill_kinds();
    fill_tags();
    fill_entities();
    fill_rough();
    return PyModule_AddIntConstant(module, "REVISION", REVISION);
}

static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, (void *)prepare}, {0, NULL}};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "_reader", "Reads pages in one pass over their bytes.", 0, METHODS, SLOTS, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__reader(void) { return PyModuleDef_Init(&MODULE); }
