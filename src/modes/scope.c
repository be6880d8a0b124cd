/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "modes/scope.h"
#include "ddi/ddi.h"
#include "modes/mode_set.h"
#include "modes/modes.h"
#include "sim/slot.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "verify/verify.h"

#define FIRST_HANDLE UINT64_C(0x1D100000)
#define HANDLE_STEP  16u
#define POISON       0xDB
#define KEPT         64u /* structures of a scope of many calls, after their release (VIDPN-017) */

/* Of a machine. */
struct hands {
    struct list scopes;
    uintptr_t next; /* handle */
};

static struct sim_slot hands_slot;
SIM_SLOT_CLAIM(hands_slot)

static const char *const names[] = {
    [HAND_VIDPN] = "VidPN",
    [HAND_TOPOLOGY] = "topology",
    [HAND_SOURCE_SET] = "source mode set",
    [HAND_TARGET_SET] = "target mode set",
    [HAND_MONITOR_SET] = "monitor source mode set",
    [HAND_RANGE_SET] = "monitor frequency range set",
    [HAND_DESCRIPTOR_SET] = "monitor descriptor set",
};

/* What structures of them are of. */
static const char *const lent_names[] = {
    [HAND_VIDPN] = "VidPN",
    [HAND_TOPOLOGY] = "path",
    [HAND_SOURCE_SET] = "source mode",
    [HAND_TARGET_SET] = "target mode",
    [HAND_MONITOR_SET] = "monitor source mode",
    [HAND_RANGE_SET] = "frequency range",
    [HAND_DESCRIPTOR_SET] = "descriptor",
};

static const char *const lent_types[] = {
    [HAND_VIDPN] = "a VidPN",
    [HAND_TOPOLOGY] = "a D3DKMDT_VIDPN_PRESENT_PATH",
    [HAND_SOURCE_SET] = "a D3DKMDT_VIDPN_SOURCE_MODE",
    [HAND_TARGET_SET] = "a D3DKMDT_VIDPN_TARGET_MODE",
    [HAND_MONITOR_SET] = "a D3DKMDT_MONITOR_SOURCE_MODE",
    [HAND_RANGE_SET] = "a D3DKMDT_MONITOR_FREQUENCY_RANGE",
    [HAND_DESCRIPTOR_SET] = "a D3DKMDT_MONITOR_DESCRIPTOR",
};

const char *hand_kind_name(enum hand_kind kind)
{
    return names[kind];
}

/* NULL: out of memory. */
static struct hands *hands_now(void)
{
    struct hands *hands = sim_slot_get(&hands_slot);

    if (hands)
        return hands;
    hands = util_zalloc(1, sizeof(*hands));
    if (!hands)
        return NULL;
    list_init(&hands->scopes);
    hands->next = FIRST_HANDLE;
    sim_slot_set(&hands_slot, hands);
    return hands;
}

uint64_t modes_allocations_refused(void)
{
    return util_heap_current ? util_heap_current->refused : 0;
}

void modes_scopes_finish(void)
{
    util_free(sim_slot_get(&hands_slot));
    sim_slot_set(&hands_slot, NULL);
}

void modes_scope_begin(struct modes_scope *scope, struct modes *modes, const char *ddi,
                       unsigned access, struct vidpn *vidpn)
{
    struct hands *hands = hands_now();

    *scope = (struct modes_scope){.modes = modes, .ddi = ddi, .access = access, .vidpn = vidpn};
    list_init(&scope->link);
    list_init(&scope->hands);
    list_init(&scope->lent);
    if (hands)
        list_push_back(&hands->scopes, &scope->link);
}

/* ---- leaks ---- */

static struct modes_lent *lent_of(struct list *node)
{
    return CONTAINER(node, struct modes_lent, link);
}

static struct modes_hand *hand_of(struct list *node)
{
    return CONTAINER(node, struct modes_hand, link);
}

/* How many live structures of this owner the function has given, from this one on; those that were
 * told already are marked. */
static unsigned count_alike(struct list *from, const struct list *end)
{
    const struct modes_lent *first = lent_of(from);
    unsigned count = 0;

    for (struct list *node = from; node != end; node = node->next) {
        struct modes_lent *lent = lent_of(node);

        if (!lent->live || lent->owner->kind != first->owner->kind || lent->by != first->by)
            continue;
        if (lent != first)
            lent->live = false;
        count++;
    }
    return count;
}

static void report_lent(struct modes_scope *scope)
{
    LIST_FOR(node, &scope->lent) {
        struct modes_lent *lent = lent_of(node);
        unsigned count;

        if (!lent->live)
            continue;
        count = count_alike(node, &scope->lent);
        VIOLATION("VIDPN-015", "%s has left %u %s structure%s of %s, %s", scope->ddi, count,
                  lent_names[lent->owner->kind], count == 1 ? "" : "s", lent->by,
                  lent->made ? "neither added nor released" : "not released");
    }
}

static void report_hands(const struct modes_scope *scope)
{
    LIST_FOR(node, &scope->hands) {
        const struct modes_hand *hand = hand_of(node);

        if (hand->made)
            VIOLATION("VIDPN-015", "%s has left a %s of %s, neither assigned nor released",
                      scope->ddi, names[hand->kind], hand->by);
        else if (hand->acquired)
            VIOLATION("VIDPN-015", "%s has left %u reference%s to a %s of %s, not released",
                      scope->ddi, hand->acquired, hand->acquired == 1 ? "" : "s", names[hand->kind],
                      hand->by);
    }
}

/* ---- the end ---- */

static void check_ends(const struct modes_lent *lent)
{
    ddi_guarded_check(&lent->memory, lent->owner->scope->ddi);
}

/* VIDPN-016: acquired structures are for reading. */
static void check_unchanged(const struct modes_lent *lent)
{
    if (!lent->made && memcmp(lent->data, lent->original, lent->bytes) != 0)
        WARNING("VIDPN-016", "the structure of %s was changed; it is a copy for reading", lent->by);
}

/* VIDPN-017 */
static void check_poison(const struct modes_lent *lent)
{
    const unsigned char *at = lent->data;
    size_t i = 0;

    while (i < lent->bytes && at[i] == POISON)
        i++;
    if (i < lent->bytes)
        VIOLATION("VIDPN-017", "the structure of %s was written to at offset %zu after its release",
                  lent->by, i);
}

static void lent_free(struct modes_lent *lent)
{
    check_ends(lent);
    if (lent->released)
        check_poison(lent);
    else if (!lent->added)
        check_unchanged(lent);
    ddi_guarded_finish(&lent->memory);
    util_free(lent);
}

void modes_scope_end(struct modes_scope *scope)
{
    struct list *node;

    report_lent(scope);
    report_hands(scope);
    while ((node = list_pop_front(&scope->lent)) != NULL)
        lent_free(lent_of(node));
    while ((node = list_pop_front(&scope->hands)) != NULL) {
        if (hand_of(node)->owned)
            mode_set_destroy(hand_of(node)->object);
        util_free(hand_of(node));
    }
    list_remove(&scope->link);
}

static bool has_lent(const struct modes_hand *hand)
{
    LIST_FOR(node, &hand->scope->lent)
        if (lent_of(node)->owner == hand)
            return true;
    return false;
}

void modes_scope_purge(struct modes_scope *scope)
{
    unsigned ended = 0;

    LIST_FOR(node, &scope->lent)
        ended += !lent_of(node)->live;
    LIST_FOR_SAFE(node, following, &scope->lent) {
        if (lent_of(node)->live || ended <= KEPT)
            continue;
        ended--;
        list_remove(node);
        lent_free(lent_of(node));
    }
    LIST_FOR_SAFE(node, following, &scope->hands) {
        if (hand_of(node)->handle || hand_of(node)->owned || has_lent(hand_of(node)))
            continue;
        list_remove(node);
        util_free(hand_of(node));
    }
}

/* ---- handles ---- */

struct modes_hand *modes_hand_of(const struct modes_scope *scope, enum hand_kind kind,
                                 const void *object)
{
    LIST_FOR(node, &scope->hands)
        if (hand_of(node)->object == object && hand_of(node)->kind == kind && hand_of(node)->handle)
            return hand_of(node);
    return NULL;
}

struct modes_hand *modes_hand_out(struct modes_scope *scope, enum hand_kind kind, void *object)
{
    struct modes_hand *hand = modes_hand_of(scope, kind, object);
    struct hands *hands = hands_now();

    if (hand)
        return hand;
    hand = hands ? util_zalloc(1, sizeof(*hand)) : NULL;
    if (!hand)
        return NULL;
    hand->scope = scope;
    hand->kind = kind;
    hand->object = object;
    hand->handle = hands->next;
    hands->next += HANDLE_STEP;
    list_push_back(&scope->hands, &hand->link);
    return hand;
}

void modes_hand_end(struct modes_hand *hand)
{
    hand->acquired = 0;
    hand->made = false;
    hand->handle = 0;
}

const struct modes_lent *modes_hand_lends(const struct modes_hand *hand)
{
    LIST_FOR(node, &hand->scope->lent)
        if (lent_of(node)->owner == hand && lent_of(node)->live)
            return lent_of(node);
    return NULL;
}

static bool was_given(uintptr_t handle)
{
    const struct hands *hands = sim_slot_get(&hands_slot);

    return hands && handle >= FIRST_HANDLE && handle < hands->next &&
           (handle - FIRST_HANDLE) % HANDLE_STEP == 0;
}

static struct modes_hand *find(uintptr_t handle)
{
    const struct hands *hands = sim_slot_get(&hands_slot);

    if (!hands || !handle)
        return NULL;
    LIST_FOR(scope, &hands->scopes)
        LIST_FOR(node, &CONTAINER(scope, struct modes_scope, link)->hands)
            if (hand_of(node)->handle == handle)
                return hand_of(node);
    return NULL;
}

UINT modes_hand_version(const void *handle)
{
    const struct modes_hand *hand = find((uintptr_t)handle);
    const struct ddi_adapter *ddi = ddi_current_adapter();

    return hand ? hand->scope->modes->version : ddi ? ddi->table.Version : UINT32_MAX;
}

void modes_hand_forget(const struct modes_hand *hand)
{
    LIST_FOR(node, &hand->scope->lent)
        if (lent_of(node)->owner == hand)
            lent_of(node)->live = false;
}

struct modes_hand *modes_hand_find(const void *handle, enum hand_kind kind, NTSTATUS status)
{
    const uintptr_t value = (uintptr_t)handle;
    struct modes_hand *hand = find(value);

    if (hand && hand->kind == kind)
        return hand;
    if (hand) {
        (void)refuse(status, "VIDPN-008", "handle 0x%llx is that of a %s, not of a %s",
                     (unsigned long long)value, names[hand->kind], names[kind]);
    } else if (was_given(value)) {
        VIOLATION("VIDPN-007",
                  "handle 0x%llx has ended, with the DDI that it was for or by a release",
                  (unsigned long long)value);
        (void)refuse(status, "VIDPN-007", "handle 0x%llx has ended", (unsigned long long)value);
    } else {
        (void)refuse(status, "VIDPN-008", "handle 0x%llx is none of a %s",
                     (unsigned long long)value, names[kind]);
    }
    return NULL;
}

/* ---- structures ---- */

struct modes_lent *modes_lend(struct modes_hand *owner, const void *content, size_t bytes,
                              const char *by, bool made)
{
    struct modes_lent *lent = util_alloc(sizeof(*lent) + bytes);

    if (!lent)
        return NULL;
    *lent = (struct modes_lent){
        .owner = owner, .by = by, .bytes = bytes, .made = made, .live = true};
    if (!ddi_guarded_init(&lent->memory, bytes, lent_types[owner->kind])) {
        ddi_guarded_finish(&lent->memory);
        util_free(lent);
        return NULL;
    }
    lent->data = lent->memory.data;
    memcpy(lent->data, content, bytes);
    memcpy(lent->original, content, bytes);
    list_push_back(&owner->scope->lent, &lent->link);
    return lent;
}

struct modes_lent *modes_lent_anywhere(const struct modes_scope *scope, const void *data)
{
    LIST_FOR(node, &scope->lent)
        if (lent_of(node)->data == data && lent_of(node)->live)
            return lent_of(node);
    return NULL;
}

struct modes_lent *modes_lent_find(const struct modes_hand *owner, const void *data)
{
    struct modes_lent *lent = modes_lent_anywhere(owner->scope, data);

    return lent && lent->owner == owner ? lent : NULL;
}

void modes_lent_end(struct modes_lent *lent)
{
    check_ends(lent);
    check_unchanged(lent);
    memset(lent->data, POISON, lent->bytes);
    lent->live = false;
    lent->released = true;
}

void modes_lent_taken(struct modes_lent *lent)
{
    check_ends(lent);
    lent->live = false;
    lent->added = true;
}
