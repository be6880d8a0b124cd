/* SPDX-License-Identifier: MIT */
/* The settings of timeout detection, as the registry has them when an adapter starts. */
#include "bus/bus.h"
#include "nt/base/nt_config.h"
#include "nt/cm/registry.h"
#include "nt/nt.h"
#include "port/running/tdr_settings.h"
#include "ram/ram.h"
#include "sim/sim.h"
#include "support/check_rule.h"
#include "verify/verify.h"

#include <string.h>

#define DRIVERS "\\Registry\\Machine\\System\\CurrentControlSet\\Control\\GraphicsDrivers"

static const struct vidsch_tdr_settings defaults = {.level = 3,
                                                    .delay = 2,
                                                    .ddi_delay = 5,
                                                    .limit_count = 5,
                                                    .limit_time = 60,
                                                    .debug_mode = 2,
                                                    .enable_preemption = true};

static struct {
    struct sim_machine *sim;
    struct verify_log *log;
    struct ram *ram;
    struct bus *bus;
    struct nt *nt;
} rig;

static int begin(void)
{
    const struct sim_config sim = {.seed = 1, .processors = 1};
    const struct ram_config ram = {.bytes = 16u << 20};
    struct nt_config nt = {0};

    rig.log = verify_log_create();
    rig.sim = sim_machine_create(&sim);
    CHECK(rig.log && rig.sim);
    verify_log_install(rig.log);
    sim_enter(rig.sim);
    nt.ram = rig.ram = ram_create(&ram);
    nt.bus = rig.bus = bus_create(rig.ram);
    rig.nt = nt_create(&nt);
    CHECK(rig.nt != NULL);
    return 0;
}

static int end(void)
{
    nt_destroy(rig.nt);
    bus_destroy(rig.bus);
    ram_destroy(rig.ram);
    sim_leave();
    sim_machine_destroy(rig.sim);
    verify_log_install(NULL);
    verify_log_destroy(rig.log);
    return 0;
}

#define RIG_ARGUMENT_tdr_settings void
#define RIG_RUN_tdr_settings(body) \
    test_set_up(begin, end);       \
    body()

static void set(const char *path, const char *name, uint32_t value)
{
    CHECK(nt_registry_set(path, name, REG_DWORD, &value, sizeof(value)));
}

TEST_WITH(tdr_settings, without_values_the_defaults_hold)
{
    struct vidsch_tdr_settings settings = port_tdr_settings(&defaults);

    CHECK(settings.level == 3 && settings.delay == 2 && settings.ddi_delay == 5);
    CHECK(settings.limit_count == 5 && settings.limit_time == 60 && settings.debug_mode == 2);
    CHECK(settings.enable_preemption);
}

TEST_WITH(tdr_settings, values_have_their_documented_names)
{
    struct vidsch_tdr_settings settings;

    set(DRIVERS, "TdrLevel", 0);
    set(DRIVERS, "TdrDelay", 8);
    set(DRIVERS, "TdrDdiDelay", 9);
    set(DRIVERS, "TdrLimitCount", 10);
    set(DRIVERS, "TdrLimitTime", 11);
    set(DRIVERS, "TdrDebugMode", 1);
    set(DRIVERS "\\Scheduler", "EnablePreemption", 0);
    settings = port_tdr_settings(&defaults);
    CHECK_RULE("TDR-015", settings.level == 0 && settings.delay == 8 && settings.ddi_delay == 9);
    CHECK_RULE("TDR-015",
               settings.limit_count == 10 && settings.limit_time == 11 && settings.debug_mode == 1);
    CHECK_RULE("PREEMPT-006", !settings.enable_preemption);
    set(DRIVERS "\\Scheduler", "EnablePreemption", 1);
    CHECK_RULE("PREEMPT-006", port_tdr_settings(&defaults).enable_preemption);
}

TEST_WITH(tdr_settings, the_test_mode_is_reserved)
{
    for (uint32_t value = 0; value < 3; value++) {
        struct vidsch_tdr_settings settings;

        set(DRIVERS, "TdrTestMode", value);
        settings = port_tdr_settings(&defaults);
        CHECK_RULE("TDR-014", settings.level == 3 && settings.delay == 2 &&
                                  settings.ddi_delay == 5 && settings.limit_count == 5 &&
                                  settings.limit_time == 60 && settings.debug_mode == 2 &&
                                  settings.enable_preemption);
    }
}

TEST_WITH(tdr_settings, values_of_another_kind_are_not_taken)
{
    static const uint64_t wide = 7;

    CHECK(nt_registry_set(DRIVERS, "TdrDelay", REG_QWORD, &wide, sizeof(wide)));
    CHECK(nt_registry_set(DRIVERS, "TdrDdiDelay", REG_DWORD, &wide, 2));
    CHECK(nt_registry_set(DRIVERS, "TdrLimitTime", REG_DWORD, NULL, 0));
    set(DRIVERS, "TdrLimitCount", UINT32_MAX);
    CHECK(port_tdr_settings(&defaults).delay == 2 && port_tdr_settings(&defaults).ddi_delay == 5);
    CHECK(port_tdr_settings(&defaults).limit_time == 60);
    CHECK(port_tdr_settings(&defaults).limit_count <= 4096); /* as many as are remembered */
}
