/* SPDX-License-Identifier: MIT */
#include "cli/device.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/array.h"

bool cli_default_device(const char *driver, char *path, size_t bytes)
{
    static const char *const way[] = {"../../devices", "../devices"};
    const char *slash = strrchr(driver, '/'), *name = slash ? slash + 1 : driver;
    int folder = slash ? (int)(slash - driver) : 1, stem = (int)strcspn(name, ".");

    for (size_t i = 0; i < ARRAY_COUNT(way); i++) {
        snprintf(path, bytes, "%.*s/%s/%.*s.so", folder, slash ? driver : ".", way[i], stem, name);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}
