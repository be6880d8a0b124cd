/* SPDX-License-Identifier: MIT */
/* Backing stores shared with the driver. */
#include "nt/base/kprocess.h"
#include "support/mm_rig.h"

#include "sim/mutex.h"

#define OK(call) CHECK(NT_SUCCESS(call))

#define FEATURE (1ull << DXGK_FEATURE_SHARE_BACKING_STORE_WITH_KMD)
#define PAGES   5u

static struct mm_private wanted(void)
{
    struct mm_private p = mm_private_default(MM_SET_APERTURE, PAGES * PAGE_BYTES);

    p.flags2 = 1;
    return p;
}

/* `count` allocations of one resource. */
struct made {
    D3DKMT_HANDLE resource, allocation[2];
    NTSTATUS status;
};

static struct made make(struct mm_client *c, const struct mm_private *data, UINT count, bool shared,
                        const void *client_memory)
{
    D3DDDI_ALLOCATIONINFO2 info[2] = {{0}};
    struct vidmm_create_item item[2];
    struct vidmm_create_request request = {.count = count, .item = item};
    struct mm_private copy[2];
    struct made m = {0};

    for (UINT i = 0; i < count; i++) {
        copy[i] = data[i];
        item[i] = (struct vidmm_create_item){.private_data = &copy[i],
                                             .private_bytes = sizeof(copy[i]),
                                             .info = &info[i],
                                             .system_memory = client_memory};
    }
    request.flags.CreateResource = 1;
    request.flags.CreateShared = shared;
    mm_mark(c->rig);
    m.status = vidmm_allocation_create(c->device, &request, &m.resource);
    for (UINT i = 0; i < count; i++)
        m.allocation[i] = info[i].hAllocation;
    return m;
}

static struct made make_one(struct mm_client *c)
{
    const struct mm_private p = wanted();

    return make(c, &p, 1, true, NULL);
}

static NTSTATUS destroy(struct mm_client *c, D3DKMT_HANDLE resource)
{
    return vidmm_allocation_destroy(c->device, resource, NULL, 0,
                                    (D3DDDICB_DESTROYALLOCATION2FLAGS){.SynchronousDestroy = 1});
}

/* Refused with one report of the rule; what the driver made is destroyed, and it never got an
 * address. */
static bool refused(struct mm_rig *rig, struct mm_private p, bool shared, const void *memory,
                    const char *rule, NTSTATUS status)
{
    uint64_t before = mm_violations(rig, rule);
    uint64_t free_pages = ram_free_pages(rig->base.ram);
    struct made m = make(&rig->client[0], &p, 1, shared, memory);

    return m.status == status && mm_violations(rig, rule) == before + 1 &&
           mm_event_count(rig, MM_BACKING) == 0 && mm_event_count(rig, MM_OPEN) == 0 &&
           mm_event_count(rig, MM_DESTROY) == 1 && ram_free_pages(rig->base.ram) == free_pages;
}

/* ---- who may have it ---- */

static void not_asked_body(struct mm_rig *rig)
{
    CHECK_RULE("PHYS-182/a",
               refused(rig, wanted(), true, NULL, "PHYS-182", STATUS_INVALID_PARAMETER));
    rig->ddi.features = FEATURE;
    CHECK_RULE("PHYS-182/b",
               NT_SUCCESS(make_one(&rig->client[0]).status) && mm_violations(rig, "PHYS-182") == 1);
}

static void no_entry_body(struct mm_rig *rig)
{
    CHECK_RULE("ALLOC-069", refused(rig, wanted(), true, NULL, "PHYS-182", STATUS_NOT_SUPPORTED));
}

static void conditions_body(struct mm_rig *rig)
{
    const struct ram_request request = {.pages = PAGES, .owner = RAM_CLIENT};
    struct page_number first;
    struct mm_private p = wanted();
    const void *memory;

    CHECK_RULE("PHYS-184/a", refused(rig, p, false, NULL, "PHYS-184", STATUS_INVALID_PARAMETER));
    CHECK_RULE("ALLOC-067", refused(rig, p, false, NULL, "PHYS-184", STATUS_INVALID_PARAMETER));
    p.set = MM_SET_BOTH;
    CHECK_RULE("PHYS-184/c", refused(rig, p, true, NULL, "PHYS-184", STATUS_INVALID_PARAMETER));
    p.set = MM_SET_VRAM;
    CHECK_RULE("PHYS-184/c", refused(rig, p, true, NULL, "PHYS-184", STATUS_INVALID_PARAMETER));

    p = wanted();
    p.flags = 0x11; /* CpuVisible, ExistingSysMem */
    CHECK(ram_take_contiguous(rig->base.ram, &request, &first));
    memory = ram_direct(rig->base.ram, page_phys(first));
    CHECK_RULE("PHYS-184/b", refused(rig, p, true, memory, "PHYS-184", STATUS_INVALID_PARAMETER));
    p.flags2 = 0; /* that memory is good for anything else */
    CHECK(NT_SUCCESS(make(&rig->client[0], &p, 1, true, memory).status));
    CHECK(mm_event_count(rig, MM_BACKING) == 0);
    p.flags = 0x21; /* ExistingKernelSysMem */
    p.flags2 = 1;
    CHECK_RULE("PHYS-184/b", refused(rig, p, true, NULL, "PHYS-184", STATUS_INVALID_PARAMETER));
    mm_client_close(rig, 0);
    ram_give_contiguous(rig->base.ram, first, PAGES);
}

static void run(void (*body)(struct mm_rig *rig), uint64_t features, bool no_entry, bool physical)
{
    struct mm_options o;

    mm_options_default(&o);
    o.version = DXGKDDI_INTERFACE_VERSION_WDDM3_1;
    o.features = features;
    o.no_backing_entry = no_entry;
    o.physical = physical;
    mm_run(&o, body);
}

TEST(only_a_driver_that_asked_may)
{
    run(not_asked_body, 0, false, false);
    run(no_entry_body, 0, true, false);
}

TEST(only_shared_system_memory_may_be)
{
    run(conditions_body, FEATURE, false, false);
}

/* ---- the call ---- */

static void call_body(struct mm_rig *rig)
{
    struct mm_client *c = &rig->client[0];
    struct mm_private two[2] = {wanted(), wanted()};
    const struct mm_event *backing;
    struct made m;

    two[1].flags2 = 0;
    m = make(c, two, 2, true, NULL);
    OK(m.status);
    backing = mm_event_at(rig, MM_BACKING, 0);
    CHECK_RULE("PHYS-185", mm_event_count(rig, MM_BACKING) == 1 && backing->irql == 0 &&
                               backing->handle[0] == mm_event_at(rig, MM_CREATE, 0)->handle[0]);
    CHECK_RULE("PHYS-185",
               mm_event_position(rig, MM_BACKING, 0) > mm_event_position(rig, MM_CREATE, 0));
    CHECK_RULE("ALLOC-068",
               backing->irql == 0 && backing->process == c->process->nt->id &&
                   backing->handle[0] == mm_allocation(c, m.allocation[0])->driver_handle);
    /* all of it, zeroed as any new content */
    for (UINT i = 0; i < PAGES * PAGE_BYTES; i++)
        CHECK(((const uint8_t *)backing->backing)[i] == 0);
    memset(backing->backing, 0x5A, PAGES * PAGE_BYTES);
    for (UINT i = 0; i < PAGES; i++) {
        const uint8_t *page = mm_page(rig, mm_allocation(c, m.allocation[0]), i);

        CHECK_RULE("PHYS-185", page[0] == 0x5A && page[PAGE_BYTES - 1] == 0x5A);
    }
}

TEST(the_driver_is_given_the_whole_store)
{
    run(call_body, FEATURE, false, false);
    run(call_body, FEATURE, false, true);
}

/* ---- its life ---- */

static uint8_t *watched; /* stays readable until the driver's destroy */
static unsigned watched_calls;

static void still_there(struct mm_rig *rig, const DXGKARG_DESTROYALLOCATION *args)
{
    struct phys_addr physical;

    CHECK(args->NumAllocations >= 1);
    CHECK(watched[0] == 0x77 && watched[PAGES * PAGE_BYTES - 1] == 0x78);
    CHECK(ram_physical(rig->base.ram, watched, &physical));
    watched_calls++;
}

/* What the GPU sees of a page: through the aperture where there is one, else through the IOMMU. */
static uint8_t *gpu_page(struct mm_rig *rig, const struct vidmm_allocation *a, uint64_t page)
{
    if (a->segment)
        return mm_gpu_memory(rig, a->segment, (a->aperture.first + page) << PAGE_BITS);
    return mm_gpu_memory(rig, 0, a->logical[page].value << PAGE_BITS);
}

static void life_body(struct mm_rig *rig)
{
    struct mm_client *c = &rig->client[0];
    struct made m = make_one(c);
    const struct vidmm_allocation *a;
    struct phys_addr physical;
    uint64_t free_pages;
    uint8_t *store;
    uint8_t *locked;
    void *address;

    OK(m.status);
    store = mm_event_at(rig, MM_BACKING, 0)->backing;
    a = mm_allocation(c, m.allocation[0]);

    store[3] = 0x31;
    OK(vidmm_lock2(c->device, m.allocation[0], &address));
    locked = address;
    CHECK_RULE("PHYS-186", locked != store && locked[3] == 0x31);
    locked[4 * PAGE_BYTES + 1] = 0x41;
    CHECK_RULE("PHYS-186", store[4 * PAGE_BYTES + 1] == 0x41);
    CHECK_RULE("ALLOC-068", store[4 * PAGE_BYTES + 1] == 0x41);
    OK(vidmm_unlock2(c->device, m.allocation[0]));
    CHECK_RULE("PHYS-186", store[3] == 0x31); /* the client's view has gone, this one has not */

    for (UINT round = 0; round < 2; round++) {
        uint8_t *gpu;

        OK(mm_resident(c, m.allocation[0]));
        CHECK(a->resident);
        gpu = gpu_page(rig, a, 4);
        CHECK(gpu);
        CHECK_RULE("PHYS-186", gpu[1] == 0x41 + round);
        gpu[1]++;
        CHECK_RULE("PHYS-186", store[4 * PAGE_BYTES + 1] == 0x42 + round);
        OK(mm_evict(c, m.allocation[0], 0));
        mm_idle(rig);
        CHECK(!a->resident && !a->logical);
        CHECK_RULE("PHYS-186", store[4 * PAGE_BYTES + 1] == 0x42 + round && store[3] == 0x31);
    }

    store[0] = 0x77;
    store[PAGES * PAGE_BYTES - 1] = 0x78;
    watched = store;
    watched_calls = 0;
    rig->on_destroy = still_there;
    free_pages = ram_free_pages(rig->base.ram);
    OK(destroy(c, m.resource));
    CHECK_RULE("PHYS-186", watched_calls == 1);
    CHECK(!ram_physical(rig->base.ram, store, &physical)); /* and no longer */
    CHECK(ram_free_pages(rig->base.ram) == free_pages + PAGES);
    CHECK(mm_event_count(rig, MM_BACKING) == 1);
}

/* Its content is lost when it is offered, its pages are not. */
static NTSTATUS move_out(struct vidmm *vidmm, struct paging_turn *turn, void *allocation)
{
    return placement_move_out(turn, vidmm, allocation, false);
}

static void offered_body(struct mm_rig *rig)
{
    struct mm_client *c = &rig->client[0];
    struct made m = make_one(c);
    const struct vidmm_allocation *a;
    struct phys_addr before;
    struct phys_addr after;
    uint8_t *store;

    OK(m.status);
    store = mm_event_at(rig, MM_BACKING, 0)->backing;
    a = mm_allocation(c, m.allocation[0]);
    CHECK(ram_physical(rig->base.ram, store, &before));
    OK(mm_resident(c, m.allocation[0]));
    OK(vidmm_offer(c->device, NULL, m.allocation, 1, D3DKMT_OFFER_PRIORITY_LOW,
                   (D3DKMT_OFFER_FLAGS){.AllowDecommit = 1}));
    CHECK(a->offer.in_force);
    OK(paging_run(rig->vidmm, move_out, mm_allocation(c, m.allocation[0])));
    mm_idle(rig);
    CHECK_RULE("PHYS-186", a->backing && ram_physical(rig->base.ram, store, &after) &&
                               after.value == before.value &&
                               page_phys(a->backing[0]).value == before.value);
    store[7] = 0x99;
    CHECK(vidmm_validate(rig->vidmm));
}

/* The creator closes it while another handle keeps it. */
static void kept_body(struct mm_rig *rig)
{
    struct mm_client *c = &rig->client[0];
    const uint64_t free_pages = ram_free_pages(rig->base.ram);
    struct made m = make_one(c);
    struct vidmm_resource *resource;

    OK(m.status);
    watched = mm_event_at(rig, MM_BACKING, 0)->backing;
    watched[0] = 0x77;
    watched[PAGES * PAGE_BYTES - 1] = 0x78;
    watched_calls = 0;
    rig->on_destroy = still_there;
    resource = vidmm_resource_get(c->device, m.resource);
    CHECK(resource);
    OK(destroy(c, m.resource));
    CHECK(watched_calls == 0 && watched[0] == 0x77);
    vidmm_resource_put(resource);
    CHECK_RULE("PHYS-186", watched_calls == 1);
    CHECK(ram_free_pages(rig->base.ram) == free_pages);
}

TEST(the_address_lasts)
{
    run(life_body, FEATURE, false, false);
    run(life_body, FEATURE, false, true);
    run(offered_body, FEATURE, false, true);
    run(kept_body, FEATURE, false, false);
}

/* ---- failures ---- */

static void driver_fails_body(struct mm_rig *rig)
{
    struct mm_client *c = &rig->client[0];
    uint64_t free_pages = ram_free_pages(rig->base.ram);
    struct phys_addr physical;
    struct made m;

    rig->backing_status = STATUS_NO_MEMORY;
    for (unsigned i = 0; i < 2; i++) {
        m = make_one(c);
        CHECK_RULE("PHYS-187", m.status == rig->backing_status &&
                                   mm_event_count(rig, MM_DESTROY) == 1 &&
                                   mm_event_at(rig, MM_DESTROY, 0)->handle[0] ==
                                       mm_event_at(rig, MM_CREATE, 0)->handle[0]);
        CHECK_RULE("ALLOC-069", m.status == rig->backing_status &&
                                    mm_event_count(rig, MM_OPEN) == mm_event_count(rig, MM_CLOSE));
        CHECK(!ram_physical(rig->base.ram, mm_event_at(rig, MM_BACKING, 0)->backing, &physical));
        CHECK(ram_free_pages(rig->base.ram) == free_pages &&
              verify_count(rig->base.log, VERIFY_WARNING) == 0);
        rig->backing_status = STATUS_DEVICE_NOT_READY;
    }
    /* an open that fails comes after it */
    rig->backing_status = STATUS_SUCCESS;
    rig->open_status = STATUS_NO_MEMORY;
    m = make_one(c);
    CHECK(m.status == STATUS_NO_MEMORY && mm_event_count(rig, MM_BACKING) == 1 &&
          mm_event_count(rig, MM_DESTROY) == 1 && ram_free_pages(rig->base.ram) == free_pages);
}

static void memory_fails_body(struct mm_rig *rig)
{
    struct util_heap *heap = util_heap_current;
    const uint64_t free_pages = ram_free_pages(rig->base.ram);
    struct made m = {.status = STATUS_NO_MEMORY};
    uint64_t n = 0;

    while (!NT_SUCCESS(m.status)) {
        uint64_t blocks = heap->live_blocks;

        heap->fail_at = heap->requests + ++n;
        m = make_one(&rig->client[0]);
        heap->fail_at = 0;
        CHECK(vidmm_validate(rig->vidmm));
        CHECK(NT_SUCCESS(m.status) ||
              (m.status == STATUS_NO_MEMORY && ram_free_pages(rig->base.ram) == free_pages &&
               heap->live_blocks <= blocks + 1 && /* a handle table may have grown */
               mm_event_count(rig, MM_CREATE) == mm_event_count(rig, MM_DESTROY)));
    }
    CHECK(n > 3);
    OK(destroy(&rig->client[0], m.resource));
    CHECK(ram_free_pages(rig->base.ram) == free_pages);
}

TEST(failures_leave_nothing)
{
    run(driver_fails_body, FEATURE, false, false);
    run(memory_fails_body, FEATURE, false, false);
}
