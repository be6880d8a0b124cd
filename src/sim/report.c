/* SPDX-License-Identifier: MIT */
/*
 * The end of a fault: the call of its handler, and a stop. The handler runs in the host as it was
 * when the fault happened: the stack may be overwritten, and so may anything else, and a lock of
 * the C library may be held. So the report is watched: a fault in it gives it one more attempt, and
 * a clock ends what does not end.
 */
#include "sim/report.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sim/core.h"
#include "sim/callout.h"
#include "sim/fault.h"
#include "sim/last_words.h"
#include "sim/spare.h"
#include "sim/stop.h"

#define CLOCK_SIGNAL (SIGRTMIN + 6)
#define QUIET_TICKS  3u            /* seconds without work; a report takes milliseconds */
#define LEAST_WORK   1000000ull    /* ns of processor time */
#define MOST_WORK    3000000000ull /* ns of processor time for all of it */
#define ROOM         (64u << 10)   /* of stack that a report may need */

_Noreturn void sim_report_fault(struct sim_core *core, const struct sim_fault *fault)
{
    if (core->public.callout && (fault->kind == SIM_FAULT_HANG || fault->kind == SIM_FAULT_SLEEP))
        sim_callout_hangs(core, fault->kind == SIM_FAULT_SLEEP);
    else
        core->on_fault(fault);
    sim_stop();
    abort(); /* a client thread without a recovery mark cannot continue */
}

_Noreturn void sim_raise_overdue(struct sim_core *core)
{
    struct sim_machine *m = &core->public;
    struct sim_fault fault = {.kind = m->deadline == core->watching.laboured && m->now <= m->deadline
                                          ? SIM_FAULT_LABOUR
                                          : SIM_FAULT_OVERDUE,
                              .pc = (uintptr_t)__builtin_return_address(0),
                              .frame = (uintptr_t)__builtin_frame_address(0)};
    struct sim_span stack;

    core->watching.laboured = 0;
    fault.sp = fault.frame;
    stack = sim_span_of(core, fault.sp);
    fault.stack_low = stack.low;
    fault.stack_high = stack.high;
    if (!core->on_fault) {
        sim_stop();
        abort();
    }
    sim_report_fault(core, &fault);
}

/* ---- the clock ---- */

static uint64_t work_done(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Either it works for ever, or it waits for what never comes, such as a lock that it holds. */
static void on_clock(int signal, siginfo_t *info, void *context)
{
    struct sim_core *core = sim_current ? core_of(sim_current) : NULL;
    uint64_t work = work_done();

    (void)signal;
    (void)info;
    if (!core || !core->report.timed)
        return;
    core->report.ticks = work - core->report.work < LEAST_WORK ? core->report.ticks + 1 : 0;
    core->report.work = work;
    if (core->report.ticks < QUIET_TICKS && work - core->report.start < MOST_WORK)
        return;
    core->report.ticks = 0;
    core->report.start = work;
    sim_last_words("the report of a fault does not end; the fault was", core->report.fault.pc,
                   core->report.fault.address);
    core->report.again(core, SIGSEGV, 0, context);
}

/* Without the C library's timer_create, which may allocate. */
static void start_clock(struct sim_core *core)
{
    struct sigaction action = {.sa_sigaction = on_clock,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    struct itimerspec tick = {.it_interval = {.tv_sec = 1}, .it_value = {.tv_sec = 1}};
    struct sigevent event;

    if (core->report.timed)
        return;
    memset(&event, 0, sizeof(event));
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = CLOCK_SIGNAL;
    event._sigev_un._tid = (int)syscall(SYS_gettid);
    sigaction(CLOCK_SIGNAL, &action, NULL);
    core->report.ticks = 0;
    core->report.start = core->report.work = work_done();
    if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &core->report.timer) != 0)
        return;
    core->report.timed = true;
    syscall(SYS_timer_settime, core->report.timer, 0, &tick, NULL);
}

static void stop_clock(struct sim_core *core)
{
    if (!core->report.timed)
        return;
    core->report.timed = false;
    syscall(SYS_timer_delete, core->report.timer);
}

/* ---- its stages ---- */

void sim_fault_report(const struct sim_fault *fault)
{
    struct sim_core *core = core_of(sim_current);

    if (core->report.stage != SIM_NOT_REPORTING)
        return;
    core->report.fault = *fault;
    if (fault->registers) {
        core->report.registers = *fault->registers;
        core->report.fault.registers = &core->report.registers;
    }
    core->report.stage = SIM_REPORTING;
}

void sim_fault_reported(void)
{
    struct sim_core *core = core_of(sim_current);

    core->report.stage = SIM_NOT_REPORTING;
    stop_clock(core);
}

static _Noreturn void call_on(uintptr_t top, void (*fn)(const void *arg), const void *arg)
{
    __asm__ volatile("movq %0, %%rsp\n\t"
                     "xorl %%ebp, %%ebp\n\t"
                     "pushq $0\n\t" /* in place of a return address */
                     "jmpq *%1"
                     :
                     : "r"(top & ~(uintptr_t)15), "r"(fn), "D"(arg)
                     : "memory");
    __builtin_unreachable();
}

_Noreturn void sim_fault_with_room(void (*fn)(const void *arg), const void *arg)
{
    struct sim_core *core = core_of(sim_current);
    uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
    struct sim_span stack = sim_span_of(core, sp);

    start_clock(core);
    if (sp > stack.high || sp < stack.low + ROOM) {
        if (stack.low != sim_spare(core).low && stack.low != sim_spare_last(core).low)
            call_on(sim_spare(core).high, fn, arg);
    }
    fn(arg);
    sim_stop();
    abort();
}
