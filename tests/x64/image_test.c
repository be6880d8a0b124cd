/* SPDX-License-Identifier: MIT */
/* A Windows image, made by each compiler, that does inline what drivers do. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "drivers/windows/inline.h"
#include "loader/loader.h"
#include "x64/support/rig.h"

#define READS 1000u

static struct inline_report report;
static struct loader_image *image;
static NTSTATUS result;
static uint64_t thread;

static void call_entry(void)
{
    memset(&report, 0, sizeof(report));
    report.registers = rig.registers;
    report.reads = READS;
    thread = (uintptr_t)PsGetCurrentThread();
    result = loader_image_entry(image)(NULL, (PUNICODE_STRING)(void *)&report);
}

static const char *path_of(const char *compiler)
{
    static char path[512];

    snprintf(path, sizeof(path), "%s/tests/drivers/%s/inline.sys",
             getenv("DXGK_BUILD") ? getenv("DXGK_BUILD") : ".", compiler);
    return access(path, R_OK) == 0 ? path : NULL;
}

static void check_report(void)
{
    CHECK(result == STATUS_SUCCESS);
    for (unsigned i = 0; i < 3; i++)
        CHECK_RULE("NT-172/a", report.level[i] == report.level_asked[i] &&
                                   report.level[i] == (i == 1 ? DISPATCH_LEVEL : PASSIVE_LEVEL));
    CHECK(report.sum == READS);
    CHECK_RULE("NT-173/a", report.thread == thread);
    CHECK_RULE("NT-173/b", report.number == 0 && report.self == report.msr);
    CHECK_RULE("NT-174/a", report.ticks == report.ticks_asked);
    CHECK_RULE("NT-174/d", report.version == 10);
    CHECK_RULE("NT-174/c", report.interrupt_time == report.interrupt_time_asked);
    CHECK_RULE("NT-171/f", report.byte == 0xA5 && report.word == 0x1234 &&
                               report.dword == 0xDEADBEEF && report.qword == 0x0123456789ABCDF0);
    CHECK_RULE("NT-171/f", report.moved_right);
    CHECK_RULE("NT-175/h", report.port == UINT32_MAX && rig_reported("NT-139") == 2);
    CHECK(rig_reported("NT-175") == 2 && rig_reported("NT-167") == 1);
    CHECK(strstr(rig_said("NT-167"), "int3"));
}

static void run_image(const char *compiler)
{
    const char *path = path_of(compiler);
    char error[512];

    if (!path)
        skip();
    CHECK(NT_SUCCESS(loader_image_load(path, 0, &image, error, sizeof(error))));
    CHECK(rig_run(call_entry));
    check_report();
    /* Reads of CR8 do not trap; two writes, three looks at shared data, the registers and the rest do. */
    CHECK(x64_traps() < 40);
    loader_image_unload(image);
}

TEST_WITH(machine, an_image_of_gcc_runs_inline)
{
    run_image("gcc");
}

TEST_WITH(machine, an_image_of_clang_runs_inline)
{
    run_image("clang");
}
