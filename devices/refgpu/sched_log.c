/* SPDX-License-Identifier: MIT */
/*
 * The scheduling log: in memory that software names by an address and a root table, since it need
 * not be that of any context. If it cannot be written, it ends.
 */
#include "sched.h"
#include "device.h"

#include <string.h>

uint32_t *refgpu_sched_log_register(struct refgpu_sched *sched, uint32_t offset)
{
    switch (offset) {
    case REFGPU_REG_SCHED_LOG_ENTRIES:
        return &sched->log.entries;
    case REFGPU_REG_SCHED_LOG_NOTICE:
        return &sched->log.notice;
    default:
        return NULL;
    }
}

/* In the address space of the log, whatever the engine is doing. */
static bool transfer(struct refgpu_device *device, uint64_t address, void *data, uint64_t bytes,
                     bool write)
{
    struct refgpu_engine *engine = &device->engine[REFGPU_ENGINE_SCHEDULED];
    const struct refgpu_ring_entry entry = engine->entry;
    const struct refgpu_fault fault = engine->fault;
    bool good;

    engine->entry = (struct refgpu_ring_entry){.root = device->sched.log.root};
    good = write ? refgpu_memory_write(engine, REFGPU_SPACE_VIRTUAL, address, REFGPU_UNIT_SAVE,
                                       data, bytes)
                 : refgpu_memory_read(engine, REFGPU_SPACE_VIRTUAL, address, REFGPU_UNIT_SAVE, data,
                                      bytes);
    engine->entry = entry;
    engine->fault = fault;
    return good;
}

static bool append(struct refgpu_device *device, uint64_t tag, uint32_t state)
{
    struct refgpu_sched_log *log = &device->sched.log;
    struct refgpu_sched_log_entry entry = {
        .time = device->services->now(device->host), .tag = tag, .state = state};

    if (!log->known && !transfer(device, log->at, &log->header, sizeof log->header, false))
        return false;
    log->known = true;
    if (log->header.next >= log->entries)
        log->header.next = 0;
    if (!transfer(device, log->at + sizeof log->header + log->header.next * sizeof entry, &entry,
                  sizeof entry, true))
        return false;
    if (++log->header.next == log->entries) {
        log->header.next = 0;
        log->header.rounds++;
    }
    if (!transfer(device, log->at, &log->header, 8, true))
        return false;
    if (log->header.next == log->notice || !log->header.next)
        refgpu_interrupt(device, REFGPU_IRQ_SCHED_LOG);
    return true;
}

static uint32_t state_of(const struct refgpu_sched *sched, uint32_t context, const bool *has_entries)
{
    if (sched->running != REFGPU_SCHED_NONE && sched->queue[sched->running].set.context == context)
        return REFGPU_SCHED_RUNS;
    return sched->context[context].valid && !sched->context[context].suspended &&
                   has_entries[context]
               ? REFGPU_SCHED_READY
               : REFGPU_SCHED_IDLE;
}

void refgpu_sched_log(struct refgpu_device *device)
{
    struct refgpu_sched *sched = &device->sched;
    bool has_entries[REFGPU_SCHED_CONTEXTS] = {false};

    if (!sched->log.entries)
        return;
    for (uint32_t i = 0; i < sched->queue_end; i++)
        if (sched->queue[i].valid && sched->queue[i].set.head != sched->queue[i].set.tail)
            has_entries[sched->queue[i].set.context] = true;
    /* Who gets the engine comes behind who had it. */
    for (unsigned gets = 0; gets < 2u; gets++)
        for (uint32_t i = 0; i < sched->context_end; i++) {
            struct refgpu_sched_context *c = &sched->context[i];
            const uint32_t state = state_of(sched, i, has_entries);

            if (state == c->noted || (state == REFGPU_SCHED_RUNS) != (gets == 1u))
                continue;
            c->noted = state;
            if (!append(device, c->set.tag, state)) {
                sched->log.entries = 0;
                return;
            }
        }
}
