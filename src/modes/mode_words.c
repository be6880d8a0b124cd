/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "modes/mode_words.h"
#include "modes/mode_check.h"
#include "verify/refusal.h"

#define MOST 12u /* that are named */

/* A list in words, without what it has already. */
struct words {
    char item[MOST][24];
    unsigned items, more;
    char text[MOST * 26 + 32];
};

__attribute__((format(printf, 2, 3))) static void add(struct words *words, const char *format, ...)
{
    char item[sizeof(words->item[0])];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(item, sizeof(item), format, arguments);
    va_end(arguments);
    for (unsigned i = 0; i < words->items; i++)
        if (strcmp(words->item[i], item) == 0)
            return;
    if (words->items == MOST)
        words->more++;
    else
        memcpy(words->item[words->items++], item, sizeof(item));
}

static const char *list(struct words *words)
{
    size_t at = 0;

    for (unsigned i = 0; i < words->items; i++)
        at += (size_t)snprintf(words->text + at, sizeof(words->text) - at, "%s%s",
                               i == 0                                      ? ""
                               : i + 1 == words->items && words->more == 0 ? " and "
                                                                           : ", ",
                               words->item[i]);
    if (words->more)
        (void)snprintf(words->text + at, sizeof(words->text) - at, " and %u more", words->more);
    return words->items ? words->text : "none";
}

NTSTATUS modes_refuse_size(const struct mode_set *set, const D3DKMDT_2DREGION *wish)
{
    struct words words = {.items = 0};

    for (UINT i = 0; i < set->count; i++) {
        const D3DKMDT_2DREGION *size = &set->mode[i].source.Format.Graphics.PrimSurfSize;

        if (set->mode[i].source.Type == D3DKMDT_RMT_GRAPHICS)
            add(&words, "%u x %u", size->cx, size->cy);
    }
    return refuse(STATUS_INVALID_PARAMETER, "VIDPN-204",
                  "source %u has no mode of %u x %u; those of its driver are %s", set->owner,
                  wish->cx, wish->cy, list(&words));
}

static double hertz(const D3DDDI_RATIONAL *f)
{
    return f->Denominator ? (double)f->Numerator / f->Denominator : 0;
}

NTSTATUS modes_refuse_rate(const struct mode_set *set, const D3DDDI_RATIONAL *wish)
{
    struct words words = {.items = 0};

    for (UINT i = 0; i < set->count; i++) {
        const D3DDDI_RATIONAL *rate = &set->mode[i].target.VideoSignalInfo.VSyncFreq;

        if (mode_frequency_given(rate))
            add(&words, "%.5g Hz", hertz(rate));
        else
            add(&words, "60 Hz");
    }
    return refuse(STATUS_INVALID_PARAMETER, "VIDPN-204",
                  "target 0x%x has no mode of %.5g Hz; those of its driver have %s", set->owner,
                  hertz(wish), list(&words));
}
