/* SPDX-License-Identifier: MIT */
/* A form of traces that is text, read piece by piece: what is kept is bounded, however long the
 * file is. */
#ifndef DXGK_WINTRACE_FORM_H
#define DXGK_WINTRACE_FORM_H

#include "wintrace/wintrace.h"

/* Why reading failed, in one sentence without the name of the file. */
struct form_error {
    char text[256];
};

struct wintrace_form {
    /* Whether a file that begins with these bytes is of the form. */
    bool (*is)(const uint8_t *bytes, size_t length);
    /* A reader into an empty trace, of a file that begins with these bytes. NULL: out of memory. */
    void *(*begin)(struct wintrace *trace, const uint8_t *first, size_t length,
                   struct form_error *error);
    /* The bytes of the file, from the first one on, and its end, after which the events are in
     * order. False: *error says why. */
    bool (*feed)(void *reader, const uint8_t *bytes, size_t length);
    bool (*end)(void *reader);
    void (*destroy)(void *reader);
};

extern const struct wintrace_form wintrace_xml, wintrace_csv, wintrace_dumper;

#endif
