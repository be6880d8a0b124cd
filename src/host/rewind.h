/* SPDX-License-Identifier: MIT */
/*
 * Setting the memory of this process back to an earlier point, page by page.
 *
 * The kernel tells which pages were written: they are write-protected, by userfaultfd, in a way
 * that a write only notes (UFFD_FEATURE_WP_ASYNC), and PAGEMAP_SCAN lists them (Linux 6.7). What
 * is set back:
 *
 *   private memory          all that is writable, or anonymous; but for the record of this itself
 *   RAM, device memory      each mapping of their files
 *   mappings                those that came go, those that went or changed are as they were; the
 *                           host tells of its own (util/map.h), the size of the process of others
 *
 * What must not have changed, else the point is lost: file descriptors, threads, mappings that
 * nobody told of. Shared memory of other kinds stays as it is.
 *
 * A page that was written stays writable for some runs, and is set back after each of them: many
 * pages are written in every run, and a fault costs more than a copy.
 *
 * The record lies in memory of its own, with the stack on which pages are copied. So nothing that
 * is set back is in use meanwhile.
 */
#ifndef DXGK_HOST_REWIND_H
#define DXGK_HOST_REWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ram/keep.h"
#include "sim/fiber.h"
#include "util/map.h"

#define REWIND_AREAS   4096u
#define REWIND_EDITS   1024u
#define REWIND_FILES   64u
#define REWIND_REGIONS 256u
#define REWIND_DIRTY   8192u
#define REWIND_SPANS   1024u
#define REWIND_EXTENTS 64u

/* A mapping of the process, as it was. */
struct rewind_area {
    uintptr_t first, end;
    int protection;
    bool shared, anonymous;
    bool tracked;  /* written pages are told */
    bool is_stack; /* of the host thread */
    bool always;   /* it is small: it is put back each time */
    bool lazy;     /* a large reservation without access: from when it gets other protection */
    int file;      /* index of a file with RAM or device memory, with where it begins; -1: none */
    uint64_t offset;
};

/* Pages that were there, and what they held; others hold zeroes. */
struct rewind_copy {
    uintptr_t first, end; /* in memory of the process; of a file, in it */
    const uint8_t *bytes;
};

struct rewind_copies {
    struct rewind_copy *copy;
    size_t count, room;
};

struct rewind_span {
    uintptr_t first, end;
};

struct rewind_file {
    struct ram_file ram;
    uint64_t device, inode;
    uint64_t blocks;                           /* that it has; more: there are other extents, too */
    struct rewind_span extent[REWIND_EXTENTS]; /* where it has some */
    size_t extents;
    struct rewind_copies copies;
};

/* What was done to mappings since. */
struct rewind_edit {
    uintptr_t first, end;
    bool replaced, discarded;
    int file; /* the same as of an area, of what is there now */
    uint64_t offset;
};

/* As PAGEMAP_SCAN has it. */
struct rewind_region {
    uint64_t first, end, categories;
};

struct rewind_page {
    int file;
    uint64_t offset;
};

struct rewind {
    struct util_map_listener listener;
    struct fiber client, restorer;
    const char *lost; /* why it is of no use; NULL: it is */
    bool taken, verifies;
    bool guards;        /* the kernel tells guard pages */
    size_t used, bytes; /* of the memory of this record */

    int faults, pagemap, memory, size; /* descriptors: userfaultfd, and of /proc/self */
    int next_file;                     /* the lowest that is not in use */
    uintptr_t heap_end;
    uint64_t process_pages;

    struct rewind_area area[REWIND_AREAS];
    size_t areas;
    uint16_t small_area[REWIND_AREAS]; /* those that are put back each time */
    size_t small_areas;
    struct rewind_copies copies; /* of private memory */
    struct rewind_file file[REWIND_FILES];
    int files;
    struct rewind_edit edit[REWIND_EDITS];
    size_t edits;
    struct rewind_page dirty[REWIND_DIRTY]; /* of mappings of files that have gone since */
    size_t dirties;
    struct rewind_span span[REWIND_SPANS]; /* where pages are looked for */
    size_t spans;
    struct rewind_region region[REWIND_REGIONS];

    /* of the last run */
    unsigned runs; /* since pages were protected */
    uint64_t pages, nanoseconds, different;
    uintptr_t first_different;
};

/* ---- rewind_store.c ---- */

/* Memory of the record, in whole pages; NULL: none is left. */
void *rewind_store(struct rewind *rewind, size_t bytes);

/* ---- rewind_kernel.c: what the kernel does ---- */

/* False: this kernel does not tell, or may not. */
bool rewind_kernel_open(struct rewind *rewind);
void rewind_kernel_close(struct rewind *rewind);
/* Written pages of the range are told from now on. */
bool rewind_track(const struct rewind *rewind, uintptr_t first, uintptr_t end);
/* They are not told any more. */
void rewind_ignore(const struct rewind *rewind, uintptr_t first, uintptr_t end);
/* Lists tracked pages at [*at, end) in rewind->region, those that were written or all that are
 * there, and moves *at behind. `protect`: they count as not written from now on. Returns how many
 * regions; -1: the kernel refuses. */
int rewind_scan(struct rewind *rewind, uintptr_t *at, uintptr_t end, bool written, bool protect);
/* Puts bytes at an address with any protection. */
bool rewind_poke(const struct rewind *rewind, uintptr_t to, const void *from, size_t bytes);
bool rewind_peek(const struct rewind *rewind, void *to, uintptr_t from, size_t bytes);
uint64_t rewind_process_pages(const struct rewind *rewind);
/* The lowest descriptor that is free. */
int rewind_next_file(const struct rewind *rewind);

/* ---- rewind_areas.c: mappings that there were ---- */

/* Reads those of this process into rewind->area. */
bool rewind_read_areas(struct rewind *rewind);
/* The area at the address, or the first one above; rewind->areas: there is none. */
size_t rewind_find_area(const struct rewind *rewind, uintptr_t address);

/* ---- rewind_edits.c: what was done to them since ---- */

bool rewind_map_changed(struct util_map_listener *listener, const struct util_map_event *event);
/* Takes all edits back. */
bool rewind_undo_edits(struct rewind *rewind);

/* ---- rewind_spans.c: where written pages may be ---- */

/* Looking through a mapping costs time for each 2 MiB, whether pages are there or not. So files are
 * looked through where they have pages. False: the host failed. */
bool rewind_plan_spans(struct rewind *rewind);
/* The same, if they have more pages now. */
bool rewind_extend_spans(struct rewind *rewind);

/* ---- rewind_pages.c: contents ---- */

/* Copies what the files hold; then what private memory does, in which nothing may change since. */
bool rewind_copy_files(struct rewind *rewind);
bool rewind_copy_all(struct rewind *rewind);
/* Notes written pages of files in the range, which is about to go. */
void rewind_note_dirty(struct rewind *rewind, uintptr_t first, uintptr_t end);
/* Puts back what a range of private memory held. */
bool rewind_put_back(struct rewind *rewind, const struct rewind_area *area, uintptr_t first,
                     uintptr_t end);
/* Puts back all pages that were written, and small areas. */
bool rewind_put_back_written(struct rewind *rewind);

/* ---- rewind_verify.c ---- */

/* Compares all pages with what they were, and counts those that are different. */
void rewind_verify(struct rewind *rewind);

/* ---- rewind_point.c: the whole ---- */

/* In memory of its own; NULL: out of memory. */
struct rewind *rewind_create(const struct ram_keep *keep, bool verifies);
void rewind_destroy(struct rewind *rewind);
/* On a stack outside of what is set back. False: rewind->lost says why. */
bool rewind_take(struct rewind *rewind);
bool rewind_restore(struct rewind *rewind);

#endif
