/* SPDX-License-Identifier: MIT */
/* Loading an ELF image with the help of the dynamic linker. */
#ifndef DXGK_LOADER_ELF_IMAGE_H
#define DXGK_LOADER_ELF_IMAGE_H

#include <stddef.h>

#include "loader/file.h"
#include "loader/image.h"

/* Both fill in what is theirs; on failure the image is to be unloaded as far as it came. */
NTSTATUS elf_image_load(struct loader_image *image, const struct loader_file *file,
                        const char *path, char *error, size_t error_bytes);
void elf_image_unload(struct loader_image *image);
/* A driver's imports must find the host even when the host library itself was loaded with local
 * scope. */
void loader_make_host_global(void);

#endif
