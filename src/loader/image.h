/* SPDX-License-Identifier: MIT */
/* The record of an image of either format, and the list of all those of a machine. */
#ifndef DXGK_LOADER_IMAGE_H
#define DXGK_LOADER_IMAGE_H

#include <stdint.h>

#include "loader/loader.h"
#include "loader/symbols.h"
#include "util/list.h"

/* Images of one machine. */
struct loader {
    struct list images;
    unsigned depth; /* of modules that are loaded because another one is */
};

/* Of the machine that is entered; NULL: no image was ever loaded. */
struct loader *loader_current(void);

struct loader_image {
    struct list link;
    char name[64];
    char service[64];
    uintptr_t base; /* relocation */
    uint64_t low, high;
    PDRIVER_INITIALIZE entry;
    char **import; /* names of routines, sorted */
    uint32_t imports;
    char *import_names;
    struct symbol_table symbols;

    /* of an ELF image */
    void *handle; /* of the dynamic linker */
    /* memory file it was loaded from; -1: the file itself. Open as long as the image, since the
     * dynamic linker knows the copy by the descriptor's name. */
    int copy;

    struct pe_image *pe;          /* of a PE image */
    struct loader_image **module; /* modules that were loaded for it, each once */
    uint32_t modules;
    uint32_t importers; /* of a module: images that use it; 0: it is a driver */
};

#endif
