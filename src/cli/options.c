/* SPDX-License-Identifier: MIT */
/* Options of the subcommands that run a machine. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/argument.h"
#include "cli/device.h"
#include "cli/duration.h"
#include "cli/iommu.h"
#include "cli/number.h"
#include "cli/option.h"
#include "cli/session.h"
#include "cli/usage.h"
#include "lua/table_format.h"
#include "option_table.h"
#include "util/address.h"
#include "util/array.h"
#include "util/is_file.h"

#define MIN_RAM     ((uint64_t)64 << 20)
#define MIN_SCRIPT  ((uint64_t)1 << 20)
#define MAX_RAM     ((uint64_t)1 << 40)
#define MAX_SECONDS 86400u

/* ---- options with a value ---- */

/* "key=value". */
static int add(const char **list, size_t *count, const char *name, const char *wants,
               const char *value)
{
    if (!strchr(value, '=') || *value == '=')
        return cli_usage_error(wants, value);
    if (*count == CLI_MAX_OPTIONS) {
        fprintf(stderr, "dxgkhost: %s: at most %u of them are possible\n", name, CLI_MAX_OPTIONS);
        return CLI_USAGE;
    }
    list[(*count)++] = value;
    return CLI_OK;
}

static int parse_set(struct cli_options *options, const char *name, const char *value)
{
    return add(options->set, &options->sets, name, "--set wants key=value", value);
}

static int parse_device_set(struct cli_options *options, const char *name, const char *value)
{
    return add(options->device_set, &options->device_sets, name, "--device-set wants key=value",
               value);
}

static int parse_severity(struct cli_options *options, const char *name, const char *value)
{
    return add(options->severity, &options->severities, name,
               "--severity wants RULE=note|warning|error|bugcheck", value);
}

static int parse_number(uint64_t *number, uint64_t least, uint64_t most, const char *wants,
                        const char *value)
{
    return cli_parse_number(value, number) && *number >= least && *number <= most
               ? CLI_OK
               : cli_usage_error(wants, value);
}

static int parse_seed(struct cli_options *options, const char *name, const char *value)
{
    (void)name;
    return parse_number(&options->config.seed, 0, UINT64_MAX, "--seed wants a number", value);
}

static int parse_fail(struct cli_options *options, const char *name, const char *value)
{
    (void)name;
    return parse_number(&options->config.fail_allocation, 0, UINT64_MAX,
                        "--fail-allocation wants a number", value);
}

static int parse_power_cycle(struct cli_options *options, const char *name, const char *value)
{
    (void)name;
    return parse_number(&options->power_cycle_ns, 1, UINT64_MAX,
                        "--power-cycle wants nanoseconds, at least 1", value);
}

static int parse_stall(struct cli_options *options, const char *name, const char *value)
{
    (void)name;
    return parse_number(&options->stall_s, 0, MAX_SECONDS,
                        "--stall-limit wants seconds, 0 to 86400", value);
}

static int parse_watchdog(struct cli_options *options, const char *name, const char *value)
{
    int status = parse_number(&options->config.watchdog_ms, 0, MAX_SECONDS,
                              "--watchdog wants seconds, 0 to 86400", value);

    (void)name;
    options->config.watchdog_ms *= 1000;
    return status;
}

static int parse_script(struct cli_options *options, const char *name, const char *value)
{
    (void)name;
    return parse_number(&options->script_s, 0, MAX_SECONDS,
                        "--script-limit wants seconds, 0 to 86400", value);
}

static int parse_script_memory(struct cli_options *options, const char *name, const char *value)
{
    (void)name;
    if (strcmp(value, "0") == 0)
        options->script_memory = 0;
    else if (!cli_parse_size(value, &options->script_memory) || options->script_memory < MIN_SCRIPT)
        return cli_usage_error("--script-memory wants a size like 1G, at least 1M, or 0", value);
    return CLI_OK;
}

/* 0: no limit. */
static int parse_limit(struct cli_options *options, const char *name, const char *value)
{
    (void)name;
    if (!cli_parse_duration(value, &options->config.time_limit_ns))
        return cli_usage_error("a limit is a time like 90, 90s, 20ms or 1h, or 0", value);
    if (options->config.time_limit_ns == 0)
        options->config.time_limit_ns = UINT64_MAX;
    return CLI_OK;
}

static int parse_ram(struct cli_options *options, const char *name, const char *value)
{
    uint64_t bytes;

    (void)name;
    if (!cli_parse_size(value, &bytes) || bytes < MIN_RAM || bytes > MAX_RAM || bytes % PAGE_BYTES)
        return cli_usage_error("--ram wants a size like 16G, whole pages from 64M to 1T", value);
    options->config.ram_bytes = bytes;
    return CLI_OK;
}

static int parse_vram(struct cli_options *options, const char *name, const char *value)
{
    uint64_t bytes;

    if (!cli_parse_size(value, &bytes))
        return cli_usage_error("--vram wants a size like 32M", value);
    snprintf(options->vram, sizeof(options->vram), "vram=%" PRIu64, bytes);
    return add(options->device_set, &options->device_sets, name, "", options->vram);
}

static int parse_cpus(struct cli_options *options, const char *name, const char *value)
{
    uint64_t number;
    int status = parse_number(&number, 1, 64, "--cpus wants 1 to 64", value);

    (void)name;
    if (status == CLI_OK)
        options->config.processors = (unsigned)number;
    return status;
}

static int parse_iommu(struct cli_options *options, const char *name, const char *value)
{
    (void)name;
    return cli_parse_iommu(options->iommu = value, &options->config)
               ? CLI_OK
               : cli_usage_error(CLI_IOMMU_WORDS, value);
}

static int parse_windows(struct cli_options *options, const char *name, const char *value)
{
    (void)name;
    if (strcmp(value, "observed") != 0 && strcmp(value, "documented") != 0)
        return cli_usage_error("--windows is observed or documented", value);
    options->config.windows = *value == 'd' ? DXGK_WINDOWS_DOCUMENTED : DXGK_WINDOWS_OBSERVED;
    return CLI_OK;
}

/* It asks for the check, too. */
static int parse_table_format(struct cli_options *options, const char *name, const char *value)
{
    static struct lua_table_format described;
    char error[512];
    const char *ending = strrchr(value, '.');

    (void)name;
    options->config.check_page_tables = true;
    if (!ending || strcmp(ending, ".lua") != 0) {
        options->config.page_table_format = dxgk_table_format(value);
        return options->config.page_table_format
                   ? CLI_OK
                   : cli_usage_error("--page-table-format wants cosgpu or a file FORMAT.lua", value);
    }
    if (!lua_table_format_read(value, &described, error, sizeof(error))) {
        const bool placed = strncmp(error, value, strlen(value)) == 0; /* with the file and line */

        (void)fprintf(stderr, "dxgkhost: no format of page tables in %s%s%s\n", placed ? "" : value,
                      placed ? "" : ": ", error);
        return CLI_USAGE;
    }
    options->config.page_table_format = &described.format;
    return CLI_OK;
}

static int parse_patch_format(struct cli_options *options, const char *name, const char *value)
{
    (void)name;
    options->config.patch_format = dxgk_patch_format(value);
    return options->config.patch_format
               ? CLI_OK
               : cli_usage_error("--patch-format wants coskmd, roskmd or roskmd-vc4", value);
}

static int parse_report(struct cli_options *options, const char *name, const char *value)
{
    (void)name;
    for (unsigned report = 0; report < CLI_REPORTS; report++)
        if (strcmp(value, cli_report_names[report]) == 0) {
            options->reports |= 1u << report;
            options->config.chronicle |= report == CLI_REPORT_GPUVA ||
                                         report == CLI_REPORT_RESIDENCY;
            options->config.journal |= report == CLI_REPORT_SUBMISSIONS;
            return CLI_OK;
        }
    return cli_usage_error("--report is memory, gpuva, residency or submissions", value);
}

/* All that finds mistakes of drivers and refuses none that Windows takes. */
static int parse_checks(struct cli_options *options, const char *name, const char *value)
{
    struct dxgk_machine_config *config = &options->config;

    (void)name;
    if (strcmp(value, "plain") != 0 && strcmp(value, "full") != 0)
        return cli_usage_error("--checks is plain or full", value);
    if (*value == 'f')
        config->stress = config->races = config->special_pool = config->force_irql =
            config->split_dma_buffers = config->check_page_tables = true;
    return CLI_OK;
}

static int parse_trace_dxgkrnl(struct cli_options *options, const char *name, const char *value)
{
    (void)name;
    if (!dxgk_windows_trace_form(value, &options->dxgkrnl_form))
        return cli_usage_error("the file of --trace-dxgkrnl ends in .etl, .csv or .xml", value);
    options->trace_dxgkrnl = value;
    return CLI_OK;
}

/* ---- all of them ---- */

#define CLI_OPTION_STRUCT struct cli_options
#define CLI_OPTION_PARSER run
static const struct cli_option table[] = {CLI_RUN_OPTIONS};

const struct cli_option *cli_run_option(const char *name)
{
    return cli_option_find(table, ARRAY_COUNT(table), name);
}

bool cli_option_wants_value(const char *name)
{
    const struct cli_option *option = cli_run_option(name);

    return option && option->kind != CLI_KIND_SWITCH;
}

/* `value` is NULL at the end of the line. */
static int parse_valued(struct cli_options *options, const struct cli_option *option,
                        const char *value)
{
    if (!value)
        return cli_usage_error("this option wants a value", option->name);
    if (option->kind == CLI_KIND_PARSED)
        return option->parse.run(options, option->name, value);
    return cli_option_store(option, options, value)
               ? CLI_OK
               : cli_usage_error("this option wants a path", option->name);
}

/* `next` is the word that follows, or NULL; *taken says whether it was the value. */
static int parse_option(struct cli_options *options, const char *word, const char *next, bool *taken)
{
    char name[CLI_NAME_BYTES];
    const char *given = cli_argument(word, name);
    const struct cli_option *option = cli_run_option(name);

    *taken = false;
    if (!option)
        return cli_usage_error("unknown option", given ? name : word);
    if (options->inspects && option->not_for & CLI_NOT_INSPECT)
        return cli_usage_error("inspect runs no workload", option->name);
    if (option->kind == CLI_KIND_SWITCH)
        return given ? cli_usage_error("this option takes no value", word)
               : cli_option_store(option, options, NULL) ? CLI_OK
                                                         : CLI_USAGE;
    *taken = !given;
    return parse_valued(options, option, given ? given : next);
}

static int parse_argument(struct cli_options *options, const char *argument)
{
    if (!options->driver)
        options->driver = argument;
    else if (!options->workload && !options->inspects && !options->fuzzes)
        options->workload = argument;
    else
        return cli_usage_error("one argument too many", argument);
    return CLI_OK;
}

static int parse_all(struct cli_options *options, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        bool taken = false;
        int status = argv[i][0] == '-'
                         ? parse_option(options, argv[i], i + 1 < argc ? argv[i + 1] : NULL, &taken)
                         : parse_argument(options, argv[i]);

        if (status != CLI_OK)
            return status;
        i += taken;
    }
    if (options->driver && (options->workload || options->inspects || options->fuzzes))
        return CLI_OK;
    fprintf(stderr, "dxgkhost: a %s is missing; --help tells the arguments\n",
            options->driver ? "WORKLOAD.lua" : "DRIVER");
    return CLI_USAGE;
}

static int parse_run(struct cli_options *options, bool fuzzes, int argc, char **argv)
{
    int status;

    memset(options, 0, sizeof(*options));
    options->fuzzes = fuzzes;
    options->argc = argc;
    options->argv = argv;
    options->out = "out";
    cli_picture_options_init(&options->pictures);
    options->stall_s = CLI_STALL_S;
    options->script_s = CLI_SCRIPT_S;
    options->script_memory = CLI_SCRIPT_MEMORY;
    dxgk_machine_config_init(&options->config);
    status = parse_all(options, argc, argv);
    if (status != CLI_OK)
        return status;
    if (options->pictures.watch && options->isolated)
        return cli_usage_error("an isolated run has no window", "--watch");
    options->config.trace = options->trace || options->result[CLI_RESULT_HTML].path;
    options->config.chronicle |= options->result[CLI_RESULT_HTML].path != NULL;
    options->config.trace_dxgkrnl = options->trace_dxgkrnl != NULL;
    return cli_debugger_check(options);
}

int cli_options_parse(struct cli_options *options, int argc, char **argv)
{
    return parse_run(options, false, argc, argv);
}

int cli_options_parse_fuzz(struct cli_options *options, int argc, char **argv)
{
    return parse_run(options, true, argc, argv);
}

int cli_options_parse_inspect(struct cli_options *options, int argc, char **argv)
{
    memset(options, 0, sizeof(*options));
    options->inspects = true;
    options->stall_s = CLI_STALL_S;
    dxgk_machine_config_init(&options->config);
    return parse_all(options, argc, argv);
}

static bool complain(const char *file)
{
    fprintf(stderr, "dxgkhost: %s: %s\n", file, strerror(errno));
    return false;
}

/* A file that can be read. */
static bool check_file(const char *path)
{
    char why[256];

    if (access(path, R_OK) != 0)
        return complain(path);
    if (util_is_file(path, UINT64_MAX, why, sizeof(why)))
        return true;
    fprintf(stderr, "dxgkhost: %s: %s\n", path, why);
    return false;
}

/* A folder, which is made if nothing is there. */
static bool check_folder(const char *path)
{
    struct stat is;

    if (mkdir(path, 0777) == 0)
        return true;
    if (errno != EEXIST || stat(path, &is) != 0)
        return complain(path);
    errno = ENOTDIR;
    if (!S_ISDIR(is.st_mode))
        return complain(path);
    return access(path, W_OK | X_OK) == 0 || complain(path);
}

bool cli_options_ready(struct cli_options *options)
{
    if (!check_file(options->driver) || !check_file(options->workload) ||
        (options->registry && !check_file(options->registry)) || !check_folder(options->out) ||
        (options->pictures.frames && !check_folder(options->pictures.frames)))
        return false;
    if (options->device && strcmp(options->device, "null") == 0)
        return true;
    if (options->device)
        return check_file(options->device);
    options->device = options->device_path;
    if (cli_default_device(options->driver, options->device_path, sizeof(options->device_path)))
        return true;
    fprintf(stderr,
            "dxgkhost: no device model at %s: name one with --device, or say --device null\n",
            options->device);
    return false;
}
