/* SPDX-License-Identifier: MIT */
/*
 * Executive resources (ERESOURCE): one exclusive owner, or any number of shared owners, each
 * recursive. The structure is the driver's; owners and counts are in a record of the host, found by
 * its address from initialization to deletion.
 */
#include "nt/base/active.h"
#include "nt/base/current.h"
#include "nt/base/export.h"
#include "nt/base/faults.h"
#include "nt/base/memory.h"
#include "nt/base/nt_report.h"
#include "nt/base/state.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ke/wait.h"
#include "sim/irql.h"
#include "sim/order.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/verify.h"

struct owner {
    struct list link;
    struct _KTHREAD *thread;
    uint32_t count;
};

const struct nt_component nt_eresource_component = NT_MAP_COMPONENT(eresources);

struct nt_eresource {
    struct nt_active active;
    struct list owners; /* struct owner; one entry if exclusive */
    bool exclusive;     /* of the owners, if there are any */
    uint32_t exclusive_waiters;
};

static struct nt_eresource *find(PERESOURCE resource, const char *routine)
{
    struct nt_eresource *record = resource ? hash_get(nt_state()->eresources, (uintptr_t)resource)
                                           : NULL;

    if (!record)
        VIOLATION("NT-005", "%s of an ERESOURCE that is not initialised", routine);
    return record;
}

static struct owner *find_owner(const struct nt_eresource *record, const struct _KTHREAD *thread)
{
    LIST_FOR(node, &record->owners) {
        struct owner *owner = CONTAINER(node, struct owner, link);

        if (owner->thread == thread)
            return owner;
    }
    return NULL;
}

/* Acquiring with Wait TRUE cannot fail on Windows, so no failure is injected here. */
static void add_owner(struct nt_eresource *record)
{
    struct nt_faults faults = nt_faults_off();
    struct owner *owner = util_zalloc(1, sizeof(*owner));

    nt_faults_on(faults);
    if (!owner)
        return;
    owner->thread = nt_thread();
    owner->count = 1;
    owner->thread->sleeping_locks++;
    list_push_back(&record->owners, &owner->link);
}

/* Check the IRQL and APC rules (NT-071). False: the call must not be carried out. */
static bool level_allows(uint32_t code, const char *routine)
{
    const struct _KTHREAD *thread = nt_thread();

    if (!nt_level(NT_APC, "NT-071", code, routine) || !thread->sim)
        return false;
    if (sim_irql() < SIM_IRQL_APC && thread->kernel_apc_disable == 0 &&
        thread->special_apc_disable == 0)
        NT_VERIFIER("NT-071", code, sim_irql(), 0, 0, "%s with normal kernel APCs enabled", routine);
    return true;
}

static void reclaim(struct nt_resource *resource);

static const struct nt_active_class eresource_class = {
    .resource = {.rule = "NT-071",
                 .noun = "ERESOURCE",
                 .code = DRIVER_VERIFIER,
                 .subcode = 0xD2,
                 .reclaim = reclaim},
    .noun = "an ERESOURCE in use",
    .code = DRIVER_VERIFIER,
    .subcode = 0xD2,
};

NT_EXPORT NTSTATUS NTAPI ExInitializeResourceLite(PERESOURCE Resource)
{
    struct nt *nt;
    struct nt_eresource *record;
    struct nt_faults faults;

    NT_ENTER();
    nt = nt_state();
    if (!nt_memory_check(Resource, "ERESOURCE", __func__))
        return STATUS_INVALID_PARAMETER;
    if (hash_get(nt->eresources, (uintptr_t)Resource)) {
        VIOLATION("NT-071", "%s of an ERESOURCE that is initialised already", __func__);
        return STATUS_SUCCESS;
    }
    faults = nt_faults_off(); /* always succeeds on Windows */
    record = util_zalloc(1, sizeof(*record));
    if (!record ||
        !nt_active_add(&record->active, nt->eresources, &eresource_class, Resource, NT_CALLER())) {
        util_free(record);
        record = NULL;
    }
    nt_faults_on(faults);
    if (!record)
        return STATUS_INSUFFICIENT_RESOURCES;
    list_init(&record->owners);
    sim_order_forget(record);
    sim_order_forget(&record->owners);
    *Resource = (ERESOURCE){0};
    InitializeListHead(&Resource->SystemResourcesList);
    return STATUS_SUCCESS;
}

static void drop(struct nt_eresource *record)
{
    struct list *node;

    while ((node = list_pop_front(&record->owners)) != NULL)
        util_free(CONTAINER(node, struct owner, link));
    nt_active_remove(&record->active, nt_state()->eresources);
    util_free(record);
}

static void reclaim(struct nt_resource *resource)
{
    drop(CONTAINER(resource, struct nt_eresource, active.resource));
}

NT_EXPORT NTSTATUS NTAPI ExDeleteResourceLite(PERESOURCE Resource)
{
    struct nt_eresource *record;

    NT_ENTER();
    nt_level(NT_DISPATCH, "NT-071", NT_NO_CODE, __func__);
    record = find(Resource, __func__);
    if (!record)
        return STATUS_INVALID_PARAMETER;
    if (!list_empty(&record->owners))
        VIOLATION("NT-071", "%s of an ERESOURCE that is owned", __func__);
    drop(record);
    return STATUS_SUCCESS;
}

static bool free_for(const struct nt_eresource *record, bool exclusive)
{
    if (list_empty(&record->owners))
        return true;
    /* A shared request does not overtake a waiting exclusive request. */
    return !exclusive && !record->exclusive && record->exclusive_waiters == 0;
}

static BOOLEAN acquire(PERESOURCE resource, bool exclusive, bool wait, const char *routine)
{
    struct nt_eresource *record;
    struct owner *owner;

    if (!level_allows(0x37, routine))
        return FALSE;
    record = find(resource, routine);
    if (!record)
        return FALSE;
    owner = find_owner(record, nt_thread());
    if (owner && (record->exclusive || !exclusive)) {
        owner->count++;
        return TRUE;
    }
    while (!free_for(record, exclusive)) {
        if (!wait)
            return FALSE;
        record->exclusive_waiters += exclusive;
        nt_wait_address(resource, NULL);
        record = hash_get(nt_state()->eresources, (uintptr_t)resource);
        if (!record)
            return FALSE; /* deleted while the thread waited */
        record->exclusive_waiters -= exclusive;
    }
    sim_order_acquire(record);
    if (exclusive)
        sim_order_acquire(&record->owners); /* after its readers */
    record->exclusive = exclusive;
    add_owner(record);
    return TRUE;
}

NT_EXPORT BOOLEAN NTAPI ExAcquireResourceSharedLite(PERESOURCE Resource, BOOLEAN Wait)
{
    NT_ENTER();
    return acquire(Resource, false, Wait, __func__);
}

NT_EXPORT BOOLEAN NTAPI ExAcquireResourceExclusiveLite(PERESOURCE Resource, BOOLEAN Wait)
{
    NT_ENTER();
    return acquire(Resource, true, Wait, __func__);
}

static void release(PERESOURCE resource, const char *routine)
{
    struct nt_eresource *record;
    struct owner *owner;

    if (!level_allows(0x38, routine))
        return;
    record = find(resource, routine);
    owner = record ? find_owner(record, nt_thread()) : NULL;
    if (!owner) {
        if (record)
            VIOLATION("NT-071", "%s of an ERESOURCE that the thread does not own", routine);
        return;
    }
    if (--owner->count != 0)
        return;
    sim_order_release(record->exclusive ? (const void *)record : &record->owners);
    owner->thread->sleeping_locks--;
    list_remove(&owner->link);
    util_free(owner);
    if (list_empty(&record->owners))
        nt_wait_wake_address(resource, UINT32_MAX);
}

NT_EXPORT VOID NTAPI ExReleaseResourceLite(PERESOURCE Resource)
{
    NT_ENTER();
    release(Resource, __func__);
}

NT_EXPORT BOOLEAN NTAPI ExIsResourceAcquiredExclusiveLite(PERESOURCE Resource)
{
    struct nt_eresource *record;

    NT_ENTER();
    record = find(Resource, __func__);
    return record && record->exclusive && find_owner(record, nt_thread());
}

NT_EXPORT ULONG NTAPI ExIsResourceAcquiredSharedLite(PERESOURCE Resource)
{
    struct nt_eresource *record;
    struct owner *owner;

    NT_ENTER();
    record = find(Resource, __func__);
    owner = record ? find_owner(record, nt_thread()) : NULL;
    return owner ? owner->count : 0;
}

NT_EXPORT PVOID NTAPI ExEnterCriticalRegionAndAcquireResourceExclusive(PERESOURCE Resource)
{
    NT_ENTER();
    nt_thread()->kernel_apc_disable++;
    acquire(Resource, true, true, __func__);
    return nt_thread();
}

NT_EXPORT VOID NTAPI ExReleaseResourceAndLeaveCriticalRegion(PERESOURCE Resource)
{
    NT_ENTER();
    release(Resource, __func__);
    if (nt_thread()->kernel_apc_disable == 0)
        NT_VERIFIER("NT-073", 0x3E, 0, 0, 0, "%s without the matching enter", __func__);
    else
        nt_thread()->kernel_apc_disable--;
}
