/* SPDX-License-Identifier: MIT */
/* What each kind of synchronization orders for the detector of races: two threads write the same bytes, one after the other by
 * time alone. With one object between them that is no race, in any run; with two objects it is one, in some run. */
#include "support/harness.h"

#include "nt/mm/race_access.h"
#include "race/race.h"
#include "sim/machine.h"

#define PROCESSORS 4u
#define SEEDS      20u

/* Objects of each kind, twice. */
static struct objects {
    KSPIN_LOCK spin;
    EX_SPIN_LOCK readers;
    FAST_MUTEX fast;
    KGUARDED_MUTEX guarded;
    KMUTEX mutex;
    KSEMAPHORE semaphore;
    KEVENT event, notification;
    EX_PUSH_LOCK push;
    ERESOURCE resource;
    EX_RUNDOWN_REF rundown;
    SLIST_HEADER list;
    SLIST_ENTRY entry;
} object[2];

static void wait_for(PVOID what)
{
    (void)KeWaitForSingleObject(what, Executive, KernelMode, FALSE, NULL);
}

/* ---- what is done before and after the write of the first thread, and of the second ---- */

static KIRQL level;
static KLOCK_QUEUE_HANDLE queued;

static void spin_enter(struct objects *o)
{
    KeAcquireSpinLock(&o->spin, &level);
}

static void spin_leave(struct objects *o)
{
    KeReleaseSpinLock(&o->spin, level);
}

static void queued_enter(struct objects *o)
{
    KeAcquireInStackQueuedSpinLock(&o->spin, &queued);
}

static void queued_leave(struct objects *o)
{
    (void)o;
    KeReleaseInStackQueuedSpinLock(&queued);
}

static void readers_enter(struct objects *o)
{
    level = ExAcquireSpinLockExclusive(&o->readers);
}

static void readers_leave(struct objects *o)
{
    ExReleaseSpinLockExclusive(&o->readers, level);
}

static void reader_enter(struct objects *o)
{
    level = ExAcquireSpinLockShared(&o->readers);
}

static void reader_leave(struct objects *o)
{
    ExReleaseSpinLockShared(&o->readers, level);
}

static void fast_enter(struct objects *o)
{
    ExAcquireFastMutex(&o->fast);
}

static void fast_leave(struct objects *o)
{
    ExReleaseFastMutex(&o->fast);
}

static void guarded_enter(struct objects *o)
{
    KeAcquireGuardedMutex(&o->guarded);
}

static void guarded_leave(struct objects *o)
{
    KeReleaseGuardedMutex(&o->guarded);
}

static void mutex_enter(struct objects *o)
{
    wait_for(&o->mutex);
}

static void mutex_leave(struct objects *o)
{
    (void)KeReleaseMutex(&o->mutex, FALSE);
}

static void push_enter(struct objects *o)
{
    KeEnterCriticalRegion();
    ExAcquirePushLockExclusiveEx(&o->push, 0);
}

static void push_leave(struct objects *o)
{
    ExReleasePushLockExclusiveEx(&o->push, 0);
    KeLeaveCriticalRegion();
}

static void push_reader_enter(struct objects *o)
{
    KeEnterCriticalRegion();
    ExAcquirePushLockSharedEx(&o->push, 0);
}

static void push_reader_leave(struct objects *o)
{
    ExReleasePushLockSharedEx(&o->push, 0);
    KeLeaveCriticalRegion();
}

static void resource_enter(struct objects *o)
{
    KeEnterCriticalRegion();
    (void)ExAcquireResourceExclusiveLite(&o->resource, TRUE);
}

static void resource_reader_enter(struct objects *o)
{
    KeEnterCriticalRegion();
    (void)ExAcquireResourceSharedLite(&o->resource, TRUE);
}

static void resource_leave(struct objects *o)
{
    ExReleaseResourceLite(&o->resource);
    KeLeaveCriticalRegion();
}

static void nothing(struct objects *o)
{
    (void)o;
}

static void semaphore_release(struct objects *o)
{
    (void)KeReleaseSemaphore(&o->semaphore, 0, 1, FALSE);
}

static void semaphore_wait(struct objects *o)
{
    wait_for(&o->semaphore);
}

static void event_set(struct objects *o)
{
    (void)KeSetEvent(&o->event, 0, FALSE);
}

static void event_wait(struct objects *o)
{
    wait_for(&o->event);
}

static void notification_set(struct objects *o)
{
    (void)KeSetEvent(&o->notification, 0, FALSE);
}

static void notification_read(struct objects *o)
{
    (void)KeReadStateEvent(&o->notification);
}

static void rundown_acquire(struct objects *o)
{
    (void)ExAcquireRundownProtection(&o->rundown);
}

static void rundown_release(struct objects *o)
{
    ExReleaseRundownProtection(&o->rundown);
}

static void rundown_open_again(struct objects *o)
{
    ExWaitForRundownProtectionRelease(&o->rundown);
    ExReInitializeRundownProtection(&o->rundown);
}

static void rundown_begin(struct objects *o)
{
    ExWaitForRundownProtectionRelease(&o->rundown);
}

static void rundown_wait(struct objects *o)
{
    ExWaitForRundownProtectionRelease(&o->rundown);
}

static void list_push(struct objects *o)
{
    (void)InterlockedPushEntrySList(&o->list, &o->entry);
}

static void list_pop(struct objects *o)
{
    (void)InterlockedPopEntrySList(&o->list);
}

static void level_raise(struct objects *o)
{
    (void)o;
    KeRaiseIrql(DISPATCH_LEVEL, &level);
}

static void level_lower(struct objects *o)
{
    (void)o;
    KeLowerIrql(level);
}

static const struct kind {
    const char *name;
    void (*enter)(struct objects *), (*leave)(struct objects *); /* of the first */
    void (*enter_second)(struct objects *), (*leave_second)(struct objects *);
    bool waits; /* the second would wait for ever for another object */
    bool orders;
} kinds[] = {
    {"spin lock", spin_enter, spin_leave, spin_enter, spin_leave, false, true},
    {"queued spin lock", queued_enter, queued_leave, queued_enter, queued_leave, false, true},
    {"two kinds of one spin lock", spin_enter, spin_leave, queued_enter, queued_leave, false, true},
    {"writers", readers_enter, readers_leave, readers_enter, readers_leave, false, true},
    {"reader, then writer", reader_enter, reader_leave, readers_enter, readers_leave, false, true},
    {"writer, then reader", readers_enter, readers_leave, reader_enter, reader_leave, false, true},
    {"readers", reader_enter, reader_leave, reader_enter, reader_leave, false, false},
    {"fast mutex", fast_enter, fast_leave, fast_enter, fast_leave, false, true},
    {"guarded mutex", guarded_enter, guarded_leave, guarded_enter, guarded_leave, false, true},
    {"mutex", mutex_enter, mutex_leave, mutex_enter, mutex_leave, false, true},
    {"push lock", push_enter, push_leave, push_enter, push_leave, false, true},
    {"push lock, reader first", push_reader_enter, push_reader_leave, push_enter, push_leave, false,
     true},
    {"push lock, readers", push_reader_enter, push_reader_leave, push_reader_enter,
     push_reader_leave, false, false},
    {"resource", resource_enter, resource_leave, resource_enter, resource_leave, false, true},
    {"resource, reader first", resource_reader_enter, resource_leave, resource_enter,
     resource_leave, false, true},
    {"resource, readers", resource_reader_enter, resource_leave, resource_reader_enter,
     resource_leave, false, false},
    {"semaphore", nothing, semaphore_release, semaphore_wait, nothing, true, true},
    {"event", nothing, event_set, event_wait, nothing, true, true},
    {"event's state", nothing, notification_set, notification_read, nothing, false, true},
    {"rundown", rundown_acquire, rundown_release, rundown_wait, nothing, false, true},
    {"rundown, open again", nothing, rundown_open_again, rundown_acquire, nothing, false, true},
    {"rundown, refused", nothing, rundown_begin, rundown_acquire, nothing, false, true},
    {"protections", rundown_acquire, rundown_release, rundown_acquire, rundown_release, false,
     false},
    {"list", nothing, list_push, list_pop, nothing, false, true},
    {"nothing", nothing, nothing, nothing, nothing, false, false},
};

/* ---- two threads ---- */

static const struct kind *kind;
static unsigned second_object;
static ULONG *bytes;

static void write_as(uintptr_t who)
{
    nt_race_access(bytes, sizeof(*bytes), RACE_WRITE, who);
}

static void first(void *arg)
{
    (void)arg;
    kind->enter(&object[0]);
    write_as(1);
    kind->leave(&object[0]);
    KeStallExecutionProcessor(300); /* the other one runs meanwhile, on another processor */
}

static void second(void *arg)
{
    (void)arg;
    pause_ns(100000);
    kind->enter_second(&object[second_object]);
    write_as(2);
    kind->leave_second(&object[second_object]);
}

static void both(void)
{
    memset(object, 0, sizeof(object));
    for (unsigned i = 0; i < 2; i++) {
        struct objects *o = &object[i];

        KeInitializeSpinLock(&o->spin);
        ExInitializeFastMutex(&o->fast);
        KeInitializeGuardedMutex(&o->guarded);
        KeInitializeMutex(&o->mutex, 0);
        KeInitializeSemaphore(&o->semaphore, 0, 1);
        KeInitializeEvent(&o->event, SynchronizationEvent, FALSE);
        KeInitializeEvent(&o->notification, NotificationEvent, FALSE);
        ExInitializePushLock(&o->push);
        (void)ExInitializeResourceLite(&o->resource);
        ExInitializeRundownProtection(&o->rundown);
        InitializeSListHead(&o->list);
    }
    bytes = ExAllocatePool2(POOL_FLAG_NON_PAGED, sizeof(*bytes), TAG);
    start("first", first, NULL);
    start("second", second, NULL);
    pause_ns(1000000);
    (void)ExDeleteResourceLite(&object[0].resource);
    (void)ExDeleteResourceLite(&object[1].resource);
}

/* Whether the two writes race. */
static bool races_on(unsigned processors, const struct kind *what, unsigned with, uint64_t seed)
{
    bool found;

    kind = what;
    second_object = with;
    harness_boot(processors, seed, NULL);
    sim_current->races = race_create(processors); /* the machine's from now on */
    run(both);
    found = broken("THREAD-080");
    ExFreePool(bytes);
    harness_teardown();
    return found;
}

static bool races(const struct kind *what, unsigned with, uint64_t seed)
{
    return races_on(PROCESSORS, what, with, seed);
}

TEST(each_kind_of_synchronization_orders_what_it_is_between)
{
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        unsigned found = 0;

        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            found += races(&kinds[i], 0, seed);
        if (kinds[i].orders ? found : !found)
            printf("    %s: %u of %u\n", kinds[i].name, found, SEEDS);
        if (kinds[i].orders)
            CHECK_RULE("THREAD-080/a", found == 0);
        else
            CHECK_RULE("THREAD-080/b", found > 0);
    }
}

TEST(two_objects_order_nothing)
{
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        unsigned found = 0;

        for (uint64_t seed = 1; seed <= SEEDS && !kinds[i].waits; seed++)
            found += races(&kinds[i], 1, seed);
        if (!found && !kinds[i].waits)
            printf("    %s\n", kinds[i].name);
        CHECK_RULE("THREAD-080/b", found > 0 || kinds[i].waits);
    }
}

TEST(a_raised_level_is_a_lock_of_one_processor)
{
    static const struct kind raised = {.name = "level",
                                       .enter = level_raise,
                                       .leave = level_lower,
                                       .enter_second = level_raise,
                                       .leave_second = level_lower};
    unsigned found = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        CHECK_RULE("THREAD-080/a", !races_on(1, &raised, 0, seed));
        found += races_on(PROCESSORS, &raised, 0, seed);
    }
    CHECK_RULE("THREAD-080/b", found > 0);
}
