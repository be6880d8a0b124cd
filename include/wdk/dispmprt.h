/* SPDX-License-Identifier: MIT */
/*
 * The port side of the display driver model: DRIVER_INITIALIZATION_DATA, DXGKRNL_INTERFACE, the
 * query interfaces, and DxgkInitialize, with which a display miniport registers itself.
 *
 * Written by tools/gen_wdk.py from tests/abi/records.json; change those.
 */
#ifndef DXGK_WDK_DISPMPRT_H
#define DXGK_WDK_DISPMPRT_H

#include "dxgk_base_kernel.h"
#include "d3dkmddi.h"
#include <ntddvdeo.h>
#include <acpiioct.h>

/* The functions are visible even where the default visibility is hidden. */
#if !defined(_WIN32)
#pragma GCC visibility push(default)
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum _EMULATOR_PORT_ACCESS_TYPE {
    Uchar = 0,
    Ushort = 1,
    Ulong = 2,
} EMULATOR_PORT_ACCESS_TYPE, *PEMULATOR_PORT_ACCESS_TYPE;

typedef struct _EMULATOR_ACCESS_ENTRY {
    ULONG BasePort;
    ULONG NumConsecutivePorts;
    EMULATOR_PORT_ACCESS_TYPE AccessType;
    UCHAR AccessMode;
    UCHAR StringSupport;
    PVOID Routine;
} EMULATOR_ACCESS_ENTRY, *PEMULATOR_ACCESS_ENTRY;

typedef void (NTAPI *PBANKED_SECTION_ROUTINE)(ULONG ReadBank, ULONG WriteBank, PVOID Context);

/* Without _NTOSDEF_ some versions of <video.h> declare a DriverEntry of another shape. */
#ifndef _NTOSDEF_
#define _NTOSDEF_
#endif
#include <video.h>

#define ACPI_NOTIFY_DOCK_EVENT               0x77
#define ACPI_NOTIFY_PANEL_SWITCH             0x80
#define ACPI_NOTIFY_DEVICE_HOTPLUG           0x81
#define ACPI_NOTIFY_CYCLE_DISPLAY_HOTKEY     0x82
#define ACPI_NOTIFY_NEXT_DISPLAY_HOTKEY      0x83
#define ACPI_NOTIFY_PREV_DISPLAY_HOTKEY      0x84
#define ACPI_NOTIFY_CYCLE_BRIGHTNESS_HOTKEY  0x85
#define ACPI_NOTIFY_INC_BRIGHTNESS_HOTKEY    0x86
#define ACPI_NOTIFY_DEC_BRIGHTNESS_HOTKEY    0x87
#define ACPI_NOTIFY_ZERO_BRIGHTNESS_HOTKEY   0x88
#define ACPI_NOTIFY_VIDEO_WAKEUP             0x90
#define ACPI_ARG_ENABLE_SWITCH_EVENT         0x0
#define ACPI_ARG_ENABLE_AUTO_SWITCH          0x1
#define ACPI_ARG_DISABLE_SWITCH_EVENT        0x2
#define ACPI_ARG_ENABLE_AUTO_LCD_BRIGHTNESS  0x0
#define ACPI_ARG_DISABLE_AUTO_LCD_BRIGHTNESS 0x4
#define ACPI_METHOD_DISPLAY_DOS              1397703775U
#define ACPI_METHOD_DISPLAY_DOD              1146045535U
#define ACPI_METHOD_DISPLAY_ROM              1297044063U
#define ACPI_METHOD_DISPLAY_GPD              1146111839U
#define ACPI_METHOD_DISPLAY_SPD              1146114911U
#define ACPI_METHOD_DISPLAY_VPO              1330665055U
#define ACPI_METHOD_HARDWARE_ID              1145653343U
#define ACPI_METHOD_SUBSYSTEM_ID             1112888159U
#define ACPI_METHOD_REVISION_ID              1448233055U
#define ACPI_METHOD_OUTPUT_ADR               1380204895U
#define ACPI_METHOD_OUTPUT_BCL               1279476319U
#define ACPI_METHOD_OUTPUT_BCM               1296253535U
#define ACPI_METHOD_OUTPUT_DDC               1128547423U
#define ACPI_METHOD_OUTPUT_DCS               1396917343U
#define ACPI_METHOD_OUTPUT_DGS               1397179487U
#define ACPI_METHOD_OUTPUT_DSS               1397965919U
#define DXGK_ACPI_POLL_DISPLAY_CHILDREN      0x1
#define DXGK_ACPI_CHANGE_DISPLAY_MODE        0x2
#define DXGK_ACPI_CHANGE_DISPLAY_TOPOLOGY    0x4
#define DXGK_ACPI_CHAIN_NOT_HANDLED          0x8
#define DXGK_EXCLUDE_EVICT_ALL               0x1
#define DXGK_EXCLUDE_CALL_SYNCHRONOUS        0x2
#define DXGK_EXCLUDE_BRIDGE_ACCESS           0x4
#define DXGK_EXCLUDE_EVICT_STANDBY           0x8
#define DXGK_EXCLUDE_EVICT_HIBERNATE         0x10
#define DXGK_EXCLUDE_EVICT_SHUTDOWN          0x20
#define DXGK_EXCLUDE_D3_STATE_TRANSITION     0x40
#define DXGK_EXCLUDE_EVICT_DFX_STANDBY       0x80
#define DXGK_MAX_STRING_LEN                  50
#define DXGK_MAX_REG_SZ_LEN                  51
#define DXGK_WHICHSPACE_CONFIG               0
#define DXGK_WHICHSPACE_ROM                  1382638416
#define DXGK_WHICHSPACE_MCH                  0x80000000U
#define DXGK_WHICHSPACE_BRIDGE               0x80000001U

typedef struct _LINKED_DEVICE {
    ULONG ChainUid;
    ULONG NumberOfLinksInChain;
    BOOLEAN LeadLink;
} LINKED_DEVICE, *PLINKED_DEVICE;

typedef enum _DXGK_EVENT_TYPE {
    DxgkUndefinedEvent = 0,
    DxgkAcpiEvent = 1,
    DxgkPowerStateEvent = 2,
    DxgkDockingEvent = 3,
    DxgkChainedAcpiEvent = 4,
} DXGK_EVENT_TYPE, *PDXGK_EVENT_TYPE;

typedef struct _DXGK_VIDEO_OUTPUT_CAPABILITIES {
    D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY InterfaceTechnology;
    D3DKMDT_MONITOR_ORIENTATION_AWARENESS MonitorOrientationAwareness;
    BOOLEAN SupportsSdtvModes;
} DXGK_VIDEO_OUTPUT_CAPABILITIES, *PDXGK_VIDEO_OUTPUT_CAPABILITIES;

typedef struct _DXGK_INTEGRATED_DISPLAY_CHILD {
    D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY InterfaceTechnology;
    USHORT DescriptorLength;
} DXGK_INTEGRATED_DISPLAY_CHILD, *PDXGK_INTEGRATED_DISPLAY_CHILD;

typedef struct _DXGK_CHILD_CAPABILITIES {
    union {
        DXGK_VIDEO_OUTPUT_CAPABILITIES VideoOutput;
        struct {
            UINT MustBeZero;
        } Other;
        DXGK_INTEGRATED_DISPLAY_CHILD IntegratedDisplayChild;
    } Type;
    DXGK_CHILD_DEVICE_HPD_AWARENESS HpdAwareness;
} DXGK_CHILD_CAPABILITIES, *PDXGK_CHILD_CAPABILITIES;

typedef enum _DXGK_CHILD_DEVICE_TYPE {
    TypeUninitialized = 0,
    TypeVideoOutput = 1,
    TypeOther = 2,
    TypeIntegratedDisplay = 3,
} DXGK_CHILD_DEVICE_TYPE, *PDXGK_CHILD_DEVICE_TYPE;

typedef struct _DXGK_CHILD_DESCRIPTOR {
    DXGK_CHILD_DEVICE_TYPE ChildDeviceType;
    DXGK_CHILD_CAPABILITIES ChildCapabilities;
    ULONG AcpiUid;
    ULONG ChildUid;
} DXGK_CHILD_DESCRIPTOR, *PDXGK_CHILD_DESCRIPTOR;

typedef struct _DXGK_DEVICE_DESCRIPTOR {
    ULONG DescriptorOffset;
    ULONG DescriptorLength;
    PVOID DescriptorBuffer;
} DXGK_DEVICE_DESCRIPTOR, *PDXGK_DEVICE_DESCRIPTOR;

typedef struct _DXGK_GENERIC_DESCRIPTOR {
    WCHAR HardwareId[51];
    WCHAR InstanceId[51];
    WCHAR CompatibleId[51];
    WCHAR DeviceText[51];
} DXGK_GENERIC_DESCRIPTOR, *PDXGK_GENERIC_DESCRIPTOR;

typedef enum _DXGK_CHILD_STATUS_TYPE {
    StatusUninitialized = 0,
    StatusConnection = 1,
    StatusRotation = 2,
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM1_3)
    StatusMiracastConnection = 3,
#endif
} DXGK_CHILD_STATUS_TYPE, *PDXGK_CHILD_STATUS_TYPE;

typedef struct _DXGK_CHILD_STATUS {
    DXGK_CHILD_STATUS_TYPE Type;
    ULONG ChildUid;
    union {
        struct {
            BOOLEAN Connected;
        } HotPlug;
        struct {
            UCHAR Angle;
        } Rotation;
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM1_3)
        struct {
            BOOLEAN Connected;
            D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY MiracastMonitorType;
        } Miracast;
#endif
    };
} DXGK_CHILD_STATUS, *PDXGK_CHILD_STATUS;

typedef void (NTAPI *DXGKDDI_PROTECTED_CALLBACK)(
    IN_CONST_PVOID MiniportDeviceContext,
    PVOID ProtectedCallbackContext,
    NTSTATUS ProtectionStatus);

DEFINE_GUID(GUID_DEVINTERFACE_I2C,
    0x2564AA4F, 0xDDDB, 0x4495, 0xB4, 0x97, 0x6A, 0xD4, 0xA8, 0x41, 0x63, 0xD7);
DEFINE_GUID(GUID_DEVINTERFACE_OPM,
    0xBF4672DE, 0x6B4E, 0x4BE4, 0xA3, 0x25, 0x68, 0xA9, 0x1E, 0xA4, 0x9C, 0x09);

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_0)

DEFINE_GUID(GUID_DEVINTERFACE_OPM_2_JTP,
    0xE929EEA4, 0xB9F1, 0x407B, 0xAA, 0xB9, 0xAB, 0x08, 0xBB, 0x44, 0xFB, 0xF4);
DEFINE_GUID(GUID_DEVINTERFACE_OPM_2,
    0x7F098726, 0x2EBB, 0x4FF3, 0xA2, 0x7F, 0x10, 0x46, 0xB9, 0x5D, 0xC5, 0x17);

#endif

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_3)

DEFINE_GUID(GUID_DEVINTERFACE_OPM_3,
    0x693A2CB1, 0x8C8D, 0x4AB6, 0x95, 0x55, 0x4B, 0x85, 0xEF, 0x2C, 0x7C, 0x6B);

#endif

DEFINE_GUID(GUID_DEVINTERFACE_BRIGHTNESS,
    0xFDE5BBA4, 0xB3F9, 0x46FB, 0xBD, 0xAA, 0x07, 0x28, 0xCE, 0x31, 0x00, 0xB4);
DEFINE_GUID(GUID_DEVINTERFACE_BRIGHTNESS_2,
    0x148A3C98, 0x0ECD, 0x465A, 0xB6, 0x34, 0xB0, 0x5F, 0x19, 0x5F, 0x77, 0x39);

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM1_3)

DEFINE_GUID(GUID_DEVINTERFACE_MIRACAST_DISPLAY,
    0xAF03F190, 0x22AF, 0x48CB, 0x94, 0xBB, 0xB7, 0x8E, 0x76, 0xA2, 0x51, 0x07);

#endif

DEFINE_GUID(GUID_DEVINTERFACE_BRIGHTNESS_3,
    0x197A4A6E, 0x0391, 0x4322, 0x96, 0xEA, 0xC2, 0x76, 0x0F, 0x88, 0x1D, 0x3A);

#define DXGK_I2C_INTERFACE_VERSION_1 0x1

typedef NTSTATUS (NTAPI *DXGKDDI_I2C_TRANSMIT_DATA_TO_DISPLAY)(
    PVOID MiniportDeviceContext,
    D3DDDI_VIDEO_PRESENT_TARGET_ID VidPnTargetId,
    ULONG SevenBitI2CAddress,
    ULONG DataLength,
    const void *Data);

typedef NTSTATUS (NTAPI *DXGKDDI_I2C_RECEIVE_DATA_FROM_DISPLAY)(
    PVOID MiniportDeviceContext,
    D3DDDI_VIDEO_PRESENT_TARGET_ID VidPnTargetId,
    ULONG SevenBitI2CAddress,
    ULONG Flags,
    ULONG DataLength,
    PVOID Data);

typedef struct _DXGK_I2C_INTERFACE {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    DXGKDDI_I2C_TRANSMIT_DATA_TO_DISPLAY DxgkDdiI2CTransmitDataToDisplay;
    DXGKDDI_I2C_RECEIVE_DATA_FROM_DISPLAY DxgkDdiI2CReceiveDataFromDisplay;
} DXGK_I2C_INTERFACE, *PDXGK_I2C_INTERFACE;

#define DXGK_OPM_INTERFACE_VERSION_1 0x1

typedef NTSTATUS (NTAPI *DXGKDDI_OPM_GET_CERTIFICATE_SIZE)(
    PVOID MiniportDeviceContext,
    DXGKMDT_CERTIFICATE_TYPE CertificateType,
    PULONG CertificateSize);

typedef NTSTATUS (NTAPI *DXGKDDI_OPM_GET_CERTIFICATE)(
    PVOID MiniportDeviceContext,
    DXGKMDT_CERTIFICATE_TYPE CertificateType,
    ULONG CertificateSize,
    PVOID CertificateBuffer);

typedef NTSTATUS (NTAPI *DXGKDDI_OPM_CREATE_PROTECTED_OUTPUT)(
    PVOID MiniportDeviceContext,
    D3DDDI_VIDEO_PRESENT_TARGET_ID VidPnTargetId,
    DXGKMDT_OPM_VIDEO_OUTPUT_SEMANTICS NewVideoOutputSemantics,
    PHANDLE NewProtectedOutputHandle);

typedef NTSTATUS (NTAPI *DXGKDDI_OPM_GET_RANDOM_NUMBER)(
    PVOID MiniportDeviceContext,
    HANDLE ProtectedOutputHandle,
    PDXGKMDT_OPM_RANDOM_NUMBER RandomNumber);

typedef NTSTATUS (NTAPI *DXGKDDI_OPM_SET_SIGNING_KEY_AND_SEQUENCE_NUMBERS)(
    PVOID MiniportDeviceContext,
    HANDLE ProtectedOutputHandle,
    const DXGKMDT_OPM_ENCRYPTED_PARAMETERS *EncryptedParameters);

typedef NTSTATUS (NTAPI *DXGKDDI_OPM_GET_INFORMATION)(
    PVOID MiniportDeviceContext,
    HANDLE ProtectedOutputHandle,
    const DXGKMDT_OPM_GET_INFO_PARAMETERS *Parameters,
    PDXGKMDT_OPM_REQUESTED_INFORMATION RequestedInformation);

typedef NTSTATUS (NTAPI *DXGKDDI_OPM_GET_COPP_COMPATIBLE_INFORMATION)(
    PVOID MiniportDeviceContext,
    HANDLE ProtectedOutputHandle,
    const DXGKMDT_OPM_COPP_COMPATIBLE_GET_INFO_PARAMETERS *Parameters,
    PDXGKMDT_OPM_REQUESTED_INFORMATION RequestedInformation);

typedef NTSTATUS (NTAPI *DXGKDDI_OPM_CONFIGURE_PROTECTED_OUTPUT)(
    PVOID MiniportDeviceContext,
    HANDLE ProtectedOutputHandle,
    const DXGKMDT_OPM_CONFIGURE_PARAMETERS *Parameters,
    ULONG AdditionalParametersSize,
    const void *AdditionalParameters);

typedef NTSTATUS (NTAPI *DXGKDDI_OPM_DESTROY_PROTECTED_OUTPUT)(
    PVOID MiniportDeviceContext,
    HANDLE ProtectedOutputHandle);

typedef struct _DXGK_OPM_INTERFACE {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    DXGKDDI_OPM_GET_CERTIFICATE_SIZE DxgkDdiOPMGetCertificateSize;
    DXGKDDI_OPM_GET_CERTIFICATE DxgkDdiOPMGetCertificate;
    DXGKDDI_OPM_CREATE_PROTECTED_OUTPUT DxgkDdiOPMCreateProtectedOutput;
    DXGKDDI_OPM_GET_RANDOM_NUMBER DxgkDdiOPMGetRandomNumber;
    DXGKDDI_OPM_SET_SIGNING_KEY_AND_SEQUENCE_NUMBERS DxgkDdiOPMSetSigningKeyAndSequenceNumbers;
    DXGKDDI_OPM_GET_INFORMATION DxgkDdiOPMGetInformation;
    DXGKDDI_OPM_GET_COPP_COMPATIBLE_INFORMATION DxgkDdiOPMGetCOPPCompatibleInformation;
    DXGKDDI_OPM_CONFIGURE_PROTECTED_OUTPUT DxgkDdiOPMConfigureProtectedOutput;
    DXGKDDI_OPM_DESTROY_PROTECTED_OUTPUT DxgkDdiOPMDestroyProtectedOutput;
} DXGK_OPM_INTERFACE, *PDXGK_OPM_INTERFACE;

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_0)

#define DXGK_OPM_INTERFACE_VERSION_2_JTP 0x2

typedef NTSTATUS (NTAPI *DXGKDDI_OPM_CREATE_PROTECTED_OUTPUT_NONLOCAL_DISPLAY_JTP)(
    PVOID MiniportDeviceContext,
    DXGKMDT_OPM_VIDEO_OUTPUT_SEMANTICS NewVideoOutputSemantics,
    ULONG64 OPMEncoderContext,
    DXGKMDT_OPM_ACTUAL_OUTPUT_FORMAT *pActualOutputFormat,
    D3DDDI_VIDEO_PRESENT_TARGET_ID NonLocalOutputId,
    PHANDLE NewProtectedOutputHandle);

typedef NTSTATUS (NTAPI *DXGKDDI_OPM_CREATE_PROTECTED_OUTPUT_VIRTUAL_MODE_JTP)(
    PVOID MiniportDeviceContext,
    D3DDDI_VIDEO_PRESENT_TARGET_ID VidPnTargetId,
    DXGKMDT_OPM_VIDEO_OUTPUT_SEMANTICS NewVideoOutputSemantics,
    DXGKMDT_OPM_ACTUAL_OUTPUT_FORMAT *pActualOutputFormat,
    PHANDLE NewProtectedOutputHandle);

typedef struct _DXGK_OPM_INTERFACE_2_JTP {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    DXGKDDI_OPM_GET_CERTIFICATE_SIZE DxgkDdiOPMGetCertificateSize;
    DXGKDDI_OPM_GET_CERTIFICATE DxgkDdiOPMGetCertificate;
    DXGKDDI_OPM_CREATE_PROTECTED_OUTPUT DxgkDdiOPMCreateProtectedOutput;
    DXGKDDI_OPM_GET_RANDOM_NUMBER DxgkDdiOPMGetRandomNumber;
    DXGKDDI_OPM_SET_SIGNING_KEY_AND_SEQUENCE_NUMBERS DxgkDdiOPMSetSigningKeyAndSequenceNumbers;
    DXGKDDI_OPM_GET_INFORMATION DxgkDdiOPMGetInformation;
    DXGKDDI_OPM_GET_COPP_COMPATIBLE_INFORMATION DxgkDdiOPMGetCOPPCompatibleInformation;
    DXGKDDI_OPM_CONFIGURE_PROTECTED_OUTPUT DxgkDdiOPMConfigureProtectedOutput;
    DXGKDDI_OPM_DESTROY_PROTECTED_OUTPUT DxgkDdiOPMDestroyProtectedOutput;
    DXGKDDI_OPM_CREATE_PROTECTED_OUTPUT_VIRTUAL_MODE_JTP DxgkDdiOPMCreateProtectedOutputVirtualMode;
    DXGKDDI_OPM_CREATE_PROTECTED_OUTPUT_NONLOCAL_DISPLAY_JTP DxgkDdiOPMCreateProtectedOutputNonLocalDisplay;
} DXGK_OPM_INTERFACE_2_JTP, *PDXGK_OPM_INTERFACE_2_JTP;

#define DXGK_OPM_INTERFACE_VERSION_2 0x3

typedef NTSTATUS (NTAPI *DXGKDDI_OPM_CREATE_PROTECTED_OUTPUT_NONLOCAL_DISPLAY)(
    PVOID MiniportDeviceContext,
    DXGKMDT_OPM_VIDEO_OUTPUT_SEMANTICS NewVideoOutputSemantics,
    UINT64 OPMEncoderContext,
    DXGKMDT_OPM_ACTUAL_OUTPUT_FORMAT *pActualOutputFormat,
    UINT64 NonLocalOutputId,
    DXGKMDT_OPM_CONNECTOR_TYPE NonLocalConnectorType,
    PHANDLE NewProtectedOutputHandle);

typedef struct _DXGK_OPM_INTERFACE_2 {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    DXGKDDI_OPM_GET_CERTIFICATE_SIZE DxgkDdiOPMGetCertificateSize;
    DXGKDDI_OPM_GET_CERTIFICATE DxgkDdiOPMGetCertificate;
    DXGKDDI_OPM_CREATE_PROTECTED_OUTPUT DxgkDdiOPMCreateProtectedOutput;
    DXGKDDI_OPM_GET_RANDOM_NUMBER DxgkDdiOPMGetRandomNumber;
    DXGKDDI_OPM_SET_SIGNING_KEY_AND_SEQUENCE_NUMBERS DxgkDdiOPMSetSigningKeyAndSequenceNumbers;
    DXGKDDI_OPM_GET_INFORMATION DxgkDdiOPMGetInformation;
    DXGKDDI_OPM_GET_COPP_COMPATIBLE_INFORMATION DxgkDdiOPMGetCOPPCompatibleInformation;
    DXGKDDI_OPM_CONFIGURE_PROTECTED_OUTPUT DxgkDdiOPMConfigureProtectedOutput;
    DXGKDDI_OPM_DESTROY_PROTECTED_OUTPUT DxgkDdiOPMDestroyProtectedOutput;
    DXGKDDI_OPM_CREATE_PROTECTED_OUTPUT_NONLOCAL_DISPLAY DxgkDdiOPMCreateProtectedOutputNonLocalDisplay;
} DXGK_OPM_INTERFACE_2, *PDXGK_OPM_INTERFACE_2;

#endif

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_3)

#define DXGK_OPM_INTERFACE_VERSION_3 0x4

typedef NTSTATUS (NTAPI *DXGKDDI_OPM_SET_SRM_LIST)(
    PVOID MiniportDeviceContext,
    ULONG SrmListSize,
    PVOID SrmListBuffer);

typedef NTSTATUS (NTAPI *DXGKDDI_OPM_GET_SRM_LIST_VERSION)(
    PVOID MiniportDeviceContext,
    PULONG SrmListVersionSize,
    PVOID SrmListVersionBuffer);

typedef struct _DXGK_OPM_INTERFACE_3 {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    DXGKDDI_OPM_GET_CERTIFICATE_SIZE DxgkDdiOPMGetCertificateSize;
    DXGKDDI_OPM_GET_CERTIFICATE DxgkDdiOPMGetCertificate;
    DXGKDDI_OPM_CREATE_PROTECTED_OUTPUT DxgkDdiOPMCreateProtectedOutput;
    DXGKDDI_OPM_GET_RANDOM_NUMBER DxgkDdiOPMGetRandomNumber;
    DXGKDDI_OPM_SET_SIGNING_KEY_AND_SEQUENCE_NUMBERS DxgkDdiOPMSetSigningKeyAndSequenceNumbers;
    DXGKDDI_OPM_GET_INFORMATION DxgkDdiOPMGetInformation;
    DXGKDDI_OPM_GET_COPP_COMPATIBLE_INFORMATION DxgkDdiOPMGetCOPPCompatibleInformation;
    DXGKDDI_OPM_CONFIGURE_PROTECTED_OUTPUT DxgkDdiOPMConfigureProtectedOutput;
    DXGKDDI_OPM_DESTROY_PROTECTED_OUTPUT DxgkDdiOPMDestroyProtectedOutput;
    DXGKDDI_OPM_CREATE_PROTECTED_OUTPUT_NONLOCAL_DISPLAY DxgkDdiOPMCreateProtectedOutputNonLocalDisplay;
    DXGKDDI_OPM_SET_SRM_LIST DxgkDdiOPMSetSrmList;
    DXGKDDI_OPM_GET_SRM_LIST_VERSION DxgkDdiOPMGetSrmListVersion;
} DXGK_OPM_INTERFACE_3, *PDXGK_OPM_INTERFACE_3;

#endif

#define DXGK_BRIGHTNESS_INTERFACE_VERSION_1 0x1

typedef NTSTATUS (NTAPI *DXGK_BRIGHTNESS_GET_POSSIBLE)(
    PVOID Context,
    ULONG BufferSize,
    PUCHAR LevelCount,
    PUCHAR BrightnessLevels);

typedef NTSTATUS (NTAPI *DXGK_BRIGHTNESS_SET)(PVOID Context, UCHAR Brightness);

typedef NTSTATUS (NTAPI *DXGK_BRIGHTNESS_GET)(PVOID Context, PUCHAR Brightness);

typedef struct DXGK_BRIGHTNESS_INTERFACE {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    DXGK_BRIGHTNESS_GET_POSSIBLE GetPossibleBrightness;
    DXGK_BRIGHTNESS_SET SetBrightness;
    DXGK_BRIGHTNESS_GET GetBrightness;
} DXGK_BRIGHTNESS_INTERFACE, *PDXGK_BRIGHTNESS_INTERFACE;

#define DXGK_BRIGHTNESS_INTERFACE_VERSION_2 0x2

typedef NTSTATUS (NTAPI *DXGK_BRIGHTNESS_GET_CAPS)(
    PVOID Context,
    DXGK_BRIGHTNESS_CAPS *BrightnessCaps);

typedef NTSTATUS (NTAPI *DXGK_BRIGHTNESS_SET_STATE)(
    PVOID Context,
    DXGK_BRIGHTNESS_STATE *BrightnessState);

typedef NTSTATUS (NTAPI *DXGK_BRIGHTNESS_SET_BACKLIGHT_OPTIMIZATION)(
    PVOID Context,
    DXGK_BACKLIGHT_OPTIMIZATION_LEVEL OptimizationLevel);

typedef NTSTATUS (NTAPI *DXGK_BRIGHTNESS_GET_BACKLIGHT_REDUCTION)(
    PVOID Context,
    DXGK_BACKLIGHT_INFO *BacklightInfo);

typedef struct DXGK_BRIGHTNESS_INTERFACE_2 {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    DXGK_BRIGHTNESS_GET_POSSIBLE GetPossibleBrightness;
    DXGK_BRIGHTNESS_SET SetBrightness;
    DXGK_BRIGHTNESS_GET GetBrightness;
    DXGK_BRIGHTNESS_GET_CAPS GetBrightnessCaps;
    DXGK_BRIGHTNESS_SET_STATE SetBrightnessState;
    DXGK_BRIGHTNESS_SET_BACKLIGHT_OPTIMIZATION SetBacklightOptimization;
    DXGK_BRIGHTNESS_GET_BACKLIGHT_REDUCTION GetBacklightReduction;
} DXGK_BRIGHTNESS_INTERFACE_2, *PDXGK_BRIGHTNESS_INTERFACE_2;

#define DXGK_BRIGHTNESS_INTERFACE_VERSION_3 0x3

typedef NTSTATUS (NTAPI *DXGK_BRIGHTNESS_SET_3)(
    PVOID Context,
    ULONG ChildUid,
    PDXGK_BRIGHTNESS_SET_IN pIn);

typedef NTSTATUS (NTAPI *DXGK_BRIGHTNESS_GET_3)(
    PVOID Context,
    ULONG ChildUid,
    PDXGK_BRIGHTNESS_GET_OUT pOut);

typedef NTSTATUS (NTAPI *DXGK_BRIGHTNESS_GET_CAPS_3)(
    PVOID Context,
    ULONG ChildUid,
    DXGK_BRIGHTNESS_CAPS *pBrightnessCaps);

typedef NTSTATUS (NTAPI *DXGK_BRIGHTNESS_GET_NIT_RANGES)(
    PVOID Context,
    ULONG ChildUid,
    PDXGK_BRIGHTNESS_GET_NIT_RANGES_OUT pOut);

typedef NTSTATUS (NTAPI *DXGK_BRIGHTNESS_SET_BACKLIGHT_OPTIMIZATION_3)(
    PVOID Context,
    ULONG ChildUid,
    DXGK_BACKLIGHT_OPTIMIZATION_LEVEL OptimizationLevel);

typedef struct DXGK_BRIGHTNESS_INTERFACE_3 {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    DXGK_BRIGHTNESS_SET_3 SetBrightness;
    DXGK_BRIGHTNESS_GET_3 GetBrightness;
    DXGK_BRIGHTNESS_GET_CAPS_3 GetBrightnessCaps;
    DXGK_BRIGHTNESS_GET_NIT_RANGES GetNitRanges;
    DXGK_BRIGHTNESS_SET_BACKLIGHT_OPTIMIZATION_3 SetBacklightOptimization;
} DXGK_BRIGHTNESS_INTERFACE_3, *PDXGK_BRIGHTNESS_INTERFACE_3;

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM1_3)

#define DXGK_MIRACAST_DISPLAY_INTERFACE_VERSION_1 0x1

typedef struct _DXGK_MIRACAST_CAPS {
    ULONG MaxChunkPrivateDriverDataSize;
    union {
        struct DXGK_MS_STRUCT {
            UINT HdcpSupport : 1;
            UINT Reserved : 31;
        };
        UINT Value;
    } Flags;
} DXGK_MIRACAST_CAPS, *PDXGK_MIRACAST_CAPS;

typedef NTSTATUS (NTAPI *DXGKDDI_MIRACAST_QUERY_CAPS)(
    PVOID DriverContext,
    ULONG MiracastCapsSize,
    DXGK_MIRACAST_CAPS *MiracastCaps);

typedef void (NTAPI *DXGKCB_MIRACAST_SEND_MESSAGE_CALLBACK)(
    PVOID CallbackContext,
    PIO_STATUS_BLOCK pIoStatusBlock);

typedef NTSTATUS (NTAPI *DXGKCB_MIRACAST_SEND_MESSAGE)(
    HANDLE MiracastHandle,
    ULONG InputBufferSize,
    void *pInputBuffer,
    ULONG OutputBufferSize,
    void *pOutputBuffer,
    DXGKCB_MIRACAST_SEND_MESSAGE_CALLBACK pCallback,
    PVOID pCallbackContext);

typedef NTSTATUS (NTAPI *DXGKCB_MIRACAST_REPORT_CHUNK_INFO)(
    HANDLE MiracastHandle,
    DXGK_MIRACAST_CHUNK_INFO *pChunkInfo,
    PVOID pPrivateDriverData,
    UINT PrivateDataDriverSize);

typedef struct _DXGK_MIRACAST_DISPLAY_CALLBACKS {
    HANDLE MiracastHandle;
    DXGKCB_MIRACAST_SEND_MESSAGE DxgkCbMiracastSendMessage;
    DXGKCB_MIRACAST_REPORT_CHUNK_INFO DxgkCbReportChunkInfo;
} DXGK_MIRACAST_DISPLAY_CALLBACKS, *PDXGK_MIRACAST_DISPLAY_CALLBACKS;

typedef NTSTATUS (NTAPI *DXGKDDI_MIRACAST_CREATE_CONTEXT)(
    PVOID DriverContext,
    DXGK_MIRACAST_DISPLAY_CALLBACKS *MiracastCallbacks,
    PVOID *MiracastContext,
    ULONG *TargetId);

typedef void (NTAPI *DXGKDDI_MIRACAST_DESTROY_CONTEXT)(PVOID DriverContext, PVOID MiracastContext);

typedef NTSTATUS (NTAPI *DXGKDDI_MIRACAST_HANDLE_IO_CONTROL)(
    PVOID DriverContext,
    PVOID MiracastContext,
    ULONG InputBufferSize,
    void *pInputBuffer,
    ULONG OutputBufferSize,
    void *pOutputBuffer,
    ULONG *BytesReturned);

typedef struct _DXGK_MIRACAST_INTERFACE {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    DXGKDDI_MIRACAST_QUERY_CAPS DxgkDdiMiracastQueryCaps;
    DXGKDDI_MIRACAST_CREATE_CONTEXT DxgkDdiMiracastCreateContext;
    DXGKDDI_MIRACAST_HANDLE_IO_CONTROL DxgkDdiMiracastIoControl;
    DXGKDDI_MIRACAST_DESTROY_CONTEXT DxgkDdiMiracastDestroyContext;
} DXGK_MIRACAST_DISPLAY_INTERFACE, *PDXGK_MIRACAST_DISPLAY_INTERFACE;

#endif

typedef enum DXGK_SERVICES {
    DxgkServicesAgp = 0,
    DxgkServicesDebugReport = 1,
    DxgkServicesTimedOperation = 2,
    DxgkServicesSPB = 3,
    DxgkServicesBDD = 4,
    DxgkServicesFirmwareTable = 5,
    DxgkServicesIDD = 6,
} DXGK_SERVICES;

#define DXGK_AGP_INTERFACE_VERSION_1 0x1
#define DXGK_AGPCOMMAND_AGP1X        0x1
#define DXGK_AGPCOMMAND_AGP2X        0x2
#define DXGK_AGPCOMMAND_AGP4X        0x4
#define DXGK_AGPCOMMAND_AGP8X        0x8
#define DXGK_AGPCOMMAND_DISABLE_SBA  0x10000
#define DXGK_AGPCOMMAND_DISABLE_FW   0x20000

typedef NTSTATUS (NTAPI *DXGKCB_AGP_ALLOCATE_POOL)(
    HANDLE Context,
    ULONG AllocationSize,
    MEMORY_CACHING_TYPE CacheType,
    PPHYSICAL_ADDRESS PhysicalAddress,
    PVOID *VirtualAddress);

typedef NTSTATUS (NTAPI *DXGKCB_AGP_FREE_POOL)(HANDLE Context, PVOID VirtualAddress);

typedef NTSTATUS (NTAPI *DXGKCB_AGP_SET_COMMAND)(HANDLE Context, ULONG Command);

typedef struct _DXGK_AGP_INTERFACE {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    DXGKCB_AGP_ALLOCATE_POOL AgpAllocatePool;
    DXGKCB_AGP_FREE_POOL AgpFreePool;
    DXGKCB_AGP_SET_COMMAND AgpSetCommand;
} DXGK_AGP_INTERFACE, *PDXGK_AGP_INTERFACE;

struct DXGK_DEBUG_REPORT_HANDLE__ {
    int unused;
};

typedef struct DXGK_DEBUG_REPORT_HANDLE__ *DXGK_DEBUG_REPORT_HANDLE;

#define DXGK_DEBUG_REPORT_INTERFACE_VERSION_1 0x1
#define DXGK_DEBUG_REPORT_MAX_SIZE            0xF800

typedef struct _DXGK_DEBUG_REPORT_INTERFACE {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    DXGK_DEBUG_REPORT_HANDLE (NTAPI *DbgReportCreate)(
        HANDLE DeviceHandle,
        ULONG ulCode,
        ULONG_PTR ulpArg1,
        ULONG_PTR ulpArg2,
        ULONG_PTR ulpArg3,
        ULONG_PTR ulpArg4);
    BOOLEAN (NTAPI *DbgReportSecondaryData)(
        DXGK_DEBUG_REPORT_HANDLE hReport,
        PVOID pvData,
        ULONG ulDataSize);
    void (NTAPI *DbgReportComplete)(DXGK_DEBUG_REPORT_HANDLE hReport);
} DXGK_DEBUG_REPORT_INTERFACE, *PDXGK_DEBUG_REPORT_INTERFACE;

#define DXGK_TIMED_OPERATION_INTERFACE_VERSION_1 0x1
#define DXGK_TIMED_OPERATION_TIMEOUT_MAX_SECONDS 5

typedef struct _DXGK_TIMED_OPERATION {
    USHORT Size;
    ULONG_PTR OwnerTag;
    BOOLEAN OsHandled;
    BOOLEAN TimeoutTriggered;
    LARGE_INTEGER Timeout;
    LARGE_INTEGER StartTick;
} DXGK_TIMED_OPERATION, *PDXGK_TIMED_OPERATION;

typedef struct _DXGK_TIMED_OPERATION_INTERFACE {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    NTSTATUS (NTAPI *TimedOperationStart)(
        DXGK_TIMED_OPERATION *Op,
        const LARGE_INTEGER *Timeout,
        BOOLEAN OsHandled);
    NTSTATUS (NTAPI *TimedOperationDelay)(
        DXGK_TIMED_OPERATION *Op,
        KPROCESSOR_MODE WaitMode,
        BOOLEAN Alertable,
        const LARGE_INTEGER *Interval);
    NTSTATUS (NTAPI *TimedOperationWaitForSingleObject)(
        DXGK_TIMED_OPERATION *Op,
        PVOID Object,
        KWAIT_REASON WaitReason,
        KPROCESSOR_MODE WaitMode,
        BOOLEAN Alertable,
        const LARGE_INTEGER *Timeout);
} DXGK_TIMED_OPERATION_INTERFACE, *PDXGK_TIMED_OPERATION_INTERFACE;

#define DXGK_SPB_INTERFACE_VERSION_1 0x1

typedef struct _DXGK_SPB_INTERFACE {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    NTSTATUS (NTAPI *OpenSpbResource)(
        HANDLE DeviceHandle,
        LARGE_INTEGER SpbReourceId,
        UNICODE_STRING *SpbResourceSubName,
        ACCESS_MASK DesiredAccess,
        ULONG ShareAccess,
        ULONG OpenOptions,
        void **SpbResource);
    NTSTATUS (NTAPI *CloseSpbResource)(HANDLE DeviceHandle, void *SpbResource);
    NTSTATUS (NTAPI *ReadSpbResource)(
        HANDLE DeviceHandle,
        void *SpbResource,
        ULONG Length,
        void *Buffer,
        LARGE_INTEGER *ByteOffset,
        HANDLE EventHandle,
        IO_STATUS_BLOCK *IoStatusBlock);
    NTSTATUS (NTAPI *WriteSpbResource)(
        HANDLE DeviceHandle,
        void *SpbResource,
        ULONG Length,
        void *Buffer,
        LARGE_INTEGER *ByteOffset,
        HANDLE EventHandle,
        IO_STATUS_BLOCK *IoStatusBlock);
    NTSTATUS (NTAPI *SpbResourceIoControl)(
        HANDLE DeviceHandle,
        void *SpbResource,
        ULONG IoControlCode,
        ULONG InBufferSize,
        void *InputBuffer,
        ULONG OutBufferSize,
        void *OutputBuffer,
        HANDLE EventHandle,
        IO_STATUS_BLOCK *IoStatusBlock);
} DXGK_SPB_INTERFACE, *PDXGK_SPB_INTERFACE;

#define DXGK_FIRMWARE_TABLE_INTERFACE_VERSION_1 0x1

typedef struct _DXGK_FIRMWARE_TABLE_INTERFACE {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    NTSTATUS (NTAPI *EnumSystemFirmwareTables)(
        void *Context,
        ULONG ProviderSignature,
        ULONG BufferSize,
        void *Buffer,
        ULONG *RequiredSize);
    NTSTATUS (NTAPI *ReadSystemFirmwareTable)(
        void *Context,
        ULONG ProviderSignature,
        ULONG TableId,
        ULONG BufferSize,
        void *Buffer,
        ULONG *RequiredSize);
} DXGK_FIRMWARE_TABLE_INTERFACE, *PDXGK_FIRMWARE_TABLE_INTERFACE;

typedef enum DOCKING_STATE {
    DockStateUnsupported = 0,
    DockStateUnDocked = 1,
    DockStateDocked = 2,
    DockStateUnknown = 3,
} DOCKING_STATE;

typedef struct _DXGK_DEVICE_INFO {
    PVOID MiniportDeviceContext;
    PDEVICE_OBJECT PhysicalDeviceObject;
    UNICODE_STRING DeviceRegistryPath;
    PCM_RESOURCE_LIST TranslatedResourceList;
    LARGE_INTEGER SystemMemorySize;
    PHYSICAL_ADDRESS HighestPhysicalAddress;
    PHYSICAL_ADDRESS AgpApertureBase;
    SIZE_T AgpApertureSize;
    DOCKING_STATE DockingState;
} DXGK_DEVICE_INFO, *PDXGK_DEVICE_INFO;

#define DXGK_ACPI_PASS_ARGS_TO_CHILDREN 1634885968
#define DXGK_ACPI_USE_ACPI_UID          543451477

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM1_3)

#define DXGK_ACPI_USE_EVAL_EX 2017818181

#endif

typedef NTSTATUS (NTAPI *DXGKCB_EVAL_ACPI_METHOD)(
    HANDLE DeviceHandle,
    ULONG DeviceUid,
    PACPI_EVAL_INPUT_BUFFER_COMPLEX AcpiInputBuffer,
    ULONG AcpiInputSize,
    PACPI_EVAL_OUTPUT_BUFFER AcpiOutputBuffer,
    ULONG AcpiOutputSize);

typedef NTSTATUS (NTAPI *DXGKCB_GET_DEVICE_INFORMATION)(
    HANDLE DeviceHandle,
    PDXGK_DEVICE_INFO DeviceInfo);

typedef NTSTATUS (NTAPI *DXGKCB_INDICATE_CHILD_STATUS)(
    HANDLE DeviceHandle,
    PDXGK_CHILD_STATUS ChildStatus);

typedef NTSTATUS (NTAPI *DXGKCB_MAP_MEMORY)(
    HANDLE DeviceHandle,
    PHYSICAL_ADDRESS TranslatedAddress,
    ULONG Length,
    BOOLEAN InIoSpace,
    BOOLEAN MapToUserMode,
    MEMORY_CACHING_TYPE CacheType,
    PVOID *VirtualAddress);

typedef NTSTATUS (NTAPI *DXGKCB_QUERY_SERVICES)(
    HANDLE DeviceHandle,
    DXGK_SERVICES ServicesType,
    PINTERFACE Interface);

typedef BOOLEAN (NTAPI *DXGKCB_QUEUE_DPC)(HANDLE DeviceHandle);

typedef NTSTATUS (NTAPI *DXGKCB_READ_DEVICE_SPACE)(
    HANDLE DeviceHandle,
    ULONG DataType,
    PVOID Buffer,
    ULONG Offset,
    ULONG Length,
    PULONG BytesRead);

typedef NTSTATUS (NTAPI *DXGKCB_SYNCHRONIZE_EXECUTION)(
    HANDLE DeviceHandle,
    PKSYNCHRONIZE_ROUTINE SynchronizeRoutine,
    PVOID Context,
    ULONG MessageNumber,
    PBOOLEAN ReturnValue);

typedef NTSTATUS (NTAPI *DXGKCB_UNMAP_MEMORY)(HANDLE DeviceHandle, PVOID VirtualAddress);

typedef NTSTATUS (NTAPI *DXGKCB_WRITE_DEVICE_SPACE)(
    HANDLE DeviceHandle,
    ULONG DataType,
    PVOID Buffer,
    ULONG Offset,
    ULONG Length,
    PULONG BytesWritten);

typedef NTSTATUS (NTAPI *DXGKCB_IS_DEVICE_PRESENT)(
    HANDLE DeviceHandle,
    PPCI_DEVICE_PRESENCE_PARAMETERS DevicePresenceParameters,
    PBOOLEAN DevicePresent);

typedef void (NTAPI *DXGKCB_LOG_ETW_EVENT)(
    const LPCGUID EventGuid,
    UCHAR Type,
    USHORT EventBufferSize,
    PVOID EventBuffer);

typedef NTSTATUS (NTAPI *DXGKCB_EXCLUDE_ADAPTER_ACCESS)(
    HANDLE DeviceHandle,
    ULONG Attributes,
    DXGKDDI_PROTECTED_CALLBACK DxgkProtectedCallback,
    PVOID ProtectedCallbackContext);

typedef struct _DXGK_START_INFO {
    ULONG RequiredDmaQueueEntry;
    GUID AdapterGuid;
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WIN8)
    LUID AdapterLuid;
#endif
} DXGK_START_INFO, *PDXGK_START_INFO;

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WIN8)

typedef NTSTATUS (NTAPI *DXGKCB_ACQUIRE_POST_DISPLAY_OWNERSHIP)(
    HANDLE DeviceHandle,
    PDXGK_DISPLAY_INFORMATION DisplayInfo);

#endif

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_2)

typedef enum _DXGK_FRAMEBUFFER_STATE {
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_2)
    FrameBufferStateUnknown = 0,
    FrameBufferStateInitializedByFirmware = 1,
    FrameBufferStateInitializedByDriver = 2,
#endif
} DXGK_FRAMEBUFFER_STATE;

typedef struct _DXGK_DISPLAY_OWNERSHIP_FLAGS {
    union {
        struct DXGK_MS_STRUCT {
            DXGK_FRAMEBUFFER_STATE FrameBufferState : 4;
        };
        UINT Value;
    };
} DXGK_DISPLAY_OWNERSHIP_FLAGS, *PDXGK_DISPLAY_OWNERSHIP_FLAGS;

typedef NTSTATUS (NTAPI *DXGKCB_ACQUIRE_POST_DISPLAY_OWNERSHIP2)(
    HANDLE DeviceHandle,
    PDXGK_DISPLAY_INFORMATION DisplayInfo,
    PDXGK_DISPLAY_OWNERSHIP_FLAGS Flags);

#endif

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_4)

typedef struct _DXGK_DIAGNOSTIC_CATEGORIES {
    union {
        struct DXGK_MS_STRUCT {
            UINT Notifications : 1;
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_5)
            UINT Progressions : 1;
            UINT Reserved : 30;
#else
            UINT Reserved : 31;
#endif
        };
        UINT Value;
    };
} DXGK_DIAGNOSTIC_CATEGORIES;

#define DXGK_DIAGCAT_NOTIFICATIONS_BIT  0
#define DXGK_DIAGCAT_NOTIFICATIONS_MASK 1

#endif

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_5)

#define DXGK_DIAGCAT_PROGRESSIONS_BIT  1
#define DXGK_DIAGCAT_PROGRESSIONS_MASK 2

#endif

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_4)

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_5)
#define DXGK_DIAGCAT_BITCOUNT 2
#else
#define DXGK_DIAGCAT_BITCOUNT 1
#endif

typedef struct _DXGK_DIAGTYPE_NOTIFICATIONS {
    union {
        struct DXGK_MS_STRUCT {
            UINT PanelSelfRefreshSoftware : 1;
            UINT PanelSelfRefreshHardware : 1;
            UINT Reserved : 30;
        };
        UINT Value;
    };
} DXGK_DIAGTYPE_NOTIFICATIONS;

#define DXGK_DIAG_NOTIFICATIONS_PSR_SW_BIT  0
#define DXGK_DIAG_NOTIFICATIONS_PSR_SW_MASK 1
#define DXGK_DIAG_NOTIFICATIONS_PSR_HW_BIT  1
#define DXGK_DIAG_NOTIFICATIONS_PSR_HW_MASK 2
#define DXGK_DIAG_NOTIFICATIONS_BITCOUNT    2

#endif

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_5)

typedef struct _DXGK_DIAGTYPE_PROGRESSIONS {
    union {
        struct DXGK_MS_STRUCT {
            UINT SyncLockEnableSync : 1;
            UINT Reserved : 31;
        };
        UINT Value;
    };
} DXGK_DIAGTYPE_PROGRESSIONS;

#define DXGK_DIAG_PROGRESSIONS_SYNCLOCK_ENABLE_SYNC_BIT  0
#define DXGK_DIAG_PROGRESSIONS_SYNCLOCK_ENABLE_SYNC_MASK 1
#define DXGK_DIAG_PROGRESSIONS_BITCOUNT                  1

#endif

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_4)

typedef struct _DXGK_DIAGNOSTIC_TYPES {
    union {
        DXGK_DIAGTYPE_NOTIFICATIONS Notifications;
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_5)
        DXGK_DIAGTYPE_PROGRESSIONS Progressions;
#endif
        UINT Value;
    };
} DXGK_DIAGNOSTIC_TYPES;

typedef struct _DXGK_DIAGNOSTIC_HEADER {
    DXGK_DIAGNOSTIC_CATEGORIES Category;
    DXGK_DIAGNOSTIC_TYPES Type;
    union {
        struct DXGK_MS_STRUCT {
            UINT Size : 16;
            UINT Reserved : 16;
        };
        UINT Value;
    };
    UINT SequenceNumber;
    union {
        D3DDDI_VIDEO_PRESENT_TARGET_ID TargetId;
        D3DDDI_VIDEO_PRESENT_SOURCE_ID SourceId;
        UINT Id;
    };
} DXGK_DIAGNOSTIC_HEADER;

typedef union _DXGK_DIAGNOSTIC_PSR_REFRESH_REASON {
    struct DXGK_MS_STRUCT {
        UINT Present : 1;
        UINT CursorUpdate : 1;
        UINT VSyncEnabled : 1;
        UINT ColorTransformationChange : 1;
        UINT BrightnessChange : 1;
        UINT SinkRequest : 1;
        UINT Other : 1;
        UINT Reserved : 25;
    };
    UINT Value;
} DXGK_DIAGNOSTIC_PSR_REFRESH_REASON;

typedef struct _DXGK_DIAGNOSTIC_PSR {
    DXGK_DIAGNOSTIC_HEADER Header;
    union {
        DXGK_DIAGNOSTIC_PSR_REFRESH_REASON RefreshReason;
        UINT Value;
    };
} DXGK_DIAGNOSTIC_PSR;

#endif

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_5)

typedef struct _DXGK_DIAGNOSTIC_SYNCLOCK_ENABLESYNC {
    DXGK_DIAGNOSTIC_HEADER Header;
    union {
        struct DXGK_MS_STRUCT {
            UINT DuringSetTiming : 1;
            UINT EnableSyncStart : 1;
            UINT EnableSyncEnd : 1;
            UINT Reserved : 29;
        } SyncLockEnableSync;
        UINT Value;
    };
} DXGK_DIAGNOSTIC_SYNCLOCK_ENABLESYNC;

#endif

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_4)

typedef DXGK_DIAGNOSTIC_HEADER *IN_PDXGK_DIAGNOSTIC_HEADER;

typedef NTSTATUS (NTAPI *DXGKCB_REPORT_DIAGNOSTIC)(
    HANDLE DeviceHandle,
    IN_PDXGK_DIAGNOSTIC_HEADER pDiagnostic);

#endif

/*
 * What the port driver offers a miniport, given to it by DxgkDdiStartDevice. Each older form is a
 * prefix of this one, so Size tells which members there are.
 */
typedef struct _DXGKRNL_INTERFACE {
    ULONG Size;
    ULONG Version;
    HANDLE DeviceHandle;
    DXGKCB_EVAL_ACPI_METHOD DxgkCbEvalAcpiMethod;
    DXGKCB_GET_DEVICE_INFORMATION DxgkCbGetDeviceInformation;
    DXGKCB_INDICATE_CHILD_STATUS DxgkCbIndicateChildStatus;
    DXGKCB_MAP_MEMORY DxgkCbMapMemory;
    DXGKCB_QUEUE_DPC DxgkCbQueueDpc;
    DXGKCB_QUERY_SERVICES DxgkCbQueryServices;
    DXGKCB_READ_DEVICE_SPACE DxgkCbReadDeviceSpace;
    DXGKCB_SYNCHRONIZE_EXECUTION DxgkCbSynchronizeExecution;
    DXGKCB_UNMAP_MEMORY DxgkCbUnmapMemory;
    DXGKCB_WRITE_DEVICE_SPACE DxgkCbWriteDeviceSpace;
    DXGKCB_IS_DEVICE_PRESENT DxgkCbIsDevicePresent;
    DXGKCB_GETHANDLEDATA DxgkCbGetHandleData;
    DXGKCB_GETHANDLEPARENT DxgkCbGetHandleParent;
    DXGKCB_ENUMHANDLECHILDREN DxgkCbEnumHandleChildren;
    DXGKCB_NOTIFY_INTERRUPT DxgkCbNotifyInterrupt;
    DXGKCB_NOTIFY_DPC DxgkCbNotifyDpc;
    DXGKCB_QUERYVIDPNINTERFACE DxgkCbQueryVidPnInterface;
    DXGKCB_QUERYMONITORINTERFACE DxgkCbQueryMonitorInterface;
    DXGKCB_GETCAPTUREADDRESS DxgkCbGetCaptureAddress;
    DXGKCB_LOG_ETW_EVENT DxgkCbLogEtwEvent;
    DXGKCB_EXCLUDE_ADAPTER_ACCESS DxgkCbExcludeAdapterAccess;
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WIN8)
    DXGKCB_CREATECONTEXTALLOCATION DxgkCbCreateContextAllocation;
    DXGKCB_DESTROYCONTEXTALLOCATION DxgkCbDestroyContextAllocation;
    DXGKCB_SETPOWERCOMPONENTACTIVE DxgkCbSetPowerComponentActive;
    DXGKCB_SETPOWERCOMPONENTIDLE DxgkCbSetPowerComponentIdle;
    DXGKCB_ACQUIRE_POST_DISPLAY_OWNERSHIP DxgkCbAcquirePostDisplayOwnership;
    DXGKCB_POWERRUNTIMECONTROLREQUEST DxgkCbPowerRuntimeControlRequest;
    DXGKCB_SETPOWERCOMPONENTLATENCY DxgkCbSetPowerComponentLatency;
    DXGKCB_SETPOWERCOMPONENTRESIDENCY DxgkCbSetPowerComponentResidency;
    DXGKCB_COMPLETEFSTATETRANSITION DxgkCbCompleteFStateTransition;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM1_3)
    DXGKCB_COMPLETEPSTATETRANSITION DxgkCbCompletePStateTransition;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_0)
    DXGKCB_MAPCONTEXTALLOCATION DxgkCbMapContextAllocation;
    DXGKCB_UPDATECONTEXTALLOCATION DxgkCbUpdateContextAllocation;
    DXGKCB_RESERVEGPUVIRTUALADDRESSRANGE DxgkCbReserveGpuVirtualAddressRange;
    DXGKCB_ACQUIREHANDLEDATA DxgkCbAcquireHandleData;
    DXGKCB_RELEASEHANDLEDATA DxgkCbReleaseHandleData;
    DXGKCB_HARDWARECONTENTPROTECTIONTEARDOWN DxgkCbHardwareContentProtectionTeardown;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_1)
    DXGKCB_MULTIPLANEOVERLAYDISABLED DxgkCbMultiPlaneOverlayDisabled;
    DXGKCB_DXGKCB_MITIGATEDRANGEUPDATE DxgkCbMitigatedRangeUpdate;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_2)
    DXGKCB_INVALIDATEHWCONTEXT DxgkCbInvalidateHwContext;
    DXGKCB_INDICATE_CONNECTOR_CHANGE DxgkCbIndicateConnectorChange;
    DXGKCB_UNBLOCKUEFIFRAMEBUFFERRANGES DxgkCbUnblockUEFIFrameBufferRanges;
    DXGKCB_ACQUIRE_POST_DISPLAY_OWNERSHIP2 DxgkCbAcquirePostDisplayOwnership2;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_3)
    DXGKCB_SETPROTECTEDSESSIONSTATUS DxgkCbSetProtectedSessionStatus;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_4)
    DXGKCB_ALLOCATECONTIGUOUSMEMORY DxgkCbAllocateContiguousMemory;
    DXGKCB_FREECONTIGUOUSMEMORY DxgkCbFreeContiguousMemory;
    DXGKCB_ALLOCATEPAGESFORMDL DxgkCbAllocatePagesForMdl;
    DXGKCB_FREEPAGESFROMMDL DxgkCbFreePagesFromMdl;
    DXGKCB_PINFRAMEBUFFERFORSAVE DxgkCbPinFrameBufferForSave;
    DXGKCB_UNPINFRAMEBUFFERFORSAVE DxgkCbUnpinFrameBufferForSave;
    DXGKCB_MAPFRAMEBUFFERPOINTER DxgkCbMapFrameBufferPointer;
    DXGKCB_UNMAPFRAMEBUFFERPOINTER DxgkCbUnmapFrameBufferPointer;
    DXGKCB_MAPMDLTOIOMMU DxgkCbMapMdlToIoMmu;
    DXGKCB_UNMAPMDLFROMIOMMU DxgkCbUnmapMdlFromIoMmu;
    DXGKCB_REPORT_DIAGNOSTIC DxgkCbReportDiagnostic;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_5)
    DXGKCB_SIGNALEVENT DxgkCbSignalEvent;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_6)
    DXGKCB_ISFEATUREENABLED DxgkCbIsFeatureEnabled;
    DXGKCB_SAVEMEMORYFORHOTUPDATE DxgkCbSaveMemoryForHotUpdate;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_8)
    DXGKCB_NOTIFYCURSORSUPPORTCHANGE DxgkCbNotifyCursorSupportChange;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_9)
    DXGKCB_QUERYFEATURESUPPORT DxgkCbQueryFeatureSupport;
    DXGKCB_CREATEPHYSICALMEMORYOBJECT DxgkCbCreatePhysicalMemoryObject;
    DXGKCB_DESTROYPHYSICALMEMORYOBJECT DxgkCbDestroyPhysicalMemoryObject;
    DXGKCB_MAPPHYSICALMEMORY DxgkCbMapPhysicalMemory;
    DXGKCB_UNMAPPHYSICALMEMORY DxgkCbUnmapPhysicalMemory;
    DXGKCB_ALLOCATEADL DxgkCbAllocateAdl;
    DXGKCB_FREEADL DxgkCbFreeAdl;
    DXGKCB_OPENPHYSICALMEMORYOBJECT DxgkCbOpenPhysicalMemoryObject;
    DXGKCB_CLOSEPHYSICALMEMORYOBJECT DxgkCbClosePhysicalMemoryObject;
    DXGKCB_PINFRAMEBUFFERFORSAVE2 DxgkCbPinFrameBufferForSave2;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM3_1)
    DXGKCB_DISCONNECTDOORBELL DxgkCbDisconnectDoorbell;
#endif
} DXGKRNL_INTERFACE, *PDXGKRNL_INTERFACE;

typedef const PDEVICE_OBJECT IN_CONST_PDEVICE_OBJECT;
typedef PLINKED_DEVICE INOUT_PLINKED_DEVICE;
typedef PDXGK_CHILD_DESCRIPTOR INOUT_PDXGK_CHILD_DESCRIPTOR;
typedef PDXGK_CHILD_STATUS IN_PDXGK_CHILD_STATUS;
typedef PDXGK_CHILD_STATUS INOUT_PDXGK_CHILD_STATUS;
typedef PDXGK_DEVICE_DESCRIPTOR INOUT_PDXGK_DEVICE_DESCRIPTOR;
typedef DXGK_EVENT_TYPE IN_DXGK_EVENT_TYPE;
typedef PDXGK_START_INFO IN_PDXGK_START_INFO;
typedef PDXGKRNL_INTERFACE IN_PDXGKRNL_INTERFACE;
typedef PQUERY_INTERFACE IN_PQUERY_INTERFACE;
typedef PVIDEO_REQUEST_PACKET IN_PVIDEO_REQUEST_PACKET;

typedef NTSTATUS NTAPI DXGKDDI_ADD_DEVICE(
    IN_CONST_PDEVICE_OBJECT PhysicalDeviceObject,
    OUT_PPVOID MiniportDeviceContext);
typedef DXGKDDI_ADD_DEVICE *PDXGKDDI_ADD_DEVICE;

typedef NTSTATUS NTAPI DXGKDDI_START_DEVICE(
    IN_CONST_PVOID MiniportDeviceContext,
    IN_PDXGK_START_INFO DxgkStartInfo,
    IN_PDXGKRNL_INTERFACE DxgkInterface,
    OUT_PULONG NumberOfVideoPresentSources,
    OUT_PULONG NumberOfChildren);
typedef DXGKDDI_START_DEVICE *PDXGKDDI_START_DEVICE;

typedef NTSTATUS NTAPI DXGKDDI_STOP_DEVICE(IN_CONST_PVOID MiniportDeviceContext);
typedef DXGKDDI_STOP_DEVICE *PDXGKDDI_STOP_DEVICE;

typedef NTSTATUS NTAPI DXGKDDI_REMOVE_DEVICE(IN_CONST_PVOID MiniportDeviceContext);
typedef DXGKDDI_REMOVE_DEVICE *PDXGKDDI_REMOVE_DEVICE;

typedef NTSTATUS NTAPI DXGKDDI_DISPATCH_IO_REQUEST(
    IN_CONST_PVOID MiniportDeviceContext,
    IN_ULONG VidPnSourceId,
    IN_PVIDEO_REQUEST_PACKET VideoRequestPacket);
typedef DXGKDDI_DISPATCH_IO_REQUEST *PDXGKDDI_DISPATCH_IO_REQUEST;

typedef NTSTATUS NTAPI DXGKDDI_QUERY_CHILD_RELATIONS(
    IN_CONST_PVOID MiniportDeviceContext,
    PDXGK_CHILD_DESCRIPTOR ChildRelations,
    ULONG ChildRelationsSize);
typedef DXGKDDI_QUERY_CHILD_RELATIONS *PDXGKDDI_QUERY_CHILD_RELATIONS;

typedef NTSTATUS NTAPI DXGKDDI_QUERY_CHILD_STATUS(
    IN_CONST_PVOID MiniportDeviceContext,
    INOUT_PDXGK_CHILD_STATUS ChildStatus,
    IN_BOOLEAN NonDestructiveOnly);
typedef DXGKDDI_QUERY_CHILD_STATUS *PDXGKDDI_QUERY_CHILD_STATUS;

typedef BOOLEAN NTAPI DXGKDDI_INTERRUPT_ROUTINE(
    IN_CONST_PVOID MiniportDeviceContext,
    IN_ULONG MessageNumber);
typedef DXGKDDI_INTERRUPT_ROUTINE *PDXGKDDI_INTERRUPT_ROUTINE;

typedef void NTAPI DXGKDDI_DPC_ROUTINE(IN_CONST_PVOID MiniportDeviceContext);
typedef DXGKDDI_DPC_ROUTINE *PDXGKDDI_DPC_ROUTINE;

typedef NTSTATUS NTAPI DXGKDDI_QUERY_DEVICE_DESCRIPTOR(
    IN_CONST_PVOID MiniportDeviceContext,
    IN_ULONG ChildUid,
    INOUT_PDXGK_DEVICE_DESCRIPTOR DeviceDescriptor);
typedef DXGKDDI_QUERY_DEVICE_DESCRIPTOR *PDXGKDDI_QUERY_DEVICE_DESCRIPTOR;

typedef NTSTATUS NTAPI DXGKDDI_SET_POWER_STATE(
    IN_CONST_PVOID MiniportDeviceContext,
    IN_ULONG DeviceUid,
    IN_DEVICE_POWER_STATE DevicePowerState,
    IN_POWER_ACTION ActionType);
typedef DXGKDDI_SET_POWER_STATE *PDXGKDDI_SET_POWER_STATE;

typedef NTSTATUS NTAPI DXGKDDI_NOTIFY_ACPI_EVENT(
    IN_CONST_PVOID MiniportDeviceContext,
    IN_DXGK_EVENT_TYPE EventType,
    IN_ULONG Event,
    IN_PVOID Argument,
    OUT_PULONG AcpiFlags);
typedef DXGKDDI_NOTIFY_ACPI_EVENT *PDXGKDDI_NOTIFY_ACPI_EVENT;

typedef void NTAPI DXGKDDI_RESET_DEVICE(IN_CONST_PVOID MiniportDeviceContext);
typedef DXGKDDI_RESET_DEVICE *PDXGKDDI_RESET_DEVICE;

typedef void NTAPI DXGKDDI_UNLOAD(void);
typedef DXGKDDI_UNLOAD *PDXGKDDI_UNLOAD;

typedef NTSTATUS NTAPI DXGKDDI_QUERY_INTERFACE(
    IN_CONST_PVOID MiniportDeviceContext,
    IN_PQUERY_INTERFACE QueryInterface);
typedef DXGKDDI_QUERY_INTERFACE *PDXGKDDI_QUERY_INTERFACE;

typedef void NTAPI DXGKDDI_CONTROL_ETW_LOGGING(IN_BOOLEAN Enable, IN_ULONG Flags, IN_UCHAR Level);
typedef DXGKDDI_CONTROL_ETW_LOGGING *PDXGKDDI_CONTROL_ETW_LOGGING;

typedef NTSTATUS NTAPI DXGKDDI_LINK_DEVICE(
    IN_CONST_PDEVICE_OBJECT PhysicalDeviceObject,
    IN_CONST_PVOID MiniportDeviceContext,
    INOUT_PLINKED_DEVICE LinkedDevice);
typedef DXGKDDI_LINK_DEVICE *PDXGKDDI_LINK_DEVICE;

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_2)

typedef struct _DXGK_PRE_START_INFO {
    union {
        struct {
            UINT ReservedIn;
        };
        UINT Input;
    };
    union {
        struct DXGK_MS_STRUCT {
            UINT SupportPreserveBootDisplay : 1;
            UINT IsUEFIFrameBufferCpuAccessibleDuringStartup : 1;
            UINT ReservedOut : 30;
        };
        UINT Output;
    };
} DXGK_PRE_START_INFO, *PDXGK_PRE_START_INFO;

typedef PDXGK_PRE_START_INFO IN_OUT_PDXGK_PRE_START_INFO;

typedef NTSTATUS NTAPI DXGKDDI_EXCHANGEPRESTARTINFO(
    IN_CONST_HANDLE hAdapter,
    IN_OUT_PDXGK_PRE_START_INFO pPreStartInfo);
typedef DXGKDDI_EXCHANGEPRESTARTINFO *PDXGKDDI_EXCHANGEPRESTARTINFO;

typedef NTSTATUS NTAPI DXGKDDI_SETTARGETADJUSTEDCOLORIMETRY(
    IN_CONST_HANDLE hAdapter,
    D3DDDI_VIDEO_PRESENT_TARGET_ID TargetId,
    DXGK_COLORIMETRY AdjustedColorimetry);
typedef DXGKDDI_SETTARGETADJUSTEDCOLORIMETRY *PDXGKDDI_SETTARGETADJUSTEDCOLORIMETRY;

#endif

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_4)

typedef struct _DXGKARG_QUERYDIAGNOSTICTYPESSUPPORT {
    DXGK_DIAGNOSTIC_CATEGORIES DiagnosticCategory;
    DXGK_DIAGNOSTIC_TYPES NoninvasiveTypes;
    DXGK_DIAGNOSTIC_TYPES InvasiveTypes;
} DXGKARG_QUERYDIAGNOSTICTYPESSUPPORT, *PDXGKARG_QUERYDIAGNOSTICTYPESSUPPORT;

typedef PDXGKARG_QUERYDIAGNOSTICTYPESSUPPORT INOUT_PDXGKARG_QUERYDIAGNOSTICTYPESSUPPORT;

typedef NTSTATUS NTAPI DXGKDDI_QUERYDIAGNOSTICTYPESSUPPORT(
    IN_CONST_PVOID MiniportDeviceContext,
    INOUT_PDXGKARG_QUERYDIAGNOSTICTYPESSUPPORT pArgQueryDiagnosticTypesSupport);
typedef DXGKDDI_QUERYDIAGNOSTICTYPESSUPPORT *PDXGKDDI_QUERYDIAGNOSTICTYPESSUPPORT;

typedef struct _DXGKARG_CONTROLDIAGNOSTICREPORTING {
    DXGK_DIAGNOSTIC_CATEGORIES DiagnosticCategory;
    DXGK_DIAGNOSTIC_TYPES RequestedDiagnostics;
} DXGKARG_CONTROLDIAGNOSTICREPORTING, *PDXGKARG_CONTROLDIAGNOSTICREPORTING;

typedef PDXGKARG_CONTROLDIAGNOSTICREPORTING IN_PDXGKARG_CONTROLDIAGNOSTICREPORTING;

typedef NTSTATUS NTAPI DXGKDDI_CONTROLDIAGNOSTICREPORTING(
    IN_CONST_PVOID MiniportDeviceContext,
    IN_PDXGKARG_CONTROLDIAGNOSTICREPORTING pArgControlDiagnosticReporting);
typedef DXGKDDI_CONTROLDIAGNOSTICREPORTING *PDXGKDDI_CONTROLDIAGNOSTICREPORTING;

#endif

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_5)

typedef struct _DXGKARG_SETTARGETADJUSTEDCOLORIMETRY2 {
    D3DDDI_VIDEO_PRESENT_TARGET_ID TargetId;
    DXGK_COLORIMETRY AdjustedColorimetry;
    UINT SdrWhiteLevel;
} DXGKARG_SETTARGETADJUSTEDCOLORIMETRY2, *PDXGKARG_SETTARGETADJUSTEDCOLORIMETRY2;

typedef PDXGKARG_SETTARGETADJUSTEDCOLORIMETRY2 IN_PDXGKARG_SETTARGETADJUSTEDCOLORIMETRY2;

typedef NTSTATUS NTAPI DXGKDDI_SETTARGETADJUSTEDCOLORIMETRY2(
    IN_CONST_HANDLE hAdapter,
    IN_PDXGKARG_SETTARGETADJUSTEDCOLORIMETRY2 pArgSetTargetAdjustedColorimetry);
typedef DXGKDDI_SETTARGETADJUSTEDCOLORIMETRY2 *PDXGKDDI_SETTARGETADJUSTEDCOLORIMETRY2;

#endif

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WIN8)

typedef NTSTATUS NTAPI DXGKDDI_STOP_DEVICE_AND_RELEASE_POST_DISPLAY_OWNERSHIP(
    PVOID MiniportDeviceContext,
    D3DDDI_VIDEO_PRESENT_TARGET_ID TargetId,
    PDXGK_DISPLAY_INFORMATION DisplayInfo);
typedef DXGKDDI_STOP_DEVICE_AND_RELEASE_POST_DISPLAY_OWNERSHIP
    *PDXGKDDI_STOP_DEVICE_AND_RELEASE_POST_DISPLAY_OWNERSHIP;

typedef struct _DXGKARG_SYSTEM_DISPLAY_ENABLE_FLAGS {
    union {
        struct DXGK_MS_STRUCT {
            UINT Reserved : 32;
        };
        UINT Value;
    };
} DXGKARG_SYSTEM_DISPLAY_ENABLE_FLAGS, *PDXGKARG_SYSTEM_DISPLAY_ENABLE_FLAGS;

typedef NTSTATUS NTAPI DXGKDDI_SYSTEM_DISPLAY_ENABLE(
    PVOID MiniportDeviceContext,
    D3DDDI_VIDEO_PRESENT_TARGET_ID TargetId,
    PDXGKARG_SYSTEM_DISPLAY_ENABLE_FLAGS Flags,
    UINT *Width,
    UINT *Height,
    D3DDDIFORMAT *ColorFormat);
typedef DXGKDDI_SYSTEM_DISPLAY_ENABLE *PDXGKDDI_SYSTEM_DISPLAY_ENABLE;

typedef void NTAPI DXGKDDI_SYSTEM_DISPLAY_WRITE(
    PVOID MiniportDeviceContext,
    PVOID Source,
    UINT SourceWidth,
    UINT SourceHeight,
    UINT SourceStride,
    UINT PositionX,
    UINT PositionY);
typedef DXGKDDI_SYSTEM_DISPLAY_WRITE *PDXGKDDI_SYSTEM_DISPLAY_WRITE;

typedef struct _DXGK_CHILD_CONTAINER_ID {
    GUID ContainerId;
    struct {
        ULONG64 PortId;
        USHORT ManufacturerName;
        USHORT ProductCode;
    } EldInfo;
} DXGK_CHILD_CONTAINER_ID, *PDXGK_CHILD_CONTAINER_ID;

typedef NTSTATUS NTAPI DXGKDDI_GET_CHILD_CONTAINER_ID(
    PVOID MiniportDeviceContext,
    ULONG ChildUid,
    PDXGK_CHILD_CONTAINER_ID ContainerId);
typedef DXGKDDI_GET_CHILD_CONTAINER_ID *PDXGKDDI_GET_CHILD_CONTAINER_ID;

typedef enum _DXGK_SURPRISE_REMOVAL_TYPE {
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WIN8)
    DxgkRemovalHibernation = 0,
    DxgkRemovalPnPNotify = 1,
#endif
} DXGK_SURPRISE_REMOVAL_TYPE;

typedef NTSTATUS NTAPI DXGKDDI_NOTIFY_SURPRISE_REMOVAL(
    PVOID MiniportDeviceContext,
    DXGK_SURPRISE_REMOVAL_TYPE RemovalType);
typedef DXGKDDI_NOTIFY_SURPRISE_REMOVAL *PDXGKDDI_NOTIFY_SURPRISE_REMOVAL;

#endif

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_6)

#define DXGK_DUMP_BUCKETING_BUFFER_SIZE   64
#define DXGK_DUMP_DESCRIPTION_BUFFER_SIZE 128

typedef enum _DXGK_DIAGNOSTICINFO_TYPE {
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_6)
    DXGK_DI_ADDDEVICE = 1,
    DXGK_DI_STARTDEVICE = 2,
    DXGK_DI_BLACKSCREEN = 3,
#endif
} DXGK_DIAGNOSTICINFO_TYPE;

typedef struct _DXGKARG_COLLECTDIAGNOSTICINFO {
    HANDLE hAdapter;
    DXGK_DIAGNOSTICINFO_TYPE Type;
    CHAR BucketingString[64];
    CHAR DescriptionString[128];
    union {
        PVOID pReserved;
    };
    UINT BufferSizeIn;
    UINT BufferSizeOut;
    PVOID pBuffer;
} DXGKARG_COLLECTDIAGNOSTICINFO;

typedef DXGKARG_COLLECTDIAGNOSTICINFO *INOUT_PDXGKARG_COLLECTDIAGNOSTICINFO;

typedef NTSTATUS NTAPI DXGKDDI_COLLECTDIAGNOSTICINFO(
    IN_CONST_PDEVICE_OBJECT PhysicalDeviceObject,
    INOUT_PDXGKARG_COLLECTDIAGNOSTICINFO pCollectDiagnosticInfo);
typedef DXGKDDI_COLLECTDIAGNOSTICINFO *PDXGKDDI_COLLECTDIAGNOSTICINFO;

#endif

/*
 * A miniport's entry points, for DxgkInitialize. Each older form is a prefix of this one; Version
 * tells the port driver how far to read.
 */
typedef struct _DRIVER_INITIALIZATION_DATA {
    ULONG Version;
    PDXGKDDI_ADD_DEVICE DxgkDdiAddDevice;
    PDXGKDDI_START_DEVICE DxgkDdiStartDevice;
    PDXGKDDI_STOP_DEVICE DxgkDdiStopDevice;
    PDXGKDDI_REMOVE_DEVICE DxgkDdiRemoveDevice;
    PDXGKDDI_DISPATCH_IO_REQUEST DxgkDdiDispatchIoRequest;
    PDXGKDDI_INTERRUPT_ROUTINE DxgkDdiInterruptRoutine;
    PDXGKDDI_DPC_ROUTINE DxgkDdiDpcRoutine;
    PDXGKDDI_QUERY_CHILD_RELATIONS DxgkDdiQueryChildRelations;
    PDXGKDDI_QUERY_CHILD_STATUS DxgkDdiQueryChildStatus;
    PDXGKDDI_QUERY_DEVICE_DESCRIPTOR DxgkDdiQueryDeviceDescriptor;
    PDXGKDDI_SET_POWER_STATE DxgkDdiSetPowerState;
    PDXGKDDI_NOTIFY_ACPI_EVENT DxgkDdiNotifyAcpiEvent;
    PDXGKDDI_RESET_DEVICE DxgkDdiResetDevice;
    PDXGKDDI_UNLOAD DxgkDdiUnload;
    PDXGKDDI_QUERY_INTERFACE DxgkDdiQueryInterface;
    PDXGKDDI_CONTROL_ETW_LOGGING DxgkDdiControlEtwLogging;
    PDXGKDDI_QUERYADAPTERINFO DxgkDdiQueryAdapterInfo;
    PDXGKDDI_CREATEDEVICE DxgkDdiCreateDevice;
    PDXGKDDI_CREATEALLOCATION DxgkDdiCreateAllocation;
    PDXGKDDI_DESTROYALLOCATION DxgkDdiDestroyAllocation;
    PDXGKDDI_DESCRIBEALLOCATION DxgkDdiDescribeAllocation;
    PDXGKDDI_GETSTANDARDALLOCATIONDRIVERDATA DxgkDdiGetStandardAllocationDriverData;
    PDXGKDDI_ACQUIRESWIZZLINGRANGE DxgkDdiAcquireSwizzlingRange;
    PDXGKDDI_RELEASESWIZZLINGRANGE DxgkDdiReleaseSwizzlingRange;
    PDXGKDDI_PATCH DxgkDdiPatch;
    PDXGKDDI_SUBMITCOMMAND DxgkDdiSubmitCommand;
    PDXGKDDI_PREEMPTCOMMAND DxgkDdiPreemptCommand;
    PDXGKDDI_BUILDPAGINGBUFFER DxgkDdiBuildPagingBuffer;
    PDXGKDDI_SETPALETTE DxgkDdiSetPalette;
    PDXGKDDI_SETPOINTERPOSITION DxgkDdiSetPointerPosition;
    PDXGKDDI_SETPOINTERSHAPE DxgkDdiSetPointerShape;
    PDXGKDDI_RESETFROMTIMEOUT DxgkDdiResetFromTimeout;
    PDXGKDDI_RESTARTFROMTIMEOUT DxgkDdiRestartFromTimeout;
    PDXGKDDI_ESCAPE DxgkDdiEscape;
    PDXGKDDI_COLLECTDBGINFO DxgkDdiCollectDbgInfo;
    PDXGKDDI_QUERYCURRENTFENCE DxgkDdiQueryCurrentFence;
    PDXGKDDI_ISSUPPORTEDVIDPN DxgkDdiIsSupportedVidPn;
    PDXGKDDI_RECOMMENDFUNCTIONALVIDPN DxgkDdiRecommendFunctionalVidPn;
    PDXGKDDI_ENUMVIDPNCOFUNCMODALITY DxgkDdiEnumVidPnCofuncModality;
    PDXGKDDI_SETVIDPNSOURCEADDRESS DxgkDdiSetVidPnSourceAddress;
    PDXGKDDI_SETVIDPNSOURCEVISIBILITY DxgkDdiSetVidPnSourceVisibility;
    PDXGKDDI_COMMITVIDPN DxgkDdiCommitVidPn;
    PDXGKDDI_UPDATEACTIVEVIDPNPRESENTPATH DxgkDdiUpdateActiveVidPnPresentPath;
    PDXGKDDI_RECOMMENDMONITORMODES DxgkDdiRecommendMonitorModes;
    PDXGKDDI_RECOMMENDVIDPNTOPOLOGY DxgkDdiRecommendVidPnTopology;
    PDXGKDDI_GETSCANLINE DxgkDdiGetScanLine;
    PDXGKDDI_STOPCAPTURE DxgkDdiStopCapture;
    PDXGKDDI_CONTROLINTERRUPT DxgkDdiControlInterrupt;
    PDXGKDDI_CREATEOVERLAY DxgkDdiCreateOverlay;
    PDXGKDDI_DESTROYDEVICE DxgkDdiDestroyDevice;
    PDXGKDDI_OPENALLOCATIONINFO DxgkDdiOpenAllocation;
    PDXGKDDI_CLOSEALLOCATION DxgkDdiCloseAllocation;
    PDXGKDDI_RENDER DxgkDdiRender;
    PDXGKDDI_PRESENT DxgkDdiPresent;
    PDXGKDDI_UPDATEOVERLAY DxgkDdiUpdateOverlay;
    PDXGKDDI_FLIPOVERLAY DxgkDdiFlipOverlay;
    PDXGKDDI_DESTROYOVERLAY DxgkDdiDestroyOverlay;
    PDXGKDDI_CREATECONTEXT DxgkDdiCreateContext;
    PDXGKDDI_DESTROYCONTEXT DxgkDdiDestroyContext;
    PDXGKDDI_LINK_DEVICE DxgkDdiLinkDevice;
    PDXGKDDI_SETDISPLAYPRIVATEDRIVERFORMAT DxgkDdiSetDisplayPrivateDriverFormat;
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WIN7)
    PVOID DxgkDdiDescribePageTable;
    PVOID DxgkDdiUpdatePageTable;
    PVOID DxgkDdiUpdatePageDirectory;
    PVOID DxgkDdiMovePageDirectory;
    PVOID DxgkDdiSubmitRender;
    PVOID DxgkDdiCreateAllocation2;
    PDXGKDDI_RENDER DxgkDdiRenderKm;
    void *Reserved;
    PDXGKDDI_QUERYVIDPNHWCAPABILITY DxgkDdiQueryVidPnHWCapability;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WIN8)
    PDXGKDDISETPOWERCOMPONENTFSTATE DxgkDdiSetPowerComponentFState;
    PDXGKDDI_QUERYDEPENDENTENGINEGROUP DxgkDdiQueryDependentEngineGroup;
    PDXGKDDI_QUERYENGINESTATUS DxgkDdiQueryEngineStatus;
    PDXGKDDI_RESETENGINE DxgkDdiResetEngine;
    PDXGKDDI_STOP_DEVICE_AND_RELEASE_POST_DISPLAY_OWNERSHIP DxgkDdiStopDeviceAndReleasePostDisplayOwnership;
    PDXGKDDI_SYSTEM_DISPLAY_ENABLE DxgkDdiSystemDisplayEnable;
    PDXGKDDI_SYSTEM_DISPLAY_WRITE DxgkDdiSystemDisplayWrite;
    PDXGKDDI_CANCELCOMMAND DxgkDdiCancelCommand;
    PDXGKDDI_GET_CHILD_CONTAINER_ID DxgkDdiGetChildContainerId;
    PDXGKDDIPOWERRUNTIMECONTROLREQUEST DxgkDdiPowerRuntimeControlRequest;
    PDXGKDDI_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay;
    PDXGKDDI_NOTIFY_SURPRISE_REMOVAL DxgkDdiNotifySurpriseRemoval;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM1_3)
    PDXGKDDI_GETNODEMETADATA DxgkDdiGetNodeMetadata;
    PDXGKDDISETPOWERPSTATE DxgkDdiSetPowerPState;
    PDXGKDDI_CONTROLINTERRUPT2 DxgkDdiControlInterrupt2;
    PDXGKDDI_CHECKMULTIPLANEOVERLAYSUPPORT DxgkDdiCheckMultiPlaneOverlaySupport;
    PDXGKDDI_CALIBRATEGPUCLOCK DxgkDdiCalibrateGpuClock;
    PDXGKDDI_FORMATHISTORYBUFFER DxgkDdiFormatHistoryBuffer;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_0)
    PDXGKDDI_RENDERGDI DxgkDdiRenderGdi;
    PDXGKDDI_SUBMITCOMMANDVIRTUAL DxgkDdiSubmitCommandVirtual;
    PDXGKDDI_SETROOTPAGETABLE DxgkDdiSetRootPageTable;
    PDXGKDDI_GETROOTPAGETABLESIZE DxgkDdiGetRootPageTableSize;
    PDXGKDDI_MAPCPUHOSTAPERTURE DxgkDdiMapCpuHostAperture;
    PDXGKDDI_UNMAPCPUHOSTAPERTURE DxgkDdiUnmapCpuHostAperture;
    PDXGKDDI_CHECKMULTIPLANEOVERLAYSUPPORT2 DxgkDdiCheckMultiPlaneOverlaySupport2;
    PDXGKDDI_CREATEPROCESS DxgkDdiCreateProcess;
    PDXGKDDI_DESTROYPROCESS DxgkDdiDestroyProcess;
    PDXGKDDI_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY2 DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay2;
    void *Reserved1;
    void *Reserved2;
    PDXGKDDI_POWERRUNTIMESETDEVICEHANDLE DxgkDdiPowerRuntimeSetDeviceHandle;
    PDXGKDDI_SETSTABLEPOWERSTATE DxgkDdiSetStablePowerState;
    PDXGKDDI_SETVIDEOPROTECTEDREGION DxgkDdiSetVideoProtectedRegion;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_1)
    PDXGKDDI_CHECKMULTIPLANEOVERLAYSUPPORT3 DxgkDdiCheckMultiPlaneOverlaySupport3;
    PDXGKDDI_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY3 DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay3;
    PDXGKDDI_POSTMULTIPLANEOVERLAYPRESENT DxgkDdiPostMultiPlaneOverlayPresent;
    PDXGKDDI_VALIDATEUPDATEALLOCATIONPROPERTY DxgkDdiValidateUpdateAllocationProperty;
    PDXGKDDI_CONTROLMODEBEHAVIOR DxgkDdiControlModeBehavior;
    PDXGKDDI_UPDATEMONITORLINKINFO DxgkDdiUpdateMonitorLinkInfo;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_2)
    PDXGKDDI_CREATEHWCONTEXT DxgkDdiCreateHwContext;
    PDXGKDDI_DESTROYHWCONTEXT DxgkDdiDestroyHwContext;
    PDXGKDDI_CREATEHWQUEUE DxgkDdiCreateHwQueue;
    PDXGKDDI_DESTROYHWQUEUE DxgkDdiDestroyHwQueue;
    PDXGKDDI_SUBMITCOMMANDTOHWQUEUE DxgkDdiSubmitCommandToHwQueue;
    PDXGKDDI_SWITCHTOHWCONTEXTLIST DxgkDdiSwitchToHwContextList;
    PDXGKDDI_RESETHWENGINE DxgkDdiResetHwEngine;
    PDXGKDDI_CREATEPERIODICFRAMENOTIFICATION DxgkDdiCreatePeriodicFrameNotification;
    PDXGKDDI_DESTROYPERIODICFRAMENOTIFICATION DxgkDdiDestroyPeriodicFrameNotification;
    PDXGKDDI_SETTIMINGSFROMVIDPN DxgkDdiSetTimingsFromVidPn;
    PDXGKDDI_SETTARGETGAMMA DxgkDdiSetTargetGamma;
    PDXGKDDI_SETTARGETCONTENTTYPE DxgkDdiSetTargetContentType;
    PDXGKDDI_SETTARGETANALOGCOPYPROTECTION DxgkDdiSetTargetAnalogCopyProtection;
    PDXGKDDI_SETTARGETADJUSTEDCOLORIMETRY DxgkDdiSetTargetAdjustedColorimetry;
    PDXGKDDI_DISPLAYDETECTCONTROL DxgkDdiDisplayDetectControl;
    PDXGKDDI_QUERYCONNECTIONCHANGE DxgkDdiQueryConnectionChange;
    PDXGKDDI_EXCHANGEPRESTARTINFO DxgkDdiExchangePreStartInfo;
    PDXGKDDI_GETMULTIPLANEOVERLAYCAPS DxgkDdiGetMultiPlaneOverlayCaps;
    PDXGKDDI_GETPOSTCOMPOSITIONCAPS DxgkDdiGetPostCompositionCaps;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_3)
    PDXGKDDI_UPDATEHWCONTEXTSTATE DxgkDdiUpdateHwContextState;
    PDXGKDDI_CREATEPROTECTEDSESSION DxgkDdiCreateProtectedSession;
    PDXGKDDI_DESTROYPROTECTEDSESSION DxgkDdiDestroyProtectedSession;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_4)
    PDXGKDDI_SETSCHEDULINGLOGBUFFER DxgkDdiSetSchedulingLogBuffer;
    PDXGKDDI_SETUPPRIORITYBANDS DxgkDdiSetupPriorityBands;
    PDXGKDDI_NOTIFYFOCUSPRESENT DxgkDdiNotifyFocusPresent;
    PDXGKDDI_SETCONTEXTSCHEDULINGPROPERTIES DxgkDdiSetContextSchedulingProperties;
    PDXGKDDI_SUSPENDCONTEXT DxgkDdiSuspendContext;
    PDXGKDDI_RESUMECONTEXT DxgkDdiResumeContext;
    PDXGKDDI_SETVIRTUALMACHINEDATA DxgkDdiSetVirtualMachineData;
    PDXGKDDI_BEGINEXCLUSIVEACCESS DxgkDdiBeginExclusiveAccess;
    PDXGKDDI_ENDEXCLUSIVEACCESS DxgkDdiEndExclusiveAccess;
    PDXGKDDI_QUERYDIAGNOSTICTYPESSUPPORT DxgkDdiQueryDiagnosticTypesSupport;
    PDXGKDDI_CONTROLDIAGNOSTICREPORTING DxgkDdiControlDiagnosticReporting;
    PDXGKDDI_RESUMEHWENGINE DxgkDdiResumeHwEngine;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_5)
    PDXGKDDI_SIGNALMONITOREDFENCE DxgkDdiSignalMonitoredFence;
    PDXGKDDI_PRESENTTOHWQUEUE DxgkDdiPresentToHwQueue;
    PDXGKDDI_VALIDATESUBMITCOMMAND DxgkDdiValidateSubmitCommand;
    PDXGKDDI_SETTARGETADJUSTEDCOLORIMETRY2 DxgkDdiSetTargetAdjustedColorimetry2;
    PDXGKDDI_SETTRACKEDWORKLOADPOWERLEVEL DxgkDdiSetTrackedWorkloadPowerLevel;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_6)
    PDXGKDDI_SAVEMEMORYFORHOTUPDATE DxgkDdiSaveMemoryForHotUpdate;
    PDXGKDDI_RESTOREMEMORYFORHOTUPDATE DxgkDdiRestoreMemoryForHotUpdate;
    PDXGKDDI_COLLECTDIAGNOSTICINFO DxgkDdiCollectDiagnosticInfo;
    void *Reserved3;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_7)
    PDXGKDDI_CONTROLINTERRUPT3 DxgkDdiControlInterrupt3;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_9)
    PDXGKDDI_SETFLIPQUEUELOGBUFFER DxgkDdiSetFlipQueueLogBuffer;
    PDXGKDDI_UPDATEFLIPQUEUELOG DxgkDdiUpdateFlipQueueLog;
    PDXGKDDI_CANCELQUEUEDFLIPS DxgkDdiCancelQueuedFlips;
    PDXGKDDI_SETINTERRUPTTARGETPRESENTID DxgkDdiSetInterruptTargetPresentId;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM3_0)
    PDXGKDDI_SETALLOCATIONBACKINGSTORE DxgkDdiSetAllocationBackingStore;
    PDXGKDDI_CREATECPUEVENT DxgkDdiCreateCpuEvent;
    PDXGKDDI_DESTROYCPUEVENT DxgkDdiDestroyCpuEvent;
    PDXGKDDI_CANCELFLIPS DxgkDdiCancelFlips;
#endif
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM3_1)
    PDXGKDDI_CREATENATIVEFENCE DxgkDdiCreateNativeFence;
    PDXGKDDI_DESTROYNATIVEFENCE DxgkDdiDestroyNativeFence;
    PDXGKDDI_UPDATEMONITOREDVALUES DxgkDdiUpdateMonitoredValues;
    PDXGKDDI_NOTIFYCURRENTVALUEUPDATES DxgkDdiNotifyCurrentValueUpdates;
    PDXGKDDI_CREATEDOORBELL DxgkDdiCreateDoorbell;
    PDXGKDDI_CONNECTDOORBELL DxgkDdiConnectDoorbell;
    PDXGKDDI_DISCONNECTDOORBELL DxgkDdiDisconnectDoorbell;
    PDXGKDDI_DESTROYDOORBELL DxgkDdiDestroyDoorbell;
    PDXGKDDI_NOTIFYWORKSUBMISSION DxgkDdiNotifyWorkSubmission;
    PDXGKDDI_FLUSHHWQUEUE DxgkDdiFlushHwQueue;
#endif
} DRIVER_INITIALIZATION_DATA, *PDRIVER_INITIALIZATION_DATA;

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WIN8)

/* The entry points of a display-only miniport, for DxgkInitializeDisplayOnlyDriver. */
typedef struct _KMDDOD_INITIALIZATION_DATA {
    ULONG Version;
    PDXGKDDI_ADD_DEVICE DxgkDdiAddDevice;
    PDXGKDDI_START_DEVICE DxgkDdiStartDevice;
    PDXGKDDI_STOP_DEVICE DxgkDdiStopDevice;
    PDXGKDDI_REMOVE_DEVICE DxgkDdiRemoveDevice;
    PDXGKDDI_DISPATCH_IO_REQUEST DxgkDdiDispatchIoRequest;
    PDXGKDDI_INTERRUPT_ROUTINE DxgkDdiInterruptRoutine;
    PDXGKDDI_DPC_ROUTINE DxgkDdiDpcRoutine;
    PDXGKDDI_QUERY_CHILD_RELATIONS DxgkDdiQueryChildRelations;
    PDXGKDDI_QUERY_CHILD_STATUS DxgkDdiQueryChildStatus;
    PDXGKDDI_QUERY_DEVICE_DESCRIPTOR DxgkDdiQueryDeviceDescriptor;
    PDXGKDDI_SET_POWER_STATE DxgkDdiSetPowerState;
    PDXGKDDI_NOTIFY_ACPI_EVENT DxgkDdiNotifyAcpiEvent;
    PDXGKDDI_RESET_DEVICE DxgkDdiResetDevice;
    PDXGKDDI_UNLOAD DxgkDdiUnload;
    PDXGKDDI_QUERY_INTERFACE DxgkDdiQueryInterface;
    PDXGKDDI_CONTROL_ETW_LOGGING DxgkDdiControlEtwLogging;
    PDXGKDDI_QUERYADAPTERINFO DxgkDdiQueryAdapterInfo;
    PDXGKDDI_SETPALETTE DxgkDdiSetPalette;
    PDXGKDDI_SETPOINTERPOSITION DxgkDdiSetPointerPosition;
    PDXGKDDI_SETPOINTERSHAPE DxgkDdiSetPointerShape;
    PDXGKDDI_ESCAPE DxgkDdiEscape;
    PDXGKDDI_COLLECTDBGINFO DxgkDdiCollectDbgInfo;
    PDXGKDDI_ISSUPPORTEDVIDPN DxgkDdiIsSupportedVidPn;
    PDXGKDDI_RECOMMENDFUNCTIONALVIDPN DxgkDdiRecommendFunctionalVidPn;
    PDXGKDDI_ENUMVIDPNCOFUNCMODALITY DxgkDdiEnumVidPnCofuncModality;
    PDXGKDDI_SETVIDPNSOURCEVISIBILITY DxgkDdiSetVidPnSourceVisibility;
    PDXGKDDI_COMMITVIDPN DxgkDdiCommitVidPn;
    PDXGKDDI_UPDATEACTIVEVIDPNPRESENTPATH DxgkDdiUpdateActiveVidPnPresentPath;
    PDXGKDDI_RECOMMENDMONITORMODES DxgkDdiRecommendMonitorModes;
    PDXGKDDI_GETSCANLINE DxgkDdiGetScanLine;
    PDXGKDDI_QUERYVIDPNHWCAPABILITY DxgkDdiQueryVidPnHWCapability;
    PDXGKDDI_PRESENTDISPLAYONLY DxgkDdiPresentDisplayOnly;
    PDXGKDDI_STOP_DEVICE_AND_RELEASE_POST_DISPLAY_OWNERSHIP DxgkDdiStopDeviceAndReleasePostDisplayOwnership;
    PDXGKDDI_SYSTEM_DISPLAY_ENABLE DxgkDdiSystemDisplayEnable;
    PDXGKDDI_SYSTEM_DISPLAY_WRITE DxgkDdiSystemDisplayWrite;
    PDXGKDDI_GET_CHILD_CONTAINER_ID DxgkDdiGetChildContainerId;
    PDXGKDDI_CONTROLINTERRUPT DxgkDdiControlInterrupt;
    PDXGKDDISETPOWERCOMPONENTFSTATE DxgkDdiSetPowerComponentFState;
    PDXGKDDIPOWERRUNTIMECONTROLREQUEST DxgkDdiPowerRuntimeControlRequest;
    PDXGKDDI_NOTIFY_SURPRISE_REMOVAL DxgkDdiNotifySurpriseRemoval;
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_0)
    PDXGKDDI_POWERRUNTIMESETDEVICEHANDLE DxgkDdiPowerRuntimeSetDeviceHandle;
#endif
} KMDDOD_INITIALIZATION_DATA, *PKMDDOD_INITIALIZATION_DATA;

#endif

typedef enum _DEBUG_LEVEL {
    DlDebugError = 0,
    DlDebugWarning = 1,
    DlDebugTrace = 2,
    DlDebugInfo = 3,
} DEBUG_LEVEL;

/* Called once, from DriverEntry. */
NTSTATUS NTAPI DxgkInitialize(
    PDRIVER_OBJECT DriverObject,
    PUNICODE_STRING RegistryPath,
    PDRIVER_INITIALIZATION_DATA DriverInitializationData);

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WIN8)

NTSTATUS NTAPI DxgkInitializeDisplayOnlyDriver(
    PDRIVER_OBJECT DriverObject,
    PUNICODE_STRING RegistryPath,
    PKMDDOD_INITIALIZATION_DATA KmdDodInitializationData);

#endif

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_0)

NTSTATUS NTAPI DxgkUnInitialize(PDRIVER_OBJECT DriverObject);

#endif

PVOID NTAPI DlAllocateCommonBuffer(
    PVOID DeviceHandle,
    PVP_DMA_ADAPTER DlpDmaAdapter,
    ULONG DesiredLength,
    PPHYSICAL_ADDRESS LogicalAddress,
    BOOLEAN CacheEnabled,
    PVOID Reserved);

PVOID NTAPI DlAllocatePool(
    PVOID DeviceHandle,
    VP_POOL_TYPE PoolType,
    SIZE_T NumberOfBytes,
    ULONG Tag);

void NTAPI DlClearEvent(PVOID DeviceHandle, PEVENT pEvent);

VP_STATUS NTAPI DlCreateEvent(PVOID DeviceHandle, ULONG EventFlag, PVOID Unused, PEVENT *ppEvent);

void NTAPI DlDebugPrint(DEBUG_LEVEL DebugPrintLevel, PSTR DebugMessage, ...);

VP_STATUS NTAPI DlDeleteEvent(PVOID DeviceHandle, PEVENT pEvent);

VP_STATUS NTAPI DlEnumerateChildren(PVOID DeviceHandle, PVOID Reserved);

void NTAPI DlFreeDeviceBase(PVOID DeviceHandle, PVOID MappedAddress);

void NTAPI DlFreePool(PVOID DeviceHandle, PVOID Ptr);

NTSTATUS NTAPI DlGetAccessRanges(
    PVOID DeviceHandle,
    ULONG NumRequestedResources,
    PIO_RESOURCE_DESCRIPTOR RequestedResources,
    ULONG NumAccessRanges,
    PVIDEO_ACCESS_RANGE AccessRanges,
    PVOID VendorId,
    PVOID DeviceId,
    PULONG Slot);

PVOID NTAPI DlGetAssociatedDeviceExtension(PVOID DeviceObject);

PVOID NTAPI DlGetDeviceBase(
    PVOID DeviceHandle,
    PHYSICAL_ADDRESS IoAddress,
    ULONG NumberOfUchars,
    UCHAR InIoSpace);

PVP_DMA_ADAPTER NTAPI DlGetDmaAdapter(
    PVOID DeviceHandle,
    PVP_DEVICE_DESCRIPTION DlpDeviceDescription);

VP_STATUS NTAPI DlGetRegistryParameters(
    PVOID DeviceHandle,
    PWSTR ParameterName,
    UCHAR IsParameterFileName,
    PMINIPORT_GET_REGISTRY_ROUTINE CallbackRoutine,
    PVOID Context);

PVOID NTAPI DlGetRomImage(PVOID DeviceHandle, PVOID Unused1, ULONG Unused2, ULONG Length);

VP_STATUS NTAPI DlGetVersion(PVOID DeviceHandle, PVPOSVERSIONINFO pDlpOsVersionInfo);

PVOID NTAPI DlLockBuffer(
    PVOID DeviceHandle,
    PVOID BaseAddress,
    ULONG Length,
    VP_LOCK_OPERATION Operation);

void NTAPI DlLogError(
    PVOID DeviceHandle,
    PVIDEO_REQUEST_PACKET Vrp,
    VP_STATUS ErrorCode,
    ULONG UniqueId);

VP_STATUS NTAPI DlMapMemory(
    PVOID DeviceHandle,
    PHYSICAL_ADDRESS TranslatedAddress,
    PULONG Length,
    PULONG InIoSpace,
    PVOID *VirtualAddress);

LONGLONG NTAPI DlQueryPerformanceCounter(PVOID pDeviceHandle, PLONGLONG pllPerformanceFrequency);

void NTAPI DlReleaseCommonBuffer(
    PVOID DeviceHandle,
    PVP_DMA_ADAPTER DlpDmaAdapter,
    ULONG Length,
    PHYSICAL_ADDRESS LogicalAddress,
    PVOID VirtualAddress,
    BOOLEAN CacheEnabled);

BOOLEAN NTAPI DlScanRom(PVOID DeviceHandle, PUCHAR RomBase, ULONG RomLength, PUCHAR String);

LONG NTAPI DlSetEvent(PVOID DeviceHandle, PEVENT pEvent);

VP_STATUS NTAPI DlSetRegistryParameters(
    PVOID DeviceHandle,
    PWSTR ValueName,
    PVOID ValueData,
    ULONG ValueLength);

VP_STATUS NTAPI DlSetTrappedEmulatorPorts(
    PVOID DeviceHandle,
    ULONG NumAccessRanges,
    PVIDEO_ACCESS_RANGE AccessRange);

void NTAPI DlStopTimer(PVOID DeviceHandle);

void NTAPI DlUnlockBuffer(PVOID DeviceHandle, PVOID Mdl);

VP_STATUS NTAPI DlVerifyAccessRanges(
    PVOID DeviceHandle,
    ULONG NumAccessRanges,
    PVIDEO_ACCESS_RANGE AccessRanges);

VP_STATUS NTAPI DlWaitForSingleObject(PVOID DeviceHandle, PVOID pEvent, PLARGE_INTEGER Timeout);

VP_STATUS NTAPI DlDisableInterrupt(PVOID DeviceHandle);

VP_STATUS NTAPI DlEnableInterrupt(PVOID DeviceHandle);

NTSTATUS NTAPI DlEvalAcpiMethod(
    HANDLE DeviceHandle,
    ULONG DeviceUid,
    PACPI_EVAL_INPUT_BUFFER_COMPLEX AcpiInputBuffer,
    ULONG AcpiInputSize,
    PACPI_EVAL_OUTPUT_BUFFER AcpiOutputBuffer,
    ULONG AcpiOutputSize);

NTSTATUS NTAPI DlGetDeviceInformation(PVOID DeviceHandle, PDXGK_DEVICE_INFO DeviceInfo);

NTSTATUS NTAPI DlIndicateChildStatus(PVOID DeviceHandle, PDXGK_CHILD_STATUS ChildStatus);

NTSTATUS NTAPI DlMapMemoryEx(
    PVOID DeviceHandle,
    PHYSICAL_ADDRESS TranslatedAddress,
    PULONG Length,
    PULONG InIoSpace,
    HANDLE ProcessHandle,
    PVOID *VirtualAddress,
    BOOLEAN MapToUserMode);

NTSTATUS NTAPI DlQueryServices(
    PVOID DeviceHandle,
    VIDEO_PORT_SERVICES ServicesType,
    PINTERFACE Interface);

BOOLEAN NTAPI DlQueueDpc(PVOID DeviceHandle);

ULONG NTAPI DlReadDeviceSpace(
    PVOID DeviceHandle,
    ULONG DataType,
    ULONG SlotNumber,
    PVOID Buffer,
    ULONG Offset,
    ULONG Length);

ULONG NTAPI DlSetBusData(
    PVOID DeviceHandle,
    ULONG BusDataType,
    ULONG SlotNumber,
    PVOID Buffer,
    ULONG Offset,
    ULONG Length);

BOOLEAN NTAPI DlSynchronizeExecution(
    PVOID DeviceHandle,
    VIDEO_SYNCHRONIZE_PRIORITY Priority,
    PMINIPORT_SYNCHRONIZE_ROUTINE SynchronizeRoutine,
    PVOID Context,
    ULONG MessageNumber);

NTSTATUS NTAPI DlUnmapMemory(PVOID DeviceHandle, PVOID VirtualAddress, HANDLE ProcessHandle);

#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_1)

DEFINE_GUID(GUID_DXGKDDI_GPU_PARTITION_INTERFACE,
    0x462BC153, 0x40EB, 0x484A, 0x81, 0x68, 0x99, 0x72, 0xE3, 0xCD, 0x5A, 0xEF);

#define DXGK_VIRTUALIZED_ACS_CAPABLE         0x80
#define DXGK_VIRTUALIZED_UNIQUE_RID          0x100
#define DXGK_VIRTUALIZED_PARAVIRTUALIZED     0x400
#define DXGK_VIRTUALIZED_HOST_VIRTUAL_DEVICE 0x800

typedef struct _DXGKARG_GETGPUPARTITIONINFO {
    ULONG NumGpuPartitionOptions;
    USHORT *pGpuPartitionOptions;
    USHORT CurrentGpuPartitionCount;
} DXGKARG_GETGPUPARTITIONINFO, *PDXGKARG_GETGPUPARTITIONINFO;

typedef NTSTATUS NTAPI DXGKDDI_GETGPUPARTITIONINFO(
    HANDLE Context,
    DXGKARG_GETGPUPARTITIONINFO *pArgs);
typedef DXGKDDI_GETGPUPARTITIONINFO *PDXGKDDI_GETGPUPARTITIONINFO;

typedef enum _DXGK_VGPU_CAPABILITY_TYPE {
#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_1)
    DXGK_VGPU_CAPABILITY_MEMORY = 0,
    DXGK_VGPU_CAPABILITY_ENCODE = 1,
    DXGK_VGPU_CAPABILITY_DECODE = 2,
    DXGK_VGPU_CAPABILITY_COMPUTE = 3,
    DXGK_VGPU_CAPABILITY_MAX = 4,
#endif
} DXGK_VGPU_CAPABILITY_TYPE;

typedef struct _DXGK_VGPU_PROFILE_CAPABILITY {
    UINT64 TotalValue;
    UINT64 AvailableValue;
    UINT64 MinPartitionValue;
    UINT64 MaxPartitionValue;
    UINT64 OptimalPartitionValue;
} DXGK_VGPU_PROFILE_CAPABILITY, *PDXGK_VGPU_PROFILE_CAPABILITY;

typedef struct _DXGKARG_GETVIRTUALGPUPROFILE {
    ULONG PartitionCount;
    ULONG VirtualizationFlags;
    DXGK_VGPU_PROFILE_CAPABILITY ProfileCapability[4];
} DXGKARG_GETVIRTUALGPUPROFILE, *PDXGKARG_GETVIRTUALGPUPROFILE;

typedef NTSTATUS NTAPI DXGKDDI_GETVIRTUALGPUPROFILE(
    HANDLE Context,
    DXGKARG_GETVIRTUALGPUPROFILE *pArgs);
typedef DXGKDDI_GETVIRTUALGPUPROFILE *PDXGKDDI_GETVIRTUALGPUPROFILE;

typedef struct _DXGK_GPUENGINE {
    DXGK_ENGINE_TYPE EngineType;
    WCHAR Name[32];
    ULONG NumPartitionUnits;
} DXGK_GPUENGINE, *PDXGK_GPUENGINE;

typedef struct _DXGKARG_GETGPUENGINES {
    ULONG NumEngines;
    DXGK_GPUENGINE EngineInfo[1];
} DXGKARG_GETGPUENGINES, *PDXGKARG_GETGPUENGINES;

typedef NTSTATUS NTAPI DXGKDDI_GETGPUENGINES(HANDLE Context, DXGKARG_GETGPUENGINES *pArgs);
typedef DXGKDDI_GETGPUENGINES *PDXGKDDI_GETGPUENGINES;

typedef struct _DXGKARG_SETGPUPARTITIONCOUNT {
    ULONG PartitionCount;
} DXGKARG_SETGPUPARTITIONCOUNT, *PDXGKARG_SETGPUPARTITIONCOUNT;

typedef NTSTATUS NTAPI DXGKDDI_SETGPUPARTITIONCOUNT(
    HANDLE Context,
    DXGKARG_SETGPUPARTITIONCOUNT *pArgs);
typedef DXGKDDI_SETGPUPARTITIONCOUNT *PDXGKDDI_SETGPUPARTITIONCOUNT;

typedef struct _DXGK_VIRTUALGPUCAPABILITY {
    UINT64 MinValue;
    UINT64 MaxValue;
    UINT64 OptimalValue;
} DXGK_VIRTUALGPUCAPABILITY, *PDXGK_VIRTUALGPUCAPABILITY;

typedef struct _DXGK_VIRTUALGPUPROFILE {
    DXGK_VIRTUALGPUCAPABILITY Capability[4];
} DXGK_VIRTUALGPUPROFILE, *PDXGK_VIRTUALGPUPROFILE;

typedef struct _DXGK_VIRTUALGPUENGINEINFO {
    ULONG MinPartitionUnits;
    ULONG MaxPartitionUnits;
    ULONG EngineId;
} DXGK_VIRTUALGPUENGINEINFO, *PDXGK_VIRTUALGPUENGINEINFO;

typedef struct _DXGK_VIRTUALGPUSEGMENTINFO {
    ULONG DriverSegmentId;
    UINT64 Size;
    UINT Alignment;
    UINT64 MinSegmentOffset;
    UINT64 MaxSegmentOffset;
    UINT PrivateDriverData;
} DXGK_VIRTUALGPUSEGMENTINFO, *PDXGK_VIRTUALGPUSEGMENTINFO;

#define DXGK_MAX_VIRTUAL_GPU_ALLOCATIONS 32

typedef struct _DXGKARG_CREATEVIRTUALGPU {
    ULONG PartitionId;
    DXGK_VIRTUALGPUPROFILE Profile;
    CLSID UserModeVirtualDeviceProvider;
    LUID VirtualGpuLuid;
    ULONG NumMemorySegments;
    DXGK_VIRTUALGPUSEGMENTINFO SegmentInfo[32];
    ULONG NumEngines;
    DXGK_VIRTUALGPUENGINEINFO EngineInfo[64];
} DXGKARG_CREATEVIRTUALGPU, *PDXGKARG_CREATEVIRTUALGPU;

typedef NTSTATUS NTAPI DXGKDDI_CREATEVIRTUALGPU(HANDLE Context, DXGKARG_CREATEVIRTUALGPU *pArgs);
typedef DXGKDDI_CREATEVIRTUALGPU *PDXGKDDI_CREATEVIRTUALGPU;

typedef struct _DXGK_VGPU_CAPABILITY {
    UINT64 MinValue;
    UINT64 MaxValue;
    UINT64 CurrentValue;
} DXGK_VGPU_CAPABILITY, *PDXGK_VGPU_CAPABILITY;

typedef struct _DXGKARG_GETVIRTUALGPUINFO {
    ULONG PartitionId;
    DXGK_VGPU_CAPABILITY Capability[4];
} DXGKARG_GETVIRTUALGPUINFO, *PDXGKARG_GETVIRTUALGPUINFO;

typedef NTSTATUS NTAPI DXGKDDI_GETVIRTUALGPUINFO(HANDLE Context, DXGKARG_GETVIRTUALGPUINFO *pArgs);
typedef DXGKDDI_GETVIRTUALGPUINFO *PDXGKDDI_GETVIRTUALGPUINFO;

typedef struct _DXGKARG_SETVIRTUALGPUVMBUS {
    ULONG VirtualGpuIndex;
    HANDLE VmBusHandle;
} DXGKARG_SETVIRTUALGPUVMBUS, *PDXGKARG_SETVIRTUALGPUVMBUS;

typedef NTSTATUS NTAPI DXGKDDI_SETVIRTUALGPUVMBUS(
    HANDLE Context,
    DXGKARG_SETVIRTUALGPUVMBUS *pArgs);
typedef DXGKDDI_SETVIRTUALGPUVMBUS *PDXGKDDI_SETVIRTUALGPUVMBUS;

typedef struct _DXGK_GPU_PHYSICAL_ADDRESS {
    ULONG MemorySegmentId;
    UINT64 MemorySegmentOffset;
} DXGK_GPU_PHYSICAL_ADDRESS, *PDXGK_GPU_PHYSICAL_ADDRESS;

typedef struct _DXGK_VIRTUALGPUMEMORYRESOURCE {
    HANDLE DriverAllocationHandle;
    DXGK_GPU_PHYSICAL_ADDRESS AllocationAddress;
    UINT64 AllocationSize;
} DXGK_VIRTUALGPUMEMORYRESOURCE, *PDXGK_VIRTUALGPUMEMORYRESOURCE;

typedef struct _DXGKARG_SETVIRTUALGPURESOURCES {
    ULONG PartitionId;
    ULONG NumMemoryAllocations;
    DXGK_VIRTUALGPUMEMORYRESOURCE MemoryInfo[1];
} DXGKARG_SETVIRTUALGPURESOURCES, *PDXGKARG_SETVIRTUALGPURESOURCES;

typedef NTSTATUS NTAPI DXGKDDI_SETVIRTUALGPURESOURCES(
    HANDLE Context,
    DXGKARG_SETVIRTUALGPURESOURCES *pArgs);
typedef DXGKDDI_SETVIRTUALGPURESOURCES *PDXGKDDI_SETVIRTUALGPURESOURCES;

typedef struct _DXGKARG_DESTROYVIRTUALGPU {
    ULONG PartitionId;
} DXGKARG_DESTROYVIRTUALGPU, *PDXGKARG_DESTROYVIRTUALGPU;

typedef NTSTATUS NTAPI DXGKDDI_DESTROYVIRTUALGPU(HANDLE Context, DXGKARG_DESTROYVIRTUALGPU *pArgs);
typedef DXGKDDI_DESTROYVIRTUALGPU *PDXGKDDI_DESTROYVIRTUALGPU;

typedef struct _DXGKARG_SUSPENDVIRTUALGPU {
    ULONG PartitionId;
} DXGKARG_SUSPENDVIRTUALGPU, *PDXGKARG_SUSPENDVIRTUALGPU;

typedef NTSTATUS NTAPI DXGKDDI_SUSPENDVIRTUALGPU(HANDLE Context, DXGKARG_SUSPENDVIRTUALGPU *pArgs);
typedef DXGKDDI_SUSPENDVIRTUALGPU *PDXGKDDI_SUSPENDVIRTUALGPU;

typedef struct _DXGKARG_RESUMEVIRTUALGPU {
    ULONG PartitionId;
} DXGKARG_RESUMEVIRTUALGPU, *PDXGKARG_RESUMEVIRTUALGPU;

typedef NTSTATUS NTAPI DXGKDDI_RESUMEVIRTUALGPU(HANDLE Context, DXGKARG_RESUMEVIRTUALGPU *pArgs);
typedef DXGKDDI_RESUMEVIRTUALGPU *PDXGKDDI_RESUMEVIRTUALGPU;

typedef struct _DXGK_VIRTUALGPUDRIVERESCAPE {
    ULONG PartitionId;
    ULONG InputBufferSize;
    ULONG OutputBufferSize;
    PVOID pInputBuffer;
    PVOID pOutputBuffer;
} DXGK_VIRTUALGPUDRIVERESCAPE, *PDXGK_VIRTUALGPUDRIVERESCAPE;

typedef NTSTATUS NTAPI DXGKDDI_VIRTUALGPUDRIVERESCAPE(
    HANDLE Context,
    PDXGK_VIRTUALGPUDRIVERESCAPE pArgs);
typedef DXGKDDI_VIRTUALGPUDRIVERESCAPE *PDXGKDDI_VIRTUALGPUDRIVERESCAPE;

typedef struct _DXGKDDI_GPU_PARTITION_INTERFACE {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    PDXGKDDI_GETGPUPARTITIONINFO DxgkDdiGetGpuPartitionInfo;
    PDXGKDDI_SETGPUPARTITIONCOUNT DxgkDdiSetGpuPartitionCount;
    PDXGKDDI_GETGPUENGINES DxgkDdiGetGpuEngines;
    PDXGKDDI_GETVIRTUALGPUPROFILE DxgkDdiGetVirtualGpuProfile;
    PDXGKDDI_CREATEVIRTUALGPU DxgkDdiCreateVirtualGpu;
    PDXGKDDI_GETVIRTUALGPUINFO DxgkDdiGetVirtualGpuInfo;
    PDXGKDDI_SETVIRTUALGPURESOURCES DxgkDdiSetVirtualGpuResources;
    PDXGKDDI_DESTROYVIRTUALGPU DxgkDdiDestroyVirtualGpu;
    PDXGKDDI_SUSPENDVIRTUALGPU DxgkDdiSuspendVirtualGpu;
    PDXGKDDI_RESUMEVIRTUALGPU DxgkDdiResumeVirtualGpu;
    PDXGKDDI_VIRTUALGPUDRIVERESCAPE DxgkDdiVirtualGpuDriverEscape;
    PDXGKDDI_SETVIRTUALGPUVMBUS DxgkDdiSetVirtualGpuVmBus;
} DXGKDDI_GPU_PARTITION_INTERFACE, *PDXGKDDI_GPU_PARTITION_INTERFACE;

#define DXGKDDI_GPU_PARTITION_INTERFACE_VERSION 1

DEFINE_GUID(GUID_DXGKDDI_SRIOV_INTERFACE,
    0xD7172248, 0xF296, 0x4C50, 0xA6, 0xF5, 0xD2, 0x5D, 0x80, 0x73, 0x06, 0x3A);

typedef struct _DXGKARG_READVIRTUALFUNCTIONCONFIG {
    PVOID Data;
    ULONG VirtualFunctionIndex;
    ULONG Offset;
    ULONG Length;
} DXGKARG_READVIRTUALFUNCTIONCONFIG, *PDXGKARG_READVIRTUALFUNCTIONCONFIG;

typedef NTSTATUS NTAPI DXGKDDI_READVIRTUALFUNCTIONCONFIG(
    HANDLE Context,
    DXGKARG_READVIRTUALFUNCTIONCONFIG *pArgs);
typedef DXGKDDI_READVIRTUALFUNCTIONCONFIG *PDXGKDDI_READVIRTUALFUNCTIONCONFIG;

typedef struct _DXGKARG_WRITEVIRTUALFUNCTIONCONFIG {
    PVOID Data;
    ULONG VirtualFunctionIndex;
    ULONG Offset;
    ULONG Length;
} DXGKARG_WRITEVIRTUALFUNCTIONCONFIG, *PDXGKARG_WRITEVIRTUALFUNCTIONCONFIG;

typedef NTSTATUS NTAPI DXGKDDI_WRITEVIRTUALFUNCTIONCONFIG(
    HANDLE Context,
    DXGKARG_WRITEVIRTUALFUNCTIONCONFIG *pArgs);
typedef DXGKDDI_WRITEVIRTUALFUNCTIONCONFIG *PDXGKDDI_WRITEVIRTUALFUNCTIONCONFIG;

typedef struct _DXGKARG_READVIRTUALFUNCTIONCONFIGBLOCK {
    PVOID Data;
    ULONG VirtualFunctionIndex;
    ULONG BlockId;
    ULONG Length;
} DXGKARG_READVIRTUALFUNCTIONCONFIGBLOCK, *PDXGKARG_READVIRTUALFUNCTIONCONFIGBLOCK;

typedef NTSTATUS NTAPI DXGKDDI_READVIRTUALFUNCTIONCONFIGBLOCK(
    HANDLE Context,
    DXGKARG_READVIRTUALFUNCTIONCONFIGBLOCK *pArgs);
typedef DXGKDDI_READVIRTUALFUNCTIONCONFIGBLOCK *PDXGKDDI_READVIRTUALFUNCTIONCONFIGBLOCK;

typedef struct _DXGKARG_WRITEVIRTUALFUNCTIONCONFIGBLOCK {
    PVOID Data;
    ULONG VirtualFunctionIndex;
    ULONG BlockId;
    ULONG Length;
} DXGKARG_WRITEVIRTUALFUNCTIONCONFIGBLOCK, *PDXGKARG_WRITEVIRTUALFUNCTIONCONFIGBLOCK;

typedef NTSTATUS NTAPI DXGKDDI_WRITEVIRTUALFUNCTIONCONFIGBLOCK(
    HANDLE Context,
    DXGKARG_WRITEVIRTUALFUNCTIONCONFIGBLOCK *pArgs);
typedef DXGKDDI_WRITEVIRTUALFUNCTIONCONFIGBLOCK *PDXGKDDI_WRITEVIRTUALFUNCTIONCONFIGBLOCK;

#define DXGK_MAX_NUM_PCI_BARS 6

typedef struct _DXGKARG_QUERYPROBEDBARS {
    ULONG VirtualFunctionIndex;
    PULONG BaseRegisterValues;
} DXGKARG_QUERYPROBEDBARS, *PDXGKARG_QUERYPROBEDBARS;

typedef void NTAPI DXGKDDI_QUERYPROBEDBARS(HANDLE Context, DXGKARG_QUERYPROBEDBARS *pArgs);
typedef DXGKDDI_QUERYPROBEDBARS *PDXGKDDI_QUERYPROBEDBARS;

typedef struct _DXGKARG_QUERYVIRTUALFUNCTIONLUID {
    ULONG VirtualFunctionIndex;
    PLUID pLuid;
} DXGKARG_QUERYVIRTUALFUNCTIONLUID, *PDXGKARG_QUERYVIRTUALFUNCTIONLUID;

typedef void NTAPI DXGKDDI_QUERYVIRTUALFUNCTIONLUID(
    HANDLE Context,
    DXGKARG_QUERYVIRTUALFUNCTIONLUID *pArgs);
typedef DXGKDDI_QUERYVIRTUALFUNCTIONLUID *PDXGKDDI_QUERYVIRTUALFUNCTIONLUID;

typedef struct _DXGKARG_GETVENDORANDDEVICE {
    ULONG VirtualFunctionIndex;
    USHORT VendorId;
    USHORT DeviceId;
} DXGKARG_GETVENDORANDDEVICE, *PDXGKARG_GETVENDORANDDEVICE;

typedef void NTAPI DXGKDDI_GETVENDORANDDEVICE(HANDLE Context, DXGKARG_GETVENDORANDDEVICE *pArgs);
typedef DXGKDDI_GETVENDORANDDEVICE *PDXGKDDI_GETVENDORANDDEVICE;

typedef struct _DXGKARG_GETDEVICELOCATION {
    ULONG VirtualFunctionIndex;
    ULONG SegmentNumber;
    ULONG BusNumber;
    ULONG FunctionNumber;
} DXGKARG_GETDEVICELOCATION, *PDXGKARG_GETDEVICELOCATION;

typedef void NTAPI DXGKDDI_GETDEVICELOCATION(HANDLE Context, DXGKARG_GETDEVICELOCATION *pArgs);
typedef DXGKDDI_GETDEVICELOCATION *PDXGKDDI_GETDEVICELOCATION;

typedef struct _DXGKARG_RESETVIRTUALFUNCTION {
    ULONG VirtualFunctionIndex;
} DXGKARG_RESETVIRTUALFUNCTION, *PDXGKARG_RESETVIRTUALFUNCTION;

typedef NTSTATUS NTAPI DXGKDDI_RESETVIRTUALFUNCTION(
    HANDLE Context,
    DXGKARG_RESETVIRTUALFUNCTION *pArgs);
typedef DXGKDDI_RESETVIRTUALFUNCTION *PDXGKDDI_RESETVIRTUALFUNCTION;

typedef struct _DXGKARG_SETVIRTUALFUNCTIONPOWERSTATE {
    ULONG VirtualFunctionIndex;
    DEVICE_POWER_STATE PowerState;
    BOOLEAN Wake;
} DXGKARG_SETVIRTUALFUNCTIONPOWERSTATE, *PDXGKARG_SETVIRTUALFUNCTIONPOWERSTATE;

typedef NTSTATUS NTAPI DXGKDDI_SETVIRTUALFUNCTIONPOWERSTATE(
    HANDLE Context,
    DXGKARG_SETVIRTUALFUNCTIONPOWERSTATE *pArgs);
typedef DXGKDDI_SETVIRTUALFUNCTIONPOWERSTATE *PDXGKDDI_SETVIRTUALFUNCTIONPOWERSTATE;

typedef struct _DXGKARG_GETRESOURCEFORBAR {
    ULONG VirtualFunctionIndex;
    ULONG BarIndex;
    PCM_PARTIAL_RESOURCE_DESCRIPTOR pResource;
} DXGKARG_GETRESOURCEFORBAR, *PDXGKARG_GETRESOURCEFORBAR;

typedef NTSTATUS NTAPI DXGKDDI_GETRESOURCEFORBAR(HANDLE Context, DXGKARG_GETRESOURCEFORBAR *pArgs);
typedef DXGKDDI_GETRESOURCEFORBAR *PDXGKDDI_GETRESOURCEFORBAR;

typedef struct _DXGKDDI_SRIOV_INTERFACE {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    PDXGKDDI_READVIRTUALFUNCTIONCONFIG DxgkDdiReadVirtualFunctionConfig;
    PDXGKDDI_WRITEVIRTUALFUNCTIONCONFIG DxgkDdiWriteVirtualFunctionConfig;
    PDXGKDDI_READVIRTUALFUNCTIONCONFIGBLOCK DxgkDdiReadVirtualFunctionConfigBlock;
    PDXGKDDI_WRITEVIRTUALFUNCTIONCONFIGBLOCK DxgkDdiWriteVirtualFunctionConfigBlock;
    PDXGKDDI_QUERYPROBEDBARS DxgkDdiQueryProbedBars;
    PDXGKDDI_GETVENDORANDDEVICE DxgkDdiGetVendorAndDevice;
    PDXGKDDI_GETDEVICELOCATION DxgkDdiGetDeviceLocation;
    PDXGKDDI_RESETVIRTUALFUNCTION DxgkDdiResetVirtualFunction;
    PDXGKDDI_SETVIRTUALFUNCTIONPOWERSTATE DxgkDdiSetVirtualFunctionPowerState;
    PDXGKDDI_GETRESOURCEFORBAR DxgkDdiGetResourceForBar;
    PDXGKDDI_QUERYVIRTUALFUNCTIONLUID DxgkDdiQueryVirtualFunctionLuid;
} DXGKDDI_SRIOV_INTERFACE, *PDXGKDDI_SRIOV_INTERFACE;

#define DXGKDDI_SRIOV_INTERFACE_VERSION 1

DEFINE_GUID(GUID_DXGKDDI_MITIGABLE_DEVICE_INTERFACE,
    0x1387F270, 0x121A, 0x4A4A, 0xB2, 0x5E, 0x3B, 0x15, 0x89, 0x97, 0x6C, 0x61);

typedef struct _DXGKARG_QUERYMITIGATEDRANGECOUNT {
    ULONG VirtualFunctionIndex;
    ULONG RangeCount[6];
} DXGKARG_QUERYMITIGATEDRANGECOUNT, *PDXGKARG_QUERYMITIGATEDRANGECOUNT;

typedef void NTAPI DXGKDDI_QUERYMITIGATEDRANGECOUNT(
    HANDLE Context,
    DXGKARG_QUERYMITIGATEDRANGECOUNT *pArgs);
typedef DXGKDDI_QUERYMITIGATEDRANGECOUNT *PDXGKDDI_QUERYMITIGATEDRANGECOUNT;

typedef struct _DXGK_MITIGATEDRANGEINFO {
    ULONG64 BasePageNumber;
    ULONG PageCount;
    BOOLEAN InterceptReads;
    BOOLEAN InterceptWrites;
} DXGK_MITIGATEDRANGEINFO, *PDXGK_MITIGATEDRANGEINFO;

typedef struct _DXGKARG_QUERYMITIGATEDRANGES {
    ULONG VirtualFunctionIndex;
    ULONG BarIndex;
    ULONG NumRanges;
    PDXGK_MITIGATEDRANGEINFO pMitigatedRange;
} DXGKARG_QUERYMITIGATEDRANGES, *PDXGKARG_QUERYMITIGATEDRANGES;

typedef NTSTATUS NTAPI DXGKDDI_QUERYMITIGATEDRANGES(
    HANDLE Context,
    DXGKARG_QUERYMITIGATEDRANGES *pArgs);
typedef DXGKDDI_QUERYMITIGATEDRANGES *PDXGKDDI_QUERYMITIGATEDRANGES;

typedef struct _DXGKDDI_MITIGABLE_DEVICE_INTERFACE {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    PDXGKDDI_QUERYMITIGATEDRANGECOUNT DxgkDdiQueryMitigatedRangeCount;
    PDXGKDDI_QUERYMITIGATEDRANGES DxgkDdiQueryMitigatedRanges;
} DXGKDDI_MITIGABLE_DEVICE_INTERFACE, *PDXGKDDI_MITIGABLE_DEVICE_INTERFACE;

#define DXGKDDI_MITIGABLE_DEVICE_INTERFACE_VERSION 1

DEFINE_GUID(GUID_DXGKDDI_FLEXIOV_DEVICE_INTERFACE,
    0x7B73A997, 0x48E8, 0x4CAB, 0x9F, 0xAB, 0xE0, 0x77, 0x4B, 0x44, 0xF5, 0x99);

#define DXGKDDI_MAX_FLEXIOV_RESOURCES 32

typedef struct _DXGKARG_GETBACKINGRESOURCE {
    ULONG VirtualFunctionIndex;
    USHORT ResourceIndex;
    PCM_PARTIAL_RESOURCE_DESCRIPTOR Resource;
    PMDL pMdl;
} DXGKARG_GETBACKINGRESOURCE, *PDXGKARG_GETBACKINGRESOURCE;

typedef NTSTATUS NTAPI DXGKDDI_GETBACKINGRESOURCE(
    HANDLE Context,
    DXGKARG_GETBACKINGRESOURCE *pArgs);
typedef DXGKDDI_GETBACKINGRESOURCE *PDXGKDDI_GETBACKINGRESOURCE;

typedef struct _DXGKARG_GETMMIORANGECOUNT {
    ULONG VirtualFunctionIndex;
    ULONG RangeCount[6];
} DXGKARG_GETMMIORANGECOUNT, *PDXGKARG_GETMMIORANGECOUNT;

typedef NTSTATUS NTAPI DXGKDDI_GETMMIORANGECOUNT(HANDLE Context, DXGKARG_GETMMIORANGECOUNT *pArgs);
typedef DXGKDDI_GETMMIORANGECOUNT *PDXGKDDI_GETMMIORANGECOUNT;

#define DXGK_MMIO_RANGES_EMULATED_PAGE 0xFFFFFFFFFFFFFFFFULL

typedef struct _DXGK_MMIORANGEINFO {
    ULONG64 BasePageNumber;
    ULONG64 BasePhysicalPageNumber;
    UCHAR BasePhysicalResourceNumber;
    BOOLEAN InterceptReads;
    BOOLEAN InterceptWrites;
    ULONG PageCount;
} DXGK_MMIORANGEINFO, *PDXGK_MMIORANGEINFO;

typedef struct _DXGKARG_GETMMIORANGES {
    ULONG VirtualFunctionIndex;
    ULONG BarIndex;
    ULONG NumRanges;
    DXGK_MMIORANGEINFO *pMmioRanges;
} DXGKARG_GETMMIORANGES, *PDXGKARG_GETMMIORANGES;

typedef NTSTATUS NTAPI DXGKDDI_GETMMIORANGES(HANDLE Context, PDXGKARG_GETMMIORANGES pArgs);
typedef DXGKDDI_GETMMIORANGES *PDXGKDDI_GETMMIORANGES;

typedef struct _DXGKDDI_FLEXIOV_DEVICE_INTERFACE {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    PDXGKDDI_GETBACKINGRESOURCE DxgkDdiGetBackingResource;
    PDXGKDDI_GETMMIORANGECOUNT DxgkDdiGetMmioRangeCount;
    PDXGKDDI_GETMMIORANGES DxgkDdiGetMmioRanges;
} DXGKDDI_FLEXIOV_DEVICE_INTERFACE, *PDXGKDDI_FLEXIOV_DEVICE_INTERFACE;

#define DXGKDDI_FLEXIOV_DEVICE_INTERFACE_VERSION 1

#endif

DEFINE_GUID(GUID_DXGK_MIPI_DSI_INTERFACE,
    0x14F9DB8B, 0x85E1, 0x4AA5, 0x8D, 0xAF, 0xFF, 0x4A, 0x78, 0x06, 0xD5, 0xE9);

#define DXGK_MIPI_DSI_INTERFACE_VERSION_1 0x1

typedef struct _DXGK_DSI_CAPS {
    BYTE DSITypeMajor;
    BYTE DSITypeMinor;
    BYTE SpecVersionMajor;
    BYTE SpecVersionMinor;
    BYTE SpecVersionPatch;
    WORD TargetMaximumReturnPacketSize;
    BYTE ResultCodeFlags;
    BYTE ResultCodeStatus;
    BYTE Revision;
    BYTE Level;
    BYTE DeviceClassHi;
    BYTE DeviceClassLo;
    BYTE ManufacturerHi;
    BYTE ManufacturerLo;
    BYTE ProductHi;
    BYTE ProductLo;
    BYTE LengthHi;
    BYTE LengthLo;
} DXGK_DSI_CAPS, *PDXGK_DSI_CAPS;

typedef NTSTATUS NTAPI DXGKDDI_DSICAPS(
    HANDLE Context,
    D3DDDI_VIDEO_PRESENT_TARGET_ID TargetId,
    PDXGK_DSI_CAPS pArgs);
typedef DXGKDDI_DSICAPS *PDXGKDDI_DSICAPS;

typedef enum _DXGK_DSI_CONTROL_TRANSMISSION_MODE {
    DXGK_DCT_DEFAULT = 0,
    DXGK_DCT_FORCE_LOW_POWER = 1,
    DXGK_DCT_FORCE_HIGH_SPEED = 2,
} DXGK_DSI_CONTROL_TRANSMISSION_MODE;

#define DXGK_DSI_PACKET_EMBEDDED_PAYLOAD_SIZE 8

typedef struct _DXGK_DSI_PACKET {
    union {
        BYTE DataId;
        struct DXGK_MS_STRUCT {
            BYTE DataType : 6;
            BYTE VirtualChannel : 2;
        };
    };
    union {
        struct {
            BYTE Data0;
            BYTE Data1;
        };
        WORD LongWriteWordCount;
    };
    BYTE EccFiller;
    BYTE Payload[8];
} DXGK_DSI_PACKET, *PDXGK_DSI_PACKET;

typedef struct _DXGK_DSI_TRANSMISSION {
    UINT TotalBufferSize;
    BYTE PacketCount;
    BYTE FailedPacket;
    struct DXGK_MS_STRUCT {
        WORD TransmissionMode : 2;
        WORD ReportMipiErrors : 1;
        WORD ClearMipiErrors : 1;
        WORD SecondaryPort : 1;
        WORD ManufacturingMode : 1;
        WORD Reserved : 10;
    };
    WORD ReadWordCount;
    WORD FinalCommandExtraPayload;
    WORD MipiErrors;
    WORD HostErrors;
    DXGK_DSI_PACKET Packets[1];
} DXGK_DSI_TRANSMISSION, *PDXGK_DSI_TRANSMISSION;

#define DXGK_MAX_PACKET_COUNT                       0x80
#define DXGK_DSI_INVALID_PACKET_INDEX               0xFF
#define DXGK_DSI_SOT_ERROR                          0x1
#define DXGK_DSI_SOT_SYNC_ERROR                     0x2
#define DXGK_DSI_EOT_SYNC_ERROR                     0x4
#define DXGK_DSI_ESCAPE_MODE_ENTRY_COMMAND_ERROR    0x8
#define DXGK_DSI_LOW_POWER_TRANSMIT_SYNC_ERROR      0x10
#define DXGK_DSI_PERIPHERAL_TIMEOUT_ERROR           0x20
#define DXGK_DSI_FALSE_CONTROL_ERROR                0x40
#define DXGK_DSI_CONTENTION_DETECTED                0x80
#define DXGK_DSI_CHECKSUM_ERROR_CORRECTED           0x100
#define DXGK_DSI_CHECKSUM_ERROR_NOT_CORRECTED       0x200
#define DXGK_DSI_LONG_PACKET_PAYLOAD_CHECKSUM_ERROR 0x400
#define DXGK_DSI_DSI_DATA_TYPE_NOT_RECOGNIZED       0x800
#define DXGK_DSI_DSI_VC_ID_INVALID                  0x1000
#define DXGK_DSI_INVALID_TRANSMISSION_LENGTH        0x2000
#define DXGK_DSI_DSI_PROTOCOL_VIOLATION             0x8000
#define DXGK_HOST_DSI_DEVICE_NOT_READY              0x1
#define DXGK_HOST_DSI_INTERFACE_RESET               0x2
#define DXGK_HOST_DSI_DEVICE_RESET                  0x4
#define DXGK_HOST_DSI_TRANSMISSION_CANCELLED        0x10
#define DXGK_HOST_DSI_TRANSMISSION_DROPPED          0x20
#define DXGK_HOST_DSI_TRANSMISSION_TIMEOUT          0x40
#define DXGK_HOST_DSI_INVALID_TRANSMISSION          0x100
#define DXGK_HOST_DSI_OS_REJECTED_PACKET            0x200
#define DXGK_HOST_DSI_DRIVER_REJECTED_PACKET        0x400
#define DXGK_HOST_DSI_BAD_TRANSMISSION_MODE         0x1000

typedef NTSTATUS NTAPI DXGKDDI_DSITRANSMISSION(
    HANDLE Context,
    D3DDDI_VIDEO_PRESENT_TARGET_ID TargetId,
    PDXGK_DSI_TRANSMISSION pArgs);
typedef DXGKDDI_DSITRANSMISSION *PDXGKDDI_DSITRANSMISSION;

typedef struct _DXGK_DSI_RESET {
    UINT Flags;
    union {
        struct DXGK_MS_STRUCT {
            UINT MipiErrors : 16;
            UINT ResetFailed : 1;
            UINT NeedModeSet : 1;
        };
        UINT Results;
    };
} DXGK_DSI_RESET, *PDXGK_DSI_RESET;

typedef NTSTATUS NTAPI DXGKDDI_DSIRESET(
    HANDLE Context,
    D3DDDI_VIDEO_PRESENT_TARGET_ID TargetId,
    PDXGK_DSI_RESET pArgs);
typedef DXGKDDI_DSIRESET *PDXGKDDI_DSIRESET;

typedef struct _DXGK_MIPI_DSI_INTERFACE {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    PDXGKDDI_DSICAPS DxgkDdiDsiCaps;
    PDXGKDDI_DSITRANSMISSION DxgkDdiDsiTransmission;
    PDXGKDDI_DSIRESET DxgkDdiDsiReset;
} DXGK_MIPI_DSI_INTERFACE, *PDXGK_MIPI_DSI_INTERFACE;

DEFINE_GUID(GUID_DXGK_DISPLAY_DIAGNOSTICS_INTERFACE,
    0x962639F3, 0xE9DC, 0x42AB, 0x94, 0xEB, 0x06, 0x51, 0x6D, 0xEC, 0xA1, 0x26);

#define DXGK_DISPLAY_DIAGNOSTICS_INTERFACE_VERSION_1 0x1

typedef enum _DXGK_DIAG_DISPLAY_CONNECTIVITY {
    DXGK_DIAG_DISPLAY_CONNECTIVITY_UNINITIALIZED = 0,
    DXGK_DIAG_DISPLAY_NOT_CONNECTED = 1,
    DXGK_DIAG_DISPLAY_CONNECTED = 2,
} DXGK_DIAG_DISPLAY_CONNECTIVITY;

typedef enum _DXGK_DIAG_BASIC_DISPLAY_TOPOLOGY {
    DXGK_DIAG_BASIC_DISPLAY_TOPOLOGY_UNINITIALIZED = 0,
    DXGK_DIAG_DISPLAY_CONNECTED_DIRECTLY = 1,
    DXGK_DIAG_DISPLAY_CONNECTED_INDIRECTLY_CONVERTOR = 2,
    DXGK_DIAG_DISPLAY_CONNECTED_INDIRECTLY_HUB = 3,
    DXGK_DIAG_DISPLAY_CONNECTED_INDIRECTLY = 4,
    DXGK_DIAG_DISPLAY_CONNECTED_UNKNOWN = 5,
} DXGK_DIAG_BASIC_DISPLAY_TOPOLOGY;

typedef enum _DXGK_DIAG_DISPLAY_LINK_STATE {
    DXGK_DIAG_DISPLAY_LINK_STATE_UNINITIALIZED = 0,
    DXGK_DIAG_DISPLAY_LINK_STATE_NOTAPPLICABLE = 1,
    DXGK_DIAG_DISPLAY_LINK_STATE_STABLE = 2,
    DXGK_DIAG_DISPLAY_LINK_STATE_FAILED = 3,
    DXGK_DIAG_DISPLAY_LINK_STATE_CONTINUOUS_TRAINING = 4,
    DXGK_DIAG_DISPLAY_LINK_STATE_CONTINUOUS_TRAINING_STABLE = 5,
    DXGK_DIAG_DISPLAY_LINK_STATE_CONTINUOUS_TRAINING_FAILED = 6,
} DXGK_DIAG_DISPLAY_LINK_STATE;

typedef enum _DXGK_DIAG_DISPLAY_MODE_SET {
    DXGK_DIAG_DISPLAY_MODE_SET_UNINITIALIZED = 0,
    DXGK_DIAG_DISPLAY_MODE_SET_NO = 1,
    DXGK_DIAG_DISPLAY_MODE_SET_YES = 2,
} DXGK_DIAG_DISPLAY_MODE_SET;

typedef enum _DXGK_DIAG_DISPLAY_LID_STATE {
    DXGK_DIAG_DISPLAY_LID_STATE_UNINITIALIZED = 0,
    DXGK_DIAG_DISPLAY_LID_STATE_NOTAPPLICABLE = 1,
    DXGK_DIAG_DISPLAY_LID_STATE_OPEN = 2,
    DXGK_DIAG_DISPLAY_LID_STATE_CLOSE = 3,
    DXGK_DIAG_DISPLAY_LID_STATE_UNKNOWN = 4,
} DXGK_DIAG_DISPLAY_LID_STATE;

typedef enum _DXGK_DIAG_GETDISPLAYSTATE_SUBSTATUS_FLAGS {
    DXGK_DIAG_GETDISPLAYSTATE_SUCCESS = 0,
    DXGK_DIAG_GETDISPLAYSTATE_CAUSED_GLITCH = 1,
    DXGK_DIAG_GETDISPLAYSTATE_CHANGED_DISPLAY_STATE = 2,
    DXGK_DIAG_GETDISPLAYSTATE_MONITOR_NOT_CONNECTED = 4,
    DXGK_DIAG_GETDISPLAYSTATE_TIMEOUT = 8,
    DXGK_DIAG_GETDISPLAYSTATE_ERROR_HARDWARE = 16,
    DXGK_DIAG_GETDISPLAYSTATE_ERROR_DRIVER = 32,
    DXGK_DIAG_GETDISPLAYSTATE_VIDPNTARGETID_NOT_FOUND = 64,
} DXGK_DIAG_GETDISPLAYSTATE_SUBSTATUS_FLAGS;

typedef struct _DXGK_DISPLAYSTATE_NONINTRUSIVE {
    D3DDDI_VIDEO_PRESENT_TARGET_ID VidPnTargetId;
    DXGK_DIAG_DISPLAY_CONNECTIVITY DisplayConnectivity;
    DXGK_DIAG_DISPLAY_LID_STATE DisplayLidState;
    DXGK_DIAG_BASIC_DISPLAY_TOPOLOGY DisplayTopology;
    DXGK_DIAG_DISPLAY_LINK_STATE DisplayLinkState;
    DXGK_DIAG_DISPLAY_MODE_SET DisplayModeSet;
    UINT ReturnSubStatus;
} DXGK_DISPLAYSTATE_NONINTRUSIVE;

typedef struct _DXGKARG_GETDISPLAYSTATE_NONINTRUSIVE {
    UINT NumOfTargets;
    UINT SizeOfDisplayStateNonIntrusiveElement;
    DXGK_DISPLAYSTATE_NONINTRUSIVE **ppDisplayStateNonIntrusive;
} DXGKARG_GETDISPLAYSTATENONINTRUSIVE, *PDXGKARG_GETDISPLAYSTATENONINTRUSIVE;

typedef NTSTATUS (NTAPI *DXGKDDI_GETDISPLAYSTATENONINTRUSIVE)(
    HANDLE Context,
    PDXGKARG_GETDISPLAYSTATENONINTRUSIVE pArgs);

typedef enum _DXGK_DIAG_MONITOR_STATE {
    DXGK_DIAG_MONITOR_STATE_UNINITIALIZED = 0,
    DXGK_DIAG_MONITOR_READY = 1,
    DXGK_DIAG_MONITOR_NOT_READY = 2,
    DXGK_DIAG_MONITOR_READY_NOTAPPLICABLE = 3,
} DXGK_DIAG_MONITOR_STATE;

typedef enum _DXGK_DIAG_DISPLAY_SCANOUT_STATE {
    DXGK_DIAG_DISPLAY_SCANOUT_STATE_UNINITIALIZED = 0,
    DXGK_DIAG_DISPLAY_SCANOUT_DISABLED = 1,
    DXGK_DIAG_DISPLAY_SCANOUT_ACTIVE = 2,
    DXGK_DIAG_DISPLAY_SCANOUT_ACTIVE_BLACK = 3,
} DXGK_DIAG_DISPLAY_SCANOUT_STATE;

#define MAX_NUM_OF_GAMMA_SAMPLES_FOR_DIAGNOSTICS 16

typedef struct _DXGK_DIAG_DISPLAY_SAMPLED_GAMMA {
    float Red[16];
    float Green[16];
    float Blue[16];
    float ColorMatrix[3][3];
} DXGK_DIAG_DISPLAY_SAMPLED_GAMMA;

typedef enum _DXGK_DIAG_DISPLAY_SCANOUT_BUFFER_CRC {
    DXGK_DIAG_DISPLAY_SCANOUT_BUFFER_CRC_UNINITIALIZED = 0,
    DXGK_DIAG_DISPLAY_SCANOUT_BUFFER_CRC_BLACK = 1,
    DXGK_DIAG_DISPLAY_SCANOUT_BUFFER_CRC_NON_BLACK = 2,
    DXGK_DIAG_DISPLAY_SCANOUT_BUFFER_CRC_ERROR = 3,
    DXGK_DIAG_DISPLAY_SCANOUT_BUFFER_CRC_UNKNOWN = 4,
} DXGK_DIAG_DISPLAY_SCANOUT_BUFFER_CRC;

typedef struct _DXGK_DIAG_DISPLAY_SCANOUT_BUFFER_HISTOGRAM {
    INT MinPixelValue;
    INT MaxPixelValue;
} DXGK_DIAG_DISPLAY_SCANOUT_BUFFER_HISTOGRAM;

typedef struct _DXGK_DIAG_SCANOUT_BUFFER_CONTENT {
    DXGK_DIAG_DISPLAY_SCANOUT_BUFFER_CRC ScanoutBufferCrc;
    DXGK_DIAG_DISPLAY_SCANOUT_BUFFER_HISTOGRAM ScanoutBufferHistogram;
} DXGK_DIAG_SCANOUT_BUFFER_CONTENT;

typedef enum _DXGK_DIAG_DISPLAY_HARDWARE_ERROR_STATE {
    DXGK_DIAG_DISPLAY_HARDWARE_ERROR_STATE_UNINITIALIZED = 0,
    DXGK_DIAG_DISPLAY_HARDWARE_ERROR_NONE = 1,
    DXGK_DIAG_DISPLAY_HARDWARE_ERROR_SCANOUT_UNDERFLOW = 2,
    DXGK_DIAG_DISPLAY_HARDWARE_ERROR_TDRNORECOVERY = 3,
    DXGK_DIAG_DISPLAY_HARDWARE_ERROR_UNSPECIFIED = 4,
} DXGK_DIAG_DISPLAY_HARDWARE_ERROR_STATE;

typedef enum _DXGK_DIAG_DISPLAY_HARDWARE_BANDWIDTH {
    DXGK_DIAG_DISPLAY_HARDWARE_BANDWIDTH_UNINITIALIZED = 0,
    DXGK_DIAG_DISPLAY_HARDWARE_BANDWIDTH_SUFFICIENT = 1,
    DXGK_DIAG_DISPLAY_HARDWARE_LINK_BANDWIDTH_LIMITED = 2,
    DXGK_DIAG_DISPLAY_HARDWARE_SOC_BANDWIDTH_LIMITED = 3,
    DXGK_DIAG_DISPLAY_HARDWARE_BANDWIDTH_ERROR = 4,
    DXGK_DIAG_DISPLAY_HARDWARE_BANDWIDTH_UNKNOWN = 5,
} DXGK_DIAG_DISPLAY_HARDWARE_BANDWIDTH;

typedef struct _DXGKARG_DISPLAYSTATE_INTRUSIVE {
    D3DDDI_VIDEO_PRESENT_TARGET_ID VidPnTargetId;
    DXGK_DIAG_MONITOR_STATE MonitorState;
    DXGK_DIAG_DISPLAY_SCANOUT_STATE DisplayScanoutState;
    DXGK_DIAG_DISPLAY_SAMPLED_GAMMA DisplaySampledGamma;
    DXGK_DIAG_SCANOUT_BUFFER_CONTENT DisplayBufferContent;
    DXGK_DIAG_DISPLAY_HARDWARE_ERROR_STATE DisplayErrorState;
    DXGK_DIAG_DISPLAY_HARDWARE_BANDWIDTH DisplayBandwidth;
    UINT ReturnSubStatus;
} DXGK_DISPLAYSTATE_INTRUSIVE;

typedef struct _DXGKARG_GETDISPLAYSTATE_INTRUSIVE {
    UINT NumOfTargets;
    UINT SizeOfDisplayStateIntrusiveElement;
    DXGK_DISPLAYSTATE_INTRUSIVE **ppDisplayStateIntrusive;
} DXGKARG_GETDISPLAYSTATEINTRUSIVE, *PDXGKARG_GETDISPLAYSTATEINTRUSIVE;

typedef NTSTATUS (NTAPI *DXGKDDI_GETDISPLAYSTATEINTRUSIVE)(
    HANDLE Context,
    PDXGKARG_GETDISPLAYSTATEINTRUSIVE pArgs);

typedef struct _DXGK_DISPLAY_DIAGNOSTICS_INTERFACE {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    DXGKDDI_GETDISPLAYSTATENONINTRUSIVE DxgkDdiGetDisplayStateNonIntrusive;
    DXGKDDI_GETDISPLAYSTATEINTRUSIVE DxgkDdiGetDisplayStateIntrusive;
} DXGK_DISPLAY_DIAGNOSTICS_INTERFACE, *PDXGK_DISPLAY_DIAGNOSTICS_INTERFACE;

DEFINE_GUID(GUID_DXGK_DP_INTERFACE,
    0x2D09818E, 0xDFEB, 0x4173, 0xB5, 0xE9, 0xAE, 0xFD, 0x66, 0xB2, 0x02, 0xF3);

#define DXGK_DP_INTERFACE_VERSION_1 0x1

typedef struct _DXGKARG_QUERYDPCAPS {
    UINT NumRootPorts;
    BYTE DPVersionMajor;
    BYTE DPVersionMinor;
} DXGKARG_QUERYDPCAPS, *PDXGKARG_QUERYDPCAPS;

typedef NTSTATUS NTAPI DXGKDDI_QUERYDPCAPS(HANDLE Context, PDXGKARG_QUERYDPCAPS pArgs);
typedef DXGKDDI_QUERYDPCAPS *PDXGKDDI_QUERYDPCAPS;

#define MAX_DP_ADDRESS_SIZE 15

typedef struct _DXGKARG_GETDPADDRESS {
    D3DDDI_VIDEO_PRESENT_TARGET_ID TargetId;
    UINT DPNativeError;
    UINT RootPortIndex;
    BYTE NumLinks;
    BYTE RelAddress[15];
} DXGKARG_GETDPADDRESS, *PDXGKARG_GETDPADDRESS;

typedef NTSTATUS NTAPI DXGKDDI_GETDPADDRESS(HANDLE Context, PDXGKARG_GETDPADDRESS pArgs);
typedef DXGKDDI_GETDPADDRESS *PDXGKDDI_GETDPADDRESS;

#define MAX_DP_NATIVE_AUX_IO_SIZE 16

typedef struct _DXGKARG_DPAUXIOTRANSMISSION {
    struct DXGK_MS_STRUCT {
        UINT Write : 1;
        UINT CanUseCachedData : 1;
        UINT Reserved : 30;
    };
    UINT RootPortIndex;
    UINT DPCDAddress;
    BYTE NumBytesRequested;
    UINT DPNativeError;
    BYTE NumBytesDone;
    BYTE Data[16];
} DXGKARG_DPAUXIOTRANSMISSION, *PDXGKARG_DPAUXIOTRANSMISSION;

typedef NTSTATUS NTAPI DXGKDDI_DPAUXIOTRANSMISSION(
    HANDLE Context,
    PDXGKARG_DPAUXIOTRANSMISSION pArgs);
typedef DXGKDDI_DPAUXIOTRANSMISSION *PDXGKDDI_DPAUXIOTRANSMISSION;

typedef enum _DXGK_I2C_ADDRESS_TYPE {
    DXGK_I2C_ADDRESS_EDDC_SEGMENT_POINT = 96,
    DXGK_I2C_ADDRESS_MCCS = 110,
    DXGK_I2C_ADDRESS_DDC = 160,
    DXGK_I2C_ADDRESS_MAX = 127,
} DXGK_I2C_ADDRESS_TYPE;

typedef struct _DXGKARG_DPI2CIOTRANSMISSION {
    struct DXGK_MS_STRUCT {
        UINT Read : 1;
        UINT Write : 1;
        UINT EDDCMode : 1;
        UINT OffsetSizeInBytes : 3;
        UINT CanUseCachedData : 1;
        UINT Reserved : 25;
    };
    UINT RootPortIndex;
    UINT I2CAddress;
    union {
        struct DXGK_MS_STRUCT {
            UINT WordOffset : 8;
            UINT SegmentPointer : 7;
            UINT Reserved1 : 17;
        };
        UINT Offset;
    };
    UINT BufferSizeSupplied;
    UINT BytesToWrite;
    UINT BytesToRead;
    UINT DPNativeError;
    UINT BytesWritten;
    UINT BytesRead;
    BYTE Data[1];
} DXGKARG_DPI2CIOTRANSMISSION, *PDXGKARG_DPI2CIOTRANSMISSION;

typedef NTSTATUS NTAPI DXGKDDI_DPI2CIOTRANSMISSION(
    HANDLE Context,
    PDXGKARG_DPI2CIOTRANSMISSION pArgs);
typedef DXGKDDI_DPI2CIOTRANSMISSION *PDXGKDDI_DPI2CIOTRANSMISSION;

typedef struct _DXGKARG_DPSBMTRANSMISSION {
    struct DXGK_MS_STRUCT {
        UINT CanUseCachedData : 1;
        UINT Reserved : 31;
    };
    UINT RootPortIndex;
    UINT BufferSizeSupplied;
    UINT RequestLength;
    UINT MaxReplyLength;
    UINT DPNativeError;
    UINT ActualReplyLength;
    BYTE Data[1];
} DXGKARG_DPSBMTRANSMISSION, *PDXGKARG_DPSBMTRANSMISSION;

typedef NTSTATUS NTAPI DXGKDDI_DPSBMTRANSMISSION(HANDLE Context, PDXGKARG_DPSBMTRANSMISSION pArgs);
typedef DXGKDDI_DPSBMTRANSMISSION *PDXGKDDI_DPSBMTRANSMISSION;

typedef struct _DXGK_DP_INTERFACE {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    PDXGKDDI_QUERYDPCAPS DxgkDdiQueryDPCaps;
    PDXGKDDI_GETDPADDRESS DxgkDdiGetDPAddress;
    PDXGKDDI_DPAUXIOTRANSMISSION DxgkDdiDPAuxIoTransmission;
    PDXGKDDI_DPI2CIOTRANSMISSION DxgkDdiDPI2CIoTransmission;
    PDXGKDDI_DPSBMTRANSMISSION DxgkDdiDPSBMTransmission;
} DXGK_DP_INTERFACE, *PDXGK_DP_INTERFACE;

#if DBG
#define DlDebugPrintEx(Arguments) DlDebugPrint Arguments
#else
#define DlDebugPrintEx(Arguments)
#endif

#ifdef __cplusplus
}
#endif

#if !defined(_WIN32)
#pragma GCC visibility pop
#endif

#endif /* DXGK_WDK_DISPMPRT_H */
