/* SPDX-License-Identifier: MIT */
/* Entering and leaving the driver, for the typed entries. */
#ifndef DXGK_DDI_DOOR_H
#define DXGK_DDI_DOOR_H

#include <stdint.h>

#include "ddi/ddi.h"
#include "ddi/lent.h"
#include "ddi/lent_structure.h"
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
    struct nt_process *process;   /* to restore afterwards; NULL: it stayed */
    struct nt_call_state state;   /* state when the driver was entered */
    struct refusal *refusal;      /* to restore afterwards */
    struct sim_mutex *class_lock; /* held for this call, or NULL */
    uint32_t place;               /* of who calls, for the detector of races */
    const void *args;             /* what the trace tells of (told.h); NULL: nothing */
};

/* ddi_returned was called; anything else, whatever has overwritten it, says that it was not. */
#define DDI_CHECKED UINT64_C(0x64656B636568632E)

/* What a caller of the driver has on its stack. */
struct ddi_call {
    struct nt_call_guard guard; /* first: what is overwritten from below reaches it first */
    struct ddi_record *record;
    uint64_t checked; /* DDI_CHECKED */
};

/* Enter as the table of entries says. On a failure status the driver must not be called. */
NTSTATUS ddi_enter(struct ddi_call *call, struct ddi_adapter *adapter, enum ddi_entry entry);
/* The same at another synchronization level or IRQL than in the table. */
NTSTATUS ddi_enter_at(struct ddi_call *call, struct ddi_adapter *adapter, enum ddi_entry entry,
                      enum ddi_level level, uint8_t irql);
/* The same, with arguments for the trace (told.h). */
NTSTATUS ddi_enter_with(struct ddi_call *call, struct ddi_adapter *adapter, enum ddi_entry entry,
                        const void *args);
NTSTATUS ddi_enter_with_at(struct ddi_call *call, struct ddi_adapter *adapter, enum ddi_entry entry,
                           enum ddi_level level, uint8_t irql, const void *args);
/* The same for an entry of LEVEL_CHILD. */
NTSTATUS ddi_enter_child(struct ddi_call *call, struct ddi_adapter *adapter, enum ddi_entry entry,
                         ULONG child);
/* The driver has left something that it should not, or the record is not the innermost one. */
void ddi_check_return(struct ddi_call *call);
/* The driver has returned: check now what copies of its answer rely on (THREAD-075 to THREAD-077);
 * else ddi_leave does so. */
static inline void ddi_returned(struct ddi_call *call)
{
    if (__builtin_expect((const void *)call->record != sim_current->frame ||
                             nt_call_is_disturbed(&call->guard),
                         0))
        ddi_check_return(call);
    call->checked = DDI_CHECKED;
}
void ddi_leave(struct ddi_call *call);
/* The same for an entry that returned a status, which is returned; a failure is kept in
 * ddi_adapter.failed_entry. */
NTSTATUS ddi_leave_with(struct ddi_call *call, NTSTATUS status);

/* For each entry, its structure and direction from the table: ddi_argument_DxgkDdiPatch,
 * ddi_way_DxgkDdiPatch, ... */
typedef struct ddi_no_argument DDI_NO_ARGUMENT;
#define DDI_ENTRY(name, level, irql, limit, flags, structure, way) \
    typedef structure ddi_argument_##name;                         \
    enum { ddi_way_##name = DDI_WAY_##way };                       \
    static const char ddi_structure_##name[] __attribute__((unused)) = #structure;
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

/* Whether a call is followed by a comparison of the whole zones around what was lent: submissions
 * compare the near ends alone. */
static inline bool ddi_compares_wide(enum ddi_entry entry)
{
    return ddi_entry_info(entry)->level != LEVEL_SCHEDULER && entry != DDI_DxgkDdiRender &&
           entry != DDI_DxgkDdiQueryCurrentFence;
}

/* A structure or buffer lent for a call that has failed to begin, or is over. */
static inline NTSTATUS ddi_lent_refuse(struct ddi_lent *lent, NTSTATUS status)
{
    ddi_lent_end(lent, NULL);
    return status;
}

#define CALL_LENT(adapter, entry_, level, irql, args, back, ...)                               \
    struct ddi_lent passed;                                                                    \
    struct ddi_call call;                                                                      \
    NTSTATUS status = ddi_structure_lend(&passed, DDI_##entry_, args, sizeof(*(args)),         \
                                         ddi_structure_##entry_)                               \
                          ? ddi_enter_with_at(&call, adapter, DDI_##entry_, level, irql, args) \
                          : STATUS_NO_MEMORY;                                                  \
                                                                                               \
    if (!NT_SUCCESS(status))                                                                   \
        return ddi_lent_refuse(&passed, status);                                               \
    status = (adapter)->table.entry_(__VA_ARGS__, passed.data);                                \
    ddi_returned(&call);                                                                       \
    ddi_structure_check(&passed, sizeof(*(args)), ddi_compares_wide(DDI_##entry_),             \
                        (uintptr_t)(adapter)->table.entry_);                                   \
    ddi_structure_end(&passed, DDI_##entry_, sizeof(*(args)), back);                           \
    return ddi_leave_with(&call, status)

/* The same for an entry whose last argument is the address of a structure that goes in. */
#define CALL_IN(adapter, entry_, args, ...)                                                       \
    _Static_assert((int)ddi_way_##entry_ == DDI_WAY_IN, "the table says that answers come back"); \
    CALL_LENT(adapter, entry_, ddi_entry_info(DDI_##entry_)->level,                               \
              ddi_entry_info(DDI_##entry_)->irql, args, NULL, __VA_ARGS__)

/* Of one that comes back, too. */
#define CALL_BOTH(adapter, entry_, args, ...)                                          \
    _Static_assert((int)ddi_way_##entry_ == DDI_WAY_BOTH, "the table says otherwise"); \
    CALL_LENT(adapter, entry_, ddi_entry_info(DDI_##entry_)->level,                    \
              ddi_entry_info(DDI_##entry_)->irql, args, args, __VA_ARGS__)

#define CALL_VOID(adapter, entry, ...)                       \
    struct ddi_call call;                                    \
                                                             \
    if (!NT_SUCCESS(ddi_enter(&call, adapter, DDI_##entry))) \
        return;                                              \
    (adapter)->table.entry(__VA_ARGS__);                     \
    ddi_leave(&call)

#endif
