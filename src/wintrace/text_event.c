/* SPDX-License-Identifier: MIT */
#include "wintrace/text_event.h"

#include <string.h>
#include <strings.h>

/* ---- texts ---- */

struct text text_of(const char *terminated)
{
    return (struct text){terminated, strlen(terminated)};
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct text text_trim(struct text text)
{
    while (text.length && is_space(text.at[0])) {
        text.at++;
        text.length--;
    }
    while (text.length && is_space(text.at[text.length - 1]))
        text.length--;
    return text;
}

bool text_is(struct text text, const char *other)
{
    return text.length == strlen(other) && strncasecmp(text.at, other, text.length) == 0;
}

bool text_begins(struct text text, const char *other)
{
    size_t length = strlen(other);

    return text.length >= length && strncasecmp(text.at, other, length) == 0;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

bool text_number(struct text text, uint64_t *value)
{
    unsigned base = 10;
    bool negative;
    uint64_t sum = 0;

    text = text_trim(text);
    negative = text.length && text.at[0] == '-';
    if (text.length && (text.at[0] == '-' || text.at[0] == '+')) {
        text.at++;
        text.length--;
    }
    if (text_begins(text, "0x")) {
        base = 16;
        text.at += 2;
        text.length -= 2;
    }
    if (text.length == 0)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        unsigned digit = (unsigned)digit_of(text.at[i]);

        if (digit >= base || __builtin_mul_overflow(sum, (uint64_t)base, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)digit, &sum))
            return false;
    }
    if (negative && sum > (uint64_t)1 << 63)
        return false;
    *value = negative ? -sum : sum;
    return true;
}

bool text_is_dxgkrnl(struct text text)
{
    return text_is(text, "Microsoft-Windows-DxgKrnl") ||
           text_is(text, "{802ec45a-1e99-4b83-9920-87c98277ba9d}");
}

bool text_names_field(struct text name, const char *field)
{
    for (size_t i = 0; i < name.length && name.at[i] != '['; i++)
        if (name.at[i] != '.' && name.at[i] != *field++)
            return false;
    return !*field;
}

/* ---- events ---- */

void text_event_begin(struct text_event *event, const struct wintrace_kind *kind)
{
    event->head.kind = kind;
    event->field = 0;
    event->bytes = 0;
    memset(event->value, 0, sizeof(event->value));
}

static const struct wintrace_field *next_of(const struct text_event *event)
{
    return event->field < event->head.kind->fields && event->field < TEXT_EVENT_FIELDS
               ? &event->head.kind->field[event->field]
               : NULL;
}

uint64_t text_event_elements(const struct text_event *event)
{
    const struct wintrace_field *field = next_of(event);

    if (!field || !field->count)
        return 1;
    for (unsigned i = 0; i < event->field; i++)
        if (strcmp(event->head.kind->field[i].name, field->count) == 0)
            return event->value[i];
    return 0;
}

static bool put_bytes(struct text_event *event, const void *from, size_t bytes)
{
    if (bytes > TEXT_EVENT_BYTES - event->bytes)
        return false;
    memcpy(event->payload + event->bytes, from, bytes);
    event->bytes += bytes;
    return true;
}

static bool put_unit(struct text_event *event, uint32_t unit)
{
    uint16_t little = (uint16_t)unit;

    return put_bytes(event, &little, sizeof(little));
}

/* The character that begins at *at, which moves on; what is no UTF-8 is taken byte by byte. */
static uint32_t character(struct text text, size_t *at)
{
    uint8_t first = (uint8_t)text.at[(*at)++];
    unsigned more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
    uint32_t value = first & (0x3Fu >> more);

    if (more == 0 || first >= 0xF8 || text.length - *at < more)
        return first;
    for (unsigned i = 0; i < more; i++) {
        if (((uint8_t)text.at[*at + i] & 0xC0) != 0x80)
            return first;
        value = value << 6 | ((uint8_t)text.at[*at + i] & 0x3Fu);
    }
    *at += more;
    return value > 0x10FFFF ? 0xFFFD : value;
}

static bool put_string(struct text_event *event, struct text text)
{
    for (size_t at = 0; at < text.length;) {
        uint32_t value = character(text, &at);

        if (value == 0)
            break;
        if (value >= 0x10000 && !put_unit(event, 0xD800 + ((value - 0x10000) >> 10)))
            return false;
        if (!put_unit(event, value >= 0x10000 ? 0xDC00 + ((value - 0x10000) & 0x3FF) : value))
            return false;
    }
    return put_unit(event, 0);
}

/* Whether a value, sign extended if it is negative, has no more than so many bytes. */
static bool fits(uint64_t value, unsigned bytes)
{
    return bytes == 8 || value >> (8 * bytes) == 0 ||
           ((int64_t)value < 0 && (int64_t)value >= -((int64_t)1 << (8 * bytes - 1)));
}

bool text_event_put(struct text_event *event, struct text text)
{
    const struct wintrace_field *field = next_of(event);
    unsigned bytes;
    uint64_t value;

    if (!field)
        return false;
    if (field->type == WINTRACE_STRING)
        return put_string(event, text);
    text = text_trim(text);
    bytes = decode_bytes(field->type, TEXT_POINTER_BYTES);
    if (field->type == WINTRACE_BOOLEAN && text_is(text, "true"))
        value = 1;
    else if (field->type == WINTRACE_BOOLEAN && text_is(text, "false"))
        value = 0;
    else if (!text_number(text, &value) || !fits(value, bytes))
        return false;
    event->value[event->field] = value;
    return put_bytes(event, &value, bytes);
}

static bool is_between(char c)
{
    return is_space(c) || c == ',' || c == ';' || c == '[' || c == ']' || c == '{' || c == '}';
}

bool text_event_put_list(struct text_event *event, struct text text)
{
    uint64_t wanted = text_event_elements(event), found = 0;
    size_t bytes = event->bytes;

    for (size_t at = 0; at < text.length;) {
        size_t end = at;

        if (is_between(text.at[at])) {
            at++;
            continue;
        }
        while (end < text.length && !is_between(text.at[end]))
            end++;
        if (found++ == wanted || !text_event_put(event, (struct text){text.at + at, end - at})) {
            event->bytes = bytes;
            return false;
        }
        at = end;
    }
    if (found == wanted)
        return true;
    event->bytes = bytes;
    return false;
}

void text_event_next(struct text_event *event)
{
    event->field++;
}

enum decode_result text_event_end(const struct text_event *event, struct wintrace *trace)
{
    if (event->field < event->head.kind->fields)
        return DECODE_SHORT;
    return decode_event(trace, &event->head, event->payload, event->bytes, TEXT_POINTER_BYTES);
}
