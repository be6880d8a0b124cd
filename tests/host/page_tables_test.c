/* SPDX-License-Identifier: MIT */
/* Ten drivers with one mistake each in their page tables (tests/drivers/tables): each is reported under its rule, with the call
 * that is guilty; and the sound one never is. */
#include "host/support/tables.h"

#define VICTIM ((UINT64)TABLES_VICTIM_PAGES * 4096)
#define FAR    ((UINT64)5 << 30) /* other leaf tables than those of what is chosen by the host */

struct scene {
    struct gpu g;
    struct memory commands; /* keeps the leaf table */
    struct memory victim;
};

static NTSTATUS map_at(const struct gpu *g, struct memory *m, UINT64 base, bool write)
{
    D3DDDI_MAPGPUVIRTUALADDRESS map;
    NTSTATUS status;

    memset(&map, 0, sizeof(map));
    map.hPagingQueue = g->queue;
    map.hAllocation = m->handle;
    map.BaseAddress = base;
    map.SizeInPages = m->bytes / 4096;
    map.Protection.Write = write;
    status = D3DKMTMapGpuVirtualAddress(&map);
    m->va = map.VirtualAddress;
    return status == STATUS_PENDING ? gpu_wait_cpu(g, g->queue_fence, map.PagingFenceValue) : status;
}

static NTSTATUS free_va(const struct gpu *g, const struct memory *m)
{
    D3DKMT_FREEGPUVIRTUALADDRESS args = {
        .hAdapter = g->adapter, .BaseAddress = m->va, .Size = m->bytes};
    NTSTATUS status = D3DKMTFreeGpuVirtualAddress(&args);

    dxgk_client_sleep(1000000); /* its entries are made invalid */
    return status;
}

static NTSTATUS resident(const struct gpu *g, UINT64 bytes, struct memory *m)
{
    NTSTATUS status = gpu_create_memory(g, bytes, 0, REFGPU_IN_VRAM, m);

    return NT_SUCCESS(status) ? gpu_make_resident(g, m->handle) : status;
}

/* The victim is in video memory, mapped beside memory for commands. */
static NTSTATUS set_up(struct scene *s, bool write)
{
    NTSTATUS status = gpu_begin(&s->g);

    if (NT_SUCCESS(status))
        status = gpu_memory(&s->g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE,
                            &s->commands);
    if (NT_SUCCESS(status))
        status = resident(&s->g, VICTIM, &s->victim);
    if (NT_SUCCESS(status))
        status = map_at(&s->g, &s->victim, 0, write);
    dxgk_client_sleep(1000000); /* the look after the completion */
    return status;
}

/* Copy a page from `address` into the commands' page, by the GPU. */
static NTSTATUS copy_from(struct scene *s, UINT64 address)
{
    struct refgpu_builder b;
    NTSTATUS status;

    refgpu_builder_init(&b, s->commands.cpu, 2048);
    refgpu_copy(&b, s->commands.va + 2048, address, 64);
    status = gpu_submit(s->g.copy, s->commands.va, refgpu_builder_bytes(&b));
    dxgk_client_sleep(10000000);
    return status;
}

static void map_it(struct client *c)
{
    struct scene s;

    TRY(c, set_up(&s, true) == STATUS_SUCCESS);
}

static void map_it_without_write(struct client *c)
{
    struct scene s;

    TRY(c, set_up(&s, false) == STATUS_SUCCESS);
}

static void unmap_it(struct client *c)
{
    struct scene s;

    TRY(c, set_up(&s, true) == STATUS_SUCCESS);
    TRY(c, free_va(&s.g, &s.victim) == STATUS_SUCCESS);
}

static void use_it_after_its_end(struct client *c)
{
    struct scene s;

    TRY(c, set_up(&s, true) == STATUS_SUCCESS);
    TRY(c, copy_from(&s, s.victim.va) == STATUS_SUCCESS);
    TRY(c, free_va(&s.g, &s.victim) == STATUS_SUCCESS);
    TRY(c, copy_from(&s, s.victim.va) == STATUS_SUCCESS);
}

/* A later update makes a new paging buffer, in which the driver catches up. */
static void map_it_and_more(struct client *c)
{
    struct memory other;
    struct scene s;

    TRY(c, set_up(&s, true) == STATUS_SUCCESS);
    TRY(c, resident(&s.g, 4096, &other) == STATUS_SUCCESS);
    TRY(c, map_at(&s.g, &other, 0, true) == STATUS_SUCCESS);
    dxgk_client_sleep(1000000);
}

/* The leaf table goes, another takes its memory, and a new one takes its place. */
static void move_its_table(struct client *c)
{
    struct memory other;
    struct scene s;

    TRY(c, set_up(&s, true) == STATUS_SUCCESS);
    TRY(c, free_va(&s.g, &s.victim) == STATUS_SUCCESS);
    TRY(c, map_at(&s.g, &s.victim, FAR, true) == STATUS_SUCCESS);
    TRY(c, resident(&s.g, 4096, &other) == STATUS_SUCCESS);
    TRY(c, free_va(&s.g, &s.victim) == STATUS_SUCCESS);
    TRY(c, map_at(&s.g, &other, 2 * FAR, true) == STATUS_SUCCESS);
    TRY(c, map_at(&s.g, &s.victim, FAR, true) == STATUS_SUCCESS);
    dxgk_client_sleep(1000000);
}

static void checked_at_its_end(struct client *c)
{
    struct dxgk_table_check check;

    TRY(c, dxgk_machine_check_page_tables(c->machine->dxgk, &check));
    TRY(c, check.adapters == 1 && check.entries > 0 && check.hidden == 0);
}

static void map_and_check(struct client *c)
{
    struct dxgk_table_check check;
    struct scene s;

    TRY(c, set_up(&s, true) == STATUS_SUCCESS);
    TRY(c, dxgk_machine_check_page_tables(c->machine->dxgk, &check));
    TRY(c, check.wrong == 2 * TABLES_VICTIM_PAGES);
}

/* Run a program on the broken driver; false: it did not make its mistake. */
static bool make(struct tables *t, enum table_fault fault, void (*program)(struct client *c))
{
    tables_begin(t, fault, 1);
    tables_run(t, program);
    return t->calls > 0;
}

#define FOUND(t, rule, ...) CHECK_RULE(rule, tables_said(t, rule, __VA_ARGS__, (const char *)NULL))

TEST(entries_of_another_page_are_named)
{
    struct tables t;

    CHECK(make(&t, TABLES_WRONG_PAGE, map_it));
    FOUND(&t, "GPUVA-197", tables_call(&t, 0, "UPDATE_PAGE_TABLE, level 0"), "process 1 (client)",
          "is page at segment 1 offset 0x", "asked for page at segment 1 offset 0x",
          "entries: level 3 [0] 0x", "level 0 [", "is mapped there, resident in segment 1");
    CHECK(tables_records(&t) == 1);
    tables_end(&t);
}

TEST(entries_of_another_segment_are_named)
{
    struct tables t;

    CHECK(make(&t, TABLES_WRONG_SEGMENT, map_it));
    FOUND(&t, "GPUVA-196", tables_call(&t, 0, "UPDATE_PAGE_TABLE, level 0"),
          "is page at segment 2 offset 0x", "asked for page at segment 1 offset 0x");
    CHECK(tables_records(&t) == 1);
    tables_end(&t);
}

TEST(protection_that_is_ignored_is_named)
{
    struct tables t;

    CHECK(make(&t, TABLES_WRITABLE, map_it_without_write));
    FOUND(&t, "GPUVA-193", tables_call(&t, 0, "UPDATE_PAGE_TABLE, level 0"), ", read-only");
    CHECK(tables_records(&t) == 1);
    tables_end(&t);
}

TEST(leaf_tables_of_large_pages_are_named)
{
    struct tables t;

    CHECK(make(&t, TABLES_BIG, map_it));
    FOUND(&t, "GPUVA-206", tables_call(&t, 0, "UPDATE_PAGE_TABLE, level 1"),
          ", with pages of 64 KiB (0x");
    tables_end(&t);
}

TEST(entries_that_stay_after_an_unmap_are_named)
{
    struct tables t;

    CHECK(make(&t, TABLES_STALE, unmap_it));
    CHECK_RULE("GPUVA-260/a",
               tables_said(&t, "GPUVA-260", tables_call(&t, 0, "UPDATE_PAGE_TABLE, level 0"),
                           "was not carried out",
                           "asked for invalid; it has what was asked for before, by "
                           "DxgkDdiBuildPagingBuffer call ",
                           "until its range was freed", "(D3DKMTFreeGpuVirtualAddress)",
                           (const char *)NULL));
    CHECK(tables_records(&t) == 1);
    tables_end(&t);
}

TEST(a_chunk_that_is_forgotten_is_named)
{
    struct tables t;
    char entries[64];
    const char *said;
    unsigned from = 0, to = 0;

    CHECK(make(&t, TABLES_CHUNK, map_it));
    said = tables_said(&t, "GPUVA-260", tables_call(&t, 0, "UPDATE_PAGE_TABLE, level 0"),
                       "was not carried out", "is invalid (0x0)", (const char *)NULL);
    CHECK(said && sscanf(strstr(said, "level 0 ["), "level 0 [%u] to [%u]", &from, &to) == 2);
    snprintf(entries, sizeof(entries), "level 0 [%u] to [%u], ", from - TABLES_VICTIM_PAGES / 3,
             to + TABLES_VICTIM_PAGES / 3);
    CHECK_RULE("GPUVA-260/a", to - from + 1 == TABLES_VICTIM_PAGES / 3 && strstr(said, entries));
    CHECK(tables_records(&t) == 1);
    tables_end(&t);
}

TEST(an_update_that_comes_too_late_is_named_twice)
{
    struct tables t;

    CHECK(make(&t, TABLES_LATE, map_it_and_more));
    CHECK(tables_said(&t, "GPUVA-260", tables_call(&t, 0, "UPDATE_PAGE_TABLE, level 0"),
                      "was not carried out", (const char *)NULL));
    CHECK_RULE("GPUVA-260/b",
               tables_said(&t, "GPUVA-260", tables_call(&t, 0, "UPDATE_PAGE_TABLE, level 0"),
                           "was carried out after its completion", (const char *)NULL));
    CHECK(tables_records(&t) == 2);
    tables_end(&t);
}

TEST(entries_on_another_level_are_named)
{
    struct tables t;

    CHECK(make(&t, TABLES_WRONG_LEVEL, map_and_check));
    CHECK(tables_said(&t, "GPUVA-260", tables_call(&t, 0, "UPDATE_PAGE_TABLE, level 0"),
                      "was not carried out", (const char *)NULL));
    FOUND(&t, "GPUVA-261", "process 1 (client)", "level 1 [", "is table at 0x",
          "(UPDATE_PAGE_TABLE, level 1 [0] to [511], ", "asked for invalid");
    tables_end(&t);
}

TEST(a_flush_that_does_nothing_is_named)
{
    struct tables t;

    CHECK(make(&t, TABLES_NO_FLUSH, use_it_after_its_end));
    FOUND(&t, "GPUVA-262", tables_call(&t, 0, "FLUSH_TLB"), "touched no register of the device");
    FOUND(&t, "GPUVA-263", "process 1 (client)", "by engine 1, fence ",
          "(UPDATE_PAGE_TABLE, level 0", "(FLUSH_TLB, ", "until its range was freed");
    tables_end(&t);
}

TEST(a_link_to_the_table_before_is_named)
{
    struct tables t;

    CHECK(make(&t, TABLES_KEPT_LINK, move_its_table));
    FOUND(&t, "GPUVA-198", tables_call(&t, 0, "UPDATE_PAGE_TABLE, level 1"), "is table at 0x",
          "asked for table at segment 1 offset 0x");
    tables_end(&t);
}

/* Each of two processes has the GPU copy within its own memory. */
static void use_the_gpu(void *argument)
{
    struct client *c = argument;
    struct scene s;

    TRY(c, set_up(&s, true) == STATUS_SUCCESS);
    TRY(c, copy_from(&s, s.commands.va) == STATUS_SUCCESS);
    dxgk_client_sleep(100000000);
}

static void use_the_gpu_in_two_processes(struct client *c)
{
    TRY(c, dxgk_client_process("second", use_the_gpu, c));
    use_the_gpu(c);
}

TEST(the_root_of_another_process_is_named)
{
    struct tables t;

    tables_begin(&t, TABLES_FIRST_ROOT, 1);
    tables_run(&t, use_the_gpu_in_two_processes);
    FOUND(&t, "GPUVA-265", ", node 1, fence ", "DxgkDdiSetRootPageTable got segment 1 offset 0x",
          ", that of process ");
    CHECK(tables_records(&t) == 1);
    tables_end(&t);
    tables_begin(&t, TABLES_SOUND, 1);
    tables_run(&t, use_the_gpu_in_two_processes);
    CHECK_RULE("GPUVA-265", tables_records(&t) == 0);
    machine_end(&t.m);
}

static void sleep_and_wake(struct client *c)
{
    TRY(c, dxgk_client_set_power(3, DXGK_POWER_SLEEP, NULL, 0) == DXGK_OK);
    TRY(c, dxgk_client_set_power(0, DXGK_POWER_SLEEP, NULL, 0) == DXGK_OK);
}

static void everything(struct client *c)
{
    void (*const programs[])(struct client *) = {map_it, map_it_without_write, unmap_it,
                                                 map_it_and_more, move_its_table};

    for (unsigned i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        programs[i](c);
        if (!c->failed && i % 2)
            sleep_and_wake(c);
        if (c->failed)
            return;
    }
    checked_at_its_end(c);
}

/* The device is lost, and its address space is not. */
static void map_it_and_lose_the_device(struct client *c)
{
    struct scene s;

    (void)c;
    (void)set_up(&s, true); /* it may see the device go, or not */
    dxgk_client_sleep(1000000000);
}

/* What a reset throws away was not left out by the driver. */
TEST(a_reset_is_not_held_against_the_driver)
{
    const unsigned seeds = getenv("DXGK_LONG") ? 200 : 6;

    for (unsigned seed = 1; seed <= seeds; seed++) {
        struct dxgk_table_check check;
        struct dxgk_statistics s;
        struct tables t;

        tables_begin(&t, TABLES_HANG, seed);
        tables_run(&t, map_it_and_lose_the_device);
        dxgk_machine_statistics(t.m.dxgk, &s);
        if (tables_records(&t))
            machine_print_violations(&t.m);
        CHECK_RULE("GPUVA-260/c", s.adapter_resets == 1 && tables_records(&t) == 0);
        CHECK(dxgk_machine_check_page_tables(t.m.dxgk, &check) && check.wrong == 0);
        tables_end(&t);
    }
}

TEST(the_sound_driver_is_never_named)
{
    const unsigned seeds = getenv("DXGK_LONG") ? 1000 : 12;

    for (unsigned seed = 1; seed <= seeds; seed++) {
        struct tables t;

        tables_begin(&t, TABLES_SOUND, seed);
        tables_run(&t, everything);
        if (tables_records(&t))
            machine_print_violations(&t.m);
        CHECK(tables_records(&t) == 0 && t.calls == 0);
        machine_end(&t.m);
    }
}
