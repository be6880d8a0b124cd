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

/* ---- types and flags, one by one ---- */

TEST_WITH(client, every_flag_of_an_escape_has_an_answer)
{
    struct refgpu_escape_counters counters;
    D3DKMT_ESCAPE escape;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    for (unsigned bit = 0; bit < 32; bit++) {
        escape = counters_escape(&g, &counters);
        escape.Flags.Value = 1u << bit;
        if (escape.Flags.HardwareAccess || escape.Flags.NoAdapterSynchronization)
            TRY(c, D3DKMTEscape(&escape) == STATUS_SUCCESS);
        else if (escape.Flags.DriverCommonEscape || escape.Flags.DriverKnownEscape)
            SHOW(c, "KMT-431", D3DKMTEscape(&escape) == STATUS_NOT_SUPPORTED);
        else
            SHOW(c, "KMT-431", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
        escape.Type = D3DKMT_ESCAPE_HISTORY_BUFFER_STATUS;
        SHOW(c, "KMT-431", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    }
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, every_type_of_an_escape_has_an_answer)
{
    static const int unknown[] = {-1, 7, 19, 22, 26, 35, 40, 999, 1023, 1039};
    static const int known[] = {1, 6, 8, 18, 20, 23, 24, 27, 34, 36, 39, 1024, 1038};
    struct refgpu_escape_counters counters;
    struct dxgk_refusal refusal;
    D3DKMT_ESCAPE escape;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    escape = counters_escape(&g, &counters);
    for (unsigned i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        escape.Type = (D3DKMT_ESCAPETYPE)unknown[i];
        SHOW(c, "KMT-441",
             D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER &&
                 dxgk_client_last_refusal(&refusal) && strstr(refusal.reason, "is unknown"));
    }
    for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        escape.Type = (D3DKMT_ESCAPETYPE)known[i];
        SHOW(c, "KMT-441",
             D3DKMTEscape(&escape) == STATUS_NOT_SUPPORTED && dxgk_client_last_refusal(&refusal) &&
                 strstr(refusal.reason, "does not carry out escape type"));
    }
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, no_history_buffers_are_collected)
{
    static const D3DKMT_HISTORY_BUFFER_STATUS constant;
    D3DKMT_HISTORY_BUFFER_STATUS history = {TRUE, 5};
    D3DKMT_ESCAPE escape = {.Type = D3DKMT_ESCAPE_HISTORY_BUFFER_STATUS};
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    escape.hAdapter = g.adapter;
    escape.pPrivateDriverData = &history;
    escape.PrivateDriverDataSize = sizeof(history) - 1;
    TRY(c, D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER && history.Enabled == TRUE);
    escape.PrivateDriverDataSize = sizeof(history) + 1;
    TRY(c, D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER && history.Enabled == TRUE);
    escape.PrivateDriverDataSize = sizeof(history);
    SHOW(c, "KMT-455/b",
         D3DKMTEscape(&escape) == STATUS_SUCCESS && history.Enabled == FALSE &&
             history.Reserved == 0);
    escape.pPrivateDriverData = (void *)(uintptr_t)&constant;
    TRY(c, D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, private_data_of_an_escape_are_read_and_written)
{
    static const struct refgpu_escape_counters constant = {
        .header = {.magic = REFGPU_UMD_MAGIC, .code = REFGPU_ESCAPE_COUNTERS}};
    struct refgpu_escape_counters counters;
    D3DKMT_ESCAPE escape;
    struct gpu g, other;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_begin(&other) == STATUS_SUCCESS);
    escape = counters_escape(&g, &counters);
    escape.pPrivateDriverData = NULL;
    SHOW(c, "KMT-006", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.pPrivateDriverData = (void *)(uintptr_t)0x1000;
    SHOW(c, "KMT-007", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.pPrivateDriverData = (void *)(uintptr_t)&constant;
    SHOW(c, "KMT-007", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    /* handles of the right kinds that do not belong together */
    escape = counters_escape(&g, &counters);
    escape.hDevice = g.copy;
    SHOW(c, "KMT-423", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.hDevice = g.device;
    escape.hContext = other.copy;
    SHOW(c, "KMT-423", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.hContext = g.device;
    SHOW(c, "KMT-423", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&other) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, a_control_of_timeouts_is_of_a_known_kind)
{
    static const int succeed[] = {D3DKMT_TDRDBGCTRLTYPE_DISABLEBREAK,
                                  D3DKMT_TDRDBGCTRLTYPE_ENABLEBREAK,
                                  D3DKMT_TDRDBGCTRLTYPE_UNCONDITIONAL};
    static const int display[] = {D3DKMT_TDRDBGCTRLTYPE_VSYNCTDR, D3DKMT_TDRDBGCTRLTYPE_FORCEDODTDR,
                                  D3DKMT_TDRDBGCTRLTYPE_FORCEDODVSYNCTDR};
    D3DKMT_TDRDBGCTRL_ESCAPE control = {0};
    D3DKMT_ESCAPE escape = {.Type = D3DKMT_ESCAPE_TDRDBGCTRL};
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    escape.hAdapter = g.adapter;
    escape.pPrivateDriverData = &control;
    for (unsigned i = 0; i < 3; i++) {
        escape.PrivateDriverDataSize = i % 2 ? sizeof(control) : sizeof(int);
        control.TdrControl = (D3DKMT_TDRDBGCTRLTYPE)succeed[i];
        SHOW(c, "KMT-444", D3DKMTEscape(&escape) == STATUS_SUCCESS);
        control.TdrControl = (D3DKMT_TDRDBGCTRLTYPE)display[i];
        SHOW(c, "KMT-444", D3DKMTEscape(&escape) == STATUS_NOT_SUPPORTED);
    }
    control.TdrControl = (D3DKMT_TDRDBGCTRLTYPE)99;
    TRY(c, D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    control.TdrControl = D3DKMT_TDRDBGCTRLTYPE_ENGINETDR; /* an int has no node */
    escape.PrivateDriverDataSize = sizeof(int);
    SHOW(c, "KMT-444", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.pPrivateDriverData = (void *)(uintptr_t)0x1000;
    TRY(c, D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.Type = D3DKMT_ESCAPE_REQUEST_MACHINE_CRASH;
    TRY(c, D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER); /* of the wrong size */
    escape.PrivateDriverDataSize = sizeof(D3DKMT_REQUEST_MACHINE_CRASH_ESCAPE);
    TRY(c, D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}
