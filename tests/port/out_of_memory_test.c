/* SPDX-License-Identifier: MIT */
/* Each allocation of the host fails in turn while a driver is registered, started and stopped. */
#include <initguid.h>

#include "bus/window.h"
#include "port/support/probe.h"

#include <string.h>

/* Calls of one DDI with a good status. */
static size_t successes(const struct probe *p, enum probe_ddi ddi)
{
    size_t count = 0;

    for (size_t i = 0; i < p->calls; i++)
        count += p->call[i]->ddi == ddi && NT_SUCCESS((NTSTATUS)p->call[i]->result);
    return count;
}

/* What the driver was asked to make it was asked to unmake, once. */
static void check_pairs(const struct probe *p, uint64_t n)
{
    static const enum probe_ddi pair[][2] = {
        {PROBE_AddDevice, PROBE_RemoveDevice},       {PROBE_StartDevice, PROBE_StopDevice},
        {PROBE_CreateProcess, PROBE_DestroyProcess}, {PROBE_CreateDevice, PROBE_DestroyDevice},
        {PROBE_CreateContext, PROBE_DestroyContext},
    };

    for (size_t i = 0; i < sizeof(pair) / sizeof(pair[0]); i++)
        if (successes(p, pair[i][0]) != probe_count(p, pair[i][1]))
            fail_msg("allocation %llu: %zu of DDI %d, %zu of DDI %d", (unsigned long long)n,
                     successes(p, pair[i][0]), (int)pair[i][0], probe_count(p, pair[i][1]),
                     (int)pair[i][1]);
    /* a driver that was started is stopped before it is removed */
    for (size_t i = 0; i < p->calls; i++)
        if (p->call[i]->ddi == PROBE_RemoveDevice && probe_count(p, PROBE_StopDevice))
            CHECK(p->call[i]->order > probe_nth(p, PROBE_StopDevice, 0)->order);
}

/* Nothing is left: of RAM and of mappings here, of the heap in probe_destroy. */
static void check_released(const struct probe *p, uint64_t pages, uint64_t n)
{
    if (ram_free_pages(p->ram) != pages || bus_mappings(p->bus) != 0)
        fail_msg("allocation %llu: %lld pages, %llu mappings are left", (unsigned long long)n,
                 (long long)(pages - ram_free_pages(p->ram)),
                 (unsigned long long)bus_mappings(p->bus));
}

/* The start of one driver with its n-th allocation failing. */
static NTSTATUS start_without(struct probe *p, uint64_t n)
{
    uint64_t pages = ram_free_pages(p->ram);
    NTSTATUS status;
    bool loaded;

    p->fail_allocation = n;
    status = probe_start(p);
    CHECK(!p->sim->stopped);
    loaded = p->driver != NULL;
    if (!NT_SUCCESS(status)) {
        if (status != STATUS_NO_MEMORY && status != STATUS_INSUFFICIENT_RESOURCES)
            fail_msg("allocation %llu: status 0x%08x", (unsigned long long)n, (unsigned)status);
        CHECK(probe_count(p, PROBE_RemoveDevice) == successes(p, PROBE_AddDevice));
        CHECK(p->adapters == 0 && port_adapter_first(p->port) == NULL);
    }
    CHECK(probe_stop(p) == 0);
    CHECK(probe_count(p, PROBE_Unload) == (loaded ? 1 : 0));
    check_pairs(p, n);
    check_released(p, pages, n);
    CHECK(probe_reports(p, VERIFY_WARNING) == 0); /* the driver did nothing wrong */
    return status;
}

static void each_in_turn(struct probe *(*make)(void))
{
    unsigned failed = 0;
    bool more = true;
    uint64_t n;

    for (n = 1; more; n++) {
        struct probe *p = make();

        failed += !NT_SUCCESS(start_without(p, n));
        more = p->sim->heap.failures != 0;
        probe_destroy(p);
    }
    CHECK(n > 40 && failed > n / 2);
}

static struct probe *plain(void)
{
    return probe_create(NULL);
}

TEST(a_plain_adapter)
{
    each_in_turn(plain);
}

static struct probe *rich(void)
{
    const struct probe_options options = {.port = {.iommu = IOMMU_REMAP}};
    struct probe *p = probe_create(&options);

    probe_use_components(p, 2);
    p->children = 1;
    p->child[0].ChildDeviceType = TypeOther;
    probe_set_entry(p, PROBE_QueryChildRelations, true);
    probe_set_entry(p, PROBE_QueryChildStatus, true);
    probe_set_entry(p, PROBE_QueryDeviceDescriptor, true);
    return p;
}

TEST(with_children_components_and_remapping)
{
    each_in_turn(rich);
}

static struct probe *isolated(void)
{
    const struct probe_options options = {.port = {.iommu = IOMMU_ISOLATION}};
    struct probe *p = probe_create(&options);

    p->reserved_ranges = 1;
    p->reserved[0].BaseAddress.QuadPart = 1ll << 40;
    p->reserved[0].NumberOfBytes.QuadPart = 4096;
    return p;
}

TEST(with_isolation)
{
    each_in_turn(isolated);
}

/* ---- with the interface for features ---- */

static int held; /* interfaces of the driver */

static NTSTATUS NTAPI query_support(HANDLE adapter, INOUT_PDXGKARG_QUERYFEATURESUPPORT args)
{
    (void)adapter;
    args->SupportedByDriver = args->SupportedOnCurrentConfig = TRUE;
    args->MinSupportedVersion = args->MaxSupportedVersion = 1;
    return STATUS_SUCCESS;
}

static VOID NTAPI take_one(PVOID context)
{
    ++*(int *)context;
}

static VOID NTAPI return_one(PVOID context)
{
    --*(int *)context;
}

static void offer(struct probe *p, struct probe_call *call)
{
    const QUERY_INTERFACE *query = (const QUERY_INTERFACE *)(uintptr_t)call->arg[1];
    const DXGKDDI_FEATURE_INTERFACE interface = {.Size = sizeof(interface),
                                                 .Version = DXGK_FEATURE_INTERFACE_VERSION_1,
                                                 .Context = &held,
                                                 .InterfaceReference = take_one,
                                                 .InterfaceDereference = return_one,
                                                 .QueryFeatureSupport = query_support};

    (void)p;
    memcpy(query->Interface, &interface, sizeof(interface));
    held++;
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static struct probe *negotiating(void)
{
    const struct probe_options options = {.version = DXGKDDI_INTERFACE_VERSION_WDDM3_1,
                                          .port = {.wddm_3_2 = true}};
    struct probe *p;

    CHECK(held == 0); /* of the one before */
    p = probe_create(&options);
    probe_set_entry(p, PROBE_QueryInterface, true);
    p->before[PROBE_QueryInterface] = offer;
    return p;
}

TEST(with_the_interface_for_features)
{
    each_in_turn(negotiating);
    CHECK(held == 0);
}

/* Nothing at all is left for the stop. */
TEST(stopping_needs_no_memory)
{
    struct probe *p = rich();
    uint64_t pages = ram_free_pages(p->ram);

    CHECK(NT_SUCCESS(probe_start(p)));
    p->fail_allocation = 1;
    p->fail_onward = true;
    CHECK(probe_stop(p) == 0);
    check_pairs(p, 0);
    check_released(p, pages, 0);
    CHECK(probe_count(p, PROBE_Unload) == 1 && probe_reports(p, VERIFY_WARNING) == 0);
    probe_destroy(p);
}
