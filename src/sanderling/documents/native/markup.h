/* Tags with their attributes, and character references. */

#ifndef SANDERLING_MARKUP_H
#define SANDERLING_MARKUP_H

#include "entities.h"
#include "text.h"

static size_t encode(unsigned point, byte *into)
{
    if (point < 0x80) {
        into[0] = (byte)point;
        return 1;
    }
    if (point < 0x800) {
        into[0] = (byte)(0xC0 | point >> 6);
        into[1] = (byte)(0x80 | (point & 63));
        return 2;
    }
    if (point < 0x10000) {
        into[0] = (byte)(0xE0 | point >> 12);
        into[1] = (byte)(0x80 | (point >> 6 & 63));
        into[2] = (byte)(0x80 | (point & 63));
        return 3;
    }
    into[0] = (byte)(0xF0 | point >> 18);
    into[1] = (byte)(0x80 | (point >> 12 & 63));
    into[2] = (byte)(0x80 | (point >> 6 & 63));
    into[3] = (byte)(0x80 | (point & 63));
    return 4;
}

/* A number that browsers take as it stands. */
static int is_plain(unsigned point)
{
    return point == '\t' || point == '\n' || (point >= ' ' && point < 0x7F) || (point > 0x9F && point < 0xD800) ||
           (point > 0xDFFF && point < 0x110000);
}

static const byte *number(const byte *at, const byte *end, byte *into, size_t *count)
{
    unsigned point = 0;
    int base = 10, digits = 0;
    if (at < end && lower(*at) == 'x') {
        base = 16;
        at++;
    }
    for (; at < end; at++, digits++) {
        unsigned digit;
        if (is(*at, DIGIT))
            digit = *at - '0';
        else if (base == 16 && lower(*at) >= 'a' && lower(*at) <= 'f')
            digit = lower(*at) - 'a' + 10;
        else
            break;
        if (digits > 7)
            return NULL;
        point = point * (unsigned)base + digit;
    }
    if (!digits || at == end || *at != ';' || !is_plain(point))
        return NULL;
    *count = encode(point, into);
    return at + 1;
}

/* What a reference at an ampersand stands for; returns where it ends, or NULL for a rare one. */
static const byte *reference(const byte *at, const byte *end, int in_attribute, byte into[4], size_t *count)
{
    const byte *name = ++at;
    if (at < end && *at == '#')
        return number(at + 1, end, into, count);
    while (at < end && is(*at, LETTER | DIGIT))
        at++;
    const Entity *found;
    if (at < end && *at == ';' && at > name) {
        found = entity(name, (size_t)(at - name));
        if (found == NULL)
            return NULL;
        at++;
    } else {
        found = bare_entity(name, (size_t)(at - name));
        if (found != NULL)
            at = name + strlen(found->name);
        if (found == NULL || (in_attribute && at < end && (*at == '=' || is(*at, LETTER | DIGIT)))) {
            into[0] = '&';
            *count = 1;
            return name;
        }
    }
    *count = encode(found->point, into);
    return at;
}

/* Appends text with its references resolved; 0 if that is left to others. */
static int resolve(Buffer *into, const byte *from, const byte *to, int in_attribute)
{
    while (from < to) {
        const byte *mark = memchr(from, '&', (size_t)(to - from));
        if (!append(into, from, (size_t)((mark ? mark : to) - from)))
            return 0;
        if (mark == NULL)
            return 1;
        byte point[4];
        size_t count;
        from = reference(mark, to, in_attribute, point, &count);
        if (from == NULL || !append(into, point, count))
            return 0;
    }
    return 1;
}

enum { HREF, REL, SRC, TYPE, NAME, CONTENT, HTTP_EQUIV, CHARSET, LANG, XML_LANG, ATTRIBUTES };

static const char *const ATTRIBUTE_NAMES[] = {
    "href", "rel", "src", "type", "name", "content", "http-equiv", "charset", "lang", "xml:lang",
};

typedef struct {
    const byte *at; /* NULL if there is none */
    size_t size;
} Value;

/* Reads the attributes of a tag; returns where it ends, or NULL if it does not. `closed` tells
   whether it says that there is no content. */
static const byte *attributes_of(const byte *at, const byte *end, Value *values, int *closed)
{
    for (;;) {
        const byte *from = at;
        while (at < end && (is(*at, SPACE) || *at == '/'))
            at++;
        if (at == end)
            return NULL;
        if (*at == '>') {
            *closed = at > from && at[-1] == '/';
            return at + 1;
        }
        const byte *name = at++; /* a name may begin with `=` */
        while (at < end && !is(*at, ENDS_ATTRIBUTE))
            at++;
        size_t size = (size_t)(at - name);
        while (at < end && is(*at, SPACE))
            at++;
        const byte *value = at;
        size_t length = 0;
        if (at < end && *at == '=') {
            at++;
            while (at < end && is(*at, SPACE))
                at++;
            if (at == end)
                return NULL;
            value = at;
            if (*at == '"' || *at == '\'') {
                value = at + 1;
                at = memchr(value, *at, (size_t)(end - value));
                if (at == NULL)
                    return NULL;
                length = (size_t)(at++ - value);
            } else {
                while (at < end && !is(*at, ENDS_VALUE))
                    at++;
                length = (size_t)(at - value);
            }
        }
        if (values == NULL || size > 10)
            continue;
        for (int which = 0; which < ATTRIBUTES; which++)
            if (values[which].at == NULL && named(name, size, ATTRIBUTE_NAMES[which])) {
                values[which] = (Value){value, length};
                break;
            }
    }
}

static const byte *attributes(const byte *at, const byte *end, Value *values)
{
    int closed;
    return attributes_of(at, end, values, &closed);
}

/* Where an end tag of this name begins, at or after some place; NULL if nowhere. */
static const byte *end_tag(const byte *at, const byte *end, const char *name)
{
    size_t size = strlen(name);
    while ((at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        if ((size_t)(end - at) > size + 2 && at[1] == '/' && named(at + 2, size, name) && is(at[2 + size], ENDS_NAME))
            return at;
        at++;
    }
    return NULL;
}

/* Whether a text in small letters stands somewhere, whatever its case. */
static int contains(const byte *at, const byte *end, const char *text)
{
    size_t size = strlen(text);
    for (; (size_t)(end - at) >= size; at++) {
        if (!is((byte)text[0], LETTER)) /* it has no other case */
            at = memchr(at, text[0], (size_t)(end - at));
        if (at == NULL || (size_t)(end - at) < size)
            return 0;
        if (named(at, size, text))
            return 1;
    }
    return 0;
}

#endif
