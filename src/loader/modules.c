/* SPDX-License-Identifier: MIT */
/*
 * The modules of the system that PE images import from, as far as the host stands for them. Which of the kernel's modules
 * holds a routine has changed over the years (ntoskrnl.exe, hal.dll, the names of API sets), so each offers all of them.
 */
#include <string.h>
#include <strings.h>

#include "loader/pe.h"
#include "nt/nt.h"
#include "x64/runtime.h"

#define ITEMS(array) (sizeof(array) / sizeof((array)[0]))

static bool is_kernel(const char *module)
{
    static const char *const name[] = {"ntoskrnl.exe", "ntkrnlmp.exe", "ntkrnlpa.exe", "hal.dll"};
    static const char *const set[] = {"ext-ms-win-ntos-", "api-ms-win-core-", "ext-ms-win-hal-"};

    for (size_t i = 0; i < ITEMS(name); i++)
        if (strcasecmp(module, name[i]) == 0)
            return true;
    for (size_t i = 0; i < ITEMS(set); i++)
        if (strncasecmp(module, set[i], strlen(set[i])) == 0)
            return true;
    return false;
}

void *loader_module_find(const char *module, const char *name)
{
    void *routine;

    if (!name)
        return NULL; /* none of them promises what its ordinals mean */
    if (!is_kernel(module))
        return NULL;
    routine = nt_routine_find(name);
    return routine ? routine : x64_runtime_find(name);
}
