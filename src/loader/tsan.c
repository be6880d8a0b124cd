/* SPDX-License-Identifier: MIT */
/*
 * What the compiler calls for the memory accesses of a driver built with -fsanitize=thread: in a
 * machine that detects races they are recorded, and are points under stress. The compiler's own
 * runtime is not there; a driver binds to these. In other machines they do nothing, but for the
 * atomic operations, which the compiler leaves to them.
 *
 * Accesses of volatile objects have hooks of their own. As for Microsoft's compiler for x64, they
 * acquire and release (/volatile:ms), and are atomic.
 */
#include "loader/tsan.h"

#include <string.h>

#include "bus/bus.h"
#include "bus/window.h"
#include "nt/mm/race_access.h"
#include "race/race.h"
#include "sim/machine.h"
#include "sim/order.h"
#include "sim/point.h"

#define PLAIN_READ   0u
#define PLAIN_WRITE  RACE_WRITE
#define ATOMIC_READ  RACE_ATOMIC
#define ATOMIC_WRITE (RACE_WRITE | RACE_ATOMIC)
#define CALLER()     ((uintptr_t)__builtin_return_address(0))

static bool detects(void)
{
    return sim_current && sim_current->races;
}

static inline void touch(const volatile void *address, size_t bytes, unsigned kind, uintptr_t pc)
{
    if (!detects())
        return;
    sim_stress_point();
    nt_race_access(address, bytes, kind, pc);
}

/* A register of a device is no variable: who reads it does not follow who has written it. */
static bool carries(const volatile void *address)
{
    const struct bus *bus = bus_current();

    return !(bus && bus_register_space(bus, address)) && race_carries(sim_current->races, address);
}

/* Of the whole operation, before the access: the compiler's orders are those of C11. */
static inline void touch_atomic(const volatile void *address, size_t bytes, unsigned kind,
                                int order, uintptr_t pc)
{
    if (!detects())
        return;
    touch(address, bytes, kind, pc);
    if (order == __ATOMIC_RELAXED || !carries(address))
        return;
    if (kind != ATOMIC_WRITE || order != __ATOMIC_RELEASE)
        sim_order_acquire(address);
    if (kind == ATOMIC_WRITE && order != __ATOMIC_ACQUIRE && order != __ATOMIC_CONSUME)
        sim_order_release(address);
}

/* ---- plain and volatile ---- */

#define ACCESS(bytes)                                                           \
    void __tsan_read##bytes(void *address)                                      \
    {                                                                           \
        touch(address, bytes, PLAIN_READ, CALLER());                            \
    }                                                                           \
    void __tsan_write##bytes(void *address)                                     \
    {                                                                           \
        touch(address, bytes, PLAIN_WRITE, CALLER());                           \
    }                                                                           \
    void __tsan_unaligned_read##bytes(void *address)                            \
    {                                                                           \
        touch(address, bytes, PLAIN_READ, CALLER());                            \
    }                                                                           \
    void __tsan_unaligned_write##bytes(void *address)                           \
    {                                                                           \
        touch(address, bytes, PLAIN_WRITE, CALLER());                           \
    }                                                                           \
    void __tsan_read_write##bytes(void *address)                                \
    {                                                                           \
        touch(address, bytes, PLAIN_WRITE, CALLER());                           \
    }                                                                           \
    void __tsan_unaligned_read_write##bytes(void *address)                      \
    {                                                                           \
        touch(address, bytes, PLAIN_WRITE, CALLER());                           \
    }                                                                           \
    void __tsan_volatile_read##bytes(void *address)                             \
    {                                                                           \
        touch_atomic(address, bytes, ATOMIC_READ, __ATOMIC_ACQUIRE, CALLER());  \
    }                                                                           \
    void __tsan_volatile_write##bytes(void *address)                            \
    {                                                                           \
        touch_atomic(address, bytes, ATOMIC_WRITE, __ATOMIC_RELEASE, CALLER()); \
    }                                                                           \
    void __tsan_unaligned_volatile_read##bytes(void *address)                   \
    {                                                                           \
        touch_atomic(address, bytes, ATOMIC_READ, __ATOMIC_ACQUIRE, CALLER());  \
    }                                                                           \
    void __tsan_unaligned_volatile_write##bytes(void *address)                  \
    {                                                                           \
        touch_atomic(address, bytes, ATOMIC_WRITE, __ATOMIC_RELEASE, CALLER()); \
    }

ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

void __tsan_read_range(void *address, unsigned long bytes)
{
    touch(address, bytes, PLAIN_READ, CALLER());
}

void __tsan_write_range(void *address, unsigned long bytes)
{
    touch(address, bytes, PLAIN_WRITE, CALLER());
}

void *__tsan_memcpy(void *to, const void *from, unsigned long bytes)
{
    touch(from, bytes, PLAIN_READ, CALLER());
    touch(to, bytes, PLAIN_WRITE, CALLER());
    return memcpy(to, from, bytes);
}

void *__tsan_memmove(void *to, const void *from, unsigned long bytes)
{
    touch(from, bytes, PLAIN_READ, CALLER());
    touch(to, bytes, PLAIN_WRITE, CALLER());
    return memmove(to, from, bytes);
}

void *__tsan_memset(void *to, int value, unsigned long bytes)
{
    touch(to, bytes, PLAIN_WRITE, CALLER());
    return memset(to, value, bytes);
}

/* C++ tables of virtual functions. */
void __tsan_vptr_update(void **address, void *value)
{
    if (*address != value)
        touch(address, sizeof(*address), PLAIN_WRITE, CALLER());
}

void __tsan_vptr_read(void **address)
{
    touch(address, sizeof(*address), PLAIN_READ, CALLER());
}

/* ---- functions ---- */

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
    if (!detects())
        return;
    race_call(sim_current->races, (uintptr_t)caller);
    sim_stress_point();
}

void __tsan_func_exit(void)
{
    if (!detects())
        return;
    sim_stress_point();
    race_return(sim_current->races);
}

/* ---- atomic operations ---- */

#define FETCH(bits, type, name, operation)                                                 \
    type __tsan_atomic##bits##_fetch_##name(volatile type *address, type value, int order) \
    {                                                                                      \
        touch_atomic(address, sizeof(type), ATOMIC_WRITE, order, CALLER());                \
        return operation(address, value, __ATOMIC_SEQ_CST);                                \
    }

#define ATOMIC(bits, type)                                                                    \
    type __tsan_atomic##bits##_load(const volatile type *address, int order)                  \
    {                                                                                         \
        touch_atomic(address, sizeof(type), ATOMIC_READ, order, CALLER());                    \
        return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                    \
    }                                                                                         \
    void __tsan_atomic##bits##_store(volatile type *address, type value, int order)           \
    {                                                                                         \
        touch_atomic(address, sizeof(type), ATOMIC_WRITE,                                     \
                     order == __ATOMIC_RELAXED ? order : __ATOMIC_RELEASE, CALLER());         \
        __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                   \
    }                                                                                         \
    FETCH(bits, type, add, __atomic_fetch_add)                                                \
    FETCH(bits, type, sub, __atomic_fetch_sub)                                                \
    FETCH(bits, type, and, __atomic_fetch_and)                                                \
    FETCH(bits, type, or, __atomic_fetch_or)                                                  \
    FETCH(bits, type, xor, __atomic_fetch_xor)                                                \
    FETCH(bits, type, nand, __atomic_fetch_nand)                                              \
    type __tsan_atomic##bits##_exchange(volatile type *address, type value, int order)        \
    {                                                                                         \
        touch_atomic(address, sizeof(type), ATOMIC_WRITE, order, CALLER());                   \
        return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                         \
    }                                                                                         \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *address, type *expected, \
                                                      type value, int order, int failed)      \
    {                                                                                         \
        (void)failed;                                                                         \
        touch_atomic(address, sizeof(type), ATOMIC_WRITE, order, CALLER());                   \
        return __atomic_compare_exchange_n(address, expected, value, 0, __ATOMIC_SEQ_CST,     \
                                           __ATOMIC_SEQ_CST);                                 \
    }                                                                                         \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *address, type *expected,   \
                                                    type value, int order, int failed)        \
    {                                                                                         \
        (void)failed;                                                                         \
        touch_atomic(address, sizeof(type), ATOMIC_WRITE, order, CALLER());                   \
        return __atomic_compare_exchange_n(address, expected, value, 0, __ATOMIC_SEQ_CST,     \
                                           __ATOMIC_SEQ_CST);                                 \
    }                                                                                         \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *address, type expected,    \
                                                    type value, int order, int failed)        \
    {                                                                                         \
        (void)failed;                                                                         \
        touch_atomic(address, sizeof(type), ATOMIC_WRITE, order, CALLER());                   \
        (void)__atomic_compare_exchange_n(address, &expected, value, 0, __ATOMIC_SEQ_CST,     \
                                          __ATOMIC_SEQ_CST);                                  \
        return expected;                                                                      \
    }

ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}
