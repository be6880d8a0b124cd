/* SPDX-License-Identifier: MIT */
/* Queries about processors, and the floating-point state of a thread. */
#include "nt/ke/processor.h"
#include "nt/base/current.h"
#include "nt/base/export.h"
#include "nt/base/state.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "sim/machine.h"
#include "verify/verify.h"

const struct nt_component nt_processor_component = {
    .slot = offsetof(struct nt, processors),
    .bytes = sizeof(struct nt_processors),
};

int nt_processor_holder(const volatile void *lock)
{
    for (unsigned i = 0; i < sim_current->processors; i++) {
        const struct nt_processor *processor = &nt_state()->processors->each[i];

        for (uint32_t held = 0; held < processor->held_count; held++) {
            if (processor->held[held].lock == lock)
                return (int)i;
        }
    }
    return -1;
}

static void fill(PPROCESSOR_NUMBER number)
{
    if (!number)
        return;
    number->Group = 0;
    number->Number = (UCHAR)sim_current->processor;
    number->Reserved = 0;
}

static KAFFINITY all_processors(void)
{
    unsigned count = sim_current->processors;

    return count == 64 ? ~(KAFFINITY)0 : ((KAFFINITY)1 << count) - 1;
}

NT_EXPORT ULONG NTAPI KeGetCurrentProcessorNumber(void) /* not a point; see KeGetCurrentIrql */
{
    return sim_current->processor;
}

NT_EXPORT ULONG NTAPI KeGetCurrentProcessorNumberEx(PPROCESSOR_NUMBER ProcNumber)
{
    NT_ENTER();
    fill(ProcNumber);
    return sim_current->processor;
}

NT_EXPORT KAFFINITY NTAPI KeQueryActiveProcessors(void)
{
    NT_ENTER();
    return all_processors();
}

NT_EXPORT ULONG NTAPI KeQueryActiveProcessorCount(PKAFFINITY ActiveProcessors)
{
    NT_ENTER();
    if (ActiveProcessors)
        *ActiveProcessors = all_processors();
    return sim_current->processors;
}

/* There is only one group. */
static ULONG count_in_group(USHORT group)
{
    return group == 0 || group == ALL_PROCESSOR_GROUPS ? sim_current->processors : 0;
}

NT_EXPORT ULONG NTAPI KeQueryActiveProcessorCountEx(USHORT GroupNumber)
{
    NT_ENTER();
    return count_in_group(GroupNumber);
}

NT_EXPORT ULONG NTAPI KeQueryMaximumProcessorCount(void)
{
    NT_ENTER();
    return sim_current->processors;
}

NT_EXPORT ULONG NTAPI KeQueryMaximumProcessorCountEx(USHORT GroupNumber)
{
    NT_ENTER();
    return count_in_group(GroupNumber);
}

/* Threads are not bound to processors: the affinity is recorded but has no effect. */
NT_EXPORT KAFFINITY NTAPI KeSetSystemAffinityThreadEx(KAFFINITY Affinity)
{
    struct _KTHREAD *thread;
    KAFFINITY before;

    NT_ENTER();
    if (!nt_level(NT_APC, "THREAD-009", NT_NO_CODE, __func__))
        return 0;
    thread = nt_thread();
    before = thread->affinity;
    thread->affinity = Affinity & all_processors();
    return before;
}

NT_EXPORT VOID NTAPI KeRevertToUserAffinityThreadEx(KAFFINITY Affinity)
{
    NT_ENTER();
    if (nt_level(NT_APC, "THREAD-009", NT_NO_CODE, __func__))
        nt_thread()->affinity = Affinity & all_processors();
}

/* ---- floating point state: hosted code may use it anyway, only the pairing counts ---- */

NT_EXPORT NTSTATUS NTAPI KeSaveFloatingPointState(PKFLOATING_SAVE FloatSave)
{
    NT_ENTER();
    (void)FloatSave;
    nt_level(NT_DISPATCH, "NT-160", NT_NO_CODE, __func__);
    nt_thread()->floating_saves++;
    return STATUS_SUCCESS;
}

NT_EXPORT NTSTATUS NTAPI KeRestoreFloatingPointState(PKFLOATING_SAVE FloatSave)
{
    NT_ENTER();
    (void)FloatSave;
    nt_level(NT_DISPATCH, "NT-160", NT_NO_CODE, __func__);
    if (nt_thread()->floating_saves == 0)
        VIOLATION("NT-160", "%s without a saved state", __func__);
    else
        nt_thread()->floating_saves--;
    return STATUS_SUCCESS;
}

NT_EXPORT BOOLEAN NTAPI KeInvalidateAllCaches(void)
{
    NT_ENTER();
    return TRUE;
}
