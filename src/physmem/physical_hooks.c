/* SPDX-License-Identifier: MIT */
#include "physmem/physical_hooks.h"

#include <string.h>

bool physical_hooks_read_driver(const struct physical_hooks *hooks, void *to, const void *from,
                                size_t bytes)
{
    if (hooks->read_driver)
        return hooks->read_driver(hooks->context, to, from, bytes);
    memcpy(to, from, bytes);
    return true;
}
