/* SPDX-License-Identifier: MIT */
/*
 * The Panel's driver, in five steps, each of which runs. -DSTEP=n builds the first n.
 *
 *   1  adapter.c, mode.c, picture.c   a picture in the one mode that the firmware has set
 *   2  monitor.c                      the monitor says what it is; it can be unplugged
 *   3  mode.c, monitor.c              the modes of the monitor
 *   4  vsync.c                        vertical blanks
 *   5  pointer.c                      the hardware's pointer
 */
#ifndef PANEL_H
#define PANEL_H

#include <ntddk.h>
#include <dispmprt.h>

#include "panel_hw.h"

#ifndef STEP
#define STEP 5
#endif

#define PANEL_TAG    0x4C4E4150u
#define PANEL_SOURCE 0u
#define PANEL_TARGET 0u /* ChildUid of the connector */

struct panel {
    DXGKRNL_INTERFACE dxgk;
    PUCHAR registers; /* NULL: not mapped */
    PUCHAR memory;
    DXGK_DISPLAY_INFORMATION post; /* what the firmware has lit */
    BOOLEAN visible;
    D3DKMDT_2DREGION mode; /* committed; 0, 0: none */
    ULONG control;         /* as written last */
    volatile LONG causes;  /* for the DPC */
};

static inline ULONG panel_read(const struct panel *panel, ULONG reg)
{
    return READ_REGISTER_ULONG((volatile ULONG *)(PVOID)(panel->registers + reg));
}

static inline void panel_write(const struct panel *panel, ULONG reg, ULONG value)
{
    WRITE_REGISTER_ULONG((volatile ULONG *)(PVOID)(panel->registers + reg), value);
}

/* picture.c */
void panel_show(struct panel *panel, BOOLEAN on); /* the committed mode, black; or no signal */
DXGKDDI_PRESENTDISPLAYONLY panel_present;
DXGKDDI_SETVIDPNSOURCEVISIBILITY panel_set_visibility;
DXGKDDI_SYSTEM_DISPLAY_ENABLE panel_system_display_enable;
DXGKDDI_SYSTEM_DISPLAY_WRITE panel_system_display_write;

/* mode.c */
DXGKDDI_ISSUPPORTEDVIDPN panel_is_supported;
DXGKDDI_RECOMMENDFUNCTIONALVIDPN panel_recommend;
DXGKDDI_ENUMVIDPNCOFUNCMODALITY panel_enumerate;
DXGKDDI_COMMITVIDPN panel_commit;
DXGKDDI_UPDATEACTIVEVIDPNPRESENTPATH panel_update_path;

/* monitor.c */
#define PANEL_MOST_MODES 32u
/* The signals that monitor and hardware have; at least one. */
NTSTATUS panel_list_signals(struct panel *panel, D3DKMDT_VIDEO_SIGNAL_INFO *signals, UINT *count);
DXGKDDI_QUERY_CHILD_RELATIONS panel_query_child_relations;
DXGKDDI_QUERY_CHILD_STATUS panel_query_child_status;
DXGKDDI_QUERY_DEVICE_DESCRIPTOR panel_query_device_descriptor;

#if STEP >= 2 /* monitor.c: interrupts */
DXGKDDI_INTERRUPT_ROUTINE panel_interrupt;
DXGKDDI_DPC_ROUTINE panel_dpc;
#endif

#if STEP >= 4 /* vsync.c */
void panel_report_vsync(struct panel *panel);
DXGKDDI_CONTROLINTERRUPT panel_control_interrupt;
DXGKDDI_GETSCANLINE panel_get_scan_line;
#endif

#if STEP >= 5 /* pointer.c */
DXGKDDI_SETPOINTERPOSITION panel_set_pointer_position;
DXGKDDI_SETPOINTERSHAPE panel_set_pointer_shape;
#endif

#endif
