/* SPDX-License-Identifier: MIT */
/* Entering and leaving the driver, for the typed entries. */
#ifndef DXGK_DDI_DOOR_H
#define DXGK_DDI_DOOR_H

#include <stdint.h>

#include "ddi/ddi.h"
#include "nt/ke/driver_call.h"
#include "sim/mutex.h"
#include "util/list.h"

/* A call in progress; it begins with its frame, and lies beside the stack like that. */
struct ddi_record {
    struct ddi_frame frame;
    struct list link;
    enum ddi_level level;
    ULONG child; /* LEVEL_CHILD: the child that the call is about */
    uint8_t irql_before;
    uint64_t deadline;            /* to restore afterwards */
    struct nt_image *image;       /* to restore afterwards */
    struct nt_call_state state;   /* state when the driver was entered */
    struct refusal *refusal;      /* to restore afterwards */
    struct sim_mutex *class_lock; /* held for this call, or NULL */
};

/* What a caller of the driver has on its stack. */
struct ddi_call {
    struct nt_call_guard guard; /* first: what is overwritten from below reaches it first */
    struct ddi_record *record;
    bool checked; /* ddi_returned was called */
};

/* Enter as the table of entries says. On a failure status the driver must not be called. */
NTSTATUS ddi_enter(struct ddi_call *call, struct ddi_adapter *adapter, enum ddi_entry entry);
/* The same at another synchronization level or IRQL than in the table. */
NTSTATUS ddi_enter_at(struct ddi_call *call, struct ddi_adapter *adapter, enum ddi_entry entry,
                      enum ddi_level level, uint8_t irql);
/* The same for an entry of LEVEL_CHILD. */
NTSTATUS ddi_enter_child(struct ddi_call *call, struct ddi_adapter *adapter, enum ddi_entry entry,
                         ULONG child);
/* The driver has returned: check now what copies of its answer rely on (THREAD-075 to THREAD-077);
 * else ddi_leave does so. */
void ddi_returned(struct ddi_call *call);
void ddi_leave(struct ddi_call *call);
/* The same for an entry that returned a status, which is returned; a failure is kept in
 * ddi_adapter.failed_entry. */
NTSTATUS ddi_leave_with(struct ddi_call *call, NTSTATUS status);

/* For each entry, its structure and direction from the table: ddi_argument_DxgkDdiPatch,
 * ddi_way_DxgkDdiPatch, ... */
typedef struct ddi_no_argument DDI_NO_ARGUMENT;
#define DDI_ENTRY(name, level, irql, limit, flags, structure, way) \
    typedef structure ddi_argument_##name;                         \
    enum { ddi_way_##name = DDI_WAY_##way };
#include "ddi/entry_table.h"

/* Call an entry of the driver as the table says, and return its NTSTATUS. */
#define CALL_STATUS(adapter, entry, ...)                      \
    struct ddi_call call;                                     \
    NTSTATUS status = ddi_enter(&call, adapter, DDI_##entry); \
                                                              \
    if (!NT_SUCCESS(status))                                  \
        return status;                                        \
    return ddi_leave_with(&call, (adapter)->table.entry(__VA_ARGS__))

/* The same at another synchronization level or IRQL than in the table. */
#define CALL_STATUS_AT(adapter, entry, level, irql, ...)                      \
    struct ddi_call call;                                                     \
    NTSTATUS status = ddi_enter_at(&call, adapter, DDI_##entry, level, irql); \
                                                                              \
    if (!NT_SUCCESS(status))                                                  \
        return status;                                                        \
    return ddi_leave_with(&call, (adapter)->table.entry(__VA_ARGS__))

/* The same for an entry whose last argument is the address of a structure that goes in. */
#define CALL_IN(adapter, entry, args, ...)                                                       \
    _Static_assert((int)ddi_way_##entry == DDI_WAY_IN, "the table says that answers come back"); \
    ddi_argument_##entry passed = *(args);                                                       \
    CALL_STATUS(adapter, entry, __VA_ARGS__, &passed)

/* Of one that comes back, too. */
#define CALL_BOTH(adapter, entry, args, ...)                                          \
    _Static_assert((int)ddi_way_##entry == DDI_WAY_BOTH, "the table says otherwise"); \
    ddi_argument_##entry passed = *(args);                                            \
    struct ddi_call call;                                                             \
    NTSTATUS status = ddi_enter(&call, adapter, DDI_##entry);                         \
                                                                                      \
    if (!NT_SUCCESS(status))                                                          \
        return status;                                                                \
    status = (adapter)->table.entry(__VA_ARGS__, &passed);                            \
    ddi_returned(&call);                                                              \
    *(args) = passed;                                                                 \
    return ddi_leave_with(&call, status)

#define CALL_VOID(adapter, entry, ...)                       \
    struct ddi_call call;                                    \
                                                             \
    if (!NT_SUCCESS(ddi_enter(&call, adapter, DDI_##entry))) \
        return;                                              \
    (adapter)->table.entry(__VA_ARGS__);                     \
    ddi_leave(&call)

#endif
