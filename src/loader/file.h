/* SPDX-License-Identifier: MIT */
/* An image file, read whole: what the readers of both formats start from. */
#ifndef DXGK_LOADER_FILE_H
#define DXGK_LOADER_FILE_H

#include <ntddk.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An image file, read whole. */
struct loader_file {
    uint8_t *bytes;
    size_t size;
    const char *name; /* for error lines */
    char *folder;     /* that it is in, by its real path; NULL: not known */
};

/* On failure nothing is held. */
NTSTATUS loader_file_read(struct loader_file *file, const char *path, const char *name, char *error,
                          size_t error_bytes);
void loader_file_free(struct loader_file *file);
/* Does it claim to be a Windows image? */
bool loader_file_is_pe(const struct loader_file *file);

#endif
