/* What is known of a page before it is read: that it is short of bombs, and UTF-8. */

#ifndef SANDERLING_BOUNDS_H
#define SANDERLING_BOUNDS_H

#include "buffer.h"

#include <stdint.h>

enum { FREE = 500000, DISTINCT = 512 };

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
