/* SPDX-License-Identifier: MIT */
#include "vidsch/priority.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "sim/wait.h"
#include "verify/refusal.h"
#include "vidsch/change.h"
#include "vidsch/client.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/hw_context.h"
#include "vidsch/node.h"
#include "vidsch/process.h"
#include "vidsch/ready.h"
#include "vidsch/scheduler.h"

uint32_t vidsch_priority_level(const struct vidsch_context *context)
{
    return (uint32_t)context->device->process->priority_class * VIDSCH_PRIORITIES +
           (uint32_t)(context->priority + VIDSCH_PRIORITY_LIMIT);
}

static void change_level(struct vidsch_context *context)
{
    bool ready = context->state == CONTEXT_READY;

    if (ready)
        vidsch_ready_remove(context);
    vidsch_ready_release(context);
    context->level = vidsch_priority_level(context);
    if (ready)
        vidsch_ready_add(context);
}

INT vidsch_context_priority(const struct vidsch_context *context)
{
    return context->priority;
}

NTSTATUS vidsch_context_set_priority(struct vidsch_context *context, INT priority)
{
    NTSTATUS status = vidsch_device_check(context->device, false);

    if (!NT_SUCCESS(status))
        return status;
    if (priority < -VIDSCH_PRIORITY_LIMIT || priority > VIDSCH_PRIORITY_LIMIT)
        return refuse(STATUS_INVALID_PARAMETER, "SUBMIT-020", "priority %d, the limits are +-%d",
                      priority, VIDSCH_PRIORITY_LIMIT);
    context->priority = priority;
    change_level(context);
    vidsch_hw_context_tell(context); /* KMT-168 */
    return STATUS_SUCCESS;
}

/* ---- within a process ---- */

static void set_ahead(struct vidsch_context *context, bool ahead)
{
    context->device->process->ahead += ahead;
    context->device->process->ahead -= context->ahead;
    context->ahead = ahead;
}

void vidsch_priority_end(struct vidsch_context *context)
{
    if (context->ahead)
        set_ahead(context, false);
}

INT vidsch_context_in_process_priority(const struct vidsch_context *context)
{
    return context->ahead;
}

NTSTATUS vidsch_context_set_in_process_priority(struct vidsch_context *context, INT priority)
{
    NTSTATUS status = vidsch_device_check(context->device, false);

    if (!NT_SUCCESS(status))
        return status;
    if (priority != 0 && priority != 1)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-165",
                      "in-process priority %d is neither 0 nor 1", priority);
    set_ahead(context, priority == 1);
    vidsch_hw_context_tell(context);
    return STATUS_SUCCESS;
}

/* ---- of a process ---- */

void vidsch_priority_begin(struct vidsch_context *context)
{
    const struct vidsch_process *process = context->device->process;
    D3DKMT_SCHEDULINGPRIORITYCLASS told;

    do {
        told = process->priority_class;
        vidsch_hw_context_tell(context);
    } while (told != process->priority_class && !sim_current->stopped);
    if (!context->device->system)
        change_level(context);
}

/* Hardware queues have the priority of their context, and some companions are the host's alone. */
static bool is_told_of(const struct vidsch_context *context)
{
    return context->node->hw.on && !context->hw_queue && !context->hosts_own;
}

static bool change_class(struct vidsch *vidsch, uint32_t process,
                         D3DKMT_SCHEDULINGPRIORITYCLASS priority_class)
{
    bool changed = false;

    LIST_FOR(link, &vidsch->processes) {
        struct vidsch_process *record = CONTAINER(link, struct vidsch_process, link);

        if (record->id == process && record->priority_class != priority_class) {
            record->priority_class = priority_class;
            changed = true;
        }
    }
    LIST_FOR(d, &vidsch->devices) {
        struct vidsch_device *device = CONTAINER(d, struct vidsch_device, link);

        if (!changed || device->process->id != process)
            continue;
        LIST_FOR(c, &device->contexts) {
            struct vidsch_context *context = CONTAINER(c, struct vidsch_context, link);

            change_level(context);
            context->untold = is_told_of(context);
        }
    }
    return changed;
}

static struct vidsch_context *untold(void)
{
    for (struct vidsch *vidsch = vidsch_first(); vidsch; vidsch = vidsch->next) {
        LIST_FOR(d, &vidsch->devices) {
            LIST_FOR(c, &CONTAINER(d, struct vidsch_device, link)->contexts) {
                struct vidsch_context *context = CONTAINER(c, struct vidsch_context, link);

                if (context->untold && !context->being_told && !context->dying)
                    return context;
            }
        }
    }
    return NULL;
}

void vidsch_set_process_class(uint32_t process, D3DKMT_SCHEDULINGPRIORITYCLASS priority_class)
{
    struct vidsch_context *context;
    bool changed = false;

    sim_assert_passive();
    for (struct vidsch *vidsch = vidsch_first(); vidsch; vidsch = vidsch->next)
        changed |= change_class(vidsch, process, priority_class);
    while (changed && (context = untold()) != NULL) { /* KMT-168 */
        struct vidsch *vidsch = context->device->vidsch;

        context->untold = false;
        context->being_told = true;
        vidsch_hw_context_tell(context);
        context->being_told = false;
        vidsch_change_announce(&vidsch->change);
    }
}

void vidsch_priority_await_told(const struct vidsch_context *context)
{
    while (context->being_told && !sim_current->stopped)
        vidsch_change_wait(context->device->vidsch, SIM_FOREVER);
}
