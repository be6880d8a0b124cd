/* SPDX-License-Identifier: MIT */
#include "wintrace/lines.h"
#include "util/alloc.h"

#include <string.h>

#define REPLACEMENT 0xFFFDu
#define ROOM        8u /* for what a byte adds */

bool lines_init(struct lines *lines, const uint8_t *first, size_t length)
{
    *lines = (struct lines){.line = util_alloc(LINE_BYTES + 1)};
    lines->encoding = lines_encoding(first, length, &lines->mark);
    return lines->line != NULL;
}

void lines_finish(struct lines *lines)
{
    util_free(lines->line);
}

/* ---- what it is written in ---- */

enum text_encoding lines_encoding(const uint8_t *bytes, size_t length, unsigned *mark)
{
    *mark = 2;
    if (length >= 2 && bytes[0] == 0xFF && bytes[1] == 0xFE)
        return TEXT_UTF16_LITTLE;
    if (length >= 2 && bytes[0] == 0xFE && bytes[1] == 0xFF)
        return TEXT_UTF16_BIG;
    *mark = 0;
    if (length >= 2 && bytes[0] && !bytes[1])
        return TEXT_UTF16_LITTLE;
    if (length >= 2 && !bytes[0] && bytes[1])
        return TEXT_UTF16_BIG;
    if (length >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
        *mark = 3;
    return TEXT_UTF8;
}

bool lines_begin_with(const uint8_t *bytes, size_t length, const char *letters)
{
    unsigned mark, step, low;
    enum text_encoding encoding = lines_encoding(bytes, length, &mark);
    bool inside = false;

    step = encoding == TEXT_UTF8 ? 1 : 2;
    low = encoding == TEXT_UTF16_BIG ? 1 : 0;
    for (size_t at = mark; at + step <= length && *letters; at += step) {
        uint8_t c = bytes[at + low];

        if (step == 2 && bytes[at + 1 - low])
            return false;
        if (!inside && (c == ' ' || c == '\t' || c == '\r' || c == '\n'))
            continue;
        inside = true;
        if (c != (uint8_t)*letters++)
            return false;
    }
    return !*letters;
}

/* ---- characters ---- */

static void append(struct lines *lines, uint32_t c)
{
    char *to = lines->line + lines->length;

    if (c < 0x80) {
        to[0] = (char)(c ? c : ' ');
        lines->length += 1;
    } else if (c < 0x800) {
        to[0] = (char)(0xC0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3F));
        lines->length += 2;
    } else if (c < 0x10000) {
        to[0] = (char)(0xE0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3F));
        to[2] = (char)(0x80 | (c & 0x3F));
        lines->length += 3;
    } else {
        to[0] = (char)(0xF0 | c >> 18);
        to[1] = (char)(0x80 | (c >> 12 & 0x3F));
        to[2] = (char)(0x80 | (c >> 6 & 0x3F));
        to[3] = (char)(0x80 | (c & 0x3F));
        lines->length += 4;
    }
}

/* Halves of pairs that have no other become replacements. */
static void append_unit(struct lines *lines, uint32_t unit)
{
    bool low = unit >= 0xDC00 && unit < 0xE000;

    if (lines->high) {
        append(lines,
               low ? 0x10000 + ((lines->high - 0xD800) << 10) + (unit - 0xDC00) : REPLACEMENT);
        lines->high = 0;
        if (low)
            return;
    }
    if (unit >= 0xD800 && unit < 0xDC00)
        lines->high = unit;
    else
        append(lines, low ? REPLACEMENT : unit);
}

/* Take a byte; true: it ends a line. */
static bool take_byte(struct lines *lines, uint8_t byte)
{
    uint32_t unit;

    if (lines->encoding == TEXT_UTF8) {
        if (byte == '\n')
            return true;
        lines->line[lines->length++] = (char)(byte ? byte : ' ');
        return false;
    }
    lines->pending[lines->pending_bytes++] = byte;
    if (lines->pending_bytes < 2)
        return false;
    lines->pending_bytes = 0;
    unit = lines->encoding == TEXT_UTF16_LITTLE
               ? (uint32_t)(lines->pending[0] | lines->pending[1] << 8)
               : (uint32_t)(lines->pending[1] | lines->pending[0] << 8);
    if (unit == '\n' && !lines->high)
        return true;
    append_unit(lines, unit);
    return false;
}

/* ---- lines ---- */

static void finish_line(struct lines *lines)
{
    while (lines->length && lines->line[lines->length - 1] == '\r')
        lines->length--;
    lines->line[lines->length] = 0;
    lines->whole = true;
}

size_t lines_take(struct lines *lines, const uint8_t *bytes, size_t length)
{
    size_t at = length < lines->mark ? length : lines->mark;

    lines->mark -= (unsigned)at;
    if (lines->whole || lines->number == 0) {
        lines->number++;
        lines->length = 0;
        lines->whole = false;
    }
    while (at < length && !lines->whole && !lines->too_long) {
        if (lines->length + ROOM > LINE_BYTES)
            lines->too_long = true;
        else if (take_byte(lines, bytes[at++]))
            finish_line(lines);
    }
    return at;
}

bool lines_rest(struct lines *lines)
{
    if (lines->whole || lines->length == 0)
        return false;
    finish_line(lines);
    return true;
}
