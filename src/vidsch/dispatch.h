/* SPDX-License-Identifier: MIT */
/* One packet to the driver: DxgkDdiPatch, DxgkDdiSubmitCommand, DxgkDdiSubmitCommandVirtual. */
#ifndef DXGK_VIDSCH_DISPATCH_H
#define DXGK_VIDSCH_DISPATCH_H

struct packet;
struct vidsch_node;

/* By the worker alone (yields). The packet may be over when this returns. */
void vidsch_dispatch(struct vidsch_node *node, struct packet *packet);

#endif
