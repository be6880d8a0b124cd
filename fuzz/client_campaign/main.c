/* SPDX-License-Identifier: MIT */
/*
 * The client campaign: machines with the reference GPU, each in a process of its own, with several client processes and threads that
 * make every exported call of the client interface with random arguments. Bar: the machine's process ends by itself, no rule is
 * broken but by clients, nothing leaks.
 *
 *     client_campaign BUILD_FOLDER [--calls N] [--each N] [--seed N] [--only MACHINE] [--list]
 *
 * --each: calls of one machine. Machine I of a seed is always the same. --list: how often each call was made and succeeded.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "dxgkhost/dxgkhost.h"
#include "dxgkhost/recorder.h"

#define LONGEST_S 300u

static struct {
    const char *build;
    uint64_t calls, each, seed, only;
    bool list, chosen;
} options = {.calls = 100000, .each = 20000, .seed = 1};

/* ---- in the machine's process ---- */

static void config_of(struct dxgk_machine_config *config, uint64_t machine,
                      struct dxgk_recorder *recorder)
{
    static const enum dxgk_iommu iommu[] = {DXGK_IOMMU_OFF, DXGK_IOMMU_OFF, DXGK_IOMMU_ISOLATION};

    dxgk_machine_config_init(config);
    config->seed = options.seed * 1000003 + machine;
    config->processors = 1 + (unsigned)(machine % 4);
    config->iommu = iommu[machine % 3];
    config->special_pool = machine % 5 == 4;
    config->stress = machine % 7 == 6;
    config->ram_bytes = (uint64_t)(machine % 2 ? 1 : 4) << 30;
    config->time_limit_ns = 600000000000u;
    config->recorder = recorder;
}

static void judge(struct dxgk_machine *machine, enum dxgk_result result,
                  struct client_results *results)
{
    struct dxgk_statistics s = {.size = sizeof(s)};
    struct dxgk_violation v;

    dxgk_machine_statistics(machine, &s);
    for (size_t i = 0; dxgk_machine_violation(machine, i, &v); i++)
        if (!v.client && (strcmp(v.severity, "error") == 0 || strcmp(v.severity, "bug check") == 0)) {
            snprintf(results->bad, sizeof(results->bad), "%s %s: %s (%s)", v.severity, v.rule,
                     v.seen, v.where);
            return;
        }
    if (s.bugcheck && !s.bugcheck_client)
        snprintf(results->bad, sizeof(results->bad), "bug check 0x%x", s.bugcheck_code);
    else if (s.leaks)
        snprintf(results->bad, sizeof(results->bad), "%" PRIu64 " leaks", s.leaks);
    else if (result == DXGK_ERROR || result == DXGK_OUT_OF_MEMORY)
        snprintf(results->bad, sizeof(results->bad), "the run ended with result %d", (int)result);
}

static void run_machine(uint64_t number, struct client_results *results,
                        struct dxgk_recorder *recorder)
{
    struct client_plan plan = {options.seed * 7919 + number, options.each, results};
    struct dxgk_machine_config config;
    char error[512] = "", path[4096];
    struct dxgk_machine *machine;
    enum dxgk_result result;

    config_of(&config, number, recorder);
    machine = dxgk_machine_create(&config, error, sizeof(error));
    snprintf(path, sizeof(path), "%s/devices/refgpu.so", options.build);
    if (!machine ||
        dxgk_machine_add_device(machine, path, NULL, 0, error, sizeof(error)) != DXGK_OK) {
        snprintf(results->bad, sizeof(results->bad), "no machine: %s", error);
        return;
    }
    snprintf(path, sizeof(path), "%s/drivers/refgpu.so", options.build);
    if (dxgk_machine_load_driver(machine, path, error, sizeof(error)) != DXGK_OK) {
        snprintf(results->bad, sizeof(results->bad), "no driver: %s", error);
        return;
    }
    result = dxgk_machine_run(machine, "clients", client_run, &plan);
    (void)dxgk_machine_shutdown(machine);
    judge(machine, result, results);
    dxgk_machine_destroy(machine);
}

/* ---- in the parent ---- */

static void tell_ending(const struct dxgk_recorder *recorder, int status, uint64_t number)
{
    struct dxgk_ending ending;
    struct dxgk_place place;

    printf("machine %" PRIu64 ": its process ended with %s %d", number,
           WIFSIGNALED(status) ? "signal" : "status",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    if (dxgk_recorder_ending(recorder, &ending))
        printf(" in %s\n%s", ending.place, ending.stack);
    if (dxgk_recorder_place(recorder, &place))
        printf(", in %s, thread %s, at %" PRIu64 " ns, while %s", place.call, place.thread,
               place.virtual_ns, place.doing);
    putchar('\n');
}

static void tell_last(const struct client_results *results)
{
    uint64_t count = results->calls < LAST_CALLS ? results->calls : LAST_CALLS;

    printf("  the last calls:");
    for (uint64_t i = results->calls - count; i < results->calls; i++)
        printf(" %s", call_at(results->last[i % LAST_CALLS])->name + 6);
    putchar('\n');
}

/* Returns whether all was well. */
static bool machine_in_process(uint64_t number, struct client_results *results)
{
    struct dxgk_recorder *recorder = dxgk_recorder_create();
    int status = 0;
    bool well;
    pid_t child;

    results->bad[0] = '\0';
    fflush(NULL);
    child = recorder ? fork() : -1;
    if (child == 0) {
        (void)dxgk_recorder_catch(recorder);
        alarm(LONGEST_S);
        run_machine(number, results, recorder);
        dxgk_recorder_release(recorder);
        exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        puts("no process for a machine");
        return false;
    }
    well = status == 0 && !results->bad[0];
    if (status)
        tell_ending(recorder, status, number);
    if (results->bad[0])
        printf("machine %" PRIu64 ": %s\n", number, results->bad);
    if (!well)
        tell_last(results);
    dxgk_recorder_destroy(recorder);
    return well;
}

static void print_list(const struct client_results *results)
{
    for (size_t i = 0; i < CALLS; i++)
        printf("%-52s %9" PRIu64 " %9" PRIu64 " %s\n", call_at(i)->name, results->made[i],
               results->succeeded[i], results->why[i]);
}

static unsigned never(const struct client_results *results)
{
    unsigned count = 0;

    for (size_t i = 0; i < CALLS; i++)
        count += !results->succeeded[i];
    return count;
}

static int usage(void)
{
    fputs(
        "usage: client_campaign BUILD_FOLDER [--calls N] [--each N] [--seed N] [--only MACHINE] [--list]\n",
        stderr);
    return 2;
}

static bool parse(int argc, char **argv)
{
    if (argc < 2)
        return false;
    options.build = argv[1];
    for (int i = 2; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        uint64_t number = strtoull(value, NULL, 0);

        if (strcmp(argv[i], "--list") == 0) {
            options.list = true;
            continue;
        }
        if (!*value)
            return false;
        if (strcmp(argv[i], "--calls") == 0)
            options.calls = number;
        else if (strcmp(argv[i], "--each") == 0)
            options.each = number;
        else if (strcmp(argv[i], "--seed") == 0)
            options.seed = number;
        else if (strcmp(argv[i], "--only") == 0) {
            options.only = number;
            options.chosen = true;
        } else
            return false;
        i++;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct client_results *results = mmap(NULL, sizeof(*results), PROT_READ | PROT_WRITE,
                                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    static struct client_results all;
    uint64_t machines = 0, bad = 0;
    time_t start = time(NULL);

    if (results == MAP_FAILED || !parse(argc, argv))
        return usage();
    for (uint64_t number = options.only; all.calls < options.calls; number++) {
        memset(results, 0, sizeof(*results));
        machines++;
        bad += !machine_in_process(number, results);
        all.calls += results->calls;
        for (size_t i = 0; i < CALLS; i++) {
            all.made[i] += results->made[i];
            all.succeeded[i] += results->succeeded[i];
            if (results->why[i][0])
                memcpy(all.why[i], results->why[i], sizeof(all.why[i]));
        }
        if (options.chosen || machines > 20 * (1 + options.calls / options.each))
            break;
    }
    if (options.list)
        print_list(&all);
    printf("client campaign, seed %" PRIu64 ": %" PRIu64 " calls of %u kinds on %" PRIu64
           " machines, %" PRIu64 " not well, %u kinds never succeeded, %lld s\n",
           options.seed, all.calls, CALLS, machines, bad, never(&all),
           (long long)(time(NULL) - start));
    return bad ? 1 : 0;
}
