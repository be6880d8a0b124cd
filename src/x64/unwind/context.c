/* SPDX-License-Identifier: MIT */
/* Conversion between the processor's registers and a CONTEXT. */
#include "x64/unwind/context.h"

#include <stddef.h>
#include <string.h>

#include "x64/unwind/unwind_info.h"

_Static_assert(offsetof(CONTEXT, ContextFlags) == 0x30 && offsetof(CONTEXT, MxCsr) == 0x34 &&
                   offsetof(CONTEXT, SegCs) == 0x38 && offsetof(CONTEXT, SegSs) == 0x42 &&
                   offsetof(CONTEXT, EFlags) == 0x44 && offsetof(CONTEXT, Rax) == 0x78 &&
                   offsetof(CONTEXT, Rip) == 0xF8 && offsetof(CONTEXT, FltSave) == 0x100,
               "context.S knows these");
_Static_assert(sizeof(((struct sim_registers *)NULL)->floating) == sizeof(XMM_SAVE_AREA32),
               "both are what FXSAVE writes");

#define FLAGS_ALLOWED 0x00250DD5u /* arithmetic, direction, trap, resume, alignment check, ID */
#define FLAGS_FIXED   0x00000202u
#define MXCSR_ALLOWED 0x0000FFFFu

_Noreturn void x64_load(const CONTEXT *context);

void x64_context_of_fault(const struct sim_fault *fault, CONTEXT *context)
{
    const struct sim_registers *registers = fault->registers;

    memset(context, 0, sizeof(*context));
    context->ContextFlags = X64_CONTEXT_ALL;
    for (unsigned i = 0; i < 16; i++)
        *x64_register(context, i) = registers->general[i];
    context->Rip = fault->pc;
    context->EFlags = (ULONG)registers->flags;
    context->SegCs = registers->code_segment;
    context->SegSs = registers->stack_segment;
    memcpy(&context->FltSave, registers->floating, sizeof(context->FltSave));
    context->MxCsr = context->FltSave.MxCsr;
}

#if defined(__SANITIZE_ADDRESS__)
void __asan_handle_no_return(void);
#endif

_Noreturn void x64_context_resume(const CONTEXT *context)
{
    CONTEXT clean;

    x64_capture(&clean);
    if ((context->ContextFlags & X64_CONTEXT_FLOATING_POINT) == X64_CONTEXT_FLOATING_POINT)
        clean.FltSave = context->FltSave;
    clean.FltSave.MxCsr = context->MxCsr & MXCSR_ALLOWED;
    if ((context->ContextFlags & X64_CONTEXT_INTEGER) == X64_CONTEXT_INTEGER)
        memcpy(&clean.Rax, &context->Rax, 16 * sizeof(clean.Rax));
    clean.Rsp = context->Rsp;
    clean.Rip = context->Rip;
    clean.EFlags = (context->EFlags & FLAGS_ALLOWED) | FLAGS_FIXED;
#if defined(__SANITIZE_ADDRESS__)
    __asan_handle_no_return();
#endif
    x64_load(&clean);
}
