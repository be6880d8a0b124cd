/* SPDX-License-Identifier: MIT */
/*
 * PE images (.sys): what the files that read, map, bind and name them share.
 *
 *   file bytes -> headers checked (pe_file.c) -> copied to their addresses, relocated (pe_map.c)
 *     -> TLS refused, cookie set, exception directory copied (pe_directories.c)
 *     -> imports collected, looked up and bound (pe_imports.c) -> symbols kept (pe_symbols.c)
 *     -> reads of CR8 rewritten (pe_rewrite.c) -> pages protected, function table registered
 *        (pe_image.c)
 *
 * Nothing of the image is trusted. After pe_file_parse, sections are known to lie inside file and
 * image; what they contain is read through pe_at, and only before code of the image has run.
 */
#ifndef DXGK_LOADER_PE_H
#define DXGK_LOADER_PE_H

#include "loader/file.h"
#include "loader/image.h"
#include "loader/symbols.h"
#include "loader/pe_format.h"
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

/* What the headers say. Bytes and name are those of the file it was parsed from. */
struct pe_file {
    const uint8_t *bytes;
    size_t size;
    const char *name;
    struct pe_file_header header;
    struct pe_optional_header optional;
    struct pe_directory directory[PE_DIRECTORIES]; /* absent: 0, 0 */
    struct pe_section section[PE_MAX_SECTIONS];    /* in order of address, not overlapping */
    uint32_t sections;
    const char *folder; /* where modules that it imports from may lie; NULL: nowhere */
    unsigned options;   /* LOADER_* */
    char *error;        /* one line; see pe_refuse */
    size_t error_bytes;
};

struct pe_import {
    uint32_t module, name; /* in import_names */
    uint32_t slot;         /* address of the eight bytes to fill */
    uint16_t ordinal;
    bool by_ordinal, delayed;
    bool stub, reported; /* pe_stubs.c */
    void *target;        /* NULL: nobody offers it */
};

/* An image in memory. */
struct pe_image {
    uint8_t *base;               /* NULL: not mapped */
    uint32_t bytes;              /* whole pages */
    size_t mapped_bytes;         /* with the spare pages behind */
    struct pe_directory exports; /* inside the image */
    struct pe_import *import;
    uint32_t imports;
    char *import_names;
    void *stub; /* code that stands in for missing imports; NULL: none */
    size_t stub_bytes;
    struct {
        uint32_t address, bytes;
    } * discardable; /* sections that go once the driver is initialised */
    uint32_t discardables;
    struct x64_function *function;
    struct x64_function_table table;
};

/* Write "<name>: <what is wrong>" to the error line of the file. Always
 * STATUS_INVALID_IMAGE_FORMAT. */
NTSTATUS pe_refuse(const struct pe_file *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- pe_file.c ---- */

/* Check the headers. The error line's buffer is kept for what is found out later. */
NTSTATUS pe_file_parse(struct pe_file *file, const struct loader_file *source, unsigned options,
                       char *error, size_t error_bytes);
/* Section that contains the address; NULL: none. */
const struct pe_section *pe_section_at(const struct pe_file *file, uint32_t address);

/* ---- pe_map.c ---- */

/* Copy to memory that can be written, not executed; then add the distance from the preferred base
 * wherever the image asks. On failure pe_unmap has to be called nevertheless. */
NTSTATUS pe_map(struct pe_image *image, const struct pe_file *file);
NTSTATUS pe_relocate(struct pe_image *image, const struct pe_file *file);
/* Each section as it asks. */
NTSTATUS pe_protect(const struct pe_image *image, const struct pe_file *file);
/* Note the sections that may be discarded, and do it: from then on whoever touches them faults. */
NTSTATUS pe_note_discardable(struct pe_image *image, const struct pe_file *file);
void pe_discard(struct pe_image *image);
void pe_unmap(struct pe_image *image);

/* The bytes at an address of the mapped image, if all of them lie in it, else NULL. Not aligned. */
static inline uint8_t *pe_at(const struct pe_image *image, uint64_t address, uint64_t bytes)
{
    if (address > image->bytes || bytes > image->bytes - address)
        return NULL;
    return image->base + address;
}
/* Text that ends inside the image and within PE_MAX_NAME bytes; NULL: there is none. */
const char *pe_text_at(const struct pe_image *image, uint64_t address);

/* ---- pe_directories.c ---- */

NTSTATUS pe_refuse_tls(const struct pe_image *image, const struct pe_file *file);
/* Where the image was built with stack protection: another value than the one it was built with,
 * the same in every run. */
NTSTATUS pe_set_cookie(const struct pe_image *image, const struct pe_file *file);
/* A checked copy of the exception directory, into image->function and image->table. */
NTSTATUS pe_read_functions(struct pe_image *image, const struct pe_file *file);

/* ---- pe_rewrite.c ---- */

/* Change instructions that trap here to such that do not, where that is safe. Before the pages are
 * protected. */
NTSTATUS pe_rewrite(const struct pe_image *image, const struct pe_file *file);

/* ---- pe_imports.c ---- */

/* All imports, delayed ones too, into image->import, and what the host offers for each. */
NTSTATUS pe_collect_imports(struct loader_image *image, const struct pe_file *file);
/* Fill the slots. Imports that are missing are listed in the error line, and reported (LIFE-005);
 * if they were stubbed, only reported, as a warning. */
NTSTATUS pe_bind_imports(struct pe_image *image, const struct pe_file *file);

/* ---- pe_exports.c ---- */

/* By name, or by ordinal if name is NULL. NULL: no such export. The image's own code must not have
 * run yet, or not have touched its export directory: it is looked at where it is, though never
 * beyond the image. */
void *pe_export_find(const struct pe_image *image, const char *name, uint16_t ordinal);

/* ---- pe_stubs.c ---- */

/* Stand-ins for missing imports: of those that are delay-loaded, or of all. */
NTSTATUS pe_make_stubs(struct pe_image *image, bool all);
void pe_free_stubs(struct pe_image *image);

/* ---- pe_symbols.c ---- */

/* Functions by the COFF symbol table of the file if it has one, else by the exports. What is wrong
 * with them makes them absent. */
NTSTATUS pe_read_symbols(struct symbol_table *table, const struct pe_image *image,
                         const struct pe_file *file);

/* ---- pe_image.c ---- */

/* Everything that looks into the image, before any of its bytes is taken for an instruction:
 * mapped, relocated, imports looked up,
 * symbols read. image->pe is made. */
NTSTATUS pe_image_prepare(struct loader_image *image, const struct pe_file *file);
NTSTATUS pe_image_load(struct loader_image *image, const struct loader_file *file, unsigned options,
                       char *error, size_t error_bytes);
void pe_image_unload(struct loader_image *image);

/* ---- modules.c ---- */

/* Is it a module that the host stands for? */
bool loader_module_is_host(const char *module);
/* What the host offers under a name of one of its modules; NULL: nothing. */
void *loader_module_find(const char *name);
/* The image that an importer's module is: one that is loaded for others already, else one of that
 * file name beside the importer, which is loaded, and belongs to the machine as long as an importer
 * is loaded. *module NULL: there is none. */
NTSTATUS loader_module_open(struct loader_image *importer, const struct pe_file *file,
                            const char *name, struct loader_image **module);
void loader_modules_close(struct loader_image *importer);

#endif
