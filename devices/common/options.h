/* SPDX-License-Identifier: MIT */
/* Options of a model that are numbers: "key=value". */
#ifndef DEVICES_COMMON_OPTIONS_H
#define DEVICES_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dxgkhost/device.h"

struct option_number {
    const char *key;
    uint64_t *value; /* unchanged where the option is not given */
    uint64_t least, most;
    const char *error; /* a literal that names the key and the range */
};

/* NULL: all are good; else the error of one that is no number or out of range. The last of several
 * options of one key counts. */
const char *options_read(const struct dxgk_device_config *config,
                         const struct option_number *numbers, size_t count);
/* The text behind "key=" of element `index` of those with this key; NULL: there are not so many. */
const char *options_text(const struct dxgk_device_config *config, const char *key, size_t index);

#endif
