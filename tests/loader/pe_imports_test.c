/* SPDX-License-Identifier: MIT */
/* Imports of Windows images that nobody offers: listed at once, with their modules, or stood in for. */
#include "loader/support/machine.h"

#include "drivers/windows/library.h"
#include "sim/machine.h"

static const char *const compilers[] = {"gcc", "clang"};

#define FOR_EACH(path, name)          \
    for (size_t c_ = 0; c_ < 2; c_++) \
        for (const char *path = windows_driver(compilers[c_], name); path; path = NULL)

TEST(all_missing_imports_are_listed_with_their_modules)
{
    FOR_EACH(path, "missing")
    {
        struct machine machine, *m = machine_begin(&machine);
        const struct verify_record *record;
        struct loader_image *image;

        CHECK_RULE("LIFE-005/a", machine_load(m, path, &image) == (NTSTATUS)0xC0000263 && !image);
        CHECK_RULE("LIFE-005/b",
                   strstr(m->error, "missing.sys: imports 4 routines that the host does not have: "
                                    "helper.sys!#7, helper.sys!HelperByName, "
                                    "ntoskrnl.exe!ExAnotherMissingRoutine, "
                                    "ntoskrnl.exe!KeNoSuchRoutine"));
        record = verify_record_at(m->log, 0);
        CHECK_RULE("LIFE-005/b", record && strcmp(record->rule, "LIFE-005") == 0 &&
                                     record->severity == VERIFY_ERROR &&
                                     strstr(record->seen, "ntoskrnl.exe!KeNoSuchRoutine"));
        machine_end(m);
    }
}

TEST(ordinals_of_the_kernel_are_refused_by_module_and_number)
{
    FOR_EACH(path, "ordinals")
    {
        struct machine machine, *m = machine_begin(&machine);
        struct loader_image *image;

        CHECK_RULE("LIFE-005/a", machine_load(m, path, &image) == (NTSTATUS)0xC0000263 && !image);
        CHECK_RULE("LIFE-005/b",
                   strstr(m->error, "ordinals.sys: imports 2 routines that the host does not have: "
                                    "hal.dll!#33 (by ordinal, which is different in each build of "
                                    "the kernel), ntoskrnl.exe!#4660 (by ordinal"));
        machine_end(m);
    }
}

TEST(stood_in_imports_report_their_first_call)
{
    FOR_EACH(path, "missing")
    {
        struct machine machine, *m = machine_begin(&machine);
        struct loader_image *image;

        CHECK(NT_SUCCESS(machine_load_with(m, path, LOADER_STUB_MISSING, &image)));
        CHECK(verify_records(m->log) == 1 &&
              verify_record_at(m->log, 0)->severity == VERIFY_WARNING);
        CHECK(machine_call_entry(m, image, NULL) == STATUS_SUCCESS);
        CHECK(verify_records(m->log) == 1);
        CHECK_RULE("LIFE-187/c", machine_call_entry(m, image, m) == STATUS_NOT_IMPLEMENTED);
        CHECK_RULE("LIFE-187/a",
                   verify_records(m->log) == 3 && verify_count(m->log, VERIFY_ERROR) == 2);
        CHECK(strstr(verify_record_at(m->log, 1)->seen,
                     "missing.sys called ntoskrnl.exe!KeNoSuchRoutine"));
        CHECK(strstr(verify_record_at(m->log, 1)->where,
                     "KeNoSuchRoutine called by missing.sys!DriverEntry+0x"));
        CHECK_RULE("LIFE-187/b", strstr(verify_record_at(m->log, 2)->seen, "helper.sys!#7"));
        CHECK_RULE("LIFE-187/c", machine_call_entry(m, image, m) == STATUS_NOT_IMPLEMENTED);
        CHECK(verify_count(m->log, VERIFY_ERROR) == 2);
        loader_image_unload(image);
        machine_end(m);
    }
}

TEST(standing_in_survives_every_failing_allocation)
{
    const char *path = windows_driver("gcc", "missing");
    struct machine machine, *m;
    struct loader_image *image = NULL;

    NEED(path);
    m = machine_begin(&machine);
    for (uint64_t n = 1; !image; n++) {
        m->sim->heap.fail_at = m->sim->heap.requests + n;
        if (!NT_SUCCESS(machine_load_with(m, path, LOADER_STUB_MISSING, &image)))
            CHECK(!image && one_line(m->error));
        m->sim->heap.fail_at = 0;
    }
    loader_image_unload(image);
    machine_end(m);
}

/* ---- modules beside the importer ---- */

TEST(modules_beside_the_importer_are_loaded)
{
    FOR_EACH(path, "uses_library")
    {
        struct machine machine, *m = machine_begin(&machine);
        struct library_report report = {0};
        struct loader_image *image, *second;

        CHECK(NT_SUCCESS(machine_load(m, path, &image)));
        CHECK(loader_image_modules(image) == 1);
        CHECK(strcasecmp(loader_image_name(loader_image_module(image, 0)), "library.sys") == 0);
        CHECK(loader_image_export(loader_image_module(image, 0), "DllInitialize"));
        CHECK(!loader_image_export(loader_image_module(image, 0), "LibraryByOrdinal"));
        CHECK(machine_call_entry(m, image, &report) == STATUS_SUCCESS);
        CHECK_RULE("LIFE-188/a", report.by_name == 105);
        CHECK_RULE("LIFE-188/b", report.by_ordinal == 42);
        CHECK_RULE("LIFE-188/c", report.counter == 6);
        CHECK(NT_SUCCESS(machine_load(m, path, &second)));
        CHECK(!loader_module_last_use(loader_image_module(image, 0)));
        CHECK_RULE("LIFE-188/c", machine_call_entry(m, second, &report) == STATUS_SUCCESS &&
                                     report.by_name == 106);
        loader_image_unload(image);
        CHECK(loader_module_last_use(loader_image_module(second, 0)));
        CHECK(machine_call_entry(m, second, &report) == STATUS_SUCCESS && report.by_name == 107);
        loader_image_unload(second);
        CHECK(NT_SUCCESS(machine_load(m, path, &image)));
        CHECK_RULE("LIFE-188/d", machine_call_entry(m, image, &report) == STATUS_SUCCESS &&
                                     report.by_name == 105);
        loader_image_unload(image);
        machine_end(m);
    }
}

TEST(modules_survive_every_failing_allocation)
{
    const char *path = windows_driver("gcc", "uses_library");
    struct machine machine, *m;
    struct loader_image *image = NULL;
    uint64_t live = 0;

    NEED(path);
    m = machine_begin(&machine);
    for (uint64_t n = 1; !image; n++) {
        m->sim->heap.fail_at = m->sim->heap.requests + n;
        if (!NT_SUCCESS(machine_load(m, path, &image))) {
            CHECK(!image && one_line(m->error));
            if (n == 1)
                live = m->sim->heap.live_blocks;
            CHECK(m->sim->heap.live_blocks <= live + 2);
        }
        m->sim->heap.fail_at = 0;
    }
    loader_image_unload(image);
    CHECK(m->sim->heap.live_blocks <= live + 2);
    machine_end(m);
}
