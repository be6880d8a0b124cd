/* SPDX-License-Identifier: MIT */
/* Which format the tables of an adapter have. */
#ifndef DXGK_VIDMM_TABLE_FORMAT_H
#define DXGK_VIDMM_TABLE_FORMAT_H

#include <stdbool.h>

struct dxgk_table_format;
struct vidmm;

/* The one that the embedder gave, else the device model's; NULL: none is known, or the driver
 * described tables of another shape. */
const struct dxgk_table_format *table_format_of(struct vidmm *vidmm);
/* One of those that are built in, by name; NULL: there is none. */
const struct dxgk_table_format *table_format_named(const char *name);

#endif
