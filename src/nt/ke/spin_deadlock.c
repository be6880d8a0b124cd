/* SPDX-License-Identifier: MIT */
/* Processors that wait for each other's spin locks. */
#include "nt/ke/spin_deadlock.h"
#include "nt/base/nt_report.h"
#include "nt/base/state.h"
#include "nt/ke/processor.h"
#include "nt/ke/wait_report.h"
#include "sim/machine.h"
#include "sim/stack.h"
#include "sim/thread.h"
#include "verify/verify.h"

static void describe_processor(struct nt_wait_report *report, unsigned index,
                               const volatile void *wanted)
{
    const struct nt_processor *processor = &nt_state()->processors->each[index];
    const struct sim_thread *thread = sim_processor_thread(index);
    char stack[512] = "no driver";
    uintptr_t pc[NT_WAIT_REPORT_DEPTH];
    size_t count = sim_processor_stack(index, pc, NT_WAIT_REPORT_DEPTH);

    nt_wait_report_line("processor %u (thread %s) waits for spin lock %u", index,
                        thread ? sim_thread_name(thread) : "idle",
                        nt_wait_report_number(report, wanted));
    nt_wait_report_stack(pc, count, stack, sizeof(stack));
    nt_wait_report_line("    %s", stack);
    for (uint32_t i = 0; i < processor->held_count; i++)
        nt_wait_report_line("    holds spin lock %u",
                            nt_wait_report_number(report, processor->held[i].lock));
}

bool nt_spin_deadlock_check(const volatile void *lock, const char *routine)
{
    struct nt *nt = nt_state();
    const volatile void *wanted = lock;
    struct nt_wait_report report = {.objects = 0};
    unsigned self = sim_current->processor, parties = 1;
    int at = nt_processor_holder(lock);

    if (verify_current && verify_bugcheck_state(verify_current)->happened)
        return false; /* the machine is stopping */
    while (at >= 0 && (unsigned)at != self && nt->processors->each[at].wanted &&
           parties < sim_current->processors) {
        wanted = nt->processors->each[at].wanted;
        at = nt_processor_holder(wanted);
        parties++;
    }
    if (at != (int)self || parties < 2)
        return false;
    describe_processor(&report, self, lock);
    for (at = nt_processor_holder(lock); (unsigned)at != self; at = nt_processor_holder(wanted)) {
        wanted = nt->processors->each[at].wanted;
        describe_processor(&report, (unsigned)at, wanted);
    }
    verify_fatal("THREAD-073", DRIVER_VERIFIER, 0x1001, (uintptr_t)lock, (uintptr_t)wanted, parties,
                 "%s: %u processors hold a spin lock each that the next one waits for", routine,
                 parties);
    return true;
}
