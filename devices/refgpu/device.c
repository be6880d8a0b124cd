/* SPDX-License-Identifier: MIT */
/*
 * Life of the model. Options: vram=<bytes> (power of two, 8 MiB or more; default 256 MiB),
 * aperture=<bytes> (whole pages, 16 MiB..1 GiB; default 256 MiB), dma_bits=<32..52> (default 48),
 * no_execute=1 (page table entries can forbid the fetch of commands; default 0),
 * outputs=<0..2> (for displays; default 0), vga=1 (a VGA-compatible controller; default 0),
 * and for tests of recovery code ignore_preempt=1 (preemption requests are never answered) and
 * lose_interrupt=<n> (every n-th fence message is lost).
 */
#include "device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct options {
    uint64_t vram, aperture, dma_bits, no_execute, ignore_preempt, lose_interrupt, outputs, vga;
};

/* The value of `key`, if its last occurrence is a number; false: it is not. If absent, *value is
 * unchanged. */
static bool option_number(const struct dxgk_device_config *config, const char *key, uint64_t *value)
{
    const size_t length = strlen(key);

    for (size_t i = 0; i < config->count; i++) {
        const char *option = config->option[i];
        char *end;

        if (strncmp(option, key, length) != 0 || option[length] != '=')
            continue;
        option += length + 1u;
        errno = 0;
        *value = strtoull(option, &end, 0);
        if (end == option || *end || errno || *option == '-')
            return false;
    }
    return true;
}

static const char *read_options(const struct dxgk_device_config *config, struct options *o)
{
    *o = (struct options){.vram = 256u << 20, .aperture = 256u << 20, .dma_bits = 48};
    if (!option_number(config, "vram", &o->vram) ||
        !option_number(config, "aperture", &o->aperture) ||
        !option_number(config, "dma_bits", &o->dma_bits) ||
        !option_number(config, "no_execute", &o->no_execute) ||
        !option_number(config, "ignore_preempt", &o->ignore_preempt) ||
        !option_number(config, "lose_interrupt", &o->lose_interrupt) ||
        !option_number(config, "outputs", &o->outputs) || !option_number(config, "vga", &o->vga))
        return "an option is not a number";
    if (o->vram < 8u << 20 || o->vram > 1ull << 36 || (o->vram & (o->vram - 1u)))
        return "vram must be a power of two from 8 MiB to 64 GiB";
    if (o->aperture < 16u << 20 || o->aperture > 1u << 30 || o->aperture % REFGPU_PAGE_BYTES)
        return "aperture must be whole pages from 16 MiB to 1 GiB";
    if (o->dma_bits < 32u || o->dma_bits > 52u)
        return "dma_bits must be 32 to 52";
    if (o->no_execute > 1u)
        return "no_execute must be 0 or 1";
    if (o->lose_interrupt > UINT32_MAX)
        return "lose_interrupt is too large";
    if (o->outputs > REFGPU_OUTPUTS)
        return "outputs must be 0 to 2";
    if (o->vga > 1u || o->vga > o->outputs)
        return "vga must be 0 or 1, and 0 without outputs";
    return NULL;
}

static bool refgpu_configure(const struct dxgk_device_config *config,
                             struct dxgk_device_description *description, const char **error)
{
    struct options o;
    const char *wrong = read_options(config, &o);

    if (wrong) {
        *error = wrong;
        return false;
    }
    description->vendor = REFGPU_PCI_VENDOR;
    description->device = REFGPU_PCI_DEVICE;
    description->subsystem_vendor = REFGPU_PCI_VENDOR;
    description->subsystem = (uint16_t)o.dma_bits;
    description->revision = REFGPU_PCI_REVISION;
    description->class_code = o.vga ? REFGPU_PCI_CLASS_VGA : REFGPU_PCI_CLASS;
    description->bar[REFGPU_BAR_REGISTERS] = (struct dxgk_device_bar){
        .kind = DXGK_BAR_REGISTERS, .bytes = REFGPU_REGISTER_BYTES};
    description->bar[REFGPU_BAR_VRAM] = (struct dxgk_device_bar){.kind = DXGK_BAR_MEMORY,
                                                                 .bytes = o.vram};
    description->messages = 1;
    description->dma_bits = (uint8_t)o.dma_bits;
    return true;
}

static void refgpu_destroy(void *context)
{
    struct refgpu_device *device = context;

    if (!device)
        return;
    for (uint32_t i = 0; i < REFGPU_ALL_ENGINES; i++)
        free(device->engine[i].fetched);
    for (size_t i = 0; i < sizeof device->row / sizeof device->row[0]; i++)
        free(device->row[i]);
    refgpu_display_free(device);
    free(device->scale_x);
    free(device->tlb);
    free(device);
}

static bool allocate_buffers(struct refgpu_device *device)
{
    device->tlb = calloc(REFGPU_TLB_ENTRIES, sizeof *device->tlb);
    device->scale_x = calloc(REFGPU_MAX_PIXELS, sizeof *device->scale_x);
    if (!device->tlb || !device->scale_x)
        return false;
    for (size_t i = 0; i < sizeof device->row / sizeof device->row[0]; i++) {
        device->row[i] = calloc(1, REFGPU_ROW_BYTES);
        if (!device->row[i])
            return false;
    }
    for (uint32_t i = 0; i < REFGPU_ALL_ENGINES; i++) {
        device->engine[i].device = device;
        device->engine[i].index = i;
        device->engine[i].fetched = calloc(REFGPU_CMD_MAX_DWORDS, sizeof(uint32_t));
        if (!device->engine[i].fetched)
            return false;
    }
    return true;
}

static void *refgpu_create(const struct dxgk_device_config *config,
                           const struct dxgk_device_services *services, void *host)
{
    struct refgpu_device *device;
    struct options o;

    if (read_options(config, &o) || services->size < sizeof *services)
        return NULL;
    device = calloc(1, sizeof *device);
    if (!device)
        return NULL;
    device->services_copy = *services;
    device->services = &device->services_copy;
    device->host = host;
    device->vram = services->memory(host, REFGPU_BAR_VRAM);
    device->vram_bytes = o.vram;
    device->dma_bits = (uint32_t)o.dma_bits;
    device->gart_limit = (uint32_t)(o.aperture >> REFGPU_PAGE_SHIFT);
    device->no_execute = o.no_execute != 0;
    device->ignore_preempt = o.ignore_preempt != 0;
    device->lose_interrupt = (uint32_t)o.lose_interrupt;
    device->display.outputs = (uint32_t)o.outputs;
    device->display.vga = o.vga != 0;
    if (!device->vram || !allocate_buffers(device)) {
        refgpu_destroy(device);
        return NULL;
    }
    device->tlb_generation = 1;
    device->sched.running = device->sched.last_context = REFGPU_SCHED_NONE;
    refgpu_mmu_tell(device);
    device->services->patches(device->host, &refgpu_patch_format);
    refgpu_display_tell(device);
    return device;
}

static void refgpu_reset(void *context)
{
    refgpu_register_write(context, REFGPU_REG_CONTROL, 4, REFGPU_CONTROL_RESET);
}

static uint64_t refgpu_read(void *context, unsigned bar, uint64_t offset, unsigned width)
{
    return bar == REFGPU_BAR_REGISTERS ? refgpu_register_read(context, offset, width) : ~0ull;
}

static void refgpu_write(void *context, unsigned bar, uint64_t offset, unsigned width,
                         uint64_t value)
{
    if (bar == REFGPU_BAR_REGISTERS)
        refgpu_register_write(context, offset, width, value);
}

static void refgpu_timer(void *context, unsigned timer)
{
    struct refgpu_device *device = context;

    if (timer < REFGPU_ALL_ENGINES) {
        refgpu_engine_timer(&device->engine[timer]);
    } else if (timer == REFGPU_SCHED_TIMER) {
        refgpu_sched_account(device);
        refgpu_sched_update(device);
    } else if (timer < REFGPU_DISPLAY_TIMER(REFGPU_OUTPUTS)) {
        refgpu_display_timer(device, timer - REFGPU_DISPLAY_TIMER(0u));
    }
}

static const struct dxgk_device_model model = {
    .api_version = DXGK_DEVICE_API_VERSION,
    .name = "refgpu",
    .configure = refgpu_configure,
    .create = refgpu_create,
    .destroy = refgpu_destroy,
    .reset = refgpu_reset,
    .read = refgpu_read,
    .write = refgpu_write,
    .timer = refgpu_timer,
};

const struct dxgk_device_model *dxgk_device_get_model(uint32_t api_version)
{
    return api_version == DXGK_DEVICE_API_VERSION ? &model : NULL;
}
