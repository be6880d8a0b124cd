/* SPDX-License-Identifier: MIT */
/* What the files of port share. */
#ifndef DXGK_PORT_PRIVATE_H
#define DXGK_PORT_PRIVATE_H

#include "port/port.h"
#include "vidmm/physical_memory.h"

#define PORT_MAX_MESSAGES 32u
#define PORT_MAX_NODES DXGK_MAX_ASYMETRICAL_PROCESSING_NODES

struct port {
    struct port_config config;
    struct handle_table adapters; /* DeviceHandle values */
    struct list drivers, adapter_list;
    struct port_driver *loading;  /* its DriverEntry runs now */
    struct sim_mutex add_lock;    /* AddDevice is serialized (THREAD-025) */
    uint32_t next_luid;
    struct physical_memory *physical;
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
    NTSTATUS initialize_status;
    uint32_t adapters;
    struct ddi_adapter unload_door; /* for DxgkDdiUnload, which belongs to no adapter */
};

enum port_state { PORT_ADDED, PORT_STARTING, PORT_STARTED, PORT_STOPPED, PORT_REMOVED };

struct port_interrupt {
    struct port_adapter *adapter;
    struct sim_interrupt *line;
    bool notified;       /* NotifyInterrupt was called by this service routine */
};

struct port_map {
    struct list link;
    void *address;
    uint64_t start, bytes;
    MEMORY_CACHING_TYPE cache;
};

struct port_adapter {
    struct port *port;
    struct port_driver *driver;
    struct bus_device *device;
    struct ddi_adapter ddi;
    struct list link;
    enum port_state state;
    bool lost;
    uint32_t handle;        /* DeviceHandle */
    LUID luid;
    GUID guid;
    DEVICE_OBJECT pdo;
    uint32_t client_references;

    struct iommu_domain *pass_through; /* physical mode before isolation is attached */
    struct iommu_domain *domain;
    enum iommu_mode mode;
    bool attach_after_start;
    struct physical_adapter *physical;

    DXGK_WDDMVERSION device_wddm;      /* of WDDMDEVICECAPS; 0: not said */
    uint64_t highest_visible;          /* 0: not said */
    DXGK_IOMMU_CAPS iommu_caps;
    DXGK_DRIVERCAPS caps;
    DXGK_PHYSICALADAPTERCAPS physical_caps;
    bool gpu_mmu;
    UINT nodes;
    struct vidsch_node_info node[PORT_MAX_NODES];
    DXGK_QUERYSEGMENTOUT4 segments;
    BYTE *segment_table;
    UINT segment_count;
    DXGK_GPUMMUCAPS mmu;
    DXGK_PAGE_TABLE_LEVEL_DESC level[DXGK_MAX_PAGE_TABLE_LEVEL_COUNT];

    PCM_RESOURCE_LIST resources;
    struct list maps;
    struct port_interrupt interrupt[PORT_MAX_MESSAGES];
    struct sim_dpc dpc;
    bool dpc_running, dpc_notified, dpc_again;
    uint32_t unnotified;               /* notifications recorded since the last NotifyDpc */
    struct vidmm *vidmm;
    struct vidsch *vidsch;
    bool vidmm_started, vidsch_started, process_started;
};

/* registration.c */
UINT port_interface_version(const struct port *port);
bool port_version_official(ULONG version);
size_t port_table_bytes(ULONG version);
void port_log(struct port *port, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* caps.c: the queries, each with its checks. */
NTSTATUS port_query_before_start(struct port_adapter *adapter);
NTSTATUS port_query_after_start(struct port_adapter *adapter);
/* One query with a zeroed, guarded output buffer (CAPS-005). */
NTSTATUS port_query(struct port_adapter *adapter, DXGK_QUERYADAPTERINFOTYPE type, const void *input, UINT input_bytes, void *output, UINT output_bytes);

/* segments.c, nodes.c */
NTSTATUS port_query_segments(struct port_adapter *adapter);
NTSTATUS port_query_mmu(struct port_adapter *adapter);
NTSTATUS port_query_nodes(struct port_adapter *adapter);
NTSTATUS port_query_children(struct port_adapter *adapter, ULONG children);

/* interface.c */
ULONG port_interface_bytes(UINT version);
void port_fill_interface(struct port_adapter *adapter, DXGKRNL_INTERFACE *interface, UINT version);

void port_dpc(struct sim_dpc *dpc);

/* resources.c */
NTSTATUS port_resources_create(struct port_adapter *adapter);
void port_resources_destroy(struct port_adapter *adapter);

/* memory_callbacks.c */
struct physical_memory *port_physical_create(struct port *port);
void port_fill_memory_callbacks(DXGKRNL_INTERFACE *interface);

/* The callbacks that live beside what they are about. */
BOOLEAN NTAPI port_cb_queue_dpc(HANDLE DeviceHandle);
void NTAPI port_cb_notify_interrupt(IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARGCB_NOTIFY_INTERRUPT_DATA data);
void NTAPI port_cb_notify_dpc(IN_CONST_HANDLE hAdapter);
NTSTATUS NTAPI port_cb_synchronize_execution(HANDLE DeviceHandle, PKSYNCHRONIZE_ROUTINE SynchronizeRoutine, PVOID Context,
                                             ULONG MessageNumber, PBOOLEAN ReturnValue);
NTSTATUS NTAPI port_cb_get_device_information(HANDLE DeviceHandle, PDXGK_DEVICE_INFO DeviceInfo);
NTSTATUS NTAPI port_cb_read_device_space(HANDLE DeviceHandle, ULONG DataType, PVOID Buffer, ULONG Offset, ULONG Length,
                                         PULONG BytesRead);
NTSTATUS NTAPI port_cb_write_device_space(HANDLE DeviceHandle, ULONG DataType, PVOID Buffer, ULONG Offset, ULONG Length,
                                          PULONG BytesWritten);
NTSTATUS NTAPI port_cb_map_memory(HANDLE DeviceHandle, PHYSICAL_ADDRESS TranslatedAddress, ULONG Length, BOOLEAN InIoSpace,
                                  BOOLEAN MapToUserMode, MEMORY_CACHING_TYPE CacheType, PVOID *VirtualAddress);
NTSTATUS NTAPI port_cb_unmap_memory(HANDLE DeviceHandle, PVOID VirtualAddress);

/* interrupts.c */
void port_interrupts_connect(struct port_adapter *adapter);
void port_interrupts_disconnect(struct port_adapter *adapter);

/* callback.c: entry and exit of every callback. */
struct callback {
    struct ddi_frame frame;
    struct port_adapter *adapter;
};

#define CALLBACK_FREEING 1u   /* accepted between StopDevice and the next start (LIFE-064) */
#define CALLBACK_ANY_IRQL 2u
#define CALLBACK_CARRY_OUT 4u /* above its limit it is reported and carried out (PHYS-013) */
#define CALLBACK_IN_ISR 8u    /* allowed inside the service routine (THREAD-060) */

/* STATUS_SUCCESS: go on, and end with callback_end. Otherwise the call has no effect and returns this. `rule`: the THREAD
 * rule that gives max_irql. */
NTSTATUS callback_begin(struct callback *callback, HANDLE device_handle, const char *name, uintptr_t caller, uint8_t max_irql, const char *rule, unsigned flags);
void callback_end(struct callback *callback);
struct port_adapter *port_adapter_of_handle(HANDLE device_handle);

#define CALLER ((uintptr_t)__builtin_return_address(0))

#endif
