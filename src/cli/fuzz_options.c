/* SPDX-License-Identifier: MIT */
#include "cli/fuzz_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/argument.h"
#include "cli/fuzz_shared.h"
#include "cli/number.h"
#include "cli/usage.h"
#include "util/array.h"

#define WATCHDOG_MS 1000u /* less than for a run: a hang is looked for each time it comes */
#define LIMIT_S     10u
#define MOST_BYTES  1024u
#define SERVE       "--serve" /* for nobody but the engine */
#define BATCH       16u
#define VIRTUAL_NS  60000000000u

enum option_answer { NOT_MINE, MINE, WRONG };

static enum option_answer take_path(struct fuzz_options *options, const char *name,
                                    const char *value)
{
    const struct {
        const char *name, **path;
    } paths[] = {{"--corpus", &options->corpus},
                 {"--findings", &options->findings},
                 {"--dict", &options->dictionary},
                 {"--grammar", &options->grammar_file},
                 {"--replay", &options->replay}};

    for (size_t i = 0; i < ARRAY_COUNT(paths); i++) {
        if (strcmp(name, paths[i].name) != 0)
            continue;
        *paths[i].path = value;
        return *value ? MINE : WRONG;
    }
    return NOT_MINE;
}

static enum option_answer take_number(struct fuzz_options *options, const char *name,
                                      const char *value)
{
    uint64_t engines = 0;
    const struct {
        const char *name;
        uint64_t *number, least, most;
    } numbers[] = {{"--runs", &options->runs, 1, INT32_MAX},
                   {"--seconds", &options->seconds, 1, INT32_MAX},
                   {"--fuzz-seed", &options->seed, 1, UINT32_MAX},
                   {"--max-bytes", &options->most_bytes, 1, FUZZ_INPUT},
                   {"--limit", &options->limit_s, 1, 86400},
                   {"--stop-after", &options->stop_after, 1, INT32_MAX},
                   {"--batch", &options->batch, 1, 1000000},
                   {"-j", &engines, 1, FUZZ_ENGINES},
                   {"--jobs", &engines, 1, FUZZ_ENGINES}};

    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++) {
        if (strcmp(name, numbers[i].name) != 0)
            continue;
        if (!cli_parse_number(value, numbers[i].number) || *numbers[i].number < numbers[i].least ||
            *numbers[i].number > numbers[i].most)
            return WRONG;
        if (engines)
            options->engines = (uint32_t)engines;
        return MINE;
    }
    return NOT_MINE;
}

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

static enum option_answer take_word(struct fuzz_options *options, const char *name,
                                    const char *value)
{
    static const char *const resets[] = {
        [FUZZ_RESET_MEMORY] = "memory", [FUZZ_RESET_CHECKED] = "checked", [FUZZ_RESET_FORK] = "fork"};
    static const char *const engines[] = {
        [FUZZ_ENGINE_CAMPAIGN] = "libfuzzer", [FUZZ_ENGINE_AFL] = "afl", [FUZZ_ENGINE_TARGET] = "target"};
    unsigned index;

    if (strcmp(name, "--reset") == 0) {
        if (!find_word(value, resets, ARRAY_COUNT(resets), &index))
            return WRONG;
        options->reset = (enum fuzz_reset)index;
        return MINE;
    }
    if (strcmp(name, "--engine") != 0)
        return NOT_MINE;
    if (!find_word(value, engines, ARRAY_COUNT(engines), &index))
        return WRONG;
    options->engine = (enum fuzz_engine)index;
    return MINE;
}

/* Of the engine to its server. */
static enum option_answer take_serve(struct fuzz_options *options, const char *name,
                                     const char *value)
{
    if (strcmp(name, SERVE) != 0)
        return NOT_MINE;
    options->serves = sscanf(value, "%d,%d,%d,%d", &options->shared, &options->requests,
                             &options->answers, &options->events) == 4;
    return options->serves ? MINE : WRONG;
}

static bool take_switch(struct fuzz_options *options, const char *name)
{
    if (strcmp(name, "--merge") != 0)
        return false;
    options->reduce_corpus = true;
    return true;
}

static int take_own(struct fuzz_options *options, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        char name[CLI_NAME_BYTES];
        const char *given = cli_argument(argv[i], name);
        const char *value = given ? given : i + 1 < argc ? argv[i + 1] : "";
        enum option_answer answer;

        if (take_switch(options, argv[i]))
            continue;
        answer = take_path(options, name, value);
        if (answer == NOT_MINE)
            answer = take_number(options, name, value);
        if (answer == NOT_MINE)
            answer = take_word(options, name, value);
        if (answer == NOT_MINE)
            answer = take_serve(options, name, value);
        if (answer == WRONG) {
            fprintf(stderr, "dxgkhost: %s: wrong value: %s\n", argv[i], value);
            return CLI_USAGE;
        }
        if (answer == NOT_MINE)
            options->run_argv[options->run_argc++] = argv[i];
        else
            i += !given;
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
