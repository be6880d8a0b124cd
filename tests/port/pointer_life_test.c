/* SPDX-License-Identifier: MIT */
/* The pointer of a full driver while something else happens to its adapter. */
#include "nt/base/current.h"
#include "port/support/full_display.h"
#include "screens/pointer_shape.h"
#include "screens/scanout_pointer.h"
#include "sim/thread.h"
#include "support/test.h"

#include <string.h>

#define MS UINT64_C(1000000)

static DXGKARG_SETPOINTERPOSITION at[2]; /* the last of each source */
static uint64_t takes;                   /* how long a position takes, in ns */

static void take_shape(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
}

static void take_position(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETPOINTERPOSITION *args = (const DXGKARG_SETPOINTERPOSITION *)(uintptr_t)
                                                 call->arg[1];

    (void)p;
    at[args->VidPnSourceId] = *args;
    call->answered = true;
    if (takes)
        probe_sleep(takes);
}

static struct probe *with_pointer(void)
{
    struct probe *p = full_display_create(NULL);

    memset(at, 0, sizeof(at));
    takes = 0;
    p->caps.PointerCaps.Value = 2;
    p->caps.MaxPointerWidth = p->caps.MaxPointerHeight = 64;
    p->before[PROBE_SetPointerShape] = take_shape;
    p->before[PROBE_SetPointerPosition] = take_position;
    return p;
}

static struct scanouts *scanouts_of(const struct probe *p)
{
    return port_display_scanouts(p->adapter[0]);
}

static bool set_shape(const struct probe *p)
{
    static uint32_t red[16];
    const struct pointer_shape shape = {
        .kind = POINTER_COLOR, .width = 4, .height = 4, .pitch = 16, .pixels = (uint8_t *)red};

    return scanouts_set_pointer(scanouts_of(p), &shape, NULL, 0);
}

static void move(const struct probe *p, LONG x, LONG y)
{
    const struct screens_cursor cursor = {.x = x, .y = y, .visible = true};

    scanouts_move_pointer(scanouts_of(p), &cursor);
}

static void start(struct probe *p, const char *name, void (*body)(struct probe *p))
{
    sim_thread_release(probe_thread(p, nt_process_current(), name, body));
}

/* ---- the path of another source changes meanwhile ---- */

static bool changing, changed, moved, turns;
static NTSTATUS change_status;

static void change_slowly(void)
{
    changing = true;
    probe_sleep(2 * MS);
}

static void in_commit(struct probe *p, const DXGKARG_COMMITVIDPN *args,
                      const DXGK_VIDPN_INTERFACE *vidpn)
{
    (void)p;
    (void)args;
    (void)vidpn;
    change_slowly();
}

static void update_path(struct probe *p, struct probe_call *call)
{
    (void)p;
    change_slowly();
    call->answered = true;
}

static void move_meanwhile(struct probe *p)
{
    while (!changing)
        probe_sleep(MS / 100);
    move(p, 30, 40);
    moved = true;
}

static void change_other(struct probe *p)
{
    change_status = turns ? display_ask_mode(p, 1, 1024, 768, 1)
                          : display_ask_mode(p, 1, 800, 600, 0);
    changed = true;
}

static void change_and_move(struct probe *p)
{
    const UINT commits = display_seen.commits;

    changing = changed = moved = false;
    display.in_commit = in_commit;
    CHECK(set_shape(p));
    move(p, 10, 20);
    start(p, "moves", move_meanwhile);
    start(p, "changes", change_other);
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("PRES-242", changed && change_status == STATUS_SUCCESS && moved);
    CHECK(display_seen.commits == (turns ? commits : commits + 1));
    CHECK_RULE("PRES-235", at[0].Flags.Visible && at[0].X == 30 && at[0].Y == 40 &&
                               at[1].VidPnSourceId == 1 && !at[1].Flags.Visible);
}

TEST(it_moves_while_the_path_of_another_source_changes)
{
    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = with_pointer();

        turns = i != 0;
        display.outputs = display.sources = 2;
        display.connected[1] = true;
        probe_set_entry(p, PROBE_UpdateActiveVidPnPresentPath, true);
        p->before[PROBE_UpdateActiveVidPnPresentPath] = update_path;
        CHECK(probe_start(p) == STATUS_SUCCESS);
        probe_end(p, change_and_move);
    }
}

/* ---- the driver stays in the call ---- */

static bool stays, early, refused;

static void stay(struct probe *p)
{
    stays = true;
    move(p, 50, 60);
    moved = true;
}

/* Displays end with their primaries, and nobody gets a pointer any more. */
static void note_end(struct probe *p, struct probe_call *call)
{
    early |= !moved;
    if (call->ddi == PROBE_DestroyAllocation)
        refused = !set_shape(p);
}

/* Longer than the host waits for it before it goes on with the end of displays. */
static void stop_meanwhile(struct probe *p)
{
    stays = moved = early = refused = false;
    CHECK(set_shape(p));
    takes = 90 * PROBE_SECOND;
    start(p, "moves", stay);
    while (!stays)
        probe_sleep(MS);
    probe_sleep(MS);
    takes = 0;
    p->before[PROBE_DestroyAllocation] = p->before[PROBE_StopDevice] = note_end;
    probe_restart(p);
    CHECK_RULE("THREAD-037/b", moved && probe_rule(p, "THREAD-037") == 1);
    CHECK(!early && refused && probe_count(p, PROBE_StopDevice) == 1);
    p->before[PROBE_DestroyAllocation] = p->before[PROBE_StopDevice] = NULL;
    CHECK(set_shape(p));
    move(p, 10, 20);
    CHECK(at[0].Flags.Visible && at[0].X == 10 && at[0].Y == 20);
}

TEST(a_stop_waits_for_who_moves_it)
{
    struct probe *p = with_pointer();

    probe_set_entry(p, PROBE_StopDeviceAndReleasePostDisplayOwnership, false);
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, stop_meanwhile);
}
