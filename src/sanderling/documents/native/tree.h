/* Which elements are open: the rules of the HTML standard by which start and end tags open and
   close them, as far as no element is moved or opened again. Other pages are given up. */

#ifndef SANDERLING_TREE_H
#define SANDERLING_TREE_H

#include "text.h"

enum { BEFORE_HTML, BEFORE_HEAD, HEAD, NOSCRIPT_IN_HEAD, AFTER_HEAD, BODY };
enum { NO_DOCTYPE, OLD, MODERN };

static inline int rules_at(const Reader *reader, int at) { return RULES[reader->open[at].tag]; }

static Element *push(Reader *reader, int tag)
{
    if (reader->depth == DEEPEST) {
        give_up(reader, "deep");
        return top(reader);
    }
    int outside = reader->depth ? top(reader)->shown : IN_BLOCKS;
    int shown = reader->depth ? show(reader, tag) : IN_BLOCKS;
    Element *element = &reader->open[reader->depth++];
    *element = (Element){.tag = (byte)tag, .shown = (byte)shown};
    element->begins = outside < AS_WRITTEN && (tag == TAG_PRE || tag == TAG_BLOCKQUOTE);
    reader->open_p += tag == TAG_P;
    reader->open_a += tag == TAG_A;
    reader->open_select += tag == TAG_SELECT;
    return element;
}

/* Set by the reader, which knows about links. */
static void anchor_ended(Reader *reader, unsigned anchor);

static void pop(Reader *reader)
{
    Element *ended = &reader->open[--reader->depth];
    reader->open_p -= ended->tag == TAG_P;
    reader->open_a -= ended->tag == TAG_A;
    reader->open_select -= ended->tag == TAG_SELECT;
    if (ended->anchor)
        anchor_ended(reader, ended->anchor);
    show_end(reader, ended);
}

/* Ends elements without their end tags down to one at a place. Formatting elements would be opened
   again behind it. */
static void pop_to(Reader *reader, int at)
{
    while (reader->depth > at + 1) {
        if (rules_at(reader, reader->depth - 1) & FORMATTING)
            give_up(reader, "formatting across elements");
        if (top(reader)->tag == TAG_FORM)
            give_up(reader, "form across elements");
        pop(reader);
    }
    pop(reader);
}

static void end_implied(Reader *reader, int except)
{
    while (top(reader)->tag != except && RULES[top(reader)->tag] & IMPLIED)
        pop(reader);
}

/* Where an element is open in scope; 0 if it is not. */
static int in_scope(const Reader *reader, int tag)
{
    for (int at = reader->depth - 1; at > 0; at--) {
        if (reader->open[at].tag == tag)
            return at;
        if (rules_at(reader, at) & SCOPING)
            return 0;
    }
    return 0;
}

static int paragraph(const Reader *reader)
{
    if (!reader->open_p)
        return 0;
    for (int at = reader->depth - 1; at > 0; at--) {
        if (reader->open[at].tag == TAG_P)
            return at;
        if (rules_at(reader, at) & SCOPING || reader->open[at].tag == TAG_BUTTON)
            return 0;
    }
    return 0;
}

static void end_paragraph(Reader *reader)
{
    int at = paragraph(reader);
    if (at)
        pop_to(reader, at);
}

static void end_in_scope(Reader *reader, int tag)
{
    int at = in_scope(reader, tag);
    if (at)
        pop_to(reader, at);
}

/* The start of an item ends the one before it. */
static void begin_item(Reader *reader, int tag)
{
    for (int at = reader->depth - 1; at > 0; at--) {
        int open = reader->open[at].tag;
        if (tag == TAG_LI ? open == TAG_LI : open == TAG_DD || open == TAG_DT) {
            pop_to(reader, at);
            break;
        }
        if (RULES[open] & SPECIAL && open != TAG_ADDRESS && open != TAG_DIV && open != TAG_P)
            break;
    }
    end_paragraph(reader);
}

/* The cell or caption that is open; 0 if the innermost table is not in one. */
static int cell(const Reader *reader)
{
    for (int at = reader->depth - 1; at > 0; at--)
        if (rules_at(reader, at) & SCOPING) {
            int tag = reader->open[at].tag;
            return tag == TAG_TD || tag == TAG_TH || tag == TAG_CAPTION ? at : 0;
        }
    return 0;
}

/* Behind a cell nothing is opened again that was left open in it. */
static void end_cell(Reader *reader, int at)
{
    while (reader->depth > at) {
        if (top(reader)->tag == TAG_FORM)
            give_up(reader, "form across elements");
        pop(reader);
    }
}

static int in_table(const Reader *reader, int tag)
{
    for (int at = reader->depth - 1; at > 0; at--) {
        if (reader->open[at].tag == tag)
            return at;
        if (reader->open[at].tag == TAG_TABLE)
            return 0;
    }
    return 0;
}

static inline int is_section(int tag) { return tag == TAG_TBODY || tag == TAG_THEAD || tag == TAG_TFOOT; }

/* Makes the place for a part of a table; 0 if it is ignored. */
static int begin_part(Reader *reader, int tag)
{
    int is_cell = tag == TAG_TD || tag == TAG_TH;
    if (reader->open_select)
        give_up(reader, "table in select");
    while (!reader->given_up) {
        int current = top(reader)->tag, at;
        if (!(RULES[current] & TABLE_PART)) {
            if (!(at = cell(reader)))
                return 0;
            end_cell(reader, at);
        } else if (current == TAG_TABLE) {
            if (tag == TAG_CAPTION || tag == TAG_COLGROUP || is_section(tag))
                return 1;
            push(reader, tag == TAG_COL ? TAG_COLGROUP : TAG_TBODY);
        } else if (current == TAG_TR) {
            if (is_cell)
                return 1;
            pop(reader);
        } else if (is_section(current)) {
            if (tag == TAG_TR)
                return 1;
            if (is_cell)
                push(reader, TAG_TR);
            else
                pop(reader);
        } else { /* a group of columns */
            if (tag == TAG_COL)
                return 1;
            pop(reader);
        }
    }
    return 0;
}

static void end_part(Reader *reader, int tag)
{
    int at;
    if (reader->open_select) {
        give_up(reader, "table in select");
        return;
    }
    if (tag == TAG_COL || tag == TAG_COLGROUP) {
        if (top(reader)->tag == TAG_COLGROUP)
            pop(reader);
        return;
    }
    if (top(reader)->tag == TAG_COLGROUP)
        pop(reader);
    if (tag == TAG_TD || tag == TAG_TH || tag == TAG_CAPTION) {
        at = cell(reader);
        if (at && reader->open[at].tag == tag)
            end_cell(reader, at);
        else if (at && reader->open[at].tag == TAG_CAPTION)
            give_up(reader, "end of a cell in a caption");
        return;
    }
    if (!(RULES[top(reader)->tag] & TABLE_PART) && !cell(reader))
        return; /* no table */
    at = in_table(reader, tag);
    if (at)
        end_cell(reader, at);
}

static void end_formatting(Reader *reader, int tag)
{
    int blocked = 0;
    for (int at = reader->depth - 1; at > 0; at--) {
        if (reader->open[at].tag == tag) {
            if (blocked)
                give_up(reader, "formatting around elements");
            else
                pop_to(reader, at);
            return;
        }
        int open = reader->open[at].tag;
        if (open == TAG_TD || open == TAG_TH || open == TAG_CAPTION)
            return;
        blocked |= RULES[open] & SPECIAL;
    }
}

static int same_name(const byte *one, const byte *other, unsigned size)
{
    for (unsigned at = 0; at < size; at++)
        if (lower(one[at]) != lower(other[at]))
            return 0;
    return 1;
}

static void end_other(Reader *reader, int tag, const byte *name, unsigned size)
{
    for (int at = reader->depth - 1; at > 0; at--) {
        Element *open = &reader->open[at];
        if (open->tag == tag && (tag || (open->name_size == size && same_name(open->name, name, size)))) {
            pop_to(reader, at);
            return;
        }
        if (RULES[open->tag] & SPECIAL)
            return;
    }
}

static void end_heading(Reader *reader)
{
    for (int at = reader->depth - 1; at > 0; at--) {
        if (rules_at(reader, at) & HEADING) {
            pop_to(reader, at);
            return;
        }
        if (rules_at(reader, at) & SCOPING)
            return;
    }
}

#endif
