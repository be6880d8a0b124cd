/* SPDX-License-Identifier: MIT */
/*
 * The display half of the miniport, of a board that has outputs: as many video present sources as
 * outputs, any source on any output, or one on both. Without outputs nothing of it is used, and the
 * adapter renders only.
 *
 *   display.c  start and stop, what the interrupt handlers do, the screen of a bug check
 *   output.c   children: which monitors there are
 *   modes.c    what a monitor can show, as the host says it
 *   vidpn.c    modes are proposed, enumerated and committed
 *   scanout.c  addresses, visibility, vertical syncs, the pointer
 *   gamma.c    gamma ramps
 *   present.c  copies and fills of clients
 *
 * The entries of modes never run beside one another. SetVidPnSourceAddress and the service routine
 * run at device level, and touch none of the registers that the others write.
 */
#ifndef REFGPU_DRIVER_DISPLAY_H
#define REFGPU_DRIVER_DISPLAY_H

#include "refgpu_display_hw.h"

#define REFGPU_MOST_MODES 64u /* of a monitor */
/* Pixels of pointers at the end of VRAM: two for each output, of which one is shown. */
#define REFGPU_SHAPES_BYTES (2u * REFGPU_OUTPUTS * REFGPU_POINTER_BYTES)
/* Beginning of VRAM that the CPU reaches in a bug check */
#define REFGPU_FRAME_BYTES (64u << 20)

/* What an output shows. */
struct refgpu_path {
    BOOLEAN lit;
    UINT source;
    UINT width, height, total_width, total_height, clock; /* as in the registers */
};

/* A signal that the monitor shows and the output makes. */
struct refgpu_mode {
    D3DKMDT_VIDEO_SIGNAL_INFO signal;
    D3DKMDT_MODE_PREFERENCE preference;
};

struct refgpu_ramp {
    BOOLEAN given;
    USHORT value[REFGPU_GAMMA_ENTRIES]; /* as in the registers */
};

struct refgpu_display {
    ULONG outputs; /* of the board; 0: none of the rest counts */
    struct refgpu_path path[REFGPU_OUTPUTS];
    BOOLEAN visible[REFGPU_OUTPUTS]; /* by source */
    ULONG control[REFGPU_OUTPUTS];   /* as written last */
    ULONG shape[REFGPU_OUTPUTS];     /* which of the two is shown */

    ULONGLONG shapes; /* VRAM offset */
    PUCHAR shape_pixels, frame;
    ULONG frame_bytes;
    DXGK_DISPLAY_INFORMATION post;    /* Width 0: the firmware has lit nothing here */
    UINT system_width, system_height; /* of the screen of a bug check */

    volatile LONG plugged; /* outputs whose monitor has changed; set by the ISR */

    struct refgpu_mode mode[REFGPU_MOST_MODES]; /* of the path in work (modes.c) */
    ULONG modes;
    struct refgpu_ramp ramp[REFGPU_OUTPUTS]; /* of paths in work (gamma.c) */
};

/* display.c */
NTSTATUS refgpu_display_start(struct refgpu_adapter *adapter); /* before the hardware starts */
void refgpu_display_stop(struct refgpu_adapter *adapter);
void refgpu_display_program(struct refgpu_adapter *adapter); /* after a reset of the device */
/* For the service routine and its DPC. */
void refgpu_display_serve(struct refgpu_adapter *adapter, ULONG causes);
void refgpu_display_dpc(struct refgpu_adapter *adapter);
ULONG refgpu_output_read(struct refgpu_adapter *adapter, ULONG output, ULONG reg);
void refgpu_output_write(struct refgpu_adapter *adapter, ULONG output, ULONG reg, ULONG value);
/* The signal that a path has, black until its source is visible; or none. */
void refgpu_output_light(struct refgpu_adapter *adapter, ULONG output,
                         const struct refgpu_path *path);
/* REFGPU_OUT_CONTROL_x */
void refgpu_output_control(struct refgpu_adapter *adapter, ULONG output, ULONG bits);
/* Blank, or not, as the source says. */
void refgpu_output_show(struct refgpu_adapter *adapter, ULONG output);
BOOLEAN refgpu_signal_possible(const D3DKMDT_VIDEO_SIGNAL_INFO *signal);
void refgpu_signal_path(const D3DKMDT_VIDEO_SIGNAL_INFO *signal, struct refgpu_path *path);
/* A signal of this size at 60 Hz. */
void refgpu_signal_make(UINT width, UINT height, D3DKMDT_VIDEO_SIGNAL_INFO *signal);

/* modes.c */
/* Fills display->mode: signals of this size; of any, if width is 0. Never none. */
NTSTATUS refgpu_modes_of(struct refgpu_adapter *adapter, ULONG output, UINT width, UINT height);

/* scanout.c */
void refgpu_output_address(struct refgpu_adapter *adapter, ULONG output, ULONGLONG address,
                           ULONG pitch, ULONG format, BOOLEAN at_once);

/* gamma.c */
/* Keep the ramp of a path in display->ramp; the structure is valid for the call alone. Fails with
 * STATUS_GRAPHICS_GAMMA_RAMP_NOT_SUPPORTED. */
NTSTATUS refgpu_gamma_take(struct refgpu_adapter *adapter, ULONG output,
                           const D3DKMDT_GAMMA_RAMP *ramp);
/* What the output shows goes through the ramp that was kept, or through none. */
void refgpu_gamma_load(struct refgpu_adapter *adapter, ULONG output);

DXGKDDI_QUERY_CHILD_RELATIONS RefGpuQueryChildRelations;
DXGKDDI_QUERY_CHILD_STATUS RefGpuQueryChildStatus;
DXGKDDI_QUERY_DEVICE_DESCRIPTOR RefGpuQueryDeviceDescriptor;
DXGKDDI_RECOMMENDMONITORMODES RefGpuRecommendMonitorModes;
DXGKDDI_ISSUPPORTEDVIDPN RefGpuIsSupportedVidPn;
DXGKDDI_RECOMMENDFUNCTIONALVIDPN RefGpuRecommendFunctionalVidPn;
DXGKDDI_ENUMVIDPNCOFUNCMODALITY RefGpuEnumVidPnCofuncModality;
DXGKDDI_COMMITVIDPN RefGpuCommitVidPn;
DXGKDDI_UPDATEACTIVEVIDPNPRESENTPATH RefGpuUpdateActiveVidPnPresentPath;
DXGKDDI_QUERYVIDPNHWCAPABILITY RefGpuQueryVidPnHWCapability;
DXGKDDI_SETVIDPNSOURCEADDRESS RefGpuSetVidPnSourceAddress;
DXGKDDI_SETVIDPNSOURCEVISIBILITY RefGpuSetVidPnSourceVisibility;
DXGKDDI_CONTROLINTERRUPT RefGpuControlInterrupt;
DXGKDDI_GETSCANLINE RefGpuGetScanLine;
DXGKDDI_SETPOINTERPOSITION RefGpuSetPointerPosition;
DXGKDDI_SETPOINTERSHAPE RefGpuSetPointerShape;
DXGKDDI_PRESENT RefGpuPresent;
DXGKDDI_STOP_DEVICE_AND_RELEASE_POST_DISPLAY_OWNERSHIP RefGpuStopDeviceAndReleasePostDisplayOwnership;
DXGKDDI_SYSTEM_DISPLAY_ENABLE RefGpuSystemDisplayEnable;
DXGKDDI_SYSTEM_DISPLAY_WRITE RefGpuSystemDisplayWrite;

#endif
