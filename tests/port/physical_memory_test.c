/* SPDX-License-Identifier: MIT */
/* Physical memory as a driver sees it through DXGKRNL_INTERFACE: presence, levels, places of call, what kernel routines may
 * and may not do with it, frame buffer save, and the end of processes. */
#include "port/support/probe.h"

#include <string.h>

#include "ram/ram.h"
#include "vidmm/physical_memory.h"

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define DXGK               A->dxgk
#define ALL_RAM            ((1ll << 40) - 1)

static struct probe *start_with(const struct probe_options *options)
{
    struct probe *p = probe_create(options);

    CHECK(NT_SUCCESS(probe_start(p)));
    return p;
}

static void end(struct probe *p, void (*body)(struct probe *p))
{
    CHECK(probe_run(p, body) == SIM_DONE);
    probe_destroy(p);
}

static const struct probe_options isolated = {.port = {.iommu = IOMMU_ISOLATION}};
static const struct probe_options remapped = {.port = {.iommu = IOMMU_REMAP}};

/* ---- what a driver does ---- */

static DXGKARGCB_ALLOCATECONTIGUOUSMEMORY make_block(struct probe *p, SIZE_T bytes)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = {.NumberOfBytes = bytes,
                                               .HighestAcceptableAddress.QuadPart = ALL_RAM,
                                               .CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED};

    CHECK(NT_SUCCESS(DXGK.DxgkCbAllocateContiguousMemory(DXGK.DeviceHandle, &args)));
    return args;
}

static NTSTATUS free_block(struct probe *p, HANDLE handle)
{
    DXGKARGCB_FREECONTIGUOUSMEMORY args = {.hMemoryHandle = handle};

    return DXGK.DxgkCbFreeContiguousMemory(DXGK.DeviceHandle, &args);
}

static DXGKARGCB_ALLOCATEPAGESFORMDL make_pages(struct probe *p, SIZE_T bytes,
                                                DXGK_MEMORY_CACHING_TYPE cache)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL args = {
        .TotalBytes = bytes, .HighAddress.QuadPart = ALL_RAM, .CacheType = cache};

    CHECK(NT_SUCCESS(DXGK.DxgkCbAllocatePagesForMdl(DXGK.DeviceHandle, &args)));
    return args;
}

static NTSTATUS free_pages(struct probe *p, HANDLE handle)
{
    DXGKARGCB_FREEPAGESFROMMDL args = {.hMemoryHandle = handle};

    return DXGK.DxgkCbFreePagesFromMdl(DXGK.DeviceHandle, &args);
}

static DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT make_object(struct probe *p, SIZE_T bytes)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = {
        .hAdapter = DXGK.DeviceHandle,
        .Size = bytes,
        .Type = DXGK_PHYSICAL_MEMORY_TYPE_MDL,
        .CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED,
    };

    args.Mdl.HighAddress.QuadPart = ALL_RAM;
    CHECK(NT_SUCCESS(DXGK.DxgkCbCreatePhysicalMemoryObject(&args)));
    return args;
}

static void destroy_object(struct probe *p, const DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *object)
{
    DXGKARGCB_DESTROY_PHYSICAL_MEMORY_OBJECT args = {
        .hPhysicalMemoryObject = object->hPhysicalMemoryObject,
        .hAdapterMemoryObject = object->hAdapterMemoryObject};

    DXGK.DxgkCbDestroyPhysicalMemoryObject(&args);
}

static DXGK_ADL *make_adl(struct probe *p, HANDLE opened, SIZE_T bytes)
{
    DXGKARGCB_ALLOCATE_ADL args = {.hAdapterMemoryObject = opened, .Size = bytes};

    CHECK(NT_SUCCESS(DXGK.DxgkCbAllocateAdl(&args)));
    return args.pAdl;
}

static void free_adl(struct probe *p, HANDLE opened, DXGK_ADL *adl)
{
    DXGKARGCB_FREE_ADL args = {.hAdapterMemoryObject = opened, .pAdl = adl};

    DXGK.DxgkCbFreeAdl(&args);
}

static size_t held(struct probe *p)
{
    return physical_holdings(port_physical_memory(p->port), port_adapter_physical(p->adapter[0]),
                             NULL, 0);
}

/* ---- presence ---- */

static bool slots_filled(const DXGKRNL_INTERFACE *interface, size_t first, size_t last)
{
    bool filled = interface->Size >= last + sizeof(void *);

    for (size_t at = first; at <= last; at += sizeof(void *))
        filled = filled && *(void *const *)(const void *)((const char *)interface + at) != NULL;
    return filled;
}

static void callbacks_came_with_their_version(void **state)
{
    static const UINT hosts[] = {
        DXGKDDI_INTERFACE_VERSION_WDDM2_3, DXGKDDI_INTERFACE_VERSION_WDDM2_4,
        DXGKDDI_INTERFACE_VERSION_WDDM2_8, DXGKDDI_INTERFACE_VERSION_WDDM2_9};

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        const struct probe_options options = {.version = DXGKDDI_INTERFACE_VERSION_WDDM2_0,
                                              .port = {.interface_version = hosts[i]}};
        struct probe *p = probe_create(&options);
        const DXGKRNL_INTERFACE *interface = &DXGK;
        size_t first = offsetof(DXGKRNL_INTERFACE, DxgkCbAllocateContiguousMemory);
        size_t objects = offsetof(DXGKRNL_INTERFACE, DxgkCbCreatePhysicalMemoryObject);

        p->caps.WDDMVersion = (DXGK_WDDMVERSION)0;
        CHECK(NT_SUCCESS(probe_start(p)));
        CHECK_RULE("PHYS-007",
                   i == 0 ? interface->Size <= first
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

static void every_adapter_hears_of_the_same_memory(void **state)
{
    const struct probe_options two = {.adapters = 2, .ram_bytes = 48u << 20};
    struct probe *p = start_with(&two);

    (void)state;
    for (unsigned i = 0; i < 2; i++)
        CHECK_RULE("PHYS-002",
                   p->state[i].device.SystemMemorySize.QuadPart == 48 << 20 &&
                       p->state[i].device.HighestPhysicalAddress.QuadPart == (48 << 20) - 1);
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

static void passive_and_apc_level_are_in_contract(void **state)
{
    struct probe *p = probe_create(NULL);

    (void)state;
    p->save_bytes = 4 * 4096;
    CHECK(NT_SUCCESS(probe_start(p)));
    end(p, at_both_levels);
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

static void threads_may_call_at_once(void **state)
{
    (void)state;
    rounds_done = 0;
    end(start_with(NULL), eight_threads);
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

static void sleep_and_wake(struct probe *p)
{
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep)));
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone)));
}

static void ddis_may_use_memory(void **state)
{
    struct probe *p = probe_create(NULL);

    (void)state;
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
    CHECK(probe_run(p, sleep_and_wake) == SIM_DONE);
    CHECK(probe_stop(p) == 0);
    CHECK_RULE("PHYS-020", calls_made[PROBE_StartDevice] == 1 && calls_made[PROBE_StopDevice] == 1 &&
                               calls_made[PROBE_SetPowerState] == 2 &&
                               calls_made[PROBE_QueryAdapterInfo] > 0 && !p->sim->stopped);
    CHECK_RULE("PHYS-108", calls_made[PROBE_SetPowerState] == 2 &&
                               calls_made[PROBE_StopDevice] == 1 &&
                               probe_reports(p, VERIFY_ERROR) == 0);
    probe_destroy(p);
}

/* ---- kernel routines and the host's memory ---- */

static void foreign_frees(struct probe *p)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = make_block(p, 8192);
    PMDL mdl = IoAllocateMdl(block.pMemory, 8192, FALSE, FALSE, NULL);
    uint64_t free_before = ram_free_pages(p->ram);
    struct phys_addr physical;

    CHECK(mdl != NULL && ram_physical(p->ram, block.pMemory, &physical));
    MmFreeContiguousMemory(block.pMemory);
    CHECK_RULE("PHYS-055", probe_rule(p, "PHYS-055") == 1 && ram_free_pages(p->ram) == free_before);
    MmProbeAndLockPages(mdl, KernelMode, IoWriteAccess);
    CHECK_RULE("PHYS-055",
               probe_rule(p, "PHYS-055") == 2 && !(mdl->MdlFlags & MDL_PAGES_LOCKED) &&
                   ram_page_locks(p->ram, (struct page_number){physical.value >> 12}) == 0);
    memset(block.pMemory, 0x22, 8192);
    CHECK_RULE("PHYS-055", IS(free_block(p, block.hMemoryHandle), STATUS_SUCCESS) &&
                               ram_free_pages(p->ram) == free_before + 2);
    IoFreeMdl(mdl);
}

static void foreign_mdl_frees(struct probe *p)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = make_pages(p, 8192, DXGK_MEMORY_CACHING_TYPE_CACHED);
    uint64_t free_before = ram_free_pages(p->ram);

    ExFreePool(pages.pMdl);
    CHECK_RULE("PHYS-075", probe_rule(p, "PHYS-075") == 1);
    IoFreeMdl(pages.pMdl);
    CHECK_RULE("PHYS-075", probe_rule(p, "PHYS-075") == 2);
    MmFreePagesFromMdl(pages.pMdl);
    CHECK_RULE("PHYS-075", probe_rule(p, "PHYS-075") == 3 && ram_free_pages(p->ram) == free_before);
    CHECK_RULE("PHYS-075", IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS) &&
                               ram_free_pages(p->ram) == free_before + 2);
}

static void memory_ends_by_its_handle_only(void **state)
{
    (void)state;
    end(start_with(NULL), foreign_frees);
    end(start_with(NULL), foreign_mdl_frees);
}

static void map_otherwise(struct probe *p)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = make_pages(p, 8192,
                                                     DXGK_MEMORY_CACHING_TYPE_WRITE_COMBINED);
    struct page_number first = {MmGetMdlPfnArray(pages.pMdl)[0]};
    volatile char *view = MmMapLockedPagesSpecifyCache(pages.pMdl, KernelMode, MmCached, NULL,
                                                       FALSE, NormalPagePriority);
    struct phys_addr physical;

    CHECK(view != NULL);
    view[0] = 0x33;
    CHECK_RULE("PHYS-025", ram_physical(p->ram, (const void *)(uintptr_t)view, &physical) &&
                               physical.value >> 12 == first.value &&
                               ram_page_cache(p->ram, first) == RAM_WRITE_COMBINED &&
                               *(char *)ram_direct(p->ram, physical) == 0x33 &&
                               probe_reports(p, VERIFY_ERROR) == 0);
    MmUnmapLockedPages((PVOID)(uintptr_t)view, pages.pMdl);
    CHECK(IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS));
    CHECK(probe_reports(p, VERIFY_ERROR) == 0);
}

static PMDL user_mdl;
static HANDLE user_pages;
static volatile char *user_view;

static void map_into_client(struct probe *p)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = make_pages(p, 4096, DXGK_MEMORY_CACHING_TYPE_CACHED);

    user_mdl = pages.pMdl;
    user_pages = pages.hMemoryHandle;
    user_view = MmMapLockedPagesSpecifyCache(user_mdl, UserMode, MmCached, NULL, FALSE,
                                             NormalPagePriority);
    CHECK(user_view != NULL);
    user_view[0] = 1;
}

static void in_process(struct probe *p, struct nt_process *process, void (*body)(struct probe *p))
{
    struct sim_thread *thread = probe_thread(p, process, "client", body);

    while (!sim_thread_ended(thread))
        probe_sleep(1000000);
    sim_thread_release(thread);
}

static void free_under_a_client(struct probe *p)
{
    struct nt_process *process = probe_process(p, "client");
    char byte;

    in_process(p, process, map_into_client);
    CHECK(IS(free_pages(p, user_pages), STATUS_SUCCESS));
    CHECK_RULE("PHYS-076", probe_rule(p, "PHYS-076") == 1 &&
                               !sim_copy_checked(&byte, (const void *)(uintptr_t)user_view, 1));
}

static void mdls_of_the_host_can_be_mapped(void **state)
{
    (void)state;
    end(start_with(NULL), map_otherwise);
    end(start_with(NULL), free_under_a_client);
}

static void map_logical_pages(struct probe *p)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT object = make_object(p, 8192);
    DXGK_ADL *adl = make_adl(p, object.hAdapterMemoryObject, 8192);
    PMDL mdl = IoAllocateMdl(NULL, 8192, FALSE, FALSE, NULL);

    CHECK(mdl != NULL && !adl->Flags.Contiguous);
    for (unsigned i = 0; i < 2; i++)
        MmGetMdlPfnArray(mdl)[i] = adl->Pages[i] + (64u << 8); /* beyond the RAM of this machine */
    mdl->MdlFlags |= MDL_PARTIAL;
    CHECK_RULE("PHYS-155", MmMapLockedPagesSpecifyCache(mdl, KernelMode, MmCached, NULL, FALSE,
                                                        NormalPagePriority) == NULL &&
                               probe_rule(p, "PHYS-155") == 1);
    mdl->MdlFlags = (CSHORT)((mdl->MdlFlags & ~MDL_PARTIAL) | MDL_PAGES_LOCKED);
    CHECK_RULE("PHYS-155", MmMapLockedPagesSpecifyCache(mdl, KernelMode, MmCached, NULL, FALSE,
                                                        NormalPagePriority) == NULL &&
                               probe_rule(p, "NT-125") == 1);
    mdl->MdlFlags &= (CSHORT)~MDL_PAGES_LOCKED;
    IoFreeMdl(mdl);
    free_adl(p, object.hAdapterMemoryObject, adl);
    destroy_object(p, &object);
}

static void logical_pages_cannot_be_mapped(void **state)
{
    (void)state;
    end(start_with(&remapped), map_logical_pages);
}

/* ---- what the device reaches ---- */

static void pool_as_buffer(struct probe *p)
{
    char *pool = ExAllocatePoolWithTag(NonPagedPoolNx, 4096, 0x74736554);
    PHYSICAL_ADDRESS at = MmGetPhysicalAddress(pool);
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = make_block(p, 4096);
    uint64_t given = (uint64_t)MmGetPhysicalAddress(block.pMemory).QuadPart;
    char bytes[16] = "from the device";

    pool[0] = 7;
    CHECK_RULE("PHYS-023", probe_device_dma(0, given, bytes, sizeof(bytes), true));
    CHECK_RULE("PHYS-023", !probe_device_dma(0, (uint64_t)at.QuadPart, bytes, sizeof(bytes), true) &&
                               pool[0] == 7 && probe_reports(p, VERIFY_ERROR) == 1);
    ExFreePoolWithTag(pool, 0x74736554);
    CHECK(IS(free_block(p, block.hMemoryHandle), STATUS_SUCCESS));
}

static void after_the_free(struct probe *p)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT object = make_object(p, 4096);
    DXGK_ADL *adl = make_adl(p, object.hAdapterMemoryObject, 4096);
    uint64_t address = adl->Pages[0] << 12;
    bool faults = iommu_domain_mode(port_adapter_domain(p->adapter[0])) != IOMMU_OFF;
    char bytes[16] = "from the device";
    size_t reports;

    CHECK(probe_device_dma(0, address, bytes, sizeof(bytes), true));
    free_adl(p, object.hAdapterMemoryObject, adl);
    reports = probe_reports(p, VERIFY_ERROR);
    CHECK_RULE("PHYS-181", probe_device_dma(0, address, bytes, sizeof(bytes), true) == !faults &&
                               probe_reports(p, VERIFY_ERROR) == reports + 1);
    destroy_object(p, &object);
}

static void memory_obtained_elsewhere_is_out_of_reach(void **state)
{
    (void)state;
    end(start_with(&isolated), pool_as_buffer);
}

static void the_device_loses_a_freed_list(void **state)
{
    (void)state;
    end(start_with(NULL), after_the_free);
    end(start_with(&isolated), after_the_free);
    end(start_with(&remapped), after_the_free);
}

/* ---- device ranges for the CPU ---- */

static PHYSICAL_ADDRESS bar(const struct probe *p, unsigned index)
{
    const CM_PARTIAL_RESOURCE_DESCRIPTOR *first =
        A->device.TranslatedResourceList->List[0].PartialResourceList.PartialDescriptors;

    return first[index].u.Memory.Start;
}

static NTSTATUS map_bar(struct probe *p, uint64_t offset, ULONG length, MEMORY_CACHING_TYPE cache,
                        PVOID *mapped)
{
    PHYSICAL_ADDRESS at = bar(p, 0);

    at.QuadPart += (LONGLONG)offset;
    return DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, at, length, FALSE, FALSE, cache, mapped);
}

static PVOID registers;

static void read_registers(struct probe *p)
{
    (void)p;
    CHECK_RULE("PHYS-030", READ_REGISTER_ULONG(registers) == PROBE_ID);
}

static void mappings_body(struct probe *p)
{
    PVOID first, second;

    CHECK_RULE("PHYS-026", IS(map_bar(p, 0, 4096, MmNonCached, &registers), STATUS_SUCCESS) &&
                               READ_REGISTER_ULONG(registers) == PROBE_ID);
    WRITE_REGISTER_ULONG((PULONG)((char *)registers + PROBE_REG_SCRATCH), 0xABCD);
    CHECK_RULE("PHYS-028", IS(map_bar(p, 0, 0, MmNonCached, &first), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PHYS-029",
               IS(map_bar(p, PROBE_REG_SCRATCH, 4, MmNonCached, &first), STATUS_SUCCESS) &&
                   ((uintptr_t)first & 0xFFF) == PROBE_REG_SCRATCH &&
                   READ_REGISTER_ULONG(first) == 0xABCD);
    in_process(p, probe_process(p, "client"), read_registers);
    CHECK_RULE("PHYS-038", IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, (char *)registers + 4),
                              STATUS_INVALID_PARAMETER) &&
                               probe_rule(p, "LIFE-100") == 1 &&
                               READ_REGISTER_ULONG(registers) == PROBE_ID);
    CHECK(IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, first), STATUS_SUCCESS));
    CHECK_RULE("PHYS-038",
               IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, first), STATUS_INVALID_PARAMETER) &&
                   probe_rule(p, "LIFE-100") == 2);
    CHECK_RULE("PHYS-035",
               IS(map_bar(p, 8, 16, MmWriteCombined, &first), STATUS_CONFLICTING_ADDRESSES) &&
                   probe_rule(p, "LIFE-098") == 1);
    CHECK_RULE("PHYS-035", IS(map_bar(p, 0, 4096, MmNonCached, &second), STATUS_SUCCESS) &&
                               second != registers);
    CHECK(IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, registers), STATUS_SUCCESS));
    CHECK_RULE("PHYS-035", READ_REGISTER_ULONG(second) == PROBE_ID);
    CHECK(IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, second), STATUS_SUCCESS));
    CHECK_RULE("PHYS-036", IS(map_bar(p, 0, 4096, MmNonCached, NULL), STATUS_INVALID_PARAMETER));
}

static void cache_types_body(struct probe *p)
{
    static const MEMORY_CACHING_TYPE types[] = {
        MmNonCached,          MmCached,     MmWriteCombined,    MmHardwareCoherentCached,
        MmNonCachedUnordered, MmUSWCCached, MmMaximumCacheType, (MEMORY_CACHING_TYPE)77};

    for (unsigned i = 0; i < 8; i++) {
        PVOID mapped = &mapped;
        /* The driver has mapped the registers, so not those. */
        NTSTATUS status = DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, bar(p, 1), 16, FALSE, FALSE,
                                               types[i], &mapped);

        CHECK_RULE("PHYS-034", IS(status, i < 3 ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER));
        if (i < 3)
            CHECK(IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, mapped), STATUS_SUCCESS));
    }
}

static void map_levels_body(struct probe *p)
{
    PVOID mapped = NULL;
    KIRQL before;

    for (KIRQL level = PASSIVE_LEVEL; level <= DISPATCH_LEVEL; level++) {
        uint64_t reports = probe_rule(p, "THREAD-047");
        NTSTATUS status, undone;

        KeRaiseIrql(level, &before);
        status = map_bar(p, 0x800, 16, MmNonCached, &mapped);
        undone = DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, mapped);
        KeLowerIrql(before);
        CHECK_RULE(
            "PHYS-037",
            IS(status, level < DISPATCH_LEVEL ? STATUS_SUCCESS : STATUS_INVALID_DEVICE_REQUEST) &&
                IS(undone, level < DISPATCH_LEVEL ? STATUS_SUCCESS : STATUS_INVALID_DEVICE_REQUEST) &&
                probe_rule(p, "THREAD-047") == reports + (level > PASSIVE_LEVEL ? 2 : 0));
    }
}

static void device_ranges_are_mapped_for_the_cpu(void **state)
{
    struct probe *p;

    (void)state;
    end(start_with(NULL), mappings_body);
    end(start_with(NULL), map_levels_body);
    end(start_with(NULL), cache_types_body);
    p = start_with(&isolated); /* mapped in StartDevice, switched after it */
    CHECK_RULE("PHYS-042",
               iommu_domain_mode(port_adapter_domain(p->adapter[0])) == IOMMU_ISOLATION &&
                   probe_nth(p, PROBE_BeginExclusiveAccess, 0)->order >
                       probe_nth(p, PROBE_StartDevice, 0)->order &&
                   READ_REGISTER_ULONG(A->registers) == PROBE_ID);
    probe_destroy(p);
}

static void fail_start(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->result = (uint64_t)(uint32_t)STATUS_UNSUCCESSFUL;
}

static void forget_mapping(struct probe *p, struct probe_call *call)
{
    (void)call;
    A->registers = NULL;
}

static void mappings_left_behind_are_removed(void **state)
{
    struct probe *p = start_with(NULL);

    (void)state;
    p->before[PROBE_StopDevice] = forget_mapping;
    (void)probe_stop(p);
    CHECK_RULE("PHYS-041", probe_rule(p, "LIFE-101") == 1 && bus_mappings(p->bus) == 0);
    probe_destroy(p);
    p = probe_create(NULL);
    p->after[PROBE_StartDevice] = fail_start;
    CHECK(!NT_SUCCESS(probe_start(p)));
    CHECK_RULE("PHYS-041", probe_rule(p, "LIFE-101") == 1 && bus_mappings(p->bus) == 0);
    probe_destroy(p);
}

static PVOID client_mapping;

static void map_for_client(struct probe *p)
{
    CHECK(NT_SUCCESS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, bar(p, 1), 4096, FALSE, TRUE,
                                          MmWriteCombined, &client_mapping)));
    *(volatile char *)client_mapping = 1;
}

static void end_of_a_client(struct probe *p)
{
    struct nt_process *process = probe_process(p, "client");
    size_t before = bus_mappings(p->bus);

    in_process(p, process, map_for_client);
    CHECK_RULE("PHYS-039", IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, client_mapping),
                              STATUS_INVALID_PARAMETER) &&
                               probe_rule(p, "LIFE-100") == 1 && bus_mappings(p->bus) == before + 1);
    port_process_ended(p->port, process);
    CHECK_RULE("PHYS-040", probe_rule(p, "PHYS-040") == 1 && bus_mappings(p->bus) == before);
    CHECK_RULE("PHYS-040", IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, client_mapping),
                              STATUS_INVALID_PARAMETER) &&
                               probe_rule(p, "LIFE-100") == 2);
}

static void an_ending_process_loses_its_mappings(void **state)
{
    (void)state;
    end(start_with(NULL), end_of_a_client);
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

static void save_size_is_asked_of_isolated_drivers(void **state)
{
    struct probe *p = probe_create(NULL);
    const struct probe_call *asked;

    (void)state;
    save_output_zeroed = false;
    p->before[PROBE_QueryAdapterInfo] = look_at_save_query;
    CHECK(NT_SUCCESS(probe_start(p)));
    asked = probe_query(p, DXGKQAITYPE_FRAMEBUFFERSAVESIZE, 0);
    CHECK_RULE("PHYS-085",
               probe_queries(p, DXGKQAITYPE_FRAMEBUFFERSAVESIZE) == 1 &&
                   (int)asked->query_type == 21 &&
                   asked->order == probe_query(p, DXGKQAITYPE_PHYSICALADAPTERCAPS, 0)->order + 1);
    CHECK_RULE("PHYS-086", asked->query.InputDataSize == sizeof(UINT) && save_output_zeroed &&
                               asked->query.OutputDataSize == sizeof(DXGK_FRAMEBUFFERSAVEAREA));
    CHECK_RULE("PHYS-089", p->save_bytes == 0); /* nothing to save: success, as here */
    probe_destroy(p);

    p = probe_create(NULL);
    p->iommu.DmaRemappingSupported = 0;
    p->iommu.IommuIsolationSupported = p->caps.MemoryManagementCaps.IoMmuSecureModeSupported = 0;
    CHECK_RULE("PHYS-085", NT_SUCCESS(probe_start(p)) &&
                               probe_queries(p, DXGKQAITYPE_FRAMEBUFFERSAVESIZE) == 0);
    probe_destroy(p);

    p = probe_create(NULL);
    p->query_status[DXGKQAITYPE_FRAMEBUFFERSAVESIZE] = STATUS_DEVICE_BUSY;
    CHECK_RULE("PHYS-089", IS(probe_start(p), STATUS_DEVICE_BUSY));
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

static void hot_update_body(struct probe *p)
{
    DXGK_KSR_MEMORY_RANGE apart[] = {{(3ull << 40) | 100}, {(2ull << 40) | 103}};
    DXGK_KSR_MEMORY_RANGE twice[] = {{(2ull << 40) | 103}, {(4ull << 40) | 100}};
    char data[16];

    CHECK_RULE("PHYS-188",
               IS(save_for_update(p, NULL, 0, NULL, NULL), STATUS_INVALID_PARAMETER) &&
                   IS(save_for_update(p, apart, 2, NULL, data), STATUS_INVALID_PARAMETER) &&
                   probe_rule(p, "PHYS-188") == 2);
    CHECK_RULE("PHYS-190", IS(save_for_update(p, NULL, 0, NULL, data), STATUS_NOT_SUPPORTED) &&
                               IS(save_for_update(p, apart, 2, NULL, NULL), STATUS_NOT_SUPPORTED));
    CHECK_RULE("PHYS-189", probe_rule(p, "PHYS-189") == 0 &&
                               IS(save_for_update(p, twice, 2, NULL, NULL), STATUS_NOT_SUPPORTED) &&
                               probe_rule(p, "PHYS-189") == 1);
    CHECK_RULE("PHYS-190", probe_count(p, PROBE_SaveMemoryForHotUpdate) == 0 &&
                               probe_count(p, PROBE_RestoreMemoryForHotUpdate) == 0);
}

static void hot_update_is_not_offered(void **state)
{
    (void)state;
    end(start_with(NULL), hot_update_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callbacks_came_with_their_version),
        cmocka_unit_test(every_adapter_hears_of_the_same_memory),
        cmocka_unit_test(passive_and_apc_level_are_in_contract),
        cmocka_unit_test(threads_may_call_at_once),
        cmocka_unit_test(ddis_may_use_memory),
        cmocka_unit_test(memory_ends_by_its_handle_only),
        cmocka_unit_test(mdls_of_the_host_can_be_mapped),
        cmocka_unit_test(logical_pages_cannot_be_mapped),
        cmocka_unit_test(memory_obtained_elsewhere_is_out_of_reach),
        cmocka_unit_test(the_device_loses_a_freed_list),
        cmocka_unit_test(device_ranges_are_mapped_for_the_cpu),
        cmocka_unit_test(mappings_left_behind_are_removed),
        cmocka_unit_test(an_ending_process_loses_its_mappings),
        cmocka_unit_test(save_size_is_asked_of_isolated_drivers),
        cmocka_unit_test(hot_update_is_not_offered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
