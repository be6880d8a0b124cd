/* SPDX-License-Identifier: MIT */
/*
 * A driver that does anything: every callback of the physical memory services, in any order, with
 * any argument.
 *
 * The input is a program. Its first byte picks the mode of the domain; then each operation is a
 * byte, followed by its arguments. Handles and pointers are mostly taken from those handed out so
 * far, live or retired; numbers are mostly near what matters (pages, the size of RAM, all ones).
 *
 * What must hold, whatever the driver does:
 *   - a call that fails hands out nothing, and leaves frames, commit and device mappings as they
 *     were (PHYS-018);
 *   - memory handed out can be touched, is nobody else's, and keeps what was written;
 *   - what is written through one view of an object is read through all others, and by the device;
 *   - the device reaches exactly pages that are mapped for it;
 *   - all structures validate; at the end everything comes back.
 *
 *   _state     the input; what was handed out; the books
 *   _pages     contiguous memory, pages and MDLs
 *   _objects   physical memory objects, open and closed
 *   _views     CPU mappings and address descriptor lists
 *   _save      frame buffer save
 *   _host      what the host does meanwhile
 */
#ifndef DXGK_FUZZ_PHYSICAL_MEMORY_H
#define DXGK_FUZZ_PHYSICAL_MEMORY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iommu/iommu.h"
#include "physmem/physical_adapter.h"
#include "physmem/physical_holding.h"
#include "physmem/physical_memory.h"
#include "physmem/physical_services.h"
#include "util/alloc.h"
#include "verify/verify.h"

#define MUST(condition)                                                                   \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            abort();                                                                      \
        }                                                                                 \
    } while (0)

#define RAM_SIZE ((uint64_t)4 << 20)
#define IO_BASE  ((uint64_t)0xE0000000)

enum {
    ADAPTERS = 2,
    MOST_THINGS = 64,
    MOST_OPERATIONS = 200,
    VALIDATE_EVERY = 16,
    DRIVER_MDLS = 3,
    DRIVER_MDL_PAGES = 16,
    IO_PAGES = 8,
};

/* What the driver was given. */
struct fuzz_thing {
    enum physical_kind kind;
    bool live;
    unsigned adapter;
    HANDLE handle;  /* or the address of an ADL or mapping */
    HANDLE of;      /* object of a mapping, adapter object of an ADL */
    char *bytes;    /* contiguous: stamped at both ends */
    uint64_t size;  /* of bytes */
    unsigned owner; /* process + 1 of a user mapping, or index of a save area */
    uint64_t stamp;
    uint64_t offset; /* of a mapping or an ADL: its first byte in the object */
    bool shared;     /* an object whose views all show, and may write, the same bytes */
};

struct driver_mdl {
    MDL header;
    PFN_NUMBER pages[DRIVER_MDL_PAGES];
};

struct fuzz_run {
    const uint8_t *at, *end;
    struct util_heap heap;
    struct verify_log *verify;
    struct ram *ram;
    struct iommu_domain *domain[ADAPTERS];
    struct physical_memory *memory;
    struct physical_adapter *adapter[ADAPTERS];
    struct fuzz_thing things[MOST_THINGS];
    unsigned count; /* things ever noted; the oldest are forgotten */
    uint64_t stamps;
    struct driver_mdl mdls[DRIVER_MDLS];
    char io_memory[IO_PAGES * PAGE_BYTES];
    char processes[2]; /* only their addresses count */
    PMDL pinned[ADAPTERS][2];
};

extern struct fuzz_run *fuzz_run; /* one at a time: the target is called by one thread */

/* ---- _state: input; all zeroes once it is used up ---- */

uint64_t fuzz_number(unsigned bytes);
unsigned fuzz_byte(void);
unsigned fuzz_below(unsigned bound);
/* A count of bytes or an address. */
uint64_t fuzz_quantity(void);
/* One that was handed out; NULL: none was. The second: mostly of the kind wanted, and live. */
struct fuzz_thing *fuzz_some_thing(void);
struct fuzz_thing *fuzz_some(enum physical_kind kind);
/* Mostly its own. */
HANDLE fuzz_handle_of(const struct fuzz_thing *thing);

/* ---- _state: what was handed out ---- */

struct fuzz_thing *fuzz_note(enum physical_kind kind, unsigned adapter, HANDLE handle);
void fuzz_forget(struct fuzz_thing *thing);
/* No longer the driver's, whoever said so. */
void fuzz_gone(enum physical_kind kind, HANDLE handle);
struct fuzz_thing *fuzz_find(enum physical_kind kind, HANDLE handle); /* live; or NULL */
void fuzz_stamp(struct fuzz_thing *thing, char *bytes, uint64_t size);
void fuzz_check_stamp(const struct fuzz_thing *thing);

/* ---- _state: what a failed call must leave ---- */

struct fuzz_books {
    uint64_t free_pages, commit, mapped[ADAPTERS];
    size_t held[ADAPTERS + 1];
};

struct fuzz_books fuzz_books(void);
void fuzz_must_be_unchanged(const struct fuzz_books *before);
bool fuzz_device_reaches(unsigned adapter, uint64_t page);

struct nt_process *fuzz_process(unsigned number); /* 0: the system */

/* ---- operations ---- */

void fuzz_allocate_contiguous(unsigned adapter);
void fuzz_free_contiguous(unsigned adapter);
void fuzz_allocate_pages(unsigned adapter);
void fuzz_free_pages(unsigned adapter);
/* The driver writes into an MDL, its own or one it was given. */
void fuzz_scribble_mdl(void);
void fuzz_map_mdl(unsigned adapter);
void fuzz_unmap_mdl(unsigned adapter);

void fuzz_create_object(unsigned adapter);
void fuzz_open_object(unsigned adapter);
void fuzz_close_object(void);
void fuzz_destroy_object(void);

void fuzz_map_object(void);
void fuzz_unmap_object(void);
void fuzz_allocate_adl(void);
void fuzz_free_adl(void);
void fuzz_scribble_adl(void);
/* A byte is written through one view, and looked for in another and through an ADL. */
void fuzz_touch_views(void);

void fuzz_save(unsigned adapter);

void fuzz_host_does(void);
/* A device on the bus asks for any page. */
void fuzz_device_access(unsigned adapter);

#endif
