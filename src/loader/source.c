/* SPDX-License-Identifier: MIT */
#include "loader/source.h"

#include <stdio.h>
#include <string.h>

#include "loader/image.h"
#include "loader/pe.h"

#define ALIGNMENT 16u /* of leaf functions, */
#define LONGEST   64u /* which are looked for over so many of it */

static bool ask(const struct loader_image *image, uint64_t offset, struct loader_place *place)
{
    place->function[0] = place->inlined[0] = place->line[0] = '\0';
    if (!image->source || !image->path)
        return false;
    image->source(image->source_context, image->path, offset, place);
    return place->function[0] || place->line[0];
}

/* Nobody tells where it begins: the exception directory does, but for leaves. */
static uint64_t begin_of(const struct loader_image *image, uint64_t offset, const char *function)
{
    const struct x64_function *entry = x64_function_find(&image->pe->table, image->base + offset);
    uint64_t at = offset - offset % ALIGNMENT;
    struct loader_place place;

    if (entry)
        return entry->begin;
    for (unsigned i = 0; i < LONGEST && at >= ALIGNMENT; i++, at -= ALIGNMENT)
        if (!ask(image, at - 1, &place) || strcmp(place.function, function) != 0)
            break;
    return at;
}

bool loader_source_name(const struct loader_image *image, uint64_t offset, char *text, size_t bytes)
{
    struct loader_place place;

    if (!ask(image, offset, &place) || !place.function[0])
        return false;
    snprintf(text, bytes, "%s!%s+0x%llx", image->name, place.function,
             (unsigned long long)(offset - begin_of(image, offset, place.function)));
    return true;
}

static bool copy(const char *from, char *text, size_t bytes)
{
    snprintf(text, bytes, "%s", from);
    return from[0] != '\0';
}

bool loader_source_line_of(const struct loader_image *image, uint64_t offset, char *text,
                           size_t bytes)
{
    struct loader_place place;

    return ask(image, offset, &place) && copy(place.line, text, bytes);
}

bool loader_source_inlined(const struct loader_image *image, uint64_t offset, char *text,
                           size_t bytes)
{
    struct loader_place place;

    return ask(image, offset, &place) && copy(place.inlined, text, bytes);
}
