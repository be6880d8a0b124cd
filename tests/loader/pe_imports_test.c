/* SPDX-License-Identifier: MIT */
/* Imports of Windows images that nobody offers: listed at once, with their modules, or stood in for. */
#include "loader/support/machine.h"

static const char *const compilers[] = {"gcc", "clang"};

#define FOR_EACH(path, name)          \
    for (size_t c_ = 0; c_ < 2; c_++) \
        for (const char *path = windows_driver(compilers[c_], name); path; path = NULL)

static void all_missing_imports_are_listed_with_their_modules(void **state)
{
    (void)state;
    FOR_EACH(path, "missing")
    {
        struct machine machine, *m = machine_begin(&machine);
        const struct verify_record *record;
        struct loader_image *image;

        CHECK_RULE("LIFE-005", machine_load(m, path, &image) == (NTSTATUS)0xC0000263 && !image);
        CHECK_RULE("LIFE-005",
                   strstr(m->error, "missing.sys: imports 4 routines that the host does not have: "
                                    "helper.sys!#7, helper.sys!HelperByName, "
                                    "ntoskrnl.exe!ExAnotherMissingRoutine, "
                                    "ntoskrnl.exe!KeNoSuchRoutine"));
        record = verify_record_at(m->log, 0);
        CHECK_RULE("LIFE-005", record && strcmp(record->rule, "LIFE-005") == 0 &&
                                   record->severity == VERIFY_ERROR &&
                                   strstr(record->seen, "ntoskrnl.exe!KeNoSuchRoutine"));
        machine_end(m);
    }
}

static void stood_in_imports_report_their_first_call(void **state)
{
    (void)state;
    FOR_EACH(path, "missing")
    {
        struct machine machine, *m = machine_begin(&machine);
        struct loader_image *image;

        CHECK(NT_SUCCESS(machine_load_with(m, path, LOADER_STUB_MISSING, &image)));
        CHECK(verify_records(m->log) == 1 &&
              verify_record_at(m->log, 0)->severity == VERIFY_WARNING);
        CHECK(machine_call_entry(m, image, NULL) == STATUS_SUCCESS);
        CHECK(verify_records(m->log) == 1);
        CHECK(machine_call_entry(m, image, m) == STATUS_NOT_IMPLEMENTED);
        CHECK(verify_records(m->log) == 3 && verify_count(m->log, VERIFY_ERROR) == 2);
        CHECK(strstr(verify_record_at(m->log, 1)->seen,
                     "missing.sys called ntoskrnl.exe!KeNoSuchRoutine"));
        CHECK(strstr(verify_record_at(m->log, 1)->where,
                     "KeNoSuchRoutine called by missing.sys!DriverEntry+0x"));
        CHECK(strstr(verify_record_at(m->log, 2)->seen, "helper.sys!#7"));
        CHECK(machine_call_entry(m, image, m) == STATUS_NOT_IMPLEMENTED);
        CHECK(verify_count(m->log, VERIFY_ERROR) == 2);
        loader_image_unload(image);
        machine_end(m);
    }
}

static void standing_in_survives_every_failing_allocation(void **state)
{
    const char *path = windows_driver("gcc", "missing");
    struct machine machine, *m;
    struct loader_image *image = NULL;

    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_missing_imports_are_listed_with_their_modules),
        cmocka_unit_test(stood_in_imports_report_their_first_call),
        cmocka_unit_test(standing_in_survives_every_failing_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
