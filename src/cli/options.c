/* SPDX-License-Identifier: MIT */
/* Options of the subcommands that run a machine. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/device.h"
#include "cli/duration.h"
#include "cli/iommu.h"
#include "cli/number.h"
#include "cli/session.h"
#include "cli/usage.h"
#include "util/array.h"
#include "util/is_file.h"

int cli_usage_error(const char *what, const char *value)
{
    fprintf(stderr, "dxgkhost: %s: %s\n", what, value);
    return CLI_USAGE;
}

static bool add(const char **list, size_t *count, const char *value)
{
    if (*count == CLI_MAX_OPTIONS || !strchr(value, '=') || *value == '=')
        return false;
    list[(*count)++] = value;
    return true;
}

/* The time limit; 0: none. */
static int parse_limit(struct cli_options *options, const char *value)
{
    if (!cli_parse_duration(value, &options->config.time_limit_ns))
        return cli_usage_error("a limit is a time like 90, 90s, 20ms or 1h, or 0", value);
    if (options->config.time_limit_ns == 0)
        options->config.time_limit_ns = UINT64_MAX;
    return CLI_OK;
}

/* Parses an option that is just a number, or a time. False: it is none of these. */
static bool parse_number(struct cli_options *options, const char *name, const char *value,
                         int *status)
{
    const struct {
        const char *name;
        uint64_t *number, least, most;
        const char *wants;
    } numbers[] = {
        {"--seed", &options->config.seed, 0, UINT64_MAX, "--seed wants a number"},
        {"--fail-allocation", &options->config.fail_allocation, 0, UINT64_MAX,
         "--fail-allocation wants a number"},
        {"--power-cycle", &options->power_cycle_ns, 1, UINT64_MAX,
         "--power-cycle wants nanoseconds, at least 1"},
        {"--script-limit", &options->script_s, 0, 86400, "--script-limit wants seconds, 0 to 86400"},
        {"--stall-limit", &options->stall_s, 0, 86400, "--stall-limit wants seconds, 0 to 86400"},
    };

    if (strcmp(name, "--limit") == 0 || strcmp(name, "--virtual-limit") == 0) {
        *status = parse_limit(options, value);
        return true;
    }
    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
        if (strcmp(name, numbers[i].name) == 0) {
            bool good = cli_parse_number(value, numbers[i].number) &&
                        *numbers[i].number >= numbers[i].least &&
                        *numbers[i].number <= numbers[i].most;

            *status = good ? CLI_OK : cli_usage_error(numbers[i].wants, value);
            return true;
        }
    return false;
}

static bool is_for_workloads(const char *name)
{
    static const char *const names[] = {"--set", "--report", "--power-cycle", "--trace", "--out"};

    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static int parse_option(struct cli_options *options, const char *name, const char *value)
{
    uint64_t number;
    int status;

    if (options->inspects && is_for_workloads(name))
        return cli_usage_error("inspect runs no workload", name);
    if (parse_number(options, name, value, &status))
        return status;
    if (strcmp(name, "--set") == 0)
        return add(options->set, &options->sets, value)
                   ? CLI_OK
                   : cli_usage_error("--set wants key=value", value);
    if (strcmp(name, "--device-set") == 0)
        return add(options->device_set, &options->device_sets, value)
                   ? CLI_OK
                   : cli_usage_error("--device-set wants key=value", value);
    if (strcmp(name, "--severity") == 0)
        return add(options->severity, &options->severities, value)
                   ? CLI_OK
                   : cli_usage_error("--severity wants RULE=severity", value);
    if (strcmp(name, "--ram") == 0)
        return cli_parse_size(value, &options->config.ram_bytes)
                   ? CLI_OK
                   : cli_usage_error("--ram wants a size like 16G", value);
    if (strcmp(name, "--vram") == 0) {
        if (!cli_parse_size(value, &number))
            return cli_usage_error("--vram wants a size like 32M", value);
        snprintf(options->vram, sizeof(options->vram), "vram=%" PRIu64, number);
        return add(options->device_set, &options->device_sets, options->vram)
                   ? CLI_OK
                   : cli_usage_error("too many options", name);
    }
    if (strcmp(name, "--cpus") == 0) {
        if (!cli_parse_number(value, &number) || number < 1 || number > 64)
            return cli_usage_error("--cpus wants 1 to 64", value);
        options->config.processors = (unsigned)number;
        return CLI_OK;
    }
    if (strcmp(name, "--iommu") == 0)
        return cli_parse_iommu(options->iommu = value, &options->config)
                   ? CLI_OK
                   : cli_usage_error(CLI_IOMMU_WORDS, value);
    if (strcmp(name, "--report") == 0) {
        if (strcmp(value, "memory") != 0)
            return cli_usage_error("--report is memory", value);
        options->report_memory = true;
    } else if (strcmp(name, "--trace") == 0)
        options->trace = value;
    else if (strcmp(name, "--out") == 0)
        options->out = value;
    else if (strcmp(name, "--device") == 0)
        options->device = value;
    else if (strcmp(name, "--registry") == 0)
        options->registry = value;
    else
        return cli_usage_error("unknown option", name);
    return CLI_OK;
}

static int parse_all(struct cli_options *options, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        int status;

        if (strncmp(argv[i], "--", 2) != 0) {
            if (!options->driver)
                options->driver = argv[i];
            else if (!options->workload && !options->inspects)
                options->workload = argv[i];
            else
                return cli_usage_error("one argument too many", argv[i]);
            continue;
        }
        if (strcmp(argv[i], "--strict") == 0) {
            options->config.strict = true;
            continue;
        }
        if (strcmp(argv[i], "--stub-missing") == 0) {
            options->config.stub_missing = true;
            continue;
        }
        if (strcmp(argv[i], "--stress") == 0) {
            options->config.stress = true;
            continue;
        }
        if (strcmp(argv[i], "--special-pool") == 0) {
            options->config.special_pool = true;
            continue;
        }
        if (strcmp(argv[i], "--force-irql") == 0) {
            options->config.force_irql = true;
            continue;
        }
        if (strcmp(argv[i], "--raised-submit") == 0) {
            options->config.raised_submit = true;
            continue;
        }
        if (strcmp(argv[i], "--split-dma-buffers") == 0) {
            options->config.split_dma_buffers = true;
            continue;
        }
        if (strcmp(argv[i], "--isolate") == 0) {
            options->isolated = true;
            continue;
        }
        if (strcmp(argv[i], "--no-supervisor") == 0) {
            options->unsupervised = true;
            continue;
        }
        if (strcmp(argv[i], "--verbose") == 0) {
            options->verbose = true;
            continue;
        }
        if (i + 1 == argc)
            return cli_usage_error("this option wants a value", argv[i]);
        status = parse_option(options, argv[i], argv[i + 1]);
        if (status != CLI_OK)
            return status;
        i++;
    }
    if (!options->driver || (!options->workload && !options->inspects)) {
        cli_usage();
        return CLI_USAGE;
    }
    return CLI_OK;
}

int cli_options_parse(struct cli_options *options, int argc, char **argv)
{
    int status;

    memset(options, 0, sizeof(*options));
    options->out = "out";
    options->stall_s = CLI_STALL_S;
    options->script_s = CLI_SCRIPT_S;
    dxgk_machine_config_init(&options->config);
    status = parse_all(options, argc, argv);
    if (status != CLI_OK)
        return status;
    options->config.trace = options->trace != NULL;
    return CLI_OK;
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
        (options->registry && !check_file(options->registry)) || !check_folder(options->out))
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
