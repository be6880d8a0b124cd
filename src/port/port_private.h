/* SPDX-License-Identifier: MIT */
/* What the files of port share. */
#ifndef DXGK_PORT_PRIVATE_H
#define DXGK_PORT_PRIVATE_H

#include "physmem/physical_adapter.h"
#include "physmem/physical_memory.h"
#include "physmem/physical_services.h"
#include "port/port.h"
#include "sim/dpc.h"
#include "sim/interrupt.h"
#include "sim/mutex.h"
#include "sim/wait.h"
#include "util/checked.h"

#define PORT_MAX_MESSAGES   32u
#define PORT_MAX_NODES      DXGK_MAX_ASYMETRICAL_PROCESSING_NODES
#define PORT_MAX_CHILDREN   64u
#define PORT_MAX_COMPONENTS 64u
#define PORT_FEATURES       6u /* of WDDM 3.1: DXGK_FEATURE_HWSCH .. _SHARE_BACKING_STORE_WITH_KMD */
#define PORT_FEATURES_3_2   64u /* room for the numbers of WDDM 3.2 */

struct port {
    struct port_config config;
    struct ddi_handles handles; /* DeviceHandle values, CPU events */
    struct list drivers, adapter_list;
    struct port_driver *loading; /* its DriverEntry runs now */
    struct sim_mutex add_lock;   /* AddDevice is serialized (THREAD-025) */
    uint32_t next_luid;
    bool etw;
    UCHAR etw_level;
    struct physical_memory *physical;
    void (*end_clients)(void *context, struct port_adapter *adapter); /* port_on_stop; or NULL */
    void *end_clients_context;
    DRIVER_OBJECT dxgkrnl_driver; /* registration_device.c */
    DEVICE_OBJECT dxgkrnl_device;
};

struct port_driver {
    struct port *port;
    struct list link;
    DRIVER_OBJECT object;
    DRIVER_EXTENSION extension;
    char service[64];
    struct nt_image *image;
    DRIVER_INITIALIZATION_DATA table;
    bool registered;
    bool initialize_called;
    NTSTATUS initialize_status;
    uint32_t adapters;
    struct ddi_loan registry_path;  /* LIFE-008 */
    struct ddi_adapter unload_door; /* for DxgkDdiUnload, which belongs to no adapter */
};

enum port_state { PORT_ADDED, PORT_STARTING, PORT_STARTED, PORT_STOPPED, PORT_REMOVED };

struct port_interrupt {
    struct port_adapter *adapter;
    struct sim_interrupt *line;
    bool notified;      /* NotifyInterrupt was called under its lock */
    bool queued;        /* QueueDpc was called under its lock */
    bool held;          /* raised during exclusive access (IOMMU-061) */
    bool masked;        /* after a storm, until the adapter stops (THREAD-057) */
    uint32_t unclaimed; /* consecutive calls that returned FALSE */
};

struct port_map {
    struct list link;
    void *address;
    uint64_t start, bytes;
    MEMORY_CACHING_TYPE cache;
    struct nt_process *process; /* of a user mode mapping; NULL: system space */
    bool ports;                 /* in the space of ports: only a record */
};

/* Power components (power_components.c). */
enum port_runtime_power {
    RUNTIME_POWER_OFF,
    RUNTIME_POWER_PREPARED,
    RUNTIME_POWER_STARTED,
    RUNTIME_POWER_STOPPED
};

struct port_component {
    DXGK_POWER_RUNTIME_COMPONENT info;
    uint32_t active; /* references by DxgkCbSetPowerComponentActive, and the host's own */
    UINT state;      /* F-state */
    ULONGLONG latency, residency; /* what the driver asked for */
    bool in_transition; /* DxgkDdiSetPowerComponentFState runs, or its completion is awaited */
    bool awaiting;      /* DxgkCbCompleteFStateTransition */
    bool held;          /* at F0 for a change of device power (LIFE-166) */
    bool used;          /* the driver has used it: it may be put to sleep */
};

struct port_adapter {
    struct port *port;
    struct port_driver *driver;
    struct bus_device *device;
    struct ddi_adapter ddi;
    struct list link;
    enum port_state state;
    bool lost;
    bool added;    /* AddDevice succeeded */
    HANDLE handle; /* DeviceHandle */
    LUID luid;
    GUID guid;
    DEVICE_OBJECT pdo;
    char software_key[160]; /* registry path (LIFE-085) */
    WCHAR software_key_wide[160];
    char name[64]; /* AdapterString */
    uint32_t client_references;
    bool dismantled; /* only the record is left, for clients that have not closed it */

    /* domain.c */
    struct iommu_domain *domain;
    enum iommu_mode mode;
    bool remapping;     /* DmaRemappingSupported counts */
    UINT isolation;     /* PORT_IOMMU_DOMAIN, _MAPPINGS, _ATTACHED in force */
    bool isolation_due; /* in D0 (IOMMU-064) */
    struct physical_adapter *physical;
    DXGK_PHYSICAL_MEMORY_RANGE *reserved;
    UINT32 reserved_count;
    bool isolation_asked; /* the queries that concern it were made, at the first start */

    /* answers to queries */
    UINT model;                   /* port_model_version */
    DXGK_WDDMVERSION device_wddm; /* of WDDMDEVICECAPS; 0: not said */
    uint64_t highest_visible;     /* 0: not said */
    DXGK_IOMMU_CAPS iommu_caps;
    DXGK_DRIVERCAPS caps;
    DXGK_PHYSICALADAPTERCAPS physical_caps;
    bool gpu_mmu;
    bool shared_address_space; /* IoMmu model in use */
    UINT nodes;
    struct vidsch_node_info node[PORT_MAX_NODES];
    DXGK_QUERYSEGMENTOUT4 segments;
    BYTE *segment_table;
    UINT segment_count;
    struct vidmm_bad_range *bad_range;
    UINT bad_range_count;
    DXGK_GPUMMUCAPS mmu;
    DXGK_PAGE_TABLE_LEVEL_DESC level[DXGK_MAX_PAGE_TABLE_LEVEL_COUNT];
    UINT history_bits[PORT_MAX_NODES];
    DXGK_GPUVERSION gpu_version;
    DXGK_ADAPTER_PERFDATACAPS perf_caps;
    DXGK_CHILD_DESCRIPTOR *child;
    BOOLEAN *child_connected;
    ULONG children;
    uint64_t features_asked;                     /* by DXGK_FEATURE_ID */
    DXGKDDI_FEATURE_INTERFACE feature_interface; /* of the driver, while it is started; or zeros */
    struct port_driver_feature *driver_feature;  /* what it answered; NULL: never asked */

    /* what the driver holds while it is started */
    struct ddi_loan start_loan;    /* DXGKRNL_INTERFACE and DXGK_START_INFO (LIFE-061) */
    struct ddi_loan resource_loan; /* CM_RESOURCE_LIST (LIFE-091) */
    struct list maps;
    struct list services; /* interfaces handed out (services.c) */
    struct list timed_operations;
    struct list debug_reports;
    uint32_t exclusions; /* asynchronous protected callbacks that have not run yet */
    bool bridge_open;    /* inside a callback with DXGK_EXCLUDE_BRIDGE_ACCESS (LIFE-094) */

    /* interrupts.c */
    struct port_interrupt interrupt[PORT_MAX_MESSAGES];
    struct sim_dpc dpc;
    bool dpc_running, dpc_notified, dpc_again;
    bool hold, dpc_held; /* exclusive access: interrupts and deferred calls wait */
    uint32_t unnotified; /* notifications recorded since the last NotifyDpc */
    bool owes_dpc;       /* notified in a synchronized routine, no DPC queued since (THREAD-062) */

    /* power_components.c, power.c */
    DEVICE_POWER_STATE power;
    enum port_runtime_power runtime_power;
    struct port_component *component;
    UINT components;
    struct sim_thread *power_thread;
    struct sim_waitq power_wait, power_done;
    bool power_end, power_ended;
    uint32_t power_calls; /* alternates the level of calls (THREAD-046) */
    bool stable_power;
    bool unplugged;
    struct sim_mutex power_lock; /* held across a change of device power */
    uint32_t power_users;        /* calls that need the present power state to stay */
    struct sim_waitq power_idle; /* woken when that becomes 0 */
    bool power_evacuated;        /* one of the evacuations is that of the present power state */
    struct sim_mutex evacuation_lock; /* held while one begins or ends */
    uint32_t evacuations; /* managers.c: not 0: video memory is empty and the GPU stands still */

    struct vidmm *vidmm;
    struct vidsch *vidsch;
    bool vidmm_started, vidsch_started, process_started;
};

/* One breach of a rule by what the driver answered: report and refuse (LIFE-003). */
#define REFUSE(rule, ...)                         \
    do {                                          \
        VIOLATION(rule, __VA_ARGS__);             \
        return STATUS_DEVICE_CONFIGURATION_ERROR; \
    } while (0)

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
void port_log(struct port *port, const char *format, ...) __attribute__((format(printf, 2, 3)));

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

/* Is the IoMmu model there? */
static inline bool port_shares_address_spaces(const struct port *port)
{
    return port->config.shared_address_space && port->config.iommu_present;
}

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
/* The interface the driver was built for: sizes of structures, and which members exist. */
static inline UINT port_driver_version(const struct port_adapter *adapter)
{
    return adapter->driver->table.Version;
}
/* The driver model it follows (CAPS-122), as the interface version that began it; known once DXGK_DRIVERCAPS is. */
static inline UINT port_model_version(const struct port_adapter *adapter)
{
    return adapter->model;
}

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
/* Segment descriptor of index 0 .. segment_count - 1. */
static inline const DXGK_SEGMENTDESCRIPTOR4 *port_segment(const struct port_adapter *adapter,
                                                          UINT index)
{
    return (const void *)(adapter->segment_table +
                          index * adapter->segments.SegmentDescriptorStride);
}

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

/* Whose driver this is. */
static inline struct port_adapter *port_adapter_of(struct ddi_adapter *ddi)
{
    return CONTAINER(ddi, struct port_adapter, ddi);
}

#define CALLER ((uintptr_t)__builtin_return_address(0))

#endif
