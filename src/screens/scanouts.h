/* SPDX-License-Identifier: MIT */
/*
 * What the sources of a full driver show: for each source with a path a primary, shared or of a
 * client, which the hardware scans out of memory (PRES-119 to PRES-154).
 */
#ifndef DXGK_SCREENS_SCANOUTS_H
#define DXGK_SCREENS_SCANOUTS_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <dispmprt.h>

struct modes;
struct scanouts;
struct vidmm_device;

struct scanouts_config {
    struct modes *modes;
    struct vidmm_device *device; /* of the system, for shared primaries */
};

/* NULL: out of memory. It becomes the viewer of the modes. */
struct scanouts *scanouts_create(const struct scanouts_config *config);
/* What is left of primaries ends. PASSIVE_LEVEL; before the memory manager. */
void scanouts_destroy(struct scanouts *scanouts);

/* What a source shows, as the host infers it from the address that the driver was given last
 * (PRES-313). */
struct scanouts_picture {
    UINT width, height, pitch; /* pixels; bytes */
    D3DDDIFORMAT format;
    const uint8_t *pixels; /* a copy, valid until the next call for the source */
};
/* False: nothing, or nothing that the CPU reaches. */
bool scanouts_look(struct scanouts *scanouts, UINT source, struct scanouts_picture *picture);

/* A vertical sync of a full driver; at DIRQL. */
void scanouts_notify(struct scanouts *scanouts, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data);
/* DxgkCbNotifyDpc; at DISPATCH_LEVEL. */
void scanouts_notify_dpc(struct scanouts *scanouts);

#endif
