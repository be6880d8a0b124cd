/* SPDX-License-Identifier: MIT */
#include "cli/debugger.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/argument.h"
#include "cli/duration.h"
#include "cli/session.h"
#include "cli/usage.h"
#include "util/array.h"
#include "verify/verify.h"

#define SCRIPT "gdb/dxgkhost.py"
/* words besides those of the command line */
#define MOST_ADDED (2 * CLI_MAX_BREAKS + 16u)

int cli_parse_break(struct cli_options *options, const char *name, const char *value)
{
    struct cli_debugger_options *debugger = &options->debugger;

    (void)name;
    if (strcmp(value, "any") != 0 && !verify_rule_find(value))
        return cli_usage_error("--break wants the id of a rule, or any", value);
    if (debugger->rules == CLI_MAX_BREAKS)
        return cli_usage_error("--break: too many of them", value);
    debugger->rule[debugger->rules++] = value;
    debugger->gdb = true;
    return CLI_OK;
}

int cli_parse_until(struct cli_options *options, const char *name, const char *value)
{
    uint64_t *ns = &options->debugger.until_ns;

    (void)name;
    if (!cli_parse_duration(value, ns) || *ns == 0)
        return cli_usage_error("--until wants a time like 90, 20ms or 1h", value);
    options->debugger.gdb = true;
    return CLI_OK;
}

int cli_debugger_check(const struct cli_options *options)
{
    if (!options->debugger.gdb)
        return CLI_OK;
    if (options->isolated)
        return cli_usage_error("an isolated machine has no debugger", "--isolate");
    if (options->config.races)
        return cli_usage_error("gdb takes the traps with which races are found", "--races");
    return CLI_OK;
}

/* Beside the program in a build, and where it is installed. */
static bool find_script(const char *program, char *path, size_t bytes)
{
    static const char *const places[] = {"", "../" DXGK_DATA_FOLDER "/"};
    const char *slash = strrchr(program, '/');

    for (size_t i = 0; i < ARRAY_COUNT(places); i++) {
        snprintf(path, bytes, "%.*s%s" SCRIPT, slash ? (int)(slash + 1 - program) : 0, program,
                 places[i]);
        if (access(path, R_OK) == 0)
            return true;
    }
    fprintf(stderr, "dxgkhost: --gdb: there is no " SCRIPT " at %s\n", path);
    return false;
}

struct words {
    char **word;
    size_t count;
};

static void add(struct words *words, const char *word)
{
    words->word[words->count++] = (char *)(uintptr_t)word;
}

/* The options of a debugger are left out, and those of a program in it are added. */
static void add_command_line(struct words *words, const struct cli_options *options,
                             bool (*wants_value)(const char *name))
{
    bool watched = false;

    for (int i = 0; i < options->argc; i++) {
        const char *word = options->argv[i];
        char name[CLI_NAME_BYTES];
        const bool whole = cli_argument(word, name) != NULL; /* with its value */

        if (strcmp(name, "--break") == 0 || strcmp(name, "--until") == 0) {
            i += !whole;
            continue;
        }
        if (strcmp(word, "--gdb") == 0 || strcmp(word, "--no-supervisor") == 0)
            continue;
        watched |= strcmp(name, "--watchdog") == 0;
        add(words, word);
        if (!whole && wants_value(name) && i + 1 < options->argc)
            add(words, options->argv[++i]);
    }
    add(words, "--no-supervisor");
    if (!watched) {
        add(words, "--watchdog");
        add(words, "0");
    }
}

int cli_debugger_run(const struct cli_options *options, bool (*wants_value)(const char *name))
{
    const struct cli_debugger_options *debugger = &options->debugger;
    const char *gdb = getenv("DXGK_GDB");
    char program[4096], script[4200], rule[CLI_MAX_BREAKS][48], until[64];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    struct words words = {.word = calloc((size_t)options->argc + MOST_ADDED, sizeof(char *))};

    program[length > 0 ? length : 0] = '\0';
    if (!words.word) {
        fputs("dxgkhost: out of memory\n", stderr);
        return CLI_HOST;
    }
    if (!find_script(program, script, sizeof(script))) {
        free((void *)words.word);
        return CLI_HOST;
    }
    add(&words, gdb && *gdb ? gdb : "gdb");
    add(&words, "-q");
    add(&words, "-x");
    add(&words, script);
    for (size_t i = 0; i < debugger->rules; i++) {
        snprintf(rule[i], sizeof(rule[i]), "dxgk-rule %s", debugger->rule[i]);
        add(&words, "-ex");
        add(&words, rule[i]);
    }
    if (debugger->until_ns) {
        snprintf(until, sizeof(until), "dxgk-until %" PRIu64 "ns", debugger->until_ns);
        add(&words, "-ex");
        add(&words, until);
    }
    if (debugger->rules || debugger->until_ns) {
        add(&words, "-ex");
        add(&words, "run");
    }
    add(&words, "--args");
    add(&words, program);
    add(&words, "run");
    add_command_line(&words, options, wants_value);
    fflush(NULL);
    execvp(words.word[0], words.word);
    fprintf(stderr, "dxgkhost: --gdb: %s cannot be started: %s\n", words.word[0], strerror(errno));
    free((void *)words.word);
    return CLI_HOST;
}
