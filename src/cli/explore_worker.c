/* SPDX-License-Identifier: MIT */
/*
 * A worker: a process that reads points (a seed, an allocation that fails) from a pipe, runs one
 * machine for each, and writes the result.
 *
 * Workers are processes, not threads: a driver may crash the host (which is a result too, and costs
 * one seed); a driver that hangs where no watchdog of the machine sees it can be killed; and no
 * damage by a broken driver affects another seed, since a worker ends with the first seed that
 * fails. A seed that does not fail leaves the process unchanged, so the worker continues, which is
 * faster than a process for each seed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/explore_worker.h"
#include "cli/broker.h"
#include "cli/cli.h"
#include "cli/ending.h"
#include "cli/expected.h"
#include "cli/explore_options.h"
#include "cli/explore_result.h"
#include "cli/isolate.h"
#include "cli/pictures.h"
#include "cli/session.h"
#include "cli/symbolizer.h"
#include "cli/verdict.h"
#include "dxgkhost/recorder.h"

double explore_worker_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- one machine ---- */

static void cut(char *to, size_t bytes, const char *text)
{
    size_t length = strnlen(text, bytes - 1);

    memcpy(to, text, length);
    to[length] = '\0';
}

/* Whole lines only. */
static void cut_lines(char *to, size_t bytes, const char *text)
{
    cut(to, bytes, text);
    if (strlen(text) >= bytes)
        *(strrchr(to, '\n') ? strrchr(to, '\n') : to) = '\0';
}

static struct explore_failure *add(struct explore_result *result, const char *rule,
                                   const char *severity, const char *where, const char *seen)
{
    struct explore_failure *failure;

    if (result->failures == EXPLORE_FAILURES)
        return NULL;
    failure = &result->failure[result->failures++];
    memset(failure, 0, sizeof(*failure));
    cut(failure->rule, sizeof(failure->rule), rule);
    cut(failure->severity, sizeof(failure->severity), severity);
    cut(failure->where, sizeof(failure->where), where);
    cut(failure->seen, sizeof(failure->seen), seen);
    return failure;
}

static void add_violation(struct explore_result *result, const struct dxgk_violation *v)
{
    /* Some reports are made outside of driver calls: their text names the place. */
    struct explore_failure *failure = add(result, v->rule, v->severity,
                                          v->where && v->where[0] ? v->where : v->seen, v->seen);

    if (!failure)
        return;
    cut(failure->thread, sizeof(failure->thread), v->thread ? v->thread : "");
    cut_lines(failure->stack, sizeof(failure->stack), v->stack ? v->stack : "");
    failure->virtual_ns = v->virtual_ns;
}

static void add_violations(struct explore_result *result, const struct cli_session *session)
{
    struct dxgk_violation v;
    const char *missed;

    for (size_t i = 0; dxgk_machine_violation(session->machine, i, &v); i++)
        if (cli_session_unexpected(session, &v) || cli_session_client_error(session, &v))
            add_violation(result, &v);
    if (session->loaded == DXGK_OK && session->result == DXGK_OK)
        for (size_t i = 0; (missed = cli_session_missed(session, i)) != NULL; i++)
            add(result, missed, "expected", "", "was expected to be broken, and was not");
}

/* Failures that no rule covers. */
static void add_rest(struct explore_result *result, const struct cli_session *session)
{
    const struct lua_workload *workload = &session->workload;
    char text[64];

    if (result->failures)
        return;
    if (!session->machine)
        add(result, "machine", "error", "", session->error);
    else if (session->loaded != DXGK_OK)
        add(result, "start", "error", session->error, session->error);
    else if (cli_session_stopped(session))
        add(result, "stop", "bug check", "", "the machine was stopped");
    else if (session->result == DXGK_TIME_UP)
        add(result, "time", "error", "", "the limit of virtual time was reached");
    else if (session->power_error[0])
        add(result, "power", "error", session->power_error, session->power_error);
    else if (session->result != DXGK_OK || !workload->finished || !workload->passed)
        add(result, "workload", "error", workload->message, workload->message);
    else if (session->statistics.leaks) {
        snprintf(text, sizeof(text), "%llu left behind",
                 (unsigned long long)session->statistics.leaks);
        add(result, "leak", "error", "", text);
    }
}

/* Without memory an adapter may be refused and a workload fail: what counts then is what the driver
 * made of it. */
static void judge(struct explore_result *result, const struct cli_session *session)
{
    const int status = cli_verdict(session);

    if (result->point.fail && (status == CLI_FAILED || status == CLI_REFUSED))
        result->failures = 0;
    result->status = result->failures ? status : CLI_OK;
}

static void run_point(struct cli_options *run, const struct explore_point *point,
                      struct explore_result *result)
{
    struct cli_session session;

    run->config.seed = point->seed;
    if (point->fail)
        run->config.fail_allocation = point->fail;
    memset(result, 0, explore_result_bytes(0));
    result->point = *point;
    cli_session_run(&session, run);
    if (session.machine)
        add_violations(result, &session);
    add_rest(result, &session);
    judge(result, &session);
    if (result->failures)
        cli_pictures_write_seed(&session, point->seed);
    cli_session_finish(&session);
    result->last = result->failures != 0;
}

/* ---- pipes ---- */

static bool read_all(int from, void *to, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got = read(from, (char *)to + done, bytes - done);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

/* Code of a driver may have written it. */
static void end_texts(struct explore_failure *failure)
{
    failure->rule[sizeof(failure->rule) - 1] = '\0';
    failure->severity[sizeof(failure->severity) - 1] = '\0';
    failure->where[sizeof(failure->where) - 1] = '\0';
    failure->seen[sizeof(failure->seen) - 1] = '\0';
    failure->thread[sizeof(failure->thread) - 1] = '\0';
    failure->stack[sizeof(failure->stack) - 1] = '\0';
}

static bool read_result(int from, struct explore_result *result)
{
    if (!read_all(from, result, explore_result_bytes(0)) || result->failures > EXPLORE_FAILURES ||
        !read_all(from, result->failure, result->failures * sizeof(result->failure[0])))
        return false;
    for (uint32_t i = 0; i < result->failures; i++)
        end_texts(&result->failure[i]);
    return true;
}

static bool write_all(int to, const void *from, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t put = write(to, (const char *)from + done, bytes - done);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        done += (size_t)put;
    }
    return true;
}

/* ---- the process ---- */

/* Its output would mix with that of other workers. */
static void be_quiet(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null < 0)
        return;
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    close(null);
}

_Noreturn static void work(const struct explore_options *options, struct dxgk_recorder *recorder,
                           pid_t campaign, int from, int to, int broker)
{
    struct cli_options run = options->run;
    struct explore_result result;
    const char *why;
    struct explore_point point;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != campaign) /* it ended before */
        _exit(CLI_HOST);
    signal(SIGINT, SIG_IGN); /* the campaign ends its workers */
    signal(SIGTERM, SIG_IGN);
    be_quiet();
    if (recorder)
        (void)dxgk_recorder_catch(recorder);
    run.config.recorder = recorder;
    cli_symbolizer_begin(&run, false);
    if (broker >= 0 && !cli_isolate(broker, &why))
        _exit(CLI_HOST);
    run.config.depot = dxgk_depot_create(); /* optional: without it, runs are only slower */
    while (read_all(from, &point, sizeof(point))) {
        run_point(&run, &point, &result);
        if (!write_all(to, &result, explore_result_bytes(result.failures)) || result.last)
            break;
    }
    if (recorder)
        dxgk_recorder_release(recorder);
    _exit(0);
}

static void forget(struct explore_worker *worker)
{
    if (worker->broker)
        cli_broker_finish(worker->broker);
    free(worker->broker);
    worker->broker = NULL;
    dxgk_recorder_destroy(worker->recorder);
    worker->recorder = NULL;
}

/* False: it could not be made. */
static bool prepare_broker(struct explore_worker *worker, const struct cli_options *options,
                           int *other)
{
    *other = -1;
    if (!options->isolated)
        return true;
    worker->broker = calloc(1, sizeof(*worker->broker));
    if (worker->broker && cli_broker_init(worker->broker, options, other))
        return true;
    free(worker->broker);
    worker->broker = NULL;
    return false;
}

bool explore_worker_start(struct explore_worker *worker, const struct explore_worker *all,
                          uint32_t count, const struct explore_options *options)
{
    const pid_t campaign = getpid();
    int seeds[2], results[2], other;

    if (pipe2(seeds, O_CLOEXEC) != 0)
        return false;
    if (pipe2(results, O_CLOEXEC) != 0) {
        close(seeds[0]);
        close(seeds[1]);
        return false;
    }
    worker->recorder = dxgk_recorder_create();
    fflush(NULL);
    worker->pid = prepare_broker(worker, &options->run, &other) ? fork() : -1;
    if (worker->pid == 0) {
        close(seeds[1]);
        close(results[0]);
        /* otherwise these would not see the end of their pipes */
        for (uint32_t i = 0; i < count; i++) {
            if (&all[i] == worker || !all[i].pid)
                continue;
            close(all[i].to);
            close(all[i].from);
        }
        work(options, worker->recorder, campaign, seeds[0], results[1], other);
    }
    close(seeds[0]);
    close(results[1]);
    if (other >= 0)
        close(other);
    if (worker->broker)
        worker->broker->worker = worker->pid;
    if (worker->pid < 0) {
        close(seeds[1]);
        close(results[0]);
        worker->pid = 0;
        forget(worker);
        return false;
    }
    worker->to = seeds[1];
    worker->from = results[0];
    worker->busy = false;
    return true;
}

bool explore_worker_give(struct explore_worker *worker, const struct explore_point *point)
{
    worker->busy = true;
    worker->point = *point;
    worker->since = explore_worker_now();
    worker->overdue = false;
    return write_all(worker->to, point, sizeof(*point));
}

bool explore_worker_take(const struct explore_worker *worker, struct explore_result *result)
{
    return read_result(worker->from, result) && result->point.seed == worker->point.seed &&
           result->point.fail == worker->point.fail;
}

void explore_worker_stop(struct explore_worker *worker)
{
    if (!worker->pid)
        return;
    close(worker->to);
    close(worker->from);
    while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    worker->pid = 0;
    worker->busy = false;
    forget(worker);
}

static void add_ending(struct explore_result *result, const struct explore_worker *worker,
                       int status)
{
    struct explore_failure *failure;
    struct dxgk_place place = {.doing = ""};
    char seen[512] = "the host ended", where[sizeof(place.call) + sizeof(place.doing) + 2] = "";

    if (worker->recorder) {
        cli_describe_ending(worker->recorder, status, worker->overdue, seen, sizeof(seen));
        (void)dxgk_recorder_place(worker->recorder, &place);
        snprintf(where, sizeof(where), "%s%s%s", place.call, place.call[0] ? ", " : "", place.doing);
    }
    failure = add(result, worker->overdue ? "hang" : "crash", "error", where, seen);
    cut(failure->thread, sizeof(failure->thread), place.thread);
    failure->virtual_ns = place.virtual_ns;
    result->status = place.in_driver ? CLI_STOPPED : CLI_HOST;
}

static void add_recorded(struct explore_result *result, const struct dxgk_recorder *recorder)
{
    struct dxgk_violation v;

    for (size_t i = 0; dxgk_recorder_violation(recorder, i, &v); i++)
        if (strcmp(v.severity, "error") == 0 || strcmp(v.severity, "bug check") == 0)
            add_violation(result, &v);
}

/* The machine may have damaged its records, so a process of its own reads them. */
static void add_recorded_apart(struct explore_result *result, const struct dxgk_recorder *recorder)
{
    struct explore_result more = *result;
    int results[2];
    pid_t reader;

    if (pipe2(results, O_CLOEXEC) != 0)
        return;
    reader = fork();
    if (reader == 0) {
        add_recorded(&more, recorder);
        _exit(write_all(results[1], &more, explore_result_bytes(more.failures)) ? 0 : 1);
    }
    close(results[1]);
    if (reader > 0 && read_result(results[0], &more))
        *result = more;
    close(results[0]);
    while (reader > 0 && waitpid(reader, NULL, 0) < 0 && errno == EINTR)
        ;
}

void explore_worker_fetch(struct explore_worker *worker, struct explore_result *result)
{
    int status = 0;

    memset(result, 0, sizeof(*result));
    result->point = worker->point;
    close(worker->to);
    close(worker->from);
    while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
        ;
    worker->pid = 0;
    if (worker->busy) {
        add_ending(result, worker, status);
        if (worker->recorder)
            add_recorded_apart(result, worker->recorder);
    }
    worker->busy = false;
    forget(worker);
}
