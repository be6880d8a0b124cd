/* SPDX-License-Identifier: MIT */
/* What crosses into the driver by address is a copy: nothing that a driver does to it reaches the
 * host, except what the table of entries lets come back. */
#include "ddi/support/catalogue.h"

#include <string.h>

#include "ddi/entry.h"

static DXGKARG_PATCH *kept_patch;
static DXGKARG_RESETENGINE *kept_reset;

static void scribble(struct probe *p, struct probe_call *call)
{
    (void)p;
    kept_patch = (void *)(uintptr_t)call->arg[1];
    memset(kept_patch, 0xA5, sizeof(*kept_patch));
    call->answered = true;
}

static void answer_fence(struct probe *p, struct probe_call *call)
{
    (void)p;
    kept_reset = (void *)(uintptr_t)call->arg[1];
    kept_reset->LastAbortedFenceId = 17;
    call->answered = true;
}

static void body(struct probe *p)
{
    struct ddi_adapter *door = port_adapter_ddi(p->adapter[0]);
    DXGKARG_PATCH patch = {.SubmissionFenceId = 4};
    const DXGKARG_PATCH before = patch;
    DXGKARG_RESETENGINE reset = {.NodeOrdinal = 3};

    p->before[PROBE_Patch] = scribble;
    CHECK(NT_SUCCESS(ddi_patch(door, &patch)));
    CHECK(kept_patch && kept_patch != &patch && memcmp(&patch, &before, sizeof(patch)) == 0);

    p->before[PROBE_ResetEngine] = answer_fence;
    CHECK(NT_SUCCESS(ddi_reset_engine(door, &reset)));
    CHECK(reset.LastAbortedFenceId == 17 && reset.NodeOrdinal == 3 && kept_reset != &reset);
}

TEST(structures_cross_as_copies)
{
    struct probe *p = probe_create(NULL);

    CHECK(NT_SUCCESS(probe_start(p)));
    catalogue_provide(p);
    CHECK(probe_run(p, body) == SIM_DONE);
    probe_destroy(p);
}

TEST(the_table_has_the_size_and_the_way)
{
    CHECK(ddi_entry_info(DDI_DxgkDdiPatch)->bytes == sizeof(DXGKARG_PATCH));
    CHECK(ddi_entry_info(DDI_DxgkDdiPatch)->way == DDI_WAY_IN);
    CHECK(ddi_entry_info(DDI_DxgkDdiRender)->bytes == sizeof(DXGKARG_RENDER));
    CHECK(ddi_entry_info(DDI_DxgkDdiRender)->way == DDI_WAY_BOTH);
    CHECK(ddi_entry_info(DDI_DxgkDdiStopDevice)->bytes == 0);
    CHECK(ddi_entry_info(DDI_DxgkDdiStopDevice)->way == DDI_WAY_NONE);
}
