/* SPDX-License-Identifier: MIT */
/*
 * Objects with reference counts: what a driver gets a pointer to, and what a handle keeps.
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
};

struct nt_object {
    enum nt_object_type type;
    uint32_t references;      /* pointers */
    uint32_t host_references; /* of them, those that no driver may give back */
    uint32_t handles;
    void *body; /* what the driver's pointer points to */
    void (*destroy)(struct nt_object *object);
};

struct nt_objects {
    struct hash_map by_body;
    /* Is it one of the objects that drivers may reference and that stay without a count? */
    bool (*uncounted)(const void *body);
};

/* Starts with one reference. False: out of memory. */
bool nt_object_init(struct nt_object *object, enum nt_object_type type, void *body,
                    void (*destroy)(struct nt_object *object));
void nt_object_retain(struct nt_object *object);
void nt_object_release(struct nt_object *object);
/* A handle to it was made, or closed. */
void nt_object_add_handle(struct nt_object *object);
void nt_object_remove_handle(struct nt_object *object);
/* The object with this body, or NULL. */
struct nt_object *nt_object_find(const void *body);
/* It is one no more; its memory is the caller's. */
void nt_object_forget(struct nt_object *object);
/* Device and driver objects, which io knows. Once for each machine. */
void nt_object_set_uncounted(bool (*uncounted)(const void *body));
bool nt_object_is_uncounted(const void *body);
/* "thread", for reports. */
const char *nt_object_noun(enum nt_object_type type);

#endif
