/* Whether scripts may make a page: it has some, and says next to nothing, as
   browser/candidates.py defines it. */

#ifndef SANDERLING_CANDIDATE_H
#define SANDERLING_CANDIDATE_H

#include "buffer.h"

enum { FEW_WORDS = 30, FEW_WORDS_WITHOUT_LINKS = 200, BYTES_A_WORD = 6 };

/* White space as patterns of Python have it: with the vertical tab. */
static inline int is_blank(byte letter) { return is(letter, SPACE) || letter == '\v'; }

static const byte *find(const byte *at, const byte *end, const char *text)
{
    size_t size = strlen(text);
    while ((size_t)(end - at) >= size && (at = memchr(at, text[0], (size_t)(end - at))) != NULL) {
        if ((size_t)(end - at) >= size && memcmp(at, text, size) == 0)
            return at;
        at++;
    }
    return NULL;
}

static size_t words_in(const byte *at, const byte *end)
{
    size_t words = 0, beyond = 0;
    for (int inside = 0; at < end; at++) {
        int blank = is_blank(*at);
        words += inside < !blank;
        inside = !blank;
        beyond += *at >= 0x80;
    }
    return beyond / BYTES_A_WORD > words ? beyond / BYTES_A_WORD : words;
}

static int is_word(const byte *at, const byte *end)
{
    return at < end && (is(*at, LETTER | DIGIT) || *at == '_');
}

/* Which element that is not shown begins at a name; NULL if none. */
static const char *not_shown(const byte *name, const byte *end)
{
    static const char *const names[] = {"script", "style", "noscript", "template", "svg", "head"};
    for (size_t which = 0; which < sizeof names / sizeof *names; which++) {
        size_t size = strlen(names[which]);
        if ((size_t)(end - name) >= size && named(name, size, names[which]) && !is_word(name + size, end))
            return names[which];
    }
    return NULL;
}

/* Where an element of this name has ended; the end of the page if it has not. */
static const byte *behind_element(const byte *at, const byte *end, const char *name)
{
    size_t size = strlen(name);
    for (; (at = memchr(at, '<', (size_t)(end - at))) != NULL; at++) {
        if ((size_t)(end - at) < size + 3 || at[1] != '/' || !named(at + 2, size, name))
            continue;
        const byte *close = at + 2 + size;
        while (close < end && is_blank(*close))
            close++;
        if (close < end && *close == '>')
            return close + 1;
    }
    return end;
}

static int has_target(const byte *at, const byte *end)
{
    for (; end - at > 4; at++) {
        if (lower(*at) != 'h' || !named(at, 4, "href"))
            continue;
        const byte *sign = at + 4;
        while (sign < end && is_blank(*sign))
            sign++;
        if (sign < end && *sign == '=')
            return 1;
    }
    return 0;
}

static int may_need_browser(const byte *start, const byte *end)
{
    if (find(start, end, "<script") == NULL && find(start, end, "<SCRIPT") == NULL)
        return 0;
    const byte *at = find(start, end, "<body"), *tag_end;
    int is_closed = 1; /* there may be an end of a tag further on */
    for (size_t words = 0, enough = FEW_WORDS_WITHOUT_LINKS; (at = at ? at : start) < end;) {
        if (*at != '<') {
            const byte *text = at;
            at = memchr(at, '<', (size_t)(end - at));
            at = at ? at : end;
            words += words_in(text, at);
            if (words >= enough)
                return 0;
            continue;
        }
        const byte *name = at + 1;
        const char *hidden;
        byte first = name < end ? lower(*name) : 0;
        tag_end = is_closed ? memchr(at, '>', (size_t)(end - at)) : NULL;
        is_closed = tag_end != NULL;
        if (first == 'a' && end - name > 1 && is_blank(name[1]) && tag_end != NULL && tag_end > name + 1) {
            int leads = enough > FEW_WORDS && has_target(name + 2, tag_end);
            at = tag_end + 1;
            if (leads)
                enough = FEW_WORDS;
            if (leads && words >= enough)
                return 0;
        } else if ((hidden = not_shown(name, end)) != NULL) {
            at = behind_element(name + strlen(hidden), end, hidden);
        } else if (end - name > 2 && memcmp(name, "!--", 3) == 0) {
            at = find(name + 3, end, "-->");
            at = at ? at + 3 : end;
        } else {
            first = first == '/' && end - name > 1 ? name[1] : first;
            at = tag_end != NULL && (is(first, LETTER) || first == '!') ? tag_end + 1 : name;
        }
    }
    return 1;
}

#endif
