/* SPDX-License-Identifier: MIT */
/* Registers that a handler finds, frames of all kinds, and the routines that look at them. */
#include "seh_kit.h"

IMPORT unsigned short RtlCaptureStackBackTrace(unsigned skip, unsigned count, void **trace,
                                               unsigned *hash);
IMPORT void RtlCaptureContext(struct context *context);
IMPORT void *RtlLookupFunctionEntry(u64 pc, u64 *base, void *history);
IMPORT void *RtlVirtualUnwind(unsigned type, u64 base, u64 pc, void *entry, struct context *context,
                              void **data, u64 *establisher, void *pointers);

/* ---- registers ---- */

static NOINLINE void clobber_and_raise(void)
{
    __asm__ volatile("xorps %%xmm6, %%xmm6\n xorps %%xmm7, %%xmm7\n xorps %%xmm8, %%xmm8\n"
                     "xorps %%xmm9, %%xmm9\n xorps %%xmm10, %%xmm10\n xorps %%xmm11, %%xmm11\n"
                     "xorps %%xmm12, %%xmm12\n xorps %%xmm13, %%xmm13\n xorps %%xmm14, %%xmm14\n"
                     "xorps %%xmm15, %%xmm15\n"
                     "xorl %%ebx, %%ebx\n xorl %%esi, %%esi\n xorl %%edi, %%edi\n"
                     "xorl %%r12d, %%r12d\n xorl %%r13d, %%r13d\n xorl %%r14d, %%r14d\n"
                     "xorl %%r15d, %%r15d\n" ::
                         : "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
                           "xmm14", "xmm15", "rbx", "rsi", "rdi", "r12", "r13", "r14", "r15");
    if (report->scenario == SEH_REGISTERS && report->memory)
        fault_now();
}

static NOINLINE void guard_clobbering(void)
{
    __try {
        clobber_and_raise();
        note(99);
    } __except (TAKE) {
        note(1);
    }
}

/* Fill the registers that a callee keeps, call, and compare. Everything in one statement, so that the compiler has no say. */
static NOINLINE u64 registers_kept(void)
{
    u64 wrong = 0;

    __asm__ volatile(
        "subq $40, %%rsp\n"
        "movl $0x101, %%eax\n"
        "movl $101, %%ebx\n movl $102, %%esi\n movl $103, %%edi\n movl $104, %%r12d\n"
        "movl $105, %%r13d\n movl $106, %%r14d\n movl $107, %%r15d\n"
        "movl $6, %%eax\n movq %%rax, %%xmm6\n movl $7, %%eax\n movq %%rax, %%xmm7\n"
        "movl $8, %%eax\n movq %%rax, %%xmm8\n movl $9, %%eax\n movq %%rax, %%xmm9\n"
        "movl $10, %%eax\n movq %%rax, %%xmm10\n movl $11, %%eax\n movq %%rax, %%xmm11\n"
        "movl $12, %%eax\n movq %%rax, %%xmm12\n movl $13, %%eax\n movq %%rax, %%xmm13\n"
        "movl $14, %%eax\n movq %%rax, %%xmm14\n movl $15, %%eax\n movq %%rax, %%xmm15\n"
        "addq $40, %%rsp\n"
        "call *%1\n"
        "subq $101, %%rbx\n subq $102, %%rsi\n subq $103, %%rdi\n subq $104, %%r12\n"
        "subq $105, %%r13\n subq $106, %%r14\n subq $107, %%r15\n"
        "orq %%rsi, %%rbx\n orq %%rdi, %%rbx\n orq %%r12, %%rbx\n orq %%r13, %%rbx\n"
        "orq %%r14, %%rbx\n orq %%r15, %%rbx\n"
        "movq %%xmm6, %%rax\n subq $6, %%rax\n orq %%rax, %%rbx\n"
        "movq %%xmm7, %%rax\n subq $7, %%rax\n orq %%rax, %%rbx\n"
        "movq %%xmm8, %%rax\n subq $8, %%rax\n orq %%rax, %%rbx\n"
        "movq %%xmm9, %%rax\n subq $9, %%rax\n orq %%rax, %%rbx\n"
        "movq %%xmm10, %%rax\n subq $10, %%rax\n orq %%rax, %%rbx\n"
        "movq %%xmm11, %%rax\n subq $11, %%rax\n orq %%rax, %%rbx\n"
        "movq %%xmm12, %%rax\n subq $12, %%rax\n orq %%rax, %%rbx\n"
        "movq %%xmm13, %%rax\n subq $13, %%rax\n orq %%rax, %%rbx\n"
        "movq %%xmm14, %%rax\n subq $14, %%rax\n orq %%rax, %%rbx\n"
        "movq %%xmm15, %%rax\n subq $15, %%rax\n orq %%rax, %%rbx\n"
        "movq %%rbx, %0\n"
        : "=m"(wrong)
        : "c"(guard_clobbering)
        : "rax", "rdx", "r8", "r9", "r10", "r11", "rbx", "rsi", "rdi", "r12", "r13", "r14", "r15",
          "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
          "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
    nothing(); /* room for a callee's arguments exists, since this function calls */
    return wrong;
}

/* ---- many frames ---- */

static NOINLINE unsigned deep_inside(unsigned depth)
{
    volatile unsigned char bytes[200];
    unsigned result;

    bytes[depth % sizeof(bytes)] = (unsigned char)depth;
    if (depth == 0)
        raise_status(STATUS_OF_OURS);
    if (depth % 10 == 0) {
        __try {
            result = deep_inside(depth - 1);
        } __finally {
            report->value++;
        }
    } else {
        result = deep_inside(depth - 1);
    }
    return result + bytes[0];
}

static NOINLINE void deep(void)
{
    __try {
        deep_inside(200);
    } __except (SEEN(TAKE)) {
        note(1);
    }
}

static NOINLINE void dynamic_inside(unsigned bytes)
{
    volatile unsigned char *memory = (volatile unsigned char *)__builtin_alloca(bytes);

    memory[bytes - 1] = 7;
    __try {
        fault_now();
    } __except (note(1), memory[bytes - 1] == 7 ? TAKE : DISMISS) {
        note(2);
        report->value = memory[bytes - 1];
    }
}

static NOINLINE void dynamic_frame(void)
{
    volatile unsigned bytes = 3000;

    dynamic_inside(bytes);
}

static NOINLINE void many(void)
{
    u64 first = 0;

    for (unsigned i = 0; i < 5000; i++) {
        u64 here = (u64)__builtin_frame_address(0);

        __try {
            if (i & 1)
                raise_status(STATUS_OF_OURS);
            else
                fault_now();
        } __except (TAKE) {
            report->value++;
        }
        if (first == 0)
            first = here;
        if (here != first)
            note(99);
    }
    note(1);
}

/* ---- routines ---- */

static NOINLINE void back_trace(void)
{
    void *trace[8] = {0};
    unsigned hash = 0;

    report->value = RtlCaptureStackBackTrace(0, 8, trace, &hash);
    report->parameter[0] = (u64)trace[0];
    report->parameter[1] = (u64)trace[1];
    expect_at((void *)back_trace);
    note(hash != 0);
}

static NOINLINE void virtual_unwind(void)
{
    struct context context;
    u64 base = 0, establisher = 0;
    void *data = 0, *entry;

    RtlCaptureContext(&context);
    expect_at((void *)virtual_unwind);
    report->address = context.rip;
    entry = RtlLookupFunctionEntry(context.rip, &base, 0);
    note(entry != 0);
    RtlVirtualUnwind(0, base, context.rip, entry, &context, &data, &establisher, 0);
    note(context.rip == (u64)__builtin_return_address(0));
}
int play_frames(unsigned scenario)
{
    switch (scenario) {
    case SEH_REGISTERS:
        report->value = registers_kept();
        return 1;
    case SEH_DEEP:
        deep();
        return 1;
    case SEH_DYNAMIC_FRAME:
        dynamic_frame();
        return 1;
    case SEH_MANY:
        many();
        return 1;
    case SEH_BACK_TRACE:
        back_trace();
        return 1;
    case SEH_VIRTUAL_UNWIND:
        virtual_unwind();
        return 1;
    default:
        return 0;
    }
}
