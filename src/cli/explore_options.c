/* SPDX-License-Identifier: MIT */
/* Options of explore: its own are removed, the others are those of run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/explore_options.h"
#include "cli/argument.h"
#include "cli/cli.h"
#include "cli/explore_report.h"
#include "cli/instruments.h"
#include "cli/isolate.h"
#include "cli/number.h"
#include "cli/option.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/usage.h"
#include "option_table.h"
#include "util/array.h"

static bool parse_range(const char *text, char separator, uint64_t *a, uint64_t *b)
{
    const char *middle = separator == '.' ? strstr(text, "..") : strchr(text, separator);
    char first[24];

    if (!middle || (size_t)(middle - text) >= sizeof(first))
        return false;
    snprintf(first, sizeof(first), "%.*s", (int)(middle - text), text);
    return cli_parse_number(first, a) && cli_parse_number(middle + (separator == '.' ? 2 : 1), b);
}

static enum cli_answer parse_seeds(struct explore_options *options, const char *value)
{
    options->seeds = true;
    if (cli_parse_number(value, &options->first)) {
        options->last = options->first;
        return CLI_MINE;
    }
    return parse_range(value, '.', &options->first, &options->last) &&
                   options->first <= options->last && options->last < UINT64_MAX
               ? CLI_MINE
               : CLI_WRONG;
}

/* A number alone is an option of run. */
static enum cli_answer parse_fails(struct explore_options *options, const char *value)
{
    if (!strstr(value, ".."))
        return CLI_NOT_MINE;
    return parse_range(value, '.', &options->fail_first, &options->fail_last) &&
                   options->fail_first >= 1 && options->fail_first <= options->fail_last &&
                   options->fail_last < UINT32_MAX
               ? CLI_MINE
               : CLI_WRONG;
}

static enum cli_answer parse_shard(struct explore_options *options, const char *value)
{
    uint64_t shard, shards;

    if (!parse_range(value, '/', &shard, &shards) || shard < 1 || shard > shards || shards > 1000000)
        return CLI_WRONG;
    options->shard = (uint32_t)shard;
    options->shards = (uint32_t)shards;
    return CLI_MINE;
}

static enum cli_answer parse_count(const char *value, uint32_t most, uint32_t *count)
{
    uint64_t number;

    if (!cli_parse_number(value, &number) || number < 1 || number > most)
        return CLI_WRONG;
    *count = (uint32_t)number;
    return CLI_MINE;
}

static enum cli_answer parse_workers(struct explore_options *options, const char *value)
{
    return parse_count(value, EXPLORE_WORKERS, &options->workers);
}

static enum cli_answer parse_stop_after(struct explore_options *options, const char *value)
{
    return parse_count(value, EXPLORE_DISTINCT, &options->stop_after);
}

static enum cli_answer parse_limit(struct explore_options *options, const char *value)
{
    return parse_count(value, 86400, &options->limit_s);
}

#define CLI_OPTION_STRUCT struct explore_options
#define CLI_OPTION_PARSER explore
static const struct cli_option table[] = {CLI_EXPLORE_OPTIONS};

static enum cli_answer own_option(struct explore_options *options, const char *name,
                                  const char *value)
{
    const struct cli_option *option = cli_option_find(table, ARRAY_COUNT(table), name);

    if (!option)
        return CLI_NOT_MINE;
    if (option->kind == CLI_KIND_PARSED)
        return option->parse.explore(options, value);
    return cli_option_store(option, options, value) ? CLI_MINE : CLI_WRONG;
}

static bool is_of_one_run(const char *name)
{
    const struct cli_option *option = cli_run_option(name);

    return option && option->not_for & CLI_NOT_EXPLORE;
}

static int take_own(struct explore_options *options, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        char name[CLI_NAME_BYTES];
        const char *given = cli_argument(argv[i], name);
        const char *value = given ? given : i + 1 < argc ? argv[i + 1] : "";

        if (is_of_one_run(name))
            return cli_usage_error("not an option of explore", argv[i]);
        if (strncmp(argv[i], "-j", 2) == 0 && argv[i][2]) { /* -j4 */
            if (own_option(options, "-j", argv[i] + 2) != CLI_MINE)
                return cli_usage_error("wrong value", argv[i]);
            continue;
        }
        switch (own_option(options, name, value)) {
        case CLI_NOT_MINE:
            options->run_argv[options->run_argc++] = argv[i];
            break;
        case CLI_WRONG:
            if (!given && i + 1 == argc)
                return cli_usage_error("this option wants a value", argv[i]);
            fprintf(stderr, "dxgkhost: %s: wrong value: %s\n", argv[i], value);
            return CLI_USAGE;
        default:
            i += !given;
        }
    }
    return CLI_OK;
}

static bool can_write(const struct explore_options *options)
{
    return (!options->json || cli_can_write(options->json)) &&
           (!options->junit || cli_can_write(options->junit)) &&
           (!options->sarif || cli_can_write(options->sarif));
}

int explore_options_parse(struct explore_options *options, int argc, char **argv)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const char *why;
    int status;

    memset(options, 0, sizeof(*options));
    options->argc = argc;
    options->argv = argv;
    options->shard = options->shards = 1;
    options->limit_s = 300;
    options->workers = processors > 0 && processors < (long)EXPLORE_WORKERS ? (uint32_t)processors
                                                                            : 1;
    options->run_argv = calloc((size_t)argc + 1, sizeof(*options->run_argv));
    if (!options->run_argv) {
        fputs("dxgkhost: out of memory\n", stderr);
        return CLI_HOST;
    }
    status = take_own(options, argc, argv);
    if (status == CLI_OK)
        status = cli_options_parse(&options->run, options->run_argc, options->run_argv);
    if (status == CLI_OK && !options->seeds) {
        fputs("dxgkhost: explore wants --seeds A..B\n", stderr);
        status = CLI_USAGE;
    }
    if (status == CLI_OK && options->fail_last && options->last - options->first >= UINT32_MAX) {
        fputs("dxgkhost: explore: too many seeds for a range of allocations each\n", stderr);
        status = CLI_USAGE;
    }
    if (status == CLI_OK && !cli_instruments_ready(options->run.driver))
        status = CLI_HOST;
    if (status == CLI_OK && options->run.isolated && !cli_isolate_possible(&why)) {
        fprintf(stderr, "dxgkhost: --isolate: %s\n", why);
        status = CLI_HOST;
    }
    if (status == CLI_OK && (!cli_options_ready(&options->run) || !can_write(options)))
        status = CLI_USAGE;
    return status;
}
