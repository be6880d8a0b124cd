/* SPDX-License-Identifier: MIT */
/* Address translation: page tables, TLB, aperture, bus window; and what the engines report when
 * it fails. */
#include "support/check_rule.h"
#include "support/fake_machine.h"

#include <string.h>

#define VA (FAKE_VA + 0x40000000ull)

static struct refgpu_builder builder;
static uint32_t words[1024];

static struct fake *begin(void)
{
    struct fake *fake = fake_create(NULL, 0);

    fake_start(fake);
    refgpu_builder_init(&builder, words, sizeof words);
    return fake;
}

static void expect_fault(struct fake *fake, uint32_t engine, uint32_t kind, uint32_t code,
                         uint64_t address, bool write)
{
    const uint32_t info = fake_engine_read(fake, engine, REFGPU_ENG_FAULT_INFO);
    const uint32_t causes[] = {0, REFGPU_IRQ_PAGE_FAULT(engine), REFGPU_IRQ_BUS_FAULT(engine),
                               REFGPU_IRQ_COMMAND(engine)};

    CHECK(fake_engine_read(fake, engine, REFGPU_ENG_STATUS) & REFGPU_ENG_STATUS_HALTED);
    CHECK(REFGPU_FAULT_KIND(info) == kind);
    CHECK(REFGPU_FAULT_CODE(info) == code);
    CHECK(((info & REFGPU_FAULT_WRITE) != 0) == write);
    CHECK(fake_read64(fake, REFGPU_REG_ENGINE(engine, REFGPU_ENG_FAULT_ADDR_LO)) == address);
    CHECK(fake_engine_read(fake, engine, REFGPU_ENG_FAULT_FENCE) == fake->next_fence - 1u);
    CHECK(fake_read(fake, REFGPU_REG_IRQ_STATUS) & causes[kind]);
}

TEST(fill_reaches_vram_through_four_levels)
{
    struct fake *fake = begin();

    fake_map_range(fake, VA, 0x200000 | REFGPU_PTE_VALID, 3);
    refgpu_fill(&builder, VA + 0xFF0, 32, 0x11223344);
    fake_submit(fake, 1, &builder);
    for (uint32_t i = 0; i < 32u; i += 4u) {
        uint32_t value;

        memcpy(&value, fake->vram + 0x200FF0 + i, 4);
        CHECK(value == 0x11223344u);
    }
    CHECK(fake->vram[0x200FEF] == 0 && fake->vram[0x201010] == 0);
    fake_destroy(fake);
}

TEST(tlb_keeps_the_old_page_until_flushed)
{
    struct fake *fake = begin();

    fake_map(fake, VA, 0x200000 | REFGPU_PTE_VALID);
    refgpu_write(&builder, VA, 1, 0);
    fake_submit(fake, 1, &builder);
    fake_map(fake, VA, 0x300000 | REFGPU_PTE_VALID);
    refgpu_builder_init(&builder, words, sizeof words);
    refgpu_write(&builder, VA + 4u, 2, 0);
    fake_submit(fake, 1, &builder);
    CHECK(fake->vram[0x200004] == 2 && fake->vram[0x300004] == 0);
    refgpu_builder_init(&builder, words, sizeof words);
    {
        uint32_t *c = refgpu_command(&builder, REFGPU_OP_TLB_FLUSH, 0, 7);

        refgpu_put64(c + 1, FAKE_ROOT);
        refgpu_put64(c + 3, VA);
        refgpu_put64(c + 5, VA + 4096u);
    }
    refgpu_write(&builder, VA + 8u, 3, 0);
    fake_submit(fake, 1, &builder);
    CHECK(fake->vram[0x300008] == 3 && fake->vram[0x200008] == 0);
    fake_destroy(fake);
}

TEST(invalid_entries_are_not_cached)
{
    struct fake *fake = begin();

    fake_map(fake, VA, 0);
    refgpu_write(&builder, VA, 1, 0);
    fake_submit(fake, 1, &builder);
    expect_fault(fake, 1, REFGPU_FAULT_PAGE, REFGPU_PAGE_INVALID, VA, true);
    fake_map(fake, VA, 0x200000 | REFGPU_PTE_VALID);
    fake_engine_write(fake, 1, REFGPU_ENG_CONTROL,
                      REFGPU_ENG_CONTROL_ENABLE | REFGPU_ENG_CONTROL_SKIP);
    fake_submit(fake, 1, &builder);
    CHECK(fake->vram[0x200000] == 1);
    CHECK(fake_engine_read(fake, 1, REFGPU_ENG_COMPLETED) == 2);
    fake_destroy(fake);
}

TEST(big_pages_use_thirty_two_entries)
{
    struct fake *fake = begin();
    uint64_t table = FAKE_ROOT, entry = 0;

    fake_map(fake, VA, 0x400000 | REFGPU_PTE_VALID); /* first entry: a 64 KiB page at 4 MiB */
    for (unsigned level = 3; level > 0; level--) {
        memcpy(&entry, fake->vram + table + ((VA >> (12u + 9u * level)) & 511u) * 8u, 8);
        if (level == 1) {
            entry |= REFGPU_PTE_BIG;
            memcpy(fake->vram + table + ((VA >> 21) & 511u) * 8u, &entry, 8);
        }
        table = entry & REFGPU_PTE_ADDRESS_MASK;
    }
    entry = 0x600000 | REFGPU_PTE_VALID;
    memcpy(fake->vram + table + 31u * 8u, &entry, 8);
    refgpu_write(&builder, VA + 0xF008, 0x55, 0);
    refgpu_write(&builder, VA + 31u * 65536u + 0x3004, 0x66, 0);
    fake_submit(fake, 1, &builder);
    CHECK(fake->vram[0x40F008] == 0x55 && fake->vram[0x603004] == 0x66);
    fake_destroy(fake);
}

TEST(zero_entries_read_zero_and_swallow_writes)
{
    struct fake *fake = begin();
    uint8_t before[4096];

    fake_map(fake, VA, REFGPU_PTE_VALID | REFGPU_PTE_ZERO);
    fake_map(fake, VA + 4096u, 0x200000 | REFGPU_PTE_VALID);
    memset(fake->vram + 0x200000, 0x77, 4096);
    memcpy(before, fake->vram, sizeof before);
    refgpu_fill(&builder, VA, 4096, 0x12345678);
    refgpu_write(&builder, VA, 1, REFGPU_WRITE_ADD);
    refgpu_copy(&builder, VA + 4096u, VA, 100);
    fake_submit(fake, 1, &builder);
    CHECK(fake->vram[0x200000] == 0 && fake->vram[0x200063] == 0 && fake->vram[0x200064] == 0x77);
    CHECK(memcmp(before, fake->vram, sizeof before) == 0);
    fake_destroy(fake);
}

TEST(read_only_entries_refuse_writes)
{
    struct fake *fake = begin();

    fake_map(fake, VA, 0x200000 | REFGPU_PTE_VALID | REFGPU_PTE_READ_ONLY);
    fake_map(fake, VA + 4096u, 0x201000 | REFGPU_PTE_VALID);
    refgpu_copy(&builder, VA + 4096u, VA, 4096);
    refgpu_fill(&builder, VA + 16u, 4, 1);
    fake_submit(fake, 1, &builder);
    expect_fault(fake, 1, REFGPU_FAULT_PAGE, REFGPU_PAGE_READ_ONLY, VA + 16u, true);
    CHECK(fake_engine_read(fake, 1, REFGPU_ENG_OFFSET) == 28); /* behind the copy */
    fake_destroy(fake);
}

/* A buffer of commands behind an entry with NO_EXECUTE, which itself reads and writes through such an entry. */
static struct fake *submit_no_execute(const char *const *options, size_t count)
{
    struct fake *fake = fake_create(options, count);
    uint32_t bytes;

    fake_start(fake);
    refgpu_builder_init(&builder, words, sizeof words);
    fake_map(fake, VA, 0x200000 | REFGPU_PTE_VALID | REFGPU_PTE_NO_EXECUTE);
    refgpu_write(&builder, VA, 77, 0);
    bytes = refgpu_builder_bytes(&builder);
    fake_ram_write(fake, FAKE_COMMANDS, builder.words, bytes);
    fake_map(fake, FAKE_VA,
             FAKE_COMMANDS | REFGPU_PTE_VALID | REFGPU_PTE_SYSTEM | REFGPU_PTE_NO_EXECUTE);
    (void)fake_queue(fake, 1, fake_entry(fake, 1, bytes));
    fake_doorbell(fake, 1);
    fake_run(fake, 10000000000ull);
    return fake;
}

TEST(entries_can_forbid_the_fetch_of_commands)
{
    static const char *const options[] = {"no_execute=1"};
    struct fake *fake = submit_no_execute(options, 1);

    CHECK(fake_read(fake, REFGPU_REG_FEATURES) == REFGPU_FEATURE_NO_EXECUTE);
    expect_fault(fake, 1, REFGPU_FAULT_PAGE, REFGPU_PAGE_NO_EXECUTE, FAKE_VA, false);
    CHECK(REFGPU_FAULT_UNIT(fake_engine_read(fake, 1, REFGPU_ENG_FAULT_INFO)) == REFGPU_UNIT_FETCH);
    CHECK(fake->vram[0x200000] == 0);
    fake_destroy(fake);
    fake = fake_create(options, 1); /* data may be there */
    fake_start(fake);
    refgpu_builder_init(&builder, words, sizeof words);
    fake_map(fake, VA, 0x200000 | REFGPU_PTE_VALID | REFGPU_PTE_NO_EXECUTE);
    refgpu_write(&builder, VA, 77, 0);
    refgpu_copy(&builder, VA + 8u, VA, 4);
    fake_submit(fake, 1, &builder);
    CHECK(fake->vram[0x200000] == 77 && fake->vram[0x200008] == 77);
    fake_destroy(fake);
    fake = submit_no_execute(NULL, 0); /* without the option the bit says nothing */
    CHECK(fake_read(fake, REFGPU_REG_FEATURES) == 0 && fake->vram[0x200000] == 77);
    fake_destroy(fake);
}

TEST(addresses_outside_everything_fault)
{
    static const uint64_t bad[] = {FAKE_VRAM_BYTES, REFGPU_GART_BASE - 4u,
                                   REFGPU_GART_BASE + FAKE_GART_PAGES * 4096ull,
                                   REFGPU_BUS_BASE - 4u};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct fake *fake = begin();

        refgpu_write(&builder, bad[i], 1, 0);
        fake_submit(fake, 0, &builder);
        expect_fault(fake, 0, REFGPU_FAULT_PAGE, REFGPU_PAGE_RANGE, bad[i], true);
        fake_destroy(fake);
    }
}

TEST(aperture_pages_lead_to_system_memory)
{
    struct fake *fake = begin();
    uint32_t value;

    fake_gart(fake, 5, 0x500000 | REFGPU_GART_VALID);
    fake_map(fake, VA, (5u << 12) | REFGPU_PTE_VALID | REFGPU_PTE_GART);
    refgpu_write(&builder, REFGPU_GART_BASE + 5u * 4096u + 8u, 0xCAFE, 0);
    fake_submit(fake, 0, &builder);
    fake_ram_read(fake, 0x500008, &value, 4);
    CHECK(value == 0xCAFEu);
    refgpu_builder_init(&builder, words, sizeof words);
    refgpu_write(&builder, VA + 12u, 0xBEEF, 0);
    fake_submit(fake, 1, &builder);
    fake_ram_read(fake, 0x50000C, &value, 4);
    CHECK(value == 0xBEEFu);
    refgpu_builder_init(&builder, words, sizeof words);
    refgpu_write(&builder, REFGPU_GART_BASE + 6u * 4096u, 1, 0);
    fake_submit(fake, 0, &builder);
    expect_fault(fake, 0, REFGPU_FAULT_PAGE, REFGPU_PAGE_GART, REFGPU_GART_BASE + 6u * 4096u, true);
    fake_destroy(fake);
}

TEST(bus_window_needs_privilege)
{
    struct fake *fake = begin();
    struct refgpu_ring_entry entry;
    uint32_t value;

    refgpu_write(&builder, REFGPU_BUS_BASE + 0x700000, 9, 0);
    fake_submit(fake, 0, &builder);
    fake_ram_read(fake, 0x700000, &value, 4);
    CHECK(value == 9);
    entry = fake_entry(fake, 0, refgpu_builder_bytes(&builder));
    entry.flags = REFGPU_ENTRY_INTERRUPT;
    (void)fake_queue(fake, 0, entry);
    fake_doorbell(fake, 0);
    fake_run(fake, 1000000);
    expect_fault(fake, 0, REFGPU_FAULT_PAGE, REFGPU_PAGE_PRIVILEGE, REFGPU_BUS_BASE + 0x700000,
                 true);
    fake_destroy(fake);
}

TEST(refused_bus_access_halts_the_engine)
{
    struct fake *fake = begin();

    fake->refused_page = 0x500;
    fake_gart(fake, 1, 0x500000 | REFGPU_GART_VALID);
    refgpu_copy(&builder, 0x1000, REFGPU_GART_BASE + 4096u, 64);
    fake_submit(fake, 0, &builder);
    expect_fault(fake, 0, REFGPU_FAULT_BUS, 0, 0x500000, false);
    CHECK(fake->vram[0x1000] == 0);
    fake_engine_write(fake, 0, REFGPU_ENG_CONTROL, REFGPU_ENG_CONTROL_RESET);
    CHECK(fake_engine_read(fake, 0, REFGPU_ENG_ABORTED) == fake->next_fence - 1u);
    fake_destroy(fake);
}

TEST(raw_access_shows_what_the_bus_allows)
{
    struct fake *fake = begin();
    uint32_t value;

    refgpu_raw_write(&builder, 0x600010, 12, 0x01020304);
    refgpu_raw_read(&builder, 0x600010, 12, 0x3000);
    fake_submit(fake, 0, &builder);
    fake_ram_read(fake, 0x600018, &value, 4);
    CHECK(value == 0x01020304u);
    memcpy(&value, fake->vram + 0x3008, 4);
    CHECK(value == 0x01020304u);
    refgpu_builder_init(&builder, words, sizeof words);
    refgpu_raw_write(&builder, 1ull << 50, 4, 0); /* more bits than the board has */
    fake_submit(fake, 0, &builder);
    expect_fault(fake, 0, REFGPU_FAULT_BUS, 0, 1ull << 50, true);
    CHECK(fake->refusals == 0);
    fake_destroy(fake);
}

TEST(unreadable_ring_and_fence_block_are_bus_faults)
{
    struct fake *fake = begin();
    const uint32_t info_unit[] = {REFGPU_UNIT_RING, REFGPU_UNIT_FENCE};

    for (uint32_t i = 0; i < 2u; i++) {
        fake->refused_page = i ? FAKE_FENCE(0) >> 12 : FAKE_RING(0) >> 12;
        (void)fake_queue(fake, 0, fake_entry(fake, 0, 0));
        fake_doorbell(fake, 0);
        fake_run(fake, 1000000);
        CHECK(REFGPU_FAULT_UNIT(fake_engine_read(fake, 0, REFGPU_ENG_FAULT_INFO)) == info_unit[i]);
        CHECK(fake_read(fake, REFGPU_REG_IRQ_ACK) & REFGPU_IRQ_BUS_FAULT(0));
        fake->refused_page = 0;
        fake_engine_write(fake, 0, REFGPU_ENG_CONTROL,
                          REFGPU_ENG_CONTROL_ENABLE | REFGPU_ENG_CONTROL_SKIP);
        fake_run(fake, 1000000);
        CHECK(fake_engine_read(fake, 0, REFGPU_ENG_STATUS) == 0);
    }
    (void)fake_queue(fake, 0, fake_entry(fake, 0, 0));
    fake_doorbell(fake, 0);
    fake_run(fake, 1000000);
    CHECK(fake_engine_read(fake, 0, REFGPU_ENG_COMPLETED) == 3);
    fake_destroy(fake);
}

TEST(paging_commands_write_tables)
{
    struct fake *fake = begin();
    uint64_t entry;
    uint32_t *c;

    c = refgpu_command(&builder, REFGPU_OP_PTE_FILL, 0, 8);
    refgpu_put64(c + 1, 0x8000);
    c[3] = 512;
    refgpu_put64(c + 4, 0x100000 | REFGPU_PTE_VALID);
    refgpu_put64(c + 6, 4096);
    c = refgpu_command(&builder, REFGPU_OP_PTE_WRITE, 0, 8);
    refgpu_put64(c + 1, 0x8008);
    c[3] = 2;
    refgpu_put64(c + 4, 7);
    refgpu_put64(c + 6, 8);
    c = refgpu_command(&builder, REFGPU_OP_GART_FILL, 0, 7);
    c[1] = 10;
    c[2] = 5;
    refgpu_put64(c + 3, 0x900000 | REFGPU_GART_VALID);
    refgpu_put64(c + 5, 0);
    c = refgpu_command(&builder, REFGPU_OP_GART_WRITE, 0, 5);
    c[1] = FAKE_GART_PAGES - 1u;
    c[2] = 1;
    refgpu_put64(c + 3, 0xA00000 | REFGPU_GART_VALID);
    fake_submit(fake, 1, &builder);
    CHECK(fake_engine_read(fake, 1, REFGPU_ENG_STATUS) == 0);
    memcpy(&entry, fake->vram + 0x8000, 8);
    CHECK(entry == (0x100000 | REFGPU_PTE_VALID));
    memcpy(&entry, fake->vram + 0x8010, 8);
    CHECK(entry == 8);
    memcpy(&entry, fake->vram + 0x8000 + 511u * 8u, 8);
    CHECK(entry == (0x100000 + 511u * 4096u + REFGPU_PTE_VALID));
    memcpy(&entry, fake->vram + FAKE_GART_TABLE + 14u * 8u, 8);
    CHECK(entry == (0x900000 | REFGPU_GART_VALID));
    memcpy(&entry, fake->vram + FAKE_GART_TABLE + (FAKE_GART_PAGES - 1u) * 8u, 8);
    CHECK(entry == (0xA00000 | REFGPU_GART_VALID));
    fake_destroy(fake);
}
