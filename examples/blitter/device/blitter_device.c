/* SPDX-License-Identifier: MIT */
/* A model of the Blitter for dxgkhost: what blitter_hw.h says, in software. */
#include <stdlib.h>
#include <string.h>

#include <dxgkhost/device.h>

#include "blitter_hw.h"

#define VRAM_BYTES   (4u << 20) /* unless the run says vram=BYTES */
#define PACKET_NS    500u       /* to fetch and decode */
#define BYTES_PER_NS 4u
#define TIMER        0u

struct packet {
    uint64_t address;
    uint32_t bytes, fence;
};

struct device {
    const struct dxgk_device_services *services;
    void *host;
    uint64_t vram_bytes;
    uint32_t status, enable, completed, fault_fence;
    uint32_t dma_lo, dma_hi, dma_bytes;
    bool notify_idle;
    uint64_t aperture[BLITTER_APERTURE_PAGES]; /* bus addresses; 0: not mapped */
    struct packet queue[BLITTER_QUEUE];
    unsigned head, count;
};

static uint64_t vram_bytes(const struct dxgk_device_config *config)
{
    uint64_t bytes = VRAM_BYTES;

    for (size_t i = 0; i < config->count; i++) {
        if (strncmp(config->option[i], "vram=", 5) == 0)
            bytes = strtoull(config->option[i] + 5, NULL, 0);
    }
    return bytes;
}

static bool configure(const struct dxgk_device_config *config, struct dxgk_device_description *d,
                      const char **error)
{
    uint64_t bytes = vram_bytes(config);

    if (bytes < 65536 || bytes > 1u << 30 || (bytes & (bytes - 1)) != 0) {
        *error = "vram must be a power of two from 65536 to 1073741824";
        return false;
    }
    d->vendor = BLITTER_PCI_VENDOR;
    d->device = BLITTER_PCI_DEVICE;
    d->class_code = 0x038000;
    d->bar[0].kind = DXGK_BAR_REGISTERS;
    d->bar[0].bytes = BLITTER_REGISTER_BYTES;
    d->bar[2].kind = DXGK_BAR_MEMORY;
    d->bar[2].bytes = bytes;
    d->messages = 1;
    d->dma_bits = 40;
    return true;
}

static void *create(const struct dxgk_device_config *config,
                    const struct dxgk_device_services *services, void *host)
{
    struct device *d = calloc(1, sizeof(*d));

    if (d) {
        d->services = services;
        d->host = host;
        d->vram_bytes = vram_bytes(config);
    }
    return d;
}

static void destroy(void *device)
{
    free(device);
}

/* The oldest packet begins, or the engine is rid of it: so the host finds a driver that says something else. */
static void tell_work(const struct device *d, bool begins)
{
    const struct packet *packet = &d->queue[d->head];
    const struct dxgk_device_work work = {.fence = packet->fence,
                                          .begins = begins,
                                          .bytes = packet->bytes,
                                          .address = packet->address};

    d->services->work(d->host, &work);
}

static void drop_packets(struct device *d)
{
    d->services->timer_disarm(d->host, TIMER);
    if (d->count)
        tell_work(d, false);
    d->status = d->enable = d->fault_fence = 0;
    d->dma_lo = d->dma_hi = d->dma_bytes = 0;
    d->notify_idle = false;
    d->head = d->count = 0;
}

static void reset(void *device)
{
    struct device *d = device;

    drop_packets(d);
    d->completed = 0;
    memset(d->aperture, 0, sizeof(d->aperture));
}

static void raise_causes(struct device *d, uint32_t causes)
{
    d->status |= causes;
    if (d->enable)
        d->services->interrupt(d->host, 0);
}

/* ---- execution ---- */

#define PAGE 4096u

static bool in_vram(const struct device *d, uint64_t address, uint32_t bytes)
{
    return address <= d->vram_bytes && bytes <= d->vram_bytes - address;
}

/* `bytes` do not cross a page. An address of the aperture becomes one of the bus; false: nothing is there. */
static bool translate(const struct device *d, uint64_t *address)
{
    uint64_t page = (*address - BLITTER_APERTURE) / PAGE;

    if (*address & BLITTER_BUS || *address < BLITTER_APERTURE)
        return true;
    if (page >= BLITTER_APERTURE_PAGES || !d->aperture[page])
        return false;
    *address = d->aperture[page] + *address % PAGE;
    return true;
}

static bool load(struct device *d, uint64_t address, void *to, uint32_t bytes)
{
    if (!translate(d, &address))
        return false;
    if (address & BLITTER_BUS)
        return d->services->dma_read(d->host, address & ~BLITTER_BUS, to, bytes);
    if (!in_vram(d, address, bytes))
        return false;
    memcpy(to, (const char *)d->services->memory(d->host, 2) + address, bytes);
    return true;
}

static bool store(struct device *d, uint64_t address, const void *from, uint32_t bytes)
{
    if (!translate(d, &address))
        return false;
    if (address & BLITTER_BUS)
        return d->services->dma_write(d->host, address & ~BLITTER_BUS, from, bytes);
    if (!in_vram(d, address, bytes))
        return false;
    memcpy((char *)d->services->memory(d->host, 2) + address, from, bytes);
    return true;
}

static bool map_aperture(struct device *d, const struct blitter_command *c)
{
    uint32_t pages = c->bytes / PAGE;

    if (c->dst > BLITTER_APERTURE_PAGES || pages > BLITTER_APERTURE_PAGES - c->dst)
        return false;
    for (uint32_t i = 0; i < pages; i++)
        d->aperture[c->dst + i] = c->src + (c->op == BLITTER_OP_MAP ? (uint64_t)i * PAGE : 0);
    return true;
}

static uint32_t to_end_of_page(uint64_t address)
{
    return PAGE - (uint32_t)(address % PAGE);
}

/* Fill or copy, in parts that cross a page on neither side. */
static bool execute(struct device *d, const struct blitter_command *c)
{
    uint8_t buffer[PAGE];

    if (c->op == BLITTER_OP_MAP || c->op == BLITTER_OP_HIDE)
        return map_aperture(d, c);
    if (c->op != BLITTER_OP_FILL && c->op != BLITTER_OP_COPY)
        return false;
    for (size_t i = 0; c->op == BLITTER_OP_FILL && i < sizeof(buffer); i += 4)
        memcpy(buffer + i, &c->pattern, 4);
    for (uint32_t done = 0; done < c->bytes;) {
        uint32_t part = c->bytes - done;

        if (part > to_end_of_page(c->dst + done))
            part = to_end_of_page(c->dst + done);
        if (c->op == BLITTER_OP_COPY && part > to_end_of_page(c->src + done))
            part = to_end_of_page(c->src + done);
        if ((c->op == BLITTER_OP_COPY && !load(d, c->src + done, buffer, part)) ||
            !store(d, c->dst + done, buffer, part))
            return false;
        done += part;
    }
    return true;
}

/* How long a packet takes; what cannot be read takes no time. */
static uint64_t duration(struct device *d, const struct packet *packet)
{
    uint64_t ns = PACKET_NS;

    for (uint32_t at = 0; at + sizeof(struct blitter_command) <= packet->bytes;
         at += sizeof(struct blitter_command)) {
        struct blitter_command c;

        if (!d->services->dma_read(d->host, packet->address + at, &c, sizeof(c)))
            break;
        ns += c.bytes / BYTES_PER_NS;
    }
    return ns;
}

static void start_next(struct device *d)
{
    if (d->count) {
        tell_work(d, true);
        d->services->timer_arm(d->host, TIMER, duration(d, &d->queue[d->head]));
    } else if (d->notify_idle) {
        d->notify_idle = false;
        raise_causes(d, BLITTER_IRQ_IDLE);
    }
}

static void finish_packet(void *device, unsigned timer)
{
    struct device *d = device;
    struct packet packet = d->queue[d->head];
    bool good = packet.bytes % sizeof(struct blitter_command) == 0;

    (void)timer;
    for (uint32_t at = 0; good && at < packet.bytes; at += sizeof(struct blitter_command)) {
        struct blitter_command c;

        good = d->services->dma_read(d->host, packet.address + at, &c, sizeof(c)) && execute(d, &c);
    }
    tell_work(d, false);
    d->head = (d->head + 1) % BLITTER_QUEUE;
    d->count--;
    d->completed = packet.fence;
    if (!good)
        d->fault_fence = packet.fence;
    raise_causes(d, BLITTER_IRQ_FENCE | (good ? 0 : BLITTER_IRQ_FAULT));
    start_next(d);
}

/* ---- registers ---- */

static uint64_t read_register(void *device, unsigned bar, uint64_t offset, unsigned width)
{
    struct device *d = device;
    uint32_t status = d->status;

    (void)bar;
    (void)width;
    switch (offset) {
    case BLITTER_REG_ID:
        return BLITTER_ID;
    case BLITTER_REG_IRQ_STATUS:
        d->status = 0;
        return status;
    case BLITTER_REG_IRQ_ENABLE:
        return d->enable;
    case BLITTER_REG_COMPLETED:
        return d->completed;
    case BLITTER_REG_FAULT_FENCE:
        return d->fault_fence;
    default:
        return 0;
    }
}

static void submit(struct device *d, uint32_t fence)
{
    struct packet *packet = &d->queue[(d->head + d->count) % BLITTER_QUEUE];

    if (d->count == BLITTER_QUEUE)
        return; /* lost: the driver was told how many there may be */
    packet->address = (uint64_t)d->dma_hi << 32 | d->dma_lo;
    packet->bytes = d->dma_bytes;
    packet->fence = fence;
    if (d->count++ == 0)
        start_next(d);
}

static void write_register(void *device, unsigned bar, uint64_t offset, unsigned width,
                           uint64_t value)
{
    struct device *d = device;

    (void)bar;
    (void)width;
    switch (offset) {
    case BLITTER_REG_RESET:
        drop_packets(d);
        break;
    case BLITTER_REG_IRQ_ENABLE:
        d->enable = (uint32_t)value;
        if (d->enable && d->status)
            d->services->interrupt(d->host, 0);
        break;
    case BLITTER_REG_DMA_LO:
        d->dma_lo = (uint32_t)value;
        break;
    case BLITTER_REG_DMA_HI:
        d->dma_hi = (uint32_t)value;
        break;
    case BLITTER_REG_DMA_BYTES:
        d->dma_bytes = (uint32_t)value;
        break;
    case BLITTER_REG_SUBMIT:
        submit(d, (uint32_t)value);
        break;
    case BLITTER_REG_COMPLETED:
        d->completed = (uint32_t)value;
        break;
    case BLITTER_REG_NOTIFY_IDLE:
        d->notify_idle = true;
        if (d->count == 0)
            start_next(d);
        break;
    default:
        break;
    }
}

const struct dxgk_device_model *dxgk_device_get_model(uint32_t api_version)
{
    static const struct dxgk_device_model model = {
        .api_version = DXGK_DEVICE_API_VERSION,
        .name = "Blitter",
        .configure = configure,
        .create = create,
        .destroy = destroy,
        .reset = reset,
        .read = read_register,
        .write = write_register,
        .timer = finish_packet,
    };

    return api_version == DXGK_DEVICE_API_VERSION ? &model : NULL;
}
