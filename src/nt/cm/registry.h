/* SPDX-License-Identifier: MIT */
/*
 * The registry for the rooms above: settings for drivers, and results of theirs.
 */
#ifndef DXGK_NT_REGISTRY_H
#define DXGK_NT_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ASCII paths from \Registry on, any case. Keys are made as needed; name NULL: only the key. False:
 * out of memory. */
bool nt_registry_set(const char *path, const char *name, uint32_t type, const void *data,
                     uint32_t bytes);
/* The bytes of a value, valid until it changes; NULL: there is none. */
const void *nt_registry_get(const char *path, const char *name, uint32_t *type, uint32_t *bytes);
/* As text; registry_file.c has the format. False: a bad line, out of memory, or an error of the
 * file. */
bool nt_registry_load(FILE *in);
bool nt_registry_save(FILE *out);

#endif
