/* SPDX-License-Identifier: MIT */
/*
 * What a driver must release: pool, threads, timers, handles, mappings, MDLs, ... The host's record
 * of each such resource contains this structure, which links it to its image.
 */
#ifndef DXGK_NT_RESOURCE_H
#define DXGK_NT_RESOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/list.h"

struct nt_image;
struct nt_resource;

/* What all resources of one kind have in common: how a leaked one is reported and reclaimed. A
 * constant of the file that creates them. */
struct nt_resource_class {
    const char *rule;
    const char *noun;
    uint32_t code; /* bug check code of the report; 0: none */
    uint32_t subcode;
    /* Write a description of the resource, to follow the noun; NULL: none is needed. */
    void (*describe)(const struct nt_resource *resource, char *text, size_t bytes);
    /* Whether the resource keeps its driver loaded. NULL: it never does. */
    bool (*busy)(const struct nt_resource *resource);
    /* Release it without a report. It is no longer on a list. */
    void (*reclaim)(struct nt_resource *resource);
};

#define NT_RESOURCE_FRAMES 6u

struct nt_resource {
    struct list link;
    struct nt_image *image; /* NULL: the host's own */
    const struct nt_resource_class *class;
    const void *caller; /* return address in the driver */
    uint64_t serial;    /* number in order of creation, from 1 */
    /* the driver's frames then, innermost first, with special pool; elsewhere none are taken */
    uintptr_t frame[NT_RESOURCE_FRAMES];
};

/* Attribute the resource to the current image. `caller`: NT_CALLER() in the exported routine. */
void nt_resource_track(struct nt_resource *resource, const struct nt_resource_class *class,
                       const void *caller);
void nt_resource_untrack(struct nt_resource *resource);
/* For `busy` of a class. */
bool nt_resource_always_busy(const struct nt_resource *resource);
/* Release one resource, or all of the image, without a report. */
void nt_resource_reclaim(struct nt_resource *resource);
void nt_resource_reclaim_all(struct nt_image *image);

#endif
