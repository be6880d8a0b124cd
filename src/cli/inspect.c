/* SPDX-License-Identifier: MIT */
/* dxgkhost inspect: describes a driver and what would be refused, without a workload. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/device.h"
#include "cli/instruments.h"
#include "cli/monitors.h"
#include "cli/session.h"
#include "cli/severity.h"
#include "cli/shared.h"
#include "cli/supervise.h"
#include "cli/violations.h"
#include "dxgkhost/dxgkhost.h"

static void print_line(void *context, const char *line)
{
    (void)context;
    puts(line);
}

static void log_line(void *context, const char *line)
{
    (void)context;
    fprintf(stderr, "%s\n", line);
}

static int fail(const char *error, const char *otherwise)
{
    fprintf(stderr, "dxgkhost: %s\n", error[0] ? error : otherwise);
    return CLI_HOST;
}

/* What came up when the driver was stopped, after its verdict. True: rules were broken, then or
 * before. */
static bool broke_rules(const struct dxgk_machine *machine, size_t told)
{
    struct dxgk_statistics s = {.size = sizeof(s)};
    struct dxgk_violation v;

    for (size_t i = told; dxgk_machine_violation(machine, i, &v); i++)
        cli_print_violation(&v, false);
    dxgk_machine_statistics(machine, &s);
    return s.violations != 0;
}

static int inspect(const struct cli_options *options, struct dxgk_machine *machine)
{
    char error[4096] = "";
    enum dxgk_result result;
    size_t told;
    bool broken;

    if (!cli_set_severities(machine, options, error, sizeof(error))) {
        (void)fail(error, "");
        return CLI_USAGE;
    }
    if (options->registry &&
        dxgk_machine_load_registry(machine, options->registry, error, sizeof(error)) != DXGK_OK)
        return fail(error, "the registry could not be loaded"), CLI_USAGE;
    if (options->device &&
        dxgk_machine_add_device(machine, options->device, options->device_set, options->device_sets,
                                error, sizeof(error)) != DXGK_OK)
        return fail(error, "the device could not be added"), CLI_REFUSED;
    if (cli_plug_monitors(machine, options, error, sizeof(error)) != DXGK_OK)
        return fail(error, "a monitor could not be plugged in"), CLI_USAGE;
    result = dxgk_machine_inspect(machine, options->driver, print_line, NULL, error, sizeof(error));
    fflush(stdout);
    if (result != DXGK_OK)
        (void)fail(error, "the driver could not be inspected");
    told = dxgk_machine_violations(machine);
    if (dxgk_machine_shutdown(machine) == DXGK_DRIVER_STOPPED)
        result = DXGK_DRIVER_STOPPED;
    broken = broke_rules(machine, told);
    if (result == DXGK_DRIVER_STOPPED)
        return CLI_STOPPED;
    return result != DXGK_OK ? CLI_REFUSED : broken ? CLI_BROKEN : CLI_OK;
}

/* In the process of the machine. */
static int inspect_options(struct cli_options *options)
{
    struct dxgk_machine *machine;
    char error[512] = "";
    int status;

    atomic_store(&options->shared->runs, true);
    machine = dxgk_machine_create(&options->config, error, sizeof(error));
    if (!machine)
        return fail(error, "the machine could not be built");
    status = inspect(options, machine);
    dxgk_machine_destroy(machine);
    atomic_store(&options->shared->runs, false);
    return status;
}

int cli_inspect(int argc, char **argv)
{
    struct cli_options options;
    int status = cli_options_parse_inspect(&options, argc, argv);

    if (status != CLI_OK)
        return status;
    if (!cli_instruments_ready(options.driver))
        return CLI_HOST;
    if (!options.device &&
        cli_default_device(options.driver, options.device_path, sizeof(options.device_path)))
        options.device = options.device_path;
    if (options.verbose)
        options.config.log = log_line;
    return cli_supervise(&options, inspect_options);
}
