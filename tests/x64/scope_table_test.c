/* SPDX-License-Identifier: MIT */
/* The scopes of a C function: which filters and termination handlers are called, in which order, and what ends the search. */
#include "x64/support/rig.h"

#include "x64/exceptions/exception.h"
#include "x64/unwind/function_table.h"

#include <sys/mman.h>

#define BYTES  0x2000u
#define DATA   0x1000u /* offset of the number of scopes */
#define FRAME  0x123456789ABCDEF0ull
#define STUB   0x40u /* bytes of each routine of the image */
#define PLACES 8u

static uint8_t *base;
static struct x64_function_table image;
static EXCEPTION_RECORD record;
static CONTEXT context;
static struct x64_dispatcher_context dispatcher;
static LONG answers[PLACES];
static char story[32];
static bool right; /* each was called with what it should be */
static bool searching;

/* Routine `which` of the image. */
static LONG NTAPI called(const void *first, ULONG64 frame, ULONG64 which)
{
    const EXCEPTION_POINTERS *pointers = first;

    right &= frame == FRAME;
    if (searching)
        right &= pointers->ExceptionRecord == &record && pointers->ContextRecord == &context;
    else
        right &= ((uintptr_t)first & 0xFF) == TRUE;
    story[strlen(story)] = (char)('0' + which);
    if (!searching && dispatcher.ScopeIndex < 10)
        story[strlen(story)] = (char)('a' + dispatcher.ScopeIndex);
    return answers[which];
}

/* mov r8d, which; mov rax, called; jmp rax */
static void put_stub(unsigned which)
{
    LONG(NTAPI * routine)(const void *, ULONG64, ULONG64) = called;
    uint8_t code[] = {0x41, 0xB8, (uint8_t)which, 0,   0, 0, 0x48, 0xB8, 0, 0, 0, 0, 0, 0,
                      0,    0,    0xFF,           0xE0};

    memcpy(code + 8, &routine, 8);
    memcpy(base + which * STUB, code, sizeof(code));
}

static void begin_image(void)
{
    base = mmap(NULL, BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(base != MAP_FAILED);
    image = (struct x64_function_table){
        .name = "scopes.sys", .base = (uintptr_t)base, .image_bytes = BYTES};
    CHECK(x64_function_table_add(&image));
    for (unsigned i = 1; i < PLACES; i++)
        put_stub(i);
    memset(answers, 0, sizeof(answers));
    memset(&record, 0, sizeof(record));
    memset(&dispatcher, 0, sizeof(dispatcher));
    dispatcher.ImageBase = image.base;
    dispatcher.ControlPc = image.base + 0x500;
    dispatcher.HandlerData = image.base + DATA;
    searching = true;
}

static void end_image(void)
{
    x64_function_table_remove(&image);
    munmap(base, BYTES);
}

static void put_count(uint32_t count)
{
    memcpy(base + DATA, &count, 4);
}

static void put_scope(unsigned index, uint32_t begin, uint32_t end, uint32_t handler,
                      uint32_t target)
{
    const uint32_t scope[] = {begin, end, handler, target};

    memcpy(base + DATA + 4 + 16 * index, scope, sizeof(scope));
}

static EXCEPTION_DISPOSITION handle(void)
{
    memset(story, 0, sizeof(story));
    right = true;
    return x64_c_specific_handler(&record, FRAME, &context, &dispatcher);
}

/* The search goes on, after these were called. */
static bool passes(const char *expected)
{
    bool on = handle() == ExceptionContinueSearch;

    if (on && right && strcmp(story, expected) == 0)
        return true;
    print_error("%s instead of %s\n", story, expected);
    return false;
}

TEST_WITH(driver, filters_are_asked_from_inside_outwards)
{
    begin_image();
    put_count(4);
    put_scope(0, 0x500, 0x501, 3 * STUB, 0x700);
    put_scope(1, 0x400, 0x600, 1 * STUB, 0x700);
    put_scope(2, 0x501, 0x600, 2 * STUB, 0x700); /* begins behind */
    put_scope(3, 0x000, 0x500, 4 * STUB, 0x700); /* ends before */
    CHECK(passes("31"));
    put_scope(1, 0x400, 0x600, 1 * STUB, 0); /* a termination handler has no filter */
    CHECK(passes("3"));
    put_scope(1, 0x400, 0x600, 1 * STUB, 0x700);
    dispatcher.ScopeIndex = 1;
    CHECK(passes("1"));
    dispatcher.ScopeIndex = 4;
    CHECK(passes(""));
    dispatcher.ScopeIndex = 0;
    put_count(1);
    CHECK(passes("3"));
    put_count(0);
    CHECK(passes(""));
    end_image();
}

TEST_WITH(driver, a_filter_may_end_the_search)
{
    begin_image();
    put_count(2);
    put_scope(0, 0x400, 0x600, 1 * STUB, 0x700);
    put_scope(1, 0x400, 0x600, 2 * STUB, 0x700);
    answers[1] = -1;
    CHECK(handle() == ExceptionContinueExecution && right && strcmp(story, "1") == 0);
    answers[1] = INT32_MIN;
    CHECK(handle() == ExceptionContinueExecution);
    answers[1] = 0;
    answers[2] = -7;
    CHECK(handle() == ExceptionContinueExecution && strcmp(story, "12") == 0);
    end_image();
}

static void accept(void)
{
    begin_image();
    put_count(2);
    put_scope(0, 0x400, 0x600, 1 * STUB, 0x700);
    put_scope(1, 0x400, 0x600, 2 * STUB, 0x700);
    answers[1] = 1;
    (void)handle();
}

static void accept_always(void)
{
    begin_image();
    put_count(1);
    put_scope(0, 0x400, 0x600, 1, 0x700);
    (void)handle();
}

/* There is no frame of the image on this stack to which it could be unwound. */
TEST_WITH(machine, an_accepted_exception_needs_its_frame)
{
    CHECK(!rig_run(accept) && strcmp(story, "1") == 0);
    CHECK(verify_bugcheck_state(rig.log)->code == 0x1E &&
          verify_bugcheck_state(rig.log)->parameter[0] == 0xC0000029);
}

TEST_WITH(machine, one_that_is_always_accepted_has_no_filter)
{
    CHECK(!rig_run(accept_always) && strcmp(story, "") == 0);
    CHECK(verify_bugcheck_state(rig.log)->code == 0x1E &&
          verify_bugcheck_state(rig.log)->parameter[0] == 0xC0000029);
}

TEST_WITH(driver, scopes_that_lie_end_the_search)
{
    begin_image();
    put_count(3);
    put_scope(0, 0x400, 0x600, 1 * STUB, 0x700);
    put_scope(1, 0x400, 0x600, BYTES, 0x700); /* outside of the image */
    put_scope(2, 0x400, 0x600, 2 * STUB, 0x700);
    CHECK(passes("1"));
    put_scope(1, 0x400, 0x600, 3 * STUB, BYTES);
    CHECK(passes("1"));
    put_scope(1, 0x400, 0x600, 3 * STUB, BYTES - 1);
    CHECK(passes("132"));
    /* the table goes on behind the end */
    put_scope(1, 0x400, 0x600, 3 * STUB, 0x700);
    image.image_bytes = DATA + 4 + 2 * 16;
    CHECK(passes("13"));
    image.image_bytes--;
    CHECK(passes("1"));
    image.image_bytes = DATA + 4;
    CHECK(passes(""));
    image.image_bytes = DATA + 3;
    CHECK(passes(""));
    image.image_bytes = BYTES;
    dispatcher.ImageBase++; /* not where the image begins */
    CHECK(passes(""));
    dispatcher.ImageBase = 0;
    CHECK(passes(""));
    end_image();
}

TEST_WITH(driver, termination_handlers_run_when_their_frame_ends)
{
    begin_image();
    searching = false;
    put_count(4);
    put_scope(0, 0x400, 0x600, 1 * STUB, 0);
    put_scope(1, 0x400, 0x600, 2 * STUB, 0x700); /* a filter */
    put_scope(2, 0x300, 0x500, 3 * STUB, 0);     /* ends before */
    put_scope(3, 0x300, 0x501, 4 * STUB, 0);
    record.ExceptionFlags = X64_UNWINDING;
    dispatcher.TargetIp = image.base + 0x700;
    CHECK(passes("1b4e")); /* and the search goes on behind each */
    CHECK(dispatcher.ScopeIndex == 4);
    dispatcher.ScopeIndex = 1;
    CHECK(passes("4e"));
    dispatcher.ScopeIndex = 0;
    record.ExceptionFlags = X64_UNWINDING | X64_EXIT_UNWIND;
    CHECK(passes("1b4e"));
    end_image();
}

/* In the frame that is the target, only those that control leaves. */
TEST_WITH(driver, scopes_that_are_not_left_do_not_end)
{
    begin_image();
    searching = false;
    put_count(3);
    put_scope(0, 0x480, 0x520, 1 * STUB, 0);
    put_scope(1, 0x400, 0x600, 2 * STUB, 0);
    put_scope(2, 0x300, 0x800, 3 * STUB, 0);
    record.ExceptionFlags = X64_UNWINDING | X64_TARGET_UNWIND;
    dispatcher.TargetIp = image.base + 0x5FF;
    CHECK(passes("1b")); /* it stays in the second one */
    dispatcher.ScopeIndex = 0;
    dispatcher.TargetIp = image.base + 0x600;
    CHECK(passes("1b2c"));
    dispatcher.ScopeIndex = 0;
    dispatcher.TargetIp = image.base + 0x480;
    CHECK(passes(""));
    dispatcher.ScopeIndex = 0;
    dispatcher.TargetIp = image.base + 0x900;
    CHECK(passes("1b2c3d"));
    /* the handler of this scope is where it goes */
    dispatcher.ScopeIndex = 0;
    put_scope(1, 0x400, 0x600, 1, 0x900);
    CHECK(passes("1b"));
    /* a second part of the first scope has the same handler */
    dispatcher.ScopeIndex = 0;
    put_scope(1, 0x700, 0x710, 1 * STUB, 0);
    dispatcher.TargetIp = image.base + 0x708;
    CHECK(passes(""));
    dispatcher.ScopeIndex = 0;
    put_scope(1, 0x700, 0x710, 2 * STUB, 0); /* another one has not */
    CHECK(passes("1b"));
    /* not in the frame that is the target */
    dispatcher.ScopeIndex = 0;
    record.ExceptionFlags = X64_UNWINDING;
    CHECK(passes("1b3d"));
    end_image();
}
