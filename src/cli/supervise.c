/* SPDX-License-Identifier: MIT */
/*
 * The supervisor of a machine.
 *
 *     supervisor                                   worker
 *     recorder, shared memory, fork ─────────────> machine, device, driver, workload
 *     waits; shows progress                        prints what happens when it happens
 *     SIGINT, SIGTERM ── asks for an end ────────> stops at the next point, and reports
 *     no step for long ─ asks where it is ───────> records its place and stack, and dies
 *     result in shared memory? its status  <────── result, exit()
 *     else: what was going on, by the recorder <── any other end
 *
 * The worker leads no session and no process group of its own, so that a terminal treats both as
 * one program. It ignores what the terminal sends to end it; the supervisor asks it.
 */
#include "cli/supervise.h"
#include "cli/broker.h"
#include "cli/cli.h"
#include "cli/ending.h"
#include "cli/interrupt.h"
#include "cli/isolate.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/usage.h"
#include "cli/shared.h"
#include "cli/symbolizer.h"
#include "dxgkhost/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TICK_MS           50u
#define GRACE_MS          3000u /* for the worker to come to an end by itself */
#define ONE_REQUEST_MS    100u  /* GNU timeout sends its signal twice, within a millisecond */
#define LAST_WORDS_MS     1000u /* for it to say where it is */
#define PROGRESS_AFTER_MS 2000u
#define PROGRESS_EVERY_MS 500u
#define INTERRUPT_SIGNAL  (SIGRTMIN + 6)
#define LAST_WORDS_SIGNAL SIGVTALRM
/* Waiting takes no processor time, and a busy computer gives little of it. */
#define WALL_FACTOR 5u

struct watch {
    const struct cli_options *options;
    pid_t worker;
    uint64_t ticks; /* since the start, while the supervisor itself ran */
    uint64_t steps, moved_at;
    double moved_at_cpu;
    uint64_t asked_at; /* tick of the first request to end; 0: none */
    uint64_t first_ms; /* when that was, on a clock that does not stop */
    uint64_t kill_at;  /* tick of the last resort; 0: none */
    uint64_t shown_at;
    bool stalled, progress;
    int signals;               /* a signalfd */
    struct cli_broker *broker; /* of an isolated worker; NULL: it has its rights */
};

static uint64_t ticks_of(uint64_t ms)
{
    return (ms + TICK_MS - 1) / TICK_MS;
}

/* ---- the worker ---- */

static void on_interrupt(int number)
{
    (void)number;
    cli_interrupt(); // NOLINT(bugprone-signal-handler): it sets two words of the machine
}

static void take_interrupts(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = on_interrupt;
    action.sa_flags = SA_RESTART;
    sigaction(INTERRUPT_SIGNAL, &action, NULL);
}

/* A core dump has the process's own memory, not what it shares: simulated RAM and its views. */
static void keep_core_small(void)
{
    FILE *filter = fopen("/proc/self/coredump_filter", "w");

    if (!filter)
        return;
    fputs("0x31", filter);
    fclose(filter);
}

_Noreturn static void be_worker(struct cli_options *options,
                                int (*work)(struct cli_options *options), pid_t supervisor,
                                const sigset_t *mask, int broker)
{
    struct cli_shared *shared = options->shared;
    const char *why;
    int status;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor)
        _exit(CLI_HOST);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    take_interrupts();
    keep_core_small();
    sigprocmask(SIG_SETMASK, mask, NULL);
    (void)dxgk_recorder_catch(options->config.recorder); /* else its end has fewer words */
    cli_symbolizer_begin(options, true);
    if (broker >= 0 && !cli_isolate(broker, &why)) {
        fprintf(stderr, "dxgkhost: --isolate: %s\n", why);
        status = CLI_HOST;
    } else {
        status = cli_check_output(work(options));
    }
    fflush(NULL);
    atomic_store(&shared->mute,
                 fcntl(STDOUT_FILENO, F_GETFD) < 0 || fcntl(STDERR_FILENO, F_GETFD) < 0);
    shared->status = status;
    dxgk_recorder_release(options->config.recorder);
    atomic_store(&shared->done, true);
    exit(status);
}

/* ---- watching it ---- */

static double cpu_of(pid_t pid)
{
    struct timespec t;
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return 0;
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void end_now(struct watch *watch)
{
    if (watch->kill_at)
        return;
    kill(watch->worker, LAST_WORDS_SIGNAL);
    watch->kill_at = watch->ticks + ticks_of(LAST_WORDS_MS);
}

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

/* SIGINT, SIGTERM or SIGHUP has come. */
static void ask_to_end(struct watch *watch, int number)
{
    if (watch->asked_at) {
        if (now_ms() - watch->first_ms >= ONE_REQUEST_MS)
            end_now(watch);
        return;
    }
    watch->first_ms = now_ms();
    watch->asked_at = watch->ticks ? watch->ticks : 1;
    atomic_store(&watch->options->shared->interrupt, number);
    kill(watch->worker, INTERRUPT_SIGNAL);
}

static void check_stall(struct watch *watch)
{
    const struct cli_options *options = watch->options;
    struct dxgk_place place;
    double cpu;

    if (!options->stall_s || watch->stalled || !atomic_load(&options->shared->runs))
        return;
    (void)dxgk_recorder_place(options->config.recorder, &place);
    cpu = cpu_of(watch->worker);
    if (place.steps != watch->steps) {
        watch->steps = place.steps;
        watch->moved_at = watch->ticks;
        watch->moved_at_cpu = cpu;
        return;
    }
    if (cpu - watch->moved_at_cpu < (double)options->stall_s &&
        watch->ticks - watch->moved_at < ticks_of(options->stall_s * 1000u * WALL_FACTOR))
        return;
    watch->stalled = true;
    end_now(watch);
}

static void show_progress(struct watch *watch)
{
    struct cli_shared *shared = watch->options->shared;
    struct dxgk_place place;

    if (!watch->progress || watch->ticks < ticks_of(PROGRESS_AFTER_MS) ||
        watch->ticks - watch->shown_at < ticks_of(PROGRESS_EVERY_MS) ||
        !atomic_load(&shared->runs) || atomic_load(&shared->own_progress) ||
        !dxgk_recorder_place(watch->options->config.recorder, &place))
        return;
    watch->shown_at = watch->ticks;
    atomic_store(&shared->line, true);
    /* the next line of the worker overwrites it */
    fprintf(stderr, "\r\033[K%.3f ms virtual, %" PRIu64 " submissions, %.0f s\r",
            (double)place.virtual_ns / 1e6, place.submissions,
            (double)(watch->ticks * TICK_MS) / 1e3);
}

/* Serves the broker meanwhile. Returns a signal that has come; 0: a request did; -1: nothing in the
 * time of a tick. */
static int next_event(const struct watch *watch)
{
    struct pollfd wait[2] = {{.fd = watch->signals, .events = POLLIN},
                             {.fd = watch->broker ? watch->broker->socket : -1, .events = POLLIN}};
    struct signalfd_siginfo info;

    if (poll(wait, 2, (int)TICK_MS) == 0)
        return -1;
    if (wait[1].revents)
        cli_broker_serve(watch->broker);
    if (!wait[0].revents || read(watch->signals, &info, sizeof(info)) != sizeof(info))
        return 0;
    return (int)info.ssi_signo;
}

/* Returns the status of waitpid. */
static int wait_for_end(struct watch *watch)
{
    int status;

    for (;;) {
        int number = next_event(watch);

        if (waitpid(watch->worker, &status, WNOHANG) == watch->worker)
            return status;
        if (number == SIGINT || number == SIGTERM || number == SIGHUP)
            ask_to_end(watch, number);
        if (number < 0)
            watch->ticks++;
        if (watch->asked_at && watch->ticks - watch->asked_at >= ticks_of(GRACE_MS))
            end_now(watch);
        if (watch->kill_at && watch->ticks >= watch->kill_at)
            kill(watch->worker, SIGKILL);
        check_stall(watch);
        show_progress(watch);
    }
}

/* The worker's end of the broker's channel is in `other`; -1: there is none. */
static bool prepare(struct watch *watch, struct cli_broker *broker, int *other)
{
    *other = -1;
    if (!watch->options->isolated)
        return true;
    if (!cli_broker_init(broker, watch->options, other))
        return false;
    watch->broker = broker;
    return true;
}

static int supervise(struct cli_options *options, int (*work)(struct cli_options *options))
{
    struct watch watch = {.options = options, .progress = isatty(STDERR_FILENO)};
    struct cli_broker broker;
    const pid_t self = getpid();
    sigset_t signals, mask;
    int ended, other;

    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, &mask);
    watch.signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    fflush(NULL);
    watch.worker = watch.signals >= 0 && prepare(&watch, &broker, &other) ? fork() : -1;
    if (watch.worker == 0)
        be_worker(options, work, self, &mask, other);
    if (watch.worker < 0) {
        fprintf(stderr, "dxgkhost: no process for the machine: %s\n", strerror(errno));
        return CLI_HOST;
    }
    if (watch.broker) {
        broker.worker = watch.worker;
        close(other);
    }
    ended = wait_for_end(&watch);
    if (watch.broker) {
        cli_broker_finish(&broker);
    }
    close(watch.signals);
    cli_clear_line(options->shared);
    if (atomic_load(&options->shared->done) && !atomic_load(&options->shared->mute) &&
        WIFEXITED(ended) && WEXITSTATUS(ended) == options->shared->status)
        return options->shared->status;
    return cli_report_ending(options, ended, watch.stalled);
}

static void *share(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

int cli_supervise(struct cli_options *options, int (*work)(struct cli_options *options))
{
    int status = CLI_HOST;
    const char *why;

    if (options->isolated && options->unsupervised)
        return cli_usage_error("an isolated machine needs its supervisor", "--no-supervisor");
    if (options->isolated && !cli_isolate_possible(&why)) {
        fprintf(stderr, "dxgkhost: --isolate: %s\n", why);
        return CLI_HOST;
    }
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of writing */
    options->shared = share(sizeof(*options->shared));
    if (!options->shared) {
        fputs("dxgkhost: out of memory\n", stderr);
        return CLI_HOST;
    }
    if (options->unsupervised) {
        signal(SIGINT, on_interrupt);
        signal(SIGTERM, on_interrupt);
        cli_symbolizer_begin(options, true);
        status = work(options);
        cli_symbolizer_end(options);
    } else {
        options->config.recorder = dxgk_recorder_create();
        if (options->config.recorder)
            status = supervise(options, work);
        else
            fputs("dxgkhost: no memory to record the machine in\n", stderr);
        dxgk_recorder_destroy(options->config.recorder);
    }
    munmap(options->shared, sizeof(*options->shared));
    return status;
}
