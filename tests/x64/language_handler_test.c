/* SPDX-License-Identifier: MIT */
/* Language handlers of an image that is made here: what they are told, what comes of each answer, and unwinding by the routines for
 * drivers. */
#include "x64/support/rig.h"

#include "x64/exceptions/exception.h"
#include "x64/unwind/context.h"
#include "x64/unwind/function_table.h"

#include <stdio.h>
#include <sys/mman.h>

#define BYTES   0x2000u
#define INNER   0x100u
#define OUTER   0x200u
#define HANDLER 0x300u
#define UNWIND  0x1000u
#define BACK    16u /* where a function goes on behind its call: from its begin */
#define LONGER  (EXCEPTION_MAXIMUM_PARAMETERS + 5)

static uint8_t *base;
static struct x64_function functions[2];
static struct x64_function_table image;
static void(NTAPI *action)(void); /* what the inner function calls */
static char story[256];
static EXCEPTION_RECORD given;
static ULONG64 inner_frame;
static uint64_t returned;

/* By turns: what the handler answers, or does. */
static int (*answer)(const EXCEPTION_RECORD *record, ULONG64 frame);

/* A handler that answers that an earlier search had come to the frame so many bytes above its own. */
static unsigned nested;

static void tell(const char *format, unsigned value)
{
    size_t used = strlen(story);

    snprintf(story + used, sizeof(story) - used, format, value);
}

static EXCEPTION_DISPOSITION NTAPI handle(EXCEPTION_RECORD *record, ULONG64 frame, CONTEXT *context,
                                          struct x64_dispatcher_context *dispatcher)
{
    const bool inner = dispatcher->FunctionEntry == &functions[0];

    CHECK(dispatcher->ImageBase == image.base && dispatcher->EstablisherFrame == frame && context);
    CHECK(inner || dispatcher->FunctionEntry == &functions[1]);
    CHECK(dispatcher->LanguageHandler == image.base + HANDLER &&
          dispatcher->HandlerData == image.base + UNWIND + 12);
    CHECK(dispatcher->ControlPc == image.base + (inner ? INNER : OUTER) + BACK);
    if (inner)
        inner_frame = frame;
    tell(inner ? "i%x" : "o%x", (unsigned)record->ExceptionFlags);
    tell(":%x ", (unsigned)record->ExceptionCode);
    if (nested && inner) {
        dispatcher->EstablisherFrame = frame + nested;
        return ExceptionNestedException;
    }
    return (EXCEPTION_DISPOSITION)answer(record, frame);
}

static void put_64(uint32_t at, uint64_t value)
{
    memcpy(base + at, &value, 8);
}

/* sub rsp, 40; mov rax, target; call rax; nop, behind which the epilogue begins; add rsp, 40; ret */
static void put_function(unsigned index, uint32_t at, uint64_t target)
{
    static const uint8_t head[] = {0x48, 0x83, 0xEC, 0x28, 0x48, 0xB8},
                         tail[] = {0xFF, 0xD0, 0x90, 0x48, 0x83, 0xC4, 0x28, 0xC3};

    memcpy(base + at, head, sizeof(head));
    put_64(at + 6, target);
    memcpy(base + at + 14, tail, sizeof(tail));
    functions[index] = (struct x64_function){at, at + 22, UNWIND};
}

static void NTAPI act(void)
{
    action();
}

static void begin_image(void)
{
    /* handlers of both kinds, a prologue of four bytes that allocates 40 bytes */
    static const uint8_t information[] = {1 | 3 << 3, 4, 1, 0, 4, 0x42, 0, 0};
    const uint32_t handler = HANDLER;
    const uint8_t jump[] = {0x48, 0xB8}, to_rax[] = {0xFF, 0xE0};

    base = mmap(NULL, BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(base != MAP_FAILED);
    put_function(0, INNER, (uintptr_t)act);
    put_function(1, OUTER, (uintptr_t)base + INNER);
    memcpy(base + HANDLER, jump, 2);
    put_64(HANDLER + 2, (uintptr_t)handle);
    memcpy(base + HANDLER + 10, to_rax, 2);
    memcpy(base + UNWIND, information, sizeof(information));
    memcpy(base + UNWIND + 8, &handler, 4);
    image = (struct x64_function_table){.name = "handlers.sys",
                                        .base = (uintptr_t)base,
                                        .image_bytes = BYTES,
                                        .function = functions,
                                        .count = 2};
    CHECK(x64_function_table_add(&image));
    story[0] = '\0';
    returned = 0;
}

static bool story_is(const char *expected)
{
    if (strcmp(story, expected) == 0)
        return true;
    print_error("%s instead of %s\n", story, expected);
    return false;
}

/* The outer function, up to its return. */
static void call_outer(void)
{
    struct rig_registers r = {.flags = 0x202};

    rig_call(&r, base + OUTER);
    returned = r.gpr[0];
}

#define ROUTINE(name, type) ((type)(uintptr_t)x64_routine_find(name))

static void NTAPI raise_status(void)
{
    ROUTINE("RtlRaiseStatus", void(NTAPI *)(NTSTATUS))((NTSTATUS)0xE0000123);
}

static void NTAPI raise_given(void)
{
    ROUTINE("RtlRaiseException", void(NTAPI *)(EXCEPTION_RECORD *))(&given);
}

static void NTAPI raise_nothing(void)
{
    ROUTINE("RtlRaiseException", void(NTAPI *)(EXCEPTION_RECORD *))(NULL);
}

static bool runs(void(NTAPI *what)(void), int (*how)(const EXCEPTION_RECORD *, ULONG64))
{
    bool ended;

    begin_image();
    action = what;
    answer = how;
    ended = rig_run(call_outer);
    return ended;
}

/* The bug check of an exception that nobody took. */
static bool stopped_with(uint32_t code)
{
    const struct verify_bugcheck *bug = verify_bugcheck_state(rig.log);

    if (bug->happened && bug->code == 0x1E && bug->parameter[0] == code)
        return true;
    print_error("bug check %x (%lx)\n", bug->code, (long)bug->parameter[0]);
    return false;
}

/* ---- searching ---- */

static int search_on(const EXCEPTION_RECORD *record, ULONG64 frame)
{
    (void)record, (void)frame;
    return ExceptionContinueSearch;
}

TEST_WITH(machine, each_frame_is_asked_from_inside_outwards)
{
    CHECK(!runs(raise_status, search_on) && story_is("i1:e0000123 o1:e0000123 "));
    CHECK_RULE("NT-002", stopped_with(0xE0000123));
    CHECK(verify_bugcheck_state(rig.log)->parameter[1] == image.base + INNER + BACK);
}

static int go_on(const EXCEPTION_RECORD *record, ULONG64 frame)
{
    (void)frame;
    CHECK(record->ExceptionAddress == (PVOID)(image.base + INNER + BACK));
    CHECK(record->NumberParameters == EXCEPTION_MAXIMUM_PARAMETERS &&
          record->ExceptionInformation[0] == 7 && record->ExceptionInformation[14] == 9);
    return ExceptionContinueExecution;
}

static void fill_given(void)
{
    given = (EXCEPTION_RECORD){
        .ExceptionCode = (NTSTATUS)0xE0000777, .ExceptionFlags = 0xFE, .NumberParameters = LONGER};
    given.ExceptionInformation[0] = 7;
    given.ExceptionInformation[EXCEPTION_MAXIMUM_PARAMETERS - 1] = 9;
}

TEST_WITH(machine, a_handler_may_continue_behind_the_raise)
{
    fill_given();
    CHECK(runs(raise_given, go_on) && story_is("i0:e0000777 ")); /* only one flag is the driver's */
    CHECK(!verify_bugcheck_state(rig.log)->happened);
}

TEST_WITH(machine, a_record_that_cannot_be_read_is_an_access_violation)
{
    CHECK(!runs(raise_nothing, search_on) && story_is("i0:c0000005 o0:c0000005 "));
    CHECK(stopped_with(0xC0000005));
}

static int continue_first(const EXCEPTION_RECORD *record, ULONG64 frame)
{
    (void)frame;
    if ((uint32_t)record->ExceptionCode == 0xC0000025)
        CHECK(record->ExceptionRecord &&
              (uint32_t)record->ExceptionRecord->ExceptionCode == 0xE0000123);
    return (uint32_t)record->ExceptionCode == 0xE0000123 ? ExceptionContinueExecution
                                                         : ExceptionContinueSearch;
}

TEST_WITH(machine, what_cannot_continue_raises_another_one)
{
    CHECK(!runs(raise_status, continue_first));
    CHECK(story_is("i1:e0000123 i1:c0000025 o1:c0000025 ") && stopped_with(0xC0000025));
}

static int nonsense_first(const EXCEPTION_RECORD *record, ULONG64 frame)
{
    (void)frame;
    return (uint32_t)record->ExceptionCode == 0xC0000026 ? ExceptionContinueSearch : 7;
}

TEST_WITH(machine, an_answer_that_is_none_raises_another_one)
{
    CHECK(!runs(raise_status, nonsense_first));
    CHECK(story_is("i1:e0000123 i1:c0000026 o1:c0000026 ") && stopped_with(0xC0000026));
}

/* Up to that frame, handlers are told that the exception is one within another. */
TEST_WITH(machine, a_nested_exception_is_told_up_to_its_frame)
{
    nested = 48; /* of the outer function */
    CHECK(!runs(raise_status, search_on) && story_is("i1:e0000123 o11:e0000123 "));
    nested = 0;
    CHECK(stopped_with(0xE0000123));
}

/* ---- unwinding ---- */

typedef void(NTAPI *unwind_fn)(ULONG64, ULONG64, const EXCEPTION_RECORD *, ULONG64);
typedef void(NTAPI *unwind_ex_fn)(ULONG64, ULONG64, const EXCEPTION_RECORD *, ULONG64, CONTEXT *,
                                  PVOID);
typedef void(NTAPI *local_unwind_fn)(ULONG64, ULONG64);

#define UNWINDING 2u

static bool is_outer(ULONG64 frame)
{
    return frame != inner_frame;
}

static int unwind_to_outer(const EXCEPTION_RECORD *record, ULONG64 frame)
{
    if (!(record->ExceptionFlags & UNWINDING) && is_outer(frame))
        ROUTINE("RtlUnwind", unwind_fn)(frame, image.base + OUTER + BACK, record, 0x5555);
    return ExceptionContinueSearch;
}

TEST_WITH(machine, unwinding_tells_the_frames_and_goes_on_in_the_target)
{
    CHECK(runs(raise_status, unwind_to_outer) && returned == 0x5555);
    CHECK(story_is("i1:e0000123 o1:e0000123 i3:e0000123 o23:e0000123 "));
}

static int unwind_without_record(const EXCEPTION_RECORD *record, ULONG64 frame)
{
    if (!(record->ExceptionFlags & UNWINDING) && is_outer(frame))
        ROUTINE("_local_unwind", local_unwind_fn)(frame, image.base + OUTER + BACK);
    return ExceptionContinueSearch;
}

TEST_WITH(machine, a_local_unwind_has_a_record_of_its_own)
{
    CHECK(runs(raise_status, unwind_without_record) && returned == 0);
    CHECK(story_is("i1:e0000123 o1:e0000123 i2:c0000027 o22:c0000027 "));
}

static int unwind_to_nowhere(const EXCEPTION_RECORD *record, ULONG64 frame)
{
    if (!(record->ExceptionFlags & UNWINDING) && is_outer(frame))
        ROUTINE("RtlUnwindEx", unwind_ex_fn)
    (frame + 8, image.base + OUTER + BACK, record, 0, NULL, NULL);
    return ExceptionContinueSearch;
}

TEST_WITH(machine, a_target_that_is_no_frame_is_a_bug_check)
{
    CHECK(!runs(raise_status, unwind_to_nowhere) && stopped_with(0xC0000029));
}

static int exit_unwind(const EXCEPTION_RECORD *record, ULONG64 frame)
{
    if (!(record->ExceptionFlags & UNWINDING) && is_outer(frame))
        ROUTINE("RtlUnwindEx", unwind_ex_fn)(0, 0, record, 0, NULL, NULL);
    return ExceptionContinueSearch;
}

TEST_WITH(machine, unwinding_of_all_frames_ends_in_a_bug_check)
{
    CHECK(!runs(raise_status, exit_unwind) && stopped_with(0xC0000029));
    CHECK(story_is("i1:e0000123 o1:e0000123 i7:e0000123 o7:e0000123 "));
}

static int answer_nonsense_while_unwinding(const EXCEPTION_RECORD *record, ULONG64 frame)
{
    if (record->ExceptionFlags & UNWINDING)
        return 7;
    return unwind_to_outer(record, frame);
}

TEST_WITH(machine, an_answer_that_is_none_ends_unwinding)
{
    CHECK(!runs(raise_status, answer_nonsense_while_unwinding) && stopped_with(0xC0000026));
    CHECK(story_is("i1:e0000123 o1:e0000123 i3:e0000123 "));
}

static int consolidate(const EXCEPTION_RECORD *record, ULONG64 frame)
{
    static EXCEPTION_RECORD own = {.ExceptionCode = (NTSTATUS)0x80000029};

    if (!(record->ExceptionFlags & UNWINDING))
        ROUTINE("RtlUnwindEx", unwind_ex_fn)(frame, image.base + INNER + BACK, &own, 0, NULL, NULL);
    return ExceptionContinueSearch;
}

TEST_WITH(machine, consolidation_is_not_for_drivers)
{
    CHECK(!runs(raise_status, consolidate) && stopped_with(0x80000029));
}

/* ---- looking at the stack ---- */

static PVOID trace[4];
static USHORT taken[4];
static ULONG hash;

static void NTAPI look_back(void)
{
    typedef USHORT(NTAPI * trace_fn)(ULONG, ULONG, PVOID *, ULONG *);
    const trace_fn look = ROUTINE("RtlCaptureStackBackTrace", trace_fn);

    memset(trace, 0, sizeof(trace));
    taken[0] = look(0, 4, trace, &hash);
    taken[1] = look(1, 4, trace + 2, NULL);
    taken[2] = look(0, 1, trace + 3, &hash);
    taken[3] = look(2, 4, trace + 3, NULL);
}

TEST_WITH(machine, return_addresses_of_the_driver_are_taken)
{
    CHECK(runs(look_back, search_on));
    CHECK(taken[0] == 2 && trace[0] == (PVOID)(image.base + INNER + BACK) &&
          trace[1] == (PVOID)(image.base + OUTER + BACK));
    CHECK(taken[1] == 1 && trace[2] == (PVOID)(image.base + OUTER + BACK));
    CHECK(taken[2] == 1 && trace[3] == (PVOID)(image.base + INNER + BACK) &&
          hash == (ULONG)(image.base + INNER + BACK));
    CHECK(taken[3] == 0);
}

static CONTEXT kept;
static volatile unsigned times;

static void NTAPI come_back(void)
{
    typedef void(NTAPI * capture_fn)(CONTEXT *);
    typedef void(NTAPI * restore_fn)(CONTEXT *, EXCEPTION_RECORD *);

    ROUTINE("RtlCaptureContext", capture_fn)(&kept);
    if (++times < 3)
        ROUTINE("RtlRestoreContext", restore_fn)(&kept, NULL);
}

TEST_WITH(machine, a_context_that_was_captured_is_restored)
{
    times = 0;
    CHECK(runs(come_back, search_on) && times == 3 && !verify_bugcheck_state(rig.log)->happened);
}
