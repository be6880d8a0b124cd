/* SPDX-License-Identifier: MIT */
/* dxgkhost: the command line. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/usage.h"

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "run") == 0)
        return cli_run(argc - 2, argv + 2);
    if (argc >= 2 && strcmp(argv[1], "inspect") == 0)
        return cli_inspect(argc - 2, argv + 2);
    if (argc >= 2 && strcmp(argv[1], "explore") == 0)
        return cli_explore(argc - 2, argv + 2);
    if (argc >= 2 && strcmp(argv[1], "explain") == 0)
        return cli_explain(argc - 2, argv + 2);
    if (argc >= 2 && strcmp(argv[1], "rules") == 0)
        return cli_rules(argc - 2, argv + 2);
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts("dxgkhost " DXGK_VERSION);
        return CLI_OK;
    }
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        cli_usage();
        return CLI_OK;
    }
    cli_usage();
    return CLI_USAGE;
}
