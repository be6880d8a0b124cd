/* SPDX-License-Identifier: MIT */
/* The results of a campaign for programs: JSON of its own, and the forms of a run. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explore_options.h"
#include "cli/explore_report.h"
#include "cli/json.h"
#include "cli/result.h"

/* ---- JSON ---- */

static void put_failure(struct cli_json *json, const struct explore_options *options,
                        const struct explore_distinct *distinct)
{
    const struct explore_failure *failure = &distinct->failure;
    char *command = NULL;
    size_t bytes;
    FILE *memory = open_memstream(&command, &bytes);

    cli_json_object(json, NULL);
    cli_json_text(json, "rule", failure->rule);
    cli_json_text(json, "severity", failure->severity);
    cli_json_text(json, "where", failure->where);
    cli_json_text(json, "seen", failure->seen);
    cli_json_text(json, "thread", failure->thread);
    cli_json_number(json, "virtual_ns", failure->virtual_ns);
    cli_json_number(json, "seed", distinct->point.seed);
    if (distinct->point.fail)
        cli_json_number(json, "allocation", distinct->point.fail);
    cli_json_number(json, "seeds", distinct->seeds);
    if (memory) {
        explore_put_command(memory, options, &distinct->point);
        if (fclose(memory) == 0)
            cli_json_text(json, "command", command);
        free(command);
    }
    cli_json_end(json);
}

static void put_summary(struct cli_json *json, const struct explore_options *options,
                        const struct explore_summary *summary, int status)
{
    cli_json_object(json, NULL);
    cli_json_text(json, "driver", options->run.driver);
    cli_json_text(json, "workload", options->run.workload);
    cli_json_number(json, "first", options->first);
    cli_json_number(json, "last", options->last);
    if (options->fail_last) {
        cli_json_number(json, "first_allocation", options->fail_first);
        cli_json_number(json, "last_allocation", options->fail_last);
    }
    cli_json_number(json, "shard", options->shard);
    cli_json_number(json, "shards", options->shards);
    cli_json_number(json, "run", summary->run);
    cli_json_number(json, "failed", summary->failed);
    cli_json_seconds(json, "seconds", summary->seconds);
    cli_json_text(json, "outcome", cli_outcome(status));
    cli_json_number(json, "status", (uint64_t)status);
    cli_json_array(json, "failures");
    for (uint32_t i = 0; i < summary->distinct; i++)
        put_failure(json, options, &summary->list[i]);
    cli_json_end(json);
    cli_json_end(json);
}

static bool write_json(const struct explore_options *options, const struct explore_summary *summary,
                       int status)
{
    bool to_stdout = strcmp(options->json, "-") == 0, bad;
    FILE *out = to_stdout ? stdout : fopen(options->json, "w");
    struct cli_json json;

    if (!out) {
        fprintf(stderr, "dxgkhost: %s: %s\n", options->json, strerror(errno));
        return false;
    }
    cli_json_start(&json, out);
    put_summary(&json, options, summary, status);
    bad = ferror(out) != 0;
    bad |= (to_stdout ? fflush(out) : fclose(out)) != 0;
    if (bad)
        fprintf(stderr, "dxgkhost: %s: writing failed\n", options->json);
    return !bad;
}

/* ---- JUnit and SARIF ---- */

struct failures {
    const struct explore_options *options;
    const struct explore_summary *summary;
};

/* Failures as broken rules; how often: in how many seeds. */
static bool failure(const void *from, size_t index, struct dxgk_violation *violation)
{
    const struct explore_summary *summary = ((const struct failures *)from)->summary;
    const struct explore_failure *f = &summary->list[index].failure;
    bool placed;

    if (index >= summary->distinct)
        return false;
    placed = strncmp(f->where, f->seen, sizeof(f->where) - 1) != 0; /* else the text is the place */
    *violation = (struct dxgk_violation){.rule = f->rule,
                                         .severity = f->severity,
                                         .where = placed ? f->where : "",
                                         .seen = f->seen,
                                         .thread = f->thread,
                                         .stack = f->stack,
                                         .virtual_ns = f->virtual_ns,
                                         .count = summary->list[index].seeds};
    return true;
}

static void again(const void *from, size_t index, FILE *out)
{
    const struct failures *f = from;

    explore_put_command(out, f->options, &f->summary->list[index].point);
}

static bool write_forms(const struct explore_options *options,
                        const struct explore_summary *summary, int status)
{
    struct cli_options run = options->run;
    const struct failures from = {options, summary};
    char message[128];
    const struct cli_result result = {.options = &run,
                                      .command = "explore",
                                      .argc = options->argc,
                                      .argv = options->argv,
                                      .status = status,
                                      .outcome = cli_outcome(status),
                                      .message = message,
                                      .wall_s = summary->seconds,
                                      .violation = failure,
                                      .from = &from,
                                      .again = again};
    bool written;

    snprintf(message, sizeof(message), "%" PRIu64 " run, %" PRIu64 " failed in %" PRIu32 " ways",
             summary->run, summary->failed, summary->distinct);
    run.result[CLI_RESULT_JUNIT].path = options->junit;
    run.result[CLI_RESULT_SARIF].path = options->sarif;
    written = cli_results_open(&run) && cli_results_write(&result);
    cli_results_close(&run);
    return written;
}

bool explore_results_write(const struct explore_options *options,
                           const struct explore_summary *summary, int status)
{
    bool written = !options->json || write_json(options, summary, status);

    return write_forms(options, summary, status) && written;
}
