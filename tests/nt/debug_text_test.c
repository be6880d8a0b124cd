/* SPDX-License-Identifier: MIT */
/* What a driver prints, and what it hears of a bug check. */
#include "nt/base/nt_config.h"
#include "nt/io/image_life.h"
#include "sim/machine.h"
#include "support/harness.h"

/* ---- debug output ---- */

static void print_wide(void)
{
    DbgPrint("%ws", L"x");
}

static void check_debug_print(void)
{
    UNICODE_STRING string = unicode_text(L"counted");
    char longer[601];

    CHECK_RULE("NT-164/a", DbgPrint("%d %u %x %08X\n", -5, 5, 0xbeef, 0xCAFE) == STATUS_SUCCESS);
    assert_string_equal(h.line[0], "-5 5 beef 0000CAFE");
    DbgPrint("%I64x %lld %p %hx %ld\n", 0x123456789ABCDEF0ull, -1ll, (void *)(uintptr_t)0xAB,
             0x12345, 7);
    assert_string_equal(h.line[1], "123456789abcdef0 -1 00000000000000AB 2345 7");
    DbgPrint("[%s] [%5s] [%-5s] [%.2s] [%c]\n", "a", "b", "c", "def", 'g');
    assert_string_equal(h.line[2], "[a] [    b] [c    ] [de] [g]");
    DbgPrint("%ws %wZ %S\n", L"wide", &string, L"other");
    assert_string_equal(h.line[3], "wide counted other");
    DbgPrint("%*d|%-*d|%#x|%+d|%%\n", 4, 1, 4, 2, 255, 3);
    assert_string_equal(h.line[4], "   1|2   |0xff|+3|%");
    DbgPrint("no ");
    DbgPrintEx(DPFLTR_IHVVIDEO_ID, DPFLTR_ERROR_LEVEL, "break\n");
    assert_string_equal(h.line[5], "no break");
    CHECK_RULE("NT-164/a", errors() == 0);
    memset(longer, 'y', 600);
    longer[600] = '\0';
    DbgPrint("%s", longer);
    DbgPrint("\n");
    CHECK_RULE("NT-164/b", strlen(h.line[6]) == 512);
    in_dpc(print_wide);
    CHECK_RULE("NT-164/c", broken("NT-164"));
    forget_reports();
    DbgPrint("%f\n", 1.0);
    CHECK_RULE("NT-164/d", broken("NT-164"));
    forget_reports();
    DbgBreakPoint();
    CHECK_RULE("NT-167/a", broken("NT-167") && errors() == 0);
    forget_reports();
    DbgBreakPointWithStatus(5);
    CHECK_RULE("NT-167/a", broken("NT-167") && errors() == 0);
    forget_reports();
    RtlAssert((PVOID)(uintptr_t) "a == b", (PVOID)(uintptr_t) "file.c", 5, NULL);
    CHECK_RULE("NT-167/b", broken("NT-167") && errors() == 1);
    RtlAssert((PVOID)(uintptr_t) "KeGetCurrentIrql() <= APC_LEVEL", NULL, 5, NULL);
    CHECK_RULE("NT-077/b", broken("NT-077") && errors() == 2);
    forget_reports();
    CHECK_RULE("NT-165/a", DbgQueryDebugFilterState(DPFLTR_IHVVIDEO_ID, DPFLTR_INFO_LEVEL) == TRUE);
    CHECK(KdRefreshDebuggerNotPresent());
}

static ULONG NTAPI print_list(ULONG level, PCSTR format, ...)
{
    __builtin_ms_va_list arguments;
    ULONG status;

    __builtin_ms_va_start(arguments, format);
    status = vDbgPrintEx(DPFLTR_IHVVIDEO_ID, level, format, arguments);
    __builtin_ms_va_end(arguments);
    return status;
}

/* Nobody answers. */
static void check_prompt(void)
{
    char answer[4] = "abc";

    CHECK(DbgPrompt("who?\n", answer, sizeof(answer)) == 0 && answer[0] == '\0');
    CHECK_RULE("NT-164/a", h.lines == 1 && strcmp(h.line[0], "who?") == 0);
    CHECK(DbgPrompt(NULL, answer + 1, 0) == 0 && answer[1] == 'b');
    CHECK_RULE("NT-164/a", print_list(DPFLTR_INFO_LEVEL, "%d %s\n", 5, "x") == STATUS_SUCCESS);
    CHECK_RULE("NT-164/a", strcmp(h.line[1], "5 x") == 0);
}

static void check_filtered(void)
{
    CHECK_RULE("NT-165/b", DbgPrint("hidden\n") == STATUS_SUCCESS && h.lines == 0);
    DbgPrintEx(DPFLTR_IHVVIDEO_ID, DPFLTR_ERROR_LEVEL, "shown\n");
    CHECK_RULE("NT-165/c", h.lines == 1);
    CHECK_RULE("NT-165/b", print_list(DPFLTR_INFO_LEVEL, "hidden\n") == STATUS_SUCCESS);
    CHECK_RULE("NT-165/b", h.lines == 1);
    CHECK_RULE("NT-165/b", DbgQueryDebugFilterState(DPFLTR_IHVVIDEO_ID, DPFLTR_INFO_LEVEL) == FALSE);
    CHECK_RULE("NT-165/c", DbgQueryDebugFilterState(DPFLTR_IHVVIDEO_ID, DPFLTR_ERROR_LEVEL) == TRUE);
    CHECK_RULE("NT-165/d", DbgQueryDebugFilterState(DPFLTR_IHVVIDEO_ID, 1u << DPFLTR_ERROR_LEVEL |
                                                                            0x100) == FALSE + TRUE);
}

TEST_WITH(machine, debug_text_is_formatted)
{
    const struct nt_config config = {.debug_mask = 1u << DPFLTR_ERROR_LEVEL};

    run(check_debug_print);
    harness_teardown();
    harness_setup();
    run(check_prompt);
    harness_teardown();
    harness_boot(1, 1, &config);
    run(check_filtered);
}

/* ---- bug checks ---- */

static unsigned callbacks;
static KIRQL callback_irql;

static VOID NTAPI bugcheck_callback(KBUGCHECK_CALLBACK_REASON reason,
                                    struct _KBUGCHECK_REASON_CALLBACK_RECORD *record, PVOID data,
                                    ULONG length)
{
    (void)record;
    (void)data;
    (void)length;
    assert_int_equal(reason, KbCallbackSecondaryDumpData);
    callbacks++;
    callback_irql = KeGetCurrentIrql();
}

static VOID NTAPI ignored(PVOID buffer, ULONG length)
{
    (void)buffer;
    (void)length;
}

/* Each is taken once, and given back once. */
static void register_callbacks(void)
{
    static KBUGCHECK_REASON_CALLBACK_RECORD reason;
    static KBUGCHECK_CALLBACK_RECORD plain;
    char buffer[8];

    CHECK_RULE("NT-166/d", !KeDeregisterBugCheckCallback(&plain));
    CHECK_RULE("NT-166/e", !KeRegisterBugCheckCallback(&plain, NULL, buffer, 8, NULL));
    CHECK_RULE("NT-166/c", KeRegisterBugCheckCallback(&plain, ignored, buffer, 8, (PUCHAR)buffer));
    CHECK_RULE("NT-166/c", plain.State == BufferInserted && plain.Buffer == buffer &&
                               plain.Length == 8 && plain.Component == (PUCHAR)buffer &&
                               plain.CallbackRoutine == ignored);
    CHECK_RULE("NT-166/c", !KeRegisterBugCheckCallback(&plain, ignored, buffer, 8, NULL));
    CHECK_RULE("NT-166/c", KeRegisterBugCheckReasonCallback(&reason, bugcheck_callback,
                                                            KbCallbackSecondaryDumpData, NULL));
    CHECK_RULE("NT-166/d", KeDeregisterBugCheckCallback(&plain) && plain.State == BufferEmpty);
    CHECK_RULE("NT-166/d", !KeDeregisterBugCheckCallback(&plain));
    CHECK_RULE("NT-166/d",
               KeDeregisterBugCheckReasonCallback(&reason) && reason.State == BufferEmpty);
    CHECK_RULE("NT-166/d", !KeDeregisterBugCheckReasonCallback(&reason));
    CHECK_RULE("NT-166/c", errors() == 0 && nt_image_leak_check(h.image) == 0);
}

TEST_WITH(driver, bug_check_callbacks_are_taken_once)
{
    register_callbacks();
}

static bool came_back;
static KBUGCHECK_REASON_CALLBACK_RECORD record;

static void bugcheck_thread(void *arg)
{
    (void)arg;
    KeRegisterBugCheckReasonCallback(&record, bugcheck_callback, KbCallbackSecondaryDumpData, NULL);
    KeBugCheckEx(0x123, 1, 2, 3, 4);
}

static void start_bugcheck(void)
{
    start("bug check", bugcheck_thread, NULL);
}

TEST_WITH(machine, bug_checks_do_not_return)
{
    const struct verify_bugcheck *bugcheck;

    callbacks = 0;
    came_back = false;
    run(start_bugcheck);
    bugcheck = verify_bugcheck_state(h.log);
    CHECK_RULE("NT-166/a", bugcheck->code == 0x123 && bugcheck->parameter[0] == 1 &&
                               bugcheck->parameter[3] == 4);
    CHECK_RULE("NT-166/b", callbacks == 1 && callback_irql == HIGH_LEVEL && h.machine->stopped);
    h.threads_left = 4;
}
