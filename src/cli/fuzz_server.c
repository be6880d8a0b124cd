/* SPDX-License-Identifier: MIT */
/*
 * The process with the machine of a campaign. Its client opens the adapter, and makes what it can;
 * from then on the machine goes on in children of this process. A child makes calls of an input,
 * sets its memory back, and goes on with the next one, until one is a finding; or, where the kernel
 * does not tell which memory was written, makes those of some inputs (--batch). What they do to the
 * machine ends with the child. What an input is found to do is what it does as the first one of its
 * child.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/expected.h"
#include "cli/fuzz_client.h"
#include "cli/fuzz_finding.h"
#include "cli/fuzz_server.h"
#include "cli/fuzz_shared.h"
#include "cli/verdict.h"
#include "dxgkhost/fuzz.h"
#include "util/min_max.h"

#define KNOWN        512u
#define REDUCE_TRIES 2000u

#define RESETS_PER_US 4u /* by which durations of resets are counted */
#define RESETS        8192u
/* Children that could not set their memory back; after so many, and one in so many inputs, there is
 * a child for some inputs instead. */
#define LOST_MOST   16u
#define LOST_SELDOM 64u

/* What children count; they share it. */
struct counts {
    uint64_t runs, found;
    struct dxgk_repeat repeat;
    uint64_t resets, reset_pages, reset_different, lost;
    uint32_t reset[RESETS]; /* by duration */
    const char *lost_reason;
    bool no_resets;
    uint32_t places;
    uint8_t reached[DXGK_PLACES];
};

/* What the child says of its input. */
struct outcome {
    atomic_bool done;     /* else it was ended in the middle */
    atomic_bool answered; /* the last input that it has begun */
    bool stopped;
    uint32_t inputs; /* that the child has begun */
    uint32_t places;
    uint32_t findings;
    struct fuzz_finding finding[FUZZ_FINDINGS];
    enum fuzz_kind call; /* in progress */
};

struct server {
    struct fuzz_options *options;
    struct cli_session session;
    struct fuzz_client client;
    struct dxgk_snapshot *snapshot;
    struct fuzz_shared *shared;
    struct outcome *outcome;
    struct counts *counts;
    size_t violations; /* before the input */
    bool ready, child;
    bool alone; /* the child is for one input, and says nothing to the engine */
    struct fuzz_finding known[KNOWN];
    uint32_t knows;
    const struct fuzz_finding *wanted; /* while an input is made smaller */
};

/* ---- in the child ---- */

static void add_finding(struct outcome *outcome, const struct fuzz_finding *finding)
{
    for (uint32_t i = 0; i < outcome->findings; i++)
        if (fuzz_finding_same(&outcome->finding[i], finding))
            return;
    if (outcome->findings < FUZZ_FINDINGS)
        outcome->finding[outcome->findings++] = *finding;
}

static void add_violations(const struct server *server)
{
    struct dxgk_violation v;

    for (size_t i = server->violations; dxgk_machine_violation(server->session.machine, i, &v);
         i++) {
        struct fuzz_finding finding;

        if (!cli_session_unexpected(&server->session, &v))
            continue;
        fuzz_finding_of_violation(&finding, &v);
        add_finding(server->outcome, &finding);
    }
}

static void keep_coverage(const struct server *server)
{
    struct fuzz_shared *shared = server->shared;

    server->outcome->places = dxgk_client_coverage(shared->counter);
    shared->compares = dxgk_client_compares(shared->compare, FUZZ_COMPARES);
}

static void before_call(void *listener, const struct fuzz_call *call)
{
    struct server *server = listener;

    server->outcome->call = call->kind;
}

static void judge(const struct server *server)
{
    struct dxgk_statistics s = {.size = sizeof(s)};

    dxgk_machine_statistics(server->session.machine, &s);
    server->outcome->stopped |= s.bugcheck;
    keep_coverage(server);
    add_violations(server);
}

static void note_places(const struct server *server)
{
    struct counts *counts = server->counts;
    uint32_t places = server->outcome->places;

    for (uint32_t i = 0; i < places; i++)
        counts->reached[i] |= server->shared->counter[i];
    if (places > counts->places)
        counts->places = places;
}

static bool say(const struct server *server, char word)
{
    server->counts->runs++;
    server->counts->found += word != FUZZ_FINE;
    note_places(server);
    server->shared->counter[DXGK_PLACES - 1] = 1; /* the engine takes nothing for a mistake */
    atomic_store(&server->outcome->answered, true);
    return write(server->options->answers, &word, 1) == 1;
}

/* A driver that does not come back where no watchdog of the machine sees it. */
static void limit_time(uint64_t seconds)
{
    const struct itimerval limit = {.it_value = {.tv_sec = (time_t)seconds}}; /* 0: none */

    setitimer(ITIMER_REAL, &limit, NULL);
}

static void run_calls(struct server *server, const uint8_t *input, size_t bytes)
{
    server->outcome->inputs++;
    limit_time(server->options->limit_s);
    fuzz_client_run(&server->client, input, bytes);
    limit_time(0);
    judge(server);
}

static _Noreturn void end_child(const struct server *server)
{
    atomic_store(&server->outcome->done, true);
    _exit(0);
}

/* The client begins anew, on a machine that others have used. */
static bool begin_again(struct server *server)
{
    if (!fuzz_client_open(&server->client))
        return false;
    server->client.before = before_call;
    server->client.listener = server;
    dxgk_client_coverage_clear();
    server->violations = dxgk_machine_violations(server->session.machine);
    return true;
}

/* The next input of the engine, which waits for its answer. */
static void next_input(struct server *server)
{
    struct fuzz_shared *shared = server->shared;
    char word;

    if (read(server->options->requests, &word, 1) != 1)
        end_child(server);
    atomic_store(&server->outcome->answered, false);
    shared->compares = 0;
    memset(shared->counter, 0, sizeof(shared->counter));
    server->outcome->call = FUZZ_KINDS;
    server->outcome->findings = 0;
    server->outcome->stopped = false;
}

/* The input that is there; leaves it to the parent to answer where something is found. */
static void serve_input(struct server *server)
{
    const struct fuzz_shared *shared = server->shared;

    run_calls(server, shared->input, min_of(shared->bytes, FUZZ_INPUT));
    if (server->outcome->findings)
        end_child(server);
    if (!say(server, FUZZ_FINE) || server->outcome->stopped)
        end_child(server);
}

/* For an engine that keeps findings itself. */
static void describe(const struct server *server)
{
    const struct fuzz_finding *finding = &server->outcome->finding[0];

    snprintf(server->shared->finding, sizeof(server->shared->finding), "%s %s: %s, in %s%s%s",
             finding->severity, finding->rule, finding->seen, finding->where,
             finding->frame[0] ? ", at " : "", finding->frame);
}

static bool is_known(const struct server *server, const struct fuzz_finding *finding)
{
    for (uint32_t i = 0; i < server->knows; i++)
        if (fuzz_finding_same(&server->known[i], finding))
            return true;
    return false;
}

/* What another process would find, too, as nothing came before the input. New ones are for the
 * parent, which keeps them. */
static void answer_finding(struct server *server)
{
    const struct outcome *outcome = server->outcome;
    const char word = outcome->stopped ? FUZZ_STOPPED : FUZZ_FAILED;

    if (server->options->engine != FUZZ_ENGINE_CAMPAIGN) {
        describe(server);
    } else {
        for (uint32_t i = 0; i < outcome->findings; i++)
            if (!is_known(server, &outcome->finding[i]))
                end_child(server);
        if (word == FUZZ_STOPPED)
            memset(server->shared->counter, 0, sizeof(server->shared->counter));
    }
    if (!say(server, word))
        end_child(server);
}

static void note_reset(struct counts *counts)
{
    const struct dxgk_repeat *repeat = &counts->repeat;

    counts->resets++;
    counts->reset_pages += repeat->pages;
    counts->reset_different += repeat->different;
    counts->reset[min_of(repeat->nanoseconds * RESETS_PER_US / 1000, RESETS - 1)]++;
}

/* From one point, to which memory is set back behind it. */
static bool repeat_input(void *context)
{
    struct server *server = context;

    if (server->outcome->inputs) {
        note_reset(server->counts);
        next_input(server);
    }
    run_calls(server, server->shared->input, min_of(server->shared->bytes, FUZZ_INPUT));
    if (server->outcome->findings)
        answer_finding(server);
    else if (!say(server, FUZZ_FINE))
        end_child(server);
    return true;
}

/* Returns if memory cannot be set back. */
static void repeat_inputs(struct server *server)
{
    struct counts *counts = server->counts;

    memset(&counts->repeat, 0, sizeof(counts->repeat));
    counts->repeat.verify = server->options->reset == FUZZ_RESET_CHECKED;
    (void)dxgk_client_repeat(server->snapshot, repeat_input, server, &counts->repeat);
    counts->lost_reason = counts->repeat.reason;
    counts->lost++;
    if (server->outcome->inputs)
        end_child(server);
    counts->no_resets = true;
}

static bool may_repeat(const struct server *server)
{
    const struct counts *counts = server->counts;

    return server->options->reset != FUZZ_RESET_FORK && !counts->no_resets &&
           (counts->lost < LOST_MOST || counts->lost * LOST_SELDOM < counts->runs);
}

/* Serves the engine until something is found. */
static void be_child(struct server *server, const uint8_t *input, size_t bytes)
{
    server->child = true;
    server->client.before = before_call;
    server->client.listener = server;
    if (server->alone) {
        run_calls(server, input, bytes);
        end_child(server);
    }
    if (may_repeat(server))
        repeat_inputs(server);
    for (uint64_t left = server->options->batch;;) {
        serve_input(server);
        if (--left == 0)
            end_child(server);
        next_input(server);
        if (!begin_again(server))
            break; /* the parent runs the input */
    }
    server->outcome->inputs++;
    _exit(1);
}

/* Its client did not come to its end: every thread waits, or time is up. */
static _Noreturn void end_lost_child(const struct server *server)
{
    struct fuzz_finding finding;

    server->outcome->stopped = true;
    add_violations(server);
    if (server->outcome->findings == 0) {
        fuzz_finding_of_ending(&finding, "time", fuzz_kind_name(server->outcome->call),
                               "the calls did not come to their end in virtual time");
        add_finding(server->outcome, &finding);
    }
    atomic_store(&server->outcome->done, true);
    _exit(0);
}

/* ---- an input ---- */

/* How a child ended that did not say so. */
static void add_ending(const struct server *server, int status)
{
    struct fuzz_finding finding;
    char seen[128];

    server->outcome->stopped = true;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(seen, sizeof(seen), "it did not end within %" PRIu64 " s",
                 server->options->limit_s);
    else if (WIFSIGNALED(status))
        snprintf(seen, sizeof(seen), "the machine's process was ended by SIG%s",
                 sigabbrev_np(WTERMSIG(status)));
    else
        snprintf(seen, sizeof(seen), "the machine's process ended itself with %d",
                 WEXITSTATUS(status));
    fuzz_finding_of_ending(&finding,
                           !WIFSIGNALED(status)          ? "exit"
                           : WTERMSIG(status) == SIGALRM ? "hang"
                                                         : "crash",
                           fuzz_kind_name(server->outcome->call), seen);
    add_finding(server->outcome, &finding);
}

/* A child for an input, and, not alone, for others behind it. False: the host failed. */
static bool run_child(struct server *server, bool alone, const uint8_t *input, size_t bytes)
{
    struct outcome *outcome = server->outcome;
    int status = 0;
    pid_t child;

    memset(outcome, 0, sizeof(*outcome));
    memset(server->shared->counter, 0, sizeof(server->shared->counter));
    server->shared->compares = 0;
    server->alone = alone;
    child = dxgk_snapshot_fork(server->snapshot);
    if (child == 0)
        be_child(server, input, bytes);
    if (child < 0)
        return false;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    if (!atomic_load(&outcome->done) && atomic_load(&outcome->answered)) {
        server->counts->lost_reason = "the process ended while memory was set back";
        server->counts->lost++;
    } else if (!atomic_load(&outcome->done)) {
        add_ending(server, status);
    }
    outcome->findings = (uint32_t)min_of(outcome->findings, FUZZ_FINDINGS);
    outcome->places = (uint32_t)min_of(outcome->places, DXGK_PLACES);
    return dxgk_snapshot_restore(server->snapshot) >= 0;
}

/* ---- findings ---- */

static bool has(const struct server *server, const struct fuzz_finding *finding)
{
    for (uint32_t i = 0; i < server->outcome->findings; i++)
        if (fuzz_finding_same(&server->outcome->finding[i], finding))
            return true;
    return false;
}

static bool still_found(void *context, const uint8_t *input, size_t bytes)
{
    struct server *server = context;

    return run_child(server, true, input, bytes) && has(server, server->wanted);
}

static bool write_file(const char *path, const uint8_t *input, size_t bytes)
{
    char other[4200];
    int file;
    bool written;

    snprintf(other, sizeof(other), "%s.%d", path, (int)getpid());
    file = open(other, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        return false;
    written = write(file, input, bytes) == (ssize_t)bytes;
    close(file);
    if (written && rename(other, path) == 0)
        return true;
    unlink(other);
    return false;
}

/* An input of each kind of finding is made as small as it can be. */
static void keep_finding(struct server *server, const struct fuzz_finding *finding)
{
    uint8_t input[FUZZ_INPUT];
    char name[64], path[4160];
    size_t bytes = server->shared->bytes;

    fuzz_finding_name(finding, name, sizeof(name));
    snprintf(path, sizeof(path), "%s/%s", server->options->findings, name);
    if (access(path, F_OK) != 0) {
        memcpy(input, server->shared->input, bytes);
        server->wanted = finding;
        bytes = fuzz_program_reduce(input, bytes, REDUCE_TRIES, still_found, server);
        if (!write_file(path, input, bytes))
            snprintf(path, sizeof(path), "(%s: %s)", server->options->findings, strerror(errno));
    }
    if (server->options->events >= 0)
        fuzz_finding_write(server->options->events, finding, path);
}

static bool know(struct server *server, const struct fuzz_finding *finding)
{
    if (is_known(server, finding) || server->knows == KNOWN)
        return true;
    server->known[server->knows++] = *finding;
    return false;
}

/* True: new ones were there, so that the outcome is that of another input now. */
static bool keep_findings(struct server *server)
{
    struct fuzz_finding list[FUZZ_FINDINGS];
    uint32_t count = server->outcome->findings;
    bool any = false;

    memcpy(list, server->outcome->finding, sizeof(list));
    for (uint32_t i = 0; i < count; i++) {
        if (know(server, &list[i]))
            continue;
        keep_finding(server, &server->known[server->knows - 1]);
        any = true;
    }
    return any;
}

/* ---- requests ---- */

/* Of the input that the engine waits for. False: the host failed. */
static bool answer(struct server *server)
{
    struct fuzz_shared *shared = server->shared;
    const struct outcome *outcome = server->outcome;
    char word;

    shared->bytes = (uint32_t)min_of(shared->bytes, FUZZ_INPUT);
    if (!run_child(server, false, shared->input, shared->bytes))
        return false;
    if (atomic_load(&outcome->answered))
        return true; /* the child has answered all that it was given */
    shared->bytes = (uint32_t)min_of(shared->bytes, FUZZ_INPUT);
    if (outcome->inputs != 1 && !run_child(server, true, shared->input, shared->bytes))
        return false;
    if (outcome->findings == 0)
        return say(server, FUZZ_FINE); /* others before it had to do with it */
    word = outcome->stopped ? FUZZ_STOPPED : FUZZ_FAILED;
    if (server->options->engine != FUZZ_ENGINE_CAMPAIGN) { /* it keeps findings itself */
        describe(server);
        return say(server, word);
    }
    if (keep_findings(server) && word == FUZZ_FAILED &&
        !run_child(server, true, shared->input, shared->bytes))
        return false;
    /* An input that stops the machine is no beginning of others. */
    if (word == FUZZ_STOPPED)
        memset(shared->counter, 0, sizeof(shared->counter));
    return say(server, word);
}

static void be_quiet(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null < 0)
        return;
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    close(null);
}

/* The client of the machine. */
static void serve(struct cli_session *session)
{
    struct server *server = session->options->client_context;
    char word;

    if (!fuzz_client_open(&server->client)) {
        fputs("dxgkhost: fuzz: there is no adapter\n", stderr);
        return;
    }
    if (!dxgk_client_coverage_break())
        fputs("dxgkhost: fuzz: no breakpoints in the driver: nothing guides the inputs\n", stderr);
    server->shared->grammar = server->options->grammar;
    if (server->options->engine == FUZZ_ENGINE_AFL && !dxgk_client_find_constants())
        fputs("dxgkhost: fuzz: constants of the driver were not found\n", stderr);
    server->shared->constants = dxgk_client_constants(server->shared->constant, FUZZ_CONSTANTS);
    dxgk_client_coverage_clear();
    server->violations = dxgk_machine_violations(session->machine);
    server->snapshot = dxgk_client_snapshot();
    if (!server->snapshot) {
        fputs("dxgkhost: fuzz: the machine was stopped, or out of memory\n", stderr);
        return;
    }
    server->ready = true;
    be_quiet();
    while (read(server->options->requests, &word, 1) == 1)
        if (!answer(server))
            break;
    dxgk_snapshot_destroy(server->snapshot);
}

/* ---- the process ---- */

static void *share(size_t bytes, int file)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | (file < 0 ? MAP_ANONYMOUS : 0), file, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

/* Half of the resets took no longer. */
static double median_reset(const struct counts *counts)
{
    uint64_t seen = 0;
    uint32_t at = 0;

    while (at < RESETS - 1 && (seen += counts->reset[at]) * 2 < counts->resets)
        at++;
    return (at + 0.5) / RESETS_PER_US;
}

static void tell_end(const struct server *server, int status)
{
    const struct counts *counts = server->counts;
    uint32_t reached = 0;

    for (uint32_t i = 0; i < DXGK_PLACES; i++)
        reached += counts->reached[i] != 0;
    if (server->options->events < 0)
        return;
    if (counts->resets)
        dprintf(server->options->events, "resets\t%.1f\t%.1f\t%" PRIu64 "\n", median_reset(counts),
                (double)counts->reset_pages / (double)counts->resets, counts->reset_different);
    if (counts->lost_reason)
        dprintf(server->options->events, "lost\t%" PRIu64 "\t%s\n", counts->lost,
                counts->lost_reason);
    dprintf(server->options->events, "end\t%d\t%" PRIu64 "\t%" PRIu64 "\t%u\t%u\n", status,
            counts->runs, counts->found, reached, counts->places);
}

static void tell_start(const struct cli_session *session)
{
    struct dxgk_violation v;

    fprintf(stderr, "dxgkhost: %s\n",
            session->error[0] ? session->error : "the driver could not be started");
    for (size_t i = 0; session->machine && dxgk_machine_violation(session->machine, i, &v); i++)
        fprintf(stderr, "  %s %s: %s\n", v.severity, v.rule, v.seen);
}

int fuzz_serve(struct fuzz_options *options)
{
    struct server *server = calloc(1, sizeof(*server));
    struct cli_session *session;
    int status = CLI_HOST;

    signal(SIGINT, SIG_IGN); /* the engine ends this process */
    signal(SIGALRM, SIG_DFL);
    if (server) {
        server->options = options;
        server->shared = share(sizeof(*server->shared), options->shared);
        server->outcome = share(sizeof(*server->outcome), -1);
        server->counts = share(sizeof(*server->counts), -1);
    }
    if (!server || !server->shared || !server->outcome || !server->counts) {
        fputs("dxgkhost: out of memory\n", stderr);
        return status;
    }
    session = &server->session;
    options->run.client = serve;
    options->run.client_context = server;
    options->run.config.coverage = true;
    cli_session_run(session, &options->run);
    if (server->child)
        end_lost_child(server);
    if (server->ready)
        status = CLI_OK;
    else if (session->loaded != DXGK_OK)
        status = cli_verdict(session);
    if (!server->ready)
        tell_start(session);
    tell_end(server, status);
    cli_session_finish(session);
    free(server);
    return status;
}
