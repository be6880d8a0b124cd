/* SPDX-License-Identifier: MIT */
/*
 * Kernel variables with a value per machine, which cannot be variables of the process: each machine
 * has a copy, for images that import them by name. The other variables are in the table of
 * routine.c.
 */
#include <string.h>

#include "nt/variable.h"
#include "nt/base/current.h"
#include "nt/base/items.h"
#include "nt/base/state.h"
#include "sim/machine.h"

#define FREE_BUILD 0xF0000000u /* of NtBuildNumber; a checked build has 0xC */

struct nt_variables {
    ULONG build, safe_boot;
    PEPROCESS system;
    CCHAR processors;
};

static bool init(struct nt *nt)
{
    nt->variables->build = FREE_BUILD | nt->config.os_build;
    nt->variables->processors = (CCHAR)sim_current->processors;
    nt->variables->system = (PEPROCESS)(void *)nt_process_system();
    nt->variables->safe_boot = 0;
    return true;
}

const struct nt_component nt_variable_component = {
    .slot = offsetof(struct nt, variables),
    .bytes = sizeof(struct nt_variables),
    .init = init,
};

void *nt_variable_find(const char *name)
{
#define VARIABLE(NAME, MEMBER)                      \
    {                                               \
        NAME, offsetof(struct nt_variables, MEMBER) \
    }
    static const struct {
        const char *name;
        size_t offset;
    } variables[] = {
        VARIABLE("InitSafeBootMode", safe_boot),
        VARIABLE("KeNumberProcessors", processors),
        VARIABLE("NtBuildNumber", build),
        VARIABLE("PsInitialSystemProcess", system),
    };
#undef VARIABLE
    struct nt *nt = nt_state();

    for (size_t i = 0; nt && i < NT_ITEMS(variables); i++)
        if (strcmp(variables[i].name, name) == 0)
            return (char *)nt->variables + variables[i].offset;
    return NULL;
}
