/* SPDX-License-Identifier: MIT */
/*
 * Faults and traps of simulated code. What the host's processor refuses to execute arrives as a
 * signal, and is offered to the handlers that upper rooms have set for the machine; if none takes
 * it, it is a fault of the driver.
 */
#ifndef DXGK_SIM_FAULT_H
#define DXGK_SIM_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copy from or to an address that may fault. False: it did; a part may have been copied. */
bool sim_copy_checked(void *to, const void *from, size_t bytes);

enum sim_fault_kind {
    SIM_FAULT_READ,
    SIM_FAULT_WRITE,
    SIM_FAULT_EXECUTE,
    SIM_FAULT_STACK,
    SIM_FAULT_INSTRUCTION,
    SIM_FAULT_PRIVILEGED, /* an instruction for kernel mode only, which is not emulated */
    SIM_FAULT_ARITHMETIC,
    SIM_FAULT_ALIGNMENT,
    SIM_FAULT_BREAKPOINT, /* or a single step */
    SIM_FAULT_HANG,
    SIM_FAULT_SLEEP,
    SIM_FAULT_OVERDUE,
    SIM_FAULT_LABOUR
};

/* The processor's registers where it was interrupted. */
struct sim_registers {
    /* by their numbers in instruction encodings: rax, rcx, rdx, rbx, rsp, rbp, ... */
    uint64_t general[16];
    uint64_t flags;
    uint16_t code_segment, stack_segment;
    uint8_t floating[512]; /* in the format of FXSAVE */
};

/* Of the context of a signal (ucontext_t). */
void sim_registers_of(struct sim_registers *registers, const void *context);

struct sim_fault {
    enum sim_fault_kind kind;
    uintptr_t address; /* the address that was accessed */
    uintptr_t pc;
    uintptr_t sp;
    uintptr_t frame;
    /* exception vector of the processor: 0 division, 3 breakpoint, 6 invalid opcode, 14 page fault,
     * ... */
    uint8_t trap;
    /* on the stack of the handler; NULL: SIM_FAULT_OVERDUE, SIM_FAULT_LABOUR */
    const struct sim_registers *registers;
    uintptr_t stack_low, stack_high; /* of the stack that the code ran on, whatever `sp` says */
    /* The report of this fault has faulted itself, at this place and address; 0: it has not. */
    uintptr_t again_pc, again_address;
};

/* Sets the handler of faults. It is called on the faulting fiber's stack (a spare one for a stack
 * overflow), after the signal handler has returned, and must end with sim_stop(). NULL: faults are
 * the process's own. SIM_FAULT_HANG: a driver ran for watchdog_ms of processor time without
 * reaching a point; SIM_FAULT_SLEEP: it slept in the host's kernel for ten times that;
 * SIM_FAULT_OVERDUE: a call into a driver took more virtual time than its limit; SIM_FAULT_LABOUR:
 * three times watchdog_ms of processor time, while it reached points (NT-201). Faults of threads
 * that are not inside a driver (sim_inside_enter) stay the process's own, except those that the
 * handler of sim_on_process claims: these may end with sim_thread_exit. */
void sim_on_fault(void (*handler)(const struct sim_fault *fault));
/* The handler calls this when no driver's handler took the fault: what follows is the host's report
 * of it. A further fault, or a report that does not end within some seconds, is then one of the
 * report, and the handler is called once more with the first one, again_pc set, on a stack of its
 * own; it must then touch no more than it has to. If that fails as well, a fixed text goes to
 * stderr and the process ends by the signal. */
void sim_fault_report(const struct sim_fault *fault);
/* The report is complete, and driver code runs once more before the stop; faults are the driver's
 * again. */
void sim_fault_reported(void);
/* Call fn(arg) with enough stack for a report: on the current stack if there is room, else on the
 * spare one. */
_Noreturn void sim_fault_with_room(void (*fn)(const void *arg), const void *arg);

/* A signal raised by code on a fiber, as passed to the handler of sim_on_trap. */
struct sim_trap {
    void *context;            /* ucontext_t */
    int signal;               /* SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGTRAP */
    enum sim_fault_kind kind; /* how it will be reported; the handler may correct it */
    uintptr_t address;
    bool repeat; /* set by the handler: the code there was put right, and runs */
};
/* Sets a handler that is called first, inside the signal handler and on its stack. True: execution
 * continues at a landing routine of the handler's choice: at RIP of *context, on the stack RSP,
 * with RDI, and with the vector registers unchanged. Other registers and the flags are not
 * restored, which saves the system call at the end of a signal: the handler must save what the
 * landing routine is to restore. With `repeat`, it continues with all registers as *context has
 * them. False: a fault, of the kind and with the address that *trap then
 * has. The handler must be quick, and must not call anything that reaches a point; the landing
 * routine may. */
void sim_on_trap(bool (*handler)(struct sim_trap *trap));
/* Called in a signal handler when the int3 at this address has run: true, the code there was put
 * right, and runs. Before all other handlers. */
void sim_on_breakpoint(bool (*handler)(uintptr_t address));
/* Handlers for memory that belongs to a process. `changed`: a different process has become current
 * (sim_thread_process; an idle processor has none). It must be quick and must not block, and runs
 * on any stack. `denies`: an access of a client has faulted there, outside of any driver and of any
 * recovery mark; true: report it to the handler of sim_on_fault instead of leaving it to the
 * process. NULL: no handler. */
void sim_on_process(void (*changed)(void), bool (*denies)(const void *address));
/* Registers that a string instruction changes, in the context of a signal. */
struct sim_string {
    uint64_t *rip, *rcx, *rsi, *rdi;
    uint64_t rax;
};
/* What becomes of an access to memory that is guarded (nt/mm/race_guard.h). */
enum sim_guard {
    SIM_GUARD_NONE, /* it is not guarded: an ordinary fault */
    SIM_GUARD_STEP, /* it is open: repeat the instruction, and tell when it has run */
    SIM_GUARD_TRAP, /* for the handler of sim_on_trap */
    SIM_GUARD_DONE, /* the handler has carried out the instruction */
};
/* Handlers for that, called in a signal handler before all others; they must be quick. */
struct sim_guarding {
    /* `fetch`: it is of code, which runs there */
    enum sim_guard (*fault)(uintptr_t address, bool fetch, const struct sim_string *registers);
    bool (*stepped)(void); /* an instruction has run that was to be told; false: none was */
    /* one that was to be told has faulted, and is repeated, emulated, or left; false: none was */
    bool (*broken_off)(void);
    bool (*breakpoint)(uintptr_t address); /* of sim_on_breakpoint */
};
/* NULL: nothing is guarded. */
void sim_on_guard(const struct sim_guarding *guarding);
/* Handlers for memory that is accessible only below DISPATCH_LEVEL. `page`: an access has faulted
 * there; called in a signal handler before all other handlers. True: it is accessible now, and the
 * access is repeated. `raised`: the level has become DISPATCH or above, or a thread at such a level
 * has become current. It must be quick and must not block. NULL: no handler. */
void sim_on_paging(bool (*page)(uintptr_t address), void (*raised)(void));

#endif
