/* SPDX-License-Identifier: MIT */
/* What a user says of a simulated monitor (PRES-321): bytes of an EDID, or a list of modes. */
#ifndef DXGK_MODES_EDID_GIVEN_H
#define DXGK_MODES_EDID_GIVEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "modes/timing.h"

/* May these bytes be attached? They are 1 to 256 whole blocks, and unless `force` they have the
 * header of a base block, the sums, and the number of extensions that it announces. False: `error`
 * says what is wrong. */
bool edid_given_check(const uint8_t *bytes, size_t size, bool force, char *error,
                      size_t error_bytes);

/* Timings of a list such as "1024x768@60,1920x1080@59.94,1920x1080i@50"; a mode without a rate has
 * 60 Hz. An array, to be freed with util_free. NULL: out of memory, or no such list, and `error`
 * says where. */
struct timing *edid_given_modes(const char *text, unsigned *count, char *error, size_t error_bytes);

#endif
