/* SPDX-License-Identifier: MIT */
/*
 * The memory callbacks: contiguous memory, pages, MDLs, frame buffer save, physical memory objects and ADLs. Each checks handle,
 * state and level (THREAD-049, PHYS-011 to PHYS-013) and passes the driver's structure on to vidmm's physical memory services.
 */
#include <stdio.h>

#include "nt/retired_view.h"
#include "nt/user_range.h"
#include "port/port_private.h"
#include "sim/fault.h"
#include "sim/interrupt.h"
#include "sim/irql.h"
#include "sim/machine.h"

/* ---- what the services ask back ---- */

static void *io_map(void *context, struct phys_addr address, uint64_t bytes, enum ram_cache cache)
{
    struct port *port = context;
    void *mapped = bus_map(port->config.bus, address, bytes);

    bus_set_cache(port->config.bus, mapped, cache);
    return mapped;
}

static void io_unmap(void *context, void *mapping)
{
    struct port *port = context;

    bus_unmap(port->config.bus, mapping);
}

void port_view_ends(struct port *port, const void *base, uint64_t bytes, const char *what)
{
    const struct ddi_frame *frame = ddi_current_frame();
    struct phys_addr physical;
    char bar[64], text[128];

    if (bus_physical(port->config.bus, base, &physical) &&
        bus_describe(port->config.bus, physical, bar, sizeof(bar)))
        snprintf(text, sizeof(text), "%s%s%s", what ? what : "", what ? " over " : "", bar);
    else
        snprintf(text, sizeof(text), "%s", what ? what : "device memory");
    if (frame && frame->caller)
        nt_view_retire(base, bytes, text, frame->name, (const void *)frame->caller);
    else
        nt_view_retire(base, bytes, text, NULL, NULL);
}

static void view_ends(void *context, const void *base, uint64_t bytes, const char *what)
{
    port_view_ends(context, base, bytes, what);
}

static bool user_view(void *context, struct nt_process *process, void *base, uint64_t bytes,
                      bool writable, const char *what)
{
    (void)context;
    return nt_user_range_add(process, base, bytes, writable ? NT_USER_WRITE : NT_USER_READ,
                             "PHYS-195", what);
}

static void user_view_ends(void *context, const void *base)
{
    (void)context;
    nt_user_range_remove(base);
}

static bool user_view_admit(void *context, const void *base)
{
    (void)context;
    return nt_user_range_admit(base);
}

static void user_view_shut(void *context, const void *base)
{
    (void)context;
    nt_user_range_shut(base);
}

static bool read_driver(void *context, void *to, const void *from, size_t bytes)
{
    (void)context;
    return sim_copy_checked(to, from, bytes);
}

static bool mdl_lend(void *context, PMDL mdl, const struct page_number *pages, uint64_t count)
{
    (void)context;
    return nt_mdl_lend(mdl, pages, (uint32_t)count);
}

static bool mdl_unmap(void *context, PMDL mdl)
{
    (void)context;
    return nt_mdl_take_back(mdl);
}

static bool symbolize(void *context, uintptr_t address, char *text, size_t bytes)
{
    (void)context;
    return ddi_symbolize(address, text, bytes);
}

static uintptr_t caller_of(void *context)
{
    (void)context;
    return sim_current->frame ? ddi_current_frame()->caller : 0;
}

struct physical_memory *port_physical_create(struct port *port)
{
    const struct physical_hooks hooks = {.io_map = io_map,
                                         .io_unmap = io_unmap,
                                         .view_ends = view_ends,
                                         .user_view = user_view,
                                         .user_view_ends = user_view_ends,
                                         .user_view_admit = user_view_admit,
                                         .user_view_shut = user_view_shut,
                                         .read_driver = read_driver,
                                         .mdl_lend = mdl_lend,
                                         .mdl_unmap = mdl_unmap,
                                         .caller = caller_of,
                                         .symbolize = symbolize,
                                         .context = port};

    return physical_memory_create(port->config.ram, &hooks);
}

struct physical_memory *port_physical_memory(struct port *port)
{
    return port->physical;
}

void port_process_ended(struct port *port, const struct nt_process *process)
{
    LIST_FOR(node, &port->adapter_list)
        port_maps_process_ended(CONTAINER(node, struct port_adapter, link), process);
    physical_memory_process_ended(port->physical, process);
}

/* ---- entry ---- */

/* The adapter whose driver calls: of the DDI in progress; outside of any (threads, timers), the only one there is. */
static struct port_adapter *calling_adapter(void)
{
    struct port *port = port_current();
    struct ddi_adapter *current = ddi_current_adapter();

    if (current)
        return port_adapter_of(current);
    return port && !list_empty(&port->adapter_list) &&
                   port->adapter_list.next == port->adapter_list.prev
               ? CONTAINER(port->adapter_list.next, struct port_adapter, link)
               : NULL;
}

/* The level rule of all memory callbacks: a report, fatal for a driver of WDDM 3.2 (PHYS-012, PHYS-014; none is admitted yet, for
 * want of that version's number), otherwise carried out (PHYS-013). */
static NTSTATUS begin(struct callback *cb, HANDLE handle, const char *name, uintptr_t caller,
                      unsigned flags)
{
    return callback_begin(cb, handle, name, caller, SIM_IRQL_APC, "THREAD-049",
                          flags | CALLBACK_CARRY_OUT);
}

/* PHYS-018, also where the service is not reached: the fields of *args that only come back are NULL. */
static NTSTATUS refused(NTSTATUS status, void *args, const size_t *fields, size_t count)
{
    void *const nothing = NULL;

    for (size_t i = 0; args && i < count; i++)
        (void)sim_copy_checked((char *)args + fields[i], &nothing, sizeof(nothing));
    return status;
}

#define OUTPUT(args, field) offsetof(__typeof__(*(args)), field)
/* The status of a call that fails before its service, for an argument with these fields that only come back. */
#define REFUSED(status, args, ...)                       \
    refused(status, args, (const size_t[]){__VA_ARGS__}, \
            sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t))

#define BODY_STATUS(handle, name, flags, call)                 \
    struct callback cb;                                        \
    NTSTATUS status = begin(&cb, handle, name, CALLER, flags); \
                                                               \
    if (!NT_SUCCESS(status))                                   \
        return status;                                         \
    status = (call);                                           \
    callback_end(&cb);                                         \
    return status

/* The same with an argument of which these fields only come back. */
#define BODY_OUT(handle, name, call, args, ...)            \
    struct callback cb;                                    \
    NTSTATUS status = begin(&cb, handle, name, CALLER, 0); \
                                                           \
    if (!NT_SUCCESS(status))                               \
        return REFUSED(status, args, __VA_ARGS__);         \
    status = (call);                                       \
    callback_end(&cb);                                     \
    return status

#define BODY_VOID(handle, name, flags, call)                  \
    struct callback cb;                                       \
                                                              \
    if (!NT_SUCCESS(begin(&cb, handle, name, CALLER, flags))) \
        return;                                               \
    (call);                                                   \
    callback_end(&cb)

/* ---- by adapter ---- */

static NTSTATUS NTAPI allocate_contiguous(IN_CONST_HANDLE h,
                                          INOUT_PDXGKARGCB_ALLOCATECONTIGUOUSMEMORY args)
{
    BODY_OUT(h, "DxgkCbAllocateContiguousMemory",
             physical_contiguous_allocate(cb.adapter->physical, args), args,
             OUTPUT(args, hMemoryHandle), OUTPUT(args, pMemory));
}

static NTSTATUS NTAPI free_contiguous(IN_CONST_HANDLE h,
                                      IN_CONST_PDXGKARGCB_FREECONTIGUOUSMEMORY args)
{
    BODY_STATUS(h, "DxgkCbFreeContiguousMemory", CALLBACK_FREEING,
                physical_contiguous_free(cb.adapter->physical, args));
}

static NTSTATUS NTAPI allocate_pages(IN_CONST_HANDLE h, INOUT_PDXGKARGCB_ALLOCATEPAGESFORMDL args)
{
    BODY_OUT(h, "DxgkCbAllocatePagesForMdl", physical_mdl_allocate(cb.adapter->physical, args),
             args, OUTPUT(args, hMemoryHandle), OUTPUT(args, pMdl));
}

static NTSTATUS NTAPI free_pages(IN_CONST_HANDLE h, IN_CONST_PDXGKARGCB_FREEPAGESFROMMDL args)
{
    BODY_STATUS(h, "DxgkCbFreePagesFromMdl", CALLBACK_FREEING,
                physical_mdl_free(cb.adapter->physical, args));
}

static NTSTATUS NTAPI map_mdl(IN_CONST_HANDLE h, INOUT_PDXGKARGCB_MAPMDLTOIOMMU args)
{
    BODY_OUT(h, "DxgkCbMapMdlToIoMmu", physical_iommu_mdl_map(cb.adapter->physical, args), args,
             OUTPUT(args, hMemoryHandle));
}

static void NTAPI unmap_mdl(IN_CONST_HANDLE h, IN_CONST_PDXGKARGCB_UNMAPMDLFROMIOMMU args)
{
    BODY_VOID(h, "DxgkCbUnmapMdlFromIoMmu", CALLBACK_FREEING,
              physical_iommu_mdl_unmap(cb.adapter->physical, args));
}

static NTSTATUS NTAPI save_pin(IN_CONST_HANDLE h, INOUT_PDXGKARGCB_PINFRAMEBUFFERFORSAVE args)
{
    BODY_OUT(h, "DxgkCbPinFrameBufferForSave", physical_save_pin(cb.adapter->physical, args), args,
             OUTPUT(args, pMdl));
}

static NTSTATUS NTAPI save_pin2(IN_CONST_HANDLE h, INOUT_PDXGKARGCB_PINFRAMEBUFFERFORSAVE2 args)
{
    BODY_OUT(h, "DxgkCbPinFrameBufferForSave2", physical_save_pin2(cb.adapter->physical, args),
             args, OUTPUT(args, pAdl));
}

static NTSTATUS NTAPI save_unpin(IN_CONST_HANDLE h, IN_CONST_PDXGKARGCB_UNPINFRAMEBUFFERFORSAVE args)
{
    BODY_STATUS(h, "DxgkCbUnpinFrameBufferForSave", CALLBACK_FREEING,
                physical_save_unpin(cb.adapter->physical, args));
}

static NTSTATUS NTAPI save_map(IN_CONST_HANDLE h, INOUT_PDXGKARGCB_MAPFRAMEBUFFERPOINTER args)
{
    BODY_OUT(h, "DxgkCbMapFrameBufferPointer", physical_save_map(cb.adapter->physical, args), args,
             OUTPUT(args, pBaseAddress));
}

static NTSTATUS NTAPI save_unmap(IN_CONST_HANDLE h, IN_CONST_PDXGKARGCB_UNMAPFRAMEBUFFERPOINTER args)
{
    BODY_STATUS(h, "DxgkCbUnmapFrameBufferPointer", CALLBACK_FREEING,
                physical_save_unmap(cb.adapter->physical, args));
}

/* ---- physical memory objects: the arguments name an adapter, or an object ---- */

/* Callbacks that name no adapter act for the one whose DDI is in progress; checks of place and level only. */
static NTSTATUS begin_without_adapter(struct callback *cb, const char *name, uintptr_t caller)
{
    if (!sim_current || sim_current->stopped)
        return STATUS_DEVICE_REMOVED;
    cb->adapter = calling_adapter();
    ddi_callback_enter(&cb->frame, cb->adapter ? &cb->adapter->ddi : NULL, name, caller);
    if (sim_in_interrupt()) {
        VIOLATION("THREAD-060", "%s was called inside the interrupt service routine", name);
        callback_end(cb);
        return STATUS_INVALID_DEVICE_REQUEST;
    }
    if (sim_irql() > SIM_IRQL_APC)
        verify_report("THREAD-049", callback_level_severity(cb->adapter),
                      "%s was called at %s; its limit is APC_LEVEL", name, nt_irql_name(sim_irql()));
    return STATUS_SUCCESS;
}

static struct physical_memory *memory(void)
{
    struct port *port = port_current();

    return port->physical;
}

static const void *calling_driver(const struct callback *cb)
{
    return cb->adapter ? cb->adapter->driver->image : NULL;
}

/* args->hAdapter: NULL, or a DeviceHandle. False: a bad handle (reported). */
static bool named_adapter(struct callback *cb, const HANDLE *field,
                          struct physical_adapter **adapter)
{
    HANDLE handle = NULL;
    struct port_adapter *found;

    *adapter = NULL;
    if (!field || !sim_copy_checked(&handle, field, sizeof(handle)) || !handle)
        return true; /* the service reports a bad structure itself */
    found = port_adapter_of_handle(handle);
    if (!found) {
        const struct port *port = port_current();

        VIOLATION("LIFE-063", "hAdapter is %s, no DeviceHandle of a present adapter",
                  ddi_handle_describe(&port->handles, handle).text);
        return false;
    }
    cb->adapter = found;
    *adapter = found->physical;
    return true;
}

static NTSTATUS NTAPI object_create(IN_OUT_PDXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args)
{
    struct callback cb;
    struct physical_adapter *adapter;
    NTSTATUS status = begin_without_adapter(&cb, "DxgkCbCreatePhysicalMemoryObject", CALLER);

    if (!NT_SUCCESS(status))
        return REFUSED(status, args, OUTPUT(args, hPhysicalMemoryObject),
                       OUTPUT(args, hAdapterMemoryObject));
    if (named_adapter(&cb, args ? &args->hAdapter : NULL, &adapter))
        status = physical_object_create(memory(), adapter, calling_driver(&cb),
                                        nt_process_current(), args);
    else
        status = REFUSED(STATUS_INVALID_PARAMETER, args, OUTPUT(args, hPhysicalMemoryObject),
                         OUTPUT(args, hAdapterMemoryObject));
    callback_end(&cb);
    return status;
}

static void NTAPI object_destroy(IN_CONST_PDXGKARGCB_DESTROY_PHYSICAL_MEMORY_OBJECT args)
{
    struct callback cb;

    if (!NT_SUCCESS(begin_without_adapter(&cb, "DxgkCbDestroyPhysicalMemoryObject", CALLER)))
        return;
    physical_object_destroy(memory(), args);
    callback_end(&cb);
}

static NTSTATUS NTAPI object_open(IN_OUT_PDXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT args)
{
    struct callback cb;
    struct physical_adapter *adapter;
    NTSTATUS status = begin_without_adapter(&cb, "DxgkCbOpenPhysicalMemoryObject", CALLER);

    if (!NT_SUCCESS(status))
        return REFUSED(status, args, OUTPUT(args, hAdapterMemoryObject));
    if (named_adapter(&cb, args ? &args->hAdapter : NULL, &adapter))
        status = physical_object_open(memory(), adapter, args);
    else
        status = REFUSED(STATUS_INVALID_PARAMETER, args, OUTPUT(args, hAdapterMemoryObject));
    callback_end(&cb);
    return status;
}

static void NTAPI object_close(IN_CONST_PDXGKARGCB_CLOSE_PHYSICAL_MEMORY_OBJECT args)
{
    struct callback cb;

    if (!NT_SUCCESS(begin_without_adapter(&cb, "DxgkCbClosePhysicalMemoryObject", CALLER)))
        return;
    physical_object_close(memory(), args);
    callback_end(&cb);
}

static NTSTATUS NTAPI object_map(IN_OUT_PDXGKARGCB_MAP_PHYSICAL_MEMORY args)
{
    struct callback cb;
    NTSTATUS status = begin_without_adapter(&cb, "DxgkCbMapPhysicalMemory", CALLER);

    if (!NT_SUCCESS(status))
        return REFUSED(status, args, OUTPUT(args, pMappedAddress));
    status = physical_object_map(memory(), nt_process_current(), args);
    callback_end(&cb);
    return status;
}

static void NTAPI object_unmap(IN_CONST_PDXGKARGCB_UNMAP_PHYSICAL_MEMORY args)
{
    struct callback cb;

    if (!NT_SUCCESS(begin_without_adapter(&cb, "DxgkCbUnmapPhysicalMemory", CALLER)))
        return;
    physical_object_unmap(memory(), nt_process_current(), args);
    callback_end(&cb);
}

static NTSTATUS NTAPI adl_allocate(IN_OUT_PDXGKARGCB_ALLOCATE_ADL args)
{
    struct callback cb;
    NTSTATUS status = begin_without_adapter(&cb, "DxgkCbAllocateAdl", CALLER);

    if (!NT_SUCCESS(status))
        return REFUSED(status, args, OUTPUT(args, pAdl));
    status = physical_adl_allocate(memory(), args);
    callback_end(&cb);
    return status;
}

static void NTAPI adl_free(IN_CONST_PDXGKARGCB_FREE_ADL args)
{
    struct callback cb;

    if (!NT_SUCCESS(begin_without_adapter(&cb, "DxgkCbFreeAdl", CALLER)))
        return;
    physical_adl_free(memory(), args);
    callback_end(&cb);
}

void port_fill_memory_callbacks(DXGKRNL_INTERFACE *interface)
{
    interface->DxgkCbAllocateContiguousMemory = allocate_contiguous;
    interface->DxgkCbFreeContiguousMemory = free_contiguous;
    interface->DxgkCbAllocatePagesForMdl = allocate_pages;
    interface->DxgkCbFreePagesFromMdl = free_pages;
    interface->DxgkCbPinFrameBufferForSave = save_pin;
    interface->DxgkCbPinFrameBufferForSave2 = save_pin2;
    interface->DxgkCbUnpinFrameBufferForSave = save_unpin;
    interface->DxgkCbMapFrameBufferPointer = save_map;
    interface->DxgkCbUnmapFrameBufferPointer = save_unmap;
    interface->DxgkCbMapMdlToIoMmu = map_mdl;
    interface->DxgkCbUnmapMdlFromIoMmu = unmap_mdl;
    interface->DxgkCbCreatePhysicalMemoryObject = object_create;
    interface->DxgkCbDestroyPhysicalMemoryObject = object_destroy;
    interface->DxgkCbOpenPhysicalMemoryObject = object_open;
    interface->DxgkCbClosePhysicalMemoryObject = object_close;
    interface->DxgkCbMapPhysicalMemory = object_map;
    interface->DxgkCbUnmapPhysicalMemory = object_unmap;
    interface->DxgkCbAllocateAdl = adl_allocate;
    interface->DxgkCbFreeAdl = adl_free;
}
