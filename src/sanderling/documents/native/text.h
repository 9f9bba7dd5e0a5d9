/* The visible text of a page, as it is defined in documents/visible.py: blocks are separated by an
   empty line, runs of white space are one space, `pre` keeps its lines, quotes are indented. */

#ifndef SANDERLING_TEXT_H
#define SANDERLING_TEXT_H

#include "tags.h"

/* How what stands in an element is shown. */
enum { IN_BLOCKS, IN_LINE, AS_WRITTEN, NOT_AT_ALL };

enum { DEEPEST = 250, DEEPEST_QUOTE = 16, INDENT = 4 };

typedef struct {
    const byte *name; /* of an element that HTML does not know */
    unsigned name_size;
    unsigned anchor; /* which of the links it is, from 1 */
    byte tag, shown, in_run, begins;
} Element;

typedef struct {
    const byte *start, *end, *token;
    const char *given_up; /* why the page is left to the parser of trees */
    Element open[DEEPEST + 1];
    int depth, mode, form, open_p, open_a, open_select, quotes, quirks, after_body, drop_newline;
    Buffer text, scratch;
    size_t written_lines; /* line feeds of a `pre` that are due, if more follows */
    int started, has_content, space, node_space, suppressed;
} Reader;

static inline Element *top(Reader *reader) { return &reader->open[reader->depth - 1]; }

static inline void give_up(Reader *reader, const char *why)
{
    if (reader->given_up == NULL)
        reader->given_up = why;
}

static void put(Reader *reader, const void *bytes, size_t count)
{
    if (!append(&reader->text, bytes, count))
        give_up(reader, "long text");
}

static void begin_line(Reader *reader, const char *breaks)
{
    static const char spaces[INDENT * DEEPEST_QUOTE + 1] =
        "                                                                ";
    put(reader, breaks, strlen(breaks));
    put(reader, spaces, (size_t)reader->quotes * INDENT);
}

static void begin_block(Reader *reader)
{
    if (!reader->started) {
        reader->started = 1;
        begin_line(reader, "");
    } else if (reader->suppressed) {
        reader->suppressed = 0;
    } else {
        begin_line(reader, "\n\n");
        reader->has_content = 0;
    }
    reader->space = 0;
}

static void break_line(Reader *reader)
{
    begin_line(reader, "\n");
    reader->has_content = 0;
    reader->space = 0;
}

static void begin_quote(Reader *reader)
{
    if (++reader->quotes > DEEPEST_QUOTE) {
        give_up(reader, "deep quotes");
        reader->quotes = DEEPEST_QUOTE;
    }
    if (reader->started) {
        begin_line(reader, "\n\n");
        reader->has_content = 0;
        reader->suppressed = 1;
    }
}

/* Shows the beginning of an element, and says how its content is shown. */
static int show(Reader *reader, int tag)
{
    Element *around = top(reader);
    int rules = RULES[tag];
    reader->node_space = 0;
    if (around->shown >= AS_WRITTEN)
        return around->shown;
    if (rules & UNSEEN)
        return NOT_AT_ALL;
    if (rules & BLOCK) {
        around->in_run = 0;
        if (tag == TAG_BLOCKQUOTE)
            begin_quote(reader);
        if (tag != TAG_PRE)
            return IN_BLOCKS;
        begin_block(reader);
        reader->written_lines = 0;
        return AS_WRITTEN;
    }
    if (around->shown == IN_BLOCKS && !around->in_run) {
        begin_block(reader);
        around->in_run = 1;
    }
    if (tag == TAG_BR)
        break_line(reader);
    return IN_LINE;
}

/* Shows the end of an element, which is not open any more. */
static void show_end(Reader *reader, const Element *ended)
{
    reader->node_space = 0;
    if (!ended->begins)
        return;
    if (ended->tag == TAG_BLOCKQUOTE)
        reader->quotes--;
    else
        for (; reader->written_lines > 1; reader->written_lines--) /* the last one is not shown */
            break_line(reader);
}

/* Text in a `pre`. */
static void write_lines(Reader *reader, const byte *from, const byte *to)
{
    while (from < to && !reader->given_up) {
        if (*from == '\n') {
            reader->written_lines++;
            from++;
            continue;
        }
        for (; reader->written_lines; reader->written_lines--)
            break_line(reader);
        const byte *line = memchr(from, '\n', (size_t)(to - from));
        if (line == NULL)
            line = to;
        put(reader, from, (size_t)(line - from));
        reader->has_content = 1;
        from = line;
    }
}

/* White space between words. */
static inline void write_space(Reader *reader, const Element *in)
{
    if (in->shown == IN_BLOCKS && !in->in_run)
        reader->node_space = 1;
    else
        reader->space = 1;
}

/* A word, or a part of one, or words with a space between each two. */
static inline void write_word(Reader *reader, Element *in, const byte *word, size_t count)
{
    if (in->shown == IN_BLOCKS && !in->in_run) {
        begin_block(reader);
        in->in_run = 1;
        reader->space = reader->node_space;
    }
    if (!reserve(&reader->text, count + 1)) {
        give_up(reader, "long text");
        return;
    }
    byte *to = reader->text.data + reader->text.size;
    if (reader->space && reader->has_content)
        *to++ = ' ';
    memcpy(to, word, count);
    reader->text.size = (size_t)(to + count - reader->text.data);
    reader->space = 0;
    reader->has_content = 1;
}

#endif
