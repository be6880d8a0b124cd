/* SPDX-License-Identifier: MIT */
/*
 * Driver images from loading to unloading. At the end, leaked resources are reported with the place
 * that allocated them, and reclaimed. Resources that belong to no image are reclaimed when the
 * machine ends.
 */
#include <stdio.h>

#include "nt/io/image_life.h"
#include "nt/base/caller.h"
#include "nt/base/image.h"
#include "nt/base/resource.h"
#include "nt/base/state.h"
#include "nt/ke/wait.h"
#include "nt/mm/pool.h"
#include "nt/ps/thread.h"
#include "sim/dpc.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "util/alloc.h"
#include "util/list.h"
#include "verify/verify.h"

struct nt_image *nt_image_create(const char *name)
{
    struct nt_image *image = util_zalloc(1, sizeof(*image));

    if (!image)
        return NULL;
    snprintf(image->name, sizeof(image->name), "%s", name);
    list_init(&image->resources);
    list_push_back(&nt_state()->images->all, &image->link);
    return image;
}

void nt_image_place(struct nt_image *image, uintptr_t base, uint64_t bytes)
{
    image->base = base;
    image->bytes = bytes;
}

void nt_image_destroy(struct nt_image *image)
{
    if (!image)
        return;
    nt_resource_reclaim_all(image);
    nt_thread_forget_image(image);
    list_remove(&image->link);
    util_free(image);
}

void nt_image_unloading(struct nt_image *image)
{
    image->unloading = true;
}

static void report(const struct nt_image *image, const struct nt_resource *resource)
{
    const struct nt_resource_class *class = resource->class;
    const uintptr_t made = (uintptr_t)resource->caller;
    char caller[96], more[128] = "", stack[2048];

    nt_caller_name(resource->caller, caller, sizeof(caller));
    if (class->describe)
        class->describe(resource, more, sizeof(more));
    if (resource->frame[0]
            ? nt_caller_stack(resource->frame, NT_RESOURCE_FRAMES, stack, sizeof(stack))
            : nt_caller_stack(&made, 1, stack, sizeof(stack)))
        verify_set_stack(stack);
    if (class->code)
        verify_report_code(class->rule, class->code, class->subcode, (uintptr_t)resource->caller,
                           resource->serial, 0, "%s left a %s%s, made at %s", image->name,
                           class->noun, more, caller);
    else
        VIOLATION(class->rule, "%s left a %s%s, made at %s", image->name, class->noun, more, caller);
}

uint64_t nt_image_leak_check(struct nt_image *image)
{
    uint64_t count = 0;

    sim_assert_irql(SIM_IRQL_DISPATCH);
    nt_pool_flush_quarantine(0); /* detects writes after free (NT-026) */
    LIST_FOR(node, &image->resources) {
        report(image, CONTAINER(node, struct nt_resource, link));
        count++;
    }
    nt_resource_reclaim_all(image);
    return count;
}

static bool image_is_busy(const struct nt_image *image)
{
    LIST_FOR(node, &image->resources) {
        const struct nt_resource *resource = CONTAINER(node, struct nt_resource, link);

        if (resource->class->busy && resource->class->busy(resource))
            return true;
    }
    return false;
}

bool nt_image_drain(struct nt_image *image, uint64_t ns)
{
    const LARGE_INTEGER interval = {.QuadPart = -10000};
    uint64_t end = sim_now() + ns;

    sim_assert_passive();
    sim_dpc_flush();
    while (image_is_busy(image)) {
        if (sim_now() >= end || sim_current->stopped)
            return false;
        nt_wait_address(image, &interval);
    }
    return true;
}

static void finish(struct nt *nt)
{
    LIST_FOR_SAFE(node, following, &nt->images->all)
        nt_image_destroy(CONTAINER(node, struct nt_image, link));
    nt_resource_reclaim_all(&nt->images->host);
}

const struct nt_component nt_image_life_component = {.finish = finish};
