/* SPDX-License-Identifier: MIT */
/* What is left of a machine whose process has ended. */
#include "dxgkhost/recorder.h"
#include "host/machine.h"
#include "host/recorder.h"
#include "host/support/refgpu_client.h"
#include "verify/verify.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void break_rules(void *argument)
{
    (void)argument;
    dxgk_client_sleep(5000);
    VIOLATION("PATCH-017", "first");
    VIOLATION("PATCH-017", "first");
    VIOLATION("PATCH-018", "third");
}

static void break_and_abort(void *argument)
{
    break_rules(argument);
    abort();
}

static void break_and_exit(void *argument)
{
    break_rules(argument);
    exit(7);
}

static void break_and_leave(void *argument)
{
    break_rules(argument);
    _exit(9);
}

static int in_child(struct dxgk_recorder *recorder, void (*client)(void *argument))
{
    struct dxgk_machine_config config;
    pid_t child;
    int status = 0;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        struct dxgk_machine *machine;

        if (!dxgk_recorder_catch(recorder))
            _exit(1);
        dxgk_machine_config_init(&config);
        config.recorder = recorder;
        config.trace = true;
        machine = dxgk_machine_create(&config, NULL, 0);
        if (!machine)
            _exit(2);
        (void)dxgk_machine_run(machine, "ends", client, NULL);
        dxgk_recorder_release(recorder);
        dxgk_machine_destroy(machine);
        _exit(0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

static void check_records(const struct dxgk_recorder *recorder)
{
    struct dxgk_violation v;
    struct dxgk_place place;
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);

    CHECK(dxgk_recorder_violations(recorder) == 2);
    CHECK(dxgk_recorder_violation(recorder, 0, &v));
    CHECK(strcmp(v.rule, "PATCH-017") == 0 && strcmp(v.seen, "first") == 0 && v.count == 2);
    CHECK(strcmp(v.thread, "ends") == 0 && v.virtual_ns >= 5000);
    CHECK(dxgk_recorder_violation(recorder, 1, &v) && strcmp(v.rule, "PATCH-018") == 0);
    CHECK(!dxgk_recorder_violation(recorder, 2, &v));
    CHECK(dxgk_recorder_place(recorder, &place));
    CHECK(strcmp(place.thread, "ends") == 0 && strcmp(place.doing, "running the process ends") == 0);
    CHECK(place.virtual_ns >= 5000 && place.call[0] == '\0' && !place.in_driver && !place.stopped);
    CHECK(dxgk_recorder_write_trace(recorder, file) && fclose(file) == 0);
    CHECK(strstr(text, "traceEvents") != NULL);
    free(text);
    file = open_memstream(&text, &bytes);
    CHECK(dxgk_recorder_write_timeline(recorder, file) && fclose(file) == 0);
    CHECK(strstr(text, "<title>PATCH-017 at ") && strstr(text, "<title>PATCH-018 at "));
    free(text);
}

TEST(an_abort_is_recorded_with_its_place_and_stack)
{
    struct dxgk_recorder *recorder = dxgk_recorder_create();
    struct dxgk_ending ending;
    int status;

    CHECK(recorder && !dxgk_recorder_ending(recorder, &ending));
    status = in_child(recorder, break_and_abort);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    CHECK(dxgk_recorder_ending(recorder, &ending));
    CHECK(ending.signal == SIGABRT && !ending.exited && !ending.has_address && ending.pc);
    CHECK(ending.place[0] && ending.stack[0] && !ending.second);
    check_records(recorder);
    dxgk_recorder_destroy(recorder);
}

TEST(a_call_of_exit_is_recorded_with_its_status)
{
    struct dxgk_recorder *recorder = dxgk_recorder_create();
    struct dxgk_ending ending;
    int status = in_child(recorder, break_and_exit);

    CHECK(WIFEXITED(status) && WEXITSTATUS(status) != 0); /* whatever it asked for */
    CHECK(dxgk_recorder_ending(recorder, &ending));
    CHECK(ending.exited && ending.status == 7 && strcmp(ending.how, "exit") == 0);
    CHECK(ending.signal == 0);
    check_records(recorder);
    dxgk_recorder_destroy(recorder);
}

TEST(an_end_without_words_leaves_the_records)
{
    struct dxgk_recorder *recorder = dxgk_recorder_create();
    struct dxgk_ending ending;
    int status = in_child(recorder, break_and_leave);

    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 9);
    CHECK(!dxgk_recorder_ending(recorder, &ending));
    check_records(recorder);
    dxgk_recorder_destroy(recorder);
}

/* ---- other ends ---- */

static void leave_quickly(void *argument)
{
    break_rules(argument);
    quick_exit(5);
}

static void leave_the_thread(void *argument)
{
    break_rules(argument);
    pthread_exit(NULL);
}

static void touch_nothing(void *argument)
{
    break_rules(argument);
    *(volatile int *)(uintptr_t)0x18 = 1;
}

static void raise_a_fault(void *argument)
{
    break_rules(argument);
    (void)kill(getpid(), SIGBUS);
}

TEST(each_way_to_leave_is_recorded)
{
    static const struct {
        void (*client)(void *argument);
        const char *how;
    } ways[] = {{leave_quickly, "quick_exit"}, {leave_the_thread, "pthread_exit"}};

    for (unsigned i = 0; i < 2; i++) {
        struct dxgk_recorder *recorder = dxgk_recorder_create();
        struct dxgk_ending ending;
        int status = in_child(recorder, ways[i].client);

        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 70);
        CHECK(dxgk_recorder_ending(recorder, &ending));
        CHECK(ending.exited && ending.status == 0 && strcmp(ending.how, ways[i].how) == 0);
        CHECK(ending.signal == 0 && !ending.second && !ending.in_driver && !ending.has_address);
        check_records(recorder);
        dxgk_recorder_destroy(recorder);
    }
}

TEST(a_fault_is_recorded_with_its_address_and_a_raised_one_without)
{
    struct dxgk_recorder *recorder = dxgk_recorder_create();
    struct dxgk_ending ending;
    int status = in_child(recorder, touch_nothing);

    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    CHECK(dxgk_recorder_ending(recorder, &ending));
    CHECK(ending.signal == SIGSEGV && !ending.exited && ending.has_address);
    CHECK(ending.address == 0x18 && ending.pc && !ending.second && !ending.in_driver);
    CHECK(strstr(ending.place, "test_host+0x") || strstr(ending.place, "test_host!"));
    CHECK(ending.stack[0]);
    check_records(recorder);
    dxgk_recorder_destroy(recorder);
    recorder = dxgk_recorder_create();
    status = in_child(recorder, raise_a_fault);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    CHECK(dxgk_recorder_ending(recorder, &ending));
    CHECK(ending.signal == SIGBUS && !ending.has_address && ending.address == 0 && ending.pc);
    check_records(recorder);
    dxgk_recorder_destroy(recorder);
}

/* Before there is a machine. */
TEST(an_end_without_a_machine_is_recorded_too)
{
    for (unsigned way = 0; way < 2; way++) {
        struct dxgk_recorder *recorder = dxgk_recorder_create();
        struct dxgk_ending ending;
        struct dxgk_place place;
        int status = 0;
        pid_t child;

        fflush(NULL);
        child = fork();
        if (child == 0) {
            if (!dxgk_recorder_catch(recorder))
                _exit(1);
            if (way)
                abort();
            exit(3);
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
        CHECK(dxgk_recorder_ending(recorder, &ending));
        CHECK(way ? ending.signal == SIGABRT && ending.place[0]
                  : ending.exited && ending.status == 3 && strcmp(ending.how, "exit") == 0);
        CHECK(!ending.in_driver && ending.stack[0]);
        CHECK(!dxgk_recorder_place(recorder, &place));
        CHECK(!place.in_driver && place.thread[0] == '\0' && place.virtual_ns == 0);
        CHECK(dxgk_recorder_violations(recorder) == 0);
        dxgk_recorder_destroy(recorder);
    }
}

TEST(a_released_process_ends_as_it_wants)
{
    struct dxgk_recorder *recorder = dxgk_recorder_create();
    struct dxgk_ending ending;

    CHECK(in_child(recorder, break_rules) == 0);
    CHECK(!dxgk_recorder_ending(recorder, &ending));
    dxgk_recorder_destroy(recorder);
}

TEST(a_recorder_serves_one_machine_after_the_other)
{
    struct dxgk_recorder *recorder = dxgk_recorder_create();
    struct dxgk_machine_config config;
    struct dxgk_machine *machine;
    struct dxgk_place place;
    char error[128];

    CHECK(!dxgk_recorder_place(recorder, &place) && dxgk_recorder_violations(recorder) == 0);
    dxgk_machine_config_init(&config);
    config.recorder = recorder;
    for (unsigned i = 0; i < 3; i++) {
        machine = dxgk_machine_create(&config, error, sizeof(error));
        CHECK(machine && dxgk_recorder_violations(recorder) == 0);
        CHECK(dxgk_machine_run(machine, "breaks", break_rules, NULL) == DXGK_OK);
        CHECK(dxgk_recorder_violations(recorder) == 2);
        CHECK(!dxgk_machine_create(&config, error, sizeof(error)));
        CHECK(strstr(error, "recorder is in use"));
        dxgk_machine_destroy(machine);
        CHECK(dxgk_recorder_violations(recorder) == 2);
    }
    dxgk_recorder_destroy(recorder);
}

static void submit_some(void *argument)
{
    bool *done = argument;
    struct refgpu_builder b;
    struct memory commands;
    struct gpu g;

    if (!NT_SUCCESS(gpu_begin(&g)) || !NT_SUCCESS(gpu_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE,
                                                             REFGPU_IN_APERTURE, &commands)))
        return;
    refgpu_builder_init(&b, commands.cpu, 4096);
    refgpu_nop(&b);
    for (unsigned i = 0; i < 3; i++)
        if (!NT_SUCCESS(gpu_submit(g.copy, commands.va, refgpu_builder_bytes(&b))) ||
            !NT_SUCCESS(gpu_wait_idle(&g)))
            return;
    *done = true;
}

TEST(who_watches_sees_the_submissions)
{
    struct dxgk_recorder *recorder = dxgk_recorder_create();
    struct dxgk_statistics statistics = {.size = sizeof(statistics)};
    struct dxgk_machine_config config;
    struct dxgk_place place;
    struct machine m = {0};
    bool done = false;

    dxgk_machine_config_init(&config);
    config.recorder = recorder;
    machine_create(&m, &config);
    machine_add_refgpu(&m);
    CHECK(dxgk_recorder_place(recorder, &place) && place.submissions == 0);
    CHECK(dxgk_machine_run(m.dxgk, "submits", submit_some, &done) == DXGK_OK && done);
    dxgk_machine_statistics(m.dxgk, &statistics);
    CHECK(dxgk_recorder_place(recorder, &place));
    CHECK(place.submissions == statistics.submissions && place.submissions >= 3);
    dxgk_machine_destroy(m.dxgk);
    dxgk_recorder_destroy(recorder);
}

TEST(damaged_records_are_not_followed)
{
    struct dxgk_recorder *recorder = dxgk_recorder_create();
    struct dxgk_place place;

    recorder->sim = (const void *)(uintptr_t)0x1000;
    CHECK(!dxgk_recorder_place(recorder, &place));
    recorder->sim = (const void *)UINTPTR_MAX;
    CHECK(!dxgk_recorder_place(recorder, &place));
    dxgk_recorder_destroy(recorder);
}

/* ---- news and interrupts ---- */

struct told {
    unsigned count;
    char rule[2][16];
};

static void tell(void *context, const struct dxgk_violation *v)
{
    struct told *told = context;

    if (told->count < 2)
        snprintf(told->rule[told->count], sizeof(told->rule[0]), "%s", v->rule);
    told->count++;
}

TEST(each_broken_rule_is_told_once_when_it_happens)
{
    struct told told = {0};
    struct dxgk_machine_config config;
    struct dxgk_machine *machine;

    dxgk_machine_config_init(&config);
    config.violation = tell;
    config.log_context = &told;
    machine = dxgk_machine_create(&config, NULL, 0);
    CHECK(dxgk_machine_run(machine, "breaks", break_rules, NULL) == DXGK_OK);
    CHECK(told.count == 2 && strcmp(told.rule[0], "PATCH-017") == 0 &&
          strcmp(told.rule[1], "PATCH-018") == 0);
    dxgk_machine_destroy(machine);
}

static void interrupt_and_go_on(void *argument)
{
    dxgk_machine_interrupt(argument);
    for (;;)
        dxgk_client_sleep(1000);
}

TEST(an_interrupted_machine_comes_to_its_end)
{
    struct dxgk_machine_config config;
    struct dxgk_machine *machine;

    dxgk_machine_config_init(&config);
    machine = dxgk_machine_create(&config, NULL, 0);
    CHECK(dxgk_machine_run(machine, "endless", interrupt_and_go_on, machine) == DXGK_INTERRUPTED);
    CHECK(dxgk_machine_run(machine, "next", break_rules, NULL) == DXGK_INTERRUPTED);
    CHECK(dxgk_machine_shutdown(machine) == DXGK_INTERRUPTED);
    dxgk_machine_destroy(machine);
}
