/* SPDX-License-Identifier: MIT */
/*
 * An event whose fields are texts. They are put together in the order of its kind into a payload as
 * a provider would have written it, which is then decoded like any other: so the same event gives
 * the same numbers from every form of trace.
 */
#ifndef DXGK_WINTRACE_TEXT_EVENT_H
#define DXGK_WINTRACE_TEXT_EVENT_H

#include "wintrace/decode.h"
#include "wintrace/wintrace.h"

#define TEXT_EVENT_BYTES   65536u /* as many as Windows lets an event have */
#define TEXT_EVENT_FIELDS  64u    /* that kinds have at most */
#define TEXT_POINTER_BYTES 8u

/* Text that is part of something larger. */
struct text {
    const char *at;
    size_t length;
};

struct text_event {
    struct wintrace_event head; /* set by the reader but for its kind */
    unsigned field;             /* the next one */
    uint64_t value[TEXT_EVENT_FIELDS];
    uint8_t payload[TEXT_EVENT_BYTES];
    size_t bytes;
};

void text_event_begin(struct text_event *event, const struct wintrace_kind *kind);
/* The elements that the next field has, as fields before it say; 1 unless it is an array. */
uint64_t text_event_elements(const struct text_event *event);
/* An element of the next field. False: the text is no value of its type, or there is no room. */
bool text_event_put(struct text_event *event, struct text text);
/* All elements of the next field, an array, from one text: numbers between brackets and separators.
 * False, and none is put: also if there are not as many as text_event_elements says. */
bool text_event_put_list(struct text_event *event, struct text text);
/* The next field is whole. */
void text_event_next(struct text_event *event);
/* Add it to the trace, with all of its fields put. */
enum decode_result text_event_end(const struct text_event *event, struct wintrace *trace);

/* Helpers for what is around events. */
struct text text_of(const char *terminated);
struct text text_trim(struct text text);
bool text_is(struct text text, const char *other); /* ignoring the case of letters */
bool text_begins(struct text text, const char *other);
/* Decimal, with or without a sign, or hexadecimal after 0x. False: it is neither, or has more than
 * 64 bits. */
bool text_number(struct text text, uint64_t *value);
/* Whether a column or element is called like a field, but for dots, which stand between a structure
 * and its member, and for what follows a bracket, which is the length of an array. */
bool text_names_field(struct text name, const char *field);
/* Whether it is the name or the GUID of Microsoft-Windows-DxgKrnl. */
bool text_is_dxgkrnl(struct text text);

#endif
