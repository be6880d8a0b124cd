/* SPDX-License-Identifier: MIT */
/*
 * Kernel routines by name: for the imports of PE images and for MmGetSystemRoutineAddress. A
 * routine that the configured Windows release lacks is not found, so that a driver's fallback can
 * be tested (NT-159).
 */
#include <stdlib.h>
#include <string.h>

#include <ntifs.h>

#include "nt/routine.h"
#include "nt/base/export.h"
#include "nt/base/items.h"
#include "nt/base/state.h"
#include "nt/io/bios.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ke/raise.h"
#include "nt/rtl/crt.h"
#include "nt/variable.h"

struct routine {
    const char *name;
    const void *address;
    bool pointer; /* the variable points to what Windows exports under the name */
};

#define ROUTINE(NAME)  {#NAME, (const void *)(uintptr_t)NAME, false},
#define VARIABLE(NAME) {#NAME, &NAME, true},
#define VALUE(NAME)    {#NAME, &NAME, false},
static const struct routine routines[] = {
#include "nt/routines.inc"
};
#undef ROUTINE
#undef VARIABLE
#undef VALUE

/* The Windows build that introduced a routine, for routines that drivers cannot always expect. */
static const struct {
    const char *name;
    uint32_t build;
} introduced[] = {
    {"ExAllocatePool2", 19041},
    {"ExAllocatePool3", 19041},
    {"ExFreePool2", 19041},
    {"MmMapIoSpaceEx", 10240},
};

static bool exists_yet(const char *name)
{
    for (size_t i = 0; i < NT_ITEMS(introduced); i++) {
        if (strcmp(introduced[i].name, name) == 0)
            return nt_state()->config.os_build >= introduced[i].build;
    }
    return true;
}

static int compare(const void *name, const void *element)
{
    return strcmp(name, ((const struct routine *)element)->name);
}

/* A driver in a PE image has the pointer in its import table. */
static const void *as_imported(const struct routine *routine)
{
    return routine->pointer ? *(void *const *)routine->address : routine->address;
}

void *nt_routine_find(const char *name)
{
    void *(*above)(const char *) = nt_state()->config.find;
    void *found = above ? above(name) : NULL;
    const struct routine *routine = bsearch(name, routines, NT_ITEMS(routines), sizeof(routines[0]),
                                            compare);

    if (found)
        return found;
    if (routine)
        return exists_yet(name) ? (void *)(uintptr_t)as_imported(routine) : NULL;
    found = nt_crt_find(name);
    return found ? found : nt_variable_find(name);
}

NT_EXPORT PVOID NTAPI MmGetSystemRoutineAddress(PUNICODE_STRING SystemRoutineName)
{
    char name[128];
    size_t length;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-159", NT_NO_CODE, __func__) || !SystemRoutineName)
        return NULL;
    length = SystemRoutineName->Length / sizeof(WCHAR);
    if (length >= sizeof(name))
        return NULL;
    for (size_t i = 0; i < length; i++)
        name[i] = SystemRoutineName->Buffer[i] < 0x80 ? (char)SystemRoutineName->Buffer[i] : '?';
    name[length] = '\0';
    return nt_routine_find(name);
}
