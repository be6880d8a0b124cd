/* SPDX-License-Identifier: MIT */
/* What a Windows driver's source expects of <ntddk.h>: <wdm.h> and a few further types. */
#ifndef _NTDDK_
#define _NTDDK_

#include <wdm.h>
#include <bugcodes.h>

typedef enum _BUS_DATA_TYPE {
    ConfigurationSpaceUndefined = -1,
    Cmos = 0,
    EisaConfiguration = 1,
    Pos = 2,
    CbusConfiguration = 3,
    PCIConfiguration = 4,
    VMEConfiguration = 5,
    NuBusConfiguration = 6,
    PCMCIAConfiguration = 7,
    MPIConfiguration = 8,
    MPSAConfiguration = 9,
    PNPISAConfiguration = 10,
    SgiInternalConfiguration = 11,
    MaximumBusDataType = 12,
} BUS_DATA_TYPE, *PBUS_DATA_TYPE;

typedef enum _IO_QUERY_DEVICE_DATA_FORMAT {
    IoQueryDeviceIdentifier = 0,
    IoQueryDeviceConfigurationData = 1,
    IoQueryDeviceComponentInformation = 2,
    IoQueryDeviceMaxData = 3,
} IO_QUERY_DEVICE_DATA_FORMAT, *PIO_QUERY_DEVICE_DATA_FORMAT;

typedef struct DXGK_MS_STRUCT _IMAGE_INFO {
    union {
        ULONG Properties;
        struct DXGK_MS_STRUCT {
            ULONG ImageAddressingMode : 8;
            ULONG SystemModeImage : 1;
            ULONG ImageMappedToAllPids : 1;
            ULONG ExtendedInfoPresent : 1;
            ULONG MachineTypeMismatch : 1;
            ULONG ImageSignatureLevel : 4;
            ULONG ImageSignatureType : 3;
            ULONG ImagePartialMap : 1;
            ULONG Reserved : 12;
        };
    };
    PVOID ImageBase;
    ULONG ImageSelector;
    SIZE_T ImageSize;
    ULONG ImageSectionNumber;
} IMAGE_INFO, *PIMAGE_INFO;

typedef struct DXGK_MS_STRUCT _PS_CREATE_NOTIFY_INFO {
    SIZE_T Size;
    union {
        ULONG Flags;
        struct DXGK_MS_STRUCT {
            ULONG FileOpenNameAvailable : 1;
            ULONG IsSubsystemProcess : 1;
            ULONG Reserved : 30;
        };
    };
    HANDLE ParentProcessId;
    CLIENT_ID CreatingThreadId;
    struct _FILE_OBJECT *FileObject;
    PCUNICODE_STRING ImageFileName;
    PCUNICODE_STRING CommandLine;
    NTSTATUS CreationStatus;
} PS_CREATE_NOTIFY_INFO, *PPS_CREATE_NOTIFY_INFO;

#define FLUSH_NV_MEMORY_DEFAULT_TOKEN        0xFFFFFFFFFFFFFFFFULL
#define FLUSH_NV_MEMORY_IN_FLAG_NO_DRAIN     0x1
#define IOCTL_IPMI_INTERNAL_RECORD_SEL_EVENT 0x221000
#define MAXIMUM_DEBUG_BARS                   6
#define MAXIMUM_EXPANSION_SIZE               0x11800
#define NX_SUPPORT_POLICY_ALWAYSOFF          0
#define NX_SUPPORT_POLICY_ALWAYSON           1
#define NX_SUPPORT_POLICY_OPTIN              2
#define NX_SUPPORT_POLICY_OPTOUT             3

#endif /* _NTDDK_ */
