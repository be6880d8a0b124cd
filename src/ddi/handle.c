/* SPDX-License-Identifier: MIT */
/* Host handles given to drivers; see handle.h. */
#include "ddi/handle.h"
#include "ddi/client_handle.h"
#include "nt/base/current.h"
#include "nt/base/kprocess.h"
#include "util/array.h"

#include <stdio.h>

#define PREFIX          0xD3D1u
#define PREFIX_SHIFT    48u
#define PHYSICAL_PREFIX 0xD3D0u /* of handles of physical memory (physmem/physical_tracked.c) */
#define PHYSICAL_SHIFT  44u
#define KIND_SHIFT      44u
#define KIND_MASK       0xFu
#define ADAPTER_SHIFT   32u
#define ADAPTER_MASK    0xFFFu
#define NUMBER_MASK     (((uint32_t)1 << 30) - 1) /* the handle in the table */
#define FIRST_NUMBER    ((uint32_t)1 << 20)       /* what the first one of a table is */
#define CLIENT_MARK     0xC0000000u               /* not all zero in a D3DKMT handle */
#define CLIENT_ZERO     0x0000003Du               /* all zero in one */

void ddi_handles_init(struct ddi_handles *handles)
{
    handle_table_init(&handles->table, &handle_layout_plain);
    handles->adapter = 0;
}

void ddi_handles_finish(struct ddi_handles *handles)
{
    handle_table_finish(&handles->table);
}

/* All bits above those of the table's handle. */
static uint64_t upper_bits(const struct ddi_handles *handles, enum ddi_handle kind)
{
    return (uint64_t)PREFIX << PREFIX_SHIFT | (uint64_t)kind << KIND_SHIFT |
           (uint64_t)(handles->adapter & ADAPTER_MASK) << ADAPTER_SHIFT;
}

HANDLE ddi_handle_create(struct ddi_handles *handles, enum ddi_handle kind, void *object)
{
    uint32_t entry = handle_create(&handles->table, (uint8_t)kind, object);

    if (!entry)
        return NULL;
    return (HANDLE)(uintptr_t)(upper_bits(handles, kind) | entry);
}

static uint32_t number_of(HANDLE handle)
{
    return (uint32_t)((uintptr_t)handle & NUMBER_MASK);
}

uint32_t ddi_handle_number(HANDLE handle)
{
    return number_of(handle) - FIRST_NUMBER;
}

/* The handle in the table, or 0, which is not a handle. */
static uint32_t table_entry(const struct ddi_handles *handles, HANDLE handle, enum ddi_handle kind)
{
    uint32_t number = number_of(handle);

    return (uintptr_t)handle == (upper_bits(handles, kind) | number) ? number : 0;
}

void *ddi_handle_lookup(const struct ddi_handles *handles, HANDLE handle, enum ddi_handle kind)
{
    return handle_lookup(&handles->table, table_entry(handles, handle, kind), (uint8_t)kind);
}

void *ddi_handle_remove(struct ddi_handles *handles, HANDLE handle, enum ddi_handle kind)
{
    return handle_remove(&handles->table, table_entry(handles, handle, kind), (uint8_t)kind);
}

/* ---- for reports ---- */

static const char *kind_name(unsigned kind)
{
    static const char *const names[] = {
        [DDI_HANDLE_ADAPTER] = "an adapter (DeviceHandle)",
        [DDI_HANDLE_DEVICE] = "a device",
        [DDI_HANDLE_CONTEXT] = "a context",
        [DDI_HANDLE_CONTEXT_ALLOCATION] = "a context allocation",
        [DDI_HANDLE_PROCESS] = "a process",
        [DDI_HANDLE_CPU_EVENT] = "a CPU event",
        [DDI_HANDLE_ACQUIRED_ALLOCATION] = "an acquired allocation",
        [DDI_HANDLE_ACQUIRED_RESOURCE] = "an acquired resource",
        [DDI_HANDLE_HW_QUEUE] = "a hardware queue",
        [DDI_HANDLE_NATIVE_FENCE] = "a native fence",
        [DDI_HANDLE_DOORBELL] = "a doorbell",
    };

    return kind < ARRAY_COUNT(names) && names[kind] ? names[kind] : NULL;
}

static const char *client_kind_name(uint32_t handle)
{
    switch (handle_type(&nt_process_current()->handles, handle)) {
    case DDI_CLIENT_ADAPTER:
        return "a D3DKMT handle, of an adapter";
    case DDI_CLIENT_DEVICE:
        return "a D3DKMT handle, of a device";
    case DDI_CLIENT_CONTEXT:
        return "a D3DKMT handle, of a context";
    case DDI_CLIENT_ALLOCATION:
        return "a D3DKMT handle, of an allocation";
    case DDI_CLIENT_RESOURCE:
        return "a D3DKMT handle, of a resource";
    default:
        return "a D3DKMT handle";
    }
}

static bool belongs_to_others(const struct ddi_handles *handles, uint64_t value, unsigned kind)
{
    bool of_machine = kind == DDI_HANDLE_ADAPTER || kind == DDI_HANDLE_CPU_EVENT;

    return handles->adapter != 0 && !of_machine &&
           (value >> ADAPTER_SHIFT & ADAPTER_MASK) != handles->adapter;
}

static struct ddi_handle_text describe_host(const struct ddi_handles *handles, HANDLE handle)
{
    uint64_t value = (uintptr_t)handle;
    unsigned kind = (unsigned)(value >> KIND_SHIFT & KIND_MASK);
    bool here = (value >> ADAPTER_SHIFT & ADAPTER_MASK) == handles->adapter;
    const char *name = kind_name(kind);
    struct ddi_handle_text out;
    int bytes = snprintf(out.text, sizeof(out.text), "%p, ", handle);
    char *rest = out.text + bytes;
    size_t room = sizeof(out.text) - (size_t)bytes;

    if (!name)
        (void)snprintf(rest, room, "no handle of the host's");
    else if (belongs_to_others(handles, value, kind))
        (void)snprintf(rest, room, "the handle of %s of another adapter", name);
    else if (here && !ddi_handle_lookup(handles, handle, (enum ddi_handle)kind))
        (void)snprintf(rest, room, "the retired handle of %s", name);
    else
        (void)snprintf(rest, room, "the handle of %s", name);
    return out;
}

struct ddi_handle_text ddi_handle_describe(const struct ddi_handles *handles, HANDLE handle)
{
    uint64_t value = (uintptr_t)handle;
    struct ddi_handle_text out;
    const char *what = "no handle of the host's";

    if (value >> PREFIX_SHIFT == PREFIX)
        return describe_host(handles, handle);
    if (!handle) {
        (void)snprintf(out.text, sizeof(out.text), "NULL");
        return out;
    }
    if (value >> PHYSICAL_SHIFT == PHYSICAL_PREFIX)
        what = "a handle of physical memory";
    else if (value <= UINT32_MAX && (value & CLIENT_MARK) && !(value & CLIENT_ZERO))
        what = client_kind_name((uint32_t)value);
    else if (value <= UINT32_MAX && value >= FIRST_NUMBER)
        what = "no handle of the host's (one cut down to 32 bits?)";
    (void)snprintf(out.text, sizeof(out.text), "%p, %s", handle, what);
    return out;
}
