/* SPDX-License-Identifier: MIT */
/*
 * The memory callbacks that name an adapter: contiguous memory, pages, MDLs and frame buffer save.
 * Each checks handle, state and IRQL (THREAD-049, PHYS-011 to PHYS-013) and passes the driver's
 * structure on to the physical memory services.
 */
#include "port/callbacks/memory_callbacks.h"
#include "physmem/physical_services.h"
#include "port/callbacks/callback.h"
#include "port/record/adapter_info.h"
#include "port/record/boundary.h"
#include "sim/irql.h"

/* The IRQL rule of all memory callbacks: a breach is reported and carried out (PHYS-013), but is
 * fatal for a driver of WDDM 3.2 (PHYS-012, PHYS-014; no such driver is admitted yet, since the
 * number of that version is not known). */
static NTSTATUS begin(struct port_callback *cb, HANDLE handle, const char *name, uintptr_t caller,
                      unsigned flags)
{
    return port_callback_begin(cb, handle, name, caller, SIM_IRQL_APC, "THREAD-049",
                               flags | PORT_CALLBACK_CARRY_OUT);
}

/*
 * The service gets a copy of the structure. If it cannot be copied, the service gets the driver's
 * pointer: it reports a NULL pointer, and any other bad address faults there, which gives the
 * driver a bug check.
 */
#define BODY_IN(type, handle, name, service, args)                                  \
    struct port_callback cb;                                                        \
    type copy;                                                                      \
    NTSTATUS status = begin(&cb, handle, name, PORT_CALLER, PORT_CALLBACK_FREEING); \
                                                                                    \
    if (!NT_SUCCESS(status))                                                        \
        return status;                                                              \
    status = service(port_adapter_physical(cb.adapter),                             \
                     PORT_TAKE(type, &copy, args) ? &copy : args);                  \
    return port_callback_return(&cb, status)

#define BODY_OUT(type, handle, name, service, args)                 \
    struct port_callback cb;                                        \
    type copy;                                                      \
    NTSTATUS status = begin(&cb, handle, name, PORT_CALLER, 0);     \
                                                                    \
    if (!NT_SUCCESS(status)) {                                      \
        (void)PORT_CLEAR_OUTPUTS(type, args);                       \
        return status;                                              \
    }                                                               \
    if (PORT_TAKE_FOR_OUTPUT(type, &copy, args)) {                  \
        status = service(port_adapter_physical(cb.adapter), &copy); \
        (void)PORT_GIVE(type, args, &copy);                         \
    } else {                                                        \
        status = service(port_adapter_physical(cb.adapter), args);  \
    }                                                               \
    return port_callback_return(&cb, status)

static NTSTATUS NTAPI allocate_contiguous(IN_CONST_HANDLE h,
                                          INOUT_PDXGKARGCB_ALLOCATECONTIGUOUSMEMORY args)
{
    BODY_OUT(DXGKARGCB_ALLOCATECONTIGUOUSMEMORY, h, "DxgkCbAllocateContiguousMemory",
             physical_contiguous_allocate, args);
}

static NTSTATUS NTAPI free_contiguous(IN_CONST_HANDLE h,
                                      IN_CONST_PDXGKARGCB_FREECONTIGUOUSMEMORY args)
{
    BODY_IN(DXGKARGCB_FREECONTIGUOUSMEMORY, h, "DxgkCbFreeContiguousMemory",
            physical_contiguous_free, args);
}

static NTSTATUS NTAPI allocate_pages(IN_CONST_HANDLE h, INOUT_PDXGKARGCB_ALLOCATEPAGESFORMDL args)
{
    BODY_OUT(DXGKARGCB_ALLOCATEPAGESFORMDL, h, "DxgkCbAllocatePagesForMdl", physical_mdl_allocate,
             args);
}

static NTSTATUS NTAPI free_pages(IN_CONST_HANDLE h, IN_CONST_PDXGKARGCB_FREEPAGESFROMMDL args)
{
    BODY_IN(DXGKARGCB_FREEPAGESFROMMDL, h, "DxgkCbFreePagesFromMdl", physical_mdl_free, args);
}

static NTSTATUS NTAPI map_mdl(IN_CONST_HANDLE h, INOUT_PDXGKARGCB_MAPMDLTOIOMMU args)
{
    BODY_OUT(DXGKARGCB_MAPMDLTOIOMMU, h, "DxgkCbMapMdlToIoMmu", physical_iommu_mdl_map, args);
}

static void NTAPI unmap_mdl(IN_CONST_HANDLE h, IN_CONST_PDXGKARGCB_UNMAPMDLFROMIOMMU args)
{
    struct port_callback cb;
    DXGKARGCB_UNMAPMDLFROMIOMMU copy;

    if (!NT_SUCCESS(begin(&cb, h, "DxgkCbUnmapMdlFromIoMmu", PORT_CALLER, PORT_CALLBACK_FREEING)))
        return;
    physical_iommu_mdl_unmap(port_adapter_physical(cb.adapter),
                             PORT_TAKE(DXGKARGCB_UNMAPMDLFROMIOMMU, &copy, args) ? &copy : args);
    port_callback_end(&cb);
}

static NTSTATUS NTAPI save_pin(IN_CONST_HANDLE h, INOUT_PDXGKARGCB_PINFRAMEBUFFERFORSAVE args)
{
    BODY_OUT(DXGKARGCB_PINFRAMEBUFFERFORSAVE, h, "DxgkCbPinFrameBufferForSave", physical_save_pin,
             args);
}

static NTSTATUS NTAPI save_pin2(IN_CONST_HANDLE h, INOUT_PDXGKARGCB_PINFRAMEBUFFERFORSAVE2 args)
{
    BODY_OUT(DXGKARGCB_PINFRAMEBUFFERFORSAVE2, h, "DxgkCbPinFrameBufferForSave2",
             physical_save_pin2, args);
}

static NTSTATUS NTAPI save_unpin(IN_CONST_HANDLE h, IN_CONST_PDXGKARGCB_UNPINFRAMEBUFFERFORSAVE args)
{
    BODY_IN(DXGKARGCB_UNPINFRAMEBUFFERFORSAVE, h, "DxgkCbUnpinFrameBufferForSave",
            physical_save_unpin, args);
}

static NTSTATUS NTAPI save_map(IN_CONST_HANDLE h, INOUT_PDXGKARGCB_MAPFRAMEBUFFERPOINTER args)
{
    BODY_OUT(DXGKARGCB_MAPFRAMEBUFFERPOINTER, h, "DxgkCbMapFrameBufferPointer", physical_save_map,
             args);
}

static NTSTATUS NTAPI save_unmap(IN_CONST_HANDLE h, IN_CONST_PDXGKARGCB_UNMAPFRAMEBUFFERPOINTER args)
{
    BODY_IN(DXGKARGCB_UNMAPFRAMEBUFFERPOINTER, h, "DxgkCbUnmapFrameBufferPointer",
            physical_save_unmap, args);
}

void port_memory_callbacks_fill(DXGKRNL_INTERFACE *interface)
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
}
