/* SPDX-License-Identifier: MIT */
/*
 * The one place where a callback's arguments are copied in from the driver, and its outputs copied
 * out to it.
 *
 * Nothing else follows a driver's pointer: a structure is copied in (take), the callback works with
 * the copy, and outputs are copied out (give), whole or member by member. A table gives the size
 * and direction of each structure, so the driver could also be in another process. With a bad
 * address, take or give fails, and the callback reports the rule that this breaks.
 *
 *     DXGKARGCB_QUERYFEATURESUPPORT copy;
 *
 *     if (!PORT_TAKE(DXGKARGCB_QUERYFEATURESUPPORT, &copy, args))
 *         return STATUS_INVALID_PARAMETER;
 *     ...
 *     if (!PORT_GIVE(DXGKARGCB_QUERYFEATURESUPPORT, args, &copy))
 */
#ifndef DXGK_PORT_BOUNDARY_H
#define DXGK_PORT_BOUNDARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntddk.h>
#include <dispmprt.h>
#include <dxgk_wddm3_2.h>

/* The way a structure is copied: from the driver, to the driver, or both. */
enum port_crossing { PORT_IN = 1, PORT_OUT = 2, PORT_BOTH = 3 };

/* Every structure and single value that crosses by address. Memory whose length the driver gives is
 * copied by port_boundary_take_bytes and port_boundary_give_bytes. */
/* clang-format off */
#define PORT_STRUCTURES(X)                                  \
    /* single values */                                     \
    X(BOOLEAN,                                  PORT_OUT)   \
    X(ULONG,                                    PORT_OUT)   \
    X(SIZE_T,                                   PORT_OUT)   \
    X(PVOID,                                    PORT_OUT)   \
    X(HANDLE,                                   PORT_OUT)   \
    X(LARGE_INTEGER,                            PORT_IN)    \
    X(GUID,                                     PORT_IN)    \
    /* the device */                                        \
    X(DXGK_DEVICE_INFO,                         PORT_OUT)   \
    X(PCI_DEVICE_PRESENCE_PARAMETERS,           PORT_IN)    \
    X(DXGK_CHILD_STATUS,                        PORT_IN)    \
    X(DXGK_DISPLAY_INFORMATION,                 PORT_OUT)   \
    X(DXGK_DISPLAY_OWNERSHIP_FLAGS,             PORT_OUT)   \
    X(ACPI_EVAL_INPUT_BUFFER_COMPLEX,           PORT_OUT)   \
    /* interrupts and events */                             \
    X(DXGKARGCB_NOTIFY_INTERRUPT_DATA,          PORT_IN)    \
    X(DXGKARGCB_SIGNALEVENT,                    PORT_IN)    \
    X(DXGKDDICB_PARTITIONING_EVENT_NOTIFICATION, PORT_IN)   \
    /* features and services */                             \
    X(DXGKARGCB_ISFEATUREENABLED,               PORT_BOTH)  \
    X(DXGKARGCB_ISFEATUREENABLED2,              PORT_BOTH)  \
    X(DXGKARGCB_QUERYFEATURESUPPORT,            PORT_BOTH)  \
    X(DXGKARGCB_QUERYFEATUREINTERFACE,          PORT_BOTH)  \
    X(INTERFACE,                                PORT_IN)    \
    X(DXGK_TIMED_OPERATION,                     PORT_BOTH)  \
    /* handles and context allocations */                   \
    X(DXGKARGCB_GETHANDLEDATA,                  PORT_IN)    \
    X(DXGKARGCB_ENUMHANDLECHILDREN,             PORT_IN)    \
    X(DXGKARGCB_GETCAPTUREADDRESS,              PORT_BOTH)  \
    X(DXGKARGCB_CREATECONTEXTALLOCATION,        PORT_BOTH)  \
    X(DXGKARGCB_MAPCONTEXTALLOCATION,           PORT_IN)    \
    X(DXGKARGCB_UPDATECONTEXTALLOCATION,        PORT_IN)    \
    X(DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE,  PORT_BOTH)  \
    /* features */                                          \
    X(DXGKARGCB_FEATURE_NATIVEFENCE_CAPS_1,     PORT_OUT)   \
    X(DXGKCBINT_FEATURE_NATIVEFENCE_1,          PORT_OUT)   \
    /* hardware scheduling */                               \
    X(DXGKARGCB_INVALIDATEHWCONTEXT,            PORT_IN)    \
    X(DXGKARGCB_DISCONNECTDOORBELL,             PORT_IN)    \
    /* memory */                                            \
    X(DXGKARGCB_ALLOCATECONTIGUOUSMEMORY,       PORT_BOTH)  \
    X(DXGKARGCB_FREECONTIGUOUSMEMORY,           PORT_IN)    \
    X(DXGKARGCB_ALLOCATEPAGESFORMDL,            PORT_BOTH)  \
    X(DXGKARGCB_FREEPAGESFROMMDL,               PORT_IN)    \
    X(DXGKARGCB_MAPMDLTOIOMMU,                  PORT_BOTH)  \
    X(DXGKARGCB_UNMAPMDLFROMIOMMU,              PORT_IN)    \
    X(DXGKARGCB_PINFRAMEBUFFERFORSAVE,          PORT_BOTH)  \
    X(DXGKARGCB_PINFRAMEBUFFERFORSAVE2,         PORT_BOTH)  \
    X(DXGKARGCB_UNPINFRAMEBUFFERFORSAVE,        PORT_IN)    \
    X(DXGKARGCB_MAPFRAMEBUFFERPOINTER,          PORT_BOTH)  \
    X(DXGKARGCB_UNMAPFRAMEBUFFERPOINTER,        PORT_IN)    \
    X(DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT,  PORT_BOTH)  \
    X(DXGKARGCB_DESTROY_PHYSICAL_MEMORY_OBJECT, PORT_IN)    \
    X(DXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT,    PORT_BOTH)  \
    X(DXGKARGCB_CLOSE_PHYSICAL_MEMORY_OBJECT,   PORT_IN)    \
    X(DXGKARGCB_MAP_PHYSICAL_MEMORY,            PORT_BOTH)  \
    X(DXGKARGCB_UNMAP_PHYSICAL_MEMORY,          PORT_IN)    \
    X(DXGKARGCB_ALLOCATE_ADL,                   PORT_BOTH)  \
    X(DXGKARGCB_FREE_ADL,                       PORT_IN)    \
    X(DXGKARGCB_SAVEMEMORYFORHOTUPDATE,         PORT_IN)    \
    /* registration */                                      \
    X(DRIVER_INITIALIZATION_DATA,               PORT_IN)    \
    X(KMDDOD_INITIALIZATION_DATA,               PORT_IN)

enum port_structure {
#define PORT_STRUCTURE_ID(type, way) PORT_STRUCTURE_##type,
    PORT_STRUCTURES(PORT_STRUCTURE_ID)
#undef PORT_STRUCTURE_ID
    PORT_STRUCTURE_COUNT
};
/* clang-format on */

/* Copy the whole structure. False: NULL, or an address that faults; a part may have been copied
 * then. */
#define PORT_TAKE(type, copy, from) \
    port_boundary_take(PORT_STRUCTURE_##type, (type *){copy}, (const type *){from})
#define PORT_GIVE(type, to, copy) \
    port_boundary_give(PORT_STRUCTURE_##type, (type *){to}, (const type *){copy})
/* Copy one member, to or from a variable of its type. */
#define PORT_TAKE_MEMBER(type, copy, from, member)                                               \
    port_boundary_take_part(PORT_STRUCTURE_##type, (__typeof__(((type *)NULL)->member) *){copy}, \
                            (const type *){from}, offsetof(type, member),                        \
                            sizeof(((type *)NULL)->member))
#define PORT_GIVE_MEMBER(type, to, member, value)                                        \
    port_boundary_give_part(PORT_STRUCTURE_##type, (type *){to}, offsetof(type, member), \
                            (const __typeof__(((type *)NULL)->member) *){value},         \
                            sizeof(((type *)NULL)->member))

/* Copy the members that a driver of this interface version has; the others become zero. */
#define PORT_TAKE_VERSION(type, version, copy, from) \
    port_boundary_take_version(PORT_STRUCTURE_##type, version, (type *){copy}, (const type *){from})
/* Copy in a structure that has output-only members (the table of outputs in boundary.c): they
 * become NULL in the driver's structure and in the copy. False: as for PORT_TAKE, or they cannot be
 * written. */
#define PORT_TAKE_FOR_OUTPUT(type, copy, from) \
    port_boundary_take_for_output(PORT_STRUCTURE_##type, (type *){copy}, (type *){from})
/* Set those members to NULL in the driver's structure (PHYS-018). False: it is NULL, or they cannot
 * be written. */
#define PORT_CLEAR_OUTPUTS(type, to) \
    port_boundary_clear_outputs(PORT_STRUCTURE_##type, (type *){to})

bool port_boundary_take(enum port_structure structure, void *copy, const void *from);
bool port_boundary_give(enum port_structure structure, void *to, const void *copy);
bool port_boundary_take_version(enum port_structure structure, UINT version, void *copy,
                                const void *from);
bool port_boundary_take_part(enum port_structure structure, void *copy, const void *from,
                             size_t offset, size_t bytes);
bool port_boundary_give_part(enum port_structure structure, void *to, size_t offset,
                             const void *value, size_t bytes);
bool port_boundary_take_for_output(enum port_structure structure, void *copy, void *from);
bool port_boundary_clear_outputs(enum port_structure structure, void *to);
/* Copy memory whose length the driver or a format gives: buffers, tables, arrays. A NULL pointer
 * succeeds only for 0 bytes. */
bool port_boundary_take_bytes(void *copy, const void *from, size_t bytes);
bool port_boundary_give_bytes(void *to, const void *copy, size_t bytes);

#endif
