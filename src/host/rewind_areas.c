/* SPDX-License-Identifier: MIT */
/* Mappings that there were. */
#include "host/rewind.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "util/address.h"

/* Looking for what was written costs as much as a copy of so many bytes. */
#define SMALL_BYTES (2u * PAGE_BYTES)
#define TEXT_BYTES  ((size_t)1 << 20)

static void name_file(const struct rewind *rewind, struct rewind_area *area, uint64_t device,
                      uint64_t inode)
{
    area->file = -1;
    for (int i = 0; i < rewind->files && area->shared; i++)
        if (rewind->file[i].device == device && rewind->file[i].inode == inode)
            area->file = i;
}

static void choose_tracked(const struct rewind *rewind, struct rewind_area *area, const char *name)
{
    const bool own = area->first < (uintptr_t)rewind + rewind->bytes &&
                     area->end > (uintptr_t)rewind; /* the record itself, and its neighbors */

    if (own || strncmp(name, "[v", 2) == 0) /* and what the kernel has there: vvar, vdso */
        return;
    area->lazy = !area->shared && area->anonymous && area->protection == PROT_NONE;
    if (area->shared)
        area->tracked = area->file >= 0;
    else
        area->tracked = !area->lazy && (area->anonymous || area->protection & PROT_WRITE);
    area->always = area->tracked && !area->shared && !area->is_stack &&
                   area->protection == (PROT_READ | PROT_WRITE) &&
                   area->end - area->first <= SMALL_BYTES;
}

static bool read_line(struct rewind *rewind, const char *line)
{
    struct rewind_area *area = &rewind->area[rewind->areas];
    unsigned long first, end, offset, inode;
    unsigned major_number, minor_number;
    char access[8];
    int name = 0;

    if (*line == 'f') /* vsyscall, at the end of what is the kernel's */
        return true;
    if (sscanf(line, "%lx-%lx %7s %lx %x:%x %lu %n", &first, &end, access, &offset, &major_number,
               &minor_number, &inode, &name) < 7 ||
        rewind->areas == REWIND_AREAS)
        return false;
    *area = (struct rewind_area){.first = first,
                                 .end = end,
                                 .protection = (access[0] == 'r' ? PROT_READ : 0) |
                                               (access[1] == 'w' ? PROT_WRITE : 0) |
                                               (access[2] == 'x' ? PROT_EXEC : 0),
                                 .shared = access[3] == 's',
                                 .anonymous = inode == 0,
                                 .offset = offset};
    name_file(rewind, area, makedev(major_number, minor_number), inode);
    area->is_stack = strcmp(line + name, "[stack]") == 0;
    choose_tracked(rewind, area, line + name);
    rewind->areas++;
    return true;
}

bool rewind_read_areas(struct rewind *rewind)
{
    const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    char *text = rewind_store(rewind, TEXT_BYTES), *line, *end;
    size_t bytes = 0;
    ssize_t got = -1;

    while (file >= 0 && text && bytes < TEXT_BYTES - 1 &&
           (got = read(file, text + bytes, TEXT_BYTES - 1 - bytes)) > 0)
        bytes += (size_t)got;
    if (file >= 0)
        close(file);
    if (got != 0)
        return false;
    text[bytes] = '\0';
    for (line = text; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        if (!read_line(rewind, line))
            return false;
    }
    return true;
}

size_t rewind_find_area(const struct rewind *rewind, uintptr_t address)
{
    size_t low = 0, high = rewind->areas;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (rewind->area[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
