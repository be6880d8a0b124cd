/* SPDX-License-Identifier: MIT */
/* A VidPN and its mode sets: VIDPN-018 to VIDPN-038. */
#include <stdio.h>
#include <string.h>

#include "modes/vidpn_interfaces.h"
#include "modes/interface_call.h"
#include "modes/modes.h"
#include "modes/set_calls.h"
#include "modes/vidpn.h"
#include "sim/fault.h"
#include "util/alloc.h"
#include "verify/verify.h"

#define NAME(function) "DXGK_VIDPN_INTERFACE." function
#define MOST_METHODS   64u

/* What source and target mode sets differ in. */
struct set_kind {
    enum mode_kind mode;
    enum hand_kind hand;
    NTSTATUS bad_set, bad_id;
    struct mode_set **(*find)(const struct vidpn *vidpn, UINT id);
    const char *id;
};

static const struct set_kind of_source = {MODE_SOURCE,
                                          HAND_SOURCE_SET,
                                          STATUS_GRAPHICS_INVALID_VIDPN_SOURCEMODESET,
                                          STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE,
                                          vidpn_source_set,
                                          "source"};
static const struct set_kind of_target = {MODE_TARGET,
                                          HAND_TARGET_SET,
                                          STATUS_GRAPHICS_INVALID_VIDPN_TARGETMODESET,
                                          STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET,
                                          vidpn_target_set,
                                          "target"};

/* A call of one of them, with its VidPN found. */
struct vidpn_call {
    struct interface_call call;
    struct modes_scope *scope;
    struct vidpn *vidpn;
};

static NTSTATUS begin(struct vidpn_call *c, const void *handle, const char *name, uintptr_t caller)
{
    struct modes_hand *hand;
    NTSTATUS status = interface_begin(&c->call, name, caller, "VIDPN-010");

    if (!NT_SUCCESS(status))
        return status;
    hand = modes_hand_find(handle, HAND_VIDPN, STATUS_GRAPHICS_INVALID_VIDPN);
    if (!hand)
        return interface_end(&c->call, STATUS_GRAPHICS_INVALID_VIDPN);
    c->scope = hand->scope;
    c->vidpn = hand->object;
    return STATUS_SUCCESS;
}

/* The same for one that returns a handle and an interface. */
static NTSTATUS begin_output(struct vidpn_call *c, const void *handle, void **object,
                             const void **interface, const char *name, uintptr_t caller)
{
    NTSTATUS status;

    INTERFACE_CLEAR(object);
    INTERFACE_CLEAR(interface);
    status = begin(c, handle, name, caller);
    if (!NT_SUCCESS(status))
        return status;
    status = interface_need((const void *)object, "the output of the handle");
    if (NT_SUCCESS(status))
        status = interface_need((const void *)interface, "the output of the interface");
    return NT_SUCCESS(status) ? status : interface_end(&c->call, status);
}

static NTSTATUS give_both(const struct modes_hand *hand, const void *table, void **object,
                          const void **interface)
{
    void *handle = (void *)hand->handle;
    NTSTATUS status = INTERFACE_GIVE(object, handle);

    return NT_SUCCESS(status) ? INTERFACE_GIVE(interface, table) : status;
}

static NTSTATUS NTAPI get_topology(D3DKMDT_HVIDPN handle, D3DKMDT_HVIDPNTOPOLOGY *topology,
                                   const DXGK_VIDPNTOPOLOGY_INTERFACE **interface)
{
    struct vidpn_call c;
    const struct modes_hand *hand;
    NTSTATUS status = begin_output(&c, handle, (void **)topology, (const void **)interface,
                                   NAME("pfnGetTopology"), MODES_CALLER);

    if (!NT_SUCCESS(status))
        return status;
    hand = modes_hand_out(c.scope, HAND_TOPOLOGY, c.vidpn);
    status = hand ? give_both(hand, &modes_topology_interface, (void **)topology,
                              (const void **)interface)
                  : STATUS_NO_MEMORY;
    return interface_end(&c.call, status);
}

/* ---- mode sets ---- */

static NTSTATUS bad_id(const struct set_kind *kind, UINT id)
{
    return refuse(kind->bad_id, "VIDPN-026", "the adapter has no %s 0x%x", kind->id, id);
}

static const void *table_of(const struct set_kind *kind)
{
    return kind->mode == MODE_SOURCE ? (const void *)&modes_source_set_interface
                                     : (const void *)&modes_target_set_interface;
}

static NTSTATUS acquire(const struct set_kind *kind, const void *handle, UINT id, void **set,
                        const void **interface, const char *name, uintptr_t caller)
{
    struct vidpn_call c;
    struct mode_set **place;
    struct modes_hand *hand;
    NTSTATUS status = begin_output(&c, handle, set, interface, name, caller);

    if (!NT_SUCCESS(status))
        return status;
    place = kind->find(c.vidpn, id);
    hand = place ? modes_hand_out(c.scope, kind->hand, *place) : NULL;
    status = !place ? bad_id(kind, id) : !hand ? STATUS_NO_MEMORY : STATUS_SUCCESS;
    if (NT_SUCCESS(status))
        status = give_both(hand, table_of(kind), set, interface);
    if (NT_SUCCESS(status)) {
        hand->acquired++;
        hand->by = name;
    } else if (hand && !hand->acquired && !hand->made) {
        modes_hand_end(hand); /* the driver may have got it, but not its interface */
    }
    return interface_end(&c.call, status);
}

static NTSTATUS create(const struct set_kind *kind, const void *handle, UINT id, void **set,
                       const void **interface, const char *name, uintptr_t caller)
{
    struct vidpn_call c;
    struct mode_set *fresh;
    struct modes_hand *hand;
    NTSTATUS status = begin_output(&c, handle, set, interface, name, caller);

    if (!NT_SUCCESS(status))
        return status;
    if (!kind->find(c.vidpn, id))
        return interface_end(&c.call, bad_id(kind, id));
    fresh = mode_set_create(kind->mode, id);
    hand = fresh ? modes_hand_out(c.scope, kind->hand, fresh) : NULL;
    if (!hand) {
        mode_set_destroy(fresh);
        return interface_end(&c.call, STATUS_NO_MEMORY);
    }
    hand->owned = true;
    hand->by = name;
    status = give_both(hand, table_of(kind), set, interface);
    hand->made = NT_SUCCESS(status);
    if (!NT_SUCCESS(status))
        modes_hand_end(hand);
    return interface_end(&c.call, status);
}

/* The set of this handle, of this VidPN; NULL: with the status. */
static struct modes_hand *find_set(const struct vidpn_call *c, const struct set_kind *kind,
                                   const void *set, NTSTATUS *status)
{
    struct modes_hand *hand = modes_hand_find(set, kind->hand, kind->bad_set);

    *status = hand ? STATUS_SUCCESS : kind->bad_set;
    if (!hand || hand->scope == c->scope)
        return hand;
    *status = refuse(STATUS_GRAPHICS_RESOURCES_NOT_RELATED, "VIDPN-024",
                     "the mode set is of another VidPN");
    return NULL;
}

static NTSTATUS release(const struct set_kind *kind, const void *handle, const void *set,
                        const char *name, uintptr_t caller)
{
    struct vidpn_call c;
    struct modes_hand *hand;
    const struct modes_lent *lent;
    NTSTATUS status = begin(&c, handle, name, caller);

    if (!NT_SUCCESS(status))
        return status;
    hand = find_set(&c, kind, set, &status);
    if (!hand)
        return interface_end(&c.call, status);
    lent = modes_hand_lends(hand);
    if (lent && hand->acquired <= 1) {
        VIOLATION("VIDPN-038", "a %s was released while the structure of %s that is of it was not",
                  hand_kind_name(hand->kind), lent->by);
        modes_hand_forget(hand);
    }
    if (hand->made || --hand->acquired == 0)
        modes_hand_end(hand);
    return interface_end(&c.call, status);
}

/* ---- assignment ---- */

/* VIDPN-030, VIDPN-032. Afterwards the mode pinned in the old set is pinned in the new one. */
static NTSTATUS check_content(const struct set_kind *kind, const struct mode_set *old,
                              struct mode_set *set, UINT id)
{
    const union mode *pinned = mode_set_pinned(old), *same;

    if (set->owner != id)
        return refuse(STATUS_GRAPHICS_RESOURCES_NOT_RELATED, "VIDPN-030",
                      "the set was created for %s 0x%x, not for 0x%x", kind->id, set->owner, id);
    if (!set->count)
        return refuse(kind->bad_set, "VIDPN-030", "the set is empty");
    if (!pinned)
        return STATUS_SUCCESS;
    same = mode_set_same(set, pinned);
    if (!same || (set->pinned && mode_set_pinned(set) != same))
        return refuse(STATUS_GRAPHICS_PINNED_MODE_MUST_REMAIN_IN_SET, "VIDPN-027",
                      "the mode with Id %u is pinned, and the new set %s", pinned->id,
                      same ? "has another one pinned" : "does not have it");
    mode_set_pin(set, same);
    return STATUS_SUCCESS;
}

/* The new set takes the place; who has a handle of the old one can still read it. */
static void take_place(struct modes_hand *hand, enum hand_kind kind, struct mode_set **place)
{
    struct modes_hand *holder = modes_hand_of(hand->scope, kind, *place);

    if (holder)
        holder->owned = true;
    else
        mode_set_destroy(*place);
    *place = hand->object;
    hand->owned = false;
    modes_hand_end(hand);
}

static NTSTATUS assign_set(const struct vidpn_call *c, const struct set_kind *kind, UINT id,
                           const void *set)
{
    struct mode_set **place = kind->find(c->vidpn, id);
    struct modes_hand *hand;
    NTSTATUS status;

    if (!(c->scope->access & MODES_SETS))
        return interface_deny(c->scope, "VIDPN-014", "assign mode sets");
    if (!place)
        return bad_id(kind, id);
    hand = find_set(c, kind, set, &status);
    if (!hand)
        return status;
    if (!hand->made)
        return refuse(kind->bad_set, "VIDPN-031",
                      "the set was acquired; only one that was created can be assigned");
    if (*place == c->scope->pivot)
        return interface_deny(c->scope, "VIDPN-030", "assign a set to the pivot");
    status = check_content(kind, *place, hand->object, id);
    if (NT_SUCCESS(status))
        take_place(hand, kind->hand, place);
    else
        modes_hand_end(hand); /* the set goes with the refusal (VIDPN-029) */
    return status;
}

static NTSTATUS assign(const struct set_kind *kind, const void *handle, UINT id, const void *set,
                       const char *name, uintptr_t caller)
{
    struct vidpn_call c;
    NTSTATUS status = begin(&c, handle, name, caller);

    return NT_SUCCESS(status) ? interface_end(&c.call, assign_set(&c, kind, id, set)) : status;
}

/* ---- the typed functions ---- */

#define SET_FUNCTIONS(kind, name, set_handle, table)                                                \
    static NTSTATUS NTAPI acquire_##kind(D3DKMDT_HVIDPN handle, const UINT id, set_handle *set,     \
                                         const table **interface)                                   \
    {                                                                                               \
        return acquire(&of_##kind, handle, id, (void **)set, (const void **)interface,              \
                       NAME("pfnAcquire" name "ModeSet"), MODES_CALLER);                            \
    }                                                                                               \
    static NTSTATUS NTAPI release_##kind(D3DKMDT_HVIDPN handle, set_handle set)                     \
    {                                                                                               \
        return release(&of_##kind, handle, set, NAME("pfnRelease" name "ModeSet"), MODES_CALLER);   \
    }                                                                                               \
    static NTSTATUS NTAPI create_##kind(D3DKMDT_HVIDPN handle, const UINT id, set_handle *set,      \
                                        const table **interface)                                    \
    {                                                                                               \
        return create(&of_##kind, handle, id, (void **)set, (const void **)interface,               \
                      NAME("pfnCreateNew" name "ModeSet"), MODES_CALLER);                           \
    }                                                                                               \
    static NTSTATUS NTAPI assign_##kind(D3DKMDT_HVIDPN handle, const UINT id, set_handle set)       \
    {                                                                                               \
        return assign(&of_##kind, handle, id, set, NAME("pfnAssign" name "ModeSet"), MODES_CALLER); \
    }

SET_FUNCTIONS(source, "Source", D3DKMDT_HVIDPNSOURCEMODESET, DXGK_VIDPNSOURCEMODESET_INTERFACE)
SET_FUNCTIONS(target, "Target", D3DKMDT_HVIDPNTARGETMODESET, DXGK_VIDPNTARGETMODESET_INTERFACE)

/* VIDPN-033, VIDPN-034: looked at, told, and used for nothing. */
static void tell_methods(UINT source, const D3DDDI_MULTISAMPLINGMETHOD *methods, UINT count)
{
    char text[256] = "";
    size_t at = 0;

    for (UINT i = 0; i < count && at < sizeof(text); i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u samples of %u qualities",
                               i ? ", " : ": ", methods[i].NumSamples, methods[i].NumQualityLevels);
    verify_report_each("VIDPN-033", VERIFY_NOTE, "source %u has %u multisampling methods%s", source,
                       count, text);
}

static NTSTATUS take_methods(const struct vidpn_call *c, UINT source, SIZE_T count,
                             const D3DDDI_MULTISAMPLINGMETHOD *methods)
{
    D3DDDI_MULTISAMPLINGMETHOD copy[MOST_METHODS];

    if (!(c->scope->access & MODES_SETS))
        return interface_deny(c->scope, "VIDPN-014", "assign multisampling methods");
    if (!vidpn_source_set(c->vidpn, source))
        return bad_id(&of_source, source);
    if (count > MOST_METHODS || (count && !methods) ||
        !sim_copy_checked(copy, methods, count * sizeof(copy[0])))
        return refuse(STATUS_INVALID_PARAMETER, "VIDPN-034", "%llu multisampling methods at %p",
                      (unsigned long long)count, (const void *)methods);
    for (SIZE_T i = 0; i < count; i++)
        if (!copy[i].NumSamples || !copy[i].NumQualityLevels)
            WARNING("VIDPN-034", "multisampling method %llu has %u samples and %u quality levels",
                    (unsigned long long)i, copy[i].NumSamples, copy[i].NumQualityLevels);
    tell_methods(source, copy, (UINT)count);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI assign_methods(D3DKMDT_HVIDPN handle,
                                     const D3DDDI_VIDEO_PRESENT_SOURCE_ID source,
                                     const SIZE_T count, const D3DDDI_MULTISAMPLINGMETHOD *methods)
{
    struct vidpn_call c;
    NTSTATUS status = begin(&c, handle, NAME("pfnAssignMultisamplingMethodSet"), MODES_CALLER);

    return NT_SUCCESS(status) ? interface_end(&c.call, take_methods(&c, source, count, methods))
                              : status;
}

#define VIDPN_FUNCTIONS                                                                         \
    .pfnGetTopology = get_topology, .pfnAcquireSourceModeSet = acquire_source,                  \
    .pfnReleaseSourceModeSet = release_source, .pfnCreateNewSourceModeSet = create_source,      \
    .pfnAssignSourceModeSet = assign_source, .pfnAssignMultisamplingMethodSet = assign_methods, \
    .pfnAcquireTargetModeSet = acquire_target, .pfnReleaseTargetModeSet = release_target,       \
    .pfnCreateNewTargetModeSet = create_target, .pfnAssignTargetModeSet = assign_target

static const DXGK_VIDPN_INTERFACE interface_1 = {.Version = DXGK_VIDPN_INTERFACE_VERSION_V1,
                                                 VIDPN_FUNCTIONS};
static const DXGK_VIDPN_INTERFACE interface_2 = {.Version = DXGK_VIDPN_INTERFACE_VERSION_V2,
                                                 VIDPN_FUNCTIONS};

static NTSTATUS query(const void *handle, DXGK_VIDPN_INTERFACE_VERSION version,
                      const DXGK_VIDPN_INTERFACE **interface)
{
    const bool later = modes_hand_version(handle) >= DXGKDDI_INTERFACE_VERSION_WDDM2_2;
    const DXGK_VIDPN_INTERFACE *table = version == DXGK_VIDPN_INTERFACE_VERSION_V1 ? &interface_1
                                        : version == DXGK_VIDPN_INTERFACE_VERSION_V2 && later
                                            ? &interface_2
                                            : NULL;
    NTSTATUS status = interface_need((const void *)interface, "ppVidPnInterface");

    if (!NT_SUCCESS(status))
        return status;
    if (!table)
        return refuse(STATUS_NOT_SUPPORTED, "VIDPN-019", "version %d of the VidPN interface",
                      (int)version);
    if (!modes_hand_find(handle, HAND_VIDPN, STATUS_GRAPHICS_INVALID_VIDPN))
        return STATUS_GRAPHICS_INVALID_VIDPN;
    return INTERFACE_GIVE(interface, table);
}

NTSTATUS NTAPI modes_query_vidpn_interface(D3DKMDT_HVIDPN vidpn,
                                           const DXGK_VIDPN_INTERFACE_VERSION version,
                                           const DXGK_VIDPN_INTERFACE **interface)
{
    struct interface_call call;
    NTSTATUS status;

    INTERFACE_CLEAR(interface);
    status = interface_begin(&call, "DxgkCbQueryVidPnInterface", MODES_CALLER, "VIDPN-010");
    if (!NT_SUCCESS(status))
        return status;
    return interface_end(&call, query(vidpn, version, interface));
}
