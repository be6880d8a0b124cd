/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "util/crc32.h"

#define POLYNOMIAL 0xEDB88320u

/* table[k][b]: what the byte b does to the sum when k more bytes follow it. */
void crc32_begin(struct crc32 *crc)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t sum = byte;

        for (unsigned bit = 0; bit < 8; bit++)
            sum = (sum & 1 ? POLYNOMIAL : 0) ^ sum >> 1;
        crc->table[0][byte] = sum;
    }
    for (unsigned k = 1; k < CRC32_SLICES; k++)
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t sum = crc->table[k - 1][byte];

            crc->table[k][byte] = crc->table[0][sum & 0xFF] ^ sum >> 8;
        }
    crc->sum = UINT32_MAX;
}

void crc32_add(struct crc32 *crc, const void *bytes, size_t count)
{
    const uint32_t(*table)[256] = (const uint32_t(*)[256])crc->table;
    const uint8_t *at = bytes;
    uint32_t sum = crc->sum;

    for (; count >= 8; count -= 8, at += 8) {
        uint32_t low, high; /* the host is little endian, as x64 is */

        memcpy(&low, at, 4);
        memcpy(&high, at + 4, 4);
        low ^= sum;
        sum = table[7][low & 0xFF] ^ table[6][low >> 8 & 0xFF] ^ table[5][low >> 16 & 0xFF] ^
              table[4][low >> 24] ^ table[3][high & 0xFF] ^ table[2][high >> 8 & 0xFF] ^
              table[1][high >> 16 & 0xFF] ^ table[0][high >> 24];
    }
    for (; count > 0; count--, at++)
        sum = table[0][(sum ^ *at) & 0xFF] ^ sum >> 8;
    crc->sum = sum;
}

uint32_t crc32_value(const struct crc32 *crc)
{
    return ~crc->sum;
}

uint32_t crc32_of(const void *bytes, size_t count)
{
    struct crc32 crc;

    crc32_begin(&crc);
    crc32_add(&crc, bytes, count);
    return crc32_value(&crc);
}
