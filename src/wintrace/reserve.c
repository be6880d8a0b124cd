/* SPDX-License-Identifier: MIT */
#include "wintrace/reserve.h"
#include "util/alloc.h"

#define FIRST_ROOM 64u

bool wintrace_reserve(void **array, size_t used, size_t *room, size_t element)
{
    size_t wanted = *room ? *room * 2 : FIRST_ROOM;
    void *grown;

    if (used < *room)
        return true;
    grown = util_realloc(*array, wanted * element);
    if (!grown)
        return false;
    *array = grown;
    *room = wanted;
    return true;
}
