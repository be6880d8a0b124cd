/* SPDX-License-Identifier: MIT */
/*
 * Driver images as owners. Kernel services attribute what they create to the image of the current
 * call, for leak reports by driver; image_life.h has creation, unloading and leaks.
 */
#ifndef DXGK_NT_IMAGE_H
#define DXGK_NT_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "nt/base/current.h"
#include "nt/base/kthread.h"
#include "nt/base/resource.h"
#include "util/list.h"

struct nt_image {
    char name[64];
    uintptr_t base; /* where it is mapped; 0: not known */
    uint64_t bytes;
    struct list resources; /* struct nt_resource, in order of acquisition */
    struct list link;
    bool unloading;
};

struct nt_images {
    struct nt_image host; /* owner of what belongs to no driver */
    struct list all;
    uint64_t serial; /* serial number of the last resource */
};

/* NULL: the current code is the host's own. */
static inline struct nt_image *nt_image_current(void)
{
    return nt_thread()->image;
}

/* Set the image on whose behalf the current thread runs; returns the previous one. Calls nest. */
static inline struct nt_image *nt_image_enter(struct nt_image *image)
{
    struct _KTHREAD *thread = nt_thread();
    struct nt_image *before = thread->image;

    thread->image = image;
    return before;
}

#endif
