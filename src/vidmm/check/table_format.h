/* SPDX-License-Identifier: MIT */
/* Which format the tables of an adapter have. */
#ifndef DXGK_VIDMM_TABLE_FORMAT_H
#define DXGK_VIDMM_TABLE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

struct dxgk_table_format;
struct vidmm;

/* The one that the embedder gave, else the device model's; NULL: none is known, or the driver
 * described tables of another shape. */
const struct dxgk_table_format *table_format_of(struct vidmm *vidmm);
/* Can entries be read with it? `error`: why not. */
bool table_format_sound(const struct dxgk_table_format *format, char *error, size_t error_bytes);
/* The adapter starts: say why its tables cannot be compared with the embedder's format. */
void table_format_begin(struct vidmm *vidmm);
/* One of those that are built in, by name; NULL: there is none. */
const struct dxgk_table_format *table_format_named(const char *name);

#endif
