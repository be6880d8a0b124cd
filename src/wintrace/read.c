/* SPDX-License-Identifier: MIT */
/* A trace from a file of any of the formats that are known. */
#include "util/alloc.h"
#include "wintrace/etl.h"
#include "wintrace/wintrace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MOST_BYTES ((size_t)4 << 30)

struct wintrace *wintrace_read_bytes(const void *bytes, size_t length, const char *name,
                                     char *error, size_t error_bytes)
{
    struct wintrace *trace = util_zalloc(1, sizeof(*trace));
    char why[128] = "it is no trace of Event Tracing for Windows (.etl)";

    if (!trace) {
        snprintf(error, error_bytes, "%s: out of memory", name);
        return NULL;
    }
    if (etl_is(bytes, length) && etl_read(trace, bytes, length, why, sizeof(why)))
        return trace;
    snprintf(error, error_bytes, "%s: %s", name, why);
    wintrace_destroy(trace);
    return NULL;
}

/* All bytes of the file, to be freed. NULL: *error says why. */
static void *bytes_of(const char *path, size_t *length, char *error, size_t error_bytes)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    size_t capacity = 0;

    if (!file) {
        snprintf(error, error_bytes, "%s: %s", path, strerror(errno));
        return NULL;
    }
    for (*length = 0; !feof(file) && !ferror(file);) {
        if (*length == capacity) {
            uint8_t *grown = util_realloc(bytes, capacity ? capacity * 2 : (size_t)1 << 20);

            if (!grown || capacity >= MOST_BYTES) {
                snprintf(error, error_bytes, "%s: out of memory", path);
                util_free(grown ? grown : bytes);
                fclose(file);
                return NULL;
            }
            bytes = grown;
            capacity = capacity ? capacity * 2 : (size_t)1 << 20;
        }
        *length += fread(bytes + *length, 1, capacity - *length, file);
    }
    if (ferror(file)) {
        snprintf(error, error_bytes, "%s: %s", path, strerror(errno));
        util_free(bytes);
        bytes = NULL;
    }
    fclose(file);
    return bytes;
}

struct wintrace *wintrace_read(const char *path, char *error, size_t error_bytes)
{
    size_t length;
    void *bytes = bytes_of(path, &length, error, error_bytes);
    struct wintrace *trace;

    if (!bytes)
        return NULL;
    trace = wintrace_read_bytes(bytes, length, path, error, error_bytes);
    util_free(bytes);
    return trace;
}

void wintrace_destroy(struct wintrace *trace)
{
    if (!trace)
        return;
    util_free(trace->event);
    util_free(trace->value);
    util_free(trace);
}
