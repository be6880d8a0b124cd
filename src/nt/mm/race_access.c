/* SPDX-License-Identifier: MIT */
#include "nt/mm/race_access.h"

#include <stdio.h>

#include "nt/base/caller.h"
#include "nt/base/state.h"
#include "nt/ke/level.h"
#include "nt/mm/pool.h"
#include "race/race.h"
#include "sim/machine.h"
#include "verify/verify.h"

#define FRAMES 6u /* of the earlier access */

static const char *act(unsigned kind)
{
    static const char *const name[] = {"read", "write", "interlocked read", "interlocked operation"};

    return kind & RACE_FREE ? "free" : name[kind & (RACE_WRITE | RACE_ATOMIC)];
}

/* "write in refgpu.so!isr+0x12 at submit.c:85 (interrupt on processor 1 at DIRQL,
 * DxgkDdiInterruptRoutine)" */
static void say_access(const struct race_access *access, const char *task, char *text, size_t bytes)
{
    const struct nt_config *config = &nt_state()->config;
    char place[96], line[72] = " at ";

    nt_caller_name((const void *)access->pc, place, sizeof(place)); // NOLINT: a place in the driver
    if (!config->line || !config->line(access->pc - 1, line + 4, sizeof(line) - 4))
        line[0] = '\0';
    snprintf(text, bytes, "%s in %s%s (%s on processor %u at %s%s%s)", act(access->kind), place,
             line, task, access->processor, nt_irql_name(access->irql), access->call ? ", " : "",
             access->call ? access->call : "");
}

/* The calls that led to the earlier access; the later one's are the stack of the report. */
static void say_stack(const struct race_access *access, char *text, size_t bytes)
{
    uintptr_t pc[FRAMES];
    size_t count = race_stack(sim_current->races, access->stack, pc, FRAMES), used = 0;
    char place[96];

    text[0] = '\0';
    for (size_t i = 0; i < count && used < bytes; i++)
        if (nt_caller_in_driver(pc[i], place, sizeof(place)))
            used += (size_t)snprintf(text + used, bytes - used, "%s%s",
                                     used ? " < " : "; it was called by ", place);
}

static void say_memory(uintptr_t address, char *text, size_t bytes)
{
    const struct nt_block *block = nt_pool_find((const void *)address); // NOLINT
    char tag[5];

    if (block) {
        nt_pool_tag_text(block->tag, tag);
        snprintf(text, bytes, "byte %llu of a pool block of %llu bytes, tag '%s'",
                 (unsigned long long)(address - (uintptr_t)block->address),
                 (unsigned long long)block->bytes, tag);
        return;
    }
    nt_caller_name((const void *)address, text, bytes); // NOLINT
}

static void report(const struct race_found *found)
{
    char now[256], before[256], memory[96], stack[640];

    say_access(&found->now, found->now_name, now, sizeof(now));
    say_access(&found->before, found->before_name, before, sizeof(before));
    say_stack(&found->before, stack, sizeof(stack));
    say_memory(found->address, memory, sizeof(memory));
    verify_report_each(
        "THREAD-080",
        (found->now.kind | found->before.kind) & RACE_IMAGE ? VERIFY_WARNING : VERIFY_ERROR,
        "the %s is in no order with the earlier %s: %s%s", now, before, memory, stack);
}

void nt_race_access(const volatile void *address, uint64_t bytes, unsigned kind, uintptr_t pc)
{
    struct sim_machine *m = sim_current;
    struct race_found found;

    if (m->stopped)
        return;
    if (race_access(m->races, address, bytes,
                    (struct race_access){.pc = pc,
                                         .call = m->frame == race_outer(m->races) ? NULL : m->call,
                                         .kind = (uint8_t)kind,
                                         .irql = m->irql,
                                         .processor = (uint8_t)m->processor},
                    &found))
        report(&found);
}
