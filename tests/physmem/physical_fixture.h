/* SPDX-License-Identifier: MIT */
/* A machine's memory for the tests of the physical memory services: RAM, one domain in the mode
 * wanted, one adapter. */
#ifndef DXGK_TESTS_PHYSMEM_PHYSICAL_FIXTURE_H
#define DXGK_TESTS_PHYSMEM_PHYSICAL_FIXTURE_H

#include "support/check_rule.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "iommu/iommu.h"
#include "nt/base/kprocess.h"
#include "physmem/physical_adapter.h"
#include "physmem/physical_holding.h"
#include "physmem/physical_memory.h"
#include "physmem/physical_services.h"
#include "util/alloc.h"
#include "verify/verify.h"

#define MIB           ((uint64_t)1 << 20)
#define FIXTURE_BYTES (64 * MIB)
#define ALL_ONES      UINT64_MAX
#define SYSMM_FATAL   0x1E4u

struct fixture {
    struct util_heap heap;
    struct verify_log *verify;
    struct ram *ram;
    struct iommu_domain *domain;
    struct physical_memory *memory;
    struct physical_adapter *adapter;
    uint64_t free_pages; /* before the test */
    /* What the hooks did. */
    unsigned io_mapped;
    char io_memory[8 * PAGE_BYTES];
    bool mdl_was_user_mapped;
    unsigned mdl_unmaps;
};

static struct fixture f;

static inline void *fixture_io_map(void *context, struct phys_addr address, uint64_t bytes,
                                   enum ram_cache cache)
{
    (void)context;
    (void)cache;
    if (address.value < FIXTURE_BYTES || bytes > sizeof(f.io_memory))
        return NULL;
    f.io_mapped++;
    return f.io_memory;
}

static inline void fixture_io_unmap(void *context, void *mapping)
{
    (void)context;
    CHECK(mapping == f.io_memory);
    f.io_mapped--;
}

static inline bool fixture_mdl_unmap(void *context, PMDL mdl)
{
    (void)context;
    (void)mdl;
    f.mdl_unmaps++;
    return f.mdl_was_user_mapped;
}

static inline uintptr_t fixture_caller(void *context)
{
    (void)context;
    return 0x1234;
}

static inline bool fixture_symbolize(void *context, uintptr_t address, char *text, size_t bytes)
{
    (void)context;
    if (bytes < 20 || address != 0x1234)
        return false;
    strcpy(text, "driver!Start+0x42");
    return true;
}

static inline struct physical_adapter *fixture_adapter(const char *name, struct iommu_domain *domain)
{
    struct physical_adapter_config config = {
        .memory = f.memory, .domain = domain, .name = name, .driver = &f};

    return physical_adapter_create(&config);
}

static inline int fixture_up(enum iommu_mode mode)
{
    const struct physical_hooks hooks = {
        .io_map = fixture_io_map,
        .io_unmap = fixture_io_unmap,
        .mdl_unmap = fixture_mdl_unmap,
        .caller = fixture_caller,
        .symbolize = fixture_symbolize,
    };

    f = (struct fixture){0};
    util_heap_current = &f.heap;
    f.verify = verify_log_create();
    verify_log_install(f.verify);
    f.ram = ram_create(&(struct ram_config){.bytes = FIXTURE_BYTES});
    if (!f.ram)
        return -1;
    f.domain = iommu_domain_create(f.ram, mode, (struct logical_addr){((uint64_t)1 << 40) - 1});
    f.memory = physical_memory_create(f.ram, &hooks);
    if (!f.domain || !f.memory)
        return -1;
    physical_memory_set_guard(f.memory, true);
    f.adapter = fixture_adapter("adapter 1", f.domain);
    f.free_pages = ram_free_pages(f.ram);
    return f.adapter ? 0 : -1;
}

static inline int up_physical(void)
{
    return fixture_up(IOMMU_OFF);
}

static inline int up_isolated(void)
{
    return fixture_up(IOMMU_ISOLATION);
}

static inline int up_logical(void)
{
    return fixture_up(IOMMU_REMAP);
}

#define RIG_ARGUMENT_physical void
#define RIG_RUN_physical(body)      \
    test_set_up(up_physical, down); \
    body()
#define RIG_ARGUMENT_isolated void
#define RIG_RUN_isolated(body)      \
    test_set_up(up_isolated, down); \
    body()
#define RIG_ARGUMENT_logical void
#define RIG_RUN_logical(body)      \
    test_set_up(up_logical, down); \
    body()

/* Whatever a test leaves must be reclaimed by the end of the adapter. */
static inline int down(void)
{
    bool clean;

    f.heap.fail_at = 0;
    clean = physical_memory_validate(f.memory);
    physical_adapter_destroy(f.adapter);
    physical_memory_destroy(f.memory);
    clean &= iommu_domain_mapped_pages(f.domain) == 0 && iommu_validate(f.domain) &&
             ram_validate(f.ram);
    iommu_domain_destroy(f.domain);
    ram_destroy(f.ram);
    verify_log_install(NULL);
    verify_log_destroy(f.verify);
    util_heap_current = NULL;
    return clean && f.heap.live_blocks == 0 && f.io_mapped == 0 ? 0 : -1;
}

/* Reports of one rule so far. */
static inline uint64_t reports(const char *rule)
{
    return verify_rule_count(f.verify, rule);
}

static inline size_t violations(void)
{
    return verify_count(f.verify, VERIFY_WARNING);
}

static inline PHYSICAL_ADDRESS address(uint64_t value)
{
    return (PHYSICAL_ADDRESS){.QuadPart = (LONGLONG)value};
}

/* What a device reads at the start of a device page: the page it reaches, 0 if refused. */
static inline uint64_t device_reach_in(const struct iommu_domain *domain, uint64_t page)
{
    struct phys_addr physical;

    if (!iommu_translate(domain, (struct logical_addr){page * PAGE_BYTES}, IOMMU_WRITE, &physical))
        return 0;
    return physical.value / PAGE_BYTES;
}

static inline uint64_t device_reach(uint64_t page)
{
    return device_reach_in(f.domain, page);
}

static inline char *device_bytes(uint64_t page)
{
    uint64_t frame = device_reach(page);

    CHECK(frame != 0);
    return ram_direct(f.ram, (struct phys_addr){frame * PAGE_BYTES});
}

/* The physical address behind a CPU pointer. */
static inline uint64_t physical_of(const void *pointer)
{
    struct phys_addr physical;

    CHECK(ram_physical(f.ram, pointer, &physical));
    return physical.value;
}

static sigjmp_buf fixture_fault;

static inline void fixture_on_fault(int signal)
{
    (void)signal;
    siglongjmp(fixture_fault, 1);
}

static inline bool traps(volatile char *at, bool write)
{
    struct sigaction action = {.sa_handler = fixture_on_fault, .sa_flags = SA_NODEFER}, before;
    volatile bool trapped = true;

    sigaction(SIGSEGV, &action, &before);
    if (sigsetjmp(fixture_fault, 1) == 0) {
        char value = *at;

        if (write)
            *at = value;
        trapped = false;
    }
    sigaction(SIGSEGV, &before, NULL);
    return trapped;
}

/* ---- objects ---- */

static inline DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT object_args(DXGK_PHYSICAL_MEMORY_TYPE type,
                                                                  uint64_t size)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args;

    memset(&args, 0, sizeof(args));
    args.Type = type;
    args.Size = size;
    args.CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED;
    if (type == DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY)
        args.ContiguousMemory.HighestAcceptableAddress = address(ALL_ONES);
    if (type == DXGK_PHYSICAL_MEMORY_TYPE_SECTION)
        args.Section.PageProtection = PAGE_READWRITE;
    if (type == DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE)
        args.IOSpace.BaseAddress = address(0xE0000000u);
    return args;
}

static inline NTSTATUS create(DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *args)
{
    return physical_object_create(f.memory, args->hAdapter ? f.adapter : NULL, &f, NULL, args);
}

/* A good object, opened for the adapter. */
static inline DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT make_object(DXGK_PHYSICAL_MEMORY_TYPE type,
                                                                  uint64_t size)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = object_args(type, size);

    args.hAdapter = (HANDLE)1;
    CHECK(create(&args) == STATUS_SUCCESS);
    return args;
}

static inline void destroy(HANDLE object, HANDLE opened)
{
    DXGKARGCB_DESTROY_PHYSICAL_MEMORY_OBJECT args = {.hPhysicalMemoryObject = object,
                                                     .hAdapterMemoryObject = opened};

    physical_object_destroy(f.memory, &args);
}

static inline void destroy_both(const DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *args)
{
    destroy(args->hPhysicalMemoryObject, args->hAdapterMemoryObject);
}

enum { ADL_ANY = 0, ADL_REQUIRE = 1, ADL_PREFER = 2 };

static inline NTSTATUS adl_status(HANDLE opened, uint64_t offset, uint64_t size, UINT32 flags,
                                  DXGK_ADL **adl)
{
    DXGKARGCB_ALLOCATE_ADL args;
    NTSTATUS status;

    memset(&args, 0x5A, sizeof(args));
    args.hAdapterMemoryObject = opened;
    args.Offset = offset;
    args.Size = size;
    args.Flags.Value = flags;
    status = physical_adl_allocate(f.memory, &args);
    CHECK((status == STATUS_SUCCESS) == (args.pAdl != NULL));
    if (adl)
        *adl = args.pAdl;
    return status;
}

static inline DXGK_ADL *make_adl(HANDLE opened, uint64_t offset, uint64_t size, UINT32 flags)
{
    DXGK_ADL *adl;

    CHECK(adl_status(opened, offset, size, flags, &adl) == STATUS_SUCCESS);
    return adl;
}

static inline void free_adl(HANDLE opened, DXGK_ADL *adl)
{
    DXGKARGCB_FREE_ADL args = {.hAdapterMemoryObject = opened, .pAdl = adl};

    physical_adl_free(f.memory, &args);
}

/* Entry i, as a driver finds it. */
static inline uint64_t adl_page(const DXGK_ADL *adl, uint64_t i)
{
    return adl->Flags.Contiguous ? adl->BasePageNumber + i : adl->Pages[i];
}

struct view {
    DXGKARGCB_MAP_PHYSICAL_MEMORY args;
    char *data; /* the byte asked for */
};

static inline NTSTATUS map_status(HANDLE object, uint64_t offset, uint64_t size,
                                  DXGK_ACCESS_MODE mode, struct nt_process *process,
                                  struct view *view)
{
    NTSTATUS status;

    view->args = (DXGKARGCB_MAP_PHYSICAL_MEMORY){
        .hPhysicalMemoryObject = object,
        .AccessMode = mode,
        .Offset = offset,
        .Size = size,
        .pMappedAddress = (void *)0x5A5A,
    };
    status = physical_object_map(f.memory, process, &view->args);
    CHECK((status == STATUS_SUCCESS) == (view->args.pMappedAddress != NULL));
    view->data = status == STATUS_SUCCESS ? (char *)view->args.pMappedAddress + view->args.Offset
                                          : NULL;
    return status;
}

static inline struct view map(HANDLE object, uint64_t offset, uint64_t size)
{
    struct view view;

    CHECK(map_status(object, offset, size, DXGK_ACCESS_MODE_KERNEL_MODE, NULL, &view) ==
          STATUS_SUCCESS);
    return view;
}

static inline void unmap_as(const struct view *view, void *base, uint64_t size,
                            const struct nt_process *process)
{
    DXGKARGCB_UNMAP_PHYSICAL_MEMORY args = {
        .hPhysicalMemoryObject = view->args.hPhysicalMemoryObject,
        .pBaseAddress = base,
        .Size = size,
    };

    physical_object_unmap(f.memory, process, &args);
}

static inline void unmap(const struct view *view)
{
    unmap_as(view, view->args.pMappedAddress, view->args.Size, NULL);
}

static inline bool back_to_start(void)
{
    return ram_free_pages(f.ram) == f.free_pages && physical_memory_commit(f.memory) == 0 &&
           iommu_domain_mapped_pages(f.domain) == 0 && ram_validate(f.ram);
}

#endif
