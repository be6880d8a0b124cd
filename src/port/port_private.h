/* SPDX-License-Identifier: MIT */
/* What the files of port share. */
#ifndef DXGK_PORT_PRIVATE_H
#define DXGK_PORT_PRIVATE_H

#include "port/adapter_record.h"
#include "port/port.h"
#include "port/refuse.h"
#include "util/checked.h"

#define PORT_FEATURES     6u  /* of WDDM 3.1: DXGK_FEATURE_HWSCH .. _SHARE_BACKING_STORE_WITH_KMD */
#define PORT_FEATURES_3_2 64u /* room for the numbers of WDDM 3.2 */

struct port_map {
    struct list link;
    void *address;
    uint64_t start, bytes;
    MEMORY_CACHING_TYPE cache;
    struct nt_process *process; /* of a user mode mapping; NULL: system space */
    bool ports;                 /* in the space of ports: only a record */
};

/* versions.c */
UINT port_interface_version(const struct port *port);
bool port_version_official(ULONG version);
size_t port_table_bytes(ULONG version);
ULONG port_interface_bytes(UINT version);
UINT port_caps_bytes(UINT version);
UINT port_physical_caps_bytes(UINT version);
bool port_wddm_known(UINT wddm);
UINT port_known_scheduling_bits(UINT version);
UINT port_known_memory_bits(UINT version);
UINT port_known_misc_bits(UINT version);

/* registration_device.c: \Device\DxgKrnl. False: out of memory. */
bool port_registration_device_init(struct port *port);
void port_registration_device_finish(struct port *port);

/* registration.c */

/* start.c */
NTSTATUS port_start(struct port_adapter *adapter);
/* Managers, StopDevice, and everything that goes with it. */
void port_stop(struct port_adapter *adapter);
/* Forget what the driver answered, for another start. */
void port_forget_answers(struct port_adapter *adapter);

/* domain.c */
NTSTATUS port_choose_dma_mode(struct port_adapter *adapter);
NTSTATUS port_domain_create(struct port_adapter *adapter);
void port_domain_destroy(struct port_adapter *adapter);
NTSTATUS port_domain_reserve(struct port_adapter *adapter);
NTSTATUS port_domain_reserve_segments(struct port_adapter *adapter);

/* isolate.c */
NTSTATUS port_domain_isolate(struct port_adapter *adapter);
/* In D0 again: a switch that was put off is made. */
void port_domain_power_up(struct port_adapter *adapter);

/* dma_fault.c: reports what the bus had to record. `context`: the adapter. */
void port_dma_fault(void *context, const struct iommu_fault *fault);

/* tdr_settings.c: what the registry says; `defaults` for the rest */
struct vidsch_tdr_settings port_tdr_settings(const struct vidsch_tdr_settings *defaults);

/* managers.c */
struct port_evacuation {
    const uint64_t *kept_bytes; /* of each segment, what is not moved (vidmm_evacuate); NULL: nothing */
    bool losing_power;          /* that is why */
    uint64_t limit_ns;          /* how long threads inside the driver get to leave it */
    const char *name;           /* THREAD-037 is reported for it if they do not; or NULL */
};
/* Video memory to system memory, the GPU idle, and nobody else inside the driver: the former two until port_return, the latter
 * until ddi_admit_others. STATUS_IO_TIMEOUT: not within the time; everything is as before.
 * Several may be in force at a time: every success takes one port_return, and the last ends it. */
NTSTATUS port_evacuate(struct port_adapter *adapter, const struct port_evacuation *how);
NTSTATUS port_return(struct port_adapter *adapter);
NTSTATUS port_managers_create(struct port_adapter *adapter);
void port_managers_destroy(struct port_adapter *adapter);

/* query.c: the queries in their order. */
NTSTATUS port_query_before_start(struct port_adapter *adapter);
NTSTATUS port_query_after_start(struct port_adapter *adapter);
/* One query with a zeroed, guarded output buffer (CAPS-005). */
NTSTATUS port_query(struct port_adapter *adapter, DXGK_QUERYADAPTERINFOTYPE type, const void *input,
                    UINT input_bytes, void *output, UINT output_bytes);

/* admission.c, compute.c: what DXGK_DRIVERCAPS and the entry points must look like. */
NTSTATUS port_check_caps(struct port_adapter *adapter);
NTSTATUS port_check_compute_only(struct port_adapter *adapter);

/* segments.c, segments_1x.c, mmu.c, nodes.c, children.c */
NTSTATUS port_query_segments(struct port_adapter *adapter);
/* CAPS-073: whether an adapter may have so many. */
NTSTATUS port_check_segment_count(const struct port_adapter *adapter, UINT count);
/* The table of a driver below WDDM 2.0, as the descriptors of 2.0 that the host works with. */
NTSTATUS port_query_segments_1x(struct port_adapter *adapter);
NTSTATUS port_query_mmu(struct port_adapter *adapter);
NTSTATUS port_query_nodes(struct port_adapter *adapter);
NTSTATUS port_query_children(struct port_adapter *adapter, ULONG children);
void port_children_power(struct port_adapter *adapter, DEVICE_POWER_STATE state,
                         POWER_ACTION action);

/* power.c: in D0, for a stop. */
void port_power_up(struct port_adapter *adapter);

/* power_components.c */
NTSTATUS port_query_components(struct port_adapter *adapter);
NTSTATUS port_runtime_power_start(struct port_adapter *adapter);
void port_runtime_power_stop(struct port_adapter *adapter);
/* TransitionTo_F0_OnDx: bring components there and keep them (LIFE-166); let them go again. */
void port_components_hold(struct port_adapter *adapter);
void port_components_release(struct port_adapter *adapter);
void port_components_forget(struct port_adapter *adapter);
void port_fill_power_callbacks(DXGKRNL_INTERFACE *interface);

/* interface.c */
void port_fill_interface(struct port_adapter *adapter, DXGKRNL_INTERFACE *interface, UINT version);

/* handle_callbacks.c, features.c, services.c, exclude.c, memory_callbacks.c: their parts of the table. */
void port_fill_handle_callbacks(DXGKRNL_INTERFACE *interface);
void port_fill_feature_callbacks(DXGKRNL_INTERFACE *interface);
void port_fill_memory_callbacks(DXGKRNL_INTERFACE *interface);
NTSTATUS NTAPI port_cb_signal_event(IN_CONST_PDXGKARGCB_SIGNALEVENT pArgs); /* cpu_event.c */
NTSTATUS NTAPI port_cb_query_services(HANDLE DeviceHandle, DXGK_SERVICES ServicesType,
                                      PINTERFACE Interface);
NTSTATUS NTAPI port_cb_exclude_adapter_access(HANDLE DeviceHandle, ULONG Attributes,
                                              DXGKDDI_PROTECTED_CALLBACK DxgkProtectedCallback,
                                              PVOID ProtectedCallbackContext);
/* feature_interface.c: before StartDevice, from inside which the driver may already ask; and after StopDevice. */
NTSTATUS port_features_begin(struct port_adapter *adapter);
void port_features_end(struct port_adapter *adapter);
void port_fill_firmware_interface(DXGK_FIRMWARE_TABLE_INTERFACE *interface); /* firmware.c */
void port_fill_feature_interface(DXGK_FEATURE_INTERFACE *interface);
/* Whether the host lets this adapter's driver (NULL: anybody) have the feature. */
bool port_feature_allowed(const struct port *port, const struct port_adapter *adapter,
                          DXGK_FEATURE_ID feature);
/* Let an adapter stand still for a call of level two: the GPU is idle until port_wake (THREAD-026). */
NTSTATUS port_quiesce(struct port_adapter *adapter, const char *name);
void port_wake(struct port_adapter *adapter);
/* After StopDevice: report and revoke what was not given back (LIFE-116). */
void port_services_revoke(struct port_adapter *adapter);
void port_exclusions_wait(struct port_adapter *adapter);

/* resources.c */
NTSTATUS port_resources_create(struct port_adapter *adapter);
void port_resources_revoke(struct port_adapter *adapter);
/* Mappings that are left are reported (LIFE-101) and removed. */
void port_maps_remove(struct port_adapter *adapter);
struct physical_memory *port_physical_create(struct port *port);

/* The callbacks that live beside what they are about. */
BOOLEAN NTAPI port_cb_queue_dpc(HANDLE DeviceHandle);
void NTAPI port_cb_notify_interrupt(IN_CONST_HANDLE hAdapter,
                                    IN_CONST_PDXGKARGCB_NOTIFY_INTERRUPT_DATA data);
void NTAPI port_cb_notify_dpc(IN_CONST_HANDLE hAdapter);
NTSTATUS NTAPI port_cb_synchronize_execution(HANDLE DeviceHandle,
                                             PKSYNCHRONIZE_ROUTINE SynchronizeRoutine, PVOID Context,
                                             ULONG MessageNumber, PBOOLEAN ReturnValue);
NTSTATUS NTAPI port_cb_get_device_information(HANDLE DeviceHandle, PDXGK_DEVICE_INFO DeviceInfo);
NTSTATUS NTAPI port_cb_is_device_present(HANDLE DeviceHandle,
                                         PPCI_DEVICE_PRESENCE_PARAMETERS Parameters,
                                         PBOOLEAN Present);
NTSTATUS NTAPI port_cb_read_device_space(HANDLE DeviceHandle, ULONG DataType, PVOID Buffer,
                                         ULONG Offset, ULONG Length, PULONG BytesRead);
NTSTATUS NTAPI port_cb_write_device_space(HANDLE DeviceHandle, ULONG DataType, PVOID Buffer,
                                          ULONG Offset, ULONG Length, PULONG BytesWritten);
NTSTATUS NTAPI port_cb_save_memory_for_hot_update(IN_CONST_HANDLE hAdapter,
                                                  IN_CONST_PDXGKARGCB_SAVEMEMORYFORHOTUPDATE pArgs);
/* A view of `what` (NULL: of device memory) for the CPU is about to end (PHYS-194). */
void port_view_ends(struct port *port, const void *base, uint64_t bytes, const char *what);
void port_maps_process_ended(struct port_adapter *adapter, const struct nt_process *process);
NTSTATUS NTAPI port_cb_map_memory(HANDLE DeviceHandle, PHYSICAL_ADDRESS TranslatedAddress,
                                  ULONG Length, BOOLEAN InIoSpace, BOOLEAN MapToUserMode,
                                  MEMORY_CACHING_TYPE CacheType, PVOID *VirtualAddress);
NTSTATUS NTAPI port_cb_unmap_memory(HANDLE DeviceHandle, PVOID VirtualAddress);
NTSTATUS NTAPI port_cb_indicate_child_status(HANDLE DeviceHandle, PDXGK_CHILD_STATUS ChildStatus);

/* interrupts.c */
void port_interrupts_connect(struct port_adapter *adapter);
void port_interrupts_disconnect(struct port_adapter *adapter);
/* Keep interrupts and deferred calls away from the driver; let them come, with those that came meanwhile. */
void port_interrupts_hold(struct port_adapter *adapter, bool hold);

/* callback.c: entry and exit of every callback. */
struct callback {
    struct ddi_frame frame;
    struct port_adapter *adapter;
};

#define CALLBACK_FREEING   1u /* accepted between StopDevice and the next start (LIFE-064) */
#define CALLBACK_ANY_IRQL  2u
#define CALLBACK_CARRY_OUT 4u /* above its limit it is reported and carried out (PHYS-013) */
#define CALLBACK_IN_ISR    8u /* allowed inside the service routine (THREAD-060) */

/* STATUS_SUCCESS: go on, and end with callback_end. Otherwise the call has no effect and returns this. `rule`: the THREAD
 * rule that gives max_irql. */
NTSTATUS callback_begin(struct callback *callback, HANDLE device_handle, const char *name,
                        uintptr_t caller, uint8_t max_irql, const char *rule, unsigned flags);
/* Of a memory callback above its level (PHYS-012, PHYS-013). NULL: nobody's. */
enum verify_severity callback_level_severity(const struct port_adapter *adapter);
void callback_end(struct callback *callback);
struct port_adapter *port_adapter_of_handle(HANDLE device_handle);

#define CALLER ((uintptr_t)__builtin_return_address(0))

#endif
