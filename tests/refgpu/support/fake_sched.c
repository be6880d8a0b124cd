/* SPDX-License-Identifier: MIT */
#include "fake_sched.h"

#include <string.h>

#include "support/check_rule.h"

static uint32_t used, tail[REFGPU_SCHED_QUEUES];
static uint64_t value[REFGPU_SCHED_QUEUES];

static uint64_t context_at(uint32_t index)
{
    return SCHED_CONTEXTS_AT + (uint64_t)index * sizeof(struct refgpu_context_descriptor);
}

static uint64_t queue_at(uint32_t index)
{
    return SCHED_QUEUES_AT + (uint64_t)index * sizeof(struct refgpu_queue_descriptor);
}

void sched_enable(struct fake *fake)
{
    fake_engine_write(fake, REFGPU_ENGINE_SCHEDULED, REFGPU_ENG_CONTROL, REFGPU_ENG_CONTROL_ENABLE);
}

void sched_command(struct fake *fake, uint32_t opcode, uint32_t index)
{
    fake_write(fake, REFGPU_REG_SCHED_COMMAND, REFGPU_SCHED_COMMAND(opcode, index));
}

struct fake *sched_begin(uint32_t quantum, uint32_t grace)
{
    struct fake *fake = fake_create(NULL, 0);

    used = 0;
    memset(tail, 0, sizeof tail);
    memset(value, 0, sizeof value);
    fake_start(fake);
    fake_write(fake, REFGPU_REG_IRQ_ENABLE, REFGPU_IRQ_ALL | REFGPU_IRQ_SCHED_ALL);
    fake_map_range(fake, SCHED_DATA, SCHED_DATA_AT | REFGPU_PTE_VALID, 1024);
    fake_map_range(fake, FAKE_VA, FAKE_COMMANDS | REFGPU_PTE_VALID | REFGPU_PTE_SYSTEM, 64);
    fake_map(fake, SCHED_FENCES, SCHED_FENCES_AT | REFGPU_PTE_VALID | REFGPU_PTE_SYSTEM);
    fake_map_range(fake, SCHED_SAVES, SCHED_SAVES_AT | REFGPU_PTE_VALID | REFGPU_PTE_SYSTEM, 16);
    fake_write64(fake, REFGPU_REG_SCHED_CONTEXTS_LO, SCHED_CONTEXTS_AT);
    fake_write64(fake, REFGPU_REG_SCHED_QUEUES_LO, SCHED_QUEUES_AT);
    for (uint32_t band = 0; band < REFGPU_SCHED_BANDS; band++) {
        fake_write(fake, REFGPU_REG_SCHED_BAND(band, REFGPU_SCHED_BAND_GRACE), grace);
        fake_write(fake, REFGPU_REG_SCHED_BAND(band, REFGPU_SCHED_BAND_PROCESS_QUANTUM), quantum);
        fake_write(fake, REFGPU_REG_SCHED_BAND(band, REFGPU_SCHED_BAND_PROCESS_GRACE), grace);
    }
    sched_enable(fake);
    return fake;
}

struct refgpu_context_descriptor sched_context(struct fake *fake, uint32_t index)
{
    struct refgpu_context_descriptor d;

    fake_ram_read(fake, context_at(index), &d, sizeof d);
    return d;
}

void sched_set_context(struct fake *fake, uint32_t index, const struct refgpu_context_descriptor *d)
{
    fake_ram_write(fake, context_at(index), d, sizeof *d);
    sched_command(fake, REFGPU_SCHED_COMMAND_CONTEXT, index);
}

struct refgpu_queue_descriptor sched_queue(struct fake *fake, uint32_t index)
{
    struct refgpu_queue_descriptor d;

    fake_ram_read(fake, queue_at(index), &d, sizeof d);
    return d;
}

void sched_set_queue(struct fake *fake, uint32_t index, const struct refgpu_queue_descriptor *d)
{
    fake_ram_write(fake, queue_at(index), d, sizeof *d);
    sched_command(fake, REFGPU_SCHED_COMMAND_QUEUE, index);
}

void sched_add_queue(struct fake *fake, uint32_t index, uint32_t context)
{
    const struct refgpu_queue_descriptor d = {
        .flags = REFGPU_QUEUE_VALID,
        .context = context,
        .ring = SCHED_RINGS_AT + index * REFGPU_PAGE_BYTES,
        .entries = SCHED_ENTRIES,
        .save_offset = 1024u + index * 64u,
        .fence = SCHED_FENCES + index * 8u,
    };

    sched_set_queue(fake, index, &d);
}

void sched_add(struct fake *fake, uint32_t index, uint32_t band, int32_t priority, uint32_t process)
{
    const struct refgpu_context_descriptor d = {
        .flags = REFGPU_CONTEXT_VALID,
        .band = (uint16_t)band,
        .priority = priority,
        .process = process,
        .quantum = 100000,
        .id = 100u + index,
        .root = FAKE_ROOT,
        .save = SCHED_SAVES + index * REFGPU_SAVE_BYTES,
    };

    sched_set_context(fake, index, &d);
    sched_add_queue(fake, index, index);
}

uint64_t sched_push(struct fake *fake, uint32_t queue, const struct refgpu_builder *commands)
{
    const uint32_t bytes = refgpu_builder_bytes(commands);
    const struct refgpu_queue_entry entry = {.address = FAKE_VA + used,
                                             .bytes = bytes,
                                             .flags = REFGPU_QUEUE_ENTRY_INTERRUPT,
                                             .value = ++value[queue]};

    CHECK(!commands->overflow && used + bytes <= 64u * REFGPU_PAGE_BYTES);
    fake_ram_write(fake, FAKE_COMMANDS + used, commands->words, bytes);
    used += (bytes + 63u) & ~63u;
    fake_ram_write(fake, SCHED_RINGS_AT + queue * REFGPU_PAGE_BYTES + tail[queue] * sizeof entry,
                   &entry, sizeof entry);
    tail[queue] = (tail[queue] + 1u) % SCHED_ENTRIES;
    fake_ram_write(fake, queue_at(queue) + offsetof(struct refgpu_queue_descriptor, tail),
                   &tail[queue], sizeof tail[queue]);
    fake_write(fake, REFGPU_REG_SCHED_DOORBELL(queue), 1);
    return value[queue];
}

void sched_push_delay(struct fake *fake, uint32_t queue, uint32_t ns)
{
    struct refgpu_builder b;
    uint32_t words[8];

    refgpu_builder_init(&b, words, sizeof words);
    refgpu_delay(&b, ns);
    (void)sched_push(fake, queue, &b);
}

uint64_t sched_progress(struct fake *fake, uint32_t queue)
{
    uint64_t progress;

    fake_ram_read(fake, SCHED_FENCES_AT + queue * 8u, &progress, sizeof progress);
    return progress;
}

uint64_t sched_await(struct fake *fake, uint32_t queue, uint64_t wanted)
{
    const uint64_t end = fake->time + 10000000000ull;

    while (sched_progress(fake, queue) < wanted)
        if (fake->time > end || !fake_step(fake))
            fail_msg("queue %u has %llu, not %llu", queue,
                     (unsigned long long)sched_progress(fake, queue), (unsigned long long)wanted);
    return fake->time;
}

uint32_t sched_running(struct fake *fake)
{
    const uint32_t running = fake_read(fake, REFGPU_REG_SCHED_RUNNING);

    return running & REFGPU_SCHED_QUEUE_VALID ? running & ~REFGPU_SCHED_QUEUE_VALID
                                              : REFGPU_SCHED_QUEUES;
}
