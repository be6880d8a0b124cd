/* SPDX-License-Identifier: MIT */
/*
 * The loader: takes a miniport's image file into the process, after looking at it closely enough
 * that a bad file is refused with one line instead of being found out by running it.
 *
 *   ELF (.so)   file read and parsed (elf_file.c) -> every import looked up (imports.c)
 *               -> mapped by the dynamic linker (elf_image.c)
 *   PE (.sys)   file read and parsed, mapped, relocated, bound and protected here (pe.h)
 *   both        symbol table kept (symbols.c)
 *
 * Two machines of one process never share a driver's globals: an ELF file that is loaded already is
 * copied to a memory file first, which the dynamic linker takes for another one. A PE image is a
 * copy anyway.
 *
 * Images belong to the current machine, so that places in reports can be named; loading and
 * unloading are for the host thread between runs, since constructors of an image need a stack of
 * normal size.
 */
#ifndef DXGK_LOADER_H
#define DXGK_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntddk.h>

/* Two that the driver headers do not have. */
#ifndef STATUS_INVALID_IMAGE_FORMAT
#define STATUS_INVALID_IMAGE_FORMAT ((NTSTATUS)0xC000007B)
#endif
#ifndef STATUS_DRIVER_ENTRYPOINT_NOT_FOUND
#define STATUS_DRIVER_ENTRYPOINT_NOT_FOUND ((NTSTATUS)0xC0000263)
#endif

struct loader_image;

/* Stand-ins for imports of a PE image that the host does not have, so that it can be started
 * nevertheless: LIFE-005 becomes a warning, and each one that is called an error. */
#define LOADER_STUB_MISSING 1u
/* Not a driver, but what a driver imports from: without DriverEntry, and only as a PE image. */
#define LOADER_MODULE 2u

/*
 * Load the image at `path`; options are LOADER_*. On failure *image is untouched, and *error says
 * why in one line (cut to error_bytes):
 *   STATUS_OBJECT_NAME_NOT_FOUND           no such file, or it cannot be read
 *   STATUS_INVALID_IMAGE_FORMAT            neither an x86-64 ELF shared object nor an x64 driver
 *                                          image, or truncated, damaged, or refused by the dynamic
 *                                          linker
 *   STATUS_DRIVER_ENTRYPOINT_NOT_FOUND     imports that nothing offers, all of them listed
 *                                          (LIFE-005), or no DriverEntry
 *   STATUS_NO_MEMORY
 */
NTSTATUS loader_image_load(const char *path, unsigned options, struct loader_image **image,
                           char *error, size_t error_bytes);
/* Tell in lines what the file at `path` is: its sections, what it imports and who offers it. It is
 * not run. Errors as above, but for missing imports, which are told. */
NTSTATUS loader_describe(const char *path, void (*line)(void *context, const char *line),
                         void *context, char *error, size_t error_bytes);
/* Modules that were loaded because the image imports from them, in the order in which they are to
 * be initialised, and theirs. */
uint32_t loader_image_modules(const struct loader_image *image);
struct loader_image *loader_image_module(const struct loader_image *image, uint32_t index);
/* Is there one image left that imports from the module? */
bool loader_module_last_use(const struct loader_image *module);
/* Address of an export by name; NULL: none, or not a PE image. */
void *loader_image_export(const struct loader_image *image, const char *name);
/* DriverEntry has returned: what the image marks as needed only until then (INIT) goes. Only PE
 * images have such sections. */
void loader_image_initialized(struct loader_image *image);
/* Nothing may run in the image any more. */
void loader_image_unload(struct loader_image *image);

/* File name without folder ("refgpu.so"), and that without its ending, for the name of the service
 * ("refgpu"). */
const char *loader_image_name(const struct loader_image *image);
const char *loader_image_service(const struct loader_image *image);
PDRIVER_INITIALIZE loader_image_entry(const struct loader_image *image);
/* Does the image import a routine of this name? For CAPS-065. */
bool loader_image_imports(const struct loader_image *image, const char *name);
bool loader_image_contains(const struct loader_image *image, uintptr_t pc);

/* "refgpu.so!refgpu_patch+0x42" for an address inside any image of the current machine, static
 * functions included; "refgpu.so+0x1234" where no symbol is known. False: not in one. No
 * allocation; safe in any state of the machine. */
bool loader_symbolize(uintptr_t pc, char *text, size_t bytes);

#endif
