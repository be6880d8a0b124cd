/* SPDX-License-Identifier: MIT */
/* Submitting one packet: DxgkDdiPatch, DxgkDdiSubmitCommand, DxgkDdiSubmitCommandVirtual. */
#ifndef DXGK_VIDSCH_DISPATCH_H
#define DXGK_VIDSCH_DISPATCH_H

struct packet;
struct vidsch_node;

/* Worker only (yields). The packet may have ended and be freed when this returns. */
void vidsch_dispatch(struct vidsch_node *node, struct packet *packet);

#endif
