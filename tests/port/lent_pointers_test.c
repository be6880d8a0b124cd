/* SPDX-License-Identifier: MIT */
/* Pointers by which a started adapter's driver is lent the memory of a client's call, and which it changes. */
#include "port/support/context_calls.h"

#define G (&context_rig.gpu)

enum { COUNT = 3 };

static uint64_t lent[COUNT];

/* After the probe has answered: whatever the host does next must not follow these. */
static void change_pointers(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATEALLOCATION *args = (DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < COUNT; i++)
        *(uint64_t *)args->pAllocationInfo[i].pPrivateDriverData += 0x1000 * (i + 1);
    args->pAllocationInfo[1].pPrivateDriverData = &lent[0];
    args->pAllocationInfo++;
}

TEST_WITH(context_driver, pointers_that_a_driver_changes_are_not_followed)
{
    D3DKMT_CREATEALLOCATION create;
    D3DDDI_ALLOCATIONINFO2 info[COUNT];
    uint64_t data[COUNT] = {4096, 8192, 12288};

    CHECK(NT_SUCCESS(probe_gpu_begin(G)));
    memset(info, 0, sizeof(info));
    memset(&create, 0, sizeof(create));
    for (UINT i = 0; i < COUNT; i++) {
        info[i].pPrivateDriverData = &data[i];
        info[i].PrivateDriverDataSize = sizeof(data[i]);
    }
    create.hDevice = G->device;
    create.NumAllocations = COUNT;
    create.pAllocationInfo2 = info;
    lent[0] = 0x7777;
    p->after[PROBE_CreateAllocation] = change_pointers;
    CHECK(NT_SUCCESS(D3DKMTCreateAllocation2(&create)));
    p->after[PROBE_CreateAllocation] = NULL;
    CHECK_RULE("LIFE-192/a", probe_rule(p, "LIFE-192") == 2 &&
                                 probe_said(p, "LIFE-192", "pAllocationInfo") &&
                                 probe_record(p, "LIFE-192")->severity == VERIFY_WARNING);
    for (UINT i = 0; i < COUNT; i++)
        CHECK_RULE("LIFE-192/b", data[i] == 4096 * (i + 1) + 0x1000 * (i + 1) &&
                                     info[i].pPrivateDriverData == &data[i] && info[i].hAllocation);
    CHECK(NT_SUCCESS(probe_gpu_end(G)));
}
