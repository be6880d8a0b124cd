/* SPDX-License-Identifier: MIT */
/*
 * dxgkhost explore: runs the same workload with many seeds. This process hands out seeds in order
 * to workers (explore_worker.c), collects their results, and groups failures by rule and place. The
 * final output depends only on the seeds, not on which worker was faster.
 */
#include "cli/broker.h"
#include "cli/cli.h"
#include "cli/explore_options.h"
#include "cli/explore_report.h"
#include "cli/explore_worker.h"
#include "cli/verdict.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct campaign {
    const struct explore_options *options;
    struct explore_summary *summary;
    struct explore_worker worker[EXPLORE_WORKERS];
    uint32_t workers;
    uint64_t next; /* point to hand out next, counted from the first; points_in_all: none is left */
    double start, shown;
    bool progress;
};

static uint64_t fails(const struct explore_options *options)
{
    return options->fail_last ? options->fail_last - options->fail_first + 1 : 1;
}

/* Points of this shard: it has every shards-th one, from the shard-th on. */
static uint64_t points_in_all(const struct explore_options *options)
{
    uint64_t range = (options->last - options->first + 1) * fails(options),
             before = options->shard - 1u;

    return range > before ? (range - before + options->shards - 1) / options->shards : 0;
}

/* The allocations of a seed, then the next seed. */
static struct explore_point point_at(const struct explore_options *options, uint64_t index)
{
    const uint64_t at = index * options->shards + options->shard - 1u;

    return (struct explore_point){
        .seed = options->first + at / fails(options),
        .fail = options->fail_last ? options->fail_first + at % fails(options) : 0};
}

/* SIGINT, SIGTERM or SIGHUP has come: the campaign ends, with the results so far. */
static volatile sig_atomic_t interrupt;

static void on_interrupt(int number)
{
    interrupt = number;
}

static bool enough(const struct campaign *campaign)
{
    const struct explore_options *options = campaign->options;

    return interrupt || campaign->next == points_in_all(options) ||
           (options->stop_after && campaign->summary->distinct >= options->stop_after);
}

static void show_progress(struct campaign *campaign)
{
    const struct explore_summary *summary = campaign->summary;
    double now = explore_worker_now();

    if (!campaign->progress || now - campaign->shown < 0.2)
        return;
    campaign->shown = now;
    fprintf(stderr, "\r\033[K%llu of %llu %s, %llu failed in %u ways, %.0f a second",
            (unsigned long long)summary->run, (unsigned long long)points_in_all(campaign->options),
            campaign->options->fail_last ? "runs" : "seeds", (unsigned long long)summary->failed,
            summary->distinct, (double)summary->run / (now - campaign->start));
}

/* Give the next point to a worker that has none. If a worker cannot be started, the others do the
 * work. */
static bool feed(struct campaign *campaign, struct explore_worker *worker)
{
    struct explore_point point;

    if (worker->busy || enough(campaign))
        return true;
    if (!worker->pid &&
        !explore_worker_start(worker, campaign->worker, campaign->workers, campaign->options))
        return false;
    /* If it died meanwhile, the end of its results will show it. */
    point = point_at(campaign->options, campaign->next++);
    (void)explore_worker_give(worker, &point);
    return true;
}

static void take(struct campaign *campaign, struct explore_worker *worker)
{
    struct explore_result result;

    if (!explore_worker_take(worker, &result)) {
        explore_worker_fetch(worker, &result);
        if (result.failures)
            explore_report_add(campaign->summary, &result);
        return;
    }
    worker->busy = false;
    explore_report_add(campaign->summary, &result);
    if (result.last)
        explore_worker_stop(worker);
}

static void kill_overdue(struct campaign *campaign)
{
    double now = explore_worker_now();

    for (uint32_t i = 0; i < campaign->workers; i++) {
        struct explore_worker *worker = &campaign->worker[i];

        if (!worker->busy || worker->overdue || now - worker->since <= campaign->options->limit_s)
            continue;
        worker->overdue = true;
        kill(worker->pid, SIGKILL);
    }
}

static uint32_t wait_for_some(struct campaign *campaign)
{
    struct pollfd poll_for[2 * EXPLORE_WORKERS];
    uint32_t which[EXPLORE_WORKERS], busy = 0;

    for (uint32_t i = 0; i < campaign->workers; i++) {
        if (!campaign->worker[i].busy)
            continue;
        which[busy] = i;
        poll_for[busy++] = (struct pollfd){.fd = campaign->worker[i].from, .events = POLLIN};
    }
    for (uint32_t i = 0; i < busy; i++) {
        const struct cli_broker *broker = campaign->worker[which[i]].broker;

        poll_for[busy + i] = (struct pollfd){.fd = broker ? broker->socket : -1, .events = POLLIN};
    }
    if (busy == 0 || poll(poll_for, 2 * busy, 500) <= 0)
        return busy;
    for (uint32_t i = 0; i < busy; i++)
        if (poll_for[busy + i].revents)
            cli_broker_serve(campaign->worker[which[i]].broker);
    for (uint32_t i = 0; i < busy; i++)
        if (poll_for[i].revents)
            take(campaign, &campaign->worker[which[i]]);
    return busy;
}

/* False: no worker can be started. */
static bool run(struct campaign *campaign)
{
    for (;;) {
        uint32_t fed = 0;

        if (interrupt)
            return true;

        for (uint32_t i = 0; i < campaign->workers; i++)
            fed += feed(campaign, &campaign->worker[i]);
        if (wait_for_some(campaign) == 0)
            return enough(campaign) || fed != 0;
        kill_overdue(campaign);
        show_progress(campaign);
    }
}

static void take_interrupts(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = on_interrupt; /* poll ends for it */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

int cli_explore(int argc, char **argv)
{
    struct explore_options options;
    struct explore_summary *summary = calloc(1, sizeof(*summary));
    struct campaign *campaign = calloc(1, sizeof(*campaign));
    int status = explore_options_parse(&options, argc, argv);

    if (status == CLI_OK && (!summary || !campaign)) {
        fputs("dxgkhost: out of memory\n", stderr);
        status = CLI_HOST;
    }
    if (status == CLI_OK) {
        campaign->options = &options;
        campaign->summary = summary;
        campaign->workers = options.workers;
        campaign->progress = isatty(STDERR_FILENO);
        campaign->start = campaign->shown = explore_worker_now();
        signal(SIGPIPE, SIG_IGN);
        take_interrupts();
        if (!run(campaign)) {
            fputs("dxgkhost: no process could be started\n", stderr);
            status = CLI_HOST;
        }
        for (uint32_t i = 0; interrupt && i < campaign->workers; i++)
            if (campaign->worker[i].pid)
                kill(campaign->worker[i].pid, SIGKILL);
        for (uint32_t i = 0; i < campaign->workers; i++)
            explore_worker_stop(&campaign->worker[i]);
        summary->seconds = explore_worker_now() - campaign->start;
        if (campaign->progress)
            fputs("\r\033[K", stderr);
        explore_report_print(&options, summary);
        status = cli_graver(status, summary->status);
        if (interrupt) {
            fprintf(stderr, "dxgkhost: interrupted by SIG%s after %llu of %llu %s\n",
                    sigabbrev_np(interrupt), (unsigned long long)summary->run,
                    (unsigned long long)points_in_all(&options),
                    options.fail_last ? "runs" : "seeds");
            status = CLI_INTERRUPTED + interrupt;
        }
        if (!explore_results_write(&options, summary, status) && status == CLI_OK)
            status = CLI_HOST;
    }
    free(campaign);
    free(summary);
    free(options.run_argv);
    return status;
}
