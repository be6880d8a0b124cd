/* SPDX-License-Identifier: MIT */
/*
 * The kernel services of one machine: creation, and what every service uses: level checks,
 * structured exceptions, injected shortage, and the frame around calls that the kernel makes into a
 * driver.
 *
 * Each exported routine is written the same way:
 *
 *     NT_EXPORT LONG NTAPI KeSetEvent(...)
 *     {
 *         NT_ENTER();                                              a point: others may run here
 *         if (!nt_level(NT_DISPATCH, "NT-036", 0x80, __func__))    its IRQL limit
 *             return 0;
 *         ... arguments checked, then the work, without further points until the end
 *     }
 */
#include <string.h>

#include "nt/nt_private.h"
#include "nt/pool.h"
#include "sim/fault.h"
#include "sim/inside.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/slot.h"

#define DEFAULT_BOOT_TIME           133485408000000000u /* 1 January 2024 */
#define DEFAULT_QUARANTINE          (256u * 1024u)
#define DEFAULT_BUILD               22621u
#define KMODE_EXCEPTION_NOT_HANDLED 0x1Eu

struct sim_slot nt_slot;
SIM_SLOT_CLAIM(nt_slot)

/* All maps of the state, for both ends of its life. */
static void each_map(struct nt *nt, void (*fn)(struct hash_map *map))
{
    struct hash_map *const map[] = {
        &nt->waits,         &nt->timers,     &nt->timer_dpcs,     &nt->dpcs,
        &nt->ex_work_items, &nt->work_items, &nt->ex_timers,      &nt->lookasides,
        &nt->resources,     &nt->mdls,       &nt->contiguous,     &nt->io_spaces,
        &nt->objects,       &nt->mappings,   &nt->device_objects, &nt->etw,
    };

    for (size_t i = 0; i < NT_ITEMS(map); i++)
        fn(map[i]);
}

/* What was not there at a fault, and is now. In a signal handler. */
static bool page_in(uintptr_t address)
{
    return nt_paged_open(address) || nt_user_range_touched((const void *)address);
}

struct nt *nt_create(const struct nt_config *config)
{
    struct nt *nt = util_zalloc(1, sizeof(*nt));

    if (!nt)
        return NULL;
    nt->config = *config;
    nt->ram = config->ram;
    nt->bus = config->bus;
    if (nt->config.boot_time == 0)
        nt->config.boot_time = DEFAULT_BOOT_TIME;
    if (nt->config.os_build == 0)
        nt->config.os_build = DEFAULT_BUILD;
    nt->pool.quarantine_limit = config->quarantine_bytes ? config->quarantine_bytes
                                                         : DEFAULT_QUARANTINE;
    list_init(&nt->images);
    list_init(&nt->processes);
    list_init(&nt->threads);
    list_init(&nt->bugcheck_callbacks);
    list_init(&nt->host.resources);
    list_init(&nt->host.link);
    strcpy(nt->host.name, "host");
    each_map(nt, hash_init);
    handle_table_init(&nt->handles);
    sim_slot_set(&nt_slot, nt);
    nt_user_ranges_init(nt);
    sim_on_paging(page_in, nt->config.force_irql ? nt_paged_close : NULL);
    if (nt_pool_init(nt) && nt_processes_init(nt) && nt_threads_init(nt) && nt_workers_init(nt) &&
        nt_lock_order_init(nt) && nt_registry_init(nt)) {
        nt_variables_init(nt);
        return nt;
    }
    nt_destroy(nt);
    return NULL;
}

void nt_destroy(struct nt *nt)
{
    if (!nt)
        return;
    LIST_FOR_SAFE(node, following, &nt->images)
        nt_image_destroy(CONTAINER(node, struct nt_image, link));
    nt_resources_reclaim(&nt->host);
    nt_workers_finish(nt);
    nt_lock_order_finish(nt);
    nt_registry_finish(nt);
    nt_device_objects_finish(nt);
    nt_threads_finish(nt);
    nt_user_ranges_finish(nt);
    nt_processes_finish(nt);
    handle_table_finish(&nt->handles);
    sim_on_paging(NULL, NULL);
    nt_pool_finish(nt);
    each_map(nt, hash_finish);
    sim_slot_set(&nt_slot, NULL);
    util_free(nt);
}

uint32_t nt_build(void)
{
    return nt_state()->config.os_build;
}

const char *nt_irql_name(uint8_t irql)
{
    static const char *const name[] = {
        "PASSIVE_LEVEL", "APC_LEVEL",   "DISPATCH_LEVEL", "DIRQL 3",    "DIRQL 4",  "DIRQL 5",
        "DIRQL 6",       "DIRQL 7",     "DIRQL 8",        "DIRQL 9",    "DIRQL 10", "DIRQL 11",
        "IRQL 12",       "CLOCK_LEVEL", "IPI_LEVEL",      "HIGH_LEVEL",
    };

    return irql < NT_ITEMS(name) ? name[irql] : "no IRQL";
}

bool nt_level(enum nt_limit limit, const char *rule, uint32_t code, const char *routine)
{
    uint8_t irql = sim_irql();

    /* In a guarded region a thread counts as being at APC_LEVEL (NT-066). */
    if (limit == NT_PASSIVE && irql == SIM_IRQL_PASSIVE && nt_thread()->special_apc_disable != 0)
        irql = SIM_IRQL_APC;
    if (irql <= (uint8_t)limit)
        return true;
    if (code != NT_NO_CODE)
        NT_VERIFIER(rule, code, irql, limit, 0, "%s at %s, its limit is %s", routine,
                    nt_irql_name(irql), nt_irql_name((uint8_t)limit));
    else
        VIOLATION(rule, "%s at %s, its limit is %s", routine, nt_irql_name(irql),
                  nt_irql_name((uint8_t)limit));
    /* What is allowed at DISPATCH_LEVEL neither blocks nor touches pageable memory; at APC_LEVEL
     * both are possible. */
    return limit == NT_DISPATCH || irql <= SIM_IRQL_APC;
}

void nt_wait_owed(const char *routine)
{
    struct _KTHREAD *thread = nt_thread();

    if (!thread->must_wait || sim_irql() > SIM_IRQL_APC)
        return;
    thread->must_wait = false;
    nt_state()->waits_owed--;
    VIOLATION("NT-036",
              "%s after KeSetEvent with Wait TRUE, which announces a KeWaitXxx as next call",
              routine);
}

void nt_raise(NTSTATUS status, const char *rule, const char *routine)
{
    const struct nt_config *config = &nt_state()->config;
    const EXCEPTION_RECORD exception = {.ExceptionCode = status,
                                        .ExceptionFlags = EXCEPTION_NONCONTINUABLE};
    const char *name = nt_status_name(status);

    nt_try_raise(&exception);
    if (config->raise)
        config->raise(config->raise_context, status);
    verify_fatal(rule, KMODE_EXCEPTION_NOT_HANDLED, (uint32_t)status, 0, 0, 0,
                 "%s raised %s (%#x) and no handler caught it", routine, name ? name : "a status",
                 (unsigned)status);
}

bool nt_resource_fails(void)
{
    const struct nt_config *config = &nt_state()->config;

    return util_fault_point() ||
           (config->fail_percent != 0 && sim_random(100) < config->fail_percent);
}

/* Requests made meanwhile are not counted either: a loop that fails the 1st, 2nd, ... request must
 * not take one of them for an operation that came through. */
struct nt_faults nt_faults_off(void)
{
    struct util_heap *heap = util_heap_current;
    struct nt_faults faults = {0, 0};

    if (heap) {
        faults = (struct nt_faults){heap->fail_at, heap->requests};
        heap->fail_at = 0;
    }
    return faults;
}

void nt_faults_on(struct nt_faults faults)
{
    struct util_heap *heap = util_heap_current;

    if (heap) {
        heap->fail_at = faults.fail_at;
        heap->requests = faults.requests;
    }
}

bool nt_poke(void *to, const void *from, size_t bytes)
{
    return sim_copy_checked(to, from, bytes);
}

/* ---- calls into the driver ---- */

void nt_call_state(struct nt_call_state *state)
{
    const struct _KTHREAD *thread = nt_thread();

    state->irql = sim_irql();
    state->spin_locks = nt_processor()->held_count;
    state->apc_disable = thread->kernel_apc_disable + thread->special_apc_disable;
    state->sleeping_locks = thread->sleeping_locks;
    state->floating_saves = thread->floating_saves;
    state->raises = thread->raises;
}

const void *nt_call_last_spin_lock(void)
{
    const struct nt_processor *processor = nt_processor();

    return processor->held_count ? (const void *)processor->held[processor->held_count - 1].lock
                                 : NULL;
}

static void restore_irql(uint8_t irql)
{
    if (sim_irql() > irql)
        sim_lower_irql(irql);
    else if (sim_irql() < irql)
        sim_raise_irql(irql);
}

void nt_call_check(const struct nt_call_state *before, const char *routine)
{
    struct nt_call_state now;

    nt_call_state(&now);
    if (now.spin_locks > before->spin_locks) {
        NT_VERIFIER("THREAD-007", 0x00040009, (uintptr_t)nt_call_last_spin_lock(), 0, 0,
                    "%s returned with %u spin lock(s) held that it took", routine,
                    now.spin_locks - before->spin_locks);
        nt_spin_locks_drop(before->spin_locks);
    }
    if (now.apc_disable != before->apc_disable) {
        if (before->irql >= SIM_IRQL_DISPATCH)
            verify_fatal("THREAD-007", 0xC7, 0, 0, 0, 4,
                         "%s returned with another APC disable count (%d, was %d)", routine,
                         now.apc_disable, before->apc_disable);
        else
            VIOLATION("THREAD-007", "%s returned with another APC disable count (%d, was %d)",
                      routine, now.apc_disable, before->apc_disable);
    }
    if (now.sleeping_locks > before->sleeping_locks)
        WARNING("THREAD-008", "%s returned with %u mutex(es) or resource(s) held that it took",
                routine, now.sleeping_locks - before->sleeping_locks);
    if (now.floating_saves != before->floating_saves) {
        VIOLATION("NT-160", "%s returned with a floating point state saved and not restored",
                  routine);
        nt_thread()->floating_saves = before->floating_saves;
    }
    nt_thread()->raises = before->raises;
    if (now.irql != before->irql) {
        VIOLATION("THREAD-006", "%s was called at %s and returned at %s", routine,
                  nt_irql_name(before->irql), nt_irql_name(now.irql));
        restore_irql(before->irql);
    }
}

void nt_callback_enter(struct nt_callback *callback, struct nt_image *image, const char *what)
{
    callback->what = what;
    callback->outer_image = nt_image_enter(image);
    callback->outer_deadline = sim_inside_enter(SIM_FOREVER);
    nt_call_state(&callback->state);
}

void nt_callback_leave(struct nt_callback *callback)
{
    nt_call_check(&callback->state, callback->what);
    sim_inside_leave(callback->outer_deadline);
    nt_image_enter(callback->outer_image);
}
