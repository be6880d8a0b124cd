/* SPDX-License-Identifier: MIT */
/* What the files of loader share. */
#ifndef DXGK_LOADER_PRIVATE_H
#define DXGK_LOADER_PRIVATE_H

#include <elf.h>

#include "loader/loader.h"
#include "util/list.h"

/* Write one line of explanation, cut to the buffer. */
void loader_explain(char *error, size_t error_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- file.c ---- */

/* Images of one machine. */
/* Of the machine that is entered; NULL: no image was ever loaded. */
struct loader *loader_current(void);

struct loader {
    struct list images;
    unsigned depth; /* of modules that are loaded because another one is */
};

/* An image file, read whole. */
struct loader_file {
    uint8_t *bytes;
    size_t size;
    const char *name; /* for error lines */
    char *folder;     /* that it is in, by its real path; NULL: not known */
};

/* On failure nothing is held. */
NTSTATUS loader_file_read(struct loader_file *file, const char *path, const char *name, char *error,
                          size_t error_bytes);
void loader_file_free(struct loader_file *file);
/* Does it claim to be a Windows image? */
bool loader_file_is_pe(const struct loader_file *file);

/* ---- elf.c ---- */

/* A symbol table and the strings its names are in, as offsets in the file; checked to lie inside it. */
struct elf_table {
    uint64_t symbols, strings, string_bytes;
    uint32_t count;
};

#define ELF_MAX_SEGMENTS 64u
#define ELF_MAX_NEEDED   32u

/* What a shared object's file says of itself. Bytes and name are those of the file it was parsed from. */
struct elf_file {
    const uint8_t *bytes;
    size_t size;
    const char *name;
    struct elf_segment {
        uint64_t address, offset, file_bytes, memory_bytes;
        uint32_t flags;          /* PF_* */
    } segment[ELF_MAX_SEGMENTS]; /* those that are loaded */
    uint32_t segments;
    uint64_t low, high; /* of all segments, before relocation */
    struct elf_table dynamic;
    struct elf_table all;            /* .symtab; count 0: stripped */
    uint64_t needed[ELF_MAX_NEEDED]; /* offsets in the dynamic strings */
    uint32_t needed_count;
};

struct elf_symbol {
    const char *name; /* "" if it has none, or one outside the strings */
    uint64_t value, size;
    uint8_t type, binding;
    bool defined;
};

/* Check, and find what is needed; holds nothing but pointers into the source. */
NTSTATUS elf_file_parse(struct elf_file *file, const struct loader_file *source, char *error,
                        size_t error_bytes);
void elf_symbol_at(const struct elf_file *file, const struct elf_table *table, uint32_t index,
                   struct elf_symbol *symbol);
/* The string at an offset of a table's strings, or NULL. */
const char *elf_string(const struct elf_file *file, const struct elf_table *table, uint64_t offset);

/* ---- symbols.c ---- */

struct symbol {
    uint64_t value, size;
    uint32_t name; /* offset in names */
};

/* Functions in order of address. */
struct symbol_table {
    struct symbol *symbol;
    uint32_t count, room;
    char *names;
    uint32_t name_bytes, name_room;
};

/* Room for so many symbols, their names with terminators taking so many bytes. Then add them, then sort. */
NTSTATUS symbol_table_init(struct symbol_table *table, uint64_t count, uint64_t name_bytes);
void symbol_table_add(struct symbol_table *table, const char *name, size_t length, uint64_t value,
                      uint64_t size);
void symbol_table_sort(struct symbol_table *table);
NTSTATUS symbol_table_init_elf(struct symbol_table *table, const struct elf_file *file);
void symbol_table_finish(struct symbol_table *table);
/* The function that contains the address (before relocation), or ends there (a return address after a call that does not
 * return); NULL: none. */
const struct symbol *symbol_table_find(const struct symbol_table *table, uint64_t address);

/* ---- image.c ---- */

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
    int copy; /* memory file it was loaded from; -1: the file itself. Open as long as the image, since the dynamic
                        linker knows the copy by the descriptor's name. */

    struct pe_image *pe;          /* of a PE image */
    struct loader_image **module; /* modules that were loaded for it, each once */
    uint32_t modules;
    uint32_t importers; /* of a module: images that use it; 0: it is a driver */
};

/* ---- elf_image.c ---- */

/* Both fill in what is theirs; on failure the image is to be unloaded as far as it came. */
NTSTATUS elf_image_load(struct loader_image *image, const struct loader_file *file,
                        const char *path, char *error, size_t error_bytes);
void elf_image_unload(struct loader_image *image);
/* A driver's imports must find the host even when the host library itself was loaded with local scope. */
void loader_make_host_global(void);

/* ---- imports.c ---- */

/* The image's undefined names, sorted, into image->import; and STATUS_DRIVER_ENTRYPOINT_NOT_FOUND if some are offered by
 * nobody. */
NTSTATUS loader_imports(struct loader_image *image, const struct elf_file *file, char *error,
                        size_t error_bytes);
/* Does the process, or a library that the file needs, have the name? */
bool loader_offered(const struct elf_file *file, const char *name);
/* LIFE-005: report the sorted names of what is missing, all at once. Returns the status to fail with, or success (or out of
 * memory) if stand-ins were made. */
NTSTATUS loader_report_missing(const char *image, char *const *name, uint32_t count, bool stubs,
                               char *error, size_t error_bytes);
void loader_sort_names(char **name, uint32_t count);

#endif
