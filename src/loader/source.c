/* SPDX-License-Identifier: MIT */
#include "loader/source.h"

#include <stdio.h>
#include <string.h>

#include "loader/image.h"
#include "loader/pe.h"

#define ALIGNMENT 16u /* of leaf functions, */
#define LONGEST   64u /* which are looked for over so many of it */

struct source {
    char function[256];
    char place[512];
};

static bool ask(const struct loader_image *image, uint64_t offset, struct source *source)
{
    source->function[0] = source->place[0] = '\0';
    if (!image->source || !image->path)
        return false;
    image->source(image->source_context, image->path, offset, source->function,
                  sizeof(source->function), source->place, sizeof(source->place));
    return source->function[0] || source->place[0];
}

/* Nobody tells where it begins: the exception directory does, but for leaves. */
static uint64_t begin_of(const struct loader_image *image, uint64_t offset, const char *function)
{
    const struct x64_function *entry = x64_function_find(&image->pe->table, image->base + offset);
    uint64_t at = offset - offset % ALIGNMENT;
    struct source source;

    if (entry)
        return entry->begin;
    for (unsigned i = 0; i < LONGEST && at >= ALIGNMENT; i++, at -= ALIGNMENT)
        if (!ask(image, at - 1, &source) || strcmp(source.function, function) != 0)
            break;
    return at;
}

bool loader_source_name(const struct loader_image *image, uint64_t offset, char *text, size_t bytes)
{
    struct source source;

    if (!ask(image, offset, &source) || !source.function[0])
        return false;
    snprintf(text, bytes, "%s!%s+0x%llx", image->name, source.function,
             (unsigned long long)(offset - begin_of(image, offset, source.function)));
    return true;
}

bool loader_source_place(const struct loader_image *image, uint64_t offset, char *text, size_t bytes)
{
    struct source source;

    if (!ask(image, offset, &source) || !source.place[0])
        return false;
    snprintf(text, bytes, "%s", source.place);
    return true;
}
