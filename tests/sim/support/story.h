/* SPDX-License-Identifier: MIT */
/* A machine for one case, whose body runs on a thread of it or beside it, and a story of what happened in which order. */
#ifndef DXGK_TESTS_SIM_STORY_H
#define DXGK_TESTS_SIM_STORY_H

#include "support/check_rule.h"

#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/thread.h"

#include <string.h>

static struct sim_machine *story_machine;

static inline void boot(unsigned processors)
{
    const struct sim_config config = {.seed = 5, .processors = processors};

    story_machine = sim_machine_create(&config);
    CHECK(story_machine);
    sim_enter(story_machine);
}

static inline int up(void)
{
    boot(1);
    return 0;
}

static inline int down(void)
{
    sim_leave();
    sim_machine_destroy(story_machine);
    return 0;
}

static void (*body_of_fiber)(void);

static inline void run_body(void *arg)
{
    bool *ended = arg;

    body_of_fiber();
    *ended = true;
}

/* The body is a kernel thread on the one processor. */
static inline void on_fiber(void (*body)(void))
{
    bool ended = false;

    test_set_up(up, down);
    body_of_fiber = body;
    sim_thread_release(sim_thread_create("body", SIM_THREAD_KERNEL, run_body, &ended));
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK);
    CHECK(ended);
}

#define RIG_ARGUMENT_fiber  void
#define RIG_RUN_fiber(body) on_fiber(body)
#define RIG_ARGUMENT_host   void
#define RIG_RUN_host(body) \
    test_set_up(up, down); \
    body()

/* What happened, in order. */
static char story[128];

static inline void tell(char c)
{
    size_t length = strlen(story);

    CHECK(length + 1 < sizeof(story));
    story[length] = c;
    story[length + 1] = '\0';
}

static inline void begin_story(void)
{
    story[0] = '\0';
}

static inline bool story_is(const char *expected)
{
    if (strcmp(story, expected) == 0)
        return true;
    print_error("%s instead of %s\n", story, expected);
    return false;
}

#endif
