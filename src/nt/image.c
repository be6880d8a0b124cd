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
#include "sim/dpc.h"
#include "sim/machine.h"

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

void nt_resource_track(struct nt_resource *resource, enum nt_resource_kind kind, const void *caller)
{
    struct nt *nt = nt_state();
    struct nt_image *image = nt_image_current();

    resource->image = image;
    resource->kind = kind;
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

/* How each kind is reported and taken back. `describe` writes what the thing is; NULL: nothing more
 * to say. */
struct kind {
    const char *rule;
    const char *noun;
    uint32_t code; /* bug check code; 0: none */
    uint32_t subcode;
    void (*describe)(const struct nt_resource *resource, char *text, size_t bytes);
    void (*reclaim)(struct nt_resource *resource);
};

static void describe_block(const struct nt_resource *resource, char *text, size_t bytes)
{
    const struct nt_block *block = CONTAINER(resource, struct nt_block, resource);
    char tag[5];

    nt_tag_text(block->tag, tag);
    snprintf(text, bytes, " of %llu bytes, tag '%s'", (unsigned long long)block->bytes, tag);
}

static void reclaim_block(struct nt_resource *resource)
{
    nt_pool_give(CONTAINER(resource, struct nt_block, resource));
}

static const struct kind kinds[NT_RESOURCE_KINDS] = {
    [NT_RESOURCE_POOL] = {"NT-027", "pool block", DRIVER_VERIFIER, 0x62, describe_block,
                          reclaim_block},
    [NT_RESOURCE_MDL] = {"NT-114", "MDL", 0, 0, NULL, nt_mdl_reclaim},
    [NT_RESOURCE_CONTIGUOUS] = {"NT-027", "contiguous memory block", 0, 0, nt_contiguous_describe,
                                nt_contiguous_reclaim},
    [NT_RESOURCE_IO_SPACE] = {"NT-135", "mapping made by MmMapIoSpace", 0, 0, NULL,
                              nt_io_space_reclaim},
    [NT_RESOURCE_THREAD] = {"NT-109", "running system thread", 0, 0, NULL, nt_thread_reclaim},
    [NT_RESOURCE_HANDLE] = {"NT-109", "open kernel handle", 0, 0, nt_handle_describe,
                            nt_handle_reclaim},
    [NT_RESOURCE_WORK_ITEM] = {"NT-099", "I/O work item", 0, 0, NULL, nt_work_reclaim},
    [NT_RESOURCE_EX_WORK_ITEM] = {"NT-101", "queued work item", 0xCE, 0, NULL, nt_work_reclaim},
    [NT_RESOURCE_TIMER] = {"NT-006", "set timer", 0xC7, 0, NULL, nt_timer_reclaim},
    [NT_RESOURCE_EX_TIMER] = {"NT-087", "timer made by ExAllocateTimer", 0, 0, NULL,
                              nt_ex_timer_reclaim},
    [NT_RESOURCE_DPC] = {"NT-006", "queued DPC", 0xC7, 1, NULL, nt_dpc_reclaim},
    [NT_RESOURCE_LOOKASIDE] = {"NT-031", "lookaside list", 0, 0, NULL, nt_lookaside_reclaim},
    [NT_RESOURCE_ERESOURCE] = {"NT-071", "ERESOURCE", DRIVER_VERIFIER, 0xD2, NULL,
                               nt_eresource_reclaim},
    [NT_RESOURCE_MAPPING] = {"NT-123", "system mapping of an MDL", 0, 0, NULL, nt_mapping_reclaim},
    [NT_RESOURCE_LOCKED_PAGES] = {"NT-115", "MDL with locked pages", DRIVER_VERIFIER, 0xB8, NULL,
                                  nt_mdl_lock_reclaim},
    [NT_RESOURCE_ETW] = {"NT-168", "ETW registration", DRIVER_VERIFIER, 0xDD, NULL, nt_etw_reclaim},
    [NT_RESOURCE_BUGCHECK_CALLBACK] = {"NT-166", "bug check callback", 0, 0, NULL,
                                       nt_bugcheck_callback_reclaim},
    [NT_RESOURCE_FILE] = {"NT-170", "reference to a file object", 0, 0, NULL, nt_file_reclaim},
};

static void report(const struct nt_image *image, const struct nt_resource *resource)
{
    const struct kind *kind = &kinds[resource->kind];
    char caller[96], more[128] = "";

    nt_caller_name(resource->caller, caller, sizeof(caller));
    if (kind->describe)
        kind->describe(resource, more, sizeof(more));
    if (kind->code)
        verify_report_code(kind->rule, kind->code, kind->subcode, (uintptr_t)resource->caller,
                           resource->serial, 0, "%s left a %s%s, made at %s", image->name,
                           kind->noun, more, caller);
    else
        VIOLATION(kind->rule, "%s left a %s%s, made at %s", image->name, kind->noun, more, caller);
}

void nt_resource_reclaim(struct nt_resource *resource)
{
    list_remove(&resource->link);
    kinds[resource->kind].reclaim(resource);
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

        if (resource->kind == NT_RESOURCE_THREAD || resource->kind == NT_RESOURCE_DPC ||
            (resource->kind == NT_RESOURCE_WORK_ITEM && nt_work_is_queued(resource)))
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
