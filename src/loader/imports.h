/* SPDX-License-Identifier: MIT */
/* The imports of a driver, and those that are missing. */
#ifndef DXGK_LOADER_IMPORTS_H
#define DXGK_LOADER_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loader/elf_file.h"
#include "loader/image.h"

/* Puts the image's undefined names, sorted, into image->import. STATUS_DRIVER_ENTRYPOINT_NOT_FOUND:
 * some are missing. */
NTSTATUS loader_imports(struct loader_image *image, const struct elf_file *file, char *error,
                        size_t error_bytes);
/* Whether the process, or a library that the file needs, defines the name. */
bool loader_offered(const struct elf_file *file, const char *name);
/* LIFE-005: report all missing names (sorted) at once. Returns the status to fail with, or, if
 * stubs stand in for them, success (or out of memory). */
NTSTATUS loader_report_missing(const char *image, char *const *name, uint32_t count, bool stubs,
                               char *error, size_t error_bytes);
void loader_sort_names(char **name, uint32_t count);

#endif
