/* The elements of HTML, and what the rules of its tree say of each. */

#ifndef SANDERLING_TAGS_H
#define SANDERLING_TAGS_H

#include "buffer.h"

enum {
    SPECIAL = 1 << 0,
    FORMATTING = 1 << 1,
    SCOPING = 1 << 2,
    IMPLIED = 1 << 3,      /* its end tag is often left out */
    CLOSES_P = 1 << 4,     /* its start tag ends an open paragraph */
    ENDS_BLOCK = 1 << 5,   /* its end tag ends what is open in it */
    EMPTY = 1 << 6,        /* it has no content */
    RAW = 1 << 7,          /* its content has no markup */
    CHARACTERS = 1 << 8,   /* its content has character references, and no other markup */
    OF_HEAD = 1 << 9,      /* it may stand in the head */
    HEADING = 1 << 10,
    TABLE_PART = 1 << 11,  /* only parts of a table may stand in it */
    TABLE_TAG = 1 << 12,   /* it belongs to a table */
    BLOCK = 1 << 13,       /* it begins a line of the text */
    UNSEEN = 1 << 14,      /* nothing of it is shown */
    UNKNOWN_RULES = 1 << 15, /* left to the parser of trees */
    NOTED = 1 << 16,       /* its attributes are told */
    DRAWING = 1 << 17,     /* its content has rules of its own */
};

#define SECTION (SPECIAL | CLOSES_P | ENDS_BLOCK | BLOCK)
#define ROOM (SPECIAL | CLOSES_P | ENDS_BLOCK)
#define LEFT UNKNOWN_RULES

/* Name for C, name in HTML, and what it is. */
#define ALL_TAGS(T)                                                                                                    \
    T(A, "a", FORMATTING) T(ADDRESS, "address", SECTION) T(APPLET, "applet", LEFT)                                     \
    T(AREA, "area", SPECIAL | EMPTY | NOTED) T(ARTICLE, "article", SECTION) T(ASIDE, "aside", SECTION)                 \
    T(B, "b", FORMATTING) T(BASE, "base", SPECIAL | EMPTY | OF_HEAD | NOTED)                                           \
    T(BASEFONT, "basefont", SPECIAL | EMPTY | OF_HEAD) T(BGSOUND, "bgsound", SPECIAL | EMPTY | OF_HEAD)                \
    T(BIG, "big", FORMATTING) T(BLOCKQUOTE, "blockquote", SECTION) T(BODY, "body", SPECIAL | BLOCK)                    \
    T(BR, "br", SPECIAL | EMPTY) T(BUTTON, "button", SPECIAL | ENDS_BLOCK)                                             \
    T(CAPTION, "caption", SPECIAL | SCOPING | BLOCK | TABLE_TAG) T(CENTER, "center", ROOM)                             \
    T(CODE, "code", FORMATTING) T(COL, "col", SPECIAL | EMPTY | TABLE_TAG)                                             \
    T(COLGROUP, "colgroup", SPECIAL | TABLE_TAG | TABLE_PART) T(COMMAND, "command", LEFT)                              \
    T(DATALIST, "datalist", UNSEEN) T(DD, "dd", SPECIAL | IMPLIED | BLOCK) T(DETAILS, "details", SECTION)              \
    T(DIALOG, "dialog", CLOSES_P | ENDS_BLOCK) T(DIR, "dir", SECTION) T(DIV, "div", SECTION) T(DL, "dl", SECTION)      \
    T(DT, "dt", SPECIAL | IMPLIED | BLOCK) T(EM, "em", FORMATTING) T(EMBED, "embed", SPECIAL | EMPTY)                  \
    T(FIELDSET, "fieldset", ROOM) T(FIGCAPTION, "figcaption", SECTION) T(FIGURE, "figure", SECTION)                    \
    T(FONT, "font", FORMATTING) T(FOOTER, "footer", SECTION) T(FORM, "form", SPECIAL) T(FRAME, "frame", LEFT)          \
    T(FRAMESET, "frameset", LEFT) T(H1, "h1", SPECIAL | HEADING | BLOCK) T(H2, "h2", SPECIAL | HEADING | BLOCK)        \
    T(H3, "h3", SPECIAL | HEADING | BLOCK) T(H4, "h4", SPECIAL | HEADING | BLOCK)                                      \
    T(H5, "h5", SPECIAL | HEADING | BLOCK) T(H6, "h6", SPECIAL | HEADING | BLOCK) T(HEAD, "head", SPECIAL)             \
    T(HEADER, "header", SECTION) T(HGROUP, "hgroup", ROOM) T(HR, "hr", SPECIAL | EMPTY | BLOCK)                        \
    T(HTML, "html", SPECIAL | SCOPING | BLOCK) T(I, "i", FORMATTING) T(IFRAME, "iframe", SPECIAL | RAW | NOTED)        \
    T(IMAGE, "image", LEFT) T(IMG, "img", SPECIAL | EMPTY) T(INPUT, "input", SPECIAL | EMPTY)                          \
    T(ISINDEX, "isindex", LEFT) T(KEYGEN, "keygen", LEFT) T(LI, "li", SPECIAL | IMPLIED | BLOCK)                       \
    T(LINK, "link", SPECIAL | EMPTY | OF_HEAD | NOTED) T(LISTING, "listing", LEFT) T(MAIN, "main", SECTION)            \
    T(MARQUEE, "marquee", LEFT) T(MATH, "math", LEFT) T(MENU, "menu", SECTION)                                         \
    T(META, "meta", SPECIAL | EMPTY | OF_HEAD | NOTED) T(NAV, "nav", SECTION) T(NOBR, "nobr", LEFT)                    \
    T(NOEMBED, "noembed", LEFT) T(NOFRAMES, "noframes", LEFT) T(NOSCRIPT, "noscript", SPECIAL)                         \
    T(OBJECT, "object", LEFT) T(OL, "ol", SECTION) T(OPTGROUP, "optgroup", IMPLIED) T(OPTION, "option", IMPLIED)       \
    T(P, "p", SPECIAL | IMPLIED | CLOSES_P | BLOCK) T(PARAM, "param", SPECIAL | EMPTY)                                 \
    T(PLAINTEXT, "plaintext", LEFT) T(PRE, "pre", SECTION) T(RB, "rb", LEFT) T(RP, "rp", LEFT) T(RT, "rt", LEFT)       \
    T(RTC, "rtc", LEFT) T(S, "s", FORMATTING) T(SCRIPT, "script", SPECIAL | RAW | OF_HEAD | UNSEEN)                    \
    T(SEARCH, "search", ROOM) T(SECTION_, "section", SECTION)                                                          \
    T(SELECT, "select", SPECIAL | SCOPING | ENDS_BLOCK) T(SELECTEDCONTENT, "selectedcontent", LEFT)                    \
    T(SMALL, "small", FORMATTING) T(SOURCE, "source", SPECIAL | EMPTY) T(STRIKE, "strike", FORMATTING)                 \
    T(STRONG, "strong", FORMATTING) T(STYLE, "style", SPECIAL | RAW | OF_HEAD | UNSEEN)                                \
    T(SUMMARY, "summary", SECTION) T(SVG, "svg", DRAWING)                                                                 \
    T(TABLE, "table", SPECIAL | SCOPING | BLOCK | TABLE_TAG | TABLE_PART)                                              \
    T(TBODY, "tbody", SPECIAL | TABLE_TAG | TABLE_PART)                                                                \
    T(TD, "td", SPECIAL | SCOPING | BLOCK | TABLE_TAG) T(TEMPLATE, "template", LEFT)                                   \
    T(TEXTAREA, "textarea", SPECIAL | CHARACTERS) T(TFOOT, "tfoot", SPECIAL | TABLE_TAG | TABLE_PART)                  \
    T(TH, "th", SPECIAL | SCOPING | BLOCK | TABLE_TAG) T(THEAD, "thead", SPECIAL | TABLE_TAG | TABLE_PART)             \
    T(TITLE, "title", SPECIAL | CHARACTERS | OF_HEAD | UNSEEN)                                                         \
    T(TR, "tr", SPECIAL | TABLE_TAG | TABLE_PART) T(TRACK, "track", SPECIAL | EMPTY) T(TT, "tt", FORMATTING)           \
    T(U, "u", FORMATTING) T(UL, "ul", SECTION) T(WBR, "wbr", SPECIAL | EMPTY) T(XMP, "xmp", LEFT)

#define AS_NUMBER(C, name, rules) TAG_##C,
enum { TAG_NONE, ALL_TAGS(AS_NUMBER) TAGS };
#define AS_NAME(C, name, rules) name,
static const char *const TAG_NAMES[] = {"", ALL_TAGS(AS_NAME)};
#define AS_RULES(C, name, rules) rules,
static const int RULES[] = {0, ALL_TAGS(AS_RULES)};

enum { LONGEST_TAG = 15, TAG_SLOTS = 1024 };

static byte TAG_INDEX[TAG_SLOTS];

static inline unsigned tag_slot(const byte *name, size_t count)
{
    unsigned hash = (unsigned)count;
    for (size_t at = 0; at < count; at++)
        hash = hash * 33 + lower(name[at]);
    return (hash ^ hash >> 10) & (TAG_SLOTS - 1);
}

static void fill_tags(void)
{
    memset(TAG_INDEX, 0, sizeof TAG_INDEX);
    for (int tag = 1; tag < TAGS; tag++) {
        unsigned slot = tag_slot((const byte *)TAG_NAMES[tag], strlen(TAG_NAMES[tag]));
        while (TAG_INDEX[slot])
            slot = (slot + 1) & (TAG_SLOTS - 1);
        TAG_INDEX[slot] = (byte)tag;
    }
}

/* The tag of a name; TAG_NONE for one that HTML does not know. */
static int tag_of(const byte *name, size_t count)
{
    if (count > LONGEST_TAG)
        return TAG_NONE;
    for (unsigned slot = tag_slot(name, count); TAG_INDEX[slot]; slot = (slot + 1) & (TAG_SLOTS - 1))
        if (named(name, count, TAG_NAMES[TAG_INDEX[slot]]))
            return TAG_INDEX[slot];
    return TAG_NONE;
}

#endif
