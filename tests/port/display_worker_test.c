/* SPDX-License-Identifier: MIT */
/* Who asks a driver about children, monitors and VidPNs. */
#include "port/support/display.h"
#include "port/running/power.h"
#include "support/test.h"

static const struct sim_thread *of_commit(const struct probe *p)
{
    return probe_nth(p, PROBE_CommitVidPn, 0)->thread;
}

static void wakes(struct probe *p)
{
    const struct sim_thread *worker = of_commit(p);

    CHECK_RULE("DISP-172", probe_count(p, PROBE_QueryChildStatus) == 1 &&
                               probe_nth(p, PROBE_QueryChildStatus, 0)->thread == worker);
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep) == STATUS_SUCCESS);
    probe_forget(p);
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone) == STATUS_SUCCESS);
    CHECK_RULE("DISP-172", probe_count(p, PROBE_QueryChildStatus) == 1 &&
                               probe_nth(p, PROBE_QueryChildStatus, 0)->thread == worker &&
                               of_commit(p) == worker);
    CHECK_RULE("DISP-153", probe_nth(p, PROBE_QueryChildStatus, 0)->order <
                               probe_nth(p, PROBE_CommitVidPn, 0)->order);
}

TEST(connections_are_read_by_the_display_worker)
{
    struct probe *p = display_create(NULL);

    probe_set_entry(p, PROBE_SetPowerState, true);
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, wakes);
}
