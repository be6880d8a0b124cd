/* SPDX-License-Identifier: MIT */
/* Which callbacks about memory a driver has, by the mode of its domain and its version. */
#include "port/support/device_memory.h"

/* ---- which callbacks there are ---- */

static NTSTATUS ask_block(struct probe *p, HANDLE *handle)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = {.NumberOfBytes = PAGE_SIZE,
                                               .HighestAcceptableAddress.QuadPart = ALL_RAM,
                                               .CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED};
    NTSTATUS status = DXGK.DxgkCbAllocateContiguousMemory(DXGK.DeviceHandle, &args);

    *handle = args.hMemoryHandle;
    return status;
}

static NTSTATUS ask_pages(struct probe *p, DXGKARGCB_ALLOCATEPAGESFORMDL *args)
{
    *args = (DXGKARGCB_ALLOCATEPAGESFORMDL){.TotalBytes = PAGE_SIZE,
                                            .HighAddress.QuadPart = ALL_RAM,
                                            .CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED};
    return DXGK.DxgkCbAllocatePagesForMdl(DXGK.DeviceHandle, args);
}

static NTSTATUS ask_mapping(struct probe *p, DXGKARGCB_MAPMDLTOIOMMU *args)
{
    const PHYSICAL_ADDRESS lowest = {.QuadPart = 0}, highest = {.QuadPart = -1},
                           any = {.QuadPart = 0};
    MDL *mdl;

    mdl = MmAllocatePagesForMdlEx(lowest, highest, any, PAGE_SIZE, MmCached, 0);
    CHECK(mdl);
    *args = (DXGKARGCB_MAPMDLTOIOMMU){.pMdl = mdl};
    return DXGK.DxgkCbMapMdlToIoMmu(DXGK.DeviceHandle, args);
}

static void drop_mdl(MDL *mdl)
{
    MmFreePagesFromMdl(mdl);
    ExFreePool(mdl);
}

/* Of each of the four, the status; given back where it succeeded. */
static void ask_all(struct probe *p, NTSTATUS status[4])
{
    DXGKARGCB_PINFRAMEBUFFERFORSAVE pin = {.CommitSize = PAGES(2)};
    DXGKARGCB_UNPINFRAMEBUFFERFORSAVE unpin = {0};
    DXGKARGCB_UNMAPMDLFROMIOMMU unmap;
    DXGKARGCB_ALLOCATEPAGESFORMDL pages;
    DXGKARGCB_MAPMDLTOIOMMU mapping;
    HANDLE block;

    status[0] = ask_block(p, &block);
    if (NT_SUCCESS(status[0]))
        CHECK(NT_SUCCESS(free_block(p, block)));
    status[1] = ask_pages(p, &pages);
    if (NT_SUCCESS(status[1]))
        CHECK(NT_SUCCESS(free_pages(p, pages.hMemoryHandle)));
    status[2] = ask_mapping(p, &mapping);
    unmap.hMemoryHandle = mapping.hMemoryHandle;
    if (NT_SUCCESS(status[2]))
        DXGK.DxgkCbUnmapMdlFromIoMmu(DXGK.DeviceHandle, &unmap);
    drop_mdl(mapping.pMdl);
    status[3] = DXGK.DxgkCbPinFrameBufferForSave(DXGK.DeviceHandle, &pin);
    if (NT_SUCCESS(status[3]))
        CHECK(NT_SUCCESS(DXGK.DxgkCbUnpinFrameBufferForSave(DXGK.DeviceHandle, &unpin)));
}

static void mode_decides_body(struct probe *p)
{
    const bool remapped = port_adapter_dma_mode(p->adapter[0]) == IOMMU_REMAP;
    NTSTATUS status[4];

    ask_all(p, status);
    for (unsigned i = 0; i < 4; i++)
        if (remapped)
            CHECK_RULE("IOMMU-094/b", IS(status[i], STATUS_NOT_SUPPORTED));
        else
            CHECK_RULE("IOMMU-094/a", IS(status[i], STATUS_SUCCESS));
    CHECK_RULE("IOMMU-094/c", probe_reports(p, VERIFY_WARNING) == 0 &&
                                  probe_rule(p, "IOMMU-094") == (remapped ? 4 : 0));
    CHECK_RULE("IOMMU-019/b", !remapped || IS(status[0], STATUS_NOT_SUPPORTED));
}

TEST(logical_mode_takes_the_callbacks_of_2_4_away)
{
    for (enum iommu_mode mode = IOMMU_OFF; mode <= IOMMU_REMAP; mode++) {
        struct probe *p = probe_create(&modes[mode]);

        p->save_bytes = PAGES(4);
        CHECK(NT_SUCCESS(probe_start(p)));
        CHECK(probe_run(p, mode_decides_body) == SIM_DONE);
        probe_destroy(p);
    }
}

static void save_body(struct probe *p)
{
    DXGKARGCB_PINFRAMEBUFFERFORSAVE pin = {.CommitSize = PAGES(2)};
    DXGKARGCB_PINFRAMEBUFFERFORSAVE2 pin2 = {.CommitSize = PAGES(2)};
    DXGKARGCB_UNPINFRAMEBUFFERFORSAVE unpin = {0};
    DXGKARGCB_MAPFRAMEBUFFERPOINTER map = {.Size = PAGES(2), .Offset = 0};
    DXGKARGCB_UNMAPFRAMEBUFFERPOINTER unmap = {0};
    uint8_t byte = 0x6B;

    CHECK_RULE("IOMMU-095/a", IS(DXGK.DxgkCbPinFrameBufferForSave(DXGK.DeviceHandle, &pin),
                                 STATUS_NOT_SUPPORTED) &&
                                  probe_rule(p, "IOMMU-093") == 1);
    CHECK_RULE("IOMMU-095/b",
               IS(DXGK.DxgkCbPinFrameBufferForSave2(DXGK.DeviceHandle, &pin2), STATUS_SUCCESS));
    /* saved by the device, and looked at by the processor */
    CHECK_RULE("IOMMU-095/b",
               probe_device_dma(0, page_of(pin2.pAdl, 1) * PAGE_SIZE + 7, &byte, 1, true));
    CHECK(IS(DXGK.DxgkCbUnpinFrameBufferForSave(DXGK.DeviceHandle, &unpin), STATUS_SUCCESS));
    CHECK_RULE("IOMMU-095/c",
               IS(DXGK.DxgkCbMapFrameBufferPointer(DXGK.DeviceHandle, &map), STATUS_SUCCESS) &&
                   ((uint8_t *)map.pBaseAddress)[PAGE_SIZE + 7] == 0x6B);
    unmap.pBaseAddress = map.pBaseAddress;
    CHECK_RULE("IOMMU-095/c",
               IS(DXGK.DxgkCbUnmapFrameBufferPointer(DXGK.DeviceHandle, &unmap), STATUS_SUCCESS));
    CHECK(probe_reports(p, VERIFY_ERROR) == 1);
}

TEST(drivers_of_3_0_save_with_the_second_version)
{
    for (enum iommu_mode mode = IOMMU_OFF; mode <= IOMMU_REMAP; mode++) {
        struct probe_options options = modes[mode];
        struct probe *p;

        options.version = DXGKDDI_INTERFACE_VERSION_WDDM3_0;
        p = probe_create(&options);
        p->caps.WDDMVersion = p->device_wddm = DXGKDDI_WDDMv3_0;
        p->save_bytes = PAGES(4);
        CHECK(NT_SUCCESS(probe_start(p)));
        CHECK(probe_run(p, save_body) == SIM_DONE);
        probe_destroy(p);
    }
}

/* ---- objects and lists are for everyone ---- */

static void plain_body(struct probe *p)
{
    struct memory m = memory_of(p, PAGES(3));
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = make_block(p, PAGE_SIZE);

    for (uint64_t k = 0; k < 3; k++)
        CHECK_RULE("IOMMU-096/a", page_of(m.adl, k) == frame_of(p, &m, k));
    CHECK_RULE("IOMMU-096/b", probe_reports(p, VERIFY_WARNING) == 0);
    CHECK(IS(free_block(p, block.hMemoryHandle), STATUS_SUCCESS));
    give_memory(p, &m);
}

TEST(lists_need_no_cap)
{
    struct probe *p = probe_create(NULL);

    p->iommu.Value = 0;
    p->caps.MemoryManagementCaps.IoMmuSecureModeSupported = 0;
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_end(p, plain_body);
}
