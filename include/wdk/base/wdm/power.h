/* SPDX-License-Identifier: MIT */
/* Power states and the power framework. */
#ifndef DXGK_WDK_WDM_POWER_H
#define DXGK_WDK_WDM_POWER_H

#include <ntdef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum _SYSTEM_POWER_STATE {
    PowerSystemUnspecified = 0,
    PowerSystemWorking = 1,
    PowerSystemSleeping1 = 2,
    PowerSystemSleeping2 = 3,
    PowerSystemSleeping3 = 4,
    PowerSystemHibernate = 5,
    PowerSystemShutdown = 6,
    PowerSystemMaximum = 7,
} SYSTEM_POWER_STATE, *PSYSTEM_POWER_STATE;

typedef enum POWER_ACTION {
    PowerActionNone = 0,
    PowerActionReserved = 1,
    PowerActionSleep = 2,
    PowerActionHibernate = 3,
    PowerActionShutdown = 4,
    PowerActionShutdownReset = 5,
    PowerActionShutdownOff = 6,
    PowerActionWarmEject = 7,
    PowerActionDisplayOff = 8,
} POWER_ACTION, *PPOWER_ACTION;

typedef enum _DEVICE_POWER_STATE {
    PowerDeviceUnspecified = 0,
    PowerDeviceD0 = 1,
    PowerDeviceD1 = 2,
    PowerDeviceD2 = 3,
    PowerDeviceD3 = 4,
    PowerDeviceMaximum = 5,
} DEVICE_POWER_STATE, *PDEVICE_POWER_STATE;

typedef enum _POWER_STATE_TYPE {
    SystemPowerState = 0,
    DevicePowerState = 1,
} POWER_STATE_TYPE, *PPOWER_STATE_TYPE;

typedef union _POWER_STATE {
    SYSTEM_POWER_STATE SystemState;
    DEVICE_POWER_STATE DeviceState;
} POWER_STATE, *PPOWER_STATE;

typedef struct DXGK_MS_STRUCT _SYSTEM_POWER_STATE_CONTEXT {
    union {
        struct DXGK_MS_STRUCT {
            ULONG Reserved1 : 8;
            ULONG TargetSystemState : 4;
            ULONG EffectiveSystemState : 4;
            ULONG CurrentSystemState : 4;
            ULONG IgnoreHibernationPath : 1;
            ULONG PseudoTransition : 1;
            ULONG KernelSoftReboot : 1;
            ULONG DirectedDripsTransition : 1;
            ULONG Reserved2 : 8;
        };
        ULONG ContextAsUlong;
    };
} SYSTEM_POWER_STATE_CONTEXT, *PSYSTEM_POWER_STATE_CONTEXT;

typedef struct _POWER_SEQUENCE {
    ULONG SequenceD1;
    ULONG SequenceD2;
    ULONG SequenceD3;
} POWER_SEQUENCE, *PPOWER_SEQUENCE;

#define ES_AWAYMODE_REQUIRED 0x40U
#define ES_CONTINUOUS        0x80000000U
#define ES_DISPLAY_REQUIRED  0x2U
#define ES_SYSTEM_REQUIRED   0x1U
#define ES_USER_PRESENT      0x4U

#define PO_CB_AC_STATUS                                1
#define PO_CB_BUTTON_COLLISION                         2
#define PO_CB_LID_SWITCH_STATE                         4
#define PO_CB_PROCESSOR_POWER_POLICY                   5
#define PO_CB_SYSTEM_POWER_POLICY                      0
#define PO_CB_SYSTEM_STATE_LOCK                        3
#define PO_FX_COMPONENT_FLAG_F0_ON_DX                  0x1
#define PO_FX_COMPONENT_FLAG_NO_DEBOUNCE               0x2
#define PO_FX_DEVICE_FLAG_DFX_CHILDREN_OPTIONAL        6ULL
#define PO_FX_DEVICE_FLAG_DFX_DIRECT_CHILDREN_OPTIONAL 0x2ULL
#define PO_FX_DEVICE_FLAG_DFX_POWER_CHILDREN_OPTIONAL  0x4ULL
#define PO_FX_DEVICE_FLAG_DISABLE_FAST_RESUME          0x8ULL
#define PO_FX_DEVICE_FLAG_ENABLE_FAST_RESUME           0x10ULL
#define PO_FX_DEVICE_FLAG_NO_FAULT_CALLBACKS           0x20ULL
#define PO_FX_DEVICE_FLAG_RESERVED_1                   0x1ULL
#define PO_FX_DIRECTED_FX_DEFAULT_IDLE_TIMEOUT         0U
#define PO_FX_DIRECTED_FX_IMMEDIATE_IDLE_TIMEOUT       0xFFFFFFFFU
#define PO_FX_DIRECTED_FX_MAX_IDLE_TIMEOUT             600U
#define PO_FX_FLAG_ASYNC_ONLY                          0x2
#define PO_FX_FLAG_BLOCKING                            0x1
#define PO_FX_FLAG_PERF_PEP_OPTIONAL                   0x1
#define PO_FX_FLAG_PERF_QUERY_ON_ALL_IDLE_STATES       0x4
#define PO_FX_FLAG_PERF_QUERY_ON_F0                    0x2
#define PO_FX_UNKNOWN_POWER                            0xFFFFFFFFU
#define PO_FX_UNKNOWN_TIME                             0xFFFFFFFFFFFFFFFFULL
#define PO_FX_VERSION                                  1
#define PO_FX_VERSION_V1                               0x1
#define PO_FX_VERSION_V2                               0x2
#define PO_FX_VERSION_V3                               0x3
#define PO_MEM_BOOT_PHASE                              0x10000
#define PO_MEM_CLONE                                   0x2
#define PO_MEM_CL_OR_NCHK                              0x4
#define PO_MEM_DISCARD                                 0x8000
#define PO_MEM_PAGE_ADDRESS                            0x4000
#define PO_MEM_PRESERVE                                0x1

typedef VOID NTAPI PO_FX_COMPONENT_ACTIVE_CONDITION_CALLBACK(PVOID Context, ULONG Component);
typedef PO_FX_COMPONENT_ACTIVE_CONDITION_CALLBACK *PPO_FX_COMPONENT_ACTIVE_CONDITION_CALLBACK;
typedef VOID NTAPI PO_FX_COMPONENT_IDLE_CONDITION_CALLBACK(PVOID Context, ULONG Component);
typedef PO_FX_COMPONENT_IDLE_CONDITION_CALLBACK *PPO_FX_COMPONENT_IDLE_CONDITION_CALLBACK;
typedef VOID NTAPI PO_FX_COMPONENT_IDLE_STATE_CALLBACK(
    PVOID Context, ULONG Component, ULONG State);
typedef PO_FX_COMPONENT_IDLE_STATE_CALLBACK *PPO_FX_COMPONENT_IDLE_STATE_CALLBACK;
typedef VOID NTAPI PO_FX_DEVICE_POWER_REQUIRED_CALLBACK(PVOID Context);
typedef PO_FX_DEVICE_POWER_REQUIRED_CALLBACK *PPO_FX_DEVICE_POWER_REQUIRED_CALLBACK;
typedef VOID NTAPI PO_FX_DEVICE_POWER_NOT_REQUIRED_CALLBACK(PVOID Context);
typedef PO_FX_DEVICE_POWER_NOT_REQUIRED_CALLBACK *PPO_FX_DEVICE_POWER_NOT_REQUIRED_CALLBACK;
typedef NTSTATUS NTAPI PO_FX_POWER_CONTROL_CALLBACK(
    PVOID DeviceContext,
    LPCGUID PowerControlCode,
    PVOID InBuffer,
    SIZE_T InBufferSize,
    PVOID OutBuffer,
    SIZE_T OutBufferSize,
    PSIZE_T BytesReturned);
typedef PO_FX_POWER_CONTROL_CALLBACK *PPO_FX_POWER_CONTROL_CALLBACK;

typedef struct _PO_FX_COMPONENT_IDLE_STATE {
    ULONGLONG TransitionLatency;
    ULONGLONG ResidencyRequirement;
    ULONG NominalPower;
} PO_FX_COMPONENT_IDLE_STATE, *PPO_FX_COMPONENT_IDLE_STATE;

typedef struct _PO_FX_COMPONENT_V1 {
    GUID Id;
    ULONG IdleStateCount;
    ULONG DeepestWakeableIdleState;
    PPO_FX_COMPONENT_IDLE_STATE IdleStates;
} PO_FX_COMPONENT_V1, *PPO_FX_COMPONENT_V1;

typedef struct _PO_FX_DEVICE_V1 {
    ULONG Version;
    ULONG ComponentCount;
    PPO_FX_COMPONENT_ACTIVE_CONDITION_CALLBACK ComponentActiveConditionCallback;
    PPO_FX_COMPONENT_IDLE_CONDITION_CALLBACK ComponentIdleConditionCallback;
    PPO_FX_COMPONENT_IDLE_STATE_CALLBACK ComponentIdleStateCallback;
    PPO_FX_DEVICE_POWER_REQUIRED_CALLBACK DevicePowerRequiredCallback;
    PPO_FX_DEVICE_POWER_NOT_REQUIRED_CALLBACK DevicePowerNotRequiredCallback;
    PPO_FX_POWER_CONTROL_CALLBACK PowerControlCallback;
    PVOID DeviceContext;
    PO_FX_COMPONENT_V1 Components[1];
} PO_FX_DEVICE_V1, *PPO_FX_DEVICE_V1;

/* PO_FX_VERSION is that of the first version. */
typedef PO_FX_COMPONENT_V1 PO_FX_COMPONENT, *PPO_FX_COMPONENT;
typedef PO_FX_DEVICE_V1 PO_FX_DEVICE, *PPO_FX_DEVICE;

typedef struct _PO_FX_COMPONENT_V2 {
    GUID Id;
    ULONGLONG Flags;
    ULONG DeepestWakeableIdleState;
    ULONG IdleStateCount;
    PPO_FX_COMPONENT_IDLE_STATE IdleStates;
    ULONG ProviderCount;
    PULONG Providers;
} PO_FX_COMPONENT_V2, *PPO_FX_COMPONENT_V2;

typedef struct _PO_FX_DEVICE_V2 {
    ULONG Version;
    ULONGLONG Flags;
    PPO_FX_COMPONENT_ACTIVE_CONDITION_CALLBACK ComponentActiveConditionCallback;
    PPO_FX_COMPONENT_IDLE_CONDITION_CALLBACK ComponentIdleConditionCallback;
    PPO_FX_COMPONENT_IDLE_STATE_CALLBACK ComponentIdleStateCallback;
    PPO_FX_DEVICE_POWER_REQUIRED_CALLBACK DevicePowerRequiredCallback;
    PPO_FX_DEVICE_POWER_NOT_REQUIRED_CALLBACK DevicePowerNotRequiredCallback;
    PPO_FX_POWER_CONTROL_CALLBACK PowerControlCallback;
    PVOID DeviceContext;
    ULONG ComponentCount;
    PO_FX_COMPONENT_V2 Components[1];
} PO_FX_DEVICE_V2, *PPO_FX_DEVICE_V2;

typedef struct __POHANDLE *POHANDLE;
struct _DEVICE_OBJECT;

NTKERNELAPI NTSTATUS NTAPI PoFxRegisterDevice(
    struct _DEVICE_OBJECT *Pdo, PPO_FX_DEVICE_V1 Device, POHANDLE *Handle);
NTKERNELAPI VOID NTAPI PoFxUnregisterDevice(POHANDLE Handle);
NTKERNELAPI VOID NTAPI PoFxStartDevicePowerManagement(POHANDLE Handle);
NTKERNELAPI VOID NTAPI PoFxActivateComponent(POHANDLE Handle, ULONG Component, ULONG Flags);
NTKERNELAPI VOID NTAPI PoFxIdleComponent(POHANDLE Handle, ULONG Component, ULONG Flags);
NTKERNELAPI VOID NTAPI PoFxCompleteIdleCondition(POHANDLE Handle, ULONG Component);
NTKERNELAPI VOID NTAPI PoFxCompleteIdleState(POHANDLE Handle, ULONG Component);
NTKERNELAPI VOID NTAPI PoFxCompleteDevicePowerNotRequired(POHANDLE Handle);
NTKERNELAPI VOID NTAPI PoFxReportDevicePoweredOn(POHANDLE Handle);
NTKERNELAPI VOID NTAPI PoFxSetComponentLatency(POHANDLE Handle, ULONG Component, ULONGLONG Latency);
NTKERNELAPI VOID NTAPI PoFxSetComponentResidency(
    POHANDLE Handle, ULONG Component, ULONGLONG Residency);
NTKERNELAPI VOID NTAPI PoFxSetDeviceIdleTimeout(POHANDLE Handle, ULONGLONG IdleTimeout);

typedef NTSTATUS NTAPI POWER_SETTING_CALLBACK(
    LPCGUID SettingGuid, PVOID Value, ULONG ValueLength, PVOID Context);
typedef POWER_SETTING_CALLBACK *PPOWER_SETTING_CALLBACK;

NTKERNELAPI NTSTATUS NTAPI PoRegisterPowerSettingCallback(
    struct _DEVICE_OBJECT *DeviceObject,
    LPCGUID SettingGuid,
    PPOWER_SETTING_CALLBACK Callback,
    PVOID Context,
    PVOID *Handle);
NTKERNELAPI NTSTATUS NTAPI PoUnregisterPowerSettingCallback(PVOID Handle);

#ifdef __cplusplus
}
#endif

#endif /* DXGK_WDK_WDM_POWER_H */
