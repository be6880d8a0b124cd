/* SPDX-License-Identifier: MIT */
/* What the calls about allocations check: each flag, each clause, the lists of both ends, and memory that cannot be written. */
#include "host/support/refgpu_client.h"

#include <sys/mman.h>

#include "sim/machine.h"

static const uint8_t constant[4096]; /* memory of the client that cannot be written */

static void *const_memory(void)
{
    return (void *)(uintptr_t)constant;
}

static bool because(const char *rule, const char *part)
{
    struct dxgk_refusal refusal;
    bool so = dxgk_client_last_refusal(&refusal) && strcmp(refusal.rule, rule) == 0 &&
              strstr(refusal.reason, part);

    if (!so)
        printf("    \"%s\" (%s)\n", refusal.reason, refusal.rule);
    return so;
}

/* A request for one allocation. */
struct request {
    struct refgpu_allocation_data data;
    D3DDDI_ALLOCATIONINFO2 info;
    D3DKMT_CREATEALLOCATION args;
};

static void request_init(struct request *r, const struct gpu *g)
{
    memset(r, 0, sizeof(*r));
    r->data.magic = REFGPU_UMD_MAGIC;
    r->data.bytes = 5000;
    r->info.pPrivateDriverData = &r->data;
    r->info.PrivateDriverDataSize = sizeof(r->data);
    r->args.hDevice = g->device;
    r->args.NumAllocations = 1;
    r->args.pAllocationInfo2 = &r->info;
}

static NTSTATUS with_flags(const struct gpu *g, UINT flags)
{
    struct request r;

    request_init(&r, g);
    memcpy(&r.args.Flags, &flags, sizeof(flags));
    return D3DKMTCreateAllocation2(&r.args);
}

#define RESOURCE   0x1u
#define SHARED     0x2u
#define NON_SECURE 0x4u
#define RESTRICT   0x10u
#define SYS_MEM    0x20u
#define NT_SHARING 0x40u
#define CROSS      0x800u
#define ZEROED     0x4000u
#define STANDARD   0x10000u
#define SECTION    0x20000u
#define NOT_ZEROED 0x40000u

TEST_WITH(client, each_flag_of_a_request_has_its_rule)
{
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    for (unsigned bit = 0; bit < 32; bit++) {
        NTSTATUS status = with_flags(&g, 1u << bit);

        if (bit == 3 || bit == 8 || bit == 9 || bit == 12 || bit >= 19)
            SHOW(c, "KMT-217", status == STATUS_INVALID_PARAMETER && because("KMT-217", "Flags 0x"));
        else if (bit == 1 || bit == 2 || bit == 4 || bit == 6 || bit == 11)
            TRY(c, status == STATUS_INVALID_PARAMETER && because("ALLOC-018", "Flags 0x"));
        else if (bit == 5 || bit == 16 || bit == 17)
            TRY(c, status == STATUS_INVALID_PARAMETER && because("ALLOC-019", "Flags 0x"));
        else if (bit == 13)
            SHOW(c, "KMT-217", status == STATUS_NOT_SUPPORTED);
        else
            TRY(c, status == STATUS_SUCCESS);
    }
    /* together */
    TRY(c, with_flags(&g, RESOURCE | SHARED) == STATUS_SUCCESS);
    TRY(c, with_flags(&g, RESOURCE | SHARED | NON_SECURE) == STATUS_SUCCESS);
    TRY(c, with_flags(&g, RESOURCE | SHARED | NT_SHARING) == STATUS_SUCCESS);
    SHOW(c, "KMT-214",
         with_flags(&g, RESOURCE | SHARED | NON_SECURE | RESTRICT) == STATUS_INVALID_PARAMETER &&
             because("KMT-216", "exclude each other"));
    TRY(c, with_flags(&g, RESOURCE | SHARED | RESTRICT) == STATUS_NOT_SUPPORTED);
    TRY(c, with_flags(&g, RESOURCE | SHARED | CROSS) == STATUS_NOT_SUPPORTED);
    SHOW(c, "KMT-216",
         with_flags(&g, ZEROED | NOT_ZEROED) == STATUS_INVALID_PARAMETER &&
             because("KMT-216", "exclude each other"));
    TRY(c, with_flags(&g, STANDARD | SYS_MEM | SECTION) == STATUS_INVALID_PARAMETER &&
               because("ALLOC-019", "with 1 allocations and private data of 0 bytes"));
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, data_of_a_request_have_an_address_and_a_limit)
{
    struct request r;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    request_init(&r, &g);
    r.args.PrivateRuntimeDataSize = 8;
    SHOW(c, "KMT-006",
         D3DKMTCreateAllocation2(&r.args) == STATUS_INVALID_PARAMETER &&
             because("KMT-012", "private data of 8 bytes"));
    r.args.pPrivateRuntimeData = &g;
    TRY(c, D3DKMTCreateAllocation2(&r.args) == STATUS_SUCCESS);
    r.args.PrivateRuntimeDataSize = (16u << 20) + 1;
    SHOW(c, "KMT-012", D3DKMTCreateAllocation2(&r.args) == STATUS_INVALID_PARAMETER);
    r.args.PrivateRuntimeDataSize = 0;
    r.args.PrivateDriverDataSize = 8;
    SHOW(c, "KMT-006",
         D3DKMTCreateAllocation2(&r.args) == STATUS_INVALID_PARAMETER &&
             because("KMT-012", "private data of 8 bytes"));
    r.args.pPrivateDriverData = (void *)(uintptr_t)0x1000;
    SHOW(c, "KMT-007",
         D3DKMTCreateAllocation2(&r.args) == STATUS_INVALID_PARAMETER &&
             because("KMT-007", "cannot be read"));
    r.args.PrivateDriverDataSize = 0;
    r.info.pPrivateDriverData = (void *)(uintptr_t)0x1000;
    SHOW(c, "KMT-007", D3DKMTCreateAllocation2(&r.args) == STATUS_INVALID_PARAMETER);
    r.info.pPrivateDriverData = NULL;
    SHOW(c, "KMT-006",
         D3DKMTCreateAllocation2(&r.args) == STATUS_INVALID_PARAMETER &&
             because("KMT-012", "private data of "));
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, each_element_of_a_request_is_checked)
{
    struct request r;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    for (unsigned i = 0; i < sizeof(r.info.Reserved) / sizeof(r.info.Reserved[0]); i++) {
        request_init(&r, &g);
        r.info.Reserved[i] = 1;
        SHOW(c, "KMT-009",
             D3DKMTCreateAllocation2(&r.args) == STATUS_INVALID_PARAMETER &&
                 because("KMT-009", "allocation 0 has a Reserved member"));
    }
    request_init(&r, &g);
    r.info.Flags.Primary = 1;
    SHOW(c, "KMT-203", D3DKMTCreateAllocation2(&r.args) == STATUS_INVALID_PARAMETER);
    request_init(&r, &g);
    r.info.Flags.Stereo = 1;
    SHOW(c, "KMT-203",
         D3DKMTCreateAllocation2(&r.args) == STATUS_INVALID_PARAMETER &&
             because("KMT-203", "allocation 0 has Flags 0x"));
    request_init(&r, &g);
    r.info.Flags.Reserved = 1;
    SHOW(c, "KMT-009", D3DKMTCreateAllocation2(&r.args) == STATUS_INVALID_PARAMETER);
    request_init(&r, &g);
    r.info.VidPnSourceId = 7;
    SHOW(c, "KMT-203", D3DKMTCreateAllocation2(&r.args) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, elements_of_the_older_form_are_checked_too)
{
    D3DDDI_ALLOCATIONINFO older[2];
    struct request r;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    for (unsigned i = 0; i < 4; i++) {
        request_init(&r, &g);
        memset(older, 0, sizeof(older));
        for (unsigned j = 0; j < 2; j++) {
            older[j].pPrivateDriverData = &r.data;
            older[j].PrivateDriverDataSize = sizeof(r.data);
            older[j].VidPnSourceId = 3;
        }
        older[1].Flags.Primary = i == 0;
        older[1].Flags.Stereo = i == 1;
        older[1].Flags.Reserved = i == 2 ? 1u << 20 : 0;
        r.args.NumAllocations = 2;
        r.args.pAllocationInfo = older;
        if (i < 3)
            SHOW(c, "KMT-203",
                 D3DKMTCreateAllocation(&r.args) == STATUS_INVALID_PARAMETER &&
                     because("KMT-203", "allocation 1 has Flags 0x") && !older[0].hAllocation);
        else
            SHOW(c, "KMT-190",
                 D3DKMTCreateAllocation(&r.args) == STATUS_SUCCESS && older[0].hAllocation &&
                     older[1].hAllocation && older[0].hAllocation != older[1].hAllocation);
    }
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* What the call has made is gone when the client cannot be told of it. */
TEST_WITH(client, nothing_is_left_of_a_request_that_cannot_be_answered)
{
    static const UINT flags[] = {0, RESOURCE, RESOURCE | SHARED};
    static const struct refgpu_allocation_data data = {.magic = REFGPU_UMD_MAGIC, .bytes = 5000};
    static const D3DDDI_ALLOCATIONINFO2 info = {.pPrivateDriverData = (void *)(uintptr_t)&data,
                                                .PrivateDriverDataSize = sizeof(data)};
    D3DDDI_ALLOCATIONINFO2 two[2];
    uint64_t blocks = 0;
    bool kept = false;
    struct request r;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    request_init(&r, &g);
    r.args.pAllocationInfo2 = (void *)(uintptr_t)&info;
    SHOW(c, "KMT-007",
         D3DKMTCreateAllocation2(&r.args) == STATUS_INVALID_PARAMETER &&
             because("KMT-007", "cannot be written"));
    /* the driver writes to private data that are constant: the second of two */
    for (unsigned i = 0; i < 18; i++) {
        if (i % 3 == 0) { /* tables of the host grow now and then; what leaks does so each time */
            kept |= sim_current->heap.live_blocks == blocks;
            blocks = sim_current->heap.live_blocks;
        }
        request_init(&r, &g);
        memset(two, 0, sizeof(two));
        two[0] = r.info;
        two[1] = info;
        r.args.NumAllocations = 2;
        r.args.pAllocationInfo2 = two;
        memcpy(&r.args.Flags, &flags[i % 3], sizeof(flags[0]));
        r.args.hResource = 0;
        r.args.hGlobalShare = 0x77;
        TRY(c, D3DKMTCreateAllocation2(&r.args) == STATUS_INVALID_PARAMETER);
        SHOW(c, "KMT-008", r.args.hResource == 0 && r.args.hGlobalShare == 0x77);
    }
    SHOW(c, "KMT-013", kept);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* Each page of an output is looked at before the driver is called. */
TEST_WITH(client, the_last_page_of_an_output_must_be_writable)
{
    struct dxgk_statistics before, after;
    D3DDDI_ALLOCATIONINFO2 *info;
    uint8_t *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct request r;
    struct gpu g;

    TRY(c, pages != MAP_FAILED && gpu_begin(&g) == STATUS_SUCCESS);
    request_init(&r, &g);
    info = (D3DDDI_ALLOCATIONINFO2 *)(void *)(pages + 4096 - sizeof(r.info) + 8);
    memcpy(info, &r.info, sizeof(r.info));
    TRY(c, mprotect(pages + 4096, 4096, PROT_READ) == 0);
    r.args.pAllocationInfo2 = info;
    dxgk_machine_statistics(c->machine->dxgk, &before);
    SHOW(c, "KMT-007",
         D3DKMTCreateAllocation2(&r.args) == STATUS_INVALID_PARAMETER &&
             because("KMT-007", "cannot be written"));
    dxgk_machine_statistics(c->machine->dxgk, &after);
    TRY(c, after.ddi_calls == before.ddi_calls);
    TRY(c, mprotect(pages + 4096, 4096, PROT_READ | PROT_WRITE) == 0);
    TRY(c, D3DKMTCreateAllocation2(&r.args) == STATUS_SUCCESS && info->hAllocation);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS && munmap(pages, 8192) == 0);
}

/* ---- lists ---- */

TEST_WITH(client, a_list_to_destroy_has_no_duplicate_at_either_end)
{
    D3DKMT_DESTROYALLOCATION2 destroy;
    D3DKMT_HANDLE list[3];
    struct memory m[2];
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    for (unsigned i = 0; i < 2; i++)
        TRY(c, gpu_create_memory(&g, 4096, 0, 0, &m[i]) == STATUS_SUCCESS);
    memset(&destroy, 0, sizeof(destroy));
    destroy.hDevice = g.device;
    destroy.phAllocationList = list;
    for (unsigned at = 0; at < 4;
         at++) { /* the lower one twice, or the higher one, in both orders */
        list[0] = list[1] = m[at / 2].handle;
        list[2] = m[1 - at / 2].handle;
        if (at % 2) {
            D3DKMT_HANDLE first = list[0];

            list[0] = list[2];
            list[2] = first;
        }
        destroy.AllocationCount = 3;
        SHOW(c, "KMT-263",
             D3DKMTDestroyAllocation2(&destroy) == STATUS_INVALID_PARAMETER &&
                 because("", "a list of 3 handles names one of them twice"));
    }
    list[0] = list[1] = m[0].handle;
    destroy.AllocationCount = 2;
    SHOW(c, "KMT-263", D3DKMTDestroyAllocation2(&destroy) == STATUS_INVALID_PARAMETER);
    destroy.Flags.Reserved = 1;
    destroy.AllocationCount = 1;
    SHOW(c, "KMT-262",
         D3DKMTDestroyAllocation2(&destroy) == STATUS_INVALID_PARAMETER &&
             because("KMT-262", "reserved bits in Flags 0x"));
    destroy.Flags.Value = 0;
    destroy.hDevice = g.queue;
    TRY(c, D3DKMTDestroyAllocation2(&destroy) == STATUS_INVALID_PARAMETER);
    destroy.hDevice = g.device;
    destroy.phAllocationList = (void *)(uintptr_t)0x1000;
    SHOW(c, "KMT-007", D3DKMTDestroyAllocation2(&destroy) == STATUS_INVALID_PARAMETER);
    destroy.phAllocationList = list;
    list[1] = m[1].handle;
    destroy.AllocationCount = 2;
    TRY(c, D3DKMTDestroyAllocation2(&destroy) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, flags_of_the_older_lock_are_checked)
{
    static const UINT wrong[] = {0x3, 0x48, 0x200};
    UINT pages[2] = {0, 1};
    D3DKMT_LOCK lock;
    struct memory m;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 8192, REFGPU_ALLOCATION_CPU_VISIBLE, 0, &m) == STATUS_SUCCESS);
    memset(&lock, 0, sizeof(lock));
    lock.hDevice = g.device;
    lock.hAllocation = m.handle;
    for (unsigned i = 0; i < 3; i++) {
        lock.Flags.Value = wrong[i];
        SHOW(c, "ALLOC-118",
             D3DKMTLock(&lock) == STATUS_INVALID_PARAMETER &&
                 because("", "bits that exclude each other"));
    }
    for (unsigned bit = 11; bit < 32; bit++) {
        lock.Flags.Value = 1u << bit;
        SHOW(c, "KMT-009", D3DKMTLock(&lock) == STATUS_INVALID_PARAMETER);
    }
    lock.Flags.Value = 0;
    lock.NumPages = 1; /* without a list */
    TRY(c, D3DKMTLock(&lock) == STATUS_INVALID_PARAMETER && because("", "1 pages at"));
    lock.pPages = pages;
    pages[0] = 2;
    TRY(c, D3DKMTLock(&lock) == STATUS_INVALID_PARAMETER && because("KMT-267", "is page 2"));
    pages[0] = 1;
    TRY(c, D3DKMTLock(&lock) == STATUS_SUCCESS && lock.pData);
    lock.hDevice = g.queue;
    TRY(c, D3DKMTLock(&lock) == STATUS_INVALID_PARAMETER);
    lock.hDevice = g.device;
    lock.Flags.LockEntire = 1;
    SHOW(c, "KMT-266", D3DKMTLock(&lock) == STATUS_INVALID_PARAMETER);
    lock.NumPages = 0;
    SHOW(c, "KMT-266", D3DKMTLock(&lock) == STATUS_INVALID_PARAMETER);
    lock.pPages = NULL;
    lock.Flags.Value = 0x240; /* AcquireAperture, UseAlternateVA */
    TRY(c, D3DKMTLock(&lock) == STATUS_SUCCESS && lock.pData);
    lock.pData = NULL;
    lock.Flags.Value = 0x2 | 0x4 | 0x8 | 0x10 | 0x20 | 0x80 | 0x100 | 0x400;
    TRY(c, D3DKMTLock(&lock) == STATUS_SUCCESS && lock.pData);
    lock.hAllocation = g.device;
    SHOW(c, "KMT-026", D3DKMTLock(&lock) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, an_older_unlock_takes_all_or_none)
{
    D3DKMT_HANDLE list[2];
    D3DKMT_UNLOCK unlock;
    struct memory m, n, foreign;
    struct gpu g, other;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_begin(&other) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, 0, &m) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, 0, &n) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&other, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, 0, &foreign) ==
               STATUS_SUCCESS);
    TRY(c, gpu_lock(&g, &m) == STATUS_SUCCESS && gpu_lock(&g, &n) == STATUS_SUCCESS &&
               gpu_lock(&other, &foreign) == STATUS_SUCCESS);
    memset(&unlock, 0, sizeof(unlock));
    unlock.hDevice = g.device;
    unlock.phAllocations = list;
    SHOW(c, "KMT-273",
         D3DKMTUnlock(&unlock) == STATUS_INVALID_PARAMETER && because("", "no allocations"));
    unlock.NumAllocations = 2;
    list[0] = m.handle;
    list[1] = foreign.handle;
    SHOW(c, "KMT-273",
         D3DKMTUnlock(&unlock) == STATUS_INVALID_PARAMETER &&
             because("", "element 1 of the list, handle 0x"));
    list[1] = g.device;
    SHOW(c, "KMT-011", D3DKMTUnlock(&unlock) == STATUS_INVALID_PARAMETER);
    list[1] = m.handle;
    SHOW(c, "KMT-011", D3DKMTUnlock(&unlock) == STATUS_INVALID_PARAMETER && because("", "twice"));
    list[1] = n.handle;
    unlock.hDevice = g.queue;
    TRY(c, D3DKMTUnlock(&unlock) == STATUS_INVALID_PARAMETER);
    unlock.hDevice = g.device;
    SHOW(c, "KMT-273", D3DKMTUnlock(&unlock) == STATUS_SUCCESS); /* all were still locked */
    TRY(c, gpu_unlock(&g, &m) == STATUS_INVALID_PARAMETER &&
               gpu_unlock(&g, &n) == STATUS_INVALID_PARAMETER &&
               gpu_unlock(&other, &foreign) == STATUS_SUCCESS);
    TRY(c, gpu_end(&other) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* ---- selections of a resource or a list ---- */

TEST_WITH(client, a_selection_is_a_resource_or_a_list)
{
    D3DKMT_GETALLOCATIONPRIORITY get = {0};
    D3DKMT_QUERYALLOCATIONRESIDENCY residency = {0};
    D3DKMT_ALLOCATIONRESIDENCYSTATUS where[2];
    UINT values[2] = {7, 7};
    D3DKMT_HANDLE list[2];
    struct memory m, n;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 4096, 0, 0, &m) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 4096, 0, 0, &n) == STATUS_SUCCESS);
    list[0] = m.handle;
    list[1] = n.handle;
    get.hDevice = residency.hDevice = g.device;
    get.phAllocationList = residency.phAllocationList = list;
    get.AllocationCount = residency.AllocationCount = 2;
    SHOW(c, "KMT-006",
         D3DKMTGetAllocationPriority(&get) == STATUS_INVALID_PARAMETER &&
             because("KMT-006", "the array of values is NULL"));
    TRY(c, D3DKMTQueryAllocationResidency(&residency) == STATUS_INVALID_PARAMETER);
    get.pPriorities = const_memory();
    residency.pResidencyStatus = const_memory();
    SHOW(c, "KMT-007", D3DKMTGetAllocationPriority(&get) == STATUS_INVALID_PARAMETER);
    get.pPriorities = values;
    residency.pResidencyStatus = where;
    TRY(c, D3DKMTGetAllocationPriority(&get) == STATUS_SUCCESS && values[0] == values[1] &&
               values[1] != 7);
    get.hDevice = residency.hDevice = g.queue;
    TRY(c, D3DKMTGetAllocationPriority(&get) == STATUS_INVALID_PARAMETER);
    TRY(c, D3DKMTQueryAllocationResidency(&residency) == STATUS_INVALID_PARAMETER);
    get.hDevice = residency.hDevice = g.device;
    get.hResource = 5; /* besides the list, or the count alone */
    SHOW(c, "ALLOC-142", D3DKMTGetAllocationPriority(&get) == STATUS_INVALID_PARAMETER);
    get.phAllocationList = NULL;
    SHOW(c, "ALLOC-142",
         D3DKMTGetAllocationPriority(&get) == STATUS_INVALID_PARAMETER &&
             because("ALLOC-142", "resource 0x5 with a list of 2 allocations"));
    get.phAllocationList = list;
    get.AllocationCount = 0;
    SHOW(c, "ALLOC-142", D3DKMTGetAllocationPriority(&get) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}
