/* SPDX-License-Identifier: MIT */
/* Hardware resources as the PnP manager hands them to a driver, and resource requirements. */
#ifndef DXGK_WDK_WDM_RESOURCES_H
#define DXGK_WDK_WDM_RESOURCES_H

#include "ke.h"

typedef enum _INTERFACE_TYPE {
    InterfaceTypeUndefined = -1,
    Internal = 0,
    Isa = 1,
    Eisa = 2,
    MicroChannel = 3,
    TurboChannel = 4,
    PCIBus = 5,
    VMEBus = 6,
    NuBus = 7,
    PCMCIABus = 8,
    CBus = 9,
    MPIBus = 10,
    MPSABus = 11,
    ProcessorInternal = 12,
    InternalPowerBus = 13,
    PNPISABus = 14,
    PNPBus = 15,
    Vmcs = 16,
    ACPIBus = 17,
    MaximumInterfaceType = 18,
} INTERFACE_TYPE, *PINTERFACE_TYPE;

typedef enum _CM_SHARE_DISPOSITION {
    CmResourceShareUndetermined = 0,
    CmResourceShareDeviceExclusive = 1,
    CmResourceShareDriverExclusive = 2,
    CmResourceShareShared = 3,
} CM_SHARE_DISPOSITION, *PCM_SHARE_DISPOSITION;

typedef enum _IRQ_DEVICE_POLICY {
    IrqPolicyMachineDefault = 0,
    IrqPolicyAllCloseProcessors = 1,
    IrqPolicyOneCloseProcessor = 2,
    IrqPolicyAllProcessorsInMachine = 3,
    IrqPolicySpecifiedProcessors = 4,
    IrqPolicySpreadMessagesAcrossAllProcessors = 5,
    IrqPolicyAllProcessorsInMachineWhenSteered = 6,
} IRQ_DEVICE_POLICY, *PIRQ_DEVICE_POLICY;

typedef enum _IRQ_GROUP_POLICY {
    GroupAffinityAllGroupZero = 0,
    GroupAffinityDontCare = 1,
} IRQ_GROUP_POLICY, *PIRQ_GROUP_POLICY;

typedef enum _IRQ_PRIORITY {
    IrqPriorityUndefined = 0,
    IrqPriorityLow = 1,
    IrqPriorityNormal = 2,
    IrqPriorityHigh = 3,
} IRQ_PRIORITY, *PIRQ_PRIORITY;

#define CmResourceTypeBusNumber      6
#define CmResourceTypeConfigData     128
#define CmResourceTypeConnection     132
#define CmResourceTypeDevicePrivate  129
#define CmResourceTypeDeviceSpecific 5
#define CmResourceTypeDma            4
#define CmResourceTypeInterrupt      2
#define CmResourceTypeMemory         3
#define CmResourceTypeMemoryLarge    7
#define CmResourceTypeMfCardConfig   131
#define CmResourceTypeNonArbitrated  128
#define CmResourceTypeNull           0
#define CmResourceTypePcCardConfig   130
#define CmResourceTypePort           1
#define CmResourceTypeMaximum        8

#define CM_RESOURCE_CONNECTION_CLASS_FUNCTION_CONFIG     0x3
#define CM_RESOURCE_CONNECTION_CLASS_GPIO                0x1
#define CM_RESOURCE_CONNECTION_CLASS_SERIAL              0x2
#define CM_RESOURCE_CONNECTION_TYPE_FUNCTION_CONFIG      0x1
#define CM_RESOURCE_CONNECTION_TYPE_GPIO_IO              0x2
#define CM_RESOURCE_CONNECTION_TYPE_SERIAL_I2C           0x1
#define CM_RESOURCE_CONNECTION_TYPE_SERIAL_SPI           0x2
#define CM_RESOURCE_CONNECTION_TYPE_SERIAL_UART          0x3
#define CM_RESOURCE_DMA_16                               0x1
#define CM_RESOURCE_DMA_32                               0x2
#define CM_RESOURCE_DMA_8                                0x0
#define CM_RESOURCE_DMA_8_AND_16                         0x4
#define CM_RESOURCE_DMA_BUS_MASTER                       0x8
#define CM_RESOURCE_DMA_TYPE_A                           0x10
#define CM_RESOURCE_DMA_TYPE_B                           0x20
#define CM_RESOURCE_DMA_TYPE_F                           0x40
#define CM_RESOURCE_DMA_V3                               0x80
#define CM_RESOURCE_INTERRUPT_LATCHED                    0x1
#define CM_RESOURCE_INTERRUPT_LEVEL_LATCHED_BITS         0x1
#define CM_RESOURCE_INTERRUPT_LEVEL_SENSITIVE            0x0
#define CM_RESOURCE_INTERRUPT_MESSAGE                    0x2
#define CM_RESOURCE_INTERRUPT_MESSAGE_TOKEN              0xFFFFFFFEU
#define CM_RESOURCE_INTERRUPT_POLICY_INCLUDED            0x4
#define CM_RESOURCE_INTERRUPT_SECONDARY_INTERRUPT        0x10
#define CM_RESOURCE_INTERRUPT_WAKE_HINT                  0x20
#define CM_RESOURCE_MEMORY_24                            0x10
#define CM_RESOURCE_MEMORY_BAR                           0x80
#define CM_RESOURCE_MEMORY_CACHEABLE                     0x20
#define CM_RESOURCE_MEMORY_COMBINEDWRITE                 0x8
#define CM_RESOURCE_MEMORY_COMPAT_FOR_INACCESSIBLE_RANGE 0x100
#define CM_RESOURCE_MEMORY_LARGE                         0xE00
#define CM_RESOURCE_MEMORY_LARGE_40                      0x200
#define CM_RESOURCE_MEMORY_LARGE_40_MAXLEN               0xFFFFFFFF00LL
#define CM_RESOURCE_MEMORY_LARGE_48                      0x400
#define CM_RESOURCE_MEMORY_LARGE_48_MAXLEN               0xFFFFFFFF0000LL
#define CM_RESOURCE_MEMORY_LARGE_64                      0x800
#define CM_RESOURCE_MEMORY_LARGE_64_MAXLEN               0xFFFFFFFF00000000ULL
#define CM_RESOURCE_MEMORY_PREFETCHABLE                  0x4
#define CM_RESOURCE_MEMORY_READ_ONLY                     0x1
#define CM_RESOURCE_MEMORY_READ_WRITE                    0x0
#define CM_RESOURCE_MEMORY_WINDOW_DECODE                 0x40
#define CM_RESOURCE_MEMORY_WRITEABILITY_MASK             0x3
#define CM_RESOURCE_MEMORY_WRITE_ONLY                    0x2
#define CM_RESOURCE_PORT_10_BIT_DECODE                   0x4
#define CM_RESOURCE_PORT_12_BIT_DECODE                   0x8
#define CM_RESOURCE_PORT_16_BIT_DECODE                   0x10
#define CM_RESOURCE_PORT_BAR                             0x100
#define CM_RESOURCE_PORT_IO                              0x1
#define CM_RESOURCE_PORT_MEMORY                          0x0
#define CM_RESOURCE_PORT_PASSIVE_DECODE                  0x40
#define CM_RESOURCE_PORT_POSITIVE_DECODE                 0x20
#define CM_RESOURCE_PORT_WINDOW_DECODE                   0x80

/* These records are packed to 4 bytes: an address may lie on a 4-byte boundary. */
#pragma pack(push, 4)

typedef struct _CM_PARTIAL_RESOURCE_DESCRIPTOR {
    UCHAR Type;
    UCHAR ShareDisposition;
    USHORT Flags;
    union {
        struct {
            PHYSICAL_ADDRESS Start;
            ULONG Length;
        } Generic;
        struct {
            PHYSICAL_ADDRESS Start;
            ULONG Length;
        } Port;
        struct {
            ULONG Level;
            ULONG Vector;
            KAFFINITY Affinity;
        } Interrupt;
        struct {
            union {
                struct {
                    USHORT Reserved;
                    USHORT MessageCount;
                    ULONG Vector;
                    KAFFINITY Affinity;
                } Raw;
                struct {
                    ULONG Level;
                    ULONG Vector;
                    KAFFINITY Affinity;
                } Translated;
            };
        } MessageInterrupt;
        struct {
            PHYSICAL_ADDRESS Start;
            ULONG Length;
        } Memory;
        struct {
            ULONG Channel;
            ULONG Port;
            ULONG Reserved1;
        } Dma;
        struct {
            ULONG Channel;
            ULONG RequestLine;
            UCHAR TransferWidth;
            UCHAR Reserved1;
            UCHAR Reserved2;
            UCHAR Reserved3;
        } DmaV3;
        struct {
            ULONG Data[3];
        } DevicePrivate;
        struct {
            ULONG Start;
            ULONG Length;
            ULONG Reserved;
        } BusNumber;
        struct {
            ULONG DataSize;
            ULONG Reserved1;
            ULONG Reserved2;
        } DeviceSpecificData;
        struct {
            PHYSICAL_ADDRESS Start;
            ULONG Length40;
        } Memory40;
        struct {
            PHYSICAL_ADDRESS Start;
            ULONG Length48;
        } Memory48;
        struct {
            PHYSICAL_ADDRESS Start;
            ULONG Length64;
        } Memory64;
        struct {
            UCHAR Class;
            UCHAR Type;
            UCHAR Reserved1;
            UCHAR Reserved2;
            ULONG IdLowPart;
            ULONG IdHighPart;
        } Connection;
    } u;
} CM_PARTIAL_RESOURCE_DESCRIPTOR, *PCM_PARTIAL_RESOURCE_DESCRIPTOR;

typedef struct _CM_PARTIAL_RESOURCE_LIST {
    USHORT Version;
    USHORT Revision;
    ULONG Count;
    CM_PARTIAL_RESOURCE_DESCRIPTOR PartialDescriptors[1];
} CM_PARTIAL_RESOURCE_LIST, *PCM_PARTIAL_RESOURCE_LIST;

typedef struct _CM_FULL_RESOURCE_DESCRIPTOR {
    INTERFACE_TYPE InterfaceType;
    ULONG BusNumber;
    CM_PARTIAL_RESOURCE_LIST PartialResourceList;
} CM_FULL_RESOURCE_DESCRIPTOR, *PCM_FULL_RESOURCE_DESCRIPTOR;

typedef struct _CM_RESOURCE_LIST {
    ULONG Count;
    CM_FULL_RESOURCE_DESCRIPTOR List[1];
} CM_RESOURCE_LIST, *PCM_RESOURCE_LIST;

#pragma pack(pop)

#pragma pack(push, 1)

typedef struct _CM_INT13_DRIVE_PARAMETER {
    USHORT DriveSelect;
    ULONG MaxCylinders;
    USHORT SectorsPerTrack;
    USHORT MaxHeads;
    USHORT NumberDrives;
} CM_INT13_DRIVE_PARAMETER, *PCM_INT13_DRIVE_PARAMETER;

typedef struct _CM_PNP_BIOS_DEVICE_NODE {
    USHORT Size;
    UCHAR Node;
    ULONG ProductId;
    UCHAR DeviceType[3];
    USHORT DeviceAttributes;
} CM_PNP_BIOS_DEVICE_NODE, *PCM_PNP_BIOS_DEVICE_NODE;

#pragma pack(pop)

typedef struct _IO_RESOURCE_DESCRIPTOR {
    UCHAR Option;
    UCHAR Type;
    UCHAR ShareDisposition;
    UCHAR Spare1;
    USHORT Flags;
    USHORT Spare2;
    union {
        struct {
            ULONG Length;
            ULONG Alignment;
            PHYSICAL_ADDRESS MinimumAddress;
            PHYSICAL_ADDRESS MaximumAddress;
        } Port;
        struct {
            ULONG Length;
            ULONG Alignment;
            PHYSICAL_ADDRESS MinimumAddress;
            PHYSICAL_ADDRESS MaximumAddress;
        } Memory;
        struct {
            ULONG MinimumVector;
            ULONG MaximumVector;
            IRQ_DEVICE_POLICY AffinityPolicy;
            IRQ_PRIORITY PriorityPolicy;
            KAFFINITY TargetedProcessors;
        } Interrupt;
        struct {
            ULONG MinimumChannel;
            ULONG MaximumChannel;
        } Dma;
        struct {
            ULONG RequestLine;
            ULONG Reserved;
            ULONG Channel;
            ULONG TransferWidth;
        } DmaV3;
        struct {
            ULONG Length;
            ULONG Alignment;
            PHYSICAL_ADDRESS MinimumAddress;
            PHYSICAL_ADDRESS MaximumAddress;
        } Generic;
        struct {
            ULONG Data[3];
        } DevicePrivate;
        struct {
            ULONG Length;
            ULONG MinBusNumber;
            ULONG MaxBusNumber;
            ULONG Reserved;
        } BusNumber;
        struct {
            ULONG Priority;
            ULONG Reserved1;
            ULONG Reserved2;
        } ConfigData;
        struct {
            ULONG Length40;
            ULONG Alignment40;
            PHYSICAL_ADDRESS MinimumAddress;
            PHYSICAL_ADDRESS MaximumAddress;
        } Memory40;
        struct {
            ULONG Length48;
            ULONG Alignment48;
            PHYSICAL_ADDRESS MinimumAddress;
            PHYSICAL_ADDRESS MaximumAddress;
        } Memory48;
        struct {
            ULONG Length64;
            ULONG Alignment64;
            PHYSICAL_ADDRESS MinimumAddress;
            PHYSICAL_ADDRESS MaximumAddress;
        } Memory64;
        struct {
            UCHAR Class;
            UCHAR Type;
            UCHAR Reserved1;
            UCHAR Reserved2;
            ULONG IdLowPart;
            ULONG IdHighPart;
        } Connection;
    } u;
} IO_RESOURCE_DESCRIPTOR, *PIO_RESOURCE_DESCRIPTOR;

typedef struct _IO_RESOURCE_LIST {
    USHORT Version;
    USHORT Revision;
    ULONG Count;
    IO_RESOURCE_DESCRIPTOR Descriptors[1];
} IO_RESOURCE_LIST, *PIO_RESOURCE_LIST;

typedef struct _IO_RESOURCE_REQUIREMENTS_LIST {
    ULONG ListSize;
    INTERFACE_TYPE InterfaceType;
    ULONG BusNumber;
    ULONG SlotNumber;
    ULONG Reserved[3];
    ULONG AlternativeLists;
    IO_RESOURCE_LIST List[1];
} IO_RESOURCE_REQUIREMENTS_LIST, *PIO_RESOURCE_REQUIREMENTS_LIST;

#define IO_RESOURCE_ALTERNATIVE 0x8
#define IO_RESOURCE_DEFAULT     0x2
#define IO_RESOURCE_PREFERRED   0x1

#ifdef __cplusplus
extern "C" {
#endif
NTSYSAPI ULONGLONG NTAPI RtlCmDecodeMemIoResource(
    PCM_PARTIAL_RESOURCE_DESCRIPTOR Descriptor, PULONGLONG Start);
NTSYSAPI NTSTATUS NTAPI RtlCmEncodeMemIoResource(
    PCM_PARTIAL_RESOURCE_DESCRIPTOR Descriptor, UCHAR Type, ULONGLONG Length, ULONGLONG Start);
#ifdef __cplusplus
}
#endif

#endif /* DXGK_WDK_WDM_RESOURCES_H */
