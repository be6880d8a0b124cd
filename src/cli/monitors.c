/* SPDX-License-Identifier: MIT */
#include "cli/monitors.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/session.h"
#include "util/is_file.h"

#define MOST_BYTES 32768u /* of an EDID */
#define FORCE      "force:"

static bool is_forced(const char *what)
{
    return strncmp(what, FORCE, strlen(FORCE)) == 0;
}

static const char *file_of(const char *what)
{
    return is_forced(what) ? what + strlen(FORCE) : what;
}

/* What is a file is one; else it is a list of modes. */
const char *cli_monitor_file(const struct cli_monitor *monitor)
{
    return strcmp(monitor->what, "none") != 0 && access(file_of(monitor->what), F_OK) == 0
               ? file_of(monitor->what)
               : NULL;
}

static uint8_t *read_file(const char *path, size_t *bytes, char *error, size_t error_bytes)
{
    uint8_t *edid = NULL;
    FILE *file;
    char why[256];

    if (!util_is_file(path, MOST_BYTES, why, sizeof(why))) {
        snprintf(error, error_bytes, "%s", why);
        return NULL;
    }
    file = fopen(path, "rb");
    if (file)
        edid = malloc(MOST_BYTES);
    if (!edid)
        snprintf(error, error_bytes, "%s", file ? "out of memory" : strerror(errno));
    else
        *bytes = fread(edid, 1, MOST_BYTES, file);
    if (file)
        fclose(file);
    return edid;
}

enum dxgk_result cli_plug_monitor(struct dxgk_machine *machine, const struct cli_monitor *monitor,
                                  char *error, size_t error_bytes)
{
    struct dxgk_monitor wanted = {
        .output = monitor->output, .force = is_forced(monitor->what), .virtual_ns = monitor->ns};
    const char *file = cli_monitor_file(monitor);
    uint8_t *edid = NULL;
    enum dxgk_result result = DXGK_ERROR;

    if (file)
        edid = read_file(file, &wanted.bytes, error, error_bytes);
    else if (is_forced(monitor->what))
        snprintf(error, error_bytes, "no file %s", file_of(monitor->what));
    else if (strcmp(monitor->what, "none") != 0 && !strchr("0123456789", *monitor->what))
        snprintf(error, error_bytes,
                 "neither a file nor a list of modes such as 1024x768@60,800x600");
    else if (strcmp(monitor->what, "none") != 0)
        edid = dxgk_edid_of_modes(monitor->what, &wanted.bytes, error, error_bytes);
    if (edid || strcmp(monitor->what, "none") == 0) {
        wanted.edid = edid;
        result = dxgk_machine_set_monitor(machine, &wanted, error, error_bytes);
    }
    free(edid);
    return result;
}

enum dxgk_result cli_plug_monitors(struct dxgk_machine *machine, const struct cli_options *options,
                                   char *error, size_t error_bytes)
{
    const struct cli_monitor_options *all = &options->monitors;
    enum dxgk_result result = DXGK_OK;
    char why[400];

    for (size_t i = 0; result == DXGK_OK && i < all->monitors; i++) {
        result = cli_plug_monitor(machine, &all->monitor[i], why, sizeof(why));
        if (result != DXGK_OK)
            snprintf(error, error_bytes, "--monitor %s: %s", all->monitor[i].what, why);
    }
    return result;
}
