/* SPDX-License-Identifier: MIT */
/*
 * What ends the machine's process is recorded on the way:
 *
 *   a signal that no driver is to blame for     its handler, on the signal stack; then the default
 *                                               action, with the registers as they were
 *   exit(), quick_exit(), pthread_exit()        a handler of the C library
 *   _exit(), the system call, SIGKILL           nothing: the parent finds no record
 *
 * The raw values are written first, then the stack in words. A fault of that (memory may be
 * damaged) ends the process with what is there. Nothing here takes memory or a lock of the heap.
 */
#include "dxgkhost/recorder.h"
#include "host/last_words.h"
#include "host/recorder.h"
#include "loader/loader.h"
#include "sim/fault.h"
#include "sim/machine.h"
#include "sim/stack.h"
#include "util/array.h"
#include "verify/verify.h"
#include "x64/unwind/stack_text.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_BYTES  (64u * 1024u)
#define ENDED_STATUS 70 /* of a process that its guest has ended; whatever status it asked for */

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL,  SIGFPE,   SIGTRAP,
                              SIGABRT, SIGSYS, SIGXCPU, SIGVTALRM};

/* Of this process; NULL: its end is its own business. */
static struct dxgk_recorder *recorder;
static volatile sig_atomic_t recording;
static pthread_key_t thread_end;
static struct {
    uintptr_t low, high;
} first_stack;

/* ---- words ---- */

static void name_address(uintptr_t pc, char *text, size_t bytes)
{
    Dl_info info;

    if (sim_current && loader_symbolize(pc, text, bytes))
        return;
    if (!dladdr((void *)pc, &info) || !info.dli_fname) {
        snprintf(text, bytes, "0x%llx", (unsigned long long)pc);
        return;
    }
    snprintf(
        text, bytes, "%s%s%s+0x%llx",
        strrchr(info.dli_fname, '/') ? strrchr(info.dli_fname, '/') + 1 : info.dli_fname,
        info.dli_sname ? "!" : "", info.dli_sname ? info.dli_sname : "",
        (unsigned long long)(pc - (uintptr_t)(info.dli_sname ? info.dli_saddr : info.dli_fbase)));
}

static bool name_any(uintptr_t pc, bool returns, char *text, size_t bytes)
{
    (void)returns;
    name_address(pc, text, bytes);
    return true;
}

/* The stack that the address is on: of a fiber, or of the process's first thread. */
static void find_stack(uintptr_t sp, uintptr_t *low, uintptr_t *high)
{
    if (sim_current) {
        sim_stack_bounds(low, high);
        if (sp >= *low && sp < *high)
            return;
    }
    *low = first_stack.low;
    *high = first_stack.high;
}

/* The frames of drivers if there are any, else all that are found. */
static void describe_stack(const struct sim_fault *fault)
{
    uintptr_t low, high;

    find_stack(fault ? fault->sp : (uintptr_t)__builtin_frame_address(0), &low, &high);
    if (!sim_current || !x64_describe_stack_of(fault, low, high, loader_frame, recorder->stack,
                                               sizeof(recorder->stack)))
        (void)x64_describe_stack_of(fault, low, high, name_any, recorder->stack,
                                    sizeof(recorder->stack));
}

/* Faults from here on are the process's own. */
static void leave_machine_alone(void)
{
    if (!sim_current)
        return;
    recorder->ending.in_driver = sim_current->inside != 0;
    sim_on_fault(NULL);
    sim_on_trap(NULL);
    sim_on_paging(NULL, NULL);
}

static void fault_of(struct sim_fault *fault, struct sim_registers *registers,
                     const ucontext_t *context)
{
    sim_registers_of(registers, context);
    fault->registers = registers;
    fault->pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    fault->sp = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
    fault->frame = (uintptr_t)context->uc_mcontext.gregs[REG_RBP];
}

/* ---- signals ---- */

static void on_signal(int number, siginfo_t *info, void *data)
{
    const ucontext_t *context = data;
    struct dxgk_ending *ending = recorder ? &recorder->ending : NULL;
    struct sim_registers registers;
    struct sim_fault fault = {.kind = SIM_FAULT_READ};
    bool raised = info->si_code <= 0; /* by kill() or abort(): it does not come again by itself */

    if (ending && !recording) {
        recording = 1;
        ending->pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
        ending->has_address = !raised && (number == SIGSEGV || number == SIGBUS);
        ending->address = ending->has_address ? (uint64_t)(uintptr_t)info->si_addr : 0;
        ending->signal = number;
        leave_machine_alone();
        name_address((uintptr_t)ending->pc, recorder->place, sizeof(recorder->place));
        fault_of(&fault, &registers, context);
        describe_stack(&fault);
    } else if (ending) {
        ending->second = true;
    }
    signal(number, SIG_DFL);
    if (raised)
        raise(number);
}

/* ---- calls that end the process ---- */

static _Noreturn void end(const char *how, int status, bool on_its_stack)
{
    struct dxgk_ending *ending = &recorder->ending;

    recording = 1;
    ending->how = how;
    ending->status = status;
    ending->exited = true;
    leave_machine_alone();
    if (on_its_stack)
        describe_stack(NULL);
    fflush(stdout);
    _exit(ENDED_STATUS);
}

static void on_exit_call(int status, void *argument)
{
    (void)argument;
    if (recorder && !recording)
        end("exit", status, true);
}

static void on_quick_exit(void)
{
    if (recorder && !recording)
        end("quick_exit", 0, true);
}

static void on_thread_end(void *argument)
{
    (void)argument;
    if (recorder && !recording)
        end("pthread_exit", 0, false);
}

static void keep_first_stack(void)
{
    pthread_attr_t attributes;
    void *stack;
    size_t bytes;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &stack, &bytes) == 0) {
        first_stack.low = (uintptr_t)stack;
        first_stack.high = first_stack.low + bytes;
    }
    pthread_attr_destroy(&attributes);
}

/* ---- isolation ---- */

bool host_last_words_in_driver_call(void)
{
    return sim_current && sim_current->inside;
}

bool host_last_words_in_driver(void)
{
    return host_last_words_in_driver_call() || (recorder && recorder->in_driver_file);
}

void host_last_words_system_call(const char *what, const void *context)
{
    struct dxgk_ending *ending;
    struct sim_registers registers;
    struct sim_fault fault = {.kind = SIM_FAULT_READ};

    if (!recorder || recording)
        return;
    recording = 1;
    ending = &recorder->ending;
    ending->how = "system call";
    ending->exited = true;
    snprintf(recorder->place, sizeof(recorder->place), "%s", what);
    if (host_last_words_in_driver_call())
        VIOLATION("LIFE-190", "the driver made the system call %s", what);
    leave_machine_alone();
    fault_of(&fault, &registers, context);
    describe_stack(&fault);
    _exit(ENDED_STATUS);
}

/* ---- set-up ---- */

bool dxgk_recorder_catch(struct dxgk_recorder *of)
{
    struct sigaction action;
    stack_t stack = {.ss_size = STACK_BYTES};

    stack.ss_sp = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                       0);
    if (stack.ss_sp == MAP_FAILED)
        return false;
    if (sigaltstack(&stack, NULL) != 0 || on_exit(on_exit_call, NULL) != 0 ||
        at_quick_exit(on_quick_exit) != 0 || pthread_key_create(&thread_end, on_thread_end) != 0) {
        munmap(stack.ss_sp, STACK_BYTES);
        return false;
    }
    pthread_setspecific(thread_end, &thread_end);
    keep_first_stack();
    recorder = of;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (size_t i = 0; i < ARRAY_COUNT(signals); i++)
        sigaction(signals[i], &action, NULL);
    return true;
}

void dxgk_recorder_release(struct dxgk_recorder *of)
{
    if (recorder == of)
        recorder = NULL;
}
