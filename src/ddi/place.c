/* SPDX-License-Identifier: MIT */
/* Where a violation happened, what a driver fault was, and the last DDI before a simulated bug check. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ddi/ddi_private.h"

struct ddi_state {
    struct ddi_hooks hooks;
    bool in_bugcheck;
};

static struct ddi_state *state_of(void)
{
    return sim_current ? sim_current->room[SIM_ROOM_DDI] : NULL;
}

static bool symbolize(uintptr_t pc, char *text, size_t bytes)
{
    struct ddi_state *state = state_of();

    return state && state->hooks.symbolize && state->hooks.symbolize(pc, text, bytes);
}

static void describe(struct verify_record *record)
{
    struct sim_machine *m = sim_current;
    struct ddi_frame *frame = m ? m->frame : NULL;
    const struct ddi_frame *ddi = frame;

    if (!m)
        return;
    record->time = m->now;
    record->irql = m->irql;
    snprintf(record->thread, sizeof(record->thread), "%s", m->thread ? sim_thread_name(m->thread) : "idle");
    while (ddi && ddi->caller)
        ddi = ddi->outer;
    if (frame && frame->caller) {
        char caller[64] = "";

        symbolize(frame->caller, caller, sizeof(caller));
        snprintf(record->where, sizeof(record->where), "%s called by %s%s%s", frame->name, caller[0] ? caller : "the driver",
                 ddi ? " in " : "", ddi ? ddi->name : "");
    } else if (frame) {
        snprintf(record->where, sizeof(record->where), "%s", frame->name);
    }
}

/* LIFE-002, TDR-066: DxgkDdiCollectDbgInfo is the last DDI, then the machine stops. */
static void bugcheck(const struct verify_bugcheck *bug)
{
    struct ddi_state *state = state_of();
    struct ddi_adapter *adapter;

    if (!state || !sim_current)
        return;
    adapter = sim_current->frame ? ddi_current_adapter() : NULL;
    if (!state->in_bugcheck) {
        state->in_bugcheck = true;
        if (adapter && adapter->context && ddi_has(adapter, DxgkDdiCollectDbgInfo) && sim_irql() < SIM_IRQL_DISPATCH &&
            !sim_current->stopped) {
            char buffer[1024];
            DXGKARG_COLLECTDBGINFO_EXT extension;
            DXGKARG_COLLECTDBGINFO args = {.Reason = bug->code, .pBuffer = buffer, .BufferSize = sizeof(buffer), .pExtension = &extension};

            memset(&extension, 0, sizeof(extension));
            ddi_collect_dbg_info(adapter, &args);
        }
        if (state->hooks.bugcheck)
            state->hooks.bugcheck(bug);
    }
    sim_stop();
}

static const char *fault_text(enum sim_fault_kind kind)
{
    switch (kind) {
    case SIM_FAULT_READ:
        return "read from";
    case SIM_FAULT_WRITE:
        return "wrote to";
    case SIM_FAULT_EXECUTE:
        return "jumped to";
    case SIM_FAULT_STACK:
        return "overflowed its stack at";
    case SIM_FAULT_INSTRUCTION:
        return "executed an illegal instruction near";
    case SIM_FAULT_ARITHMETIC:
        return "made an arithmetic fault near";
    default:
        return "faulted at";
    }
}

static void on_fault(const struct sim_fault *fault)
{
    struct ddi_frame *frame = sim_current->frame;
    const char *name = "driver code";
    char place[128] = "";

    for (; frame; frame = frame->outer) {
        name = frame->name;
        if (!frame->caller)
            break;
    }
    if (!symbolize(fault->pc, place, sizeof(place))) {
        Dl_info info;
        struct ddi_frame *callback = sim_current->frame;
        char caller[64] = "";

        if (callback && callback->caller)
            symbolize(callback->caller, caller, sizeof(caller));
        if (dladdr((void *)fault->pc, &info) && info.dli_sname)
            snprintf(place, sizeof(place), "host routine %.40s%s%.40s", info.dli_sname, caller[0] ? " for " : "", caller);
        else
            snprintf(place, sizeof(place), "host code%s%s", caller[0] ? " for " : "", caller);
    }
    if (fault->kind == SIM_FAULT_HANG || fault->kind == SIM_FAULT_OVERDUE) {
        /* 0x133: DPC_WATCHDOG_VIOLATION; parameter 1 = 1: the stretch as a whole */
        verify_fatal("THREAD-067", 0x133, 1, sim_irql(), 0, 0, "%s did not return%s (in %s)", name,
                     fault->kind == SIM_FAULT_HANG ? ": it loops without calling the host" : " within its limit of virtual time",
                     fault->kind == SIM_FAULT_HANG ? place : name);
    } else {
        /* 0x1E: KMODE_EXCEPTION_NOT_HANDLED; parameters: status, instruction, access, address */
        verify_fatal("NT-002", 0x1E, (uint64_t)(uint32_t)STATUS_ACCESS_VIOLATION, 0, fault->kind == SIM_FAULT_WRITE,
                     fault->address, "%s in %s %s address 0x%" PRIxPTR, place, name, fault_text(fault->kind), fault->address);
    }
    sim_stop();
}

void ddi_install(const struct ddi_hooks *hooks)
{
    static const struct verify_place place = {.describe = describe, .bugcheck = bugcheck};
    struct ddi_state *state = sim_current->room[SIM_ROOM_DDI];

    if (!state) {
        state = util_zalloc(1, sizeof(*state));
        if (!state)
            return;
        sim_current->room[SIM_ROOM_DDI] = state;
    }
    state->hooks = *hooks;
    state->in_bugcheck = false;
    sim_on_fault(on_fault);
    if (verify_current)
        verify_set_place(verify_current, &place);
}
