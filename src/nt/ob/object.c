/* SPDX-License-Identifier: MIT */
/*
 * Reference-counted objects. An object lives until it has neither a pointer reference nor a handle
 * (NT-105).
 */
#include "nt/ob/object.h"
#include "nt/base/state.h"
#include "util/assert.h"
#include "util/hash.h"

bool nt_object_init(struct nt_object *object, enum nt_object_type type, void *body,
                    void (*destroy)(struct nt_object *object))
{
    object->type = type;
    object->references = 1;
    object->handles = 0;
    object->name = NULL;
    object->name_chars = 0;
    object->body = body;
    object->destroy = destroy;
    return hash_put(&nt_state()->objects->by_body, (uintptr_t)body, object);
}

struct nt_object *nt_object_find(const void *body)
{
    return body ? hash_get(&nt_state()->objects->by_body, (uintptr_t)body) : NULL;
}

static void destroy_if_unused(struct nt_object *object)
{
    if (object->references != 0 || object->handles != 0)
        return;
    hash_remove(&nt_state()->objects->by_body, (uintptr_t)object->body);
    if (object->destroy)
        object->destroy(object);
}

void nt_object_retain(struct nt_object *object)
{
    object->references++;
}

void nt_object_release(struct nt_object *object)
{
    util_assert(object->references > 0);
    object->references--;
    destroy_if_unused(object);
}

void nt_object_add_handle(struct nt_object *object)
{
    object->handles++;
}

void nt_object_remove_handle(struct nt_object *object)
{
    util_assert(object->handles > 0);
    object->handles--;
    destroy_if_unused(object);
}

void nt_object_forget(struct nt_object *object)
{
    hash_remove(&nt_state()->objects->by_body, (uintptr_t)object->body);
}

void nt_object_set_uncounted(bool (*uncounted)(const void *body))
{
    util_assert(!nt_state()->objects->uncounted);
    nt_state()->objects->uncounted = uncounted;
}

bool nt_object_is_uncounted(const void *body)
{
    return nt_state()->objects->uncounted(body);
}

const char *nt_object_noun(enum nt_object_type type)
{
    static const char *const name[] = {
        [NT_OBJECT_ANY] = "object",
        [NT_OBJECT_THREAD] = "thread",
        [NT_OBJECT_PROCESS] = "process",
        [NT_OBJECT_EVENT] = "event",
        [NT_OBJECT_SEMAPHORE] = "semaphore",
        [NT_OBJECT_FILE] = "file",
        [NT_OBJECT_KEY] = "registry key",
        [NT_OBJECT_SECTION] = "section",
        [NT_OBJECT_SHARED_RESOURCE] = "shared resource",
        [NT_OBJECT_SHARED_SYNC] = "shared synchronization object",
    };

    return name[type];
}

const char *nt_object_type_name(enum nt_object_type type)
{
    static const char *const name[] = {
        [NT_OBJECT_ANY] = "",
        [NT_OBJECT_THREAD] = "Thread",
        [NT_OBJECT_PROCESS] = "Process",
        [NT_OBJECT_EVENT] = "Event",
        [NT_OBJECT_SEMAPHORE] = "Semaphore",
        [NT_OBJECT_FILE] = "File",
        [NT_OBJECT_KEY] = "Key",
        [NT_OBJECT_SECTION] = "Section",
        [NT_OBJECT_SHARED_RESOURCE] = "DxgkSharedResource",
        [NT_OBJECT_SHARED_SYNC] = "DxgkSharedSyncObject",
    };

    return name[type];
}

/* ---- the whole ---- */

static bool init(struct nt *nt)
{
    hash_init(&nt->objects->by_body);
    return true;
}

static void finish(struct nt *nt)
{
    hash_finish(&nt->objects->by_body);
}

const struct nt_component nt_object_component = {
    .slot = offsetof(struct nt, objects),
    .bytes = sizeof(struct nt_objects),
    .init = init,
    .finish = finish,
};
