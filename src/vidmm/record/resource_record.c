/* SPDX-License-Identifier: MIT */
#include "vidmm/record/resource_record.h"
#include "util/alloc.h"

void resource_record_free(struct vidmm_resource *resource)
{
    if (resource->end)
        resource->end(resource->end_context);
    util_free(resource->private_data);
    util_free(resource);
}
