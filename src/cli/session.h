/* SPDX-License-Identifier: MIT */
/* One life of a machine as the command line asks for it: options, the run, what came of it. */
#ifndef DXGK_CLI_SESSION_H
#define DXGK_CLI_SESSION_H

#include "cli/cli.h"
#include "dxgkhost/dxgkhost.h"
#include "lua/lua_workload.h"

#define CLI_MAX_OPTIONS 64u

struct cli_options {
    const char *driver, *workload, *device, *registry, *trace, *out, *iommu;
    const char *set[CLI_MAX_OPTIONS]; /* "key=value" */
    size_t sets;
    const char *device_set[CLI_MAX_OPTIONS];
    size_t device_sets;
    const char *severity[CLI_MAX_OPTIONS]; /* "RULE=severity" */
    size_t severities;
    uint64_t power_cycle_ns; /* between two losses of power; 0: none */
    bool verbose, report_memory;
    struct dxgk_machine_config config;
    char vram[40], device_path[4096];
};

int cli_usage_error(const char *what, const char *value); /* prints; CLI_USAGE */
/* Arguments of `run`; they must stay where they are as long as the options. CLI_OK, or what to exit
 * with, said already. */
int cli_options_parse(struct cli_options *options, int argc, char **argv);
/* What can be known to fail does so before the run: files that cannot be read, no folder for
 * results, no device model. Says which; chooses the device. */
bool cli_options_ready(struct cli_options *options);

struct cli_session {
    const struct cli_options *options;
    struct dxgk_machine *machine; /* NULL: it could not be built; error says why */
    struct lua_workload workload;
    enum dxgk_result loaded, result,
        ended;         /* of device and driver; of the workload; of the shutdown */
    bool bad_severity; /* an option that the machine does not know */
    struct dxgk_statistics statistics;
    uint64_t power_cycles; /* that were made */
    char power_error[256]; /* why there was no further one; "": nothing was wrong */
    bool workload_over;
    /* report of memory at the end of the workload; NULL: none was wanted, or it failed. Owned */
    char *memory_text;
    size_t memory_bytes;
    char error[4096];
};

/* Build a machine, run, shut down; prints nothing but the workload's own progress. */
void cli_session_run(struct cli_session *session, const struct cli_options *options);
void cli_session_finish(struct cli_session *session);
/* Was the simulated machine stopped by a bug check? */
bool cli_session_stopped(const struct cli_session *session);
/* Did the workload say that violations of this rule belong to it? */
bool cli_session_expects(const struct cli_session *session, const char *rule);
/* Rules that were expected to be broken and were not: the index-th, or NULL. */
const char *cli_session_missed(const struct cli_session *session, size_t index);
/* A broken rule that counts: an error or a bug check that was not expected. */
bool cli_session_unexpected(const struct cli_session *session, const struct dxgk_violation *v);

#endif
