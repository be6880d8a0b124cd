/* SPDX-License-Identifier: MIT */
/* Primaries as memory: what their creation may say, where they lie, and how long they stay there. */
#include "port/support/copies.h"
#include "port/support/owner.h"
#include "port/support/paged.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MIB                (1024u * 1024u)

/* ---- what a client may say ---- */

static NTSTATUS create(D3DDDI_ALLOCATIONINFO2 *info, uint64_t bytes, UINT source)
{
    D3DKMT_CREATEALLOCATION args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    info->pPrivateDriverData = &bytes;
    info->PrivateDriverDataSize = sizeof(bytes);
    info->VidPnSourceId = source;
    args.hDevice = owner.gpu.device;
    args.NumAllocations = 1;
    args.pAllocationInfo2 = info;
    status = D3DKMTCreateAllocation2(&args);
    info->pPrivateDriverData = NULL;
    return status;
}

static NTSTATUS create_with(bool primary, bool stereo, UINT source)
{
    D3DDDI_ALLOCATIONINFO2 info;

    memset(&info, 0, sizeof(info));
    info.Flags.Primary = primary;
    info.Flags.Stereo = stereo;
    return create(&info, 1024 * 768 * 4, source);
}

static void flags(struct probe *p)
{
    size_t created;

    owner_begin(p);
    CHECK_RULE("PRES-072/a", IS(create_with(true, false, 0), STATUS_SUCCESS));
    CHECK_RULE("PRES-072/b", IS(create_with(false, false, 5), STATUS_SUCCESS));
    created = probe_count(p, PROBE_CreateAllocation);
    CHECK_RULE("PRES-074", IS(create_with(false, true, 0), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PRES-074", IS(create_with(true, true, 0), STATUS_NOT_SUPPORTED));
    CHECK_RULE("PRES-074", probe_count(p, PROBE_CreateAllocation) == created);
    owner_end();
}

TEST(what_a_client_says_of_primaries)
{
    owner_run(owner_create(NULL), flags);
}

/* ---- what the driver may say ---- */

static struct {
    UINT set, preferred, flags;
} answer;

static void answered(struct probe *p, struct probe_call *call)
{
    DXGK_ALLOCATIONINFO *info =
        ((const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1])->pAllocationInfo;

    (void)p;
    info->FlagsWddm2.Value = answer.flags;
    if (!answer.set)
        return;
    info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = answer.set;
    info->PreferredSegment.Value = answer.preferred;
}

static NTSTATUS lock(D3DKMT_HANDLE handle)
{
    D3DKMT_LOCK2 args = {.hDevice = owner.gpu.device, .hAllocation = handle};
    const D3DKMT_UNLOCK2 undo = {.hDevice = owner.gpu.device, .hAllocation = handle};
    const NTSTATUS status = D3DKMTLock2(&args);

    if (NT_SUCCESS(status))
        CHECK(NT_SUCCESS(D3DKMTUnlock2(&undo)));
    return status;
}

static void locking(struct probe *p)
{
    D3DDDI_ALLOCATIONINFO2 info;

    owner_begin(p);
    p->after[PROBE_CreateAllocation] = answered;
    memset(&info, 0, sizeof(info));
    info.Flags.Primary = 1;
    answer.flags = 0;
    CHECK(IS(create(&info, 1024 * 768 * 4, 0), STATUS_SUCCESS));
    CHECK_RULE("PRES-078", IS(lock(info.hAllocation), STATUS_SUCCESS));
    owner_end();
}

TEST(locks_of_primaries)
{
    answer.set = 0;
    owner_run(owner_create(NULL), locking);
}

/* WDDM 2.0 has no such flag. */
static struct copies_client client;

static void alternate(struct probe *p)
{
    D3DKMT_HANDLE handle;
    D3DDDI_ALLOCATIONINFO2 info;
    D3DKMT_CREATEALLOCATION args;

    copies_begin(&client);
    answer.flags = 0x400; /* UseAlternateVA */
    answer.set = 2;
    answer.preferred = 2;
    p->after[PROBE_CreateAllocation] = answered;
    CHECK_RULE("PRES-079/a", IS(copies_create_primary(&client, 0, &handle), STATUS_SUCCESS) &&
                                 !copies_lock(&client, handle) && probe_rule(p, "ALLOC-053") == 0);
    memset(&info, 0, sizeof(info));
    memset(&args, 0, sizeof(args));
    args.hDevice = client.device;
    args.NumAllocations = 1;
    args.pAllocationInfo2 = &info;
    CHECK(verify_set_severity(p->log, "ALLOC-053", VERIFY_ERROR));
    CHECK_RULE("PRES-079/b", IS(D3DKMTCreateAllocation2(&args), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "ALLOC-053") == 1);
    answer.set = answer.flags = 0;
    copies_end(&client);
}

TEST(primaries_with_another_address)
{
    copies_run(copies_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3), alternate);
}

/* ---- what the processor reaches ---- */

static void hidden(struct probe *p)
{
    const bool waived = p->caps.MemoryManagementCaps.NonCpuVisiblePrimary != 0;
    D3DDDI_ALLOCATIONINFO2 info;
    uint64_t told;

    memset(&info, 0, sizeof(info));
    owner_begin(p);
    p->after[PROBE_CreateAllocation] = answered;
    info.Flags.Primary = 1;
    answer.set = answer.preferred = 1;
    told = probe_rule(p, "PRES-077");
    CHECK_RULE("PRES-076", (told != 0) == !waived); /* the shared one */
    CHECK(IS(create(&info, 1024 * 768 * 4, 0), STATUS_SUCCESS));
    CHECK_RULE("PRES-076", probe_rule(p, "PRES-077") == told + !waived);
    CHECK(verify_set_severity(p->log, "PRES-077", VERIFY_ERROR));
    CHECK_RULE("PRES-077", IS(create(&info, 1024 * 768 * 4, 0),
                              waived ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER));
    answer.set = answer.preferred = 2; /* an aperture */
    CHECK_RULE("PRES-077", IS(create(&info, 1024 * 768 * 4, 0), STATUS_SUCCESS));
    info.Flags.Primary = 0;
    answer.set = answer.preferred = 1;
    CHECK_RULE("PRES-076", IS(create(&info, 4096, 0), STATUS_SUCCESS)); /* no primary */
    owner_end();
}

TEST(primaries_that_the_processor_does_not_reach)
{
    for (unsigned waived = 0; waived < 2; waived++) {
        struct probe *p = owner_create(NULL);

        answer.set = answer.flags = 0;
        p->segment[0].Flags.CpuVisible = 0;
        for (unsigned i = 0; i < p->mmu.PageTableLevelCount; i++)
            p->level[i].PageTableSegmentId = p->level[i].PagingProcessPageTableSegmentId = 0;
        p->caps.MemoryManagementCaps.NonCpuVisiblePrimary = waived & 1;
        owner_run(p, hidden);
    }
}

/* ---- a cap without effect ---- */

static size_t calls_of;

static void count_calls(struct probe *p)
{
    owner_begin(p);
    owner_show(owner.primary[0]);
    CHECK(NT_SUCCESS(owner_flip(owner.primary[1])));
    owner_end();
    calls_of = p->calls;
}

TEST(a_section_behind_primaries)
{
    size_t calls[2];

    for (unsigned cap = 0; cap < 2; cap++) {
        struct probe *p = owner_create(NULL);

        p->caps.MemoryManagementCaps.SectionBackedPrimary = cap & 1;
        owner_run(p, count_calls);
        calls[cap] = calls_of;
    }
    CHECK_RULE("PRES-082", calls[0] == calls[1]);
}

/* ---- pinning ---- */

static D3DKMT_ALLOCATIONRESIDENCYSTATUS there(D3DKMT_HANDLE handle)
{
    return paged_residency(&owner.gpu, handle);
}

/* Use more memory than there is, a part at a time. */
static void press(void)
{
    for (unsigned i = 0; i < 8; i++) {
        D3DDDI_ALLOCATIONINFO2 info;
        uint64_t fence;

        memset(&info, 0, sizeof(info));
        answer.set = answer.preferred = 1;
        CHECK(IS(create(&info, 3 * MIB, 0), STATUS_SUCCESS));
        CHECK(NT_SUCCESS(paged_make_resident(&owner.gpu, info.hAllocation, &fence)) &&
              NT_SUCCESS(paged_wait(&owner.gpu, fence)));
        CHECK(NT_SUCCESS(paged_evict(&owner.gpu, info.hAllocation)));
    }
}

static D3DKMT_HANDLE open_shared(void)
{
    D3DKMT_GETSHAREDPRIMARYHANDLE get = {.hAdapter = owner.gpu.adapter};
    D3DDDI_OPENALLOCATIONINFO2 info;
    D3DKMT_OPENRESOURCE args;
    uint64_t data[2], word;

    memset(&args, 0, sizeof(args));
    memset(&info, 0, sizeof(info));
    CHECK(NT_SUCCESS(D3DKMTGetSharedPrimaryHandle(&get)));
    args.hDevice = owner.gpu.device;
    args.hGlobalShare = get.hSharedPrimary;
    args.NumAllocations = 1;
    args.pOpenAllocationInfo2 = &info;
    args.pResourcePrivateDriverData = &word;
    args.ResourcePrivateDriverDataSize = sizeof(UINT);
    args.pTotalPrivateDriverDataBuffer = data;
    args.TotalPrivateDriverDataBufferSize = sizeof(data);
    CHECK(NT_SUCCESS(D3DKMTOpenResource2(&args)));
    return info.hAllocation;
}

static void pinned(struct probe *p)
{
    D3DKMT_HANDLE shared;

    owner_begin(p);
    p->after[PROBE_CreateAllocation] = answered;
    shared = open_shared();
    CHECK_RULE("PRES-060", IS(lock(shared), STATUS_SUCCESS));
    press();
    CHECK_RULE("PRES-060", there(shared) == D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINGPUMEMORY);
    owner_show(owner.primary[0]);
    CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
    probe_sleep(40000000);
    CHECK_RULE("PRES-081",
               there(owner.primary[1]) == D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINGPUMEMORY);
    press();
    CHECK_RULE("PRES-081",
               there(owner.primary[0]) == D3DKMT_ALLOCATIONRESIDENCYSTATUS_NOTRESIDENT &&
                   there(owner.primary[1]) == D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINGPUMEMORY &&
                   there(owner.primary[2]) == D3DKMT_ALLOCATIONRESIDENCYSTATUS_NOTRESIDENT);
    full_engine.stuck = true; /* a flip that waits keeps both */
    CHECK(IS(owner_flip(owner.primary[2]), STATUS_SUCCESS));
    probe_sleep(40000000);
    press();
    CHECK_RULE("PRES-081",
               there(owner.primary[1]) == D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINGPUMEMORY &&
                   there(owner.primary[2]) == D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINGPUMEMORY);
    full_engine.stuck = false;
    probe_sleep(40000000);
    press();
    CHECK_RULE("PRES-081",
               there(owner.primary[1]) == D3DKMT_ALLOCATIONRESIDENCYSTATUS_NOTRESIDENT &&
                   there(owner.primary[2]) == D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINGPUMEMORY);
    owner_end();
}

TEST(primaries_stay_while_they_are_shown)
{
    const struct probe_options options = {.ram_bytes = 256 * MIB};
    struct probe *p = owner_create(&options);

    answer.set = answer.flags = 0;
    owner_run(p, pinned);
}

/* ---- direct flips ---- */

static bool direct_flips(void)
{
    D3DKMT_DIRECTFLIP_SUPPORT answer_of = {.Supported = 7};
    const D3DKMT_QUERYADAPTERINFO query = {owner.gpu.adapter, KMTQAITYPE_DIRECTFLIP_SUPPORT,
                                           &answer_of, sizeof(answer_of)};

    CHECK(NT_SUCCESS(D3DKMTQueryAdapterInfo(&query)) && answer_of.Supported <= 1);
    return answer_of.Supported;
}

static void direct(struct probe *p)
{
    const bool segment = p->segment[0].Flags.DirectFlip, cap = p->caps.SupportDirectFlip != FALSE;

    owner_begin(p);
    CHECK_RULE("PRES-083", direct_flips() == (segment && cap));
    owner_show(owner.primary[0]);
    CHECK_RULE("PRES-083", direct_flips() == (segment && cap));
    CHECK_RULE("PRES-083", IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
    owner_end();
}

TEST(segments_of_direct_flips)
{
    for (unsigned i = 0; i < 4; i++) {
        struct probe *p = owner_create(NULL);

        answer.set = answer.flags = 0;
        p->segment[0].Flags.DirectFlip = i & 1;
        p->caps.SupportDirectFlip = (i >> 1) & 1;
        owner_run(p, direct);
    }
}
