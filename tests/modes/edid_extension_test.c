/* SPDX-License-Identifier: MIT */
/* Modes of extension blocks, right ones and wrong ones. */
#include "modes/support/edid_bytes.h"

#include <string.h>

#include "modes/timing_list.h"

static const D3DKMDT_MONITOR_SOURCE_MODE *of_code(const struct edid_bytes *edid, uint32_t code)
{
    struct timing t;

    return timing_of_code(code, &t) ? edid_bytes_mode(edid, &t) : NULL;
}

static void small(uint8_t *at, unsigned width)
{
    edid_bytes_detailed(at, 6500, width, 320, 768, 38, false);
}

TEST(short_video_descriptors)
{
    static const uint8_t data[] = {0x23, 9,    7,  7,                 /* audio */
                                   0x47, 0x90, 31, 4, 5,  97, 193, 0, /* 16 is native */
                                   0x65, 3,    12, 0, 16, 0};         /* of a vendor */
    struct edid_bytes edid;
    uint8_t *block;

    edid_bytes_init(&edid, 4);
    block = edid_bytes_extension(&edid, 4 + sizeof(data));
    memcpy(block + 4, data, sizeof(data));
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 5 && edid_bytes_preferred(&edid) == -1);
    CHECK(of_code(&edid, 16) && of_code(&edid, 31) && of_code(&edid, 4) && of_code(&edid, 5) &&
          of_code(&edid, 97));
    CHECK(of_code(&edid, 16)->VideoSignalInfo.VideoStandard == D3DKMDT_VSS_EIA_861B);
    CHECK(of_code(&edid, 16)->Origin == D3DKMDT_MCO_MONITORDESCRIPTOR);
    edid_bytes_end(&edid);
}

/* Every byte alone: which of them has bit 7 for native? */
TEST(native_bit_of_codes)
{
    struct edid_bytes edid;
    uint8_t *block;
    struct timing t;

    edid_bytes_init(&edid, 4);
    block = edid_bytes_extension(&edid, 6);
    block[4] = 0x41;
    for (unsigned i = 0; i < 256; i++) {
        const unsigned code = i >= 129 && i <= 192 ? i - 128 : i;

        block[5] = (uint8_t)i;
        edid_bytes_read(&edid);
        CHECK(edid.set->count == timing_of_code(code, &t));
        CHECK(edid.set->count == 0 || edid_bytes_mode(&edid, &t));
    }
    edid_bytes_end(&edid);
}

TEST(detailed_timings_of_an_extension)
{
    struct edid_bytes edid;
    uint8_t *block;

    edid_bytes_init(&edid, 4);
    block = edid_bytes_extension(&edid, 4);
    for (unsigned i = 0; i < 6; i++)
        small(block + 4 + 18 * i, 1000 + i);
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 6 && edid_bytes_preferred(&edid) == 0); /* the first of all */
    memset(block + 4 + 36, 0, 2);                                    /* none: the rest is padding */
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 2);
    edid_bytes_detailed(edid_bytes_descriptor(&edid, 3), 14850, 1920, 280, 1080, 45, false);
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 3 && edid_bytes_preferred(&edid) == 0);
    CHECK(edid.set->mode[0].monitor.VideoSignalInfo.ActiveSize.cx == 1920);
    edid_bytes_end(&edid);
}

/* The first detailed timing may be one that a code has named already. */
TEST(preferred_and_named_before)
{
    struct edid_bytes edid;

    edid_bytes_init(&edid, 4);
    edid.block[0][36] = 8; /* 1024x768@60 */
    edid.block[0][35] = 1; /* 800x600@60 */
    small(edid_bytes_extension(&edid, 4) + 4, 1024);
    small(edid.block[1] + 22, 1000);
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 3 && edid_bytes_preferred(&edid) == 1);
    CHECK(edid.set->mode[1].monitor.VideoSignalInfo.ActiveSize.cx == 1024);
    edid_bytes_end(&edid);
}

/* The last place is bytes 109 to 126; behind it a timing would have the sum in it. */
TEST(detailed_timings_up_to_the_sum)
{
    struct edid_bytes edid;
    uint8_t *block;

    edid_bytes_init(&edid, 4);
    block = edid_bytes_extension(&edid, 109);
    small(block + 109, 1000);
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 1);
    block[2] = 110;
    small(block + 110, 1000);
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 0);
    edid_bytes_end(&edid);
}

TEST(offset_of_detailed_timings_that_is_none)
{
    static const uint8_t offsets[] = {0, 1, 2, 3, 127, 128, 200, 255};
    struct edid_bytes edid;
    uint8_t *block;

    edid_bytes_init(&edid, 4);
    block = edid_bytes_extension(&edid, 4);
    memset(block + 4, 0x41, 124); /* blocks of a code 65 */
    for (unsigned i = 0; i < sizeof(offsets); i++) {
        block[2] = offsets[i];
        edid_bytes_read(&edid);
        CHECK(edid.set->count ==
              (offsets[i] >= 4)); /* data blocks up to the sum, no detailed timings */
    }
    edid_bytes_end(&edid);
}

TEST(truncated_data_block)
{
    struct edid_bytes edid;
    uint8_t *block;

    edid_bytes_init(&edid, 4);
    block = edid_bytes_extension(&edid, 9);
    memcpy(block + 4, (const uint8_t[]){0x41, 4, 0x43, 16, 31, 5}, 6);
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 1 && of_code(&edid, 4)); /* the second says more than it has room for */
    block[2] = 10;
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 4 && of_code(&edid, 16) && of_code(&edid, 31) && of_code(&edid, 5));
    edid_bytes_end(&edid);
}

TEST(data_blocks_came_with_revision_3)
{
    struct edid_bytes edid;
    uint8_t *block;

    edid_bytes_init(&edid, 4);
    block = edid_bytes_extension(&edid, 6);
    block[4] = 0x41;
    block[5] = 16;
    small(block + 6, 1000);
    for (unsigned revision = 0; revision < 5; revision++) {
        block[1] = (uint8_t)revision;
        edid_bytes_read(&edid);
        CHECK(edid.set->count == (revision >= 3 ? 2 : 1) &&
              (of_code(&edid, 16) != NULL) == (revision >= 3));
    }
    edid_bytes_end(&edid);
}

TEST(other_extensions_say_nothing)
{
    static const uint8_t tags[] = {0x00, 0x01, 0x03, 0x10, 0x40, 0x70, 0xF0, 0xFF};
    struct edid_bytes edid;
    uint8_t *block;

    edid_bytes_init(&edid, 4);
    block = edid_bytes_extension(&edid, 6);
    block[4] = 0x41;
    block[5] = 16;
    for (unsigned i = 0; i < sizeof(tags); i++) {
        block[0] = tags[i];
        edid_bytes_read(&edid);
        CHECK(edid.set->count == 0);
    }
    edid_bytes_end(&edid);
}

TEST(as_many_blocks_as_there_can_be)
{
    static struct edid_bytes edid;

    edid_bytes_init(&edid, 4);
    for (unsigned i = 0; i < 255; i++) {
        uint8_t *block = edid_bytes_extension(&edid, 4);

        for (unsigned k = 0; k < 6; k++)
            small(block + 4 + 18 * k, 1000 + 6 * i + k);
    }
    CHECK(edid_extensions(edid.block[0]) == 255 && edid.blocks == EDID_MOST_BLOCKS);
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 255 * 6 && edid_bytes_preferred(&edid) == 0);
    CHECK(edid.set->mode[1529].monitor.VideoSignalInfo.ActiveSize.cx == 2529);
    edid_bytes_end(&edid);
}
