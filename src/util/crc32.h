/* SPDX-License-Identifier: MIT */
/* CRC-32 with the polynomial 0xEDB88320, as PNG and zlib have it. */
#ifndef DXGK_UTIL_CRC32_H
#define DXGK_UTIL_CRC32_H

#include <stddef.h>
#include <stdint.h>

#define CRC32_SLICES 8u

/* One checksum in the making, with the tables that it takes: they cost some microseconds. */
struct crc32 {
    uint32_t sum;
    uint32_t table[CRC32_SLICES][256];
};

void crc32_begin(struct crc32 *crc);
void crc32_add(struct crc32 *crc, const void *bytes, size_t count);
/* Of all that was added so far; more may follow. */
uint32_t crc32_value(const struct crc32 *crc);

/* Of these bytes alone. */
uint32_t crc32_of(const void *bytes, size_t count);

#endif
