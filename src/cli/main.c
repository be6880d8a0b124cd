/* SPDX-License-Identifier: MIT */
/* dxgkhost: the command line. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/color.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "option_table.h"
#include "util/array.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
#define COMMAND(name, run) {name, run},
    CLI_COMMANDS(COMMAND)
#undef COMMAND
};

static bool wants_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0)
            return true;
    return false;
}

static int run(int argc, char **argv)
{
    if (wants_help(argc, argv)) {
        if (!cli_usage_of(stdout, argv[1]))
            cli_usage(stdout);
        return CLI_OK;
    }
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts("dxgkhost " DXGK_VERSION);
        return CLI_OK;
    }
    for (size_t i = 0; argc >= 2 && i < ARRAY_COUNT(commands); i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 2, argv + 2);
    cli_usage(stderr);
    if (argc >= 2)
        fprintf(stderr, "dxgkhost: unknown command: %s\n", argv[1]);
    return CLI_USAGE;
}

/* What is opened later must not take the number of a stream that was closed, or a report would end
 * in a result. Writing to such a stream fails, as it should. */
static void hold_streams(void)
{
    int file;

    do
        file = open("/dev/null", O_RDONLY);
    while (file >= 0 && file <= STDERR_FILENO);
    if (file >= 0)
        close(file);
}

int main(int argc, char **argv)
{
    hold_streams();
    cli_color_begin();
    /* errors of writing */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    return cli_check_output(run(argc, argv));
}
