/* SPDX-License-Identifier: MIT */
/*
 * A driver in C++ for Microsoft's ABI. The kernel has no C++ runtime: a driver that has globals with constructors walks the
 * section that its compiler leaves their addresses in, from DriverEntry, and undoes it before it goes, as this one does. The test
 * calls DriverEntry with a report in the place of the registry path.
 */
#include <ntddk.h>

#include "classes.h"

#define TAG 0x73736C43 /* Clss */

extern "C" DRIVER_INITIALIZE DriverEntry;
extern "C" int _purecall(void);
extern "C" int atexit(void (*function)(void));

/* ---- what a runtime would give ---- */

void *__cdecl operator new(size_t bytes)
{
    return ExAllocatePoolWithTag(NonPagedPoolNx, bytes, TAG);
}

void __cdecl operator delete(void *block) noexcept
{
    if (block)
        ExFreePoolWithTag(block, TAG);
}

void __cdecl operator delete(void *block, size_t) noexcept
{
    operator delete(block);
}

extern "C" int _purecall(void)
{
    KeBugCheck(1);
    return 0;
}

extern "C" int _fltused;
int _fltused = 1;

typedef void (*Initializer)(void);

/* The linker sorts by what stands behind the $: first, the compiler's own, last. */
#pragma section(".CRT$XCA", read)
#pragma section(".CRT$XCZ", read)
__declspec(allocate(".CRT$XCA")) Initializer const first_initializer = nullptr;
__declspec(allocate(".CRT$XCZ")) Initializer const last_initializer = nullptr;

static Initializer to_be_undone[8];
static unsigned undone_count;

extern "C" int atexit(void (*function)(void))
{
    if (undone_count == sizeof(to_be_undone) / sizeof(to_be_undone[0]))
        return -1;
    to_be_undone[undone_count++] = function;
    return 0;
}

static void construct_globals(void)
{
    Initializer const volatile *at = &first_initializer + 1;

    for (; at < &last_initializer; at++)
        if (*at)
            (*at)();
}

static void destroy_globals(void)
{
    while (undone_count > 0)
        to_be_undone[--undone_count]();
}

/* ---- the driver ---- */

static classes_report *report;

class Counter
{
  public:
    explicit Counter(unsigned number) : number(number), next(new unsigned(number + 1))
    {
        report->constructed = 10 * report->constructed + number;
    }
    virtual ~Counter()
    {
        report->destroyed = 10 * report->destroyed + number;
        delete next;
    }
    Counter(const Counter &) = delete;
    Counter &operator=(const Counter &) = delete;

    virtual unsigned value() const
    {
        return *next;
    }

    unsigned twice() const
    {
        return 2 * number;
    }

  protected:
    unsigned number;

  private:
    unsigned *next;
};

struct Named {
    virtual unsigned name() const = 0;
    virtual ~Named() = default;
};

class Special : public Named, public Counter
{
  public:
    explicit Special(unsigned number) : Counter(number)
    {
    }
    unsigned value() const override
    {
        return 100 + Counter::value();
    }
    unsigned name() const override
    {
        return 1000 * number;
    }
};

static Counter one(1);
static Special two(2);
static Special three(3);

static void pass(unsigned event)
{
    report->order = 10 * report->order + event;
}

static __declspec(noinline) unsigned read_at(volatile unsigned *address)
{
    return *address;
}

static int filter(unsigned long code)
{
    pass(1);
    report->code = (unsigned)code;
    return 1;
}

static __declspec(noinline) void fail(void)
{
    __try {
        pass(read_at((volatile unsigned *)0x30));
        pass(9);
    } __finally {
        pass(2);
    }
}

static __declspec(noinline) void guarded(void)
{
    __try {
        fail();
        pass(9);
    } __except (filter(_exception_code())) {
        pass(3);
    }
}

static __declspec(noinline) unsigned sum_of(const Counter *const *counters, unsigned count)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < count; i++)
        sum += counters[i]->value();
    return sum;
}

extern "C" NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT, PUNICODE_STRING RegistryPath)
{
    unsigned (Counter::*volatile member)() const = &Counter::twice;

    report = reinterpret_cast<classes_report *>(RegistryPath);
    construct_globals();
    {
        const Counter *counters[] = {&one, &two, &three};
        const Named *named = &three;

        report->virtual_sum = sum_of(counters, 3) + named->name();
        report->member = (three.*member)();
    }
    guarded();
    destroy_globals();
    return STATUS_SUCCESS;
}
