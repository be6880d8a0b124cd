/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "modes/set_calls.h"
#include "modes/mode_check.h"
#include "modes/modes.h"
#include "verify/verify.h"

struct kind {
    enum hand_kind hand;
    const char *level; /* rule */
    NTSTATUS bad_set, bad_mode, bad_release;
    const char *count, *first, *next, *chosen, *release, *create, *add, *pin; /* names */
};

static const struct kind kinds[] = {
    [MODE_SOURCE] = {HAND_SOURCE_SET, "VIDPN-010", STATUS_GRAPHICS_INVALID_VIDPN_SOURCEMODESET,
                     STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE,
                     STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE,
                     "DXGK_VIDPNSOURCEMODESET_INTERFACE.pfnGetNumModes",
                     "DXGK_VIDPNSOURCEMODESET_INTERFACE.pfnAcquireFirstModeInfo",
                     "DXGK_VIDPNSOURCEMODESET_INTERFACE.pfnAcquireNextModeInfo",
                     "DXGK_VIDPNSOURCEMODESET_INTERFACE.pfnAcquirePinnedModeInfo",
                     "DXGK_VIDPNSOURCEMODESET_INTERFACE.pfnReleaseModeInfo",
                     "DXGK_VIDPNSOURCEMODESET_INTERFACE.pfnCreateNewModeInfo",
                     "DXGK_VIDPNSOURCEMODESET_INTERFACE.pfnAddMode",
                     "DXGK_VIDPNSOURCEMODESET_INTERFACE.pfnPinMode"},
    [MODE_TARGET] = {HAND_TARGET_SET, "VIDPN-010", STATUS_GRAPHICS_INVALID_VIDPN_TARGETMODESET,
                     STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET_MODE,
                     STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET_MODE,
                     "DXGK_VIDPNTARGETMODESET_INTERFACE.pfnGetNumModes",
                     "DXGK_VIDPNTARGETMODESET_INTERFACE.pfnAcquireFirstModeInfo",
                     "DXGK_VIDPNTARGETMODESET_INTERFACE.pfnAcquireNextModeInfo",
                     "DXGK_VIDPNTARGETMODESET_INTERFACE.pfnAcquirePinnedModeInfo",
                     "DXGK_VIDPNTARGETMODESET_INTERFACE.pfnReleaseModeInfo",
                     "DXGK_VIDPNTARGETMODESET_INTERFACE.pfnCreateNewModeInfo",
                     "DXGK_VIDPNTARGETMODESET_INTERFACE.pfnAddMode",
                     "DXGK_VIDPNTARGETMODESET_INTERFACE.pfnPinMode"},
    [MODE_MONITOR] = {HAND_MONITOR_SET, "DISP-124", STATUS_GRAPHICS_INVALID_MONITOR_SOURCEMODESET,
                      STATUS_GRAPHICS_INVALID_MONITOR_SOURCE_MODE,
                      STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET_MODE,
                      "DXGK_MONITORSOURCEMODESET_INTERFACE.pfnGetNumModes",
                      "DXGK_MONITORSOURCEMODESET_INTERFACE.pfnAcquireFirstModeInfo",
                      "DXGK_MONITORSOURCEMODESET_INTERFACE.pfnAcquireNextModeInfo",
                      "DXGK_MONITORSOURCEMODESET_INTERFACE.pfnAcquirePreferredModeInfo",
                      "DXGK_MONITORSOURCEMODESET_INTERFACE.pfnReleaseModeInfo",
                      "DXGK_MONITORSOURCEMODESET_INTERFACE.pfnCreateNewModeInfo",
                      "DXGK_MONITORSOURCEMODESET_INTERFACE.pfnAddMode", NULL},
};

static struct modes_hand *find_set(const struct kind *kind, const void *handle)
{
    return modes_hand_find(handle, kind->hand, kind->bad_set);
}

static struct mode_set *set_of(const struct modes_hand *hand)
{
    return hand->object;
}

/* ---- reading ---- */

NTSTATUS set_count(enum mode_kind which, const void *handle, SIZE_T *count, uintptr_t caller)
{
    const struct kind *kind = &kinds[which];
    struct interface_call call;
    const struct modes_hand *hand;
    NTSTATUS status;

    INTERFACE_CLEAR(count);
    status = interface_begin(&call, kind->count, caller, kind->level);
    if (!NT_SUCCESS(status))
        return status;
    status = interface_need(count, "the count");
    if (NT_SUCCESS(status)) {
        hand = find_set(kind, handle);
        status = kind->bad_set;
        if (hand) {
            const SIZE_T modes = set_of(hand)->count;

            status = INTERFACE_GIVE(count, modes);
        }
    }
    return interface_end(&call, status);
}

/* Give out a copy of this mode of the set. */
static NTSTATUS give_mode(const struct kind *kind, struct modes_hand *hand, const union mode *mode,
                          const char *by, const void **out)
{
    struct modes_lent *lent = modes_lend(hand, mode, mode_bytes(set_of(hand)->kind), by, false);
    const void *data;
    NTSTATUS status;

    (void)kind;
    if (!lent)
        return STATUS_NO_MEMORY;
    lent->key = mode->id;
    data = lent->data;
    status = INTERFACE_GIVE(out, data);
    if (!NT_SUCCESS(status))
        lent->live = false;
    return status;
}

NTSTATUS set_first(enum mode_kind which, const void *handle, const void **out, uintptr_t caller)
{
    const struct kind *kind = &kinds[which];
    struct interface_call call;
    struct modes_hand *hand;
    NTSTATUS status;

    INTERFACE_CLEAR(out);
    status = interface_begin(&call, kind->first, caller, kind->level);
    if (!NT_SUCCESS(status))
        return status;
    status = interface_need(out, "the output");
    if (NT_SUCCESS(status)) {
        hand = find_set(kind, handle);
        status = !hand                 ? kind->bad_set
                 : set_of(hand)->count ? give_mode(kind, hand, set_of(hand)->mode, kind->first, out)
                                       : STATUS_GRAPHICS_DATASET_IS_EMPTY;
    }
    return interface_end(&call, status);
}

static NTSTATUS give_next(const struct kind *kind, struct modes_hand *hand, const void *before,
                          const void **out)
{
    const struct modes_lent *lent = modes_lent_find(hand, before);
    const struct mode_set *set = set_of(hand);
    const union mode *mode = lent && !lent->made ? mode_set_find(set, lent->key) : NULL;

    if (!mode)
        return refuse(kind->bad_mode, "VIDPN-064",
                      "the structure at %p was not acquired from this set, or was released", before);
    if (mode + 1 == set->mode + set->count)
        return STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET;
    return give_mode(kind, hand, mode + 1, kind->next, out);
}

NTSTATUS set_next(enum mode_kind which, const void *handle, const void *mode, const void **out,
                  uintptr_t caller)
{
    const struct kind *kind = &kinds[which];
    struct interface_call call;
    struct modes_hand *hand;
    NTSTATUS status;

    INTERFACE_CLEAR(out);
    status = interface_begin(&call, kind->next, caller, kind->level);
    if (!NT_SUCCESS(status))
        return status;
    status = interface_need(out, "the output");
    if (NT_SUCCESS(status)) {
        hand = find_set(kind, handle);
        status = hand ? give_next(kind, hand, mode, out) : kind->bad_set;
    }
    return interface_end(&call, status);
}

static const union mode *preferred(const struct mode_set *set)
{
    for (UINT i = 0; i < set->count; i++)
        if (set->mode[i].monitor.Preference == D3DKMDT_MP_PREFERRED)
            return &set->mode[i];
    return NULL;
}

NTSTATUS set_chosen(enum mode_kind which, const void *handle, const void **out, uintptr_t caller)
{
    const struct kind *kind = &kinds[which];
    struct interface_call call;
    struct modes_hand *hand;
    const union mode *mode;
    NTSTATUS status;

    INTERFACE_CLEAR(out);
    status = interface_begin(&call, kind->chosen, caller, kind->level);
    if (!NT_SUCCESS(status))
        return status;
    status = interface_need(out, "the output");
    if (NT_SUCCESS(status)) {
        hand = find_set(kind, handle);
        mode = !hand                   ? NULL
               : which == MODE_MONITOR ? preferred(set_of(hand))
                                       : mode_set_pinned(set_of(hand));
        status = !hand                   ? kind->bad_set
                 : mode                  ? give_mode(kind, hand, mode, kind->chosen, out)
                 : which == MODE_MONITOR ? STATUS_GRAPHICS_NO_PREFERRED_MODE
                 : hand->scope->modes->tell_unpinned ? STATUS_GRAPHICS_MODE_NOT_PINNED
                                                     : STATUS_SUCCESS; /* VIDPN-066 */
    }
    return interface_end(&call, status);
}

/* ---- writing ---- */

NTSTATUS set_release(enum mode_kind which, const void *handle, const void *mode, uintptr_t caller)
{
    const struct kind *kind = &kinds[which];
    struct interface_call call;
    const struct modes_hand *hand;
    struct modes_lent *lent;
    NTSTATUS status = interface_begin(&call, kind->release, caller, kind->level);

    if (!NT_SUCCESS(status))
        return status;
    hand = find_set(kind, handle);
    lent = hand ? modes_lent_find(hand, mode) : NULL;
    if (lent)
        modes_lent_end(lent);
    else if (hand)
        status = refuse(kind->bad_release, "VIDPN-079",
                        "the structure at %p is none that this set has handed out, or was released "
                        "or added before",
                        mode);
    else
        status = kind->bad_set;
    if (hand && !lent && which == MODE_MONITOR)
        VIOLATION("DISP-142", "a mode at %p is released that this set has not handed out", mode);
    return interface_end(&call, status);
}

static bool may_add(const struct modes_hand *hand)
{
    return hand->kind != HAND_MONITOR_SET || (hand->scope->access & MODES_MONITOR);
}

NTSTATUS set_create(enum mode_kind which, const void *handle, void **out, uintptr_t caller)
{
    const struct kind *kind = &kinds[which];
    struct interface_call call;
    union mode fresh;
    struct modes_hand *hand;
    struct modes_lent *lent;
    NTSTATUS status;

    INTERFACE_CLEAR(out);
    status = interface_begin(&call, kind->create, caller, kind->level);
    if (!NT_SUCCESS(status))
        return status;
    status = interface_need(out, "the output");
    hand = NT_SUCCESS(status) ? find_set(kind, handle) : NULL;
    if (NT_SUCCESS(status) && !hand)
        status = kind->bad_set;
    if (NT_SUCCESS(status) && !may_add(hand))
        status = interface_deny(hand->scope, "DISP-137", "create modes of a monitor");
    if (!NT_SUCCESS(status))
        return interface_end(&call, status);
    memset(&fresh, 0, sizeof(fresh));
    fresh.id = set_of(hand)->next_id;
    lent = modes_lend(hand, &fresh, mode_bytes(which), kind->create, true);
    if (lent) {
        void *data = lent->data;

        lent->key = set_of(hand)->next_id++;
        status = INTERFACE_GIVE(out, data);
        lent->live = NT_SUCCESS(status);
    } else {
        status = STATUS_NO_MEMORY;
    }
    return interface_end(&call, status);
}

/* VIDPN-069, VIDPN-070 */
static NTSTATUS check_id(struct mode_set *set, const union mode *mode, const struct modes_lent *lent)
{
    const bool chosen = mode->id != lent->key;

    if (mode_set_find(set, mode->id))
        return refuse(STATUS_GRAPHICS_MODE_ID_MUST_BE_UNIQUE, "VIDPN-070",
                      "Id %u is that of another mode of the set", mode->id);
    if (chosen ? set->ids_made && !set->ids_chosen : set->ids_chosen && !set->ids_made)
        WARNING("VIDPN-070", "a mode has %s Id, and another of its set %s",
                chosen ? "an own" : "the generated", chosen ? "the generated one" : "an own one");
    *(chosen ? &set->ids_chosen : &set->ids_made) = true;
    return STATUS_SUCCESS;
}

/* VIDPN-075, VIDPN-076: an acquired set is added to like a created one, where it may change. */
static NTSTATUS check_set(const struct modes_hand *hand)
{
    const struct mode_set *set = set_of(hand);

    if (hand->kind == HAND_MONITOR_SET)
        return may_add(hand) ? STATUS_SUCCESS
                             : interface_deny(hand->scope, "DISP-137", "add modes to a monitor");
    if (hand->made)
        return STATUS_SUCCESS;
    if (set == hand->scope->pivot || set->pinned || !(hand->scope->access & MODES_SETS))
        return interface_deny(hand->scope, "VIDPN-076",
                              set == hand->scope->pivot ? "add a mode to the set of the pivot"
                              : set->pinned             ? "add a mode to a set with a pinned mode"
                                                        : "add a mode to an assigned set");
    NOTE("VIDPN-076", "%s adds a mode to a set that it has acquired", hand->scope->ddi);
    return STATUS_SUCCESS;
}

/* DISP-140: a new preferred mode takes the place of the former one. */
static void make_preferred(struct mode_set *set)
{
    const union mode *last = &set->mode[set->count - 1];

    if (set->kind != MODE_MONITOR || last->monitor.Preference != D3DKMDT_MP_PREFERRED)
        return;
    for (UINT i = 0; i + 1 < set->count; i++)
        set->mode[i].monitor.Preference = D3DKMDT_MP_NOTPREFERRED;
}

static NTSTATUS add(const struct kind *kind, const struct modes_hand *hand, void *data)
{
    struct modes_lent *lent = modes_lent_anywhere(hand->scope, data);
    struct mode_set *set = set_of(hand);
    union mode mode;
    NTSTATUS status;

    if (lent && lent->made && lent->owner != hand)
        return refuse(STATUS_GRAPHICS_RESOURCES_NOT_RELATED, "VIDPN-074",
                      "the structure at %p was created by another %s", data,
                      hand_kind_name(lent->owner->kind));
    if (!lent || !lent->made)
        return refuse(kind->bad_mode, "VIDPN-074",
                      "the structure at %p is no new one of this set: %s", data,
                      lent ? "it was acquired" : "it was not created, or was released or added");
    status = check_set(hand);
    memset(&mode, 0, sizeof(mode));
    memcpy(&mode, data, mode_bytes(set->kind));
    if (NT_SUCCESS(status))
        status = mode_check(hand->scope->modes, set, &mode);
    if (NT_SUCCESS(status) && mode_set_same(set, &mode))
        status = refuse(STATUS_GRAPHICS_MODE_ALREADY_IN_MODESET, "VIDPN-072",
                        "the set has the mode already, with Id %u", mode_set_same(set, &mode)->id);
    if (NT_SUCCESS(status))
        status = check_id(set, &mode, lent);
    if (NT_SUCCESS(status) && !mode_set_append(set, &mode))
        status = STATUS_NO_MEMORY;
    if (!NT_SUCCESS(status))
        return status; /* the structure stays with the driver (VIDPN-073) */
    make_preferred(set);
    modes_lent_taken(lent);
    return STATUS_SUCCESS;
}

NTSTATUS set_add(enum mode_kind which, const void *handle, void *mode, uintptr_t caller)
{
    const struct kind *kind = &kinds[which];
    struct interface_call call;
    const struct modes_hand *hand;
    NTSTATUS status = interface_begin(&call, kind->add, caller, kind->level);

    if (!NT_SUCCESS(status))
        return status;
    hand = find_set(kind, handle);
    status = hand ? add(kind, hand, mode) : kind->bad_set;
    return interface_end(&call, status);
}

NTSTATUS set_pin(enum mode_kind which, const void *handle, UINT id, uintptr_t caller)
{
    const struct kind *kind = &kinds[which];
    struct interface_call call;
    const struct modes_hand *hand;
    const union mode *mode;
    NTSTATUS status = interface_begin(&call, kind->pin, caller, kind->level);

    if (!NT_SUCCESS(status))
        return status;
    hand = find_set(kind, handle);
    mode = hand ? mode_set_find(set_of(hand), id) : NULL;
    if (!hand)
        status = kind->bad_set;
    else if (!(hand->scope->access & MODES_PIN))
        status = interface_deny(hand->scope, "VIDPN-078", "pin modes");
    else if (!mode)
        status = refuse(kind->bad_mode, "VIDPN-077", "no mode of the set has the Id %u", id);
    else
        mode_set_pin(set_of(hand), mode);
    return interface_end(&call, status);
}
