/* SPDX-License-Identifier: MIT */
/* Names of places in drivers. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "nt/base/caller.h"
#include "nt/base/state.h"
#include "sim/machine.h"
#include "sim/stack.h"

#define DEPTH 48u /* the most return addresses that are examined */

void nt_caller_name(const void *caller, char *name, size_t bytes)
{
    const struct nt *nt = nt_state();
    const char *file;
    Dl_info info;

    if (caller && nt->config.symbolize && nt->config.symbolize((uintptr_t)caller, name, bytes))
        return;
    if (!caller || !dladdr(caller, &info) || !info.dli_fname) {
        snprintf(name, bytes, "an unknown place");
        return;
    }
    file = strrchr(info.dli_fname, '/');
    if (info.dli_sname && info.dli_saddr) {
        snprintf(name, bytes, "%s!%s+%#llx", file ? file + 1 : info.dli_fname, info.dli_sname,
                 (unsigned long long)((uintptr_t)caller - (uintptr_t)info.dli_saddr));
        return;
    }
    snprintf(name, bytes, "%s+%#llx", file ? file + 1 : info.dli_fname,
             (unsigned long long)((uintptr_t)caller - (uintptr_t)info.dli_fbase));
}

bool nt_caller_in_driver(uintptr_t pc, char *text, size_t bytes)
{
    const struct nt_config *config = &nt_state()->config;

    return config->symbolize && config->symbolize(pc, text, bytes);
}

bool nt_caller_stack(const uintptr_t *pc, size_t most, char *text, size_t bytes)
{
    const struct nt_config *config = &nt_state()->config;
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < most && pc[i] && config->frame; i++) {
        char line[384];
        int length;

        if (!config->frame(pc[i], true, line, sizeof(line)))
            continue;
        length = snprintf(text + used, bytes - used, "%s%s", used ? "\n" : "", line);
        if (length < 0 || (size_t)length >= bytes - used) {
            text[used] = '\0';
            break;
        }
        used += (size_t)length;
    }
    return used > 0;
}

bool nt_caller_place(char *text, size_t bytes)
{
    uintptr_t pc[DEPTH];
    size_t count = sim_processor_stack(sim_current->processor, pc, DEPTH);
    char place[96];

    for (size_t i = 0; i < count; i++) {
        if (nt_caller_in_driver(pc[i], place, sizeof(place))) {
            snprintf(text, bytes, "%s", place);
            return true;
        }
    }
    return false;
}
