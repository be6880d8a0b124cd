/* SPDX-License-Identifier: MIT */
/*
 * NT handles: one table for all processes. Kernel handles have the high bits set and work in every
 * process; other handles work only in their process. All are multiples of four, and below 2^30
 * without the high bits, so that none has the value of a D3DKMT_HANDLE.
 */
#include <stdio.h>

#include "nt/ob/handle.h"
#include "nt/base/current.h"
#include "nt/base/resource.h"
#include "nt/base/state.h"
#include "nt/ob/object.h"
#include "sim/irql.h"
#include "sim/sim_assert.h"
#include "util/alloc.h"
#include "util/handle.h"
#include "util/list.h"
#include "verify/verify.h"

#define KERNEL_HANDLE_BITS 0xFFFFFFFC00000000u
#define HANDLE_ENTRY       1u /* the only type in the handle table */

struct handle_entry {
    struct nt_resource resource;
    struct nt_object *object;
    struct nt_process *process; /* NULL: kernel handle */
    ACCESS_MASK access;
    uint32_t value;
};

static void describe_handle(const struct nt_resource *resource, char *text, size_t bytes);
static void reclaim_handle(struct nt_resource *resource);

static const struct nt_resource_class handle_class = {
    .rule = "NT-109",
    .noun = "open kernel handle",
    .describe = describe_handle,
    .reclaim = reclaim_handle,
};

HANDLE nt_handle_create(struct nt_object *object, ACCESS_MASK access, bool kernel,
                        const void *caller)
{
    struct nt *nt = nt_state();
    struct handle_entry *entry = util_zalloc(1, sizeof(*entry));
    uint64_t value;

    if (!entry)
        return NULL;
    entry->object = object;
    entry->access = access;
    entry->process = kernel ? NULL : nt_process_current();
    entry->value = handle_create(nt->handles, HANDLE_ENTRY, entry);
    if (entry->value == 0) {
        util_free(entry);
        return NULL;
    }
    nt_object_add_handle(object);
    nt_resource_track(&entry->resource, &handle_class, caller);
    value = (uint64_t)entry->value << 2 | (kernel ? KERNEL_HANDLE_BITS : 0);
    return (HANDLE)(uintptr_t)value;
}

bool nt_handle_is_kernel(HANDLE handle)
{
    return ((uintptr_t)handle & KERNEL_HANDLE_BITS) == KERNEL_HANDLE_BITS;
}

static struct handle_entry *find_entry(HANDLE handle)
{
    uint64_t value = (uintptr_t)handle;
    struct handle_entry *entry;
    bool kernel = nt_handle_is_kernel(handle);

    if (kernel)
        value &= ~KERNEL_HANDLE_BITS;
    if (value % 4 != 0 || value >> 30 != 0)
        return NULL;
    entry = handle_lookup(nt_state()->handles, (uint32_t)(value >> 2), HANDLE_ENTRY);
    if (!entry || kernel != (entry->process == NULL))
        return NULL;
    return kernel || entry->process == nt_process_current() ? entry : NULL;
}

static void close_entry(struct handle_entry *entry)
{
    struct nt_object *object = entry->object;

    handle_remove(nt_state()->handles, entry->value, HANDLE_ENTRY);
    nt_resource_untrack(&entry->resource);
    util_free(entry);
    nt_object_remove_handle(object);
}

struct nt_object *nt_handle_object(HANDLE handle, enum nt_object_type type, ACCESS_MASK *access)
{
    struct handle_entry *entry = find_entry(handle);

    if (!entry || (type != NT_OBJECT_ANY && entry->object->type != type))
        return NULL;
    if (access)
        *access = entry->access;
    return entry->object;
}

void *nt_handle_event(const struct nt_process *process, HANDLE handle)
{
    uint64_t value = (uintptr_t)handle;
    const struct handle_entry *entry;

    sim_assert_irql(SIM_IRQL_DISPATCH);
    if (nt_handle_is_kernel(handle) || value % 4 != 0 || value >> 30 != 0)
        return NULL;
    entry = handle_lookup(nt_state()->handles, (uint32_t)(value >> 2), HANDLE_ENTRY);
    if (!entry || entry->process != process || entry->object->type != NT_OBJECT_EVENT)
        return NULL;
    return entry->object->body;
}

bool nt_handle_close(HANDLE handle)
{
    struct handle_entry *entry = find_entry(handle);

    if (entry)
        close_entry(entry);
    return entry != NULL;
}

bool nt_handle_kernel_wanted(const OBJECT_ATTRIBUTES *attributes, const char *rule,
                             const char *routine)
{
    if (nt_process_current() == nt_process_system() ||
        (attributes && attributes->Attributes & OBJ_KERNEL_HANDLE))
        return true;
    WARNING(rule, "%s in a client's process without OBJ_KERNEL_HANDLE", routine);
    return false;
}

void nt_handle_close_process(struct nt_process *process)
{
    struct nt *nt = nt_state();
    uint32_t cursor = 0, handle;
    uint8_t type;
    struct handle_entry *entry;

    while ((entry = handle_next(nt->handles, &cursor, &handle, &type)) != NULL) {
        if (entry->process == process)
            close_entry(entry);
    }
}

static void describe_handle(const struct nt_resource *resource, char *text, size_t bytes)
{
    const struct handle_entry *entry = CONTAINER(resource, struct handle_entry, resource);

    snprintf(text, bytes, " of a %s", nt_object_noun(entry->object->type));
}

static void reclaim_handle(struct nt_resource *resource)
{
    close_entry(CONTAINER(resource, struct handle_entry, resource));
}

/* ---- the whole ---- */

static bool init(struct nt *nt)
{
    handle_table_init(nt->handles, &handle_layout_short);
    return true;
}

static void finish(struct nt *nt)
{
    handle_table_finish(nt->handles);
}

const struct nt_component nt_handle_component = {
    .slot = offsetof(struct nt, handles),
    .bytes = sizeof(struct handle_table),
    .init = init,
    .finish = finish,
};
