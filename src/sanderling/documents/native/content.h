/* Text, and elements whose content has rules of its own. */

#ifndef SANDERLING_CONTENT_H
#define SANDERLING_CONTENT_H

#include "facts.h"

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
        do {
            while (at < end && !is(*at, ENDS_WORD))
                at++;
        } while (at > word && end - at > 1 && *at == ' ' && !is(at[1], ENDS_WORD) && at++); /* the next word as well */
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

#endif
