/* SPDX-License-Identifier: MIT */
/* dxgkhost run: a machine, a device, a driver, a workload, a report. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/color.h"
#include "cli/debugger.h"
#include "cli/expected.h"
#include "cli/instruments.h"
#include "cli/pictures.h"
#include "cli/result.h"
#include "cli/results.h"
#include "cli/session.h"
#include "cli/shared.h"
#include "cli/supervise.h"
#include "cli/verdict.h"
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

/* Rules that the workload expects to be broken and were not. */
static void print_missed(const struct cli_session *session)
{
    const char *rule;

    for (size_t i = 0; (rule = cli_session_missed(session, i)) != NULL; i++)
        fprintf(stderr, "dxgkhost: a violation of %s was expected and did not happen\n", rule);
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

/* The number of the signal; says so. */
static int interrupted(const struct cli_session *session)
{
    int number = atomic_load(&session->options->shared->interrupt);

    number = number ? number : SIGINT; /* without a supervisor */
    fprintf(stderr, "dxgkhost: interrupted by SIG%s at %.6f ms\n", sigabbrev_np(number),
            (double)session->statistics.virtual_ns / 1e6);
    return number;
}

static void print_stop(const struct dxgk_statistics *s)
{
    fprintf(stderr,
            "dxgkhost: %s: bug check 0x%X (0x%" PRIX64 ", 0x%" PRIX64 ", 0x%" PRIX64 ", 0x%" PRIX64
            ")\n",
            s->bugcheck_client ? "a client stopped the machine" : "the driver was stopped",
            s->bugcheck_code, s->bugcheck_parameter[0], s->bugcheck_parameter[1],
            s->bugcheck_parameter[2], s->bugcheck_parameter[3]);
}

/* Why a workload did not pass. */
static void print_failure(const struct cli_session *session)
{
    const struct lua_workload *workload = &session->workload;

    if (session->result == DXGK_TIME_UP)
        fprintf(stderr, "dxgkhost: the limit of virtual time was reached\n");
    else if (!workload->passed && workload->message[0])
        fprintf(stderr, "dxgkhost: %s\n", workload->message);
    if (session->result == DXGK_TIME_UP || !workload->passed)
        print_refusals(session);
    if (session->power_error[0])
        fprintf(stderr, "dxgkhost: --power-cycle: %s\n", session->power_error);
}

/* What was wrong; returns the exit status of the run. */
static int judge(struct cli_session *session)
{
    const int status = cli_verdict(session);

    if (session->loaded != DXGK_OK) {
        fprintf(stderr, "dxgkhost: %s\n",
                session->error[0] ? session->error : "the driver could not be started");
        print_refusals(session);
    }
    print_violations(session);
    if (status == CLI_INTERRUPTED)
        return status + interrupted(session);
    if (session->loaded != DXGK_OK)
        return status;
    if (cli_session_stopped(session))
        print_stop(&session->statistics);
    else if (session->result == DXGK_DEADLOCK || session->ended == DXGK_DEADLOCK)
        fprintf(stderr, "dxgkhost: deadlock: every thread waits and nothing can happen any more\n");
    else
        print_failure(session);
    return status;
}

/* What else is counted against it. */
static void print_faults(const struct cli_session *session, int status)
{
    const struct dxgk_statistics *s = &session->statistics;
    const bool passed = session->result == DXGK_OK && session->workload.passed;

    if (status == CLI_BROKEN)
        fprintf(stderr, "dxgkhost: rules were broken (%" PRIu64 " violations, %" PRIu64 " leaks)\n",
                s->violations, s->leaks);
    if (status == CLI_BROKEN || status == CLI_STOPPED || (status == CLI_FAILED && passed))
        print_missed(session);
    if (status == CLI_FAILED && passed && cli_client_errors(session))
        fprintf(stderr, "dxgkhost: the workload broke rules for clients (%" PRIu64 " errors)\n",
                s->client_errors);
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
                                      .command = session->options->fuzzes ? "fuzz" : "run",
                                      .argc = session->options->argc,
                                      .argv = session->options->argv,
                                      .session = session,
                                      .status = status,
                                      .outcome = cli_outcome(status),
                                      .message = message,
                                      .wall_s = wall,
                                      .statistics = &session->statistics,
                                      .violation = violation_of_machine,
                                      .from = session->machine};

    say_outcome(session, message, sizeof(message));
    return cli_results_write(&result);
}

/* The text of --report. False, with a message: there is none. */
static bool print_reports(const struct cli_session *session)
{
    const char *name = cli_report_names[session->failed_report];

    if (session->report_text) {
        fputs(session->report_text, stdout);
        return true;
    }
    if (session->options->reports && session->report_error[0])
        fprintf(stderr, "dxgkhost: --report %s: %s\n", name, session->report_error);
    else if (session->options->reports)
        fprintf(stderr, "dxgkhost: %s: the %s report could not be written\n", session->options->out,
                name);
    return !session->options->reports;
}

/* False, with a message: something could not be written. */
static bool write_files(struct cli_session *session)
{
    bool all = print_reports(session);

    all &= cli_pictures_write(session);
    if (session->options->trace_file)
        all &= write_trace(session);
    if (session->options->dxgkrnl_file)
        all &= write_dxgkrnl(session);
    return all;
}

/* The last lines; returns the exit status. */
static int conclude(struct cli_session *session, double wall)
{
    bool tells = session->workload.finished || session->result == DXGK_INTERRUPTED;
    int status = judge(session);

    if (tells)
        print_report(session, wall);
    if (!write_files(session) && status == CLI_OK)
        status = CLI_HOST;
    print_faults(session, status);
    if (!write_results(session, status, wall) && status == CLI_OK)
        status = CLI_HOST;
    if (tells)
        printf("  %-22s %s%s%s%s%s\n", "result",
               cli_color(stdout, status == CLI_OK ? CLI_GREEN : CLI_RED),
               status == CLI_OK ? "PASS" : "FAIL", cli_color_end(stdout),
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
    if (!session.machine || session.bad_option) {
        const char *why = session.error[0] ? session.error : "the machine could not be built";

        fprintf(stderr, "dxgkhost: %s\n", why);
        status = session.bad_option ? CLI_USAGE : CLI_HOST;
        (void)cli_results_write_lost(options, status, why, false);
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
    int status = CLI_USAGE;

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
    if (!cli_options_ready(&options))
        return CLI_USAGE;
    if (options.debugger.gdb)
        return cli_debugger_run(&options, cli_option_wants_value);
    return cli_instruments_ready(options.driver) ? cli_run_options(&options) : CLI_HOST;
}
