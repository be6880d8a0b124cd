/* SPDX-License-Identifier: MIT */
/* Escapes: what reaches the driver, what the host answers, and what waits for the GPU. */
#include "host/support/refgpu_client.h"

/* The driver writes its counters to the private data. */
static D3DKMT_ESCAPE counters_escape(const struct gpu *g, struct refgpu_escape_counters *counters)
{
    D3DKMT_ESCAPE escape;

    memset(counters, 0, sizeof(*counters));
    counters->header.magic = REFGPU_UMD_MAGIC;
    counters->header.code = REFGPU_ESCAPE_COUNTERS;
    memset(&escape, 0, sizeof(escape));
    escape.hAdapter = g->adapter;
    escape.pPrivateDriverData = counters;
    escape.PrivateDriverDataSize = sizeof(*counters);
    return escape;
}

TEST_WITH(client, the_driver_answers_an_escape_in_place)
{
    struct refgpu_escape_counters counters;
    D3DKMT_ESCAPE escape;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    escape = counters_escape(&g, &counters);
    SHOW(c, "KMT-421", D3DKMTEscape(&escape) == STATUS_SUCCESS);
    SHOW(c, "KMT-425",
         counters.interrupts > 0 || counters.log_records_drained > 0 ||
             counters.engine[1].submitted > 0);

    counters.header.magic = 0xBAD; /* the driver refuses: nothing is copied back */
    counters.interrupts = 0xABCDEF;
    SHOW(c, "KMT-425", !NT_SUCCESS(D3DKMTEscape(&escape)) && counters.interrupts == 0xABCDEF);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, the_handles_of_an_escape_belong_together)
{
    struct refgpu_escape_counters counters;
    D3DKMT_ESCAPE escape;
    struct gpu g, other;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_begin(&other) == STATUS_SUCCESS);
    escape = counters_escape(&g, &counters);
    escape.hAdapter = 0;
    SHOW(c, "KMT-423", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.hAdapter = g.adapter;
    escape.hContext = g.copy;
    SHOW(c, "KMT-422", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.hDevice = other.device;
    SHOW(c, "KMT-423", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.hDevice = g.device;
    SHOW(c, "KMT-422", D3DKMTEscape(&escape) == STATUS_SUCCESS);
    TRY(c, gpu_end(&other) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, flags_of_escapes_are_checked)
{
    struct refgpu_escape_counters counters;
    D3DKMT_ESCAPE escape;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    escape = counters_escape(&g, &counters);
    escape.Flags.DeviceStatusQuery = 1;
    SHOW(c, "KMT-431", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.Flags.Value = 0;
    escape.Flags.HardwareAccess = escape.Flags.NoAdapterSynchronization = 1;
    SHOW(c, "KMT-432", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.Flags.Value = 0;
    escape.Type = D3DKMT_ESCAPE_TDRDBGCTRL; /* these flags are for the driver's escapes */
    escape.Flags.HardwareAccess = 1;
    SHOW(c, "KMT-431", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, other_types_of_escape_are_refused)
{
    struct refgpu_escape_counters counters;
    D3DKMT_ESCAPE escape;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    escape = counters_escape(&g, &counters);
    escape.Type = (D3DKMT_ESCAPETYPE)19;
    SHOW(c, "KMT-441", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.Type = D3DKMT_ESCAPE_DMM;
    SHOW(c, "KMT-441", D3DKMTEscape(&escape) == STATUS_NOT_SUPPORTED);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, an_escape_controls_the_detection_of_timeouts)
{
    D3DKMT_TDRDBGCTRL_ESCAPE control;
    D3DKMT_ESCAPE escape;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    memset(&control, 0, sizeof(control));
    control.TdrControl = D3DKMT_TDRDBGCTRLTYPE_ENGINETDR;
    control.NodeOrdinal = REFGPU_NODES;
    memset(&escape, 0, sizeof(escape));
    escape.hAdapter = g.adapter;
    escape.hDevice = g.device;
    escape.hContext = g.copy;
    escape.Type = D3DKMT_ESCAPE_TDRDBGCTRL;
    escape.pPrivateDriverData = &control;
    escape.PrivateDriverDataSize = 5;
    SHOW(c, "KMT-444", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.PrivateDriverDataSize = sizeof(control);
    SHOW(c, "KMT-444", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.PrivateDriverDataSize = sizeof(int);
    control.TdrControl = D3DKMT_TDRDBGCTRLTYPE_VSYNCTDR;
    SHOW(c, "KMT-444", D3DKMTEscape(&escape) == STATUS_NOT_SUPPORTED);
    control.TdrControl = D3DKMT_TDRDBGCTRLTYPE_DISABLEBREAK;
    SHOW(c, "KMT-444", D3DKMTEscape(&escape) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* A long packet, and an escape behind it: has the packet's last word been written when the driver has had the escape? */
static NTSTATUS escape_behind_work(struct gpu *g, const struct memory *m, uint32_t pattern,
                                   bool hardware, bool *done)
{
    const volatile uint32_t *words = m->cpu;
    struct refgpu_escape_counters counters;
    D3DKMT_ESCAPE escape;
    struct refgpu_builder b;
    NTSTATUS status;

    refgpu_builder_init(&b, g->lists.pCommandBuffer, g->lists.CommandBufferSize);
    for (int i = 0; i < 8; i++)
        refgpu_fill(&b, REFGPU_REF(0, 0), m->bytes, i < 7 ? ~pattern : pattern);
    g->lists.pAllocationList[0].hAllocation = m->handle;
    g->lists.pAllocationList[0].Value = 0;
    g->lists.pAllocationList[0].WriteOperation = 1;
    status = gpu_render(g, refgpu_builder_bytes(&b), 1);
    if (!NT_SUCCESS(status))
        return status;
    dxgk_client_sleep(5000); /* until it runs */
    escape = counters_escape(g, &counters);
    escape.Flags.HardwareAccess = hardware;
    status = D3DKMTEscape(&escape);
    *done = words[m->bytes / 4 - 1] == pattern;
    return NT_SUCCESS(status) ? gpu_wait_idle(g) : status;
}

TEST_WITH(client, hardware_access_waits_until_the_gpu_is_idle)
{
    struct memory m;
    struct gpu g;
    bool done;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 1 << 20, REFGPU_ALLOCATION_CPU_VISIBLE | REFGPU_ALLOCATION_PHYSICAL,
                             0, &m) == STATUS_SUCCESS);
    TRY(c, gpu_make_resident(&g, m.handle) == STATUS_SUCCESS);
    TRY(c, gpu_lock(&g, &m) == STATUS_SUCCESS);
    TRY(c, escape_behind_work(&g, &m, 0x11111111, false, &done) == STATUS_SUCCESS);
    SHOW(c, "THREAD-028", !done);
    TRY(c, escape_behind_work(&g, &m, 0x22222222, true, &done) == STATUS_SUCCESS);
    SHOW(c, "THREAD-028", done);
    SHOW(c, "THREAD-026", ((const uint32_t *)m.cpu)[0] == 0x22222222); /* memory kept what it held */
    TRY(c, escape_behind_work(&g, &m, 0x33333333, false, &done) == STATUS_SUCCESS);
    SHOW(c, "THREAD-026", !done); /* the scheduler goes on */
    TRY(c, gpu_unlock(&g, &m) == STATUS_SUCCESS);
    TRY(c, gpu_destroy_memory(&g, &m) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}
