/* SPDX-License-Identifier: MIT */
/* What a client is told of a request that is refused. */
#include "nt/base/kprocess.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"
#include "support/mm_segments.h"
#include "verify/refusal.h"

#include <stdio.h>

#define OK(call) CHECK(NT_SUCCESS(call))

static char expected[REFUSAL_BYTES];

__attribute__((format(printf, 1, 2))) static const char *text(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(expected, sizeof(expected), format, args);
    va_end(args);
    return expected;
}

static void check(const struct refusal *r, NTSTATUS status, NTSTATUS wanted, const char *rule,
                  const char *words)
{
    if (status != wanted || r->status != wanted || (r->rule != NULL) != (rule != NULL) ||
        (rule && strcmp(rule, r->rule) != 0) || strcmp(words, r->text) != 0)
        fail_msg("0x%x, %s: %s; not %s: %s", (unsigned)status, r->rule ? r->rule : "-", r->text,
                 rule ? rule : "-", words);
}

/* The call is refused with this status, for this reason. */
#define REFUSED(wanted, rule, words, call)        \
    do {                                          \
        struct refusal r_;                        \
        NTSTATUS status_;                         \
                                                  \
        refusal_begin(&r_);                       \
        status_ = (call);                         \
        refusal_drop(&r_);                        \
        check(&r_, status_, wanted, rule, words); \
    } while (0)
#define INVALID(rule, words, call) REFUSED(STATUS_INVALID_PARAMETER, rule, words, call)
#define LOST(call)                 REFUSED(STATUS_DEVICE_REMOVED, NULL, "the device or the adapter is lost", call)

static NTSTATUS make_resident(struct mm_client *c, const D3DKMT_HANDLE *list, UINT count, UINT flags)
{
    return mm_make_resident(c, list, count, flags, &(uint64_t){0});
}

static NTSTATUS lock(struct mm_client *c, D3DKMT_HANDLE h)
{
    void *address;

    return vidmm_lock2(c->device, h, &address);
}

TEST_WITH(mm, reasons_of_residency)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE list[3] = {mm_vram(c, 10), mm_vram(c, 10), mm_vram(c, 1)};

    INVALID("RES-020", "Flags 0x2: reserved bits, or MustSucceed without CantTrimFurther",
            make_resident(c, list, 1, 2));
    INVALID("RES-020", "Flags 0x84: reserved bits, or MustSucceed without CantTrimFurther",
            make_resident(c, list, 1, 0x84));
    INVALID("KMT-026", "handle 0x9990 is no allocation of this device",
            make_resident(c, (D3DKMT_HANDLE[]){0x9990}, 1, 0));
    REFUSED(STATUS_NO_MEMORY, NULL,
            text("element 1 of the list, handle 0x%x, does not fit into the budget: %u bytes have to "
                 "go",
                 list[1], 5 * MM_MB),
            make_resident(c, list, 3, 0));
    REFUSED(STATUS_NO_MEMORY, NULL,
            text("element 1 of the list, handle 0x%x, does not fit into video memory: %u bytes have "
                 "to go",
                 list[1], 5 * MM_MB),
            make_resident(c, list, 3, 1));
    OK(mm_resident(c, list[0]));
    INVALID(NULL, "reserved bits in Flags 0x5", mm_evict(c, list[0], 5));
    INVALID("RES-025",
            text("handle 0x%x is evicted 1 times, and was made resident 0 times", list[1]),
            mm_evict(c, list[1], 0));
    LOST((rig->vidmm->lost = true, make_resident(c, list, 1, 0)));
    rig->vidmm->lost = false;
}

TEST_WITH(mm, reasons_of_locks)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_both(c, 1), hidden = mm_make(c, MM_SET_VRAM, 1, 0);

    INVALID(NULL, text("allocation 0x%x is not locked", h), vidmm_unlock2(c->device, h));
    OK(vidmm_offer(c->device, NULL, &h, 1, D3DKMT_OFFER_PRIORITY_LOW, (D3DKMT_OFFER_FLAGS){0}));
    INVALID("RES-065", "the allocation is offered", lock(c, h));
    OK(vidmm_reclaim(c->queue, NULL, &h, 1, NULL, &(uint64_t){0}));
    OK(mm_resident(c, hidden));
    INVALID(
        "ALLOC-128",
        "the allocation is in a memory segment, not CpuVisible, and no aperture segment is in its "
        "set 0x1",
        lock(c, hidden));
    mm_allocation(c, h)->creator = rig->nt_process[1];
    INVALID("ALLOC-119", "the allocation was created by another process", lock(c, h));
    mm_allocation(c, h)->creator = rig->nt_process[0];
    mm_allocation(c, h)->view.lock_count = 65535;
    REFUSED(STATUS_GRAPHICS_TOO_MANY_REFERENCES, NULL, "the allocation has 65535 locks", lock(c, h));
    mm_allocation(c, h)->view.lock_count = 0;
    vidmm_device_set_lost(c->device);
    LOST(lock(c, h));
}

TEST_WITH(mm, reasons_of_offers_and_priorities)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE list[2] = {mm_both(c, 1), mm_both(c, 1)}, bad = 0x77;
    const D3DKMT_OFFER_FLAGS none = {0}, reserved = {.Value = 0x10};
    const D3DKMT_OFFER_PRIORITY low = D3DKMT_OFFER_PRIORITY_LOW;
    UINT values[2] = {5, 0};

    INVALID("KMT-279",
            "0 elements, without resources, with allocations: one list of them, not empty",
            vidmm_offer(c->device, NULL, list, 0, low, none));
    INVALID("KMT-279", "2 elements, with resources, with allocations: one list of them, not empty",
            vidmm_offer(c->device, list, list, 2, low, none));
    INVALID("KMT-279",
            "3 elements, without resources, without allocations: one list of them, not "
            "empty",
            vidmm_offer(c->device, NULL, NULL, 3, low, none));
    INVALID(NULL, "offer priority 5, reserved bits 0x0",
            vidmm_offer(c->device, NULL, list, 1, (D3DKMT_OFFER_PRIORITY)5, none));
    INVALID(NULL, "offer priority 1, reserved bits 0x4",
            vidmm_offer(c->device, NULL, list, 1, low, reserved));
    INVALID("KMT-026", "handle 0x77 is no resource of this device",
            vidmm_offer(c->device, &bad, NULL, 1, low, none));
    OK(lock(c, list[1]));
    INVALID("RES-073", "element 1 is locked or pinned",
            vidmm_offer(c->device, NULL, list, 2, low, none));
    OK(vidmm_unlock2(c->device, list[1]));
    INVALID("KMT-278", "priority 1 of the list is 0",
            vidmm_set_priority(c->device, 0, list, 2, values));
    INVALID("ALLOC-142", "a resource and a list of 2 allocations",
            vidmm_get_priority(c->device, bad, NULL, 2, values));
}

TEST_WITH(mm, reasons_of_budgets)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_QUERYVIDEOMEMORYINFO info = {.MemorySegmentGroup = (D3DKMT_MEMORY_SEGMENT_GROUP)7,
                                        .PhysicalAdapterIndex = 3};

    INVALID("RES-043", "segment group 7 of physical adapter 3: groups are 0 and 1, the adapter 0",
            vidmm_query_video_memory(rig->vidmm, c->process, &info));
    INVALID(NULL, "a reservation of 9000000 bytes, 8388608 are available",
            vidmm_set_reservation(c->process, D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL, 9000000));
}

TEST_WITH(mm, reasons_of_creations)
{
    struct mm_client *c = &rig->client[0];
    struct mm_request r;
    D3DKMT_HANDLE shared;

    mm_request_init(&r, 2);
    r.request.flags.CreateShared = 1;
    INVALID("ALLOC-018", "CreateShared 1, CreateResource 0, NtSecuritySharing 0",
            mm_request_make(&r, c));
    mm_request_init(&r, 2);
    r.request.flags.CreateResource = r.request.flags.NtSecuritySharing = 1;
    INVALID("ALLOC-018", "CreateShared 0, CreateResource 1, NtSecuritySharing 1",
            mm_request_make(&r, c));
    r.request.flags.NtSecuritySharing = 0;
    r.request.resource = 0x55;
    INVALID("KMT-192", "CreateResource 1, resource 0x55, 2 allocations", mm_request_make(&r, c));
    r.request.flags.CreateResource = 0;
    REFUSED(STATUS_INVALID_HANDLE, "KMT-191", "handle 0x55 is no resource of this device",
            mm_request_make(&r, c));
    mm_request_init(&r, 1);
    r.data[0].flags = 0;
    r.request.flags.CreateResource = r.request.flags.CreateShared = 1;
    OK(mm_request_make(&r, c));
    shared = r.resource;
    mm_request_init(&r, 1);
    r.request.resource = shared;
    INVALID("ALLOC-014", text("resource 0x%x is shared: it cannot grow", shared),
            mm_request_make(&r, c));
    mm_request_init(&r, 1);
    r.data[0] = mm_private_default(MM_SET_VRAM, 17 * MM_MB);
    REFUSED(STATUS_GRAPHICS_NO_VIDEO_MEMORY, "ALLOC-031",
            "17825792 bytes fit into none of the segments 0x1 that the driver names",
            mm_request_make(&r, c));
    mm_request_init(&r, 1);
    r.data[0].flags = 0x10;
    r.item[0].system_memory = (void *)(uintptr_t)0x7008;
    INVALID(NULL, "client memory at 0x7008 for 4096 bytes: both have to be whole pages",
            mm_request_make(&r, c));
    r.item[0].system_memory = (void *)(uintptr_t)0x7000;
    INVALID(NULL, "page 0 of the client memory at 0x7000 is no RAM of the machine",
            mm_request_make(&r, c));
    LOST((rig->vidmm->lost = true, r.item[0].system_memory = NULL, mm_request_make(&r, c)));
    rig->vidmm->lost = false;
}

TEST_WITH(mm, reasons_of_destructions)
{
    struct mm_client *c = &rig->client[0];
    struct mm_request r;
    D3DKMT_HANDLE list[3], none = 0x66;

    mm_request_init(&r, 1);
    r.request.flags.CreateResource = 1;
    OK(mm_request_make(&r, c));
    list[0] = mm_both(c, 1);
    list[1] = r.info[0].hAllocation;
    INVALID(
        NULL,
        text("element 1 of the list, handle 0x%x, is of another resource than the first", list[1]),
        mm_destroy_list(c, list, 2, 0));
    list[2] = list[1] = list[0];
    INVALID(NULL, text("element 1 of the list, handle 0x%x, is there twice", list[0]),
            mm_destroy_list(c, list, 3, 0));
    INVALID(NULL, "a list of no allocations", mm_destroy_list(c, list, 0, 0));
    INVALID(NULL, "reserved bits in Flags 0x9", mm_destroy_list(c, list, 1, 9));
    INVALID("KMT-026", "handle 0x66 is no resource of this device", mm_destroy_resource(c, none, 0));
    INVALID(NULL, "resource 0x0 and no list of allocations",
            vidmm_allocation_destroy(c->device, 0, NULL, 0, (D3DDDICB_DESTROYALLOCATION2FLAGS){0}));
    INVALID(
        NULL, "resource 0x66 and a list of allocations",
        vidmm_allocation_destroy(c->device, none, list, 1, (D3DDDICB_DESTROYALLOCATION2FLAGS){0}));
}

TEST_WITH(mm, reasons_of_opens)
{
    struct mm_client *c = &rig->client[0];
    static struct vidmm another;
    struct vidmm_resource *resource;
    struct vidmm_open_item item[2];
    struct mm_request r;
    D3DKMT_HANDLE handle;

    mm_request_init(&r, 2);
    r.data[0].flags = r.data[1].flags = 0;
    r.request.flags.CreateResource = r.request.flags.CreateShared = 1;
    OK(mm_request_make(&r, c));
    resource = vidmm_resource_get(c->device, r.resource);
    INVALID("ALLOC-081", "1 elements for a resource of 2 allocations",
            vidmm_resource_open(c->device, resource, false, item, 1, &handle));
    resource->vidmm = &another;
    INVALID("ALLOC-081", "2 elements for a resource of 2 allocations, of another adapter",
            vidmm_resource_open(c->device, resource, false, item, 2, &handle));
    resource->vidmm = rig->vidmm;
    LOST((rig->vidmm->lost = true,
          vidmm_resource_open(c->device, resource, false, item, 2, &handle)));
    rig->vidmm->lost = false;
    vidmm_resource_put(resource);
}

static NTSTATUS take(struct mm_rig *rig, UINT segment, uint64_t pages)
{
    struct vidmm_run run;
    NTSTATUS status;

    sim_mutex_lock(&rig->vidmm->lock);
    status = segment_take_pinned(rig->vidmm, segment, pages, 0, &run);
    sim_mutex_unlock(&rig->vidmm->lock);
    return status;
}

TEST_WITH(mm, the_reason_of_a_full_segment, *options = mm_plain_options(),
          options->segment[0].Flags.Use64KBPages = 1)
{
    REFUSED(
        STATUS_NO_MEMORY, NULL,
        "segment 1 has no 16842752 free bytes in one range for what must stay in it (page tables, "
        "say); the largest has 16777216 of 0x1000000",
        take(rig, 1, 4097));
}

/* ---- reports ---- */

/* What a record of a rule says, the newest one. */
static bool reported(const struct mm_rig *rig, const char *rule, const char *words)
{
    const char *seen = "nothing";

    for (size_t i = 0; i < verify_records(rig->base.log); i++)
        if (strcmp(verify_record_at(rig->base.log, i)->rule, rule) == 0)
            seen = verify_record_at(rig->base.log, i)->seen;
    if (!strstr(seen, words))
        fail_msg("%s: %s; not: %s", rule, seen, words);
    return true;
}

TEST_WITH(mm, reports_of_drivers)
{
    struct mm_client *c = &rig->client[0];
    struct mm_request r;

    mm_request_init(&r, 3);
    rig->null_open_handle = true;
    rig->close_status = STATUS_INVALID_HANDLE;
    rig->destroy_status = STATUS_UNSUCCESSFUL;
    CHECK(mm_request_make(&r, c) == STATUS_INVALID_PARAMETER);
    CHECK(reported(rig, "ALLOC-075", "hDeviceSpecificAllocation of element 2 is NULL"));
    CHECK(reported(rig, "ALLOC-084", "DxgkDdiDestroyAllocation returned 0xC0000001"));
    rig->null_open_handle = false;
    mm_request_init(&r, 1);
    OK(mm_request_make(&r, c));
    rig->destroy_status = STATUS_SUCCESS;
    OK(mm_destroy(c, r.info[0].hAllocation, 2));
    CHECK(reported(rig, "ALLOC-084", "DxgkDdiCloseAllocation returned"));
    rig->close_status = STATUS_SUCCESS;
    mm_request_init(&r, 1);
    r.data[0].size = 3 * PAGE_BYTES;
    r.request.heap_bytes = 2 * PAGE_BYTES + 1;
    CHECK(mm_request_make(&r, c) == STATUS_INVALID_PARAMETER);
    CHECK(reported(rig, "ALLOC-146", "an allocation of 3 pages for an existing heap of 2"));
    mm_request_init(&r, 1);
    r.data[0].flags = 0x10;
    CHECK(mm_request_make(&r, c) == STATUS_INVALID_PARAMETER);
    CHECK(reported(rig, "KMT-201", "ExistingSysMem is 1, client memory was not given"));
}

/* The first word that differs, and where it is. */
TEST_WITH(mm, the_report_of_a_stray_write)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_APERTURE, 1, 0x8001);
    uint32_t *dummy = ram_direct(rig->base.ram, page_phys(rig->vidmm->dummy.frame));

    CHECK(dummy[0] == dummy[1023] && dummy[0] == 0xD0A1D0A1);
    OK(mm_resident(c, h));
    dummy[25] = 0x1234;
    dummy[26] = 0x5678;
    OK(mm_evict(c, h, 0));
    mm_idle(rig);
    CHECK(reported(rig, "PAGE-049",
                   "the GPU wrote through an unmapped aperture range: 0x00001234 at byte 100 of the "
                   "dummy page"));
    CHECK(dummy[25] == 0xD0A1D0A1 && dummy[26] == 0xD0A1D0A1);
}

TEST_WITH(mm_bare, a_stray_write_is_found_at_the_end, *options = mm_plain_options())
{
    uint32_t *dummy;

    CHECK(NT_SUCCESS(mm_start(rig)));
    dummy = ram_direct(rig->base.ram, page_phys(rig->vidmm->dummy.frame));
    dummy[1023] = 0;
    mm_stop(rig);
    CHECK_RULE("PAGE-049", mm_violations(rig, "PAGE-049") == 1);
    CHECK(reported(rig, "PAGE-049", "0x00000000 at byte 4092 of"));
}
