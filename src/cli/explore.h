/* SPDX-License-Identifier: MIT */
/* What the files of `dxgkhost explore` share. */
#ifndef DXGK_CLI_EXPLORE_H
#define DXGK_CLI_EXPLORE_H

#include <sys/types.h>

#include "cli/session.h"

#define EXPLORE_FAILURES 12u  /* of one seed that are told apart */
#define EXPLORE_DISTINCT 256u /* of the whole campaign */
#define EXPLORE_WORKERS  256u

/* ---- what one seed came to; goes through a pipe as it is ---- */

struct explore_failure {
    char rule[24];     /* or "workload", "leak", "crash", "hang", ... */
    char severity[12]; /* "error", "bug check" */
    char where[112];   /* with the rule: what makes failures the same */
    char seen[200];
    char thread[32];
    uint64_t virtual_ns;
};

struct explore_result {
    uint64_t seed;
    uint32_t failures;
    bool last; /* the worker ends with this one */
    struct explore_failure failure[EXPLORE_FAILURES];
};

/* ---- the campaign ---- */

struct explore_options {
    struct cli_options run;
    int run_argc; /* arguments that are run's, driver and workload first, without the seed */
    char **run_argv;
    uint64_t first, last;
    uint32_t workers;
    uint32_t shard, shards; /* 1 .. shards */
    uint32_t stop_after;    /* 0: never */
    uint32_t limit_s;
    const char *json;
};

struct explore_distinct {
    struct explore_failure failure; /* as the lowest seed showed it */
    uint64_t seed;                  /* the lowest one */
    uint32_t order;                 /* among the failures of that seed */
    uint64_t seeds;                 /* how many showed it */
};

struct explore_summary {
    uint64_t run, failed;
    uint32_t distinct;
    uint64_t lost; /* failures beyond the list */
    double seconds;
    struct explore_distinct list[EXPLORE_DISTINCT];
};

/* explore_options.c. `options->run_argv` is for the caller to free. */
int explore_parse(struct explore_options *options, int argc, char **argv);

/* explore_worker.c */
struct explore_worker {
    pid_t pid;          /* 0: none */
    int to, from;       /* seeds, results */
    bool busy, overdue; /* overdue: it was killed for that */
    uint64_t seed;
    double since;
};
/* `all` has the ones that run already. */
bool explore_worker_start(struct explore_worker *worker, const struct explore_worker *all,
                          uint32_t count, const struct explore_options *options);
bool explore_worker_give(struct explore_worker *worker, uint64_t seed);
/* After its results have ended: fetch the process, and say what became of the seed that it had. */
void explore_worker_fetch(struct explore_worker *worker, struct explore_result *result);
void explore_worker_stop(struct explore_worker *worker);
double explore_now(void);

/* explore_report.c */
void explore_add(struct explore_summary *summary, const struct explore_result *result);
void explore_print(const struct explore_options *options, const struct explore_summary *summary);
bool explore_write_json(const struct explore_options *options,
                        const struct explore_summary *summary);

#endif
