/* SPDX-License-Identifier: MIT */
/*
 * Resources that a driver must release, in order of acquisition. Those that belong to no image are
 * the host's own.
 */
#include "nt/base/resource.h"
#include "nt/base/image.h"
#include "nt/base/state.h"
#include "util/list.h"

#include <string.h>

void nt_resource_track(struct nt_resource *resource, const struct nt_resource_class *class,
                       const void *caller)
{
    struct nt *nt = nt_state();
    struct nt_image *image = nt_image_current();

    resource->image = image;
    resource->class = class;
    resource->caller = caller;
    resource->serial = ++nt->images->serial;
    memset(resource->frame, 0, sizeof(resource->frame));
    if (image && nt->config.special_pool && nt->config.frames)
        (void)nt->config.frames(resource->frame, NT_RESOURCE_FRAMES);
    list_push_back(image ? &image->resources : &nt->images->host.resources, &resource->link);
}

void nt_resource_untrack(struct nt_resource *resource)
{
    list_remove(&resource->link);
}

bool nt_resource_always_busy(const struct nt_resource *resource)
{
    (void)resource;
    return true;
}

void nt_resource_reclaim(struct nt_resource *resource)
{
    list_remove(&resource->link);
    resource->class->reclaim(resource);
}

/* Newest first: an MDL's mapping before the MDL, handles before threads. Reclaiming one resource
 * may release others. */
void nt_resource_reclaim_all(struct nt_image *image)
{
    while (!list_empty(&image->resources))
        nt_resource_reclaim(CONTAINER(image->resources.prev, struct nt_resource, link));
}
