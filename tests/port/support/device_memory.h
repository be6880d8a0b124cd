/* SPDX-License-Identifier: MIT */
/* Memory of a driver with a list for its device, on an adapter in each mode of DMA: TEST_WITH(mode, name, IOMMU_REMAP). */
#ifndef DXGK_TESTS_PORT_DEVICE_MEMORY_H
#define DXGK_TESTS_PORT_DEVICE_MEMORY_H

#include "port/support/memory_calls.h"

#define PAGES(n) ((SIZE_T)(n)*PAGE_SIZE)
#define MIB      (1ull << 20)

static const struct probe_options modes[] = {
    [IOMMU_OFF] = {0},
    [IOMMU_ISOLATION] = {.port = {.iommu = IOMMU_ISOLATION}},
    [IOMMU_REMAP] = {.port = {.iommu = IOMMU_REMAP}},
};

/* A life in the mode; what `body` leaves behind is an error. */
static inline void in_mode(enum iommu_mode mode, void (*body)(struct probe *p))
{
    struct probe *p = probe_started(&modes[mode]);

    if (mode == IOMMU_REMAP)
        CHECK_RULE("IOMMU-026", port_adapter_dma_mode(p->adapter[0]) == mode);
    CHECK(port_adapter_dma_mode(p->adapter[0]) == mode);
    CHECK(probe_run(p, body) == SIM_DONE);
    CHECK(probe_stop(p) == 0 && probe_rule(p, "PHYS-022") == 0);
    probe_destroy(p);
}

#define RIG_ARGUMENT_mode       struct probe *p
#define RIG_RUN_mode(body, ...) in_mode(__VA_ARGS__, body)

/* ---- memory of a driver ---- */

/* An object with a view for the processor and a list for the device, of all of it. */
struct memory {
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT object;
    uint8_t *bytes;
    DXGK_ADL *adl;
    SIZE_T size;
};

static inline DXGK_ADL *list_of(struct probe *p, const struct memory *m, SIZE_T offset, SIZE_T size,
                                bool contiguous)
{
    DXGKARGCB_ALLOCATE_ADL args = {
        .hAdapterMemoryObject = m->object.hAdapterMemoryObject, .Offset = offset, .Size = size};

    (void)p;
    args.Flags.PreferContiguous = contiguous;
    CHECK(NT_SUCCESS(DXGK.DxgkCbAllocateAdl(&args)));
    return args.pAdl;
}

static inline struct memory object_of(struct probe *p, DXGK_PHYSICAL_MEMORY_TYPE type, SIZE_T size)
{
    struct memory m = {.size = size};
    DXGKARGCB_MAP_PHYSICAL_MEMORY view = {.Size = size};

    m.object = (DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT){
        .hAdapter = DXGK.DeviceHandle,
        .Size = size,
        .Type = type,
        .CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED,
    };
    if (type == DXGK_PHYSICAL_MEMORY_TYPE_MDL)
        m.object.Mdl.HighAddress.QuadPart = ALL_RAM;
    else
        m.object.ContiguousMemory.HighestAcceptableAddress.QuadPart = ALL_RAM;
    CHECK(NT_SUCCESS(DXGK.DxgkCbCreatePhysicalMemoryObject(&m.object)));
    view.hPhysicalMemoryObject = m.object.hPhysicalMemoryObject;
    CHECK(NT_SUCCESS(DXGK.DxgkCbMapPhysicalMemory(&view)));
    m.bytes = view.pMappedAddress;
    return m;
}

static inline struct memory memory_of(struct probe *p, SIZE_T size)
{
    struct memory m = object_of(p, DXGK_PHYSICAL_MEMORY_TYPE_MDL, size);

    m.adl = list_of(p, &m, 0, size, true);
    return m;
}

static inline void give_memory(struct probe *p, struct memory *m)
{
    DXGKARGCB_UNMAP_PHYSICAL_MEMORY undo = {.hPhysicalMemoryObject = m->object.hPhysicalMemoryObject,
                                            .pBaseAddress = m->bytes,
                                            .Size = m->size};

    DXGK.DxgkCbUnmapPhysicalMemory(&undo);
    if (m->adl)
        free_adl(p, m->object.hAdapterMemoryObject, m->adl);
    destroy_object(p, &m->object);
}

static inline uint64_t page_of(const DXGK_ADL *adl, uint64_t k)
{
    return adl->Flags.Contiguous ? adl->BasePageNumber + k : adl->Pages[k];
}

/* The page of RAM behind the k-th of a view. */
static inline uint64_t frame_of(const struct probe *p, const struct memory *m, uint64_t k)
{
    struct phys_addr physical;

    CHECK(ram_physical(p->ram, m->bytes + k * PAGE_SIZE, &physical));
    return physical.value / PAGE_SIZE;
}

static inline bool reads(uint64_t at)
{
    uint8_t byte;

    return probe_device_dma(0, at, &byte, 1, false);
}

static inline bool writes(uint64_t at)
{
    uint8_t byte = 0x3C;

    return probe_device_dma(0, at, &byte, 1, true);
}

#endif
