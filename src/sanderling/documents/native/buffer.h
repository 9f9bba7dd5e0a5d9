/* Bytes that grow, up to a bound. */

#ifndef SANDERLING_BUFFER_H
#define SANDERLING_BUFFER_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned char byte;

typedef struct {
    byte *data;
    size_t size, room, most;
} Buffer;

/* Makes room for more bytes; 0 if that is more than the bound, or than there is memory. */
static inline int reserve(Buffer *buffer, size_t more)
{
    if (more <= buffer->room - buffer->size)
        return 1;
    if (more > buffer->most - buffer->size)
        return 0;
    size_t room = buffer->size + more;
    room += room / 2 + 256;
    if (room > buffer->most)
        room = buffer->most;
    byte *grown = realloc(buffer->data, room);
    if (grown == NULL)
        return 0;
    buffer->data = grown;
    buffer->room = room;
    return 1;
}

static inline int append(Buffer *buffer, const void *bytes, size_t count)
{
    if (count == 0)
        return 1;
    if (!reserve(buffer, count))
        return 0;
    memcpy(buffer->data + buffer->size, bytes, count);
    buffer->size += count;
    return 1;
}

/* What bytes are, one bit each. */
enum { SPACE = 1, LETTER = 2, DIGIT = 4, ENDS_NAME = 8, ENDS_WORD = 16, ENDS_ATTRIBUTE = 32, ENDS_VALUE = 64 };

static byte KINDS[256];

static void fill_kinds(void)
{
    for (int at = 0; at < 256; at++) {
        int lower = at | 32;
        KINDS[at] = lower >= 'a' && lower <= 'z' && at < 128 ? LETTER : at >= '0' && at <= '9' ? DIGIT : 0;
    }
    for (const char *each = " \t\n\f\r"; *each; each++)
        KINDS[(byte)*each] = SPACE | ENDS_NAME | ENDS_WORD | ENDS_ATTRIBUTE | ENDS_VALUE;
    KINDS['/'] |= ENDS_NAME | ENDS_ATTRIBUTE;
    KINDS['>'] |= ENDS_NAME | ENDS_ATTRIBUTE | ENDS_VALUE;
    KINDS['='] |= ENDS_ATTRIBUTE;
    KINDS['&'] |= ENDS_WORD;
}

static inline int is(byte letter, int kinds) { return KINDS[letter] & kinds; }
static inline byte lower(byte letter) { return letter >= 'A' && letter <= 'Z' ? letter + 32 : letter; }

/* Whether some bytes are a name in small letters, whatever their case. */
static inline int named(const byte *bytes, size_t count, const char *name)
{
    size_t at = 0;
    for (; at < count && name[at]; at++)
        if (lower(bytes[at]) != (byte)name[at])
            return 0;
    return at == count && !name[at];
}

#endif
