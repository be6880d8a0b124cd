/* SPDX-License-Identifier: MIT */
/* One run of a machine as the command line describes it: options, the run, and its results. */
#ifndef DXGK_CLI_SESSION_H
#define DXGK_CLI_SESSION_H

#include "cli/cli.h"
#include "cli/debugger.h"
#include "cli/picture_options.h"
#include "cli/results.h"
#include "dxgkhost/dxgkhost.h"
#include "lua/lua_workload.h"

#include <stdio.h>

#define CLI_MAX_OPTIONS   64u
#define CLI_REFUSALS      4u
#define CLI_STALL_S       60u
#define CLI_SCRIPT_S      30u
#define CLI_SCRIPT_MEMORY ((uint64_t)1 << 30)

struct cli_option;
struct cli_page_parts;
struct cli_pictures;
struct cli_session;
struct cli_watch;
struct cli_shared;

/* What can be told of the end of the workload, and drawn in a picture. */
enum cli_report {
    CLI_REPORT_MEMORY,
    CLI_REPORT_GPUVA,
    CLI_REPORT_RESIDENCY,
    CLI_REPORT_SUBMISSIONS,
    CLI_REPORTS
};

struct cli_options {
    const char *driver, *workload, *device, *registry, *trace, *trace_dxgkrnl, *out, *iommu;
    int argc; /* what was parsed */
    char **argv;
    struct cli_result_file result[CLI_RESULT_FORMS]; /* open since before the run */
    struct cli_picture_options pictures;
    struct cli_monitor_options monitors;
    struct cli_debugger_options debugger;
    const char *set[CLI_MAX_OPTIONS]; /* "key=value" */
    size_t sets;
    const char *device_set[CLI_MAX_OPTIONS];
    size_t device_sets;
    const char *severity[CLI_MAX_OPTIONS]; /* "RULE=severity" */
    size_t severities;
    uint64_t power_cycle_ns; /* interval between two losses of power; 0: none */
    uint64_t script_s;      /* processor time of the script without a step of the machine; 0: any */
    uint64_t script_memory; /* bytes that the script may hold; 0: any number */
    uint64_t stall_s;       /* host seconds without a step after which a run is ended; 0: none */
    bool verbose;
    unsigned reports;   /* bits of enum cli_report */
    bool unsupervised;  /* the machine runs in this process */
    bool isolated;      /* it runs without rights to files, network and processes */
    FILE *trace_file;   /* open since before the run; NULL: no trace */
    FILE *dxgkrnl_file; /* the same for the trace of Windows' provider, in this form */
    enum dxgk_windows_trace dxgkrnl_form;
    struct cli_shared *shared;
    bool inspects; /* there is no workload, nor options for one */
    bool fuzzes;   /* what stands for the workload is not among the arguments */
    /* What the client does instead of the workload; NULL: it is the workload's */
    void (*client)(struct cli_session *session);
    void *client_context;
    struct dxgk_machine_config config;
    char vram[40], device_path[4096];
};

/* Parses the arguments of `run`, which must stay valid as long as the options. CLI_OK, or the exit
 * status after an error message. */
int cli_options_parse(struct cli_options *options, int argc, char **argv);
/* The same for `inspect`, which has a driver and no workload. */
int cli_options_parse_inspect(struct cli_options *options, int argc, char **argv);
/* The row of an option of `run`; NULL: there is none of this name. */
const struct cli_option *cli_run_option(const char *name);
/* Whether the word after this one is the value of an option of this name. */
bool cli_option_wants_value(const char *name);
/* The same for `fuzz`: the caller says what the workload is. */
int cli_options_parse_fuzz(struct cli_options *options, int argc, char **argv);
/* Checks before the run what can be checked: unreadable files, missing folders for results, no
 * device model. Prints what is wrong; chooses the device. */
bool cli_options_ready(struct cli_options *options);

struct cli_session {
    const struct cli_options *options;
    struct dxgk_machine *machine; /* NULL: it could not be created; error says why */
    struct lua_workload workload;
    enum dxgk_result loaded, result,
        ended;       /* outcome of: device and driver; the workload; the shutdown */
    bool bad_option; /* of a severity, the registry or a monitor: `error` says why */
    struct dxgk_statistics statistics;
    bool tables_checked; /* --check-page-tables, at the end of the workload */
    struct dxgk_table_check tables;
    uint64_t power_cycles; /* how many were made */
    char power_error[256]; /* why power cycling stopped; "": no error */
    bool workload_over;
    bool starting;   /* device and driver: findings are held back */
    size_t happened; /* broken rules so far, as they are told */
    /* the last failed calls, oldest first: of the driver, if it was not started; else the last one
     * of the workload */
    char refused[CLI_REFUSALS][512];
    size_t refusals;
    /* reports at the end of the workload; NULL: none requested, or one failed. Owned */
    char *report_text;
    size_t report_bytes;
    enum cli_report failed_report; /* the last one begun */
    char report_error[256];        /* why; "": a file could not be written */
    struct cli_pictures *pictures; /* NULL: none are asked for. Owned */
    struct cli_watch *watch;       /* the same */
    struct cli_page_parts *page;   /* the same */
    char error[4096];
};

/* What `run` does with options that are ready. Returns the exit status. */
int cli_run_options(struct cli_options *options);
/* Create a machine, run, shut down; prints only what the workload prints. */
void cli_session_run(struct cli_session *session, const struct cli_options *options);
void cli_session_finish(struct cli_session *session);
/* "memory": as the option names it, and as its pictures are called. */
extern const char *const cli_report_names[CLI_REPORTS];
/* Whether a bug check stopped the simulated machine. */
bool cli_session_stopped(const struct cli_session *session);

#endif
