/* SPDX-License-Identifier: MIT */
/*
 * What the files of nt share.
 *
 * Objects that a driver owns (KEVENT, KTIMER, KDPC, KSPIN_LOCK, MDL, ...) are the driver's memory:
 * it may copy, scribble on or free them at any time. So the host keeps in them only what harms
 * nobody but the driver when it is wrong: signal states, counts, flags. What the host itself relies
 * on stands in records of its own, which exist while something is active (a wait, a set timer, a
 * queued DPC, a locked MDL) and are found by the object's address.
 *
 * One host thread runs the machine, so a service is atomic between points. Points are sim_point
 * (once, at the entry of each service), blocking, spinning, lowering the IRQL, and queuing a DPC:
 * after one of these nothing that was looked up before may be trusted.
 */
#ifndef DXGK_NT_PRIVATE_H
#define DXGK_NT_PRIVATE_H

#include <stddef.h>

#include "nt/nt.h"
#include "nt/retired_view.h"
#include "nt/user_range.h"
#include "trace/trace.h"
#include "util/alloc.h"
#include "util/checked.h"
#include "util/hash.h"
#include "util/list.h"
#include "util/slab.h"
#include "util/span_tree.h"
#include "verify/verify.h"

#define NT_EXPORT __attribute__((visibility("default")))
/* A routine that holds nothing of the host's while it touches what the driver passed: if that is not
 * there, the exception is the driver's (x64/fault.c), as from a loop of its own. */
#define NT_TRANSPARENT  __attribute__((section("dxgk_transparent")))
#define NT_ITEMS(array) (sizeof(array) / sizeof((array)[0]))

#define DRIVER_VERIFIER 0xC4u
/* A broken rule for which Driver Verifier has a code: 0xC4 with `sub` as first parameter (NT-001).
 * Execution goes on. */
#define NT_VERIFIER(rule, sub, p2, p3, p4, ...) \
    verify_report_code(rule, VERIFY_ERROR, DRIVER_VERIFIER, sub, p2, p3, p4, __VA_ARGS__)

#define NT_NO_CODE    UINT32_MAX /* nt_level: no Driver Verifier code */
#define NT_TICK_100NS 156250u    /* one clock tick, 15.625 ms */
#define NT_HELD_LOCKS 32u        /* spin locks that one processor may hold at once */
#define NT_RAISES     16u        /* nested raises of the IRQL that are remembered */
/* Content of a lock word that ExInterlockedXxx routines have used. */
#define NT_LOCK_WORD_INTERLOCKED 0x5E000000u

enum nt_limit {
    NT_PASSIVE = SIM_IRQL_PASSIVE,
    NT_APC = SIM_IRQL_APC,
    NT_DISPATCH = SIM_IRQL_DISPATCH,
};

/* ---- what is tracked for a driver image ---- */

struct nt_resource;

/* What all things of one kind have in common: how one that was left behind is reported and taken back. A constant of the file that
 * makes such things. */
struct nt_resource_class {
    const char *rule;
    const char *noun;
    uint32_t code; /* bug check code of the report; 0: none */
    uint32_t subcode;
    /* Write what the thing is, after the noun; NULL: there is nothing more to say. */
    void (*describe)(const struct nt_resource *resource, char *text, size_t bytes);
    /* Does the thing keep its driver loaded? NULL: it never does. */
    bool (*busy)(const struct nt_resource *resource);
    /* Take it back silently. It is on no list any more. */
    void (*reclaim)(struct nt_resource *resource);
};

/* Embedded in the record of a thing that a driver must give back. */
struct nt_resource {
    struct list link;
    struct nt_image *image; /* NULL: the host's own */
    const struct nt_resource_class *class;
    const void *caller; /* return address in the driver */
    uint64_t serial;    /* in order of creation, from 1 */
};

struct nt_image {
    char name[64];
    struct list resources;
    struct list link;
    bool unloading;
};

/* Attribute to the current image. `caller`: __builtin_return_address(0) in the exported routine. */
void nt_resource_track(struct nt_resource *resource, const struct nt_resource_class *class,
                       const void *caller);
void nt_resource_untrack(struct nt_resource *resource);
/* For `busy` of a class. */
bool nt_resource_always_busy(const struct nt_resource *resource);
struct nt_image *nt_image_current(void);
/* Take back one thing, or all that the image holds; silently. */
void nt_resource_reclaim(struct nt_resource *resource);
void nt_resources_reclaim(struct nt_image *image);

/* ---- pool ---- */

struct nt_pool_page;

struct nt_block {
    struct nt_resource resource;
    struct list actives; /* struct nt_active: timers, DPCs, ... inside the block */
    struct list retired; /* in quarantine */
    struct nt_pool_page *page;
    uint8_t *address;
    uint64_t bytes; /* asked for */
    uint64_t room;  /* to the end of the slot */
    uint32_t tag;
    bool paged;
    bool executable;
    bool freed;
};

#define NT_OPEN_PAGES 32u

struct nt_pool {
    struct list *partial; /* by size class, not executable and executable: pages with a free slot */
    struct nt_pool_page **owner; /* by physical page number; sparse */
    uint64_t owner_bytes;
    struct slab blocks;
    struct list quarantine; /* oldest first */
    uint64_t quarantine_bytes, quarantine_limit;
    struct list special_freed; /* freed blocks of special pool, oldest first */
    uint32_t special_retired;
    void *open_page[NT_OPEN_PAGES]; /* paged.c: pages of paged pool that are accessible now */
    unsigned open_pages, next_open;
    struct nt_pool_statistics statistics;
};

bool nt_pool_init(struct nt *nt);
void nt_pool_finish(struct nt *nt);
enum nt_pool_kind {
    NT_POOL_NONPAGED,
    NT_POOL_PAGED,
    NT_POOL_EXECUTABLE, /* NT-012: nonpaged, and code in it can be run */
};

struct nt_block *nt_pool_take(uint64_t bytes, uint32_t tag, enum nt_pool_kind kind, bool zero,
                              const void *caller);
void nt_pool_give(struct nt_block *block);
/* Free quarantined blocks, oldest first, until no more than this is kept. */
void nt_pool_flush_quarantine(uint64_t keep_bytes);
void nt_tag_text(uint32_t tag, char text[5]);
/* The block that holds the byte, live or in quarantine; NULL: no pool memory, or between blocks. */
struct nt_block *nt_pool_find(const void *address);

enum nt_memory { NT_MEMORY_OTHER, NT_MEMORY_NONPAGED, NT_MEMORY_PAGED, NT_MEMORY_FREED };
enum nt_memory nt_memory_of(const void *address);

/* ---- active objects in driver memory ---- */

struct nt_active_class {
    struct nt_resource_class resource;
    /* The report when its memory goes (NT-006): what was in it. */
    const char *noun;
    uint32_t code, subcode;
};

/* Record of an object that the host will touch later. It hangs on the pool block or the thread
 * whose stack holds the object, so that it can be dropped when that memory goes. */
struct nt_active {
    struct nt_resource resource;
    struct list in_memory;
    const struct nt_active_class *class;
    uintptr_t address;
};

/* Enter in `map` (by address) and hang on what holds it. False: out of memory. */
bool nt_active_add(struct nt_active *active, struct hash_map *map,
                   const struct nt_active_class *class, const void *object, const void *caller);
void nt_active_remove(struct nt_active *active, struct hash_map *map);
/* The memory goes: report (NT-006) and drop. */
void nt_active_drop_all(struct list *actives, const char *where);

/* How many of something belong to an address. */
unsigned long nt_count_get(const struct hash_map *map, const void *address);
bool nt_count_add(struct hash_map *map, const void *address);
void nt_count_remove(struct hash_map *map, const void *address);

/* ---- waiting ---- */

#define NT_BUILTIN_WAITS (THREAD_WAIT_OBJECTS + 1u)

struct nt_wait;

struct nt_wait_block {
    struct nt_wait_block *next, *prev; /* ring of the waiters on one address; NULL: on none */
    struct nt_wait *wait;
    uintptr_t address;
    uint32_t index;
};

/* A thread's wait. It is part of the thread, not of its stack: a client that is thrown out of it
 * leaves no dangling list. */
struct nt_wait {
    struct _KTHREAD *thread;
    struct nt_wait_block builtin[NT_BUILTIN_WAITS];
    struct nt_wait_block *block;
    struct nt_wait_block *extra; /* allocated when the built-in ones are too few */
    uint32_t count;              /* blocks in use; 0: no wait */
    bool all;
    bool absolute; /* until a system time */
    NTSTATUS status;
};

/* Wait for 1 .. MAXIMUM_WAIT_OBJECTS dispatcher objects. `timeout` as KeWaitForSingleObject has it.
 * */
NTSTATUS nt_wait_objects(DISPATCHER_HEADER *const object[], uint32_t count, bool all,
                         const LARGE_INTEGER *timeout);
/* The object became signalled: let go whom it satisfies. */
void nt_wake(DISPATCHER_HEADER *header);
/* Wait for nt_wake_address on any address (locks of other kinds); SIM_TIMED_OUT at the time-out.
 * The caller checks its condition again, and goes round when it does not hold. */
enum sim_wake nt_wait_address(const void *address, const LARGE_INTEGER *timeout);
/* Let go at most `count` waiters, first come first. Returns how many. */
unsigned nt_wake_address(const void *address, unsigned count);
/* Take the wait off all rings. */
void nt_wait_end(struct nt_wait *wait);
/* The system time was set. */
void nt_waits_clock_changed(void);
void nt_timers_clock_changed(void);
/* Virtual ns at which a Windows time-out ends. */
uint64_t nt_deadline(const LARGE_INTEGER *timeout);

enum nt_dispatcher_type {
    NT_EVENT_NOTIFICATION = 0,
    NT_EVENT_SYNCHRONIZATION = 1,
    NT_MUTANT = 2,
    NT_PROCESS = 3,
    NT_SEMAPHORE = 5,
    NT_THREAD = 6,
    NT_TIMER_NOTIFICATION = 8,
    NT_TIMER_SYNCHRONIZATION = 9,
};

void nt_header_init(DISPATCHER_HEADER *header, enum nt_dispatcher_type type, size_t bytes,
                    LONG state);
/* An initialised object of one of the types (bit mask), in memory where it may stand. Reports
 * otherwise (NT-004, NT-005). */
bool nt_header_check(const void *object, uint32_t types, const char *routine);
/* Wait TRUE was given: the next call must be a KeWaitXxx (NT-036). */
void nt_note_wait_owed(BOOLEAN wait, const char *rule, const char *routine);
/* Report an object that is NULL, in paged pool or in freed memory; false: do not touch it. */
bool nt_storage_check(const void *object, const char *what, const char *routine);

/* ---- objects with reference counts ---- */

enum nt_object_type {
    NT_OBJECT_ANY,
    NT_OBJECT_THREAD,
    NT_OBJECT_PROCESS,
    NT_OBJECT_EVENT,
    NT_OBJECT_SEMAPHORE,
    NT_OBJECT_FILE,
    NT_OBJECT_KEY,
    NT_OBJECT_SECTION,
};

struct nt_object {
    enum nt_object_type type;
    uint32_t references;      /* pointers */
    uint32_t host_references; /* of them, those that no driver may give back */
    uint32_t handles;
    void *body; /* what the driver's pointer points to */
    void (*destroy)(struct nt_object *object);
};

/* Starts with one reference. False: out of memory. */
bool nt_object_init(struct nt_object *object, enum nt_object_type type, void *body,
                    void (*destroy)(struct nt_object *object));
void nt_object_retain(struct nt_object *object);
void nt_object_release(struct nt_object *object);
/* The object with this body, or NULL. */
struct nt_object *nt_object_find(const void *body);
/* A handle that keeps the object; kernel handle, or one of the current process. NULL: out of
 * memory. */
HANDLE nt_handle_create(struct nt_object *object, ACCESS_MASK access, bool kernel,
                        const void *caller);
struct nt_object *nt_handle_object(HANDLE handle, enum nt_object_type type, ACCESS_MASK *access);
bool nt_handle_is_kernel(HANDLE handle);
void nt_handle_close(HANDLE handle);
/* Do the attributes, in the current process, ask for a kernel handle? If not, that is noted. */
bool nt_handle_kernel_wanted(const OBJECT_ATTRIBUTES *attributes, const char *rule,
                             const char *routine);
/* Level rule of the Zw routines (NT-145). */
bool nt_zw_level(const char *routine);
void nt_handles_close_process(struct nt_process *process);

/* ---- ranges of processes (user_range.c) ---- */

void nt_user_ranges_init(struct nt *nt);
void nt_user_ranges_finish(struct nt *nt);
void nt_user_ranges_orphan(struct nt_process *process);
/* An access there faulted; true: it is allowed now. In a signal handler. */
bool nt_user_range_touched(const void *address);

/* ---- threads ---- */

struct nt_owned_mutex {
    struct list link;
    KMUTANT *mutex;
};

/* One raise of the IRQL that was not lowered yet. */
struct nt_raise_record {
    uint8_t from, to;
};

struct _KTHREAD {
    DISPATCHER_HEADER header;
    struct list link; /* all threads of the machine */
    struct nt_object object;
    struct nt_resource resource;
    struct sim_thread *sim; /* NULL: a processor's idle thread */
    struct nt_process *process;
    struct nt_image *image; /* on whose behalf it runs */
    struct nt_wait wait;
    struct list owned;   /* struct nt_owned_mutex */
    struct list actives; /* struct nt_active of objects on its stack */
    uintptr_t stack_low, stack_high;
    int32_t kernel_apc_disable;
    int32_t special_apc_disable;
    uint32_t sleeping_locks;
    KPRIORITY priority;
    NTSTATUS exit_status;
    PKSTART_ROUTINE start;
    PVOID start_context;
    const volatile void *held[NT_HELD_LOCKS]; /* sleeping locks, for deadlock detection */
    uint32_t held_count;
    uint32_t floating_saves;
    KAFFINITY affinity;
    struct nt_raise_record raise[NT_RAISES];
    struct _DXGK_TRY_RECORD *tries; /* exception blocks of an ELF driver, innermost first (try.c) */
    uint32_t raises;
    bool system;    /* made by PsCreateSystemThread */
    bool must_wait; /* KeSetEvent with Wait TRUE was its last call */
    bool finished;
};

struct _KTHREAD *nt_thread(
    void); /* the current one, never NULL; an idle processor's for its interrupts and DPCs */
struct _KTHREAD *nt_thread_of(struct sim_thread *sim);
bool nt_threads_init(struct nt *nt);
void nt_threads_finish(struct nt *nt);
void nt_threads_forget_image(const struct nt_image *image);
HANDLE nt_thread_id(const struct _KTHREAD *thread);
HANDLE nt_process_id(const struct nt_process *process);
/* A mutex is taken by the thread; true: its former owner ended without releasing it. */
bool nt_mutex_take(KMUTANT *mutex, struct _KTHREAD *thread);
void nt_mutexes_abandon(struct _KTHREAD *thread);
/* The IRQL is raised or lowered by KeRaiseIrql and KeLowerIrql; the second returns what it should
 * go to, -1: unknown. */
void nt_irql_raised(uint8_t from, uint8_t to);
int nt_irql_lowered(void);

/* ---- processors ---- */

enum nt_lock_kind {
    NT_LOCK_PLAIN,
    NT_LOCK_AT_DPC,
    NT_LOCK_QUEUED,
    NT_LOCK_QUEUED_AT_DPC,
    NT_LOCK_SHARED,
    NT_LOCK_EXCLUSIVE
};

struct nt_held_lock {
    volatile ULONG_PTR *lock;
    enum nt_lock_kind kind;
    uint8_t old_irql;
};

struct nt_processor {
    struct _KTHREAD idle;
    const volatile void *wanted;             /* spin lock that it waits for */
    const volatile void *queued_for;         /* the same, of the queued kind */
    uint64_t ticket;                         /* its place in that queue */
    struct nt_held_lock held[NT_HELD_LOCKS]; /* in order of acquisition */
    uint32_t held_count;
};

/* Which processor holds the lock, the first one of several readers; -1: none. */
int nt_spin_lock_holder(const volatile void *lock);
/* The current processor is about to wait for the lock: report a circle of waits (THREAD-073). True: there is one, and the report
 * did not stop the machine. */
bool nt_spin_deadlock_check(const volatile void *lock, const char *routine);

/* Forget the spin locks taken since `count`, as if released. */
void nt_spin_locks_drop(uint32_t count);

/* ---- the whole ---- */

/* variable.c: what images import by name and every machine has for itself. */
struct nt_variables {
    ULONG build, safe_boot;
    PEPROCESS system;
    CCHAR processors;
};

struct nt {
    struct nt_config config;
    struct nt_variables variables;
    struct ram *ram;
    struct bus *bus;
    struct nt_pool pool;
    bool broadcasting; /* ipi.c */
    uint64_t serial;
    struct nt_image host; /* what belongs to no driver */
    struct list images;
    struct hash_map waits;         /* address -> a struct nt_wait_block of the ring */
    struct hash_map timers;        /* KTIMER -> struct nt_timer */
    struct hash_map timer_dpcs;    /* KDPC -> number of set timers that it belongs to */
    struct hash_map dpcs;          /* KDPC -> struct nt_dpc */
    struct hash_map ex_work_items; /* WORK_QUEUE_ITEM -> struct nt_work */
    struct hash_map work_items;    /* PIO_WORKITEM -> struct nt_work */
    struct hash_map ex_timers;
    struct hash_map lookasides;
    struct hash_map resources;  /* ERESOURCE -> struct nt_eresource */
    struct hash_map mdls;       /* MDL -> struct nt_mdl */
    struct hash_map contiguous; /* address -> struct nt_contiguous */
    struct hash_map io_spaces;  /* address -> struct nt_io_space */
    struct hash_map objects;    /* body -> struct nt_object */
    struct hash_map mappings;   /* address -> struct nt_mapping */
    struct nt_retired_views retired_views;
    struct span_tree user_ranges; /* user_range.c */
    struct list open_ranges;
    struct hash_map device_objects;
    struct handle_table handles;
    struct list threads;
    struct list processes;
    struct nt_process system;
    struct nt_object system_object;
    uint32_t next_process_id;
    struct nt_workers *workers;
    struct nt_registry *registry;
    struct nt_lock_order *lock_order; /* NULL: no deadlock detection */
    struct hash_map etw;              /* REGHANDLE -> struct nt_etw */
    uint64_t etw_handles;
    struct list bugcheck_callbacks;
    int64_t time_offset; /* 100 ns: system time - boot time - interrupt time */
    uint32_t waits_owed; /* threads with must_wait */
    uint64_t tickets;    /* of queued spin locks */
    char debug_line[1024];
    uint32_t debug_length;
    struct nt_processor *processor; /* one per processor of the machine */
};

static inline struct nt *nt_state(void)
{
    return sim_current->room[SIM_ROOM_NT];
}

static inline struct nt_processor *nt_processor(void)
{
    return &nt_state()->processor[sim_current->processor];
}

void nt_variables_init(struct nt *nt);
/* NULL: no such variable, or no machine. */
void *nt_variable_find(const char *name);

void nt_wait_owed(const char *routine);

/* First statement of every exported routine. */
#define NT_ENTER()                       \
    do {                                 \
        sim_point();                     \
        if (nt_state()->waits_owed != 0) \
            nt_wait_owed(__func__);      \
    } while (0)

#define NT_CALLER() __builtin_return_address(0)

/* IRQL check of `routine`: at or below the limit? Otherwise it is reported, as 0xC4/`code` (0:
 * without code), and the result tells whether the call is carried out all the same (THREAD-009). */
bool nt_level(enum nt_limit limit, const char *rule, uint32_t code, const char *routine);

/* A structured exception in the caller. Returns only if nobody handles it and the bug check was
 * lowered. */
void nt_raise(NTSTATUS status, const char *rule, const char *routine);

/* Should this request for a resource fail (injected)? */
bool nt_resource_fails(void);

/* Injected faults pass by what follows, for services that cannot fail on Windows; nt_faults_on with
 * the value returned. */
struct nt_faults {
    uint64_t fail_at, requests;
};
struct nt_faults nt_faults_off(void);
void nt_faults_on(struct nt_faults faults);

/* Calls into the driver that the kernel makes by itself: attribution, watchdog, state checks on
 * return. */
struct nt_callback {
    struct nt_image *outer_image;
    uint64_t outer_deadline;
    struct nt_call_state state;
    const char *what;
};
void nt_callback_enter(struct nt_callback *callback, struct nt_image *image, const char *what);
void nt_callback_leave(struct nt_callback *callback);

/* Write into driver memory that may be gone. */
bool nt_poke(void *to, const void *from, size_t bytes);

bool nt_on_stack(const void *address);

bool nt_is_user_address(const void *address);

/* ---- what the other files offer ---- */

bool nt_processes_init(struct nt *nt);
void nt_processes_finish(struct nt *nt);
bool nt_workers_init(struct nt *nt);
void nt_workers_finish(struct nt *nt);
bool nt_registry_init(struct nt *nt);
void nt_registry_finish(struct nt *nt);

bool nt_device_object_known(const void *object);
/* The device object of this name; NULL: none. */
void *nt_device_named(const char *name);
void nt_device_objects_finish(struct nt *nt);

/* Deadlock detection. `sleeper`: the thread that takes a mutex or fast mutex; NULL: a spin lock of
 * this processor. Called before the lock counts as held. */
bool nt_lock_order_init(struct nt *nt);
void nt_lock_order_finish(struct nt *nt);
void nt_lock_order_check(const volatile void *lock,
                         struct _KTHREAD *sleeper); /* about to wait for it */
void nt_lock_order_acquire(const volatile void *lock, struct _KTHREAD *sleeper);
void nt_lock_order_release(const volatile void *lock, struct _KTHREAD *sleeper);
void nt_lock_order_forget(const void *address, uint64_t bytes);

/* Work items wait, and no worker is free? */
void nt_workers_balance(void);

/* `anywhere`: on a processor of the seed's choice, unless the DPC has a target: the clock ticks on all of them. */
bool nt_dpc_insert(PKDPC object, PVOID argument1, PVOID argument2, struct nt_image *image,
                   const void *caller, bool anywhere);
bool nt_timer_uses_dpc(const KDPC *dpc);

uint64_t nt_mdl_locked_pages(const struct nt_process *process);
/* The block at the address is about to be freed; it may be an MDL. */
void nt_mdl_forget(const void *address, const char *routine, const void *caller);
/* An MDL that nt_mdl_lend knows, given to a routine that would end it: reported. */
bool nt_mdl_is_lent(const void *address, const char *routine);

WCHAR nt_upcase(WCHAR c);
size_t nt_wide_length(const WCHAR *text);
int nt_unicode_compare(PCUNICODE_STRING a, PCUNICODE_STRING b, bool ignore_case);

#endif
