/* SPDX-License-Identifier: MIT */
/* Fibers: a mapped stack between guard pages, and a switch that saves six registers (about 10
 * ns). */
#include "sim/fiber.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "util/address.h"
#include "util/alloc.h"
#include "util/map.h"

#if SIM_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#define GUARD_BYTES 4096u

void sim_switch_stack(void **save, void *to);

static size_t mapping_bytes(size_t stack_bytes)
{
    return 2 * stack_bytes + 3 * (size_t)GUARD_BYTES;
}

bool fiber_init(struct fiber *fiber, size_t stack_bytes)
{
    char *mapping;

    memset(fiber, 0, sizeof(*fiber));
    if (util_fault_point())
        return false;
    mapping = util_map(NULL, mapping_bytes(stack_bytes), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapping == MAP_FAILED)
        return false;
    fiber->stack = mapping + GUARD_BYTES;
    fiber->stack_bytes = stack_bytes;
    fiber->records = fiber->stack + stack_bytes + GUARD_BYTES;
    fiber->first_record = fiber->records + 448 * ((uintptr_t)mapping / stack_bytes % 8);
    if (util_guard(mapping, GUARD_BYTES) == 0 &&
        util_guard(fiber->stack + stack_bytes, GUARD_BYTES) == 0 &&
        util_guard(fiber->records + stack_bytes, GUARD_BYTES) == 0)
        return true;
    util_unmap(mapping, mapping_bytes(stack_bytes));
    fiber->stack = NULL;
    return false;
}

void fiber_finish(struct fiber *fiber)
{
    if (!fiber->stack)
        return;
#if SIM_ASAN
    ASAN_UNPOISON_MEMORY_REGION(fiber->stack, fiber->stack_bytes);
#endif
    util_unmap(fiber->stack - GUARD_BYTES, mapping_bytes(fiber->stack_bytes));
    fiber->stack = NULL;
}

struct start {
    void (*entry)(void *arg);
    void *arg;
};

/* First frame of every fiber: sim_switch_stack returns to it, with the start record in r12 (one of
 * the saved registers). */
static void fiber_begin(struct start *start)
{
#if SIM_ASAN
    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
    start->entry(start->arg);
    __builtin_trap();
}

__asm__(".text\n"
        ".type sim_fiber_first, @function\n"
        "sim_fiber_first:\n"
        "    movq %r12, %rdi\n"
        "    xorl %ebp, %ebp\n"
        "    pushq $0\n" /* return address 0: unwinders stop here */
        "    jmp *%r13\n"
        ".size sim_fiber_first, . - sim_fiber_first\n");
extern char sim_fiber_first[] __attribute__((visibility("hidden")));

void fiber_prepare(struct fiber *fiber, void (*entry)(void *arg), void *arg)
{
    uintptr_t top = ((uintptr_t)fiber->stack + fiber->stack_bytes) & ~(uintptr_t)15;
    struct start *start = (struct start *)(top - 64);
    uint64_t *frame;
    uint32_t mxcsr = 0x1F80;
    uint16_t x87 = 0x037F;

#if SIM_ASAN
    ASAN_UNPOISON_MEMORY_REGION(fiber->stack, fiber->stack_bytes);
#endif
    start->entry = entry;
    start->arg = arg;
    /* Build the stack as sim_switch_stack leaves it: control words, r15, r14, r13, r12, rbx, rbp,
     * return address. After the return and the push in sim_fiber_first, the stack is 8 bytes off a
     * multiple of 16, as at the entry of any function. */
    frame = (uint64_t *)(top - 128 - 8 * 8);
    memset(frame, 0, 8 * 8);
    memcpy(frame, &mxcsr, sizeof(mxcsr));
    memcpy((char *)frame + 4, &x87, sizeof(x87));
    frame[3] = (uint64_t)(uintptr_t)fiber_begin;
    frame[4] = (uint64_t)(uintptr_t)start;
    frame[7] = (uint64_t)(uintptr_t)sim_fiber_first;
    fiber->sp = frame;
    fiber->asan_stack = NULL;
}

void fiber_switch(struct fiber *from, struct fiber *to, bool ending)
{
#if SIM_ASAN
    const void *bottom = NULL;
    size_t bytes = 0;

    __sanitizer_start_switch_fiber(ending ? NULL : &from->asan_stack, to->stack, to->stack_bytes);
    sim_switch_stack(&from->sp, to->sp);
    __sanitizer_finish_switch_fiber(from->asan_stack, &bottom, &bytes);
#else
    (void)ending;
    sim_switch_stack(&from->sp, to->sp);
#endif
}
