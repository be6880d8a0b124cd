/* SPDX-License-Identifier: MIT */
/* Loading an ELF image by means of the dynamic linker. */
#ifndef DXGK_LOADER_ELF_IMAGE_H
#define DXGK_LOADER_ELF_IMAGE_H

#include <stddef.h>

#include "loader/file.h"
#include "loader/image.h"

/* Both set their members of the image; on failure the caller must still unload the image. */
NTSTATUS elf_image_load(struct loader_image *image, const struct loader_file *file,
                        const char *path, char *error, size_t error_bytes);
void elf_image_unload(struct loader_image *image);
/* Lets the imports of a driver resolve to the host even when the host library was loaded with local
 * scope. */
void loader_make_host_global(void);

#endif
