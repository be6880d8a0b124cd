/* SPDX-License-Identifier: MIT */
/* The machine wakes without its POST device. */
#include "port/running/power.h"
#include "port/support/display.h"
#include "support/test.h"

static void missing(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionHibernate)));
    (void)port_adapter_unplug(p->adapter[0], DxgkRemovalHibernation, false);
    CHECK(probe_count(p, PROBE_NotifySurpriseRemoval) == 1);
    probe_forget(p);
}

/* With the cap of removal at any time, or in hibernation alone. */
static void wakes(bool always, probe_hook *hook)
{
    struct probe *p = display_create(NULL);

    probe_set_entry(p, PROBE_NotifySurpriseRemoval, true);
    p->caps.SupportSurpriseRemoval = always;
    p->caps.SupportSurpriseRemovalInHibernation = TRUE;
    p->before[PROBE_NotifySurpriseRemoval] = hook;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    CHECK(probe_run(p, missing) == SIM_DONE);
    (void)probe_stop(p);
    for (size_t i = 0; i < p->calls; i++)
        CHECK_RULE("PRES-053", p->call[i]->ddi == PROBE_Unload); /* which belongs to no adapter */
    CHECK_RULE("PRES-053", probe_rule(p, "PRES-053") == 1);
    probe_destroy(p);
}

TEST(the_system_restarts_whatever_the_driver_says)
{
    wakes(false, NULL);
    wakes(true, NULL);
    wakes(true, probe_fail_call);
    wakes(false, probe_fail_call);
}
