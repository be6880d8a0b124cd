/* SPDX-License-Identifier: MIT */
/* The interrupt request level of the current processor. */
#include "nt/ke/irql.h"
#include "nt/base/current.h"
#include "nt/base/export.h"
#include "nt/base/kthread.h"
#include "nt/base/nt_report.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "sim/irql.h"
#include "verify/verify.h"

#define IRQL_NOT_LESS_OR_EQUAL_CODE 0xAu

/* Raises nest within a thread (and within what interrupts it): lowering undoes the last raise to
 * the current level. Other routines change the level too, so nothing is checked where the record
 * does not match. */
static void note_raise(uint8_t from, uint8_t to)
{
    struct _KTHREAD *thread = nt_thread();

    if (thread->raises < NT_RAISES)
        thread->raise[thread->raises] = (struct nt_raise_record){from, to};
    thread->raises++;
}

static int note_lower(void)
{
    struct _KTHREAD *thread = nt_thread();
    struct nt_raise_record last;

    if (thread->raises == 0 || --thread->raises >= NT_RAISES)
        return -1;
    last = thread->raise[thread->raises];
    return last.to == sim_irql() ? last.from : -1;
}

/* True: the level was raised to the same level before, which a write of that value undoes. */
static bool undoes_raise_to_itself(uint8_t irql)
{
    const struct _KTHREAD *thread = nt_thread();
    const struct nt_raise_record *last;

    if (thread->raises == 0 || thread->raises > NT_RAISES)
        return false;
    last = &thread->raise[thread->raises - 1];
    return last->from == irql && last->to == irql;
}

static void lower(uint8_t irql, const char *routine)
{
    uint8_t now = sim_irql();
    int expected = note_lower();

    if (expected >= 0 && expected != irql)
        VIOLATION("NT-076", "%s from %s to %s, the last raise was from %s", routine,
                  nt_irql_name(now), nt_irql_name(irql), nt_irql_name((uint8_t)expected));
    sim_lower_irql(irql);
}

void nt_irql_write(uint8_t irql)
{
    uint8_t now = sim_irql();

    if (irql > now || (irql == now && !undoes_raise_to_itself(irql))) {
        note_raise(now, irql);
        sim_raise_irql(irql);
    } else {
        lower(irql, "a write to CR8");
    }
}

/* Not a point, like other routines that headers may define inline as a simple load: the driver must
 * behave the same, whichever header it was compiled with. */
NT_EXPORT KIRQL NTAPI KeGetCurrentIrql(void)
{
    return sim_irql();
}

NT_EXPORT KIRQL NTAPI KfRaiseIrql(KIRQL NewIrql)
{
    KIRQL before;

    NT_ENTER_SHORT();
    before = sim_irql();
    if (NewIrql < before || NewIrql > HIGH_LEVEL) {
        NT_VERIFIER("NT-075", 0x30, before, NewIrql, 0, "KeRaiseIrql from %s to %s",
                    nt_irql_name(before), nt_irql_name(NewIrql));
        return before;
    }
    note_raise(before, NewIrql);
    return sim_raise_irql(NewIrql);
}

NT_EXPORT KIRQL NTAPI KeRaiseIrqlToDpcLevel(void)
{
    KIRQL before;

    NT_ENTER_SHORT();
    before = sim_irql();
    if (before > SIM_IRQL_DISPATCH) {
        verify_fatal("NT-078", IRQL_NOT_LESS_OR_EQUAL_CODE, before, SIM_IRQL_DISPATCH, 0, 0,
                     "%s at %s", __func__, nt_irql_name(before));
        return before;
    }
    note_raise(before, SIM_IRQL_DISPATCH);
    return sim_raise_irql(SIM_IRQL_DISPATCH);
}

NT_EXPORT VOID NTAPI KeLowerIrql(KIRQL NewIrql)
{
    KIRQL now;

    NT_ENTER_SHORT();
    now = sim_irql();
    if (NewIrql > now) {
        NT_VERIFIER("NT-076", 0x31, now, NewIrql, 0, "%s from %s to %s", __func__,
                    nt_irql_name(now), nt_irql_name(NewIrql));
        return;
    }
    lower(NewIrql, __func__);
}
