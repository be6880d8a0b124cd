/* SPDX-License-Identifier: MIT */
/*
 * Kernel services as drivers in Windows images use them, through the headers and import libraries that images are built with: each
 * scenario of tests/drivers/windows/services.c by both compilers, and C++ by the one for Microsoft's ABI.
 */
#include "loader/support/machine.h"

#include "drivers/windows/classes.h"
#include "drivers/windows/services.h"
#include "nt/io/image_life.h"

static const char *const compilers[] = {"gcc", "clang"};

struct fixture {
    struct machine machine;
    struct loader_image *image;
    struct services_report report;
    bool returned;
};

static void play(struct fixture *f, const char *path, enum services_scenario scenario)
{
    NTSTATUS status = STATUS_UNSUCCESSFUL;

    memset(f, 0, sizeof(*f));
    machine_begin(&f->machine);
    f->machine.owner = nt_image_create("services");
    if (scenario == SERVICES_TIMER_LEFT)
        f->machine.until = 100000000; /* before it expires */
    if (!NT_SUCCESS(machine_load(&f->machine, path, &f->image)))
        fail_msg("%s", f->machine.error);
    f->report.scenario = scenario;
    f->returned = machine_try_entry(&f->machine, f->image, &f->report, &status);
}

static void finish(struct fixture *f)
{
    nt_image_destroy(f->machine.owner);
    loader_image_unload(f->image);
    machine_end(&f->machine);
}

/* Everything held, nothing was reported, nothing is left. */
static bool fine(struct fixture *f, const char *path)
{
    size_t records = verify_records(f->machine.log);

    if (f->report.failed_line)
        print_error("%s: services.c:%u does not hold\n", path, f->report.failed_line);
    if (records)
        print_error("%s: %s\n", path, verify_record_at(f->machine.log, 0)->seen);
    return f->returned && f->report.failed_line == 0 && f->report.checks > 0 && records == 0 &&
           nt_image_leak_check(f->machine.owner) == 0;
}

static void holds(enum services_scenario scenario)
{
    for (size_t i = 0; i < 2; i++) {
        const char *path = windows_driver(compilers[i], "services");
        struct fixture fixture;

        if (!path)
            continue;
        play(&fixture, path, scenario);
        CHECK(fine(&fixture, path));
        finish(&fixture);
    }
}

TEST(each_dispatcher_object_works)
{
    holds(SERVICES_OBJECTS);
}

TEST(each_kind_of_wait_works)
{
    holds(SERVICES_WAITS);
}

TEST(mdls_live_and_die)
{
    holds(SERVICES_MDL);
}

TEST(registry_is_there)
{
    holds(SERVICES_REGISTRY);
}

TEST(dpcs_compute_with_floating_point)
{
    holds(SERVICES_FLOAT);
}

TEST(code_runs_in_executable_pool)
{
    holds(SERVICES_EXECUTABLE);
    check_rule_record("NT-012/a", __FILE__, __LINE__, __func__);
}

TEST(code_in_other_pool_is_a_bug_check)
{
    for (size_t i = 0; i < 2; i++) {
        const char *path = windows_driver(compilers[i], "services");
        struct fixture f;

        if (!path)
            continue;
        play(&f, path, SERVICES_NX);
        CHECK(!f.returned && verify_bugcheck_state(f.machine.log)->happened);
        CHECK_RULE("NT-012/b", verify_bugcheck_state(f.machine.log)->code == 0xFC);
        finish(&f);
    }
}

TEST(timer_set_at_the_end_is_reported)
{
    for (size_t i = 0; i < 2; i++) {
        const char *path = windows_driver(compilers[i], "services");
        struct fixture f;

        if (!path)
            continue;
        play(&f, path, SERVICES_TIMER_LEFT);
        CHECK(f.returned && f.report.failed_line == 0 && verify_records(f.machine.log) == 0);
        CHECK(nt_image_leak_check(f.machine.owner) == 1);
        CHECK(verify_records(f.machine.log) == 1 &&
              strstr(verify_record_at(f.machine.log, 0)->seen, "timer"));
        finish(&f);
    }
}

/* ---- C++ ---- */

TEST(cpp_for_microsofts_abi_runs)
{
    const char *path = windows_driver("msvc", "classes");
    struct classes_report report = {0};
    struct machine machine, *m;
    struct loader_image *image;

    NEED(path);
    m = machine_begin(&machine);
    m->owner = nt_image_create("classes");
    CHECK(NT_SUCCESS(machine_load(m, path, &image)));
    CHECK(machine_call_entry(m, image, &report) == STATUS_SUCCESS);
    CHECK(report.constructed == 123 && report.destroyed == 321);
    CHECK(report.virtual_sum == 2 + 103 + 104 + 3000 && report.member == 6);
    CHECK(report.code == 0xC0000005 && report.order == 123);
    CHECK(verify_records(m->log) == 0 && nt_image_leak_check(m->owner) == 0);
    nt_image_destroy(m->owner);
    loader_image_unload(image);
    machine_end(m);
}
