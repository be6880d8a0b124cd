/* SPDX-License-Identifier: MIT */
/*
 * The registry, for upper rooms: settings for drivers, and values that drivers write.
 */
#ifndef DXGK_NT_REGISTRY_H
#define DXGK_NT_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Paths are ASCII, start at \Registry, and ignore case. Keys are created as needed; with `name`
 * NULL, only the key is. False: out of memory. */
bool nt_registry_set(const char *path, const char *name, uint32_t type, const void *data,
                     uint32_t bytes);
/* The bytes of a value, valid until it changes; NULL: there is none. */
const void *nt_registry_get(const char *path, const char *name, uint32_t *type, uint32_t *bytes);
/* In the text format of registry_file.c. False: a bad line, out of memory, or a file error. */
bool nt_registry_load(FILE *in);
bool nt_registry_save(FILE *out);

#endif
