/* SPDX-License-Identifier: MIT */
/*
 * Mappings of the host, which somebody may listen to: who sets the process back to an earlier point
 * (host/rewind.c) has to know which of them came, went or were changed.
 *
 * The functions are those of the system, with the same arguments, results and errno.
 */
#ifndef DXGK_UTIL_MAP_H
#define DXGK_UTIL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

enum util_map_change {
    UTIL_MAP_NEW,       /* it has been mapped where there was nothing */
    UTIL_MAP_REPLACING, /* what is there is about to be replaced */
    UTIL_MAP_REPLACED,  /* it has been */
    UTIL_MAP_REMOVING,  /* it is about to be unmapped */
    UTIL_MAP_PROTECTED, /* it has got another protection */
    UTIL_MAP_DISCARDED, /* its contents have gone */
};

/* Of whole pages. */
struct util_map_event {
    enum util_map_change change;
    void *start;
    size_t bytes;
    int file; /* of UTIL_MAP_NEW and UTIL_MAP_REPLACED, with where it begins in it; -1: none */
    off_t offset;
};

struct util_map_listener {
    /* Returns whether it has done what was asked for itself, of UTIL_MAP_REMOVING. It must neither
     * allocate nor call functions of this header. */
    bool (*changed)(struct util_map_listener *listener, const struct util_map_event *event);
};

/* Who listens to what this host thread does; NULL: nobody. */
extern _Thread_local struct util_map_listener *util_map_listener;

void *util_map(void *address, size_t bytes, int protection, int flags, int file, off_t offset);
int util_unmap(void *start, size_t bytes);
int util_protect(void *start, size_t bytes, int protection);
int util_advise(void *start, size_t bytes, int advice);
/* Makes pages of private memory inaccessible for as long as it is mapped: without mappings of their
 * own, where the kernel can (Linux 6.15), so that what stands beside them stays one. */
int util_guard(void *start, size_t bytes);

#endif
