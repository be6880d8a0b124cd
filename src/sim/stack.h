/* SPDX-License-Identifier: MIT */
/* Stacks of threads and processors: their bounds, and the return addresses on them, for reports. */
#ifndef DXGK_SIM_STACK_H
#define DXGK_SIM_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "sim/machine.h"
#include "sim/thread.h"

/* The thread on that processor, which may be the current one; NULL: none. */
struct sim_thread *sim_processor_thread(unsigned processor);
/* Return addresses on the stack of a thread, or of whatever runs on a processor; innermost first,
 * as far as unwinding gets. Returns how many. Only the unwinder runs on that stack. */
size_t sim_thread_stack(struct sim_thread *thread, uintptr_t *pc, size_t capacity);
size_t sim_processor_stack(unsigned processor, uintptr_t *pc, size_t capacity);
/* Bounds of the current stack: that of the fiber, or a spare one during the report of a fault. */
void sim_stack_bounds(uintptr_t *low, uintptr_t *high);
/* The same of the stack that `sp` is on; the fiber's, if it is on none. */
void sim_stack_bounds_at(uintptr_t sp, uintptr_t *low, uintptr_t *high);
/* Memory for records of calls in progress on the current fiber, out of reach of what overwrites its
 * stack; as large as the stack, and followed by a guard page. */
static inline void *sim_stack_records(void)
{
    return sim_current->head->records;
}

#endif
