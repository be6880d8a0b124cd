/* SPDX-License-Identifier: MIT */
/* Habits of published drivers that Windows accepts (tests/drivers/habits.c): each starts and works here, with the warnings that it
 * earns and no other, as an ELF object and as a Windows image of each compiler; strict mode refuses for what is only expected. */
#include "../examples/blitter/blitter_hw.h"
#include "host/support/machine.h"

#include <unistd.h>

#define COMPUTE "CAPS-013 LIFE-026 LIFE-028"

static const struct habit {
    unsigned number;
    const char *rules;  /* all that are reported above a note, sorted */
    const char *strict; /* the rule that refuses in strict mode; NULL: none */
} habits[] = {
    {0, "", NULL},
    {1, "CAPS-029", "CAPS-029"}, /* no SupportPerEngineTDR */
    {2, "CAPS-030", NULL},       /* no FlipOnVSyncMmIo */
    {3, "CAPS-025", "CAPS-025"}, /* a message that was not granted */
    {4, "", NULL},               /* SectionBackedPrimary */
    {5, "SEG-030", "SEG-030"},   /* a size that was never set */
    {6, "SEG-030", "SEG-030"},   /* no whole pages */
    {7, "SEG-046", NULL},        /* coherent video memory */
    {8, "", NULL},               /* no PHYSICALADAPTERCAPS */
    {9, "", "CAPS-074"},         /* its own sizeof for the stride */
    {10, "CAPS-101", NULL},      /* a name for a copy engine */
    {11, "", NULL},              /* QueryChildRelations is not implemented */
    {12, "LIFE-076", NULL},      /* or writes the terminator */
    {13, "", NULL},              /* no AccessedPhysically, no GPU addresses */
    {14, "ALLOC-027", NULL},     /* Alignment 5000 */
    {15, "ALLOC-027", NULL},     /* PhysicalAdapterIndex 1 */
    {16, "ALLOC-041", NULL},     /* evicted to video memory */
    {17, "", NULL},              /* frees the first element alone */
    {18, "", NULL},              /* no DmaBufferSize for the system */
    {20, COMPUTE, "LIFE-026"},   /* compute-only, with what is missing */
    {21, "CAPS-013 CAPS-052 LIFE-026 LIFE-028", "CAPS-052"},
    {22, "CAPS-013 CAPS-027 LIFE-026 LIFE-028", "CAPS-027"},
    {23, "CAPS-013 LIFE-026 LIFE-028 LIFE-030", "LIFE-030"},
};

static void write_registry(struct machine *m, unsigned number)
{
    char path[] = "/tmp/dxgkhost-habits-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    enum dxgk_result result;

    CHECK(file);
    fprintf(file, "[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\habits]\n");
    fprintf(file, "\"Habit\"=4:%02x000000\n", number);
    CHECK(fclose(file) == 0);
    result = dxgk_machine_load_registry(m->dxgk, path, m->error, sizeof(m->error));
    unlink(path);
    CHECK(result == DXGK_OK);
}

static enum dxgk_result load(struct machine *m, const char *driver, unsigned number, bool strict)
{
    struct dxgk_machine_config config;

    machine_config(m, &config);
    config.strict = strict;
    machine_create(m, &config);
    write_registry(m, number);
    CHECK(dxgk_machine_add_device(m->dxgk, machine_path("examples/blitter_device.so"), NULL, 0,
                                  m->error, sizeof(m->error)) == DXGK_OK);
    return dxgk_machine_load_driver(m->dxgk, machine_path(driver), m->error, sizeof(m->error));
}

/* Three allocations of no resource, written by the CPU and brought in, which the device leaves behind when it ends. */
static void work(struct client *c)
{
    D3DKMT_ENUMADAPTERS list = {0};
    D3DKMT_CREATEDEVICE device = {0};

    TRY(c, D3DKMTEnumAdapters(&list) == STATUS_SUCCESS && list.NumAdapters == 1);
    device.hAdapter = list.Adapters[0].hAdapter;
    TRY(c, D3DKMTCreateDevice(&device) == STATUS_SUCCESS);
    for (unsigned i = 0; i < 3; i++) {
        struct blitter_allocation_data data = {.magic = BLITTER_MAGIC, .bytes = 65536};
        D3DDDI_ALLOCATIONINFO2 info = {.pPrivateDriverData = &data,
                                       .PrivateDriverDataSize = sizeof(data)};
        D3DKMT_CREATEALLOCATION create = {
            .hDevice = device.hDevice, .NumAllocations = 1, .pAllocationInfo2 = &info};
        D3DKMT_LOCK2 lock = {.hDevice = device.hDevice};
        D3DKMT_UNLOCK2 unlock = {.hDevice = device.hDevice};

        TRY(c, D3DKMTCreateAllocation2(&create) == STATUS_SUCCESS);
        lock.hAllocation = unlock.hAllocation = info.hAllocation;
        TRY(c, D3DKMTLock2(&lock) == STATUS_SUCCESS);
        memset(lock.pData, (int)i, 65536);
        TRY(c, D3DKMTUnlock2(&unlock) == STATUS_SUCCESS);
    }
    TRY(c,
        D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){.hDevice = device.hDevice}) == STATUS_SUCCESS);
}

/* All rules above a note, sorted, each once. */
static void rules_of(const struct machine *m, char *text, size_t bytes)
{
    const char *last = "", *next;
    struct dxgk_violation v;

    for (text[0] = '\0';; last = next) {
        next = NULL;
        for (size_t i = 0; dxgk_machine_violation(m->dxgk, i, &v); i++)
            if (strcmp(v.severity, "note") != 0 && strcmp(v.rule, last) > 0 &&
                (!next || strcmp(v.rule, next) < 0))
                next = v.rule;
        if (!next)
            return;
        snprintf(text + strlen(text), bytes - strlen(text), "%s%s", text[0] ? " " : "", next);
    }
}

static void check_habit(const char *driver, const struct habit *habit)
{
    struct dxgk_statistics s;
    struct machine m;
    char rules[256];

    if (load(&m, driver, habit->number, false) != DXGK_OK)
        fail_msg("%s, habit %u: %s", driver, habit->number, m.error);
    machine_run(&m, work);
    CHECK(dxgk_machine_shutdown(m.dxgk) == DXGK_OK);
    rules_of(&m, rules, sizeof(rules));
    dxgk_machine_statistics(m.dxgk, &s);
    if (strcmp(rules, habit->rules) != 0 || s.violations || s.leaks)
        fail_msg("%s, habit %u: \"%s\", not \"%s\", %llu violations, %llu leaks", driver,
                 habit->number, rules, habit->rules, (unsigned long long)s.violations,
                 (unsigned long long)s.leaks);
    dxgk_machine_destroy(m.dxgk);
}

static void check_strict(const char *driver, const struct habit *habit)
{
    struct dxgk_violation v;
    struct machine m;
    bool refused = false;

    if (load(&m, driver, habit->number, true) != DXGK_ERROR)
        fail_msg("%s, habit %u: strict mode did not refuse: %s", driver, habit->number, m.error);
    for (size_t i = 0; dxgk_machine_violation(m.dxgk, i, &v); i++)
        refused |= v.refuses && strcmp(v.rule, habit->strict) == 0;
    if (!refused)
        fail_msg("%s, habit %u: %s did not refuse", driver, habit->number, habit->strict);
    dxgk_machine_destroy(m.dxgk);
}

static void check_all(const char *driver)
{
    if (access(machine_path(driver), R_OK) != 0)
        return; /* no such compiler here */
    for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++) {
        check_habit(driver, &habits[i]);
        if (habits[i].strict)
            check_strict(driver, &habits[i]);
    }
}

TEST(habits_start_with_the_right_warnings)
{
    check_all("tests/drivers/habits.so");
    check_all("tests/drivers/gcc/habits.sys");
    check_all("tests/drivers/clang/habits.sys");
    for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++)
        if (habits[i].strict)
            check_rule_record(habits[i].strict, __FILE__, __LINE__, __func__);
    check_rule_record("ALLOC-145", __FILE__, __LINE__, __func__);
    check_rule_record("PATCH-036", __FILE__, __LINE__, __func__);
    check_rule_record("RES-032", __FILE__, __LINE__, __func__);
}
