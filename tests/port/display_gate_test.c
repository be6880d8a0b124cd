/* SPDX-License-Identifier: MIT */
/* What others want of a driver that has lost a present, while it is started again. */
#include "port/support/client.h"
#include "port/support/presents.h"
#include "support/test.h"

#define STOP_NS 100000000u /* that StopDevice takes */

static D3DKMT_HANDLE adapter_handle;

static void stop_slowly(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    probe_sleep(STOP_NS);
}

/* Until StopDevice is in progress. */
static void lose_a_frame(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    presents_begin();
    presents.answer[0] = STATUS_PENDING;
    CHECK(present_fill(p, 0, (RECT){3, 3, 4, 4}, 0x998877));
    probe_forget(p);
    while (probe_count(p, PROBE_StopDevice) == 0)
        probe_sleep(1000000);
}

/* Its first call came after the driver had started again. */
static bool waited(struct probe *p, enum probe_ddi ddi)
{
    return probe_count(p, PROBE_StartDevice) == 1 && probe_count(p, ddi) > 0 &&
           probe_nth(p, ddi, 0)->order > probe_nth(p, PROBE_StartDevice, 0)->order;
}

static void escape_with(struct probe *p, UINT flags)
{
    D3DKMT_ESCAPE args = {.hAdapter = adapter_handle, .Flags.Value = flags};

    lose_a_frame(p);
    CHECK_RULE("PRES-258", D3DKMTEscape(&args) == STATUS_SUCCESS && waited(p, PROBE_Escape));
}

static void escapes(struct probe *p)
{
    D3DKMT_OPENADAPTERFROMLUID open = {.AdapterLuid = p->adapter[0]->luid};

    CHECK(D3DKMTOpenAdapterFromLuid(&open) == STATUS_SUCCESS);
    adapter_handle = open.hAdapter;
    escape_with(p, 0);
    escape_with(p, 1); /* HardwareAccess */
    escape_with(p, (D3DDDI_ESCAPEFLAGS){.NoAdapterSynchronization = 1}.Value);
    CHECK(D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){adapter_handle}) == STATUS_SUCCESS);
}

static struct probe *make(void)
{
    struct probe *p = display_create(NULL);

    probe_set_entry(p, PROBE_Escape, true);
    probe_set_entry(p, PROBE_SetPowerState, true);
    p->before[PROBE_StopDevice] = stop_slowly;
    return p;
}

TEST(escapes_wait_for_the_start)
{
    struct probe *p = make();
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(probe_start(p) == STATUS_SUCCESS);
    client = probe_client_run(p, escapes);
    probe_client_end(p, client);
    p->before[PROBE_StopDevice] = NULL;
    probe_clients_end(p);
    probe_destroy(p);
}

static void changes_power(struct probe *p)
{
    lose_a_frame(p);
    CHECK_RULE("PRES-258", port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep) ==
                                   STATUS_SUCCESS &&
                               waited(p, PROBE_SetPowerState));
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone) == STATUS_SUCCESS &&
          display_seen.visible[0]);
    lose_a_frame(p);
    CHECK_RULE("PRES-258", port_adapter_power_hold(p->adapter[0]) == STATUS_SUCCESS &&
                               probe_count(p, PROBE_StartDevice) == 1);
    port_adapter_power_release(p->adapter[0]);
}

TEST(changes_of_power_wait_for_the_start)
{
    struct probe *p = make();

    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, changes_power);
}

/* ---- a thread that does not leave ---- */

static void stay(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    probe_sleep(20 * PROBE_SECOND);
}

static void stays_inside(struct probe *p)
{
    D3DKMT_OPENADAPTERFROMLUID open = {.AdapterLuid = p->adapter[0]->luid};
    D3DKMT_ESCAPE args = {0};

    CHECK(D3DKMTOpenAdapterFromLuid(&open) == STATUS_SUCCESS);
    args.hAdapter = open.hAdapter;
    presents_begin();
    presents.answer[0] = STATUS_PENDING;
    CHECK(present_fill(p, 0, (RECT){3, 3, 4, 4}, 0x998877));
    (void)D3DKMTEscape(&args);
}

TEST(a_thread_inside_the_driver_is_fatal)
{
    struct probe *p = make();
    struct probe_client *client;

    probe_clients_begin(p);
    p->before[PROBE_Escape] = stay;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    client = probe_client_run(p, stays_inside);
    CHECK_RULE("PRES-258",
               probe_said(p, "PRES-258", "a thread did not leave the driver within 5 s") &&
                   probe_record(p, "PRES-258")->code == VIDEO_TDR_FAILURE &&
                   probe_count(p, PROBE_StopDevice) == 0);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}
