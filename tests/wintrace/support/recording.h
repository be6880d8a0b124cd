/* SPDX-License-Identifier: MIT */
/* A small trace, as Event Tracing for Windows would have written it, in memory. */
#ifndef DXGK_TESTS_RECORDING_H
#define DXGK_TESTS_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wintrace/wintrace.h"

#define RECORDING_BUFFER     4096u
#define RECORDING_PROCESSORS 2u
#define RECORDING_FREQUENCY  10000000u /* ticks of 100 ns */

struct recording {
    uint8_t bytes[64 * RECORDING_BUFFER];
    size_t length;                       /* whole buffers */
    size_t filled[RECORDING_PROCESSORS]; /* where the buffer of a processor begins; SIZE_MAX: it has none */
    uint64_t now;                        /* ticks, of the next event */
    uint16_t processor;                  /* of the next event */
    unsigned pointer_bytes;              /* 8 or 4, of the system and of its processes */
    uint32_t clock;                      /* 1: the counter; 2: 100 ns; 3: cycles */
    uint32_t lost;
    uint32_t process, thread; /* of the next event */
};

void recording_begin(struct recording *r);
/* An event with the values of its fields in their order; an array takes as many as its count says, a string its characters and
 * a zero. A tick later than the one before. */
void recording_event(struct recording *r, uint16_t id, uint8_t version, const uint64_t *value,
                     size_t values);
#define EVENT(r, id, version, ...)                                   \
    recording_event(r, id, version, (const uint64_t[]){__VA_ARGS__}, \
                    sizeof((const uint64_t[]){__VA_ARGS__}) / 8)
/* Bytes as an event with a header of that type, of the provider or of another one, which has `flags`. */
void recording_raw(struct recording *r, uint8_t type, bool dxgkrnl, uint16_t flags, uint16_t id,
                   uint8_t version, const void *payload, size_t bytes);
/* Read; fails the test if that fails. */
struct wintrace *recording_read(const struct recording *r);

#endif
