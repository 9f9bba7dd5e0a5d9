/* The links of a page, and what it says about itself. */

#ifndef SANDERLING_FACTS_H
#define SANDERLING_FACTS_H

#include "markup.h"
#include "tree.h"

enum { LABEL = 64 };

typedef struct {
    Reader tree; /* first, so that one pointer is the other */
    PyObject *hrefs, *noted, *title, *language;
    Buffer places; /* where the text of each link begins and ends */
    Buffer nofollow;
    unsigned links;
    int refuses; /* a link says nofollow */
    size_t window; /* in which a charset is looked for; 0 if it is known */
    char label[LABEL];
    int labelled;
} Page;

static void failed(Page *page) { page->tree.given_up = "error"; }

/* ---- strings */

static PyObject *text_of(Page *page, const byte *at, size_t size, int in_attribute)
{
    PyObject *made;
    if (size == 0 || memchr(at, '&', size) == NULL) {
        made = PyUnicode_DecodeUTF8((const char *)at, (Py_ssize_t)size, "strict");
    } else {
        Buffer *scratch = &page->tree.scratch;
        scratch->size = 0;
        if (!resolve(scratch, at, at + size, in_attribute)) {
            give_up(&page->tree, "reference");
            return NULL;
        }
        made = PyUnicode_DecodeUTF8((const char *)scratch->data, (Py_ssize_t)scratch->size, "strict");
    }
    if (made == NULL) {
        PyErr_Clear();
        give_up(&page->tree, "not UTF-8");
    }
    return made;
}

static inline PyObject *value_text(Page *page, Value value) { return text_of(page, value.at, value.size, 1); }

/* ---- links */

static void anchor_ended(Reader *reader, unsigned anchor)
{
    uint32_t at = (uint32_t)(reader->token - reader->start);
    memcpy(((Page *)reader)->places.data + 8 * (anchor - 1) + 4, &at, 4);
}

static int says_nofollow(Page *page, Value rel)
{
    const byte *at = rel.at, *end = rel.at + rel.size;
    while (at < end) {
        const byte *word = at;
        while (at < end && !is(*at, SPACE)) {
            if (*at >= 0x80 || *at == '&' || *at < ' ' || *at == 0x7F)
                give_up(&page->tree, "rel");
            at++;
        }
        if (named(word, (size_t)(at - word), "nofollow"))
            return 1;
        at++;
    }
    return 0;
}

static void note_link(Page *page, Element *element, const Value *values, const byte *content)
{
    if (values[HREF].at == NULL)
        return;
    PyObject *href = value_text(page, values[HREF]);
    if (href == NULL)
        return;
    uint32_t at[2] = {(uint32_t)(content - page->tree.start), (uint32_t)(page->tree.end - page->tree.start)};
    byte refuses = (byte)(values[REL].at != NULL && says_nofollow(page, values[REL]));
    page->refuses |= refuses;
    if (PyList_Append(page->hrefs, href) < 0)
        failed(page);
    else if (!append(&page->places, at, sizeof at) || !append(&page->nofollow, &refuses, 1))
        give_up(&page->tree, "many links");
    else
        element->anchor = ++page->links;
    Py_DECREF(href);
}

/* ---- what the page says about itself */

/* Remembers which charset a page names, and gives up where that is not clear. */
static void note_charset(Page *page, const Value *values, const byte *behind)
{
    if (!page->window)
        return; /* it is known */
    if (values[CHARSET].at == NULL && !(values[HTTP_EQUIV].at != NULL && values[CONTENT].at != NULL))
        return;
    Value said = values[CHARSET];
    if (said.at == NULL) {
        if (!named(values[HTTP_EQUIV].at, values[HTTP_EQUIV].size, "content-type"))
            return;
        const byte *at = values[CONTENT].at, *end = at + values[CONTENT].size;
        while (end - at > 8 && !named(at, 8, "charset="))
            at++;
        if (end - at <= 8)
            return give_up(&page->tree, "charset");
        said = (Value){at + 8, (size_t)(end - at) - 8};
    } else if (values[CONTENT].at != NULL) {
        return give_up(&page->tree, "charset");
    }
    for (size_t at = 0; at < said.size; at++)
        if (!is(said.at[at], LETTER | DIGIT) && said.at[at] != '-' && said.at[at] != '_')
            return give_up(&page->tree, "charset");
    const byte *limit = page->tree.start + page->window;
    if (said.size >= LABEL || said.size == 0 || (page->labelled && !named(said.at, said.size, page->label)) ||
        (page->tree.token < limit && behind > limit))
        return give_up(&page->tree, "charset");
    for (size_t at = 0; at < said.size; at++)
        page->label[at] = (char)lower(said.at[at]);
    page->label[said.size] = 0;
    page->labelled = 1;
}

static int set_value(Page *page, PyObject *into, int which, Value value)
{
    PyObject *text = value_text(page, value);
    if (text == NULL)
        return 0;
    int done = PyDict_SetItemString(into, ATTRIBUTE_NAMES[which], text) == 0;
    Py_DECREF(text);
    if (!done)
        failed(page);
    return done;
}

/* Whether a `link` may lead to a page: most name style sheets and icons. */
static int leads(Value rel)
{
    static const char *const words[] = {"next", "prev", "canonical", "alternate"};
    const byte *end = rel.at + rel.size;
    for (unsigned which = 0; which < sizeof words / sizeof *words; which++)
        if (contains(rel.at, end, words[which]))
            return 1;
    return memchr(rel.at, '&', rel.size) != NULL || beyond_ascii(rel.at, end) < end;
}

/* Adds a tag with its attributes, if it may say something. */
static void note(Page *page, int tag, const Value *values, const byte *behind)
{
    if (tag == TAG_META) {
        note_charset(page, values, behind);
        if (values[NAME].at == NULL && values[HTTP_EQUIV].at == NULL)
            return;
        if (values[HTTP_EQUIV].at != NULL && (memchr(values[HTTP_EQUIV].at, '&', values[HTTP_EQUIV].size) != NULL ||
                                              named(values[HTTP_EQUIV].at, values[HTTP_EQUIV].size, "refresh")))
            return give_up(&page->tree, "refresh");
    }
    if (tag == TAG_LINK && (values[REL].at == NULL || !leads(values[REL])))
        return;
    PyObject *said = PyDict_New();
    if (said == NULL)
        return failed(page);
    for (int which = HREF; which <= HTTP_EQUIV; which++)
        if (values[which].at != NULL && !set_value(page, said, which, values[which]))
            break;
    PyObject *pair = page->tree.given_up ? NULL : Py_BuildValue("(sO)", TAG_NAMES[tag], said);
    Py_DECREF(said);
    if (pair == NULL)
        return give_up(&page->tree, "error");
    if (PyList_Append(page->noted, pair) < 0)
        failed(page);
    Py_DECREF(pair);
}

#endif
