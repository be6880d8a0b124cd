/* SPDX-License-Identifier: MIT */
/*
 * What the kernel knows of the memory of this process. Headers of Debian 12 do not have all of it
 * yet: https://docs.kernel.org/admin-guide/mm/pagemap.html, .../userfaultfd.html
 */
#include "host/rewind.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/address.h"

#define USER_MODE_ONLY   1
#define FEATURE_WP_SHMEM ((uint64_t)1 << 12)
#define FEATURE_WP_ASYNC ((uint64_t)1 << 15)
#define PAGE_IS_TRACKED  ((uint64_t)1 << 0) /* PAGE_IS_WPALLOWED */
#define PAGE_IS_WRITTEN  ((uint64_t)1 << 1)
#define PAGE_IS_PRESENT  ((uint64_t)1 << 3)
#define PAGE_IS_SWAPPED  ((uint64_t)1 << 4)
#define PAGE_IS_GUARD    ((uint64_t)1 << 8) /* since Linux 6.15 */
#define SCAN_WP_MATCHING ((uint64_t)1 << 0)
#define SCAN             _IOWR('f', 16, struct scan)
#define GUARD_INSTALL    102 /* MADV_GUARD_INSTALL */
#define LAST_ADDRESS     ((uintptr_t)0x7FFFFFFFF000)
#define SIZE_BYTES       64

struct scan {
    uint64_t size, flags, start, end, walk_end, list, list_room, most_pages;
    uint64_t inverted, all_of, any_of, told;
};

/* Guard pages (util_guard) have to be told from pages that were written, where there are some. */
static bool knows_pages(struct rewind *rewind)
{
    uintptr_t at = 0;
    void *page;

    rewind->guards = true;
    if (rewind_scan(rewind, &at, PAGE_BYTES, true, false) == 0)
        return true;
    rewind->guards = false;
    at = 0;
    page = rewind_store(rewind, PAGE_BYTES);
    return page && madvise(page, PAGE_BYTES, GUARD_INSTALL) != 0 &&
           rewind_scan(rewind, &at, PAGE_BYTES, true, false) == 0;
}

bool rewind_kernel_open(struct rewind *rewind)
{
    struct uffdio_api api = {.api = UFFD_API, .features = FEATURE_WP_SHMEM | FEATURE_WP_ASYNC};

    rewind->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    rewind->memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    rewind->size = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    rewind->faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | USER_MODE_ONLY);
    return rewind->pagemap >= 0 && rewind->memory >= 0 && rewind->size >= 0 &&
           rewind->faults >= 0 && ioctl(rewind->faults, UFFDIO_API, &api) == 0 &&
           knows_pages(rewind);
}

void rewind_kernel_close(struct rewind *rewind)
{
    const int files[] = {rewind->faults, rewind->pagemap, rewind->memory, rewind->size};

    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        if (files[i] >= 0)
            close(files[i]);
}

bool rewind_track(const struct rewind *rewind, uintptr_t first, uintptr_t end)
{
    struct uffdio_register range = {.range = {.start = first, .len = end - first},
                                    .mode = UFFDIO_REGISTER_MODE_WP};

    return ioctl(rewind->faults, UFFDIO_REGISTER, &range) == 0;
}

void rewind_ignore(const struct rewind *rewind, uintptr_t first, uintptr_t end)
{
    struct uffdio_range range = {.start = first, .len = end - first};

    (void)ioctl(rewind->faults, UFFDIO_UNREGISTER, &range);
}

int rewind_scan(struct rewind *rewind, uintptr_t *at, uintptr_t end, bool written, bool protect)
{
    struct scan scan = {.size = sizeof(scan),
                        .flags = protect ? SCAN_WP_MATCHING : 0,
                        .start = *at,
                        .end = end < LAST_ADDRESS ? end : LAST_ADDRESS,
                        .list = (uintptr_t)rewind->region,
                        .list_room = REWIND_REGIONS,
                        .inverted = rewind->guards ? PAGE_IS_GUARD : 0,
                        .all_of = (rewind->guards ? PAGE_IS_GUARD : 0) | PAGE_IS_TRACKED |
                                  (written ? PAGE_IS_WRITTEN : 0),
                        .any_of = PAGE_IS_PRESENT | PAGE_IS_SWAPPED,
                        .told = PAGE_IS_TRACKED};
    int count = ioctl(rewind->pagemap, SCAN, &scan);

    *at = scan.walk_end;
    return count;
}

bool rewind_poke(const struct rewind *rewind, uintptr_t to, const void *from, size_t bytes)
{
    return pwrite(rewind->memory, from, bytes, (off_t)to) == (ssize_t)bytes;
}

bool rewind_peek(const struct rewind *rewind, void *to, uintptr_t from, size_t bytes)
{
    return pread(rewind->memory, to, bytes, (off_t)from) == (ssize_t)bytes;
}

uint64_t rewind_process_pages(const struct rewind *rewind)
{
    char text[SIZE_BYTES];
    ssize_t bytes = pread(rewind->size, text, sizeof(text), 0);
    uint64_t pages = 0;

    for (ssize_t i = 0; i < bytes && text[i] >= '0' && text[i] <= '9'; i++)
        pages = 10 * pages + (uint64_t)(text[i] - '0');
    return pages;
}

int rewind_next_file(const struct rewind *rewind)
{
    int file = fcntl(rewind->size, F_DUPFD_CLOEXEC, 0);

    if (file >= 0)
        close(file);
    return file;
}
