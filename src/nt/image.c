/* SPDX-License-Identifier: MIT */
/*
 * Driver images as owners: what each one holds, in order of acquisition, so that what is left at
 * unload can be named, with the calling place, and taken back. Things that belong to no image are
 * the host's own and are reclaimed at the end.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "nt/nt_private.h"

struct nt_image *nt_image_create(const char *name)
{
    struct nt_image *image = util_zalloc(1, sizeof(*image));

    if (!image)
        return NULL;
    snprintf(image->name, sizeof(image->name), "%s", name);
    list_init(&image->resources);
    list_push_back(&nt_state()->images, &image->link);
    return image;
}

void nt_image_destroy(struct nt_image *image)
{
    if (!image)
        return;
    nt_resources_reclaim(image);
    nt_threads_forget_image(image);
    list_remove(&image->link);
    util_free(image);
}

struct nt_image *nt_image_current(void)
{
    return nt_thread()->image;
}

struct nt_image *nt_image_enter(struct nt_image *image)
{
    struct _KTHREAD *thread = nt_thread();
    struct nt_image *before = thread->image;

    thread->image = image;
    return before;
}

void nt_image_unloading(struct nt_image *image)
{
    image->unloading = true;
}

void nt_resource_track(struct nt_resource *resource, const struct nt_resource_class *class,
                       const void *caller)
{
    struct nt *nt = nt_state();
    struct nt_image *image = nt_image_current();

    resource->image = image;
    resource->class = class;
    resource->caller = caller;
    resource->serial = ++nt->serial;
    list_push_back(image ? &image->resources : &nt->host.resources, &resource->link);
}

void nt_resource_untrack(struct nt_resource *resource)
{
    list_remove(&resource->link);
}

void nt_caller_name(const void *caller, char *name, size_t bytes)
{
    const struct nt *nt = nt_state();
    const char *file;
    Dl_info info;

    if (caller && nt->config.symbolize && nt->config.symbolize((uintptr_t)caller, name, bytes))
        return;
    if (!caller || !dladdr(caller, &info) || !info.dli_fname) {
        snprintf(name, bytes, "an unknown place");
        return;
    }
    file = strrchr(info.dli_fname, '/');
    if (info.dli_sname && info.dli_saddr) {
        snprintf(name, bytes, "%s!%s+%#llx", file ? file + 1 : info.dli_fname, info.dli_sname,
                 (unsigned long long)((uintptr_t)caller - (uintptr_t)info.dli_saddr));
        return;
    }
    snprintf(name, bytes, "%s+%#llx", file ? file + 1 : info.dli_fname,
             (unsigned long long)((uintptr_t)caller - (uintptr_t)info.dli_fbase));
}

/* ---- leaks ---- */

static void report(const struct nt_image *image, const struct nt_resource *resource)
{
    const struct nt_resource_class *class = resource->class;
    char caller[96], more[128] = "";

    nt_caller_name(resource->caller, caller, sizeof(caller));
    if (class->describe)
        class->describe(resource, more, sizeof(more));
    if (class->code)
        verify_report_code(class->rule, VERIFY_ERROR, class->code, class->subcode,
                           (uintptr_t)resource->caller, resource->serial, 0,
                           "%s left a %s%s, made at %s", image->name, class->noun, more, caller);
    else
        VIOLATION(class->rule, "%s left a %s%s, made at %s", image->name, class->noun, more, caller);
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

/* Newest first: an MDL's mapping before the MDL, handles before threads. Reclaiming one may take
 * others along. */
void nt_resources_reclaim(struct nt_image *image)
{
    while (!list_empty(&image->resources))
        nt_resource_reclaim(CONTAINER(image->resources.prev, struct nt_resource, link));
}

uint64_t nt_image_leak_check(struct nt_image *image)
{
    uint64_t count = 0;

    nt_pool_flush_quarantine(0); /* what was written to after its free (NT-026) */
    LIST_FOR(node, &image->resources) {
        report(image, CONTAINER(node, struct nt_resource, link));
        count++;
    }
    nt_resources_reclaim(image);
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

    sim_dpc_flush();
    while (image_is_busy(image)) {
        if (sim_now() >= end || sim_current->stopped)
            return false;
        nt_wait_address(image, &interval);
    }
    return true;
}
