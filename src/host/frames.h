/* SPDX-License-Identifier: MIT */
/* Frames, for the hook of the configuration. */
#ifndef DXGK_HOST_FRAMES_H
#define DXGK_HOST_FRAMES_H

struct port_adapter;
struct screens_frame;

/* struct port_config.frame; the context is the machine. */
void host_frame(void *context, struct port_adapter *adapter, const struct screens_frame *frame);

#endif
