/* SPDX-License-Identifier: MIT */
/*
 * PE images (.sys): reading, mapping and binding them, and naming their addresses.
 *
 *   file bytes -> headers checked (pe_file.c) -> copied to their addresses, relocated (pe_map.c)
 *     -> TLS judged, cookie set, exception directory copied (pe_directories.c)
 *     -> imports collected, looked up and bound (pe_imports.c) -> symbols kept (pe_symbols.c)
 *     -> reads of CR8 rewritten (pe_rewrite.c) -> pages protected, function table registered
 *        (pe_image.c)
 *
 * Nothing in the image is trusted. After pe_file_parse, sections are known to be inside the file
 * and the image; their content is read through pe_at, and only before code of the image has run.
 */
#ifndef DXGK_LOADER_PE_H
#define DXGK_LOADER_PE_H

#include "loader/file.h"
#include "loader/image.h"
#include "loader/pe_format.h"
#include "loader/symbols.h"
#include "x64/unwind/function_table.h"

#define PE_PAGE         4096u
#define PE_MAX_SECTIONS 96u
#define PE_MAX_IMPORTS  65536u
#define PE_MAX_MODULES  1024u
#define PE_MAX_EXPORTS  65536u /* an ordinal has 16 bits */
#define PE_MAX_NAME     512u   /* bytes of an imported name, terminator included */

struct pe_section {
    char name[9];
    uint32_t address, memory_bytes, offset, file_bytes, flags;
};

/* The parsed headers. Bytes and name belong to the file that was parsed. */
struct pe_file {
    const uint8_t *bytes;
    size_t size;
    const char *name;
    struct pe_file_header header;
    struct pe_optional_header optional;
    struct pe_directory directory[PE_DIRECTORIES]; /* absent: 0, 0 */
    struct pe_section section[PE_MAX_SECTIONS];    /* in address order, not overlapping */
    uint32_t sections;
    const char *folder; /* where modules that it imports from are searched; NULL: nowhere */
    unsigned options;   /* LOADER_* */
    char *error;        /* buffer for one line; see pe_refuse */
    size_t error_bytes;
};

struct pe_import {
    uint32_t module, name; /* in import_names */
    uint32_t slot;         /* address of the eight bytes to fill in */
    uint16_t ordinal;
    bool by_ordinal, delayed;
    bool stub, reported; /* pe_stubs.c */
    void *target;        /* NULL: missing */
};

/* A PE image in memory. */
struct pe_image {
    uint8_t *base;               /* NULL: not mapped */
    uint32_t bytes;              /* whole pages */
    size_t mapped_bytes;         /* including the spare pages after it */
    struct pe_directory exports; /* inside the image */
    struct pe_import *import;
    uint32_t imports;
    char *import_names;
    void *stub; /* code of the stubs for missing imports; NULL: none */
    size_t stub_bytes;
    struct {
        uint32_t address, bytes;
    } * discardable; /* sections to discard once the driver is initialized */
    uint32_t discardables;
    struct x64_function *function;
    struct x64_function_table table;
};

/* Write "<name>: <what is wrong>" to the error line of the file. Always returns
 * STATUS_INVALID_IMAGE_FORMAT. */
NTSTATUS pe_refuse(const struct pe_file *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- pe_file.c ---- */

/* Check the headers. The buffer of the error line stays in use for errors found later. */
NTSTATUS pe_file_parse(struct pe_file *file, const struct loader_file *source, unsigned options,
                       char *error, size_t error_bytes);
/* The section that contains the address; NULL: none. */
const struct pe_section *pe_section_at(const struct pe_file *file, uint32_t address);

/* ---- pe_map.c ---- */

/* Copy the image to memory that is writable but not executable, then apply the relocations. After a
 * failure pe_unmap must still be called. */
NTSTATUS pe_map(struct pe_image *image, const struct pe_file *file);
NTSTATUS pe_relocate(struct pe_image *image, const struct pe_file *file);
/* Protect each section as its flags say. */
NTSTATUS pe_protect(const struct pe_image *image, const struct pe_file *file);
/* Record the discardable sections; and discard them, after which any access to them faults. */
NTSTATUS pe_note_discardable(struct pe_image *image, const struct pe_file *file);
void pe_discard(struct pe_image *image);
void pe_unmap(struct pe_image *image);

/* The bytes at an address of the mapped image, or NULL unless all of them are inside it. Not
 * aligned. */
static inline uint8_t *pe_at(const struct pe_image *image, uint64_t address, uint64_t bytes)
{
    if (address > image->bytes || bytes > image->bytes - address)
        return NULL;
    return image->base + address;
}
/* A string that ends inside the image and within PE_MAX_NAME bytes; NULL: there is none. */
const char *pe_text_at(const struct pe_image *image, uint64_t address);

/* ---- pe_directories.c ---- */

NTSTATUS pe_check_tls(const struct pe_image *image, const struct pe_file *file);
/* For an image built with stack protection: set the security cookie to a value other than the
 * linked one, which is the same in every run. */
NTSTATUS pe_set_cookie(const struct pe_image *image, const struct pe_file *file);
/* Put a checked copy of the exception directory into image->function and image->table. */
NTSTATUS pe_read_functions(struct pe_image *image, const struct pe_file *file);

/* ---- pe_rewrite.c ---- */

/* Replace instructions that would trap by ones that do not, where that is safe; others by ones that
 * trap, for the detector of races, and if it `preempts`. Call before the pages are protected. */
NTSTATUS pe_rewrite(const struct pe_image *image, const struct pe_file *file, bool preempts);

/* ---- pe_imports.c ---- */

/* Put all imports, including delay-loaded ones, into image->import, with what the host offers for
 * each. */
NTSTATUS pe_collect_imports(struct loader_image *image, const struct pe_file *file);
/* Fill in the addresses of imports. Missing imports are listed in the error line and reported
 * (LIFE-005); with stubs, they are only reported, as a warning. */
NTSTATUS pe_bind_imports(struct pe_image *image, const struct pe_file *file);

/* ---- pe_exports.c ---- */

/* Find by name, or by ordinal if name is NULL. NULL: no such export. Reads the export directory in
 * the image (never beyond the image), so the image's own code must not have run, or not have
 * changed that directory. */
void *pe_export_find(const struct pe_image *image, const char *name, uint16_t ordinal);

/* ---- pe_stubs.c ---- */

/* Make stubs for missing imports: for the delay-loaded ones only, or for all. */
NTSTATUS pe_make_stubs(struct pe_image *image, bool all);
void pe_free_stubs(struct pe_image *image);

/* ---- pe_symbols.c ---- */

/* Read the functions from the COFF symbol table of the file if it has one, else from the exports.
 * Invalid tables count as absent. */
NTSTATUS pe_read_symbols(struct symbol_table *table, const struct pe_image *image,
                         const struct pe_file *file);
/* The lines of source that gcc and clang can leave in an image (DWARF). NULL: none, or out of
 * memory. */
struct lines *pe_read_lines(const struct pe_file *file);

/* ---- pe_image.c ---- */

/* All steps that read the image, before any of its code can run: mapping, relocation, import
 * lookup, symbols. Sets image->pe. */
NTSTATUS pe_image_prepare(struct loader_image *image, const struct pe_file *file);
NTSTATUS pe_image_load(struct loader_image *image, const struct loader_file *file, unsigned options,
                       char *error, size_t error_bytes);
void pe_image_unload(struct loader_image *image);

/* ---- modules.c ---- */

/* Whether the host stands in for this module. */
bool loader_module_is_host(const char *module);
/* The host's routine or variable of this name in one of its modules; NULL: none. */
void *loader_module_find(const char *name);
/* Finds the image of a module for an importer: one already loaded for others, else a file of that
 * name in the importer's folder, which is loaded and stays in the machine as long as an importer
 * does. *module NULL: there is none. */
NTSTATUS loader_module_open(struct loader_image *importer, const struct pe_file *file,
                            const char *name, struct loader_image **module);
void loader_modules_close(struct loader_image *importer);

#endif
