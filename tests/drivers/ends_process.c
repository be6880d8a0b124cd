/* SPDX-License-Identifier: MIT */
/*
 * A driver that ends the process of its host, in the way that the value Act of its service key
 * names; its constructor and destructor do what the environment variables DXGK_TEST_CONSTRUCTOR and
 * DXGK_TEST_DESTRUCTOR say. For the tests of what is told of such a run.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ntddk.h>
#include <dispmprt.h>

#include "service_value.h"

enum act {
    ACT_NONE,
    ACT_EXIT,
    ACT_QUICK_EXIT,
    ACT_UNDERSCORE_EXIT,
    ACT_THREAD_EXIT,
    ACT_SYSTEM_CALL,
    ACT_ABORT,
    ACT_KILL,
    ACT_LOOP,
    ACT_FINDING, /* a finding, which is held back until the start has come to something, then an exit */
    ACT_VIOLATION, /* an error, then an exit */
    /* what an isolated machine has no right to */
    ACT_OPEN,
    ACT_CREATE,
    ACT_SOCKET,
    ACT_FORK,
    ACT_EXECUTE,
    ACT_KILL_PARENT,
    ACT_CLOSE, /* all files, those of standard output and error, too */
    ACT_SHELL, /* which is started with all signals blocked */
};

static volatile int *volatile nothing; /* stays NULL */

/* Leaves a mark that the test would find. */
static void act_outside(ULONG which)
{
    const char *mark = getenv("DXGK_TEST_MARK");
    int file = -1;

    switch (which) {
    case ACT_OPEN:
        file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
        break;
    case ACT_CREATE:
        file = mark ? open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
        break;
    case ACT_SOCKET:
        file = socket(AF_INET, SOCK_DGRAM, 0);
        break;
    case ACT_FORK:
        if (fork() == 0)
            _exit(0);
        break;
    case ACT_EXECUTE:
        execl("/bin/true", "true", (char *)NULL);
        break;
    case ACT_CLOSE:
        for (int i = 0; i < 64; i++)
            close(i);
        break;
    case ACT_SHELL:
        file = system("exit 0") - 1; /* NOLINT(bugprone-command-processor,cert-env33-c) */
        break;
    case ACT_KILL_PARENT:
        kill(getppid(), SIGKILL);
        break;
    default:
        break;
    }
    if (file >= 0)
        close(file);
}

static void act(ULONG which)
{
    switch (which) {
    case ACT_EXIT:
        exit(0);
    case ACT_QUICK_EXIT:
        quick_exit(0);
    case ACT_UNDERSCORE_EXIT:
        _exit(0);
    case ACT_THREAD_EXIT:
        pthread_exit(NULL);
    case ACT_SYSTEM_CALL:
        syscall(SYS_exit_group, 0);
        break;
    case ACT_ABORT:
        abort();
    case ACT_KILL:
        kill(getpid(), SIGKILL);
        break;
    case ACT_LOOP:
        for (;;)
            ;
    default:
        act_outside(which);
        break;
    }
}

static void act_on_file(const char *variable)
{
    const char *what = getenv(variable);

    if (what && strcmp(what, "fault") == 0)
        nothing[4] = 1;
    else if (what)
        act((ULONG)atoi(what));
}

__attribute__((constructor)) static void construct(void)
{
    act_on_file("DXGK_TEST_CONSTRUCTOR");
}

__attribute__((destructor)) static void destruct(void)
{
    act_on_file("DXGK_TEST_DESTRUCTOR");
}

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject,
                                           PUNICODE_STRING RegistryPath);

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    ULONG which = ServiceValue(RegistryPath, L"Act");
    DRIVER_INITIALIZATION_DATA table = {.Version = DXGKDDI_INTERFACE_VERSION_WDDM2_0};
    KIRQL level;

    if (which == ACT_FINDING) {
        (void)DxgkInitialize(DriverObject, RegistryPath, &table);
        _exit(0);
    }
    if (which == ACT_VIOLATION) {
        KeRaiseIrql(DISPATCH_LEVEL, &level);
        (void)RtlCheckRegistryKey(RTL_REGISTRY_SERVICES, L"none"); /* for PASSIVE_LEVEL */
        _exit(0);
    }
    act(which);
    return STATUS_UNSUCCESSFUL;
}
