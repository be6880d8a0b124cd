/* SPDX-License-Identifier: MIT */
/* Options, registers, rings, fences, interrupts, timing: what a driver meets before it draws
 * anything. */
#include "support/check_rule.h"

#include <string.h>

#include "support/fake_machine.h"

TEST(configure_refuses_impossible_options)
{
    static const char *const bad[] = {"vram=4194304", "vram=12582912", "vram=x",    "aperture=4096",
                                      "dma_bits=31",  "dma_bits=-1",   "dma_bits=", "no_execute=2"};
    struct fake *fake = fake_create(NULL, 0);

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct dxgk_device_config config = {.count = 1, .option = &bad[i]};
        struct dxgk_device_description description = {0};
        const char *error = NULL;

        CHECK(!fake->model->configure(&config, &description, &error));
        CHECK(error != NULL);
    }
    fake_destroy(fake);
}

TEST(registers_identify_the_device)
{
    struct fake *fake = fake_create(NULL, 0);

    CHECK(fake_read(fake, REFGPU_REG_ID) == REFGPU_ID);
    CHECK(fake_read64(fake, REFGPU_REG_VRAM_LO) == FAKE_VRAM_BYTES);
    fake_write(fake, REFGPU_REG_SCRATCH, 0x12345678u);
    CHECK(fake_read(fake, REFGPU_REG_SCRATCH) == 0x12345678u);
    CHECK(fake->model->read(fake->device, REFGPU_BAR_REGISTERS, REFGPU_REG_ID, 2) == ~0ull);
    CHECK(fake->model->read(fake->device, REFGPU_BAR_REGISTERS, REFGPU_REGISTER_BYTES, 4) == ~0ull);
    fake->model->reset(fake->device);
    CHECK(fake_read(fake, REFGPU_REG_SCRATCH) == 0);
    fake_destroy(fake);
}

TEST(empty_entry_takes_a_microsecond_and_writes_its_fence)
{
    struct fake *fake = fake_create(NULL, 0);
    struct refgpu_fence_block block;
    uint32_t fence;

    fake_start(fake);
    fence = fake_queue(fake, 0, fake_entry(fake, 0, 0));
    fake_doorbell(fake, 0);
    CHECK(fake_engine_read(fake, 0, REFGPU_ENG_STATUS) == REFGPU_ENG_STATUS_BUSY);
    CHECK(fake->interrupts == 0);
    fake_run(fake, 1000000);
    CHECK(fake->time == 1000);
    fake_ram_read(fake, FAKE_FENCE(0), &block, sizeof block);
    CHECK(block.completed == fence && block.time == 1000);
    CHECK(fake_engine_read(fake, 0, REFGPU_ENG_COMPLETED) == fence);
    CHECK(fake->interrupts == 1);
    CHECK(fake_read(fake, REFGPU_REG_IRQ_ACK) == REFGPU_IRQ_FENCE(0));
    CHECK(fake_read(fake, REFGPU_REG_IRQ_STATUS) == 0);
    CHECK(fake->trace_depth[0] == 0);
    fake_destroy(fake);
}

TEST(entries_run_in_order_and_messages_merge)
{
    struct fake *fake = fake_create(NULL, 0);

    fake_start(fake);
    for (int i = 0; i < 100; i++) {
        for (int k = 0; k < 7; k++)
            (void)fake_queue(fake, 1, fake_entry(fake, 1, 0));
        fake_doorbell(fake, 1);
        fake_run(fake, 1000000);
        CHECK(fake_engine_read(fake, 1, REFGPU_ENG_COMPLETED) == fake->next_fence - 1u);
    }
    CHECK(fake->interrupts == 1); /* nobody acknowledged */
    CHECK(fake_read64(fake, REFGPU_REG_ENGINE(1, REFGPU_ENG_COUNT_ENTRIES)) == 700);
    CHECK(fake_read64(fake, REFGPU_REG_ENGINE(1, REFGPU_ENG_COUNT_BUSY)) == 700000);
    fake_write(fake, REFGPU_REG_IRQ_STATUS, REFGPU_IRQ_FENCE(1));
    CHECK(fake_read(fake, REFGPU_REG_IRQ_STATUS) == 0 && fake->interrupts == 1);
    fake_destroy(fake);
}

TEST(cause_left_standing_sends_another_message)
{
    struct fake *fake = fake_create(NULL, 0);

    fake_start(fake);
    for (uint32_t e = 0; e < 2u; e++) {
        (void)fake_queue(fake, e, fake_entry(fake, e, 0));
        fake_doorbell(fake, e);
    }
    fake_run(fake, 1000000);
    CHECK(fake->interrupts == 1);
    fake_write(fake, REFGPU_REG_IRQ_STATUS, REFGPU_IRQ_FENCE(0));
    CHECK(fake->interrupts == 2);
    fake_write(fake, REFGPU_REG_IRQ_ENABLE, 0);
    fake_write(fake, REFGPU_REG_IRQ_ENABLE, REFGPU_IRQ_ALL);
    CHECK(fake->interrupts == 3);
    fake_destroy(fake);
}

TEST(disabled_engine_keeps_the_ring)
{
    struct fake *fake = fake_create(NULL, 0);

    fake_start(fake);
    fake_engine_write(fake, 0, REFGPU_ENG_CONTROL, 0);
    (void)fake_queue(fake, 0, fake_entry(fake, 0, 0));
    fake_doorbell(fake, 0);
    CHECK(!fake_step(fake));
    fake_engine_write(fake, 0, REFGPU_ENG_CONTROL, REFGPU_ENG_CONTROL_ENABLE);
    fake_run(fake, 1000000);
    CHECK(fake_engine_read(fake, 0, REFGPU_ENG_COMPLETED) == 1);
    fake_destroy(fake);
}

TEST(signalling_write_raises_its_own_cause)
{
    struct fake *fake = fake_create(NULL, 0);
    uint32_t words[64];
    struct refgpu_builder b;
    uint64_t value = 0;

    fake_start(fake);
    refgpu_builder_init(&b, words, sizeof words);
    refgpu_write(&b, 0x100, 7, REFGPU_WRITE_64);
    refgpu_write(&b, 0x100, 5, REFGPU_WRITE_64 | REFGPU_WRITE_ADD | REFGPU_WRITE_INTERRUPT);
    refgpu_timestamp(&b, 0x108);
    fake_submit(fake, 0, &b);
    memcpy(&value, fake->vram + 0x100, 8);
    CHECK(value == 12);
    memcpy(&value, fake->vram + 0x108, 8);
    CHECK(value > 500 && value < fake->time);
    CHECK(fake_read(fake, REFGPU_REG_IRQ_STATUS) == (REFGPU_IRQ_FENCE(0) | REFGPU_IRQ_SIGNAL(0)));
    fake_destroy(fake);
}

TEST(wait_polls_until_the_other_engine_writes)
{
    struct fake *fake = fake_create(NULL, 0);
    uint32_t words[64];
    struct refgpu_builder b;

    fake_start(fake);
    refgpu_builder_init(&b, words, sizeof words);
    refgpu_wait(&b, 0x200, 3, 0);
    refgpu_write(&b, 0x208, 1, 0);
    fake_ram_write(fake, FAKE_COMMANDS, words, refgpu_builder_bytes(&b));
    (void)fake_queue(fake, 0, fake_entry(fake, 0, refgpu_builder_bytes(&b)));
    fake_doorbell(fake, 0);
    fake_run(fake, 10000000);
    CHECK(fake_engine_read(fake, 0, REFGPU_ENG_STATUS) ==
          (REFGPU_ENG_STATUS_BUSY | REFGPU_ENG_STATUS_WAITING));
    fake_map(fake, FAKE_VA + 0x100000, 0 | REFGPU_PTE_VALID);
    refgpu_builder_init(&b, words, sizeof words);
    refgpu_write(&b, FAKE_VA + 0x100200, 3, 0);
    fake_submit(fake, 1, &b);
    CHECK(fake_engine_read(fake, 0, REFGPU_ENG_COMPLETED) == 1);
    CHECK(fake->vram[0x208] == 1);
    fake_destroy(fake);
}

TEST(log_records_wrap_and_end_at_a_refused_page)
{
    struct fake *fake = fake_create(NULL, 0);
    struct refgpu_log_record record;

    fake_write64(fake, REFGPU_REG_LOG_PAGE, 0x200000);
    fake_write64(fake, REFGPU_REG_LOG_PAGE + 8u, 0x210000);
    fake_write(fake, REFGPU_REG_LOG_CONTROL, 2);
    fake_ram_read(fake, 0x200000, &record, sizeof record);
    CHECK(record.type == REFGPU_LOG_STARTED && record.sequence == 0);
    for (uint32_t i = 0; i < 256u; i++)
        fake_engine_write(fake, 0, REFGPU_ENG_CONTROL, i % 2u ? 0 : REFGPU_ENG_CONTROL_ENABLE);
    CHECK(fake_read(fake, REFGPU_REG_LOG_COUNT) == 257);
    fake_ram_read(fake, 0x200000, &record, sizeof record);
    CHECK(record.type == REFGPU_LOG_ENGINE_OFF && record.sequence == 256);
    fake_ram_read(fake, 0x210000, &record, sizeof record);
    CHECK(record.sequence == REFGPU_LOG_PER_PAGE);
    fake->refused_page = 0x200;
    fake_engine_write(fake, 0, REFGPU_ENG_CONTROL, REFGPU_ENG_CONTROL_ENABLE);
    CHECK(fake_read(fake, REFGPU_REG_LOG_CONTROL) == 0);
    fake_destroy(fake);
}

TEST(lost_interrupt_option_drops_every_second_message)
{
    static const char *const options[] = {"lose_interrupt=2"};
    struct fake *fake = fake_create(options, 1);

    fake_start(fake);
    for (unsigned i = 0; i < 4u; i++) {
        (void)fake_queue(fake, 0, fake_entry(fake, 0, 0));
        fake_doorbell(fake, 0);
        fake_run(fake, 1000000);
        (void)fake_read(fake, REFGPU_REG_IRQ_ACK);
    }
    CHECK(fake->interrupts == 2);
    CHECK(fake_engine_read(fake, 0, REFGPU_ENG_COMPLETED) == 4);
    fake_destroy(fake);
}
