/* SPDX-License-Identifier: MIT */
#include "ddi/routine.h"

#include <stddef.h>
#include <string.h>

#include "ddi/ddi.h"
#include "ddi/state.h"
#include "util/array.h"
#include "verify/verify.h"

uintptr_t ddi_routine(const struct ddi_adapter *adapter, const char *entry)
{
#define ENTRY(NAME) {#NAME, offsetof(DRIVER_INITIALIZATION_DATA, NAME)},
    static const struct {
        const char *name;
        size_t offset;
    } members[] = {
#include "ddi/ddi_table.inc"
    };
#undef ENTRY
    uintptr_t routine = 0;

    if (strcmp(entry, "DxgkDdiPresentDisplayOnly") == 0)
        return (uintptr_t)adapter->present_display_only;
    for (size_t i = 0; i < ARRAY_COUNT(members); i++)
        if (strcmp(entry, members[i].name) == 0)
            memcpy(&routine, (const char *)&adapter->table + members[i].offset, sizeof(routine));
    return routine;
}

void ddi_blame(const struct ddi_adapter *adapter, const char *entry)
{
    struct ddi_state *state = ddi_state();
    uintptr_t routine = adapter ? ddi_routine(adapter, entry) : 0;

    if (state && routine && state->hooks.frame &&
        state->hooks.frame(routine, false, state->blamed, sizeof(state->blamed)))
        verify_set_stack(state->blamed);
}
