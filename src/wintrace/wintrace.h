/* SPDX-License-Identifier: MIT */
/*
 * Traces that Windows has recorded: the events of its provider Microsoft-Windows-DxgKrnl, read from
 * a file and decoded, in the order of their times. The numbers, names and fields of the events are
 * in events.tsv; those that a driver or a client can see are decoded, and the others counted.
 *
 * Nothing here needs a machine.
 */
#ifndef DXGK_WINTRACE_H
#define DXGK_WINTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wintrace_type {
    WINTRACE_UINT8,
    WINTRACE_UINT16,
    WINTRACE_UINT32,
    WINTRACE_INT32,
    WINTRACE_UINT64,
    WINTRACE_INT64,
    WINTRACE_POINTER,
    WINTRACE_BOOLEAN, /* 4 bytes */
    WINTRACE_STRING,  /* UTF-16 up to a zero */
};

struct wintrace_field {
    const char *name;
    enum wintrace_type type;
    /* of an array: the field before it that has the number of its elements; NULL: a single one */
    const char *count;
};

#define WINTRACE_MOST_FIELDS 64u

/* One version of one event. */
struct wintrace_kind {
    uint16_t id;
    uint8_t version;
    const char *name, *opcode; /* "DmaPacket", "Start"; "": none */
    const struct wintrace_field *field;
    unsigned fields;   /* at most WINTRACE_MOST_FIELDS */
    uint16_t task;     /* number of `name` in the provider; 0: not known */
    uint32_t keywords; /* mask */
};

struct wintrace_event {
    uint64_t time; /* ns since the first one */
    uint32_t process, thread;
    uint16_t processor;
    const struct wintrace_kind *kind;
    size_t values; /* index in wintrace.value */
};

struct wintrace {
    struct wintrace_event *event; /* sorted by time; equal ones in the order of the file */
    size_t events, event_room;
    /* For each event a number for each field: the value, sign extended; of an array and of a string
     * the index here of its length, which the elements follow. */
    uint64_t *value;
    size_t values, value_room;
    unsigned build; /* of Windows; 0: unknown */
    unsigned processors;
    uint64_t lost;       /* events and buffers that the recording lost */
    uint64_t others;     /* events of other providers */
    uint64_t unknown;    /* of DxgKrnl that events.tsv does not have, by number or by version */
    uint64_t undecoded;  /* with fewer bytes than their fields take */
    uint16_t unknown_id; /* one of the unknown; 0: the trace has no numbers */
    uint8_t unknown_version;
};

/* Read a file: one of Event Tracing for Windows (.etl), what `tracerpt -of XML` or `-of CSV` makes
 * of one, or the text of `xperf -a dumper`; its first bytes tell which. NULL: *error says why not,
 * in one line. */
struct wintrace *wintrace_read(const char *path, char *error, size_t error_bytes);
/* The same of bytes in memory; `name` is for errors. */
struct wintrace *wintrace_read_bytes(const void *bytes, size_t length, const char *name,
                                     char *error, size_t error_bytes);
void wintrace_destroy(struct wintrace *trace);

/* NULL: it is not there. */
const struct wintrace_kind *wintrace_kind_find(uint16_t id, uint8_t version);
/* All of them, by number and version, from 0 on. NULL: there are no more. */
const struct wintrace_kind *wintrace_kind_at(size_t index);

/* The field of an event by its name. False: its version has none; *value is 0. */
bool wintrace_get(const struct wintrace *trace, const struct wintrace_event *event,
                  const char *field, uint64_t *value);

#endif
