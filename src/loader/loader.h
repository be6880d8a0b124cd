/* SPDX-License-Identifier: MIT */
/*
 * The loader: loads a miniport's image file into the process, after checks that refuse a bad file
 * with a one-line error instead of a crash later.
 *
 *   ELF (.so)   file read and parsed (elf_file.c) -> every import looked up (imports.c)
 *               -> mapped by the dynamic linker (elf_image.c)
 *   PE (.sys)   file read and parsed, mapped, relocated, bound and protected here (pe.h)
 *   both        symbol table kept (symbols.c)
 *
 * Two machines of one process never share a driver's globals: an ELF file that is already loaded is
 * first copied to a memory file, which the dynamic linker treats as another library. A PE image is
 * always a copy.
 *
 * Images belong to the current machine, so that reports can name addresses. Load and unload only on
 * the host thread between runs, since constructors of an image need a stack of normal size.
 */
#ifndef DXGK_LOADER_H
#define DXGK_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntddk.h>

/* Status codes that the driver headers do not define. */
#ifndef STATUS_INVALID_IMAGE_FORMAT
#define STATUS_INVALID_IMAGE_FORMAT ((NTSTATUS)0xC000007B)
#endif
#ifndef STATUS_DRIVER_ENTRYPOINT_NOT_FOUND
#define STATUS_DRIVER_ENTRYPOINT_NOT_FOUND ((NTSTATUS)0xC0000263)
#endif

struct coverage;
struct loader_image;

/* Use stubs for imports of a PE image that the host does not have, so that the driver can be
 * started anyway: LIFE-005 becomes a warning, and each call of a stub an error. */
#define LOADER_STUB_MISSING 1u
/* The image is not a driver, but a module that a driver imports from: PE only, and without
 * DriverEntry. */
#define LOADER_MODULE 2u

/*
 * Load the image at `path`; options are LOADER_*. On failure *image is unchanged, and *error says
 * why in one line (truncated to error_bytes):
 *   STATUS_OBJECT_NAME_NOT_FOUND           no such file, or it cannot be read
 *   STATUS_INVALID_IMAGE_FORMAT            neither an x86-64 ELF shared object nor an x64 driver
 *                                          image, or truncated, damaged, or refused by the dynamic
 *                                          linker
 *   STATUS_DRIVER_ENTRYPOINT_NOT_FOUND     missing imports, all of them listed
 *                                          (LIFE-005), or no DriverEntry
 *   STATUS_NO_MEMORY
 */
NTSTATUS loader_image_load(const char *path, unsigned options, struct loader_image **image,
                           char *error, size_t error_bytes);
/* Describe the file at `path` in lines of text: its sections, its imports, and where each is found.
 * The file is not run. Errors as above, except that missing imports are part of the description. */
NTSTATUS loader_describe(const char *path, void (*line)(void *context, const char *line),
                         void *context, char *error, size_t error_bytes);
/* The modules that were loaded because the image imports from them, directly or through other
 * modules, in the order in which they must be initialized. */
uint32_t loader_image_modules(const struct loader_image *image);
struct loader_image *loader_image_module(const struct loader_image *image, uint32_t index);
/* Whether only one loaded image still imports from the module. */
bool loader_module_last_use(const struct loader_image *module);
/* Address of an export by name; NULL: none, or not a PE image. */
void *loader_image_export(const struct loader_image *image, const char *name);
/* Call when DriverEntry has returned: discards the sections that are needed only until then (INIT).
 * Only PE images have such sections. */
void loader_image_initialized(struct loader_image *image);
/* Number of threads of the host process that the image has started of its own and that still run,
 * with their names in `names`. Such an image stays mapped when it is unloaded. */
unsigned loader_image_threads(struct loader_image *image, char *names, size_t bytes);
/* No code of the image may run any more. */
void loader_image_unload(struct loader_image *image);

/* File name without folder ("refgpu.so"), and the same without extension ("refgpu"), for the name
 * of the service. */
const char *loader_image_name(const struct loader_image *image);
const char *loader_image_service(const struct loader_image *image);
PDRIVER_INITIALIZE loader_image_entry(const struct loader_image *image);
/* Whether the image imports a routine of this name, for CAPS-065. */
bool loader_image_imports(const struct loader_image *image, const char *name);
/* Where the image is mapped; returns its size in bytes. */
uint64_t loader_image_place(const struct loader_image *image, uintptr_t *base);
bool loader_image_contains(const struct loader_image *image, uintptr_t pc);

/* Whether an address is inside any image of the current machine; under the terms of the next. */
bool loader_in_driver(uintptr_t pc);
/* Where an address lies in its image, before relocation. False: not in an image. */
bool loader_offset(uintptr_t pc, uint64_t *offset);
/* "refgpu.so!refgpu_patch+0x42" for an address inside any image of the current machine, including
 * static functions; "refgpu.so+0x1234" where no symbol is known. False: not in an image. Does not
 * allocate, and works in any state of the machine. */
bool loader_symbolize(uintptr_t pc, char *text, size_t bytes);
/* The same as a frame of a stack, with the place in the source where the image has debug
 * information (DWARF): "refgpu.so!refgpu_patch+0x42 (/home/me/refgpu/patch.c:85)", with the path as
 * the compiler was given it. `returns`: the address is one that a call returns to, and the line is
 * that of the call. */
bool loader_frame(uintptr_t pc, bool returns, char *text, size_t bytes);
/* "submit.c:85" of an address in an image with debug information; under the same terms. */
bool loader_source_line(uintptr_t pc, char *text, size_t bytes);
/* Where code of a Windows image comes from that has no lines itself; "": not known. */
struct loader_place {
    char function[256];
    char inlined[256]; /* the innermost of those that were inlined there */
    char line[512];    /* "path:line" */
};
/* Fills in the place, which is empty, of the byte at `offset`. It is called for reports, in any
 * state of the machine. */
typedef void loader_source(void *context, const char *image, uint64_t offset,
                           struct loader_place *place);
/* Who tells it in this machine. False: out of memory. */
bool loader_on_source(loader_source *source, void *context);
/* The import that an image has called, by the return address of the call and, where the call does
 * not tell, the address of the routine (0: not known). False: not found. For reports: works in any
 * state of the machine. */
bool loader_import_name(uintptr_t caller, uintptr_t routine, char *name, size_t bytes);

/* ---- coverage.h ---- */

/* Coverage of the drivers that this machine loads from now on is recorded. False: out of memory. */
bool loader_coverage_enable(void);
/* Of the current machine; NULL: none is recorded. */
struct coverage *loader_coverage(void);

#endif
