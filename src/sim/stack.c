/* SPDX-License-Identifier: MIT */
/*
 * Return addresses on the stack of any fiber of the machine, for reports.
 *
 * A fiber that is not running walks its own stack: a question is stored for it and it is switched
 * to; on its way out of the switch (sim_answer) it finds the question, walks its stack and switches
 * back. It runs nothing else, and no state of the machine changes. This works only for a fiber that
 * was left through a switch that checks for questions.
 */
#include "sim/stack.h"

#include <unwind.h>

#include "sim/answer.h"
#include "sim/core.h"
#include "sim/spare.h"

struct sim_question {
    uintptr_t *pc;
    size_t capacity, count;
    struct fiber *asked, *asker;
};

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *arg)
{
    struct sim_question *question = arg;
    uintptr_t pc = (uintptr_t)_Unwind_GetIP(context);

    if (pc == 0 || question->count == question->capacity)
        return _URC_END_OF_STACK;
    question->pc[question->count++] = pc;
    return _URC_NO_REASON;
}

void sim_answer(struct sim_core *core)
{
    struct sim_question *question;

    while ((question = core->question) != NULL) {
        core->question = NULL;
        _Unwind_Backtrace(step, question);
        fiber_switch(question->asked, question->asker, false);
    }
}

/* The fiber that the host thread runs on. */
static struct fiber *current_fiber(struct sim_core *core)
{
    struct processor *p = current_processor(core);

    if (!core->on_fiber)
        return &core->host;
    return p->thread ? &p->thread->fiber : &p->idle;
}

static size_t ask(struct sim_core *core, struct fiber *fiber, uintptr_t *pc, size_t capacity)
{
    struct sim_question question = {.pc = pc, .capacity = capacity, .asked = fiber};

    question.asker = current_fiber(core);
    if (question.asker == fiber) {
        _Unwind_Backtrace(step, &question);
        return question.count;
    }
    core->question = &question; // cppcheck-suppress autoVariables ; it is answered before this returns
    fiber_switch(question.asker, fiber, false);
    return question.count;
}

size_t sim_thread_stack(struct sim_thread *thread, uintptr_t *pc, size_t capacity)
{
    if (!thread->started || thread->state == THREAD_ENDED)
        return 0;
    /* It may have stopped the machine, on another stack. */
    if (sim_current->stopped && thread->kind == SIM_THREAD_KERNEL && thread != sim_current->thread)
        return 0;
    return ask(core_of(sim_current), &thread->fiber, pc, capacity);
}

struct sim_thread *sim_processor_thread(unsigned processor)
{
    return core_of(sim_current)->processor[processor].thread;
}

size_t sim_processor_stack(unsigned processor, uintptr_t *pc, size_t capacity)
{
    struct sim_core *core = core_of(sim_current);
    struct processor *p = &core->processor[processor];

    if (p->thread)
        return sim_thread_stack(p->thread, pc, capacity);
    /* Only in the middle of a service routine or a deferred call does the idle fiber have anything
     * to report, and was it left through a switch that checks for questions. */
    if (p->interrupt_depth == 0 && p->dpc_depth == 0)
        return 0;
    return ask(core, &p->idle, pc, capacity);
}

void sim_stack_bounds_at(uintptr_t sp, uintptr_t *low, uintptr_t *high)
{
    struct sim_span stack = sim_span_of(core_of(sim_current), sp);

    *low = stack.low;
    *high = stack.high;
}

void sim_stack_bounds(uintptr_t *low, uintptr_t *high)
{
    sim_stack_bounds_at((uintptr_t)__builtin_frame_address(0), low, high);
}
