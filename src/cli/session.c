/* SPDX-License-Identifier: MIT */
/* A machine from its creation to its shutdown, as options describe it. */
#include "cli/session.h"
#include "cli/interrupt.h"
#include "cli/monitors.h"
#include "cli/page_parts.h"
#include "cli/pictures.h"
#include "cli/reports.h"
#include "cli/severity.h"
#include "cli/shared.h"
#include "cli/violations.h"
#include "cli/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void keep_line(const struct cli_session *session, const char *line)
{
    if (session->options->result[CLI_RESULT_HTML].path && session->options->shared)
        cli_log_add(&session->options->shared->log, line);
}

static void log_line(void *context, const char *line)
{
    const struct cli_session *session = context;

    keep_line(session, line);
    if (!session->options->verbose)
        return;
    cli_clear_line(session->options->shared);
    fprintf(stderr, "%s\n", line);
}

/* Printed in any case: who loses a device must know why. */
static void loss_line(void *context, const char *line)
{
    const struct cli_session *session = context;

    keep_line(session, line);
    cli_clear_line(session->options->shared);
    fprintf(stderr, "%s\n", line);
}

static void violation(void *context, const struct dxgk_violation *v)
{
    cli_violation_happened(context, v);
}

/* ---- losses of power beside the workload ---- */

/* After this many cycles without any submission in between, power cycling stops, so that a run that
 * hangs can end. */
#define IDLE_CYCLES 100u

static uint64_t submissions(const struct cli_session *session)
{
    struct dxgk_statistics s = {.size = sizeof(s)};

    dxgk_machine_statistics(session->machine, &s);
    return s.submissions;
}

static bool set_power(struct cli_session *session, unsigned state)
{
    return dxgk_client_set_power(state, DXGK_POWER_SLEEP, session->power_error,
                                 sizeof(session->power_error)) == DXGK_OK;
}

/* Runs as a client process of its own until the workload ends. */
static void cycle_power(void *argument)
{
    struct cli_session *session = argument;
    uint64_t seen = 0;

    for (unsigned idle = 0; idle < IDLE_CYCLES; idle++) {
        dxgk_client_sleep(session->options->power_cycle_ns);
        if (session->workload_over)
            return;
        if (submissions(session) != seen)
            idle = 0;
        seen = submissions(session);
        if (!set_power(session, 3) || !set_power(session, 0))
            return;
        session->power_cycles++;
    }
}

static void run_workload(void *argument)
{
    struct cli_session *session = argument;

    if (session->options->power_cycle_ns && !dxgk_client_process("power", cycle_power, session))
        snprintf(session->power_error, sizeof(session->power_error), "out of memory");
    if (session->options->client) {
        session->options->client(session);
        session->workload.finished = session->workload.passed = true;
    } else {
        lua_workload_run(&session->workload);
    }
    if (session->options->config.check_page_tables)
        session->tables_checked = dxgk_machine_check_page_tables(session->machine, &session->tables);
    session->workload_over = true;
}

/* ---- calls that failed ---- */

/* The last ones of the client interface, or of drivers, at most `most`. */
static void keep_refusals(struct cli_session *session, bool clients, size_t most)
{
    size_t back[CLI_REFUSALS];
    struct dxgk_refusal r;

    session->refusals = 0;
    for (size_t i = 0; session->refusals < most && dxgk_machine_refusal(session->machine, i, &r);
         i++)
        if (clients == (strncmp(r.call, "D3DKMT", 6) == 0))
            back[session->refusals++] = i;
    for (size_t i = 0; i < session->refusals; i++) {
        (void)dxgk_machine_refusal(session->machine, back[session->refusals - 1 - i], &r);
        snprintf(session->refused[i], sizeof(session->refused[i]), "%s failed with %s: %s%s%s%s",
                 r.call, r.status, r.reason, r.rule[0] ? " (" : "", r.rule, r.rule[0] ? ")" : "");
    }
}

/* ---- the run ---- */

static void run(struct cli_session *session)
{
    const struct cli_options *options = session->options;
    struct dxgk_machine *machine = session->machine;

    session->loaded = DXGK_OK;
    session->starting = true;
    if (options->registry)
        session->loaded = dxgk_machine_load_registry(machine, options->registry, session->error,
                                                     sizeof(session->error));
    session->bad_option = session->loaded != DXGK_OK;
    if (session->loaded == DXGK_OK)
        session->loaded = dxgk_machine_add_device(machine, options->device, options->device_set,
                                                  options->device_sets, session->error,
                                                  sizeof(session->error));
    if (session->loaded == DXGK_OK) {
        session->loaded = cli_plug_monitors(machine, options, session->error,
                                            sizeof(session->error));
        session->bad_option = session->loaded != DXGK_OK;
    }
    if (session->loaded == DXGK_OK)
        session->loaded = dxgk_machine_load_driver(machine, options->driver, session->error,
                                                   sizeof(session->error));
    session->starting = false;
    if (session->loaded == DXGK_OK) {
        cli_print_held_violations(session);
        session->result = dxgk_machine_run(machine, "workload", run_workload, session);
        keep_refusals(session, true, 1);
    } else {
        keep_refusals(session, false, CLI_REFUSALS);
    }
    if (options->reports && !cli_reports_keep(session)) {
        free(session->report_text);
        session->report_text = NULL;
    }
    cli_page_keep(session);
    cli_pictures_end(session);
    cli_watch_end(session);
    session->ended = dxgk_machine_shutdown(machine);
    dxgk_machine_statistics(machine, &session->statistics);
}

void cli_session_run(struct cli_session *session, const struct cli_options *options)
{
    struct dxgk_machine_config config = options->config;

    memset(session, 0, sizeof(*session));
    session->options = options;
    session->statistics.size = sizeof(session->statistics);
    session->loaded = session->result = session->ended = DXGK_ERROR;
    config.log = log_line;
    config.log_context = session;
    config.loss = loss_line;
    config.frame = cli_picture_options_record(&options->pictures) ? cli_pictures_frame : NULL;
    config.violation = options->shared ? violation : NULL;
    session->machine = dxgk_machine_create(&config, session->error, sizeof(session->error));
    if (!session->machine)
        return;
    if (!cli_pictures_begin(session) || !cli_watch_begin(session)) {
        dxgk_machine_destroy(session->machine);
        session->machine = NULL;
        return;
    }
    cli_interrupt_target(session->machine);
    session->workload = (struct lua_workload){
        .file = options->workload,
        .machine = session->machine,
        .out = options->out,
        .option = options->set,
        .option_count = options->sets,
        .limit_s = options->script_s,
        .memory_limit = options->script_memory,
        .progress = isatty(STDERR_FILENO),
    };
    session->bad_option = !cli_set_severities(session->machine, options, session->error,
                                              sizeof(session->error));
    if (!session->bad_option)
        run(session);
}

void cli_session_finish(struct cli_session *session)
{
    cli_interrupt_target(NULL);
    cli_watch_free(session);
    dxgk_machine_destroy(session->machine);
    session->machine = NULL;
    cli_page_free(session);
    cli_pictures_free(session);
    free(session->report_text);
    session->report_text = NULL;
}

bool cli_session_stopped(const struct cli_session *session)
{
    return session->loaded == DXGK_DRIVER_STOPPED || session->result == DXGK_DRIVER_STOPPED ||
           session->ended == DXGK_DRIVER_STOPPED || session->statistics.bugcheck;
}
