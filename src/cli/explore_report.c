/* SPDX-License-Identifier: MIT */
/* The results of a campaign: failures grouped by rule and place, each with the command that
 * reproduces it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explore_report.h"
#include "cli/color.h"
#include "cli/explore_options.h"
#include "cli/explore_result.h"
#include "cli/result.h"
#include "cli/verdict.h"

static bool is_same(const struct explore_failure *a, const struct explore_failure *b)
{
    return strcmp(a->rule, b->rule) == 0 && strcmp(a->severity, b->severity) == 0 &&
           strcmp(a->where, b->where) == 0;
}

/* By seed, then by the allocation that fails. */
static int compare(const struct explore_point *a, const struct explore_point *b)
{
    if (a->seed != b->seed)
        return a->seed < b->seed ? -1 : 1;
    return a->fail < b->fail ? -1 : a->fail > b->fail;
}

static void add_one(struct explore_summary *summary, const struct explore_failure *failure,
                    const struct explore_point *point, uint32_t order)
{
    struct explore_distinct *distinct = summary->list;
    const struct explore_distinct *end = distinct + summary->distinct;

    while (distinct < end && !is_same(&distinct->failure, failure))
        distinct++;
    if (distinct == end) {
        if (summary->distinct == EXPLORE_DISTINCT) {
            summary->lost++;
            return;
        }
        summary->distinct++;
        distinct->point = (struct explore_point){UINT64_MAX, UINT64_MAX};
    }
    distinct->seeds++;
    if (compare(point, &distinct->point) < 0) {
        distinct->point = *point;
        distinct->order = order;
        distinct->failure = *failure;
    }
}

/* By the lowest point, then in the order of its run. */
static int by_seed(const void *left, const void *right)
{
    const struct explore_distinct *a = left, *b = right;

    if (compare(&a->point, &b->point) != 0)
        return compare(&a->point, &b->point);
    return a->order < b->order ? -1 : a->order > b->order;
}

void explore_report_add(struct explore_summary *summary, const struct explore_result *result)
{
    uint32_t count = result->failures < EXPLORE_FAILURES ? result->failures : EXPLORE_FAILURES;

    summary->run++;
    summary->status = cli_graver(summary->status, result->status);
    summary->failed += count != 0;
    for (uint32_t i = 0; i < count; i++) {
        bool again = false;

        for (uint32_t k = 0; k < i; k++) /* count each seed once */
            again |= is_same(&result->failure[k], &result->failure[i]);
        if (!again)
            add_one(summary, &result->failure[i], &result->point, i);
    }
    qsort(summary->list, summary->distinct, sizeof(summary->list[0]), by_seed);
}

/* ---- the command ---- */

void explore_put_command(FILE *out, const struct explore_options *options,
                         const struct explore_point *point)
{
    cli_put_command(out, "run", options->run_argc, options->run_argv);
    fprintf(out, " --seed %" PRIu64, point->seed);
    if (point->fail)
        fprintf(out, " --fail-allocation %" PRIu64, point->fail);
}

void explore_report_print(const struct explore_options *options,
                          const struct explore_summary *summary)
{
    FILE *out = options->json && strcmp(options->json, "-") == 0 ? stderr : stdout;

    fprintf(out, "dxgkhost explore %s %s\n", options->run.driver, options->run.workload);
    fprintf(out, "  seeds %" PRIu64 "..%" PRIu64, options->first, options->last);
    if (options->shards > 1)
        fprintf(out, ", shard %u of %u", options->shard, options->shards);
    if (options->fail_last)
        fprintf(out, ", allocations %" PRIu64 "..%" PRIu64, options->fail_first, options->fail_last);
    fprintf(out, ": %" PRIu64 " run, %" PRIu64 " failed in %u way%s\n", summary->run,
            summary->failed, summary->distinct, summary->distinct == 1 ? "" : "s");
    for (uint32_t i = 0; i < summary->distinct; i++) {
        const struct explore_distinct *distinct = &summary->list[i];
        const struct explore_failure *failure = &distinct->failure;

        fprintf(out, "\n%s%s %s%s: %s\n", cli_color(out, cli_color_of(failure->severity)),
                failure->severity, failure->rule, cli_color_end(out), failure->seen);
        if (failure->where[0] &&
            strncmp(failure->where, failure->seen, sizeof(failure->where) - 1) != 0)
            fprintf(out, "  in %s, thread %s, at %.6f ms\n", failure->where, failure->thread,
                    (double)failure->virtual_ns / 1e6);
        fprintf(out, "  first with seed %" PRIu64, distinct->point.seed);
        if (distinct->point.fail)
            fprintf(out, ", allocation %" PRIu64 ", %" PRIu64 " run%s in all; again with\n  ",
                    distinct->point.fail, distinct->seeds, distinct->seeds == 1 ? "" : "s");
        else
            fprintf(out, ", %" PRIu64 " seed%s in all; again with\n  ", distinct->seeds,
                    distinct->seeds == 1 ? "" : "s");
        explore_put_command(out, options, &distinct->point);
        putc('\n', out);
    }
    if (summary->lost)
        fprintf(out, "\nand %" PRIu64 " more failures, not told apart\n", summary->lost);
    if (summary->run)
        fprintf(stderr, "%.1f s, %.0f seeds a second\n", summary->seconds,
                (double)summary->run / summary->seconds);
}
