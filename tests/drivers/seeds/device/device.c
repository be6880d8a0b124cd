/* SPDX-License-Identifier: MIT */
/*
 * The model's PCI function and registers. Options: vram=BYTES, and those that only the driver reads, in SEEDS_REG_CONFIG:
 * multi=0|1, preempt=0|1, gpummu=0|1, aperture=0|1, pagingaperture=0|1, cputables=0|1, noexec=0|1, failpatch=0|1, private=BYTES,
 * stays=0|1, nopatching=0|1, keep=0|1.
 */
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define VRAM_BYTES (8u << 20)

static uint64_t option(const struct dxgk_device_config *config, const char *name, uint64_t otherwise)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < config->count; i++)
        if (strncmp(config->option[i], name, length) == 0 && config->option[i][length] == '=')
            otherwise = strtoull(config->option[i] + length + 1, NULL, 0);
    return otherwise;
}

static uint32_t behaviour(const struct dxgk_device_config *config)
{
    static const struct {
        const char *name;
        uint32_t bit;
    } bits[] = {
        {"preempt", SEEDS_CONFIG_PREEMPT},
        {"gpummu", SEEDS_CONFIG_GPUMMU},
        {"aperture", SEEDS_CONFIG_APERTURE},
        {"noexec", SEEDS_CONFIG_NOEXEC},
        {"failpatch", SEEDS_CONFIG_FAIL_PATCH},
        {"pagingaperture", SEEDS_CONFIG_PAGING_APERTURE},
        {"cputables", SEEDS_CONFIG_CPU_TABLES},
        {"stays", SEEDS_CONFIG_PRIVATE_STAYS},
        {"nopatching", SEEDS_CONFIG_NO_DMA_PATCHING},
        {"keep", SEEDS_CONFIG_KEEP},
    };
    uint32_t value = option(config, "multi", 1) ? SEEDS_CONFIG_MULTI : 0;

    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
        if (option(config, bits[i].name, 0))
            value |= bits[i].bit;
    return value | (uint32_t)(option(config, "private", 64) / 8 & 0xFF) << 8;
}

static bool configure(const struct dxgk_device_config *config, struct dxgk_device_description *d,
                      const char **error)
{
    uint64_t bytes = option(config, "vram", VRAM_BYTES);

    if (bytes < 65536 || bytes > 1u << 30 || (bytes & (bytes - 1)) != 0) {
        *error = "vram must be a power of two from 65536 to 1073741824";
        return false;
    }
    d->vendor = SEEDS_PCI_VENDOR;
    d->device = SEEDS_PCI_DEVICE;
    d->class_code = 0x038000;
    d->bar[0].kind = DXGK_BAR_REGISTERS;
    d->bar[0].bytes = SEEDS_REGISTER_BYTES;
    d->bar[2].kind = DXGK_BAR_MEMORY;
    d->bar[2].bytes = bytes;
    d->messages = 1;
    d->dma_bits = 48;
    return true;
}

static void *create(const struct dxgk_device_config *config,
                    const struct dxgk_device_services *services, void *host)
{
    struct seeds_device *d = calloc(1, sizeof(*d));

    if (!d)
        return NULL;
    d->services = services;
    d->host = host;
    d->vram_bytes = option(config, "vram", VRAM_BYTES);
    d->config = behaviour(config);
    return d;
}

static void destroy(void *device)
{
    free(device);
}

/* The oldest packet of the engine begins, or the engine is rid of it. */
static void tell_work(const struct seeds_device *d, unsigned index, bool begins)
{
    const struct seeds_engine *e = &d->engine[index];
    const struct seeds_packet *packet = &e->queue[e->head];
    const struct dxgk_device_work work = {.node = index,
                                          .fence = packet->fence,
                                          .begins = begins,
                                          .bytes = packet->bytes,
                                          .address = packet->address & ~SEEDS_BUS};

    d->services->work(d->host, &work);
}

static void drop_packets(struct seeds_device *d)
{
    d->status = d->enable = 0;
    for (unsigned i = 0; i < SEEDS_ENGINES; i++) {
        d->services->timer_disarm(d->host, i);
        if (d->engine[i].count)
            tell_work(d, i, false);
        d->engine[i].count = 0;
        d->engine[i].preempting = false;
        d->engine[i].fault_fence = 0;
    }
}

static void reset(void *device)
{
    struct seeds_device *d = device;

    drop_packets(d);
    for (unsigned i = 0; i < SEEDS_ENGINES; i++)
        d->engine[i].completed = 0;
    d->scratch = 0;
    memset(d->aperture, 0, sizeof(d->aperture));
}

/* ---- packets ---- */

static void raise_causes(struct seeds_device *d, unsigned engine, uint32_t causes)
{
    d->status |= SEEDS_IRQ(engine, causes);
    if (d->enable)
        d->services->interrupt(d->host, 0);
}

static void start_next(struct seeds_device *d, unsigned index)
{
    struct seeds_engine *e = &d->engine[index];

    if (e->count) {
        d->services->dma_source(d->host, index, e->queue[e->head].fence);
        tell_work(d, index, true);
        d->services->timer_arm(d->host, index, seeds_duration(d, &e->queue[e->head]));
    } else if (e->preempting) {
        e->preempting = false;
        raise_causes(d, index, SEEDS_IRQ_PREEMPTED);
    }
}

static void finish_packet(void *device, unsigned index)
{
    struct seeds_device *d = device;
    struct seeds_engine *e = &d->engine[index];
    struct seeds_packet packet = e->queue[e->head];
    bool good;

    d->services->dma_source(d->host, index, packet.fence);
    good = seeds_execute(d, &packet);
    tell_work(d, index, false);
    e->head = (e->head + 1) % SEEDS_QUEUE;
    e->count--;
    e->completed = packet.fence;
    if (!good)
        e->fault_fence = packet.fence;
    raise_causes(d, index, SEEDS_IRQ_FENCE | (good ? 0 : SEEDS_IRQ_FAULT));
    start_next(d, index);
}

static void submit(struct seeds_device *d, unsigned index, uint32_t fence)
{
    struct seeds_engine *e = &d->engine[index];
    struct seeds_packet *packet = &e->queue[(e->head + e->count) % SEEDS_QUEUE];

    if (e->count == SEEDS_QUEUE)
        return; /* lost: the driver was told how many there may be */
    packet->address = (uint64_t)e->dma_hi << 32 | e->dma_lo;
    packet->root = (uint64_t)e->root_hi << 32 | e->root_lo;
    packet->bytes = e->bytes;
    packet->flags = e->flags;
    packet->fence = fence;
    if (e->count++ == 0)
        start_next(d, index);
}

static void preempt(struct seeds_device *d, unsigned index)
{
    struct seeds_engine *e = &d->engine[index];

    e->preempting = true;
    if (e->count)
        e->count = 1;
    else
        start_next(d, index);
}

/* ---- registers ---- */

static void peek(struct seeds_device *d, uint32_t how)
{
    uint64_t address = (uint64_t)d->peek_hi << 32 | d->peek_lo;
    uint64_t root = (uint64_t)d->root_hi << 32 | d->root_lo;
    uint64_t data = (uint64_t)d->data_hi << 32 | d->data_lo;
    bool is_virtual = (how & SEEDS_PEEK_VIRTUAL) != 0;

    d->services->dma_source(d->host, 0, 0);
    if (how & SEEDS_PEEK_WRITE) {
        d->peek_status = seeds_store(d, is_virtual, root, address, &data, sizeof(data));
        return;
    }
    data = 0;
    d->peek_status = seeds_load(d, is_virtual, root, address, &data, sizeof(data));
    d->data_lo = (uint32_t)data;
    d->data_hi = (uint32_t)(data >> 32);
}

static uint64_t read_engine(const struct seeds_engine *e, uint64_t offset)
{
    switch (offset) {
    case SEEDS_ENG_COMPLETED:
        return e->completed;
    case SEEDS_ENG_FAULT_FENCE:
        return e->fault_fence;
    default:
        return 0;
    }
}

static uint64_t read_register(void *device, unsigned bar, uint64_t offset, unsigned width)
{
    struct seeds_device *d = device;
    uint32_t status = d->status;

    (void)bar;
    (void)width;
    if (offset >= SEEDS_REG_ENGINE(0, 0) && offset < SEEDS_REG_ENGINE(SEEDS_ENGINES, 0))
        return read_engine(&d->engine[(offset - SEEDS_REG_ENGINE(0, 0)) / 0x40], offset % 0x40);
    switch (offset) {
    case SEEDS_REG_ID:
        return SEEDS_ID;
    case SEEDS_REG_CONFIG:
        return d->config;
    case SEEDS_REG_IRQ_STATUS:
        d->status = 0;
        return status;
    case SEEDS_REG_SCRATCH:
        return d->scratch;
    case SEEDS_REG_PEEK_STATUS:
        return d->peek_status;
    case SEEDS_REG_DATA_LO:
        return d->data_lo;
    case SEEDS_REG_DATA_HI:
        return d->data_hi;
    default:
        return 0;
    }
}

static void write_engine(struct seeds_device *d, unsigned index, uint64_t offset, uint32_t value)
{
    struct seeds_engine *e = &d->engine[index];

    switch (offset) {
    case SEEDS_ENG_DMA_LO:
        e->dma_lo = value;
        break;
    case SEEDS_ENG_DMA_HI:
        e->dma_hi = value;
        break;
    case SEEDS_ENG_BYTES:
        e->bytes = value;
        break;
    case SEEDS_ENG_FLAGS:
        e->flags = value;
        break;
    case SEEDS_ENG_ROOT_LO:
        e->root_lo = value;
        break;
    case SEEDS_ENG_ROOT_HI:
        e->root_hi = value;
        break;
    case SEEDS_ENG_SUBMIT:
        submit(d, index, value);
        break;
    case SEEDS_ENG_COMPLETED:
        e->completed = value;
        break;
    case SEEDS_ENG_PREEMPT:
        preempt(d, index);
        break;
    default:
        break;
    }
}

static void write_register(void *device, unsigned bar, uint64_t offset, unsigned width,
                           uint64_t value)
{
    struct seeds_device *d = device;
    uint32_t word = (uint32_t)value;

    (void)bar;
    (void)width;
    if (offset >= SEEDS_REG_ENGINE(0, 0) && offset < SEEDS_REG_ENGINE(SEEDS_ENGINES, 0)) {
        write_engine(d, (unsigned)((offset - SEEDS_REG_ENGINE(0, 0)) / 0x40), offset % 0x40, word);
        return;
    }
    switch (offset) {
    case SEEDS_REG_RESET:
        drop_packets(d);
        break;
    case SEEDS_REG_IRQ_ENABLE:
        d->enable = word;
        if (d->enable && d->status)
            d->services->interrupt(d->host, 0);
        break;
    case SEEDS_REG_SCRATCH:
        d->scratch = word;
        break;
    case SEEDS_REG_PEEK_LO:
        d->peek_lo = word;
        break;
    case SEEDS_REG_PEEK_HI:
        d->peek_hi = word;
        break;
    case SEEDS_REG_PEEK_GO:
        peek(d, word);
        break;
    case SEEDS_REG_DATA_LO:
        d->data_lo = word;
        break;
    case SEEDS_REG_DATA_HI:
        d->data_hi = word;
        break;
    case SEEDS_REG_ROOT_LO:
        d->root_lo = word;
        break;
    case SEEDS_REG_ROOT_HI:
        d->root_hi = word;
        break;
    default:
        break;
    }
}

const struct dxgk_device_model *dxgk_device_get_model(uint32_t api_version)
{
    static const struct dxgk_device_model model = {
        .api_version = DXGK_DEVICE_API_VERSION,
        .name = "Seeds",
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
