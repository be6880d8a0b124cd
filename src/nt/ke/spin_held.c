/* SPDX-License-Identifier: MIT */
/* Which processor holds which spin lock: a short list for each, in order of acquisition. */
#include "nt/ke/spin_held.h"
#include "nt/ke/spin_deadlock.h"
#include "nt/ke/spinlock.h"
#include "sim/fault.h"
#include "sim/machine.h"
#include "sim/order.h"
#include "sim/point.h"
#include "verify/verify.h"

struct nt_held_lock *nt_held_find(struct nt_processor *processor, const volatile void *lock)
{
    for (uint32_t i = processor->held_count; i-- > 0;) {
        if (processor->held[i].lock == lock)
            return &processor->held[i];
    }
    return NULL;
}

struct nt_held_lock *nt_held_find_any(const volatile void *lock)
{
    struct nt_held_lock *held = NULL;

    for (unsigned i = 0; i < sim_current->processors && !held; i++)
        held = nt_held_find(&nt_state()->processors->each[i], lock);
    return held;
}

void nt_held_add(volatile ULONG_PTR *lock, enum nt_lock_kind kind, uint8_t old_irql, ULONG_PTR mark)
{
    const struct nt_config *config = &nt_state()->config;
    struct nt_processor *processor = nt_processor();

    if (processor->held_count == NT_HELD_LOCKS) {
        VIOLATION("NT-054", "one processor holds more than %u spin locks", NT_HELD_LOCKS);
        return;
    }
    processor->held[processor->held_count] = (struct nt_held_lock){
        .lock = lock, .kind = kind, .old_irql = old_irql, .mark = mark};
    if (config->special_pool && config->frames)
        (void)config->frames(&processor->held[processor->held_count].caller, 1);
    processor->held_count++;
    sim_order_acquire(lock);
    if (kind == NT_LOCK_EXCLUSIVE)
        sim_order_acquire(NT_READERS(lock));
}

void nt_held_remove(struct nt_held_lock *held)
{
    struct nt_processor *processor = nt_processor();
    struct nt_held_lock *last = &processor->held[processor->held_count - 1];

    sim_order_release(held->kind == NT_LOCK_SHARED ? NT_READERS(held->lock)
                                                   : (const volatile char *)held->lock);
    for (; held < last; held++)
        held[0] = held[1];
    processor->held_count--;
}

/* What a release would leave in the lock's word, whose memory may be gone by now. */
static void restore_word(const struct nt_held_lock *held)
{
    LONG word = 0; /* of a reader's and writer's lock, which is 32 bits wide */

    switch (held->kind) {
    case NT_LOCK_SHARED:
        if (sim_copy_checked(&word, (const void *)held->lock, sizeof(word)))
            word--;
        sim_copy_checked((void *)held->lock, &word, sizeof(word));
        return;
    case NT_LOCK_EXCLUSIVE:
        sim_copy_checked((void *)held->lock, &word, sizeof(word));
        return;
    default:
        sim_copy_checked((void *)held->lock, &held->mark, sizeof(held->mark));
    }
}

void nt_spin_locks_drop(uint32_t count)
{
    struct nt_processor *processor = nt_processor();

    while (processor->held_count > count)
        restore_word(&processor->held[--processor->held_count]);
}

bool nt_spin_wait(const volatile void *lock, const char *routine)
{
    struct nt_processor *processor = nt_processor();
    bool for_ever;

    processor->wanted = lock;
    for_ever = nt_spin_deadlock_check(lock, routine);
    if (!for_ever)
        sim_spin();
    processor->wanted = NULL;
    return !for_ever;
}
