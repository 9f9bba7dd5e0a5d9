/* Whether a text may say how long ago something was. What is not said here is certain: the
   expression of change/moments.py finds nothing in such a text. */

#ifndef SANDERLING_AGE_H
#define SANDERLING_AGE_H

#include "buffer.h"

/* Whether a name stands right before a place, whatever its case. */
static int stands_before(const byte *start, const byte *at, const char *name)
{
    size_t size = strlen(name);
    return (size_t)(at - start) >= size && named(at - size, size, name);
}

/* Whether a name stands at a place and no letter, digit or underscore follows. */
static int stands_alone(const byte *at, const byte *end, const char *name)
{
    size_t size = strlen(name);
    if ((size_t)(end - at) < size || !named(at, size, name))
        return 0;
    return (size_t)(end - at) == size || !(is(at[size], LETTER | DIGIT) || at[size] == '_');
}

/* Whether an age may stand around a space, which ends at some place. */
static int is_age(const byte *start, const byte *space, const byte *at, const byte *end)
{
    switch (at < end ? lower(*at) : 0) {
    case 'a':
        if (stands_alone(at, end, "ago"))
            return 1;
        break;
    case 'f':
        return stands_alone(at, end, "fa");
    case 'g':
        return stands_alone(at, end, "geleden");
    case 's':
        return stands_alone(at, end, "sedan");
    case 't':
        return stands_alone(at, end, "temu");
    case 'n':
        return stands_alone(at, end, "now") && stands_before(start, space, "just");
    case 'e':
    case 'o':
    case 'u':
        break;
    default:
        if (at == end || !(is(*at, DIGIT) || *at >= 0x80))
            return 0;
    }
    switch (space > start ? lower(space[-1]) : 0) {
    case 'r':
        return stands_before(start, space, "vor");
    case 'a':
        return stands_before(start, space, "l y a");
    case 'e':
        return stands_before(start, space, "hace");
    }
    return 0;
}

/* Letters that are others in another case, accents and signs in the words that are looked for:
   á, ı, İ, ſ, Cyrillic ones and 前. */
static int is_special(const byte *at, const byte *end)
{
    byte next = end - at > 1 ? at[1] : 0;
    switch (*at) {
    case 0xC3:
        return next == 0xA1 || next == 0x81;
    case 0xC4:
        return next == 0xB0 || next == 0xB1;
    case 0xC5:
        return next == 0xBF;
    case 0xD0:
    case 0xD1:
        return 1;
    case 0xE1:
        return next == 0xB2;
    case 0xE5:
        return next == 0x89;
    }
    return 0;
}

static int may_have_age(const byte *start, const byte *end)
{
    for (const byte *at = start; at < end; at++) {
        if (*at == ' ' ? is_age(start, at, at + 1, end)
                       : *at >= 0x80 && (is_special(at, end) || (*at == 0xC2 && end - at > 1 && at[1] == 0xA0 &&
                                                                 is_age(start, at, at + 2, end))))
            return 1;
    }
    return 0;
}

#endif
