/* SPDX-License-Identifier: MIT */
/* Each allocation of the host fails in turn while displays come, go, sleep and change: nothing of that
 * is lost, and the driver is not blamed. */
#include "port/running/power.h"
#include "port/support/display.h"
#include "support/test.h"

#include <string.h>

static uint64_t failing; /* counted from the start of the change */
static bool failed;
static void (*change)(struct probe *p);
static void (*before)(struct probe *p);

static void with_failure(struct probe *p)
{
    struct util_heap *heap = &p->sim->heap;

    if (before)
        before(p);
    (void)screens_settle(display_screens(p), 0);
    heap->failures = 0;
    heap->fail_at = heap->requests + failing;
    change(p);
    failed = heap->failures != 0;
    heap->fail_at = 0;
}

/* `but`: a rule that is broken anyway. */
static void not_blamed(const struct probe *p, uint64_t n, const char *but)
{
    for (size_t i = 0; i < verify_records(p->log); i++) {
        const struct verify_record *record = verify_record_at(p->log, i);

        if (record->severity >= VERIFY_WARNING && strcmp(record->rule, but) != 0)
            fail_msg("allocation %llu: %s: %s", (unsigned long long)n, record->rule, record->seen);
    }
}

static void in_turn(void (*prepare)(struct probe *p), void (*first)(struct probe *p),
                    void (*body)(struct probe *p))
{
    change = body;
    before = first;
    failed = true;
    for (failing = 1; failed; failing++) {
        struct probe *p = display_create(NULL);

        probe_set_entry(p, PROBE_SetPowerState, true);
        if (prepare)
            prepare(p);
        CHECK(probe_start(p) == STATUS_SUCCESS);
        CHECK(probe_run(p, with_failure) == SIM_DONE);
        not_blamed(p, failing, "");
        CHECK(probe_stop(p) == 0);
        probe_destroy(p);
    }
    CHECK(failing > 5);
}

static const struct modes_target *target(const struct probe *p)
{
    return &display_modes(p)->target[0];
}

static bool is_lit(const struct probe *p)
{
    return target(p)->monitor && !target(p)->off && display_modes(p)->active->paths == 1 &&
           display_seen.visible[0];
}

static bool is_dark(void)
{
    return !display_seen.visible[0];
}

/* ---- monitors ---- */

/* The driver tells of it, and nobody asks for more. */
static void tell(struct probe *p, bool connected)
{
    DXGK_CHILD_STATUS status = {.Type = StatusConnection, .ChildUid = DISPLAY_CHILD};

    status.HotPlug.Connected = connected;
    display.connected[0] = connected;
    CHECK(p->state[0].dxgk.DxgkCbIndicateChildStatus(p->state[0].dxgk.DeviceHandle, &status) ==
          STATUS_SUCCESS);
    probe_sleep(PROBE_SECOND);
}

static void leaves(struct probe *p)
{
    tell(p, false);
    CHECK_RULE("VIDPN-202/a",
               !target(p)->monitor && display_modes(p)->active->paths == 0 && is_dark());
}

TEST(a_monitor_leaves)
{
    in_turn(NULL, NULL, leaves);
}

static void unplugged(struct probe *p)
{
    (void)p;
    display.connected[0] = false;
}

static void comes(struct probe *p)
{
    tell(p, true);
    CHECK_RULE("VIDPN-201", is_lit(p));
}

TEST(a_monitor_comes)
{
    in_turn(unplugged, NULL, comes);
}

/* ---- power ---- */

static void turn_off(struct probe *p)
{
    const NTSTATUS status = display_power(display_modes(p), DISPLAY_CHILD, false);

    CHECK_RULE("VIDPN-176", NT_SUCCESS(status) ? target(p)->off && is_dark()
                                               : status == STATUS_NO_MEMORY && is_lit(p) &&
                                                     probe_count(p, PROBE_SetPowerState) == 0);
    CHECK_RULE("VIDPN-176",
               display_power(display_modes(p), DISPLAY_CHILD, false) == STATUS_SUCCESS &&
                   target(p)->off && is_dark());
}

TEST(a_display_is_turned_off)
{
    in_turn(NULL, NULL, turn_off);
}

static void is_off(struct probe *p)
{
    CHECK(display_power(display_modes(p), DISPLAY_CHILD, false) == STATUS_SUCCESS);
}

static void turn_on(struct probe *p)
{
    const NTSTATUS status = display_power(display_modes(p), DISPLAY_CHILD, true);

    CHECK_RULE("VIDPN-177", NT_SUCCESS(status)
                                ? is_lit(p)
                                : status == STATUS_NO_MEMORY && target(p)->off && is_dark());
    CHECK_RULE("VIDPN-177",
               display_power(display_modes(p), DISPLAY_CHILD, true) == STATUS_SUCCESS && is_lit(p));
}

TEST(a_display_is_turned_on)
{
    in_turn(NULL, is_off, turn_on);
}

static void sleep_and_wake(struct probe *p)
{
    const NTSTATUS status = port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep);

    if (NT_SUCCESS(status))
        CHECK_RULE("PRES-249", port_adapter_power(p->adapter[0]) == PowerDeviceD3 && is_dark());
    else
        CHECK_RULE("PRES-249", status == STATUS_NO_MEMORY && is_lit(p) &&
                                   port_adapter_power(p->adapter[0]) == PowerDeviceD0);
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone) == STATUS_SUCCESS);
    CHECK_RULE("PRES-250", is_lit(p));
}

TEST(an_adapter_sleeps)
{
    in_turn(NULL, NULL, sleep_and_wake);
}

/* ---- modes ---- */

/* What the image of the new mode had no memory for is there when somebody draws. */
static void can_be_drawn(struct probe *p)
{
    const UINT presents = display_seen.presents;
    const RECT one = {0, 0, 1, 1};
    struct screens_image image;

    p->sim->heap.fail_at = 0;
    CHECK_RULE("PRES-198", screens_draw(display_screens(p), 0, &image));
    screens_drawn(display_screens(p), 0, &one);
    CHECK_RULE("PRES-198",
               screens_settle(display_screens(p), 0) && display_seen.presents > presents);
}

static void change_mode(struct probe *p)
{
    const NTSTATUS status = display_ask_mode(p, 0, 800, 600, 0);

    CHECK_RULE("VIDPN-204/a", NT_SUCCESS(status) || status == STATUS_NO_MEMORY);
    CHECK_RULE("VIDPN-204/a",
               is_lit(p) && mode_set_pinned(*vidpn_source_set(display_modes(p)->active, 0))
                                    ->source.Format.Graphics.PrimSurfSize.cx ==
                                (NT_SUCCESS(status) ? 800 : 1024));
    can_be_drawn(p);
}

TEST(a_mode_is_changed)
{
    in_turn(NULL, NULL, change_mode);
}

/* ---- the start ---- */

TEST(a_start)
{
    unsigned refused = 0;

    failed = true;
    for (uint64_t n = 1; failed; n++) {
        struct probe *p = display_create(NULL);
        NTSTATUS status;

        probe_set_entry(p, PROBE_StopDeviceAndReleasePostDisplayOwnership, false);
        p->fail_allocation = n;
        status = probe_start(p);
        failed = p->sim->heap.failures != 0;
        refused += !NT_SUCCESS(status);
        CHECK(NT_SUCCESS(status)
                  ? is_lit(p)
                  : status == STATUS_NO_MEMORY || status == STATUS_INSUFFICIENT_RESOURCES);
        not_blamed(p, n, "PRES-028");
        CHECK(probe_stop(p) == 0);
        probe_destroy(p);
    }
    CHECK(refused > 20);
}
