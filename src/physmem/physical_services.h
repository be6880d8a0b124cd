/* SPDX-License-Identifier: MIT */
/*
 * The memory callbacks of DXGKRNL_INTERFACE, one function each (PHYS and IOMMU rules), which the
 * port calls once it knows the calling driver and the adapter.
 *
 * The functions take and return the structures of d3dkmddi.h. Each checks its argument completely
 * and reports a violation under the broken rule; the caller checks the IRQL (THREAD-049), the
 * handle of the adapter and its state. On failure, output-only members are NULL, all others are
 * unchanged, and nothing is held (PHYS-018). A NULL argument is reported and refused.
 *
 * Handles are never pointers and never issued twice in the life of a machine (PHYS-016).
 */
#ifndef DXGK_PHYSMEM_PHYSICAL_SERVICES_H
#define DXGK_PHYSMEM_PHYSICAL_SERVICES_H

#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct nt_process;
struct physical_memory;
struct physical_adapter;

/* ---- contiguous memory and MDLs (WDDM 2.4) ---- */

NTSTATUS physical_contiguous_allocate(struct physical_adapter *adapter,
                                      DXGKARGCB_ALLOCATECONTIGUOUSMEMORY *args);
NTSTATUS physical_contiguous_free(struct physical_adapter *adapter,
                                  const DXGKARGCB_FREECONTIGUOUSMEMORY *args);
NTSTATUS physical_mdl_allocate(struct physical_adapter *adapter,
                               DXGKARGCB_ALLOCATEPAGESFORMDL *args);
NTSTATUS physical_mdl_free(struct physical_adapter *adapter, const DXGKARGCB_FREEPAGESFROMMDL *args);
NTSTATUS physical_iommu_mdl_map(struct physical_adapter *adapter, DXGKARGCB_MAPMDLTOIOMMU *args);
void physical_iommu_mdl_unmap(struct physical_adapter *adapter,
                              const DXGKARGCB_UNMAPMDLFROMIOMMU *args);

/* ---- physical memory objects (WDDM 2.9) ---- */

/* `adapter`: the one that args->hAdapter names; NULL only if that is NULL. `driver` and `process`
 * are the callers (process NULL: the system process). */
NTSTATUS physical_object_create(struct physical_memory *memory, struct physical_adapter *adapter,
                                const void *driver, const struct nt_process *process,
                                DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *args);
void physical_object_destroy(struct physical_memory *memory,
                             const DXGKARGCB_DESTROY_PHYSICAL_MEMORY_OBJECT *args);
NTSTATUS physical_object_open(struct physical_memory *memory, struct physical_adapter *adapter,
                              DXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT *args);
void physical_object_close(struct physical_memory *memory,
                           const DXGKARGCB_CLOSE_PHYSICAL_MEMORY_OBJECT *args);
/* `process`: the current one, for user mode mappings. */
NTSTATUS physical_object_map(struct physical_memory *memory, struct nt_process *process,
                             DXGKARGCB_MAP_PHYSICAL_MEMORY *args);
void physical_object_unmap(struct physical_memory *memory, const struct nt_process *process,
                           const DXGKARGCB_UNMAP_PHYSICAL_MEMORY *args);
NTSTATUS physical_adl_allocate(struct physical_memory *memory, DXGKARGCB_ALLOCATE_ADL *args);
void physical_adl_free(struct physical_memory *memory, const DXGKARGCB_FREE_ADL *args);

/* ---- frame buffer save (WDDM 2.4; pin2: 2.9) ---- */

/* At adapter initialization: create a section for each physical adapter with a nonzero MaximumSize
 * (PHYS-090). Called once for each index. */
NTSTATUS physical_save_create(struct physical_adapter *adapter, UINT physical_index,
                              uint64_t maximum_bytes);
NTSTATUS physical_save_pin(struct physical_adapter *adapter, DXGKARGCB_PINFRAMEBUFFERFORSAVE *args);
NTSTATUS physical_save_pin2(struct physical_adapter *adapter,
                            DXGKARGCB_PINFRAMEBUFFERFORSAVE2 *args);
NTSTATUS physical_save_unpin(struct physical_adapter *adapter,
                             const DXGKARGCB_UNPINFRAMEBUFFERFORSAVE *args);
NTSTATUS physical_save_map(struct physical_adapter *adapter, DXGKARGCB_MAPFRAMEBUFFERPOINTER *args);
NTSTATUS physical_save_unmap(struct physical_adapter *adapter,
                             const DXGKARGCB_UNMAPFRAMEBUFFERPOINTER *args);

#endif
