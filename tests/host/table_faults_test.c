/* SPDX-License-Identifier: MIT */
/* Page faults on machines where page tables are checked: what their lines say of each level, and the device's own walk where no
 * format is known. */
#include "host/support/tables.h"

#include <dlfcn.h>

#include "dxgkhost/device.h"

#define VICTIM ((UINT64)TABLES_VICTIM_PAGES * 4096)

/* Maps the victim in video memory; then the GPU reads a page of it. */
static void set_up(struct client *c, struct gpu *g, struct memory *commands, struct memory *victim)
{
    TRY(c, gpu_begin(g) == STATUS_SUCCESS);
    TRY(c, gpu_memory(g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, commands) ==
               STATUS_SUCCESS);
    TRY(c, gpu_memory(g, VICTIM, 0, REFGPU_IN_VRAM, victim) == STATUS_SUCCESS);
}

static void read_page(struct client *c, const struct gpu *g, const struct memory *commands,
                      UINT64 address)
{
    struct refgpu_builder b;

    refgpu_builder_init(&b, commands->cpu, 2048);
    refgpu_copy(&b, commands->va + 2048, address, 64);
    TRY(c, gpu_submit(g->copy, commands->va, refgpu_builder_bytes(&b)) == STATUS_SUCCESS);
    dxgk_client_sleep(100000000);
}

/* A page of the part that the driver forgets. */
static void read_the_middle(struct client *c)
{
    struct memory commands, victim;
    struct gpu g;

    set_up(c, &g, &commands, &victim);
    if (!c->failed)
        read_page(c, &g, &commands, victim.va + VICTIM / 2);
}

static void read_after_the_end(struct client *c)
{
    D3DKMT_FREEGPUVIRTUALADDRESS args;
    struct memory commands, victim;
    struct gpu g;

    set_up(c, &g, &commands, &victim);
    if (c->failed)
        return;
    args = (D3DKMT_FREEGPUVIRTUALADDRESS){
        .hAdapter = g.adapter, .BaseAddress = victim.va, .Size = VICTIM};
    TRY(c, D3DKMTFreeGpuVirtualAddress(&args) == STATUS_SUCCESS);
    dxgk_client_sleep(1000000);
    read_page(c, &g, &commands, victim.va);
}

static bool says(const char *text, const char *part)
{
    if (strstr(text, part))
        return true;
    print_error("'%s' is not in: %s\n", part, text);
    return false;
}

TEST(the_line_of_a_fault_has_the_entries_as_they_stand)
{
    struct tables t;
    char wrong[64];

    tables_begin(&t, TABLES_CHUNK, 1);
    tables_run(&t, read_the_middle);
    CHECK(t.calls == 1);
    snprintf(wrong, sizeof(wrong), " (0x0, NOT as call %llu asked)", (unsigned long long)t.wrong[0]);
    CHECK_RULE("TDR-083", says(t.loss, wrong) && says(t.loss, "; level 3 [0] table (0x") &&
                              says(t.loss, "; level 1 [0] table (0x"));
    CHECK_RULE("GPUVA-260/a", tables_said(&t, "GPUVA-260", tables_call(&t, 0, "UPDATE_PAGE_TABLE"),
                                          (const char *)NULL));
    tables_end(&t);
}

TEST(the_line_of_a_fault_has_the_call_that_took_the_mapping_away)
{
    struct tables t;

    tables_begin(&t, TABLES_SOUND, 1);
    tables_run(&t, read_after_the_end);
    CHECK_RULE("TDR-083", says(t.loss, "until its range was freed ") &&
                              says(t.loss, " ms before (D3DKMTFreeGpuVirtualAddress)") &&
                              says(t.loss, "] invalid (0x0, by call "));
    CHECK(tables_records(&t) == 0);
    tables_end(&t);
}

/* ---- a device model that describes no format ---- */

static const struct dxgk_device_model *refgpu;
static struct dxgk_device_services services;
static bool (*tell_mmu)(void *host, const struct dxgk_device_mmu *mmu);

static bool old; /* the model is of the time before some members were added */

static bool tell_otherwise(void *host, const struct dxgk_device_mmu *mmu)
{
    static struct dxgk_table_format format;
    static struct dxgk_device_mmu changed;

    changed = *mmu;
    changed.format = NULL;
    if (old) { /* what is behind its members is something else */
        format = *mmu->format;
        format.inverted = ~0ull;
        changed.format = &format;
        changed.size = offsetof(struct dxgk_device_mmu, format_size);
        changed.format_size = 7;
    }
    return tell_mmu(host, &changed);
}

static void *create(const struct dxgk_device_config *config,
                    const struct dxgk_device_services *real, void *host)
{
    services = *real;
    tell_mmu = real->mmu;
    services.mmu = tell_otherwise;
    return refgpu->create(config, &services, host);
}

static void begin_otherwise(struct tables *t, enum table_fault fault)
{
    static struct dxgk_device_model model;
    void *library = dlopen(machine_path("devices/refgpu.so"), RTLD_NOW | RTLD_LOCAL);
    dxgk_device_get_model_fn get_model;

    CHECK(library);
    *(void **)&get_model = dlsym(library, "dxgk_device_get_model");
    refgpu = get_model(DXGK_DEVICE_API_VERSION);
    model = *refgpu;
    model.create = create;
    tables_create(t, fault, 1);
    if (dxgk_machine_add_device_model(t->m.dxgk, &model, NULL, 0, t->m.error, sizeof(t->m.error)) !=
        DXGK_OK)
        fail_msg("device: %s", t->m.error);
    tables_load_driver(t);
}

static void begin_without_format(struct tables *t, enum table_fault fault)
{
    old = false;
    begin_otherwise(t, fault);
}

TEST(without_a_format_the_walk_of_the_device_is_compared)
{
    struct dxgk_table_check check;
    struct tables t;

    begin_without_format(&t, TABLES_CHUNK);
    tables_run(&t, read_the_middle);
    CHECK(!dxgk_machine_check_page_tables(t.m.dxgk, &check) && check.adapters == 0);
    CHECK_RULE("GPUVA-264",
               tables_said(&t, "GPUVA-264", "process 1 (client)", "the device finds nothing valid",
                           tables_call(&t, 0, "UPDATE_PAGE_TABLE, level 0"),
                           "asked for page at segment 1 offset 0x", "level 0 [",
                           (const char *)NULL));
    CHECK(tables_records(&t) == 1);
    tables_end(&t);
}

TEST(a_fault_that_is_no_fault_of_the_driver_is_not_its)
{
    struct tables t;

    begin_without_format(&t, TABLES_SOUND);
    tables_run(&t, read_after_the_end);
    CHECK_RULE("GPUVA-264", t.loss[0] && tables_records(&t) == 0);
    tables_end(&t);
}

TEST(a_model_of_an_older_interface_has_what_it_knew)
{
    struct dxgk_table_check check;
    struct tables t;

    old = true;
    begin_otherwise(&t, TABLES_SOUND);
    tables_run(&t, read_after_the_end);
    CHECK(dxgk_machine_check_page_tables(t.m.dxgk, &check) && check.entries > 0);
    CHECK(check.wrong == 0 && tables_records(&t) == 0);
    tables_end(&t);
}

/* ---- a format of the program that embeds the host ---- */

/* That of tests/drivers/compute (compute.h): tables in system memory, which the CPU writes. */
static const struct dxgk_table_format of_compute = {
    .name = "compute",
    .entry_bytes = 8,
    .levels = 2,
    .index_bits = {9, 9},
    .valid = 1,
    .zero = 2,
    .read_only = 4,
    .address_mask = 0x000FFFFFFFFFF000,
    .segments = 1, /* all of it is system memory */
};

TEST(a_program_gives_its_own_format)
{
    struct dxgk_machine_config config;
    struct dxgk_table_check check;
    struct machine m;

    machine_config(&m, &config);
    config.check_page_tables = true;
    config.page_table_format = &of_compute;
    machine_create(&m, &config);
    CHECK(!dxgk_machine_check_page_tables(m.dxgk, &check)); /* there is no adapter yet */
    CHECK(!dxgk_machine_check_page_tables(m.dxgk, NULL));
    CHECK(dxgk_machine_add_device(m.dxgk, "null", NULL, 0, m.error, sizeof(m.error)) == DXGK_OK);
    if (dxgk_machine_load_driver(m.dxgk, machine_path("tests/drivers/compute.so"), m.error,
                                 sizeof(m.error)) != DXGK_OK)
        fail_msg("driver: %s", m.error);
    CHECK(dxgk_machine_check_page_tables(m.dxgk, &check));
    CHECK(check.adapters == 1 && check.tables > 100 && check.hidden == 0 && check.pending == 0);
    CHECK(check.entries > 512 * 100 && check.wrong == 0);
    CHECK(dxgk_table_format("cosgpu") && !dxgk_table_format("compute") && !dxgk_table_format(NULL));
    machine_end(&m);
    CHECK(!dxgk_machine_check_page_tables(NULL, &check));
}
