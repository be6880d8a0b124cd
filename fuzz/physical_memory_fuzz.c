/* SPDX-License-Identifier: MIT */
/* The target: one machine a run, and the program that the input is. physical_memory_fuzz.h says what it is about. */
#include "physical_memory_fuzz.h"

/* ---- hooks ---- */

static void *io_map(void *context, struct phys_addr address, uint64_t bytes, enum ram_cache cache)
{
    (void)cache;
    (void)context;
    return address.value >= IO_BASE && bytes <= sizeof(run->io_memory) ? run->io_memory : NULL;
}

static void io_unmap(void *context, void *mapping)
{
    (void)context;
    MUST(mapping == run->io_memory);
}

static bool mdl_unmap(void *context, PMDL mdl)
{
    (void)context;
    (void)mdl;
    return false;
}

static bool inside(const void *from, size_t bytes, const void *memory, size_t size)
{
    uintptr_t at = (uintptr_t)from - (uintptr_t)memory;

    return at < size && bytes <= size - at;
}

/* The driver's own memory, and MDLs of the services. */
static bool read_driver(void *context, void *to, const void *from, size_t bytes)
{
    bool there = inside(from, bytes, run->mdls, sizeof(run->mdls));

    (void)context;
    for (unsigned i = 0; i < MOST_THINGS; i++) {
        const struct thing *thing = &run->things[i];

        if (thing->live && thing->kind == PHYSICAL_MDL_PAGES)
            there |= inside(from, bytes, thing->bytes, thing->size);
    }
    if (there)
        memcpy(to, from, bytes);
    return there;
}

static void validate(void)
{
    MUST(physical_memory_validate(run->memory) && ram_validate(run->ram));
    for (unsigned i = 0; i < ADAPTERS; i++)
        MUST(iommu_validate(run->domain[i]));
}

static void operate(void)
{
    unsigned what = below(19), adapter = byte() & 1;

    switch (what) {
    case 0:
    case 1:
        allocate_contiguous(adapter);
        break;
    case 2:
        free_contiguous(adapter);
        break;
    case 3:
        allocate_pages(adapter);
        break;
    case 4:
        free_pages(adapter);
        break;
    case 5:
        scribble_mdl();
        break;
    case 6:
        map_mdl(adapter);
        break;
    case 7:
        unmap_mdl(adapter);
        break;
    case 8:
        create_object(adapter);
        break;
    case 9:
        open_object(adapter);
        break;
    case 10:
        close_object();
        break;
    case 11:
        destroy_object();
        break;
    case 12:
        map_object();
        break;
    case 13:
        unmap_object();
        break;
    case 14:
        allocate_adl();
        break;
    case 15:
        free_adl();
        break;
    case 16: {
        unsigned how = byte();

        if (how & 1)
            scribble_adl();
        else if (how & 2)
            touch_views();
        else
            device_access(adapter);
        break;
    }
    case 17:
        save(adapter);
        break;
    default:
        host_does();
    }
}

/* ---- one run ---- */

static void set_up(void)
{
    static const enum iommu_mode modes[] = {IOMMU_OFF, IOMMU_ISOLATION, IOMMU_REMAP};
    struct physical_hooks hooks = {
        .io_map = io_map, .io_unmap = io_unmap, .mdl_unmap = mdl_unmap, .read_driver = read_driver};
    unsigned how = byte();

    util_heap_current = &run->heap;
    run->verify = verify_log_create();
    verify_log_install(run->verify);
    verify_log_limit(run->verify, 16);
    run->ram = ram_create(&(struct ram_config){.bytes = RAM_SIZE});
    MUST(run->ram);
    run->memory = physical_memory_create(run->ram, &hooks);
    MUST(run->memory);
    for (unsigned i = 0; i < ADAPTERS; i++) {
        struct physical_adapter_config config = {
            .memory = run->memory, .name = i ? "B" : "A", .driver = run};

        config.domain = run->domain[i] = iommu_domain_create(run->ram, modes[(how >> (2 * i)) % 3],
                                                             (struct logical_addr){0xFFFFFFF});
        MUST(config.domain);
        run->adapter[i] = physical_adapter_create(&config);
        MUST(run->adapter[i]);
        MUST(physical_save_create(run->adapter[i], 0, 24 * PAGE_BYTES) == STATUS_SUCCESS);
        MUST(physical_save_create(run->adapter[i], 1, i * 4 * PAGE_BYTES) == STATUS_SUCCESS);
    }
}

static void tear_down(uint64_t free_pages)
{
    run->heap.fail_at = 0;
    for (unsigned i = 0; i < MOST_THINGS; i++)
        if (run->things[i].live && run->things[i].kind == PHYSICAL_CONTIGUOUS)
            check_stamp(&run->things[i]);
    validate();
    for (unsigned i = 0; i < ADAPTERS; i++)
        physical_adapter_destroy(run->adapter[i]);
    physical_memory_driver_unloaded(run->memory, run);
    MUST(physical_memory_commit(run->memory) == 0 && physical_memory_validate(run->memory));
    physical_memory_destroy(run->memory);
    for (unsigned i = 0; i < ADAPTERS; i++) {
        MUST(iommu_domain_mapped_pages(run->domain[i]) == 0 && iommu_validate(run->domain[i]));
        iommu_domain_destroy(run->domain[i]);
    }
    MUST(ram_free_pages(run->ram) == free_pages && ram_validate(run->ram));
    ram_destroy(run->ram);
    verify_log_install(NULL);
    verify_log_destroy(run->verify);
    util_heap_current = NULL;
    MUST(run->heap.live_blocks == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct run the_run;
    uint64_t free_pages;

    memset(&the_run, 0, sizeof(the_run));
    run = &the_run;
    run->at = data;
    run->end = data + size;
    set_up();
    free_pages = ram_free_pages(run->ram);
    for (unsigned i = 0; i < MOST_OPERATIONS && run->at < run->end; i++) {
        operate();
        if (i % VALIDATE_EVERY == VALIDATE_EVERY - 1)
            validate();
    }
    tear_down(free_pages);
    return 0;
}
