/* What is known of a page before it is read: that it is short of bombs, and UTF-8. */

#ifndef SANDERLING_BOUNDS_H
#define SANDERLING_BOUNDS_H

#include "tags.h"

#include <stdint.h>

enum { FREE = 500000, DISTINCT = 512, MOST_OPEN = 16384 };

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

/* Whether behind a tag an end tag may not end what was opened before it: a comment, an element with
   rules of its own. Of elements that HTML does not know, those of drawings and formulas have some. */
static int is_barrier(int tag, byte first)
{
    if (tag == TAG_NONE)
        return !is(first, LETTER) || memchr("adfm", lower(first), 4) != NULL;
    return RULES[tag] & (UNKNOWN_RULES | RAW | CHARACTERS | DRAWING | SCOPING) || tag == TAG_NOSCRIPT;
}

/* Where a tag stands in a quoted value that begins behind `=`; NULL if there is none. */
static const byte *torn(const byte *at, const byte *end)
{
    while (at < end && (is(*at, SPACE) || *at == '\v'))
        at++;
    if (at == end || (*at != '"' && *at != '\''))
        return NULL;
    byte quote = *at++;
    while (at < end && *at != quote && *at != '<' && *at != '>')
        at++;
    return at < end && *at != quote ? at : NULL;
}

/* Whether the last bound of documents/element_budget.py lets a page through as well. What is counted
   here is never less than there: elements with only text in them are not taken out before, and
   elements that are alike are counted as often as they are opened. */
static int closes_what_it_opens(const byte *start, const byte *end, size_t most)
{
    byte open[MOST_OPEN]; /* formatting elements; those below the floor stay open */
    size_t depth = 0, floor = 0, total = 0;
    for (const byte *at = start; at < end && total <= most;) {
        const byte *behind;
        if (*at == '=' && torn(at + 1, end) != NULL)
            floor = depth;
        if (*at == 1)
            total += depth;
        if (*at != '<') {
            at++;
            continue;
        }
        int ends = end - at > 1 && at[1] == '/', tag = TAG_NONE, is_torn = 0;
        const byte *name = at + 1 + ends, *token = name;
        while (token < end && *token != '<' && !is(*token, ENDS_NAME))
            token++;
        if (token < end && *token != '<')
            tag = tag_of(name, (size_t)(token - name));
        for (behind = token; behind < end && *behind != '<' && *behind != '>'; behind++)
            is_torn |= *behind == '=' && torn(behind + 1, end) != NULL;
        int whole = behind < end && *behind == '>';
        int formats = (RULES[tag] & FORMATTING && tag != TAG_A) || tag == TAG_NOBR;
        if (formats && !ends && depth == MOST_OPEN)
            return 0;
        if (formats && !ends)
            open[depth++] = (byte)tag;
        for (size_t each = depth; formats && ends && whole && each > floor; each--)
            if (open[each - 1] == tag) {
                memmove(open + each - 1, open + each, depth-- - each);
                break;
            }
        if (!whole || is_torn || (!ends && is_barrier(tag, name < end ? *name : 0)))
            floor = depth;
        total += depth;
        at++;
    }
    return total <= most;
}

/* Whether a page has so few tags that it cannot stand for too many elements, by the bounds of
   documents/element_budget.py. */
static int is_bounded(const byte *start, size_t size)
{
    size_t tags = 0, opening = 0, most = FREE + size;
    const byte *at = start, *end = start + size;
    for (; at < end; at++) /* as vectors */
        tags += *at == '<';
    if (tags * tags <= 4 * most)
        return 1;
    for (at = start; (at = memchr(at, '<', (size_t)(end - at))) != NULL; at++)
        opening += (size_t)is_opening(at, end);
    if (opening * (tags - opening) <= most || tags * (3 * distinct(start, end) + 1) <= most)
        return 1;
    return memchr(start, 0x1b, size) == NULL && closes_what_it_opens(start, end, most);
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

#endif
