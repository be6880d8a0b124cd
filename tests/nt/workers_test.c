/* SPDX-License-Identifier: MIT */
/* Worker threads: as many as there are processors, and more when all of them wait; names of places and
 * statuses. */
#include "nt/base/caller.h"
#include "nt/base/status_name.h"
#include "support/harness.h"

static KEVENT go;
static WORK_QUEUE_ITEM item[7];
static unsigned begun, ended;

static VOID NTAPI wait_for_go(PVOID context)
{
    (void)context;
    begun++;
    KeWaitForSingleObject(&go, Executive, KernelMode, FALSE, NULL);
    ended++;
}

static void queue(unsigned index)
{
    ExInitializeWorkItem(&item[index], wait_for_go, NULL);
    ExQueueWorkItem(&item[index], DelayedWorkQueue);
    pause_ns(100000);
}

static void check_workers(void)
{
    begun = ended = 0;
    KeInitializeEvent(&go, NotificationEvent, FALSE);
    for (unsigned i = 0; i < 4; i++) {
        queue(i);
        CHECK(begun == i + 1 && !broken("NT-102"));
    }
    queue(4);
    CHECK_RULE("NT-102/b", begun == 5 && broken("NT-102") && errors() == 0);
    forget_reports();
    KeSetEvent(&go, 0, FALSE);
    pause_ns(100000);
    CHECK(ended == 5);
    /* They are there for the next ones. */
    KeClearEvent(&go);
    for (unsigned i = 0; i < 5; i++)
        queue(i);
    CHECK(begun == 10 && !broken("NT-102"));
    queue(5);
    CHECK(begun == 11 && broken("NT-102"));
    KeSetEvent(&go, 0, FALSE);
    pause_ns(100000);
    CHECK(ended == 11 && errors() == 0);
}

static bool may_end;

static VOID NTAPI stay_busy(PVOID context)
{
    LARGE_INTEGER moment = {.QuadPart = -10};

    (void)context;
    begun++;
    KeDelayExecutionThread(KernelMode, FALSE, &moment);
    while (!may_end)
        pause_ns(1000); /* no wait of a driver */
    ended++;
}

/* One of them works: it will serve the next item. */
static void check_busy_worker(void)
{
    begun = ended = 0;
    may_end = false;
    KeInitializeEvent(&go, NotificationEvent, FALSE);
    for (unsigned i = 0; i < 3; i++)
        queue(i);
    ExInitializeWorkItem(&item[3], stay_busy, NULL);
    ExQueueWorkItem(&item[3], DelayedWorkQueue);
    pause_ns(100000);
    CHECK(begun == 4);
    queue(4);
    CHECK_RULE("NT-102/b", begun == 4 && !broken("NT-102"));
    may_end = true;
    pause_ns(100000);
    CHECK(begun == 5 && ended == 1 && !broken("NT-102"));
    KeSetEvent(&go, 0, FALSE);
    pause_ns(100000);
    CHECK(ended == 5 && errors() == 0);
}

TEST_WITH(machine_smp, workers_are_made_when_all_wait)
{
    run(check_busy_worker);
    run(check_workers);
    h.threads_left = 16;
}

/* ---- names ---- */

#define EXPORTED __attribute__((visibility("default"))) /* so that dladdr knows it */

EXPORTED void own_place(void);

void own_place(void)
{
    __asm__ volatile("nop\n\tnop\n\tnop\n\tnop"); /* longer than the offset */
}

TEST_WITH(machine, places_have_names)
{
    char name[96];

    nt_caller_name(NULL, name, sizeof(name));
    assert_string_equal(name, "an unknown place");
    nt_caller_name((const void *)(uintptr_t)16, name, sizeof(name));
    assert_string_equal(name, "an unknown place");
    nt_caller_name((const char *)(uintptr_t)own_place + 3, name, sizeof(name));
    assert_string_equal(name, "test_nt!own_place+0x3");
}

TEST(statuses_have_names)
{
    assert_string_equal(nt_status_name(STATUS_SUCCESS), "STATUS_SUCCESS");
    assert_string_equal(nt_status_name(STATUS_TIMEOUT), "STATUS_TIMEOUT");
    assert_string_equal(nt_status_name(STATUS_UNSUCCESSFUL), "STATUS_UNSUCCESSFUL");
    assert_string_equal(nt_status_name(STATUS_BUFFER_OVERFLOW), "STATUS_BUFFER_OVERFLOW");
    assert_string_equal(nt_status_name(STATUS_NO_MEMORY), "STATUS_NO_MEMORY");
    CHECK(!nt_status_name((NTSTATUS)0x7FFFFFFF) && !nt_status_name((NTSTATUS)-1));
    assert_string_equal(nt_status_text(STATUS_NO_MEMORY).text, "STATUS_NO_MEMORY");
    assert_string_equal(nt_status_text((NTSTATUS)0x0FEDCBA9).text, "status 0x0fedcba9");
}
