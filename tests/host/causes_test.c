/* SPDX-License-Identifier: MIT */
/* What a refused start tells: the call of the driver that failed, with its status, or the first rule that refused; what comes
 * up while the start is undone stands apart. Each case is a line of tests/drivers/refused.c. */
#include "host/support/machine.h"

#include <unistd.h>

/* Of the rule that the next machine is to take for less; NULL: of none. */
static const char *softened;
static bool dark; /* without displays */

static void load(struct machine *m, unsigned fails, enum dxgk_result expected)
{
    char path[] = "/tmp/dxgkhost-causes-XXXXXX";
    struct dxgk_machine_config config;
    FILE *file = fdopen(mkstemp(path), "w");
    enum dxgk_result result;

    CHECK(file);
    fprintf(file, "[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\refused]\n");
    fprintf(file, "\"Fails\"=4:%02x000000\n", fails);
    CHECK(fclose(file) == 0);
    machine_config(m, &config);
    config.no_displays = dark;
    machine_create(m, &config);
    CHECK(!softened || dxgk_machine_set_severity(m->dxgk, softened, 1));
    result = dxgk_machine_load_registry(m->dxgk, path, m->error, sizeof(m->error));
    unlink(path);
    CHECK(result == DXGK_OK);
    CHECK(dxgk_machine_add_device(m->dxgk, machine_path("examples/blitter_device.so"), NULL, 0,
                                  m->error, sizeof(m->error)) == DXGK_OK);
    m->error[0] = '\0';
    result = dxgk_machine_load_driver(m->dxgk, machine_path("tests/drivers/refused.so"), m->error,
                                      sizeof(m->error));
    if (result != expected)
        fail_msg("%u: result %d, not %d: %s", fails, (int)result, (int)expected, m->error);
}

static bool says(const struct machine *m, const char *cause)
{
    if (strcmp(m->error, cause) == 0)
        return true;
    print_error("\"%s\", not \"%s\"\n", m->error, cause);
    return false;
}

/* The first record of a rule; false: there is none. */
static bool record_of(const struct machine *m, const char *rule, struct dxgk_violation *v)
{
    for (size_t i = 0; dxgk_machine_violation(m->dxgk, i, v); i++)
        if (strcmp(v->rule, rule) == 0)
            return true;
    return false;
}

TEST(a_driver_that_fails_nothing_starts_after_a_warning)
{
    struct dxgk_violation v;
    struct machine m;

    load(&m, 0, DXGK_OK);
    CHECK(record_of(&m, "CAPS-029", &v) && strcmp(v.severity, "warning") == 0);
    CHECK(!v.refuses && !v.undoing);
    machine_end(&m);
}

TEST(a_start_that_fails_names_its_entry_and_its_status)
{
    struct dxgk_violation v;
    struct machine m;

    load(&m, 1, DXGK_ERROR);
    CHECK_RULE("LIFE-003/c",
               says(&m, "refused.so: DxgkDdiStartDevice returned STATUS_DEVICE_NOT_READY"));
    /* The mapping that it left is told, but not as what happened, nor of a call that was not made. */
    CHECK_RULE("LIFE-101/b", record_of(&m, "LIFE-101", &v) && v.undoing && !v.refuses &&
                                 strstr(v.seen, "after a StartDevice that failed") &&
                                 !strstr(v.seen, "StopDevice"));
    dxgk_machine_destroy(m.dxgk);
}

TEST(a_mapping_left_by_stop_device_is_told_of_stop_device)
{
    struct dxgk_violation v;
    struct machine m;

    load(&m, 13, DXGK_ERROR);
    CHECK_RULE("LIFE-003/a", strncmp(m.error, "refused.so: CAPS-049: ", 22) == 0);
    CHECK_RULE("LIFE-101/a",
               record_of(&m, "LIFE-101", &v) && v.undoing && strstr(v.seen, "after StopDevice"));
    CHECK(record_of(&m, "CAPS-029", &v) && !v.undoing);
    dxgk_machine_destroy(m.dxgk);
}

TEST(a_call_that_fails_is_named_and_not_what_was_reported_before)
{
    struct machine m;

    load(&m, 2, DXGK_ERROR);
    CHECK_RULE("LIFE-003/c",
               says(&m, "refused.so: DxgkDdiQueryAdapterInfo(DXGKQAITYPE_QUERYSEGMENT4) returned "
                        "STATUS_DEVICE_NOT_READY"));
    dxgk_machine_destroy(m.dxgk);
    load(&m, 3, DXGK_ERROR);
    CHECK_RULE("LIFE-003/c",
               says(&m, "refused.so: DxgkDdiCreateContext returned STATUS_DEVICE_NOT_READY"));
    dxgk_machine_destroy(m.dxgk);
}

TEST(of_several_findings_the_first_is_named_and_the_others_counted)
{
    struct dxgk_violation v;
    struct machine m;

    load(&m, 4, DXGK_ERROR);
    CHECK_RULE("LIFE-003/a",
               says(&m, "refused.so: CAPS-049: NoDmaPatching is set without PreemptionAware and "
                        "MultiEngineAware (STATUS_DEVICE_CONFIGURATION_ERROR); 2 more findings "
                        "refuse it"));
    CHECK_RULE("LIFE-003/a", record_of(&m, "CAPS-048", &v) && v.refuses && !v.undoing &&
                                 record_of(&m, "CAPS-050", &v) && v.refuses && !v.undoing);
    CHECK_RULE("LIFE-003/b", record_of(&m, "CAPS-029", &v) && !v.refuses);
    dxgk_machine_destroy(m.dxgk);
}

TEST(what_fails_before_the_start_names_itself)
{
    struct dxgk_violation v;
    struct machine m;

    load(&m, 5, DXGK_ERROR);
    CHECK_RULE("LIFE-040", says(&m, "refused.so: DxgkDdiAddDevice returned STATUS_SUCCESS without a "
                                    "MiniportDeviceContext: the driver declines the device"));
    dxgk_machine_destroy(m.dxgk);
    load(&m, 6, DXGK_ERROR);
    CHECK_RULE("LIFE-041/c",
               says(&m, "refused.so: DxgkDdiAddDevice returned STATUS_DEVICE_NOT_READY"));
    dxgk_machine_destroy(m.dxgk);
    load(&m, 7, DXGK_ERROR);
    CHECK_RULE("LIFE-021/a", says(&m, "refused.so: LIFE-021: DxgkDdiRemoveDevice is NULL "
                                      "(STATUS_INVALID_PARAMETER)"));
    dxgk_machine_destroy(m.dxgk);
    load(&m, 8, DXGK_ERROR);
    CHECK_RULE("LIFE-014/a",
               says(&m, "refused.so: DxgkInitialize was called with its initialization data NULL"));
    dxgk_machine_destroy(m.dxgk);
    load(&m, 9, DXGK_ERROR);
    CHECK_RULE("LIFE-019/a", record_of(&m, "LIFE-019", &v) && v.refuses &&
                                 strncmp(m.error, "refused.so: LIFE-019: ", 22) == 0);
    dxgk_machine_destroy(m.dxgk);
    load(&m, 10, DXGK_ERROR);
    CHECK_RULE("LIFE-015/a",
               says(&m, "refused.so: LIFE-015: DxgkInitialize was called a second time "
                        "(STATUS_INVALID_DEVICE_REQUEST)"));
    dxgk_machine_destroy(m.dxgk);
    load(&m, 11, DXGK_ERROR);
    CHECK_RULE("LIFE-011/a",
               says(&m, "refused.so: DriverEntry succeeded without a call of DxgkInitialize"));
    dxgk_machine_destroy(m.dxgk);
    load(&m, 12, DXGK_ERROR);
    CHECK_RULE("LIFE-011/c", says(&m, "refused.so: DriverEntry returned STATUS_DEVICE_NOT_READY"));
    CHECK(record_of(&m, "NT-027", &v) && v.undoing && !v.refuses);
    dxgk_machine_destroy(m.dxgk);
}

/* What a display adapter is refused for is the display alone: its other findings are told, and what
 * fails for it while the start is undone is no reason. */
TEST(a_display_adapter_is_refused_for_its_display)
{
    struct dxgk_refusal refusal;
    struct dxgk_violation v;
    struct machine m;

    dark = true;
    load(&m, 14, DXGK_ERROR);
    dark = false;
    CHECK_RULE("LIFE-069/a", says(&m, "refused.so: LIFE-069: the driver reports 1 video present "
                                      "sources, but displays are switched off "
                                      "(STATUS_NOT_SUPPORTED)"));
    CHECK_RULE("LIFE-069/b", record_of(&m, "CAPS-029", &v) && !v.refuses && !v.undoing);
    CHECK_RULE("LIFE-064/a", record_of(&m, "LIFE-064", &v) && v.undoing && v.count == 100);
    CHECK_RULE("LIFE-003/c", dxgk_machine_refusals(m.dxgk) == 1 &&
                                 dxgk_machine_refusal(m.dxgk, 0, &refusal) &&
                                 strcmp(refusal.status, "STATUS_INVALID_DEVICE_STATE") != 0);
    dxgk_machine_destroy(m.dxgk);
}

/* Who takes the rule for less has a render adapter; nobody asks for its outputs. */
TEST(a_display_adapter_can_be_run_without_its_display)
{
    struct dxgk_violation v;
    struct machine m;

    softened = "LIFE-069";
    dark = true;
    load(&m, 14, DXGK_OK);
    dark = false;
    softened = NULL;
    CHECK_RULE("LIFE-069/d", record_of(&m, "LIFE-069", &v) && !v.refuses && !v.undoing &&
                                 strcmp(v.severity, "warning") == 0);
    CHECK_RULE("LIFE-069/d", !record_of(&m, "LIFE-079", &v) && !record_of(&m, "LIFE-081", &v) &&
                                 dxgk_machine_refusals(m.dxgk) == 1);
    dxgk_machine_destroy(m.dxgk); /* its driver breaks rules when it is removed */
}

TEST(each_call_of_the_start_that_fails_is_named)
{
    static const struct {
        unsigned fails;
        const char *cause;
    } cases[] = {
        {24, "CAPS-004: DXGKQAITYPE_DRIVERCAPS failed with STATUS_DEVICE_NOT_READY"},
        {25, "DxgkDdiCreateDevice returned STATUS_DEVICE_NOT_READY"},
        {31, "DxgkDdiStartDevice returned status 0xe0de0001"},
        {32, "DxgkDdiStartDevice returned STATUS_BUFFER_OVERFLOW"},
        {33, "DxgkDdiStartDevice returned STATUS_NO_MEMORY"},
        {37, "LIFE-067: the driver reports 100000 children (STATUS_DEVICE_CONFIGURATION_ERROR)"},
        {39, "DxgkDdiQueryAdapterInfo(DXGKQAITYPE_QUERYSEGMENT4) returned STATUS_DEVICE_NOT_READY"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct machine m;
        char cause[160];

        load(&m, cases[i].fails,
             cases[i].fails == 33 ? DXGK_OUT_OF_MEMORY : DXGK_ERROR); /* by the status */
        snprintf(cause, sizeof(cause), "refused.so: %s", cases[i].cause);
        CHECK_RULE("LIFE-003/c", says(&m, cause));
        dxgk_machine_destroy(m.dxgk);
    }
}

TEST(what_this_machine_cannot_serve_is_named_and_not_an_answer_that_was_accepted)
{
    struct dxgk_violation v;
    struct machine m;

    load(&m, 30, DXGK_ERROR);
    CHECK_RULE("CAPS-021/a", strncmp(m.error,
                                     "refused.so: CAPS-021: HighestAcceptableAddress 0xfffff "
                                     "is below the top of RAM 0x",
                                     81) == 0 &&
                                 strstr(m.error, " (STATUS_NOT_SUPPORTED)"));
    CHECK(record_of(&m, "CAPS-021", &v) && v.refuses && strcmp(v.severity, "warning") == 0);
    dxgk_machine_destroy(m.dxgk);
    dark = true;
    load(&m, 38, DXGK_ERROR);
    dark = false;
    CHECK_RULE("LIFE-069/a",
               strncmp(m.error, "refused.so: LIFE-069: the driver reports 1 video ", 49) == 0);
    dxgk_machine_destroy(m.dxgk);
}

TEST(a_fault_in_the_start_is_its_cause)
{
    struct machine m;

    load(&m, 26, DXGK_DRIVER_STOPPED);
    CHECK_RULE("LIFE-002/a", strstr(m.error, "in DxgkDdiStartDevice wrote to address 0x8 "
                                             "(simulated bug check 0x"));
    dxgk_machine_destroy(m.dxgk);
    load(&m, 40, DXGK_DRIVER_STOPPED); /* findings before it would have refused the adapter later */
    CHECK(strstr(m.error, "in DxgkDdiQueryAdapterInfo wrote to address 0x8 (simulated bug check"));
    dxgk_machine_destroy(m.dxgk);
    load(&m, 29, DXGK_DRIVER_STOPPED); /* AddDevice would fail, too, but never comes to it */
    CHECK(strncmp(m.error, "refused.so: NT-021: ExFreePoolWithTag ", 38) == 0);
    dxgk_machine_destroy(m.dxgk);
}

/* The bug check is told, as what came up while the start was undone. */
TEST(a_fault_while_a_start_is_undone_does_not_hide_the_cause)
{
    struct dxgk_violation v;
    struct machine m;

    load(&m, 27, DXGK_DRIVER_STOPPED);
    CHECK_RULE("LIFE-003/c",
               says(&m, "refused.so: DxgkDdiStartDevice returned STATUS_DEVICE_NOT_READY"));
    CHECK_RULE("LIFE-003/c", record_of(&m, "NT-002", &v) && v.undoing &&
                                 strcmp(v.severity, "bug check") == 0 &&
                                 strstr(v.seen, "in DxgkDdiRemoveDevice wrote to address 0x8"));
    dxgk_machine_destroy(m.dxgk);
    load(&m, 28, DXGK_DRIVER_STOPPED);
    CHECK_RULE("LIFE-003/a", strncmp(m.error, "refused.so: CAPS-049: ", 22) == 0 &&
                                 strstr(m.error, " (STATUS_DEVICE_CONFIGURATION_ERROR); 2 more "
                                                 "findings refuse it"));
    CHECK(record_of(&m, "NT-002", &v) && v.undoing);
    dxgk_machine_destroy(m.dxgk);
}

TEST(what_the_clean_up_fails_with_is_not_the_cause)
{
    struct dxgk_violation v;
    struct machine m;

    load(&m, 34, DXGK_ERROR);
    CHECK_RULE("LIFE-003/a", strncmp(m.error, "refused.so: CAPS-049: ", 22) == 0 &&
                                 strstr(m.error, "; 2 more findings refuse it"));
    CHECK_RULE("LIFE-170", record_of(&m, "LIFE-170", &v) && v.undoing && !v.refuses);
    dxgk_machine_destroy(m.dxgk);
}

TEST(what_is_only_expected_refuses_nothing)
{
    struct dxgk_violation v;
    struct machine m;

    load(&m, 35, DXGK_OK);
    CHECK_RULE("CAPS-077/a",
               record_of(&m, "CAPS-077", &v) && !v.refuses && strcmp(v.severity, "warning") == 0);
    machine_end(&m);
    load(&m, 36, DXGK_OK);
    CHECK_RULE("CAPS-097/c", record_of(&m, "CAPS-097", &v) && !v.refuses &&
                                 strstr(v.seen, "failed with STATUS_DEVICE_NOT_READY"));
    machine_end(&m);
}
