/* SPDX-License-Identifier: MIT */
/*
 * A callback to be run when GPU work of a device has finished. The structure is embedded in other
 * records, so it is declared here; follow.h has the functions.
 */
#ifndef DXGK_VIDMM_FOLLOW_RECORD_H
#define DXGK_VIDMM_FOLLOW_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "util/list.h"

struct vidmm_device;

/* A callback that waits ("follows") until the GPU has finished a device's work up to a packet. */
struct vidmm_follow {
    struct list link; /* in device->follows, by ticket; linked to itself when not waiting */
    uint64_t ticket;
    void (*fn)(struct vidmm_device *device, struct vidmm_follow *follow); /* lock held */
};

static inline void follow_init(struct vidmm_follow *follow)
{
    list_init(&follow->link);
}

static inline bool follow_pending(const struct vidmm_follow *follow)
{
    return !list_empty(&follow->link);
}

#endif
