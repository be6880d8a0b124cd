/* SPDX-License-Identifier: MIT */
/*
 * The registers of the outputs. Nothing is counted: which line is scanned out, and when the next
 * blank begins, follow from the time since ENABLE, so that no rounding adds up.
 */
#include "device.h"

#include <string.h>

#define LOW(value)  ((uint32_t)(value))
#define HIGH(value) ((uint32_t)((uint64_t)(value) >> 32))

#define COLUMNS(size) ((size)&0xFFFFu)
#define LINES(size)   ((size) >> 16)

/* ---- time ---- */

/* A frame takes `pixels` of the clock; the clock has `clock` pixels a millisecond. */
static uint64_t frame_pixels(const struct refgpu_output *output)
{
    return (uint64_t)COLUMNS(output->total) * LINES(output->total);
}

/* Pixels that have passed since ENABLE. */
static uint64_t pixels_since(const struct refgpu_device *device, const struct refgpu_output *output)
{
    const uint64_t passed = device->services->now(device->host) - output->start;

    return (uint64_t)((unsigned __int128)passed * output->clock / 1000000u);
}

static uint32_t line_now(const struct refgpu_device *device, const struct refgpu_output *output)
{
    return (uint32_t)(pixels_since(device, output) % frame_pixels(output) / COLUMNS(output->total));
}

/* Blanks that have begun since ENABLE. */
static uint64_t blanks(const struct refgpu_device *device, const struct refgpu_output *output)
{
    const uint64_t before = (uint64_t)COLUMNS(output->total) * LINES(output->size);
    const uint64_t pixels = pixels_since(device, output);

    return pixels < before ? 0 : (pixels - before) / frame_pixels(output) + 1u;
}

/* Nanoseconds from ENABLE to the beginning of blank `index`. */
static uint64_t blank_begins(const struct refgpu_output *output, uint64_t index)
{
    const unsigned __int128 pixels = (unsigned __int128)frame_pixels(output) * index +
                                     (uint64_t)COLUMNS(output->total) * LINES(output->size);

    return (uint64_t)((pixels * 1000000u + output->clock - 1u) / output->clock);
}

static bool is_enabled(const struct refgpu_output *output)
{
    return (output->control & REFGPU_OUT_CONTROL_ENABLE) != 0;
}

/* Arm the timer while a blank has an effect. */
static void update(struct refgpu_device *device, uint32_t index)
{
    struct refgpu_output *output = &device->display.output[index];
    const bool needed = is_enabled(output) &&
                        (output->pending || (output->interrupt & REFGPU_OUT_INTERRUPT_VSYNC));
    const uint64_t now = device->services->now(device->host);

    if (!needed && output->timed)
        device->services->timer_disarm(device->host, REFGPU_DISPLAY_TIMER(index));
    if (needed && !output->timed)
        device->services->timer_arm(device->host, REFGPU_DISPLAY_TIMER(index),
                                    output->start + blank_begins(output, blanks(device, output)) -
                                        now);
    output->timed = needed;
}

/* ---- pictures ---- */

bool refgpu_display_fits(const struct refgpu_device *device, const struct refgpu_output *output)
{
    const struct refgpu_frame *frame = &output->now;
    const uint64_t line = (uint64_t)refgpu_output_width(output) * refgpu_format_bytes(frame->format);
    const uint64_t bytes = (uint64_t)frame->pitch * (refgpu_output_height(output) - 1u) + line;

    return frame->format < REFGPU_OUT_FORMATS && frame->pitch >= line &&
           frame->address < device->vram_bytes && bytes <= device->vram_bytes - frame->address;
}

static void show(struct refgpu_device *device, struct refgpu_output *output)
{
    output->now = output->next;
    output->pending = false;
    device->services->trace(device->host, "scan-out", output->now.address);
}

void refgpu_display_timer(struct refgpu_device *device, uint32_t index)
{
    struct refgpu_output *output = &device->display.output[index];

    output->timed = false;
    if (output->pending)
        show(device, output);
    if (output->interrupt & REFGPU_OUT_INTERRUPT_VSYNC)
        refgpu_interrupt(device, REFGPU_IRQ_VSYNC(index));
    update(device, index);
}

/* ---- registers ---- */

static uint32_t status(const struct refgpu_device *device, const struct refgpu_output *output)
{
    uint32_t bits = output->edid ? REFGPU_OUT_STATUS_CONNECTED : 0;

    if (output->pending)
        bits |= REFGPU_OUT_STATUS_PENDING;
    if (!is_enabled(output))
        return bits;
    if (line_now(device, output) >= LINES(output->size))
        bits |= REFGPU_OUT_STATUS_BLANK;
    if (!(output->control & REFGPU_OUT_CONTROL_BLANK) && !refgpu_display_fits(device, output))
        bits |= REFGPU_OUT_STATUS_RANGE;
    return bits;
}

static uint32_t line(const struct refgpu_device *device, const struct refgpu_output *output)
{
    uint32_t at;

    if (!is_enabled(output))
        return 0;
    at = line_now(device, output);
    return at >= LINES(output->size) ? at | REFGPU_OUT_LINE_BLANK : at;
}

static uint32_t edid_data(struct refgpu_output *output)
{
    uint32_t value = 0;

    for (uint32_t i = 0; i < 4u; i++)
        if (output->edid && output->edid_offset + i < output->edid_bytes)
            value |= (uint32_t)output->edid[output->edid_offset + i] << (8u * i);
    output->edid_offset = (output->edid_offset + 4u) % REFGPU_EDID_MOST_BYTES;
    return value;
}

static uint32_t output_read(struct refgpu_device *device, struct refgpu_output *output,
                            uint32_t offset)
{
    switch (offset) {
    case REFGPU_OUT_CONTROL:
        return output->control;
    case REFGPU_OUT_STATUS:
        return status(device, output);
    case REFGPU_OUT_SIZE:
        return output->size;
    case REFGPU_OUT_TOTAL:
        return output->total;
    case REFGPU_OUT_CLOCK:
        return output->clock;
    case REFGPU_OUT_INTERRUPT:
        return output->interrupt;
    case REFGPU_OUT_ADDRESS_LO:
        return LOW(output->set.address);
    case REFGPU_OUT_ADDRESS_HI:
        return HIGH(output->set.address);
    case REFGPU_OUT_NOW_LO:
        return LOW(output->now.address);
    case REFGPU_OUT_NOW_HI:
        return HIGH(output->now.address);
    case REFGPU_OUT_PITCH:
        return output->set.pitch;
    case REFGPU_OUT_FORMAT:
        return output->set.format;
    case REFGPU_OUT_LINE:
        return line(device, output);
    case REFGPU_OUT_FRAMES:
        return is_enabled(output) ? LOW(blanks(device, output)) : 0;
    case REFGPU_OUT_EDID_BYTES:
        return output->edid ? output->edid_bytes : 0;
    case REFGPU_OUT_EDID_OFFSET:
        return output->edid_offset;
    case REFGPU_OUT_EDID_DATA:
        return edid_data(output);
    case REFGPU_OUT_POINTER_POSITION:
        return output->pointer_position;
    case REFGPU_OUT_POINTER_SHAPE_LO:
        return LOW(output->pointer_shape);
    case REFGPU_OUT_POINTER_SHAPE_HI:
        return HIGH(output->pointer_shape);
    case REFGPU_OUT_GAMMA_INDEX:
        return output->gamma_index;
    case REFGPU_OUT_GAMMA_DATA:
        return output->gamma[output->gamma_index];
    default:
        return 0;
    }
}

/* A timing that there can be a signal of. */
static bool timing_is_good(const struct refgpu_output *output)
{
    const uint32_t width = COLUMNS(output->size), height = LINES(output->size);

    return width && height && width <= REFGPU_OUT_MOST_SIDE && height <= REFGPU_OUT_MOST_SIDE &&
           COLUMNS(output->total) >= width && LINES(output->total) > height && output->clock &&
           output->clock <= REFGPU_OUT_MOST_CLOCK &&
           (uint64_t)output->clock * 1000u <= frame_pixels(output) * REFGPU_OUT_MOST_HERTZ;
}

static void control(struct refgpu_device *device, struct refgpu_output *output, uint32_t value)
{
    const bool before = is_enabled(output);

    device->display.touched = true;
    output->control = value & REFGPU_OUT_CONTROL_ALL;
    if (!before && !timing_is_good(output))
        output->control &= ~REFGPU_OUT_CONTROL_ENABLE;
    if (is_enabled(output) == before)
        return;
    output->start = device->services->now(device->host);
    if (output->pending) /* between two signals nothing waits for a blank */
        show(device, output);
}

/* What was written before waits for the upper half of the address. */
static void order(struct refgpu_device *device, struct refgpu_output *output, uint32_t high,
                  bool at_once)
{
    output->set.address = (uint64_t)(high & 0xFFFFu) << 32 | LOW(output->set.address);
    output->next = output->set;
    output->pending = true;
    if (at_once || !is_enabled(output))
        show(device, output);
}

static void set_low_address(struct refgpu_output *output, uint32_t value)
{
    output->set.address = (output->set.address & ~0xFFFFFFFFull) |
                          (value & ~(REFGPU_OUT_ADDRESS_UNIT - 1u));
}

static void output_write(struct refgpu_device *device, struct refgpu_output *output,
                         uint32_t offset, uint32_t value)
{
    uint32_t *const timing = offset == REFGPU_OUT_SIZE    ? &output->size
                             : offset == REFGPU_OUT_TOTAL ? &output->total
                             : offset == REFGPU_OUT_CLOCK ? &output->clock
                                                          : NULL;

    if (timing && !is_enabled(output))
        *timing = value;
    switch (offset) {
    case REFGPU_OUT_CONTROL:
        control(device, output, value);
        break;
    case REFGPU_OUT_INTERRUPT:
        output->interrupt = value & REFGPU_OUT_INTERRUPT_ALL;
        break;
    case REFGPU_OUT_ADDRESS_LO:
    case REFGPU_OUT_NOW_LO:
        set_low_address(output, value);
        break;
    case REFGPU_OUT_ADDRESS_HI:
        order(device, output, value, false);
        break;
    case REFGPU_OUT_NOW_HI:
        order(device, output, value, true);
        break;
    case REFGPU_OUT_PITCH:
        output->set.pitch = value & ~(REFGPU_OUT_PITCH_UNIT - 1u);
        break;
    case REFGPU_OUT_FORMAT:
        output->set.format = value;
        break;
    case REFGPU_OUT_EDID_OFFSET:
        output->edid_offset = value % REFGPU_EDID_MOST_BYTES & ~3u;
        break;
    case REFGPU_OUT_POINTER_POSITION:
        output->pointer_position = value;
        break;
    case REFGPU_OUT_POINTER_SHAPE_LO:
        output->pointer_shape = (output->pointer_shape & ~0xFFFFFFFFull) |
                                (value & ~(REFGPU_OUT_ADDRESS_UNIT - 1u));
        break;
    case REFGPU_OUT_POINTER_SHAPE_HI:
        output->pointer_shape = (uint64_t)(value & 0xFFFFu) << 32 | LOW(output->pointer_shape);
        break;
    case REFGPU_OUT_GAMMA_INDEX:
        output->gamma_index = value % REFGPU_GAMMA_ENTRIES;
        break;
    case REFGPU_OUT_GAMMA_DATA:
        output->gamma[output->gamma_index] = (uint16_t)value;
        output->gamma_index = (output->gamma_index + 1u) % REFGPU_GAMMA_ENTRIES;
        break;
    default:
        break;
    }
}

static uint32_t output_of(uint32_t offset)
{
    return (offset - REFGPU_REG_OUTPUT(0u, 0u)) / REFGPU_OUTPUT_STRIDE;
}

uint32_t refgpu_display_read(struct refgpu_device *device, uint32_t offset)
{
    const uint32_t index = output_of(offset);

    return index < device->display.outputs ? output_read(device, &device->display.output[index],
                                                         offset & (REFGPU_OUTPUT_STRIDE - 1u))
                                           : 0;
}

void refgpu_display_write(struct refgpu_device *device, uint32_t offset, uint32_t value)
{
    const uint32_t index = output_of(offset);

    if (index >= device->display.outputs)
        return;
    output_write(device, &device->display.output[index], offset & (REFGPU_OUTPUT_STRIDE - 1u),
                 value);
    update(device, index);
}

void refgpu_display_power_on(struct refgpu_device *device)
{
    device->display.touched = false;
    for (uint32_t i = 0; i < device->display.outputs; i++) {
        struct refgpu_output *output = &device->display.output[i];

        output->control = output->size = output->total = output->clock = output->interrupt = 0;
        output->set = output->next = output->now = (struct refgpu_frame){.address = 0};
        output->edid_offset = output->pointer_position = output->gamma_index = 0;
        memset(output->gamma, 0, sizeof(output->gamma));
        output->pointer_shape = 0;
        output->pending = false;
        update(device, i);
    }
}
