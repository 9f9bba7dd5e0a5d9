/* A page from its first byte to its last. */

#ifndef SANDERLING_DOCUMENT_H
#define SANDERLING_DOCUMENT_H

#include "rules.h"

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

#endif
