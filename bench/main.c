/* SPDX-License-Identifier: MIT */
/* dxgk-bench: runs named cases, prints a table, and JSON on request. Figures are wall time of this host. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "util/array.h"

struct bench_options bench_options;

struct result {
    char name[64];
    uint64_t live, count;
    double seconds;
    bool time_only;
    struct {
        const char *key;
        double value;
    } details[8];
    unsigned detail_count;
};

static struct result results[256];
static size_t result_count;

double bench_now(void)
{
    struct timespec t;

    clock_gettime(bench_options.cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void keep(const char *name, uint64_t live, uint64_t count, double seconds, bool time_only)
{
    struct result *r = &results[result_count];

    if (result_count == ARRAY_COUNT(results))
        return;
    result_count++;
    snprintf(r->name, sizeof(r->name), "%s", name);
    r->live = live;
    r->count = count;
    r->seconds = seconds;
    r->time_only = time_only;
}

void bench_result(const char *name, uint64_t live, uint64_t count, double seconds)
{
    char alive[24] = "";

    keep(name, live, count, seconds, false);
    if (live)
        snprintf(alive, sizeof(alive), "%llu", (unsigned long long)live);
    printf("%-36s %9s %12.*f ns %14.0f /s\n", name, alive, seconds < (double)count * 1e-8 ? 2 : 1,
           seconds * 1e9 / (double)count, (double)count / seconds);
    fflush(stdout);
}

void bench_milliseconds(const char *name, double seconds)
{
    keep(name, 0, 1, seconds, true);
    printf("%-36s %9s %12.2f ms\n", name, "", seconds * 1e3);
    fflush(stdout);
}

void bench_detail(const char *key, double value)
{
    struct result *r = result_count ? &results[result_count - 1] : NULL;

    if (!r || r->detail_count == ARRAY_COUNT(r->details))
        return;
    r->details[r->detail_count].key = key;
    r->details[r->detail_count++].value = value;
    printf("    %-32s %27.10g\n", key, value);
    fflush(stdout);
}

void bench_die(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fputs("dxgk-bench: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static void write_json(const char *path)
{
    FILE *file = fopen(path, "w");

    if (!file)
        bench_die("%s: cannot be written", path);
    fprintf(file, "{\n  \"results\": [\n");
    for (size_t i = 0; i < result_count; i++) {
        const struct result *r = &results[i];

        fprintf(file, "    {\"name\": \"%s\", \"live\": %llu, \"count\": %llu, \"seconds\": %.9f",
                r->name, (unsigned long long)r->live, (unsigned long long)r->count, r->seconds);
        if (!r->time_only)
            fprintf(file, ", \"ns\": %.2f, \"per_second\": %.0f",
                    r->seconds * 1e9 / (double)r->count, (double)r->count / r->seconds);
        for (unsigned d = 0; d < r->detail_count; d++)
            fprintf(file, ", \"%s\": %.10g", r->details[d].key, r->details[d].value);
        fprintf(file, "}%s\n", i + 1 < result_count ? "," : "");
    }
    fprintf(file, "  ]\n}\n");
    fclose(file);
}

static const struct {
    const char *name;
    void (*run)(void);
    const char *what;
} cases[] = {
    {"floors", bench_floors, "what the machine can do at best: calls, allocations, fiber switches"},
    {"first", bench_first_submission, "start of a process to its first completed submission"},
    {"submit", bench_submit,
     "empty commands through the full path, both engines, among live allocations"},
    {"queues", bench_queues, "empty commands for one hardware queue, and for eight in turn"},
    {"patch", bench_patches, "patch locations through Render, Patch and SubmitCommand"},
    {"patch-lists", bench_patch_locations,
     "the host's check of patch locations and a driver's Patch, beside a plain loop (W6)"},
    {"map", bench_map, "MapGpuVirtualAddress and FreeGpuVirtualAddress"},
    {"map-large", bench_map_large, "of these, 1 GiB by 4 KiB entries alone"},
    {"addresses", bench_addresses,
     "ranges of one space taken and given back (W1, WA, W2, W3), beside a plain tree"},
    {"addresses-large", bench_addresses_large,
     "the same with ten million ranges; needs 2 GiB of memory"},
    {"traps", bench_traps, "device registers through pointers, CR8, processor block, shared data"},
    {"contiguous", bench_contiguous, "AllocateContiguousMemory and FreeContiguousMemory"},
    {"iommu", bench_io_table, "IO page tables: runs of pages mapped and unmapped (W5)"},
    {"dma", bench_dma, "64 KiB transfers of a device, beside plain copying"},
    {"copy", bench_gpu_copy, "64 KiB copies by the GPU, beside plain copying"},
    {"displays", bench_displays,
     "modes, pictures and flips beside plain copying, by the number of outputs"},
    {"image", bench_image, "a Windows image to DriverEntry, and kernel services by import"},
    {"explore", bench_explore, "a switch of fibers; seeds a second, by workers"},
    {"frames", bench_frames, "runs of frames under constraints, 64 GiB nearly full (W4, W4u)"},
    {"frames-1t", bench_frames_1t, "the same with 1 TiB; needs 5 GiB of memory"},
    {"frame-sets", bench_frame_sets, "sets of single frames, 16 GiB at 75 % (W4s)"},
    {"frame-books", bench_frame_books, "what the books of 1 TiB with one allocation cost"},
};

static void usage(void)
{
    fputs("usage: dxgk-bench [--quick] [--cpu-time] [--json FILE] [--seed-base N] [CASE ...]\n",
          stderr);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        fprintf(stderr, "  %-12s %s\n", cases[i].name, cases[i].what);
    exit(2);
}

/* build/bench/dxgk-bench -> build/drivers/refgpu.so, build/devices/refgpu.so */
static void find_parts(void)
{
    static char driver[4096], device[4096];
    char self[3900];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash;

    if (length <= 0)
        bench_die("cannot find my own path");
    self[length] = 0;
    for (int up = 0; up < 2 && (slash = strrchr(self, '/')) != NULL; up++)
        *slash = 0;
    snprintf(driver, sizeof(driver), "%s/drivers/refgpu.so", self);
    snprintf(device, sizeof(device), "%s/devices/refgpu.so", self);
    bench_options.driver = driver;
    bench_options.device = device;
}

int main(int argc, char **argv)
{
    const char *json = NULL;
    bool chosen = false;

    find_parts();
    if (argc == 2 && strcmp(argv[1], "--first-submission-child") == 0)
        return bench_first_submission_child();
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) {
            bench_options.quick = true;
        } else if (strcmp(argv[i], "--cpu-time") == 0) {
            bench_options.cpu_time = true;
        } else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            json = argv[++i];
        } else if (strcmp(argv[i], "--seed-base") == 0 && i + 1 < argc) {
            bench_options.seed_base = strtoull(argv[++i], NULL, 0);
        } else if (argv[i][0] == '-') {
            usage();
        }
    }
    printf("%-36s %9s %15s %17s\n", "case", "live", "each", "rate");
    for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
        bool run = false, any = false;

        for (int i = 1; i < argc; i++) {
            if (argv[i][0] == '-') {
                i += strcmp(argv[i], "--quick") != 0 && strcmp(argv[i], "--cpu-time") != 0;
                continue;
            }
            any = true;
            run |= strcmp(argv[i], cases[c].name) == 0;
        }
        if (run || !any) {
            cases[c].run();
            chosen = true;
        }
    }
    if (!chosen)
        usage();
    if (json)
        write_json(json);
    return 0;
}
