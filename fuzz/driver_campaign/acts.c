/* SPDX-License-Identifier: MIT */
/* What drivers do wrong, in every format. */
#include "acts.h"

#define TAG        0x73746341u /* "Acts" */
#define WILD       ((volatile ULONG *)0x5A5A5A5A5000ull)
#define CANONICAL  ((volatile ULONG *)0xDEAD00000000BEE0ull) /* it is not */
#define KERNEL     ((volatile ULONG *)0xFFFF800000001000ull)
#define FOREVER_NS (-10000000ll * 1000000) /* eleven days */

static const char *volatile constant = "a literal of the driver";
static volatile ULONG data[64] = {0x90909090};
static volatile ULONG *volatile nothing; /* stays NULL */
static volatile ULONG64 sink;
static KSPIN_LOCK lock;
static KTIMER timer;
static KDPC dpc;
static KEVENT event;
static WORK_QUEUE_ITEM item;

static ULONG64 next_random(ULONG64 *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* ---- memory and stack ---- */

static void jump(volatile void *to)
{
    void(NTAPI *volatile routine)(void) = (void(NTAPI *)(void))(ULONG_PTR)to;

    routine();
}

static BOOLEAN act_on_memory(ULONG act)
{
    switch (act) {
    case ACT_read_null:
        sink = *nothing;
        break;
    case ACT_write_null:
        *nothing = 1;
        break;
    case ACT_write_low:
        nothing[6] = 1;
        break;
    case ACT_read_wild:
        sink = *WILD;
        break;
    case ACT_write_wild:
        *WILD = 1;
        break;
    case ACT_read_noncanonical:
        sink = *CANONICAL;
        break;
    case ACT_write_noncanonical:
        *CANONICAL = 1;
        break;
    case ACT_write_kernel:
        *KERNEL = 1;
        break;
    case ACT_jump_null:
        jump(nothing);
        break;
    case ACT_jump_wild:
        jump(WILD);
        break;
    case ACT_jump_data:
        jump(data);
        break;
    case ACT_jump_noncanonical:
        jump(CANONICAL);
        break;
    case ACT_write_code:
        *(volatile UCHAR *)(ULONG_PTR)acts_do = 0xC3;
        break;
    case ACT_write_constant:
        ((volatile char *)(ULONG_PTR)constant)[1] = 7;
        break;
    default:
        return FALSE;
    }
    return TRUE;
}

/* Upward: into the frames of callers. */
static DECLSPEC_NOINLINE void overrun(SIZE_T bytes)
{
    volatile UCHAR here[16];
    volatile UCHAR *at = here;

    for (SIZE_T i = 0; i < bytes; i++)
        at[i] = 0x5A;
}

static DECLSPEC_NOINLINE void underrun(SIZE_T bytes)
{
    volatile UCHAR here[16];
    volatile UCHAR *at = here;

    for (SIZE_T i = 0; i < bytes; i += 64)
        *(at - i) = 0x5A;
}

static DECLSPEC_NOINLINE ULONG64 recurse(ULONG64 depth)
{
    volatile ULONG64 here[32];

    here[depth % 32] = depth;
    if (nothing)
        return 0;
    return recurse(depth + 1) + here[(depth + 1) % 32];
}

static BOOLEAN act_on_stack(ULONG act, struct acts_call *call)
{
    switch (act) {
    case ACT_overrun_64:
        overrun(64);
        break;
    case ACT_overrun_1k:
        overrun(1024);
        break;
    case ACT_overrun_1200:
        overrun(1200);
        break;
    case ACT_overrun_4k:
        overrun(4096);
        break;
    case ACT_overrun_64k:
        overrun(65536);
        break;
    case ACT_overrun_all:
        overrun((SIZE_T)1 << 40);
        break;
    case ACT_underrun_16k:
        underrun(16384);
        break;
    case ACT_recurse:
        sink = recurse(0);
        break;
    case ACT_stack_pointer_wild:
        __asm__ volatile("movq $0x5A5A5A5A5000, %rsp\n\tpushq %rax");
        break;
    case ACT_stack_pointer_null:
        __asm__ volatile("xorl %esp, %esp\n\tpushq %rax");
        break;
    case ACT_frame_pointer_wild:
        __asm__ volatile("movq $0x5A5A5A5A5000, %rbp\n\tmovl $1, (%rbp)");
        break;
    case ACT_return_address_wild:
        if (call) /* of the stub: above what it has saved */
            ((volatile ULONG64 *)call)[7] = 0x5A5A5A5A5000ull;
        else
            jump(WILD);
        break;
    default:
        return FALSE;
    }
    return TRUE;
}

/* ---- the processor ---- */

static void divide(void)
{
    volatile ULONG zero = 0;

    __asm__ volatile("divl %0" : : "rm"(zero), "a"(1), "d"(0));
}

static void fault_in_floating_point(void)
{
    ULONG control = 0x1D80; /* division by zero is not masked */
    volatile double zero = 0, one = 1;

    __asm__ volatile("ldmxcsr %0" : : "m"(control));
    one = one / zero;
    sink = (ULONG64)one;
}

static BOOLEAN act_on_processor(ULONG act)
{
    switch (act) {
    case ACT_int3:
        __asm__ volatile("int3");
        break;
    case ACT_int_2d:
        __asm__ volatile("int $0x2d\n\tnop" : : "a"(1), "c"(0), "d"(0));
        break;
    case ACT_fail_fast:
        __asm__ volatile("int $0x29" : : "c"(7));
        break;
    case ACT_undefined:
        __asm__ volatile("ud2");
        break;
    case ACT_halt:
        __asm__ volatile("hlt");
        break;
    case ACT_disable_interrupts:
        __asm__ volatile("cli");
        break;
    case ACT_port:
        __asm__ volatile("inb $0x60, %%al" : : : "eax");
        break;
    case ACT_model_register:
        __asm__ volatile("wrmsr" : : "a"(0), "c"(0x12345), "d"(0));
        break;
    case ACT_divide:
        divide();
        break;
    case ACT_direction_flag:
        acts_on_return = 1;
        break;
    case ACT_alignment_flag:
        acts_on_return = 2;
        break;
    case ACT_trap_flag:
        __asm__ volatile("pushfq\n\torl $0x100, (%rsp)\n\tpopfq\n\tnop");
        break;
    case ACT_mxcsr:
        acts_on_return = 3;
        break;
    case ACT_x87:
        acts_on_return = 4;
        break;
    case ACT_nonvolatile:
        acts_on_return = 5;
        break;
    case ACT_float_fault:
        fault_in_floating_point();
        break;
    default:
        return FALSE;
    }
    return TRUE;
}

/* ---- time ---- */

static void NTAPI dpc_again(PKDPC which, PVOID context, PVOID one, PVOID two)
{
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(one);
    UNREFERENCED_PARAMETER(two);
    KeInsertQueueDpc(which, NULL, NULL);
}

static void NTAPI timer_again(PKDPC which, PVOID context, PVOID one, PVOID two)
{
    LARGE_INTEGER now;

    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(one);
    UNREFERENCED_PARAMETER(two);
    now.QuadPart = 0;
    KeSetTimer(&timer, now, which);
}

static void NTAPI work_again(PVOID context)
{
    UNREFERENCED_PARAMETER(context);
    ExQueueWorkItem(&item, DelayedWorkQueue);
}

static BOOLEAN act_on_time(ULONG act)
{
    LARGE_INTEGER time;

    time.QuadPart = FOREVER_NS;
    switch (act) {
    case ACT_loop:
        for (;;)
            __asm__ volatile("");
    case ACT_loop_calling:
        for (;;)
            sink += KeQueryInterruptTime();
    case ACT_stall:
        for (;;)
            KeStallExecutionProcessor(1000000);
    case ACT_wait_forever:
        KeInitializeEvent(&event, NotificationEvent, FALSE);
        KeWaitForSingleObject(&event, Executive, KernelMode, FALSE, NULL);
        break;
    case ACT_delay_forever:
        KeDelayExecutionThread(KernelMode, FALSE, &time);
        break;
    case ACT_dpc_self:
        KeInitializeDpc(&dpc, dpc_again, NULL);
        KeInsertQueueDpc(&dpc, NULL, NULL);
        break;
    case ACT_timer_zero:
        KeInitializeTimer(&timer);
        KeInitializeDpc(&dpc, timer_again, NULL);
        time.QuadPart = 0;
        KeSetTimer(&timer, time, &dpc);
        break;
    case ACT_work_self:
        ExInitializeWorkItem(&item, work_again, NULL);
        ExQueueWorkItem(&item, DelayedWorkQueue);
        break;
    default:
        return FALSE;
    }
    return TRUE;
}

/* ---- kernel services ---- */

static void take_all_pool(void)
{
    while (ExAllocatePoolWithTag(NonPagedPoolNx, 65536, TAG))
        ;
}

static BOOLEAN act_on_pool(ULONG act)
{
    volatile UCHAR *block;

    switch (act) {
    case ACT_pool_forever:
        for (;;)
            take_all_pool();
    case ACT_pool_leak:
        (void)ExAllocatePoolWithTag(NonPagedPoolNx, 40, TAG);
        return TRUE;
    case ACT_pool_garbage:
        ExFreePoolWithTag((PVOID)(ULONG_PTR)&data[4], TAG);
        return TRUE;
    case ACT_pool_overrun:
    case ACT_pool_underrun:
    case ACT_pool_twice:
    case ACT_pool_after_free:
        break;
    default:
        return FALSE;
    }
    block = ExAllocatePoolWithTag(NonPagedPoolNx, 40, TAG);
    if (!block)
        return TRUE;
    if (act == ACT_pool_overrun)
        block[40] = 0x5A;
    if (act == ACT_pool_underrun)
        *(block - 1) = 0x5A;
    ExFreePoolWithTag((PVOID)block, TAG);
    if (act == ACT_pool_twice)
        ExFreePoolWithTag((PVOID)block, TAG);
    if (act == ACT_pool_after_free)
        block[0] = 0x5A;
    return TRUE;
}

static BOOLEAN act_on_services(ULONG act)
{
    KIRQL level;

    switch (act) {
    case ACT_bug_check:
        KeBugCheckEx(0xDEAD, 1, 2, 3, 4);
    case ACT_raise_status:
        ExRaiseStatus(STATUS_ACCESS_DENIED);
        break;
    case ACT_break_point:
        DbgBreakPoint();
        break;
    case ACT_irql_raised:
        KeRaiseIrql(HIGH_LEVEL, &level);
        break;
    case ACT_irql_lowered:
        KeLowerIrql(PASSIVE_LEVEL);
        break;
    case ACT_spin_lock_kept:
        KeAcquireSpinLock(&lock, &level);
        break;
    case ACT_spin_lock_twice:
        KeAcquireSpinLock(&lock, &level);
        KeAcquireSpinLock(&lock, &level);
        break;
    case ACT_region_kept:
        KeEnterCriticalRegion();
        break;
    default:
        return act_on_pool(act);
    }
    return TRUE;
}

/* ---- what it was given ---- */

static BOOLEAN is_pointer(ULONG64 value)
{
    return value > 0x10000 && value < 0x7FFFFFFFF000ull && value % 8 == 0;
}

static void fill(ULONG64 at, SIZE_T bytes, ULONG seed)
{
    ULONG64 state = seed * 2654435761ull + 1;

    for (SIZE_T i = 0; i < bytes; i++)
        ((volatile UCHAR *)at)[i] = seed ? (UCHAR)(next_random(&state) >> 32) : 0;
}

/* The last argument that is an address: of the structure, if the entry has one. */
static ULONG64 structure_of(const struct acts_call *call)
{
    return is_pointer(call->r9)    ? call->r9
           : is_pointer(call->r8)  ? call->r8
           : is_pointer(call->rdx) ? call->rdx
                                   : 0;
}

/* Bytes of the structure; enough to reach most members of the longer ones. */
#define STRUCTURE_BYTES 64u

/* Write after or before what the pointers in the structure lead to. */
static void write_around_pointers(ULONG64 structure, BOOLEAN before)
{
    for (ULONG i = 0; i < STRUCTURE_BYTES / 8; i++) {
        ULONG64 pointer = ((volatile ULONG64 *)structure)[i];

        if (!is_pointer(pointer))
            continue;
        if (before)
            fill(pointer - 8, 8, 1);
        else
            fill(pointer + 256, 64, 1);
    }
}

static BOOLEAN act_on_call(ULONG act, ULONG seed, struct acts_call *call)
{
    ULONG64 structure;

    if (act < ACT_context_zero || act > ACT_returns_pending)
        return FALSE;
    if (!call)
        return TRUE;
    structure = structure_of(call);
    switch (act) {
    case ACT_context_zero:
    case ACT_context_garbage:
        if (is_pointer(call->rcx))
            fill(call->rcx, 256, act == ACT_context_zero ? 0 : seed | 1);
        return TRUE;
    case ACT_returns_garbage:
        call->result = 0xC0000000u | (seed & 0x3FFF);
        return TRUE;
    case ACT_returns_pending:
        call->result = 0x103;
        return TRUE;
    default:
        break;
    }
    if (!structure)
        return TRUE;
    switch (act) {
    case ACT_arguments_garbage:
        fill(structure, STRUCTURE_BYTES, seed | 1);
        break;
    case ACT_arguments_zero:
        fill(structure, STRUCTURE_BYTES, 0);
        break;
    case ACT_arguments_past_64:
        fill(structure + STRUCTURE_BYTES, 64, seed | 1);
        break;
    case ACT_arguments_past_4k:
        fill(structure + STRUCTURE_BYTES, 4096, seed | 1);
        break;
    case ACT_arguments_before_64:
        fill(structure - 64, 64, seed | 1);
        break;
    default:
        write_around_pointers(structure, act == ACT_pointers_before);
        break;
    }
    return TRUE;
}

/* ---- calls with garbage ---- */

static ULONG64 odd_value(ULONG64 *state)
{
    static ULONG64 memory[128];

    switch (next_random(state) % 10) {
    case 0:
        return 0;
    case 1:
        return 1;
    case 2:
        return next_random(state) % 100;
    case 3:
        return (ULONG64)(ULONG_PTR)acts_interface.DeviceHandle;
    case 4:
    case 5:
        return (ULONG64)(ULONG_PTR)memory;
    case 6:
        return (ULONG64)(ULONG_PTR)WILD;
    case 7:
        return (ULONG64)(ULONG_PTR)CANONICAL;
    case 8:
        return ~0ull;
    default:
        memory[next_random(state) % 128] = next_random(state);
        return next_random(state);
    }
}

typedef ULONG64 NTAPI any_routine(ULONG64, ULONG64, ULONG64, ULONG64, ULONG64, ULONG64);

static void call_with_garbage(void *routine, ULONG64 *state)
{
    any_routine *call = (any_routine *)(ULONG_PTR)routine;

    if (call)
        sink = call(odd_value(state), odd_value(state), odd_value(state), odd_value(state),
                    odd_value(state), odd_value(state));
}

static const char *const routines[] = {
#define ROUTINE(name)  #name,
#define VARIABLE(name) /* data */
#define VALUE(...)     /* data */
#include "../../src/nt/routines.inc"
};

static void *find_routine(const char *name)
{
    WCHAR wide[64];
    UNICODE_STRING text;
    ULONG length = 0;

    for (; name[length] && length < 63; length++)
        wide[length] = (WCHAR)name[length];
    wide[length] = 0;
    RtlInitUnicodeString(&text, wide);
    return MmGetSystemRoutineAddress(&text);
}

static BOOLEAN act_by_call(ULONG act, ULONG seed)
{
    ULONG64 state = seed * 2654435761ull + 12345;
    void *const *callback = (void *const *)&acts_interface.DxgkCbEvalAcpiMethod;
    ULONG callbacks = (ULONG)((const char *)(&acts_interface + 1) - (const char *)callback) / 8;
    ULONG which;

    if (act == ACT_callback) {
        which = seed % callbacks;
        DbgPrint("callback %u\n", which);
        call_with_garbage(callback[which], &state);
    } else if (act == ACT_service && KeGetCurrentIrql() == PASSIVE_LEVEL) {
        const char *name = routines[seed % (sizeof(routines) / sizeof(routines[0]))];

        DbgPrint("service %s\n", name);
        call_with_garbage(find_routine(name), &state);
    } else {
        return act == ACT_service;
    }
    return TRUE;
}

void acts_do(ULONG act, ULONG seed, struct acts_call *call)
{
    (void)(acts_do_given(act, call) || act_on_memory(act) || act_on_stack(act, call) ||
           act_on_processor(act) || act_on_time(act) || act_on_services(act) ||
           act_on_call(act, seed, call) || act_by_call(act, seed) || acts_do_process(act, seed));
}
