/* SPDX-License-Identifier: MIT */
/* A driver that says it can be isolated, and what it must not import then. */
#include "host/support/machine.h"

#include <unistd.h>

static const char *const forbidden[] = {
    "MmProbeAndLockPages",
    "MmAllocateContiguousMemory",
    "MmAllocateContiguousMemorySpecifyCache",
    "MmFreeContiguousMemory",
    "MmAllocatePagesForMdl",
    "MmAllocatePagesForMdlEx",
    "MmFreePagesFromMdl",
};

enum { FORBIDDEN = sizeof(forbidden) / sizeof(forbidden[0]) };

/* Is the routine named as an import in the report? */
static bool named(const struct machine *m, const char *routine)
{
    struct dxgk_violation v;
    char first[96], more[96];

    snprintf(first, sizeof(first), " imports %s,", routine);
    snprintf(more, sizeof(more), ", %s,", routine);
    for (size_t i = 0; dxgk_machine_violation(m->dxgk, i, &v); i++)
        if (strcmp(v.rule, "CAPS-065") == 0 && (strstr(v.seen, first) || strstr(v.seen, more)))
            return true;
    return false;
}

static uint64_t all_reports(const struct machine *m)
{
    struct dxgk_statistics s;

    dxgk_machine_statistics(m->dxgk, &s);
    return s.violations;
}

/* Starts, which nothing that is reported prevents. */
static void start(struct machine *m, enum dxgk_iommu iommu, const char *driver)
{
    struct dxgk_machine_config config;

    machine_config(m, &config);
    config.iommu = iommu;
    machine_create(m, &config);
    if (dxgk_machine_add_device(m->dxgk, machine_path("devices/refgpu.so"), NULL, 0, m->error,
                                sizeof(m->error)) != DXGK_OK ||
        dxgk_machine_load_driver(m->dxgk, machine_path(driver), m->error, sizeof(m->error)) !=
            DXGK_OK)
        fail_msg("%s: %s", driver, m->error);
}

static void finish(struct machine *m)
{
    CHECK(dxgk_machine_shutdown(m->dxgk) == DXGK_OK);
    dxgk_machine_destroy(m->dxgk);
}

static void client(void *argument)
{
    D3DKMT_ENUMADAPTERS enumeration;

    memset(&enumeration, 0, sizeof(enumeration));
    *(bool *)argument = NT_SUCCESS(D3DKMTEnumAdapters(&enumeration)) && enumeration.NumAdapters == 1;
}

TEST(one_forbidden_import_is_one_violation)
{
    static const char *const drivers[] = {"tests/drivers/isolated_locks.so",
                                          "tests/drivers/gcc/isolated_locks.sys"};
    struct machine m;

    for (size_t i = 0; i < 2; i++) {
        bool seen = false;

        if (access(machine_path(drivers[i]), R_OK) != 0)
            continue; /* no compiler for Windows images */
        start(&m, DXGK_IOMMU_OFF, drivers[i]);
        CHECK_RULE("IOMMU-018", named(&m, "MmProbeAndLockPages") &&
                                    !named(&m, "MmMapLockedPagesSpecifyCache") &&
                                    all_reports(&m) == 1);
        CHECK(dxgk_machine_run(m.dxgk, "client", client, &seen) == DXGK_OK);
        CHECK_RULE("IOMMU-018", seen);
        finish(&m);
    }
}

TEST(each_forbidden_import_is_told)
{
    struct machine m;

    for (int mode = DXGK_IOMMU_OFF; mode <= DXGK_IOMMU_REMAP; mode++) {
        start(&m, (enum dxgk_iommu)mode, "tests/drivers/isolated_all.so");
        for (size_t i = 0; i < FORBIDDEN; i++)
            CHECK_RULE("CAPS-065", named(&m, forbidden[i]));
        CHECK_RULE("CAPS-065", all_reports(&m) == FORBIDDEN);
        finish(&m);
    }
}

TEST(others_may_import_them)
{
    struct machine m;

    start(&m, DXGK_IOMMU_OFF, "tests/drivers/isolated_no_cap.so");
    CHECK_RULE("CAPS-065", all_reports(&m) == 0);
    finish(&m);
    start(&m, DXGK_IOMMU_OFF, "drivers/refgpu.so");
    CHECK(all_reports(&m) == 0);
    finish(&m);
}
