/* SPDX-License-Identifier: MIT */
/*
 * A trace from a file of any of the forms that are known. An .etl is needed as a whole; the forms
 * that are text are read in pieces, since they are ten times as large.
 */
#include "util/alloc.h"
#include "util/array.h"
#include "wintrace/etl.h"
#include "wintrace/form.h"
#include "wintrace/wintrace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MOST_BYTES ((size_t)4 << 30)
#define PIECE      ((size_t)1 << 16)

#define IT_IS_NONE \
    "it is no trace of Event Tracing for Windows (.etl, or what tracerpt or xperf make of one)"

static const struct wintrace_form *const forms[] = {&wintrace_xml, &wintrace_csv, &wintrace_dumper};

/* ---- whole files ---- */

static struct wintrace *fail(const char *name, const char *why, char *error, size_t error_bytes)
{
    snprintf(error, error_bytes, "%s: %s", name, why);
    return NULL;
}

static struct wintrace *read_etl(const void *bytes, size_t length, const char *name, char *error,
                                 size_t error_bytes)
{
    struct wintrace *trace;
    char why[128];

    if (!etl_is(bytes, length))
        return fail(name, IT_IS_NONE, error, error_bytes);
    trace = util_zalloc(1, sizeof(*trace));
    if (!trace)
        return fail(name, "out of memory", error, error_bytes);
    if (etl_read(trace, bytes, length, why, sizeof(why)))
        return trace;
    wintrace_destroy(trace);
    return fail(name, why, error, error_bytes);
}

/* ---- texts ---- */

/* NULL: it is none of them. */
static const struct wintrace_form *form_of(const uint8_t *first, size_t length)
{
    for (size_t i = 0; i < ARRAY_COUNT(forms); i++)
        if (forms[i]->is(first, length))
            return forms[i];
    return NULL;
}

/* What is left of a file after its first piece; no file: nothing. */
static bool feed_rest(const struct wintrace_form *form, void *reader, FILE *file,
                      struct form_error *why)
{
    uint8_t *piece = file ? util_alloc(PIECE) : NULL;
    bool good = !file || piece;

    if (!good)
        snprintf(why->text, sizeof(why->text), "out of memory");
    while (good && file && !feof(file)) {
        size_t length = fread(piece, 1, PIECE, file);

        if (ferror(file)) {
            snprintf(why->text, sizeof(why->text), "%s", strerror(errno));
            good = false;
        } else {
            good = form->feed(reader, piece, length);
        }
    }
    util_free(piece);
    return good;
}

static struct wintrace *read_text(const struct wintrace_form *form, const uint8_t *first,
                                  size_t length, FILE *file, const char *name, char *error,
                                  size_t error_bytes)
{
    struct wintrace *trace = util_zalloc(1, sizeof(*trace));
    struct form_error why = {"out of memory"};
    void *reader = trace ? form->begin(trace, first, length, &why) : NULL;
    bool good = reader && form->feed(reader, first, length) &&
                feed_rest(form, reader, file, &why) && form->end(reader);

    if (reader)
        form->destroy(reader);
    if (good)
        return trace;
    wintrace_destroy(trace);
    return fail(name, why.text, error, error_bytes);
}

/* ---- files ---- */

struct wintrace *wintrace_read_bytes(const void *bytes, size_t length, const char *name,
                                     char *error, size_t error_bytes)
{
    const struct wintrace_form *form = form_of(bytes, length);

    return form ? read_text(form, bytes, length, NULL, name, error, error_bytes)
                : read_etl(bytes, length, name, error, error_bytes);
}

/* All bytes of a file that begins with those, to be freed. NULL: *error says why. */
static void *bytes_of(const uint8_t *first, size_t first_length, FILE *file, const char *path,
                      size_t *length, char *error, size_t error_bytes)
{
    size_t capacity = (size_t)1 << 20;
    uint8_t *bytes = util_alloc(capacity);

    *length = first_length;
    if (bytes)
        memcpy(bytes, first, first_length);
    while (bytes && !feof(file) && !ferror(file)) {
        if (*length == capacity) {
            uint8_t *grown = capacity < MOST_BYTES ? util_realloc(bytes, capacity * 2) : NULL;

            if (!grown)
                util_free(bytes);
            bytes = grown;
            capacity *= 2;
        }
        if (bytes)
            *length += fread(bytes + *length, 1, capacity - *length, file);
    }
    if (!bytes) {
        snprintf(error, error_bytes, "%s: out of memory", path);
    } else if (ferror(file)) {
        snprintf(error, error_bytes, "%s: %s", path, strerror(errno));
        util_free(bytes);
        bytes = NULL;
    }
    return bytes;
}

static struct wintrace *read_file(FILE *file, uint8_t *first, const char *path, char *error,
                                  size_t error_bytes)
{
    size_t length = fread(first, 1, PIECE, file), all;
    const struct wintrace_form *form;
    struct wintrace *trace;
    void *bytes;

    if (ferror(file))
        return fail(path, strerror(errno), error, error_bytes);
    form = form_of(first, length);
    if (form)
        return read_text(form, first, length, file, path, error, error_bytes);
    bytes = bytes_of(first, length, file, path, &all, error, error_bytes);
    trace = bytes ? read_etl(bytes, all, path, error, error_bytes) : NULL;
    util_free(bytes);
    return trace;
}

struct wintrace *wintrace_read(const char *path, char *error, size_t error_bytes)
{
    FILE *file = fopen(path, "rb");
    struct wintrace *trace;
    uint8_t *first;

    if (!file)
        return fail(path, strerror(errno), error, error_bytes);
    first = util_alloc(PIECE);
    trace = first ? read_file(file, first, path, error, error_bytes)
                  : fail(path, "out of memory", error, error_bytes);
    util_free(first);
    fclose(file);
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
