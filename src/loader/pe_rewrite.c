/* SPDX-License-Identifier: MIT */
/* Rewrites instructions of an image that would be slow here, or read the real clock
 * (x64/rewrite/rewrite.h). */
#include "loader/pe.h"
#include "sim/machine.h"
#include "x64/rewrite/locked.h"
#include "x64/rewrite/rewrite.h"
#include "x64/x64.h"

/* Code that the image itself may write to is not rewritten: it may read its own bytes. */
static bool can_rewrite(const struct pe_section *section)
{
    return section->flags & PE_SECTION_EXECUTE && !(section->flags & PE_SECTION_WRITE) &&
           section->memory_bytes > 0;
}

NTSTATUS pe_rewrite(const struct pe_image *image, const struct pe_file *file)
{
    struct x64_rewriting counts = {0};

    if (!x64_is_created()) /* without x64, the rewritten code would find no level to read */
        return STATUS_SUCCESS;
    for (uint32_t i = 0; i < file->sections; i++) {
        const struct pe_section *s = &file->section[i];

        struct x64_locked locked = {.at = NULL};
        bool done;

        if (!can_rewrite(s))
            continue;
        if (sim_current->races)
            x64_locked_find(&locked, &image->table, s->address, s->address + s->memory_bytes);
        done = x64_rewrite(&image->table, s->address, s->address + s->memory_bytes, &counts);
        x64_locked_replace(&locked, &image->table);
        if (!done)
            return STATUS_NO_MEMORY;
    }
    return STATUS_SUCCESS;
}
