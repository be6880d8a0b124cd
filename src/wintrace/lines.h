/* SPDX-License-Identifier: MIT */
/* Lines of a text that comes piece by piece, in UTF-8 or UTF-16 with or without a mark at its
 * begin. Lines are given as UTF-8. What is kept is one line. */
#ifndef DXGK_WINTRACE_LINES_H
#define DXGK_WINTRACE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_BYTES ((size_t)1 << 20)

enum text_encoding { TEXT_UTF8, TEXT_UTF16_LITTLE, TEXT_UTF16_BIG };

struct lines {
    enum text_encoding encoding;
    unsigned mark;      /* bytes of the mark that are still to come */
    uint8_t pending[2]; /* of a character that is not whole */
    unsigned pending_bytes;
    uint32_t high;   /* first half of a pair of UTF-16; 0: none */
    char *line;      /* LINE_BYTES and a zero */
    size_t length;   /* without the zero */
    uint64_t number; /* of the line, from 1 */
    bool whole;      /* the line is; the next bytes begin another */
    bool too_long;   /* it has no end within LINE_BYTES */
};

/* The text begins with those bytes, which are taken like the others. False: out of memory. */
bool lines_init(struct lines *lines, const uint8_t *first, size_t length);
void lines_finish(struct lines *lines);
/* Take bytes, at most up to the end of a line: how many were taken. */
size_t lines_take(struct lines *lines, const uint8_t *bytes, size_t length);
/* At the end of the text: whether there is a last line, without an end of its own. */
bool lines_rest(struct lines *lines);

/* What a text is written in, from its first bytes; *mark: the bytes of the mark. */
enum text_encoding lines_encoding(const uint8_t *bytes, size_t length, unsigned *mark);
/* Whether a text begins with these letters, after a mark and white space. */
bool lines_begin_with(const uint8_t *bytes, size_t length, const char *letters);

#endif
