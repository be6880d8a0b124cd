/* SPDX-License-Identifier: MIT */
/* DxgkCbOpenPhysicalMemoryObject and DxgkCbClosePhysicalMemoryObject. */
#include "physmem/physical_services.h"

#include "physmem/physical_adapter_object.h"
#include "physmem/physical_gate.h"
#include "physmem/physical_object.h"
#include "physmem/physical_record.h"
#include "physmem/physical_refuse.h"
#include "physmem/physical_tracked.h"
#include "util/list.h"
#include "verify/verify.h"

NTSTATUS physical_object_open(struct physical_memory *memory, struct physical_adapter *adapter,
                              DXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT *args)
{
    struct physical_object *object;
    NTSTATUS status;

    if (!args)
        return physical_refuse("PHYS-015", "NULL argument to DxgkCbOpenPhysicalMemoryObject");
    args->hAdapterMemoryObject = NULL;
    if (!adapter)
        return physical_refuse("PHYS-134", "an object was opened for no adapter");
    if (!physical_gate_acquire(adapter))
        return STATUS_INVALID_DEVICE_STATE;
    object = physical_object_find(memory, args->hPhysicalMemoryObject, "PHYS-130");
    if (!object)
        return STATUS_INVALID_HANDLE;
    if (object->opened && object->opened->tracked.adapter == adapter) {
        VIOLATION("PHYS-132", "the object is already open for %s", adapter->name);
        return STATUS_ALREADY_REGISTERED;
    }
    if (object->opened) {
        VIOLATION("PHYS-133", "the object is open for %s, so not for %s",
                  object->opened->tracked.adapter->name, adapter->name);
        return STATUS_NOT_SUPPORTED;
    }
    status = physical_adapter_object_create(object, adapter);
    if (status == STATUS_SUCCESS)
        args->hAdapterMemoryObject = physical_tracked_handle(&object->opened->tracked);
    return status;
}

void physical_object_close(struct physical_memory *memory,
                           const DXGKARGCB_CLOSE_PHYSICAL_MEMORY_OBJECT *args)
{
    struct physical_adapter_object *opened;

    if (!args) {
        physical_refuse("PHYS-015", "NULL argument to DxgkCbClosePhysicalMemoryObject");
        return;
    }
    opened = physical_adapter_object_find(memory, args->hAdapterMemoryObject, "PHYS-130");
    if (!opened)
        return;
    if (!list_empty(&opened->adls)) {
        verify_fatal("PHYS-136", SYSMM_BUGCHECK, SYSMM_ADL_LEAKED, opened->tracked.key, 0, 0,
                     "an adapter memory object of %s was closed while an ADL of it exists",
                     opened->tracked.adapter->name);
        return;
    }
    physical_adapter_object_free(opened);
}
