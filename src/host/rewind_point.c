/* SPDX-License-Identifier: MIT */
/* A point to which the process is set back: taking it, and going there. */
#include "host/rewind.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "util/address.h"

#define RECORD_BYTES ((size_t)1 << 32) /* reserved */
#define STACK_BYTES  ((size_t)1 << 18)
#define HEAP_BYTES   ((size_t)8 << 20) /* that a run can take without a system call */
#define DEEP_BYTES   ((size_t)1 << 18) /* the same of the host thread's stack */
/* Pages that were written stay writable for so many runs, or until they are so many. */
#define RUNS_WRITABLE  64u
#define PAGES_WRITABLE 256u

struct rewind *rewind_create(const struct ram_keep *keep, bool verifies)
{
    struct rewind *rewind = mmap(NULL, RECORD_BYTES, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const struct ram_file *ram;
    struct stat about;

    if (rewind == MAP_FAILED)
        return NULL;
    rewind->bytes = RECORD_BYTES;
    rewind->used = sizeof(*rewind);
    rewind->verifies = verifies;
    rewind->listener.changed = rewind_map_changed;
    rewind->restorer.stack = rewind_store(rewind, STACK_BYTES);
    rewind->restorer.stack_bytes = STACK_BYTES;
    for (size_t i = 0; (ram = ram_keep_file(keep, i)) && !rewind->lost; i++) {
        if (i == REWIND_FILES || fstat(ram->file, &about) != 0) {
            rewind->lost = "there are too many files with device memory";
            break;
        }
        rewind->file[rewind->files++] = (struct rewind_file){
            .ram = *ram, .device = about.st_dev, .inode = about.st_ino};
    }
    if (!rewind_kernel_open(rewind))
        rewind->lost = "the kernel does not tell which pages are written (Linux 6.7 does)";
    return rewind;
}

void rewind_destroy(struct rewind *rewind)
{
    rewind_kernel_close(rewind);
    munmap(rewind, rewind->bytes);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- taking it ---- */

static uintptr_t heap_end(uintptr_t wanted)
{
    return (uintptr_t)syscall(SYS_brk, wanted);
}

/* What grows by itself shall not have to: the heap, and the stack of the host thread. */
static void grow(void)
{
    void *block;

    (void)mallopt(M_MMAP_MAX, 0);
    (void)mallopt(M_TRIM_THRESHOLD, -1);
    block = malloc(HEAP_BYTES);
    __asm__ volatile("" : : "r"(block) : "memory"); /* it is wanted */
    free(block);
}

static void deepen_stack(const struct rewind *rewind)
{
    for (size_t i = 0; i < rewind->areas; i++)
        if (rewind->area[i].is_stack) {
            volatile char *low = (char *)rewind->area[i].first; // NOLINT: of the maps

            low[-(ptrdiff_t)DEEP_BYTES] = 0;
        }
}

/* Pages of files that are private once they are written must be there to be copied. */
static void read_pages(const struct rewind_area *area)
{
    for (uintptr_t at = area->first; at < area->end && area->protection & PROT_READ;
         at += PAGE_BYTES)
        (void)*(volatile const char *)at; // NOLINT: a page by its address
}

static bool holds_pages(struct rewind *rewind, const struct rewind_area *area)
{
    uintptr_t at = area->first;

    return rewind_scan(rewind, &at, area->end, false, false) != 0;
}

static bool track_all(struct rewind *rewind)
{
    for (size_t i = 0; i < rewind->areas; i++) {
        struct rewind_area *area = &rewind->area[i];

        if ((area->tracked || area->lazy) && !rewind_track(rewind, area->first, area->end))
            return false;
        if (area->lazy && holds_pages(rewind, area)) {
            area->lazy = false;
            area->tracked = true;
        } else if (area->lazy) {
            rewind_ignore(rewind, area->first, area->end);
        }
        if (area->always || (area->tracked && !area->shared && !area->anonymous))
            read_pages(area);
    }
    return true;
}

static bool protect_all(struct rewind *rewind)
{
    rewind->runs = 0;
    for (size_t i = 0; i < rewind->spans; i++) {
        uintptr_t at = rewind->span[i].first;

        while (at < rewind->span[i].end)
            if (rewind_scan(rewind, &at, rewind->span[i].end, true, true) < 0)
                return false;
    }
    return true;
}

/* Functions of the C library are bound when they are called first, which changes memory: all that a
 * reset calls, with memory of its own. */
static void rehearse(struct rewind *rewind)
{
    static const uint8_t zeroes[PAGE_BYTES];
    uint8_t *page = rewind_store(rewind, PAGE_BYTES);
    uintptr_t at = (uintptr_t)page;

    if (!page)
        return;
    (void)now();
    memset(page, 0, rewind->bytes ? PAGE_BYTES : 0);
    memcpy(page, zeroes, rewind->bytes ? PAGE_BYTES : 0);
    (void)rewind_poke(rewind, at, zeroes, PAGE_BYTES);
    (void)rewind_peek(rewind, page, (uintptr_t)zeroes, PAGE_BYTES);
    (void)rewind_scan(rewind, &at, at + PAGE_BYTES, true, false);
    (void)rewind_next_file(rewind);
    (void)rewind_process_pages(rewind);
    (void)mmap(page, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
               -1, 0);
    (void)mprotect(page, PAGE_BYTES, PROT_READ | PROT_WRITE);
    (void)munmap(page, PAGE_BYTES);
}

static bool prepare(struct rewind *rewind)
{
    if (!__libc_single_threaded) {
        rewind->lost = "the process has several threads";
        return false;
    }
    if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0)
        return false;
    grow();
    rehearse(rewind);
    if (!rewind_read_areas(rewind))
        return false;
    deepen_stack(rewind);
    rewind->areas = 0;
    return rewind_read_areas(rewind) && rewind_copy_files(rewind) && track_all(rewind) &&
           rewind_plan_spans(rewind);
}

static void list_small(struct rewind *rewind)
{
    rewind->small_areas = 0;
    for (size_t i = 0; i < rewind->areas; i++) {
        if (!rewind->area[i].always)
            continue;
        rewind_ignore(rewind, rewind->area[i].first, rewind->area[i].end);
        rewind->small_area[rewind->small_areas++] = (uint16_t)i;
    }
}

bool rewind_take(struct rewind *rewind)
{
    if (rewind->lost)
        return false;
    rewind->lost = "the process could not be copied";
    if (!prepare(rewind))
        return false;
    rewind->next_file = rewind_next_file(rewind);
    rewind->heap_end = heap_end(0);
    rewind->process_pages = rewind_process_pages(rewind);
    if (!protect_all(rewind) || !rewind_copy_all(rewind))
        return false;
    list_small(rewind);
    rewind->lost = NULL;
    return true;
}

/* ---- going there ---- */

/* Whether what cannot be set back is as it was. */
static bool unchanged(struct rewind *rewind)
{
    if (!__libc_single_threaded)
        rewind->lost = "a thread was made";
    else if (rewind_next_file(rewind) != rewind->next_file)
        rewind->lost = "a file was opened or closed";
    return !rewind->lost;
}

static bool restore(struct rewind *rewind)
{
    if (!unchanged(rewind))
        return false;
    if (heap_end(0) != rewind->heap_end)
        (void)heap_end(rewind->heap_end);
    if (!rewind_undo_edits(rewind))
        return false;
    if (rewind_process_pages(rewind) != rewind->process_pages) {
        rewind->lost = "memory was mapped or unmapped by others than the host";
        return false;
    }
    if (!rewind_put_back_written(rewind))
        return false;
    if (++rewind->runs < RUNS_WRITABLE && rewind->pages < PAGES_WRITABLE)
        return true;
    return protect_all(rewind);
}

bool rewind_restore(struct rewind *rewind)
{
    const double start = now();

    rewind->pages = 0;
    if (rewind->lost || !restore(rewind))
        return false;
    rewind->nanoseconds = (uint64_t)(now() - start);
    rewind->different = 0;
    if (rewind->verifies)
        rewind_verify(rewind);
    return true;
}
