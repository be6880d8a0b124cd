/* SPDX-License-Identifier: MIT */
/* The levels of the memory callbacks: what is reported, what is carried out, and when it is the end. */
#include "physmem/physical_holding.h"
#include "port/support/probe.h"
#include "sim/sim.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define DXGK               p->state[0].dxgk
#define H                  DXGK.DeviceHandle

/* ---- up to 3.1: reported, and carried out ---- */

static size_t held(struct probe *p)
{
    return physical_holdings(port_physical_memory(p->port), port_adapter_physical(p->adapter[0]),
                             NULL, 0);
}

static void older_body(struct probe *p)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY contiguous;
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT object;
    DXGKARGCB_ALLOCATE_ADL adl;
    size_t objects;
    KIRQL before;

    memset(&object, 0, sizeof(object));
    object.hAdapter = H;
    object.Type = DXGK_PHYSICAL_MEMORY_TYPE_MDL;
    object.Size = 4096;
    object.CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED;
    object.Mdl.HighAddress.QuadPart = -1;
    CHECK(NT_SUCCESS(DXGK.DxgkCbCreatePhysicalMemoryObject(&object)));
    objects = held(p);
    for (KIRQL level = PASSIVE_LEVEL; level <= DISPATCH_LEVEL; level++) {
        uint64_t reports = probe_rule(p, "THREAD-049");
        bool above = level == DISPATCH_LEVEL;
        DXGKARGCB_FREECONTIGUOUSMEMORY free_args;
        DXGKARGCB_FREE_ADL free_adl;
        NTSTATUS status[2];

        memset(&contiguous, 0, sizeof(contiguous));
        contiguous.NumberOfBytes = 4096;
        contiguous.HighestAcceptableAddress.QuadPart = (1ll << 40) - 1;
        memset(&adl, 0, sizeof(adl));
        adl.hAdapterMemoryObject = object.hAdapterMemoryObject;
        adl.Size = 4096;
        KeRaiseIrql(level, &before);
        status[0] = DXGK.DxgkCbAllocateContiguousMemory(H, &contiguous);
        status[1] = DXGK.DxgkCbAllocateAdl(&adl);
        KeLowerIrql(before);
        CHECK_RULE("THREAD-049", probe_rule(p, "THREAD-049") == reports + (above ? 2 : 0));
        CHECK_RULE("PHYS-013", IS(status[0], STATUS_SUCCESS) && IS(status[1], STATUS_SUCCESS));
        free_args.hMemoryHandle = contiguous.hMemoryHandle;
        free_adl.hAdapterMemoryObject = object.hAdapterMemoryObject;
        free_adl.pAdl = adl.pAdl;
        KeRaiseIrql(level, &before);
        status[0] = DXGK.DxgkCbFreeContiguousMemory(H, &free_args);
        DXGK.DxgkCbFreeAdl(&free_adl);
        KeLowerIrql(before);
        CHECK_RULE("THREAD-049", probe_rule(p, "THREAD-049") == reports + (above ? 4 : 0));
        CHECK_RULE("PHYS-013", IS(status[0], STATUS_SUCCESS) && held(p) == objects);
    }
    {
        DXGKARGCB_DESTROY_PHYSICAL_MEMORY_OBJECT destroy = {
            .hPhysicalMemoryObject = object.hPhysicalMemoryObject,
            .hAdapterMemoryObject = object.hAdapterMemoryObject};

        DXGK.DxgkCbDestroyPhysicalMemoryObject(&destroy);
    }
}

TEST(older_drivers_are_reported)
{
    static const UINT versions[] = {DXGKDDI_INTERFACE_VERSION_WDDM2_9,
                                    DXGKDDI_INTERFACE_VERSION_WDDM3_1};

    for (unsigned i = 0; i < 2; i++) {
        const struct probe_options options = {.version = versions[i]};
        struct probe *p = probe_create(&options);

        p->iommu.DmaRemappingSupported = 0; /* which closes the callbacks of 2.4 (IOMMU-093) */
        CHECK(NT_SUCCESS(probe_start(p)));
        CHECK(probe_run(p, older_body) == SIM_DONE);
        CHECK(probe_rule(p, "THREAD-049") == 4 && probe_reports(p, VERIFY_FATAL) == 0);
        probe_destroy(p);
    }
}

/* ---- newer: the end, before the argument is looked at ---- */

/* Nothing is there: whoever reads it says so, or faults. */
#define NOWHERE(type) ((type *)(uintptr_t)0x10)

#define BY_ADAPTER(name, type)                                 \
    static void call_##name(struct probe *p)                   \
    {                                                          \
        (void)DXGK.DxgkCb##name(H, NOWHERE(DXGKARGCB_##type)); \
    }
#define BY_ARGUMENT(name, type)                             \
    static void call_##name(struct probe *p)                \
    {                                                       \
        (void)DXGK.DxgkCb##name(NOWHERE(DXGKARGCB_##type)); \
    }

BY_ADAPTER(AllocateContiguousMemory, ALLOCATECONTIGUOUSMEMORY)
BY_ADAPTER(FreeContiguousMemory, FREECONTIGUOUSMEMORY)
BY_ADAPTER(AllocatePagesForMdl, ALLOCATEPAGESFORMDL)
BY_ADAPTER(FreePagesFromMdl, FREEPAGESFROMMDL)
BY_ADAPTER(PinFrameBufferForSave, PINFRAMEBUFFERFORSAVE)
BY_ADAPTER(UnpinFrameBufferForSave, UNPINFRAMEBUFFERFORSAVE)
BY_ADAPTER(MapFrameBufferPointer, MAPFRAMEBUFFERPOINTER)
BY_ADAPTER(UnmapFrameBufferPointer, UNMAPFRAMEBUFFERPOINTER)
BY_ADAPTER(MapMdlToIoMmu, MAPMDLTOIOMMU)
BY_ADAPTER(UnmapMdlFromIoMmu, UNMAPMDLFROMIOMMU)
BY_ADAPTER(PinFrameBufferForSave2, PINFRAMEBUFFERFORSAVE2)
BY_ARGUMENT(CreatePhysicalMemoryObject, CREATE_PHYSICAL_MEMORY_OBJECT)
BY_ARGUMENT(DestroyPhysicalMemoryObject, DESTROY_PHYSICAL_MEMORY_OBJECT)
BY_ARGUMENT(MapPhysicalMemory, MAP_PHYSICAL_MEMORY)
BY_ARGUMENT(UnmapPhysicalMemory, UNMAP_PHYSICAL_MEMORY)
BY_ARGUMENT(AllocateAdl, ALLOCATE_ADL)
BY_ARGUMENT(FreeAdl, FREE_ADL)
BY_ARGUMENT(OpenPhysicalMemoryObject, OPEN_PHYSICAL_MEMORY_OBJECT)
BY_ARGUMENT(ClosePhysicalMemoryObject, CLOSE_PHYSICAL_MEMORY_OBJECT)

static const struct newer_case {
    const char *name, *rule;
    void (*call)(struct probe *p);
} cases[] = {
#define CASE(name)                              \
    {                                           \
        "DxgkCb" #name, "PHYS-012", call_##name \
    }
    CASE(AllocateContiguousMemory),
    CASE(FreeContiguousMemory),
    CASE(AllocatePagesForMdl),
    CASE(FreePagesFromMdl),
    CASE(PinFrameBufferForSave),
    CASE(UnpinFrameBufferForSave),
    CASE(MapFrameBufferPointer),
    CASE(UnmapFrameBufferPointer),
    CASE(MapMdlToIoMmu),
    CASE(UnmapMdlFromIoMmu),
    CASE(CreatePhysicalMemoryObject),
    CASE(DestroyPhysicalMemoryObject),
    CASE(MapPhysicalMemory),
    CASE(UnmapPhysicalMemory),
    CASE(AllocateAdl),
    CASE(FreeAdl),
    CASE(OpenPhysicalMemoryObject),
    CASE(ClosePhysicalMemoryObject),
    {"DxgkCbPinFrameBufferForSave2", "PHYS-014", call_PinFrameBufferForSave2},
};

static const struct newer_case *now;

static void newer_body(struct probe *p)
{
    KIRQL before;

    KeRaiseIrql(DISPATCH_LEVEL, &before);
    now->call(p);
    fail_msg("%s came back", now->name);
}

/* The driver of a version that has no number here yet: an admitted one is given a later number. */
TEST(newer_drivers_are_stopped)
{
    const struct probe_options options = {.version = DXGKDDI_INTERFACE_VERSION_WDDM3_1};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct probe *p = probe_create(&options);
        const struct verify_bugcheck *bugcheck;

        CHECK(NT_SUCCESS(probe_start(p)));
        port_adapter_ddi(p->adapter[0])->table.Version = DXGKDDI_INTERFACE_VERSION_WDDM3_1 + 1;
        now = &cases[i];
        CHECK_RULE(now->rule, probe_run(p, newer_body) == SIM_STOPPED);
        bugcheck = verify_bugcheck_state(p->log);
        CHECK_RULE(now->rule, bugcheck->happened && probe_rule(p, "THREAD-049") == 1 &&
                                  probe_record(p, "THREAD-049")->severity == VERIFY_FATAL &&
                                  probe_said(p, "THREAD-049", now->name));
        CHECK_RULE("THREAD-049", bugcheck->happened && probe_reports(p, VERIFY_ERROR) == 1);
        CHECK_RULE(now->rule, held(p) == 0);
        probe_destroy(p);
    }
}
