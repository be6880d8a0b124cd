/* SPDX-License-Identifier: MIT */
/* The structures of virtio on PCI: where they are, and what accesses to them do. */
#include <string.h>

#include "virtio.h"

/* In BAR 2, a page each */
#define COMMON_AT  0x0000u
#define ISR_AT     0x1000u
#define DEVICE_AT  0x2000u
#define NOTIFY_AT  0x3000u
#define MULTIPLIER 4u /* bytes from the notify address of a queue to the next */

#define PENDING_AT 0x800u /* in the BAR of MSI-X: its pending bits, behind the table */

#define F_INDIRECT_DESC   (1ull << 28)
#define F_VERSION_1       (1ull << 32)
#define F_ACCESS_PLATFORM (1ull << 33)
#define F_OWN             (F_INDIRECT_DESC | F_VERSION_1 | F_ACCESS_PLATFORM)

enum { TYPE_COMMON = 1, TYPE_NOTIFY, TYPE_ISR, TYPE_DEVICE };

/* Offsets in the common configuration */
enum {
    FEATURE_SELECT = 0,
    FEATURES = 4,
    DRIVER_FEATURE_SELECT = 8,
    DRIVER_FEATURES = 12,
    CONFIG_VECTOR = 16,
    QUEUE_COUNT = 18,
    STATUS = 20,
    GENERATION = 21,
    QUEUE_SELECT = 22,
    QUEUE_SIZE = 24,
    QUEUE_VECTOR = 26,
    QUEUE_ENABLE = 28,
    QUEUE_NOTIFY_OFFSET = 30,
    QUEUE_DESCRIPTORS = 32,
    QUEUE_AVAILABLE = 40,
    QUEUE_USED = 48,
    COMMON_BYTES = 56,
};

#define CAUSE_CONFIG 2u

/* ---- configuration space ---- */

/* What follows id and pointer of a capability: length, type, BAR, id, 2 bytes, offset, bytes. */
#define PCI_CAPABILITY(bytes, type, at, length)                                              \
    bytes, type, VIRTIO_BAR_REGISTERS, 0, 0, 0, (at)&0xFFu, (at) >> 8, 0, 0, (length)&0xFFu, \
        (length) >> 8, 0, 0

static const uint8_t common_capability[] = {
    PCI_CAPABILITY(16, TYPE_COMMON, COMMON_AT, COMMON_BYTES)};
static const uint8_t isr_capability[] = {PCI_CAPABILITY(16, TYPE_ISR, ISR_AT, 4u)};
static const uint8_t device_capability[] = {PCI_CAPABILITY(16, TYPE_DEVICE, DEVICE_AT, 4096u)};
static const uint8_t notify_capability[] = {PCI_CAPABILITY(20, TYPE_NOTIFY, NOTIFY_AT, 4096u),
                                            MULTIPLIER, 0, 0, 0};
/* The first byte, messages less one, is set for the device. */
static uint8_t msix_capability[] = {
    0, 0, VIRTIO_BAR_MSIX, 0, 0, 0, VIRTIO_BAR_MSIX, PENDING_AT >> 8, 0, 0};
static const uint8_t msix_writable[] = {0, 0xC0, 0, 0, 0, 0, 0, 0, 0, 0}; /* mask, enable */

static const struct dxgk_device_capability capabilities[] = {
    {0x11, sizeof(msix_capability), msix_capability, msix_writable},
    {0x09, sizeof(common_capability), common_capability, NULL},
    {0x09, sizeof(notify_capability), notify_capability, NULL},
    {0x09, sizeof(isr_capability), isr_capability, NULL},
    {0x09, sizeof(device_capability), device_capability, NULL},
};

void virtio_describe(struct dxgk_device_description *description, uint32_t messages)
{
    msix_capability[0] = (uint8_t)(messages - 1);
    description->bar[VIRTIO_BAR_REGISTERS] = (struct dxgk_device_bar){DXGK_BAR_REGISTERS,
                                                                      VIRTIO_REGISTER_BYTES};
    description->bar[VIRTIO_BAR_MSIX] = (struct dxgk_device_bar){DXGK_BAR_REGISTERS,
                                                                 VIRTIO_MSIX_BYTES};
    description->messages = messages;
    description->capability = capabilities;
    description->capabilities = sizeof(capabilities) / sizeof(capabilities[0]);
}

/* ---- state ---- */

void virtio_reset(struct virtio *virtio)
{
    virtio->accepted = 0;
    virtio->feature_select = virtio->driver_feature_select = 0;
    virtio->status = virtio->isr = 0;
    virtio->config_vector = VIRTIO_NO_VECTOR;
    virtio->queue_select = 0;
    for (unsigned i = 0; i < virtio->kind->queues; i++)
        virtio->queue[i] = (struct virtio_queue){.most = virtio->queue_sizes[i],
                                                 .size = virtio->queue_sizes[i],
                                                 .vector = VIRTIO_NO_VECTOR};
}

bool virtio_is_live(const struct virtio *virtio)
{
    return (virtio->status & VIRTIO_STATUS_DRIVER_OK) &&
           !(virtio->status & VIRTIO_STATUS_NEEDS_RESET);
}

/* A vector is a message. What has none sets the ISR status, and takes message 0, which stands for
 * the interrupt line that the host's buses do not have. */
void virtio_interrupt(struct virtio *virtio, uint16_t vector, uint8_t cause)
{
    if (vector == VIRTIO_NO_VECTOR) {
        virtio->isr |= cause;
        vector = 0;
    }
    virtio->services->interrupt(virtio->host, vector);
}

void virtio_config_changed(struct virtio *virtio)
{
    virtio->generation++;
    if (virtio->status & VIRTIO_STATUS_DRIVER_OK)
        virtio_interrupt(virtio, virtio->config_vector, CAUSE_CONFIG);
}

void virtio_needs_reset(struct virtio *virtio)
{
    virtio->services->trace(virtio->host, "the driver broke a virtqueue", 0);
    virtio->status |= VIRTIO_STATUS_NEEDS_RESET;
    virtio_config_changed(virtio);
}

/* ---- the common configuration ---- */

static struct virtio_queue *selected(struct virtio *virtio)
{
    return virtio->queue_select < virtio->kind->queues ? &virtio->queue[virtio->queue_select] : NULL;
}

static uint32_t features(const struct virtio *virtio)
{
    const uint64_t all = virtio->features | F_OWN;

    return virtio->feature_select > 1 ? 0 : (uint32_t)(all >> (32 * virtio->feature_select));
}

static uint64_t queue_field(const struct virtio_queue *queue, uint64_t offset, unsigned index)
{
    switch (offset) {
    case QUEUE_SIZE:
        return queue->size;
    case QUEUE_VECTOR:
        return queue->vector;
    case QUEUE_ENABLE:
        return queue->enabled;
    case QUEUE_NOTIFY_OFFSET:
        return index;
    case QUEUE_DESCRIPTORS:
        return queue->descriptors;
    case QUEUE_DESCRIPTORS + 4:
        return queue->descriptors >> 32;
    case QUEUE_AVAILABLE:
        return queue->available;
    case QUEUE_AVAILABLE + 4:
        return queue->available >> 32;
    case QUEUE_USED:
        return queue->used;
    case QUEUE_USED + 4:
        return queue->used >> 32;
    default:
        return 0;
    }
}

static uint64_t common_read(struct virtio *virtio, uint64_t offset)
{
    const struct virtio_queue *queue = selected(virtio);

    switch (offset) {
    case FEATURE_SELECT:
        return virtio->feature_select;
    case FEATURES:
        return features(virtio);
    case DRIVER_FEATURE_SELECT:
        return virtio->driver_feature_select;
    case DRIVER_FEATURES:
        return virtio->driver_feature_select > 1
                   ? 0
                   : (uint32_t)(virtio->accepted >> (32 * virtio->driver_feature_select));
    case CONFIG_VECTOR:
        return virtio->config_vector;
    case QUEUE_COUNT:
        return virtio->kind->queues;
    case STATUS:
        return virtio->status;
    case GENERATION:
        return virtio->generation;
    case QUEUE_SELECT:
        return virtio->queue_select;
    default: /* of a queue that there is not, the size 0 tells it */
        return queue ? queue_field(queue, offset, virtio->queue_select) : 0;
    }
}

static void accept_features(struct virtio *virtio, uint32_t value)
{
    const unsigned shift = 32 * virtio->driver_feature_select;

    if (virtio->driver_feature_select > 1 || (virtio->status & VIRTIO_STATUS_FEATURES_OK))
        return;
    virtio->accepted = (virtio->accepted & ~(0xFFFFFFFFull << shift)) | (uint64_t)value << shift;
}

static void write_status(struct virtio *virtio, uint8_t value)
{
    const uint8_t before = virtio->status;

    if (value == 0) {
        virtio_reset(virtio);
        virtio->kind->reset(virtio->device);
        return;
    }
    if ((value & VIRTIO_STATUS_FEATURES_OK) && !(before & VIRTIO_STATUS_FEATURES_OK) &&
        ((virtio->accepted & ~(virtio->features | F_OWN)) || !(virtio->accepted & F_VERSION_1)))
        value &= (uint8_t)~VIRTIO_STATUS_FEATURES_OK; /* what was accepted is not possible */
    virtio->status = value | before;                  /* bits go with a reset alone */
}

static uint16_t vector_of(const struct virtio *virtio, uint64_t value)
{
    return value < virtio->messages ? (uint16_t)value : VIRTIO_NO_VECTOR;
}

static void half(uint64_t *address, bool high, uint64_t value)
{
    const unsigned shift = high ? 32 : 0;

    *address = (*address & ~(0xFFFFFFFFull << shift)) | (uint64_t)(uint32_t)value << shift;
}

static void queue_write(struct virtio *virtio, struct virtio_queue *queue, uint64_t offset,
                        uint64_t value)
{
    if (offset == QUEUE_VECTOR)
        queue->vector = vector_of(virtio, value);
    if (queue->enabled)
        return;
    switch (offset) {
    case QUEUE_SIZE:
        if (value && value <= queue->most && !(value & (value - 1)))
            queue->size = (uint16_t)value;
        break;
    case QUEUE_ENABLE:
        queue->enabled = value == 1;
        break;
    case QUEUE_DESCRIPTORS:
    case QUEUE_DESCRIPTORS + 4:
        half(&queue->descriptors, offset != QUEUE_DESCRIPTORS, value);
        break;
    case QUEUE_AVAILABLE:
    case QUEUE_AVAILABLE + 4:
        half(&queue->available, offset != QUEUE_AVAILABLE, value);
        break;
    case QUEUE_USED:
    case QUEUE_USED + 4:
        half(&queue->used, offset != QUEUE_USED, value);
        break;
    default:
        break;
    }
}

static void common_write(struct virtio *virtio, uint64_t offset, uint64_t value)
{
    switch (offset) {
    case FEATURE_SELECT:
        virtio->feature_select = (uint32_t)value;
        break;
    case DRIVER_FEATURE_SELECT:
        virtio->driver_feature_select = (uint32_t)value;
        break;
    case DRIVER_FEATURES:
        accept_features(virtio, (uint32_t)value);
        break;
    case CONFIG_VECTOR:
        virtio->config_vector = vector_of(virtio, value);
        break;
    case STATUS:
        write_status(virtio, (uint8_t)value);
        break;
    case QUEUE_SELECT:
        virtio->queue_select = (uint16_t)value;
        break;
    default:
        if (selected(virtio))
            queue_write(virtio, selected(virtio), offset, value);
    }
}

/* ---- accesses ---- */

uint64_t virtio_read(struct virtio *virtio, unsigned bar, uint64_t offset, unsigned width)
{
    uint64_t value = 0;

    if (bar == VIRTIO_BAR_MSIX) {
        memcpy(&value, virtio->msix + offset, width);
        return value;
    }
    if (offset < COMMON_BYTES) {
        value = common_read(virtio, offset);
        return width == 8 ? value | common_read(virtio, offset + 4) << 32 : value;
    }
    if (offset == ISR_AT) {
        value = virtio->isr;
        virtio->isr = 0;
        return value;
    }
    if (offset < DEVICE_AT || offset >= NOTIFY_AT)
        return 0;
    for (unsigned i = 0; i < width && offset - DEVICE_AT + i < virtio->kind->config_bytes; i++)
        value |=
            (uint64_t)virtio->kind->config_read(virtio->device, (uint32_t)(offset - DEVICE_AT) + i)
            << (8 * i);
    return value;
}

void virtio_write(struct virtio *virtio, unsigned bar, uint64_t offset, unsigned width,
                  uint64_t value)
{
    if (bar == VIRTIO_BAR_MSIX) {
        if (offset < PENDING_AT)
            memcpy(virtio->msix + offset, &value, width);
        return;
    }
    if (offset < COMMON_BYTES) {
        common_write(virtio, offset, width == 8 ? value & 0xFFFFFFFFu : value);
        if (width == 8)
            common_write(virtio, offset + 4, value >> 32);
    } else if (offset >= NOTIFY_AT) {
        const uint64_t queue = (offset - NOTIFY_AT) / MULTIPLIER;

        if (queue < virtio->kind->queues && virtio_is_live(virtio) && virtio->queue[queue].enabled)
            virtio->kind->notify(virtio->device, (unsigned)queue);
    } else if (offset >= DEVICE_AT) {
        for (unsigned i = 0; i < width && offset - DEVICE_AT + i < virtio->kind->config_bytes; i++)
            virtio->kind->config_write(virtio->device, (uint32_t)(offset - DEVICE_AT) + i,
                                       (uint8_t)(value >> (8 * i)));
    }
}
