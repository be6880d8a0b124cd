/* SPDX-License-Identifier: MIT */
#include "host/moment.h"
#include "dxgkhost/dxgkhost.h"
#include "host/enter.h"
#include "host/machine_record.h"
#include "sim/event.h"
#include "util/alloc.h"
#include "util/list.h"

#include <stdlib.h>

struct moment {
    struct list link;
    struct sim_event event;
    struct dxgk_machine *machine;
    void (*fn)(void *context);
    void *context;
};

/* What the function allocates is not the machine's. */
static void fire(struct sim_event *event)
{
    struct moment *moment = CONTAINER(event, struct moment, event);
    struct util_heap *heap = util_heap_current;

    util_heap_current = NULL;
    moment->machine->hooks++;
    moment->fn(moment->context);
    moment->machine->hooks--;
    util_heap_current = heap;
}

static void describe(const struct sim_event *event, char *text, size_t bytes)
{
    (void)event;
    (void)snprintf(text, bytes, "a look at the machine");
}

bool dxgk_machine_at(struct dxgk_machine *machine, uint64_t ns, void (*fn)(void *context),
                     void *context)
{
    struct moment *moment;
    bool entered, armed;

    if (!fn || !host_may_look(machine))
        return false;
    moment = calloc(1, sizeof(*moment));
    if (!moment)
        return false;
    moment->event.fire = fire;
    moment->event.describe = describe;
    moment->machine = machine;
    moment->fn = fn;
    moment->context = context;
    entered = host_enter(machine);
    armed = sim_event_arm(&moment->event, ns);
    host_leave(entered);
    list_push_back(&machine->moments, &moment->link);
    return armed; /* if not, it goes with the others */
}

void host_moments_free(struct dxgk_machine *machine)
{
    LIST_FOR_SAFE(node, following, &machine->moments)
        free(CONTAINER(node, struct moment, link));
}
