/* SPDX-License-Identifier: MIT */
/* The device of the probe: queues of fences that complete after a while, one interrupt status register. */
#include "dxgkhost/device.h"
#include "port/support/probe.h"

#include <stdlib.h>
#include <string.h>

#define QUEUE       64u
#define MAX_DEVICES 8u

struct engine {
    uint32_t queue[QUEUE];
    unsigned count;
    uint32_t completed, preempt;
};

struct device {
    const struct dxgk_device_services *services;
    void *host;
    uint32_t status, enable, scratch;
    uint32_t message;
    struct engine engine[PROBE_WORKING_NODES];
    unsigned index;
};

uint64_t probe_device_packet_ns = 1000;
void (*probe_device_done)(unsigned device, unsigned node, uint32_t fence);
static struct device *devices[MAX_DEVICES];

void probe_device_forget(void)
{
    memset(devices, 0, sizeof(devices));
}

static uint64_t option(const struct dxgk_device_config *config, const char *key, uint64_t otherwise)
{
    size_t length = strlen(key);

    for (size_t i = 0; i < config->count; i++)
        if (strncmp(config->option[i], key, length) == 0 && config->option[i][length] == '=')
            return strtoull(config->option[i] + length + 1, NULL, 0);
    return otherwise;
}

/* A vendor-specific capability: its length, and bytes to know it by. */
static const uint8_t own_bytes[] = {6, 'o', 'w', 'n'};
static const struct dxgk_device_capability own = {0x09, sizeof(own_bytes), own_bytes, NULL};

static bool configure(const struct dxgk_device_config *config, struct dxgk_device_description *d,
                      const char **error)
{
    (void)error;
    d->vendor = 0x1AF4;
    d->device = 0x1234;
    d->subsystem_vendor = 0x1AF4;
    d->subsystem = 40;
    d->revision = 2;
    d->class_code = (uint32_t)option(config, "class", 0x038000);
    d->bar[0].kind = DXGK_BAR_REGISTERS;
    d->bar[0].bytes = 0x1000;
    d->bar[2].kind = DXGK_BAR_MEMORY;
    d->bar[2].bytes = option(config, "vram", 16u << 20);
    d->bar[4].bytes = option(config, "ports", 0); /* the first registers once more */
    d->bar[4].kind = d->bar[4].bytes ? DXGK_BAR_PORTS : DXGK_BAR_NONE;
    d->messages = (uint32_t)option(config, "messages", 1);
    d->capability = &own;
    d->capabilities = 1;
    d->dma_bits = (uint8_t)option(config, "dma_bits", 40);
    return true;
}

static void *create(const struct dxgk_device_config *config,
                    const struct dxgk_device_services *services, void *host)
{
    struct device *d = calloc(1, sizeof(*d));

    if (!d)
        return NULL;
    d->services = services;
    d->host = host;
    d->message = (uint32_t)option(config, "message", 0);
    while (d->index < MAX_DEVICES && devices[d->index])
        d->index++;
    if (d->index == MAX_DEVICES) {
        free(d);
        return NULL;
    }
    devices[d->index] = d;
    return d;
}

static void destroy(void *device)
{
    struct device *d = device;

    devices[d->index] = NULL;
    free(d);
}

static void reset(void *device)
{
    struct device *d = device;

    for (unsigned i = 0; i < PROBE_WORKING_NODES; i++)
        d->services->timer_disarm(d->host, i);
    memset(d->engine, 0, sizeof(d->engine));
    d->status = d->enable = 0;
}

static void cause(struct device *d, uint32_t bits)
{
    d->status |= bits;
    if (d->enable)
        d->services->interrupt(d->host, d->message);
}

static void next(struct device *d, unsigned node)
{
    d->services->timer_arm(d->host, node, probe_device_packet_ns);
}

static void timer(void *device, unsigned node)
{
    struct device *d = device;
    struct engine *e = &d->engine[node];

    if (e->count) {
        if (probe_device_done)
            probe_device_done(d->index, node, e->queue[0]);
        e->completed = e->queue[0];
        memmove(e->queue, e->queue + 1, (QUEUE - 1) * sizeof(e->queue[0]));
        e->count--;
    }
    cause(d, 1u << node);
    if (e->count)
        next(d, node);
}

static uint64_t read_register(void *device, unsigned bar, uint64_t offset, unsigned width)
{
    struct device *d = device;
    uint32_t status = d->status;

    (void)bar;
    (void)width;
    if (offset == PROBE_REG_ID)
        return PROBE_ID;
    if (offset == PROBE_REG_SCRATCH)
        return d->scratch;
    if (offset == PROBE_REG_STATUS) {
        d->status = 0;
        return status;
    }
    if (offset >= 0x100 && offset < 0x100 + 16 * PROBE_WORKING_NODES && offset % 16 == 4)
        return d->engine[(offset - 0x100) / 16].completed;
    return 0;
}

static void write_register(void *device, unsigned bar, uint64_t offset, unsigned width,
                           uint64_t value)
{
    struct device *d = device;

    (void)bar;
    (void)width;
    if (offset == PROBE_REG_ENABLE) {
        d->enable = (uint32_t)value;
        if (d->enable && d->status)
            d->services->interrupt(d->host, d->message);
    } else if (offset == PROBE_REG_SCRATCH) {
        d->scratch = (uint32_t)value;
    } else if (offset == PROBE_REG_RESET) {
        reset(d);
    } else if (offset >= 0x100 && offset < 0x100 + 16 * PROBE_WORKING_NODES) {
        unsigned node = (unsigned)(offset - 0x100) / 16;
        struct engine *e = &d->engine[node];

        if (offset % 16 == 0 && e->count < QUEUE) {
            e->queue[e->count++] = (uint32_t)value;
            if (e->count == 1)
                next(d, node);
        } else if (offset % 16 == 8 && e->count == 0) {
            cause(d, 1u << node); /* idle: preempted at once */
        }
    }
}

static struct device *device_of(unsigned index)
{
    if (index >= MAX_DEVICES || !devices[index])
        fail_msg("no device %u", index);
    return devices[index];
}

void probe_device_raise(unsigned index, uint32_t message)
{
    struct device *d = device_of(index);

    d->services->interrupt(d->host, message);
}

void probe_device_cause(unsigned index, uint32_t causes, uint32_t message)
{
    struct device *d = device_of(index);

    d->status |= causes;
    d->services->interrupt(d->host, message);
}

bool probe_device_dma(unsigned index, uint64_t address, void *bytes, size_t count, bool write)
{
    struct device *d = device_of(index);

    return write ? d->services->dma_write(d->host, address, bytes, count)
                 : d->services->dma_read(d->host, address, bytes, count);
}

bool probe_device_pasid(unsigned index, uint32_t pasid, uint64_t address, void *bytes, size_t count,
                        bool write)
{
    struct device *d = device_of(index);

    return d->services->dma_pasid(d->host, pasid, address, write ? DXGK_DMA_WRITE : DXGK_DMA_READ,
                                  bytes, count);
}

void probe_device_source(unsigned index, unsigned engine, uint64_t command)
{
    struct device *d = device_of(index);

    d->services->dma_source(d->host, engine, command);
}

void probe_device_work(unsigned index, const struct dxgk_device_work *work)
{
    struct device *d = device_of(index);

    d->services->work(d->host, work);
}

const struct dxgk_device_model probe_device_model = {
    .api_version = DXGK_DEVICE_API_VERSION,
    .name = "probe",
    .configure = configure,
    .create = create,
    .destroy = destroy,
    .reset = reset,
    .read = read_register,
    .write = write_register,
    .timer = timer,
};
