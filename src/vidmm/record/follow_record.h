/* SPDX-License-Identifier: MIT */
/*
 * A place in the line of those who wait for GPU work of a device. Part of other records; follow.h
 * has the functions.
 */
#ifndef DXGK_VIDMM_FOLLOW_RECORD_H
#define DXGK_VIDMM_FOLLOW_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "util/list.h"

struct vidmm_device;

/* Something that waits for the GPU work of a device up to a packet. */
struct vidmm_follow {
    struct list link; /* device->follows, by ticket; on itself: not waiting */
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
