/* SPDX-License-Identifier: MIT */
/*
 * The tree of registry keys and values, for the files that serve drivers from it.
 */
#ifndef DXGK_NT_REGISTRY_KEY_H
#define DXGK_NT_REGISTRY_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntddk.h>

#include "nt/ob/object.h"
#include "util/list.h"

/* A name of UTF-16 units, not terminated. */
struct reg_name {
    WCHAR *text;
    uint32_t length;
};

struct reg_value {
    struct list link;
    struct reg_name name;
    uint32_t type;
    uint32_t bytes;
    uint8_t *data;
};

/* A key lives in the tree until it is deleted, and as an object until the last handle is closed. */
struct reg_key {
    struct nt_object object;
    struct list link; /* in the parent */
    struct reg_key *parent;
    struct reg_name name;
    struct list children, values; /* in order of creation */
    uint64_t written;             /* system time */
    bool temporary;               /* not saved */
    bool deleted;
};

struct nt_registry {
    struct reg_key *root; /* \Registry */
};

/* One step down; NULL: no such key. */
struct reg_key *reg_find_child(const struct reg_key *key, const WCHAR *name, size_t length,
                               bool ignore_case);
/* Follow a path of names separated by backslashes; with `create`, keys that are missing are made.
 * NULL: a part is missing (or, with `create`, out of memory). *created tells whether the last part
 * was made. */
struct reg_key *reg_walk(struct reg_key *key, const WCHAR *path, size_t length, bool ignore_case,
                         bool create, bool temporary, bool *created);
/* The same from the root, for a path that begins with \Registry. */
struct reg_key *reg_path(const WCHAR *path, size_t length, bool ignore_case, bool create,
                         bool temporary, bool *created);
/* For paths in the host's own code: ASCII. */
struct reg_key *reg_ascii_path(const char *path, bool create);
struct reg_value *reg_find_value(const struct reg_key *key, const WCHAR *name, size_t length);
/* Set or replace; false: out of memory, nothing changed. */
bool reg_set_value(struct reg_key *key, const WCHAR *name, size_t length, uint32_t type,
                   const void *data, uint32_t bytes);
void reg_delete_value(struct reg_value *value);
/* Take the key out of the tree. It must have no children. */
void reg_delete_key(struct reg_key *key);

/* Rights on a key for generic ones. */
ACCESS_MASK reg_map_access(ACCESS_MASK access);
/* An ASCII text as UTF-16 in a buffer of `room` units; the length, cut to fit. */
size_t reg_widen(const char *text, WCHAR *wide, size_t room);

#endif
