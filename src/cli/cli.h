/* SPDX-License-Identifier: MIT */
/* The subcommands of the program; each returns the exit status. */
#ifndef DXGK_CLI_H
#define DXGK_CLI_H

/* Exit statuses (docs/robustness.md). */
enum cli_status {
    CLI_OK = 0,
    CLI_FAILED = 1,       /* the workload; of commands without one: what they read is no good */
    CLI_USAGE = 2,        /* the command line, or a file that it names */
    CLI_BROKEN = 3,       /* rules, by the driver or in a trace */
    CLI_HOST = 4,         /* no machine, no result of it, or nowhere to write it */
    CLI_STOPPED = 5,      /* the machine, by the driver */
    CLI_REFUSED = 6,      /* the driver or the device */
    CLI_INTERRUPTED = 128 /* and the number of the signal that asked for the end */
};

int cli_run(int argc, char **argv);     /* run.c */
int cli_inspect(int argc, char **argv); /* inspect.c */
int cli_explore(int argc, char **argv); /* explore.c */
int cli_explain(int argc, char **argv); /* rules.c */
int cli_rules(int argc, char **argv);
int cli_check_trace(int argc, char **argv); /* check_trace.c */
int cli_compare(int argc, char **argv);     /* compare.c */
int cli_fuzz(int argc, char **argv);        /* fuzz.c */

#endif
