/* SPDX-License-Identifier: MIT */
/* An image file in memory: the input of the readers of both formats. */
#ifndef DXGK_LOADER_FILE_H
#define DXGK_LOADER_FILE_H

#include <ntddk.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An image file, read completely. */
struct loader_file {
    uint8_t *bytes;
    size_t size;
    const char *name; /* shown in error lines */
    char *folder;     /* real path of its folder; NULL: unknown */
};

/* On failure nothing needs to be freed. */
NTSTATUS loader_file_read(struct loader_file *file, const char *path, const char *name, char *error,
                          size_t error_bytes);
void loader_file_free(struct loader_file *file);
/* Whether it has the signature of a Windows image. */
bool loader_file_is_pe(const struct loader_file *file);

#endif
