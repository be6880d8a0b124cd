/* SPDX-License-Identifier: MIT */
#include "cli/usage.h"

#include <stdio.h>

void cli_usage(void)
{
    fputs(
        "usage: dxgkhost run DRIVER WORKLOAD.lua [option ...]\n"
        "           --set key=value        option for the workload (may be repeated)\n"
        "           --seed N               seed of the run (default 1)\n"
        "           --ram SIZE             physical memory, 64M to 1T (default 16G)\n"
        "           --vram SIZE            local memory of the device (default: the model's)\n"
        "           --iommu off|isolation|remap[,flags=N][,present][,svm][,opt-out][,unjudged]\n"
        "           --cpus N               simulated processors, 1 to 64 (default 4)\n"
        "           --report memory        who owns physical memory at the end; picture in memory.svg of --out\n"
        "           --power-cycle NS       let the machine sleep (D3) and wake every NS of virtual time\n"
        "           --trace FILE           event stream for ui.perfetto.dev\n"
        "           --out DIR              folder for results (default: out)\n"
        "           --device FILE|null     device model (default: ../devices/NAME beside the driver); null: one\n"
        "                                  that is memory and does nothing\n"
        "           --device-set key=value option for the device model (may be repeated)\n"
        "           --registry FILE        keys and values that the driver finds\n"
        "           --severity RULE=note|warning|error|bugcheck\n"
        "           --strict               stop at the first broken rule, refuse what is only expected\n"
        "           --stub-missing         start a .sys although routines it imports are missing\n"
        "           --fail-allocation N    let the N-th internal allocation of the run fail\n"
        "           --verbose              print what the driver prints, and each call that fails, with the reason\n"
        "           --stall-limit SECONDS  end a run that takes so much processor time without a step of the\n"
        "                                  machine (default 60; 0: never)\n"
        "           --limit TIME           virtual time that the run may take, as 90, 20ms, 1h (default 1h; 0: no\n"
        "                                  limit); --virtual-limit in explore, whose --limit is of host time\n"
        "           --isolate              for a driver of strangers: no files, network or processes but what\n"
        "                                  the options name\n"
        "           --no-supervisor        run the machine in this process: for a debugger\n"
        "           --stress               preempt often, also at function boundaries (-finstrument-functions)\n"
        "           --special-pool         find accesses past or after pool blocks at once\n"
        "           --force-irql           take paged pool away at DISPATCH_LEVEL and above\n"
        "           --raised-submit        call SubmitCommandVirtual at DISPATCH_LEVEL\n"
        "           --split-dma-buffers    cut DMA buffers of WDDM 1.x drivers at every split point\n"
        "       dxgkhost explore DRIVER WORKLOAD.lua --seeds A..B [option of run ...]\n"
        "           -j N                   machines at a time (default: one per processor)\n"
        "           --shard I/N            only every N-th seed, from the I-th on\n"
        "           --stop-after N         end when N different failures were found\n"
        "           --limit SECONDS        host time that one seed may take (default 300)\n"
        "           --json FILE            results for programs (- for standard output)\n"
        "       dxgkhost inspect DRIVER    tell what a driver is, registers and answers\n"
        "                                  (with the options of run that are not for workloads)\n"
        "       dxgkhost explain ID        print a rule and the rules it leans on\n"
        "       dxgkhost rules [SERIES]    list the rules\n"
        "       dxgkhost --version | --help\n",
        stderr);
}
