/* SPDX-License-Identifier: MIT */
/* A node that hangs; hang.h says how it is used. */
#include "vidsch/support/hang.h"

struct hang hang_make(struct fixture *f)
{
    struct hang s = {.guilty = make_device(f), .innocent = make_device(f)};

    s.a = make_context(s.guilty, 1);
    s.b = make_context(s.innocent, 1);
    s.fence_a = make_fence(s.guilty, 0);
    s.fence_b = make_fence(s.innocent, 0);
    f->driver.engine[1].hang = true;
    f->driver.engine[1].ignores_preemption = true;
    submit(s.a, 0xA1, 16);
    pass(100000);
    submit(s.b, 0xB1, 16);
    pass(100000);
    vidsch_context_set_priority(s.b, -1); /* not a reason to preempt */
    submit(s.a, 0xA2, 16);
    signal_gpu(s.a, s.fence_a, 1);
    submit(s.b, 0xB2, 16);
    signal_gpu(s.b, s.fence_b, 1);
    pass(100000);
    return s;
}

void hang_end(struct fixture *f, struct hang *s)
{
    f->driver.engine[1].ignores_preemption = false;
    driver_run(f, 1);
    idle(s->guilty);
    idle(s->innocent);
    vidsch_device_destroy(s->guilty);
    vidsch_device_destroy(s->innocent);
}

uint32_t hang_when(const struct fixture *f, enum call_kind kind)
{
    const struct call *call = call_at(f, kind, 0);

    CHECK(call != NULL);
    return (uint32_t)(call - f->driver.calls);
}
