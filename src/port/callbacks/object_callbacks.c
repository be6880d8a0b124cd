/* SPDX-License-Identifier: MIT */
/* Physical memory objects and ADLs: the arguments name an adapter, or an object (PHYS-011 to
 * PHYS-018). */
#include "port/callbacks/object_callbacks.h"
#include "ddi/handle.h"
#include "nt/base/current.h"
#include "nt/base/image.h"
#include "physmem/physical_services.h"
#include "port/callbacks/callback.h"
#include "port/record/adapter_info.h"
#include "port/record/adapter_record.h"
#include "port/record/boundary.h"
#include "port/record/machine.h"
#include "util/list.h"

static struct physical_memory *memory(void)
{
    struct port *port = port_current();

    return port->physical;
}

/* Who owns an object that belongs to no adapter (PHYS-144). A thread of a driver with several
 * adapters calls for none of them. */
static const void *calling_driver(const struct port_callback *cb)
{
    const struct list *drivers = &port_current()->drivers;

    if (cb->adapter)
        return cb->adapter->driver->image;
    if (!list_empty(drivers) && drivers->next == drivers->prev)
        return CONTAINER(drivers->next, struct port_driver, link)->image;
    return nt_image_current();
}

/* Look up hAdapter of the arguments, which may be NULL. False: a bad handle (reported). */
static bool named_adapter(struct port_callback *cb, HANDLE handle, struct physical_adapter **adapter)
{
    const struct port *port = port_current();
    struct port_adapter *found;

    *adapter = NULL;
    if (!handle)
        return true;
    found = port_callback_adapter(handle);
    if (!found) {
        VIOLATION("LIFE-063", "hAdapter is %s, no DeviceHandle of a present adapter",
                  ddi_handle_describe(&port->handles, handle).text);
        return false;
    }
    cb->adapter = found;
    *adapter = port_adapter_physical(found);
    return true;
}

/*
 * The services get a copy of the structure. If it cannot be copied, they get the driver's pointer:
 * they report a NULL pointer, and any other bad address faults there, which gives the driver a bug
 * check.
 */

static NTSTATUS create(struct port_callback *cb, DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *args)
{
    const struct nt_process *process = nt_process_current();
    struct physical_adapter *adapter = NULL;

    if (args && !named_adapter(cb, args->hAdapter, &adapter))
        return STATUS_INVALID_PARAMETER;
    return physical_object_create(memory(), adapter, calling_driver(cb),
                                  process == nt_process_system() ? NULL : process, args);
}

static NTSTATUS NTAPI object_create(IN_OUT_PDXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args)
{
    struct port_callback cb;
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT copy;
    NTSTATUS status = port_callback_begin_without_adapter(&cb, "DxgkCbCreatePhysicalMemoryObject",
                                                          PORT_CALLER);

    if (!NT_SUCCESS(status)) {
        (void)PORT_CLEAR_OUTPUTS(DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT, args);
        return status;
    }
    if (PORT_TAKE_FOR_OUTPUT(DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT, &copy, args)) {
        status = create(&cb, &copy);
        (void)PORT_GIVE(DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT, args, &copy);
    } else {
        status = create(&cb, args);
    }
    return port_callback_return(&cb, status);
}

static NTSTATUS open(struct port_callback *cb, DXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT *args)
{
    struct physical_adapter *adapter = NULL;

    if (args && !named_adapter(cb, args->hAdapter, &adapter))
        return STATUS_INVALID_PARAMETER;
    return physical_object_open(memory(), adapter, args);
}

static NTSTATUS NTAPI object_open(IN_OUT_PDXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT args)
{
    struct port_callback cb;
    DXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT copy;
    NTSTATUS status = port_callback_begin_without_adapter(&cb, "DxgkCbOpenPhysicalMemoryObject",
                                                          PORT_CALLER);

    if (!NT_SUCCESS(status)) {
        (void)PORT_CLEAR_OUTPUTS(DXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT, args);
        return status;
    }
    if (PORT_TAKE_FOR_OUTPUT(DXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT, &copy, args)) {
        status = open(&cb, &copy);
        (void)PORT_GIVE(DXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT, args, &copy);
    } else {
        status = open(&cb, args);
    }
    return port_callback_return(&cb, status);
}

static NTSTATUS NTAPI object_map(IN_OUT_PDXGKARGCB_MAP_PHYSICAL_MEMORY args)
{
    struct port_callback cb;
    DXGKARGCB_MAP_PHYSICAL_MEMORY copy;
    NTSTATUS status = port_callback_begin_without_adapter(&cb, "DxgkCbMapPhysicalMemory",
                                                          PORT_CALLER);

    if (!NT_SUCCESS(status)) {
        (void)PORT_CLEAR_OUTPUTS(DXGKARGCB_MAP_PHYSICAL_MEMORY, args);
        return status;
    }
    if (PORT_TAKE_FOR_OUTPUT(DXGKARGCB_MAP_PHYSICAL_MEMORY, &copy, args)) {
        status = physical_object_map(memory(), nt_process_current(), &copy);
        (void)PORT_GIVE(DXGKARGCB_MAP_PHYSICAL_MEMORY, args, &copy);
    } else {
        status = physical_object_map(memory(), nt_process_current(), args);
    }
    return port_callback_return(&cb, status);
}

static NTSTATUS NTAPI adl_allocate(IN_OUT_PDXGKARGCB_ALLOCATE_ADL args)
{
    struct port_callback cb;
    DXGKARGCB_ALLOCATE_ADL copy;
    NTSTATUS status = port_callback_begin_without_adapter(&cb, "DxgkCbAllocateAdl", PORT_CALLER);

    if (!NT_SUCCESS(status)) {
        (void)PORT_CLEAR_OUTPUTS(DXGKARGCB_ALLOCATE_ADL, args);
        return status;
    }
    if (PORT_TAKE_FOR_OUTPUT(DXGKARGCB_ALLOCATE_ADL, &copy, args)) {
        status = physical_adl_allocate(memory(), &copy);
        (void)PORT_GIVE(DXGKARGCB_ALLOCATE_ADL, args, &copy);
    } else {
        status = physical_adl_allocate(memory(), args);
    }
    return port_callback_return(&cb, status);
}

/* Callbacks that free something: they have no outputs. */
#define BODY_END(type, name, call, args)                                          \
    struct port_callback cb;                                                      \
    type copy;                                                                    \
                                                                                  \
    if (!NT_SUCCESS(port_callback_begin_without_adapter(&cb, name, PORT_CALLER))) \
        return;                                                                   \
    if (PORT_TAKE(type, &copy, args))                                             \
        args = &copy;                                                             \
    call;                                                                         \
    port_callback_end(&cb)

static void NTAPI object_destroy(IN_CONST_PDXGKARGCB_DESTROY_PHYSICAL_MEMORY_OBJECT args)
{
    BODY_END(DXGKARGCB_DESTROY_PHYSICAL_MEMORY_OBJECT, "DxgkCbDestroyPhysicalMemoryObject",
             physical_object_destroy(memory(), args), args);
}

static void NTAPI object_close(IN_CONST_PDXGKARGCB_CLOSE_PHYSICAL_MEMORY_OBJECT args)
{
    BODY_END(DXGKARGCB_CLOSE_PHYSICAL_MEMORY_OBJECT, "DxgkCbClosePhysicalMemoryObject",
             physical_object_close(memory(), args), args);
}

static void NTAPI object_unmap(IN_CONST_PDXGKARGCB_UNMAP_PHYSICAL_MEMORY args)
{
    BODY_END(DXGKARGCB_UNMAP_PHYSICAL_MEMORY, "DxgkCbUnmapPhysicalMemory",
             physical_object_unmap(memory(), nt_process_current(), args), args);
}

static void NTAPI adl_free(IN_CONST_PDXGKARGCB_FREE_ADL args)
{
    BODY_END(DXGKARGCB_FREE_ADL, "DxgkCbFreeAdl", physical_adl_free(memory(), args), args);
}

void port_object_callbacks_fill(DXGKRNL_INTERFACE *interface)
{
    interface->DxgkCbCreatePhysicalMemoryObject = object_create;
    interface->DxgkCbDestroyPhysicalMemoryObject = object_destroy;
    interface->DxgkCbOpenPhysicalMemoryObject = object_open;
    interface->DxgkCbClosePhysicalMemoryObject = object_close;
    interface->DxgkCbMapPhysicalMemory = object_map;
    interface->DxgkCbUnmapPhysicalMemory = object_unmap;
    interface->DxgkCbAllocateAdl = adl_allocate;
    interface->DxgkCbFreeAdl = adl_free;
}
