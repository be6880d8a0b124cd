/* SPDX-License-Identifier: MIT */
/*
 * Features of WDDM 3.2, as far as this host has them. The five headers of the display driver model end with WDDM 3.1; a driver
 * that asks for features in the way of 3.2 includes this after them:
 *
 *     #include <dispmprt.h>
 *     #include <dxgk_wddm3_2.h>
 *
 *   the driver asks     DxgkCbQueryServices(DxgkServicesFeature) -> DXGK_FEATURE_INTERFACE
 *   the host asks       DxgkDdiQueryInterface(GUID_WDDM_INTERFACE_FEATURE) -> DXGKDDI_FEATURE_INTERFACE
 *   before DxgkInitialize, about what belongs to no adapter       DxgkIsFeatureEnabled2
 *
 * Names, order and widths are those of the public pages about these structures.
 */
#ifndef DXGK_WDK_WDDM3_2_H
#define DXGK_WDK_WDDM3_2_H

#include "dispmprt.h"
#include "guiddef.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Values that the enumerations of 3.1 do not have. The category of a feature is in the upper four bits; these are drivers'. */
#define DXGK_FEATURE_PAGE_BASED_MEMORY_MANAGER ((DXGK_FEATURE_ID)32)
#define DXGK_FEATURE_KERNEL_MODE_TESTING       ((DXGK_FEATURE_ID)33)
#define DXGK_FEATURE_64K_PT_DEMOTION_FIX       ((DXGK_FEATURE_ID)34)
#define DXGK_FEATURE_GPUPV_PRESENT_HWQUEUE     ((DXGK_FEATURE_ID)35)
#define DXGK_FEATURE_GPUVAIOMMU                ((DXGK_FEATURE_ID)36)
#define DXGK_FEATURE_NATIVE_FENCE              ((DXGK_FEATURE_ID)37)

#define DxgkServicesFeature ((DXGK_SERVICES)7)

#define DXGK_FEATURE_INTERFACE_VERSION_1 1

DEFINE_GUID(GUID_WDDM_INTERFACE_FEATURE, 0x94bb3993, 0xc6c3, 0x4da7, 0x89, 0x49, 0xa1, 0x13, 0x82,
            0x32, 0xe7, 0x59);

typedef UINT16 DXGK_FEATURE_VERSION;

/* What a question about a feature comes to. Version: the highest one that host and driver both speak, while Enabled. */
typedef struct _DXGK_ISFEATUREENABLED_RESULT {
    DXGK_FEATURE_VERSION Version;
    union {
        struct {
            UINT16 Enabled : 1;
            UINT16 KnownFeature : 1;
            UINT16 SupportedByDriver : 1;
            UINT16 SupportedOnCurrentConfig : 1;
            UINT16 Reserved : 12;
        };
        UINT16 Value;
    };
} DXGK_MS_STRUCT DXGK_ISFEATUREENABLED_RESULT;

typedef struct _DXGKARGCB_ISFEATUREENABLED2_FLAGS {
    union {
        struct {
            UINT32 Reserved : 32;
        };
        UINT32 Value;
    };
} DXGK_MS_STRUCT DXGKARGCB_ISFEATUREENABLED2_FLAGS;

/* ---- the host's side ---- */

typedef struct _DXGKARGCB_ISFEATUREENABLED2 {
    DXGK_FEATURE_ID FeatureId;
    DXGKARGCB_ISFEATUREENABLED2_FLAGS Flags;
    DXGK_ISFEATUREENABLED_RESULT Result; /* out */
} DXGKARGCB_ISFEATUREENABLED2, *INOUT_PDXGKARGCB_ISFEATUREENABLED2;

typedef struct _DXGKARGCB_QUERYFEATUREINTERFACE {
    DXGK_FEATURE_ID FeatureId;
    DXGK_FEATURE_VERSION Version;
    UINT16 InterfaceSize; /* in and out, bytes */
    void *Interface;
} DXGKARGCB_QUERYFEATUREINTERFACE, *INOUT_PDXGKARGCB_QUERYFEATUREINTERFACE;

/* The adapter is the DeviceHandle of DXGKRNL_INTERFACE, or NULL for a feature that belongs to none. */
typedef NTSTATUS(NTAPI *DXGKCB_ISFEATUREENABLED2)(HANDLE hAdapter,
                                                  INOUT_PDXGKARGCB_ISFEATUREENABLED2 pArgs);
typedef NTSTATUS(NTAPI *DXGKCB_QUERYFEATUREINTERFACE)(HANDLE hAdapter,
                                                      INOUT_PDXGKARGCB_QUERYFEATUREINTERFACE pArgs);

typedef struct _DXGK_FEATURE_INTERFACE {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    DXGKCB_ISFEATUREENABLED2 IsFeatureEnabled;
    DXGKCB_QUERYFEATUREINTERFACE QueryFeatureInterface;
} DXGK_FEATURE_INTERFACE, *PDXGK_FEATURE_INTERFACE;

/* From DriverEntry, before DxgkInitialize. */
NTSTATUS NTAPI DxgkIsFeatureEnabled2(PVOID DriverObject, DXGKARGCB_ISFEATUREENABLED2 *pArgs);

/* The interface of DXGK_FEATURE_NATIVE_FENCE, version 1: what the host supports of native fences. */
typedef struct _DXGKARGCB_FEATURE_NATIVEFENCE_CAPS_1 {
    UINT SupportOptimizedDefaultFenceType : 1; /* MonitoredValue in memory of the GPU */
    UINT SupportIntraGpuFenceType : 1;
} DXGK_MS_STRUCT DXGKARGCB_FEATURE_NATIVEFENCE_CAPS_1, *INOUT_PDXGKARGCB_FEATURE_NATIVEFENCE_CAPS_1;

typedef NTSTATUS(NTAPI *DXGKCB_FEATURE_NATIVEFENCE_CAPS_1)(
    INOUT_PDXGKARGCB_FEATURE_NATIVEFENCE_CAPS_1 pArgs);

typedef struct _DXGKCBINT_FEATURE_NATIVEFENCE_1 {
    DXGKCB_FEATURE_NATIVEFENCE_CAPS_1 GetOSCaps;
} DXGKCBINT_FEATURE_NATIVEFENCE_1;

/* ---- the driver's side ---- */

typedef struct _DXGKARG_QUERYFEATURESUPPORT {
    DXGK_FEATURE_ID FeatureId;                /* in */
    DXGK_FEATURE_VERSION MinSupportedVersion; /* out, as all but AllowExperimental */
    DXGK_FEATURE_VERSION MaxSupportedVersion;
    BOOLEAN AllowExperimental; /* in */
    BOOLEAN SupportedByDriver;
    BOOLEAN SupportedOnCurrentConfig;
} DXGKARG_QUERYFEATURESUPPORT, *INOUT_PDXGKARG_QUERYFEATURESUPPORT;

typedef struct _DXGKARG_QUERYFEATUREINTERFACE {
    DXGK_FEATURE_ID FeatureId;
    DXGK_FEATURE_VERSION Version;
    UINT16 InterfaceSize; /* in and out, bytes */
    void *Interface;
} DXGKARG_QUERYFEATUREINTERFACE, *INOUT_PDXGKARG_QUERYFEATUREINTERFACE;

/* The adapter is the MiniportDeviceContext of AddDevice. */
typedef NTSTATUS NTAPI DXGKDDI_QUERYFEATURESUPPORT(HANDLE hAdapter,
                                                   INOUT_PDXGKARG_QUERYFEATURESUPPORT pArgs);
typedef DXGKDDI_QUERYFEATURESUPPORT *PDXGKDDI_QUERYFEATURESUPPORT;
typedef NTSTATUS NTAPI DXGKDDI_QUERYFEATUREINTERFACE(HANDLE hAdapter,
                                                     INOUT_PDXGKARG_QUERYFEATUREINTERFACE pArgs);
typedef DXGKDDI_QUERYFEATUREINTERFACE *PDXGKDDI_QUERYFEATUREINTERFACE;

typedef struct _DXGKDDI_FEATURE_INTERFACE {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    PDXGKDDI_QUERYFEATURESUPPORT QueryFeatureSupport;
    PDXGKDDI_QUERYFEATUREINTERFACE QueryFeatureInterface;
} DXGKDDI_FEATURE_INTERFACE, *PDXGKDDI_FEATURE_INTERFACE;

/* ---- DXGKCB_NOTIFY_INTERRUPT_DATA_FLAGS ---- */

#define DXGK_NOTIFY_EVALUATE_LEGACY_MONITORED_FENCES 0x4u /* of Value: EvaluateLegacyMonitoredFences */

/* ---- queries of DxgkDdiQueryAdapterInfo ---- */

#define DXGKQAITYPE_DIRTYBITTRACKINGCAPS        ((DXGK_QUERYADAPTERINFOTYPE)39)
#define DXGKQAITYPE_DIRTYBITTRACKINGSEGMENTCAPS ((DXGK_QUERYADAPTERINFOTYPE)40)
#define DXGKQAITYPE_PAGINGPROCESSGPUVASIZE      ((DXGK_QUERYADAPTERINFOTYPE)48)

typedef struct _DXGK_DIRTY_BIT_TRACKING_CAPS {
    union {
        struct DXGK_MS_STRUCT {
            UINT32 DirtyBitTrackingSupported : 1;
            UINT32 DirtyBitTrackingPerformant : 1;
            UINT32 Reserved : 30;
        };
        UINT32 Value;
    };
} DXGK_DIRTY_BIT_TRACKING_CAPS;

/* Of the segment whose identifier is the input. */
typedef struct _DXGK_DIRTY_BIT_TRACKING_SEGMENT_CAPS {
    UINT32 PageSize; /* what a bit stands for: a power of two, at least 4096 */
} DXGK_DIRTY_BIT_TRACKING_SEGMENT_CAPS;

#ifdef __cplusplus
}
#endif

#endif /* DXGK_WDK_WDDM3_2_H */
