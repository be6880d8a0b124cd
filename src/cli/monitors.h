/* SPDX-License-Identifier: MIT */
/* Monitors on the outputs of the device (--monitor). */
#ifndef DXGK_CLI_MONITORS_H
#define DXGK_CLI_MONITORS_H

#include <stddef.h>

#include "dxgkhost/dxgkhost.h"

struct cli_monitor;
struct cli_options;

/* The file that it names; NULL: none. */
const char *cli_monitor_file(const struct cli_monitor *monitor);
/* At once, or at its time. Also while the machine runs. */
enum dxgk_result cli_plug_monitor(struct dxgk_machine *machine, const struct cli_monitor *monitor,
                                  char *error, size_t error_bytes);
/* After the device, before the driver. On failure *error says why. */
enum dxgk_result cli_plug_monitors(struct dxgk_machine *machine, const struct cli_options *options,
                                   char *error, size_t error_bytes);

#endif
