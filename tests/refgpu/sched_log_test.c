/* SPDX-License-Identifier: MIT */
/* The scheduled engine: its log. */
#include "support/check_rule.h"

#include <string.h>

#include "support/fake_sched.h"

#define LOG    (FAKE_VA + 0x30000000ull)
#define LOG_AT 0x170000u
#define ROOM   10u

static struct fake *begin(uint32_t entries, uint32_t notice)
{
    struct fake *fake = sched_begin(0, 0);
    struct refgpu_context_descriptor d;

    fake_map(fake, LOG, LOG_AT | REFGPU_PTE_VALID | REFGPU_PTE_SYSTEM);
    for (uint32_t i = 0; i < 2; i++) {
        sched_add(fake, i, i ? REFGPU_BAND_REALTIME : REFGPU_BAND_NORMAL, 0, i);
        d = sched_context(fake, i);
        d.tag = 0x1234567800000000ull + i;
        sched_set_context(fake, i, &d);
    }
    fake_write64(fake, REFGPU_REG_SCHED_LOG_LO, LOG + 7u); /* aligned */
    fake_write64(fake, REFGPU_REG_SCHED_LOG_ROOT_LO, FAKE_ROOT);
    fake_write(fake, REFGPU_REG_SCHED_LOG_NOTICE, notice);
    fake_write(fake, REFGPU_REG_SCHED_LOG_ENTRIES, entries);
    CHECK(fake_read64(fake, REFGPU_REG_SCHED_LOG_LO) == LOG);
    return fake;
}

static struct refgpu_sched_log_header header(struct fake *fake)
{
    struct refgpu_sched_log_header h;

    fake_ram_read(fake, LOG_AT, &h, sizeof h);
    return h;
}

static void expect(struct fake *fake, uint32_t index, uint32_t context, uint64_t state)
{
    struct refgpu_sched_log_entry e;

    fake_ram_read(fake, LOG_AT + sizeof(struct refgpu_sched_log_header) + index * sizeof e, &e,
                  sizeof e);
    if (e.type || e.tag != 0x1234567800000000ull + context || e.state != state ||
        e.time > fake->time)
        fail_msg("entry %u: type %llu, tag 0x%llx, state %llu", index, (unsigned long long)e.type,
                 (unsigned long long)e.tag, (unsigned long long)e.state);
}

TEST(the_log_has_each_change_of_state)
{
    struct fake *fake = begin(ROOM, 3);

    sched_push_delay(fake, 0, 20000);
    sched_push_delay(fake, 0, 20000);
    CHECK(header(fake).next == 1 && header(fake).rounds == 0);
    expect(fake, 0, 0, REFGPU_SCHED_RUNS);
    fake_run(fake, 10000);
    sched_push_delay(fake, 1, 1000);
    CHECK(header(fake).next == 2); /* it waits for the end of the command */
    expect(fake, 1, 1, REFGPU_SCHED_READY);
    CHECK(!(fake_read(fake, REFGPU_REG_IRQ_STATUS) & REFGPU_IRQ_SCHED_LOG));
    (void)sched_await(fake, 1, 1);
    expect(fake, 2, 0, REFGPU_SCHED_READY);
    expect(fake, 3, 1, REFGPU_SCHED_RUNS);
    CHECK(fake_read(fake, REFGPU_REG_IRQ_ACK) & REFGPU_IRQ_SCHED_LOG);
    (void)sched_await(fake, 0, 2);
    expect(fake, 4, 1, REFGPU_SCHED_IDLE);
    expect(fake, 5, 0, REFGPU_SCHED_RUNS);
    expect(fake, 6, 0, REFGPU_SCHED_IDLE); /* and no more between the two entries */
    CHECK(header(fake).next == 7);
    fake_destroy(fake);
}

/* With the header's other words as they were, and going on where it says. */
TEST(the_log_comes_round_and_goes_on_after_a_reset)
{
    struct fake *fake = begin(ROOM, ROOM + 1u);
    struct refgpu_sched_log_header h = {.next = 9, .rounds = 4, .reserved = {ROOM, 5, 6}};

    fake_ram_write(fake, LOG_AT, &h, sizeof h);
    sched_push_delay(fake, 0, 1000);
    h = header(fake);
    CHECK(h.next == 0 && h.rounds == 5 && h.reserved[0] == ROOM && h.reserved[2] == 6);
    CHECK(fake_read(fake, REFGPU_REG_IRQ_ACK) & REFGPU_IRQ_SCHED_LOG); /* round */
    expect(fake, 9, 0, REFGPU_SCHED_RUNS);
    fake_engine_write(fake, 2, REFGPU_ENG_CONTROL, REFGPU_ENG_CONTROL_RESET);
    h.next = 3;
    fake_ram_write(fake, LOG_AT, &h, sizeof h);
    sched_enable(fake);
    (void)sched_await(fake, 0, 1);
    expect(fake, 3, 0, REFGPU_SCHED_RUNS);
    expect(fake, 4, 0, REFGPU_SCHED_IDLE);
    CHECK(header(fake).next == 5);
    fake_destroy(fake);
}

/* It may be in no address space of a context; work goes on without it. */
TEST(a_log_that_cannot_be_written_ends)
{
    struct fake *fake = begin(ROOM, 3);

    fake_write64(fake, REFGPU_REG_SCHED_LOG_ROOT_LO, FAKE_ROOT + REFGPU_TABLE_BYTES * 200u);
    sched_push_delay(fake, 0, 1000);
    CHECK(fake_read(fake, REFGPU_REG_SCHED_LOG_ENTRIES) == 0);
    (void)sched_await(fake, 0, 1);
    CHECK(header(fake).next == 0 && fake_engine_read(fake, 2, REFGPU_ENG_STATUS) == 0);
    CHECK(fake_engine_read(fake, 2, REFGPU_ENG_FAULT_INFO) == 0);
    fake_destroy(fake);
}
