/* SPDX-License-Identifier: MIT */
/* Arguments of the embedding interface and of the client functions at their limits, and what they do in a machine that a bug
 * check has stopped. */
#include "host/support/refgpu_client.h"
#include "dxgkhost/patches.h"
#include "util/array.h"

#define MIB ((uint64_t)1 << 20)

static const char *refused(const struct dxgk_machine_config *config)
{
    static char error[256];

    error[0] = '\0';
    CHECK(!dxgk_machine_create(config, error, sizeof(error)));
    return error;
}

static void accepted(const struct dxgk_machine_config *config)
{
    char error[256] = "";
    struct dxgk_machine *machine = dxgk_machine_create(config, error, sizeof(error));

    CHECK(machine && !error[0]);
    dxgk_machine_destroy(machine);
}

TEST(configurations_have_limits)
{
    static const char ram[] = "ram_bytes must be whole pages between 64 MiB and 1 TiB",
                      stack[] = "client_stack_bytes must be between 256 KiB and 1 GiB",
                      processors[] = "processors must be 1 to 64";
    struct dxgk_machine_config config;

    dxgk_machine_config_init(&config);
    config.ram_bytes = 64 * MIB - 4096;
    CHECK(strcmp(refused(&config), ram) == 0);
    config.ram_bytes = MIB * MIB + 4096;
    CHECK(strcmp(refused(&config), ram) == 0);
    config.ram_bytes = 64 * MIB + 1;
    CHECK(strcmp(refused(&config), ram) == 0);
    config.ram_bytes = 64 * MIB;
    accepted(&config);
    config.client_stack_bytes = (256u << 10) - 1;
    CHECK(strcmp(refused(&config), stack) == 0);
    config.client_stack_bytes = (size_t)1024 * MIB + 1;
    CHECK(strcmp(refused(&config), stack) == 0);
    config.client_stack_bytes = 256u << 10;
    accepted(&config);
    config.processors = 64;
    accepted(&config);
    config.processors = 65;
    CHECK(strcmp(refused(&config), processors) == 0);
    config.processors = 0;
    CHECK(strcmp(refused(&config), processors) == 0);
    config.processors = 1;
    accepted(&config);
    config.size--;
    CHECK(strstr(refused(&config), "was not made by dxgk_machine_config_init"));
    config.size += 2;
    CHECK(strstr(refused(&config), "was not made by dxgk_machine_config_init"));
}

TEST(physical_memory_has_an_end)
{
    uint8_t bytes[16];
    struct dxgk_page page;
    struct dxgk_machine_config config;
    struct machine m;
    uint64_t top;

    machine_config(&m, &config);
    machine_create(&m, &config);
    top = config.ram_bytes;
    CHECK(dxgk_machine_read_physical(m.dxgk, top - 16, bytes, 16));
    CHECK(!dxgk_machine_read_physical(m.dxgk, top - 15, bytes, 16));
    CHECK(!dxgk_machine_read_physical(m.dxgk, top, bytes, 1));
    CHECK(!dxgk_machine_read_physical(m.dxgk, UINT64_MAX, bytes, 2));
    CHECK(!dxgk_machine_read_physical(m.dxgk, 0, NULL, 1));
    memset(bytes, 0x5A, sizeof(bytes));
    CHECK(dxgk_machine_read_physical(m.dxgk, 0, bytes, 15) && bytes[14] != 0x5A &&
          bytes[15] == 0x5A);
    CHECK(dxgk_machine_page(m.dxgk, 0, &page) && dxgk_machine_page(m.dxgk, top - 1, &page));
    CHECK(page.owner && page.cache && page.locks == 0 && page.iommu_maps == 0);
    CHECK(!dxgk_machine_page(m.dxgk, top, &page) && !dxgk_machine_page(m.dxgk, 0, NULL));
    dxgk_machine_destroy(m.dxgk);
}

TEST(what_is_asked_of_a_machine_has_a_place_to_go)
{
    struct dxgk_violation violation;
    struct dxgk_refusal refusal;
    struct machine m;
    char path[260] = "before";

    machine_begin(&m, DXGK_IOMMU_OFF);
    CHECK(!dxgk_machine_set_severity(m.dxgk, "KMT-003", -1));
    CHECK(!dxgk_machine_set_severity(m.dxgk, "KMT-003", 4));
    CHECK(dxgk_machine_set_severity(m.dxgk, "KMT-003", 0));
    CHECK(dxgk_machine_set_severity(m.dxgk, "KMT-003", 3));
    CHECK(!dxgk_machine_violation(m.dxgk, 0, &violation));
    CHECK(!dxgk_machine_refusal(m.dxgk, 0, &refusal));
    CHECK(!dxgk_machine_write_memory(m.dxgk, DXGK_MEMORY_TEXT, NULL));
    CHECK(!dxgk_machine_write_trace(m.dxgk, NULL));
    CHECK(!dxgk_machine_device_interface(m.dxgk, 0, NULL, 260));
    CHECK(!dxgk_machine_device_interface(m.dxgk, 1, path, sizeof(path)) && path[0] == '\0');
    memset(path, 'x', sizeof(path));
    CHECK(dxgk_machine_device_interface(m.dxgk, 0, path, 8) && path[7] == '\0' && path[8] == 'x');
    CHECK(dxgk_machine_device_interface(m.dxgk, 0, path, 0) && path[8] == 'x');
    CHECK(dxgk_machine_device_interface(m.dxgk, 0, path, sizeof(path)) &&
          strstr(path, "{1ca05180-a699-450a-9a0c-de4fbe3ddd89}"));
    CHECK(dxgk_machine_shutdown(m.dxgk) == DXGK_OK);
    CHECK(!dxgk_machine_device_interface(m.dxgk, 0, path, sizeof(path)) && path[0] == '\0');
    CHECK(dxgk_machine_load_registry(m.dxgk, "/dev/null", m.error, sizeof(m.error)) == DXGK_ERROR);
    CHECK(strcmp(m.error, "the machine has stopped") == 0);
    CHECK(dxgk_machine_load_registry(m.dxgk, NULL, m.error, sizeof(m.error)) == DXGK_ERROR);
    CHECK(strcmp(m.error, "there is no path") == 0);
    dxgk_machine_destroy(m.dxgk);
}

TEST(a_secure_virtual_machine_needs_an_adapter)
{
    struct dxgk_machine_config config;
    struct machine m;

    machine_config(&m, &config);
    machine_create(&m, &config);
    CHECK(dxgk_machine_create_secure_vm(m.dxgk, m.error, sizeof(m.error)) == DXGK_ERROR);
    CHECK(strcmp(m.error, "there is no adapter that runs") == 0);
    dxgk_machine_destroy(m.dxgk);
}

/* ---- client functions ---- */

static void nothing(void *argument)
{
    (void)argument;
}

TEST_WITH(client, client_functions_check_their_arguments)
{
    size_t ram = (size_t)1 << 30;
    char error[256] = "";
    uint8_t *memory;

    TRY(c, !dxgk_client_thread(NULL, nothing, NULL) && !dxgk_client_thread("t", NULL, NULL));
    TRY(c, !dxgk_client_process(NULL, nothing, NULL) && !dxgk_client_process("p", NULL, NULL));
    TRY(c, !dxgk_client_allocate(0) && !dxgk_client_allocate(ram + 1) && !dxgk_client_allocate(ram));
    memory = dxgk_client_allocate(1);
    TRY(c, memory && ((uintptr_t)memory & 4095) == 0 && memory[0] == 0 && memory[4095] == 0);
    TRY(c, !dxgk_client_free(NULL) && !dxgk_client_free(memory + 4096));
    TRY(c, dxgk_client_free(memory) && !dxgk_client_free(memory));
    TRY(c, dxgk_client_set_power(4, DXGK_POWER_SLEEP, error, sizeof(error)) == DXGK_ERROR);
    TRY(c, strcmp(error, "no device power state: D4") == 0 && dxgk_client_power() == 0);
    for (int action = DXGK_POWER_SLEEP; action <= DXGK_POWER_IDLE; action++)
        for (unsigned state = 1; state <= 3; state++) {
            TRY(c, dxgk_client_set_power(state, (enum dxgk_power_action)action, error,
                                         sizeof(error)) == DXGK_OK);
            TRY(c, dxgk_client_power() == state);
            TRY(c, dxgk_client_set_power(0, (enum dxgk_power_action)action, error, sizeof(error)) ==
                       DXGK_OK);
            TRY(c, dxgk_client_power() == 0);
        }
}

TEST(power_is_no_business_of_others)
{
    char error[256] = "";

    CHECK(dxgk_client_set_power(3, DXGK_POWER_SLEEP, error, sizeof(error)) == DXGK_ERROR);
    CHECK(strcmp(error, "not a client's thread") == 0);
}

/* ---- after a bug check ---- */

static unsigned seen;

static void crash_and_go_on(struct client *c)
{
    D3DKMT_REQUEST_MACHINE_CRASH_ESCAPE crash = {.Param1 = 0x11, .Param2 = 0x22, .Param3 = 0x33};
    D3DKMT_ESCAPE escape = {.Type = D3DKMT_ESCAPE_REQUEST_MACHINE_CRASH};
    struct dxgk_refusal refusal;
    char error[256] = "", path[260];
    uint64_t before;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    escape.hAdapter = g.adapter;
    escape.pPrivateDriverData = &crash;
    escape.PrivateDriverDataSize = sizeof(crash);
    TRY(c, D3DKMTEscape(&escape) == STATUS_DEVICE_REMOVED);
    seen = 1;
    TRY(c, gpu_create_device(&g) == STATUS_DEVICE_REMOVED && dxgk_client_last_refusal(&refusal) &&
               strstr(refusal.reason, "the machine was stopped"));
    before = dxgk_client_time();
    dxgk_client_sleep(12345);
    TRY(c, dxgk_client_time() >= before + 12345 && dxgk_client_time() < before + 1000000);
    TRY(c, dxgk_client_set_power(3, DXGK_POWER_SLEEP, error, sizeof(error)) == DXGK_DRIVER_STOPPED);
    TRY(c, strcmp(error, "no change to D3: a bug check stopped the machine") == 0);
    TRY(c, dxgk_client_power() == 0);
    TRY(c, !dxgk_client_thread("t", nothing, NULL) && !dxgk_client_process("p", nothing, NULL));
    TRY(c, !dxgk_machine_device_interface(c->machine->dxgk, 0, path, sizeof(path)) && !path[0]);
    seen = 2;
}

TEST(a_client_outlives_a_bug_check)
{
    struct client *c = calloc(1, sizeof(*c));
    struct dxgk_statistics s;
    struct machine m;

    seen = 0;
    machine_begin(&m, DXGK_IOMMU_OFF);
    machine_run_with(&m, c, crash_and_go_on, DXGK_DRIVER_STOPPED);
    CHECK(seen == 2);
    dxgk_machine_statistics(m.dxgk, &s);
    CHECK_RULE("KMT-456", s.bugcheck && s.bugcheck_client && s.bugcheck_code == 0xE2 &&
                              s.bugcheck_parameter[0] == 0x11 && s.bugcheck_parameter[1] == 0x22 &&
                              s.bugcheck_parameter[2] == 0x33);
    CHECK(dxgk_machine_load_registry(m.dxgk, "/dev/null", m.error, sizeof(m.error)) ==
          DXGK_DRIVER_STOPPED);
    CHECK(dxgk_machine_create_secure_vm(m.dxgk, m.error, sizeof(m.error)) == DXGK_DRIVER_STOPPED);
    CHECK(dxgk_machine_run(m.dxgk, "next", nothing, NULL) == DXGK_DRIVER_STOPPED);
    dxgk_machine_destroy(m.dxgk);
    free(c);
}

/* ---- sums over adapters ---- */

static NTSTATUS adapter_begin(struct gpu *g, unsigned index)
{
    D3DKMT_ENUMADAPTERS adapters = {0};
    NTSTATUS status = D3DKMTEnumAdapters(&adapters);

    memset(g, 0, sizeof(*g));
    g->adapter = adapters.Adapters[index].hAdapter;
    if (NT_SUCCESS(status))
        status = gpu_create_device(g);
    if (NT_SUCCESS(status))
        status = gpu_create_queue(g);
    return NT_SUCCESS(status) ? gpu_create_copy_context(g) : status;
}

/* Packets, paging and evictions on one of them; then what the counters of all have gained. */
static void work_on_each(struct client *c)
{
    struct dxgk_statistics before, after;
    struct memory commands, big[3];
    struct gpu g;

    before.size = after.size = sizeof(before);
    for (unsigned index = 0; index < 2; index++) {
        dxgk_machine_statistics(c->machine->dxgk, &before);
        TRY(c, adapter_begin(&g, index) == STATUS_SUCCESS);
        TRY(c, gpu_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &commands) ==
                   STATUS_SUCCESS);
        for (unsigned i = 0; i < 5; i++)
            TRY(c, gpu_submit(g.copy, commands.va, 0) == STATUS_SUCCESS);
        TRY(c, gpu_wait_idle(&g) == STATUS_SUCCESS);
        for (unsigned i = 0; i < 3; i++) { /* there is room for two */
            D3DKMT_EVICT evict = {.hDevice = g.device, .NumAllocations = 1};

            TRY(c, gpu_create_memory(&g, 3 << 20, 0, REFGPU_IN_VRAM, &big[i]) == STATUS_SUCCESS);
            TRY(c, gpu_make_resident(&g, big[i].handle) == STATUS_SUCCESS);
            evict.AllocationList = &big[i].handle;
            TRY(c, D3DKMTEvict(&evict) == STATUS_SUCCESS);
        }
        dxgk_machine_statistics(c->machine->dxgk, &after);
        TRY(c, after.submissions - before.submissions == 5);
        TRY(c, after.interrupts > before.interrupts && after.ddi_calls > before.ddi_calls);
        TRY(c, after.paging_submissions > before.paging_submissions);
        TRY(c, after.page_table_updates > before.page_table_updates);
        TRY(c, after.iommu_maps > before.iommu_maps);
        TRY(c, after.evictions > before.evictions);
        TRY(c, after.virtual_ns > before.virtual_ns && after.warnings == before.warnings);
        TRY(c, gpu_end(&g) == STATUS_SUCCESS);
    }
}

TEST(counters_are_those_of_all_adapters)
{
    static const char *const small[] = {"vram=8388608"};
    struct dxgk_machine_config config;
    struct dxgk_statistics last;
    struct machine m;

    machine_config(&m, &config);
    config.iommu = DXGK_IOMMU_REMAP;
    machine_create(&m, &config);
    for (unsigned i = 0; i < 2; i++)
        CHECK(dxgk_machine_add_device(m.dxgk, machine_path("devices/refgpu.so"), small, 1, m.error,
                                      sizeof(m.error)) == DXGK_OK);
    CHECK(dxgk_machine_load_driver(m.dxgk, machine_path("drivers/refgpu.so"), m.error,
                                   sizeof(m.error)) == DXGK_OK);
    machine_run(&m, work_on_each);
    CHECK(dxgk_machine_shutdown(m.dxgk) == DXGK_OK);
    dxgk_machine_statistics(m.dxgk, &last); /* of adapters that are gone */
    CHECK(last.submissions == 10 && last.evictions >= 2 && last.paging_submissions > 0 &&
          last.page_table_updates > 0 && last.leaks == 0);
    dxgk_machine_destroy(m.dxgk);
}

TEST(descriptions_of_patches_have_limits)
{
    static const char none[] = "it has no encodings, or more than DXGK_PATCH_ENCODINGS",
                      bytes[] = "an encoding has neither 0, 4 nor 8 bytes",
                      shift[] = "an encoding shifts by more than 63 bits",
                      wide[] = "an encoding of 4 bytes has a mask of more bits",
                      outside[] = "an encoding is for a DriverId or SlotId outside its mask";
    static const struct {
        uint32_t encodings;
        struct dxgk_patch_encoding last;
        const char *why; /* NULL: accepted */
    } cases[] = {
        {0, {.bytes = 4}, none},
        {1, {.bytes = 4}, NULL},
        {DXGK_PATCH_ENCODINGS, {.bytes = 8}, NULL},
        {DXGK_PATCH_ENCODINGS + 1, {.bytes = 8}, none},
        {2, {.bytes = 0}, NULL},
        {2, {.bytes = 1}, bytes},
        {2, {.bytes = 7}, bytes},
        {2, {.bytes = 9}, bytes},
        {1, {.bytes = 4, .right = 63, .left = 63, .driver_shift = 63}, NULL},
        {1, {.bytes = 4, .right = 64}, shift},
        {1, {.bytes = 4, .left = 64}, shift},
        {1, {.bytes = 4, .driver_shift = 64}, shift},
        {1, {.bytes = 4, .mask = 0xFFFFFFFF}, NULL},
        {1, {.bytes = 4, .mask = 0x100000000}, wide},
        {1, {.bytes = 8, .mask = 0x100000000}, NULL},
        {1, {.bytes = 8, .driver = 3, .driver_mask = 3, .slot = 2, .slot_mask = 6}, NULL},
        {1, {.bytes = 8, .driver = 4, .driver_mask = 3}, outside},
        {1, {.bytes = 8, .slot = 8, .slot_mask = 6}, outside},
    };
    struct dxgk_machine_config config;

    dxgk_machine_config_init(&config);
    config.ram_bytes = 64 * MIB;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct dxgk_patch_format format = {.encodings = cases[i].encodings};

        for (uint32_t n = 0; n < DXGK_PATCH_ENCODINGS; n++)
            format.encoding[n].bytes = 4;
        if (cases[i].encodings && cases[i].encodings <= DXGK_PATCH_ENCODINGS)
            format.encoding[cases[i].encodings - 1] = cases[i].last;
        config.patch_format = &format;
        if (cases[i].why)
            CHECK(strcmp(refused(&config), cases[i].why) == 0);
        else
            accepted(&config);
    }
    CHECK(dxgk_patch_format("coskmd") && dxgk_patch_format("roskmd") &&
          dxgk_patch_format("roskmd-vc4") && !dxgk_patch_format("roskmd-vc") &&
          !dxgk_patch_format(NULL));
    for (size_t i = 0; i < 3; i++) {
        static const char *const built_in[] = {"coskmd", "roskmd", "roskmd-vc4"};

        config.patch_format = dxgk_patch_format(built_in[i]);
        accepted(&config);
    }
}
