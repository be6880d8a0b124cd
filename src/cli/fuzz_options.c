/* SPDX-License-Identifier: MIT */
#include "cli/fuzz_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/argument.h"
#include "cli/fuzz_shared.h"
#include "cli/option.h"
#include "cli/usage.h"
#include "option_table.h"
#include "util/array.h"

#define WATCHDOG_MS 1000u /* less than for a run: a hang is looked for each time it comes */
#define LIMIT_S     10u
#define MOST_BYTES  1024u
#define BATCH       16u
#define VIRTUAL_NS  60000000000u

static bool find_word(const char *value, const char *const *words, unsigned count, unsigned *index)
{
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(value, words[i]) != 0)
            continue;
        *index = i;
        return true;
    }
    return false;
}

static enum cli_answer parse_reset(struct fuzz_options *options, const char *value)
{
    static const char *const resets[] = {
        [FUZZ_RESET_MEMORY] = "memory", [FUZZ_RESET_CHECKED] = "checked", [FUZZ_RESET_FORK] = "fork"};
    unsigned index;

    if (!find_word(value, resets, ARRAY_COUNT(resets), &index))
        return CLI_WRONG;
    options->reset = (enum fuzz_reset)index;
    return CLI_MINE;
}

static enum cli_answer parse_engine(struct fuzz_options *options, const char *value)
{
    static const char *const engines[] = {
        [FUZZ_ENGINE_CAMPAIGN] = "libfuzzer", [FUZZ_ENGINE_AFL] = "afl", [FUZZ_ENGINE_TARGET] = "target"};
    unsigned index;

    if (!find_word(value, engines, ARRAY_COUNT(engines), &index))
        return CLI_WRONG;
    options->engine = (enum fuzz_engine)index;
    return CLI_MINE;
}

/* --serve, of the engine to its server. */
static enum cli_answer parse_serve(struct fuzz_options *options, const char *value)
{
    options->serves = sscanf(value, "%d,%d,%d,%d", &options->shared, &options->requests,
                             &options->answers, &options->events) == 4;
    return options->serves ? CLI_MINE : CLI_WRONG;
}

#define CLI_OPTION_STRUCT struct fuzz_options
#define CLI_OPTION_PARSER fuzz
static const struct cli_option table[] = {CLI_FUZZ_OPTIONS};

static enum cli_answer own_option(struct fuzz_options *options, const struct cli_option *option,
                                  const char *value)
{
    if (option->kind == CLI_KIND_PARSED)
        return option->parse.fuzz(options, value);
    return cli_option_store(option, options, value) ? CLI_MINE : CLI_WRONG;
}

static int take_own(struct fuzz_options *options, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        char name[CLI_NAME_BYTES];
        const char *given = cli_argument(argv[i], name);
        const char *value = given ? given : i + 1 < argc ? argv[i + 1] : "";
        const struct cli_option *option = cli_option_find(table, ARRAY_COUNT(table), name);

        if (!option) {
            options->run_argv[options->run_argc++] = argv[i];
            continue;
        }
        if (option->kind == CLI_KIND_SWITCH && given)
            return cli_usage_error("this option takes no value", argv[i]);
        if (own_option(options, option, value) == CLI_WRONG) {
            fprintf(stderr, "dxgkhost: %s: wrong value: %s\n", argv[i], value);
            return CLI_USAGE;
        }
        i += option->kind != CLI_KIND_SWITCH && !given;
    }
    return CLI_OK;
}

/* What a workload would be the place of: the input, or, where none is replayed, a file that is
 * there. */
static int parse_run(struct fuzz_options *options, int argc, char **argv)
{
    char **words = calloc((size_t)options->run_argc + 2, sizeof(*words));
    char *driver = NULL;
    int count = 0, status;

    if (!words)
        return CLI_HOST;
    for (int i = 0; i < options->run_argc; i++)
        words[count++] = options->run_argv[i];
    status = cli_options_parse_fuzz(&options->run, count, words);
    driver = (char *)options->run.driver;
    options->run.workload = options->replay ? options->replay : driver;
    options->run.argc = argc;
    options->run.argv = argv;
    free(words);
    return status;
}

/* A campaign has no results of a run, and its driver has the rights of its user. */
static int refuse_options(const struct fuzz_options *options)
{
    const struct cli_options *run = &options->run;

    if (options->replay)
        return CLI_OK;
    if (run->isolated)
        return cli_usage_error("not an option of fuzz", "--isolate");
    if (run->trace || run->trace_dxgkrnl || run->reports || run->pictures.watch ||
        run->pictures.frames || run->result[CLI_RESULT_JSON].path ||
        run->result[CLI_RESULT_JUNIT].path || run->result[CLI_RESULT_SARIF].path)
        return cli_usage_error("fuzz takes options for results of a run with --replay only",
                               run->driver);
    return CLI_OK;
}

static int read_grammar(struct fuzz_options *options)
{
    char error[512];

    if (!options->grammar_file ||
        fuzz_grammar_read(options->grammar_file, &options->grammar, error, sizeof(error)))
        return CLI_OK;
    fprintf(stderr, "dxgkhost: fuzz: no grammar: %s\n", error);
    return CLI_USAGE;
}

static void choose_folders(struct fuzz_options *options)
{
    if (!options->corpus) {
        snprintf(options->corpus_path, sizeof(options->corpus_path), "%s/corpus", options->run.out);
        options->corpus = options->corpus_path;
    }
    if (!options->findings) {
        snprintf(options->findings_path, sizeof(options->findings_path), "%s/findings",
                 options->run.out);
        options->findings = options->findings_path;
    }
}

int fuzz_options_parse(struct fuzz_options *options, int argc, char **argv)
{
    bool watchdog = false, virtual_limit = false;
    int status;

    memset(options, 0, sizeof(*options));
    options->limit_s = LIMIT_S;
    options->most_bytes = MOST_BYTES;
    options->engines = 1;
    options->batch = BATCH;
    options->shared = options->requests = options->answers = options->events = -1;
    options->run_argv = calloc((size_t)argc + 1, sizeof(*options->run_argv));
    if (!options->run_argv) {
        fputs("dxgkhost: out of memory\n", stderr);
        return CLI_HOST;
    }
    status = take_own(options, argc, argv);
    if (status == CLI_OK)
        status = parse_run(options, argc, argv);
    if (status == CLI_OK)
        status = refuse_options(options);
    if (status == CLI_OK)
        status = read_grammar(options);
    if (status != CLI_OK)
        return status;
    for (int i = 0; i < options->run_argc; i++) {
        watchdog |= strcmp(options->run_argv[i], "--watchdog") == 0;
        virtual_limit |= strcmp(options->run_argv[i], "--virtual-limit") == 0;
    }
    if (!watchdog)
        options->run.config.watchdog_ms = WATCHDOG_MS;
    if (!virtual_limit)
        options->run.config.time_limit_ns = VIRTUAL_NS;
    choose_folders(options);
    return cli_options_ready(&options->run) ? CLI_OK : CLI_USAGE;
}

void fuzz_options_free(struct fuzz_options *options)
{
    free(options->run_argv);
}
