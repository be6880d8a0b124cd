/* SPDX-License-Identifier: MIT */
/* A restart: what is told anew, what only once, and what a failed one leaves to others. */
#include "port/record/cause.h"
#include "port/support/probe.h"
#include "sim/sim.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define BAD_HANDLE         ((HANDLE)(uintptr_t)0x1234567)

static unsigned lines; /* of the machine's log, about what is absent */

static void note_line(void *context, const char *line)
{
    (void)context;
    lines += strstr(line, "a driver of WDDM 1.x; not in force yet") != NULL;
}

TEST(what_is_absent_is_told_once)
{
    const struct probe_options options = {.version = DXGKDDI_INTERFACE_VERSION_WIN8,
                                          .port = {.log = note_line}};
    struct probe *p = probe_create(&options);
    unsigned first;

    probe_make_1x(p);
    lines = 0;
    CHECK(NT_SUCCESS(probe_start(p)));
    first = lines;
    CHECK(first <= 1 && probe_run(p, probe_restart) == SIM_DONE);
    CHECK(lines == first);
    probe_destroy(p);
}

/* ---- causes ---- */

static void fail_again(struct probe *p, struct probe_call *call)
{
    if (probe_count(p, PROBE_StartDevice) <= 2)
        return;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)STATUS_DEVICE_BUSY;
}

static void break_a_rule(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (call->answered)
        VIOLATION("LIFE-170", "as a driver would");
}

static void failing_body(struct probe *p)
{
    DXGK_DEVICE_INFO info;

    port_cause(p->port, "something else"); /* of long ago */
    CHECK(IS(port_adapter_restart(p->adapter[0]), STATUS_DEVICE_BUSY) &&
          port_adapter_lost(p->adapter[0]) && !port_adapter_lost(p->adapter[1]));
    CHECK_RULE("LIFE-003/d", strcmp(port_cause_text(p->port),
                                    "DxgkDdiStartDevice returned STATUS_DEVICE_BUSY") == 0 &&
                                 IS(port_cause_status(p->port), STATUS_DEVICE_BUSY));
    /* what the other adapter does is no part of undoing that */
    CHECK(IS(p->state[1].dxgk.DxgkCbGetDeviceInformation(BAD_HANDLE, &info),
             STATUS_INVALID_PARAMETER) &&
          !probe_record(p, "LIFE-063")->undoing);
    CHECK(IS(port_adapter_restart(p->adapter[1]), STATUS_DEVICE_BUSY));
    CHECK(IS(port_cause_status(p->port), STATUS_DEVICE_BUSY));
}

TEST(a_failed_restart_has_its_own_cause)
{
    const struct probe_options two = {.adapters = 2};
    struct probe *p = probe_started(&two);

    p->before[PROBE_StartDevice] = fail_again;
    p->after[PROBE_StartDevice] = break_a_rule;
    probe_end(p, failing_body);
}

/* ---- what a new start finds ---- */

static unsigned starts;
static PDXGK_START_INFO addresses[2];

static void note_start(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (starts < 2)
        addresses[starts++] = (PDXGK_START_INFO)(uintptr_t)call->arg[1];
}

static void again_body(struct probe *p)
{
    const LUID luid = port_adapter_luid(p->adapter[0]);
    size_t queries = probe_queries(p, DXGKQAITYPE_DRIVERCAPS);

    probe_restart(p);
    CHECK(starts == 1 && addresses[0] && port_adapter_luid(p->adapter[0]).LowPart == luid.LowPart);
    CHECK(memcmp(&p->state[0].info.AdapterLuid, &luid, sizeof(luid)) == 0);
    CHECK(probe_queries(p, DXGKQAITYPE_DRIVERCAPS) == 2 * queries);
    CHECK(probe_count(p, PROBE_AddDevice) == 1 && probe_count(p, PROBE_StopDevice) == 1 &&
          probe_count(p, PROBE_RemoveDevice) == 0);
}

TEST(a_restart_keeps_the_adapter)
{
    struct probe *p = probe_started(NULL);

    starts = 0;
    p->before[PROBE_StartDevice] = note_start;
    probe_end(p, again_body);
}
