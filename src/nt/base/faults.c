/* SPDX-License-Identifier: MIT */
/* Injected failures of resource requests. */
#include "nt/base/faults.h"
#include "nt/base/state.h"
#include "sim/machine.h"
#include "util/alloc.h"

bool nt_faults_due(void)
{
    const struct nt_config *config = &nt_state()->config;

    return util_fault_point() ||
           (config->fail_percent != 0 && sim_random(100) < config->fail_percent);
}

/* Requests made meanwhile are not counted either: a test that fails the 1st, 2nd, ... request must
 * not mistake one of them for a run without failure. */
struct nt_faults nt_faults_off(void)
{
    struct util_heap *heap = util_heap_current;
    struct nt_faults faults = {0, 0};

    if (heap) {
        faults = (struct nt_faults){heap->fail_at, heap->requests};
        heap->fail_at = 0;
    }
    return faults;
}

void nt_faults_on(struct nt_faults faults)
{
    struct util_heap *heap = util_heap_current;

    if (heap) {
        heap->fail_at = faults.fail_at;
        heap->requests = faults.requests;
    }
}
