/* SPDX-License-Identifier: MIT */
/* Lines of source by address, from the debug information of an ELF file. */
#ifndef DXGK_LOADER_LINES_H
#define DXGK_LOADER_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "submit.c:85" of an address in an ELF driver of the current machine. Reads the file anew: for
 * reports that are rare. False: not known. */
bool loader_source_line(uintptr_t pc, char *text, size_t bytes);

#endif
