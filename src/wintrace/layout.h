/* SPDX-License-Identifier: MIT */
/*
 * The payload of an event field by field, as the provider packs it on a 64-bit system: for packing
 * the values of an event that is recorded, and for taking them apart where they are written as
 * text.
 */
#ifndef DXGK_WINTRACE_LAYOUT_H
#define DXGK_WINTRACE_LAYOUT_H

#include <stdint.h>

#include "wintrace/wintrace.h"

/* Bytes of a value, of a character of a string. */
static inline unsigned layout_bytes(enum wintrace_type type)
{
    switch (type) {
    case WINTRACE_UINT8:
        return 1;
    case WINTRACE_UINT16:
    case WINTRACE_STRING:
        return 2;
    case WINTRACE_UINT32:
    case WINTRACE_INT32:
    case WINTRACE_BOOLEAN:
        return 4;
    default:
        return 8;
    }
}

/* A walk over the values of a payload that was packed by sink.c. */
struct layout {
    const struct wintrace_kind *kind;
    const uint8_t *at;
    unsigned field;                       /* the one of the next value */
    uint64_t next;                        /* its number in the field */
    uint64_t first[WINTRACE_MOST_FIELDS]; /* of each field so far: its value, or its first one */
    /* the value: of this field, the n-th of it; a string ends with a 0 */
    const char *name;
    enum wintrace_type type;
    uint64_t element, value; /* sign extended */
};

struct layout layout_of(const struct wintrace_kind *kind, const uint8_t *payload);
/* False: there was none. */
bool layout_next(struct layout *layout);
/* How many values a field has, which is no string, by the fields before it. */
uint64_t layout_count(const struct wintrace_kind *kind, unsigned field, const uint64_t *first);

#endif
