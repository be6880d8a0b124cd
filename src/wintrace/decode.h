/* SPDX-License-Identifier: MIT */
/* Events of a trace that is being read. */
#ifndef DXGK_WINTRACE_DECODE_H
#define DXGK_WINTRACE_DECODE_H

#include "wintrace/wintrace.h"

enum decode_result { DECODE_DONE, DECODE_SHORT, DECODE_NO_MEMORY };

/* Add an event; its kind, time, processor, process and thread are those of `head`. Payloads are
 * packed; `pointer_bytes` is 4 or 8. On DECODE_SHORT, which is said of a payload with fewer bytes
 * than its fields take, nothing is added. */
enum decode_result decode_event(struct wintrace *trace, const struct wintrace_event *head,
                                const uint8_t *payload, size_t length, unsigned pointer_bytes);

/* The bytes of one element in a payload. */
unsigned decode_bytes(enum wintrace_type type, unsigned pointer_bytes);

#endif
