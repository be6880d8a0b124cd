/* SPDX-License-Identifier: MIT */
/* What drivers ask about their own code. */
#include "x64/support/rig.h"

#include "x64/exceptions/exception.h"
#include "x64/unwind/context.h"
#include "x64/unwind/function_table.h"

#include <stddef.h>

static const struct x64_function functions[] = {
    {0x1000, 0x1010, 0x3000}, {0x1010, 0x1020, 0x3008}, {0x1020, 0x1100, 0x3010}};

#define IMAGE 0x10000000ull

static struct x64_function_table image = {
    .name = "a.sys", .base = IMAGE, .image_bytes = 0x4000, .function = functions, .count = 3};

TEST_WITH(driver, routines_are_found_by_their_whole_name)
{
    static const char *const names[] = {"RtlCaptureContext",
                                        "RtlCaptureStackBackTrace",
                                        "RtlLookupFunctionEntry",
                                        "RtlPcToFileHeader",
                                        "RtlRaiseException",
                                        "RtlRaiseStatus",
                                        "RtlRestoreContext",
                                        "RtlUnwind",
                                        "RtlUnwindEx",
                                        "RtlVirtualUnwind",
                                        "__C_specific_handler",
                                        "_local_unwind"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        CHECK(x64_routine_find(names[i]));
        for (size_t k = 0; k < i; k++)
            CHECK(x64_routine_find(names[i]) != x64_routine_find(names[k]));
    }
    CHECK(x64_routine_find("__C_specific_handler") == (void *)(uintptr_t)x64_c_specific_handler);
    CHECK(!x64_routine_find("RtlUnwindE") && !x64_routine_find("RtlUnwindExx"));
    CHECK(!x64_routine_find("A") && !x64_routine_find("z"));
}

TEST_WITH(driver, an_address_leads_to_its_image_and_function)
{
    PVOID(NTAPI * header)(PVOID, PVOID *);
    const struct x64_function *(NTAPI * lookup)(ULONG64, ULONG64 *, PVOID);
    void *found = x64_routine_find("RtlPcToFileHeader");
    ULONG64 number = 7;
    PVOID base = &base;

    memcpy(&header, &found, sizeof(header));
    found = x64_routine_find("RtlLookupFunctionEntry");
    memcpy(&lookup, &found, sizeof(lookup));
    CHECK(!header((PVOID)(IMAGE + 0x1000), &base) && base == NULL);
    CHECK(!lookup(IMAGE + 0x1000, &number, NULL) && number == 0);
    CHECK(x64_function_table_add(&image));
    CHECK(header((PVOID)(IMAGE + 0x1000), &base) == (PVOID)IMAGE && base == (PVOID)IMAGE);
    CHECK(header((PVOID)(IMAGE + 0x3FFF), &base) == (PVOID)IMAGE);
    CHECK(!header((PVOID)(IMAGE + 0x4000), &base) && base == NULL);
    CHECK(lookup(IMAGE + 0x101F, &number, NULL) == &functions[1] && number == IMAGE);
    number = 7;
    CHECK(!lookup(IMAGE + 0x1100, &number, NULL) && number == IMAGE); /* a leaf */
    x64_function_table_remove(&image);
}

/* A function whose entry refers to another one, and unwinding by the routine for drivers. */
static struct {
    _Alignas(16) uint8_t code[64];
    struct x64_function table[3];
    uint8_t unwind[16];
} small;

TEST_WITH(driver, drivers_unwind_by_themselves)
{
    typedef ULONG64(NTAPI * unwind_fn)(ULONG, ULONG64, ULONG64, const struct x64_function *,
                                       CONTEXT *, PVOID *, ULONG64 *, void *);
    const uint32_t table_at = offsetof(__typeof__(small), table),
                   unwind_at = offsetof(__typeof__(small), unwind);
    /* version 1, no prologue, one code: pushes rbx; a handler at 8, its data behind */
    const uint8_t information[] = {1 | 3 << 3, 0, 1, 0, 0, 0x30, 0, 0, 8, 0, 0, 0};
    struct x64_function_table table = {.name = "small.sys",
                                       .base = (uintptr_t)&small,
                                       .image_bytes = sizeof(small),
                                       .function = small.table,
                                       .count = 2};
    volatile uint64_t stack[] = {0x1111, 0x2222, 0x3333};
    const struct x64_function *(NTAPI * lookup)(ULONG64, ULONG64 *, PVOID);
    void *found = x64_routine_find("RtlLookupFunctionEntry");
    const struct x64_function *entry;
    ULONG64 base = 0, establisher = 0, handler;
    CONTEXT context = {0};
    unwind_fn unwind;
    PVOID data = NULL;

    memcpy(&lookup, &found, sizeof(lookup));
    found = x64_routine_find("RtlVirtualUnwind");
    memcpy(&unwind, &found, sizeof(unwind));
    memset(small.code, 0x90, sizeof(small.code));
    small.table[0] = (struct x64_function){0, 16, unwind_at};
    small.table[1] = (struct x64_function){16, 32, table_at | 1};
    small.table[2] = (struct x64_function){32, 48, unwind_at + 1000};
    memcpy(small.unwind, information, sizeof(information));
    CHECK(x64_function_table_add(&table));
    entry = lookup((uintptr_t)small.code + 20, &base, NULL);
    CHECK(entry == &small.table[0] && base == (uintptr_t)&small);
    context.Rsp = (uintptr_t)stack;
    context.Rip = (uintptr_t)small.code + 20;
    handler = unwind(3, base, context.Rip, &small.table[1], &context, &data, &establisher, NULL);
    CHECK(handler == base + 8 && data == (PVOID)(base + unwind_at + 12));
    CHECK(establisher == (uintptr_t)stack && context.Rbx == 0x1111 && context.Rip == 0x2222 &&
          context.Rsp == (uintptr_t)(stack + 2));
    /* handlers of another kind are not asked, and nobody asks for the data */
    context.Rsp = (uintptr_t)stack;
    data = &data;
    CHECK(unwind(0, base, (uintptr_t)small.code + 20, &small.table[1], &context, &data,
                 &establisher, NULL) == 0);
    CHECK(data == &data && context.Rip == 0x2222);
    context.Rsp = (uintptr_t)stack;
    CHECK(unwind(3, base, (uintptr_t)small.code + 4, entry, &context, NULL, &establisher, NULL) ==
          base + 8);
    /* what cannot be unwound ends the stack */
    context.Rsp = (uintptr_t)stack;
    context.Rip = 0x4444;
    CHECK(unwind(3, base, (uintptr_t)small.code + 36, &small.table[2], &context, &data,
                 &establisher, NULL) == 0);
    CHECK(context.Rip == 0);
    /* neither a base that is none, nor an entry that cannot be read */
    context.Rip = 0x4444;
    CHECK(unwind(3, base + 1, (uintptr_t)small.code, entry, &context, &data, &establisher, NULL) ==
          0);
    CHECK(unwind(3, base, (uintptr_t)small.code, (const void *)0x10, &context, &data, &establisher,
                 NULL) == 0);
    CHECK(context.Rip == 0x4444);
    /* a reference that leads out of the image leads to no function */
    small.table[1].unwind = sizeof(small) | 1;
    CHECK(!lookup((uintptr_t)small.code + 20, &base, NULL));
    x64_function_table_remove(&table);
}
