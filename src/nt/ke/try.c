/* SPDX-License-Identifier: MIT */
/*
 * Exception blocks of ELF drivers (dxgk_seh.h). A thread has a chain of records on its stack,
 * innermost first. An exception goes to the innermost record in the same call of the driver, since
 * host frames must not be unwound. The records are the driver's memory, so each is checked before
 * it is used.
 */
#include <stddef.h>
#include <string.h>

#include <dxgk_seh.h>

#include "nt/ke/try.h"
#include "nt/base/current.h"
#include "sim/dpc.h"
#include "sim/fault.h"
#include "sim/interrupt.h"
#include "sim/machine.h"

#define DEEPEST 64u /* most nested blocks that are left at once */

_Static_assert(offsetof(DXGK_TRY_RECORD, Xmm) == 80 && offsetof(DXGK_TRY_RECORD, MxCsr) == 240,
               "try.S knows these");

LONG NTAPI nt_try_link(DXGK_TRY_RECORD *record);
_Noreturn void nt_try_jump(const DXGK_TRY_RECORD *record);

/* Whether this is a thread, a DPC, or an interrupt. */
static UCHAR place(void)
{
    return (UCHAR)(sim_in_dpc() | sim_in_interrupt() << 1);
}

LONG NTAPI nt_try_link(DXGK_TRY_RECORD *record)
{
    struct _KTHREAD *thread = nt_thread();

    record->Outer = thread->tries;
    record->Call = sim_current->frame;
    record->Place = place();
    record->Linked = TRUE;
    thread->tries = record;
    return 0;
}

__attribute__((visibility("default"))) VOID NTAPI DxgkTryLeave(DXGK_TRY_RECORD *record)
{
    struct _KTHREAD *thread = nt_thread();
    struct _DXGK_TRY_RECORD *at = thread->tries;

    record->Linked = FALSE;
    if (at == record) {
        thread->tries = record->Outer;
        return;
    }
    /* Inner blocks that were left without notice end, too. */
    for (unsigned i = 0; at && i < DEEPEST; i++) {
        struct _DXGK_TRY_RECORD *outer = NULL;

        if (!sim_copy_checked(&outer, &at->Outer, sizeof(outer)))
            break;
        if (at == record) {
            thread->tries = outer;
            return;
        }
        at = outer;
    }
}

/* Whether the block is still on the stack, and belongs to the call in progress. A raise ends the
 * link of its block, so a damaged chain does not lead to the same one again. */
static bool reachable(const DXGK_TRY_RECORD *record, const DXGK_TRY_RECORD *copy)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    if ((uintptr_t)record <= here || (uintptr_t)record % _Alignof(DXGK_TRY_RECORD) != 0 ||
        copy->Registers[8] <= (uintptr_t)here || copy->Call != sim_current->frame || !copy->Linked)
        return false;
    return copy->Place == place(); /* code that interrupted the thread cannot use its blocks */
}

void nt_try_raise(const EXCEPTION_RECORD *exception)
{
    struct _KTHREAD *thread = nt_thread();
    DXGK_TRY_RECORD *record = thread->tries;
    DXGK_TRY_RECORD copy;

    if (!record || !sim_copy_checked(&copy, record, sizeof(copy)) || !reachable(record, &copy))
        return;
    thread->tries = copy.Outer;
    record->Linked = FALSE;
    record->Raised = TRUE;
    record->Phase = 1;
    record->Exception = *exception;
    record->Exception.ExceptionRecord = NULL;
    record->Pointers.ExceptionRecord = &record->Exception;
    record->Pointers.ContextRecord = NULL;
#if defined(__SANITIZE_ADDRESS__)
    extern void __asan_handle_no_return(void);
    __asan_handle_no_return();
#endif
    nt_try_jump(record);
}
