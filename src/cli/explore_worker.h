/* SPDX-License-Identifier: MIT */
/* Workers of `dxgkhost explore`: processes that take points and say what came of them. */
#ifndef DXGK_CLI_EXPLORE_WORKER_H
#define DXGK_CLI_EXPLORE_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include <sys/types.h>

#include "cli/explore_result.h"

struct cli_broker;
struct dxgk_recorder;
struct explore_options;

struct explore_worker {
    pid_t pid;          /* 0: none */
    int to, from;       /* points, results */
    bool busy, overdue; /* overdue: it was killed for that */
    struct explore_point point;
    double since;
    struct dxgk_recorder *recorder; /* NULL: there was no memory for one */
    struct cli_broker *broker;      /* of an isolated worker; else NULL */
};
/* `all` has the ones that run already. */
bool explore_worker_start(struct explore_worker *worker, const struct explore_worker *all,
                          uint32_t count, const struct explore_options *options);
bool explore_worker_give(struct explore_worker *worker, const struct explore_point *point);
/* Reads the result of a seed. False: there is none, or no whole one. */
bool explore_worker_take(const struct explore_worker *worker, struct explore_result *result);
/* After its results have ended: fetch the process, and say what became of the point that it had. */
void explore_worker_fetch(struct explore_worker *worker, struct explore_result *result);
void explore_worker_stop(struct explore_worker *worker);
/* Seconds of the monotonic clock, as in `since`. */
double explore_worker_now(void);

#endif
