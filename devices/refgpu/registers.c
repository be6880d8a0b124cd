/* SPDX-License-Identifier: MIT */
/*
 * The register file and the interrupt logic. Registers are 32 bits wide; an 8-byte access touches
 * two of them, low first. Narrower accesses read as ones and write nothing.
 *
 * One message serves all causes. It is sent when (STATUS & ENABLE) becomes nonzero, and again if
 * causes are still set after software writes STATUS or ENABLE; so software that clears causes
 * before it handles them loses nothing.
 */
#include "device.h"

#define LOW(value)  ((uint32_t)(value))
#define HIGH(value) ((uint32_t)((uint64_t)(value) >> 32))

static void set_low(uint64_t *value, uint32_t low)
{
    *value = (*value & 0xFFFFFFFF00000000ull) | low;
}

static void set_high(uint64_t *value, uint32_t high)
{
    *value = (*value & 0xFFFFFFFFull) | (uint64_t)high << 32;
}

static void send_message(struct refgpu_device *device)
{
    device->irq_count++;
    device->services->interrupt(device->host, 0);
}

void refgpu_interrupt(struct refgpu_device *device, uint32_t causes)
{
    const bool due = (device->irq_status & device->irq_enable) != 0;
    const uint32_t fences = REFGPU_IRQ_FENCE(0) | REFGPU_IRQ_FENCE(1);

    device->irq_status |= causes;
    if (due || !(device->irq_status & device->irq_enable))
        return;
    if ((causes & fences) && device->lose_interrupt &&
        ++device->fences_raised % device->lose_interrupt == 0) {
        device->irq_status &= ~causes;
        return;
    }
    send_message(device);
}

static void causes_left(struct refgpu_device *device)
{
    if (device->irq_status & device->irq_enable)
        send_message(device);
}

static uint32_t engine_status(const struct refgpu_engine *engine)
{
    uint32_t status = 0;

    if (engine->active)
        status |= REFGPU_ENG_STATUS_BUSY;
    if (engine->phase == REFGPU_HALTED)
        status |= REFGPU_ENG_STATUS_HALTED;
    if (engine->phase == REFGPU_POLL)
        status |= REFGPU_ENG_STATUS_WAITING;
    if (engine->phase == REFGPU_HANG)
        status |= REFGPU_ENG_STATUS_HUNG;
    if (engine->preempt_wanted)
        status |= REFGPU_ENG_STATUS_PREEMPT;
    return status;
}

static uint32_t engine_counter(const struct refgpu_engine *engine, uint32_t offset)
{
    const uint64_t counters[] = {engine->entries, engine->commands, engine->bytes,
                                 engine->busy_ns, engine->walks,    engine->preempts};
    const uint64_t value = counters[(offset - REFGPU_ENG_COUNT_ENTRIES) / 8u];

    return offset & 4u ? HIGH(value) : LOW(value);
}

static uint32_t engine_read(const struct refgpu_engine *engine, uint32_t offset)
{
    if (offset >= REFGPU_ENG_COUNT_ENTRIES && offset < REFGPU_ENG_COUNT_PREEMPTS + 8u)
        return engine_counter(engine, offset);
    switch (offset) {
    case REFGPU_ENG_CONTROL:
        return engine->enabled ? REFGPU_ENG_CONTROL_ENABLE : 0;
    case REFGPU_ENG_STATUS:
        return engine_status(engine);
    case REFGPU_ENG_RING_LO:
        return LOW(engine->ring);
    case REFGPU_ENG_RING_HI:
        return HIGH(engine->ring);
    case REFGPU_ENG_RING_SIZE:
        return engine->ring_size;
    case REFGPU_ENG_HEAD:
        return engine->head;
    case REFGPU_ENG_TAIL:
        return engine->tail;
    case REFGPU_ENG_FENCE_LO:
        return LOW(engine->fence_block);
    case REFGPU_ENG_FENCE_HI:
        return HIGH(engine->fence_block);
    case REFGPU_ENG_COMPLETED:
        return engine->completed;
    case REFGPU_ENG_PREEMPTED:
        return engine->preempted;
    case REFGPU_ENG_ABORTED:
        return engine->aborted;
    case REFGPU_ENG_CURRENT:
        return engine->active ? engine->entry.fence : 0;
    case REFGPU_ENG_OFFSET:
        return engine->offset;
    case REFGPU_ENG_FAULT_INFO:
        return engine->fault.info;
    case REFGPU_ENG_FAULT_FENCE:
        return engine->fault.fence;
    case REFGPU_ENG_FAULT_ADDR_LO:
        return LOW(engine->fault.address);
    case REFGPU_ENG_FAULT_ADDR_HI:
        return HIGH(engine->fault.address);
    case REFGPU_ENG_STOP_FENCE:
        return engine->stop_fence;
    case REFGPU_ENG_STOP_OFFSET:
        return engine->stop_offset;
    default:
        return 0;
    }
}

static void engine_control(struct refgpu_engine *engine, uint32_t value)
{
    const bool enable = (value & REFGPU_ENG_CONTROL_ENABLE) != 0;

    if (value & REFGPU_ENG_CONTROL_RESET) {
        refgpu_engine_reset(engine);
        return;
    }
    if (enable != engine->enabled) {
        engine->enabled = enable;
        if (enable && engine->index == REFGPU_ENGINE_SCHEDULED)
            refgpu_sched_enable(engine->device);
        refgpu_log(engine->device, enable ? REFGPU_LOG_ENGINE_ON : REFGPU_LOG_ENGINE_OFF,
                   engine->index, engine->completed, engine->ring);
    }
    if (value & REFGPU_ENG_CONTROL_SKIP)
        refgpu_engine_skip(engine);
    refgpu_engine_kick(engine);
}

static void engine_write(struct refgpu_engine *engine, uint32_t offset, uint32_t value)
{
    if (engine->index == REFGPU_ENGINE_SCHEDULED && offset != REFGPU_ENG_CONTROL)
        return; /* it has no ring */
    switch (offset) {
    case REFGPU_ENG_CONTROL:
        engine_control(engine, value);
        break;
    case REFGPU_ENG_RING_LO:
        if (!engine->enabled)
            set_low(&engine->ring, value & ~(REFGPU_PAGE_BYTES - 1u));
        break;
    case REFGPU_ENG_RING_HI:
        if (!engine->enabled)
            set_high(&engine->ring, value);
        break;
    case REFGPU_ENG_RING_SIZE:
        if (!engine->enabled && value >= 2u && value <= 4096u && !(value & (value - 1u))) {
            engine->ring_size = value;
            engine->head = engine->tail = 0;
        }
        break;
    case REFGPU_ENG_TAIL:
        if (engine->ring_size) {
            engine->tail = value & (engine->ring_size - 1u);
            refgpu_engine_kick(engine);
        }
        break;
    case REFGPU_ENG_PREEMPT:
        refgpu_engine_preempt(engine, value);
        break;
    case REFGPU_ENG_FENCE_LO:
        set_low(&engine->fence_block, value & ~15u);
        break;
    case REFGPU_ENG_FENCE_HI:
        set_high(&engine->fence_block, value);
        break;
    case REFGPU_ENG_COMPLETED:
        engine->completed = value;
        break;
    default:
        break;
    }
}

static uint32_t irq_acknowledge(struct refgpu_device *device)
{
    const uint32_t causes = device->irq_status & device->irq_enable;

    device->irq_status &= ~causes;
    return causes;
}

static uint32_t global_read(struct refgpu_device *device, uint32_t offset)
{
    if (offset >= REFGPU_REG_LOG_PAGE && offset < REFGPU_REG_LOG_PAGE + 8u * REFGPU_LOG_PAGES) {
        const uint64_t page = device->log_page[(offset - REFGPU_REG_LOG_PAGE) / 8u];

        return offset & 4u ? HIGH(page) : LOW(page);
    }
    switch (offset) {
    case REFGPU_REG_ID:
        return REFGPU_ID;
    case REFGPU_REG_VERSION:
        return REFGPU_VERSION;
    case REFGPU_REG_VRAM_LO:
        return LOW(device->vram_bytes);
    case REFGPU_REG_VRAM_HI:
        return HIGH(device->vram_bytes);
    case REFGPU_REG_SCRATCH:
        return device->scratch;
    case REFGPU_REG_TIME_LO: {
        const uint64_t now = device->services->now(device->host);

        device->time_high = HIGH(now);
        return LOW(now);
    }
    case REFGPU_REG_TIME_HI:
        return device->time_high;
    case REFGPU_REG_IRQ_STATUS:
        return device->irq_status;
    case REFGPU_REG_IRQ_ENABLE:
        return device->irq_enable;
    case REFGPU_REG_IRQ_ACK:
        return irq_acknowledge(device);
    case REFGPU_REG_IRQ_COUNT:
        return device->irq_count;
    case REFGPU_REG_GART_TABLE_LO:
        return LOW(device->gart_table);
    case REFGPU_REG_GART_TABLE_HI:
        return HIGH(device->gart_table);
    case REFGPU_REG_GART_PAGES:
        return device->gart_pages;
    case REFGPU_REG_DMA_BITS:
        return device->dma_bits;
    case REFGPU_REG_LOG_CONTROL:
        return device->log_pages;
    case REFGPU_REG_LOG_COUNT:
        return device->log_count;
    case REFGPU_REG_GART_LIMIT:
        return device->gart_limit;
    case REFGPU_REG_FEATURES:
        return (device->no_execute ? REFGPU_FEATURE_NO_EXECUTE : 0) |
               device->display.outputs << REFGPU_FEATURE_OUTPUTS_SHIFT;
    default:
        return 0;
    }
}

static void power_on(struct refgpu_device *device)
{
    device->scratch = 0;
    device->irq_status = device->irq_enable = 0;
    device->gart_table = 0;
    device->gart_pages = 0;
    device->log_pages = device->log_count = 0;
    for (uint32_t i = 0; i < REFGPU_LOG_PAGES; i++)
        device->log_page[i] = 0;
    for (uint32_t i = 0; i < REFGPU_ALL_ENGINES; i++)
        refgpu_engine_power_on(&device->engine[i]);
    refgpu_sched_power_on(device);
    refgpu_display_power_on(device);
    refgpu_tlb_flush_all(device);
}

static void global_write(struct refgpu_device *device, uint32_t offset, uint32_t value)
{
    if (offset >= REFGPU_REG_LOG_PAGE && offset < REFGPU_REG_LOG_PAGE + 8u * REFGPU_LOG_PAGES) {
        uint64_t *page = &device->log_page[(offset - REFGPU_REG_LOG_PAGE) / 8u];

        if (offset & 4u)
            set_high(page, value);
        else
            set_low(page, value & ~(REFGPU_PAGE_BYTES - 1u));
        return;
    }
    switch (offset) {
    case REFGPU_REG_SCRATCH:
        device->scratch = value;
        break;
    case REFGPU_REG_CONTROL:
        if (value & REFGPU_CONTROL_RESET)
            power_on(device);
        else if (value & REFGPU_CONTROL_TLB_FLUSH)
            refgpu_tlb_flush_all(device);
        break;
    case REFGPU_REG_IRQ_STATUS:
        device->irq_status &= ~value;
        causes_left(device);
        break;
    case REFGPU_REG_IRQ_ENABLE:
        device->irq_enable = value &
                             (REFGPU_IRQ_ALL | REFGPU_IRQ_SCHED_ALL | REFGPU_IRQ_DISPLAY_ALL);
        causes_left(device);
        break;
    case REFGPU_REG_GART_TABLE_LO:
        set_low(&device->gart_table, value & ~(REFGPU_PAGE_BYTES - 1u));
        break;
    case REFGPU_REG_GART_TABLE_HI:
        set_high(&device->gart_table, value & 0xFFFFu);
        break;
    case REFGPU_REG_GART_PAGES:
        device->gart_pages = value < device->gart_limit ? value : device->gart_limit;
        break;
    case REFGPU_REG_LOG_CONTROL:
        refgpu_log_start(device, value);
        break;
    default:
        break;
    }
}

static struct refgpu_engine *engine_at(struct refgpu_device *device, uint64_t offset)
{
    const uint64_t first = REFGPU_REG_ENGINE(0u, 0u);

    if (offset < first || offset >= first + REFGPU_ALL_ENGINES * REFGPU_ENGINE_STRIDE)
        return NULL;
    return &device->engine[(offset - first) / REFGPU_ENGINE_STRIDE];
}

static bool is_sched(uint64_t offset)
{
    return offset >= REFGPU_REG_SCHED_VERSION && offset < REFGPU_REG_SCHED_END;
}

static bool is_display(uint64_t offset)
{
    return offset >= REFGPU_REG_OUTPUT(0u, 0u) && offset < REFGPU_REG_OUTPUT(REFGPU_OUTPUTS, 0u);
}

static uint32_t read32(struct refgpu_device *device, uint64_t offset)
{
    const struct refgpu_engine *engine = engine_at(device, offset);

    if (is_sched(offset))
        return refgpu_sched_read(device, (uint32_t)offset);
    if (is_display(offset))
        return refgpu_display_read(device, (uint32_t)offset);
    if (engine)
        return engine_read(engine, (uint32_t)offset & (REFGPU_ENGINE_STRIDE - 1u));
    return global_read(device, (uint32_t)offset);
}

static void write32(struct refgpu_device *device, uint64_t offset, uint32_t value)
{
    struct refgpu_engine *engine = engine_at(device, offset);

    if (offset >= REFGPU_REG_SCHED_DOORBELL(0u) &&
        offset < REFGPU_REG_SCHED_DOORBELL(REFGPU_SCHED_QUEUES))
        refgpu_sched_doorbell(device, (uint32_t)(offset - REFGPU_REG_SCHED_DOORBELL(0u)) / 4u);
    else if (is_sched(offset))
        refgpu_sched_write(device, (uint32_t)offset, value);
    else if (is_display(offset))
        refgpu_display_write(device, (uint32_t)offset, value);
    else if (engine)
        engine_write(engine, (uint32_t)offset & (REFGPU_ENGINE_STRIDE - 1u), value);
    else
        global_write(device, (uint32_t)offset, value);
}

uint64_t refgpu_register_read(struct refgpu_device *device, uint64_t offset, unsigned width)
{
    if (offset >= REFGPU_REGISTER_BYTES || (width != 4u && width != 8u) || offset % width)
        return ~0ull;
    if (width == 8u) {
        const uint64_t low = read32(device, offset);

        return low | (uint64_t)read32(device, offset + 4u) << 32;
    }
    return read32(device, offset);
}

void refgpu_register_write(struct refgpu_device *device, uint64_t offset, unsigned width,
                           uint64_t value)
{
    if (offset >= REFGPU_REGISTER_BYTES || (width != 4u && width != 8u) || offset % width)
        return;
    write32(device, offset, LOW(value));
    if (width == 8u)
        write32(device, offset + 4u, HIGH(value));
}
