/* SPDX-License-Identifier: MIT */
/* Video device control codes and GUIDs. */
#ifndef DXGK_WDK_NTDDVDEO_H
#define DXGK_WDK_NTDDVDEO_H

#include <guiddef.h>
#include <ntdef.h>

DEFINE_GUID(GUID_DEVINTERFACE_DISPLAY_ADAPTER,
    0x5B45201D, 0xF2F2, 0x4F3B, 0x85, 0xBB, 0x30, 0xFF, 0x1F, 0x95, 0x35, 0x99);
DEFINE_GUID(GUID_DEVINTERFACE_MONITOR,
    0xE6F07B5F, 0xEE97, 0x4A90, 0xB0, 0x76, 0x33, 0xF5, 0x7B, 0xF4, 0xEA, 0xA7);
DEFINE_GUID(GUID_DEVINTERFACE_VIDEO_OUTPUT_ARRIVAL,
    0x1AD9E4F0, 0xF88D, 0x4360, 0xBA, 0xB9, 0x4C, 0x2D, 0x55, 0xE5, 0x64, 0xCD);
DEFINE_GUID(GUID_DISPLAY_DEVICE_ARRIVAL,
    0x1CA05180, 0xA699, 0x450A, 0x9A, 0x0C, 0xDE, 0x4F, 0xBE, 0x3D, 0xDD, 0x89);
DEFINE_GUID(GUID_MONITOR_OVERRIDE_PSEUDO_SPECIALIZED,
    0xF196C02F, 0xF86F, 0x4F9A, 0xAA, 0x15, 0xE9, 0xCE, 0xBD, 0xFE, 0x3B, 0x96);

typedef struct _ENG_EVENT {
    PVOID pKEvent;
    ULONG fFlags;
} ENG_EVENT, *PENG_EVENT, *PEVENT;

#define IOCTL_COLORSPACE_TRANSFORM_QUERY_TARGET_CAPS   0x231000
#define IOCTL_COLORSPACE_TRANSFORM_SET                 0x231004
#define IOCTL_FSVIDEO_COPY_FRAME_BUFFER                0x340800
#define IOCTL_FSVIDEO_REVERSE_MOUSE_POINTER            0x340808
#define IOCTL_FSVIDEO_SET_CURRENT_MODE                 0x34080C
#define IOCTL_FSVIDEO_SET_CURSOR_POSITION              0x340814
#define IOCTL_FSVIDEO_SET_SCREEN_INFORMATION           0x340810
#define IOCTL_FSVIDEO_WRITE_TO_FRAME_BUFFER            0x340804
#define IOCTL_MIPI_DSI_QUERY_CAPS                      0x231400
#define IOCTL_MIPI_DSI_RESET                           0x231408
#define IOCTL_MIPI_DSI_TRANSMISSION                    0x231404
#define IOCTL_PANEL_GET_BACKLIGHT_REDUCTION            0x230C18
#define IOCTL_PANEL_GET_BRIGHTNESS                     0x230C08
#define IOCTL_PANEL_GET_MANUFACTURING_MODE             0x230C1C
#define IOCTL_PANEL_QUERY_BRIGHTNESS_CAPS              0x230C00
#define IOCTL_PANEL_QUERY_BRIGHTNESS_RANGES            0x230C04
#define IOCTL_PANEL_SET_BACKLIGHT_OPTIMIZATION         0x230C14
#define IOCTL_PANEL_SET_BRIGHTNESS                     0x230C0C
#define IOCTL_PANEL_SET_BRIGHTNESS_STATE               0x230C10
#define IOCTL_SET_ACTIVE_COLOR_PROFILE_NAME            0x231008
#define IOCTL_VIDEO_DISABLE_CURSOR                     0x230424
#define IOCTL_VIDEO_DISABLE_POINTER                    0x23043C
#define IOCTL_VIDEO_DISABLE_VDM                        0x230004
#define IOCTL_VIDEO_ENABLE_CURSOR                      0x230420
#define IOCTL_VIDEO_ENABLE_POINTER                     0x230438
#define IOCTL_VIDEO_ENABLE_VDM                         0x230000
#define IOCTL_VIDEO_ENUM_MONITOR_PDO                   0x230018
#define IOCTL_VIDEO_FREE_PUBLIC_ACCESS_RANGES          0x230464
#define IOCTL_VIDEO_GET_BANK_SELECT_CODE               0x230454
#define IOCTL_VIDEO_GET_CHILD_STATE                    0x230480
#define IOCTL_VIDEO_GET_OUTPUT_DEVICE_POWER_STATE      0x230010
#define IOCTL_VIDEO_GET_POWER_MANAGEMENT               0x230470
#define IOCTL_VIDEO_HANDLE_VIDEOPARAMETERS             0x230020
#define IOCTL_VIDEO_INIT_WIN32K_CALLBACKS              0x23001C
#define IOCTL_VIDEO_IS_VGA_DEVICE                      0x230024
#define IOCTL_VIDEO_LOAD_AND_SET_FONT                  0x230414
#define IOCTL_VIDEO_MAP_VIDEO_MEMORY                   0x230458
#define IOCTL_VIDEO_MONITOR_DEVICE                     0x230014
#define IOCTL_VIDEO_PREPARE_FOR_EARECOVERY             0x23002C
#define IOCTL_VIDEO_QUERY_AVAIL_MODES                  0x230400
#define IOCTL_VIDEO_QUERY_COLOR_CAPABILITIES           0x230468
#define IOCTL_VIDEO_QUERY_CURRENT_MODE                 0x230408
#define IOCTL_VIDEO_QUERY_CURSOR_ATTR                  0x23042C
#define IOCTL_VIDEO_QUERY_CURSOR_POSITION              0x230434
#define IOCTL_VIDEO_QUERY_DISPLAY_BRIGHTNESS           0x230498
#define IOCTL_VIDEO_QUERY_NUM_AVAIL_MODES              0x230404
#define IOCTL_VIDEO_QUERY_POINTER_ATTR                 0x230444
#define IOCTL_VIDEO_QUERY_POINTER_CAPABILITIES         0x230450
#define IOCTL_VIDEO_QUERY_POINTER_POSITION             0x23044C
#define IOCTL_VIDEO_QUERY_PUBLIC_ACCESS_RANGES         0x230460
#define IOCTL_VIDEO_QUERY_SUPPORTED_BRIGHTNESS         0x230494
#define IOCTL_VIDEO_REGISTER_VDM                       0x230008
#define IOCTL_VIDEO_RESET_DEVICE                       0x230410
#define IOCTL_VIDEO_RESTORE_HARDWARE_STATE             0x230204
#define IOCTL_VIDEO_SAVE_HARDWARE_STATE                0x230200
#define IOCTL_VIDEO_SET_BANK_POSITION                  0x230490
#define IOCTL_VIDEO_SET_CHILD_STATE_CONFIGURATION      0x230488
#define IOCTL_VIDEO_SET_COLOR_LUT_DATA                 0x23047C
#define IOCTL_VIDEO_SET_COLOR_REGISTERS                0x23041C
#define IOCTL_VIDEO_SET_CURRENT_MODE                   0x23040C
#define IOCTL_VIDEO_SET_CURSOR_ATTR                    0x230428
#define IOCTL_VIDEO_SET_CURSOR_POSITION                0x230430
#define IOCTL_VIDEO_SET_DISPLAY_BRIGHTNESS             0x23049C
#define IOCTL_VIDEO_SET_OUTPUT_DEVICE_POWER_STATE      0x23000C
#define IOCTL_VIDEO_SET_PALETTE_REGISTERS              0x230418
#define IOCTL_VIDEO_SET_POINTER_ATTR                   0x230440
#define IOCTL_VIDEO_SET_POINTER_POSITION               0x230448
#define IOCTL_VIDEO_SET_POWER_MANAGEMENT               0x23046C
#define IOCTL_VIDEO_SHARE_VIDEO_MEMORY                 0x230474
#define IOCTL_VIDEO_SWITCH_DUALVIEW                    0x23048C
#define IOCTL_VIDEO_UNMAP_VIDEO_MEMORY                 0x23045C
#define IOCTL_VIDEO_UNSHARE_VIDEO_MEMORY               0x230478
#define IOCTL_VIDEO_USE_DEVICE_IN_SESSION              0x230028
#define IOCTL_VIDEO_VALIDATE_CHILD_STATE_CONFIGURATION 0x230484
#define VIDEO_COLOR_LUT_DATA_FORMAT_PRIVATEFORMAT      0x80000000U
#define VIDEO_COLOR_LUT_DATA_FORMAT_RGB256WORDS        0x1
#define VIDEO_DEVICE_COLOR                             0x1
#define VIDEO_DUALVIEW_PRIMARY                         0x80000000U
#define VIDEO_DUALVIEW_REMOVABLE                       0x1
#define VIDEO_DUALVIEW_SECONDARY                       0x40000000
#define VIDEO_DUALVIEW_WDDM_VGA                        0x20000000
#define VIDEO_MAX_REASON                               9
#define VIDEO_MODE_ANIMATE_START                       0x8
#define VIDEO_MODE_ANIMATE_UPDATE                      0x10
#define VIDEO_MODE_ASYNC_POINTER                       0x1
#define VIDEO_MODE_BANKED                              0x80
#define VIDEO_MODE_COLOR                               0x1
#define VIDEO_MODE_COLOR_POINTER                       0x4
#define VIDEO_MODE_GRAPHICS                            0x2
#define VIDEO_MODE_INTERLACED                          0x10
#define VIDEO_MODE_LINEAR                              0x100
#define VIDEO_MODE_MANAGED_PALETTE                     0x8
#define VIDEO_MODE_MAP_MEM_LINEAR                      0x40000000
#define VIDEO_MODE_MONO_POINTER                        0x2
#define VIDEO_MODE_NO_64_BIT_ACCESS                    0x40
#define VIDEO_MODE_NO_OFF_SCREEN                       0x20
#define VIDEO_MODE_NO_ZERO_MEMORY                      0x80000000U
#define VIDEO_MODE_PALETTE_DRIVEN                      0x4
#define VIDEO_OPTIONAL_GAMMET_TABLE                    0x2
#define VIDEO_REASON_ALLOCATION                        6
#define VIDEO_REASON_CONFIGURATION                     9
#define VIDEO_REASON_FAILED_ROTATION                   5
#define VIDEO_REASON_LOCK                              5
#define VIDEO_REASON_NONE                              0
#define VIDEO_REASON_POLICY1                           1
#define VIDEO_REASON_POLICY2                           2
#define VIDEO_REASON_POLICY3                           3
#define VIDEO_REASON_POLICY4                           4
#define VIDEO_REASON_SCRATCH                           8
#define VIDEO_STATE_NON_STANDARD_VGA                   0x1
#define VIDEO_STATE_PACKED_CHAIN4_MODE                 0x4
#define VIDEO_STATE_UNEMULATED_VGA_STATE               0x2

/* A mode as sources of miniports remember it, though the display interface has other words for it. */
typedef struct _VIDEO_MODE {
    ULONG RequestedMode;
} VIDEO_MODE, *PVIDEO_MODE;

typedef struct _VIDEO_MODE_INFORMATION {
    ULONG Length;
    ULONG ModeIndex;
    ULONG VisScreenWidth;
    ULONG VisScreenHeight;
    ULONG ScreenStride;
    ULONG NumberOfPlanes;
    ULONG BitsPerPlane;
    ULONG Frequency;
    ULONG XMillimeter;
    ULONG YMillimeter;
    ULONG NumberRedBits;
    ULONG NumberGreenBits;
    ULONG NumberBlueBits;
    ULONG RedMask;
    ULONG GreenMask;
    ULONG BlueMask;
    ULONG AttributeFlags;
    ULONG VideoMemoryBitmapWidth;
    ULONG VideoMemoryBitmapHeight;
    ULONG DriverSpecificAttributeFlags;
} VIDEO_MODE_INFORMATION, *PVIDEO_MODE_INFORMATION;

typedef struct _VIDEO_NUM_MODES {
    ULONG NumModes;
    ULONG ModeInformationLength;
} VIDEO_NUM_MODES, *PVIDEO_NUM_MODES;

#endif /* DXGK_WDK_NTDDVDEO_H */
