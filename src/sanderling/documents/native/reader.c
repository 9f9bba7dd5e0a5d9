/* Reads a page of HTML in one pass over its bytes: the text, the links and what the page says about
   itself, as documents/html.py defines them. It follows start and end tags; a page of which the
   parser would move elements or open them again is given up, as is anything that is rare.

   Safe with any input: elements stand in each other up to a fixed depth, the text is bounded by the
   length of the page, and everything else is at most as long as the page. */

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "markup.h"
#include "rough.h"
#include "tree.h"

/* The form of the answers; documents/native/__init__.py runs with no other. */
#define REVISION 2

enum { LONGEST_PAGE = 64 << 20, LABEL = 64, FREE = 500000, DISTINCT = 512 };

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
    if (tag == TAG_LINK && values[REL].at == NULL)
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

/* ---- content */

/* Text, in which references may stand. */
static void flow(Page *page, const byte *at, const byte *end)
{
    Reader *reader = &page->tree;
    Element *in = top(reader);
    if (in->shown == NOT_AT_ALL) {
        if (reader->open_a && memchr(at, '&', (size_t)(end - at)) != NULL)
            give_up(reader, "reference"); /* the text of the link has it all the same */
        return;
    }
    if (in->shown == AS_WRITTEN) {
        if (memchr(at, '&', (size_t)(end - at)) == NULL)
            return write_lines(reader, at, end);
        reader->scratch.size = 0;
        if (!resolve(&reader->scratch, at, end, 0))
            return give_up(reader, "reference");
        return write_lines(reader, reader->scratch.data, reader->scratch.data + reader->scratch.size);
    }
    while (at < end && !reader->given_up) {
        if (is(*at, SPACE)) {
            write_space(reader, in);
            do
                at++;
            while (at < end && is(*at, SPACE));
            continue;
        }
        const byte *word = at;
        while (at < end && !is(*at, ENDS_WORD))
            at++;
        if (at > word)
            write_word(reader, in, word, (size_t)(at - word));
        if (at < end && *at == '&') {
            byte point[4];
            size_t count;
            at = reference(at, end, 0, point, &count);
            if (at == NULL)
                return give_up(reader, "reference");
            if (is(point[0], SPACE))
                write_space(reader, in);
            else
                write_word(reader, in, point, count);
        }
    }
}

static void enter_body(Reader *reader)
{
    if (reader->mode < BODY) {
        push(reader, TAG_BODY);
        reader->mode = BODY;
    }
}

static void text(Page *page, const byte *at, const byte *end)
{
    Reader *reader = &page->tree;
    const byte *first = at;
    while (first < end && is(*first, SPACE))
        first++;
    if (reader->mode == NOSCRIPT_IN_HEAD && first < end)
        return give_up(reader, "noscript");
    if (reader->mode < BODY) {
        if (first == end)
            return;
        byte point[4];
        size_t count;
        if (*first == '&' && (reference(first, end, 0, point, &count) == NULL || is(*point, SPACE)))
            return give_up(reader, "reference before the body");
        enter_body(reader);
        at = first;
    }
    if (RULES[top(reader)->tag] & TABLE_PART && first < end)
        return give_up(reader, "text in a table");
    if (first < end)
        reader->after_body = 0;
    if (reader->drop_newline && at < end) {
        byte point[4] = {'\n'};
        size_t count;
        if (*at == '&' && (reference(at, end, 0, point, &count) == NULL || *point == '\n'))
            return give_up(reader, "reference");
        if (*at == '\n')
            at++;
    }
    reader->drop_newline = 0;
    flow(page, at, end);
}

/* The content of an element without markup; returns where it ends. */
static const byte *raw(Page *page, int tag, const byte *at)
{
    Reader *reader = &page->tree;
    const byte *end = end_tag(at, reader->end, TAG_NAMES[tag]);
    if (end == NULL) {
        give_up(reader, "no end tag");
        return reader->end;
    }
    if (!page->labelled && page->window > (size_t)(at - reader->start) && memchr(at, '<', (size_t)(end - at)) != NULL)
        give_up(reader, "tags in raw text before the charset");
    if (tag == TAG_SCRIPT && contains(at, end, "<!--") && contains(at, end, "<script"))
        give_up(reader, "script in script");
    if (tag == TAG_TITLE && page->title == NULL)
        page->title = text_of(page, at, (size_t)(end - at), 0);
    if (reader->mode == BODY) {
        Element *in = top(reader);
        if (in->shown == AS_WRITTEN || reader->open_a)
            give_up(reader, "raw text");
        int shown = show(reader, tag);
        if (shown != NOT_AT_ALL && at < end) {
            if (tag == TAG_TEXTAREA ? *at == '\n' || *at == '&' : memchr(at, '&', (size_t)(end - at)) != NULL)
                give_up(reader, "raw text");
            else
                flow(page, at, end);
        }
        reader->node_space = 0;
    }
    const byte *behind = attributes(end + 2 + strlen(TAG_NAMES[tag]), reader->end, NULL);
    if (behind == NULL)
        give_up(reader, "open tag");
    return behind ? behind : reader->end;
}

static int is_shape(const byte *name, unsigned size)
{
    static const char *const shapes[] = {"path", "g", "circle", "rect", "line", "polyline", "polygon", "ellipse", "use",
                                         "defs", "symbol", "lineargradient", "radialgradient", "stop", "clippath"};
    for (unsigned which = 0; which < sizeof shapes / sizeof *shapes; which++)
        if (named(name, size, shapes[which]))
            return 1;
    return 0;
}

/* A drawing that is only shapes; returns where it ends. */
static const byte *drawing(Page *page, const byte *at, int closed)
{
    enum { DEEPEST_SHAPE = 16 };
    Reader *reader = &page->tree;
    const byte *end = reader->end, *names[DEEPEST_SHAPE] = {(const byte *)"svg"};
    unsigned sizes[DEEPEST_SHAPE] = {3};
    int depth = closed ? 0 : 1, shown = show(reader, TAG_SVG);
    while (depth) {
        for (; at < end && is(*at, SPACE); at++)
            if (shown == IN_LINE)
                reader->space = 1;
            else if (shown == AS_WRITTEN)
                write_lines(reader, at, at + 1);
        int ends = end - at > 2 && at[1] == '/';
        const byte *name = at + 1 + ends;
        if (end - at < 3 || *at != '<' || !is(*name, LETTER))
            break;
        for (at = name; at < end && !is(*at, ENDS_NAME); at++)
            ;
        unsigned size = (unsigned)(at - name);
        at = attributes_of(at, end, NULL, &closed);
        if (at == NULL)
            break;
        if (ends) {
            if (sizes[depth - 1] != size || !same_name(names[depth - 1], name, size))
                break;
            depth--;
        } else if (!is_shape(name, size) || depth == DEEPEST_SHAPE) {
            break;
        } else if (!closed) {
            names[depth] = name;
            sizes[depth++] = size;
        }
    }
    if (depth) {
        give_up(reader, "drawing");
        return end;
    }
    reader->node_space = 0;
    return at;
}

/* A second tag adds the attributes that the first does not have. */
static void html_again(Reader *reader, const Value *values)
{
    if (values[LANG].at != NULL || values[XML_LANG].at != NULL)
        give_up(reader, "html again");
}

/* A start tag before the body; 0 if it begins the body. */
static int start_in_head(Page *page, int tag, const Value *values)
{
    Reader *reader = &page->tree;
    if (tag == TAG_HTML && reader->mode != BEFORE_HTML) {
        html_again(reader, values);
        return 1;
    }
    if (tag == TAG_HTML) {
        Value lang = values[LANG].size ? values[LANG] : values[XML_LANG];
        if (lang.at != NULL && page->language == NULL)
            page->language = value_text(page, lang);
        reader->mode = BEFORE_HEAD;
        return 1;
    }
    if (tag == TAG_HEAD) {
        if (reader->mode >= HEAD)
            give_up(reader, "head again");
        reader->mode = HEAD;
        return 1;
    }
    if (reader->mode == NOSCRIPT_IN_HEAD) {
        if (tag != TAG_LINK && tag != TAG_META && tag != TAG_STYLE)
            give_up(reader, "noscript");
        return 1;
    }
    if (RULES[tag] & OF_HEAD || (tag == TAG_NOSCRIPT && reader->mode <= HEAD)) {
        if (reader->mode < HEAD)
            reader->mode = HEAD;
        if (tag == TAG_NOSCRIPT)
            reader->mode = NOSCRIPT_IN_HEAD;
        return 1;
    }
    return 0;
}

static void start_in_body(Page *page, int tag, const byte *name, unsigned size, const Value *values,
                          const byte *content)
{
    Reader *reader = &page->tree;
    int rules = RULES[tag];
    if (rules & TABLE_TAG && tag != TAG_TABLE) {
        if (!begin_part(reader, tag))
            return;
        if (tag == TAG_COL)
            show(reader, tag);
        else
            push(reader, tag);
        return;
    }
    if (RULES[top(reader)->tag] & TABLE_PART)
        return give_up(reader, "element in a table");
    if (tag == TAG_HTML)
        return html_again(reader, values);
    if (tag == TAG_BODY || tag == TAG_HEAD)
        return;
    if (reader->open_select && tag != TAG_OPTION && tag != TAG_OPTGROUP)
        return give_up(reader, "element in select");
    if (rules & (CLOSES_P | HEADING) || tag == TAG_HR)
        end_paragraph(reader);
    if (rules & HEADING && RULES[top(reader)->tag] & HEADING)
        pop(reader);
    if (tag == TAG_LI || tag == TAG_DD || tag == TAG_DT)
        begin_item(reader, tag);
    if (rules & EMPTY) {
        show(reader, tag);
        return;
    }
    if (tag == TAG_TABLE && paragraph(reader)) {
        if (reader->quirks != MODERN)
            return give_up(reader, "table in a paragraph");
        end_paragraph(reader);
    }
    if (tag == TAG_BUTTON && in_scope(reader, tag))
        return give_up(reader, "button in button");
    if (tag == TAG_FORM) {
        if (reader->form)
            return;
        end_paragraph(reader);
        reader->form = reader->depth;
    }
    if (tag == TAG_OPTION || tag == TAG_OPTGROUP) {
        if (reader->open_select)
            end_implied(reader, tag == TAG_OPTION ? TAG_OPTGROUP : TAG_NONE);
        else if (top(reader)->tag == TAG_OPTION)
            pop(reader);
    }
    if (tag == TAG_A && reader->open_a)
        for (int at = reader->depth - 1; at > 0; at--) {
            int open = reader->open[at].tag;
            if (open == TAG_A)
                return give_up(reader, "link in link");
            if (open == TAG_TD || open == TAG_TH || open == TAG_CAPTION)
                break;
        }
    Element *element = push(reader, tag);
    if (reader->given_up)
        return;
    element->name = name;
    element->name_size = size;
    if (tag == TAG_A)
        note_link(page, element, values, content);
    reader->drop_newline = tag == TAG_PRE;
}

static const byte *start_tag(Page *page, const byte *at)
{
    Reader *reader = &page->tree;
    const byte *name = at;
    while (at < reader->end && !is(*at, ENDS_NAME))
        at++;
    unsigned size = (unsigned)(at - name);
    int tag = tag_of(name, size);
    Value values[ATTRIBUTES];
    int wanted = tag == TAG_A || tag == TAG_HTML || RULES[tag] & NOTED;
    if (wanted)
        memset(values, 0, sizeof values);
    int closed = 0;
    at = attributes_of(at, reader->end, wanted ? values : NULL, &closed);
    if (at == NULL) {
        give_up(reader, "open tag");
        return reader->end;
    }
    reader->drop_newline = 0;
    if (RULES[tag] & UNKNOWN_RULES) {
        give_up(reader, TAG_NAMES[tag]);
        return at;
    }
    if (reader->mode < BODY && start_in_head(page, tag, values)) {
        if (RULES[tag] & NOTED)
            note(page, tag, values, at);
        return RULES[tag] & (RAW | CHARACTERS) && !reader->given_up ? raw(page, tag, at) : at;
    }
    if (reader->mode < BODY) {
        if (reader->mode == BEFORE_HTML)
            reader->mode = BEFORE_HEAD;
        enter_body(reader);
        if (tag == TAG_BODY)
            return at;
    }
    reader->after_body = 0;
    if (RULES[tag] & NOTED)
        note(page, tag, values, at);
    if (RULES[tag] & (RAW | CHARACTERS)) {
        if (reader->open_select)
            give_up(reader, "element in select");
        if (RULES[top(reader)->tag] & TABLE_PART && tag != TAG_SCRIPT && tag != TAG_STYLE)
            give_up(reader, "element in a table");
        return reader->given_up ? at : raw(page, tag, at);
    }
    if (RULES[tag] & DRAWING && !(RULES[top(reader)->tag] & TABLE_PART) && !reader->open_select)
        return drawing(page, at, closed);
    start_in_body(page, tag, name, size, values, at);
    return at;
}

static void end_in_head(Reader *reader, int tag)
{
    if (reader->mode == NOSCRIPT_IN_HEAD) {
        if (tag == TAG_NOSCRIPT)
            reader->mode = HEAD;
        else if (tag == TAG_BR)
            give_up(reader, "end of br");
    } else if (tag == TAG_HEAD && reader->mode <= HEAD) {
        reader->mode = AFTER_HEAD;
    } else if (tag == TAG_HEAD || tag == TAG_BODY || tag == TAG_HTML || tag == TAG_BR) {
        give_up(reader, "end before the body");
    }
}

static void end_form(Reader *reader)
{
    if (!reader->form)
        return;
    end_implied(reader, TAG_NONE);
    if (top(reader)->tag != TAG_FORM)
        return give_up(reader, "form across elements");
    pop(reader);
    reader->form = 0;
}

static void end_in_body(Reader *reader, int tag, const byte *name, unsigned size)
{
    int rules = RULES[tag];
    if (rules & UNKNOWN_RULES || tag == TAG_BR)
        return give_up(reader, "end tag");
    if (rules & TABLE_TAG)
        return end_part(reader, tag);
    if (tag == TAG_BODY || tag == TAG_HTML) {
        for (int at = reader->depth - 1; at > 0; at--)
            if (rules_at(reader, at) & SCOPING)
                return;
        reader->after_body = 1;
        return;
    }
    if (RULES[top(reader)->tag] & TABLE_PART)
        return give_up(reader, "end tag in a table");
    if (reader->open_select && tag != TAG_SELECT && tag != TAG_OPTION && tag != TAG_OPTGROUP)
        return give_up(reader, "end tag in select");
    if (tag == TAG_P) {
        if (paragraph(reader)) {
            end_paragraph(reader);
        } else {
            push(reader, TAG_P);
            pop(reader);
        }
    } else if (tag == TAG_LI) {
        for (int at = reader->depth - 1; at > 0; at--) {
            if (reader->open[at].tag == TAG_LI)
                return pop_to(reader, at);
            if (rules_at(reader, at) & SCOPING || reader->open[at].tag == TAG_OL || reader->open[at].tag == TAG_UL)
                return;
        }
    } else if (tag == TAG_FORM) {
        end_form(reader);
    } else if (rules & HEADING) {
        end_heading(reader);
    } else if (rules & FORMATTING) {
        end_formatting(reader, tag);
    } else if (rules & ENDS_BLOCK || tag == TAG_DD || tag == TAG_DT) {
        end_in_scope(reader, tag);
    } else {
        end_other(reader, tag, name, size);
    }
}

static const byte *end_of_element(Page *page, const byte *at)
{
    Reader *reader = &page->tree;
    const byte *name = at;
    while (at < reader->end && !is(*at, ENDS_NAME))
        at++;
    unsigned size = (unsigned)(at - name);
    int tag = tag_of(name, size);
    at = attributes(at, reader->end, NULL);
    if (at == NULL) {
        give_up(reader, "open tag");
        return reader->end;
    }
    reader->drop_newline = 0;
    if (reader->mode < BODY) {
        if (reader->quirks == NO_DOCTYPE)
            reader->quirks = OLD;
        end_in_head(reader, tag);
    } else {
        if (tag != TAG_HTML)
            reader->after_body = 0;
        end_in_body(reader, tag, name, size);
    }
    return at;
}

/* ---- comments and declarations */

static const byte *comment(Page *page, const byte *at)
{
    Reader *reader = &page->tree;
    const byte *end = reader->end;
    if (at < end && (*at == '>' || (*at == '-' && at + 1 < end && at[1] == '>')))
        give_up(reader, "comment");
    for (;; at++) {
        at = end - at > 2 ? memchr(at, '-', (size_t)(end - at) - 2) : NULL;
        if (at == NULL) {
            give_up(reader, "comment");
            return end;
        }
        if (at[1] != '-')
            continue;
        if (at[2] == '>')
            break;
        if (at[2] == '!')
            give_up(reader, "comment");
    }
    reader->drop_newline = 0;
    if (!reader->after_body)
        reader->node_space = 0;
    return at + 3;
}

static const byte *skip_spaces(const byte *at, const byte *end)
{
    while (at < end && is(*at, SPACE))
        at++;
    return at;
}

/* Whether tables end paragraphs behind a doctype. Of others than these it is not known. */
static int is_modern(const byte *at, const byte *end)
{
    static const char *const known[] = {"\"-//w3c//dtd xhtml 1.", "\"-//w3c//dtd html 4.01//"};
    const byte *name = skip_spaces(at, end);
    if (name == at || end - name < 4 || !named(name, 4, "html"))
        return 0;
    at = skip_spaces(name + 4, end);
    if (at == end)
        return 1;
    if (end - at < 6 || !named(at, 6, "public") || contains(at, end, "ibm.com"))
        return 0;
    at = skip_spaces(at + 6, end);
    for (int which = 0; which < 2; which++)
        if ((size_t)(end - at) >= strlen(known[which]) && named(at, strlen(known[which]), known[which]))
            return 1;
    return 0;
}

static const byte *declaration(Page *page, const byte *at)
{
    Reader *reader = &page->tree;
    const byte *end = memchr(at, '>', (size_t)(reader->end - at));
    if (end == NULL) {
        give_up(reader, "open tag");
        return reader->end;
    }
    int quotes[2] = {0, 0};
    for (const byte *each = at; each < end; each++) {
        quotes[0] ^= *each == '"';
        quotes[1] ^= *each == '\'';
    }
    if (quotes[0] || quotes[1])
        give_up(reader, "declaration");
    reader->drop_newline = 0;
    if (end - at < 9 || !named(at + 1, 7, "doctype"))
        give_up(reader, "declaration");
    else if (reader->mode == BEFORE_HTML && reader->quirks == NO_DOCTYPE)
        reader->quirks = is_modern(at + 8, end) ? MODERN : OLD;
    return end + 1;
}

static const byte *instruction(Page *page, const byte *at)
{
    Reader *reader = &page->tree;
    const byte *end = memchr(at, '>', (size_t)(reader->end - at));
    if (end == NULL || reader->mode != BEFORE_HTML || end[-1] != '?' || memchr(at, '<', (size_t)(end - at)) != NULL) {
        give_up(reader, "instruction");
        return reader->end;
    }
    return end + 1;
}

static void read_markup(Page *page)
{
    Reader *reader = &page->tree;
    const byte *at = reader->start, *end = reader->end;
    while (at < end && !reader->given_up) {
        const byte *from = at;
        while ((at = memchr(at, '<', (size_t)(end - at))) != NULL) {
            if (at + 1 < end && (is(at[1], LETTER) || at[1] == '/' || at[1] == '!' || at[1] == '?'))
                break;
            at++;
        }
        if (at == NULL)
            at = end;
        if (at > from)
            text(page, from, at);
        if (at == end || reader->given_up)
            break;
        reader->token = at;
        if (is(at[1], LETTER))
            at = start_tag(page, at + 1);
        else if (at[1] == '?')
            at = instruction(page, at + 2);
        else if (at[1] == '!')
            at = end - at > 6 && at[2] == '-' && at[3] == '-' ? comment(page, at + 4) : declaration(page, at + 1);
        else if (end - at > 2 && is(at[2], LETTER))
            at = end_of_element(page, at + 2);
        else
            give_up(reader, "end tag");
    }
    reader->token = end;
}

/* Whether a tag opens a formatting element, or looks like it. */
static int is_opening(const byte *at, const byte *end)
{
    byte first = at + 1 < end ? lower(at[1]) : 0, second = at + 2 < end ? lower(at[2]) : ' ';
    if ((first == 'b' || first == 'i' || first == 's' || first == 'u') && !(second >= 'a' && second <= 'z'))
        return 1;
    static const char beginnings[][3] = {"bi", "co", "em", "fo", "no", "sm", "st", "tt"};
    for (unsigned which = 0; which < sizeof beginnings / 3; which++)
        if (first == beginnings[which][0] && second == beginnings[which][1])
            return 1;
    return 0;
}

/* How many different tags open formatting elements; as many as there are slots if too many. */
static size_t distinct(const byte *at, const byte *end)
{
    static const uint64_t factor = 0x9E3779B97F4A7C15u;
    uint64_t seen[DISTINCT] = {0};
    size_t count = 0;
    for (; (at = memchr(at, '<', (size_t)(end - at))) != NULL; at++) {
        if (!is_opening(at, end))
            continue;
        uint64_t hash = 1;
        for (const byte *each = at; each < end && *each != '>'; each++)
            hash = (hash ^ lower(*each)) * factor ^ hash >> 29;
        hash += !hash;
        size_t slot = (size_t)(hash >> 32) % DISTINCT;
        while (seen[slot] && seen[slot] != hash)
            slot = (slot + 1) % DISTINCT;
        if (!seen[slot]) {
            seen[slot] = hash;
            if (++count == DISTINCT / 2)
                return (size_t)-1 >> 32;
        }
    }
    return count;
}

/* Whether a page has so few tags that it cannot stand for too many elements: the first three bounds
   of documents/element_budget.py. */
static int is_bounded(const byte *start, size_t size)
{
    size_t tags = 0, opening = 0, most = FREE + size;
    const byte *at = start, *end = start + size;
    for (; (at = memchr(at, '<', (size_t)(end - at))) != NULL; at++)
        tags++;
    if (tags * tags <= 4 * most)
        return 1;
    for (at = start; (at = memchr(at, '<', (size_t)(end - at))) != NULL; at++)
        opening += (size_t)is_opening(at, end);
    return opening * (tags - opening) <= most || tags * (3 * distinct(start, end) + 1) <= most;
}

/* ---- Python */

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

/* Where the first byte is that is not ASCII. */
static const byte *beyond_ascii(const byte *at, const byte *end)
{
    uint64_t part;
    for (; end - at >= 8; at += 8) {
        memcpy(&part, at, 8);
        if (part & 0x8080808080808080u)
            break;
    }
    while (at < end && *at < 0x80)
        at++;
    return at;
}

/* Whether all of a page is UTF-8. Halves of a letter on both sides of a tag would become one. */
static int is_utf8(const byte *at, const byte *end)
{
    while ((at = beyond_ascii(at, end)) < end) {
        byte first = *at;
        int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
        if (first < 0xC2 || first > 0xF4 || end - at <= more)
            return 0;
        byte lowest = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
        byte highest = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
        if (at[1] < lowest || at[1] > highest)
            return 0;
        for (int place = 2; place <= more; place++)
            if ((at[place] & 0xC0) != 0x80)
                return 0;
        at += more + 1;
    }
    return 1;
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

PyDoc_STRVAR(rough_doc, "rough(text, /)\n--\n\n"
                        "The letters of a text, coded, and which bits most of its words vote for.");

static PyObject *rough(PyObject *self, PyObject *given)
{
    char *text;
    Py_ssize_t size;
    (void)self;
    if (PyBytes_AsStringAndSize(given, &text, &size) < 0)
        return NULL;
    byte *coded = malloc((size_t)size + 10);
    if (coded == NULL)
        return PyErr_NoMemory();
    coded[0] = 0;
    size_t count = code_text((const byte *)text, (size_t)size, coded + 1), letters = 0;
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
    char *text, *name;
    Py_ssize_t size, named;
    (void)self;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "lines takes a text and a name");
        return NULL;
    }
    if (PyBytes_AsStringAndSize(given[0], &text, &size) < 0 || PyBytes_AsStringAndSize(given[1], &name, &named) < 0)
        return NULL;
    if (size > MOST_TEXT)
        size = MOST_TEXT;
    size_t most = (size_t)size / SHORTEST_LINE + 1;
    byte *kept = malloc((size_t)size + 1);
    Line *lines = malloc(most * sizeof *lines);
    uint16_t *slots = calloc(LINE_SLOTS, sizeof *slots);
    PyObject *made = NULL;
    if (kept != NULL && lines != NULL && slots != NULL) {
        size_t found = lines_in((const byte *)text, (size_t)size, (const byte *)name, (size_t)named, kept, lines, slots);
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

static PyMethodDef METHODS[] = {
    {"read", (PyCFunction)(void (*)(void))read_page, METH_FASTCALL, read_doc},
    {"text_between", (PyCFunction)(void (*)(void))text_between, METH_FASTCALL, between_doc},
    {"rough", rough, METH_O, rough_doc},
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
