/* SPDX-License-Identifier: MIT */
/* Windows images that are in order: mapped, relocated, bound, initialised, named, and gone again. */
#include "drivers/windows/probe.h"
#include "drivers/windows/supplement.h"
#include "loader/support/machine.h"
#include "nt/base/current.h"
#include "x64/unwind/function_table.h"

static const char *const compilers[] = {"gcc", "clang"};

static struct probe_report ask(struct machine *m, const struct loader_image *image)
{
    struct probe_report report = {.size = sizeof(report)};

    CHECK(machine_call_entry(m, image, &report) == STATUS_SUCCESS);
    return report;
}

/* For each compiler that is installed. */
#define FOR_EACH_PROBE(path)          \
    for (size_t c_ = 0; c_ < 2; c_++) \
        for (const char *path = windows_driver(compilers[c_], "probe"); path; path = NULL)

TEST(image_is_relocated_and_bound)
{
    FOR_EACH_PROBE(path)
    {
        struct machine machine, *m = machine_begin(&machine);
        struct loader_image *image;
        struct probe_report report;

        CHECK(NT_SUCCESS(machine_load(m, path, &image)));
        report = ask(m, image);
        CHECK(report.calls == 41);
        CHECK(report.own_function == report.own_table);
        CHECK(loader_image_contains(image, (uintptr_t)report.own_function));
        CHECK(report.compared && report.large_frame);
        CHECK(report.highest_user_address == (uintptr_t)MmHighestUserAddress);
        CHECK(!report.debugger_enabled && report.debugger_absent);
        CHECK(report.build == (0xF0000000u | 22621) && report.processors == 1);
        CHECK(report.system_process == (uintptr_t)nt_process_system());
        loader_image_unload(image);
        machine_end(m);
    }
}

TEST(delayed_imports_are_bound_at_once)
{
    const char *path = windows_driver("clang", "probe");
    struct machine machine, *m;
    struct loader_image *image;

    NEED(path);
    m = machine_begin(&machine);
    CHECK(NT_SUCCESS(machine_load(m, path, &image)));
    CHECK(loader_image_imports(image, "KeQueryPerformanceCounter"));
    CHECK(ask(m, image).delayed == 10000000);
    loader_image_unload(image);
    machine_end(m);
}

TEST(security_cookie_is_set_and_the_same_in_every_run)
{
    const char *path = windows_driver("clang", "probe");
    uint64_t cookie[2];

    NEED(path);
    for (unsigned i = 0; i < 2; i++) {
        struct machine machine, *m = machine_begin(&machine);
        struct loader_image *image;

        CHECK(NT_SUCCESS(machine_load(m, path, &image)));
        cookie[i] = ask(m, image).cookie;
        loader_image_unload(image);
        machine_end(m);
    }
    CHECK_RULE("LIFE-189/a",
               cookie[0] != 0 && cookie[0] != 0x00002B992DDFA232u && cookie[0] >> 48 == 0);
    CHECK_RULE("LIFE-189/b", cookie[0] == cookie[1]);
}

TEST(two_images_of_one_file_share_nothing)
{
    FOR_EACH_PROBE(path)
    {
        struct machine machine, *m = machine_begin(&machine);
        struct loader_image *a = NULL, *b = NULL;

        CHECK(NT_SUCCESS(machine_load(m, path, &a)));
        CHECK(NT_SUCCESS(machine_load(m, path, &b)));
        CHECK(ask(m, a).calls == 41 && ask(m, a).calls == 42 && ask(m, b).calls == 41);
        loader_image_unload(a);
        loader_image_unload(b);
        machine_end(m);
    }
}

TEST(stack_probe_of_microsofts_compilers_is_there)
{
    const char *path = windows_driver("clang", "msvc");
    struct machine machine, *m;
    struct loader_image *image;
    uint64_t sum = 0;

    NEED(path);
    m = machine_begin(&machine);
    CHECK(NT_SUCCESS(machine_load(m, path, &image)));
    CHECK(loader_image_imports(image, "__chkstk"));
    CHECK(machine_call_entry(m, image, &sum) == STATUS_SUCCESS);
    CHECK(sum == 1 + 20 + 300 + 4000 + 45);
    loader_image_unload(image);
    machine_end(m);
}

TEST(headers_supplement_is_what_windows_has)
{
    for (size_t i = 0; i < 2; i++) {
        const char *path = windows_driver(compilers[i], "supplement");
        struct supplement_report report = {0};
        struct machine machine, *m;
        struct loader_image *image;

        if (!path)
            continue;
        m = machine_begin(&machine);
        CHECK(NT_SUCCESS(machine_load(m, path, &image)));
        CHECK(machine_call_entry(m, image, &report) == STATUS_SUCCESS);
        CHECK(report.thread == STATUS_SUCCESS && report.wrong_type == STATUS_OBJECT_TYPE_MISMATCH);
        CHECK(report.read_kept && report.read[0] == 11 && report.read[1] == 22 &&
              report.read[2] == 33);
        CHECK(report.written[0] == 44 && report.written[1] == 55 && report.written[2] == 66);
        CHECK(report.pool && report.shared_level == DISPATCH_LEVEL && report.time != 0);
        CHECK(verify_records(m->log) == 0);
        loader_image_unload(image);
        machine_end(m);
    }
}

/* ---- protection ---- */

/* As /proc/self/maps has it: "r-xp" and the like; "" where nothing is mapped. */
static const char *rights(uint64_t address)
{
    static char text[5];
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];

    CHECK(maps != NULL);
    text[0] = '\0';
    while (fgets(line, sizeof(line), maps)) {
        unsigned long long low, high;
        char mode[8];

        if (sscanf(line, "%llx-%llx %7s", &low, &high, mode) == 3 && address >= low &&
            address < high)
            snprintf(text, sizeof(text), "%.4s", mode);
    }
    fclose(maps);
    return text;
}

TEST(pages_have_the_rights_of_their_sections)
{
    FOR_EACH_PROBE(path)
    {
        struct machine machine, *m = machine_begin(&machine);
        struct loader_image *image;
        struct probe_report report;
        uint64_t base;

        CHECK(NT_SUCCESS(machine_load(m, path, &image)));
        report = ask(m, image);
        base = x64_function_table_find((uintptr_t)report.own_code)->base;
        CHECK_RULE("LIFE-184/a", strcmp(rights(report.own_code), "r-xp") == 0);
        CHECK_RULE("LIFE-184/b", strcmp(rights(report.own_variable), "rw-p") == 0);
        CHECK_RULE("LIFE-184/c", strcmp(rights(report.own_constant), "r--p") == 0);
        CHECK_RULE("LIFE-184/d", strcmp(rights(base), "r--p") == 0);
        loader_image_unload(image);
        CHECK(strcmp(rights(report.own_code), "r-xp") != 0);
        machine_end(m);
    }
}

TEST(initialization_code_goes_after_driver_entry)
{
    const char *path = windows_driver("clang", "probe");
    struct probe_report report = {.size = sizeof(report), .initialize = 1};
    struct machine machine, *m;
    struct loader_image *image;
    char text[128];

    NEED(path);
    m = machine_begin(&machine);
    CHECK(NT_SUCCESS(machine_load(m, path, &image)));
    CHECK(machine_call_entry(m, image, &report) == STATUS_SUCCESS && report.initialized == 1);
    CHECK(strcmp(rights(report.own_initializer), "r-xp") == 0);
    loader_image_initialized(image);
    CHECK_RULE("LIFE-185", strcmp(rights(report.own_initializer), "---p") == 0);
    CHECK(loader_symbolize((uintptr_t)report.own_initializer, text, sizeof(text)) &&
          strcmp(text, "probe.sys!initialize_once+0x0") == 0);
    report.initialize = 0;
    CHECK(machine_call_entry(m, image, &report) == STATUS_SUCCESS);
    loader_image_unload(image);
    machine_end(m);
}

/* ---- names and tables ---- */

TEST(addresses_get_names)
{
    FOR_EACH_PROBE(path)
    {
        struct machine machine, *m = machine_begin(&machine);
        struct loader_image *image;
        struct probe_report report;
        char text[128];

        CHECK(NT_SUCCESS(machine_load(m, path, &image)));
        report = ask(m, image);
        CHECK(loader_symbolize((uintptr_t)report.own_code + 3, text, sizeof(text)) &&
              strcmp(text, "probe.sys!DriverEntry+0x3") == 0);
        CHECK(loader_symbolize((uintptr_t)report.own_function, text, sizeof(text)) &&
              strcmp(text, "probe.sys!count_up+0x0") == 0);
        CHECK(strcmp(loader_image_name(image), "probe.sys") == 0 &&
              strcmp(loader_image_service(image), "probe") == 0);
        loader_image_unload(image);
        CHECK(!loader_symbolize((uintptr_t)report.own_code, text, sizeof(text)));
        machine_end(m);
    }
}

TEST(function_table_is_registered)
{
    FOR_EACH_PROBE(path)
    {
        struct machine machine, *m = machine_begin(&machine);
        const struct x64_function_table *table;
        const struct x64_function *function;
        struct loader_image *image;
        uintptr_t entry;

        CHECK(NT_SUCCESS(machine_load(m, path, &image)));
        entry = (uintptr_t)loader_image_entry(image);
        table = x64_function_table_find(entry);
        CHECK(table && strcmp(table->name, "probe.sys") == 0 && table->count > 0);
        function = x64_function_find(table, entry + 1);
        CHECK(function && table->base + function->begin == entry);
        CHECK(table->spare >= table->base + table->image_bytes && table->spare_bytes >= 0x10000);
        loader_image_unload(image);
        CHECK(!x64_function_table_find(entry));
        machine_end(m);
    }
}

/* ---- memory ---- */

TEST(loading_survives_every_failing_allocation)
{
    FOR_EACH_PROBE(path)
    {
        struct machine machine, *m = machine_begin(&machine);
        struct loader_image *image = NULL;
        unsigned failures = 0;
        uint64_t live = 0;

        for (uint64_t n = 1; !image; n++) {
            NTSTATUS status;

            m->sim->heap.fail_at = m->sim->heap.requests + n;
            status = machine_load(m, path, &image);
            m->sim->heap.fail_at = 0;
            if (image)
                break;
            CHECK(status == STATUS_NO_MEMORY && one_line(m->error));
            if (n == 1)
                live = m->sim->heap.live_blocks;
            CHECK(m->sim->heap.live_blocks <= live + 2); /* state of loader and x64 */
            failures++;
        }
        CHECK(failures >= 8);
        loader_image_unload(image);
        machine_end(m);
    }
}
