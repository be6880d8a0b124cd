/* SPDX-License-Identifier: MIT */
/* The types of the older video port interface that the display headers still name. */
#ifndef DXGK_WDK_VIDEO_H
#define DXGK_WDK_VIDEO_H

#include <ntddk.h>
#include <ntddvdeo.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef LONG VP_STATUS, *PVP_STATUS;
typedef struct __VP_DMA_ADAPTER *PVP_DMA_ADAPTER;

typedef struct _STATUS_BLOCK {
    union {
        VP_STATUS Status;
        PVOID Pointer;
    };
    ULONG_PTR Information;
} STATUS_BLOCK, *PSTATUS_BLOCK;

typedef enum VIDEO_PORT_SERVICES {
    VideoPortServicesAGP = 1,
    VideoPortServicesI2C = 2,
    VideoPortServicesHeadless = 3,
    VideoPortServicesInt10 = 4,
    VideoPortServicesDebugReport = 5,
    VideoPortServicesWCMemoryProtection = 6,
} VIDEO_PORT_SERVICES, *PVIDEO_PORT_SERVICES;

typedef enum VIDEO_SYNCHRONIZE_PRIORITY {
    VpLowPriority = 0,
    VpMediumPriority = 1,
    VpHighPriority = 2,
} VIDEO_SYNCHRONIZE_PRIORITY, *PVIDEO_SYNCHRONIZE_PRIORITY;

typedef enum _VP_LOCK_OPERATION {
    VpReadAccess = 0,
    VpWriteAccess = 1,
    VpModifyAccess = 2,
} VP_LOCK_OPERATION, *PVP_LOCK_OPERATION;

typedef enum _VP_POOL_TYPE {
    VpNonPagedPool = 0,
    VpPagedPool = 1,
    VpNonPagedPoolCacheAligned = 4,
    VpPagedPoolCacheAligned = 5,
} VP_POOL_TYPE, *PVP_POOL_TYPE;

#define DEVICE_VGA_ENABLED                                1
#define DISPLAY_ADAPTER_HW_ID                             0xFFFFFFFFU
#define EVENT_TYPE_MASK                                   1
#define VIDEO_DEBUG_REPORT_MAX_SIZE                       0x8000
#define VIDEO_INVALID_CHILD_ID                            0xFFFFFFFFU
#define VIDEO_MEMORY_SPACE_DENSE                          0x4
#define VIDEO_MEMORY_SPACE_IO                             0x1
#define VIDEO_MEMORY_SPACE_MEMORY                         0x0
#define VIDEO_MEMORY_SPACE_P6CACHE                        0x8
#define VIDEO_MEMORY_SPACE_USER_MODE                      0x2
#define VIDEO_PORT_AGP_INTERFACE_VERSION_1                1
#define VIDEO_PORT_AGP_INTERFACE_VERSION_2                2
#define VIDEO_PORT_DEBUG_REPORT_INTERFACE_VERSION_1       1
#define VIDEO_PORT_I2C_INTERFACE_VERSION_1                1
#define VIDEO_PORT_I2C_INTERFACE_VERSION_2                2
#define VIDEO_PORT_INT10_INTERFACE_VERSION_1              1
#define VIDEO_PORT_WCMEMORYPROTECTION_INTERFACE_VERSION_1 1
#define VIDEO_RANGE_10_BIT_DECODE                         0x2
#define VIDEO_RANGE_PASSIVE_DECODE                        0x1

typedef struct _VIDEO_REQUEST_PACKET {
    ULONG IoControlCode;
    PSTATUS_BLOCK StatusBlock;
    PVOID InputBuffer;
    ULONG InputBufferLength;
    PVOID OutputBuffer;
    ULONG OutputBufferLength;
} VIDEO_REQUEST_PACKET, *PVIDEO_REQUEST_PACKET;

typedef struct _VIDEO_ACCESS_RANGE {
    PHYSICAL_ADDRESS RangeStart;
    ULONG RangeLength;
    UCHAR RangeInIoSpace;
    UCHAR RangeVisible;
    UCHAR RangeShareable;
    UCHAR RangePassive;
} VIDEO_ACCESS_RANGE, *PVIDEO_ACCESS_RANGE;

typedef struct _VPOSVERSIONINFO {
    ULONG Size;
    ULONG MajorVersion;
    ULONG MinorVersion;
    ULONG BuildNumber;
    USHORT ServicePackMajor;
    USHORT ServicePackMinor;
} VPOSVERSIONINFO, *PVPOSVERSIONINFO;

typedef struct _VP_DEVICE_DESCRIPTION {
    BOOLEAN ScatterGather;
    BOOLEAN Dma32BitAddresses;
    BOOLEAN Dma64BitAddresses;
    ULONG MaximumLength;
} VP_DEVICE_DESCRIPTION, *PVP_DEVICE_DESCRIPTION;

typedef struct _QUERY_INTERFACE {
    const GUID *InterfaceType;
    USHORT Size;
    USHORT Version;
    PINTERFACE Interface;
    PVOID InterfaceSpecificData;
    ULONG DeviceUid;
} QUERY_INTERFACE, *PQUERY_INTERFACE;

typedef VP_STATUS(NTAPI *PMINIPORT_GET_REGISTRY_ROUTINE)(
    PVOID HwDeviceExtension,
    PVOID Context,
    PWSTR ValueName,
    PVOID ValueData,
    ULONG ValueLength);
typedef BOOLEAN(NTAPI *PMINIPORT_SYNCHRONIZE_ROUTINE)(PVOID Context);

#ifdef __cplusplus
}
#endif

#endif /* DXGK_WDK_VIDEO_H */
