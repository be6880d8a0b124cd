/* SPDX-License-Identifier: MIT */
/* What a driver that is a shared object can do to the process of its host. */
#include "acts.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int *volatile nothing; /* stays NULL */

static void *faults(void *argument)
{
    nothing[4] = 1;
    return argument;
}

static void *loops(void *argument)
{
    for (;;)
        pause();
    return argument;
}

static void *exits(void *argument)
{
    usleep(500);
    exit(0);
    return argument;
}

static void *calls(void *argument)
{
    KIRQL level;

    KeRaiseIrql(DISPATCH_LEVEL, &level);
    (void)ExAllocatePoolWithTag(NonPagedPoolNx, 40, 0x73746341u);
    return argument;
}

static void start(void *(*routine)(void *argument))
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, routine, NULL) == 0)
        usleep(2000); /* it comes first, in most runs */
}

static BOOLEAN end_process(ULONG act)
{
    switch (act) {
    case ACT_call_exit:
        exit(0);
    case ACT_call_quick_exit:
        quick_exit(0);
    case ACT_call_underscore_exit:
        _exit(0);
    case ACT_call_abort:
        abort();
    case ACT_call_pthread_exit:
        pthread_exit(NULL);
    case ACT_exit_thread:
        syscall(SYS_exit, 0);
        break;
    case ACT_exit_group:
        syscall(SYS_exit_group, 0);
        break;
    case ACT_execute:
        execl("/bin/true", "true", (char *)NULL);
        break;
    default:
        return FALSE;
    }
    return TRUE;
}

static BOOLEAN use_signals(ULONG act)
{
    sigset_t all;

    switch (act) {
    case ACT_signal_kill:
        raise(SIGKILL);
        break;
    case ACT_signal_segv:
        kill(getpid(), SIGSEGV);
        break;
    case ACT_signal_quit:
        raise(SIGQUIT);
        break;
    case ACT_signal_usr1:
        raise(SIGUSR1);
        break;
    case ACT_signal_alrm:
        raise(SIGALRM);
        break;
    case ACT_signal_term:
        raise(SIGTERM);
        break;
    case ACT_signal_int:
        raise(SIGINT);
        break;
    case ACT_signals_default:
        for (int i = 1; i < 32; i++)
            signal(i, SIG_DFL);
        nothing[4] = 1;
        break;
    case ACT_signals_blocked:
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
        nothing[4] = 1;
        break;
    default:
        return FALSE;
    }
    return TRUE;
}

static BOOLEAN use_threads(ULONG act)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    switch (act) {
    case ACT_thread_faults:
        start(faults);
        break;
    case ACT_thread_loops:
        start(loops);
        break;
    case ACT_thread_exits:
        start(exits);
        break;
    case ACT_thread_calls:
        start(calls);
        break;
    case ACT_lock_twice:
        pthread_mutex_lock(&mutex);
        pthread_mutex_lock(&mutex);
        break;
    case ACT_pause_forever:
        for (;;)
            pause();
    case ACT_fork_and_go_on:
        (void)!fork();
        break;
    case ACT_fork_and_exit:
        if (fork() == 0)
            exit(0);
        wait(NULL);
        break;
    default:
        return FALSE;
    }
    return TRUE;
}

static BOOLEAN use_heap(ULONG act)
{
    char *volatile block = malloc(40);
    char *volatile inside = block + 8;

    switch (act) {
    case ACT_heap_overrun:
        memset(block, 0x5A, 4096);
        break;
    case ACT_heap_garbage:
        free(inside);
        break;
    case ACT_heap_twice:
        inside = block;
        free(block);
        free(inside);
        break;
    default:
        free(block);
        return FALSE;
    }
    return TRUE;
}

static void unmap(void *at)
{
    (void)munmap((void *)((uintptr_t)at & ~(uintptr_t)4095), 4096);
}

BOOLEAN acts_do_process(ULONG act, ULONG seed)
{
    struct rlimit limit = {3, 3};
    char here[16], byte;
    jmp_buf jump;

    if (end_process(act) || use_signals(act) || use_threads(act) || use_heap(act))
        return TRUE;
    switch (act) {
    case ACT_close_files:
        for (int i = 0; i < 64; i++)
            close(i);
        break;
    case ACT_long_jump:
        memset(jump, (int)seed | 1, sizeof(jump));
        longjmp(jump, 1);
    case ACT_read_input:
        (void)!read(STDIN_FILENO, &byte, 1);
        break;
    case ACT_unmap_stack:
        unmap(here);
        here[0] = 1;
        break;
    case ACT_unmap_host:
        unmap((void *)(uintptr_t)KeDelayExecutionThread);
        break;
    case ACT_segment_base:
        syscall(SYS_arch_prctl, 0x1002, 0); /* ARCH_SET_FS */
        break;
    case ACT_trace_me:
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        break;
    case ACT_limit_files:
        setrlimit(RLIMIT_NOFILE, &limit);
        break;
    default:
        return FALSE;
    }
    return TRUE;
}

static void act_on_file(const char *variable)
{
    const char *act = getenv(variable);

    if (act)
        acts_do((ULONG)atoi(act), 1, NULL);
}

__attribute__((constructor)) static void construct(void)
{
    act_on_file("ACTS_CONSTRUCTOR");
}

__attribute__((destructor)) static void destruct(void)
{
    act_on_file("ACTS_DESTRUCTOR");
}
