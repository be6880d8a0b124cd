/* SPDX-License-Identifier: MIT */
/* PCI configuration space, capabilities and class codes. */
#ifndef DXGK_WDK_WDM_PCI_H
#define DXGK_WDK_WDM_PCI_H

#include <ntdef.h>

#define PCI_ACS_ALLOWED                                            0
#define PCI_ACS_BLOCKED                                            1
#define PCI_ACS_REDIRECTED                                         2
#define PCI_ADDRESS_IO_ADDRESS_MASK                                0xFFFFFFFCU
#define PCI_ADDRESS_IO_SPACE                                       0x1
#define PCI_ADDRESS_MEMORY_ADDRESS_MASK                            0xFFFFFFF0U
#define PCI_ADDRESS_MEMORY_PREFETCHABLE                            0x8
#define PCI_ADDRESS_MEMORY_TYPE_MASK                               0x6
#define PCI_ADDRESS_ROM_ADDRESS_MASK                               0xFFFFF800U
#define PCI_ATS_INTERFACE_SIZE                                     48ULL
#define PCI_ATS_INTERFACE_VERSION                                  1
#define PCI_BRIDGE_TYPE                                            0x1
#define PCI_CAPABILITY_ID_ADVANCED_FEATURES                        0x13
#define PCI_CAPABILITY_ID_AGP                                      0x2
#define PCI_CAPABILITY_ID_AGP_TARGET                               0xE
#define PCI_CAPABILITY_ID_CPCI_HOTSWAP                             0x6
#define PCI_CAPABILITY_ID_CPCI_RES_CTRL                            0xB
#define PCI_CAPABILITY_ID_DEBUG_PORT                               0xA
#define PCI_CAPABILITY_ID_FPB                                      0x15
#define PCI_CAPABILITY_ID_HYPERTRANSPORT                           0x8
#define PCI_CAPABILITY_ID_MSI                                      0x5
#define PCI_CAPABILITY_ID_MSIX                                     0x11
#define PCI_CAPABILITY_ID_P2P_SSID                                 0xD
#define PCI_CAPABILITY_ID_PCIX                                     0x7
#define PCI_CAPABILITY_ID_PCI_EXPRESS                              0x10
#define PCI_CAPABILITY_ID_POWER_MANAGEMENT                         0x1
#define PCI_CAPABILITY_ID_SATA_CONFIG                              0x12
#define PCI_CAPABILITY_ID_SECURE                                   0xF
#define PCI_CAPABILITY_ID_SHPC                                     0xC
#define PCI_CAPABILITY_ID_SLOT_ID                                  0x4
#define PCI_CAPABILITY_ID_VENDOR_SPECIFIC                          0x9
#define PCI_CAPABILITY_ID_VPD                                      0x3
#define PCI_CARDBUS_BRIDGE_TYPE                                    0x2
#define PCI_CLASS_BASE_SYSTEM_DEV                                  0x8
#define PCI_CLASS_BRIDGE_DEV                                       0x6
#define PCI_CLASS_DATA_ACQ_SIGNAL_PROC                             0x11
#define PCI_CLASS_DISPLAY_CTLR                                     0x3
#define PCI_CLASS_DOCKING_STATION                                  0xA
#define PCI_CLASS_ENCRYPTION_DECRYPTION                            0x10
#define PCI_CLASS_INPUT_DEV                                        0x9
#define PCI_CLASS_INTELLIGENT_IO_CTLR                              0xE
#define PCI_CLASS_MASS_STORAGE_CTLR                                0x1
#define PCI_CLASS_MEMORY_CTLR                                      0x5
#define PCI_CLASS_MULTIMEDIA_DEV                                   0x4
#define PCI_CLASS_NETWORK_CTLR                                     0x2
#define PCI_CLASS_NOT_DEFINED                                      0xFF
#define PCI_CLASS_PRE_20                                           0x0
#define PCI_CLASS_PROCESSOR                                        0xB
#define PCI_CLASS_SATELLITE_COMMS_CTLR                             0xF
#define PCI_CLASS_SERIAL_BUS_CTLR                                  0xC
#define PCI_CLASS_SIMPLE_COMMS_CTLR                                0x7
#define PCI_CLASS_WIRELESS_CTLR                                    0xD
#define PCI_COMMON_HDR_LENGTH                                      64U
#define PCI_DEVICE_PRESENT_INTERFACE_VERSION                       1
#define PCI_DEVICE_TYPE                                            0x0
#define PCI_DISABLE_LEVEL_INTERRUPT                                0x400
#define PCI_ENABLE_BUS_MASTER                                      0x4
#define PCI_ENABLE_FAST_BACK_TO_BACK                               0x200
#define PCI_ENABLE_IO_SPACE                                        0x1
#define PCI_ENABLE_MEMORY_SPACE                                    0x2
#define PCI_ENABLE_PARITY                                          0x40
#define PCI_ENABLE_SERR                                            0x100
#define PCI_ENABLE_SPECIAL_CYCLES                                  0x8
#define PCI_ENABLE_VGA_COMPATIBLE_PALETTE                          0x20
#define PCI_ENABLE_WAIT_CYCLE                                      0x80
#define PCI_ENABLE_WRITE_AND_INVALIDATE                            0x10
#define PCI_EXPRESS_ACCESS_CONTROL_SERVICES_CAP_ID                 0xD
#define PCI_EXPRESS_ADVANCED_ERROR_REPORTING_CAP_ID                0x1
#define PCI_EXPRESS_ARI_CAP_ID                                     0xE
#define PCI_EXPRESS_ATS_CAP_ID                                     0xF
#define PCI_EXPRESS_CONFIGURATION_ACCESS_CORRELATION_CAP_ID        0xC
#define PCI_EXPRESS_DESIGNATED_VENDOR_SPECIFIC_CAP_ID              0x23
#define PCI_EXPRESS_DEVICE_SERIAL_NUMBER_CAP_ID                    0x3
#define PCI_EXPRESS_DPA_CAP_ID                                     0x16
#define PCI_EXPRESS_DPC_CAP_ID                                     0x1D
#define PCI_EXPRESS_FRS_QUEUEING_CAP_ID                            0x21
#define PCI_EXPRESS_L1_PM_SS_CAP_ID                                0x1E
#define PCI_EXPRESS_LINK_QUIESCENT_INTERFACE_VERSION               1
#define PCI_EXPRESS_LN_REQUESTER_CAP_ID                            0x1C
#define PCI_EXPRESS_LTR_CAP_ID                                     0x18
#define PCI_EXPRESS_MFVC_CAP_ID                                    0x8
#define PCI_EXPRESS_MPCIE_CAP_ID                                   0x20
#define PCI_EXPRESS_MULTICAST_CAP_ID                               0x12
#define PCI_EXPRESS_MULTI_ROOT_IO_VIRTUALIZATION_CAP_ID            0x11
#define PCI_EXPRESS_NPEM_CAP_ID                                    0x29
#define PCI_EXPRESS_PAGE_REQUEST_CAP_ID                            0x13
#define PCI_EXPRESS_PASID_CAP_ID                                   0x1B
#define PCI_EXPRESS_PMUX_CAP_ID                                    0x1A
#define PCI_EXPRESS_POWER_BUDGETING_CAP_ID                         0x4
#define PCI_EXPRESS_PTM_CAP_ID                                     0x1F
#define PCI_EXPRESS_RCRB_HEADER_CAP_ID                             0xA
#define PCI_EXPRESS_RC_EVENT_COLLECTOR_ENDPOINT_ASSOCIATION_CAP_ID 0x7
#define PCI_EXPRESS_RC_INTERNAL_LINK_CONTROL_CAP_ID                0x6
#define PCI_EXPRESS_RC_LINK_DECLARATION_CAP_ID                     0x5
#define PCI_EXPRESS_READINESS_TIME_REPORTING_CAP_ID                0x22
#define PCI_EXPRESS_RESERVED_FOR_AMD_CAP_ID                        0x14
#define PCI_EXPRESS_RESIZABLE_BAR_CAP_ID                           0x15
#define PCI_EXPRESS_ROOT_PORT_INTERFACE_VERSION                    1
#define PCI_EXPRESS_SECONDARY_PCI_EXPRESS_CAP_ID                   0x19
#define PCI_EXPRESS_SINGLE_ROOT_IO_VIRTUALIZATION_CAP_ID           0x10
#define PCI_EXPRESS_TPH_REQUESTER_CAP_ID                           0x17
#define PCI_EXPRESS_VC_AND_MFVC_CAP_ID                             0x9
#define PCI_EXPRESS_VENDOR_SPECIFIC_CAP_ID                         0xB
#define PCI_EXPRESS_VIRTUAL_CHANNEL_CAP_ID                         0x2
#define PCI_EXTENDED_CONFIG_LENGTH                                 0x1000
#define PCI_INVALID_VENDORID                                       0xFFFF
#define PCI_MAX_BRIDGE_NUMBER                                      0xFF
#define PCI_MAX_DEVICES                                            32
#define PCI_MAX_FUNCTION                                           8
#define PCI_MAX_SEGMENT_NUMBER                                     0xFFFF
#define PCI_MSIX_TABLE_CONFIG_INTERFACE_VERSION                    1
#define PCI_MSIX_TABLE_CONFIG_MINIMUM_SIZE                         56ULL
#define PCI_MULTIFUNCTION                                          0x80
#define PCI_PROGRAMMING_INTERFACE_MSC_NVM_EXPRESS                  0x2
#define PCI_PTM_TIME_SOURCE_AUX                                    0xFFFFFFFFU
#define PCI_ROMADDRESS_ENABLED                                     0x1
#define PCI_SECURITY_DIRECT_TRANSLATED_P2P                         0x4
#define PCI_SECURITY_ENHANCED                                      0x2
#define PCI_SECURITY_FULLY_SUPPORTED                               0x1
#define PCI_SECURITY_GUEST_ASSIGNED                                0x1
#define PCI_SECURITY_INTERFACE_VERSION                             1
#define PCI_SECURITY_INTERFACE_VERSION2                            2
#define PCI_SECURITY_SRIOV_DIRECT_TRANSLATED_P2P                   0x40000
#define PCI_STATUS_66MHZ_CAPABLE                                   0x20
#define PCI_STATUS_CAPABILITIES_LIST                               0x10
#define PCI_STATUS_DATA_PARITY_DETECTED                            0x100
#define PCI_STATUS_DETECTED_PARITY_ERROR                           0x8000
#define PCI_STATUS_DEVSEL                                          0x600
#define PCI_STATUS_FAST_BACK_TO_BACK                               0x80
#define PCI_STATUS_IMMEDIATE_READINESS                             0x1
#define PCI_STATUS_INTERRUPT_PENDING                               0x8
#define PCI_STATUS_RECEIVED_MASTER_ABORT                           0x2000
#define PCI_STATUS_RECEIVED_TARGET_ABORT                           0x1000
#define PCI_STATUS_SIGNALED_SYSTEM_ERROR                           0x4000
#define PCI_STATUS_SIGNALED_TARGET_ABORT                           0x800
#define PCI_STATUS_UDF_SUPPORTED                                   0x40
#define PCI_SUBCLASS_BR_CARDBUS                                    0x7
#define PCI_SUBCLASS_BR_EISA                                       0x2
#define PCI_SUBCLASS_BR_HOST                                       0x0
#define PCI_SUBCLASS_BR_ISA                                        0x1
#define PCI_SUBCLASS_BR_MCA                                        0x3
#define PCI_SUBCLASS_BR_NUBUS                                      0x6
#define PCI_SUBCLASS_BR_OTHER                                      0x80
#define PCI_SUBCLASS_BR_PCI_TO_PCI                                 0x4
#define PCI_SUBCLASS_BR_PCMCIA                                     0x5
#define PCI_SUBCLASS_BR_RACEWAY                                    0x8
#define PCI_SUBCLASS_COM_MODEM                                     0x3
#define PCI_SUBCLASS_COM_MULTIPORT                                 0x2
#define PCI_SUBCLASS_COM_OTHER                                     0x80
#define PCI_SUBCLASS_COM_PARALLEL                                  0x1
#define PCI_SUBCLASS_COM_SERIAL                                    0x0
#define PCI_SUBCLASS_CRYPTO_ENTERTAINMENT                          0x10
#define PCI_SUBCLASS_CRYPTO_NET_COMP                               0x0
#define PCI_SUBCLASS_CRYPTO_OTHER                                  0x80
#define PCI_SUBCLASS_DASP_DPIO                                     0x0
#define PCI_SUBCLASS_DASP_OTHER                                    0x80
#define PCI_SUBCLASS_DOC_GENERIC                                   0x0
#define PCI_SUBCLASS_DOC_OTHER                                     0x80
#define PCI_SUBCLASS_INP_DIGITIZER                                 0x1
#define PCI_SUBCLASS_INP_GAMEPORT                                  0x4
#define PCI_SUBCLASS_INP_KEYBOARD                                  0x0
#define PCI_SUBCLASS_INP_MOUSE                                     0x2
#define PCI_SUBCLASS_INP_OTHER                                     0x80
#define PCI_SUBCLASS_INP_SCANNER                                   0x3
#define PCI_SUBCLASS_INTIO_I2O                                     0x0
#define PCI_SUBCLASS_MEM_FLASH                                     0x1
#define PCI_SUBCLASS_MEM_OTHER                                     0x80
#define PCI_SUBCLASS_MEM_RAM                                       0x0
#define PCI_SUBCLASS_MM_AUDIO_DEV                                  0x1
#define PCI_SUBCLASS_MM_OTHER                                      0x80
#define PCI_SUBCLASS_MM_TELEPHONY_DEV                              0x2
#define PCI_SUBCLASS_MM_VIDEO_DEV                                  0x0
#define PCI_SUBCLASS_MSC_AHCI_CTLR                                 0x6
#define PCI_SUBCLASS_MSC_FLOPPY_CTLR                               0x2
#define PCI_SUBCLASS_MSC_IDE_CTLR                                  0x1
#define PCI_SUBCLASS_MSC_IPI_CTLR                                  0x3
#define PCI_SUBCLASS_MSC_NVM_CTLR                                  0x8
#define PCI_SUBCLASS_MSC_OTHER                                     0x80
#define PCI_SUBCLASS_MSC_RAID_CTLR                                 0x4
#define PCI_SUBCLASS_MSC_SCSI_BUS_CTLR                             0x0
#define PCI_SUBCLASS_NET_ATM_CTLR                                  0x3
#define PCI_SUBCLASS_NET_ETHERNET_CTLR                             0x0
#define PCI_SUBCLASS_NET_FDDI_CTLR                                 0x2
#define PCI_SUBCLASS_NET_ISDN_CTLR                                 0x4
#define PCI_SUBCLASS_NET_OTHER                                     0x80
#define PCI_SUBCLASS_NET_TOKEN_RING_CTLR                           0x1
#define PCI_SUBCLASS_PRE_20_NON_VGA                                0x0
#define PCI_SUBCLASS_PRE_20_VGA                                    0x1
#define PCI_SUBCLASS_PROC_386                                      0x0
#define PCI_SUBCLASS_PROC_486                                      0x1
#define PCI_SUBCLASS_PROC_ALPHA                                    0x10
#define PCI_SUBCLASS_PROC_COPROCESSOR                              0x40
#define PCI_SUBCLASS_PROC_PENTIUM                                  0x2
#define PCI_SUBCLASS_PROC_POWERPC                                  0x20
#define PCI_SUBCLASS_SAT_AUDIO                                     0x2
#define PCI_SUBCLASS_SAT_DATA                                      0x4
#define PCI_SUBCLASS_SAT_TV                                        0x1
#define PCI_SUBCLASS_SAT_VOICE                                     0x3
#define PCI_SUBCLASS_SB_ACCESS                                     0x1
#define PCI_SUBCLASS_SB_FIBRE_CHANNEL                              0x4
#define PCI_SUBCLASS_SB_IEEE1394                                   0x0
#define PCI_SUBCLASS_SB_SMBUS                                      0x5
#define PCI_SUBCLASS_SB_SSA                                        0x2
#define PCI_SUBCLASS_SB_THUNDERBOLT                                0xA
#define PCI_SUBCLASS_SB_USB                                        0x3
#define PCI_SUBCLASS_SYS_DMA_CTLR                                  0x1
#define PCI_SUBCLASS_SYS_GEN_HOTPLUG_CTLR                          0x4
#define PCI_SUBCLASS_SYS_INTERRUPT_CTLR                            0x0
#define PCI_SUBCLASS_SYS_OTHER                                     0x80
#define PCI_SUBCLASS_SYS_RCEC                                      0x7
#define PCI_SUBCLASS_SYS_REAL_TIME_CLOCK                           0x3
#define PCI_SUBCLASS_SYS_SDIO_CTRL                                 0x5
#define PCI_SUBCLASS_SYS_SYSTEM_TIMER                              0x2
#define PCI_SUBCLASS_VID_OTHER                                     0x80
#define PCI_SUBCLASS_VID_VGA_CTLR                                  0x0
#define PCI_SUBCLASS_VID_XGA_CTLR                                  0x1
#define PCI_SUBCLASS_WIRELESS_CON_IR                               0x1
#define PCI_SUBCLASS_WIRELESS_IRDA                                 0x0
#define PCI_SUBCLASS_WIRELESS_OTHER                                0x80
#define PCI_SUBCLASS_WIRELESS_RF                                   0x10
#define PCI_SUBLCASS_VID_3D_CTLR                                   0x2
#define PCI_TYPE0_ADDRESSES                                        6
#define PCI_TYPE1_ADDRESSES                                        2
#define PCI_TYPE2_ADDRESSES                                        5
#define PCI_TYPE_20BIT                                             2
#define PCI_TYPE_32BIT                                             0
#define PCI_TYPE_64BIT                                             4
#define PCI_USE_CLASS_SUBCLASS                                     0x8
#define PCI_USE_LOCAL_BUS                                          0x20
#define PCI_USE_LOCAL_DEVICE                                       0x40
#define PCI_USE_PROGIF                                             0x10
#define PCI_USE_REVISION                                           0x2
#define PCI_USE_SUBSYSTEM_IDS                                      0x1
#define PCI_USE_VENDEV_IDS                                         0x4
#define PCI_WHICHSPACE_CONFIG                                      0x0
#define PCI_WHICHSPACE_ROM                                         0x52696350

#define PCI_AGP_RATE_1X                             0x1
#define PCI_AGP_RATE_2X                             0x2
#define PCI_AGP_RATE_4X                             0x4
#define PCI_BUS_INTERFACE_STANDARD_VERSION          2
#define PCI_BUS_INTERFACE_STANDARD_VERSION_1_LENGTH 80
#define PCI_DATA_TAG                                0x20494350
#define PCI_DATA_VERSION                            1
#define PCI_EXPRESS_TPH_ST_LOCATION_MSIX_TABLE      2
#define PCI_EXPRESS_TPH_ST_LOCATION_NONE            0
#define PCI_EXPRESS_TPH_ST_LOCATION_RESERVED        3
#define PCI_EXPRESS_TPH_ST_LOCATION_TPH_CAPABILITY  1
#define PCI_INVALID_ALTERNATE_FUNCTION_NUMBER       0xFF
#define PCI_ROOT_BUS_OSC_METHOD_CAPABILITY_REVISION 0x1

typedef struct _PCI_SLOT_NUMBER {
    union {
        struct DXGK_MS_STRUCT {
            ULONG DeviceNumber : 5;
            ULONG FunctionNumber : 3;
            ULONG Reserved : 24;
        } bits;
        ULONG AsULONG;
    } u;
} PCI_SLOT_NUMBER, *PPCI_SLOT_NUMBER;

typedef struct _PCI_COMMON_HEADER {
    USHORT VendorID;
    USHORT DeviceID;
    USHORT Command;
    USHORT Status;
    UCHAR RevisionID;
    UCHAR ProgIf;
    UCHAR SubClass;
    UCHAR BaseClass;
    UCHAR CacheLineSize;
    UCHAR LatencyTimer;
    UCHAR HeaderType;
    UCHAR BIST;
    union {
        struct _PCI_HEADER_TYPE_0 {
            ULONG BaseAddresses[6];
            ULONG CIS;
            USHORT SubVendorID;
            USHORT SubSystemID;
            ULONG ROMBaseAddress;
            UCHAR CapabilitiesPtr;
            UCHAR Reserved1[3];
            ULONG Reserved2;
            UCHAR InterruptLine;
            UCHAR InterruptPin;
            UCHAR MinimumGrant;
            UCHAR MaximumLatency;
        } type0;
        struct _PCI_HEADER_TYPE_1 {
            ULONG BaseAddresses[2];
            UCHAR PrimaryBus;
            UCHAR SecondaryBus;
            UCHAR SubordinateBus;
            UCHAR SecondaryLatency;
            UCHAR IOBase;
            UCHAR IOLimit;
            USHORT SecondaryStatus;
            USHORT MemoryBase;
            USHORT MemoryLimit;
            USHORT PrefetchBase;
            USHORT PrefetchLimit;
            ULONG PrefetchBaseUpper32;
            ULONG PrefetchLimitUpper32;
            USHORT IOBaseUpper16;
            USHORT IOLimitUpper16;
            UCHAR CapabilitiesPtr;
            UCHAR Reserved1[3];
            ULONG ROMBaseAddress;
            UCHAR InterruptLine;
            UCHAR InterruptPin;
            USHORT BridgeControl;
        } type1;
        struct _PCI_HEADER_TYPE_2 {
            ULONG SocketRegistersBaseAddress;
            UCHAR CapabilitiesPtr;
            UCHAR Reserved;
            USHORT SecondaryStatus;
            UCHAR PrimaryBus;
            UCHAR SecondaryBus;
            UCHAR SubordinateBus;
            UCHAR SecondaryLatency;
            struct {
                ULONG Base;
                ULONG Limit;
            } Range[4];
            UCHAR InterruptLine;
            UCHAR InterruptPin;
            USHORT BridgeControl;
        } type2;
    } u;
} PCI_COMMON_HEADER, *PPCI_COMMON_HEADER;

typedef struct _PCI_COMMON_CONFIG {
    USHORT VendorID;
    USHORT DeviceID;
    USHORT Command;
    USHORT Status;
    UCHAR RevisionID;
    UCHAR ProgIf;
    UCHAR SubClass;
    UCHAR BaseClass;
    UCHAR CacheLineSize;
    UCHAR LatencyTimer;
    UCHAR HeaderType;
    UCHAR BIST;
    union {
        struct {
            ULONG BaseAddresses[6];
            ULONG CIS;
            USHORT SubVendorID;
            USHORT SubSystemID;
            ULONG ROMBaseAddress;
            UCHAR CapabilitiesPtr;
            UCHAR Reserved1[3];
            ULONG Reserved2;
            UCHAR InterruptLine;
            UCHAR InterruptPin;
            UCHAR MinimumGrant;
            UCHAR MaximumLatency;
        } type0;
        struct {
            ULONG BaseAddresses[2];
            UCHAR PrimaryBus;
            UCHAR SecondaryBus;
            UCHAR SubordinateBus;
            UCHAR SecondaryLatency;
            UCHAR IOBase;
            UCHAR IOLimit;
            USHORT SecondaryStatus;
            USHORT MemoryBase;
            USHORT MemoryLimit;
            USHORT PrefetchBase;
            USHORT PrefetchLimit;
            ULONG PrefetchBaseUpper32;
            ULONG PrefetchLimitUpper32;
            USHORT IOBaseUpper16;
            USHORT IOLimitUpper16;
            UCHAR CapabilitiesPtr;
            UCHAR Reserved1[3];
            ULONG ROMBaseAddress;
            UCHAR InterruptLine;
            UCHAR InterruptPin;
            USHORT BridgeControl;
        } type1;
        struct {
            ULONG SocketRegistersBaseAddress;
            UCHAR CapabilitiesPtr;
            UCHAR Reserved;
            USHORT SecondaryStatus;
            UCHAR PrimaryBus;
            UCHAR SecondaryBus;
            UCHAR SubordinateBus;
            UCHAR SecondaryLatency;
            struct {
                ULONG Base;
                ULONG Limit;
            } Range[4];
            UCHAR InterruptLine;
            UCHAR InterruptPin;
            USHORT BridgeControl;
        } type2;
    } u;
    UCHAR DeviceSpecific[192];
} PCI_COMMON_CONFIG, *PPCI_COMMON_CONFIG;

typedef struct _PCI_CAPABILITIES_HEADER {
    UCHAR CapabilityID;
    UCHAR Next;
} PCI_CAPABILITIES_HEADER, *PPCI_CAPABILITIES_HEADER;

typedef struct DXGK_MS_STRUCT _PCI_PMC {
    UCHAR Version : 3;
    UCHAR PMEClock : 1;
    UCHAR Rsvd1 : 1;
    UCHAR DeviceSpecificInitialization : 1;
    UCHAR Rsvd2 : 2;
    struct DXGK_MS_STRUCT _PM_SUPPORT {
        UCHAR Rsvd2 : 1;
        UCHAR D1 : 1;
        UCHAR D2 : 1;
        UCHAR PMED0 : 1;
        UCHAR PMED1 : 1;
        UCHAR PMED2 : 1;
        UCHAR PMED3Hot : 1;
        UCHAR PMED3Cold : 1;
    } Support;
} PCI_PMC, *PPCI_PMC;

typedef struct DXGK_MS_STRUCT _PCI_PMCSR {
    USHORT PowerState : 2;
    USHORT Rsvd1 : 1;
    USHORT NoSoftReset : 1;
    USHORT Rsvd2 : 4;
    USHORT PMEEnable : 1;
    USHORT DataSelect : 4;
    USHORT DataScale : 2;
    USHORT PMEStatus : 1;
} PCI_PMCSR, *PPCI_PMCSR;

typedef struct DXGK_MS_STRUCT _PCI_PMCSR_BSE {
    UCHAR Rsvd1 : 6;
    UCHAR D3HotSupportsStopClock : 1;
    UCHAR BusPowerClockControlEnabled : 1;
} PCI_PMCSR_BSE, *PPCI_PMCSR_BSE;

typedef struct _PCI_PM_CAPABILITY {
    PCI_CAPABILITIES_HEADER Header;
    union {
        PCI_PMC Capabilities;
        USHORT AsUSHORT;
    } PMC;
    union {
        PCI_PMCSR ControlStatus;
        USHORT AsUSHORT;
    } PMCSR;
    union {
        PCI_PMCSR_BSE BridgeSupport;
        UCHAR AsUCHAR;
    } PMCSR_BSE;
    UCHAR Data;
} PCI_PM_CAPABILITY, *PPCI_PM_CAPABILITY;

typedef struct _PCI_DEVICE_PRESENCE_PARAMETERS {
    ULONG Size;
    ULONG Flags;
    USHORT VendorID;
    USHORT DeviceID;
    UCHAR RevisionID;
    USHORT SubVendorID;
    USHORT SubSystemID;
    UCHAR BaseClass;
    UCHAR SubClass;
    UCHAR ProgIf;
} PCI_DEVICE_PRESENCE_PARAMETERS, *PPCI_DEVICE_PRESENCE_PARAMETERS;

typedef union _PCI_EXPRESS_CAPABILITIES_REGISTER {
    struct DXGK_MS_STRUCT {
        USHORT CapabilityVersion : 4;
        USHORT DeviceType : 4;
        USHORT SlotImplemented : 1;
        USHORT InterruptMessageNumber : 5;
        USHORT Rsvd : 2;
    };
    USHORT AsUSHORT;
} PCI_EXPRESS_CAPABILITIES_REGISTER, *PPCI_EXPRESS_CAPABILITIES_REGISTER;

typedef union _PCI_EXPRESS_DEVICE_CAPABILITIES_REGISTER {
    struct DXGK_MS_STRUCT {
        ULONG MaxPayloadSizeSupported : 3;
        ULONG PhantomFunctionsSupported : 2;
        ULONG ExtendedTagSupported : 1;
        ULONG L0sAcceptableLatency : 3;
        ULONG L1AcceptableLatency : 3;
        ULONG Undefined : 3;
        ULONG RoleBasedErrorReporting : 1;
        ULONG Rsvd1 : 2;
        ULONG CapturedSlotPowerLimit : 8;
        ULONG CapturedSlotPowerLimitScale : 2;
        ULONG FunctionLevelResetCapability : 1;
        ULONG Rsvd2 : 3;
    };
    ULONG AsULONG;
} PCI_EXPRESS_DEVICE_CAPABILITIES_REGISTER, *PPCI_EXPRESS_DEVICE_CAPABILITIES_REGISTER;

typedef union _PCI_EXPRESS_DEVICE_CONTROL_REGISTER {
    struct DXGK_MS_STRUCT {
        USHORT CorrectableErrorEnable : 1;
        USHORT NonFatalErrorEnable : 1;
        USHORT FatalErrorEnable : 1;
        USHORT UnsupportedRequestErrorEnable : 1;
        USHORT EnableRelaxedOrder : 1;
        USHORT MaxPayloadSize : 3;
        USHORT ExtendedTagEnable : 1;
        USHORT PhantomFunctionsEnable : 1;
        USHORT AuxPowerEnable : 1;
        USHORT NoSnoopEnable : 1;
        USHORT MaxReadRequestSize : 3;
        USHORT BridgeConfigRetryEnable : 1; /* of a bridge */
    };
    struct DXGK_MS_STRUCT {
        USHORT : 15;
        USHORT InitiateFunctionLevelReset : 1; /* of an endpoint */
    };
    USHORT AsUSHORT;
} PCI_EXPRESS_DEVICE_CONTROL_REGISTER, *PPCI_EXPRESS_DEVICE_CONTROL_REGISTER;

typedef union _PCI_EXPRESS_DEVICE_STATUS_REGISTER {
    struct DXGK_MS_STRUCT {
        USHORT CorrectableErrorDetected : 1;
        USHORT NonFatalErrorDetected : 1;
        USHORT FatalErrorDetected : 1;
        USHORT UnsupportedRequestDetected : 1;
        USHORT AuxPowerDetected : 1;
        USHORT TransactionsPending : 1;
        USHORT Rsvd : 10;
    };
    USHORT AsUSHORT;
} PCI_EXPRESS_DEVICE_STATUS_REGISTER, *PPCI_EXPRESS_DEVICE_STATUS_REGISTER;

typedef union _PCI_EXPRESS_LINK_CAPABILITIES_REGISTER {
    struct DXGK_MS_STRUCT {
        ULONG MaximumLinkSpeed : 4;
        ULONG MaximumLinkWidth : 6;
        ULONG ActiveStatePMSupport : 2;
        ULONG L0sExitLatency : 3;
        ULONG L1ExitLatency : 3;
        ULONG ClockPowerManagement : 1;
        ULONG SurpriseDownErrorReportingCapable : 1;
        ULONG DataLinkLayerActiveReportingCapable : 1;
        ULONG LinkBandwidthNotificationCapability : 1;
        ULONG AspmOptionalityCompliance : 1;
        ULONG Rsvd : 1;
        ULONG PortNumber : 8;
    };
    ULONG AsULONG;
} PCI_EXPRESS_LINK_CAPABILITIES_REGISTER, *PPCI_EXPRESS_LINK_CAPABILITIES_REGISTER;

typedef union _PCI_EXPRESS_LINK_CONTROL_REGISTER {
    struct DXGK_MS_STRUCT {
        USHORT ActiveStatePMControl : 2;
        USHORT Rsvd1 : 1;
        USHORT ReadCompletionBoundary : 1;
        USHORT LinkDisable : 1;
        USHORT RetrainLink : 1;
        USHORT CommonClockConfig : 1;
        USHORT ExtendedSynch : 1;
        USHORT EnableClockPowerManagement : 1;
        USHORT Rsvd2 : 7;
    };
    USHORT AsUSHORT;
} PCI_EXPRESS_LINK_CONTROL_REGISTER, *PPCI_EXPRESS_LINK_CONTROL_REGISTER;

typedef union _PCI_EXPRESS_LINK_STATUS_REGISTER {
    struct DXGK_MS_STRUCT {
        USHORT LinkSpeed : 4;
        USHORT LinkWidth : 6;
        USHORT Undefined : 1;
        USHORT LinkTraining : 1;
        USHORT SlotClockConfig : 1;
        USHORT DataLinkLayerActive : 1;
        USHORT Rsvd : 2;
    };
    USHORT AsUSHORT;
} PCI_EXPRESS_LINK_STATUS_REGISTER, *PPCI_EXPRESS_LINK_STATUS_REGISTER;

typedef union _PCI_EXPRESS_SLOT_CAPABILITIES_REGISTER {
    struct DXGK_MS_STRUCT {
        ULONG AttentionButtonPresent : 1;
        ULONG PowerControllerPresent : 1;
        ULONG MRLSensorPresent : 1;
        ULONG AttentionIndicatorPresent : 1;
        ULONG PowerIndicatorPresent : 1;
        ULONG HotPlugSurprise : 1;
        ULONG HotPlugCapable : 1;
        ULONG SlotPowerLimit : 8;
        ULONG SlotPowerLimitScale : 2;
        ULONG ElectromechanicalLockPresent : 1;
        ULONG NoCommandCompletedSupport : 1;
        ULONG PhysicalSlotNumber : 13;
    };
    ULONG AsULONG;
} PCI_EXPRESS_SLOT_CAPABILITIES_REGISTER, *PPCI_EXPRESS_SLOT_CAPABILITIES_REGISTER;

typedef union _PCI_EXPRESS_SLOT_CONTROL_REGISTER {
    struct DXGK_MS_STRUCT {
        USHORT AttentionButtonEnable : 1;
        USHORT PowerFaultDetectEnable : 1;
        USHORT MRLSensorEnable : 1;
        USHORT PresenceDetectEnable : 1;
        USHORT CommandCompletedEnable : 1;
        USHORT HotPlugInterruptEnable : 1;
        USHORT AttentionIndicatorControl : 2;
        USHORT PowerIndicatorControl : 2;
        USHORT PowerControllerControl : 1;
        USHORT ElectromechanicalLockControl : 1;
        USHORT DataLinkStateChangeEnable : 1;
        USHORT Rsvd : 3;
    };
    USHORT AsUSHORT;
} PCI_EXPRESS_SLOT_CONTROL_REGISTER, *PPCI_EXPRESS_SLOT_CONTROL_REGISTER;

typedef union _PCI_EXPRESS_SLOT_STATUS_REGISTER {
    struct DXGK_MS_STRUCT {
        USHORT AttentionButtonPressed : 1;
        USHORT PowerFaultDetected : 1;
        USHORT MRLSensorChanged : 1;
        USHORT PresenceDetectChanged : 1;
        USHORT CommandCompleted : 1;
        USHORT MRLSensorState : 1;
        USHORT PresenceDetectState : 1;
        USHORT ElectromechanicalLockEngaged : 1;
        USHORT DataLinkStateChanged : 1;
        USHORT Rsvd : 7;
    };
    USHORT AsUSHORT;
} PCI_EXPRESS_SLOT_STATUS_REGISTER, *PPCI_EXPRESS_SLOT_STATUS_REGISTER;

typedef union _PCI_EXPRESS_ROOT_CONTROL_REGISTER {
    struct DXGK_MS_STRUCT {
        USHORT CorrectableSerrEnable : 1;
        USHORT NonFatalSerrEnable : 1;
        USHORT FatalSerrEnable : 1;
        USHORT PMEInterruptEnable : 1;
        USHORT CRSSoftwareVisibilityEnable : 1;
        USHORT Rsvd : 11;
    };
    USHORT AsUSHORT;
} PCI_EXPRESS_ROOT_CONTROL_REGISTER, *PPCI_EXPRESS_ROOT_CONTROL_REGISTER;

typedef union _PCI_EXPRESS_ROOT_CAPABILITIES_REGISTER {
    struct DXGK_MS_STRUCT {
        USHORT CRSSoftwareVisibility : 1;
        USHORT Rsvd : 15;
    };
    USHORT AsUSHORT;
} PCI_EXPRESS_ROOT_CAPABILITIES_REGISTER, *PPCI_EXPRESS_ROOT_CAPABILITIES_REGISTER;

typedef union _PCI_EXPRESS_ROOT_STATUS_REGISTER {
    struct DXGK_MS_STRUCT {
        ULONG PMERequestorId : 16;
        ULONG PMEStatus : 1;
        ULONG PMEPending : 1;
        ULONG Rsvd : 14;
    };
    ULONG AsULONG;
} PCI_EXPRESS_ROOT_STATUS_REGISTER, *PPCI_EXPRESS_ROOT_STATUS_REGISTER;

typedef union _PCI_EXPRESS_DEVICE_CAPABILITIES_2_REGISTER {
    struct DXGK_MS_STRUCT {
        ULONG CompletionTimeoutRangesSupported : 4;
        ULONG CompletionTimeoutDisableSupported : 1;
        ULONG AriForwardingSupported : 1;
        ULONG AtomicOpRoutingSupported : 1;
        ULONG AtomicOpCompleterSupported32Bit : 1;
        ULONG AtomicOpCompleterSupported64Bit : 1;
        ULONG CASCompleterSupported128Bit : 1;
        ULONG NoROEnabledPRPRPassing : 1;
        ULONG LTRMechanismSupported : 1;
        ULONG TPHCompleterSupported : 2;
        ULONG Rsvd : 4;
        ULONG OBFFSupported : 2;
        ULONG ExtendedFmtFieldSuported : 1;
        ULONG EndEndTLPPrefixSupported : 1;
        ULONG MaxEndEndTLPPrefixes : 2;
        ULONG Rsvd2 : 8;
    };
    ULONG AsULONG;
} PCI_EXPRESS_DEVICE_CAPABILITIES_2_REGISTER, *PPCI_EXPRESS_DEVICE_CAPABILITIES_2_REGISTER;

typedef union _PCI_EXPRESS_DEVICE_CONTROL_2_REGISTER {
    struct DXGK_MS_STRUCT {
        USHORT CompletionTimeoutValue : 4;
        USHORT CompletionTimeoutDisable : 1;
        USHORT AriForwardingEnable : 1;
        USHORT AtomicOpRequesterEnable : 1;
        USHORT AtomicOpEgresBlocking : 1;
        USHORT IDORequestEnable : 1;
        USHORT IDOCompletionEnable : 1;
        USHORT LTRMechanismEnable : 1;
        USHORT Rsvd : 2;
        USHORT OBFFEnable : 2;
        USHORT EndEndTLPPrefixBlocking : 1;
    };
    USHORT AsUSHORT;
} PCI_EXPRESS_DEVICE_CONTROL_2_REGISTER, *PPCI_EXPRESS_DEVICE_CONTROL_2_REGISTER;

typedef union _PCI_EXPRESS_DEVICE_STATUS_2_REGISTER {
    struct DXGK_MS_STRUCT {
        USHORT Rsvd : 16;
    };
    USHORT AsUSHORT;
} PCI_EXPRESS_DEVICE_STATUS_2_REGISTER, *PPCI_EXPRESS_DEVICE_STATUS_2_REGISTER;

typedef union _PCI_EXPRESS_LINK_CAPABILITIES_2_REGISTER {
    struct DXGK_MS_STRUCT {
        ULONG Rsvd0 : 1;
        ULONG SupportedLinkSpeedsVector : 7;
        ULONG Rsvd8_31 : 24;
    };
    ULONG AsULONG;
} PCI_EXPRESS_LINK_CAPABILITIES_2_REGISTER, *PPCI_EXPRESS_LINK_CAPABILITIES_2_REGISTER;

typedef union _PCI_EXPRESS_LINK_CONTROL_2_REGISTER {
    struct DXGK_MS_STRUCT {
        USHORT TargetLinkSpeed : 4;
        USHORT Rsvd4_15 : 12;
    };
    USHORT AsUSHORT;
} PCI_EXPRESS_LINK_CONTROL_2_REGISTER, *PPCI_EXPRESS_LINK_CONTROL_2_REGISTER;

typedef union _PCI_EXPRESS_LINK_STATUS_2_REGISTER {
    struct DXGK_MS_STRUCT {
        USHORT Rsvd0_15 : 16;
    };
    USHORT AsUSHORT;
} PCI_EXPRESS_LINK_STATUS_2_REGISTER, *PPCI_EXPRESS_LINK_STATUS_2_REGISTER;

typedef struct _PCI_EXPRESS_CAPABILITY {
    PCI_CAPABILITIES_HEADER Header;
    PCI_EXPRESS_CAPABILITIES_REGISTER ExpressCapabilities;
    PCI_EXPRESS_DEVICE_CAPABILITIES_REGISTER DeviceCapabilities;
    PCI_EXPRESS_DEVICE_CONTROL_REGISTER DeviceControl;
    PCI_EXPRESS_DEVICE_STATUS_REGISTER DeviceStatus;
    PCI_EXPRESS_LINK_CAPABILITIES_REGISTER LinkCapabilities;
    PCI_EXPRESS_LINK_CONTROL_REGISTER LinkControl;
    PCI_EXPRESS_LINK_STATUS_REGISTER LinkStatus;
    PCI_EXPRESS_SLOT_CAPABILITIES_REGISTER SlotCapabilities;
    PCI_EXPRESS_SLOT_CONTROL_REGISTER SlotControl;
    PCI_EXPRESS_SLOT_STATUS_REGISTER SlotStatus;
    PCI_EXPRESS_ROOT_CONTROL_REGISTER RootControl;
    PCI_EXPRESS_ROOT_CAPABILITIES_REGISTER RootCapabilities;
    PCI_EXPRESS_ROOT_STATUS_REGISTER RootStatus;
    PCI_EXPRESS_DEVICE_CAPABILITIES_2_REGISTER DeviceCapabilities2;
    PCI_EXPRESS_DEVICE_CONTROL_2_REGISTER DeviceControl2;
    PCI_EXPRESS_DEVICE_STATUS_2_REGISTER DeviceStatus2;
    PCI_EXPRESS_LINK_CAPABILITIES_2_REGISTER LinkCapabilities2;
    PCI_EXPRESS_LINK_CONTROL_2_REGISTER LinkControl2;
    PCI_EXPRESS_LINK_STATUS_2_REGISTER LinkStatus2;
} PCI_EXPRESS_CAPABILITY, *PPCI_EXPRESS_CAPABILITY;

#endif /* DXGK_WDK_WDM_PCI_H */
