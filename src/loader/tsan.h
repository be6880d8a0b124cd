/* SPDX-License-Identifier: MIT */
/* Declarations of what compilers call under -fsanitize=thread; tsan.c explains. */
#ifndef DXGK_LOADER_TSAN_H
#define DXGK_LOADER_TSAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
// NOLINTBEGIN: the compiler's names
#define DECLARE(bytes)                                         \
    void __tsan_read##bytes(void *address);                    \
    void __tsan_write##bytes(void *address);                   \
    void __tsan_unaligned_read##bytes(void *address);          \
    void __tsan_unaligned_write##bytes(void *address);         \
    void __tsan_read_write##bytes(void *address);              \
    void __tsan_unaligned_read_write##bytes(void *address);    \
    void __tsan_volatile_read##bytes(void *address);           \
    void __tsan_volatile_write##bytes(void *address);          \
    void __tsan_unaligned_volatile_read##bytes(void *address); \
    void __tsan_unaligned_volatile_write##bytes(void *address)

DECLARE(1);
DECLARE(2);
DECLARE(4);
DECLARE(8);
DECLARE(16);
void __tsan_read_range(void *address, unsigned long bytes);
void __tsan_write_range(void *address, unsigned long bytes);
void *__tsan_memcpy(void *to, const void *from, unsigned long bytes);
void *__tsan_memmove(void *to, const void *from, unsigned long bytes);
void *__tsan_memset(void *to, int value, unsigned long bytes);
void __tsan_vptr_update(void **address, void *value);
void __tsan_vptr_read(void **address);
void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);

#define DECLARE_ATOMIC(bits, type)                                                            \
    type __tsan_atomic##bits##_load(const volatile type *address, int order);                 \
    void __tsan_atomic##bits##_store(volatile type *address, type value, int order);          \
    type __tsan_atomic##bits##_fetch_add(volatile type *address, type value, int order);      \
    type __tsan_atomic##bits##_fetch_sub(volatile type *address, type value, int order);      \
    type __tsan_atomic##bits##_fetch_and(volatile type *address, type value, int order);      \
    type __tsan_atomic##bits##_fetch_or(volatile type *address, type value, int order);       \
    type __tsan_atomic##bits##_fetch_xor(volatile type *address, type value, int order);      \
    type __tsan_atomic##bits##_fetch_nand(volatile type *address, type value, int order);     \
    type __tsan_atomic##bits##_exchange(volatile type *address, type value, int order);       \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *address, type *expected, \
                                                      type value, int order, int failed);     \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *address, type *expected,   \
                                                    type value, int order, int failed);       \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *address, type expected,    \
                                                    type value, int order, int failed)

DECLARE_ATOMIC(8, uint8_t);
DECLARE_ATOMIC(16, uint16_t);
DECLARE_ATOMIC(32, uint32_t);
DECLARE_ATOMIC(64, uint64_t);
void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);
// NOLINTEND
#pragma GCC visibility pop

#endif
