/* SPDX-License-Identifier: MIT */
#include "port/running/boot_picture.h"
#include "bus/outputs.h"
#include "port/record/adapter_record.h"
#include "port/running/post.h"
#include "sim/slot.h"
#include "util/alloc.h"
#include "verify/verify.h"

/* Of the POST device, of which a machine has one at most. */
struct boot_picture {
    const struct port_adapter *adapter;
    uint64_t pixels; /* hash */
    bool lit;        /* the device says what it scans out */
    unsigned width, height, pitch;
};

static struct sim_slot picture_slot;
SIM_SLOT_CLAIM(picture_slot)

static uint64_t hash_of(const struct port_adapter *adapter)
{
    const uint8_t *at = port_post_pixels(adapter);
    uint64_t hash = UINT64_C(0xCBF29CE484222325);

    for (uint64_t i = 0; at && i < adapter->post.bytes; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001B3);
    return hash;
}

static struct boot_picture look(const struct port_adapter *adapter)
{
    struct boot_picture seen = {.adapter = adapter, .pixels = hash_of(adapter)};
    struct dxgk_scanout shown;

    seen.lit = bus_device_scanout(adapter->device, 0, &shown) == DXGK_SCANOUT_ON;
    if (seen.lit) {
        seen.width = shown.width;
        seen.height = shown.height;
        seen.pitch = shown.pitch;
    }
    return seen;
}

void port_boot_picture_note(const struct port_adapter *adapter, bool keeps)
{
    struct boot_picture *before;

    port_boot_picture_finish();
    before = keeps && adapter->post.bytes ? util_zalloc(1, sizeof(*before)) : NULL;
    if (!before)
        return;
    *before = look(adapter);
    sim_slot_set(&picture_slot, before);
}

void port_boot_picture_check(const struct port_adapter *adapter)
{
    const struct boot_picture *before = sim_slot_get(&picture_slot);
    struct boot_picture now;

    if (!before || before->adapter != adapter)
        return;
    now = look(adapter);
    if (now.lit != before->lit || now.width != before->width || now.height != before->height ||
        now.pitch != before->pitch)
        WARNING("PRES-040",
                "SupportPreserveBootDisplay is set, and DxgkDdiStartDevice has changed "
                "the mode that firmware had set: %u x %u before, %u x %u now",
                before->width, before->height, now.width, now.height);
    else if (now.pixels != before->pixels)
        WARNING("PRES-040", "SupportPreserveBootDisplay is set, and DxgkDdiStartDevice has changed "
                            "the picture that firmware had lit");
    port_boot_picture_finish();
}

void port_boot_picture_finish(void)
{
    util_free(sim_slot_get(&picture_slot));
    sim_slot_set(&picture_slot, NULL);
}
