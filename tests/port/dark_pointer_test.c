/* SPDX-License-Identifier: MIT */
/* The pointer of a source that has no path. */
#include "port/support/full_display.h"
#include "screens/pointer.h"
#include "screens/scanout_pointer.h"
#include "support/test.h"

static NTSTATUS answer;
static DXGKARG_SETPOINTERPOSITION last;

static void take_position(struct probe *p, struct probe_call *call)
{
    (void)p;
    last = *(const DXGKARG_SETPOINTERPOSITION *)(uintptr_t)call->arg[1];
    call->answered = true;
    call->result = (uint64_t)answer;
}

static void hide(struct probe *p, UINT source)
{
    const struct screens_cursor cursor = {.source = source, .x = 3, .y = 4};

    if (display_screens(p))
        screens_move_pointer(display_screens(p), &cursor);
    else
        scanouts_move_pointer(port_display_scanouts(p->adapter[0]), &cursor);
}

static void on_the_second(struct probe *p)
{
    const size_t calls = probe_count(p, PROBE_SetPointerPosition);

    answer = *(const NTSTATUS *)p->user;

    last.VidPnSourceId = 7;
    hide(p, 1);
    CHECK_RULE("PRES-230", probe_count(p, PROBE_SetPointerPosition) == calls + 1 &&
                               last.VidPnSourceId == 1 && !last.Flags.Visible &&
                               probe_rule(p, "PRES-241") == 0);
    CHECK_RULE("PRES-230", probe_rule(p, "PRES-230") == !NT_SUCCESS(answer));
    hide(p, 1); /* equal to the one before */
    CHECK_RULE("PRES-235", probe_count(p, PROBE_SetPointerPosition) == calls + 1);
}

/* Its second source has no monitor. */
static void run(struct probe *p, NTSTATUS status)
{
    answer = STATUS_SUCCESS;
    p->user = &status;
    display.outputs = display.sources = 2;
    display.connected[1] = false;
    probe_set_entry(p, PROBE_SetPointerPosition, true);
    probe_set_entry(p, PROBE_SetPointerShape, true);
    p->caps.PointerCaps.Value = 2;
    p->caps.MaxPointerWidth = p->caps.MaxPointerHeight = 64;
    p->before[PROBE_SetPointerPosition] = take_position;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, on_the_second);
}

TEST(hiding_it_reaches_the_driver)
{
    run(display_create(NULL), STATUS_SUCCESS);
    run(full_display_create(NULL), STATUS_SUCCESS);
}

TEST(a_driver_that_fails_is_told)
{
    run(display_create(NULL), STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY);
    run(full_display_create(NULL), STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY);
}
