/* SPDX-License-Identifier: MIT */
/* The scheduled engine: suspension, faults, resets, what software writes that makes no sense, and a random walk. */
#include "support/check_rule.h"

#include <stdlib.h>
#include <string.h>

#include "support/fake_sched.h"

static struct refgpu_builder builder;
static uint32_t words[1024];

static struct refgpu_builder *commands(void)
{
    refgpu_builder_init(&builder, words, sizeof words);
    return &builder;
}

static void push_copy(struct fake *fake, uint32_t queue, uint32_t count)
{
    struct refgpu_builder *b = commands();

    for (uint32_t i = 0; i < count; i++)
        refgpu_copy(b, SCHED_DATA + 0x100000, SCHED_DATA, 0x80000);
    (void)sched_push(fake, queue, b);
}

static void suspend(struct fake *fake, uint32_t context, uint64_t answer)
{
    struct refgpu_context_descriptor d = sched_context(fake, context);

    d.suspend = answer;
    sched_set_context(fake, context, &d);
    sched_command(fake, REFGPU_SCHED_COMMAND_SUSPEND, context);
}

static uint32_t fault_info(struct fake *fake)
{
    return fake_engine_read(fake, 2, REFGPU_ENG_FAULT_INFO);
}

static void reset(struct fake *fake)
{
    fake_engine_write(fake, 2, REFGPU_ENG_CONTROL, REFGPU_ENG_CONTROL_RESET);
}

/* ---- suspension ---- */

TEST(a_suspended_context_leaves_the_engine_and_goes_on_later)
{
    struct fake *fake = sched_begin(0, 1000000);

    sched_add(fake, 0, REFGPU_BAND_NORMAL, 0, 1);
    push_copy(fake, 0, 2);
    fake_run(fake, 30000);
    suspend(fake, 0, 5);
    CHECK(sched_context(fake, 0).suspended == 0 &&
          !(fake_read(fake, REFGPU_REG_IRQ_STATUS) & REFGPU_IRQ_SCHED_SUSPENDED));
    fake_run(fake, 9000); /* a slice */
    CHECK(sched_context(fake, 0).suspended == 5 && sched_running(fake) == REFGPU_SCHED_QUEUES);
    CHECK(fake_read(fake, REFGPU_REG_IRQ_ACK) == REFGPU_IRQ_SCHED_SUSPENDED);
    CHECK(sched_queue(fake, 0).state == REFGPU_QUEUE_RESUME && sched_queue(fake, 0).head == 0);
    sched_push_delay(fake, 0, 1000); /* counts, but does not begin */
    fake_run(fake, 10000000);
    CHECK(sched_progress(fake, 0) == 0 && sched_running(fake) == REFGPU_SCHED_QUEUES);
    sched_command(fake, REFGPU_SCHED_COMMAND_RESUME, 0);
    (void)sched_await(fake, 0, 2);
    CHECK(fake_engine_read(fake, 2, REFGPU_ENG_COUNT_BYTES) == 2u * 0x100000);
    fake_destroy(fake);
}

TEST(a_context_that_does_not_run_is_suspended_at_once)
{
    struct fake *fake = sched_begin(0, 0);

    sched_add(fake, 0, REFGPU_BAND_NORMAL, 0, 1);
    sched_add(fake, 1, REFGPU_BAND_NORMAL, 0, 2);
    push_copy(fake, 0, 4);
    sched_push_delay(fake, 1, 1000);
    suspend(fake, 1, 1);
    CHECK(sched_context(fake, 1).suspended == 1 && sched_running(fake) == 0);
    (void)sched_await(fake, 0, 1);
    suspend(fake, 0, 9);
    suspend(fake, 0, 10); /* again */
    CHECK(sched_context(fake, 0).suspended == 10);
    fake_run(fake, 1000000);
    CHECK(sched_progress(fake, 1) == 0);
    fake_destroy(fake);
}

/* Others have the engine as soon as it has left; RESUME before the answer takes the request back. */
TEST(resume_may_come_before_the_answer)
{
    struct fake *fake = sched_begin(0, 0);

    sched_add(fake, 0, REFGPU_BAND_NORMAL, 0, 1);
    push_copy(fake, 0, 2);
    fake_run(fake, 30000);
    suspend(fake, 0, 3);
    sched_command(fake, REFGPU_SCHED_COMMAND_RESUME, 0);
    (void)sched_await(fake, 0, 1);
    CHECK(sched_context(fake, 0).suspended == 0);
    fake_destroy(fake);
}

/* ---- hangs and resets ---- */

TEST(a_hang_gives_way_only_if_it_says_so)
{
    for (uint32_t flags = 0; flags <= REFGPU_HANG_PREEMPTIBLE; flags += REFGPU_HANG_PREEMPTIBLE) {
        struct fake *fake = sched_begin(0, 0);

        sched_add(fake, 0, REFGPU_BAND_NORMAL, 0, 1);
        sched_add(fake, 1, REFGPU_BAND_REALTIME, 0, 2);
        refgpu_hang(commands(), flags);
        (void)sched_push(fake, 0, &builder);
        fake_run(fake, 1000000);
        CHECK(fake_engine_read(fake, 2, REFGPU_ENG_STATUS) ==
              (REFGPU_ENG_STATUS_BUSY | REFGPU_ENG_STATUS_HUNG));
        sched_push_delay(fake, 1, 1000);
        fake_run(fake, 1000000);
        CHECK(sched_progress(fake, 1) == (flags != 0));
        suspend(fake, 0, 4);
        fake_run(fake, 1000000);
        CHECK((sched_context(fake, 0).suspended == 4) == (flags != 0));
        fake_destroy(fake);
    }
}

TEST(a_reset_aborts_what_runs_and_the_others_go_on)
{
    struct fake *fake = sched_begin(0, 0);
    struct refgpu_context_descriptor d;

    sched_add(fake, 1, REFGPU_BAND_NORMAL, 0, 1);
    sched_add(fake, 4, REFGPU_BAND_FOCUS, 0, 2);
    sched_add(fake, 5, REFGPU_BAND_NORMAL, 0, 3);
    push_copy(fake, 1, 2);
    fake_run(fake, 30000);
    refgpu_hang(commands(), 0);
    (void)sched_push(fake, 4, &builder);
    sched_push_delay(fake, 4, 1000);
    sched_push_delay(fake, 5, 1000);
    suspend(fake, 5, 2);
    fake_run(fake, 1000000);
    CHECK(sched_running(fake) == 4 && sched_queue(fake, 1).state == REFGPU_QUEUE_RESUME);
    reset(fake);
    CHECK(fake_read(fake, REFGPU_REG_SCHED_ABORTED) == (4u | REFGPU_SCHED_QUEUE_VALID));
    CHECK(fake_engine_read(fake, 2, REFGPU_ENG_ABORTED) == 1);
    CHECK(fake_read(fake, REFGPU_REG_IRQ_STATUS) == 0 && fake->trace_depth[2] == 0);
    CHECK(sched_running(fake) == REFGPU_SCHED_QUEUES);
    sched_push_delay(fake, 1, 1000); /* nobody looks, but the tail is in the descriptor */
    sched_command(fake, REFGPU_SCHED_COMMAND_RESUME, 1);
    fake_run(fake, 1000000);
    CHECK(sched_progress(fake, 1) == 0);
    d = sched_context(fake, 4);
    d.flags = 0;
    sched_set_context(fake, 4, &d);
    d = sched_context(fake, 5);
    d.flags |= REFGPU_CONTEXT_SUSPENDED;
    sched_set_context(fake, 5, &d);
    sched_enable(fake);
    (void)sched_await(fake, 1, 2);
    fake_run(fake, 1000000);
    CHECK(sched_progress(fake, 4) == 0 && sched_progress(fake, 5) == 0);
    CHECK(fake_engine_read(fake, 2, REFGPU_ENG_COUNT_BYTES) == 2u * 0x100000);
    sched_command(fake, REFGPU_SCHED_COMMAND_RESUME, 5);
    (void)sched_await(fake, 5, 1);
    fake_destroy(fake);
}

/* The device's own reset: all registers, too. */
TEST(power_on_leaves_nothing)
{
    struct fake *fake = sched_begin(1000, 1000);

    sched_add(fake, 0, REFGPU_BAND_NORMAL, 0, 1);
    sched_push_delay(fake, 0, 1000000);
    fake_write(fake, REFGPU_REG_SCHED_NORMAL_SHARE, 77);
    CHECK(fake_read(fake, REFGPU_REG_SCHED_NORMAL_SHARE) == 50);
    fake->model->reset(fake->device);
    for (uint32_t at = REFGPU_REG_SCHED_CONTEXTS_LO; at < REFGPU_REG_SCHED_BAND(4u, 0u); at += 4u)
        CHECK(fake_read(fake, at) == 0);
    CHECK(!fake_step(fake) && fake->trace_depth[2] == 0);
    fake_destroy(fake);
}

/* ---- faults ---- */

/* Operand, commands and fence that are not mapped; SKIP drops the entry without its value. */
TEST(a_fault_halts_until_the_entry_is_skipped)
{
    for (unsigned what = 0; what < 3; what++) {
        struct fake *fake = sched_begin(0, 0);
        struct refgpu_queue_descriptor q;
        const uint32_t units[] = {REFGPU_UNIT_DATA, REFGPU_UNIT_FETCH, REFGPU_UNIT_FENCE};

        sched_add(fake, 0, REFGPU_BAND_NORMAL, 0, 1);
        sched_add(fake, 1, REFGPU_BAND_NORMAL, 0, 2);
        q = sched_queue(fake, 0);
        q.fence = what == 2 ? 0x1000 : q.fence;
        sched_set_queue(fake, 0, &q);
        refgpu_write(commands(), what == 0 ? 0x1000 : SCHED_DATA, 1, 0);
        if (what == 1)
            fake_map(fake, FAKE_VA, 0);
        (void)sched_push(fake, 0, &builder);
        sched_push_delay(fake, 1, 1000);
        fake_run(fake, 1000000);
        CHECK(fake_read(fake, REFGPU_REG_IRQ_ACK) == REFGPU_IRQ_SCHED_FAULT);
        CHECK(REFGPU_FAULT_KIND(fault_info(fake)) == REFGPU_FAULT_PAGE &&
              REFGPU_FAULT_UNIT(fault_info(fake)) == units[what] && sched_running(fake) == 0);
        CHECK(fake_engine_read(fake, 2, REFGPU_ENG_STATUS) ==
              (REFGPU_ENG_STATUS_BUSY | REFGPU_ENG_STATUS_HALTED));
        CHECK(fake_engine_read(fake, 2, REFGPU_ENG_FAULT_ADDR_LO) == (what == 1 ? 0 : 0x1000));
        fake_map(fake, FAKE_VA, FAKE_COMMANDS | REFGPU_PTE_VALID | REFGPU_PTE_SYSTEM);
        fake_engine_write(fake, 2, REFGPU_ENG_CONTROL,
                          REFGPU_ENG_CONTROL_ENABLE | REFGPU_ENG_CONTROL_SKIP);
        q = sched_queue(fake, 0);
        CHECK(q.head == 1 && q.progress == 0 && sched_progress(fake, 0) == 0);
        (void)sched_await(fake, 1, 1);
        fake_destroy(fake);
    }
}

TEST(what_is_taken_away_stops_at_once)
{
    for (unsigned what = 0; what < 4; what++) { /* queue or context, running or halted */
        struct fake *fake = sched_begin(0, 0);
        struct refgpu_context_descriptor c;
        struct refgpu_queue_descriptor q;

        sched_add(fake, 0, REFGPU_BAND_NORMAL, 0, 1);
        sched_add(fake, 1, REFGPU_BAND_NORMAL, 0, 2);
        refgpu_write(commands(), what & 2u ? 0x1000 : SCHED_DATA, 1, 0);
        refgpu_hang(&builder, 0);
        (void)sched_push(fake, 0, &builder);
        sched_push_delay(fake, 1, 1000);
        fake_run(fake, 1000000);
        c = sched_context(fake, 0);
        q = sched_queue(fake, 0);
        c.flags = q.flags = 0;
        if (what & 1u)
            sched_set_queue(fake, 0, &q);
        else
            sched_set_context(fake, 0, &c);
        CHECK(sched_running(fake) == 1);
        (void)sched_await(fake, 1, 1);
        CHECK(sched_progress(fake, 0) == 0 && fake->trace_depth[2] == 0);
        fake_destroy(fake);
    }
}

/* ---- what makes no sense ---- */

TEST(descriptors_that_make_no_sense_are_not_valid)
{
    for (unsigned wrong = 0; wrong < 12; wrong++) {
        struct fake *fake = sched_begin(0, 0);
        struct refgpu_context_descriptor c;
        struct refgpu_queue_descriptor q;

        sched_add(fake, 0, REFGPU_BAND_NORMAL, 0, 1);
        c = sched_context(fake, 0);
        q = sched_queue(fake, 0);
        c.flags |= wrong == 1 ? 4u : 0;
        c.band = wrong == 2 ? 4 : c.band;
        c.root += wrong == 3 ? 8u : 0;
        c.save += wrong == 4 ? 32u : 0;
        q.flags |= wrong == 5 ? 2u : 0;
        q.context = wrong == 6 ? 256 : 0;
        q.ring += wrong == 7 ? 64u : 0;
        q.entries = wrong == 8 ? 48 : wrong == 9 ? 1 : q.entries;
        q.fence += wrong == 10 ? 4u : 0;
        q.head = wrong == 11 ? 64 : 0;
        sched_set_context(fake, 0, &c);
        sched_set_queue(fake, 0, &q);
        sched_push_delay(fake, 0, 1000);
        fake_run(fake, 1000000);
        CHECK(sched_progress(fake, 0) == (wrong == 0));
        CHECK(fake_engine_read(fake, 2, REFGPU_ENG_STATUS) == 0);
        fake_destroy(fake);
    }
}

TEST(malformed_queue_entries_are_command_errors)
{
    for (unsigned wrong = 1; wrong < 6; wrong++) {
        struct fake *fake = sched_begin(0, 0);
        struct refgpu_queue_entry e = {.address = FAKE_VA, .bytes = 4, .value = 1};
        struct refgpu_queue_descriptor q;

        e.address = wrong == 1 ? FAKE_VA + 2 : wrong == 2 ? 0xFFFFFFFFFFFCull : FAKE_VA;
        e.bytes = wrong == 2 ? 8 : wrong == 3 ? 6 : 4;
        e.flags = wrong == 4 ? 4 : 0;
        e.reserved = wrong == 5;
        sched_add(fake, 0, REFGPU_BAND_NORMAL, 0, 1);
        fake_ram_write(fake, SCHED_RINGS_AT, &e, sizeof e);
        q = sched_queue(fake, 0);
        q.tail = 1;
        sched_set_queue(fake, 0, &q);
        fake_run(fake, 100000);
        CHECK(REFGPU_FAULT_KIND(fault_info(fake)) == REFGPU_FAULT_COMMAND &&
              REFGPU_FAULT_CODE(fault_info(fake)) == REFGPU_ERROR_ENTRY &&
              REFGPU_FAULT_UNIT(fault_info(fake)) == REFGPU_UNIT_RING);
        fake_destroy(fake);
    }
}

/* Tables, rings and answers that the bus refuses. */
TEST(a_table_off_the_bus_halts_the_engine)
{
    static const uint32_t pages[] = {SCHED_CONTEXTS_AT, SCHED_QUEUES_AT, SCHED_RINGS_AT};

    for (unsigned i = 0; i < 6; i++) {
        struct fake *fake = sched_begin(0, 0);

        sched_add(fake, 0, REFGPU_BAND_NORMAL, 0, 1);
        if (i >= 3)
            sched_push_delay(fake, 0, 100000); /* it runs already */
        fake->refused_page = pages[i % 3u] / REFGPU_PAGE_BYTES;
        if (i % 3u == 0)
            suspend(fake, 0, 7);
        else
            sched_push_delay(fake, 0, 1000);
        fake_run(fake, 1000000);
        CHECK(REFGPU_FAULT_KIND(fault_info(fake)) == REFGPU_FAULT_BUS &&
              REFGPU_FAULT_UNIT(fault_info(fake)) == REFGPU_UNIT_RING);
        CHECK(fake_read(fake, REFGPU_REG_IRQ_STATUS) & REFGPU_IRQ_SCHED_FAULT);
        fake->refused_page = 0;
        reset(fake);
        CHECK(fake->trace_depth[2] == 0);
        sched_enable(fake);
        sched_push_delay(fake, 0, 1000);
        (void)sched_await(fake, 0, 1);
        fake_destroy(fake);
    }
}

/* ---- anything ---- */

static uint32_t random_below(uint32_t n)
{
    static uint64_t state = 12345;

    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 33) % n;
}

static void push_anything(struct fake *fake, uint32_t queue)
{
    static unsigned pushed;
    struct refgpu_builder *b = commands();

    if (++pushed % 2000u == 0)
        return;
    switch (random_below(8)) {
    case 0:
        refgpu_wait(b, SCHED_DATA + random_below(4) * 8u, random_below(3), 0);
        break;
    case 1:
        refgpu_write(b, SCHED_DATA + random_below(4) * 8u, 1, REFGPU_WRITE_ADD);
        break;
    case 2:
        refgpu_hang(b, random_below(4) ? REFGPU_HANG_PREEMPTIBLE : 0);
        break;
    case 3:
        refgpu_write(b, 0x1000, 1, 0); /* a fault */
        break;
    default:
        refgpu_copy(b, SCHED_DATA + 0x100000, SCHED_DATA, random_below(0x80000));
        break;
    }
    (void)sched_push(fake, queue, b);
}

static void do_anything(struct fake *fake)
{
    const uint32_t i = random_below(6);
    struct refgpu_context_descriptor c = sched_context(fake, i);

    switch (random_below(12)) {
    case 0:
        suspend(fake, i, 1u + random_below(100));
        break;
    case 1:
        sched_command(fake, REFGPU_SCHED_COMMAND_RESUME, i);
        break;
    case 2:
        reset(fake);
        sched_enable(fake);
        break;
    case 3:
        fake_engine_write(fake, 2, REFGPU_ENG_CONTROL,
                          random_below(2) ? REFGPU_ENG_CONTROL_ENABLE | REFGPU_ENG_CONTROL_SKIP : 0);
        break;
    case 4:
        c.flags = random_below(8) ? REFGPU_CONTEXT_VALID : random_below(5);
        c.band = (uint16_t)random_below(4);
        c.priority = (int32_t)random_below(15) - 7;
        c.process = random_below(3);
        sched_set_context(fake, i, &c);
        break;
    case 5:
        sched_command(fake, random_below(8), random_below(300));
        break;
    case 6:
        fake_write(fake, REFGPU_REG_SCHED_NORMAL_SHARE, random_below(60));
        break;
    default:
        fake_run(fake, random_below(200000));
        break;
    }
}

TEST(a_random_walk_never_breaks_the_scheduler)
{
    for (unsigned round = 0; round < 20; round++) {
        struct fake *fake = sched_begin(50000, 5000);

        for (uint32_t i = 0; i < 6; i++)
            sched_add(fake, i, random_below(4), (int32_t)random_below(3), random_below(3));
        for (unsigned step = 0; step < 600; step++) {
            if (random_below(2) &&
                sched_queue(fake, step % 6u).head == sched_queue(fake, step % 6u).tail)
                push_anything(fake, step % 6u);
            else
                do_anything(fake);
            CHECK(fake->trace_depth[2] >= 0 && fake->trace_depth[2] <= 2);
        }
        fake->model->reset(fake->device);
        CHECK(fake->trace_depth[2] == 0 && !fake_step(fake));
        fake_destroy(fake);
    }
}
