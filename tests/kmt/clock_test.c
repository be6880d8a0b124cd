/* SPDX-License-Identifier: MIT */
/* The clock of the reference device, against that of the processors. */
#include "host/support/refgpu_client.h"

static NTSTATUS query(const struct gpu *g, UINT node, D3DKMT_QUERYCLOCKCALIBRATION *args)
{
    memset(args, 0, sizeof(*args));
    args->hAdapter = g->adapter;
    args->NodeOrdinal = node;
    return D3DKMTQueryClockCalibration(args);
}

/* Both counters show the same time, to a microsecond. */
TEST_WITH(client, the_clock_of_the_board_goes_with_that_of_the_processors)
{
    D3DKMT_QUERYCLOCKCALIBRATION first, second;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    for (UINT node = 0; node < 2; node++) {
        UINT64 board, processors;

        TRY(c, query(&g, node, &first) == STATUS_SUCCESS);
        dxgk_client_sleep(3000000);
        TRY(c, query(&g, node, &second) == STATUS_SUCCESS);
        board = second.ClockData.GpuClockCounter - first.ClockData.GpuClockCounter;
        processors = second.ClockData.CpuClockCounter - first.ClockData.CpuClockCounter;
        SHOW(c, "KMT-139/a",
             first.ClockData.GpuFrequency == 1000000000 &&
                 second.ClockData.GpuFrequency == 1000000000 && board >= 3000000);
        TRY(c, board / 1000 + 1 >= processors / 10 && processors / 10 + 1 >= board / 1000);
    }
    SHOW(c, "KMT-139/b", query(&g, 77, &first) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}
