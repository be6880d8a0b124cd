/* SPDX-License-Identifier: MIT */
/*
 * Faults and traps of simulated code: what the processor does not let through arrives as a signal,
 * is offered to the handlers that rooms above have set for the machine, and is a fault of the
 * driver otherwise.
 */
#ifndef DXGK_SIM_FAULT_H
#define DXGK_SIM_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copy with the address checked by trying: false if source or destination faults; a part may have
 * been copied then. */
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
    /* exception vector of the processor: 0 division, 3 breakpoint, 6 invalid opcode, 14 page fault,
     * ... */
    uint8_t trap;
    /* on the stack of the handler; NULL: SIM_FAULT_OVERDUE */
    const struct sim_registers *registers;
};

/* Called on the faulting fiber's stack (a spare one for a stack overflow), after the signal handler
 * has returned. Must end with sim_stop(). NULL: faults are the process's. SIM_FAULT_HANG: a driver
 * ran for watchdog_ms of host time without reaching a point; SIM_FAULT_OVERDUE: a call into a
 * driver took more virtual time than its limit. Faults of threads that are not inside a driver
 * (sim_inside_enter) stay the process's own, but for those that sim_on_process's handler claims:
 * these may end with sim_thread_exit. */
void sim_on_fault(void (*handler)(const struct sim_fault *fault));

/* A signal for code on a fiber, as the handler of sim_on_trap sees it. */
struct sim_trap {
    void *context;            /* ucontext_t */
    int signal;               /* SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGTRAP */
    enum sim_fault_kind kind; /* what it is reported as; the handler may know better */
    uintptr_t address;
};
/* Called inside the signal handler, on its stack, before anything else. True: execution goes on in
 * a landing of the handler's, at RIP of *context, on the stack RSP, with RDI, and with the vector
 * registers as they were; no other register nor the flags come back, which saves the system call at
 * the end of a signal: the handler must have kept what the landing is to restore. False: a fault,
 * of the kind and with the address that *trap has then. The handler must be quick, and must not
 * call anything that reaches a point; that is what the landing is for. */
void sim_on_trap(bool (*handler)(struct sim_trap *trap));
/* For memory that belongs to a process. `changed`: another process than before is current from now
 * on (sim_thread_process; an idle processor has none). Quick, without blocking, on any stack.
 * `denies`: an access of a client, outside of a driver and of every mark, has faulted there; true:
 * it is reported to sim_on_fault's handler, and not the process's own. NULL: nobody. */
void sim_on_process(void (*changed)(void), bool (*denies)(const void *address));
/* Memory that is there only below DISPATCH_LEVEL. `page`: of an access that faulted, before anybody
 * else is asked; true: it is there now, and the access is made again. In a signal handler.
 * `raised`: the level has become DISPATCH or above, or somebody who runs there is current. Quick,
 * and without blocking. NULL: nobody. */
void sim_on_paging(bool (*page)(uintptr_t address), void (*raised)(void));

#endif
