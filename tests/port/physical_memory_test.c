/* SPDX-License-Identifier: MIT */
/* The memory callbacks as drivers find them: which there are, from where they may be called, what is asked and not offered. */
#include "nt/base/current.h"
#include "port/support/client.h"
#include "port/support/memory_calls.h"
#include "sim/sim.h"
#include "sim/thread.h"

/* ---- presence ---- */

static bool slots_filled(const DXGKRNL_INTERFACE *interface, size_t first, size_t last)
{
    bool filled = true;

    for (size_t at = first; at <= last; at += sizeof(void *))
        filled = filled && *(void *const *)(const void *)((const char *)interface + at) != NULL;
    return filled;
}

static DXGKRNL_INTERFACE whole; /* as passed, not only as many bytes as Size says */

static void keep_interface(struct probe *p, struct probe_call *call)
{
    (void)p;
    memcpy(&whole, (const void *)(uintptr_t)call->arg[2], sizeof(whole));
}

TEST(callbacks_came_with_their_version)
{
    static const UINT hosts[] = {
        DXGKDDI_INTERFACE_VERSION_WDDM2_3, DXGKDDI_INTERFACE_VERSION_WDDM2_4,
        DXGKDDI_INTERFACE_VERSION_WDDM2_8, DXGKDDI_INTERFACE_VERSION_WDDM2_9};

    for (unsigned i = 0; i < 4; i++) {
        const struct probe_options options = {.version = DXGKDDI_INTERFACE_VERSION_WDDM2_0,
                                              .port = {.interface_version = hosts[i]}};
        struct probe *p = probe_create(&options);
        const DXGKRNL_INTERFACE *interface = &whole;
        size_t first = offsetof(DXGKRNL_INTERFACE, DxgkCbAllocateContiguousMemory);
        size_t objects = offsetof(DXGKRNL_INTERFACE, DxgkCbCreatePhysicalMemoryObject);

        p->caps.WDDMVersion = (DXGK_WDDMVERSION)0;
        p->before[PROBE_StartDevice] = keep_interface;
        CHECK(NT_SUCCESS(probe_start(p)));
        CHECK_RULE("PHYS-007",
                   i == 0 ? !slots_filled(interface, first, first)
                          : slots_filled(interface, first,
                                         offsetof(DXGKRNL_INTERFACE, DxgkCbUnmapMdlFromIoMmu)) &&
                                interface->DxgkCbFreeContiguousMemory &&
                                interface->DxgkCbAllocatePagesForMdl &&
                                interface->DxgkCbFreePagesFromMdl &&
                                interface->DxgkCbPinFrameBufferForSave &&
                                interface->DxgkCbUnpinFrameBufferForSave &&
                                interface->DxgkCbMapFrameBufferPointer &&
                                interface->DxgkCbUnmapFrameBufferPointer &&
                                interface->DxgkCbMapMdlToIoMmu);
        CHECK_RULE("PHYS-008", i < 3
                                   ? interface->Size <= objects
                                   : interface->DxgkCbCreatePhysicalMemoryObject &&
                                         interface->DxgkCbDestroyPhysicalMemoryObject &&
                                         interface->DxgkCbMapPhysicalMemory &&
                                         interface->DxgkCbUnmapPhysicalMemory &&
                                         interface->DxgkCbAllocateAdl && interface->DxgkCbFreeAdl &&
                                         interface->DxgkCbOpenPhysicalMemoryObject &&
                                         interface->DxgkCbClosePhysicalMemoryObject &&
                                         interface->DxgkCbPinFrameBufferForSave2);
        probe_destroy(p);
    }
}

TEST(every_adapter_hears_of_the_same_memory)
{
    const struct probe_options two = {.adapters = 2, .ram_bytes = 48u << 20};
    struct probe *p = probe_started(&two);

    for (unsigned i = 0; i < 2; i++) {
        CHECK_RULE("PHYS-002/a", p->state[i].device.SystemMemorySize.QuadPart == 48 << 20);
        CHECK_RULE("PHYS-002/b",
                   p->state[i].device.HighestPhysicalAddress.QuadPart == (48 << 20) - 1);
    }
    probe_destroy(p);
}

/* ---- levels, threads, places ---- */

/* One of each: acquired, used, given back. */
static void use_everything(struct probe *p)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = make_block(p, 5000);
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = make_pages(p, 8192, DXGK_MEMORY_CACHING_TYPE_CACHED);
    DXGKARGCB_MAPMDLTOIOMMU mapped = {.pMdl = pages.pMdl};
    DXGKARGCB_UNMAPMDLFROMIOMMU unmapped;
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT object = make_object(p, 12288);
    DXGKARGCB_MAP_PHYSICAL_MEMORY view = {.hPhysicalMemoryObject = object.hPhysicalMemoryObject,
                                          .Size = 4096};
    DXGKARGCB_UNMAP_PHYSICAL_MEMORY undo;
    DXGKARGCB_CLOSE_PHYSICAL_MEMORY_OBJECT close = {
        .hAdapterMemoryObject = object.hAdapterMemoryObject};
    DXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT open = {
        .hAdapter = DXGK.DeviceHandle, .hPhysicalMemoryObject = object.hPhysicalMemoryObject};
    DXGK_ADL *adl = make_adl(p, object.hAdapterMemoryObject, 12288);

    memset(block.pMemory, 0x11, 5000);
    CHECK(IS(DXGK.DxgkCbMapMdlToIoMmu(DXGK.DeviceHandle, &mapped), STATUS_SUCCESS));
    unmapped.hMemoryHandle = mapped.hMemoryHandle;
    DXGK.DxgkCbUnmapMdlFromIoMmu(DXGK.DeviceHandle, &unmapped);
    CHECK(IS(DXGK.DxgkCbMapPhysicalMemory(&view), STATUS_SUCCESS));
    undo = (DXGKARGCB_UNMAP_PHYSICAL_MEMORY){.hPhysicalMemoryObject = view.hPhysicalMemoryObject,
                                             .pBaseAddress = view.pMappedAddress,
                                             .Size = view.Size};
    DXGK.DxgkCbUnmapPhysicalMemory(&undo);
    free_adl(p, object.hAdapterMemoryObject, adl);
    DXGK.DxgkCbClosePhysicalMemoryObject(&close);
    CHECK(IS(DXGK.DxgkCbOpenPhysicalMemoryObject(&open), STATUS_SUCCESS));
    object.hAdapterMemoryObject = open.hAdapterMemoryObject;
    destroy_object(p, &object);
    CHECK(IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS));
    CHECK(IS(free_block(p, block.hMemoryHandle), STATUS_SUCCESS));
}

static void use_frame_buffer_save(struct probe *p)
{
    DXGKARGCB_PINFRAMEBUFFERFORSAVE pin = {.CommitSize = 8192};
    DXGKARGCB_PINFRAMEBUFFERFORSAVE2 pin2 = {.CommitSize = 4096};
    DXGKARGCB_UNPINFRAMEBUFFERFORSAVE unpin = {0};
    DXGKARGCB_MAPFRAMEBUFFERPOINTER map = {.Size = 4096, .Offset = 4096};
    DXGKARGCB_UNMAPFRAMEBUFFERPOINTER unmap = {0};

    CHECK(IS(DXGK.DxgkCbPinFrameBufferForSave(DXGK.DeviceHandle, &pin), STATUS_SUCCESS));
    CHECK(IS(DXGK.DxgkCbUnpinFrameBufferForSave(DXGK.DeviceHandle, &unpin), STATUS_SUCCESS));
    CHECK(IS(DXGK.DxgkCbPinFrameBufferForSave2(DXGK.DeviceHandle, &pin2), STATUS_SUCCESS));
    CHECK(IS(DXGK.DxgkCbUnpinFrameBufferForSave(DXGK.DeviceHandle, &unpin), STATUS_SUCCESS));
    CHECK(IS(DXGK.DxgkCbMapFrameBufferPointer(DXGK.DeviceHandle, &map), STATUS_SUCCESS));
    ((char *)map.pBaseAddress)[map.Offset] = 1;
    unmap.pBaseAddress = map.pBaseAddress;
    CHECK(IS(DXGK.DxgkCbUnmapFrameBufferPointer(DXGK.DeviceHandle, &unmap), STATUS_SUCCESS));
}

static void at_both_levels(struct probe *p)
{
    size_t before = held(p);
    KIRQL level;

    for (KIRQL want = PASSIVE_LEVEL; want <= APC_LEVEL; want++) {
        KeRaiseIrql(want, &level);
        use_everything(p);
        use_frame_buffer_save(p);
        KeLowerIrql(level);
        CHECK_RULE("PHYS-011", held(p) == before && probe_rule(p, "THREAD-049") == 0 &&
                                   probe_reports(p, VERIFY_ERROR) == 0);
    }
}

TEST(passive_and_apc_level_are_in_contract)
{
    struct probe *p = probe_create(NULL);

    p->save_bytes = 4 * 4096;
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_end(p, at_both_levels);
}

static unsigned rounds_done;

static void many_rounds(struct probe *p)
{
    for (unsigned i = 0; i < 25; i++) {
        DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = make_block(p, 4096u * (1 + i % 7));
        DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT object = make_object(p, 4096u * (1 + i % 5));
        DXGK_ADL *adl = make_adl(p, object.hAdapterMemoryObject, 4096);

        memset(block.pMemory, (int)i, 4096);
        probe_sleep(1000);
        CHECK(((char *)block.pMemory)[4095] == (char)i);
        free_adl(p, object.hAdapterMemoryObject, adl);
        probe_sleep(700);
        CHECK(IS(free_block(p, block.hMemoryHandle), STATUS_SUCCESS));
        destroy_object(p, &object);
        rounds_done++;
    }
}

static void eight_threads(struct probe *p)
{
    uint64_t free_before = ram_free_pages(p->ram), mapped;
    size_t held_before = held(p);
    struct sim_thread *threads[8];

    mapped = iommu_domain_mapped_pages(port_adapter_domain(p->adapter[0]));
    for (unsigned i = 0; i < 8; i++)
        threads[i] = probe_thread(p, nt_process_system(), "driver thread", many_rounds);
    for (unsigned i = 0; i < 8; i++) {
        while (!sim_thread_ended(threads[i]))
            probe_sleep(100000);
        sim_thread_release(threads[i]);
    }
    CHECK_RULE("PHYS-019",
               rounds_done == 200 && held(p) == held_before &&
                   ram_free_pages(p->ram) == free_before &&
                   iommu_domain_mapped_pages(port_adapter_domain(p->adapter[0])) == mapped &&
                   physical_memory_validate(port_physical_memory(p->port)) && ram_validate(p->ram));
}

TEST(threads_may_call_at_once)
{
    rounds_done = 0;
    probe_end(probe_started(NULL), eight_threads);
}

static unsigned calls_made[PROBE_DDI_COUNT];

static void use_inside(struct probe *p, struct probe_call *call)
{
    if (call->irql > APC_LEVEL || !A->started)
        return;
    use_everything(p);
    calls_made[call->ddi]++;
}

static void use_save_inside(struct probe *p, struct probe_call *call)
{
    use_inside(p, call);
    use_frame_buffer_save(p);
}

static void allocate(struct probe *p)
{
    struct probe_gpu gpu;
    D3DKMT_HANDLE allocation;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, 65536, &allocation)));
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

static void sleep_and_wake(struct probe *p)
{
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep)));
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone)));
}

TEST(ddis_may_use_memory)
{
    struct probe *p = probe_create(NULL);
    struct probe_client *client;

    probe_clients_begin(p);
    memset(calls_made, 0, sizeof(calls_made));
    p->save_bytes = 4 * 4096;
    for (unsigned ddi = 0; ddi < PROBE_DDI_COUNT; ddi++)
        p->before[ddi] = use_inside;
    p->after[PROBE_StartDevice] = use_inside;
    p->before[PROBE_StartDevice] = NULL;
    p->before[PROBE_RemoveDevice] = NULL;
    p->before[PROBE_SetPowerState] = use_save_inside;
    p->before[PROBE_StopDevice] = use_save_inside;
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, allocate);
    probe_client_end(p, client);
    probe_clients_end(p);
    CHECK(probe_run(p, sleep_and_wake) == SIM_DONE);
    CHECK(probe_stop(p) == 0);
    CHECK(!p->sim->stopped && probe_reports(p, VERIFY_ERROR) == 0);
    CHECK_RULE("PHYS-020/a", calls_made[PROBE_StartDevice] == 1);
    CHECK_RULE("PHYS-020/b", calls_made[PROBE_StopDevice] == 1);
    CHECK_RULE("PHYS-020/c", calls_made[PROBE_SetPowerState] == 2);
    CHECK_RULE("PHYS-020/d",
               calls_made[PROBE_CreateAllocation] > 0 && calls_made[PROBE_DestroyAllocation] > 0);
    CHECK_RULE("PHYS-020/e", calls_made[PROBE_BuildPagingBuffer] > 0);
    CHECK_RULE("PHYS-020/f", calls_made[PROBE_QueryAdapterInfo] > 0 &&
                                 calls_made[PROBE_CreateDevice] > 0 &&
                                 calls_made[PROBE_CreateContext] > 0);
    CHECK_RULE("PHYS-108", calls_made[PROBE_SetPowerState] == 2 &&
                               calls_made[PROBE_StopDevice] == 1 &&
                               probe_reports(p, VERIFY_ERROR) == 0);
    probe_destroy(p);
}

/* ---- frame buffer save ---- */

static bool save_output_zeroed;

static void look_at_save_query(struct probe *p, struct probe_call *call)
{
    static const DXGK_FRAMEBUFFERSAVEAREA zero;

    (void)p;
    if (call->query_type == DXGKQAITYPE_FRAMEBUFFERSAVESIZE)
        save_output_zeroed = memcmp(call->query.pOutputData, &zero, sizeof(zero)) == 0;
}

TEST(save_size_is_asked_of_isolated_drivers)
{
    struct probe *p = probe_create(NULL);
    const struct probe_call *asked;

    save_output_zeroed = false;
    p->before[PROBE_QueryAdapterInfo] = look_at_save_query;
    CHECK(NT_SUCCESS(probe_start(p)));
    asked = probe_query(p, DXGKQAITYPE_FRAMEBUFFERSAVESIZE, 0);
    CHECK_RULE("PHYS-085/a",
               probe_queries(p, DXGKQAITYPE_FRAMEBUFFERSAVESIZE) == 1 &&
                   (int)asked->query_type == 21 &&
                   asked->order == probe_query(p, DXGKQAITYPE_PHYSICALADAPTERCAPS, 0)->order + 1);
    CHECK_RULE("PHYS-086", asked->query.InputDataSize == sizeof(UINT) && save_output_zeroed &&
                               asked->query.OutputDataSize == sizeof(DXGK_FRAMEBUFFERSAVEAREA));
    CHECK_RULE("PHYS-089/b", p->save_bytes == 0 && p->adapters == 1); /* nothing to save: success */
    probe_destroy(p);

    p = probe_create(NULL);
    p->iommu.DmaRemappingSupported = 0;
    p->iommu.IommuIsolationSupported = p->caps.MemoryManagementCaps.IoMmuSecureModeSupported = 0;
    CHECK_RULE("PHYS-085/b", NT_SUCCESS(probe_start(p)) &&
                                 probe_queries(p, DXGKQAITYPE_FRAMEBUFFERSAVESIZE) == 0);
    probe_destroy(p);

    p = probe_create(NULL);
    p->query_status[DXGKQAITYPE_FRAMEBUFFERSAVESIZE] = STATUS_DEVICE_BUSY;
    CHECK_RULE("PHYS-089/a", IS(probe_start(p), STATUS_DEVICE_BUSY));
    probe_destroy(p);
}

/* ---- hot update ---- */

static NTSTATUS save_for_update(struct probe *p, DXGK_KSR_MEMORY_RANGE *ranges, UINT count,
                                PMDL mdl, PVOID data)
{
    DXGKARGCB_SAVEMEMORYFORHOTUPDATE args = {.NumDataMemoryRanges = count,
                                             .pDataMemoryRanges = ranges,
                                             .pDataMdl = mdl,
                                             .DataSize = 16,
                                             .pData = data};

    return DXGK.DxgkCbSaveMemoryForHotUpdate(DXGK.DeviceHandle, &args);
}

TEST_WITH(probe, hot_update_is_not_offered)
{
    DXGK_KSR_MEMORY_RANGE apart[] = {{(3ull << 40) | 100}, {(2ull << 40) | 103}};
    DXGK_KSR_MEMORY_RANGE twice[] = {{(2ull << 40) | 103}, {(4ull << 40) | 100}};
    char data[16];
    PMDL mdl = IoAllocateMdl(data, sizeof(data), FALSE, FALSE, NULL);

    CHECK_RULE("PHYS-188/a", IS(save_for_update(p, NULL, 0, NULL, NULL), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-188") == 1);
    CHECK_RULE("PHYS-188/b",
               IS(save_for_update(p, apart, 2, NULL, data), STATUS_INVALID_PARAMETER) &&
                   IS(save_for_update(p, apart, 2, mdl, NULL), STATUS_INVALID_PARAMETER) &&
                   IS(save_for_update(p, NULL, 0, mdl, data), STATUS_INVALID_PARAMETER) &&
                   IS(save_for_update(p, apart, 2, mdl, data), STATUS_INVALID_PARAMETER) &&
                   probe_rule(p, "PHYS-188") == 5);
    CHECK_RULE("PHYS-188/c", IS(save_for_update(p, NULL, 0, mdl, NULL), STATUS_NOT_SUPPORTED) &&
                                 probe_rule(p, "PHYS-188") == 5);
    IoFreeMdl(mdl);
    CHECK_RULE("PHYS-190/a", IS(save_for_update(p, NULL, 0, NULL, data), STATUS_NOT_SUPPORTED) &&
                                 IS(save_for_update(p, apart, 2, NULL, NULL), STATUS_NOT_SUPPORTED));
    CHECK_RULE("PHYS-189", probe_rule(p, "PHYS-189") == 0 &&
                               IS(save_for_update(p, twice, 2, NULL, NULL), STATUS_NOT_SUPPORTED) &&
                               probe_rule(p, "PHYS-189") == 1);
    CHECK_RULE("PHYS-190/b", probe_count(p, PROBE_SaveMemoryForHotUpdate) == 0 &&
                                 probe_count(p, PROBE_RestoreMemoryForHotUpdate) == 0);
}
