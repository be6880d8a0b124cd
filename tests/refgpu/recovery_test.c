/* SPDX-License-Identifier: MIT */
/* Preemption, save and resume, reset, malformed commands, and a random walk through all of it. */
#include "support/check_rule.h"

#include <stdlib.h>
#include <string.h>

#include "support/fake_machine.h"

#define VA   (FAKE_VA + 0x40000000ull)
#define SAVE (FAKE_VA + 0x7FFFF000ull)

static struct refgpu_builder builder;
static uint32_t words[1024];

static struct fake *begin(void)
{
    struct fake *fake = fake_create(NULL, 0);

    fake_start(fake);
    fake_map_range(fake, VA, 0x400000 | REFGPU_PTE_VALID, 512);
    fake_map(fake, SAVE, 0xD00000 | REFGPU_PTE_VALID);
    refgpu_builder_init(&builder, words, sizeof words);
    return fake;
}

/* Queue the built commands on engine 1 with a save area. */
static struct refgpu_ring_entry queue_copy_engine(struct fake *fake, uint32_t flags)
{
    struct refgpu_ring_entry entry = fake_entry(fake, 1, refgpu_builder_bytes(&builder));

    fake_ram_write(fake, FAKE_COMMANDS, words, entry.bytes);
    fake_map_range(fake, FAKE_VA, FAKE_COMMANDS | REFGPU_PTE_VALID | REFGPU_PTE_SYSTEM, 4);
    entry.save = SAVE;
    entry.flags |= flags;
    (void)fake_queue(fake, 1, entry);
    fake_doorbell(fake, 1);
    return entry;
}

static void preempt(struct fake *fake, uint32_t engine, uint32_t value)
{
    fake_engine_write(fake, engine, REFGPU_ENG_PREEMPT, value);
}

TEST(idle_engine_answers_preemption_at_once)
{
    struct fake *fake = begin();
    struct refgpu_fence_block block;

    preempt(fake, 0, 77);
    CHECK(fake_read(fake, REFGPU_REG_IRQ_ACK) == REFGPU_IRQ_PREEMPTED(0));
    CHECK(fake_engine_read(fake, 0, REFGPU_ENG_PREEMPTED) == 77);
    CHECK(fake_engine_read(fake, 0, REFGPU_ENG_STOP_FENCE) == 0);
    fake_ram_read(fake, FAKE_FENCE(0), &block, sizeof block);
    CHECK(block.preempted == 77);
    fake_destroy(fake);
}

TEST(preemption_stops_between_commands_and_goes_on_at_the_offset)
{
    struct fake *fake = begin();
    struct refgpu_ring_entry entry;
    uint32_t offset;

    refgpu_delay(&builder, 100000);
    refgpu_write(&builder, 0x100, 1, REFGPU_WRITE_ADD);
    refgpu_delay(&builder, 100000);
    refgpu_write(&builder, 0x104, 1, REFGPU_WRITE_ADD);
    fake_ram_write(fake, FAKE_COMMANDS, words, refgpu_builder_bytes(&builder));
    entry = fake_entry(fake, 0, refgpu_builder_bytes(&builder));
    (void)fake_queue(fake, 0, entry);
    (void)fake_queue(fake, 0, entry);
    fake_doorbell(fake, 0);
    fake_run(fake, 100700);
    preempt(fake, 0, 9);
    fake_run(fake, 1000000);
    CHECK(fake_read(fake, REFGPU_REG_IRQ_STATUS) == REFGPU_IRQ_PREEMPTED(0));
    CHECK(fake_engine_read(fake, 0, REFGPU_ENG_STOP_FENCE) == 1);
    CHECK(fake_engine_read(fake, 0, REFGPU_ENG_COMPLETED) == 0);
    CHECK(fake_engine_read(fake, 0, REFGPU_ENG_HEAD) == fake_engine_read(fake, 0, REFGPU_ENG_TAIL));
    CHECK(fake->trace_depth[0] == 0);
    offset = fake_engine_read(fake, 0, REFGPU_ENG_STOP_OFFSET);
    CHECK(offset == 36 && fake->vram[0x100] == 1 && fake->vram[0x104] == 0);
    entry.start = offset;
    (void)fake_queue(fake, 0, entry);
    fake_doorbell(fake, 0);
    fake_run(fake, 1000000);
    CHECK(fake->vram[0x100] == 1 && fake->vram[0x104] == 1);
    fake_destroy(fake);
}

TEST(copy_engine_saves_its_place_inside_a_command)
{
    struct fake *fake = begin();
    struct refgpu_save_area area;
    struct refgpu_ring_entry entry;

    for (uint32_t i = 0; i < 0x100000u; i++)
        fake->vram[0x400000 + i] = (uint8_t)(i * 7u + (i >> 8));
    refgpu_copy(&builder, VA + 0x100000, VA, 0x100000);
    entry = queue_copy_engine(fake, 0);
    fake_run(fake, 20000); /* two of sixteen slices */
    preempt(fake, 1, 5);
    fake_run(fake, 1000000);
    CHECK(fake_read(fake, REFGPU_REG_IRQ_ACK) == REFGPU_IRQ_PREEMPTED(1));
    memcpy(&area, fake->vram + 0xD00000, sizeof area);
    CHECK(area.magic == REFGPU_SAVE_MAGIC && area.fence == 1 && area.offset == 0);
    CHECK(area.progress > 0 && area.progress < 16);
    memset(fake->vram + 0x500000, 0, area.progress * 65536u); /* must not be done again */
    entry.flags |= REFGPU_ENTRY_RESUME;
    (void)fake_queue(fake, 1, entry);
    fake_doorbell(fake, 1);
    fake_run(fake, 1000000);
    CHECK(fake_engine_read(fake, 1, REFGPU_ENG_COMPLETED) == 2);
    CHECK(fake->vram[0x500001] == 0);
    CHECK(memcmp(fake->vram + 0x500000 + area.progress * 65536u,
                 fake->vram + 0x400000 + area.progress * 65536u,
                 0x100000 - area.progress * 65536u) == 0);
    memcpy(&area, fake->vram + 0xD00000, sizeof area);
    CHECK(area.magic == 0);
    /* The state was used up: a second resume is an error, not a repetition. */
    (void)fake_queue(fake, 1, entry);
    fake_doorbell(fake, 1);
    fake_run(fake, 1000000);
    CHECK(REFGPU_FAULT_CODE(fake_engine_read(fake, 1, REFGPU_ENG_FAULT_INFO)) == REFGPU_ERROR_ENTRY);
    fake_destroy(fake);
}

TEST(waits_and_preemptible_hangs_give_way)
{
    struct fake *fake = begin();

    refgpu_wait(&builder, VA, 1, 0);
    (void)queue_copy_engine(fake, 0);
    fake_run(fake, 100000);
    preempt(fake, 1, 3);
    CHECK(fake_engine_read(fake, 1, REFGPU_ENG_PREEMPTED) == 3);
    refgpu_builder_init(&builder, words, sizeof words);
    refgpu_hang(&builder, REFGPU_HANG_PREEMPTIBLE);
    (void)queue_copy_engine(fake, 0);
    fake_run(fake, 100000);
    CHECK(fake_engine_read(fake, 1, REFGPU_ENG_STATUS) ==
          (REFGPU_ENG_STATUS_BUSY | REFGPU_ENG_STATUS_HUNG));
    preempt(fake, 1, 4);
    CHECK(fake_engine_read(fake, 1, REFGPU_ENG_PREEMPTED) == 4);
    fake_destroy(fake);
}

TEST(hang_ends_by_reset_only)
{
    struct fake *fake = begin();

    refgpu_hang(&builder, 0);
    (void)queue_copy_engine(fake, 0);
    (void)queue_copy_engine(fake, 0);
    fake_run(fake, 10000000);
    preempt(fake, 1, 4);
    fake_run(fake, 10000000);
    CHECK(fake_engine_read(fake, 1, REFGPU_ENG_STATUS) ==
          (REFGPU_ENG_STATUS_BUSY | REFGPU_ENG_STATUS_HUNG | REFGPU_ENG_STATUS_PREEMPT));
    fake_engine_write(fake, 1, REFGPU_ENG_CONTROL, REFGPU_ENG_CONTROL_RESET);
    CHECK(fake_engine_read(fake, 1, REFGPU_ENG_ABORTED) == 1);
    CHECK(fake_engine_read(fake, 1, REFGPU_ENG_STATUS) == 0);
    CHECK(fake_engine_read(fake, 1, REFGPU_ENG_HEAD) == 0 &&
          fake_engine_read(fake, 1, REFGPU_ENG_TAIL) == 0);
    CHECK(fake->trace_depth[1] == 0);
    fake->tail[1] = 0;
    fake_engine_write(fake, 1, REFGPU_ENG_CONTROL, REFGPU_ENG_CONTROL_ENABLE);
    (void)fake_queue(fake, 1, fake_entry(fake, 1, 0));
    fake_doorbell(fake, 1);
    fake_run(fake, 1000000);
    CHECK(fake_engine_read(fake, 1, REFGPU_ENG_COMPLETED) == 3);
    fake_destroy(fake);
}

TEST(ignore_preempt_option_never_answers)
{
    static const char *const options[] = {"ignore_preempt=1"};
    struct fake *fake = fake_create(options, 1);

    fake_start(fake);
    preempt(fake, 0, 4);
    CHECK(fake_engine_read(fake, 0, REFGPU_ENG_STATUS) == REFGPU_ENG_STATUS_PREEMPT);
    (void)fake_queue(fake, 0, fake_entry(fake, 0, 0));
    fake_doorbell(fake, 0);
    fake_run(fake, 1000000);
    CHECK(fake_engine_read(fake, 0, REFGPU_ENG_COMPLETED) == 1 &&
          fake_engine_read(fake, 0, REFGPU_ENG_PREEMPTED) == 0);
    fake_destroy(fake);
}

/* ---- malformed input ---- */

static void expect_error(uint32_t engine, uint32_t count, uint32_t code, bool privileged)
{
    struct fake *fake = fake_create(NULL, 0);
    struct refgpu_ring_entry entry;
    uint32_t info;

    fake_start(fake);
    fake_ram_write(fake, FAKE_COMMANDS, words, sizeof words);
    fake_map_range(fake, FAKE_VA, FAKE_COMMANDS | REFGPU_PTE_VALID | REFGPU_PTE_SYSTEM, 4);
    entry = fake_entry(fake, engine, count * 4u);
    if (!privileged)
        entry.flags = REFGPU_ENTRY_INTERRUPT;
    (void)fake_queue(fake, engine, entry);
    fake_doorbell(fake, engine);
    fake_run(fake, 1000000);
    info = fake_engine_read(fake, engine, REFGPU_ENG_FAULT_INFO);
    CHECK(REFGPU_FAULT_KIND(info) == REFGPU_FAULT_COMMAND);
    if (REFGPU_FAULT_CODE(info) != code)
        fail_msg("error %u, should be %u", REFGPU_FAULT_CODE(info), code);
    CHECK(fake_read(fake, REFGPU_REG_IRQ_STATUS) == REFGPU_IRQ_COMMAND(engine));
    fake_destroy(fake);
}

TEST(malformed_commands_are_command_errors)
{
    memset(words, 0, sizeof words);
    words[0] = REFGPU_CMD(0x7Fu, 0, 1);
    expect_error(0, 1, REFGPU_ERROR_OPCODE, true);
    words[0] = REFGPU_CMD(REFGPU_OP_NOP, 0, 0);
    expect_error(0, 1, REFGPU_ERROR_LENGTH, true);
    words[0] = REFGPU_CMD(REFGPU_OP_NOP, 0, 3);
    expect_error(1, 2, REFGPU_ERROR_LENGTH, true);
    words[0] = REFGPU_CMD(REFGPU_OP_NOP, 0, 1025);
    expect_error(1, 1024, REFGPU_ERROR_LENGTH, true);
    words[0] = REFGPU_CMD(REFGPU_OP_FILL, 0, 5);
    expect_error(0, 6, REFGPU_ERROR_LENGTH, true);
    words[0] = REFGPU_CMD(REFGPU_OP_NOP, 1, 1);
    expect_error(0, 1, REFGPU_ERROR_FLAGS, true);
    words[0] = REFGPU_CMD(REFGPU_OP_FILL, REFGPU_FLAG_DST_DEVICE, 6);
    expect_error(0, 6, REFGPU_ERROR_FLAGS, true);
    expect_error(1, 6, REFGPU_ERROR_PRIVILEGE, false);
    words[0] = REFGPU_CMD(REFGPU_OP_GART_FILL, 0, 7);
    expect_error(0, 7, REFGPU_ERROR_ENGINE, true);
    words[0] = REFGPU_CMD(REFGPU_OP_RAW_ACCESS, 0, 8);
    expect_error(1, 8, REFGPU_ERROR_ENGINE, true);
    expect_error(0, 8, REFGPU_ERROR_SIZE, true);
}

TEST(impossible_operands_are_command_errors)
{
    refgpu_builder_init(&builder, words, sizeof words);
    refgpu_fill(&builder, 2, 4, 0);
    expect_error(0, 6, REFGPU_ERROR_ALIGN, true);
    refgpu_builder_init(&builder, words, sizeof words);
    refgpu_fill(&builder, (1ull << 48) - 4u, 8, 0);
    expect_error(1, 6, REFGPU_ERROR_RANGE, true);
    refgpu_builder_init(&builder, words, sizeof words);
    refgpu_copy(&builder, 0, 0, ~0ull);
    expect_error(0, 7, REFGPU_ERROR_RANGE, true);
    refgpu_builder_init(&builder, words, sizeof words);
    refgpu_fill_rect(&builder, 0, 0, 1, 1, 0);
    expect_error(0, 7, REFGPU_ERROR_PITCH, true);
    refgpu_builder_init(&builder, words, sizeof words);
    refgpu_fill_rect(&builder, 0, 4, 0, 1, 0);
    expect_error(0, 7, REFGPU_ERROR_SIZE, true);
    refgpu_builder_init(&builder, words, sizeof words);
    refgpu_fill_rect(&builder, 0, 0xFFFFFFFCu, REFGPU_MAX_PIXELS + 1u, 1, 0);
    expect_error(0, 7, REFGPU_ERROR_SIZE, true);
    refgpu_builder_init(&builder, words, sizeof words);
    refgpu_fill_rect(&builder, (1ull << 48) - 64u, 64, 16, 2, 0);
    expect_error(1, 7, REFGPU_ERROR_RANGE, true);
    refgpu_builder_init(&builder, words, sizeof words);
    refgpu_scale(&builder, 0, 64, 4, 4, 0, 12, 4, 4);
    expect_error(0, 11, REFGPU_ERROR_PITCH, true);
    refgpu_builder_init(&builder, words, sizeof words);
    refgpu_blend(&builder, 0, 64, 0, 64, 4, 4, 256, 0);
    expect_error(0, 10, REFGPU_ERROR_SIZE, true);
}

TEST(malformed_ring_entries_are_command_errors)
{
    struct fake *fake = begin();

    for (uint32_t i = 0; i < 6u; i++) {
        struct refgpu_ring_entry entry = fake_entry(fake, 1, 0);

        if (i == 0)
            entry.address = 2;
        else if (i == 1u)
            entry.bytes = 3;
        else if (i == 2u)
            entry.start = 4;
        else if (i == 3u)
            entry.root = 8;
        else if (i == 4u)
            entry.flags = 0x80;
        else
            entry.reserved[4] = 1;
        (void)fake_queue(fake, 1, entry);
        fake_doorbell(fake, 1);
        fake_run(fake, 1000000);
        CHECK(REFGPU_FAULT_CODE(fake_engine_read(fake, 1, REFGPU_ENG_FAULT_INFO)) ==
              REFGPU_ERROR_ENTRY);
        fake_engine_write(fake, 1, REFGPU_ENG_CONTROL,
                          REFGPU_ENG_CONTROL_ENABLE | REFGPU_ENG_CONTROL_SKIP);
        CHECK(fake_engine_read(fake, 1, REFGPU_ENG_STATUS) == 0);
    }
    fake_destroy(fake);
}

/* Random commands, registers, preemptions and resets. Nothing but survival, and an engine that
 * works afterwards. */
TEST(random_walk_never_breaks_the_model)
{
    static const uint8_t opcodes[] = {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x10, 0x11, 0x12, 0x13,
                                      0x14, 0x15, 0x16, 0x20, 0x40, 0x41, 0x42, 0x43, 0x44, 0x99};
    static const uint8_t lengths[] = {1,  5,  5,  1, 3, 2, 6, 7, 7, 9,
                                      11, 10, 14, 8, 8, 8, 5, 7, 7, 4};
    struct fake *fake = begin();
    uint64_t seed = 4711;

    fake->scatter = true;
    for (uint32_t round = 0; round < 4000u; round++) {
        struct refgpu_ring_entry entry;
        uint32_t engine, count = 0;

        for (uint32_t i = 0; i < 12u; i++) {
            uint32_t kind;

            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            kind = (uint32_t)(seed >> 40) % sizeof opcodes;
            words[count] = REFGPU_CMD(opcodes[kind],
                                      (seed >> 33) % 8u ? 0u : (uint32_t)(seed >> 20) & 0x73u,
                                      lengths[kind]);
            for (uint32_t k = 1; k < lengths[kind]; k++) {
                seed = seed * 6364136223846793005ull + 1442695040888963407ull;
                words[count + k] = (seed >> 60) < 12u ? (uint32_t)(seed >> 33) & 0x3FCu
                                                      : (uint32_t)(seed >> 32);
                if ((seed >> 56 & 7u) == 0)
                    words[count + k] = (uint32_t)(VA >> 32);
            }
            count += lengths[kind];
        }
        engine = (uint32_t)(seed >> 35) & 1u;
        fake_ram_write(fake, FAKE_COMMANDS, words, count * 4u);
        fake_map_range(fake, FAKE_VA, FAKE_COMMANDS | REFGPU_PTE_VALID | REFGPU_PTE_SYSTEM, 1);
        entry = fake_entry(fake, engine, count * 4u);
        entry.save = engine ? SAVE : 0;
        entry.flags = REFGPU_ENTRY_INTERRUPT | (round & 1u ? REFGPU_ENTRY_PRIVILEGED : 0);
        (void)fake_queue(fake, engine, entry);
        fake_doorbell(fake, engine);
        fake_run(fake, seed >> 46);
        if ((seed >> 50) % 5u == 0)
            preempt(fake, engine, round);
        fake_write(fake, (uint32_t)(seed >> 30) & 0x2Cu, (uint32_t)seed & ~1u);
        if (fake_engine_read(fake, engine, REFGPU_ENG_STATUS) || (seed >> 52) % 7u == 0) {
            fake_engine_write(fake, engine, REFGPU_ENG_CONTROL, REFGPU_ENG_CONTROL_RESET);
            fake->model->reset(fake->device);
            memset(fake->vram + FAKE_TABLES, 0, FAKE_VRAM_BYTES - FAKE_TABLES);
            fake_start(fake);
            fake_map_range(fake, VA, 0x400000 | REFGPU_PTE_VALID, 512);
            fake_map(fake, SAVE, 0xD00000 | REFGPU_PTE_VALID);
        }
    }
    fake->model->reset(fake->device);
    fake_start(fake);
    (void)fake_queue(fake, 0, fake_entry(fake, 0, 0));
    fake_doorbell(fake, 0);
    fake_run(fake, 1000000);
    CHECK(fake_engine_read(fake, 0, REFGPU_ENG_COMPLETED) == 1);
    fake_destroy(fake);
}
