/* SPDX-License-Identifier: MIT */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/shared.h"
#include "kmt/kmt.h"
#include "port/record/adapter_info.h"
#include "sim/machine.h"
#include "util/alloc.h"
#include "util/handle.h"
#include "util/list.h"
#include "vidmm/allocation/allocation.h"
#include "vidsch/client.h"

struct kmt_shared *kmt_shared_create(struct kmt *kmt, enum ddi_client_handle type,
                                     struct port_adapter *port, bool secure)
{
    struct kmt_shared *shared = util_zalloc(1, sizeof(*shared));

    if (!shared)
        return NULL;
    shared->kmt = kmt;
    shared->type = type;
    shared->secure = secure;
    shared->references = 1;
    if (!secure) {
        shared->global = handle_create(&kmt->globals, (uint8_t)type, shared);
        if (!shared->global) {
            util_free(shared);
            return NULL;
        }
    }
    shared->port = port;
    if (port)
        port_adapter_retain(port);
    list_push_back(&kmt->shared, &shared->link);
    return shared;
}

/* A bundle of which the resource has gone binds its other members no longer. */
static void forget_bundle(const struct kmt_shared *gone)
{
    LIST_FOR(node, &gone->kmt->shared) {
        struct kmt_shared *other = CONTAINER(node, struct kmt_shared, link);

        if (other->bundle == gone)
            other->bundle = NULL;
    }
}

void kmt_shared_free(struct kmt_shared *shared)
{
    if (!shared)
        return;
    forget_bundle(shared);
    if (shared->global)
        handle_remove(&shared->kmt->globals, shared->global, (uint8_t)shared->type);
    list_remove(&shared->link);
    if (shared->port)
        port_adapter_release(shared->port);
    util_free(shared->runtime);
    util_free(shared);
}

/* ---- resources ---- */

/* The record stays while NT objects refer to it (references counts those then). */
static void resource_ended(void *context)
{
    struct kmt_shared *shared = context;

    shared->resource = NULL;
    shared->gone = true;
    if (shared->references == 0)
        kmt_shared_free(shared);
}

void kmt_shared_set_resource(struct kmt_shared *shared, struct vidmm_resource *resource)
{
    shared->references = 0;
    shared->resource = resource;
    vidmm_resource_on_end(resource, resource_ended, shared);
}

void kmt_shared_forget(struct kmt *kmt)
{
    LIST_FOR_SAFE(node, following, &kmt->shared) {
        struct kmt_shared *shared = CONTAINER(node, struct kmt_shared, link);

        if (!shared->resource)
            continue;
        vidmm_resource_on_end(shared->resource, NULL, NULL);
        resource_ended(shared);
    }
}

/* ---- references ---- */

void kmt_shared_reference(struct kmt_shared *shared)
{
    shared->references++;
    if (shared->type == DDI_CLIENT_RESOURCE && shared->resource)
        vidmm_resource_reference(shared->resource);
}

static void end_payload(struct kmt_shared *shared)
{
    if (shared->type == DDI_CLIENT_SYNC && shared->sync)
        vidsch_sync_destroy(shared->sync);
    else if (shared->type == DDI_CLIENT_KEYED_MUTEX && shared->mutex)
        shared->end_mutex(shared->mutex);
}

void kmt_shared_release(struct kmt_shared *shared)
{
    shared->references--;
    if (sim_current->stopped)
        return; /* nothing can be called any more; the machine's end frees the rest */
    if (shared->type == DDI_CLIENT_RESOURCE) {
        if (shared->resource)
            vidmm_resource_put(shared->resource); /* may end `shared` */
        else if (shared->references == 0)
            kmt_shared_free(shared);
        return;
    }
    if (shared->references)
        return;
    end_payload(shared);
    kmt_shared_free(shared);
}

struct kmt_shared *kmt_shared_find(const struct kmt *kmt, D3DKMT_HANDLE global,
                                   enum ddi_client_handle type)
{
    struct kmt_shared *shared = handle_lookup(&kmt->globals, global, (uint8_t)type);

    if (shared && type == DDI_CLIENT_RESOURCE && shared->resource &&
        !vidmm_resource_held(shared->resource))
        return NULL; /* KMT-224: its destruction only waits for the GPU */
    return shared;
}

/* ---- the end of an adapter ---- */

static struct kmt_shared *kept_on(const struct kmt *kmt, const struct port_adapter *port)
{
    LIST_FOR(node, &kmt->shared) {
        struct kmt_shared *shared = CONTAINER(node, struct kmt_shared, link);

        if (shared->port == port && !shared->gone)
            return shared;
    }
    return NULL;
}

void kmt_shared_adapter_stops(struct kmt *kmt, const struct port_adapter *port)
{
    struct kmt_shared *shared;

    while ((shared = kept_on(kmt, port)) != NULL && !sim_current->stopped) {
        struct vidmm_resource *resource = shared->resource;
        uint32_t references = shared->references;

        shared->gone = true;
        if (shared->type == DDI_CLIENT_SYNC) {
            vidsch_sync_destroy(shared->sync);
            shared->sync = NULL;
            continue;
        }
        /* The references of the NT objects stay with `shared`; those of vidmm go. */
        shared->resource = NULL;
        vidmm_resource_on_end(resource, NULL, NULL);
        if (references == 0)
            kmt_shared_free(shared);
        while (references--)
            vidmm_resource_put(resource);
    }
}
