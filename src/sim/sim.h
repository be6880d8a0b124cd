/* SPDX-License-Identifier: MIT */
/*
 * The simulated machine: virtual time, processors with interrupt levels, threads as fibers, interrupts, deferred calls,
 * and one seeded source of chance. One host thread runs one machine; nothing here takes a lock of the host.
 *
 * Theory of operation
 *
 *   Every simulated thread is a fiber. Each simulated processor runs one fiber at a time (or idles). The host thread steps
 *   through the processors: at a *point* (sim_point, called by every kernel service, callback, register access and DDI
 *   boundary) virtual time advances by SIM_POINT_NS, and when the fuel of the current slice is used up, the slow path
 *
 *     1. fires the events that are due (device work, timers),
 *     2. delivers pending interrupts to the current processor, if its level allows: the service routine runs on the stack
 *        of the interrupted fiber, at the level of the interrupt, holding the interrupt's lock,
 *     3. runs queued deferred calls (DPCs), if the level is below SIM_IRQL_DISPATCH,
 *     4. gives the host thread to another processor, or, below SIM_IRQL_DISPATCH, this processor to another ready thread,
 *        as the seed decides.
 *
 *   The length of a slice is drawn from the seed, and cut so that no event is missed. When all processors idle, the clock
 *   jumps to the next event. Nothing depends on wall time or host addresses: same seed, same run.
 *
 * Stopping
 *
 *   sim_stop() ends the simulated life: no interrupt, deferred call, timer or thread of the kernel side runs any more.
 *   Client threads go on; one that was inside the kernel side is thrown back to its recovery mark (SIM_RECOVER).
 */
#ifndef DXGK_SIM_H
#define DXGK_SIM_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/alloc.h"
#include "util/list.h"
#include "util/rng.h"

enum sim_irql {
    SIM_IRQL_PASSIVE = 0,
    SIM_IRQL_APC = 1,
    SIM_IRQL_DISPATCH = 2,
    SIM_IRQL_DEVICE = 5, /* lowest level of a device interrupt */
    SIM_IRQL_DEVICE_MAX = 11,
    SIM_IRQL_HIGH = 15,
};

#define SIM_POINT_NS       20u
#define SIM_FOREVER        UINT64_MAX
#define SIM_MAX_PROCESSORS 64u
#define SIM_ROOMS          16u

struct sim_machine;
struct sim_thread;

/* ---- machine -------------------------------------------------------------------------------------------------- */

struct sim_config {
    uint64_t seed;
    unsigned processors;  /* 1 .. SIM_MAX_PROCESSORS */
    size_t stack_bytes;   /* of a fiber; 0: 256 KiB (1 MiB under AddressSanitizer) */
    uint64_t watchdog_ms; /* host time one fiber may run without reaching a point; 0: no watchdog */
    bool stress; /* slices of a length drawn from the seed, mostly far shorter; sim_stress_point counts */
};

/* The hot part of a machine, public for sim_point. */
struct sim_machine {
    uint64_t now;  /* virtual ns since power on */
    uint32_t fuel; /* points left in this slice */
    uint8_t irql;  /* of the current processor */
    bool stopped;
    bool stress;
    uint16_t processor; /* index of the current processor */
    uint16_t inside; /* nesting of calls into the driver on the current stack; kept by sim_inside_enter/leave */
    uint64_t deadline; /* virtual time at which the current call into the driver is overdue; SIM_FOREVER: never */
    void *frame; /* head of a list of calls in progress on the current stack; the room that calls drivers keeps it */
    uint64_t points;           /* slices begun, for the watchdog */
    struct sim_thread *thread; /* on the current processor; NULL while it idles */
    struct util_heap heap;
    struct rng rng;
    unsigned processors;
    void *room[SIM_ROOMS]; /* state of upper rooms, by SIM_ROOM_* */
    struct sim_core *core; /* private */
};

enum sim_room {
    SIM_ROOM_HOST,
    SIM_ROOM_NT,
    SIM_ROOM_RAM,
    SIM_ROOM_BUS,
    SIM_ROOM_DDI,
    SIM_ROOM_VIDSCH, /* the machine's schedulers */
    SIM_ROOM_PORT,
    SIM_ROOM_KMT,
    SIM_ROOM_LOADER,
    SIM_ROOM_X64,
    SIM_ROOM_TRAPS,
};

/* The machine that the host thread is in. NULL outside sim_enter/sim_leave. */
extern _Thread_local struct sim_machine *sim_current;

/* NULL when out of memory. The machine's heap is current while the machine is entered. */
struct sim_machine *sim_machine_create(const struct sim_config *config);
/* Frees fibers and, last, everything left on the machine's heap. Must not be called from a fiber of it. */
void sim_machine_destroy(struct sim_machine *machine);
void sim_enter(struct sim_machine *machine);
void sim_leave(void);

enum sim_outcome {
    SIM_DONE,     /* done() said so */
    SIM_DEADLOCK, /* every thread waits and no event is pending */
    SIM_STOPPED,  /* stopped, and no client thread is left to run */
    SIM_TIME_UP,  /* the limit of virtual time was reached */
};

/* What sim_on_switch's handler is told. */
enum sim_switch {
    SIM_SWITCH_ENTER,   /* the host thread has entered the machine */
    SIM_SWITCH_CURRENT, /* another thread or processor is current from now on */
    SIM_SWITCH_LEAVE,   /* the host thread is about to leave the machine */
};

/* For what must follow the current thread and processor: registers of the real one. Called on any stack, at any level; must
 * not block or use floating point. NULL: nobody. */
void sim_on_switch(void (*handler)(enum sim_switch what));
/* Something about the current thread has changed that the handlers may want to know. */
void sim_notify_switch(void);

/* Run the entered machine until done(arg) holds (checked when a thread ends and on sim_run_check), or nothing can run.
 * `until` bounds virtual time (SIM_FOREVER: none). */
enum sim_outcome sim_run(bool (*done)(void *arg), void *arg, uint64_t until);

/* ---- points ------------------------------------------------------------------------------------------------------ */

void sim_point_slow(struct sim_machine *machine);

/* A place where the outside world may intervene. Cheap: one add, one decrement, one branch. */
static inline void sim_point(void)
{
    struct sim_machine *m = sim_current;

    m->now += SIM_POINT_NS;
    if (--m->fuel == 0)
        sim_point_slow(m);
}

/* A place that counts only in a machine under stress: a function's entry or exit in instrumented code of a driver. */
static inline void sim_stress_point(void)
{
    if (sim_current && sim_current->stress && sim_current->inside)
        sim_point();
}

/* Let virtual time pass for the caller, as a busy processor (others run meanwhile). */
void sim_stall(uint64_t ns);
/* The caller spins on something another processor must do: let the others run now. */
void sim_spin(void);
/* End the current slice at the next point (something was raised that should be seen soon). */
static inline void sim_expedite(void)
{
    sim_current->fuel = 1;
}

static inline uint64_t sim_now(void)
{
    return sim_current->now;
}

/* A number in [0, bound) from the machine's seed. */
static inline uint32_t sim_random(uint32_t bound)
{
    return rng_below(&sim_current->rng, bound);
}

/* Around each call into a driver: tells the watchdogs that a driver runs on this stack. `limit` is the virtual time the call may
 * take (SIM_FOREVER: any). Returns the deadline to restore. */
static inline uint64_t sim_inside_enter(uint64_t limit)
{
    struct sim_machine *m = sim_current;
    uint64_t outer = m->deadline;
    uint64_t mine = limit == SIM_FOREVER ? SIM_FOREVER : m->now + limit;

    m->inside++;
    m->deadline = mine < outer ? mine : outer;
    return outer;
}

static inline void sim_inside_leave(uint64_t outer)
{
    sim_current->inside--;
    sim_current->deadline = outer;
}

/* ---- levels ------------------------------------------------------------------------------------------------------ */

static inline uint8_t sim_irql(void)
{
    return sim_current->irql;
}

/* Both return the level before. Raising below the current level, or lowering above it, is the caller's bug: callers
 * that serve a driver check first. Lowering delivers what became deliverable. */
uint8_t sim_raise_irql(uint8_t irql);
uint8_t sim_lower_irql(uint8_t irql);

/* ---- threads ----------------------------------------------------------------------------------------------------- */

enum sim_thread_kind {
    SIM_THREAD_KERNEL, /* driver and host threads: end with the machine's life */
    SIM_THREAD_CLIENT, /* client programs: survive sim_stop */
};

typedef void (*sim_entry)(void *arg);

/* A new thread, ready to run at PASSIVE. `name` is copied. NULL when out of memory. */
struct sim_thread *sim_thread_create(const char *name, enum sim_thread_kind kind, sim_entry entry,
                                     void *arg);
/* Ends the current thread; also happens when entry returns. Its sim_thread stays valid until the last release. */
_Noreturn void sim_thread_exit(void);
void sim_thread_retain(struct sim_thread *thread);
void sim_thread_release(struct sim_thread *thread); /* the creator holds one reference */
bool sim_thread_ended(const struct sim_thread *thread);
/* Small numbers in order of creation, from 1: stable names for traces and reports. */
uint32_t sim_thread_id(const struct sim_thread *thread);
const char *sim_thread_name(const struct sim_thread *thread);
enum sim_thread_kind sim_thread_kind(const struct sim_thread *thread);
/* One pointer for the room that made the thread (nt: its KTHREAD), and one for the process it runs for. */
void **sim_thread_local(struct sim_thread *thread);
void **sim_thread_process(struct sim_thread *thread);
/* In order of creation, from NULL to NULL. */
struct sim_thread *sim_thread_after(const struct sim_thread *thread);
bool sim_thread_blocked(const struct sim_thread *thread);
/* Of another processor or the current one; NULL: it has none. */
struct sim_thread *sim_processor_thread(unsigned processor);
/* Return addresses on the stack of a thread, or of what runs on a processor; innermost first, as far as unwinding gets. Returns
 * how many. Runs nothing but the unwinder there. */
size_t sim_thread_stack(struct sim_thread *thread, uintptr_t *pc, size_t capacity);
size_t sim_processor_stack(unsigned processor, uintptr_t *pc, size_t capacity);
/* Called on the ending thread's stack, last thing. */
void sim_thread_on_exit(struct sim_thread *thread, void (*fn)(void *arg), void *arg);
/* Stack bounds of the current fiber. */
void sim_stack_bounds(uintptr_t *low, uintptr_t *high);

enum sim_wake { SIM_WOKEN, SIM_TIMED_OUT };

/* Block the current thread until sim_unblock, or until virtual time `deadline` (absolute ns; SIM_FOREVER: none).
 * *result gets sim_unblock's value. Level must be below SIM_IRQL_DISPATCH and there must be a thread.
 * If the machine is stopped meanwhile, a client thread with a recovery mark is thrown there and does not return here. */
enum sim_wake sim_block(uint64_t deadline, intptr_t *result);
/* Make a blocked thread ready; false if it was not blocked (already woken). Any level. */
bool sim_unblock(struct sim_thread *thread, intptr_t result);

/* First come, first served queue of blocked threads. */
struct sim_waitq {
    struct list waiters;
};

void sim_waitq_init(struct sim_waitq *queue);
enum sim_wake sim_waitq_wait(struct sim_waitq *queue, uint64_t deadline);
unsigned sim_waitq_wake(struct sim_waitq *queue, unsigned count); /* returns how many were woken */

/* Sleeping lock of the host's own (not a driver's). FIFO, not recursive. PASSIVE or APC. */
struct sim_mutex {
    struct sim_thread *owner;
    struct sim_waitq queue;
};

void sim_mutex_init(struct sim_mutex *mutex);
void sim_mutex_lock(struct sim_mutex *mutex);
bool sim_mutex_try(struct sim_mutex *mutex);
void sim_mutex_unlock(struct sim_mutex *mutex);

/* ---- events, interrupts, deferred calls -------------------------------------------------------------------------- */

/* One-shot event at a virtual time. The callback runs on whatever stack is current, at any level; it must not block. */
struct sim_event {
    uint64_t due;
    uint64_t order;
    uint32_t slot; /* index in the heap + 1; 0: not pending */
    void (*fire)(struct sim_event *event);
};

/* (Re)arm for absolute time `due`. False when out of memory. */
bool sim_event_arm(struct sim_event *event, uint64_t due);
void sim_event_cancel(struct sim_event *event);
static inline bool sim_event_pending(const struct sim_event *event)
{
    return event->slot != 0;
}

/* An interrupt line or message. */
struct sim_interrupt {
    struct list link; /* pending on a processor */
    bool (*service)(void *context,
                    uint32_t message); /* runs at `irql` under the lock; true: claimed */
    void *context;
    uint32_t message;
    uint8_t irql;
    bool connected;
    bool pending;
    uint16_t lock_owner;      /* processor + 1 that holds the interrupt lock; 0: free */
    uint64_t delivered;       /* count */
    struct sim_event latency; /* private: from raise to pending */
};

void sim_interrupt_connect(struct sim_interrupt *interrupt, bool (*service)(void *, uint32_t),
                           void *context, uint32_t message, uint8_t irql);
/* After return the service routine is not running and will not run. PASSIVE. */
void sim_interrupt_disconnect(struct sim_interrupt *interrupt);
/* Edge: becomes pending on a processor chosen by the seed after a latency chosen by the seed. A second raise while
 * pending merges with the first. Any level, any stack. */
void sim_interrupt_raise(struct sim_interrupt *interrupt);
/* At once, on that processor: what processors send each other. */
void sim_interrupt_send(struct sim_interrupt *interrupt, unsigned processor);
/* Run fn at the interrupt's level under its lock, excluding the service routine. Level <= the interrupt's. */
bool sim_interrupt_synchronize(struct sim_interrupt *interrupt, bool (*fn)(void *arg), void *arg);

/* Deferred procedure call: runs once at DISPATCH on the processor that queued it (or `target` - 1). */
struct sim_dpc {
    struct list link;
    void (*routine)(struct sim_dpc *dpc);
    bool queued;
    uint16_t target; /* processor + 1; 0: the one that queues */
    bool high;       /* to the front of the queue */
};

bool sim_dpc_queue(struct sim_dpc *dpc);  /* false: already queued */
bool sim_dpc_remove(struct sim_dpc *dpc); /* true: it was queued and is no more */
/* Wait until every deferred call queued so far on any processor has run. PASSIVE. */
void sim_dpc_flush(void);
bool sim_in_dpc(void);       /* a deferred call is running on the current processor */
bool sim_in_interrupt(void); /* a service routine is running on the current processor */

/* ---- stop and recovery -------------------------------------------------------------------------------------------- */

/* A mark to which a client thread is thrown when the machine is stopped under it. Marks nest; the outermost counts.
 *
 *     struct sim_mark mark;
 *     if (SIM_RECOVER(&mark))
 *         return STATUS_DEVICE_REMOVED;   // thrown: locals changed since are indeterminate
 *     ...
 *     sim_unmark(&mark);
 */
struct sim_mark {
    void *jump[5];
    struct sim_mark *outer;
    uint8_t irql;
};

void sim_mark_push(struct sim_mark *mark);
void sim_unmark(struct sim_mark *mark);
#define SIM_RECOVER(mark) (sim_mark_push(mark), __builtin_setjmp((mark)->jump))

/* Stop the simulated life for good (what a bug check does, after its record was made). Does not return when called on
 * a fiber: a client is thrown to its mark, a kernel thread never runs again. */
void sim_stop(void);

/* ---- faults ------------------------------------------------------------------------------------------------------- */

/* Copy with the address checked by trying: false if source or destination faults; a part may have been copied then. */
bool sim_copy_checked(void *to, const void *from, size_t bytes);

enum sim_fault_kind {
    SIM_FAULT_READ,
    SIM_FAULT_WRITE,
    SIM_FAULT_EXECUTE,
    SIM_FAULT_STACK,
    SIM_FAULT_INSTRUCTION,
    SIM_FAULT_PRIVILEGED, /* an instruction that only a kernel may use, and that is not emulated */
    SIM_FAULT_ARITHMETIC,
    SIM_FAULT_ALIGNMENT,
    SIM_FAULT_BREAKPOINT, /* or a single step */
    SIM_FAULT_HANG,
    SIM_FAULT_OVERDUE
};

/* The processor's registers where it was interrupted. */
struct sim_registers {
    uint64_t general[16]; /* by their numbers in instructions: rax, rcx, rdx, rbx, rsp, rbp, ... */
    uint64_t flags;
    uint16_t code_segment, stack_segment;
    uint8_t floating[512]; /* as FXSAVE writes them */
};

struct sim_fault {
    enum sim_fault_kind kind;
    uintptr_t address; /* what was touched */
    uintptr_t pc;
    uintptr_t sp;
    uintptr_t frame;
    uint8_t trap; /* exception vector of the processor: 0 division, 3 breakpoint, 6 invalid opcode, 14 page fault, ... */
    const struct sim_registers *registers; /* on the stack of the handler; NULL: SIM_FAULT_OVERDUE */
};

/* Called on the faulting fiber's stack (a spare one for a stack overflow), after the signal handler has returned.
 * Must end with sim_stop(). NULL: faults are the process's. SIM_FAULT_HANG: a driver ran for watchdog_ms of host time without
 * reaching a point; SIM_FAULT_OVERDUE: a call into a driver took more virtual time than its limit. Faults of threads that are
 * not inside a driver (sim_inside_enter) stay the process's own, but for those that sim_on_process's handler claims: these
 * may end with sim_thread_exit. */
void sim_on_fault(void (*handler)(const struct sim_fault *fault));

/* A signal for code on a fiber, as the handler of sim_on_trap sees it. */
struct sim_trap {
    void *context;            /* ucontext_t */
    int signal;               /* SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGTRAP */
    enum sim_fault_kind kind; /* what it is reported as; the handler may know better */
    uintptr_t address;
};
/* Called inside the signal handler, on its stack, before anything else. True: execution goes on in a landing of the handler's,
 * at RIP of *context, on the stack RSP, with RDI, and with the vector registers as they were; no other register nor the flags
 * come back, which saves the system call at the end of a signal: the handler must have kept what the landing is to restore.
 * False: a fault, of the kind and with the address that *trap has then. The handler must be quick, and must not call anything
 * that reaches a point; that is what the landing is for. */
void sim_on_trap(bool (*handler)(struct sim_trap *trap));
/* For memory that belongs to a process. `changed`: another process than before is current from now on (sim_thread_process; an
 * idle processor has none). Quick, without blocking, on any stack. `denies`: an access of a client, outside of a driver and of
 * every mark, has faulted there; true: it is reported to sim_on_fault's handler, and not the process's own. NULL: nobody. */
void sim_on_process(void (*changed)(void), bool (*denies)(const void *address));
/* Memory that is there only below DISPATCH_LEVEL. `page`: of an access that faulted, before anybody else is asked; true: it is there
 * now, and the access is made again. In a signal handler. `raised`: the level has become DISPATCH or above, or somebody who
 * runs there is current. Quick, and without blocking. NULL: nobody. */
void sim_on_paging(bool (*page)(uintptr_t address), void (*raised)(void));

#endif
