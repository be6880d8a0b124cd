/* SPDX-License-Identifier: MIT */
/* The target: one machine a run, and the program that the input is. physical_memory_fuzz.h says what it is about. */
#include "physical_memory_fuzz.h"

/* ---- hooks ---- */

static void *io_map(void *context, struct phys_addr address, uint64_t bytes, enum ram_cache cache)
{
    (void)cache;
    (void)context;
    return address.value >= IO_BASE && bytes <= sizeof(fuzz_run->io_memory) ? fuzz_run->io_memory
                                                                            : NULL;
}

static void io_unmap(void *context, void *mapping)
{
    (void)context;
    MUST(mapping == fuzz_run->io_memory);
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
    bool there = inside(from, bytes, fuzz_run->mdls, sizeof(fuzz_run->mdls));

    (void)context;
    for (unsigned i = 0; i < MOST_THINGS; i++) {
        const struct fuzz_thing *thing = &fuzz_run->things[i];

        if (thing->live && thing->kind == PHYSICAL_MDL_PAGES)
            there |= inside(from, bytes, thing->bytes, thing->size);
    }
    if (there)
        memcpy(to, from, bytes);
    return there;
}

static void validate(void)
{
    MUST(physical_memory_validate(fuzz_run->memory) && ram_validate(fuzz_run->ram));
    for (unsigned i = 0; i < ADAPTERS; i++)
        MUST(iommu_validate(fuzz_run->domain[i]));
}

static void operate(void)
{
    unsigned what = fuzz_below(19), adapter = fuzz_byte() & 1;

    switch (what) {
    case 0:
    case 1:
        fuzz_allocate_contiguous(adapter);
        break;
    case 2:
        fuzz_free_contiguous(adapter);
        break;
    case 3:
        fuzz_allocate_pages(adapter);
        break;
    case 4:
        fuzz_free_pages(adapter);
        break;
    case 5:
        fuzz_scribble_mdl();
        break;
    case 6:
        fuzz_map_mdl(adapter);
        break;
    case 7:
        fuzz_unmap_mdl(adapter);
        break;
    case 8:
        fuzz_create_object(adapter);
        break;
    case 9:
        fuzz_open_object(adapter);
        break;
    case 10:
        fuzz_close_object();
        break;
    case 11:
        fuzz_destroy_object();
        break;
    case 12:
        fuzz_map_object();
        break;
    case 13:
        fuzz_unmap_object();
        break;
    case 14:
        fuzz_allocate_adl();
        break;
    case 15:
        fuzz_free_adl();
        break;
    case 16: {
        unsigned how = fuzz_byte();

        if (how & 1)
            fuzz_scribble_adl();
        else if (how & 2)
            fuzz_touch_views();
        else
            fuzz_device_access(adapter);
        break;
    }
    case 17:
        fuzz_save(adapter);
        break;
    default:
        fuzz_host_does();
    }
}

/* ---- one run ---- */

static void set_up(void)
{
    static const enum iommu_mode modes[] = {IOMMU_OFF, IOMMU_ISOLATION, IOMMU_REMAP};
    struct physical_hooks hooks = {
        .io_map = io_map, .io_unmap = io_unmap, .mdl_unmap = mdl_unmap, .read_driver = read_driver};
    unsigned how = fuzz_byte();

    util_heap_current = &fuzz_run->heap;
    fuzz_run->verify = verify_log_create();
    verify_log_install(fuzz_run->verify);
    verify_log_limit(fuzz_run->verify, 16);
    fuzz_run->ram = ram_create(&(struct ram_config){.bytes = RAM_SIZE});
    MUST(fuzz_run->ram);
    fuzz_run->memory = physical_memory_create(fuzz_run->ram, &hooks);
    MUST(fuzz_run->memory);
    for (unsigned i = 0; i < ADAPTERS; i++) {
        struct physical_adapter_config config = {
            .memory = fuzz_run->memory, .name = i ? "B" : "A", .driver = fuzz_run};

        config.domain = fuzz_run->domain[i] = iommu_domain_create(
            fuzz_run->ram, modes[(how >> (2 * i)) % 3], (struct logical_addr){0xFFFFFFF});
        MUST(config.domain);
        fuzz_run->adapter[i] = physical_adapter_create(&config);
        MUST(fuzz_run->adapter[i]);
        MUST(physical_save_create(fuzz_run->adapter[i], 0, 24 * PAGE_BYTES) == STATUS_SUCCESS);
        MUST(physical_save_create(fuzz_run->adapter[i], 1, i * 4 * PAGE_BYTES) == STATUS_SUCCESS);
    }
}

static void tear_down(uint64_t free_pages)
{
    fuzz_run->heap.fail_at = 0;
    for (unsigned i = 0; i < MOST_THINGS; i++)
        if (fuzz_run->things[i].live && fuzz_run->things[i].kind == PHYSICAL_CONTIGUOUS)
            fuzz_check_stamp(&fuzz_run->things[i]);
    validate();
    for (unsigned i = 0; i < ADAPTERS; i++)
        physical_adapter_destroy(fuzz_run->adapter[i]);
    physical_memory_driver_unloaded(fuzz_run->memory, fuzz_run);
    MUST(physical_memory_commit(fuzz_run->memory) == 0 &&
         physical_memory_validate(fuzz_run->memory));
    physical_memory_destroy(fuzz_run->memory);
    for (unsigned i = 0; i < ADAPTERS; i++) {
        MUST(iommu_domain_mapped_pages(fuzz_run->domain[i]) == 0 &&
             iommu_validate(fuzz_run->domain[i]));
        iommu_domain_destroy(fuzz_run->domain[i]);
    }
    MUST(ram_free_pages(fuzz_run->ram) == free_pages && ram_validate(fuzz_run->ram));
    ram_destroy(fuzz_run->ram);
    verify_log_install(NULL);
    verify_log_destroy(fuzz_run->verify);
    util_heap_current = NULL;
    MUST(fuzz_run->heap.live_blocks == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_run the_run;
    uint64_t free_pages;

    memset(&the_run, 0, sizeof(the_run));
    fuzz_run = &the_run;
    fuzz_run->at = data;
    fuzz_run->end = data + size;
    set_up();
    free_pages = ram_free_pages(fuzz_run->ram);
    for (unsigned i = 0; i < MOST_OPERATIONS && fuzz_run->at < fuzz_run->end; i++) {
        operate();
        if (i % VALIDATE_EVERY == VALIDATE_EVERY - 1)
            validate();
    }
    tear_down(free_pages);
    return 0;
}
