/* SPDX-License-Identifier: MIT */
/* Context allocations of a driver on a started adapter: updates and mappings where paging cannot be waited for, or ends early. */
#include "port/support/context_client.h"
#include "sim/machine.h"

/* ---- where paging cannot be waited for ---- */

static void update_refused(struct probe *p)
{
    CHECK_RULE("CTXA-060", context_update(p, context_item) == STATUS_INVALID_DEVICE_REQUEST);
    CHECK_RULE("CTXA-060", probe_rule(p, "CTXA-060") == 1 &&
                               probe_said(p, "CTXA-060", "while DxgkDdiEscape has the driver"));
}

static void map_refused(struct probe *p)
{
    CHECK_RULE("CTXA-067", context_map_at(p, context_item, 256 * MB) == 0);
    CHECK_RULE("CTXA-067", probe_rule(p, "CTXA-067") == 1 &&
                               probe_said(p, "CTXA-067", "while DxgkDdiEscape has the driver"));
}

/* What takes no paging is done there: creation, a mapping of what has no memory yet, destruction. */
static void rest_works(struct probe *p)
{
    HANDLE other = context_make(p);

    CHECK_RULE("CTXA-067", context_map_at(p, other, 258 * MB) == 258 * MB);
    CHECK_RULE("CTXA-067",
               context_destroy(p, other) == STATUS_SUCCESS && probe_rule(p, "CTXA-067") == 1);
}

TEST_WITH(context, nothing_waits_for_paging_at_a_standstill)
{
    context_begin_client();
    context_rig_inside(0, context_make_item);
    context_rig_inside(0, context_update_item);
    CHECK(NT_SUCCESS(probe_gpu_submit(G)) && NT_SUCCESS(probe_gpu_wait_idle(G)));
    context_rig_inside(HARDWARE_ACCESS, update_refused);
    context_rig_inside(HARDWARE_ACCESS, map_refused);
    context_rig_inside(HARDWARE_ACCESS, rest_works);
    context_rig_inside(0, context_update_item); /* nothing is left of the refusals */
    context_rig_inside(0, context_map_item_again);
    context_rig_inside(HARDWARE_ACCESS, context_destroy_item); /* also of one that is in use */
    CHECK(context_errors(p) == 2 && sim_now() < PROBE_SECOND);
    context_end_client();
}

/* The same in other places where nobody else gets into the driver. */
static NTSTATUS elsewhere;
static unsigned asked;

static void update_in_set_power_state(struct probe *p, struct probe_call *call)
{
    (void)call;
    asked++;
    elsewhere = context_update(p, context_item);
}

static void update_asleep(struct probe *p)
{
    CHECK_RULE("CTXA-060", context_update(p, context_item) == STATUS_INVALID_DEVICE_REQUEST &&
                               probe_said(p, "CTXA-060", "while the adapter is not in D0"));
}

TEST_WITH(context, nothing_waits_for_paging_of_a_sleeping_adapter)
{
    context_begin_client();
    context_rig_inside(0, context_make_item);
    context_rig_inside(0, context_update_item);
    CHECK(
        IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS));
    context_rig_inside(NO_ADAPTER_SYNC, update_asleep);
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
    CHECK_RULE("CTXA-060", probe_rule(p, "CTXA-060") == 1);
    context_rig_inside(0, context_update_item);
    p->before[PROBE_SetPowerState] = update_in_set_power_state;
    asked = 0;
    CHECK(
        IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS));
    CHECK_RULE("CTXA-060", asked >= 1 && IS(elsewhere, STATUS_INVALID_DEVICE_REQUEST) &&
                               probe_rule(p, "CTXA-060") == 1 + asked);
    p->before[PROBE_SetPowerState] = NULL;
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
    context_rig_inside(0, context_update_item);
    context_rig_inside(0, context_destroy_item);
    CHECK(sim_now() < 10 * PROBE_SECOND);
    context_end_client();
}

static void NTAPI alone_routine(PVOID adapter, PVOID context, NTSTATUS status)
{
    (void)adapter;
    (void)context;
    (void)status;
    asked++;
    elsewhere = context_update(probe, context_item);
}

static void exclude(struct probe *p)
{
    asked = 0;
    CHECK(IS(p->state[0].dxgk.DxgkCbExcludeAdapterAccess(p->state[0].dxgk.DeviceHandle, 0,
                                                         alone_routine, NULL),
             STATUS_SUCCESS));
    probe_sleep(1000000); /* it has begun, and waits for this DDI to end */
    CHECK_RULE("CTXA-054", context_update(p, context_item) == STATUS_SUCCESS);
}

TEST_WITH(context, nothing_waits_for_paging_in_an_exclusion)
{
    context_begin_client();
    context_rig_inside(0, context_make_item);
    context_rig_inside(0, context_update_item);
    asked = 0;
    context_rig_inside(0, exclude);
    while (!asked)
        probe_sleep(1000000);
    CHECK_RULE("CTXA-060", IS(elsewhere, STATUS_INVALID_DEVICE_REQUEST) &&
                               probe_said(p, "CTXA-060", "while DxgkProtectedCallback has the"));
    context_rig_inside(0, context_update_item);
    context_rig_inside(0, context_destroy_item);
    CHECK(sim_now() < PROBE_SECOND);
    context_end_client();
}

/* A driver that is inside beside somebody who wants it for himself: it is let out first. */
static void ask_for_the_hardware(struct probe *p)
{
    D3DKMT_ENUMADAPTERS adapters;
    D3DKMT_ESCAPE args;

    (void)p;
    memset(&adapters, 0, sizeof(adapters));
    CHECK(IS(D3DKMTEnumAdapters(&adapters), STATUS_SUCCESS));
    memset(&args, 0, sizeof(args));
    args.hAdapter = adapters.Adapters[0].hAdapter;
    args.Flags.HardwareAccess = 1;
    CHECK(IS(D3DKMTEscape(&args), STATUS_SUCCESS));
}

static void update_while_asked_for(struct probe *p)
{
    context_rig.calls = NULL;
    context_beside = probe_client_start(p, ask_for_the_hardware);
    probe_sleep(1000000);
    CHECK_RULE("CTXA-054", context_update(p, context_item) == STATUS_SUCCESS);
}

TEST_WITH(context_beside, an_update_ends_beside_one_who_wants_the_driver)
{
    context_begin_client();
    context_rig_inside(0, context_make_item);
    context_rig_inside(0, update_while_asked_for);
    while (!context_beside->done)
        probe_sleep(1000000);
    CHECK(probe_count(p, PROBE_Escape) == 3);
    context_rig_inside(0, context_destroy_item);
    CHECK_RULE("CTXA-060", context_errors(p) == 0 && sim_now() < 10 * PROBE_SECOND);
    context_end_client();
}

/* The same, of one who empties video memory first. */
static void NTAPI evicted_routine(PVOID adapter, PVOID context, NTSTATUS status)
{
    (void)adapter;
    (void)context;
    asked++;
    elsewhere = status;
}

static void exclude_and_evict(struct probe *p)
{
    CHECK(IS(p->state[0].dxgk.DxgkCbExcludeAdapterAccess(
                 p->state[0].dxgk.DeviceHandle, DXGK_EXCLUDE_EVICT_ALL, evicted_routine, NULL),
             STATUS_SUCCESS));
    probe_sleep(1000000); /* it has begun, and waits for this DDI to end */
    CHECK_RULE("CTXA-054", context_update(p, context_item) == STATUS_SUCCESS);
}

TEST_WITH(context, an_update_ends_beside_one_who_empties_video_memory)
{
    context_begin_client();
    context_rig_inside(0, context_make_item);
    asked = 0;
    context_rig_inside(0, exclude_and_evict);
    while (!asked)
        probe_sleep(1000000);
    CHECK_RULE("LIFE-109/a", IS(elsewhere, STATUS_SUCCESS));
    CHECK_RULE("LIFE-112", probe_rule(p, "LIFE-112") == 0 && sim_now() < PROBE_SECOND);
    context_rig_inside(0, context_update_item);
    context_rig_inside(0, context_destroy_item);
    CHECK(context_errors(p) == 0);
    context_end_client();
}

static void sleep_beside(struct probe *p)
{
    elsewhere = port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep);
}

static void update_while_power_goes(struct probe *p)
{
    context_rig.calls = NULL;
    context_beside = probe_client_start(p, sleep_beside);
    probe_sleep(10000000);
    CHECK_RULE("CTXA-054", context_update(p, context_item) == STATUS_SUCCESS);
    CHECK_RULE("THREAD-030", probe_count(p, PROBE_SetPowerState) == 0);
}

static void power_goes_body(struct probe *p)
{
    context_begin_client();
    context_rig_inside(0, context_make_item);
    context_rig_inside(NO_ADAPTER_SYNC, update_while_power_goes);
    while (!context_beside->done)
        probe_sleep(1000000);
    CHECK_RULE("THREAD-037/c", IS(elsewhere, STATUS_SUCCESS) && context_errors(p) == 0 &&
                                   probe_count(p, PROBE_SetPowerState) >= 1 &&
                                   sim_now() < PROBE_SECOND);
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
    context_rig_inside(0, context_update_item);
    context_rig_inside(0, context_destroy_item);
    context_end_client();
}

/* A driver that stays inside for good: told after a minute, and the adapter runs on. */
static void stay_while_power_goes(struct probe *p)
{
    context_rig.calls = NULL;
    context_beside = probe_client_start(p, sleep_beside);
    probe_sleep(70 * PROBE_SECOND);
}

static void power_stays_body(struct probe *p)
{
    context_begin_client();
    context_rig_inside(0, context_make_item);
    context_rig_inside(NO_ADAPTER_SYNC, stay_while_power_goes);
    CHECK_RULE("THREAD-037/a", context_beside->done && IS(elsewhere, STATUS_IO_TIMEOUT) &&
                                   probe_rule(p, "THREAD-037") == 1 &&
                                   probe_said(p, "THREAD-037", "DxgkDdiSetPowerState waited 60 s"));
    CHECK_RULE("THREAD-037/b", probe_said(p, "THREAD-037", "DxgkDdiEscape"));
    CHECK_RULE("THREAD-030", probe_count(p, PROBE_SetPowerState) == 0);
    context_rig_inside(0, context_update_item);
    context_rig_inside(0, context_destroy_item);
    context_end_client();
}

TEST(an_update_ends_before_power_goes)
{
    context_run_beside(power_goes_body);
    context_run_beside(power_stays_body);
}

/* ---- a reset meanwhile ---- */

static void end_the_hang(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    asked++;
    probe_device_packet_ns = 1000;
}

static void update_that_hangs(struct probe *p)
{
    probe_device_packet_ns = 5 * PROBE_SECOND / 2;
    CHECK_RULE("CTXA-061", context_update(p, context_item) == STATUS_UNSUCCESSFUL);
    CHECK_RULE("CTXA-061", asked == 0 && probe_rule(p, "CTXA-061") == 1 &&
                               probe_record(p, "CTXA-061")->severity == VERIFY_NOTE);
    CHECK_RULE("CTXA-061", context_update(p, context_item) == STATUS_UNSUCCESSFUL && asked == 0);
    CHECK_RULE("CTXA-044", context_map_at(p, context_item, 64 * MB) == 0 &&
                               probe_said(p, "CTXA-044", "the adapter is reset"));
}

static void hang_body(struct probe *p)
{
    context_begin_client();
    context_rig_inside(0, context_make_item);
    asked = 0;
    context_rig_inside(0, update_that_hangs);
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("CTXA-061", asked == 1 && probe_rule(p, "TDR-011") == 0);
    context_rig_inside(0, context_update_item);
    context_rig_inside(0, context_destroy_item);
    context_end_client();
}

TEST(a_reset_ends_the_wait_of_an_update)
{
    struct probe *p = context_rig_create(NULL);

    p->before[PROBE_ResetFromTimeout] = end_the_hang;
    context_rig_run(p, hang_body);
    probe_device_packet_ns = 1000;
}

/* ---- inside the DDIs that paging itself needs ---- */

static NTSTATUS inside_status[4];
static bool inside_done;

static void callbacks_inside(struct probe *p, struct probe_call *call)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

    (void)call;
    if (!context_item || inside_done)
        return;
    inside_done = true;
    inside_status[0] = context_update(p, context_item);
    inside_status[1] = context_create(p, &args);
    CHECK_RULE("CTXA-028", args.hAllocation == NULL);
    inside_status[2] = context_map_at(p, context_item, 64 * MB) ? STATUS_SUCCESS
                                                                : STATUS_INVALID_DEVICE_REQUEST;
    inside_status[3] = context_destroy(p, context_item);
}

static void inside_body(struct probe *p)
{
    context_begin_client();
    context_rig_inside(0, context_make_item);
    CHECK(NT_SUCCESS(probe_gpu_submit(G)) && NT_SUCCESS(probe_gpu_wait_idle(G)));
    CHECK_RULE("CTXA-060", inside_done && IS(inside_status[0], STATUS_INVALID_DEVICE_REQUEST) &&
                               probe_rule(p, "CTXA-060") == 1);
    for (unsigned i = 1; i < 4; i++)
        CHECK_RULE("CTXA-067", IS(inside_status[i], STATUS_INVALID_DEVICE_REQUEST));
    CHECK_RULE("CTXA-067", probe_rule(p, "CTXA-067") == 3);
    context_rig_inside(0, context_destroy_item);
    context_end_client();
    context_item = NULL;
}

TEST(callbacks_inside_the_ddis_of_paging_are_refused)
{
    struct probe *p = context_rig_create(NULL);

    context_item = NULL;
    inside_done = false;
    p->before[PROBE_BuildPagingBuffer] = callbacks_inside;
    context_rig_run(p, inside_body);
}
