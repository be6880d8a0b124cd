/* SPDX-License-Identifier: MIT */
/* dxgkhost: the command line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "util/array.h"

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
        "           --device FILE          device model (default: ../devices/NAME beside the driver)\n"
        "           --device-set key=value option for the device model (may be repeated)\n"
        "           --registry FILE        keys and values that the driver finds\n"
        "           --severity RULE=note|warning|error|bugcheck\n"
        "           --strict               stop at the first broken rule\n"
        "           --stub-missing         start a .sys although routines it imports are missing\n"
        "           --fail-allocation N    let the N-th internal allocation of the run fail\n"
        "           --verbose              print what the driver prints\n"
        "           --stress               preempt often, also at function boundaries (-finstrument-functions)\n"
        "           --special-pool         find accesses past or after pool blocks at once\n"
        "           --force-irql           take paged pool away at DISPATCH_LEVEL and above\n"
        "           --split-dma-buffers    cut DMA buffers of WDDM 1.x drivers at every split point\n"
        "       dxgkhost explore DRIVER WORKLOAD.lua --seeds A..B [option of run ...]\n"
        "           -j N                   machines at a time (default: one per processor)\n"
        "           --shard I/N            only every N-th seed, from the I-th on\n"
        "           --stop-after N         end when N different failures were found\n"
        "           --limit SECONDS        host time that one seed may take (default 300)\n"
        "           --json FILE            results for programs (- for standard output)\n"
        "       dxgkhost inspect DRIVER    tell what a driver is, registers and answers\n"
        "           --device FILE, --iommu MODE as above\n"
        "       dxgkhost explain ID        print a rule and the rules it leans on\n"
        "       dxgkhost rules [SERIES]    list the rules\n"
        "       dxgkhost --version | --help\n",
        stderr);
}

bool cli_parse_number(const char *text, uint64_t *value)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *value = strtoull(text, &end, 0);
    return errno == 0 && *end == 0;
}

bool cli_parse_size(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    char *end;
    unsigned shift = 0;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *bytes = strtoull(text, &end, 0);
    if (errno)
        return false;
    if (*end) {
        const char *unit = strchr(units, *end >= 'a' && *end <= 'z' ? *end - 'a' + 'A' : *end);

        if (!unit)
            return false;
        shift = 10u * (unsigned)(unit - units + 1);
        end++;
        if (end[0] == 'i')
            end++;
        if (end[0] == 'B')
            end++;
        if (*end)
            return false;
    }
    if (shift && *bytes >> (64 - shift))
        return false;
    *bytes <<= shift;
    return true;
}

bool cli_default_device(const char *driver, char *path, size_t bytes)
{
    static const char *const way[] = {"../../devices", "../devices"};
    const char *slash = strrchr(driver, '/'), *name = slash ? slash + 1 : driver;
    int folder = slash ? (int)(slash - driver) : 1, stem = (int)strcspn(name, ".");

    for (size_t i = 0; i < ARRAY_COUNT(way); i++) {
        snprintf(path, bytes, "%.*s/%s/%.*s.so", folder, slash ? driver : ".", way[i], stem, name);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "run") == 0)
        return cli_run(argc - 2, argv + 2);
    if (argc >= 2 && strcmp(argv[1], "inspect") == 0)
        return cli_inspect(argc - 2, argv + 2);
    if (argc >= 2 && strcmp(argv[1], "explore") == 0)
        return cli_explore(argc - 2, argv + 2);
    if (argc >= 2 && strcmp(argv[1], "explain") == 0)
        return cli_explain(argc - 2, argv + 2);
    if (argc >= 2 && strcmp(argv[1], "rules") == 0)
        return cli_rules(argc - 2, argv + 2);
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts("dxgkhost " DXGK_VERSION);
        return CLI_OK;
    }
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        cli_usage();
        return CLI_OK;
    }
    cli_usage();
    return CLI_USAGE;
}
