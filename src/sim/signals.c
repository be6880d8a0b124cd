/* SPDX-License-Identifier: MIT */
/*
 * Host signals: faults and the host-time watchdog.
 *
 * One set of signal handlers serves all machines of the process; it is installed once and finds the
 * machine through sim_current. A fault of driver code is not handled inside the signal handler: the
 * handler rewrites the interrupted context to continue in fault_landing, on the faulting stack
 * below the red zone (or on a spare stack when that one has overflowed), which calls the machine's
 * on_fault with normal rights. Signals that are not ours go to the previous handlers. A fault of
 * the report of a fault continues in second_landing, on the last stack; one of that ends the
 * process.
 */
#include "sim/signals.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "sim/core.h"
#include "sim/last_words.h"
#include "sim/report.h"
#include "sim/spare.h"
#include "util/array.h"
#include "util/map.h"
#if SIM_ASAN
#include <sanitizer/asan_interface.h>
#endif

#define SIGNAL_STACK_BYTES (64u * 1024u)
#define LEAST_STACK        4096u    /* with less than this a stack counts as full */
#define FLAGS_OF_DRIVERS   0x44500u /* trap, direction, nested task, alignment check */
#define FLAG_ALIGNMENT     0x40000u
#define FLAG_TRAP          0x100u
#define TRAP_DEBUG         1
#define TRAP_BREAKPOINT    3
#define TRAP_PAGE          14
#define TRAP_ALIGNMENT     17
#define ERROR_FETCH        0x10

extern int sim_copy_raw(void *to, const void *from, size_t bytes);
extern void sim_signal_return(void);
extern char sim_copy_raw_begin[], sim_copy_raw_end[], sim_copy_raw_fault[];

static const int fault_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
#define FAULT_SIGNALS   ARRAY_COUNT(fault_signals)
#define WATCHDOG_SIGNAL (SIGRTMIN + 5)

/* The handlers before ours; process-wide, as signal handlers are. Guarded by install_lock. */
static struct sigaction outer_action[FAULT_SIGNALS];
static struct sigaction outer_watchdog;
static unsigned machines; /* the handlers go with the last */
static pthread_mutex_t install_lock = PTHREAD_MUTEX_INITIALIZER;
/* How many threads have entered a machine. */
static unsigned machines_entered;

bool sim_copy_checked(void *to, const void *from, size_t bytes)
{
    return sim_copy_raw(to, from, bytes) != 0;
}

/* ---- landing ---- */

/* Pass a copy to the handler: the machine may fault again, here or on another fiber, before it is
 * done. */
static __attribute__((used)) _Noreturn void fault_landing(void)
{
    struct sim_core *core = core_of(sim_current);
    struct sim_fault fault = core->fault;
    struct sim_registers registers = core->fault_registers;

    fault.registers = &registers;
    sim_report_fault(core, &fault);
}

static __attribute__((used)) _Noreturn void second_landing(void)
{
    struct sim_core *core = core_of(sim_current);

    sim_report_fault(core, &core->report.fault);
}

void sim_registers_of(struct sim_registers *kept, const void *data)
{
    const ucontext_t *context = data;
    static const int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                REG_R12, REG_R13, REG_R14, REG_R15};
    const greg_t *regs = context->uc_mcontext.gregs;
    uint64_t segments = (uint64_t)regs[REG_CSGSFS]; /* four fields of 16 bits: cs, gs, fs, ss */

    for (size_t i = 0; i < ARRAY_COUNT(order); i++)
        kept->general[i] = (uint64_t)regs[order[i]];
    kept->flags = (uint64_t)regs[REG_EFL];
    kept->code_segment = (uint16_t)segments;
    kept->stack_segment = (uint16_t)(segments >> 48);
    memcpy(kept->floating, context->uc_mcontext.fpregs, sizeof(kept->floating));
}

/* Continue in a landing, on the stack that ends at `sp`. */
static void continue_in(void (*landing)(void), uintptr_t sp, greg_t *regs)
{
    sp = (sp & ~(uintptr_t)15) - 8;
    *(uintptr_t *)sp = 0; /* in place of a return address: unwinders stop here */ // NOLINT
    regs[REG_RSP] = (greg_t)sp;
    regs[REG_RIP] = (greg_t)(uintptr_t)landing;
    regs[REG_EFL] &= ~(greg_t)FLAGS_OF_DRIVERS;
}

static bool is_on(struct sim_span stack, uintptr_t sp)
{
    return sp >= stack.low + LEAST_STACK && sp <= stack.high;
}

/* Rewrite the interrupted context so that it continues in fault_landing. */
static void land(struct sim_core *core, ucontext_t *context, bool spare_stack)
{
    greg_t *regs = context->uc_mcontext.gregs;
    uintptr_t sp = (uintptr_t)regs[REG_RSP];
    struct sim_span stack = sim_span_of(core, sp), spare = sim_spare(core);

    if (core->report.stage != SIM_NOT_REPORTING)
        return; /* the watchdog; a report has a clock of its own */
    if (core->guarding.fault)
        (void)core->guarding.broken_off();
    core->fault.stack_low = stack.low;
    core->fault.stack_high = stack.high;
    core->fault.pc = (uintptr_t)regs[REG_RIP];
    core->fault.sp = sp;
    core->fault.frame = (uintptr_t)regs[REG_RBP];
    core->fault.trap = (uint8_t)regs[REG_TRAPNO];
    sim_registers_of(&core->fault_registers, context);
    if (!spare_stack && is_on(stack, sp)) {
        continue_in(fault_landing, sp - 256, regs);
        return;
    }
    if (stack.low == spare.low) /* the spare stack itself is full */
        spare = sim_spare_last(core);
#if SIM_ASAN
    /* frames that a jump abandoned there are still poisoned */
    ASAN_UNPOISON_MEMORY_REGION((void *)spare.low, spare.high - spare.low);
#endif
    continue_in(fault_landing, spare.high, regs);
}

static void pass_on(int signal, siginfo_t *info, void *context)
{
    for (size_t i = 0; i < FAULT_SIGNALS; i++) {
        if (fault_signals[i] != signal)
            continue;
        if (outer_action[i].sa_flags & SA_SIGINFO) {
            outer_action[i].sa_sigaction(signal, info, context);
            return;
        }
        if (outer_action[i].sa_handler != SIG_DFL && outer_action[i].sa_handler != SIG_IGN) {
            outer_action[i].sa_handler(signal);
            return;
        }
        /* the signal is raised again, with the default action */
        if (sim_current && core_of(sim_current)->report.stage == SIM_NOT_REPORTING)
            sim_last_words("a fault of the host or of a client",
                           (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP],
                           (uintptr_t)info->si_addr);
        sigaction(signal, &outer_action[i], NULL);
    }
}

/* A fault of the host while it reports one: the last attempt, and then none. */
static void land_again(struct sim_core *core, int signal, uintptr_t address, void *context)
{
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    siginfo_t info = {.si_signo = signal, .si_addr = (void *)address};
    uintptr_t pc = (uintptr_t)regs[REG_RIP];

    if (core->report.stage == SIM_REPORTING_AGAIN) {
        sim_last_words("a fault could not be reported; it was", core->report.fault.pc,
                       core->report.fault.address);
        sim_last_words("the report has faulted", core->report.fault.again_pc,
                       core->report.fault.again_address);
        sim_last_words("and once more", pc, address);
        pass_on(signal, &info, context);
        sim_end_process(signal);
    }
    core->report.stage = SIM_REPORTING_AGAIN;
    core->report.fault.again_pc = pc;
    core->report.fault.again_address = address;
    continue_in(second_landing, sim_spare_last(core).high, regs);
}

static enum sim_fault_kind kind_of(int signal, const ucontext_t *context)
{
    greg_t error = context->uc_mcontext.gregs[REG_ERR];
    greg_t trap = context->uc_mcontext.gregs[REG_TRAPNO];

    if (signal == SIGILL)
        return SIM_FAULT_INSTRUCTION;
    if (signal == SIGFPE)
        return SIM_FAULT_ARITHMETIC;
    if (signal == SIGTRAP)
        return SIM_FAULT_BREAKPOINT;
    if (trap == TRAP_ALIGNMENT)
        return SIM_FAULT_ALIGNMENT;
    if (trap != TRAP_PAGE) /* for other traps the error code has another meaning */
        return SIM_FAULT_READ;
    if (error & ERROR_FETCH)
        return SIM_FAULT_EXECUTE;
    return (error & 2) ? SIM_FAULT_WRITE : SIM_FAULT_READ;
}

/* The fault is in client code (not in the host acting for it, whose locks and memory nobody would
 * release), on memory that is not the client's. */
static bool client_is_denied(const struct sim_core *core, uintptr_t address)
{
    const struct sim_thread *thread = sim_current->thread;

    return thread && thread->kind == SIM_THREAD_CLIENT && !thread->mark && core->denies &&
           core->denies((const void *)address);
}

/* A breakpoint of the host in code of a driver: what stood there runs now. */
static bool breakpoint(const struct sim_core *core, int signal, greg_t *regs)
{
    if (signal != SIGTRAP || regs[REG_TRAPNO] != TRAP_BREAKPOINT || !core->guarding.breakpoint ||
        !core->guarding.breakpoint((uintptr_t)regs[REG_RIP] - 1))
        return false;
    regs[REG_RIP]--;
    return true;
}

/* A breakpoint, an access to guarded memory, or the end of an instruction that was allowed one.
 * False: none of these, or it is for other handlers, for whom no instruction is being stepped. */
static bool guarded(const struct sim_core *core, int signal, uintptr_t address, greg_t *regs)
{
    const struct sim_string string = {.rip = (uint64_t *)&regs[REG_RIP],
                                      .rcx = (uint64_t *)&regs[REG_RCX],
                                      .rsi = (uint64_t *)&regs[REG_RSI],
                                      .rdi = (uint64_t *)&regs[REG_RDI],
                                      .rax = (uint64_t)regs[REG_RAX]};
    bool fetch = regs[REG_TRAPNO] == TRAP_PAGE && regs[REG_ERR] & ERROR_FETCH;

    if (breakpoint(core, signal, regs))
        return true;
    if (!core->guarding.fault)
        return false;
    if (signal == SIGTRAP && regs[REG_TRAPNO] == TRAP_DEBUG && core->guarding.stepped()) {
        regs[REG_EFL] &= ~(greg_t)FLAG_TRAP;
        return true;
    }
    switch (signal == SIGSEGV ? core->guarding.fault(address, fetch, &string) : SIM_GUARD_NONE) {
    case SIM_GUARD_STEP:
        regs[REG_EFL] |= FLAG_TRAP;
        return true;
    case SIM_GUARD_DONE:
        return true;
    default:
        break;
    }
    if (core->guarding.broken_off())
        regs[REG_EFL] &= ~(greg_t)FLAG_TRAP;
    return false;
}

static bool paged_in(uintptr_t address)
{
    const struct sim_core *core = sim_current ? core_of(sim_current) : NULL;

    return core && core->on_page && core->on_page(address);
}

static void handle_signal(int signal, siginfo_t *info, void *data)
{
    ucontext_t *context = data;
    greg_t *regs = context->uc_mcontext.gregs;
    uintptr_t pc = (uintptr_t)regs[REG_RIP];
    struct sim_trap trap = {.context = data, .signal = signal, .address = (uintptr_t)info->si_addr};
    int saved = errno;
    struct sim_core *core;
    bool access = signal == SIGSEGV || signal == SIGBUS;

    if (sim_current && guarded(core_of(sim_current), signal, trap.address, regs)) {
        errno = saved;
        return;
    }
    if (access && regs[REG_TRAPNO] == TRAP_PAGE && paged_in(trap.address)) {
        errno = saved;
        return;
    }
    if (access && pc >= (uintptr_t)sim_copy_raw_begin && pc < (uintptr_t)sim_copy_raw_end) {
        regs[REG_RIP] = (greg_t)(uintptr_t)sim_copy_raw_fault;
        return;
    }
    if (!sim_current) {
        if (__atomic_load_n(&machines_entered, __ATOMIC_RELAXED) != 0)
            sim_last_words("THREAD-079: a thread that is no machine's called the host, or faulted,",
                           pc, trap.address);
        pass_on(signal, info, data);
        return;
    }
    core = core_of(sim_current);
    if (signal == SIGBUS && regs[REG_TRAPNO] == TRAP_ALIGNMENT && core->on_fiber) {
        regs[REG_EFL] &= ~(greg_t)FLAG_ALIGNMENT; /* in kernel mode AC makes no access fault */
        sim_current->misaligned = true;
        errno = saved;
        return;
    }
    if (core->report.stage != SIM_NOT_REPORTING) {
        land_again(core, signal, trap.address, context);
        return;
    }
    trap.kind = kind_of(signal, context);
    if (core->on_trap && core->on_fiber && core->on_trap(&trap)) {
        if (!trap.repeat)
            context->uc_link = context; /* signal_return.S returns without a system call */
        errno = saved;
        return;
    }
    if (!core->on_fault || !core->on_fiber ||
        (!sim_current->inside && !(access && client_is_denied(core, trap.address)))) {
        pass_on(signal, info, data);
        return;
    }
    {
        uintptr_t sp = (uintptr_t)regs[REG_RSP];
        bool overflow = !is_on(sim_span_of(core, sp), sp);

        memset(&core->fault, 0, sizeof(core->fault));
        core->fault.kind = overflow ? SIM_FAULT_STACK : trap.kind;
        core->fault.address = trap.address;
        land(core, context, overflow);
    }
    errno = saved;
}

/* Signals clear the direction flag, but not AC, with which the C library's own code faults. */
static void on_signal(int signal, siginfo_t *info, void *data)
{
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~(uint64_t)FLAG_ALIGNMENT);
    handle_signal(signal, info, data);
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* How often this thread has given up its processor by itself. */
static uint64_t sleeps(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_nvcsw : 0;
}

/* The watchdog's tick, on the machine's own host thread. */
static void on_watchdog(int signal, siginfo_t *info, void *data)
{
    enum sim_watchdog_verdict verdict;
    struct sim_core *core;
    uint64_t cpu, limit;
    bool watched;

    (void)signal;
    (void)info;
    if (!sim_current)
        return;
    core = core_of(sim_current);
    cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    limit = core->watchdog_ms * 1000000u;
    watched = core->on_fiber && core->on_fault;
    if (sim_watchdog_labours(&core->watching, watched && sim_current->inside, sim_current->deadline,
                             cpu, limit)) {
        core->watching.laboured = sim_current->deadline; /* the next point looks */
        sim_current->fuel = 1;
    }
    verdict = sim_watchdog_tick(
        &core->watching, watched && (sim_current->inside || core->public.callout),
        sim_current->points, cpu, clock_ns(CLOCK_MONOTONIC), sleeps(), limit);
    if (verdict == SIM_WATCHDOG_FINE)
        return;
    memset(&core->watching, 0, sizeof(core->watching));
    memset(&core->fault, 0, sizeof(core->fault));
    core->fault.kind = verdict == SIM_WATCHDOG_SLEEPS ? SIM_FAULT_SLEEP : SIM_FAULT_HANG;
    land(core, data, false);
}

/* The kernel's structure: the C library's function would install its own restorer. */
struct kernel_action {
    void (*handler)(int signal, siginfo_t *info, void *data);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

#define HAS_RESTORER 0x04000000ul

_Static_assert(offsetof(ucontext_t, uc_link) == 8, "signal_return.S knows");
_Static_assert(offsetof(ucontext_t, uc_mcontext.gregs[REG_RDI]) == 104, "signal_return.S knows");
_Static_assert(offsetof(ucontext_t, uc_mcontext.gregs[REG_RSP]) == 160, "signal_return.S knows");
_Static_assert(offsetof(ucontext_t, uc_mcontext.gregs[REG_RIP]) == 168, "signal_return.S knows");
_Static_assert(offsetof(ucontext_t, uc_mcontext.fpregs) == 224, "signal_return.S knows");

/* NODEFER: a fault while reporting a fault must not deadlock, and the landing runs with the signal
 * unblocked. */
static void handle_faults(int signal)
{
    const struct kernel_action action = {.handler = on_signal,
                                         .flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER |
                                                  HAS_RESTORER,
                                         .restorer = sim_signal_return};

    syscall(SYS_rt_sigaction, signal, &action, NULL, sizeof(action.mask));
}

static bool is_ours(const struct sigaction *action,
                    void (*handler)(int signal, siginfo_t *info, void *data))
{
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == handler;
}

/* Called at every sim_enter: a test runner or an embedding program may have installed its own
 * handlers since. */
static void install(void)
{
    struct sigaction action, present;

    memset(&action, 0, sizeof(action));
    pthread_mutex_lock(&install_lock);
    sigaction(WATCHDOG_SIGNAL, NULL, &present);
    if (!is_ours(&present, on_watchdog))
        outer_watchdog = present;
    for (size_t i = 0; i < FAULT_SIGNALS; i++) {
        sigaction(fault_signals[i], NULL, &present);
        if (is_ours(&present, on_signal))
            continue;
        outer_action[i] = present;
        handle_faults(fault_signals[i]);
    }
    action.sa_sigaction = on_watchdog;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER;
    sigaction(WATCHDOG_SIGNAL, &action, NULL);
    pthread_mutex_unlock(&install_lock);
}

/* What somebody else has installed since stays. */
static void uninstall(void)
{
    struct sigaction present;

    for (size_t i = 0; i < FAULT_SIGNALS; i++) {
        sigaction(fault_signals[i], NULL, &present);
        if (is_ours(&present, on_signal))
            sigaction(fault_signals[i], &outer_action[i], NULL);
    }
    sigaction(WATCHDOG_SIGNAL, NULL, &present);
    if (is_ours(&present, on_watchdog))
        sigaction(WATCHDOG_SIGNAL, &outer_watchdog, NULL);
}

bool sim_signals_setup(struct sim_core *core)
{
    core->report.again = land_again;
    if (!sim_spare_setup(core))
        return false;
    core->signal_stack = util_map(NULL, SIGNAL_STACK_BYTES, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (core->signal_stack == MAP_FAILED) {
        core->signal_stack = NULL;
        sim_signals_teardown(core);
        return false;
    }
    pthread_mutex_lock(&install_lock);
    machines++;
    pthread_mutex_unlock(&install_lock);
    return true;
}

void sim_signals_teardown(struct sim_core *core)
{
    sim_spare_teardown(core);
    if (!core->signal_stack)
        return;
    util_unmap(core->signal_stack, SIGNAL_STACK_BYTES);
    pthread_mutex_lock(&install_lock);
    if (--machines == 0)
        uninstall();
    pthread_mutex_unlock(&install_lock);
}

static void arm_watchdog(struct sim_core *core)
{
    struct sigevent event;
    struct itimerspec tick = {.it_interval = {.tv_nsec = SIM_WATCHDOG_TICK_NS},
                              .it_value = {.tv_nsec = SIM_WATCHDOG_TICK_NS}};

    memset(&core->watching, 0, sizeof(core->watching));
    memset(&event, 0, sizeof(event));
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = WATCHDOG_SIGNAL;
    event._sigev_un._tid = (int)syscall(SYS_gettid);
    core->watchdog_armed = timer_create(CLOCK_MONOTONIC, &event, &core->watchdog) == 0;
    core->watching.error = core->watchdog_armed ? 0 : errno;
    if (core->watchdog_armed)
        timer_settime(core->watchdog, 0, &tick, NULL);
}

void sim_signals_enter(struct sim_core *core)
{
    stack_t stack = {.ss_sp = core->signal_stack, .ss_size = SIGNAL_STACK_BYTES};

    install();
    __atomic_add_fetch(&machines_entered, 1, __ATOMIC_RELAXED);
    sigaltstack(&stack, &core->outer_signal_stack);
    if (core->watchdog_ms)
        arm_watchdog(core);
}

/* Signal handlers and stacks are inherited, timers are not. */
void sim_signals_forked(struct sim_core *core)
{
    if (core->watchdog_ms)
        arm_watchdog(core);
}

void sim_signals_leave(struct sim_core *core)
{
    if (core->watchdog_armed)
        timer_delete(core->watchdog);
    core->watchdog_armed = false;
    __atomic_sub_fetch(&machines_entered, 1, __ATOMIC_RELAXED);
    sigaltstack(&core->outer_signal_stack, NULL);
}
