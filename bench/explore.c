/* SPDX-License-Identifier: MIT */
/* Many machines: what a switch of fibers costs, and how many seeds dxgkhost explore gets through. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"
#include "sim/fiber.h"

/* ---- fibers ---- */

struct ring {
    struct fiber host, fiber[2];
    uint64_t left;
};

static void pass_on(void *argument)
{
    struct ring *ring = argument;

    for (;;) {
        if (ring->left-- == 0)
            fiber_switch(&ring->fiber[0], &ring->host, false);
        fiber_switch(&ring->fiber[0], &ring->fiber[1], false);
    }
}

static void pass_back(void *argument)
{
    struct ring *ring = argument;

    for (;;)
        fiber_switch(&ring->fiber[1], &ring->fiber[0], false);
}

static void switches(void)
{
    struct ring ring = {.left = bench_options.quick ? 100000 : 20000000};
    uint64_t count = 2 * ring.left;
    double start;

    if (!fiber_init(&ring.fiber[0], 65536) || !fiber_init(&ring.fiber[1], 65536))
        bench_die("no stack");
    fiber_prepare(&ring.fiber[0], pass_on, &ring);
    fiber_prepare(&ring.fiber[1], pass_back, &ring);
    start = bench_now();
    fiber_switch(&ring.host, &ring.fiber[0], false);
    bench_result("fiber switch", 0, count, bench_now() - start);
    fiber_finish(&ring.fiber[0]);
    fiber_finish(&ring.fiber[1]);
}

/* ---- seeds ---- */

/* Of the children that have ended, in seconds. */
static double children_cpu(void)
{
    struct rusage usage;

    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* Seconds that the program says it took; with --cpu-time those of the processors, its start and end included: the same for
 * any number of workers if they do not stand in each other's way. */
static double campaign(const char *program, const char *workload, unsigned seeds, long workers)
{
    char command[4096 + 512], line[512];
    double seconds = -1, before = children_cpu();
    FILE *result;

    snprintf(command, sizeof(command),
             "'%s' explore '%s' '%s' --device '%s' --out /tmp --seeds %llu..%llu -j%ld --json - "
             "2>/dev/null",
             program, bench_options.driver, workload, bench_options.device,
             (unsigned long long)bench_options.seed_base + 1,
             (unsigned long long)bench_options.seed_base + seeds, workers);
    result = popen(command, "r"); // NOLINT(cert-env33-c): our own words
    while (result && fgets(line, sizeof(line), result)) {
        const char *found = strstr(line, "\"seconds\": ");

        if (found)
            seconds = strtod(found + strlen("\"seconds\": "), NULL);
    }
    if (!result || pclose(result) != 0 || seconds <= 0)
        bench_die("%s failed", command);
    return bench_options.cpu_time ? children_cpu() - before : seconds;
}

static void write_workload(char *name)
{
    int file = mkstemps(name, 4);

    if (file < 0 || write(file, "return true\n", 12) != 12)
        bench_die("no file for the workload");
    close(file);
}

void bench_explore(void)
{
    unsigned seeds = bench_options.quick ? 20 : 2000;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    char workload[] = "/tmp/dxgk-bench-XXXXXX.lua";
    char program[4096], name[64];
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 16);

    switches();
    program[length > 0 ? length : 0] = '\0';
    if (!strchr(program, '/'))
        bench_die("no path of my own");
    *strrchr(program, '/') = '\0';
    strcat(program, "/../dxgkhost");
    write_workload(workload);
    for (long workers = 1;; workers = workers * 2 < processors ? workers * 2 : processors) {
        snprintf(name, sizeof(name), "explore: start and stop, -j%ld", workers);
        bench_result(name, 0, seeds, campaign(program, workload, seeds, workers));
        if (workers >= processors)
            break;
    }
    unlink(workload);
}
