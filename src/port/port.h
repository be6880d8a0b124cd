/* SPDX-License-Identifier: MIT */
/*
 * The port driver: registration of miniports, the adapter's life from AddDevice to Unload, capability queries and admission,
 * and the DXGKRNL_INTERFACE, whose callbacks validate and then call the room that owns the matter.
 *
 * Life of an adapter (LIFE-050, LIFE-066, LIFE-072):
 *
 *   AddDevice -> [LinkDevice] -> [ExchangePreStartInfo] -> WDDMDEVICECAPS, PHYSICAL_MEMORY_CAPS, IOMMU_CAPS
 *   -> DMA mode chosen, domain attached -> interrupts connected -> StartDevice
 *   -> DRIVERCAPS -> PHYSICALADAPTERCAPS -> frame buffer save, reserved ranges -> segments -> MMU caps and levels
 *   -> node metadata -> power components -> history precision -> performance types -> children -> ETW state
 *   -> memory manager and scheduler start -> open to clients
 *   ... -> StopDevice -> interrupts disconnected -> RemoveDevice -> Unload
 *
 * A refusal is one violation that names the rule and the value, and a status as LIFE-003 says. All functions run on a
 * simulated thread of the system process at PASSIVE_LEVEL.
 */
#ifndef DXGK_PORT_H
#define DXGK_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <dispmprt.h>

#include "bus/bus.h"
#include "ddi/ddi.h"
#include "iommu/iommu.h"
#include "vidmm/all.h"
#include "vidsch/vidsch.h"

struct port;
struct port_driver;
struct port_adapter;

#define PORT_MAX_SEGMENTS 31u

/* What a driver said. Only the table: it registered. Else what it answered while its adapter started, as far as it was asked;
 * zeros: it was not. Good during the call. */
struct port_answers {
    const DRIVER_INITIALIZATION_DATA *table; /* members that its Version does not have are NULL */
    const DXGK_DRIVERCAPS *caps;             /* NULL: it registered, and all below is empty */
    const DXGK_GPUMMUCAPS *mmu;
    const DXGK_PAGE_TABLE_LEVEL_DESC *level;
    const struct vidsch_node_info *node;
    const DXGK_SEGMENTDESCRIPTOR4 *segment[PORT_MAX_SEGMENTS];
    UINT nodes, segments, paging_buffer_bytes, paging_buffer_segment;
    bool gpu_mmu;
    NTSTATUS status; /* of the start */
};

/* IOMMUFlags; the first three also tell what is in force. */
enum port_iommu_flags {
    PORT_IOMMU_DOMAIN = 0x01,
    PORT_IOMMU_MAPPINGS = 0x02,
    PORT_IOMMU_ATTACHED = 0x04,
    PORT_IOMMU_BYPASS_CAP = 0x08,
    PORT_IOMMU_ALLOW_FAILURE = 0x10
};

/* Versions of a feature that the host speaks; of one that is not listed, version 1 alone. */
struct port_feature_versions {
    DXGK_FEATURE_ID feature;
    UINT16 min, max;
};

#define PORT_MAX_FIRMWARE_TABLES 64u

/* A table of the simulated firmware, as drivers may read it. */
struct port_firmware_table {
    ULONG provider; /* 'ACPI', 'FIRM' or 'RSMB' */
    ULONG id;
    const void *data;
    ULONG bytes;
};

struct port_config {
    struct ram *ram;
    struct bus *bus;
    enum iommu_mode
        iommu; /* ISOLATION: an IOMMU, used as flags 0x7 say; REMAP: one, and forced logical mode (IOMMU-026) */
    bool iommu_present; /* there is an IOMMU; implied by both */
    UINT iommu_flags;   /* the setting IOMMUFlags: PORT_IOMMU_*, without effect if there is none */
    bool remapping_opt_out; /* drivers are installed without DmaRemappingCompatible (IOMMU-028) */
    bool shared_address_space; /* the IoMmu model is offered, on a machine with an IOMMU (CAPS-062) */
    bool dma_unjudged;         /* accesses to RAM that nobody holds are no violations (IOMMU-075) */
    UINT interface_version;    /* of the host; 0: the newest */
    UINT required_dma_queue_entry; /* 0: 2 */
    bool split_dma_buffers;        /* WDDM 1.x: at every split point (PATCH-132) */
    struct vidsch_tdr_settings tdr;
    NTSTATUS initialize_failure; /* DxgkInitialize fails with it; 0: it does not (LIFE-012) */
    /* Bit n: drivers may turn on DXGK_FEATURE_ID n (LIFE-122). The sharing of backing stores needs no permission (PHYS-183). */
    uint64_t features;
    bool experiments; /* experimental support of a feature will do (LIFE-124) */
    /* Features as WDDM 3.2 has them: versions, and interfaces on both sides (LIFE-127). The tables that drivers are given stay
     * those of interface_version. */
    bool wddm_3_2;
    const struct port_feature_versions *feature_versions; /* read while the machine lives; may be NULL */
    size_t feature_version_count;
    const struct port_firmware_table *firmware; /* read while the machine lives; may be NULL */
    size_t firmware_tables;                     /* at most PORT_MAX_FIRMWARE_TABLES count */
    uint64_t raised_limit_ns; /* longest DPC, ISR or DDI at raised level; 0: 500 ms (THREAD-067) */
    bool measure_interrupts;  /* report DPCs over 100 us and ISRs over 25 us (THREAD-067) */
    uint64_t unload_limit_ns; /* how long an unloaded image may keep running; 0: 10 s (LIFE-178) */
    bool reset_device; /* simulate the bug check screen: DxgkDdiResetDevice before the stop (LIFE-143) */
    /* A line of news for a person ("adapter refused: ..."); may be NULL. */
    void (*log)(void *context, const char *line);
    void *log_context;
    /* Told what a driver registered, and what it answered at the start of an adapter, refused or not, before that is forgotten;
     * may be NULL. */
    void (*observe)(void *context, const struct port_answers *answers);
    void *observe_context;
};

/* State of the current machine. */
NTSTATUS port_create(const struct port_config *config, struct port **port);
/* NULL: no machine is entered, or it has none. */
struct port *port_current(void);
void port_destroy(struct port *port);

/* Call the image's DriverEntry. On failure the image counts as not loaded and its leaks are reported (LIFE-009). `file` is the
 * path for reports. */
NTSTATUS port_driver_start(struct port *port, const char *service, struct nt_image *image,
                           PDRIVER_INITIALIZE entry, struct port_driver **driver);
/* Unload, after the last adapter was removed; leak check. Returns how many things were left. */
uint64_t port_driver_stop(struct port_driver *driver);

NTSTATUS port_adapter_add(struct port_driver *driver, struct bus_device *device,
                          struct port_adapter **adapter);
/* No new work, drain, end what clients have on it (port_on_stop), stop, remove. The record stays as long as a client holds it
 * (port_adapter_retain), and is lost. */
void port_adapter_remove(struct port_adapter *adapter);
/* Who ends what clients have on an adapter, before it stops (LIFE-168); NULL: nobody has anything. */
void port_on_stop(struct port *port, void (*end)(void *context, struct port_adapter *adapter),
                  void *context);

/* ---- what may befall a started adapter ---- */

/* Resource rebalance: StopDevice, then StartDevice with the same context (LIFE-173). On failure the adapter is stopped and lost;
 * it still has to be removed. Not while a client has it open: STATUS_DEVICE_BUSY. */
NTSTATUS port_adapter_restart(struct port_adapter *adapter);
/* To another power state (LIFE-152 to LIFE-156), also with clients on it: their work waits, and what they have in video memory is
 * safe. The present one: nothing happens. STATUS_NO_MEMORY and the like: it could not be made safe, and the state stays. */
NTSTATUS port_adapter_set_power(struct port_adapter *adapter, DEVICE_POWER_STATE state,
                                POWER_ACTION action);
DEVICE_POWER_STATE port_adapter_power(const struct port_adapter *adapter);
/* Power it up, if need be, and keep it so until the other (LIFE-139). */
NTSTATUS port_adapter_power_hold(struct port_adapter *adapter);
void port_adapter_power_release(struct port_adapter *adapter);
/* Pull the device out while the machine runs (LIFE-147 to LIFE-151), also with clients on it. Without the driver's support it is
 * STATUS_NOT_SUPPORTED, unless forced; then no DDI of the adapter is called any more. It is removed as usual afterwards. */
NTSTATUS port_adapter_unplug(struct port_adapter *adapter, DXGK_SURPRISE_REMOVAL_TYPE type,
                             bool force);
/* The only change of mode is from physical to isolated (IOMMU-003), also with clients on it. STATUS_PENDING: when it is in D0
 * again (IOMMU-064). STATUS_NOT_SUPPORTED: another change, or there is no IOMMU. Otherwise a failure of the switch. */
NTSTATUS port_adapter_set_dma_mode(struct port_adapter *adapter, enum iommu_mode mode);
/* A secure virtual machine is made on it: isolation is switched on if it is not (IOMMU-042). */
NTSTATUS port_adapter_create_secure_vm(struct port_adapter *adapter);
enum iommu_mode port_adapter_dma_mode(const struct port_adapter *adapter);
/* PORT_IOMMU_DOMAIN, _MAPPINGS and _ATTACHED: what IOMMUFlags, the driver or somebody else brought about. */
UINT port_adapter_isolation(const struct port_adapter *adapter);
/* What Windows calls an answer of the simulated IOMMU. */
NTSTATUS port_iommu_status(enum iommu_result result);
/* A profiler asks for constant clocks, or gives them back (LIFE-146). STATUS_NOT_SUPPORTED: the driver has no such entry. */
NTSTATUS port_adapter_set_stable_power(struct port_adapter *adapter, bool enable);
/* Ask the driver for an interface (LIFE-131): `interface` has Size and Version preset and room for Size bytes, which are all
 * set on success. STATUS_NOT_SUPPORTED: it has no such interface; an answer that breaks the rule counts as that. The caller
 * gives the interface back by its InterfaceDereference. */
NTSTATUS port_adapter_query_interface(struct port_adapter *adapter, const GUID *type,
                                      PINTERFACE interface);
/* A request to the driver as a device of the video port had them (LIFE-132). STATUS_NOT_SUPPORTED: no such entry. */
NTSTATUS port_adapter_dispatch_io(struct port_adapter *adapter, ULONG source,
                                  PVIDEO_REQUEST_PACKET packet);
/* An event of a client that the driver signals (KMT-353): the driver is told of it with its own handle of the device. The event
 * object is the caller's to keep. STATUS_NOT_SUPPORTED: the driver has no such entry; else what it returned. */
struct port_cpu_event;
NTSTATUS port_cpu_event_create(struct port_adapter *adapter, HANDLE driver_device, void *event,
                               struct port_cpu_event **out);
void port_cpu_event_destroy(struct port_cpu_event *event); /* NULL: nothing */
/* The machine went to battery or to mains (LIFE-135). */
NTSTATUS port_adapter_notify_mains(struct port_adapter *adapter, bool mains);
/* Tracing of the drivers' own events on or off (LIFE-107); also told to adapters that start later. At first as the machine's
 * trace is. */
void port_set_etw(struct port *port, bool enable, UCHAR level);
bool port_feature_granted(const struct port_adapter *adapter, DXGK_FEATURE_ID feature);

/* ---- what the client interface asks ---- */
struct port_adapter *port_adapter_first(struct port *port);
struct port_adapter *port_adapter_next(struct port_adapter *adapter);
struct port_adapter *port_adapter_by_luid(struct port *port, LUID luid);
LUID port_adapter_luid(const struct port_adapter *adapter);
GUID port_adapter_guid(const struct port_adapter *adapter);
struct ddi_adapter *port_adapter_ddi(struct port_adapter *adapter);
struct vidmm *port_adapter_vidmm(struct port_adapter *adapter);
struct vidsch *port_adapter_vidsch(struct port_adapter *adapter);
const DXGK_DRIVERCAPS *port_adapter_caps(const struct port_adapter *adapter);
struct bus_device *port_adapter_bus_device(struct port_adapter *adapter);
struct iommu_domain *port_adapter_domain(struct port_adapter *adapter);
struct physical_adapter *port_adapter_physical(struct port_adapter *adapter);
/* A process is about to go: mappings that drivers left in it are reported and removed (PHYS-040, PHYS-159). */
void port_process_ended(struct port *port, const struct nt_process *process);
struct physical_memory *port_physical_memory(struct port *port);
UINT port_adapter_nodes(const struct port_adapter *adapter);
const DXGKARG_GETNODEMETADATA *port_adapter_node(const struct port_adapter *adapter, UINT node);
bool port_adapter_node_virtual(const struct port_adapter *adapter, UINT node);
bool port_adapter_gpu_mmu(const struct port_adapter *adapter);
/* Driven as WDDM 2.x, by its interface version and what it claims (CAPS-122). */
bool port_adapter_is_2x(const struct port_adapter *adapter);
const DXGK_GPUMMUCAPS *port_adapter_mmu(const struct port_adapter *adapter); /* zeros without GpuMmu */
uint64_t port_adapter_memory_size(
    const struct port_adapter *adapter); /* bytes, as the driver registered them; 0: not (LIFE-045) */
const DXGK_GPUVERSION *port_adapter_gpu_version(
    const struct port_adapter *adapter); /* zeros: not said (CAPS-110) */
const DXGK_ADAPTER_PERFDATACAPS *port_adapter_perf_caps(const struct port_adapter *adapter);
bool port_adapter_child_connected(const struct port_adapter *adapter, ULONG uid);
const char *port_adapter_name(
    const struct port_adapter *adapter); /* driver's AdapterString or the model's name */
DXGK_WDDMVERSION port_adapter_wddm(const struct port_adapter *adapter);
/* Lost for good (stopped, removed, bug check): calls give STATUS_DEVICE_REMOVED. */
bool port_adapter_lost(const struct port_adapter *adapter);
/* Client objects of the adapter, counted by kmt. */
void port_adapter_retain(struct port_adapter *adapter);
void port_adapter_release(struct port_adapter *adapter);

#endif
