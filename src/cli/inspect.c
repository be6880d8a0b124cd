/* SPDX-License-Identifier: MIT */
/* dxgkhost inspect: describes a driver and what would be refused, without a workload. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/device.h"
#include "cli/iommu.h"
#include "cli/usage.h"
#include "dxgkhost/dxgkhost.h"

static void print_line(void *context, const char *line)
{
    (void)context;
    puts(line);
}

static int inspect(const char *driver, const char *device, struct dxgk_machine *machine)
{
    char error[4096] = "";
    enum dxgk_result result;

    if (device &&
        dxgk_machine_add_device(machine, device, NULL, 0, error, sizeof(error)) != DXGK_OK) {
        fprintf(stderr, "dxgkhost: %s\n", error);
        return CLI_ERROR;
    }
    result = dxgk_machine_inspect(machine, driver, print_line, NULL, error, sizeof(error));
    fflush(stdout);
    if (result != DXGK_OK)
        fprintf(stderr, "dxgkhost: %s\n", error[0] ? error : "the driver could not be inspected");
    dxgk_machine_shutdown(machine);
    return result == DXGK_OK ? CLI_OK : result == DXGK_DRIVER_STOPPED ? CLI_DRIVER : CLI_ERROR;
}

int cli_inspect(int argc, char **argv)
{
    const char *driver = NULL, *device = NULL;
    char device_path[4096], error[512] = "";
    struct dxgk_machine_config config;
    struct dxgk_machine *machine;
    int status;

    dxgk_machine_config_init(&config);
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
            device = argv[++i];
        } else if (strcmp(argv[i], "--iommu") == 0 && i + 1 < argc) {
            if (!cli_parse_iommu(argv[++i], &config)) {
                fprintf(stderr, "dxgkhost: " CLI_IOMMU_WORDS ": %s\n", argv[i]);
                return CLI_USAGE;
            }
        } else if (strncmp(argv[i], "--", 2) != 0 && !driver) {
            driver = argv[i];
        } else {
            fprintf(stderr, "dxgkhost: inspect wants DRIVER, --device FILE|null, --iommu MODE: %s\n",
                    argv[i]);
            return CLI_USAGE;
        }
    }
    if (!driver) {
        cli_usage();
        return CLI_USAGE;
    }
    if (!device && cli_default_device(driver, device_path, sizeof(device_path)))
        device = device_path;
    machine = dxgk_machine_create(&config, error, sizeof(error));
    if (!machine) {
        fprintf(stderr, "dxgkhost: %s\n", error[0] ? error : "the machine could not be built");
        return CLI_ERROR;
    }
    status = inspect(driver, device, machine);
    dxgk_machine_destroy(machine);
    return status;
}
