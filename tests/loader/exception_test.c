/* SPDX-License-Identifier: MIT */
/*
 * Structured exceptions of drivers that a Microsoft-compatible compiler made: each scenario of tests/drivers/windows/seh.c, in
 * images for both targets that clang has.
 */
#include "drivers/windows/seh.h"
#include "loader/support/machine.h"
#include "nt/cm/registry.h"
#include "sim/irql.h"

#include <sys/mman.h>

static const char *const targets[] = {"clang", "msvc"};

/* An image, loaded, and memory for it. */
struct fixture {
    struct machine machine;
    struct loader_image *image;
    struct seh_report report;
    uint64_t memory[8];
    void *read_only;
    bool returned;
};

static void play(struct fixture *f, const char *path, enum seh_scenario scenario)
{
    NTSTATUS status = STATUS_UNSUCCESSFUL;

    memset(f, 0, sizeof(*f));
    machine_begin(&f->machine);
    CHECK(nt_registry_set("\\Registry\\Machine\\Seh", NULL, 0, NULL, 0));
    if (!NT_SUCCESS(machine_load(&f->machine, path, &f->image)))
        fail_msg("%s", f->machine.error);
    f->memory[0] = 0x1122334455667788;
    f->read_only = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    f->report.scenario = scenario;
    f->report.memory = f->memory;
    f->report.read_only = f->read_only;
    f->returned = machine_try_entry(&f->machine, f->image, &f->report, &status);
    if (f->returned)
        CHECK(status == STATUS_SUCCESS && sim_irql() == SIM_IRQL_PASSIVE);
}

static void finish(struct fixture *f)
{
    munmap(f->read_only, 4096);
    loader_image_unload(f->image);
    machine_end(&f->machine);
}

/* Play a scenario with each image, and look at what it tells. */
#define PLAY(f, scenario)                                                                 \
    struct fixture fixture_, *f = &fixture_;                                              \
    unsigned played_ = 0;                                                                 \
    for (size_t t_ = 0; t_ < 2; t_++)                                                     \
        for (const char *path_ = windows_driver(targets[t_], "seh"); path_; path_ = NULL) \
            for (play(f, path_, scenario), played_++; f->image; finish(f), f->image = NULL)
#define PLAYED()      \
    if (played_ == 0) \
    skip()

static bool passed(const struct fixture *f, const char *events)
{
    char text[SEH_EVENTS * 4 + 1] = "";

    for (unsigned i = 0; i < f->report.count; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u", i ? " " : "",
                 f->report.event[i]);
    if (strcmp(text, events) == 0)
        return true;
    print_error("events %s instead of %s\n", text, events);
    return false;
}

static bool reported(const struct fixture *f, uint32_t code)
{
    const struct verify_bugcheck *state = verify_bugcheck_state(f->machine.log);

    if (state->happened != (code != 0) || state->code != code)
        print_error("bug check %#x instead of %#x; %s\n", state->code, code,
                    verify_records(f->machine.log) ? verify_record_at(f->machine.log, 0)->seen
                                                   : "nothing reported");
    return state->happened == (code != 0) && state->code == code;
}

/* The last report's stack. */
static bool stack_has(const struct fixture *f, const char *part)
{
    size_t count = verify_records(f->machine.log);
    const char *stack = count ? verify_record_at(f->machine.log, count - 1)->stack : NULL;

    if (stack && strstr(stack, part))
        return true;
    print_error("no %s in the stack:\n%s\n", part, stack ? stack : "none");
    return false;
}

static bool in_place(const struct fixture *f)
{
    const struct seh_report *r = &f->report;

    return r->place && r->address >= r->place && r->address < r->place + r->bytes;
}

/* The exception was taken as it should, with this code and so many parameters. */
static bool took(const struct fixture *f, uint32_t code, unsigned parameters)
{
    if (f->report.code != code)
        print_error("exception %#x instead of %#x\n", f->report.code, code);
    return f->returned && reported(f, 0) && passed(f, "1 3 4") && f->report.code == code &&
           f->report.value == code && f->report.parameters == parameters;
}

/* ---- faults ---- */

TEST(faults_of_memory_are_access_violations)
{
    {
        PLAY(f, SEH_READ)
        {
            CHECK(took(f, 0xC0000005, 2) && in_place(f) && f->report.flags == 0);
            CHECK(f->report.parameter[0] == 0 && f->report.parameter[1] == 0x1234);
        }
        PLAYED();
    }
    {PLAY(f, SEH_WRITE){CHECK(took(f, 0xC0000005, 2) && in_place(f));
    CHECK(f->report.parameter[0] == 1 && f->report.parameter[1] == 0x2344);
}
}
{PLAY(f, SEH_EXECUTE){CHECK(took(f, 0xC0000005, 2) && f->report.address == 0x20);
CHECK(f->report.parameter[0] == 8 && f->report.parameter[1] == 0x20);
}
}
{
    PLAY(f, SEH_NOT_CANONICAL)
    {
        CHECK(took(f, 0xC0000005, 2));
        CHECK(f->report.parameter[0] == 0 && f->report.parameter[1] == UINT64_MAX);
    }
}
}

TEST(divisions_tell_zero_from_overflow)
{
    {
        PLAY(f, SEH_DIVIDE)
        CHECK(took(f, 0xC0000094, 0) && in_place(f));
        PLAYED();
    }
    {
        PLAY(f, SEH_DIVIDE_BYTE)
        CHECK(took(f, 0xC0000094, 0));
    }
    {
        PLAY(f, SEH_OVERFLOW)
        CHECK(took(f, 0xC0000095, 0));
    }
}

TEST(instructions_have_their_codes)
{
    {
        PLAY(f, SEH_ILLEGAL)
        CHECK(took(f, 0xC000001D, 0) && f->report.address == f->report.place);
        PLAYED();
    }
    {
        PLAY(f, SEH_BREAKPOINT)
        CHECK_RULE("NT-167/c", f->returned && reported(f, 0) && passed(f, "1 50 2 4"));
    }
    {
        PLAY(f, SEH_FLOAT)
        CHECK(took(f, 0xC00002B4, 2));
    }
}

/* ---- raised by software ---- */

TEST(statuses_are_raised)
{
    {
        PLAY(f, SEH_STATUS)
        CHECK(took(f, 0xE0001234, 0) && in_place(f) && f->report.flags == 1);
        PLAYED();
    }
    {
        PLAY(f, SEH_EX_STATUS)
        CHECK(took(f, 0xE0001234, 0) && loader_image_contains(f->image, f->report.address));
    }
    {
        PLAY(f, SEH_ACCESS_VIOLATION)
        CHECK(took(f, 0xC0000005, 0));
    }
    {
        PLAY(f, SEH_MISALIGNMENT)
        CHECK(took(f, 0x80000002, 0));
    }
}

TEST(a_filter_continues_behind_the_raise)
{
    PLAY(f, SEH_EXCEPTION_CONTINUED)
    {
        CHECK(f->returned && reported(f, 0) && passed(f, "5 6"));
        CHECK(f->report.code == 0xE0001234 && f->report.parameters == 2);
        CHECK(f->report.parameter[0] == 11 && f->report.parameter[1] == 22);
    }
    PLAYED();
}

TEST(a_filter_repairs_a_register_and_continues)
{
    PLAY(f, SEH_REPAIRED)
    {
        CHECK(f->returned && reported(f, 0) && passed(f, "1 2 3"));
        CHECK(f->report.value == 0x1122334455667788 && f->report.parameter[1] == 0x40);
    }
    PLAYED();
}

TEST(what_cannot_continue_is_raised_on_top)
{
    PLAY(f, SEH_NOT_CONTINUABLE)
    CHECK(f->returned && reported(f, 0) && passed(f, "1 1 2 3") &&
          f->report.code == (uint32_t)STATUS_NONCONTINUABLE_EXCEPTION);
    PLAYED();
}

TEST(a_filter_dismisses)
{
    PLAY(f, SEH_DISMISSED)
    CHECK(f->returned && reported(f, 0) && passed(f, "1 2 3"));
    PLAYED();
}

/* ---- termination handlers ---- */

TEST(termination_handlers_run_from_inside_outwards)
{
    {
        PLAY(f, SEH_FINALLY_ORDER)
        CHECK(f->returned && reported(f, 0) && passed(f, "1 2 3 4 5") && f->report.value == 2);
        PLAYED();
    }
    {
        PLAY(f, SEH_FINALLY_NORMAL)
        CHECK(f->returned && passed(f, "1 2 3") && f->report.value == 0);
    }
}

TEST(guarded_code_may_be_left)
{
    {
        PLAY(f, SEH_LEAVE)
        CHECK(f->returned && passed(f, "1 2 3"));
        PLAYED();
    }
    {
        PLAY(f, SEH_RETURN)
        CHECK(f->returned && passed(f, "1 2") && f->report.value == 42);
    }
    {
        PLAY(f, SEH_GOTO)
        CHECK(f->returned && passed(f, "1 2 3"));
    }
}

/* ---- exceptions of handlers ---- */

TEST(a_filter_may_have_exceptions_of_its_own)
{
    {
        PLAY(f, SEH_NESTED_IN_FILTER)
        CHECK(f->returned && reported(f, 0) && passed(f, "1 2 3 4 5"));
        PLAYED();
    }
    {
        PLAY(f, SEH_ESCAPES_FILTER)
        CHECK(f->returned && reported(f, 0) && passed(f, "1 2 3 4 5 6") &&
              f->report.code == 0xC0000005);
    }
}

TEST(unwinding_collides)
{
    {
        PLAY(f, SEH_COLLIDED)
        CHECK(f->returned && reported(f, 0) && passed(f, "3 1 2 3 4 5") &&
              f->report.value == 0xE0005678);
        PLAYED();
    }
    {
        PLAY(f, SEH_COLLIDED_SAME_FUNCTION)
        CHECK(f->returned && reported(f, 0) && passed(f, "1 2 3 4 5") &&
              f->report.code == 0xE0005678);
    }
    {
        PLAY(f, SEH_RAISED_IN_HANDLER)
        CHECK(f->returned && reported(f, 0) && passed(f, "1 2 3 4") && f->report.code == 0xE0005678);
    }
}

/* ---- registers and frames ---- */

TEST(callers_keep_their_registers)
{
    PLAY(f, SEH_REGISTERS)
    CHECK(f->returned && passed(f, "1") && f->report.value == 0);
    PLAYED();
}

TEST(frames_may_be_deep_or_dynamic)
{
    {
        PLAY(f, SEH_DEEP)
        CHECK(f->returned && reported(f, 0) && passed(f, "1") && f->report.value == 20);
        PLAYED();
    }
    {
        PLAY(f, SEH_DYNAMIC_FRAME)
        CHECK(f->returned && reported(f, 0) && passed(f, "1 2") && f->report.value == 7);
    }
}

TEST(exceptions_leave_nothing_behind)
{
    PLAY(f, SEH_MANY)
    CHECK(f->returned && reported(f, 0) && passed(f, "1") && f->report.value == 5000);
    PLAYED();
}

/* ---- services ---- */

TEST(a_copy_raises_in_its_caller)
{
    {
        PLAY(f, SEH_COPY_FROM)
        {
            CHECK(took(f, 0xC0000005, 2));
            CHECK(f->report.parameter[0] == 0 && f->report.parameter[1] >= 0x3000 &&
                  f->report.parameter[1] < 0x3040);
        }
        PLAYED();
    }
    {
        PLAY(f, SEH_COPY_TO)
        {
            uint64_t page = (uintptr_t)f->read_only;

            CHECK(took(f, 0xC0000005, 2));
            CHECK(f->report.parameter[0] == 1 && f->report.parameter[1] >= page &&
                  f->report.parameter[1] < page + 64);
        }
    }
}

TEST(probes_raise)
{
    {
        PLAY(f, SEH_PROBE_READ)
        CHECK_RULE("NT-108/a", took(f, 0xC0000005, 0));
        PLAYED();
    }
    {
        PLAY(f, SEH_PROBE_MISALIGNED)
        CHECK_RULE("NT-108/b", took(f, 0x80000002, 0));
    }
    {
        PLAY(f, SEH_PROBE_WRITE)
        CHECK(took(f, 0xC0000005, 0));
    }
}

TEST(a_driver_looks_at_its_own_stack)
{
    {
        PLAY(f, SEH_BACK_TRACE)
        {
            char text[128];

            CHECK(f->returned && passed(f, "1") && f->report.value >= 2);
            f->report.address = f->report.parameter[0];
            CHECK(in_place(f));
            CHECK(loader_symbolize((uintptr_t)f->report.parameter[1], text, sizeof(text)));
        }
        PLAYED();
    }
    {
        PLAY(f, SEH_VIRTUAL_UNWIND)
        CHECK(f->returned && passed(f, "1 1") && in_place(f));
    }
}

/* ---- nobody takes it ---- */

TEST(what_nobody_takes_is_a_bug_check)
{
    {
        PLAY(f, SEH_UNHANDLED_READ)
        {
            const struct verify_bugcheck *bug = verify_bugcheck_state(f->machine.log);

            CHECK_RULE("NT-002", !f->returned && reported(f, 0x1E));
            CHECK(bug->parameter[0] == 0xC0000005 && bug->parameter[3] == 0x18);
            CHECK(loader_image_contains(f->image, (uintptr_t)bug->parameter[1]));
            CHECK(stack_has(f, "seh.sys!read_at+") && stack_has(f, "\nseh.sys!fault_now+") &&
                  stack_has(f, "\nseh.sys!DriverEntry+"));
        }
        PLAYED();
    }
    {
        PLAY(f, SEH_UNHANDLED_STATUS)
        CHECK_RULE("NT-002", !f->returned && reported(f, 0x1E) &&
                                 verify_bugcheck_state(f->machine.log)->parameter[0] == 0xE0001234);
    }
    {
        PLAY(f, SEH_UNHANDLED_IN_FINALLY)
        CHECK(!f->returned && reported(f, 0x1E) && passed(f, "1 2 1") &&
              verify_bugcheck_state(f->machine.log)->parameter[0] == 0xC0000005);
    }
    {
        PLAY(f, SEH_FILTER_FAULTS_FOR_EVER)
        CHECK(!f->returned && reported(f, 0x1E));
    }
}

TEST(some_faults_are_no_exceptions)
{
    {
        PLAY(f, SEH_KERNEL_ADDRESS)
        CHECK(!f->returned && reported(f, 0x50) && passed(f, "") &&
              verify_bugcheck_state(f->machine.log)->parameter[0] == 0xFFFFF88000001000);
        PLAYED();
    }
    {
        PLAY(f, SEH_RAISED_LEVEL)
        CHECK(!f->returned && reported(f, 0xD1) && passed(f, "") &&
              verify_bugcheck_state(f->machine.log)->parameter[1] == 2);
    }
    {
        PLAY(f, SEH_FAST_FAIL)
        CHECK(!f->returned && reported(f, 0x139) && passed(f, "") &&
              verify_bugcheck_state(f->machine.log)->parameter[0] == 2);
    }
}

TEST(exceptions_do_not_go_through_the_host)
{
    PLAY(f, SEH_THROUGH_HOST)
    {
        CHECK(!f->returned && reported(f, 0x1E) && passed(f, "1"));
        /* The stack goes on where the search for a handler ends. */
        CHECK(stack_has(f, "\nseh.sys!queried+") && stack_has(f, "\nseh.sys!through_host+"));
    }
    PLAYED();
}
