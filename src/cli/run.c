/* SPDX-License-Identifier: MIT */
/* dxgkhost run: a machine, a device, a driver, a workload, a report. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "dxgkhost/dxgkhost.h"
#include "lua/lua_workload.h"

#define MAX_OPTIONS 64u

struct run {
    const char *driver, *workload, *device, *trace, *out;
    const char *set[MAX_OPTIONS];
    size_t sets;
    const char *device_set[MAX_OPTIONS];
    size_t device_sets;
    const char *severity[MAX_OPTIONS];
    size_t severities;
    bool verbose;
    struct dxgk_machine_config config;
    char vram[40], device_path[4096];
};

static int usage_error(const char *what, const char *value)
{
    fprintf(stderr, "dxgkhost: %s: %s\n", what, value);
    return CLI_USAGE;
}

static bool add(const char **list, size_t *count, const char *value)
{
    if (*count == MAX_OPTIONS || !strchr(value, '=') || *value == '=')
        return false;
    list[(*count)++] = value;
    return true;
}

static int parse_option(struct run *run, const char *name, const char *value)
{
    uint64_t number;

    if (strcmp(name, "--set") == 0)
        return add(run->set, &run->sets, value) ? CLI_OK
                                                : usage_error("--set wants key=value", value);
    if (strcmp(name, "--device-set") == 0)
        return add(run->device_set, &run->device_sets, value)
                   ? CLI_OK
                   : usage_error("--device-set wants key=value", value);
    if (strcmp(name, "--severity") == 0)
        return add(run->severity, &run->severities, value)
                   ? CLI_OK
                   : usage_error("--severity wants RULE=severity", value);
    if (strcmp(name, "--seed") == 0)
        return cli_parse_number(value, &run->config.seed)
                   ? CLI_OK
                   : usage_error("--seed wants a number", value);
    if (strcmp(name, "--ram") == 0)
        return cli_parse_size(value, &run->config.ram_bytes)
                   ? CLI_OK
                   : usage_error("--ram wants a size like 16G", value);
    if (strcmp(name, "--vram") == 0) {
        if (!cli_parse_size(value, &number))
            return usage_error("--vram wants a size like 32M", value);
        snprintf(run->vram, sizeof(run->vram), "vram=%" PRIu64, number);
        return add(run->device_set, &run->device_sets, run->vram)
                   ? CLI_OK
                   : usage_error("too many options", name);
    }
    if (strcmp(name, "--cpus") == 0) {
        if (!cli_parse_number(value, &number) || number < 1 || number > 64)
            return usage_error("--cpus wants 1 to 64", value);
        run->config.processors = (unsigned)number;
        return CLI_OK;
    }
    if (strcmp(name, "--fail-allocation") == 0)
        return cli_parse_number(value, &run->config.fail_allocation)
                   ? CLI_OK
                   : usage_error("--fail-allocation wants a number", value);
    if (strcmp(name, "--iommu") == 0)
        return cli_parse_iommu(value, &run->config.iommu)
                   ? CLI_OK
                   : usage_error("--iommu is off, isolation or remap", value);
    if (strcmp(name, "--trace") == 0)
        run->trace = value;
    else if (strcmp(name, "--out") == 0)
        run->out = value;
    else if (strcmp(name, "--device") == 0)
        run->device = value;
    else
        return usage_error("unknown option", name);
    return CLI_OK;
}

static int parse(struct run *run, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        int status;

        if (strncmp(argv[i], "--", 2) != 0) {
            if (!run->driver)
                run->driver = argv[i];
            else if (!run->workload)
                run->workload = argv[i];
            else
                return usage_error("one argument too many", argv[i]);
            continue;
        }
        if (strcmp(argv[i], "--strict") == 0) {
            run->config.strict = true;
            continue;
        }
        if (strcmp(argv[i], "--stub-missing") == 0) {
            run->config.stub_missing = true;
            continue;
        }
        if (strcmp(argv[i], "--verbose") == 0) {
            run->verbose = true;
            continue;
        }
        if (i + 1 == argc)
            return usage_error("this option wants a value", argv[i]);
        status = parse_option(run, argv[i], argv[i + 1]);
        if (status != CLI_OK)
            return status;
        i++;
    }
    if (!run->workload) {
        cli_usage();
        return CLI_USAGE;
    }
    return CLI_OK;
}

static void log_line(void *context, const char *line)
{
    const struct run *run = context;

    if (run->verbose)
        fprintf(stderr, "%s\n", line);
}

static bool set_severities(const struct run *run, struct dxgk_machine *machine)
{
    static const char *const names[] = {"note", "warning", "error", "bugcheck"};

    for (size_t i = 0; i < run->severities; i++) {
        char rule[32];
        const char *equals = strchr(run->severity[i], '=');
        int severity = -1;

        snprintf(rule, sizeof(rule), "%.*s", (int)(equals - run->severity[i]), run->severity[i]);
        for (int s = 0; s < 4; s++)
            if (strcmp(equals + 1, names[s]) == 0)
                severity = s;
        if (severity < 0 || !dxgk_machine_set_severity(machine, rule, severity)) {
            fprintf(stderr, "dxgkhost: --severity %s: no such rule or severity\n", run->severity[i]);
            return false;
        }
    }
    return true;
}

static void row(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void row(const char *name, const char *format, ...)
{
    va_list arguments;

    printf("  %-22s ", name);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

static bool is_expected(const struct lua_workload *workload, const char *rule)
{
    for (size_t i = 0; i < workload->expected; i++)
        if (strcmp(workload->expect[i], rule) == 0)
            return true;
    return false;
}

/* Broken rules that the workload did not provoke on purpose, plus those that it did and that did not show. */
static uint64_t unexpected(const struct dxgk_machine *machine, const struct lua_workload *workload)
{
    size_t count = dxgk_machine_violations(machine);
    uint64_t wrong = 0;

    for (size_t i = 0; i < count; i++) {
        struct dxgk_violation v;

        if (dxgk_machine_violation(machine, i, &v) &&
            (strcmp(v.severity, "error") == 0 || strcmp(v.severity, "bug check") == 0))
            wrong += is_expected(workload, v.rule) ? 0 : v.count;
    }
    for (size_t e = 0; e < workload->expected; e++) {
        bool shown = false;

        for (size_t i = 0; i < count; i++) {
            struct dxgk_violation v;

            shown |= dxgk_machine_violation(machine, i, &v) &&
                     strcmp(v.rule, workload->expect[e]) == 0;
        }
        if (!shown) {
            fprintf(stderr, "dxgkhost: a violation of %s was expected and did not happen\n",
                    workload->expect[e]);
            wrong++;
        }
    }
    return wrong;
}

static void print_violations(const struct dxgk_machine *machine, const struct lua_workload *workload)
{
    size_t count = dxgk_machine_violations(machine);

    for (size_t i = 0; i < count; i++) {
        struct dxgk_violation v;

        if (!dxgk_machine_violation(machine, i, &v) || strcmp(v.severity, "note") == 0)
            continue;
        fprintf(stderr, "dxgkhost: %s%s %s: %s\n",
                workload && is_expected(workload, v.rule) ? "expected " : "", v.severity, v.rule,
                v.seen);
        if (v.where && v.where[0])
            fprintf(stderr, "          in %s, thread %s, at %.6f ms%s\n", v.where, v.thread,
                    (double)v.virtual_ns / 1e6, v.count > 1 ? ", repeatedly" : "");
    }
}

static void print_report(const struct run *run, const struct dxgk_machine *machine,
                         const struct lua_workload *workload, double wall)
{
    static const char *const modes[] = {"off", "isolation", "remap"};
    struct dxgk_statistics s = {.size = sizeof(s)};

    dxgk_machine_statistics(machine, &s);
    printf("dxgkhost run %s %s\n", run->driver, run->workload);
    row("seed", "%" PRIu64 ", %u processors, IOMMU %s", run->config.seed, run->config.processors,
        modes[run->config.iommu]);
    for (size_t i = 0; i < workload->rows; i++)
        row(workload->row[i].name, "%s", workload->row[i].value);
    row("submissions", "%" PRIu64 " (and %" PRIu64 " paging)", s.submissions, s.paging_submissions);
    row("patches applied", "%" PRIu64, s.patches);
    row("page-table updates", "%" PRIu64 " entries", s.page_table_updates);
    row("paged in / out", "%.1f / %.1f MiB, %" PRIu64 " evictions",
        (double)s.bytes_paged_in / 1048576.0, (double)s.bytes_paged_out / 1048576.0, s.evictions);
    row("IOMMU", "%" PRIu64 " pages mapped, %" PRIu64 " faults", s.iommu_maps, s.iommu_faults);
    row("interrupts", "%" PRIu64, s.interrupts);
    row("DDI calls", "%" PRIu64, s.ddi_calls);
    if (s.engine_resets || s.adapter_resets || s.preemptions)
        row("recovery",
            "%" PRIu64 " preemptions, %" PRIu64 " engine resets, %" PRIu64 " adapter resets",
            s.preemptions, s.engine_resets, s.adapter_resets);
    row("time", "%.3f ms virtual, %.0f ms wall", (double)s.virtual_ns / 1e6, wall * 1e3);
    row("violations", "%" PRIu64 " (%" PRIu64 " warnings)", s.violations, s.warnings);
    row("leaks", "%" PRIu64, s.leaks);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Takes the file. */
static bool write_trace(const struct run *run, const struct dxgk_machine *machine, FILE *file)
{
    bool written = dxgk_machine_write_trace(machine, file);

    if (fclose(file) != 0 || !written) {
        fprintf(stderr, "dxgkhost: %s: writing the trace failed\n", run->trace);
        return false;
    }
    return true;
}

/* From a machine to an exit status. */
static int run_machine(struct run *run, struct dxgk_machine *machine, struct lua_workload *workload)
{
    char error[4096] = "";
    struct dxgk_statistics s = {.size = sizeof(s)};
    enum dxgk_result result, ended;

    if (!set_severities(run, machine))
        return CLI_USAGE;
    result = dxgk_machine_add_device(machine, run->device, run->device_set, run->device_sets, error,
                                     sizeof(error));
    if (result == DXGK_OK)
        result = dxgk_machine_load_driver(machine, run->driver, error, sizeof(error));
    if (result != DXGK_OK) {
        fprintf(stderr, "dxgkhost: %s\n", error[0] ? error : "the driver could not be started");
        dxgk_machine_shutdown(machine);
        if (result == DXGK_DRIVER_STOPPED)
            print_violations(machine, workload);
        return result == DXGK_DRIVER_STOPPED ? CLI_DRIVER : CLI_ERROR;
    }
    result = dxgk_machine_run(machine, "workload", lua_workload_run, workload);
    ended = dxgk_machine_shutdown(machine);
    dxgk_machine_statistics(machine, &s);
    print_violations(machine, workload);
    if (result == DXGK_DRIVER_STOPPED || ended == DXGK_DRIVER_STOPPED || s.bugcheck) {
        fprintf(stderr,
                "dxgkhost: the driver was stopped: bug check 0x%X (0x%" PRIX64 ", 0x%" PRIX64
                ", 0x%" PRIX64 ", 0x%" PRIX64 ")\n",
                s.bugcheck_code, s.bugcheck_parameter[0], s.bugcheck_parameter[1],
                s.bugcheck_parameter[2], s.bugcheck_parameter[3]);
        return CLI_DRIVER;
    }
    if (result == DXGK_DEADLOCK)
        fprintf(stderr, "dxgkhost: deadlock: every thread waits and nothing can happen any more\n");
    else if (result == DXGK_TIME_UP)
        fprintf(stderr, "dxgkhost: the limit of virtual time was reached\n");
    else if (!workload->passed && workload->message[0])
        fprintf(stderr, "dxgkhost: %s\n", workload->message);
    return result == DXGK_OK && workload->finished && workload->passed ? CLI_OK : CLI_ERROR;
}

static bool complain(const char *file)
{
    fprintf(stderr, "dxgkhost: %s: %s\n", file, strerror(errno));
    return false;
}

/* What can be known to fail does so before the run, not after it. */
static bool files_ready(struct run *run, FILE **trace)
{
    if (access(run->driver, R_OK) != 0)
        return complain(run->driver);
    if (access(run->workload, R_OK) != 0)
        return complain(run->workload);
    if (mkdir(run->out, 0777) != 0 && errno != EEXIST)
        return complain(run->out);
    if (!run->device) {
        run->device = run->device_path;
        if (!cli_default_device(run->driver, run->device_path, sizeof(run->device_path))) {
            fprintf(stderr, "dxgkhost: no device model at %s: name one with --device\n",
                    run->device);
            return false;
        }
    } else if (access(run->device, R_OK) != 0) {
        return complain(run->device);
    }
    if (run->trace && !(*trace = fopen(run->trace, "w")))
        return complain(run->trace);
    return true;
}

int cli_run(int argc, char **argv)
{
    struct run run = {.out = "out"};
    struct lua_workload workload = {0};
    struct dxgk_machine *machine;
    struct dxgk_statistics s = {.size = sizeof(s)};
    char error[512] = "";
    double start = now();
    FILE *trace = NULL;
    int status;

    dxgk_machine_config_init(&run.config);
    status = parse(&run, argc, argv);
    if (status != CLI_OK)
        return status;
    if (!files_ready(&run, &trace))
        return CLI_ERROR;
    run.config.trace = run.trace != NULL;
    run.config.log = log_line;
    run.config.log_context = &run;
    machine = dxgk_machine_create(&run.config, error, sizeof(error));
    if (!machine) {
        fprintf(stderr, "dxgkhost: %s\n", error[0] ? error : "the machine could not be built");
        if (trace)
            fclose(trace);
        return CLI_ERROR;
    }
    workload.file = run.workload;
    workload.machine = machine;
    workload.out = run.out;
    workload.option = run.set;
    workload.option_count = run.sets;
    workload.progress = isatty(STDERR_FILENO);
    status = run_machine(&run, machine, &workload);
    if (status != CLI_USAGE && workload.finished)
        print_report(&run, machine, &workload, now() - start);
    if (trace && !write_trace(&run, machine, trace) && status == CLI_OK)
        status = CLI_ERROR;
    dxgk_machine_statistics(machine, &s);
    if (status == CLI_OK && (unexpected(machine, &workload) || s.leaks)) {
        fprintf(stderr, "dxgkhost: rules were broken (%" PRIu64 " violations, %" PRIu64 " leaks)\n",
                s.violations, s.leaks);
        status = CLI_DRIVER;
    }
    if (workload.finished)
        printf("  %-22s %s%s%s\n", "result", status == CLI_OK ? "PASS" : "FAIL",
               workload.message[0] ? ": " : "", workload.message);
    dxgk_machine_destroy(machine);
    return status;
}
