/* SPDX-License-Identifier: MIT */
/* What clients are told of hardware scheduling. */
#include "port/record/machine.h"
#include "port/support/hardware.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define HWSCH              DXGK_FEATURE_HWSCH

static D3DKMT_WDDM_2_7_CAPS caps_2_7;
static D3DKMT_WDDM_2_9_CAPS caps_2_9;
static UINT state; /* of the driver's support; 0: it asks without one */

#define NOT_ASKED 99u

static void look(struct probe *p)
{
    D3DKMT_OPENADAPTERFROMLUID open = {.AdapterLuid = port_adapter_luid(p->adapter[0])};
    D3DKMT_QUERYADAPTERINFO query = {.Type = KMTQAITYPE_WDDM_2_7_CAPS,
                                     .pPrivateDriverData = &caps_2_7,
                                     .PrivateDriverDataSize = sizeof(caps_2_7)};

    CHECK(IS(D3DKMTOpenAdapterFromLuid(&open), STATUS_SUCCESS));
    query.hAdapter = open.hAdapter;
    CHECK(IS(D3DKMTQueryAdapterInfo(&query), STATUS_SUCCESS));
    query.Type = KMTQAITYPE_WDDM_2_9_CAPS;
    query.pPrivateDriverData = &caps_2_9;
    CHECK(IS(D3DKMTQueryAdapterInfo(&query), STATUS_SUCCESS));
}

static void ask(struct probe *p, struct probe_call *call)
{
    NTSTATUS status;

    (void)call;
    if (state == 0)
        (void)probe_feature_enabled(p, HWSCH, &status);
    else if (state != NOT_ASKED)
        (void)probe_feature_supported(p, HWSCH, state, &status);
}

static void run(struct probe *p)
{
    struct probe_client *client;

    memset(&caps_2_7, 0xFF, sizeof(caps_2_7));
    memset(&caps_2_9, 0xFF, sizeof(caps_2_9));
    p->after[PROBE_StartDevice] = ask;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, look);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

static bool are_2_7(unsigned supported, unsigned enabled, unsigned by_default)
{
    return caps_2_7.Value == (supported | enabled << 1 | by_default << 2);
}

static bool are_2_9(unsigned support, unsigned enabled)
{
    return caps_2_9.Value == (support | enabled << 2);
}

static struct probe *off(void)
{
    struct probe *p = hardware_create(NULL);

    p->port->config.features &= ~(1u << HWSCH);
    return p;
}

TEST(clients_are_told_of_hardware_scheduling)
{
    state = DXGK_FEATURE_SUPPORT_STABLE;
    run(hardware_create(NULL));
    CHECK_RULE("KMT-091", are_2_7(1, 1, 1) && are_2_9(DXGK_FEATURE_SUPPORT_STABLE, 1));
    run(off());
    CHECK_RULE("KMT-091", are_2_7(1, 0, 0) && are_2_9(DXGK_FEATURE_SUPPORT_STABLE, 0));
    state = DXGK_FEATURE_SUPPORT_ALWAYS_ON;
    run(hardware_create(NULL));
    CHECK_RULE("KMT-091", are_2_7(1, 1, 1) && are_2_9(DXGK_FEATURE_SUPPORT_ALWAYS_ON, 1));
    state = DXGK_FEATURE_SUPPORT_EXPERIMENTAL;
    run(hardware_create(NULL));
    CHECK_RULE("KMT-091", are_2_7(1, 0, 0) && are_2_9(DXGK_FEATURE_SUPPORT_EXPERIMENTAL, 0));
    state = 0;
    run(hardware_create(NULL));
    CHECK_RULE("KMT-091", are_2_7(1, 1, 1) && are_2_9(DXGK_FEATURE_SUPPORT_STABLE, 1));
    state = NOT_ASKED;
    run(hardware_create(NULL));
    CHECK_RULE("KMT-091", are_2_7(0, 0, 0) && are_2_9(DXGK_FEATURE_SUPPORT_ALWAYS_OFF, 0));
}

/* Supported and on by default, but no node says that it is scheduled so. */
TEST(it_is_enabled_where_a_node_has_it)
{
    struct probe *p = hardware_create(NULL);

    p->node[HARDWARE_NODE].Flags.ContextSchedulingSupported = 0;
    state = DXGK_FEATURE_SUPPORT_STABLE;
    run(p);
    CHECK_RULE("KMT-091", are_2_7(1, 0, 1) && are_2_9(DXGK_FEATURE_SUPPORT_STABLE, 0));
}

TEST(an_older_driver_has_no_such_caps)
{
    static const struct {
        DXGK_WDDMVERSION version;
        bool has_2_7, has_2_9;
    } drivers[] = {{DXGKDDI_WDDMv2_6, false, false},
                   {DXGKDDI_WDDMv2_7, true, false},
                   {DXGKDDI_WDDMv2_8, true, false},
                   {DXGKDDI_WDDMv2_9, true, true}};

    state = 0;
    for (unsigned i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
        struct probe *p = hardware_create(NULL);

        p->caps.WDDMVersion = drivers[i].version;
        p->device_wddm = drivers[i].version;
        run(p);
        CHECK_RULE("KMT-063", (caps_2_7.Value != 0) == drivers[i].has_2_7 &&
                                  (caps_2_9.Value != 0) == drivers[i].has_2_9);
    }
}
