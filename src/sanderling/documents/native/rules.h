/* What start and end tags do, before the body and in it. */

#ifndef SANDERLING_RULES_H
#define SANDERLING_RULES_H

#include "content.h"

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

#endif
