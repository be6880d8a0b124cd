/* SPDX-License-Identifier: MIT */
/* Memory of the callbacks beside that of the kernel: who may free and map it, and what the device reaches. */
#include "port/support/memory_calls.h"
#include "sim/fault.h"

static const struct probe_options isolated = {.port = {.iommu = IOMMU_ISOLATION}};
static const struct probe_options remapped = {.port = {.iommu = IOMMU_REMAP}};

/* ---- kernel routines and the host's memory ---- */

static void foreign_frees(struct probe *p)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = make_block(p, 8192);
    PMDL mdl = IoAllocateMdl(block.pMemory, 8192, FALSE, FALSE, NULL);
    uint64_t free_before = ram_free_pages(p->ram);
    struct phys_addr physical;

    CHECK(mdl != NULL && ram_physical(p->ram, block.pMemory, &physical));
    MmFreeContiguousMemory(block.pMemory);
    CHECK_RULE("PHYS-055/a",
               probe_rule(p, "PHYS-055") == 1 && ram_free_pages(p->ram) == free_before);
    MmProbeAndLockPages(mdl, KernelMode, IoWriteAccess);
    CHECK_RULE("PHYS-055/b",
               probe_rule(p, "PHYS-055") == 2 && !(mdl->MdlFlags & MDL_PAGES_LOCKED) &&
                   ram_page_locks(p->ram, (struct page_number){physical.value >> 12}) == 0);
    memset(block.pMemory, 0x22, 8192);
    CHECK_RULE("PHYS-055/a", IS(free_block(p, block.hMemoryHandle), STATUS_SUCCESS) &&
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

TEST(memory_ends_by_its_handle_only)
{
    probe_end(probe_started(NULL), foreign_frees);
    probe_end(probe_started(NULL), foreign_mdl_frees);
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

static void free_under_a_client(struct probe *p)
{
    struct nt_process *process = probe_process(p, "client");
    char byte;

    probe_run_in(p, process, map_into_client);
    CHECK(IS(free_pages(p, user_pages), STATUS_SUCCESS));
    CHECK_RULE("PHYS-076", probe_rule(p, "PHYS-076") == 1 &&
                               !sim_copy_checked(&byte, (const void *)(uintptr_t)user_view, 1));
}

TEST(mdls_of_the_host_can_be_mapped)
{
    probe_end(probe_started(NULL), map_otherwise);
    probe_end(probe_started(NULL), free_under_a_client);
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

TEST(logical_pages_cannot_be_mapped)
{
    probe_end(probe_started(&remapped), map_logical_pages);
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

TEST(memory_obtained_elsewhere_is_out_of_reach)
{
    probe_end(probe_started(&isolated), pool_as_buffer);
}

TEST(the_device_loses_a_freed_list)
{
    probe_end(probe_started(NULL), after_the_free);
    probe_end(probe_started(&isolated), after_the_free);
    probe_end(probe_started(&remapped), after_the_free);
}
