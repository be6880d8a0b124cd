/* SPDX-License-Identifier: MIT */
/*
 * A driver that says what no page, no XML and no JSON can take as it is, many times over, and then writes through a NULL pointer; or,
 * if the environment has DXGK_TEST_EXIT, ends the process.
 * For the tests of what is told of such a run.
 */
#include <stdlib.h>

#include <ntddk.h>

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject,
                                           PUNICODE_STRING RegistryPath);

#define LINES 3000u /* more than the host keeps */

static volatile ULONG *volatile nothing; /* stays NULL */

static __attribute__((noinline)) VOID WriteNowhere(VOID)
{
    *nothing = 1; /* </pre><script>alert("the guilty line")</script> */
}

static __attribute__((noinline)) VOID EndProcess(VOID)
{
    exit(0); /* the guilty one */
}

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    UNREFERENCED_PARAMETER(DriverObject);
    UNREFERENCED_PARAMETER(RegistryPath);
    for (ULONG i = 0; i < LINES; i++)
        DbgPrint("line %u of many, which are here so that the first of them are gone\n", i);
    DbgPrint("<script>alert(1)</script> <img src=x onerror=alert(1)> &amp; \"quoted\" 'too' ]]>\n");
    DbgPrint(
        "\x01\x1b[31m \x7f \xff\xfe \xc0\x80 \xed\xa0\x80 \xef\xbf\xbf \xc2\x85 \xf4\x90\x80\x80 "
        "\xc3\xa4 \xe2\x82\xac\n");
    if (getenv("DXGK_TEST_EXIT"))
        EndProcess();
    WriteNowhere();
    return STATUS_UNSUCCESSFUL;
}
