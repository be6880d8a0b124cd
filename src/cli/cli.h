/* SPDX-License-Identifier: MIT */
/* The subcommands of the program; each returns the exit status. */
#ifndef DXGK_CLI_H
#define DXGK_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dxgkhost/dxgkhost.h"

enum cli_status { CLI_OK = 0, CLI_ERROR = 1, CLI_USAGE = 2, CLI_DRIVER = 3 };

int cli_run(int argc, char **argv);     /* run.c */
int cli_inspect(int argc, char **argv); /* inspect.c */
int cli_explore(int argc, char **argv); /* explore.c */
int cli_explain(int argc, char **argv); /* rules.c */
int cli_rules(int argc, char **argv);

/* Parses "64M", "16G", "0x1000" into bytes. False: not a size. */
bool cli_parse_size(const char *text, uint64_t *bytes);
bool cli_parse_number(const char *text, uint64_t *value);
/* Parses the argument of --iommu: words separated by commas, as listed in the usage text. False:
 * one word is unknown; nothing is set then. */
bool cli_parse_iommu(const char *text, struct dxgk_machine_config *config);
#define CLI_IOMMU_WORDS \
    "--iommu wants off, isolation, remap, flags=N, present, svm, opt-out or unjudged, with commas between"
/* The device model for a driver, by its name: build/devices/refgpu.so for build/drivers/refgpu.so
 * and for build/drivers/gcc/refgpu.sys. False: there is none; `path` then has one place where it
 * was searched. */
bool cli_default_device(const char *driver, char *path, size_t bytes);
void cli_usage(void);

#endif
