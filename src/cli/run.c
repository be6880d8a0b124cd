/* SPDX-License-Identifier: MIT */
/* dxgkhost run: a machine, a device, a driver, a workload, a report. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/expected.h"
#include "cli/pictures.h"
#include "cli/result.h"
#include "cli/results.h"
#include "cli/session.h"
#include "cli/shared.h"
#include "cli/supervise.h"
#include "cli/violations.h"

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

/* Rules that the driver broke and the workload does not expect. */
static uint64_t unexpected(const struct cli_session *session)
{
    struct dxgk_violation v;
    uint64_t count = 0;

    for (size_t i = 0; dxgk_machine_violation(session->machine, i, &v); i++)
        count += cli_session_unexpected(session, &v) ? v.count : 0;
    return count;
}

/* The driver's fault comes before that of the workload (docs/robustness.md). What refused the
 * adapter is not a fault of the run: there was none. */
static bool driver_at_fault(const struct cli_session *session)
{
    struct dxgk_violation v;
    uint64_t refusing = 0;

    if (session->loaded != DXGK_OK)
        for (size_t i = 0; dxgk_machine_violation(session->machine, i, &v); i++)
            refusing += v.refuses && cli_session_unexpected(session, &v) ? v.count : 0;
    return unexpected(session) > refusing || session->statistics.leaks;
}

/* Whether the workload expects rules to be broken that were not; each is told. */
static bool waited_in_vain(const struct cli_session *session)
{
    const char *rule;
    size_t count = 0;

    for (; (rule = cli_session_missed(session, count)) != NULL; count++)
        fprintf(stderr, "dxgkhost: a violation of %s was expected and did not happen\n", rule);
    return count > 0;
}

/* Rules that clients broke and the workload does not expect. A fuzzer is expected to. */
static uint64_t client_errors(const struct cli_session *session)
{
    struct dxgk_violation v;
    uint64_t count = 0;

    if (session->options->fuzzes)
        return 0;
    for (size_t i = 0; dxgk_machine_violation(session->machine, i, &v); i++)
        count += cli_session_client_error(session, &v) ? v.count : 0;
    return count;
}

static void print_report(const struct cli_session *session, double wall)
{
    const struct cli_options *options = session->options;
    const struct lua_workload *workload = &session->workload;
    const struct dxgk_statistics *s = &session->statistics;

    printf("dxgkhost %s %s %s\n", options->fuzzes ? "fuzz" : "run", options->driver,
           options->workload);
    row("seed", "%" PRIu64 ", %u processors, IOMMU %s", options->config.seed,
        options->config.processors, options->iommu ? options->iommu : "off");
    for (size_t i = 0; i < workload->rows; i++)
        row(workload->row[i].name, "%s", workload->row[i].value);
    row("submissions", "%" PRIu64 " (and %" PRIu64 " paging)", s->submissions,
        s->paging_submissions);
    row("patches applied", "%" PRIu64, s->patches);
    row("page-table updates", "%" PRIu64 " entries", s->page_table_updates);
    row("paged in / out", "%.1f / %.1f MiB, %" PRIu64 " evictions",
        (double)s->bytes_paged_in / 1048576.0, (double)s->bytes_paged_out / 1048576.0, s->evictions);
    row("IOMMU", "%" PRIu64 " pages mapped, %" PRIu64 " faults", s->iommu_maps, s->iommu_faults);
    row("interrupts", "%" PRIu64, s->interrupts);
    row("DDI calls", "%" PRIu64, s->ddi_calls);
    if (s->engine_resets || s->adapter_resets || s->preemptions)
        row("recovery",
            "%" PRIu64 " preemptions, %" PRIu64 " engine resets, %" PRIu64 " adapter resets",
            s->preemptions, s->engine_resets, s->adapter_resets);
    if (options->power_cycle_ns)
        row("losses of power", "%" PRIu64, session->power_cycles);
    row("time", "%.3f ms virtual, %.0f ms wall", (double)s->virtual_ns / 1e6, wall * 1e3);
    if (session->tables_checked)
        row("page tables", "%" PRIu64 " entries of %" PRIu64 " tables compared, %" PRIu64 " wrong",
            session->tables.entries, session->tables.tables, session->tables.wrong);
    else if (options->config.check_page_tables)
        row("page tables", "not compared: there are none, or their format is not known");
    row("violations", "%" PRIu64 " (%" PRIu64 " warnings)", s->violations, s->warnings);
    if (s->client_errors)
        row("client errors", "%" PRIu64, s->client_errors);
    row("leaks", "%" PRIu64, s->leaks);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool write_trace(const struct cli_session *session)
{
    FILE *file = session->options->trace_file;
    bool written = dxgk_machine_write_trace(session->machine, file);

    if (fflush(file) != 0 || !written) {
        fprintf(stderr, "dxgkhost: %s: writing the trace failed\n", session->options->trace);
        return false;
    }
    return true;
}

static bool write_dxgkrnl(const struct cli_session *session)
{
    const struct cli_options *options = session->options;
    bool written = dxgk_machine_write_dxgkrnl(session->machine, options->dxgkrnl_form,
                                              options->dxgkrnl_file);

    if (fflush(options->dxgkrnl_file) != 0 || !written) {
        fprintf(stderr, "dxgkhost: %s: writing the trace failed\n", options->trace_dxgkrnl);
        return false;
    }
    return true;
}

/* What failed for the driver before it gave up, or for the workload at last, unless its message
 * says so already. With --verbose all were printed when they happened. */
static void print_refusals(const struct cli_session *session)
{
    if (session->options->verbose)
        return;
    for (size_t i = 0; i < session->refusals; i++) {
        const char *reason = strstr(session->refused[i], ": ");

        if (!reason || !strstr(session->workload.message, reason + 2))
            fprintf(stderr, "dxgkhost: before that, %s\n", session->refused[i]);
    }
}

static void print_violations(struct cli_session *session)
{
    const char *waits = dxgk_machine_waits(session->machine);

    cli_print_held_violations(session);
    cli_print_repetitions(session);
    if (waits)
        fputs(waits, stderr);
}

static int interrupted(const struct cli_session *session)
{
    int number = atomic_load(&session->options->shared->interrupt);

    number = number ? number : SIGINT; /* without a supervisor */
    fprintf(stderr, "dxgkhost: interrupted by SIG%s at %.6f ms\n", sigabbrev_np(number),
            (double)session->statistics.virtual_ns / 1e6);
    return 128 + number;
}

/* The exit status of the run; prints what was wrong. */
static int judge(struct cli_session *session)
{
    const struct dxgk_statistics *s = &session->statistics;
    const struct lua_workload *workload = &session->workload;

    if (session->loaded != DXGK_OK) {
        fprintf(stderr, "dxgkhost: %s\n",
                session->error[0] ? session->error : "the driver could not be started");
        print_refusals(session);
        print_violations(session);
        if (session->loaded == DXGK_INTERRUPTED)
            return interrupted(session);
        return session->loaded == DXGK_DRIVER_STOPPED || session->loaded == DXGK_DEADLOCK
                   ? CLI_DRIVER
                   : CLI_ERROR;
    }
    print_violations(session);
    if (cli_session_stopped(session)) {
        fprintf(stderr,
                "dxgkhost: %s: bug check 0x%X (0x%" PRIX64 ", 0x%" PRIX64 ", 0x%" PRIX64
                ", 0x%" PRIX64 ")\n",
                s->bugcheck_client ? "a client stopped the machine" : "the driver was stopped",
                s->bugcheck_code, s->bugcheck_parameter[0], s->bugcheck_parameter[1],
                s->bugcheck_parameter[2], s->bugcheck_parameter[3]);
        return s->bugcheck_client && !unexpected(session) ? CLI_ERROR : CLI_DRIVER;
    }
    if (session->result == DXGK_INTERRUPTED || session->ended == DXGK_INTERRUPTED)
        return interrupted(session);
    if (session->result == DXGK_DEADLOCK || session->ended == DXGK_DEADLOCK) {
        fprintf(stderr, "dxgkhost: deadlock: every thread waits and nothing can happen any more\n");
        return CLI_DRIVER;
    }
    if (session->result == DXGK_TIME_UP)
        fprintf(stderr, "dxgkhost: the limit of virtual time was reached\n");
    else if (!workload->passed && workload->message[0])
        fprintf(stderr, "dxgkhost: %s\n", workload->message);
    if (session->result == DXGK_TIME_UP || !workload->passed)
        print_refusals(session);
    if (session->power_error[0]) {
        fprintf(stderr, "dxgkhost: --power-cycle: %s\n", session->power_error);
        return CLI_ERROR;
    }
    return session->result == DXGK_OK && workload->finished && workload->passed ? CLI_OK : CLI_ERROR;
}

/* ---- results for programs ---- */

static void say_outcome(const struct cli_session *session, char *text, size_t bytes)
{
    const struct dxgk_statistics *s = &session->statistics;
    const char *missed = cli_session_missed(session, 0);

    if (session->loaded != DXGK_OK)
        snprintf(text, bytes, "%s",
                 session->error[0] ? session->error : "the driver could not be started");
    else if (cli_session_stopped(session))
        snprintf(text, bytes,
                 "bug check 0x%X (0x%" PRIX64 ", 0x%" PRIX64 ", 0x%" PRIX64 ", 0x%" PRIX64 ")",
                 s->bugcheck_code, s->bugcheck_parameter[0], s->bugcheck_parameter[1],
                 s->bugcheck_parameter[2], s->bugcheck_parameter[3]);
    else if (session->result == DXGK_INTERRUPTED || session->ended == DXGK_INTERRUPTED)
        snprintf(text, bytes, "interrupted");
    else if (session->result == DXGK_DEADLOCK || session->ended == DXGK_DEADLOCK)
        snprintf(text, bytes, "deadlock: every thread waits");
    else if (session->result == DXGK_TIME_UP)
        snprintf(text, bytes, "the limit of virtual time was reached");
    else if (session->power_error[0])
        snprintf(text, bytes, "--power-cycle: %s", session->power_error);
    else if (session->workload.passed && missed)
        snprintf(text, bytes, "a violation of %s was expected and did not happen", missed);
    else
        snprintf(text, bytes, "%s", session->workload.message);
}

static bool violation_of_machine(const void *machine, size_t index, struct dxgk_violation *violation)
{
    return dxgk_machine_violation(machine, index, violation);
}

static bool write_results(const struct cli_session *session, int status, double wall)
{
    char message[4096];
    const struct cli_result result = {.options = session->options,
                                      .session = session,
                                      .status = status,
                                      .outcome = cli_outcome(session, status),
                                      .message = message,
                                      .wall_s = wall,
                                      .statistics = &session->statistics,
                                      .violation = violation_of_machine,
                                      .from = session->machine};

    say_outcome(session, message, sizeof(message));
    return cli_results_write(&result);
}

/* The last lines; returns the exit status. */
static int conclude(struct cli_session *session, double wall)
{
    const struct cli_options *options = session->options;
    int status = judge(session);
    bool tells = session->workload.finished || session->result == DXGK_INTERRUPTED;

    if (tells)
        print_report(session, wall);
    if (session->report_text)
        fputs(session->report_text, stdout);
    else if (options->reports) {
        if (session->report_error[0])
            fprintf(stderr, "dxgkhost: --report %s: %s\n", cli_report_names[session->failed_report],
                    session->report_error);
        else
            fprintf(stderr, "dxgkhost: %s: the %s report could not be written\n", options->out,
                    cli_report_names[session->failed_report]);
        status = status == CLI_OK ? CLI_ERROR : status;
    }
    if (!cli_pictures_write(session) && status == CLI_OK)
        status = CLI_ERROR;
    if (options->trace_file && !write_trace(session) && status == CLI_OK)
        status = CLI_ERROR;
    if (options->dxgkrnl_file && !write_dxgkrnl(session) && status == CLI_OK)
        status = CLI_ERROR;
    if ((status == CLI_OK || status == CLI_ERROR) && driver_at_fault(session)) {
        fprintf(stderr, "dxgkhost: rules were broken (%" PRIu64 " violations, %" PRIu64 " leaks)\n",
                session->statistics.violations, session->statistics.leaks);
        status = CLI_DRIVER;
    }
    if ((status == CLI_OK || status == CLI_DRIVER) && waited_in_vain(session) && status == CLI_OK)
        status = CLI_ERROR;
    if (status == CLI_OK && client_errors(session)) {
        fprintf(stderr, "dxgkhost: the workload broke rules for clients (%" PRIu64 " errors)\n",
                session->statistics.client_errors);
        status = CLI_ERROR;
    }
    if (!write_results(session, status, wall) && status == CLI_OK)
        status = CLI_ERROR;
    if (tells)
        printf("  %-22s %s%s%s\n", "result", status == CLI_OK ? "PASS" : "FAIL",
               session->workload.message[0] ? ": " : "", session->workload.message);
    return status;
}

/* In the process of the machine. */
static int run(struct cli_options *options)
{
    struct cli_session session;
    double start = now();
    int status;

    atomic_store(&options->shared->runs, true);
    cli_session_run(&session, options);
    atomic_store(&options->shared->runs, false);
    cli_clear_line(options->shared);
    if (!session.machine || session.bad_severity) {
        const char *why = session.error[0] ? session.error : "the machine could not be built";

        fprintf(stderr, "dxgkhost: %s\n", why);
        status = session.bad_severity ? CLI_USAGE : CLI_ERROR;
        (void)cli_results_write_lost(options, status, why);
    } else {
        status = conclude(&session, now() - start);
    }
    atomic_store(&options->shared->runs, true); /* code of the driver and the model runs again */
    cli_session_finish(&session);
    atomic_store(&options->shared->runs, false);
    return status;
}

/* A file for what the run leaves, if one was asked for. False, with a message: it cannot be. */
static bool open_result(const char *path, FILE **file)
{
    *file = path ? fopen(path, "w") : NULL;
    if (path && !*file)
        fprintf(stderr, "dxgkhost: %s: %s\n", path, strerror(errno));
    return !path || *file;
}

int cli_run_options(struct cli_options *options)
{
    int status = CLI_ERROR;

    if (open_result(options->trace, &options->trace_file) &&
        open_result(options->trace_dxgkrnl, &options->dxgkrnl_file) && cli_results_open(options))
        status = cli_supervise(options, run);
    if (options->trace_file)
        fclose(options->trace_file);
    if (options->dxgkrnl_file)
        fclose(options->dxgkrnl_file);
    cli_results_close(options);
    return status;
}

int cli_run(int argc, char **argv)
{
    struct cli_options options;
    int status = cli_options_parse(&options, argc, argv);

    if (status != CLI_OK)
        return status;
    return cli_options_ready(&options) ? cli_run_options(&options) : CLI_ERROR;
}
