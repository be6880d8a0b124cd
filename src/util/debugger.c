/* SPDX-License-Identifier: MIT */
#include "util/debugger.h"

/* Keeps the compiler from seeing that a call does nothing. */
#define HOOK() __asm__ volatile("" ::: "memory")

const volatile uint64_t dxgk_debug_until = UINT64_MAX;

void dxgk_debug_image(const char *path, uintptr_t base, uintptr_t entry)
{
    (void)path;
    (void)base;
    (void)entry;
    HOOK();
}

void dxgk_debug_image_gone(uintptr_t base, uintptr_t entry)
{
    (void)base;
    (void)entry;
    HOOK();
}

void dxgk_debug_entries(const struct debugger_entry *entries, size_t count)
{
    (void)entries;
    (void)count;
    HOOK();
}

void dxgk_debug_rule(const char *rule, unsigned severity, const char *seen)
{
    (void)rule;
    (void)severity;
    (void)seen;
    HOOK();
}

void dxgk_debug_fault(const uint64_t *general, uintptr_t pc)
{
    (void)general;
    (void)pc;
    HOOK();
}

void dxgk_debug_time(uint64_t now)
{
    (void)now;
    HOOK();
}

void dxgk_debug_code(uintptr_t pc, uint8_t *first)
{
    (void)pc;
    (void)first;
    HOOK();
}
