/* SPDX-License-Identifier: MIT */
/*
 * Reference-counted objects: drivers have pointers to them, and handles keep them alive.
 */
#ifndef DXGK_NT_OBJECT_H
#define DXGK_NT_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "util/hash.h"

enum nt_object_type {
    NT_OBJECT_ANY,
    NT_OBJECT_THREAD,
    NT_OBJECT_PROCESS,
    NT_OBJECT_EVENT,
    NT_OBJECT_SEMAPHORE,
    NT_OBJECT_FILE,
    NT_OBJECT_KEY,
    NT_OBJECT_SECTION,
    NT_OBJECT_SHARED_RESOURCE, /* DxgkSharedResource */
    NT_OBJECT_SHARED_SYNC,     /* DxgkSharedSyncObject */
};

struct nt_object {
    enum nt_object_type type;
    uint32_t references;      /* pointer references */
    uint32_t host_references; /* how many of them no driver may release */
    uint32_t handles;
    void *body;           /* what a driver's pointer points to */
    const uint16_t *name; /* UTF-16, the creator's; NULL: none */
    uint16_t name_chars;
    void (*destroy)(struct nt_object *object);
};

struct nt_objects {
    struct hash_map by_body;
    /* Whether drivers may reference this object although it is not counted and always stays. */
    bool (*uncounted)(const void *body);
};

/* The object starts with one reference. False: out of memory. */
bool nt_object_init(struct nt_object *object, enum nt_object_type type, void *body,
                    void (*destroy)(struct nt_object *object));
void nt_object_retain(struct nt_object *object);
void nt_object_release(struct nt_object *object);
/* A handle to it was created, or closed. */
void nt_object_add_handle(struct nt_object *object);
void nt_object_remove_handle(struct nt_object *object);
/* The object with this body, or NULL. */
struct nt_object *nt_object_find(const void *body);
/* It is no longer an object; the caller owns its memory. */
void nt_object_forget(struct nt_object *object);
/* Sets the test for device and driver objects, which io knows. Called once per machine. */
void nt_object_set_uncounted(bool (*uncounted)(const void *body));
bool nt_object_is_uncounted(const void *body);
/* Such as "thread", for reports. */
const char *nt_object_noun(enum nt_object_type type);
/* Such as "Thread", the name of the type in the object manager. */
const char *nt_object_type_name(enum nt_object_type type);

#endif
