/* SPDX-License-Identifier: MIT */
/* Page tables in memory against what was asked for: each part of an entry, what is passed over, and formats. */
#include "support/gva_rig.h"
#include "support/gva_updates.h"
#include "vidmm/check/table_check.h"
#include "vidmm/check/table_entry.h"
#include "vidmm/check/table_format.h"
#include "vidmm/space/table_asked.h"

#include "sim/machine.h"
#include "sim/point.h"

#define GB   (1ull << 30)
#define SPAN (512ull * 4096)

static uint64_t count(const struct gva_rig *rig, const char *rule)
{
    return verify_rule_count(rig->base.log, rule);
}

static struct table_check check(struct gva_rig *rig)
{
    struct table_check check;

    CHECK(vidmm_check_tables(rig->vidmm, &check));
    return check;
}

/* The table of a level that translates an address; and its entry, as the driver's GPU reads it. */
static struct page_table *table_at(const struct gva_rig *rig, uint64_t va, unsigned level)
{
    struct page_table *table = rig->process->space->root;

    while (table->level > level)
        table = table->child[table_index(table, 9u * table->level, va >> 12)];
    return table;
}

static uint64_t *entry_at(const struct gva_rig *rig, uint64_t va, unsigned level)
{
    struct page_table *table = table_at(rig, va, level);

    return (uint64_t *)table_cpu(table) + table_index(table, 9u * level, va >> 12);
}

static void checked(struct gva_options *options)
{
    options->check_tables = true;
}

/* Change bits of an entry: one record of the rule, no second one, and one of GPUVA-260 when they are right again. */
static bool named(struct gva_rig *rig, uint64_t *entry, uint64_t bits, const char *rule)
{
    uint64_t before = count(rig, rule), late = count(rig, "GPUVA-260");
    bool once, told;

    *entry ^= bits;
    once = check(rig).wrong == 1 && count(rig, rule) == before + 1;
    told = check(rig).wrong == 1 && count(rig, rule) == before + 1;
    *entry ^= bits;
    return once && told && check(rig).wrong == 0 && count(rig, "GPUVA-260") > late;
}

TEST_WITH(gva, each_part_of_an_entry_has_its_rule, checked(options))
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    uint64_t *leaf, *upper;

    CHECK(NT_SUCCESS(gva_map_at(rig, object, GB, 8)));
    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT,
                        0x2000); /* so that it was valid before, too */
    gva_idle(rig);
    leaf = entry_at(rig, GB + 3 * 4096, 0);
    upper = entry_at(rig, GB, 1);
    CHECK(check(rig).wrong == 0 && check(rig).pending == 0 && check(rig).entries > 512);
    CHECK_RULE("GPUVA-191", named(rig, leaf, GVA_VALID, "GPUVA-191"));
    CHECK_RULE("GPUVA-192", named(rig, leaf, GVA_ZERO, "GPUVA-192"));
    CHECK_RULE("GPUVA-193", named(rig, leaf, GVA_READ_ONLY, "GPUVA-193"));
    CHECK_RULE("GPUVA-194", named(rig, leaf, GVA_NO_EXECUTE, "GPUVA-194"));
    CHECK_RULE("GPUVA-195", named(rig, leaf, GVA_COHERENT, "GPUVA-195"));
    CHECK_RULE("GPUVA-196", named(rig, leaf, 3 << 7, "GPUVA-196"));  /* 1 becomes 2 */
    CHECK_RULE("GPUVA-196", named(rig, leaf, 16 << 7, "GPUVA-196")); /* and 17, which nobody knows */
    CHECK_RULE("GPUVA-197", named(rig, leaf, 1 << 12, "GPUVA-197"));
    CHECK_RULE("GPUVA-197", named(rig, leaf, 1ull << 63, "GPUVA-197"));
    CHECK_RULE("GPUVA-198", named(rig, upper, 1 << 12, "GPUVA-198"));
    CHECK_RULE("GPUVA-213", named(rig, upper, GVA_LARGE, "GPUVA-213"));
    CHECK_RULE("GPUVA-260/b", count(rig, "GPUVA-260") == 11);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, what_nobody_asked_for_is_told_from_what_was_left, checked(options))
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    uint64_t *entry, old;

    CHECK(NT_SUCCESS(gva_map_at(rig, object, GB, 8)));
    gva_idle(rig);
    entry = entry_at(rig, GB + 4096, 0);
    old = *entry;
    *entry = 0; /* as before the map */
    CHECK_RULE("GPUVA-260/a", check(rig).wrong == 1 && count(rig, "GPUVA-260") == 1);
    *entry = old;
    entry = entry_at(rig, GB + 100 * 4096, 0);
    *entry = old;
    CHECK_RULE("GPUVA-261", check(rig).wrong == 1 && count(rig, "GPUVA-261") == 1);
    *entry = old & ~(uint64_t)GVA_VALID; /* an invalid entry may have anything else */
    CHECK_RULE("GPUVA-261", check(rig).wrong == 0 && count(rig, "GPUVA-261") == 1);
    CHECK_RULE("GPUVA-260/b", count(rig, "GPUVA-260") == 3); /* both have come right */
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, entries_beside_each_other_are_told_apart, checked(options))
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    uint64_t *entry;

    CHECK(NT_SUCCESS(gva_map_at(rig, object, GB, 8)));
    gva_idle(rig);
    entry = entry_at(rig, GB, 0);
    entry[0] ^= 1 << 12;
    entry[2] ^= 1 << 12;
    entry[3] ^= 1 << 12;
    entry[4] ^= GVA_READ_ONLY;
    entry[5] = 0;
    entry[7] ^= GVA_READ_ONLY;
    CHECK(check(rig).wrong == 6);
    CHECK_RULE("GPUVA-197", count(rig, "GPUVA-197") == 2);
    CHECK_RULE("GPUVA-193", count(rig, "GPUVA-193") == 2);
    CHECK_RULE("GPUVA-260/a", count(rig, "GPUVA-260") == 1);
    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT, 0x2000); /* asked for anew: told anew */
    gva_idle(rig);
    CHECK_RULE("GPUVA-260/b", check(rig).wrong == 0 && count(rig, "GPUVA-260") == 1);
    entry[2] ^= 1 << 12;
    CHECK_RULE("GPUVA-197", check(rig).wrong == 1 && count(rig, "GPUVA-197") == 3);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, of_zero_nothing_else_counts, checked(options), options->mmu.ZeroInPteSupported = 1)
{
    uint64_t *entry, base = 0;

    CHECK(NT_SUCCESS(gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO, &base)));
    gva_idle(rig);
    entry = entry_at(rig, base, 0);
    CHECK(*entry == (GVA_VALID | GVA_ZERO));
    *entry |= 0x123000 | GVA_READ_ONLY;
    CHECK_RULE("GPUVA-192", check(rig).wrong == 0);
    *entry &= ~(uint64_t)GVA_ZERO;
    CHECK_RULE("GPUVA-192", check(rig).wrong == 1 && count(rig, "GPUVA-192") == 1);
    CHECK(gva_free(rig, base, 16) == STATUS_SUCCESS);
}

TEST_WITH(gva, what_has_not_completed_may_be_old_or_new, checked(options))
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    struct table_check waiting;

    gva_idle(rig);
    rig->hold = true;
    CHECK(NT_SUCCESS(gva_map_at(rig, object, GB, 8)));
    sim_stall(1000000);
    waiting = check(rig);
    CHECK_RULE("GPUVA-260/c", waiting.wrong == 0 && waiting.pending > 512);
    *entry_at(rig, GB, 0) = 0x123001; /* anything */
    CHECK_RULE("GPUVA-260/c", check(rig).wrong == 0);
    rig->hold = false;
    gva_release(rig);
    gva_idle(rig);
    CHECK_RULE("GPUVA-260/c", check(rig).wrong == 0 && check(rig).pending == 0);
    gva_object_destroy(rig, object);
}

/* The changed tables are looked at when a submission has completed, without being asked. */
TEST_WITH(gva, completed_submissions_are_looked_at, checked(options))
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);

    CHECK(NT_SUCCESS(gva_map_at(rig, object, GB, 8)));
    gva_idle(rig);
    *entry_at(rig, GB, 0) ^= 1 << 12;
    CHECK(NT_SUCCESS(gva_map_at(rig, object, GB + 64 * 4096, 8)));
    gva_idle(rig);
    CHECK_RULE("GPUVA-197", count(rig, "GPUVA-197") == 1);
    *entry_at(rig, GB, 0) ^= 1 << 12;
    CHECK(NT_SUCCESS(gva_map_at(rig, object, GB + SPAN, 8))); /* another leaf */
    gva_idle(rig);
    CHECK_RULE("GPUVA-260/b", count(rig, "GPUVA-260") == 1);
    gva_object_destroy(rig, object);
}

static void wide(struct gva_options *options)
{
    options->check_tables = options->large_vram = true;
    options->mmu.LeafPageTableSizeFor64KPagesInBytes = 4096;
}

/* The leaf table of 64 KB entries is the one that is read, while it is in use. */
TEST_WITH(gva, leaf_tables_of_64k_are_checked, wide(options))
{
    struct gva_object *object = gva_object_resident(rig, 32, 0x1000);
    const struct page_table *leaf;
    uint64_t *entry;

    CHECK(NT_SUCCESS(gva_map_at(rig, object, GB, 32)));
    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT, 0x2000);
    gva_idle(rig);
    leaf = table_at(rig, GB, 0);
    CHECK(leaf->wide && leaf->twin && table_in_use(leaf, GB >> 12) == leaf->twin);
    CHECK(check(rig).wrong == 0 && check(rig).pending == 0);
    entry = (uint64_t *)table_cpu(leaf->twin) + 1;
    *entry ^= 1 << 16;
    CHECK_RULE("GPUVA-197", check(rig).wrong == 1 && count(rig, "GPUVA-197") == 1);
    *entry ^= 1 << 16;
    CHECK_RULE("GPUVA-260/b", check(rig).wrong == 0 && count(rig, "GPUVA-260") == 1);
    gva_object_destroy(rig, object);
}

/* What the GPU copies there is not known, until it is asked for again. */
TEST_WITH(gva, copied_entries_are_not_judged, checked(options))
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    uint64_t *entry;

    CHECK(NT_SUCCESS(gva_map_at(rig, object, GB, 8)));
    gva_idle(rig);
    entry = entry_at(rig, GB, 0);
    asked_copied(table_at(rig, GB, 0), 2, 3);
    entry[2] = entry[3] = entry[4] = 0x123001;
    CHECK(check(rig).wrong == 0 && check(rig).pending == 3);
    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT, 0x2000);
    gva_idle(rig);
    CHECK(check(rig).wrong == 0 && check(rig).pending == 0);
    entry[3] = 0x123001;
    CHECK(check(rig).wrong == 1);
    gva_object_destroy(rig, object);
}

static void unseen(struct gva_options *options)
{
    options->check_tables = true;
    options->hidden_vram = true;
    for (unsigned level = 0; level < 4; level++)
        options->level[level].PagingProcessPageTableSegmentId = 0;
}

TEST_WITH(gva, hidden_tables_are_counted_and_not_read, unseen(options))
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    struct table_check found;

    CHECK(NT_SUCCESS(gva_map_at(rig, object, GB, 8)));
    gva_idle(rig);
    found = check(rig);
    CHECK(found.hidden == 4 && found.tables > 8 && found.entries > 512 && found.wrong == 0);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, tables_of_another_shape_are_not_read, checked(options))
{
    struct table_check found;

    gva_idle(rig);
    rig->format.index_bits[1] = 10;
    CHECK(!vidmm_check_tables(rig->vidmm, &found));
    rig->format.index_bits[1] = 9;
    rig->format.entry_bytes = 12;
    CHECK(!vidmm_check_tables(rig->vidmm, &found));
    rig->format.entry_bytes = 8;
    rig->format.levels = 3;
    CHECK(!vidmm_check_tables(rig->vidmm, &found));
    rig->format.levels = 4;
    CHECK(vidmm_check_tables(rig->vidmm, &found));
}

TEST_WITH(gva, without_the_option_nothing_is_kept)
{
    struct table_check found;

    CHECK(!vidmm_check_tables(rig->vidmm, &found) && found.tables == 0);
    CHECK(!rig->process->space->root->asked && !rig->process->space->flushes);
}

static void nothing_is_written(struct gva_options *options)
{
    options->check_tables = true;
    options->mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_CPU_VIRTUAL;
}

/* The CPU must have written when the call returns, not when the buffer has run (GPUVA-183). */
TEST_WITH(gva, the_cpu_has_no_time_until_the_completion, nothing_is_written(options))
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);

    gva_idle(rig);
    rig->hold = true; /* the driver of the rig writes with the buffer, which is too late */
    CHECK(NT_SUCCESS(gva_map_at(rig, object, GB, 8)));
    sim_stall(1000000);
    CHECK_RULE("GPUVA-183", check(rig).wrong > 0 && count(rig, "GPUVA-260") > 0);
    rig->hold = false;
    gva_release(rig);
    gva_idle(rig);
    CHECK(check(rig).wrong == 0);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, a_flush_without_effect_is_a_warning, nothing_is_written(options))
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);

    CHECK(NT_SUCCESS(gva_map_at(rig, object, GB, 8)));
    gva_idle(rig);
    CHECK_RULE("GPUVA-262", count(rig, "GPUVA-262") == 0);
    rig->write_nothing = true;
    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT, 0x2000);
    gva_idle(rig);
    CHECK_RULE("GPUVA-262", count(rig, "GPUVA-262") == 1 && check(rig).wrong == 0);
    rig->write_nothing = false;
    gva_object_destroy(rig, object);
}

/* ---- formats ---- */

TEST(entries_of_coskmd_are_read)
{
    const struct dxgk_table_format *format = table_format_named("cosgpu");
    DXGK_PTE pte = {.Flags = 0};
    struct table_entry asked, found;

    CHECK(format && !table_format_named("cosgp") && !table_format_named(""));
    pte.Valid = 1;
    pte.Segment = 2;
    pte.ReadOnly = pte.NoExecute = pte.CacheCoherent = 1;
    pte.PageAddress = 0x123456789;
    asked = table_entry_asked(&pte, 0);
    found = table_entry_read(format, &pte, 0);
    CHECK(found.valid && !found.zero && found.segment_known && found.segment == 2);
    CHECK(found.read_only && found.no_execute && found.coherent && !found.large);
    CHECK(found.offset == 0x123456789000);
    CHECK(table_entry_differ(format, &asked, &found, 0) == ENTRY_SAME);
    pte.Zero = 1;
    CHECK(table_entry_read(format, &pte, 0).zero);
    pte.LargePage = 1;
    pte.PageTablePageSize = DXGK_PTE_PAGE_TABLE_PAGE_64KB;
    CHECK(table_entry_read(format, &pte, 1).large && table_entry_read(format, &pte, 1).big);
    CHECK(!table_entry_read(format, &pte, 0).large && !table_entry_read(format, &pte, 2).big);
}

/* Two levels of 10 bits with entries of 16 bytes, written by the CPU in system memory, as coskmd has them. */
static void as_coskmd(struct gva_options *options)
{
    options->check_tables = options->whole_entries = true;
    options->mmu.VirtualAddressBitCount = 32;
    options->mmu.PageTableLevelCount = 2;
    options->mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_CPU_VIRTUAL;
    options->mmu.ZeroInPteSupported = 1;
    for (unsigned level = 0; level < 2; level++)
        options->level[level] = (DXGK_PAGE_TABLE_LEVEL_DESC){.PageTableIndexBitCount = 10,
                                                             .PageTableSizeInBytes = 4 * 4096};
}

TEST_WITH(gva, tables_of_coskmd_are_checked, as_coskmd(options),
          options->level[1].PageTableSegmentId = 1)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    struct page_table *leaf;
    DXGK_PTE *entry;

    rig->write_nothing = true; /* the CPU writes at once */
    CHECK(NT_SUCCESS(gva_map_at(rig, object, GB, 8)));
    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT, 0x2000);
    gva_idle(rig);
    CHECK(check(rig).wrong == 0 && check(rig).entries > 2048 && check(rig).hidden == 0);
    leaf = rig->process->space->root->child[GB >> 22];
    entry = (DXGK_PTE *)table_cpu(leaf) + 3;
    entry->PageAddress++;
    CHECK_RULE("GPUVA-197", check(rig).wrong == 1 && count(rig, "GPUVA-197") == 1);
    entry->PageAddress--;
    CHECK(check(rig).wrong == 0);
    entry->Segment = 2;
    CHECK_RULE("GPUVA-196", check(rig).wrong == 1 && count(rig, "GPUVA-196") == 1);
    entry->Segment = 1;
    CHECK(check(rig).wrong == 0);
    gva_object_destroy(rig, object);
}

TEST(small_entries_are_read_within_their_bytes)
{
    const struct dxgk_table_format format = {.name = "small",
                                             .entry_bytes = 4,
                                             .valid = 1,
                                             .address_mask = 0xFFFFFFF0,
                                             .address_shift = 8};
    const uint32_t table[2] = {0x00001231, 0xFFFFFFFF};
    struct table_entry found = table_entry_read(&format, table, 0);

    CHECK(found.valid && found.offset == 0x123000 && !found.segment_known);
    CHECK(table_entry_bits(&format, table) == 0x1231);
}

TEST(addresses_of_a_segment_begin_at_its_base)
{
    const struct dxgk_table_format format = {
        .name = "based",
        .entry_bytes = 8,
        .valid = 1,
        .address_mask = ~0xFFFull,
        .segment_mask = 2,
        .segments = 2,
        .segment = {{.segment = 0}, {.segment = 3, .bits = 2, .base = 0x40000000}},
        .tables_plain = true};
    const uint64_t page = 0x40005003, table = 0x5003;
    struct table_entry found = table_entry_read(&format, &page, 0);

    CHECK(found.segment_known && found.segment == 3 && found.offset == 0x5000);
    found = table_entry_read(&format, &table, 1);
    CHECK(!found.segment_known && found.offset == 0x5000);
}

/* A root whose memory ends before its entries: those in it are checked, the others are named. */
TEST_WITH(gva, a_root_is_read_within_its_memory, as_coskmd(options),
          options->level[1].PageTableSegmentId = 1)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    struct table_check whole, cut;
    struct page_table *root = rig->process->space->root;

    rig->write_nothing = true;
    CHECK(NT_SUCCESS(gva_map_at(rig, object, GB, 8)));
    gva_idle(rig);
    whole = check(rig);
    CHECK_RULE("GPUVA-155", whole.wrong == 0 && count(rig, "GPUVA-155") == 0);
    CHECK(root->entries == 1024 && root->place.pages == 4);
    root->place.pages = 3;
    ((DXGK_PTE *)table_cpu(root) + 767)->Valid ^= 1;
    ((DXGK_PTE *)table_cpu(root) + 768)->Valid ^= 1; /* somebody else's */
    cut = check(rig);
    CHECK_RULE("GPUVA-155", cut.entries == whole.entries - 256 && cut.wrong == 1);
    CHECK_RULE("GPUVA-155", count(rig, "GPUVA-155") == 1);
    ((DXGK_PTE *)table_cpu(root) + 767)->Valid ^= 1;
    ((DXGK_PTE *)table_cpu(root) + 768)->Valid ^= 1;
    vidmm_check_address(rig->process, 769ull << 22);
    (void)check(rig);
    CHECK_RULE("GPUVA-155", count(rig, "GPUVA-155") == 1); /* told once */
    root->place.pages = 4;
    CHECK(check(rig).entries == whole.entries && check(rig).wrong == 0);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, a_format_with_longer_entries_than_tables_is_none, as_coskmd(options))
{
    DXGK_PAGE_TABLE_LEVEL_DESC *leaf = &rig->vidmm->config.level[0];

    CHECK(leaf->PageTableSizeInBytes == 4 * 4096 && table_format_of(rig->vidmm));
    leaf->PageTableSizeInBytes = 3 * 4096; /* of which 1024 entries of 16 bytes are more */
    CHECK(!table_format_of(rig->vidmm));
    leaf->PageTableSizeInBytes = 4 * 4096;
    rig->vidmm->config.level[1].PageTableSizeInBytes = 4096; /* a root has its own size */
    CHECK(table_format_of(rig->vidmm));
}

static void with_twins(struct gva_options *options)
{
    options->check_tables = options->large_vram = true;
    options->level[0].PageTableSizeInBytes = 65536;
    options->mmu.LeafPageTableSizeFor64KPagesInBytes = 65536;
}

TEST_WITH(gva, a_format_fits_tables_of_64_kb_pages_too, with_twins(options))
{
    struct table_geometry *geometry = &rig->vidmm->mmu->geometry;

    CHECK(geometry->twins && table_format_of(rig->vidmm));
    geometry->caps.LeafPageTableSizeFor64KPagesInBytes = 32 * 8; /* as many as one needs */
    CHECK(table_format_of(rig->vidmm));
    geometry->caps.LeafPageTableSizeFor64KPagesInBytes--;
    CHECK(!table_format_of(rig->vidmm));
    geometry->caps.LeafPageTableSizeFor64KPagesInBytes = 65536;
}
