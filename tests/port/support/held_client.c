/* SPDX-License-Identifier: MIT */
#include "held_client.h"

#include "ddi/ddi.h"

static bool inside;

static void hold(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    inside = true;
    probe_sleep(10000000);
    inside = false;
}

static void create_device(struct probe *p)
{
    DXGKARG_CREATEDEVICE args = {.hDevice = (HANDLE)(uintptr_t)1};

    (void)ddi_create_device(port_adapter_ddi(p->adapter[0]), &args);
}

struct sim_thread *held_client_free(struct probe *p)
{
    return probe_thread(p, probe_process(p, "client"), "client", create_device);
}

struct sim_thread *held_client_start(struct probe *p)
{
    struct sim_thread *thread = held_client_free(p);

    p->before[PROBE_CreateDevice] = hold;
    while (!inside)
        probe_sleep(100000);
    return thread;
}

bool held_client_inside(void)
{
    return inside;
}
