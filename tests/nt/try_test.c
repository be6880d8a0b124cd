/* SPDX-License-Identifier: MIT */
/* Structured exceptions of ELF drivers: blocks of <dxgk_seh.h>, and what kernel services raise into them. */
#include "nt/ps/process.h"
#include "support/harness.h"

#include <xmmintrin.h>

#include "../abi/seh_source.c"

static void check_services(void)
{
    char to[8];

    assert_int_equal(SampleCopy(to, "right", 6), STATUS_SUCCESS);
    assert_string_equal(to, "right");
    assert_int_equal(SampleCopy(to, (PVOID)(ULONG_PTR)0xFFFF800000001000, 6),
                     STATUS_ACCESS_VIOLATION);
    assert_int_equal(errors(), 0);
    assert_int_equal(h.raises, 0); /* nobody else was asked */
}

TEST_WITH(machine, what_a_service_raises_is_handled)
{
    run_client(nt_process_create("client"), check_services);
}

TEST_WITH(driver, filters_and_termination_handlers_run)
{
    assert_int_equal(SampleFilter(STATUS_SUCCESS, STATUS_NO_MEMORY), 4);
    assert_int_equal(SampleFilter(STATUS_NO_MEMORY, STATUS_NO_MEMORY), 1);
    assert_int_equal(SampleFilter(STATUS_NO_MEMORY, STATUS_PENDING), 2);
    assert_int_equal(SampleFinally(STATUS_SUCCESS), 2);
    assert_int_equal(SampleFinally(STATUS_NO_MEMORY), 7);
    assert_int_equal(SampleLeave(1), 11);
    assert_int_equal(SampleLeave(2), 12);
    assert_int_equal(SampleReturn(STATUS_NO_MEMORY), STATUS_NO_MEMORY);
    assert_int_equal(errors(), 0);
}

/* At DISPATCH_LEVEL, too, where the driver holds a lock: that is its own to give back. */
TEST_WITH(driver, levels_and_locks_stay)
{
    KSPIN_LOCK lock;
    volatile KIRQL before = 99;
    volatile bool handled = false;

    KeInitializeSpinLock(&lock);
    DXGK_TRY
    {
        KIRQL irql;

        KeAcquireSpinLock(&lock, &irql);
        before = irql;
        ExRaiseStatus(STATUS_NO_MEMORY);
    }
    DXGK_EXCEPT(EXCEPTION_EXECUTE_HANDLER)
    {
        handled = GetExceptionInformation()->ExceptionRecord->ExceptionCode == STATUS_NO_MEMORY;
    }
    assert_true(handled);
    assert_int_equal(KeGetCurrentIrql(), DISPATCH_LEVEL);
    KeReleaseSpinLock(&lock, before);
    assert_int_equal(KeGetCurrentIrql(), PASSIVE_LEVEL);
}

/* What a function of this convention must keep is kept: values that the compiler holds in registers over the block. */
#pragma GCC diagnostic push
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wclobbered" /* that they are not is what is tested */
#endif
static NTAPI __attribute__((noinline)) double many_values(const double *from, NTSTATUS raised)
{
    volatile double a = from[0] * 2;
    double b = from[1] * 3, c = from[2] * 5, d = from[3] * 7;
    ULONG64 i = (ULONG64)from[4], j = (ULONG64)from[5], k = (ULONG64)from[6];

    DXGK_TRY
    {
        ExRaiseStatus(raised);
    }
    DXGK_EXCEPT(EXCEPTION_EXECUTE_HANDLER)
    {
        a += 0.5;
    }
    return a + b + c + d + (double)(i * 100 + j * 10 + k);
}

#pragma GCC diagnostic pop

static NTAPI __attribute__((noinline)) double caller(const double *from)
{
    double x = from[0] + 1, y = from[1] + 1;
    double z = many_values(from, STATUS_NO_MEMORY);

    return x * 1000000 + y * 100000 + z;
}

TEST_WITH(driver, registers_are_kept)
{
    const double from[] = {1, 2, 3, 4, 5, 6, 7};
    unsigned control = _mm_getcsr();

    assert_true(caller(from) == 2 * 1000000 + 3 * 100000 + 2.5 + 6 + 15 + 28 + 567);
    assert_int_equal(_mm_getcsr() & ~0x3Fu, control & ~0x3Fu);
}

/* Each thread has its own blocks. */
static KEVENT inside, done;
static volatile bool other_handled;

static void other_thread(void *argument)
{
    (void)argument;
    KeWaitForSingleObject(&inside, Executive, KernelMode, FALSE, NULL);
    DXGK_TRY
    {
        ExRaiseStatus(STATUS_NO_MEMORY);
    }
    DXGK_EXCEPT(EXCEPTION_EXECUTE_HANDLER)
    {
        other_handled = true;
    }
    KeSetEvent(&done, IO_NO_INCREMENT, FALSE);
}

TEST_WITH(driver, threads_do_not_mix)
{
    volatile NTSTATUS status = STATUS_SUCCESS;

    KeInitializeEvent(&inside, NotificationEvent, FALSE);
    KeInitializeEvent(&done, NotificationEvent, FALSE);
    start("other", other_thread, NULL);
    DXGK_TRY
    {
        KeSetEvent(&inside, IO_NO_INCREMENT, FALSE);
        KeWaitForSingleObject(&done, Executive, KernelMode, FALSE, NULL);
        assert_true(other_handled);
        ExRaiseStatus(STATUS_PENDING);
    }
    DXGK_EXCEPT(EXCEPTION_EXECUTE_HANDLER)
    {
        status = GetExceptionCode();
    }
    assert_int_equal(status, STATUS_PENDING);
}

TEST_WITH(driver, behind_the_block_nothing_is_handled)
{
    KSEMAPHORE semaphore;
    volatile bool handled = false;

    KeInitializeSemaphore(&semaphore, 1, 1);
    DXGK_TRY
    {
        KeReleaseSemaphore(&semaphore, 0, 1, FALSE);
    }
    DXGK_EXCEPT(GetExceptionCode() == STATUS_SEMAPHORE_LIMIT_EXCEEDED)
    {
        handled = true;
    }
    assert_true(handled);
    assert_int_equal(h.raises, 0);
    KeReleaseSemaphore(&semaphore, 0, 1, FALSE); /* the block is over: the harness is asked */
    assert_int_equal(h.raises, 1);
    assert_int_equal(h.raised, STATUS_SEMAPHORE_LIMIT_EXCEEDED);
}
