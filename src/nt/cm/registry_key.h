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

/* A name in UTF-16, not terminated. */
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

/* A key stays in the tree until it is deleted, and exists as an object until its last handle is
 * closed. */
struct reg_key {
    struct nt_object object;
    struct list link; /* in the list of its parent */
    struct reg_key *parent;
    struct reg_name name;
    struct list children, values; /* in order of creation */
    uint64_t written;             /* system time */
    bool temporary;               /* volatile: not saved */
    bool deleted;
};

struct nt_registry {
    struct reg_key *root; /* \Registry */
};

/* Find a child; NULL: no such key. */
struct reg_key *reg_find_child(const struct reg_key *key, const WCHAR *name, size_t length,
                               bool ignore_case);
/* Follow a path of names separated by backslashes; with `create`, missing keys are created. NULL: a
 * part is missing (with `create`: out of memory). *created tells whether the last key is new. */
struct reg_key *reg_walk(struct reg_key *key, const WCHAR *path, size_t length, bool ignore_case,
                         bool create, bool temporary, bool *created);
/* The same from the root, for a path that begins with \Registry. */
struct reg_key *reg_path(const WCHAR *path, size_t length, bool ignore_case, bool create,
                         bool temporary, bool *created);
/* For paths in the host's own code: ASCII. */
struct reg_key *reg_ascii_path(const char *path, bool create);
struct reg_value *reg_find_value(const struct reg_key *key, const WCHAR *name, size_t length);
/* Set or replace a value; false: out of memory, nothing changed. */
bool reg_set_value(struct reg_key *key, const WCHAR *name, size_t length, uint32_t type,
                   const void *data, uint32_t bytes);
void reg_delete_value(struct reg_value *value);
/* Remove the key from the tree. It must have no children. */
void reg_delete_key(struct reg_key *key);

/* Maps generic access rights to those of a key. */
ACCESS_MASK reg_map_access(ACCESS_MASK access);
/* Converts ASCII text to UTF-16 in a buffer of `room` units; returns the length, truncated to
 * fit. */
size_t reg_widen(const char *text, WCHAR *wide, size_t room);

#endif
