/* SPDX-License-Identifier: MIT */
/* The names of imports by the place where they are called, for reports. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "loader/image.h"
#include "loader/loader.h"
#include "loader/pe.h"
#include "sim/fault.h"
#include "util/list.h"

static uint64_t slot_at(uintptr_t next, const uint8_t *displacement)
{
    uint64_t target = 0;
    int32_t distance;

    memcpy(&distance, displacement, sizeof(distance));
    (void)sim_copy_checked(&target, (const void *)(next + (uintptr_t)(intptr_t)distance),
                           sizeof(target));
    return target;
}

/* The target of a jump through a slot at `at`, as in a procedure linkage table (after endbr64, with
 * or without a bnd prefix) or in an import thunk; 0: there is none. */
static uint64_t thunk_target(uintptr_t at)
{
    static const uint8_t landing[] = {0xF3, 0x0F, 0x1E, 0xFA};
    uint8_t code[16] = {0};
    unsigned i = 0;

    if (!sim_copy_checked(code, (const void *)at, sizeof(code)))
        return 0;
    if (memcmp(code, landing, sizeof(landing)) == 0)
        i = sizeof(landing);
    i += code[i] == 0xF2 || code[i] == 0x48;
    return code[i] == 0xFF && code[i + 1] == 0x25 ? slot_at(at + i + 6, code + i + 2) : 0;
}

/* What the call before `caller` has called; 0: it was through a register. */
static uint64_t target_of(uintptr_t caller)
{
    uint8_t code[6];
    int32_t distance;

    if (!sim_copy_checked(code, (const void *)(caller - sizeof(code)), sizeof(code)))
        return 0;
    if (code[0] == 0xFF && code[1] == 0x15)
        return slot_at(caller, code + 2);
    if (code[1] != 0xE8)
        return 0;
    memcpy(&distance, code + 2, sizeof(distance));
    return thunk_target(caller + (uintptr_t)(intptr_t)distance);
}

static const char *import_at(const struct loader_image *image, uint64_t target)
{
    if (target == 0)
        return NULL;
    for (uint32_t i = 0; image->pe && i < image->pe->imports; i++)
        if ((uintptr_t)image->pe->import[i].target == target)
            return image->pe->import_names + image->pe->import[i].name;
    for (uint32_t i = 0; !image->pe && i < image->imports; i++)
        if ((uintptr_t)dlsym(image->handle, image->import[i]) == target)
            return image->import[i];
    return NULL;
}

bool loader_import_name(uintptr_t caller, uintptr_t routine, char *name, size_t bytes)
{
    const struct loader *loader = loader_current();

    if (!loader)
        return false;
    LIST_FOR(node, &loader->images) {
        const struct loader_image *image = CONTAINER(node, struct loader_image, link);
        const char *found;

        if (!loader_image_contains(image, caller))
            continue;
        found = import_at(image, target_of(caller));
        if (!found)
            found = import_at(image, routine);
        if (found)
            snprintf(name, bytes, "%s", found);
        return found != NULL;
    }
    return false;
}
