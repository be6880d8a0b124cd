/* SPDX-License-Identifier: MIT */
/* Critical and guarded regions: per-thread counts that say which APCs are disabled. */
#include "nt/base/current.h"
#include "nt/base/export.h"
#include "nt/base/nt_report.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "sim/irql.h"

static void enter(int32_t *count, uint32_t code, const char *routine)
{
    nt_level(NT_APC, "NT-073", code, routine);
    ++*count;
}

static void leave(int32_t *count, uint32_t code, const char *routine)
{
    nt_level(NT_APC, "NT-073", code, routine);
    if (*count == 0)
        NT_VERIFIER("NT-073", 0x3E, 0, 0, 0, "%s without the matching enter", routine);
    else
        --*count;
}

NT_EXPORT VOID NTAPI KeEnterCriticalRegion(void)
{
    NT_ENTER();
    enter(&nt_thread()->kernel_apc_disable, 0x11A, __func__);
}

NT_EXPORT VOID NTAPI KeLeaveCriticalRegion(void)
{
    NT_ENTER();
    leave(&nt_thread()->kernel_apc_disable, 0x11B, __func__);
}

NT_EXPORT VOID NTAPI KeEnterGuardedRegion(void)
{
    NT_ENTER();
    enter(&nt_thread()->special_apc_disable, 0x11A, __func__);
}

NT_EXPORT VOID NTAPI KeLeaveGuardedRegion(void)
{
    NT_ENTER();
    leave(&nt_thread()->special_apc_disable, 0x11B, __func__);
}

NT_EXPORT BOOLEAN NTAPI KeAreApcsDisabled(void)
{
    const struct _KTHREAD *thread;

    NT_ENTER();
    thread = nt_thread();
    return thread->kernel_apc_disable != 0 || thread->special_apc_disable != 0;
}

NT_EXPORT BOOLEAN NTAPI KeAreAllApcsDisabled(void)
{
    NT_ENTER();
    return nt_thread()->special_apc_disable != 0 || sim_irql() >= SIM_IRQL_APC;
}
