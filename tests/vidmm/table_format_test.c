/* SPDX-License-Identifier: MIT */
/* Descriptions of page tables: which make sense, and what an entry says where its bits are inverted. */
#include "vidmm/check/table_entry.h"
#include "vidmm/check/table_format.h"

#include "dxgkhost/dxgkhost.h"
#include "dxgkhost/page_tables.h"
#include "support/check_rule.h"

#include <string.h>

static struct dxgk_table_format sound(void)
{
    return (struct dxgk_table_format){
        .name = "test",
        .entry_bytes = 8,
        .levels = 4,
        .index_bits = {9, 9, 9, 9},
        .valid = 1,
        .zero = 2,
        .read_only = 4,
        .no_execute = 8,
        .coherent = 0x10,
        .large = 0x20,
        .big = 0x40,
        .address_mask = 0xFFFFF000,
        .segment_mask = 0x300,
        .segments = 2,
        .segment = {{.segment = 0, .bits = 0x100}, {.segment = 1, .bits = 0, .base = 0x1000}},
    };
}

#define REFUSED(change, word)                                      \
    do {                                                           \
        struct dxgk_table_format f = sound();                      \
        char error[160] = "";                                      \
        change;                                                    \
        CHECK(!dxgk_table_format_check(&f, error, sizeof(error))); \
        if (!strstr(error, word))                                  \
            fail_msg("%s, not %s", error, word);                   \
    } while (0)

TEST(descriptions_that_make_no_sense_are_refused)
{
    const struct dxgk_table_format good = sound();
    char text[160];

    CHECK(dxgk_table_format_check(&good, text, sizeof(text)));
    CHECK(dxgk_table_format_check(dxgk_table_format("cosgpu"), NULL, 0));
    CHECK(!dxgk_table_format_check(NULL, text, sizeof(text)) && strcmp(text, "no description") == 0);
    REFUSED(f.entry_bytes = 0, "entry_bytes is 0");
    REFUSED(f.entry_bytes = 12, "entry_bytes is 12: 4, 8 or 16");
    REFUSED(f.levels = 0, "0 levels");
    REFUSED(f.levels = DXGK_TABLE_LEVELS + 1, "7 levels");
    REFUSED(f.index_bits[3] = 0, "level 3 has 0 index bits");
    REFUSED(f.index_bits[0] = 25, "level 0 has 25 index bits: 1 to 24");
    REFUSED(f.index_bits[1] = 0xFFFFFFFF, "level 1 has 4294967295");
    REFUSED(f.address_word = 1, "in word 1 of an entry of 8 bytes");
    REFUSED(f.address_shift = 64, "shifted by 64 bits");
    REFUSED(f.address_mask = 0, "the mask of the address is 0");
    REFUSED((f.entry_bytes = 4, f.address_mask = 0x1FFFFF000), "wider than an entry of 4 bytes");
    REFUSED((f.entry_bytes = 4, f.coherent = 1ull << 32), "coherent, 0x100000000, is wider");
    REFUSED(f.valid = 0, "valid is 0");
    REFUSED(f.zero = 1, "valid and zero have bits 0x1 in common");
    REFUSED(f.no_execute = 0xC, "read_only and no_execute have bits 0x4 in common");
    REFUSED(f.big = 0x20, "large and big have bits 0x20 in common");
    REFUSED(f.address_mask |= 0x10, "coherent and the mask of the address");
    REFUSED(f.inverted = 1, "inverted has bits 0x1");
    REFUSED(f.segments = DXGK_TABLE_SEGMENTS + 1, "9 segments");
    REFUSED(f.segment[1].segment = 0xFFFFFFFF, "there is no segment 4294967295");
    REFUSED(f.segment[0].bits = 0x400, "bits 0x400 beyond segment_mask, 0x300");
    REFUSED(f.segment[1].bits = 0x100, "segments 0 and 1 have the same bits, 0x100");
}

TEST(descriptions_at_their_limits_are_accepted)
{
    struct dxgk_table_format f = sound();

    f.index_bits[0] = 24;
    f.levels = DXGK_TABLE_LEVELS;
    f.index_bits[4] = f.index_bits[5] = 1;
    f.address_shift = 63;
    f.inverted = f.read_only | f.no_execute;
    CHECK(dxgk_table_format_check(&f, NULL, 0));
    f.large = f.coherent; /* of other levels */
    f.entry_bytes = 16;
    f.address_word = 1;
    f.address_mask = ~0ull;
    CHECK(dxgk_table_format_check(&f, NULL, 0));
}

TEST(inverted_bits_allow_what_others_forbid)
{
    struct dxgk_table_format f = sound();
    const uint64_t both = 0x1001 | f.read_only | f.no_execute, none = 0x1001;

    CHECK_RULE("GPUVA-193", table_entry_read(&f, &both, 0).read_only &&
                                !table_entry_read(&f, &none, 0).read_only);
    f.inverted = f.read_only;
    CHECK_RULE("GPUVA-193", !table_entry_read(&f, &both, 0).read_only &&
                                table_entry_read(&f, &none, 0).read_only);
    CHECK_RULE("GPUVA-194", table_entry_read(&f, &both, 0).no_execute &&
                                !table_entry_read(&f, &none, 0).no_execute);
    f.inverted = f.no_execute;
    CHECK_RULE("GPUVA-194", !table_entry_read(&f, &both, 0).no_execute &&
                                table_entry_read(&f, &none, 0).no_execute);
    CHECK(table_entry_read(&f, &none, 0).valid && table_entry_read(&f, &none, 0).offset == 0);
}
