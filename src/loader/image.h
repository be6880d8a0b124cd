/* SPDX-License-Identifier: MIT */
/* The record of an image of either format, and the list of all images of a machine. */
#ifndef DXGK_LOADER_IMAGE_H
#define DXGK_LOADER_IMAGE_H

#include <stdint.h>

#include "loader/loader.h"
#include "loader/symbols.h"
#include "util/list.h"

/* The images of one machine. */
struct loader {
    struct list images;
    struct coverage *coverage; /* NULL: none is recorded. On the machine's heap */
    loader_source *source;     /* tells of images what they do not; NULL: nobody does */
    void *source_context;
    unsigned depth; /* nesting of modules that are loaded because another one imports from them */
};

/* Of the current machine; NULL: it never loaded an image. */
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
    struct lines *lines; /* NULL: none, or out of memory */
    /* Windows images without lines only */
    char *path; /* NULL: unknown */
    loader_source *source;
    void *source_context;
    bool nameless; /* it has no symbols but its exports */

    /* ELF images only */
    void *handle; /* handle of the dynamic linker */
    /* Descriptor of the memory file with the copy that was loaded; -1: the file itself was loaded.
     * Stays open as long as the image, since the dynamic linker knows the copy by the descriptor's
     * name. */
    int copy;
    int *thread; /* threads of the process when the image was mapped; NULL: not known */
    uint32_t threads;
    bool stays; /* threads of its own still run in it, so it stays mapped */

    struct pe_image *pe;          /* PE images only */
    struct loader_image **module; /* modules that were loaded for this image, each once */
    uint32_t modules;
    uint32_t importers; /* if it is a module: number of images that use it; 0: it is a driver */
};

#endif
