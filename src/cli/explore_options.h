/* SPDX-License-Identifier: MIT */
/* The options of `dxgkhost explore`: which seeds, by how many workers, and what every run has. */
#ifndef DXGK_CLI_EXPLORE_OPTIONS_H
#define DXGK_CLI_EXPLORE_OPTIONS_H

#include <stdint.h>

#include "cli/session.h"

#define EXPLORE_WORKERS 256u

struct explore_options {
    struct cli_options run;
    int argc; /* all arguments */
    char **argv;
    int run_argc; /* arguments that are run's, driver and workload first, without the seed */
    char **run_argv;
    bool seeds; /* were given: */
    uint64_t first, last;
    uint64_t fail_first, fail_last; /* allocations that fail, one in each run of a seed; 0: none */
    uint32_t workers;
    uint32_t shard, shards; /* 1 .. shards */
    uint32_t stop_after;    /* 0: never */
    uint32_t limit_s;
    const char *json, *junit, *sarif;
};

/* `options->run_argv` is for the caller to free. */
int explore_options_parse(struct explore_options *options, int argc, char **argv);

#endif
