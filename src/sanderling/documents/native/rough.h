/* A text in a few numbers, as client/sketch.py and client/lines.py define them. */

#ifndef SANDERLING_ROUGH_H
#define SANDERLING_ROUGH_H

#include "buffer.h"

#include <stdint.h>

enum {
    MOST_TEXT = 64 * 1024,
    PART = 2048,
    FIRST_LETTER = 64,
    ENOUGH_WORDS = 900, /* bytes of them */
    VOTES = 4,
    VOTERS = 255,
    VOTER_SLOTS = 512,
    SHORTEST_LINE = 20,
    LINE_END = 128,
    LONGEST_HEADING = 100,
    SHORTEST_NAME = 5,
    MOST_LINES = 64,
    LINE_SLOTS = 8192, /* twice as many as there can be lines in the longest text */
};

static byte CODES[256];         /* what a byte is to those who compare roughly; 0 separates words */
static uint64_t LANES[256];     /* the bits of a byte, in a byte each, the highest first */
static uint32_t CRC[8][256];
static byte IN_LINES[256];      /* what a byte is in a line: left out, part of it, or its end */

enum { ENDS_LINE = 2 };

static void fill_rough(void)
{
    static const char letters[] = "oxkdzbqpuyvlhjtnagrwiescmf";
    for (int at = 0; at < 256; at++) {
        CODES[at] = (byte)(at < 33 ? 0 : at >= 128 ? at : 1 + at % 32);
        LANES[at] = 0;
        IN_LINES[at] = at == '\n' || at == '\t' ? ENDS_LINE : at >= 128 || is((byte)at, LETTER | DIGIT);
        for (int bit = 0; bit < 8; bit++)
            LANES[at] |= (uint64_t)(at >> (7 - bit) & 1) << 8 * bit;
        uint32_t rest = (uint32_t)at;
        for (int bit = 0; bit < 8; bit++)
            rest = rest >> 1 ^ (rest & 1 ? 0xEDB88320u : 0);
        CRC[0][at] = rest;
    }
    for (int rank = 0; rank < 26; rank++)
        CODES[(byte)letters[rank]] = CODES[letters[rank] - 32] = (byte)(FIRST_LETTER + rank);
    for (int table = 1; table < 8; table++)
        for (int at = 0; at < 256; at++)
            CRC[table][at] = CRC[table - 1][at] >> 8 ^ CRC[0][CRC[table - 1][at] & 255];
}

static inline uint64_t eight(const byte *at)
{
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24 |
           (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 | (uint64_t)at[6] << 48 | (uint64_t)at[7] << 56;
}

static uint32_t crc32_of(const byte *at, size_t size)
{
    uint32_t crc = 0xFFFFFFFFu;
    for (; size >= 8; size -= 8, at += 8) {
        uint64_t part = eight(at) ^ crc;
        crc = 0;
        for (int place = 0; place < 8; place++)
            crc ^= CRC[7 - place][part >> 8 * place & 255];
    }
    for (; size; size--, at++)
        crc = crc >> 8 ^ CRC[0][(crc ^ *at) & 255];
    return ~crc;
}

/* Codes a text without its digits. Room for `size` bytes. */
static size_t code_part(const byte *text, size_t size, byte *coded)
{
    size_t count = 0;
    for (size_t at = 0; at < size; at++) {
        coded[count] = CODES[text[at]];
        count += !(text[at] >= '0' && text[at] <= '9');
    }
    return count;
}

/* The same for its first and last bytes; what is left of them is cut to three parts if it is long.
   Room for `size` bytes, or `MOST_TEXT` if they are fewer. */
static size_t code_text(const byte *text, size_t size, byte *coded)
{
    size_t half = size > MOST_TEXT ? MOST_TEXT / 2 : size, count = code_part(text, half, coded);
    if (half < size)
        count += code_part(text + size - half, half, coded + count);
    if (count <= 3 * PART)
        return count;
    memmove(coded + PART, coded + count / 2 - PART / 2, PART);
    memmove(coded + 2 * PART, coded + count - PART, PART);
    return 3 * PART;
}

/* Which of 64 bits most words vote for. `coded` begins with a separator and ends with nine. */
static uint64_t simhash_of(const byte *coded, size_t size)
{
    uint64_t words[VOTER_SLOTS], lanes[8] = {0}, simhash = 0;
    byte votes[VOTER_SLOTS] = {0};
    int lowest = size > ENOUGH_WORDS ? FIRST_LETTER + (int)(26 - 26.0 * ENOUGH_WORDS / (double)size) : 1, voted = 0;
    for (size_t at = 0, voters = 0; at + 9 < size && voters < VOTERS; at++) {
        if (coded[at] || coded[at + 1] < lowest)
            continue;
        voters++;
        uint64_t word = eight(coded + at + 1), mixed = word * 0x9E3779B97F4A7C15u;
        mixed = (mixed ^ mixed >> 32) * 0xBF58476D1CE4E5B9u;
        unsigned slot = mixed >> 55;
        while (votes[slot] && words[slot] != word)
            slot = (slot + 1) % VOTER_SLOTS;
        words[slot] = word;
        if (votes[slot] == VOTES)
            continue;
        votes[slot]++;
        voted++;
        for (int place = 0; place < 8; place++)
            lanes[place] += LANES[mixed >> 8 * place & 255];
    }
    for (int place = 0; place < 8; place++)
        for (int bit = 0; bit < 8; bit++)
            simhash = simhash << 1 | ((int)(lanes[place] >> 8 * bit & 255) > voted >> 1);
    return simhash;
}

typedef struct {
    const byte *at;
    uint32_t size, place;
} Line;

static int longer_first(const void *one, const void *other)
{
    const Line *a = one, *b = other;
    return a->size != b->size ? (a->size < b->size) - (a->size > b->size) : (a->place > b->place) - (a->place < b->place);
}

static int has_name(const Line *line, const byte *name, size_t size)
{
    if (size > line->size)
        return 0;
    const byte *at = line->at, *last = at + line->size - size;
    for (; at <= last; at++) {
        at = memchr(at, *name, (size_t)(last - at) + 1);
        if (at == NULL)
            return 0;
        if (memcmp(at, name, size) == 0)
            return 1;
    }
    return 0;
}

/* Different lines in their order; `slots` are a power of two, and zero. Returns how many. */
static size_t lines_in(const byte *text, size_t size, const byte *name, size_t named, byte *kept, Line *lines,
                       uint16_t *slots, unsigned most_slots)
{
    size_t count = 0, at = 0;
    byte *start = kept;
    while (at <= size) {
        for (unsigned kind; at < size && (kind = IN_LINES[text[at]]) != ENDS_LINE; at++) {
            *kept = text[at];
            kept += kind;
        }
        at++;
        Line line = {start, (uint32_t)(kept - start), (uint32_t)count};
        start = kept;
        if (line.size < SHORTEST_LINE)
            continue;
        uint64_t hash = line.size;
        size_t place = 0;
        for (; place + 8 <= line.size; place += 8)
            hash = (hash ^ eight(line.at + place)) * 0x9E3779B97F4A7C15u, hash ^= hash >> 29;
        hash = (hash ^ eight(line.at + line.size - 8)) * 0x9E3779B97F4A7C15u;
        unsigned slot = hash >> 51 & (most_slots - 1);
        while (slots[slot] && (lines[slots[slot] - 1].size != line.size ||
                               memcmp(lines[slots[slot] - 1].at, line.at, line.size) != 0))
            slot = (slot + 1) & (most_slots - 1);
        if (slots[slot])
            continue;
        slots[slot] = (uint16_t)(count + 1);
        lines[count++] = line;
    }
    if (named < SHORTEST_NAME)
        return count;
    size_t rest = 0;
    for (size_t at = 0; at < count; at++)
        if (lines[at].size > LONGEST_HEADING || !has_name(&lines[at], name, named))
            lines[rest++] = lines[at];
    return rest;
}

#endif
