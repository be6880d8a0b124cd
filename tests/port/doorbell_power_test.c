/* SPDX-License-Identifier: MIT */
/* Doorbells of an engine that goes to F1. */
#include "port/support/doorbells.h"

#include <string.h>

static struct bell_client client, other;

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *process;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, body);
    probe_client_end(p, process);
    probe_clients_end(p);
    probe_destroy(p);
}

static void change(unsigned node, DXGK_ENGINE_STATE state)
{
    hardware.extra.InterruptType = DXGK_INTERRUPT_GPU_ENGINE_STATE_CHANGE;
    hardware.extra.EngineStateChange.NodeOrdinal = node;
    hardware.extra.EngineStateChange.NewState = state;
    hardware_notify();
}

static void rest_body(struct probe *p)
{
    CHECK(NT_SUCCESS(bell_begin(&client)) && NT_SUCCESS(bell_create(&client)));
    CHECK(NT_SUCCESS(bell_begin(&other)) && NT_SUCCESS(bell_create(&other)));
    CHECK(NT_SUCCESS(bell_connect(&client)) && NT_SUCCESS(bell_connect(&other)));
    change(HARDWARE_PAGING_NODE, DXGK_ENGINE_STATE_IDLE);
    change(HARDWARE_NODE, DXGK_ENGINE_STATE_ACTIVE);
    CHECK_RULE("TDR-078/a", *client.status == D3DDDI_DOORBELLSTATUS_CONNECTED &&
                                probe_count(p, PROBE_DisconnectDoorbell) == 0);
    change(HARDWARE_NODE, DXGK_ENGINE_STATE_IDLE);
    CHECK_RULE("TDR-078/a", *client.status == D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY &&
                                *other.status == D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY &&
                                probe_count(p, PROBE_DisconnectDoorbell) == 2);
    *client.bell = 77;
    CHECK_RULE("TDR-078/a", *(volatile UINT64 *)(void *)doorbells.memory != 77);
    CHECK_RULE("TDR-078/a", NT_SUCCESS(bell_connect(&client)) &&
                                *client.status == D3DDDI_DOORBELLSTATUS_CONNECTED &&
                                *other.status == D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY);
    change(HARDWARE_NODE, DXGK_ENGINE_STATE_IDLE);
    CHECK_RULE("TDR-078/a", *client.status == D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY &&
                                probe_count(p, PROBE_DisconnectDoorbell) == 3);
    CHECK_RULE("TDR-078/a", probe_count(p, PROBE_ResetHwEngine) == 0);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.hw.gpu)) && NT_SUCCESS(probe_gpu_end(&other.hw.gpu)));
}

TEST(an_engine_that_goes_to_F1_has_its_doorbells_disconnected)
{
    struct probe *p = doorbells_create(NULL);

    p->node[HARDWARE_PAGING_NODE].Flags.ContextSchedulingSupported = 1;
    run(p, rest_body);
}
