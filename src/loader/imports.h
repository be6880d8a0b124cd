/* SPDX-License-Identifier: MIT */
/* What a driver imports, and what nobody offers. */
#ifndef DXGK_LOADER_IMPORTS_H
#define DXGK_LOADER_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loader/elf_file.h"
#include "loader/image.h"

/* The image's undefined names, sorted, into image->import; and STATUS_DRIVER_ENTRYPOINT_NOT_FOUND
 * if some are offered by nobody. */
NTSTATUS loader_imports(struct loader_image *image, const struct elf_file *file, char *error,
                        size_t error_bytes);
/* Does the process, or a library that the file needs, have the name? */
bool loader_offered(const struct elf_file *file, const char *name);
/* LIFE-005: report the sorted names of what is missing, all at once. Returns the status to fail
 * with, or success (or out of memory) if stand-ins were made. */
NTSTATUS loader_report_missing(const char *image, char *const *name, uint32_t count, bool stubs,
                               char *error, size_t error_bytes);
void loader_sort_names(char **name, uint32_t count);

#endif
