/* SPDX-License-Identifier: MIT */
/* The scheduled engine: entries of queues, and who gets the engine. */
#include "support/check_rule.h"

#include <string.h>

#include "support/fake_sched.h"

static struct refgpu_builder builder;
static uint32_t words[1024];

static struct refgpu_builder *commands(void)
{
    refgpu_builder_init(&builder, words, sizeof words);
    return &builder;
}

/* About 62500 ns a MiB, preemptible between its 16 slices. */
static void push_copy(struct fake *fake, uint32_t queue, uint32_t mib)
{
    struct refgpu_builder *b = commands();

    for (uint32_t i = 0; i < mib; i++)
        refgpu_copy(b, SCHED_DATA + 0x100000, SCHED_DATA, 0x80000);
    (void)sched_push(fake, queue, b);
}

/* ---- entries ---- */

TEST(an_entry_writes_its_fence_and_the_descriptor_and_interrupts)
{
    struct fake *fake = sched_begin(0, 0);
    struct refgpu_queue_descriptor d;

    CHECK(fake_read(fake, REFGPU_REG_SCHED_VERSION) == REFGPU_SCHED_VERSION);
    CHECK(fake_read(fake, REFGPU_REG_SCHED_LIMITS) == 0x01000100);
    sched_add(fake, 3, REFGPU_BAND_NORMAL, 0, 1);
    refgpu_write(commands(), SCHED_DATA, 0x1234, 0);
    (void)sched_push(fake, 3, &builder);
    CHECK(sched_running(fake) == 3);
    CHECK(fake_engine_read(fake, 2, REFGPU_ENG_STATUS) == REFGPU_ENG_STATUS_BUSY &&
          fake_engine_read(fake, 2, REFGPU_ENG_CURRENT) == 1);
    CHECK(sched_await(fake, 3, 1) == 500 + 1000 + 50 + 1 + 500); /* with the switch */
    memcpy(&d.flags, fake->vram + SCHED_DATA_AT, 4);
    CHECK(d.flags == 0x1234);
    CHECK(fake_read(fake, REFGPU_REG_IRQ_ACK) == REFGPU_IRQ_SCHED_PROGRESS);
    d = sched_queue(fake, 3);
    CHECK(d.head == 1 && d.tail == 1 && d.start == 0 && d.state == 0 && d.progress == 1);
    CHECK(sched_running(fake) == REFGPU_SCHED_QUEUES && fake->trace_depth[2] == 0);
    CHECK(fake_engine_read(fake, 2, REFGPU_ENG_COUNT_ENTRIES) == 1);
    for (unsigned i = 0; i < 100; i++) { /* round the ring */
        refgpu_write(commands(), SCHED_DATA + 8, 1, REFGPU_WRITE_ADD);
        (void)sched_push(fake, 3, &builder);
        (void)sched_await(fake, 3, i + 2);
    }
    CHECK(fake->vram[SCHED_DATA_AT + 8] == 100 && sched_queue(fake, 3).head == 101 % 64);
    CHECK(fake_read(fake, REFGPU_REG_SCHED_SWITCHES) == 1);
    fake_destroy(fake);
}

/* A WRITE of the commands raises a cause of its own. */
TEST(commands_signal_by_themselves)
{
    struct fake *fake = sched_begin(0, 0);

    sched_add(fake, 0, REFGPU_BAND_NORMAL, 0, 1);
    refgpu_write(commands(), SCHED_DATA, 5, REFGPU_WRITE_64 | REFGPU_WRITE_INTERRUPT);
    refgpu_delay(&builder, 1000000);
    (void)sched_push(fake, 0, &builder);
    fake_run(fake, 10000);
    CHECK(fake_read(fake, REFGPU_REG_IRQ_ACK) == REFGPU_IRQ_SCHED_SIGNAL &&
          fake->vram[SCHED_DATA_AT] == 5);
    fake_destroy(fake);
}

/* No interrupt without the flag, no bytes, no fence. */
TEST(an_entry_may_be_empty_and_silent)
{
    struct fake *fake = sched_begin(0, 0);
    const struct refgpu_queue_entry entry = {.value = 7};
    struct refgpu_queue_descriptor d;

    sched_add(fake, 0, REFGPU_BAND_NORMAL, 0, 1);
    d = sched_queue(fake, 0);
    d.fence = 0;
    d.tail = 1;
    fake_ram_write(fake, SCHED_RINGS_AT, &entry, sizeof entry);
    sched_set_queue(fake, 0, &d); /* the tail counts without a doorbell */
    fake_run(fake, 1000000);
    CHECK(fake_read(fake, REFGPU_REG_IRQ_STATUS) == 0 && sched_progress(fake, 0) == 0);
    d = sched_queue(fake, 0);
    CHECK(d.progress == 7 && d.head == 1);
    fake_destroy(fake);
}

TEST(privileged_commands_need_the_flag_and_there_is_no_ring)
{
    struct fake *fake = sched_begin(0, 0);
    uint32_t info;

    fake_engine_write(fake, 2, REFGPU_ENG_RING_LO, 0x10000);
    fake_engine_write(fake, 2, REFGPU_ENG_PREEMPT, 7);
    CHECK(fake_engine_read(fake, 2, REFGPU_ENG_RING_LO) == 0 &&
          fake_engine_read(fake, 2, REFGPU_ENG_PREEMPTED) == 0);
    fake_write64(fake, REFGPU_REG_SCHED_QUEUES_LO, 0x7000); /* in use */
    CHECK(fake_read64(fake, REFGPU_REG_SCHED_QUEUES_LO) == SCHED_QUEUES_AT);
    sched_add(fake, 0, REFGPU_BAND_NORMAL, 0, 1);
    for (unsigned privileged = 0; privileged < 2; privileged++) {
        struct refgpu_queue_entry entry = {.address = FAKE_VA, .bytes = 24, .value = 1};
        struct refgpu_queue_descriptor q = sched_queue(fake, 0);

        refgpu_fill(commands(), 0x200000, 64, 0xFEED); /* a device address */
        words[0] |= REFGPU_FLAG_DST_DEVICE << 8;
        fake_ram_write(fake, FAKE_COMMANDS, words, 24);
        entry.flags = privileged ? REFGPU_QUEUE_ENTRY_PRIVILEGED : 0;
        fake_ram_write(fake, SCHED_RINGS_AT, &entry, sizeof entry);
        q.tail = 1;
        q.head = 0;
        sched_set_queue(fake, 0, &q);
        fake_run(fake, 1000000);
        info = fake_engine_read(fake, 2, REFGPU_ENG_FAULT_INFO);
        if (!privileged)
            CHECK(REFGPU_FAULT_KIND(info) == REFGPU_FAULT_COMMAND &&
                  REFGPU_FAULT_CODE(info) == REFGPU_ERROR_PRIVILEGE && fake->vram[0x200000] == 0);
        else
            CHECK(sched_queue(fake, 0).head == 1 && fake->vram[0x200000] == 0xED);
    }
    fake_destroy(fake);
}

/* ---- bands, levels, priorities ---- */

TEST(a_higher_band_preempts_after_its_grace)
{
    struct fake *fake = sched_begin(0, 20000);
    uint64_t asked;

    sched_add(fake, 0, REFGPU_BAND_NORMAL, 0, 1);
    sched_add(fake, 1, REFGPU_BAND_REALTIME, 0, 2);
    push_copy(fake, 0, 8); /* half a ms */
    fake_run(fake, 50000);
    asked = fake->time;
    sched_push_delay(fake, 1, 100);
    fake_run(fake, 19000);
    CHECK(sched_running(fake) == 0);
    CHECK(sched_await(fake, 1, 1) < asked + 20000 + 9000 + 3000); /* grace, a slice, its own */
    CHECK(sched_progress(fake, 0) == 0 && sched_running(fake) == 0);
    CHECK(sched_queue(fake, 0).state == REFGPU_QUEUE_RESUME);
    (void)sched_await(fake, 0, 1);
    CHECK(memcmp(fake->vram + SCHED_DATA_AT, fake->vram + SCHED_DATA_AT + 0x100000, 0x80000) == 0);
    CHECK(fake_engine_read(fake, 2, REFGPU_ENG_COUNT_PREEMPTS) == 1);
    CHECK(fake_engine_read(fake, 2, REFGPU_ENG_COUNT_BYTES) == 8u * 0x100000); /* nothing twice */
    fake_destroy(fake);
}

/* What ends within its grace is not preempted; a lower band waits. */
TEST(grace_lets_an_entry_end)
{
    struct fake *fake = sched_begin(0, 60000);

    sched_add(fake, 0, REFGPU_BAND_FOCUS, 0, 1);
    sched_add(fake, 1, REFGPU_BAND_REALTIME, 0, 2);
    sched_add(fake, 2, REFGPU_BAND_IDLE, 0, 3);
    sched_push_delay(fake, 2, 10);
    sched_push_delay(fake, 0, 50000);
    sched_push_delay(fake, 0, 50000);
    CHECK(sched_await(fake, 2, 1) < sched_await(fake, 0, 0) + 1); /* it was alone when it began */
    fake_run(fake, 20000);
    sched_push_delay(fake, 1, 10);
    sched_push_delay(fake, 2, 10);
    (void)sched_await(fake, 0, 1);
    CHECK(sched_progress(fake, 1) == 0);
    (void)sched_await(fake, 1, 1);
    CHECK(sched_progress(fake, 0) == 1);
    (void)sched_await(fake, 0, 2);
    CHECK(sched_progress(fake, 2) == 1);
    (void)sched_await(fake, 2, 2);
    CHECK(fake_engine_read(fake, 2, REFGPU_ENG_COUNT_PREEMPTS) == 0);
    fake_destroy(fake);
}

/* By `level` in the band, else by priority in the process. */
TEST(levels_and_priorities_decide_in_a_band)
{
    for (unsigned by_level = 0; by_level < 2; by_level++) {
        struct fake *fake = sched_begin(0, 0);
        struct refgpu_context_descriptor d;
        uint64_t ended[3];

        sched_add(fake, 9, REFGPU_BAND_NORMAL, 7, 1);
        sched_push_delay(fake, 9, 1000); /* the others arrive meanwhile */
        for (uint32_t i = 0; i < 3; i++) {
            sched_add(fake, i, REFGPU_BAND_NORMAL, by_level ? -(int32_t)i : (int32_t)i,
                      by_level ? 3 - i : 1);
            d = sched_context(fake, i);
            d.level = (uint16_t)(by_level ? i : 0);
            d.grace_lower = 1000000;
            sched_set_context(fake, i, &d);
            sched_push_delay(fake, i, 5000);
        }
        for (uint32_t i = 3; i-- > 0;)
            ended[i] = sched_await(fake, i, 1);
        CHECK(ended[2] < ended[1] && ended[1] < ended[0]);
        fake_destroy(fake);
    }
}

TEST(a_change_of_priority_holds_at_once)
{
    struct fake *fake = sched_begin(0, 0);
    struct refgpu_context_descriptor d;

    sched_add(fake, 0, REFGPU_BAND_NORMAL, 0, 1);
    sched_add(fake, 1, REFGPU_BAND_NORMAL, -1, 1);
    push_copy(fake, 0, 16);
    push_copy(fake, 1, 1);
    fake_run(fake, 30000);
    CHECK(sched_running(fake) == 0);
    d = sched_context(fake, 1);
    d.priority = 1;
    sched_set_context(fake, 1, &d);
    fake_run(fake, 10000);
    CHECK(sched_running(fake) == 1);
    fake_destroy(fake);
}

/* How long the running context goes on is a matter of what the other one is to it. */
TEST(each_kind_of_preemption_has_its_grace)
{
    for (unsigned kind = 0; kind < 4; kind++) {
        struct fake *fake = sched_begin(0, 0);
        struct refgpu_context_descriptor d;
        uint64_t asked, took;

        fake_write(fake, REFGPU_REG_SCHED_BAND(REFGPU_BAND_FOCUS, REFGPU_SCHED_BAND_GRACE), 100000);
        fake_write(fake, REFGPU_REG_SCHED_BAND(REFGPU_BAND_NORMAL, REFGPU_SCHED_BAND_GRACE), 900000);
        fake_write(fake, REFGPU_REG_SCHED_BAND(REFGPU_BAND_NORMAL, REFGPU_SCHED_BAND_PROCESS_GRACE),
                   200000);
        sched_add(fake, 0, REFGPU_BAND_NORMAL, 0, 1);
        sched_add(fake, 1, kind == 0 ? REFGPU_BAND_FOCUS : REFGPU_BAND_NORMAL, kind == 2, 1);
        d = sched_context(fake, 1);
        d.level = kind == 1;
        d.grace_lower = 300000;
        d.grace_same = 400000;
        sched_set_context(fake, 1, &d);
        push_copy(fake, 0, 32); /* 2 ms */
        fake_run(fake, 10000);
        asked = fake->time;
        sched_push_delay(fake, 1, 10);
        took = sched_await(fake, 1, 1) - asked;
        /* With the same priority it waits for the quantum of the other one first. */
        asked = 100000u * (kind + 1u) + (kind == 3 ? 90000u : 0);
        CHECK(took > asked && took < asked + 15000);
        fake_destroy(fake);
    }
}

/* Whoever asked for the engine is suspended in time: the next one has a grace period of its own. */
TEST(a_reason_that_goes_away_leaves_nothing)
{
    struct fake *fake = sched_begin(0, 100000);
    struct refgpu_context_descriptor d;
    uint64_t asked;

    sched_add(fake, 0, REFGPU_BAND_NORMAL, 0, 1);
    sched_add(fake, 1, REFGPU_BAND_FOCUS, 0, 2);
    sched_add(fake, 2, REFGPU_BAND_REALTIME, 0, 3);
    push_copy(fake, 0, 32);
    fake_run(fake, 10000);
    sched_push_delay(fake, 1, 10);
    fake_run(fake, 60000);
    d = sched_context(fake, 1);
    d.suspend = 1;
    sched_set_context(fake, 1, &d);
    sched_command(fake, REFGPU_SCHED_COMMAND_SUSPEND, 1);
    fake_run(fake, 300000);
    CHECK(sched_running(fake) == 0 && fake_engine_read(fake, 2, REFGPU_ENG_COUNT_PREEMPTS) == 0);
    asked = fake->time;
    sched_push_delay(fake, 2, 10);
    CHECK(sched_await(fake, 2, 1) > asked + 100000);
    fake_destroy(fake);
}

/* ---- turns ---- */

/* In any stretch of time, who of equals has had the engine for how long? */
static void share(struct fake *fake, uint32_t count, uint64_t ns, uint64_t *had)
{
    const uint64_t end = fake->time + ns;
    uint64_t before = fake->time;

    memset(had, 0, count * sizeof *had);
    while (fake->time < end) {
        const uint32_t running = sched_running(fake);

        CHECK(fake_step(fake));
        if (running < count)
            had[running] += fake->time - before;
        before = fake->time;
    }
}

TEST(contexts_of_a_process_take_turns_by_their_quanta)
{
    struct fake *fake = sched_begin(0, 0);
    struct refgpu_context_descriptor d;
    uint64_t had[3];

    for (uint32_t i = 0; i < 3; i++) {
        sched_add(fake, i, REFGPU_BAND_NORMAL, 0, 1);
        d = sched_context(fake, i);
        d.quantum = i == 2 ? 200000 : 100000;
        sched_set_context(fake, i, &d);
    }
    for (uint32_t i = 0; i < 3; i++)
        for (unsigned n = 0; n < 20; n++)
            push_copy(fake, i, 8);
    share(fake, 3, 4000000, had);
    CHECK(had[0] > 900000 && had[0] < 1150000 && had[1] > 900000 && had[1] < 1150000);
    CHECK(had[2] > 1800000 && had[2] < 2200000);
    CHECK(fake_read(fake, REFGPU_REG_SCHED_SWITCHES) >= 27);
    fake_destroy(fake);
}

TEST(processes_take_turns_whatever_they_have)
{
    struct fake *fake = sched_begin(150000, 0);
    uint64_t had[4];

    for (uint32_t i = 0; i < 4; i++) {
        sched_add(fake, i, REFGPU_BAND_NORMAL, 0, i == 3 ? 9 : 5); /* three of one, one of another */
        for (unsigned n = 0; n < 20; n++)
            push_copy(fake, i, 4);
    }
    share(fake, 4, 4000000, had);
    CHECK(had[3] > 1800000 && had[3] < 2200000);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(had[i] > 450000 && had[i] < 900000);
    fake_destroy(fake);
}

/* Within entries, and whether or not contexts have quanta. */
TEST(the_turn_of_a_process_ends_by_itself)
{
    struct fake *fake = sched_begin(150000, 0);
    struct refgpu_context_descriptor d;
    uint64_t had[2];

    for (uint32_t i = 0; i < 2; i++) {
        sched_add(fake, i, REFGPU_BAND_NORMAL, 0, i);
        d = sched_context(fake, i);
        d.quantum = 0;
        sched_set_context(fake, i, &d);
        push_copy(fake, i, 32); /* 2 ms */
    }
    share(fake, 2, 1200000, had);
    CHECK(had[0] > 550000 && had[0] < 650000 && had[1] > 550000 && had[1] < 650000);
    fake_destroy(fake);
}

TEST(queues_of_a_context_take_turns_by_entries)
{
    struct fake *fake = sched_begin(0, 0);

    sched_add(fake, 0, REFGPU_BAND_NORMAL, 0, 1);
    sched_add_queue(fake, 1, 0);
    sched_add_queue(fake, 2, 0);
    for (unsigned n = 0; n < 4; n++)
        for (uint32_t i = 0; i < 3; i++)
            sched_push_delay(fake, i, 10000);
    for (unsigned n = 1; n <= 4; n++) {
        (void)sched_await(fake, 2, n);
        CHECK(sched_progress(fake, 0) == n && sched_progress(fake, 1) == n);
    }
    CHECK(fake_read(fake, REFGPU_REG_SCHED_SWITCHES) == 1);
    fake_destroy(fake);
}

/* The share of NORMAL beside FOCUS: none, 10 percent, a half. */
TEST(focus_leaves_normal_its_share)
{
    static const uint32_t percent[] = {0, 10, 50};

    for (unsigned i = 0; i < 3; i++) {
        struct fake *fake = sched_begin(50000, 0);
        uint64_t had[2];

        fake_write(fake, REFGPU_REG_SCHED_NORMAL_SHARE, percent[i]);
        sched_add(fake, 0, REFGPU_BAND_FOCUS, 0, 1);
        sched_add(fake, 1, REFGPU_BAND_NORMAL, 0, 2);
        for (unsigned n = 0; n < 50; n++) {
            push_copy(fake, 0, 8);
            push_copy(fake, 1, 8);
        }
        share(fake, 2, 5000000, had);
        CHECK(had[1] * 100 >= 5000000ull * percent[i] * 8 / 10 &&
              had[1] * 100 <= 5000000ull * percent[i] * 12 / 10);
        CHECK(fake_read(fake, REFGPU_REG_SCHED_SWITCHES) <= 1u + percent[i] * 2u); /* 50 us each */
        fake_destroy(fake);
    }
}

/* ---- waits ---- */

/* Each waits for what the other one writes; the first to begin has the higher band. */
TEST(a_context_that_waits_gives_way_to_any_band)
{
    struct fake *fake = sched_begin(0, 1000000);

    sched_add(fake, 0, REFGPU_BAND_REALTIME, 0, 1);
    sched_add(fake, 1, REFGPU_BAND_IDLE, 0, 2);
    refgpu_wait(commands(), SCHED_DATA, 1, 0);
    refgpu_write(&builder, SCHED_DATA + 8, 1, 0);
    (void)sched_push(fake, 0, &builder);
    fake_run(fake, 1000000);
    CHECK(fake_engine_read(fake, 2, REFGPU_ENG_STATUS) ==
          (REFGPU_ENG_STATUS_BUSY | REFGPU_ENG_STATUS_WAITING)); /* nobody else is there */
    refgpu_write(commands(), SCHED_DATA, 1, 0);
    refgpu_wait(&builder, SCHED_DATA + 8, 1, 0);
    (void)sched_push(fake, 1, &builder);
    CHECK(sched_running(fake) == 1);
    CHECK(sched_await(fake, 0, 1) < fake->time + 1 && sched_await(fake, 1, 1) < 1500000);
    fake_destroy(fake);
}

/* All that is there waits: it is looked at again, at most 128 us later, and takes little of the engine. */
TEST(waits_are_looked_at_again_and_cost_little)
{
    struct fake *fake = sched_begin(0, 0);
    const uint64_t one = 1;
    uint64_t written;

    for (uint32_t i = 0; i < 4; i++) {
        sched_add(fake, i, REFGPU_BAND_NORMAL, 0, i);
        refgpu_wait(commands(), SCHED_DATA + i * 8u, 1, REFGPU_WAIT_64);
        (void)sched_push(fake, i, &builder);
    }
    fake_run(fake, 10000000);
    CHECK(fake_engine_read(fake, 2, REFGPU_ENG_COUNT_PREEMPTS) < 400);
    sched_add(fake, 4, REFGPU_BAND_IDLE, 0, 7);
    sched_push_delay(fake, 4, 1000000);
    written = fake->time;
    CHECK(sched_await(fake, 4, 1) < written + 1200000);
    written = fake->time;
    for (uint32_t i = 4; i-- > 0;) {
        memcpy(fake->vram + SCHED_DATA_AT + i * 8u, &one, sizeof one);
        (void)sched_await(fake, i, 1);
    }
    CHECK(fake->time < written + 4 * 140000);
    fake_destroy(fake);
}

/* Without a place to save, between commands only. */
TEST(without_a_save_area_a_command_is_not_interrupted)
{
    for (unsigned of_queue = 0; of_queue < 2; of_queue++) {
        struct fake *fake = sched_begin(0, 0);
        struct refgpu_context_descriptor c;
        struct refgpu_queue_descriptor q;

        sched_add(fake, 0, REFGPU_BAND_NORMAL, 0, 1);
        sched_add(fake, 1, REFGPU_BAND_FOCUS, 0, 1);
        c = sched_context(fake, 0);
        q = sched_queue(fake, 0);
        c.save = of_queue ? c.save : 0;
        q.save_offset = of_queue ? 0 : q.save_offset;
        sched_set_context(fake, 0, &c);
        sched_set_queue(fake, 0, &q);
        push_copy(fake, 0, 3);
        fake_run(fake, 70000); /* in the second command */
        sched_push_delay(fake, 1, 1000);
        fake_run(fake, 30000);
        CHECK(sched_running(fake) == 0 && sched_progress(fake, 1) == 0);
        (void)sched_await(fake, 1, 1);
        CHECK(sched_queue(fake, 0).start == 2 * 28 && sched_queue(fake, 0).state == 0);
        (void)sched_await(fake, 0, 1);
        CHECK(fake_engine_read(fake, 2, REFGPU_ENG_COUNT_BYTES) == 3u * 0x100000);
        fake_destroy(fake);
    }
}
