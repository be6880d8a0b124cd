/* SPDX-License-Identifier: MIT */
/* A debugger's escape that has a display-only driver started again. */
#include "port/support/client.h"
#include "port/support/presents.h"
#include "support/test.h"

static NTSTATUS force(D3DKMT_HANDLE adapter, D3DKMT_TDRDBGCTRLTYPE type)
{
    D3DKMT_TDRDBGCTRL_ESCAPE control = {.TdrControl = type};
    const D3DKMT_ESCAPE args = {.hAdapter = adapter,
                                .Type = D3DKMT_ESCAPE_TDRDBGCTRL,
                                .pPrivateDriverData = &control,
                                .PrivateDriverDataSize = sizeof(control)};

    return D3DKMTEscape(&args);
}

static void forces(struct probe *p)
{
    D3DKMT_OPENADAPTERFROMLUID open = {.AdapterLuid = p->adapter[0]->luid};
    const UINT commits = display_seen.commits;

    CHECK(D3DKMTOpenAdapterFromLuid(&open) == STATUS_SUCCESS);
    CHECK(screens_settle(display_screens(p), 0));
    probe_forget(p);
    CHECK_RULE("PRES-307/b",
               force(open.hAdapter, D3DKMT_TDRDBGCTRLTYPE_FORCEDODTDR) == STATUS_SUCCESS &&
                   probe_count(p, PROBE_StopDevice) == 1 &&
                   probe_count(p, PROBE_StartDevice) == 1 && display_seen.commits == commits + 1 &&
                   probe_rule(p, "PRES-257") == 1 && probe_rule(p, "PRES-218") == 0);
    CHECK(screens_settle(display_screens(p), 0));
    CHECK_RULE("PRES-307/b",
               force(open.hAdapter, D3DKMT_TDRDBGCTRLTYPE_FORCEDODVSYNCTDR) == STATUS_SUCCESS &&
                   probe_count(p, PROBE_StopDevice) == 2);
    CHECK_RULE("PRES-307/b",
               force(open.hAdapter, D3DKMT_TDRDBGCTRLTYPE_FORCETDR) == STATUS_NOT_SUPPORTED &&
                   force(open.hAdapter, D3DKMT_TDRDBGCTRLTYPE_VSYNCTDR) == STATUS_NOT_SUPPORTED &&
                   probe_count(p, PROBE_StopDevice) == 2);
    /* what is outstanding is dropped */
    presents_begin();
    presents.answer[0] = STATUS_PENDING;
    CHECK(present_fill(p, 0, (RECT){3, 3, 4, 4}, 0x998877));
    probe_sleep(PRESENT_PERIOD);
    CHECK_RULE("PRES-307/b",
               presents.count == 1 &&
                   force(open.hAdapter, D3DKMT_TDRDBGCTRLTYPE_FORCEDODTDR) == STATUS_SUCCESS &&
                   screens_settle(display_screens(p), 0) && present_is(1, WHOLE));
    CHECK(D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){open.hAdapter}) == STATUS_SUCCESS);
}

TEST(an_escape_forces_a_recovery)
{
    struct probe *p = display_create(NULL);
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(probe_start(p) == STATUS_SUCCESS);
    client = probe_client_run(p, forces);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}
