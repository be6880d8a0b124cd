/* SPDX-License-Identifier: MIT */
/* Running a routine on every processor at once (NT-162). */
#include <string.h>

#include "nt/base/export.h"
#include "nt/base/image.h"
#include "nt/base/state.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "sim/interrupt.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/order.h"
#include "sim/point.h"
#include "verify/verify.h"

/* On the caller's stack: no processor uses it any more when the call returns. */
struct broadcast {
    PKIPI_BROADCAST_WORKER routine;
    ULONG_PTR argument;
    struct nt_image *image; /* the image that the routine belongs to */
    volatile unsigned arrived, done;
    struct sim_interrupt line[SIM_MAX_PROCESSORS];
};

struct nt_ipi {
    bool broadcasting;
};

const struct nt_component nt_ipi_component = {
    .slot = offsetof(struct nt, ipi),
    .bytes = sizeof(struct nt_ipi),
};

static void wait_for(const volatile unsigned *count)
{
    while (*count < sim_current->processors && !sim_current->stopped)
        sim_spin();
}

static ULONG_PTR take_part(struct broadcast *broadcast)
{
    ULONG_PTR result;

    if (++broadcast->arrived == sim_current->processors)
        sim_order_barrier();
    wait_for(&broadcast->arrived); /* all processors start together */
    result = broadcast->routine(broadcast->argument);
    if (++broadcast->done == sim_current->processors)
        sim_order_barrier();
    return result;
}

static bool on_other(void *context, uint32_t message)
{
    struct broadcast *broadcast = context;
    struct nt_image *outer = nt_image_enter(broadcast->image);

    (void)message;
    (void)take_part(broadcast);
    nt_image_enter(outer);
    return true;
}

/* One broadcast at a time: a second caller waits at its own level, where it takes part in the
 * first. */
static void begin(struct nt *nt)
{
    while (nt->ipi->broadcasting && !sim_current->stopped)
        sim_spin();
    nt->ipi->broadcasting = true;
}

NT_EXPORT ULONG_PTR NTAPI KeIpiGenericCall(PKIPI_BROADCAST_WORKER BroadcastFunction,
                                           ULONG_PTR Context)
{
    struct nt *nt = nt_state();
    struct broadcast broadcast;
    ULONG_PTR result;
    uint8_t before;

    NT_ENTER();
    if (sim_irql() >= IPI_LEVEL) {
        VIOLATION("NT-162", "KeIpiGenericCall at %s", nt_irql_name(sim_irql()));
        return 0;
    }
    begin(nt);
    memset(&broadcast, 0, sizeof(broadcast));
    broadcast.routine = BroadcastFunction;
    broadcast.argument = Context;
    broadcast.image = nt_image_current();
    before = sim_raise_irql(IPI_LEVEL);
    for (unsigned i = 0; i < sim_current->processors; i++) {
        if (i == sim_current->processor)
            continue;
        sim_interrupt_connect(&broadcast.line[i], on_other, &broadcast, 0, IPI_LEVEL);
        sim_interrupt_send(&broadcast.line[i], i);
    }
    result = take_part(&broadcast);
    wait_for(&broadcast.done);
    for (unsigned i = 0; i < sim_current->processors; i++)
        if (i != sim_current->processor)
            sim_interrupt_disconnect(&broadcast.line[i]);
    nt->ipi->broadcasting = false;
    sim_lower_irql(before);
    return result;
}
