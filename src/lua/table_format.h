/* SPDX-License-Identifier: MIT */
/* A format of page tables, described by a file in Lua (docs/page-tables.md). */
#ifndef DXGK_LUA_TABLE_FORMAT_H
#define DXGK_LUA_TABLE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "dxgkhost/page_tables.h"

struct lua_table_format {
    struct dxgk_table_format format;
    char name[32];
};

/* The file is an expression of Lua without any library, which may take neither much time nor much
 * memory. False: `error` says what is wrong with it. */
bool lua_table_format_read(const char *path, struct lua_table_format *out, char *error,
                           size_t error_bytes);

#endif
