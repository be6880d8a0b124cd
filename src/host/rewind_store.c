/* SPDX-License-Identifier: MIT */
/* Memory of the record itself, which is not set back, and only grows. */
#include "host/rewind.h"

#include "util/address.h"

void *rewind_store(struct rewind *rewind, size_t bytes)
{
    const size_t at = align_up(rewind->used, PAGE_BYTES);

    if (bytes > rewind->bytes - at)
        return NULL;
    rewind->used = at + bytes;
    return (uint8_t *)rewind + at;
}
