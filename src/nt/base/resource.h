/* SPDX-License-Identifier: MIT */
/*
 * What a driver must give back: pool, threads, timers, handles, mappings, MDLs, ... Each such thing
 * has a record of the host with this in it, on the list of its image.
 */
#ifndef DXGK_NT_RESOURCE_H
#define DXGK_NT_RESOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/list.h"

struct nt_image;
struct nt_resource;

/* What all things of one kind have in common: how one that was left behind is reported and taken
 * back. A constant of the file that makes such things. */
struct nt_resource_class {
    const char *rule;
    const char *noun;
    uint32_t code; /* bug check code of the report; 0: none */
    uint32_t subcode;
    /* Write what the thing is, after the noun; NULL: there is nothing more to say. */
    void (*describe)(const struct nt_resource *resource, char *text, size_t bytes);
    /* Does the thing keep its driver loaded? NULL: it never does. */
    bool (*busy)(const struct nt_resource *resource);
    /* Take it back silently. It is on no list any more. */
    void (*reclaim)(struct nt_resource *resource);
};

struct nt_resource {
    struct list link;
    struct nt_image *image; /* NULL: the host's own */
    const struct nt_resource_class *class;
    const void *caller; /* return address in the driver */
    uint64_t serial;    /* in order of creation, from 1 */
};

/* Attribute to the current image. `caller`: NT_CALLER() in the exported routine. */
void nt_resource_track(struct nt_resource *resource, const struct nt_resource_class *class,
                       const void *caller);
void nt_resource_untrack(struct nt_resource *resource);
/* For `busy` of a class. */
bool nt_resource_always_busy(const struct nt_resource *resource);
/* Take back one thing, or all that the image holds; silently. */
void nt_resource_reclaim(struct nt_resource *resource);
void nt_resource_reclaim_all(struct nt_image *image);

#endif
