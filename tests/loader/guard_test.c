/* SPDX-License-Identifier: MIT */
/*
 * Frames with security cookies, and unwinding that a driver asks for itself: each scenario of tests/drivers/windows/guard.c, in an
 * image for Microsoft's environment whose handlers and handler data are laid out as that compiler does.
 */
#include "loader/support/machine.h"

#include "drivers/windows/guard.h"

struct fixture {
    struct machine machine;
    struct loader_image *image;
    struct guard_report report;
    bool returned;
};

/* False: there is no compiler for such images here. */
static bool play(struct fixture *f, enum guard_scenario scenario)
{
    const char *path = windows_driver("msvc", "guard");
    NTSTATUS status = STATUS_UNSUCCESSFUL;

    if (!path)
        return false;
    memset(f, 0, sizeof(*f));
    machine_begin(&f->machine);
    if (!NT_SUCCESS(machine_load(&f->machine, path, &f->image)))
        fail_msg("%s", f->machine.error);
    f->report.scenario = scenario;
    f->returned = machine_try_entry(&f->machine, f->image, &f->report, &status);
    return true;
}

static void finish(struct fixture *f)
{
    loader_image_unload(f->image);
    machine_end(&f->machine);
}

static bool passed(const struct fixture *f, const char *events)
{
    char text[GUARD_EVENTS * 4 + 1] = "";

    for (unsigned i = 0; i < f->report.count; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u", i ? " " : "",
                 f->report.event[i]);
    if (strcmp(text, events) == 0)
        return true;
    print_error("events %s instead of %s\n", text, events);
    return false;
}

/* The driver came back, and nothing was reported. */
static bool fine(const struct fixture *f)
{
    return f->returned && verify_records(f->machine.log) == 0;
}

static bool stopped(const struct fixture *f, uint32_t code)
{
    const struct verify_bugcheck *state = verify_bugcheck_state(f->machine.log);

    return !f->returned && state->happened && state->code == code;
}

#define PLAY(f, scenario)                    \
    struct fixture fixture_, *f = &fixture_; \
    if (!play(f, scenario))                  \
    skip()

TEST(exception_passes_a_frame_with_a_cookie)
{
    static const enum guard_scenario scenario[] = {GUARD_PLAIN, GUARD_ALIGNED};

    for (size_t i = 0; i < 2; i++) {
        PLAY(f, scenario[i]);
        /* looked at, taken outside, looked at again, gone on */
        CHECK(fine(f) && passed(f, "11 1 12 4") && f->report.code == 0xC0000005);
        finish(f);
    }
}

TEST(overrun_is_found_before_a_filter_runs)
{
    static const struct {
        enum guard_scenario scenario;
        const char *events;
    } cases[] = {{GUARD_PLAIN_BROKEN, "11"}, {GUARD_ALIGNED_BROKEN, "11"}, {GUARD_SEH_BROKEN, "13"}};

    for (size_t i = 0; i < 3; i++) {
        PLAY(f, cases[i].scenario);
        CHECK(stopped(f, 0xF7) && passed(f, cases[i].events));
        finish(f);
    }
}

TEST(frame_with_a_cookie_takes_its_exception)
{
    PLAY(f, GUARD_SEH);
    CHECK(fine(f) && passed(f, "13 1 14") && f->report.value == 1);
    finish(f);
}

TEST(frame_with_a_cookie_runs_its_termination_handler)
{
    PLAY(f, GUARD_SEH_FINALLY);
    CHECK(fine(f) && passed(f, "13 1 14 2 4"));
    finish(f);
}

TEST(cookie_is_checked_at_return)
{
    {
        PLAY(f, GUARD_RETURN);
        CHECK(fine(f) && f->report.value == 780);
        finish(f);
    }
    {
        PLAY(f, GUARD_RETURN_BROKEN);
        CHECK(stopped(f, 0xF7));
        finish(f);
    }
}

TEST(local_unwind_runs_the_handlers_on_the_way)
{
    PLAY(f, GUARD_LOCAL_UNWIND);
    CHECK(fine(f) && passed(f, "2") && f->report.value == 5);
    finish(f);
}

TEST(language_handler_of_a_driver_unwinds)
{
    PLAY(f, GUARD_OWN_HANDLER);
    /* asked, then the handler between, then the target; registers are those of the frame, the value is in rax */
    CHECK(fine(f) && passed(f, "21 2 22") && f->report.value == 1077);
    CHECK(f->report.code == 0xC0000005);
    finish(f);
}

TEST(unwinding_to_no_frame_is_a_bug_check)
{
    PLAY(f, GUARD_NO_SUCH_FRAME);
    CHECK(stopped(f, 0x1E));
    CHECK(f->report.count >= 1 && f->report.event[0] == 21);
    finish(f);
}
