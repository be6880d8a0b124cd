/* SPDX-License-Identifier: MIT */
/* Which device model belongs to a driver. */
#ifndef DXGK_CLI_DEVICE_H
#define DXGK_CLI_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

/* The device model for a driver, by its name: build/devices/refgpu.so for build/drivers/refgpu.so
 * and for build/drivers/gcc/refgpu.sys. False: there is none; `path` then has one place where it
 * was searched. */
bool cli_default_device(const char *driver, char *path, size_t bytes);

#endif
