/* SPDX-License-Identifier: MIT */
/* Whether a path names a file that can be read to its end. */
#ifndef DXGK_UTIL_IS_FILE_H
#define DXGK_UTIL_IS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A regular file of at most `most` bytes. False: *error says in a few words why not; a FIFO, which
 * would block whoever opens it, is not opened. */
bool util_is_file(const char *path, uint64_t most, char *error, size_t error_bytes);

#endif
