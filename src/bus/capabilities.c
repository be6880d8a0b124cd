/* SPDX-License-Identifier: MIT */
/*
 * Capabilities: a linked list from 0x40 on, of elements that begin at multiples of 4. First the
 * three that every function has (power management, MSI, PCI Express endpoint), unless the model
 * brings one of the same id; then the model's, in its order.
 *
 * All are described in the same way, as id, bytes and writable bits, and laid out by one loop.
 */
#include <string.h>

#include "bus/capabilities.h"
#include "bus/device.h"
#include "bus/device_record.h"
#include "util/array.h"
#include "util/explain.h"

#define CONFIG_STATUS       0x06u
#define CONFIG_CAPABILITIES 0x34u
#define FIRST_CAPABILITY    0x40u
#define STATUS_CAPABILITIES 0x0010u

#define ID_POWER   0x01u
#define ID_MSI     0x05u
#define ID_EXPRESS 0x10u

#define HEADER_BYTES          2u /* id, pointer to the next */
#define EXPRESS_CAPABILITIES  4u /* device capabilities, from the beginning */
#define EXPRESS_CONTROL       8u
#define EXPRESS_RESET_CAPABLE 0x10000000u

#define POWER_BYTES   6u
#define MSI_BYTES     12u
#define EXPRESS_BYTES 58u

/* Where the next one goes, and where its address is to be written. */
struct layout {
    struct bus_device *device;
    uint32_t next, link;
};

static uint32_t read32(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static bool refuse(struct bus_refusal *refusal, const struct bus_device *device,
                   const struct dxgk_device_capability *c, const char *why)
{
    util_explain(refusal->text, sizeof(refusal->text), "%s: PCI capability %#04x of %u bytes: %s",
                 device->model->name, c->id, c->count, why);
    return false;
}

/* False: no room. */
static bool append(struct layout *layout, const struct dxgk_device_capability *c)
{
    struct bus_device *device = layout->device;
    uint8_t *config = device->config + layout->next;
    uint32_t bytes = HEADER_BYTES + c->count;

    if (bytes > BUS_CONFIG_BYTES - layout->next)
        return false;
    bus_config_put(device->config, layout->link, layout->next, 1);
    config[0] = c->id;
    memcpy(config + HEADER_BYTES, c->bytes, c->count);
    if (c->writable)
        memcpy(device->config_mask + layout->next + HEADER_BYTES, c->writable, c->count);
    if (c->id == ID_EXPRESS && bytes >= EXPRESS_CONTROL + 2 &&
        read32(config + EXPRESS_CAPABILITIES) & EXPRESS_RESET_CAPABLE)
        device->reset_control = layout->next + EXPRESS_CONTROL;
    layout->link = layout->next + 1;
    layout->next += (bytes + 3) & ~3u;
    return true;
}

static bool model_has(const struct dxgk_device_description *description, uint8_t id)
{
    for (uint32_t i = 0; i < description->capabilities; i++)
        if (description->capability[i].id == id)
            return true;
    return false;
}

/* There is always room for them: they come first. */
static void append_own(struct layout *layout)
{
    const struct dxgk_device_description *description = &layout->device->description;
    uint8_t power[POWER_BYTES] = {0}, power_mask[POWER_BYTES] = {0};
    uint8_t msi[MSI_BYTES] = {0}, msi_mask[MSI_BYTES] = {0};
    uint8_t express[EXPRESS_BYTES] = {0}, express_mask[EXPRESS_BYTES] = {0};
    const struct dxgk_device_capability own[] = {
        {ID_POWER, POWER_BYTES, power, power_mask},
        {ID_MSI, MSI_BYTES, msi, msi_mask},
        {ID_EXPRESS, EXPRESS_BYTES, express, express_mask},
    };
    uint32_t messages_log2 = 0;

    while (((uint32_t)1 << messages_log2) < description->messages)
        messages_log2++;
    bus_config_put(power, 0, 0x0003, 2);      /* version 3 */
    bus_config_put(power_mask, 2, 0x0003, 2); /* power state */

    bus_config_put(msi, 0, 0x0080u | messages_log2 << 1, 2); /* 64-bit addresses */
    bus_config_put(msi_mask, 0, 0x0071, 2);                  /* enable, messages granted */
    bus_config_put(msi_mask, 2, 0xFFFFFFFFFFFFFFFC, 8);
    bus_config_put(msi_mask, 10, 0xFFFF, 2);

    bus_config_put(express, 0, 0x0002, 2);                         /* version 2, endpoint */
    bus_config_put(express, 2, EXPRESS_RESET_CAPABLE | 0x8022, 4); /* 512-byte payload */
    bus_config_put(express_mask, 6, 0x7FFF, 2);
    bus_config_put(express, 10, 0x0104, 4); /* 16 GT/s, 16 lanes */
    bus_config_put(express, 16, 0x0104, 2);

    for (size_t i = 0; i < ARRAY_COUNT(own); i++)
        if (!model_has(description, own[i].id))
            (void)append(layout, &own[i]);
}

bool bus_capabilities_init(struct bus_device *device, struct bus_refusal *refusal)
{
    const struct dxgk_device_description *description = &device->description;
    struct layout layout = {device, FIRST_CAPABILITY, CONFIG_CAPABILITIES};

    if (description->capabilities > 0 && !description->capability) {
        util_explain(refusal->text, sizeof(refusal->text), "%s: %u PCI capabilities, but no list",
                     device->model->name, description->capabilities);
        return false;
    }
    append_own(&layout);
    for (uint32_t i = 0; i < description->capabilities; i++) {
        const struct dxgk_device_capability *c = &description->capability[i];

        if (c->id == 0 || c->id == 0xFF)
            return refuse(refusal, device, c, "no such id");
        if (c->count > 0 && !c->bytes)
            return refuse(refusal, device, c, "its bytes are missing");
        if (!append(&layout, c))
            return refuse(refusal, device, c,
                          "no room left in the 256 bytes of configuration space");
    }
    bus_config_put(device->config, CONFIG_STATUS, STATUS_CAPABILITIES, 2);
    device->description.capability = NULL; /* the model's, and perhaps gone */
    device->description.capabilities = 0;
    return true;
}
