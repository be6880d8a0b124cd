/* SPDX-License-Identifier: MIT */
/* A model of the NPU for dxgkhost: what npu_hw.h says, in software. */
#include <stdlib.h>
#include <string.h>

#include <dxgkhost/device.h>

#include "npu_hw.h"

#define PAGE            4096u
#define PACKET_NS       800u /* to fetch and decode */
#define BYTES_PER_NS    8u
#define PRODUCTS_PER_NS 256u
#define TIMER           0u
#define TRANSLATIONS    1024u

struct packet {
    uint64_t root, address;
    uint32_t bytes, flags, fence;
};

struct translation {
    uint64_t root, page, entry; /* entry 0: none */
};

struct device {
    const struct dxgk_device_services *services;
    void *host;
    uint32_t causes, enable, notify_idle;
    uint64_t status_page, root, dma; /* registers of the next packet */
    uint32_t dma_bytes, dma_flags;
    uint32_t fault, fault_fence; /* fault is not 0: the engine stands still */
    uint64_t fault_address;
    struct packet queue[NPU_QUEUE];
    unsigned head, count;
    bool checks_translations;
    struct translation translation[TRANSLATIONS];
};

/* ---- the function ---- */

static bool configure(const struct dxgk_device_config *config, struct dxgk_device_description *d,
                      const char **error)
{
    (void)config;
    (void)error;
    d->vendor = NPU_PCI_VENDOR;
    d->device = NPU_PCI_DEVICE;
    d->class_code = 0x120000;
    d->bar[0].kind = DXGK_BAR_REGISTERS;
    d->bar[0].bytes = NPU_REGISTER_BYTES;
    d->messages = 1;
    d->dma_bits = 40;
    return true;
}

/* ---- page tables ---- */

static bool read_entry(struct device *d, uint64_t address, uint64_t *entry)
{
    return d->services->dma_read(d->host, address, entry, sizeof(*entry));
}

/* From the root to the leaf, or to where it ends. */
static void walk_from(struct device *d, uint64_t root, uint64_t address, struct dxgk_walk *walk)
{
    uint64_t table = root, entry = 0;

    for (unsigned level = NPU_LEVELS; level-- > 0;) {
        const unsigned shift = 12 + level * NPU_LEVEL_BITS;
        const uint32_t index = (uint32_t)(address >> shift) & ((1u << NPU_LEVEL_BITS) - 1);

        if (!table || !read_entry(d, table + index * 8ull, &entry))
            return;
        walk->step[walk->steps++] = (struct dxgk_walk_step){level, index, entry};
        if (!(entry & NPU_ENTRY_VALID))
            return;
        table = entry & NPU_ENTRY_ADDRESS;
        if (entry & NPU_ENTRY_ZERO)
            break;
    }
    walk->valid = true;
    walk->zero = (entry & NPU_ENTRY_ZERO) != 0;
    walk->read_only = (entry & NPU_ENTRY_READ_ONLY) != 0;
    walk->offset = table + address % PAGE;
}

static bool walk_tables(void *device, uint64_t root, uint64_t address, struct dxgk_walk *walk)
{
    walk_from(device, root, address, walk);
    return true;
}

/* So that --check-page-tables can compare what the driver writes with what it was asked for. */
static const struct dxgk_table_format format = {
    .name = "npu",
    .entry_bytes = 8,
    .levels = NPU_LEVELS,
    .index_bits = {NPU_LEVEL_BITS, NPU_LEVEL_BITS, NPU_LEVEL_BITS},
    .valid = NPU_ENTRY_VALID,
    .zero = NPU_ENTRY_ZERO,
    .read_only = NPU_ENTRY_READ_ONLY,
    .address_mask = NPU_ENTRY_ADDRESS,
};
static const struct dxgk_device_mmu mmu = {
    .size = sizeof(mmu), .format = &format, .walk = walk_tables, .format_size = sizeof(format)};

static void *create(const struct dxgk_device_config *config,
                    const struct dxgk_device_services *services, void *host)
{
    struct device *d = calloc(1, sizeof(*d));

    (void)config;
    if (d) {
        d->services = services;
        d->host = host;
        d->checks_translations = services->mmu(host, &mmu);
    }
    return d;
}

static void destroy(void *device)
{
    free(device);
}

/* ---- reset ---- */

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

static void reset(void *device)
{
    struct device *d = device;

    d->services->timer_disarm(d->host, TIMER);
    if (d->count && !d->fault)
        tell_work(d, false);
    d->causes = d->enable = d->notify_idle = d->fault = d->fault_fence = 0;
    d->dma_bytes = d->dma_flags = 0;
    d->status_page = d->root = d->dma = d->fault_address = 0;
    d->head = d->count = 0;
    memset(d->translation, 0, sizeof(d->translation));
}

static void raise_causes(struct device *d, uint32_t causes)
{
    d->causes |= causes;
    if (d->enable)
        d->services->interrupt(d->host, 0);
}

/* ---- memory, as the engine sees it ---- */

static bool fail(struct device *d, uint32_t kind, uint32_t level, uint64_t address)
{
    if (!d->fault) {
        d->fault = kind | level << 8;
        d->fault_address = address;
    }
    return false;
}

static struct translation *slot_of(struct device *d, uint64_t root, uint64_t page)
{
    return &d->translation[(page ^ root >> 12) % TRANSLATIONS];
}

static void compare(struct device *d, const struct translation *kept, uint64_t address)
{
    struct dxgk_walk walk = {.steps = 0};
    uint64_t now;

    walk_from(d, kept->root, address, &walk);
    now = walk.valid ? walk.step[walk.steps - 1].entry : 0;
    if (now != kept->entry)
        d->services->stale_translation(
            d->host, &(struct dxgk_stale_translation){.command = d->queue[d->head].fence,
                                                      .root = kept->root,
                                                      .address = address,
                                                      .kept = kept->entry,
                                                      .now = now});
}

/* The leaf entry of a virtual address; 0: a fault is noted. */
static uint64_t translate(struct device *d, uint64_t address, bool write)
{
    const uint64_t root = d->queue[d->head].root, page = address / PAGE;
    struct translation *slot = slot_of(d, root, page);

    if (address >> (12 + NPU_LEVELS * NPU_LEVEL_BITS))
        return fail(d, write ? NPU_FAULT_WRITE : NPU_FAULT_READ, NPU_LEVELS - 1, address);
    if (!slot->entry || slot->root != root || slot->page != page) {
        struct dxgk_walk walk = {.steps = 0};

        walk_from(d, root, address, &walk);
        if (!walk.valid)
            return fail(d, write ? NPU_FAULT_WRITE : NPU_FAULT_READ,
                        walk.steps ? walk.step[walk.steps - 1].level : NPU_LEVELS - 1, address);
        *slot = (struct translation){root, page, walk.step[walk.steps - 1].entry};
    } else if (d->checks_translations) {
        compare(d, slot, address);
    }
    if (write && (slot->entry & NPU_ENTRY_READ_ONLY))
        return fail(d, NPU_FAULT_WRITE, 0, address);
    return slot->entry;
}

static bool on_bus(struct device *d, uint64_t address, void *bytes, uint32_t count, bool write)
{
    const bool good = write ? d->services->dma_write(d->host, address, bytes, count)
                            : d->services->dma_read(d->host, address, bytes, count);

    return good || fail(d, NPU_FAULT_BUS, 0, address);
}

/* Page by page. False: a fault is noted. */
static bool access_memory(struct device *d, uint64_t address, void *bytes, uint32_t count,
                          bool write)
{
    for (uint32_t done = 0, part; done < count; done += part) {
        const uint64_t at = address + done, entry = translate(d, at, write);
        uint8_t *here = (uint8_t *)bytes + done;

        part = PAGE - (uint32_t)(at % PAGE);
        part = part < count - done ? part : count - done;
        if (!entry)
            return false;
        if (entry & NPU_ENTRY_ZERO) {
            if (!write)
                memset(here, 0, part);
        } else if (!on_bus(d, (entry & NPU_ENTRY_ADDRESS) + at % PAGE, here, part, write)) {
            return false;
        }
    }
    return true;
}

/* ---- commands ---- */

static bool fill_or_copy(struct device *d, const struct npu_command *c)
{
    uint32_t words[PAGE / 4];

    for (uint32_t i = 0; i < PAGE / 4; i++)
        words[i] = c->value;
    for (uint32_t done = 0, part; done < c->count; done += part) {
        part = c->count - done < PAGE ? c->count - done : PAGE;
        if ((c->op == NPU_OP_COPY && !access_memory(d, c->a + done, words, part, false)) ||
            !access_memory(d, c->dst + done, words, part, true))
            return false;
    }
    return true;
}

static bool relu(struct device *d, const struct npu_command *c)
{
    for (uint32_t done = 0, part; done < c->count; done += part) {
        int32_t from[256];
        int8_t to[256];

        part = c->count - done < 256 ? c->count - done : 256;
        if (!access_memory(d, c->a + 4ull * done, from, 4 * part, false))
            return false;
        for (uint32_t i = 0; i < part; i++) {
            const int32_t x = from[i] >> (c->value & 31);

            to[i] = (int8_t)(x < 0 ? 0 : x > 127 ? 127 : x);
        }
        if (!access_memory(d, c->dst + done, to, part, true))
            return false;
    }
    return true;
}

static void multiply(const struct npu_command *c, const int8_t *row, const int8_t *b, int32_t *sums)
{
    for (uint32_t j = 0; j < c->cols; j++) {
        int32_t sum = 0;

        for (uint32_t k = 0; k < c->inner; k++)
            sum += row[k] * b[(size_t)k * c->cols + j];
        sums[j] = sum;
    }
}

static bool matmul(struct device *d, const struct npu_command *c)
{
    int8_t row[NPU_MOST_SIDE];
    int32_t sums[NPU_MOST_SIDE];
    int8_t *b;
    bool good;

    if (c->rows > NPU_MOST_SIDE || c->inner > NPU_MOST_SIDE || c->cols > NPU_MOST_SIDE ||
        !c->rows || !c->inner || !c->cols)
        return fail(d, NPU_FAULT_COMMAND, 0, 0);
    b = malloc((size_t)c->inner * c->cols);
    good = b && access_memory(d, c->b, b, c->inner * c->cols, false);
    for (uint32_t i = 0; good && i < c->rows; i++) {
        good = access_memory(d, c->a + (uint64_t)i * c->inner, row, c->inner, false);
        if (good) {
            multiply(c, row, b, sums);
            good = access_memory(d, c->dst + 4ull * i * c->cols, sums, 4 * c->cols, true);
        }
    }
    free(b);
    return good;
}

static bool write_entries(struct device *d, const struct npu_command *c)
{
    uint64_t entries[PAGE / 8];

    for (uint32_t done = 0, part; done < c->count; done += part) {
        part = c->count - done < PAGE / 8 ? c->count - done : PAGE / 8;
        for (uint32_t i = 0; i < part; i++)
            entries[i] = c->a + (done + i) * c->b;
        if (c->value ? !on_bus(d, c->dst + 8ull * done, entries, 8 * part, true)
                     : !access_memory(d, c->dst + 8ull * done, entries, 8 * part, true))
            return false;
    }
    return true;
}

static bool flush(struct device *d, const struct npu_command *c)
{
    for (unsigned i = 0; i < TRANSLATIONS; i++) {
        struct translation *kept = &d->translation[i];

        if (!c->a || (kept->root == c->a && kept->page >= c->dst / PAGE && kept->page * PAGE < c->b))
            kept->entry = 0;
    }
    return true;
}

static bool execute(struct device *d, const struct packet *packet, const struct npu_command *c)
{
    const bool whole = c->count % 4 == 0, privileged = packet->flags & NPU_DMA_PRIVILEGED;

    switch (c->op) {
    case NPU_OP_FILL:
        return whole ? fill_or_copy(d, c) : fail(d, NPU_FAULT_COMMAND, 0, 0);
    case NPU_OP_COPY:
        return fill_or_copy(d, c);
    case NPU_OP_MATMUL:
        return matmul(d, c);
    case NPU_OP_RELU:
        return relu(d, c);
    case NPU_OP_ENTRIES:
        return privileged ? write_entries(d, c) : fail(d, NPU_FAULT_COMMAND, 0, 0);
    case NPU_OP_FLUSH:
        return privileged ? flush(d, c) : fail(d, NPU_FAULT_COMMAND, 0, 0);
    default:
        return fail(d, NPU_FAULT_COMMAND, 0, 0);
    }
}

/* ---- packets ---- */

static bool fetch(struct device *d, const struct packet *packet, uint32_t at, struct npu_command *c)
{
    return packet->flags & NPU_DMA_PHYSICAL
               ? on_bus(d, packet->address + at, c, sizeof(*c), false)
               : access_memory(d, packet->address + at, c, sizeof(*c), false);
}

static bool run(struct device *d, const struct packet *packet)
{
    if (packet->bytes % sizeof(struct npu_command) != 0)
        return fail(d, NPU_FAULT_COMMAND, 0, 0);
    for (uint32_t at = 0; at < packet->bytes; at += sizeof(struct npu_command)) {
        struct npu_command c;

        if (!fetch(d, packet, at, &c) || !execute(d, packet, &c))
            return false;
    }
    return true;
}

static void start_next(struct device *d)
{
    if (d->count && !d->fault) {
        tell_work(d, true);
        if (d->checks_translations && d->queue[d->head].root)
            d->services->root_in_use(d->host, 0, d->queue[d->head].fence, d->queue[d->head].root);
        d->services->timer_arm(d->host, TIMER, PACKET_NS + d->queue[d->head].bytes / BYTES_PER_NS);
    } else if (!d->count && d->notify_idle) {
        d->notify_idle = 0;
        raise_causes(d, NPU_IRQ_IDLE);
    }
}

static void finish_packet(void *device, unsigned timer)
{
    struct device *d = device;
    struct packet packet = d->queue[d->head];

    (void)timer;
    d->services->dma_source(d->host, 0, packet.fence);
    if (!run(d, &packet)) {
        d->fault_fence = packet.fence;
        tell_work(d, false);
        raise_causes(d, NPU_IRQ_FAULT);
        return;
    }
    tell_work(d, false);
    d->head = (d->head + 1) % NPU_QUEUE;
    d->count--;
    if (!on_bus(d, d->status_page, &packet.fence, sizeof(packet.fence), true)) {
        d->fault_fence = packet.fence;
        raise_causes(d, NPU_IRQ_FAULT);
        return;
    }
    raise_causes(d, NPU_IRQ_FENCE);
    start_next(d);
}

/* ---- registers ---- */

static uint64_t read_register(void *device, unsigned bar, uint64_t offset, unsigned width)
{
    struct device *d = device;
    const uint32_t causes = d->causes;

    (void)bar;
    (void)width;
    switch (offset) {
    case NPU_REG_ID:
        return NPU_ID;
    case NPU_REG_IRQ_STATUS:
        d->causes = 0;
        return causes;
    case NPU_REG_IRQ_ENABLE:
        return d->enable;
    case NPU_REG_FAULT:
        return d->fault;
    case NPU_REG_FAULT_FENCE:
        return d->fault_fence;
    case NPU_REG_FAULT_LO:
        return (uint32_t)d->fault_address;
    case NPU_REG_FAULT_HI:
        return (uint32_t)(d->fault_address >> 32);
    default:
        return 0;
    }
}

static void submit(struct device *d, uint32_t fence)
{
    struct packet *packet = &d->queue[(d->head + d->count) % NPU_QUEUE];

    if (d->count == NPU_QUEUE)
        return; /* lost: the driver was told how many there may be */
    *packet = (struct packet){d->root, d->dma, d->dma_bytes, d->dma_flags, fence};
    if (d->count++ == 0)
        start_next(d);
}

static void put_half(uint64_t *address, uint64_t value, bool high)
{
    if (high)
        *address = (*address & 0xFFFFFFFFu) | value << 32;
    else
        *address = (*address & ~0xFFFFFFFFull) | (uint32_t)value;
}

static void write_register(void *device, unsigned bar, uint64_t offset, unsigned width,
                           uint64_t value)
{
    struct device *d = device;

    (void)bar;
    (void)width;
    switch (offset) {
    case NPU_REG_RESET:
        reset(d);
        break;
    case NPU_REG_IRQ_ENABLE:
        d->enable = (uint32_t)value;
        if (d->enable && d->causes)
            d->services->interrupt(d->host, 0);
        break;
    case NPU_REG_STATUS_LO:
    case NPU_REG_STATUS_HI:
        put_half(&d->status_page, value, offset == NPU_REG_STATUS_HI);
        break;
    case NPU_REG_ROOT_LO:
    case NPU_REG_ROOT_HI:
        put_half(&d->root, value, offset == NPU_REG_ROOT_HI);
        break;
    case NPU_REG_DMA_LO:
    case NPU_REG_DMA_HI:
        put_half(&d->dma, value, offset == NPU_REG_DMA_HI);
        break;
    case NPU_REG_DMA_BYTES:
        d->dma_bytes = (uint32_t)value;
        break;
    case NPU_REG_DMA_FLAGS:
        d->dma_flags = (uint32_t)value;
        break;
    case NPU_REG_SUBMIT:
        submit(d, (uint32_t)value);
        break;
    case NPU_REG_NOTIFY_IDLE:
        d->notify_idle = 1;
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
        .name = "NPU",
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
