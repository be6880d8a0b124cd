/* SPDX-License-Identifier: MIT */
#include "util/map.h"

#define GUARD_INSTALL 102 /* MADV_GUARD_INSTALL, of newer headers */

_Thread_local struct util_map_listener *util_map_listener;

static bool tell(enum util_map_change change, void *start, size_t bytes)
{
    struct util_map_listener *listener = util_map_listener;
    const struct util_map_event event = {change, start, bytes, -1, 0};

    return listener && listener->changed(listener, &event);
}

void *util_map(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
    struct util_map_listener *listener = util_map_listener;
    struct util_map_event event = {UTIL_MAP_NEW, NULL, bytes, file, offset};

    if (!listener)
        return mmap(address, bytes, protection, flags, file, offset);
    if (flags & MAP_FIXED)
        (void)tell(UTIL_MAP_REPLACING, address, bytes);
    event.start = mmap(address, bytes, protection, flags, file, offset);
    if (flags & MAP_FIXED)
        event.change = UTIL_MAP_REPLACED;
    if (event.start != MAP_FAILED)
        (void)listener->changed(listener, &event);
    return event.start;
}

int util_unmap(void *start, size_t bytes)
{
    return tell(UTIL_MAP_REMOVING, start, bytes) ? 0 : munmap(start, bytes);
}

int util_protect(void *start, size_t bytes, int protection)
{
    int result = mprotect(start, bytes, protection);

    if (result == 0)
        (void)tell(UTIL_MAP_PROTECTED, start, bytes);
    return result;
}

int util_advise(void *start, size_t bytes, int advice)
{
    int result = madvise(start, bytes, advice);

    if (result == 0 && (advice == MADV_DONTNEED || advice == MADV_REMOVE))
        (void)tell(UTIL_MAP_DISCARDED, start, bytes);
    return result;
}

int util_guard(void *start, size_t bytes)
{
    return madvise(start, bytes, GUARD_INSTALL) == 0 ? 0 : util_protect(start, bytes, PROT_NONE);
}
