/* SPDX-License-Identifier: MIT */
/* Machines and their threads: who they are, how they wait, and how a run ends. */
#include "sim/support/story.h"

#include "sim/mutex.h"
#include "sim/point.h"
#include "sim/stack.h"
#include "sim/stop.h"
#include "sim/wait.h"
#include "util/list.h"

/* ---- machines ---- */

TEST(a_machine_has_one_to_so_many_processors)
{
    struct sim_config config = {.seed = 1, .processors = 0};

    CHECK(!sim_machine_create(&config));
    config.processors = SIM_MAX_PROCESSORS + 1;
    CHECK(!sim_machine_create(&config));
    config.processors = SIM_MAX_PROCESSORS;
    story_machine = sim_machine_create(&config);
    CHECK(story_machine && story_machine->processors == SIM_MAX_PROCESSORS &&
          story_machine->now == 0 && story_machine->processor == 0 &&
          story_machine->deadline == SIM_FOREVER && !story_machine->stopped &&
          !story_machine->thread);
    sim_enter(story_machine);
    CHECK(sim_current == story_machine);
    sim_machine_destroy(story_machine); /* leaves it, too */
    CHECK(!sim_current);
    sim_machine_destroy(NULL);
}

static void read_bounds(void *arg)
{
    uintptr_t *size = arg, low, high;

    sim_stack_bounds(&low, &high);
    *size = high - low;
    CHECK((uintptr_t)&low > low && (uintptr_t)&low < high);
}

TEST(stacks_have_the_size_that_was_asked_for)
{
    static const struct {
        size_t all, client, kernel_is, client_is;
    } sizes[] = {{100001, 0, 102400, 102400}, {131072, 200000, 131072, 200704}};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const struct sim_config config = {.seed = 1,
                                          .processors = 1,
                                          .stack_bytes = sizes[i].all,
                                          .client_stack_bytes = sizes[i].client};
        uintptr_t kernel = 0, client = 0;

        story_machine = sim_machine_create(&config);
        CHECK(story_machine);
        sim_enter(story_machine);
        sim_thread_release(sim_thread_create("k", SIM_THREAD_KERNEL, read_bounds, &kernel));
        sim_thread_release(sim_thread_create("c", SIM_THREAD_CLIENT, read_bounds, &client));
        CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK);
        CHECK(kernel == sizes[i].kernel_is && client == sizes[i].client_is);
        (void)down();
    }
}

/* ---- threads ---- */

static void nothing(void *arg)
{
    (void)arg;
}

static void exits(void *arg)
{
    (void)arg;
    tell('a');
    sim_thread_exit();
    tell('b');
}

static void tell_exit(void *arg)
{
    tell(*(const char *)arg);
}

TEST_WITH(host, threads_know_who_they_are)
{
    static const char last = 'z';
    struct sim_thread *a = sim_thread_create("first", SIM_THREAD_KERNEL, exits, NULL);
    struct sim_thread *b = sim_thread_create(
        "a name that is much too long for the record of a thread", SIM_THREAD_CLIENT, nothing, NULL);

    begin_story();
    CHECK(a && b && sim_thread_id(a) == 1 && sim_thread_id(b) == 2);
    CHECK(strcmp(sim_thread_name(a), "first") == 0);
    CHECK(strncmp(sim_thread_name(b), "a name that is much too long", 28) == 0 &&
          strlen(sim_thread_name(b)) == 31);
    CHECK(sim_thread_kind(a) == SIM_THREAD_KERNEL && sim_thread_kind(b) == SIM_THREAD_CLIENT);
    CHECK(sim_thread_after(NULL) == a && sim_thread_after(a) == b && !sim_thread_after(b));
    CHECK(!sim_thread_ended(a) && !sim_thread_blocked(a));
    sim_thread_on_exit(a, tell_exit, (void *)(uintptr_t)&last);
    sim_thread_retain(a);
    sim_thread_release(a);
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK);
    CHECK(story_is("az") && sim_thread_ended(a) && sim_thread_ended(b));
    CHECK(!sim_thread_after(NULL)); /* they are no longer in the machine, only known */
    sim_thread_release(a);
    sim_thread_release(b);
    sim_thread_release(NULL);
}

static uintptr_t pcs[64];

static void sleeps(void *arg)
{
    *(bool *)arg = sim_block(SIM_FOREVER, NULL) == SIM_WOKEN;
}

TEST_WITH(host, stacks_of_threads_that_wait_can_be_read)
{
    bool woken = false;
    struct sim_thread *thread = sim_thread_create("t", SIM_THREAD_KERNEL, sleeps, &woken);
    size_t count;

    CHECK(sim_thread_stack(thread, pcs, 64) == 0); /* it has not begun */
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK);
    CHECK(sim_thread_blocked(thread) && !sim_processor_thread(0));
    count = sim_thread_stack(thread, pcs, 64);
    CHECK(count >= 3 && count < 64);
    CHECK(sim_thread_stack(thread, pcs, 2) == 2 && sim_thread_stack(thread, pcs, 0) == 0);
    CHECK(sim_processor_stack(0, pcs, 64) == 0);
    CHECK(sim_unblock(thread, 0) && !sim_unblock(thread, 0) && !sim_thread_blocked(thread));
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK);
    CHECK(woken && sim_thread_ended(thread) && sim_thread_stack(thread, pcs, 64) == 0);
    sim_thread_release(thread);
}

/* ---- waiting ---- */

static struct sim_waitq queue;
static unsigned timed_out;

static void waits(void *arg)
{
    uint64_t *deadline = arg;

    if (sim_waitq_wait(&queue, *deadline) == SIM_TIMED_OUT)
        timed_out++;
    else
        tell((char)('0' + sim_thread_id(sim_current->thread)));
}

TEST_WITH(host, a_queue_wakes_as_many_as_are_asked_for)
{
    static uint64_t never = SIM_FOREVER, soon = 1000;

    begin_story();
    timed_out = 0;
    sim_waitq_init(&queue);
    CHECK(sim_waitq_wake(&queue, 3) == 0);
    for (unsigned i = 0; i < 4; i++)
        sim_thread_release(sim_thread_create("w", SIM_THREAD_KERNEL, waits, &never));
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK && story_is(""));
    CHECK(sim_waitq_wake(&queue, 0) == 0 && sim_waitq_wake(&queue, 1) == 1);
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK && strlen(story) == 1);
    CHECK(sim_waitq_wake(&queue, 2) == 2);
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK && strlen(story) == 3);
    CHECK(sim_waitq_wake(&queue, 9) == 1 && list_empty(&queue.waiters));
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK && strlen(story) == 4);
    /* who gives up is in the queue no longer */
    sim_thread_release(sim_thread_create("w", SIM_THREAD_KERNEL, waits, &soon));
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK);
    CHECK(timed_out == 1 && list_empty(&queue.waiters) && sim_waitq_wake(&queue, 1) == 0);
}

static struct sim_mutex mutex;

static void locks(void *arg)
{
    (void)arg;
    CHECK(!sim_mutex_try(&mutex));
    sim_mutex_lock(&mutex);
    CHECK(mutex.owner == sim_current->thread);
    tell('l');
    sim_mutex_unlock(&mutex);
}

TEST_WITH(host, a_lock_is_handed_over_in_the_order_of_arrival)
{
    begin_story();
    sim_mutex_init(&mutex);
    CHECK(sim_mutex_try(&mutex) && !sim_mutex_try(&mutex));
    sim_thread_release(sim_thread_create("l", SIM_THREAD_KERNEL, locks, NULL));
    sim_thread_release(sim_thread_create("l", SIM_THREAD_KERNEL, locks, NULL));
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK && story_is(""));
    sim_mutex_unlock(&mutex);
    CHECK(mutex.owner && !sim_mutex_try(&mutex)); /* the first has it, though it has not run */
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK && story_is("ll") && !mutex.owner);
    sim_mutex_lock(&mutex);
    sim_mutex_unlock(&mutex);
    CHECK(!mutex.owner);
}

/* Nobody can take over a lock in a machine that is stopped. */
TEST_WITH(host, a_lock_of_a_stopped_machine_is_free)
{
    begin_story();
    sim_mutex_init(&mutex);
    CHECK(sim_mutex_try(&mutex));
    sim_thread_release(sim_thread_create("l", SIM_THREAD_KERNEL, locks, NULL));
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK);
    sim_stop();
    sim_mutex_unlock(&mutex);
    CHECK(!mutex.owner && story_machine->stopped);
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_STOPPED && story_is(""));
}

static intptr_t got;

static void gets(void *arg)
{
    (void)arg;
    CHECK(sim_block(sim_now() + 5000, &got) == SIM_WOKEN);
    CHECK(sim_block(sim_now() + 5000, &got) == SIM_TIMED_OUT);
    tell('t');
}

TEST_WITH(host, a_wait_brings_what_it_was_woken_with)
{
    struct sim_thread *thread = sim_thread_create("g", SIM_THREAD_CLIENT, gets, NULL);

    begin_story();
    got = 1;
    CHECK(sim_run(NULL, NULL, 1000) == SIM_TIME_UP && sim_thread_blocked(thread));
    CHECK(sim_unblock(thread, -77));
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK && story_is("t"));
    CHECK(got == -77); /* the second one left it alone */
    sim_thread_release(thread);
}

/* ---- runs ---- */

static unsigned asked;

static bool at_once(void *arg)
{
    asked++;
    return arg == &asked;
}

static void run_inside(void *arg)
{
    (void)arg;
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK); /* not for fibers */
    tell('r');
    sim_interrupt(sim_current);
    sim_stall(1000);
    tell('s');
}

TEST_WITH(host, a_run_ends_for_the_first_of_its_reasons)
{
    begin_story();
    asked = 0;
    CHECK(sim_run(at_once, &asked, SIM_FOREVER) == SIM_DONE && asked == 1 && sim_now() == 0);
    CHECK(sim_run(NULL, NULL, 500) == SIM_DEADLOCK && sim_now() == 0);
    sim_thread_release(sim_thread_create("r", SIM_THREAD_KERNEL, run_inside, NULL));
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_INTERRUPTED && story_is("r"));
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_INTERRUPTED); /* and again */
    story_machine->interrupted = false;
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK && story_is("rs"));
}
