/* SPDX-License-Identifier: MIT */
/* The subcommands of the program; each returns the exit status. */
#ifndef DXGK_CLI_H
#define DXGK_CLI_H

/* CLI_DRIVER: rules were broken, by the driver or in a trace. CLI_ENDED: the machine's process
 * ended without a result, and not in code of the driver. After a signal that asked for the end: 128
 * and its number. */
enum cli_status { CLI_OK = 0, CLI_ERROR = 1, CLI_USAGE = 2, CLI_DRIVER = 3, CLI_ENDED = 4 };

int cli_run(int argc, char **argv);     /* run.c */
int cli_inspect(int argc, char **argv); /* inspect.c */
int cli_explore(int argc, char **argv); /* explore.c */
int cli_explain(int argc, char **argv); /* rules.c */
int cli_rules(int argc, char **argv);
int cli_check_trace(int argc, char **argv); /* check_trace.c */
int cli_compare(int argc, char **argv);     /* compare.c */
int cli_fuzz(int argc, char **argv);        /* fuzz.c */

#endif
