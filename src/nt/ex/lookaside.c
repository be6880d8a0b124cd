/* SPDX-License-Identifier: MIT */
/*
 * Lookaside lists. Allocating and freeing entries is inline code in the driver, with the sequenced
 * list at the start of the structure and the function pointers in it; this file initializes and
 * deletes the structure, and tracks those in use.
 */
#include "nt/base/active.h"
#include "nt/base/export.h"
#include "nt/base/faults.h"
#include "nt/base/memory.h"
#include "nt/base/nt_report.h"
#include "nt/base/state.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/verify.h"

#define DEFAULT_DEPTH 4u

struct nt_lookaside {
    struct nt_active active;
    GENERAL_LOOKASIDE_POOL *list;
};

const struct nt_component nt_lookaside_component = NT_MAP_COMPONENT(lookasides);

/* GENERAL_LOOKASIDE and GENERAL_LOOKASIDE_POOL differ in alignment only. */
_Static_assert(offsetof(GENERAL_LOOKASIDE, FreeEx) == offsetof(GENERAL_LOOKASIDE_POOL, FreeEx),
               "lookaside lists of both forms have one layout");

static PVOID NTAPI allocate_entry_ex(POOL_TYPE type, SIZE_T bytes, ULONG tag,
                                     PLOOKASIDE_LIST_EX lookaside)
{
    (void)lookaside;
    return ExAllocatePoolWithTag(type, bytes, tag);
}

static VOID NTAPI free_entry_ex(PVOID buffer, PLOOKASIDE_LIST_EX lookaside)
{
    (void)lookaside;
    ExFreePool(buffer);
}

static struct nt_lookaside *find(const void *list)
{
    return list ? hash_get(nt_state()->lookasides, (uintptr_t)list) : NULL;
}

static bool check_init(const void *list, SIZE_T size, const char *routine)
{
    if (!nt_memory_check(list, "lookaside list", routine))
        return false;
    if ((uintptr_t)list % 16 != 0) {
        VIOLATION("NT-028", "%s of a list that is not aligned to 16 bytes", routine);
        return false;
    }
    if (find(list)) {
        NT_VERIFIER("NT-029", 0xCA, (uintptr_t)list, 0, 0,
                    "%s of a list that is initialised already", routine);
        return false;
    }
    if (size < LOOKASIDE_MINIMUM_BLOCK_SIZE)
        NT_VERIFIER("NT-029", 0xCD, (uintptr_t)list, size, LOOKASIDE_MINIMUM_BLOCK_SIZE,
                    "%s with entries of %llu bytes", routine, (unsigned long long)size);
    return true;
}

static void reclaim(struct nt_resource *resource);

static const struct nt_active_class lookaside_class = {
    .resource = {.rule = "NT-031", .noun = "lookaside list", .reclaim = reclaim},
    .noun = "a lookaside list in use",
    .code = DRIVER_VERIFIER,
    .subcode = 0xCC,
};

static bool remember(GENERAL_LOOKASIDE_POOL *list, const void *caller)
{
    struct nt_lookaside *record = util_zalloc(1, sizeof(*record));

    if (!record)
        return false;
    if (!nt_active_add(&record->active, nt_state()->lookasides, &lookaside_class, list, caller)) {
        util_free(record);
        return false;
    }
    record->list = list;
    return true;
}

static void fill(GENERAL_LOOKASIDE_POOL *list, POOL_TYPE type, SIZE_T size, ULONG tag)
{
    *list = (GENERAL_LOOKASIDE_POOL){
        .Depth = DEFAULT_DEPTH,
        .MaximumDepth = EX_MAXIMUM_LOOKASIDE_DEPTH_BASE,
        .Type = type,
        .Tag = tag,
        /* An entry in the list is a SLIST_ENTRY. */
        .Size = size < sizeof(SLIST_ENTRY) ? (ULONG)sizeof(SLIST_ENTRY) : (ULONG)size,
    };
    InitializeListHead(&list->ListEntry);
}

/* Arguments of the initialization routines. */
struct wanted {
    PALLOCATE_FUNCTION allocate;
    PFREE_FUNCTION release;
    POOL_TYPE type;
    ULONG flags;
    SIZE_T size;
    ULONG tag;
};

static void init(void *lookaside, const struct wanted *wanted, const char *routine,
                 const void *caller)
{
    GENERAL_LOOKASIDE_POOL *list = lookaside;
    struct nt_faults faults;

    nt_level(NT_DISPATCH, "NT-028", NT_NO_CODE, routine);
    if (!check_init(list, wanted->size, routine))
        return;
    if (wanted->flags & ~(ULONG)(POOL_NX_ALLOCATION | POOL_RAISE_IF_ALLOCATION_FAILURE))
        VIOLATION("NT-028", "%s with flags %#x", routine, wanted->flags);
    fill(list, (POOL_TYPE)((ULONG)wanted->type | wanted->flags), wanted->size, wanted->tag);
    list->Allocate = wanted->allocate ? wanted->allocate : ExAllocatePoolWithTag;
    list->Free = wanted->release ? wanted->release : ExFreePool;
    faults = nt_faults_off(); /* cannot report failure */
    remember(list, caller);
    nt_faults_on(faults);
}

NT_EXPORT VOID NTAPI ExInitializeNPagedLookasideList(PNPAGED_LOOKASIDE_LIST Lookaside,
                                                     PALLOCATE_FUNCTION Allocate,
                                                     PFREE_FUNCTION Free, ULONG Flags, SIZE_T Size,
                                                     ULONG Tag, USHORT Depth)
{
    const struct wanted wanted = {Allocate, Free, NonPagedPool, Flags, Size, Tag};

    NT_ENTER();
    if (Depth != 0)
        VIOLATION("NT-028", "%s with a depth of %u, which is reserved", __func__, Depth);
    init(Lookaside, &wanted, __func__, NT_CALLER());
}

NT_EXPORT VOID NTAPI ExInitializePagedLookasideList(PPAGED_LOOKASIDE_LIST Lookaside,
                                                    PALLOCATE_FUNCTION Allocate,
                                                    PFREE_FUNCTION Free, ULONG Flags, SIZE_T Size,
                                                    ULONG Tag, USHORT Depth)
{
    const struct wanted wanted = {Allocate, Free, PagedPool, Flags, Size, Tag};

    NT_ENTER();
    if (!nt_level(NT_APC, "NT-032", NT_NO_CODE, __func__))
        return;
    if (Depth != 0)
        VIOLATION("NT-028", "%s with a depth of %u, which is reserved", __func__, Depth);
    init(Lookaside, &wanted, __func__, NT_CALLER());
}

NT_EXPORT NTSTATUS NTAPI ExInitializeLookasideListEx(PLOOKASIDE_LIST_EX Lookaside,
                                                     PALLOCATE_FUNCTION_EX Allocate,
                                                     PFREE_FUNCTION_EX Free, POOL_TYPE PoolType,
                                                     ULONG Flags, SIZE_T Size, ULONG Tag,
                                                     USHORT Depth)
{
    const ULONG known = EX_LOOKASIDE_LIST_EX_FLAGS_RAISE_ON_FAIL |
                        EX_LOOKASIDE_LIST_EX_FLAGS_FAIL_NO_RAISE;

    NT_ENTER();
    nt_level(NT_DISPATCH, "NT-033", NT_NO_CODE, __func__);
    if (Flags & ~known || Flags == known)
        return STATUS_INVALID_PARAMETER_5;
    if (Depth != 0)
        VIOLATION("NT-033", "%s with a depth of %u, which is reserved", __func__, Depth);
    if (!check_init(Lookaside, Size, __func__))
        return STATUS_INVALID_PARAMETER;
    if (!remember(&Lookaside->L, NT_CALLER()))
        return STATUS_INSUFFICIENT_RESOURCES;
    if (Flags & EX_LOOKASIDE_LIST_EX_FLAGS_RAISE_ON_FAIL)
        PoolType = (POOL_TYPE)((ULONG)PoolType | POOL_RAISE_IF_ALLOCATION_FAILURE);
    fill(&Lookaside->L, PoolType, Size, Tag);
    Lookaside->L.AllocateEx = Allocate ? Allocate : allocate_entry_ex;
    Lookaside->L.FreeEx = Free ? Free : free_entry_ex;
    return STATUS_SUCCESS;
}

/* ---- the end ---- */

static void drop(struct nt_lookaside *record)
{
    nt_active_remove(&record->active, nt_state()->lookasides);
    util_free(record);
}

/* At unload the driver's own Free routine may be gone: the entries stay, and are reported as leaked
 * blocks. */
static void reclaim(struct nt_resource *resource)
{
    drop(CONTAINER(resource, struct nt_lookaside, active.resource));
}

static void delete_list(void *lookaside, bool ex, const char *routine)
{
    GENERAL_LOOKASIDE_POOL *list = lookaside;
    struct nt_lookaside *record = find(list);
    PSLIST_ENTRY entry;

    if (!record) {
        NT_VERIFIER("NT-029", 0xCB, (uintptr_t)list, 0, 0, "%s of a list that is not initialised",
                    routine);
        return;
    }
    drop(record);
    while ((entry = ExpInterlockedPopEntrySList(&list->ListHead)) != NULL) {
        if (ex)
            list->FreeEx(entry, lookaside);
        else
            list->Free(entry);
    }
}

NT_EXPORT VOID NTAPI ExDeleteNPagedLookasideList(PNPAGED_LOOKASIDE_LIST Lookaside)
{
    NT_ENTER();
    nt_level(NT_DISPATCH, "NT-031", NT_NO_CODE, __func__);
    delete_list(Lookaside, false, __func__);
}

NT_EXPORT VOID NTAPI ExDeletePagedLookasideList(PPAGED_LOOKASIDE_LIST Lookaside)
{
    NT_ENTER();
    if (nt_level(NT_APC, "NT-032", NT_NO_CODE, __func__))
        delete_list(Lookaside, false, __func__);
}

NT_EXPORT VOID NTAPI ExDeleteLookasideListEx(PLOOKASIDE_LIST_EX Lookaside)
{
    NT_ENTER();
    nt_level(NT_DISPATCH, "NT-033", NT_NO_CODE, __func__);
    delete_list(Lookaside, true, __func__);
}
