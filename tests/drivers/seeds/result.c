/* SPDX-License-Identifier: MIT */
/* What the probes came to, and the device's look at memory that many of them need. */
#include "seeds.h"

static const struct {
    const char *name, *rule;
} probes[SEEDS_PROBE_COUNT] = {
#define SEEDS_NAME(Id, Name, Rule) {Name, Rule},
    SEEDS_PROBES(SEEDS_NAME)
#undef SEEDS_NAME
};

BOOLEAN seeds_check(struct seeds_adapter *adapter, enum seeds_probe probe, BOOLEAN good,
                    const char *text, ULONGLONG a, ULONGLONG b, ULONGLONG c, ULONGLONG d)
{
    struct seeds_result *result = &adapter->result[probe];
    KIRQL irql;

    KeAcquireSpinLock(&adapter->lock, &irql);
    if (result->failed == 0) { /* of failures the first is kept */
        result->text = text;
        result->value[0] = a;
        result->value[1] = b;
        result->value[2] = c;
        result->value[3] = d;
    }
    if (good)
        result->passed++;
    else
        result->failed++;
    KeReleaseSpinLock(&adapter->lock, irql);
    return good;
}

static ULONG append(char *text, ULONG at, const char *from)
{
    while (from && *from && at + 1 < SEEDS_TEXT)
        text[at++] = *from++;
    if (at + 1 < SEEDS_TEXT)
        text[at++] = '\n';
    return at;
}

void seeds_result(struct seeds_adapter *adapter, struct seeds_escape *e)
{
    const struct seeds_result *result;
    ULONG at;

    if (e->arg[0] >= SEEDS_PROBE_COUNT) {
        e->status = STATUS_NO_MORE_ENTRIES;
        return;
    }
    result = &adapter->result[e->arg[0]];
    e->arg[1] = result->passed;
    e->arg[2] = result->failed;
    for (ULONG i = 0; i < 4; i++)
        e->arg[3 + i] = result->value[i];
    RtlZeroMemory(e->text, sizeof(e->text));
    at = append(e->text, 0, probes[e->arg[0]].name);
    at = append(e->text, at, probes[e->arg[0]].rule);
    append(e->text, at, result->text ? result->text : "");
}

/* ---- the device's look at memory ---- */

ULONGLONG seeds_device_address(UINT segment, ULONGLONG address)
{
    return segment == 0 ? SEEDS_BUS | address : address;
}

BOOLEAN seeds_peek(struct seeds_adapter *adapter, ULONG how, ULONGLONG root, ULONGLONG address,
                   ULONGLONG *value)
{
    BOOLEAN done;
    KIRQL irql;

    KeAcquireSpinLock(&adapter->lock, &irql);
    seeds_write(adapter, SEEDS_REG_PEEK_LO, (ULONG)address);
    seeds_write(adapter, SEEDS_REG_PEEK_HI, (ULONG)(address >> 32));
    seeds_write(adapter, SEEDS_REG_ROOT_LO, (ULONG)root);
    seeds_write(adapter, SEEDS_REG_ROOT_HI, (ULONG)(root >> 32));
    seeds_write(adapter, SEEDS_REG_DATA_LO, (ULONG)*value);
    seeds_write(adapter, SEEDS_REG_DATA_HI, (ULONG)(*value >> 32));
    seeds_write(adapter, SEEDS_REG_PEEK_GO, how);
    done = seeds_read(adapter, SEEDS_REG_PEEK_STATUS) != 0;
    if (!(how & SEEDS_PEEK_WRITE))
        *value = seeds_read(adapter, SEEDS_REG_DATA_LO) |
                 (ULONGLONG)seeds_read(adapter, SEEDS_REG_DATA_HI) << 32;
    KeReleaseSpinLock(&adapter->lock, irql);
    return done;
}

/* ---- the GPU scheduler class ---- */

BOOLEAN seeds_enter_class(struct seeds_adapter *adapter)
{
    return InterlockedIncrement(&adapter->in_class) == 1;
}

void seeds_leave_class(struct seeds_adapter *adapter)
{
    InterlockedDecrement(&adapter->in_class);
}

ULONG seeds_sum(const VOID *bytes, ULONG count)
{
    const UCHAR *at = (const UCHAR *)bytes;
    ULONG sum = 2166136261u;

    while (count-- > 0)
        sum = (sum ^ *at++) * 16777619u;
    return sum;
}
