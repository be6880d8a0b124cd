/* SPDX-License-Identifier: MIT */
/* A VidPN without paths is supported by every driver: asked in strict mode. */
#include "port/support/display.h"
#include "support/test.h"

static bool refuses;
static unsigned empty;

static void judge(struct probe *p, struct probe_call *call)
{
    DXGKARG_ISSUPPORTEDVIDPN *args = (DXGKARG_ISSUPPORTEDVIDPN *)(uintptr_t)call->arg[1];
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology;
    D3DKMDT_HVIDPNTOPOLOGY handle;
    SIZE_T paths = 0;

    args->IsVidPnSupported = TRUE;
    if (!args->hDesiredVidPn)
        return;
    CHECK(display_interface(p, args->hDesiredVidPn)
                  ->pfnGetTopology(args->hDesiredVidPn, &handle, &topology) == STATUS_SUCCESS &&
          topology->pfnGetNumPaths(handle, &paths) == STATUS_SUCCESS);
    empty += paths == 0;
    args->IsVidPnSupported = paths > 0 || !refuses;
}

TEST(no_path_is_always_possible)
{
    const struct probe_options strict = {.strict = true};

    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = display_create(&strict);

        refuses = i > 0;
        empty = 0;
        verify_set_severity(p->log, "VIDPN-003", VERIFY_WARNING); /* else the machine stops */
        p->after[PROBE_IsSupportedVidPn] = judge;
        CHECK(probe_start(p) == STATUS_SUCCESS);
        CHECK_RULE("VIDPN-003", empty == 1 && probe_rule(p, "VIDPN-003") == i);
        display_end(p);
    }
}
