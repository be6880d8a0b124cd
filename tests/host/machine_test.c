/* SPDX-License-Identifier: MIT */
/* The machine's own life: configuration, creation, drivers that fail in every way, clients, the end. */
#include "host/enter.h"
#include "host/machine.h"
#include "host/machine_record.h"
#include "host/support/refgpu_client.h"
#include "nt/cm/registry.h"

#include <fcntl.h>
#include <unistd.h>

/* ---- configuration and creation ---- */

TEST(impossible_configurations_are_refused)
{
    struct dxgk_machine_config config;
    char error[128];

    for (unsigned i = 0; i < 8; i++) {
        dxgk_machine_config_init(&config);
        switch (i) {
        case 0:
            config.size = 3;
            break;
        case 1:
            config.ram_bytes = 4096;
            break;
        case 2:
            config.ram_bytes = (uint64_t)2 << 40;
            break;
        case 3:
            config.ram_bytes += 7;
            break;
        case 4:
            config.processors = 0;
            break;
        case 5:
            config.processors = 65;
            break;
        case 6:
            config.iommu_flags = 0x20;
            break;
        default:
            config.iommu = (enum dxgk_iommu)9;
            break;
        }
        error[0] = '\0';
        CHECK(!dxgk_machine_create(&config, error, sizeof(error)));
        CHECK(error[0] && !strchr(error, '\n'));
    }
    dxgk_machine_config_init(&config);
    config.processors = 0;
    CHECK(!dxgk_machine_create(&config, NULL, 0));
}

static void registry_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

TEST(a_registry_is_loaded_from_a_file)
{
    static const char key[] = "\\Registry\\Machine\\System\\CurrentControlSet\\Services\\mygpu";
    struct dxgk_machine_config config;
    struct machine m;
    char path[64], text[256], error[256] = "";
    const void *value;
    uint32_t type, bytes;
    bool entered;

    snprintf(path, sizeof(path), "/tmp/dxgkhost-registry-%d", (int)getpid());
    machine_config(&m, &config);
    machine_create(&m, &config);
    snprintf(text, sizeof(text), "[%s]\n\"RenderOnly\"=4:01000000\n", key);
    registry_file(path, text);
    CHECK(dxgk_machine_load_registry(m.dxgk, path, error, sizeof(error)) == DXGK_OK);
    entered = host_enter(m.dxgk);
    value = nt_registry_get(key, "RenderOnly", &type, &bytes);
    CHECK_RULE("NT-151/a", value && type == REG_DWORD && bytes == 4 && *(const uint8_t *)value == 1);
    host_leave(entered);
    registry_file(path, "[\\Registry\\Machine]\n\"no end\n");
    CHECK(dxgk_machine_load_registry(m.dxgk, path, error, sizeof(error)) == DXGK_ERROR);
    CHECK(strstr(error, path) && !strchr(error, '\n'));
    CHECK(unlink(path) == 0);
    CHECK(dxgk_machine_load_registry(m.dxgk, path, error, sizeof(error)) == DXGK_ERROR);
    dxgk_machine_destroy(m.dxgk);
}

TEST(extreme_configurations_work)
{
    struct dxgk_machine_config config;
    struct machine m;

    machine_config(&m, &config);
    config.ram_bytes = (uint64_t)1 << 40;
    config.processors = 64;
    machine_create(&m, &config);
    dxgk_machine_destroy(m.dxgk);
    machine_config(&m, &config);
    config.ram_bytes = (uint64_t)64 << 20;
    config.processors = 1;
    machine_create(&m, &config);
    dxgk_machine_destroy(m.dxgk);
}

TEST(creation_survives_every_failing_allocation)
{
    struct dxgk_machine *machine = NULL;
    unsigned failures = 0;

    for (uint64_t n = 1; !machine; n++) {
        struct dxgk_machine_config config;
        char error[128] = "";

        dxgk_machine_config_init(&config);
        machine = host_machine_create(&config, n, error, sizeof(error));
        if (machine && machine->requests_at_creation < n)
            break;
        if (machine) { /* one that may fail without harm */
            dxgk_machine_destroy(machine);
            machine = NULL;
            continue;
        }
        CHECK(strcmp(error, "out of memory") == 0);
        failures++;
    }
    CHECK(failures > 10);
    dxgk_machine_destroy(machine);
}

/* ---- devices ---- */

TEST(bad_devices_are_explained)
{
    static const char *const option[] = {"vram=123"};
    struct dxgk_machine_config config;
    struct machine m;

    machine_config(&m, &config);
    machine_create(&m, &config);
    CHECK(dxgk_machine_add_device(m.dxgk, "/nowhere/device.so", NULL, 0, m.error,
                                  sizeof(m.error)) == DXGK_ERROR);
    CHECK(m.error[0]);
    CHECK(dxgk_machine_add_device(m.dxgk, machine_path("devices/refgpu.so"), option, 1, m.error,
                                  sizeof(m.error)) == DXGK_ERROR);
    CHECK(m.error[0]);
    CHECK(dxgk_machine_add_device(m.dxgk, NULL, NULL, 0, m.error, sizeof(m.error)) == DXGK_ERROR);
    dxgk_machine_destroy(m.dxgk);
}

TEST(null_device_is_built_in)
{
    static const char *const good[] = {"vendor=0x1AF4", "device=0x1050", "registers=0", "unknown=1"};
    static const char *const bad[] = {"vendor=0x10000", "device=",     "revision",
                                      "class=x",        "vram=1",      "messages=0",
                                      "dma-bits=70",    "subsystem=-1"};
    struct dxgk_machine_config config;
    struct machine m;

    machine_config(&m, &config);
    machine_create(&m, &config);
    CHECK(dxgk_machine_add_device(m.dxgk, "./null", NULL, 0, m.error, sizeof(m.error)) ==
          DXGK_ERROR); /* a file */
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const char *key = strchr(bad[i], '=');

        CHECK(dxgk_machine_add_device(m.dxgk, "null", &bad[i], 1, m.error, sizeof(m.error)) ==
              DXGK_ERROR);
        CHECK(strncmp(m.error, "null: ", 6) == 0);
        if (i < 4)
            CHECK(strncmp(m.error + 6, bad[i], key ? (size_t)(key - bad[i]) : 8) == 0);
    }
    CHECK(dxgk_machine_add_device(m.dxgk, "null", good, 4, m.error, sizeof(m.error)) == DXGK_OK);
    CHECK(dxgk_machine_add_device(m.dxgk, "null", NULL, 0, m.error, sizeof(m.error)) == DXGK_OK);
    dxgk_machine_destroy(m.dxgk);
}

/* ---- drivers that fail ---- */

static enum dxgk_result load_bad(struct machine *m, const char *name, unsigned watchdog_ms)
{
    struct dxgk_machine_config config;
    char file[96];

    machine_config(m, &config);
    if (watchdog_ms)
        config.watchdog_ms = watchdog_ms;
    machine_create(m, &config);
    CHECK(dxgk_machine_add_device(m->dxgk, machine_path("devices/refgpu.so"), NULL, 0, m->error,
                                  sizeof(m->error)) == DXGK_OK);
    snprintf(file, sizeof(file), "tests/drivers/%s.so", name);
    return dxgk_machine_load_driver(m->dxgk, machine_path(file), m->error, sizeof(m->error));
}

static bool violated(const struct machine *m, const char *rule)
{
    struct dxgk_violation v;

    for (size_t i = 0; dxgk_machine_violation(m->dxgk, i, &v); i++)
        if (strcmp(v.rule, rule) == 0)
            return true;
    return false;
}

static void check_says(const struct machine *m, const char *text)
{
    if (!strstr(m->error, text))
        fail_msg("\"%s\" does not say \"%s\"", m->error, text);
    CHECK(!strchr(m->error, '\n'));
}

TEST(missing_imports_are_an_error)
{
    struct dxgk_statistics s;
    struct machine m;

    CHECK(load_bad(&m, "missing_imports", 0) == DXGK_ERROR);
    check_says(&m, "ExAnotherMissingRoutine, KeNoSuchRoutine");
    CHECK_RULE("LIFE-005/b", violated(&m, "LIFE-005"));
    dxgk_machine_statistics(m.dxgk, &s);
    CHECK_RULE("LIFE-005/c", !s.bugcheck && s.violations == 1); /* its DriverEntry would fault */
    dxgk_machine_destroy(m.dxgk);
}

TEST(a_failing_entry_leaves_nothing)
{
    struct dxgk_statistics s;
    struct machine m;

    CHECK_RULE("LIFE-009/a", load_bad(&m, "fails_entry", 0) == DXGK_ERROR);
    check_says(&m, "fails_entry.so");
    check_says(&m, "STATUS_DEVICE_CONFIGURATION_ERROR");
    CHECK_RULE("LIFE-009/b", violated(&m, "NT-027")); /* the memory it kept */
    dxgk_machine_statistics(m.dxgk, &s);
    CHECK_RULE("LIFE-009/a", s.ddi_calls == 0);
    /* the machine goes on */
    CHECK(dxgk_machine_load_driver(m.dxgk, machine_path("drivers/refgpu.so"), m.error,
                                   sizeof(m.error)) == DXGK_OK);
    CHECK(dxgk_machine_shutdown(m.dxgk) == DXGK_OK);
    CHECK(dxgk_machine_shutdown(m.dxgk) == DXGK_OK);
    dxgk_machine_destroy(m.dxgk);
}

TEST(an_incomplete_table_is_named)
{
    struct machine m;

    CHECK_RULE("LIFE-021/a", load_bad(&m, "incomplete_table", 0) == DXGK_ERROR);
    check_says(&m, "LIFE-021");
    check_says(&m, "is NULL");
    dxgk_machine_destroy(m.dxgk);
}

TEST(a_crash_is_a_bug_check_with_a_place)
{
    struct dxgk_violation v;
    struct dxgk_statistics s;
    struct machine m;

    CHECK_RULE("LIFE-002/c", load_bad(&m, "crashes_entry", 0) == DXGK_DRIVER_STOPPED);
    check_says(&m, "crashes_entry.so!write_to");
    check_says(&m, "0x18");
    CHECK(dxgk_machine_violation(m.dxgk, dxgk_machine_violations(m.dxgk) - 1, &v));
    CHECK(strncmp(v.stack, "crashes_entry.so!write_to+", 26) == 0 &&
          strstr(v.stack, "\ncrashes_entry.so!DriverEntry+"));
    dxgk_machine_statistics(m.dxgk, &s);
    CHECK_RULE("LIFE-002/a", s.bugcheck && s.bugcheck_code == 0x1E);
    CHECK(dxgk_machine_load_driver(m.dxgk, machine_path("drivers/refgpu.so"), m.error,
                                   sizeof(m.error)) == DXGK_DRIVER_STOPPED);
    CHECK(dxgk_machine_run(m.dxgk, "client", client_main, NULL) == DXGK_DRIVER_STOPPED);
    CHECK(dxgk_machine_shutdown(m.dxgk) == DXGK_DRIVER_STOPPED);
    dxgk_machine_destroy(m.dxgk);
}

static void hear(void *context, const char *line)
{
    *(bool *)context |= strcmp(line, "driver said: last words at level 15, 8 bytes") == 0;
}

TEST(a_bug_check_lets_drivers_have_their_last_words)
{
    struct dxgk_machine_config config;
    struct dxgk_statistics s;
    struct machine m;
    bool heard = false;

    machine_config(&m, &config);
    config.special_pool = true;
    config.log = hear;
    config.log_context = &heard;
    machine_create(&m, &config);
    CHECK(dxgk_machine_add_device(m.dxgk, machine_path("devices/refgpu.so"), NULL, 0, m.error,
                                  sizeof(m.error)) == DXGK_OK);
    CHECK_RULE("NT-025/d",
               dxgk_machine_load_driver(m.dxgk, machine_path("tests/drivers/touches_freed.so"),
                                        m.error, sizeof(m.error)) == DXGK_DRIVER_STOPPED);
    check_says(&m, "touches_freed.so!write_to");
    check_says(&m, "pool that was freed");
    dxgk_machine_statistics(m.dxgk, &s);
    CHECK_RULE("NT-025/d", s.bugcheck && s.bugcheck_code == 0xCC);
    CHECK(heard); /* one callback ran; the other one's fault ended the machine all the same */
    dxgk_machine_destroy(m.dxgk);
}

TEST(a_loop_is_found_by_the_watchdog)
{
    struct machine m;

    CHECK_RULE("NT-199/f", load_bad(&m, "loops_entry", 500) == DXGK_DRIVER_STOPPED);
    check_says(&m, "DriverEntry did not return");
    dxgk_machine_destroy(m.dxgk);
}

TEST(a_call_that_calls_the_host_for_ever_is_found_by_the_watchdog)
{
    struct machine m;

    CHECK_RULE("NT-201/d", load_bad(&m, "calls_entry", 250) == DXGK_DRIVER_STOPPED);
    check_says(&m, "DriverEntry did not return (it calls the host again and again, beyond its "
                   "limit of processor time)");
    CHECK_RULE("NT-201/d", violated(&m, "THREAD-037"));
    dxgk_machine_destroy(m.dxgk);
}

TEST(a_sleep_in_the_hosts_kernel_is_found_by_the_watchdog)
{
    struct machine m;

    CHECK_RULE("NT-199/g", load_bad(&m, "sleeps_entry", 250) == DXGK_DRIVER_STOPPED);
    check_says(&m, "DriverEntry did not return (it sleeps in the host's kernel)");
    CHECK_RULE("NT-199/g", violated(&m, "THREAD-037"));
    dxgk_machine_destroy(m.dxgk);
}

TEST(a_wait_for_ever_is_a_deadlock)
{
    struct machine m;

    CHECK(load_bad(&m, "waits_entry", 0) == DXGK_DEADLOCK);
    CHECK(m.error[0]);
    CHECK(dxgk_machine_shutdown(m.dxgk) == DXGK_DRIVER_STOPPED);
    dxgk_machine_destroy(m.dxgk);
}

TEST(the_client_interface_is_not_for_drivers)
{
    struct machine m;

    CHECK_RULE("KMT-003", load_bad(&m, "calls_client", 0) == DXGK_ERROR);
    check_says(&m, "DriverEntry returned STATUS_INVALID_DEVICE_STATE");
    CHECK_RULE("KMT-003", violated(&m, "KMT-003"));
    dxgk_machine_destroy(m.dxgk);
}

/* ---- severities ---- */

TEST(severities_can_be_set)
{
    struct dxgk_machine_config config;
    struct dxgk_statistics s;
    struct machine m;

    machine_config(&m, &config);
    machine_create(&m, &config);
    CHECK(!dxgk_machine_set_severity(m.dxgk, "NONE-001", 1));
    CHECK(!dxgk_machine_set_severity(m.dxgk, "KMT-003", 7));
    CHECK(dxgk_machine_set_severity(m.dxgk, "KMT-003", 1));
    CHECK(dxgk_machine_load_driver(m.dxgk, machine_path("tests/drivers/calls_client.so"), m.error,
                                   sizeof(m.error)) == DXGK_ERROR);
    dxgk_machine_statistics(m.dxgk, &s);
    CHECK_RULE("LIFE-004/a", s.violations == 0 && s.warnings == 1);
    dxgk_machine_destroy(m.dxgk);
    machine_config(&m, &config);
    config.strict = true;
    machine_create(&m, &config);
    CHECK(dxgk_machine_load_driver(m.dxgk, machine_path("tests/drivers/calls_client.so"), m.error,
                                   sizeof(m.error)) == DXGK_DRIVER_STOPPED);
    dxgk_machine_statistics(m.dxgk, &s);
    CHECK(s.bugcheck && s.bugcheck_code == 0xC4);
    dxgk_machine_destroy(m.dxgk);
}

/* ---- clients ---- */

struct crowd {
    unsigned ran;
    uint64_t slept;
};

static void member(void *argument)
{
    struct crowd *crowd = argument;
    uint64_t before = dxgk_client_time();

    dxgk_client_sleep(12345);
    crowd->slept += dxgk_client_time() - before >= 12345;
    crowd->ran++;
}

static void crowd_program(struct client *c)
{
    struct crowd *crowd = c->context;

    for (unsigned i = 0; i < 10; i++) {
        TRY(c, dxgk_client_thread("thread", member, crowd));
        TRY(c, dxgk_client_process("process", member, crowd));
    }
}

TEST(a_run_ends_with_its_last_thread)
{
    struct client *c = calloc(1, sizeof(*c));
    struct crowd crowd = {0};
    struct machine m;

    machine_begin(&m, DXGK_IOMMU_OFF);
    c->context = &crowd;
    machine_run_with(&m, c, crowd_program, DXGK_OK);
    CHECK(crowd.ran == 20 && crowd.slept == 20);
    machine_run_with(&m, c, crowd_program, DXGK_OK);
    CHECK(crowd.ran == 40);
    CHECK(!dxgk_client_thread("outside", member, &crowd));
    CHECK(!dxgk_client_process("outside", member, &crowd));
    machine_end(&m);
    free(c);
}

static void sleep_long(struct client *c)
{
    dxgk_client_sleep(1000000000000u);
    c->context = c;
}

TEST(time_limits_end_a_run)
{
    struct client *c = calloc(1, sizeof(*c));
    struct dxgk_machine_config config;
    struct machine m;

    machine_config(&m, &config);
    config.time_limit_ns = 1000000;
    machine_create(&m, &config);
    machine_run_with(&m, c, sleep_long, DXGK_TIME_UP);
    CHECK(!c->context);
    dxgk_machine_destroy(m.dxgk);
    free(c);
}

/* ---- one seed, one run ---- */

static void work(struct client *c)
{
    struct memory commands, target;
    struct refgpu_builder b;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &commands) ==
               STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, 1u << 20, 0, REFGPU_IN_VRAM, &target) == STATUS_SUCCESS);
    refgpu_builder_init(&b, commands.cpu, 4096);
    refgpu_fill(&b, target.va, 1u << 20, 0x12345678);
    for (unsigned i = 0; i < 20; i++)
        TRY(c, gpu_submit(g.copy, commands.va, refgpu_builder_bytes(&b)) == STATUS_SUCCESS);
    TRY(c, gpu_wait_idle(&g) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

static char *traced_run(uint64_t seed, struct dxgk_depot *depot, size_t *bytes)
{
    struct dxgk_machine_config config;
    struct machine m;
    char *text;
    FILE *out = open_memstream(&text, bytes);

    machine_config(&m, &config);
    config.seed = seed;
    config.trace = true;
    config.depot = depot;
    machine_create(&m, &config);
    machine_add_refgpu(&m);
    machine_run(&m, work);
    CHECK(out && dxgk_machine_write_trace(m.dxgk, out));
    fclose(out);
    machine_end(&m);
    return text;
}

TEST(the_same_seed_gives_the_same_trace)
{
    size_t first_bytes, second_bytes, other_bytes;
    char *first = traced_run(42, NULL, &first_bytes), *second = traced_run(42, NULL, &second_bytes),
         *other = traced_run(43, NULL, &other_bytes);

    CHECK(first_bytes > 1000 && first_bytes == second_bytes &&
          memcmp(first, second, first_bytes) == 0);
    CHECK(other_bytes != first_bytes || memcmp(first, other, first_bytes) != 0);
    CHECK(strstr(first, "D3DKMTSubmitCommand") && strstr(first, "DxgkDdiSubmitCommandVirtual"));
    free(first);
    free(second);
    free(other);
}

TEST(a_run_has_a_picture_of_its_time)
{
    struct dxgk_machine_config config;
    struct machine m;
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    machine_config(&m, &config);
    config.trace = true;
    machine_create(&m, &config);
    machine_add_refgpu(&m);
    machine_run(&m, work);
    CHECK(out && dxgk_machine_write_timeline(m.dxgk, out) && fclose(out) == 0);
    CHECK(strstr(text, ">node 1<") && strstr(text, ">refgpu engine 1<"));
    free(text);
    CHECK(!dxgk_machine_write_timeline(m.dxgk, NULL));
    machine_end(&m);
}

/* Memory that others have written to comes back as new. */
TEST(what_a_machine_leaves_does_not_show_in_the_next)
{
    struct dxgk_depot *depot = dxgk_depot_create();
    size_t alone_bytes, after_bytes;
    char *alone = traced_run(42, NULL, &alone_bytes), *after;

    CHECK(depot);
    for (uint64_t seed = 50; seed < 53; seed++)
        free(traced_run(seed, depot, &after_bytes));
    after = traced_run(42, depot, &after_bytes);
    CHECK(after_bytes == alone_bytes && memcmp(after, alone, alone_bytes) == 0);
    free(alone);
    free(after);
    dxgk_depot_destroy(depot);
}

/* The run as events of Windows' provider; *trace is its event stream, for the caller to free. */
static char *windows_run(uint64_t seed, enum dxgk_windows_trace form, size_t *bytes, char **trace)
{
    struct dxgk_machine_config config;
    struct machine m;
    size_t trace_bytes;
    char *text;
    FILE *out = open_memstream(&text, bytes), *stream = open_memstream(trace, &trace_bytes);

    machine_config(&m, &config);
    config.seed = seed;
    config.trace = config.trace_dxgkrnl = true;
    machine_create(&m, &config);
    machine_add_refgpu(&m);
    machine_run(&m, work);
    CHECK(out && stream && dxgk_machine_write_trace(m.dxgk, stream));
    CHECK(dxgk_machine_shutdown(m.dxgk) == DXGK_OK);
    CHECK(dxgk_machine_write_dxgkrnl(m.dxgk, form, out) && !ferror(out));
    fclose(out);
    fclose(stream);
    dxgk_machine_destroy(m.dxgk);
    return text;
}

TEST(a_run_can_be_written_as_windows_would_trace_it)
{
    size_t first_bytes, second_bytes, other_bytes, plain_bytes;
    char *trace[3], *first = windows_run(42, DXGK_TRACE_ETL, &first_bytes, &trace[0]),
                    *second = windows_run(42, DXGK_TRACE_ETL, &second_bytes, &trace[1]),
                    *other = windows_run(43, DXGK_TRACE_XML, &other_bytes, &trace[2]),
                    *plain = traced_run(42, NULL, &plain_bytes);

    CHECK(first_bytes == second_bytes && memcmp(first, second, first_bytes) == 0);
    CHECK(first_bytes % 65536 == 0);
    CHECK(strstr(other, "<EventName xmlns=\"http://schemas.microsoft.com/win/2004/08/events/trace\">"
                        "DmaPacket</EventName>"));
    CHECK(strcmp(trace[0], plain) == 0); /* recording changes nothing in a run */
    for (unsigned i = 0; i < 3; i++)
        free(trace[i]);
    free(first);
    free(second);
    free(other);
    free(plain);
}

TEST(the_form_of_such_a_trace_is_in_its_name)
{
    enum dxgk_windows_trace form = DXGK_TRACE_XML;

    CHECK(dxgk_windows_trace_form("run.etl", &form) && form == DXGK_TRACE_ETL);
    CHECK(dxgk_windows_trace_form("run.csv", &form) && form == DXGK_TRACE_CSV);
    CHECK(dxgk_windows_trace_form("run.xml", &form) && form == DXGK_TRACE_XML);
    CHECK(!dxgk_windows_trace_form("run.json", &form) && form == DXGK_TRACE_XML);
}

TEST(statistics_add_up)
{
    struct dxgk_statistics before, after;
    struct machine m;

    machine_begin(&m, DXGK_IOMMU_REMAP);
    machine_run(&m, work);
    dxgk_machine_statistics(m.dxgk, &before);
    CHECK(before.size == sizeof(before) && before.submissions == 20 && before.interrupts > 0 &&
          before.iommu_maps > 0 && before.page_table_updates > 0 && before.ddi_calls > 20 &&
          before.trace_records == 0 && before.virtual_ns > 0);
    CHECK(dxgk_machine_shutdown(m.dxgk) == DXGK_OK);
    dxgk_machine_statistics(m.dxgk, &after); /* of an adapter that is gone */
    CHECK(after.submissions >= before.submissions && after.ddi_calls >= before.ddi_calls &&
          after.interrupts >= before.interrupts);
    CHECK(!dxgk_machine_write_trace(m.dxgk, stdout));
    CHECK(!dxgk_machine_write_timeline(m.dxgk, stdout));
    CHECK(!dxgk_machine_write_dxgkrnl(m.dxgk, DXGK_TRACE_ETL, stdout));
    CHECK(dxgk_machine_run(m.dxgk, "late", client_main, NULL) == DXGK_ERROR);
    dxgk_machine_destroy(m.dxgk);
}

/* ---- nothing is left in the host process ---- */

/* Mappings of the process: all of them, and those of files in memory, which only machines make. */
struct mappings {
    unsigned all, shared;
};

static struct mappings count_mappings(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    struct mappings result = {0};
    char line[512];

    CHECK(file != NULL);
    while (fgets(line, sizeof(line), file)) {
        result.all++;
        result.shared += strstr(line, "memfd:") != NULL;
    }
    fclose(file);
    return result;
}

static unsigned count_descriptors(void)
{
    unsigned count = 0;

    for (int i = 0; i < 256; i++)
        count += fcntl(i, F_GETFD) >= 0;
    return count;
}

static void crash_program(struct client *c)
{
    D3DKMT_REQUEST_MACHINE_CRASH_ESCAPE args = {0};
    D3DKMT_ESCAPE escape;
    struct memory m;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, 65536, REFGPU_ALLOCATION_CPU_VISIBLE, 0, &m) == STATUS_SUCCESS);
    memset(&escape, 0, sizeof(escape));
    escape.hAdapter = g.adapter;
    escape.Type = D3DKMT_ESCAPE_REQUEST_MACHINE_CRASH;
    escape.pPrivateDriverData = &args;
    escape.PrivateDriverDataSize = sizeof(args);
    D3DKMTEscape(&escape);
}

static void whole_life(bool crash)
{
    struct client *c = calloc(1, sizeof(*c));
    struct machine m;

    machine_begin(&m, DXGK_IOMMU_REMAP);
    machine_run_with(&m, c, crash ? crash_program : work, crash ? DXGK_DRIVER_STOPPED : DXGK_OK);
    dxgk_machine_destroy(m.dxgk); /* shuts down */
    free(c);
}

TEST(machines_leave_no_trace_in_the_process)
{
    enum { LIVES = 10 };
    struct mappings before, after;
    unsigned descriptors;

    whole_life(false);
    whole_life(true);
    before = count_mappings();
    descriptors = count_descriptors();
    for (unsigned i = 0; i < LIVES; i++)
        whole_life(i % 2);
    after = count_mappings();
    CHECK(count_descriptors() == descriptors);
    CHECK(after.shared == before.shared);
#ifndef __SANITIZE_ADDRESS__ /* which keeps freed blocks for a while, in mappings of its own */
    CHECK(after.all < before.all + LIVES); /* the C library's own come and go */
#endif
}

/* ---- several machines ---- */

TEST(machines_do_not_disturb_each_other)
{
    struct machine a, b;
    struct client *c = calloc(1, sizeof(*c));

    machine_begin(&a, DXGK_IOMMU_OFF);
    machine_begin(&b, DXGK_IOMMU_REMAP);
    machine_run(&a, work);
    machine_run_with(&b, c, crash_program, DXGK_DRIVER_STOPPED);
    machine_run(&a, work);
    dxgk_machine_destroy(b.dxgk);
    machine_run(&a, work);
    machine_end(&a);
    free(c);
}
