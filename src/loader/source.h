/* SPDX-License-Identifier: MIT */
/* What somebody else tells of a Windows image (loader_on_source). */
#ifndef DXGK_LOADER_SOURCE_H
#define DXGK_LOADER_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loader_image;

/* "refgpu.sys!refgpu_patch+0x42". False: nobody tells. */
bool loader_source_name(const struct loader_image *image, uint64_t offset, char *text, size_t bytes);
/* "/home/me/refgpu/patch.c:85" */
bool loader_source_line_of(const struct loader_image *image, uint64_t offset, char *text,
                           size_t bytes);
/* The innermost function that was inlined there. False: none was. */
bool loader_source_inlined(const struct loader_image *image, uint64_t offset, char *text,
                           size_t bytes);

#endif
