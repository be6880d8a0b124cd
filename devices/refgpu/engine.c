/* SPDX-License-Identifier: MIT */
/*
 * An engine executes ring entries one after the other; each is a sequence of commands, and each
 * command a number of slices. device.h shows the phases. Time passes only between phases; the
 * effect of a phase happens when its timer fires.
 *
 * Commands are copied out of memory before they are checked, and are not read from there again:
 * what was checked is executed, whatever software does to the buffer meanwhile.
 *
 * Preemption happens only at consistent points: between commands, in a semaphore wait, and between
 * the slices of a command if the entry names a save area for the count.
 */
#include "device.h"

#include <string.h>

#define PASS_OVER_COMMANDS 64u /* commands without effect that one fetch step skips */

static uint64_t now(const struct refgpu_engine *engine)
{
    return engine->device->services->now(engine->device->host);
}

static bool is_scheduled(const struct refgpu_engine *engine)
{
    return engine->index == REFGPU_ENGINE_SCHEDULED;
}

/* Whether the engine keeps its place inside a command. */
static bool saves(const struct refgpu_engine *engine)
{
    return engine->index != REFGPU_ENGINE_2D && engine->entry.save;
}

static void arm(struct refgpu_engine *engine, enum refgpu_phase phase, uint64_t delay)
{
    engine->phase = phase;
    engine->device->services->timer_arm(engine->device->host, engine->index, delay);
}

bool refgpu_engine_fault(struct refgpu_engine *engine, uint32_t kind, uint32_t code, uint32_t unit,
                         uint32_t level, bool write, uint64_t address)
{
    engine->fault.kind = kind;
    engine->fault.info = code | kind << 8 | unit << 12 | level << 16;
    if (write)
        engine->fault.info |= REFGPU_FAULT_WRITE;
    if (engine->active && (engine->entry.flags & REFGPU_ENTRY_PRIVILEGED))
        engine->fault.info |= REFGPU_FAULT_PRIVILEGED;
    engine->fault.fence = engine->active ? engine->entry.fence : engine->completed;
    engine->fault.address = address;
    return false;
}

void refgpu_engine_halt(struct refgpu_engine *engine)
{
    static const struct {
        uint32_t cause, log;
        const char *name;
    } kinds[] = {
        [REFGPU_FAULT_PAGE] = {REFGPU_IRQ_PAGE_FAULT(0), REFGPU_LOG_PAGE_FAULT, "page fault"},
        [REFGPU_FAULT_BUS] = {REFGPU_IRQ_BUS_FAULT(0), REFGPU_LOG_BUS_FAULT, "bus fault"},
        [REFGPU_FAULT_COMMAND] = {REFGPU_IRQ_COMMAND(0), REFGPU_LOG_COMMAND, "command error"},
    };
    struct refgpu_device *device = engine->device;
    const uint32_t kind = engine->fault.kind;

    engine->phase = REFGPU_HALTED;
    device->services->trace(device->host, kinds[kind].name, engine->fault.address);
    refgpu_log(device, kinds[kind].log, engine->index,
               engine->fault.fence | (uint64_t)engine->entry.context << 32, engine->fault.address);
    refgpu_interrupt(device, is_scheduled(engine) ? REFGPU_IRQ_SCHED_FAULT
                                                  : kinds[kind].cause << engine->index);
}

static void command_trace(struct refgpu_engine *engine, bool begin)
{
    static const char *const names[] = {
        [REFGPU_OP_WRITE] = "write",
        [REFGPU_OP_WAIT] = "wait",
        [REFGPU_OP_HANG] = "hang",
        [REFGPU_OP_TIMESTAMP] = "timestamp",
        [REFGPU_OP_DELAY] = "delay",
        [REFGPU_OP_FILL] = "fill",
        [REFGPU_OP_FILL_RECT] = "fill rect",
        [REFGPU_OP_COPY] = "copy",
        [REFGPU_OP_COPY_RECT] = "copy rect",
        [REFGPU_OP_SCALE] = "scale",
        [REFGPU_OP_BLEND] = "blend",
        [REFGPU_OP_CONVOLVE] = "convolve",
        [REFGPU_OP_RAW_ACCESS] = "raw access",
        [REFGPU_OP_PTE_WRITE] = "page table write",
        [REFGPU_OP_PTE_FILL] = "page table fill",
        [REFGPU_OP_GART_WRITE] = "gart write",
        [REFGPU_OP_GART_FILL] = "gart fill",
        [REFGPU_OP_TLB_FLUSH] = "tlb flush",
    };
    struct refgpu_device *device = engine->device;

    if (begin == engine->command_traced)
        return;
    engine->command_traced = begin;
    if (begin)
        device->services->trace_begin(device->host, engine->index, names[engine->command.opcode],
                                      engine->command.dst);
    else
        device->services->trace_end(device->host, engine->index, names[engine->command.opcode]);
}

static void tell_work(const struct refgpu_engine *engine, bool begins)
{
    const struct dxgk_device_work work = {.node = engine->index,
                                          .fence = engine->entry.fence,
                                          .begins = begins,
                                          .address = engine->entry.address,
                                          .bytes = engine->entry.bytes};

    engine->device->services->work(engine->device->host, &work);
}

/* End the execution of the entry. */
static void leave_entry(struct refgpu_engine *engine)
{
    struct refgpu_device *device = engine->device;

    if (!engine->active)
        return;
    command_trace(engine, false);
    device->services->trace_end(device->host, engine->index, "entry");
    tell_work(engine, false);
    engine->busy_ns += now(engine) - engine->began;
    engine->active = false;
}

void refgpu_engine_leave(struct refgpu_engine *engine)
{
    leave_entry(engine);
    engine->phase = REFGPU_IDLE;
}

static bool write_fence_block(struct refgpu_engine *engine)
{
    struct refgpu_fence_block block;

    if (!engine->fence_block)
        return true;
    block.completed = engine->completed;
    block.preempted = engine->preempted;
    block.time = now(engine);
    return refgpu_bus_write(engine, engine->fence_block, REFGPU_UNIT_FENCE, &block, sizeof block);
}

/* ---- preemption ---- */

static bool save_state(struct refgpu_engine *engine)
{
    struct refgpu_save_area area = {.magic = REFGPU_SAVE_MAGIC};

    area.fence = engine->entry.fence;
    area.offset = engine->offset;
    area.progress = engine->command.done;
    area.time = now(engine);
    return refgpu_memory_write(engine, REFGPU_SPACE_VIRTUAL, engine->entry.save, REFGPU_UNIT_SAVE,
                               &area, sizeof area);
}

static bool load_state(struct refgpu_engine *engine)
{
    struct refgpu_save_area area;
    const uint32_t none = 0;

    if (!refgpu_memory_read(engine, REFGPU_SPACE_VIRTUAL, engine->entry.save, REFGPU_UNIT_SAVE,
                            &area, sizeof area))
        return false;
    if (area.magic != REFGPU_SAVE_MAGIC || area.offset > engine->entry.bytes || area.offset % 4u)
        return refgpu_engine_fault(engine, REFGPU_FAULT_COMMAND, REFGPU_ERROR_ENTRY,
                                   REFGPU_UNIT_SAVE, 0, false, 0);
    if (!refgpu_memory_write(engine, REFGPU_SPACE_VIRTUAL, engine->entry.save, REFGPU_UNIT_SAVE,
                             &none, sizeof none))
        return false;
    engine->offset = area.offset;
    engine->resume_slices = area.progress;
    refgpu_log(engine->device, REFGPU_LOG_RESUMED, engine->index,
               engine->entry.fence | (uint64_t)engine->entry.context << 32, area.offset);
    return true;
}

/* Stop the current entry, drop the rest of the ring, and report. */
static void answer_preemption(struct refgpu_engine *engine)
{
    struct refgpu_device *device = engine->device;
    const bool waited = engine->phase == REFGPU_POLL && engine->looked;

    device->services->timer_disarm(device->host, engine->index);
    engine->stop_fence = 0;
    engine->stop_offset = 0;
    if (engine->active) {
        if (saves(engine) && !save_state(engine)) {
            refgpu_engine_halt(engine);
            return;
        }
        engine->stop_fence = engine->entry.fence;
        engine->stop_offset = engine->offset;
    }
    leave_entry(engine);
    engine->phase = REFGPU_IDLE;
    engine->head = engine->tail;
    engine->preempt_wanted = false;
    engine->preempted = engine->preempt_value;
    engine->preempts++;
    refgpu_log(device, REFGPU_LOG_PREEMPTED, engine->index, engine->preempted, engine->stop_fence);
    if (is_scheduled(engine)) {
        refgpu_sched_left(engine, engine->stop_offset, waited);
        return;
    }
    if (!write_fence_block(engine)) {
        refgpu_engine_halt(engine);
        return;
    }
    refgpu_interrupt(device, REFGPU_IRQ_PREEMPTED(engine->index));
}

static bool preempted_here(struct refgpu_engine *engine)
{
    if (!engine->preempt_wanted || engine->device->ignore_preempt)
        return false;
    answer_preemption(engine);
    return true;
}

void refgpu_engine_preempt(struct refgpu_engine *engine, uint32_t value)
{
    const bool hang = engine->phase == REFGPU_HANG &&
                      (engine->command.flags & REFGPU_HANG_PREEMPTIBLE);

    engine->preempt_wanted = true;
    engine->preempt_value = value;
    if (engine->phase == REFGPU_IDLE || engine->phase == REFGPU_POLL ||
        engine->phase == REFGPU_NEXT || hang)
        (void)preempted_here(engine);
}

/* ---- commands ---- */

static bool length_error(struct refgpu_engine *engine)
{
    return refgpu_engine_fault(engine, REFGPU_FAULT_COMMAND, REFGPU_ERROR_LENGTH, REFGPU_UNIT_FETCH,
                               0, false, engine->offset);
}

/* Copy commands from `offset` on: to the end of the page, but at least `need` bytes (which the
 * entry must have). */
static bool fetch(struct refgpu_engine *engine, uint32_t need)
{
    const uint64_t address = engine->entry.address + engine->offset;
    const uint32_t left = engine->entry.bytes - engine->offset;
    const uint32_t to_page_end = REFGPU_PAGE_BYTES - (uint32_t)(address & (REFGPU_PAGE_BYTES - 1u));
    uint32_t bytes = need > to_page_end ? need : to_page_end;
    bool ok;

    if (bytes > left)
        bytes = left;
    if (engine->index == REFGPU_ENGINE_2D)
        ok = refgpu_bus_read(engine, address, REFGPU_UNIT_FETCH, engine->fetched, bytes);
    else
        ok = refgpu_memory_read(engine, REFGPU_SPACE_VIRTUAL, address, REFGPU_UNIT_FETCH,
                                engine->fetched, bytes);
    engine->fetch_offset = engine->offset;
    engine->fetch_bytes = ok ? bytes : 0;
    return ok;
}

/* The complete command at `offset`, in the fetch buffer. NULL: a fault was recorded. */
static const uint32_t *current_words(struct refgpu_engine *engine)
{
    const uint32_t left = engine->entry.bytes - engine->offset;
    uint32_t at = engine->offset - engine->fetch_offset;
    uint32_t need = 4;

    for (;;) {
        uint32_t dwords;

        if (at >= engine->fetch_bytes || need > engine->fetch_bytes - at) {
            if (!fetch(engine, need))
                return NULL;
            at = 0;
        }
        dwords = REFGPU_CMD_DWORDS(engine->fetched[at / 4u]);
        if (!dwords || dwords > REFGPU_CMD_MAX_DWORDS || dwords > left / 4u) {
            (void)length_error(engine);
            return NULL;
        }
        if (dwords * 4u <= engine->fetch_bytes - at)
            return engine->fetched + at / 4u;
        need = dwords * 4u;
    }
}

static void finish_command(struct refgpu_engine *engine)
{
    command_trace(engine, false);
    engine->commands++;
    engine->offset += engine->command.dwords * 4u;
    engine->command.done = 0;
}

/* Decode the command at `offset`, which has an effect. */
static void start_command(struct refgpu_engine *engine, uint64_t cost)
{
    struct refgpu_command *c = &engine->command;

    command_trace(engine, true);
    if (c->opcode == REFGPU_OP_HANG) {
        engine->phase = REFGPU_HANG;
        refgpu_log(engine->device, REFGPU_LOG_HANG, engine->index, engine->entry.fence,
                   engine->offset);
        (void)(c->flags & REFGPU_HANG_PREEMPTIBLE ? preempted_here(engine) : false);
        return;
    }
    if (c->opcode == REFGPU_OP_WAIT) {
        engine->poll_ns = REFGPU_POLL_FIRST_NS;
        engine->looked = false;
        arm(engine, REFGPU_POLL, cost);
        return;
    }
    arm(engine, REFGPU_SLICE, cost + refgpu_slice_cost(c));
}

/* Continue at `offset`: skip commands without effect, then let time pass until the next event. */
static void advance(struct refgpu_engine *engine, uint64_t cost)
{
    for (unsigned passed = 0; engine->offset < engine->entry.bytes; passed++) {
        const uint32_t *words;

        if (passed == PASS_OVER_COMMANDS) {
            arm(engine, REFGPU_NEXT, cost);
            return;
        }
        words = current_words(engine);
        if (!words || !refgpu_command_decode(engine, words, &engine->command)) {
            arm(engine, REFGPU_STOP, cost);
            return;
        }
        cost += REFGPU_TIME_COMMAND_NS;
        if (engine->resume_slices < engine->command.slices)
            engine->command.done = engine->resume_slices;
        engine->resume_slices = 0;
        if (engine->command.opcode != REFGPU_OP_NOP && engine->command.slices) {
            start_command(engine, cost);
            return;
        }
        finish_command(engine);
    }
    arm(engine, REFGPU_COMPLETE, cost + REFGPU_TIME_END_NS);
}

static void do_slice(struct refgpu_engine *engine)
{
    struct refgpu_command *c = &engine->command;
    const uint32_t *words = engine->fetched + (engine->offset - engine->fetch_offset) / 4u;

    if (!refgpu_slice_execute(engine, c, words)) {
        refgpu_engine_halt(engine);
        return;
    }
    if (c->done < c->slices) {
        if (saves(engine) && preempted_here(engine))
            return;
        arm(engine, REFGPU_SLICE, refgpu_slice_cost(c));
        return;
    }
    finish_command(engine);
    if (!preempted_here(engine))
        advance(engine, 0);
}

static void do_poll(struct refgpu_engine *engine)
{
    bool ok;

    if (refgpu_wait_satisfied(engine, &engine->command, &ok)) {
        finish_command(engine);
        if (!preempted_here(engine))
            advance(engine, 0);
        return;
    }
    if (!ok) {
        refgpu_engine_halt(engine);
        return;
    }
    engine->looked = true;
    arm(engine, REFGPU_POLL, engine->poll_ns);
    if (engine->poll_ns < REFGPU_POLL_LAST_NS)
        engine->poll_ns *= 2u;
    if (is_scheduled(engine)) {
        refgpu_sched_account(engine->device);
        refgpu_sched_update(engine->device);
    }
}

/* ---- ring ---- */

static bool entry_ok(struct refgpu_engine *engine)
{
    const struct refgpu_ring_entry *e = &engine->entry;
    bool ok = e->fence && !(e->flags & ~REFGPU_ENTRY_FLAGS) && e->address % 4u == 0 &&
              e->bytes % 4u == 0 && e->start % 4u == 0 && e->start <= e->bytes;

    for (unsigned i = 0; i < sizeof e->reserved / sizeof e->reserved[0]; i++)
        ok = ok && !e->reserved[i];
    if (engine->index == REFGPU_ENGINE_COPY)
        ok = ok && e->root % REFGPU_PAGE_BYTES == 0 && e->save % 64u == 0 &&
             ((e->flags & REFGPU_ENTRY_RESUME) == 0 || e->save) &&
             e->address <= 1ull << REFGPU_VA_BITS &&
             e->bytes <= (1ull << REFGPU_VA_BITS) - e->address;
    else
        ok = ok && !(e->flags & REFGPU_ENTRY_RESUME) && e->address <= UINT64_MAX - e->bytes;
    return ok || refgpu_engine_fault(engine, REFGPU_FAULT_COMMAND, REFGPU_ERROR_ENTRY,
                                     REFGPU_UNIT_RING, 0, false, 0);
}

void refgpu_engine_enter(struct refgpu_engine *engine)
{
    memset(&engine->entry, 0, sizeof engine->entry);
    engine->active = true;
    engine->began = now(engine);
    engine->fetch_offset = engine->fetch_bytes = 0;
    engine->resume_slices = 0;
    engine->command.done = 0;
}

void refgpu_engine_start(struct refgpu_engine *engine, bool good, uint64_t cost)
{
    struct refgpu_device *device = engine->device;

    device->services->trace_begin(device->host, engine->index, "entry", engine->entry.fence);
    tell_work(engine, true);
    engine->offset = engine->entry.start;
    if (!good || (engine->entry.bytes && (engine->entry.flags & REFGPU_ENTRY_RESUME) &&
                  !load_state(engine))) {
        arm(engine, REFGPU_STOP, cost);
        return;
    }
    if (device->checks_tlb && engine->index != REFGPU_ENGINE_2D && engine->entry.bytes)
        device->services->root_in_use(device->host, engine->index, engine->entry.fence,
                                      engine->entry.root);
    advance(engine, cost);
}

static void begin_entry(struct refgpu_engine *engine)
{
    struct refgpu_device *device = engine->device;
    const uint64_t at = engine->ring + (uint64_t)engine->head * REFGPU_ENTRY_BYTES;

    refgpu_engine_enter(engine);
    if (!refgpu_bus_read(engine, at, REFGPU_UNIT_RING, &engine->entry, sizeof engine->entry)) {
        memset(&engine->entry, 0, sizeof engine->entry); /* a refused read returns ones */
        device->services->trace_begin(device->host, engine->index, "entry", 0);
        arm(engine, REFGPU_STOP, REFGPU_TIME_START_NS);
        return;
    }
    refgpu_engine_start(engine, entry_ok(engine), REFGPU_TIME_START_NS);
}

void refgpu_engine_kick(struct refgpu_engine *engine)
{
    if (is_scheduled(engine))
        refgpu_sched_update(engine->device);
    else if (engine->phase == REFGPU_IDLE && engine->enabled && engine->head != engine->tail)
        begin_entry(engine);
}

static void complete_entry(struct refgpu_engine *engine)
{
    const uint32_t flags = engine->entry.flags;

    if (is_scheduled(engine)) {
        refgpu_sched_complete(engine);
        return;
    }
    engine->entries++;
    engine->completed = engine->entry.fence;
    engine->head = (engine->head + 1u) & (engine->ring_size - 1u);
    leave_entry(engine);
    engine->phase = REFGPU_IDLE;
    if (!write_fence_block(engine)) {
        refgpu_engine_halt(engine);
        return;
    }
    if (flags & REFGPU_ENTRY_INTERRUPT)
        refgpu_interrupt(engine->device, REFGPU_IRQ_FENCE(engine->index));
    if (!preempted_here(engine))
        refgpu_engine_kick(engine);
}

void refgpu_engine_timer(struct refgpu_engine *engine)
{
    switch (engine->phase) {
    case REFGPU_SLICE:
        do_slice(engine);
        break;
    case REFGPU_POLL:
        do_poll(engine);
        break;
    case REFGPU_NEXT:
        if (!preempted_here(engine))
            advance(engine, 0);
        break;
    case REFGPU_COMPLETE:
        complete_entry(engine);
        break;
    case REFGPU_STOP:
        refgpu_engine_halt(engine);
        break;
    default:
        break;
    }
}

/* ---- recovery ---- */

static void clear(struct refgpu_engine *engine)
{
    const uint32_t causes = REFGPU_IRQ_FENCE(0) | REFGPU_IRQ_PREEMPTED(0) |
                            REFGPU_IRQ_PAGE_FAULT(0) | REFGPU_IRQ_BUS_FAULT(0) |
                            REFGPU_IRQ_COMMAND(0) | REFGPU_IRQ_SIGNAL(0);

    engine->device->services->timer_disarm(engine->device->host, engine->index);
    leave_entry(engine);
    engine->device->irq_status &= is_scheduled(engine) ? ~REFGPU_IRQ_SCHED_ALL
                                                       : ~(causes << engine->index);
    engine->phase = REFGPU_IDLE;
    engine->enabled = false;
    engine->preempt_wanted = false;
    engine->head = engine->tail = 0;
    engine->stop_fence = engine->stop_offset = 0;
    engine->offset = 0;
    memset(&engine->fault, 0, sizeof engine->fault);
}

void refgpu_engine_reset(struct refgpu_engine *engine)
{
    engine->aborted = engine->active ? engine->entry.fence : 0;
    clear(engine);
    if (is_scheduled(engine))
        refgpu_sched_reset(engine->device);
    refgpu_log(engine->device, REFGPU_LOG_ENGINE_RESET, engine->index, engine->aborted,
               engine->completed);
}

void refgpu_engine_skip(struct refgpu_engine *engine)
{
    if (engine->phase != REFGPU_HALTED)
        return;
    if (engine->active && engine->ring_size)
        engine->head = (engine->head + 1u) & (engine->ring_size - 1u);
    refgpu_log(engine->device, REFGPU_LOG_SKIPPED, engine->index, engine->fault.fence, 0);
    leave_entry(engine);
    engine->phase = REFGPU_IDLE;
    memset(&engine->fault, 0, sizeof engine->fault);
    if (is_scheduled(engine))
        refgpu_sched_skipped(engine);
    else
        (void)preempted_here(engine);
}

void refgpu_engine_power_on(struct refgpu_engine *engine)
{
    clear(engine);
    engine->ring = engine->fence_block = 0;
    engine->ring_size = 0;
    engine->completed = engine->preempted = engine->aborted = 0;
    engine->entries = engine->commands = engine->bytes = engine->busy_ns = engine->walks =
        engine->preempts = 0;
}
