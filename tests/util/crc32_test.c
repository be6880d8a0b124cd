/* SPDX-License-Identifier: MIT */
/* CRC-32 against the sum bit by bit. */
#include "support/check_rule.h"

#include "util/crc32.h"
#include "util/rng.h"

static uint32_t by_bits(const uint8_t *bytes, size_t count)
{
    uint32_t sum = UINT32_MAX;

    for (size_t i = 0; i < count; i++) {
        sum ^= bytes[i];
        for (unsigned bit = 0; bit < 8; bit++)
            sum = sum & 1 ? sum >> 1 ^ 0xEDB88320u : sum >> 1;
    }
    return ~sum;
}

TEST(known_sums)
{
    CHECK(crc32_of("", 0) == 0);
    CHECK(crc32_of("123456789", 9) == 0xCBF43926u);
    CHECK(crc32_of("IEND", 4) == 0xAE426082u); /* at the end of each PNG */
}

TEST(any_length_in_any_pieces)
{
    struct rng rng = {2026};
    uint8_t bytes[300];
    struct crc32 crc;

    for (unsigned i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)rng_next(&rng);
    for (unsigned round = 0; round < 300; round++) {
        size_t start = rng_below(&rng, 20), count = rng_below(&rng, 270), done = 0;

        crc32_begin(&crc);
        while (done < count) {
            size_t piece = 1 + rng_below(&rng, (uint32_t)(count - done));

            crc32_add(&crc, bytes + start + done, piece);
            done += piece;
            CHECK(crc32_value(&crc) == by_bits(bytes + start, done));
        }
        CHECK(crc32_of(bytes + start, count) == by_bits(bytes + start, count));
    }
}
