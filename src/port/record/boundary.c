/* SPDX-License-Identifier: MIT */
/* Copying in from a driver and out to it: the only file of this room that dereferences a driver's
 * addresses. */
#include <string.h>

#include "port/record/boundary.h"
#include "port/record/versions.h"
#include "sim/fault.h"
#include "sim/sim_assert.h"
#include "verify/refusal.h"

static const struct {
    size_t bytes;
    enum port_crossing way;
} structures[PORT_STRUCTURE_COUNT] = {
#define ROW(type, way) {sizeof(type), way},
    PORT_STRUCTURES(ROW)
#undef ROW
};

/* Output-only members: pointers and handles, NULL unless the call succeeds (PHYS-018). */
static const struct output {
    enum port_structure structure;
    size_t offset;
} outputs[] = {
#define OUTPUT(type, member)                          \
    {                                                 \
        PORT_STRUCTURE_##type, offsetof(type, member) \
    }
    OUTPUT(DXGKARGCB_ALLOCATECONTIGUOUSMEMORY, hMemoryHandle),
    OUTPUT(DXGKARGCB_ALLOCATECONTIGUOUSMEMORY, pMemory),
    OUTPUT(DXGKARGCB_ALLOCATEPAGESFORMDL, hMemoryHandle),
    OUTPUT(DXGKARGCB_ALLOCATEPAGESFORMDL, pMdl),
    OUTPUT(DXGKARGCB_MAPMDLTOIOMMU, hMemoryHandle),
    OUTPUT(DXGKARGCB_PINFRAMEBUFFERFORSAVE, pMdl),
    OUTPUT(DXGKARGCB_PINFRAMEBUFFERFORSAVE2, pAdl),
    OUTPUT(DXGKARGCB_MAPFRAMEBUFFERPOINTER, pBaseAddress),
    OUTPUT(DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT, hPhysicalMemoryObject),
    OUTPUT(DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT, hAdapterMemoryObject),
    OUTPUT(DXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT, hAdapterMemoryObject),
    OUTPUT(DXGKARGCB_MAP_PHYSICAL_MEMORY, pMappedAddress),
    OUTPUT(DXGKARGCB_ALLOCATE_ADL, pAdl),
#undef OUTPUT
};

/* False; a callback that fails for that has the reason. */
static bool out_of_reach(const void *address, const char *verb)
{
    (void)refuse(STATUS_INVALID_PARAMETER, NULL, "the argument at %p cannot be %s", address, verb);
    return false;
}

bool port_boundary_take_bytes(void *copy, const void *from, size_t bytes)
{
    return ((from || !bytes) && sim_copy_checked(copy, from, bytes)) || out_of_reach(from, "read");
}

bool port_boundary_give_bytes(void *to, const void *copy, size_t bytes)
{
    return ((to || !bytes) && sim_copy_checked(to, copy, bytes)) || out_of_reach(to, "written");
}

bool port_boundary_take(enum port_structure structure, void *copy, const void *from)
{
    sim_assert(structures[structure].way & PORT_IN);
    return port_boundary_take_bytes(copy, from, structures[structure].bytes);
}

bool port_boundary_give(enum port_structure structure, void *to, const void *copy)
{
    sim_assert(structures[structure].way & PORT_OUT);
    return port_boundary_give_bytes(to, copy, structures[structure].bytes);
}

/* Bytes of the structure in a driver of this interface version; they differ only for structures
 * that grew. */
static size_t bytes_at(enum port_structure structure, UINT version)
{
    const size_t all = structures[structure].bytes;
    size_t bytes = all;

    if (structure == PORT_STRUCTURE_DRIVER_INITIALIZATION_DATA)
        bytes = port_version_table_bytes(version);
    else if (structure == PORT_STRUCTURE_KMDDOD_INITIALIZATION_DATA &&
             version < DXGKDDI_INTERFACE_VERSION_WDDM2_0)
        bytes = offsetof(KMDDOD_INITIALIZATION_DATA, DxgkDdiPowerRuntimeSetDeviceHandle);
    else if (structure == PORT_STRUCTURE_DXGKARGCB_CREATECONTEXTALLOCATION &&
             version < DXGKDDI_INTERFACE_VERSION_WDDM2_0)
        bytes = offsetof(DXGKARGCB_CREATECONTEXTALLOCATION, PhysicalAdapterIndex);
    return bytes < all ? bytes : all;
}

bool port_boundary_take_version(enum port_structure structure, UINT version, void *copy,
                                const void *from)
{
    sim_assert(structures[structure].way & PORT_IN);
    memset(copy, 0, structures[structure].bytes);
    return port_boundary_take_bytes(copy, from, bytes_at(structure, version));
}

bool port_boundary_take_part(enum port_structure structure, void *copy, const void *from,
                             size_t offset, size_t bytes)
{
    sim_assert(structures[structure].way & PORT_IN);
    sim_assert(offset + bytes <= structures[structure].bytes);
    return from ? port_boundary_take_bytes(copy, (const char *)from + offset, bytes)
                : out_of_reach(from, "read");
}

bool port_boundary_give_part(enum port_structure structure, void *to, size_t offset,
                             const void *value, size_t bytes)
{
    sim_assert(structures[structure].way & PORT_OUT);
    sim_assert(offset + bytes <= structures[structure].bytes);
    return to ? port_boundary_give_bytes((char *)to + offset, value, bytes)
              : out_of_reach(to, "written");
}

bool port_boundary_clear_outputs(enum port_structure structure, void *to)
{
    void *const nothing = NULL;
    bool given = to != NULL;

    for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]) && to; i++)
        if (outputs[i].structure == structure)
            given &= port_boundary_give_part(structure, to, outputs[i].offset, &nothing,
                                             sizeof(nothing));
    return given;
}

bool port_boundary_take_for_output(enum port_structure structure, void *copy, void *from)
{
    return port_boundary_clear_outputs(structure, from) && port_boundary_take(structure, copy, from);
}
