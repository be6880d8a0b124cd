/* SPDX-License-Identifier: MIT */
/* Preemption at function boundaries: only under stress, and the same at the same seed. */
#include "support/check_rule.h"

#include "sim/inside.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "sim/sim.h"
#include "sim/thread.h"

#define SEEDS 20u

/* What a compiler calls in a driver built with -finstrument-functions. */
void __cyg_profile_func_enter(void *function, void *caller); // NOLINT
void __cyg_profile_func_exit(void *function, void *caller);  // NOLINT

static volatile unsigned others_work;
static unsigned disturbed;
static bool done;

/* A DDI of many small functions that calls nothing of the host. */
static void ddi(void *arg)
{
    uint64_t outer;

    (void)arg;
    for (unsigned call = 0; call < 10; call++) {
        unsigned before;

        sim_point();
        outer = sim_inside_enter(SIM_FOREVER);
        before = others_work;
        for (unsigned i = 0; i < 100; i++) {
            __cyg_profile_func_enter(NULL, NULL);
            __cyg_profile_func_exit(NULL, NULL);
        }
        disturbed += others_work != before;
        sim_inside_leave(outer);
    }
    done = true;
}

static void other(void *arg)
{
    (void)arg;
    while (!done) {
        others_work++;
        sim_point();
    }
}

static bool is_done(void *arg)
{
    (void)arg;
    return done;
}

/* How many of the calls saw the other thread work in their midst. */
static unsigned disturbances(uint64_t seed, bool stress)
{
    struct sim_config config = {.seed = seed, .processors = 2, .stress = stress};
    struct sim_machine *machine = sim_machine_create(&config);

    CHECK(machine);
    others_work = disturbed = 0;
    done = false;
    sim_enter(machine);
    sim_thread_release(sim_thread_create("ddi", SIM_THREAD_KERNEL, ddi, NULL));
    sim_thread_release(sim_thread_create("other", SIM_THREAD_KERNEL, other, NULL));
    CHECK(sim_run(is_done, NULL, SIM_FOREVER) == SIM_DONE);
    sim_leave();
    sim_machine_destroy(machine);
    return disturbed;
}

TEST(functions_are_points_only_under_stress)
{
    unsigned some = 0, different = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        unsigned under_stress = disturbances(seed, true);

        CHECK_RULE("THREAD-074/a", disturbances(seed, false) == 0);
        CHECK_RULE("THREAD-074/a", disturbances(seed, true) == under_stress);
        some += under_stress != 0;
        different += under_stress != disturbances(seed + 1, true);
    }
    CHECK_RULE("THREAD-074/a", some > SEEDS / 2 && different > 0);
}

TEST(outside_a_machine_they_are_nothing)
{
    __cyg_profile_func_enter(NULL, NULL);
    __cyg_profile_func_exit(NULL, NULL);
}
