/* SPDX-License-Identifier: MIT */
/* Where the sources of rules are published. */
#ifndef DXGK_CLI_SOURCE_PAGE_H
#define DXGK_CLI_SOURCE_PAGE_H

#include <stdbool.h>
#include <stddef.h>

/* The address of a page that a source names by its file: of the reference of an interface of
 * Windows drivers, or of a bug check. False: it is none, or not known where. */
bool cli_source_page(const char *name, size_t length, char *address, size_t bytes);
/* The next name in a list of sources, and its length; *text becomes what is left. NULL: there is
 * none. */
const char *cli_source_next(const char **text, size_t *length);

#endif
