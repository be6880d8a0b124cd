/* SPDX-License-Identifier: MIT */
/* D3DKMTQueryClockCalibration: what the clock of a node shows, and when. */
#include "port/support/client.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (NTSTATUS)(wanted))

static struct probe_gpu gpu;
static NTSTATUS answer;

static void calibrate(struct probe *p, struct probe_call *call)
{
    DXGKARG_CALIBRATEGPUCLOCK *clock = (DXGKARG_CALIBRATEGPUCLOCK *)(uintptr_t)call->arg[3];

    (void)p;
    clock->GpuFrequency = 27000000 + call->arg[1];
    clock->GpuClockCounter = UINT64_MAX - 5;
    clock->CpuClockCounter = 0x123456789ABCull;
    clock->Flags.Value = 7;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)answer;
}

static D3DKMT_QUERYCLOCKCALIBRATION args;

static NTSTATUS query(UINT node, UINT adapter)
{
    memset(&args, 0xA5, sizeof(args));
    args.hAdapter = gpu.adapter;
    args.NodeOrdinal = node;
    args.PhysicalAdapterIndex = adapter;
    return D3DKMTQueryClockCalibration(&args);
}

static bool is_untouched(UINT node, UINT adapter)
{
    D3DKMT_QUERYCLOCKCALIBRATION before;

    memset(&before, 0xA5, sizeof(before));
    before.hAdapter = gpu.adapter;
    before.NodeOrdinal = node;
    before.PhysicalAdapterIndex = adapter;
    return memcmp(&before, &args, sizeof(args)) == 0;
}

static void each_node(struct probe *p)
{
    const UINT nodes = p->caps.GpuEngineTopology.NbAsymetricProcessingNodes;

    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)) && nodes > 1);
    for (UINT node = 0; node < nodes; node++) {
        const struct probe_call *call;

        probe_forget(p);
        CHECK_RULE("KMT-139/a", IS(query(node, 0), STATUS_SUCCESS) &&
                                    probe_count(p, PROBE_CalibrateGpuClock) == 1);
        call = probe_nth(p, PROBE_CalibrateGpuClock, 0);
        CHECK_RULE("KMT-139/a", call->arg[0] == (uintptr_t)p->state[0].context &&
                                    (UINT)call->arg[1] == node && (UINT)call->arg[2] == 0);
        CHECK_RULE("KMT-139/a", args.ClockData.GpuFrequency == 27000000 + node &&
                                    args.ClockData.GpuClockCounter == UINT64_MAX - 5 &&
                                    args.ClockData.CpuClockCounter == 0x123456789ABCull &&
                                    args.ClockData.Flags.Value == 7);
        CHECK_RULE("KMT-140", args.hAdapter == gpu.adapter && args.NodeOrdinal == node &&
                                  args.PhysicalAdapterIndex == 0);
        CHECK_RULE("THREAD-040/a", call->irql == DISPATCH_LEVEL);
    }
    probe_forget(p);
    CHECK_RULE("KMT-139/b", IS(query(nodes, 0), STATUS_INVALID_PARAMETER) && is_untouched(nodes, 0));
    CHECK_RULE("KMT-139/b",
               IS(query(UINT32_MAX, 0), STATUS_INVALID_PARAMETER) && is_untouched(UINT32_MAX, 0));
    CHECK_RULE("KMT-139/b", IS(query(0, 1), STATUS_INVALID_PARAMETER) && is_untouched(0, 1));
    CHECK_RULE("KMT-139/b", probe_count(p, PROBE_CalibrateGpuClock) == 0);
    answer = STATUS_DEVICE_BUSY;
    CHECK_RULE("KMT-139/d", IS(query(1, 0), STATUS_DEVICE_BUSY) && is_untouched(1, 0) &&
                                probe_count(p, PROBE_CalibrateGpuClock) == 1);
    gpu.adapter ^= 0x40;
    CHECK(IS(query(0, 0), STATUS_INVALID_PARAMETER));
    gpu.adapter ^= 0x40;
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

static void without(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK_RULE("KMT-139/c", IS(query(0, 0), STATUS_NOT_SUPPORTED) && is_untouched(0, 0));
    CHECK(probe_refused_text && strstr(probe_refused_text, "DxgkDdiCalibrateGpuClock"));
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

static void run(bool there, void (*body)(struct probe *p))
{
    struct probe *p = probe_create(NULL);
    struct probe_client *client;

    answer = STATUS_SUCCESS;
    probe_set_entry(p, PROBE_CalibrateGpuClock, there);
    p->before[PROBE_CalibrateGpuClock] = calibrate;
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_clients_begin(p);
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

TEST(the_clock_of_each_node_is_calibrated)
{
    run(true, each_node);
}

TEST(a_driver_without_calibration_is_told_apart)
{
    run(false, without);
}
