/* SPDX-License-Identifier: MIT */
/*
 * The only way into the driver. Every call of a DxgkDdi entry goes through here and is treated in
 * the same way: the synchronization level and class of the entry (THREAD-010 to THREAD-022), the
 * IRQL it is documented for, a span in the trace, attribution of kernel services to the driver's
 * image, and checks when it returns (level, APC disable count, spin locks; THREAD series). Callers
 * must not call an entry that is missing in the driver's table (ddi_has).
 *
 * Synchronization: level 0: reentrant, but one thread of a process at a time (levels 0 and 1);
 * level 1: one at a time per class; level 2 and 3: alone in the driver. Waiting threads enter in
 * order of arrival.
 */
#ifndef DXGK_DDI_H
#define DXGK_DDI_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <dispmprt.h>
#include <dxgk_wddm3_2.h>

#include "ddi/entry.h"
#include "ddi/frame.h"
#include "ddi/handle.h"
#include "sim/machine.h"
#include "trace/trace.h"
#include "util/list.h"
#include "verify/verify.h"

#define DDI_ROOMS 4u

struct nt_image;
struct nt_process;
/* The driver of one adapter as the host calls it: table, context, and which threads are inside. */
struct ddi_adapter {
    DRIVER_INITIALIZATION_DATA table; /* members newer than table.Version are NULL */
    /* the one entry of a display-only driver that the table does not have; NULL: another driver */
    PDXGKDDI_PRESENTDISPLAYONLY present_display_only;
    PVOID context; /* MiniportDeviceContext */
    struct nt_image *image;
    char driver_name[64];
    struct ddi_handles handles;               /* host handles given to the driver */
    struct ddi_locks *locks;                  /* private */
    uint64_t calls;                           /* number of DDI calls so far */
    const char *failed_entry, *failed_detail; /* the last call that it failed; type of a query */
    NTSTATUS failed_status;
    /* virtual ns that an ISR, a DPC or a DDI at raised level may take; 0: 500 ms (THREAD-067) */
    uint64_t raised_limit;
    bool gone;              /* after a forced removal: no DDI is called any more (LIFE-151) */
    bool reset_at_bugcheck; /* call DxgkDdiResetDevice before a bug check (LIFE-143) */
    bool asleep;            /* not in D0: client calls wake the adapter first (LIFE-156) */
    void (*wake)(struct ddi_adapter *adapter); /* set with `asleep` */
    /* Run fn where the service routine cannot run, at its level; NULL: at the caller's. */
    void (*synchronize)(struct ddi_adapter *adapter, bool (*fn)(void *arg), void *arg);
    bool compute_only;
    bool low_irql_preempt;     /* SchedulingCaps.LowIrqlPreemptCommand */
    bool raised_submit;        /* SubmitCommandVirtual at DISPATCH_LEVEL (THREAD-042) */
    struct ddi_called *called; /* where entries that are called are noted (told.h); NULL: nowhere */
    uint64_t features; /* bit n: the driver was told that DXGK_FEATURE_ID n is enabled (LIFE-126) */
    void *room[DDI_ROOMS]; /* what upper rooms keep for this adapter, by their keys */
};

/* The key of an upper room, a static object. It is claimed before main; each adapter's value is
 * NULL at first. The room provides a typed function around ddi_room (vidmm_of_adapter,
 * vidsch_of_adapter, ...). */
struct ddi_room {
    unsigned index;
};

/* Give the key an index; ends the process if there is none left. */
void ddi_room_claim(struct ddi_room *room);

#define DDI_ROOM_CLAIM(name)                                    \
    __attribute__((constructor)) static void claim_##name(void) \
    {                                                           \
        ddi_room_claim(&(name));                                \
    }

static inline void *ddi_room(const struct ddi_adapter *adapter, const struct ddi_room *room)
{
    return adapter->room[room->index];
}

static inline void ddi_set_room(struct ddi_adapter *adapter, const struct ddi_room *room,
                                void *state)
{
    adapter->room[room->index] = state;
}

NTSTATUS ddi_adapter_init(struct ddi_adapter *adapter, const DRIVER_INITIALIZATION_DATA *table,
                          struct nt_image *image, const char *driver_name);
void ddi_adapter_finish(struct ddi_adapter *adapter);

/* True if the driver's version has the entry and it is not NULL. */
#define ddi_has(adapter, entry) ((adapter)->table.entry != NULL)

static inline bool ddi_feature_granted(const struct ddi_adapter *adapter, DXGK_FEATURE_ID feature)
{
    return (UINT)feature < 64 && adapter->features >> (UINT)feature & 1;
}

/* Whether it was the driver that failed a call. A call that is kept from it, because the adapter is
 * gone or the machine has stopped, fails too, and nobody is to blame. */
bool ddi_driver_failed(const struct ddi_adapter *adapter, NTSTATUS status);

/* From BeginExclusiveAccess to EndExclusiveAccess, and during a reset, only the calling thread may
 * enter the driver (THREAD-033, THREAD-036). Waits at most `limit` virtual ns until no other thread
 * is inside, else returns STATUS_IO_TIMEOUT (the better known STATUS_TIMEOUT is not an error
 * status). */
NTSTATUS ddi_exclude_others(struct ddi_adapter *adapter, uint64_t limit);
void ddi_admit_others(struct ddi_adapter *adapter);
/* THREAD-037: report, instead of hanging, that `name` waited 60 s for the driver, and which calls
 * are inside. */
void ddi_report_inside(const struct ddi_adapter *adapter, const char *name);

/* Whether the current thread is alone in the driver: inside a DDI of level 2 or 3, or of an
 * exclusion. No other thread, not even for paging, enters the driver before that ends. */
bool ddi_is_alone(const struct ddi_adapter *adapter);

/* Reports of places and of driver faults, of the current machine and log. `symbolize` writes
 * "gpu.so!StartDevice+0x42" for an address inside a driver image; false: not in one. `frame`: for a
 * line of a stack, of where a call `returns` to or not; NULL: no stacks. `import_name`: the routine
 * that an image called, by return address and, if known, its own; may be NULL. `bugcheck` is called
 * before the machine stops, after CollectDbgInfo. */
struct ddi_hooks {
    bool (*symbolize)(uintptr_t pc, char *text, size_t bytes);
    bool (*frame)(uintptr_t pc, bool returns, char *text, size_t bytes);
    bool (*import_name)(uintptr_t caller, uintptr_t routine, char *name, size_t bytes);
    void (*bugcheck)(const struct verify_bugcheck *bugcheck);
};
/* False: out of memory. */
bool ddi_install(const struct ddi_hooks *hooks);
/* Whose driver is asked for a screen in a bug check, and what asks it, at HIGH_LEVEL; NULL: nobody
 * any more. False: the driver gave none, and DxgkDdiResetDevice follows if that was requested
 * (PRES-042). */
void ddi_set_screen(struct ddi_adapter *adapter,
                    bool (*draw)(struct ddi_adapter *adapter,
                                 const struct verify_bugcheck *bugcheck));
/* Name of a place in driver code, from the installed hook; false: none is known. */
bool ddi_symbolize(uintptr_t pc, char *text, size_t bytes);
/* Release what is not on the machine's heap. Called at the end of a machine, even of a stopped
 * one. */
void ddi_uninstall(void);

/* ---- entries: names as in the headers; arguments and results as documented there ---- */

NTSTATUS ddi_add_device(struct ddi_adapter *a, PDEVICE_OBJECT pdo, PVOID *context);
NTSTATUS ddi_link_device(struct ddi_adapter *a, PDEVICE_OBJECT pdo, PLINKED_DEVICE linked);
NTSTATUS ddi_exchange_pre_start_info(struct ddi_adapter *a, PDXGK_PRE_START_INFO info);
NTSTATUS ddi_start_device(struct ddi_adapter *a, PDXGK_START_INFO info, PDXGKRNL_INTERFACE services,
                          PULONG sources, PULONG children);
NTSTATUS ddi_stop_device(struct ddi_adapter *a);
NTSTATUS ddi_remove_device(struct ddi_adapter *a);
void ddi_unload(struct ddi_adapter *a);
NTSTATUS ddi_query_adapter_info(struct ddi_adapter *a, const DXGKARG_QUERYADAPTERINFO *args);
NTSTATUS ddi_get_node_metadata(struct ddi_adapter *a, UINT node, DXGKARG_GETNODEMETADATA *args);
NTSTATUS ddi_query_child_relations(struct ddi_adapter *a, PDXGK_CHILD_DESCRIPTOR children,
                                   ULONG bytes);
NTSTATUS ddi_query_child_status(struct ddi_adapter *a, PDXGK_CHILD_STATUS status,
                                BOOLEAN non_destructive_only);
NTSTATUS ddi_query_device_descriptor(struct ddi_adapter *a, ULONG child,
                                     PDXGK_DEVICE_DESCRIPTOR descriptor);
NTSTATUS ddi_notify_acpi_event(struct ddi_adapter *a, DXGK_EVENT_TYPE type, ULONG event,
                               PVOID argument, PULONG flags);
NTSTATUS ddi_notify_surprise_removal(struct ddi_adapter *a, DXGK_SURPRISE_REMOVAL_TYPE type);
/* at the current level, whatever that is (LIFE-143) */
void ddi_reset_device(struct ddi_adapter *a);
void ddi_set_stable_power_state(struct ddi_adapter *a, BOOLEAN enable);
/* `irql` is PASSIVE or DISPATCH level (THREAD-046). */
NTSTATUS ddi_set_power_component_f_state(struct ddi_adapter *a, UINT component, UINT state,
                                         uint8_t irql);
NTSTATUS ddi_power_runtime_control_request(struct ddi_adapter *a, const GUID *code, uint8_t irql);
NTSTATUS ddi_set_power_state(struct ddi_adapter *a, ULONG uid, DEVICE_POWER_STATE state,
                             POWER_ACTION action);
NTSTATUS ddi_control_interrupt(struct ddi_adapter *a, DXGK_INTERRUPT_TYPE type, BOOLEAN enable);
NTSTATUS ddi_control_interrupt2(struct ddi_adapter *a, DXGKARG_CONTROLINTERRUPT2 args);
NTSTATUS ddi_control_interrupt3(struct ddi_adapter *a, const DXGKARG_CONTROLINTERRUPT3 *args);
void ddi_control_etw_logging(struct ddi_adapter *a, BOOLEAN enable, ULONG flags, UCHAR level);
BOOLEAN ddi_interrupt_routine(struct ddi_adapter *a,
                              ULONG message); /* at DIRQL, under the interrupt lock */
void ddi_dpc_routine(struct ddi_adapter *a);  /* at DISPATCH */
NTSTATUS ddi_escape(struct ddi_adapter *a, const DXGKARG_ESCAPE *args);
NTSTATUS ddi_query_interface(struct ddi_adapter *a, PQUERY_INTERFACE query);
NTSTATUS ddi_dispatch_io_request(struct ddi_adapter *a, ULONG source, PVIDEO_REQUEST_PACKET packet);
/* Routines of an interface that the driver provided (LIFE-128, LIFE-131). */
void ddi_dereference_interface(struct ddi_adapter *a, PINTERFACE_DEREFERENCE routine, PVOID context);
NTSTATUS ddi_query_feature_support(struct ddi_adapter *a, PDXGKDDI_QUERYFEATURESUPPORT routine,
                                   DXGKARG_QUERYFEATURESUPPORT *args);

NTSTATUS ddi_create_cpu_event(struct ddi_adapter *a, DXGKARG_CREATECPUEVENT *args);
NTSTATUS ddi_destroy_cpu_event(struct ddi_adapter *a, HANDLE event);
NTSTATUS ddi_create_process(struct ddi_adapter *a, DXGKARG_CREATEPROCESS *args);
NTSTATUS ddi_destroy_process(struct ddi_adapter *a, HANDLE process);
NTSTATUS ddi_create_device(struct ddi_adapter *a, DXGKARG_CREATEDEVICE *args);
/* The same with pInfo in place of Flags, for a driver without contexts (PATCH-008). */
NTSTATUS ddi_create_device_with_info(struct ddi_adapter *a, DXGKARG_CREATEDEVICE *args);
NTSTATUS ddi_destroy_device(struct ddi_adapter *a, HANDLE device);
NTSTATUS ddi_create_context(struct ddi_adapter *a, HANDLE device, DXGKARG_CREATECONTEXT *args);
NTSTATUS ddi_destroy_context(struct ddi_adapter *a, HANDLE context);

NTSTATUS ddi_create_allocation(struct ddi_adapter *a, DXGKARG_CREATEALLOCATION *args);
NTSTATUS ddi_destroy_allocation(struct ddi_adapter *a, const DXGKARG_DESTROYALLOCATION *args);
NTSTATUS ddi_open_allocation(struct ddi_adapter *a, HANDLE device,
                             const DXGKARG_OPENALLOCATION *args);
NTSTATUS ddi_close_allocation(struct ddi_adapter *a, HANDLE device,
                              const DXGKARG_CLOSEALLOCATION *args);
NTSTATUS ddi_describe_allocation(struct ddi_adapter *a, DXGKARG_DESCRIBEALLOCATION *args);
NTSTATUS ddi_validate_update_allocation_property(struct ddi_adapter *a,
                                                 const DXGKARG_VALIDATEUPDATEALLOCPROPERTY *args);
NTSTATUS ddi_standard_data(struct ddi_adapter *a, DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *args);
NTSTATUS ddi_set_allocation_backing_store(struct ddi_adapter *a,
                                          const DXGKARG_SETALLOCATIONBACKINGSTORE *args);
NTSTATUS ddi_acquire_swizzling_range(struct ddi_adapter *a, DXGKARG_ACQUIRESWIZZLINGRANGE *args);
NTSTATUS ddi_release_swizzling_range(struct ddi_adapter *a,
                                     const DXGKARG_RELEASESWIZZLINGRANGE *args);
NTSTATUS ddi_map_cpu_host_aperture(struct ddi_adapter *a, const DXGKARG_MAPCPUHOSTAPERTURE *args);
NTSTATUS ddi_unmap_cpu_host_aperture(struct ddi_adapter *a,
                                     const DXGKARG_UNMAPCPUHOSTAPERTURE *args);
SIZE_T ddi_get_root_page_table_size(struct ddi_adapter *a, DXGKARG_GETROOTPAGETABLESIZE *args);
void ddi_set_root_page_table(struct ddi_adapter *a, const DXGKARG_SETROOTPAGETABLE *args);
NTSTATUS ddi_build_paging_buffer(struct ddi_adapter *a, DXGKARG_BUILDPAGINGBUFFER *args);
NTSTATUS ddi_signal_monitored_fence(struct ddi_adapter *a, HANDLE context,
                                    DXGKARG_SIGNALMONITOREDFENCE *args);
NTSTATUS ddi_render(struct ddi_adapter *a, HANDLE context, DXGKARG_RENDER *args);
NTSTATUS ddi_render_km(struct ddi_adapter *a, HANDLE context, DXGKARG_RENDER *args);
NTSTATUS ddi_render_gdi(struct ddi_adapter *a, HANDLE context, DXGKARG_RENDERGDI *args);
NTSTATUS ddi_patch(struct ddi_adapter *a, const DXGKARG_PATCH *args);
NTSTATUS ddi_submit_command(struct ddi_adapter *a, const DXGKARG_SUBMITCOMMAND *args);
NTSTATUS ddi_validate_submit_command(struct ddi_adapter *a, HANDLE context,
                                     const DXGKARG_VALIDATESUBMITCOMMAND *args);
NTSTATUS ddi_submit_command_virtual(struct ddi_adapter *a, const DXGKARG_SUBMITCOMMANDVIRTUAL *args);
NTSTATUS ddi_preempt_command(struct ddi_adapter *a, const DXGKARG_PREEMPTCOMMAND *args);
NTSTATUS ddi_cancel_command(struct ddi_adapter *a, const DXGKARG_CANCELCOMMAND *args);
NTSTATUS ddi_query_current_fence(struct ddi_adapter *a, DXGKARG_QUERYCURRENTFENCE *args);
NTSTATUS ddi_query_dependent_engine_group(struct ddi_adapter *a,
                                          DXGKARG_QUERYDEPENDENTENGINEGROUP *args);
NTSTATUS ddi_query_engine_status(struct ddi_adapter *a, DXGKARG_QUERYENGINESTATUS *args);
NTSTATUS ddi_reset_engine(struct ddi_adapter *a, DXGKARG_RESETENGINE *args);
NTSTATUS ddi_reset_from_timeout(struct ddi_adapter *a);
NTSTATUS ddi_restart_from_timeout(struct ddi_adapter *a);
NTSTATUS ddi_collect_dbg_info(struct ddi_adapter *a, const DXGKARG_COLLECTDBGINFO *args);
/* Like ddi_collect_dbg_info, with a buffer of the host, whose use is checked. `extension` is filled
 * in; may be NULL. */
NTSTATUS ddi_debug_report(struct ddi_adapter *a, uint32_t reason,
                          DXGKARG_COLLECTDBGINFO_EXT *extension);
NTSTATUS ddi_begin_exclusive_access(struct ddi_adapter *a, DXGKARG_BEGINEXCLUSIVEACCESS *args);
NTSTATUS ddi_end_exclusive_access(struct ddi_adapter *a, DXGKARG_ENDEXCLUSIVEACCESS *args);

#endif
