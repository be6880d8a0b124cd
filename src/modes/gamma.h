/* SPDX-License-Identifier: MIT */
/* The gamma ramp of a source: on all its paths, now and in every VidPN that is committed later
 * (VIDPN-122, VIDPN-123). */
#ifndef DXGK_MODES_GAMMA_H
#define DXGK_MODES_GAMMA_H

#include <ntddk.h>
#include <dispmprt.h>

struct modes;
struct vidpn;

struct modes_ramp {
    D3DDDI_GAMMARAMP_TYPE type;
    UINT bytes;
    const void *setter; /* whose it is */
    union {
        D3DDDI_GAMMA_RAMP_RGB256x3x16 rgb256x3x16;
        D3DDDI_GAMMA_RAMP_DXGI_1 dxgi1;
    } data;
};

/* Bytes of a ramp of this type; 0: it has none. */
UINT modes_ramp_bytes(D3DDDI_GAMMARAMP_TYPE type);
/* Show the source with this ramp. The driver has the cap for it. If it refuses, the one before
 * stays in force (VIDPN-123). On the display worker. */
NTSTATUS modes_set_gamma(struct modes *modes, UINT source, const struct modes_ramp *ramp);
/* Whose ramp the source has; NULL: nobody's. */
const void *modes_gamma_setter(const struct modes *modes, UINT source);
/* Who has set the ramp is gone: the default one returns. A driver that refuses it keeps one that is
 * nobody's. On the display worker. */
void modes_drop_gamma(struct modes *modes, UINT source);
/* Before a commit: have the paths of the VidPN show them. */
void modes_apply_gamma(const struct modes *modes, struct vidpn *vidpn);
void modes_gamma_finish(struct modes *modes);

#endif
