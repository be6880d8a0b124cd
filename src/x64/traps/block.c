/* SPDX-License-Identifier: MIT */
/*
 * Processor blocks (KPCR, which contains the KPRCB), one page per processor, to which the GS base
 * of the host thread points while that processor is the current one. Only members that drivers are
 * known to read inline are provided; the rest of the page is zero, and the pages after it, where
 * the real block continues, are inaccessible, so that reads of them are noticed.
 *
 * Below each block, at negative offsets, is the data that rewritten code uses.
 */
#include "x64/traps/block.h"
#include "nt/base/current.h"
#include "sim/machine.h"
#include "sim/switch.h"
#include "util/alloc.h"
#include "util/map.h"
#include "x64/traps/memory.h"
#include "x64/traps/state.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HWCAP2_FSGSBASE 2u
#define ARCH_SET_GS     0x1001
#define ARCH_GET_GS     0x1004
#define STRIDE          (32u * X64_PAGE) /* a page below, the block, and as much as a KPRCB takes */

/* Offsets of members, which are the same in all versions of Windows for x64. */
enum {
    PCR_SELF = 0x18,
    PCR_CURRENT_PRCB = 0x20,
    PCR_USED_SELF = 0x30,
    PCR_MAJOR_VERSION = 0x60,
    PCR_MINOR_VERSION = 0x62,
    PCR_PRCB = 0x180,
    PRCB_MXCSR = 0x180,
    PRCB_LEGACY_NUMBER = 0x184,
    PRCB_CURRENT_THREAD = 0x188,
    PRCB_IDLE_THREAD = 0x198,
    PRCB_NUMBER = 0x1A4,
};

static uint8_t *block_of(const struct x64_machine *x64, unsigned processor)
{
    return x64->blocks + (size_t)processor * STRIDE + X64_PAGE;
}

void *x64_processor_block(unsigned processor)
{
    return block_of(x64_state(), processor);
}

uintptr_t x64_gs_base(void)
{
    return (uintptr_t)block_of(x64_state(), sim_current->processor);
}

bool x64_block_gap(const struct x64_machine *x64, uintptr_t address)
{
    uintptr_t offset = address - (uintptr_t)x64->blocks;

    return x64->blocks && offset < (uintptr_t)sim_current->processors * STRIDE &&
           offset % STRIDE >= 2u * X64_PAGE;
}

/* ---- GS ---- */

static void set_gs(const struct x64_machine *x64, uint64_t base)
{
    if (x64->fsgsbase)
        __asm__ volatile("wrgsbase %0" : : "r"(base));
    else
        syscall(SYS_arch_prctl, ARCH_SET_GS, base);
}

static uint64_t get_gs(const struct x64_machine *x64)
{
    uint64_t base = 0;

    if (x64->fsgsbase)
        __asm__ volatile("rdgsbase %0" : "=r"(base));
    else
        syscall(SYS_arch_prctl, ARCH_GET_GS, &base);
    return base;
}

static void put(uint8_t *block, unsigned offset, const void *value, size_t bytes)
{
    memcpy(block + offset, value, bytes);
}

static void put_pointer(uint8_t *block, unsigned offset, const void *pointer)
{
    put(block, offset, &pointer, sizeof(pointer));
}

static void on_switch(enum sim_switch what)
{
    struct x64_machine *x64 = x64_state();
    uint8_t *block;

    if (what == SIM_SWITCH_LEAVE) {
        set_gs(x64, x64->outer_gs);
        return;
    }
    if (what == SIM_SWITCH_ENTER)
        x64->outer_gs = get_gs(x64);
    block = block_of(x64, sim_current->processor);
    put_pointer(block, PRCB_CURRENT_THREAD, nt_kthread());
    /* Reading is cheaper; without the instruction it would be a system call, too. */
    if (!x64->fsgsbase || get_gs(x64) != (uintptr_t)block)
        set_gs(x64, (uintptr_t)block);
}

/* ---- creation ---- */

static void fill(uint8_t *block, unsigned processor)
{
    const uint16_t version = 1;
    const uint32_t mxcsr = 0x1F80, number = processor;
    const uint8_t legacy = (uint8_t)processor;

    put_pointer(block + X64_BLOCK_LEVEL, 0, &sim_current->irql);
    put_pointer(block, PCR_SELF, block);
    put_pointer(block, PCR_CURRENT_PRCB, block + PCR_PRCB);
    put_pointer(block, PCR_USED_SELF, block);
    put(block, PCR_MAJOR_VERSION, &version, sizeof(version));
    put(block, PCR_MINOR_VERSION, &version, sizeof(version));
    put(block, PRCB_MXCSR, &mxcsr, sizeof(mxcsr));
    put(block, PRCB_LEGACY_NUMBER, &legacy, sizeof(legacy));
    put(block, PRCB_NUMBER, &number, sizeof(number));
    put_pointer(block, PRCB_IDLE_THREAD, nt_idle_kthread(processor));
    put_pointer(block, PRCB_CURRENT_THREAD, nt_idle_kthread(processor));
}

bool x64_blocks_init(struct x64_machine *x64)
{
    size_t bytes = (size_t)sim_current->processors * STRIDE;
    void *blocks = MAP_FAILED;

    x64->fsgsbase = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
    if (!util_fault_point())
        blocks = util_map(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                          0);
    if (blocks == MAP_FAILED)
        return false;
    x64->blocks = blocks;
    for (unsigned i = 0; i < sim_current->processors; i++) {
        if (util_protect(x64->blocks + (size_t)i * STRIDE, 2u * X64_PAGE, PROT_READ | PROT_WRITE) !=
            0)
            return false;
        fill(block_of(x64, i), i);
    }
    sim_on_switch(on_switch);
    on_switch(SIM_SWITCH_ENTER);
    return true;
}

void x64_blocks_finish(struct x64_machine *x64)
{
    if (!x64->blocks)
        return;
    on_switch(SIM_SWITCH_LEAVE);
    sim_on_switch(NULL);
    util_unmap(x64->blocks, (size_t)sim_current->processors * STRIDE);
}
