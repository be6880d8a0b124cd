/* SPDX-License-Identifier: MIT */
/*
 * A copy of what memory files hold, to which they can be set back.
 *
 * The files are mapped in several places, so that a child of fork shares them with its parent:
 * what it writes stays when it ends. Only pages that were ever touched are copied and compared.
 */
#ifndef DXGK_RAM_KEEP_H
#define DXGK_RAM_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ram/file.h"

struct ram_keep;

/* It uses the host's memory, not the machine's heap. NULL: out of memory. */
struct ram_keep *ram_keep_create(void);
void ram_keep_destroy(struct ram_keep *keep);
/* Adds a file, which must outlive the copy. False: out of memory. */
bool ram_keep_add(struct ram_keep *keep, const struct ram_file *file);
/* The file that was added as number `index`; NULL: there are fewer. */
const struct ram_file *ram_keep_file(const struct ram_keep *keep, size_t index);
/* Bytes that were copied. */
uint64_t ram_keep_bytes(const struct ram_keep *keep);
/* Sets all files back. Returns how many pages were different; -1: the host failed. */
int64_t ram_keep_restore(struct ram_keep *keep);

#endif
