/* SPDX-License-Identifier: MIT */
/*
 * Structured exceptions as a driver uses them, one scenario after the other. The test calls DriverEntry with a struct seh_report
 * in the place of the registry path. What guarded code calls is not inlined: the compiler looks for exceptions in calls only.
 */
#include "seh.h"

typedef unsigned long long u64;
#define MS       __attribute__((ms_abi))
#define NOINLINE __attribute__((noinline))
#define IMPORT   __declspec(dllimport)

struct record {
    unsigned code, flags;
    struct record *next;
    void *address;
    unsigned parameters;
    u64 parameter[15];
};

struct context { /* the part that is used */
    u64 home[6];
    unsigned flags, mxcsr;
    unsigned short segments[6];
    unsigned eflags;
    u64 debug[6];
    u64 general[16]; /* rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, ... */
    u64 rip;
    _Alignas(16) unsigned char rest[1232 - 256];
};

struct pointers {
    struct record *record;
    struct context *context;
};

IMPORT void RtlRaiseException(struct record *record);
IMPORT __attribute__((noreturn)) void RtlRaiseStatus(int status);
IMPORT __attribute__((noreturn)) void ExRaiseStatus(int status);
IMPORT __attribute__((noreturn)) void ExRaiseAccessViolation(void);
IMPORT __attribute__((noreturn)) void ExRaiseDatatypeMisalignment(void);
IMPORT void ProbeForRead(const volatile void *address, u64 length, unsigned alignment);
IMPORT void ProbeForWrite(volatile void *address, u64 length, unsigned alignment);
IMPORT unsigned short RtlCaptureStackBackTrace(unsigned skip, unsigned count, void **trace,
                                               unsigned *hash);
IMPORT void RtlCaptureContext(struct context *context);
IMPORT void *RtlLookupFunctionEntry(u64 pc, u64 *base, void *history);
IMPORT void *RtlVirtualUnwind(unsigned type, u64 base, u64 pc, void *entry, struct context *context,
                              void **data, u64 *establisher, void *pointers);
IMPORT void RtlUnwind(void *frame, void *ip, struct record *record, void *value);
IMPORT unsigned char KfRaiseIrql(unsigned char level);
IMPORT void KeLowerIrql(unsigned char level);
IMPORT int RtlQueryRegistryValues(unsigned relative_to, const unsigned short *path, void *table,
                                  void *context, void *environment);
IMPORT void *memcpy(void *to, const void *from, u64 bytes);

#if defined(_MSC_VER)
int _fltused = 1; /* what Microsoft's compiler asks of libraries wherever floating point is used */
#endif

static struct seh_report *report;

#define STATUS_OF_OURS ((int)0xE0001234)
#define ANOTHER_STATUS ((int)0xE0005678)

static NOINLINE void note(unsigned event)
{
    if (report->count < SEH_EVENTS)
        report->event[report->count++] = event;
}

/* A filter that keeps what it saw. */
static NOINLINE int seen(struct pointers *pointers, int answer)
{
    const struct record *record = pointers->record;

    report->code = record->code;
    report->flags = record->flags;
    report->parameters = record->parameters;
    report->parameter[0] = record->parameter[0];
    report->parameter[1] = record->parameter[1];
    report->address = (u64)record->address;
    return answer;
}

#define SEEN(answer) seen((struct pointers *)_exception_info(), answer)
#define TAKE         1
#define DISMISS      0
#define CONTINUE     (-1)

/* ---- what goes wrong ---- */

static NOINLINE unsigned read_at(volatile unsigned *address)
{
    return *address;
}

static NOINLINE void write_at(volatile unsigned *address)
{
    *address = 1;
}

static NOINLINE void call_at(void (*volatile function)(void))
{
    function();
    note(99);
}

static NOINLINE int divide(volatile int *a, volatile int *b)
{
    return *a / *b;
}

static NOINLINE unsigned divide_byte(volatile unsigned char *b)
{
    unsigned result = 1000;

    __asm__ volatile("divb %1" : "+a"(result) : "m"(*b) : "cc");
    return result;
}

static NOINLINE void illegal(void)
{
    __asm__ volatile("ud2");
}

static NOINLINE void breakpoint(void)
{
    __asm__ volatile("int3");
    note(50);
}

static NOINLINE void divide_float(void)
{
    unsigned mxcsr = 0x1F80 & ~0x200u, old; /* division by zero unmasked */
    double one = 1, zero = 0;

    __asm__ volatile("stmxcsr %0" : "=m"(old));
    __asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
    __asm__ volatile("divsd %1, %0" : "+x"(one) : "x"(zero));
    __asm__ volatile("ldmxcsr %0" : : "m"(old));
}

/* In nested scopes something follows the call: clang 14 begins the next range of the scope table at its return address, so that
 * the handlers around would be found twice, on Windows, too. */
#define BEHIND_CALL() note(97)

static NOINLINE void raise_status(int status)
{
    RtlRaiseStatus(status);
}

static NOINLINE void fault_now(void)
{
    note(read_at((volatile unsigned *)0x18));
}

/* The function's code is where the exception must be. */
static void expect_at(const void *function)
{
    report->place = (u64)function;
    report->bytes = 96;
}

/* ---- one exception, taken at once ---- */

static NOINLINE void simple(unsigned scenario)
{
    volatile int a = 7, zero = 0, lowest = -0x7FFFFFFF - 1, minus = -1;
    volatile unsigned char byte = scenario == SEH_DIVIDE_BYTE ? 0 : 1;

    __try {
        note(1);
        switch (scenario) {
        case SEH_READ:
            expect_at((void *)read_at);
            read_at((volatile unsigned *)0x1234);
            break;
        case SEH_WRITE:
            expect_at((void *)write_at);
            write_at((volatile unsigned *)0x2344);
            break;
        case SEH_EXECUTE:
            call_at((void (*)(void))0x20);
            break;
        case SEH_NOT_CANONICAL:
            read_at((volatile unsigned *)0x1234567812345678);
            break;
        case SEH_DIVIDE:
            expect_at((void *)divide);
            divide(&a, &zero);
            break;
        case SEH_DIVIDE_BYTE:
            divide_byte(&byte);
            break;
        case SEH_OVERFLOW:
            divide(&lowest, &minus);
            break;
        case SEH_ILLEGAL:
            expect_at((void *)illegal);
            illegal();
            break;
        case SEH_BREAKPOINT:
            expect_at((void *)breakpoint);
            breakpoint();
            break;
        case SEH_FLOAT:
            divide_float();
            break;
        case SEH_STATUS:
            expect_at((void *)raise_status);
            raise_status(STATUS_OF_OURS);
            break;
        case SEH_EX_STATUS:
            ExRaiseStatus(STATUS_OF_OURS);
            break;
        case SEH_ACCESS_VIOLATION:
            ExRaiseAccessViolation();
            break;
        case SEH_MISALIGNMENT:
            ExRaiseDatatypeMisalignment();
            break;
        case SEH_COPY_FROM:
            memcpy(report->memory, (void *)0x3000, 64);
            break;
        case SEH_COPY_TO:
            memcpy(report->read_only, report->memory, 64);
            break;
        case SEH_PROBE_READ:
            ProbeForRead((void *)0xFFFFF80000001000, 64, 1);
            break;
        case SEH_PROBE_MISALIGNED:
            ProbeForRead((void *)0x1001, 64, 4);
            break;
        case SEH_PROBE_WRITE:
            ProbeForWrite(report->read_only, 64, 1);
            break;
        }
        note(2);
    } __except (SEEN(TAKE)) {
        note(3);
        report->value = (unsigned)_exception_code();
    }
    note(4);
}

/* ---- filters that do not take it ---- */

static NOINLINE void raise_with_parameters(void)
{
    struct record record = {.code = (unsigned)STATUS_OF_OURS, .parameters = 2};

    record.parameter[0] = 11;
    record.parameter[1] = 22;
    RtlRaiseException(&record);
    note(5);
}

static NOINLINE void continued(void)
{
    __try {
        raise_with_parameters();
        note(6);
    } __except (SEEN(CONTINUE)) {
        note(99);
    }
}

static NOINLINE int repair(struct pointers *pointers)
{
    note(2);
    seen(pointers, 0);
    pointers->context->general[1] = (u64)report->memory;
    return CONTINUE;
}

static NOINLINE u64 read_through_rcx(u64 address)
{
    u64 value;

    __asm__ volatile("movq (%%rcx), %0" : "=a"(value) : "c"(address));
    return value;
}

static NOINLINE void repaired(void)
{
    __try {
        note(1);
        report->value = read_through_rcx(0x40);
        note(3);
    } __except (repair((struct pointers *)_exception_info())) {
        note(99);
    }
}

static NOINLINE void not_continuable(void)
{
    __try {
        __try {
            raise_status(STATUS_OF_OURS);
        } __except (note(1),
                    _exception_code() == (unsigned long)STATUS_OF_OURS ? CONTINUE : DISMISS) {
            note(99);
        }
    } __except (note(2), SEEN(TAKE)) {
        note(3);
    }
}

static NOINLINE void dismissed_inside(void)
{
    __try {
        raise_status(STATUS_OF_OURS);
    } __except (note(1), DISMISS) {
        note(99);
    }
    note(98);
}

static NOINLINE void dismissed(void)
{
    __try {
        dismissed_inside();
    } __except (note(2), SEEN(TAKE)) {
        note(3);
    }
}

/* ---- termination handlers ---- */

static NOINLINE void finally_inner(void)
{
    __try {
        __try {
            raise_status(STATUS_OF_OURS);
            BEHIND_CALL();
        } __finally {
            note(2);
            report->value += (unsigned)_abnormal_termination();
        }
    } __finally {
        note(3);
        report->value += (unsigned)_abnormal_termination();
    }
    note(99);
}

static NOINLINE void finally_order(void)
{
    __try {
        __try {
            finally_inner();
        } __finally {
            note(4);
        }
    } __except (note(1), SEEN(TAKE)) {
        note(5);
    }
}

static NOINLINE void nothing(void)
{
    __asm__ volatile("");
}

static NOINLINE void finally_normal(void)
{
    __try {
        nothing();
        note(1);
    } __finally {
        note(2);
        report->value = (unsigned)_abnormal_termination();
    }
    note(3);
}

static NOINLINE void leave(void)
{
    __try {
        nothing();
        note(1);
        if (report->count)
            __leave;
        note(99);
    } __finally {
        note(2);
    }
    note(3);
}

static NOINLINE unsigned return_out(void)
{
    __try {
        nothing();
        note(1);
        if (report->count)
            return 42;
        nothing();
    } __finally {
        note(2);
    }
    return 1;
}

static NOINLINE void goto_out(void)
{
    __try {
        __try {
            nothing();
            note(1);
            if (report->count)
                goto out;
            nothing();
        } __except (TAKE) {
            note(99);
        }
    } __finally {
        note(2);
    }
    note(98);
out:
    note(3);
}

/* ---- exceptions of handlers ---- */

static NOINLINE int careful_filter(void)
{
    note(2);
    __try {
        fault_now();
        note(99);
    } __except (note(3), _exception_code() == 0xC0000005 ? TAKE : DISMISS) {
        note(4);
    }
    return TAKE;
}

static NOINLINE void nested_in_filter(void)
{
    __try {
        note(1);
        raise_status(STATUS_OF_OURS);
    } __except (careful_filter() && SEEN(TAKE)) {
        note(5);
    }
}

static NOINLINE int faulty_filter(unsigned code)
{
    note(code == 0xC0000005 ? 3 : 2);
    if (code == 0xC0000005)
        return DISMISS; /* its own exception comes by here, too */
    fault_now();
    return TAKE;
}

static NOINLINE void escapes_inside(void)
{
    __try {
        __try {
            raise_status(STATUS_OF_OURS);
            BEHIND_CALL();
        } __finally {
            note(5);
        }
    } __except (faulty_filter(_exception_code())) {
        note(99);
    }
}

static NOINLINE void escapes_filter(void)
{
    __try {
        note(1);
        escapes_inside();
    } __except (note(4), SEEN(TAKE)) {
        note(6);
    }
}

static NOINLINE void collides_inside(void)
{
    __try {
        raise_status(STATUS_OF_OURS);
    } __finally {
        note(2);
        raise_status(ANOTHER_STATUS);
    }
}

static NOINLINE void collides_between(void)
{
    __try {
        collides_inside();
    } __finally {
        note(4);
    }
}

static NOINLINE void collided(void)
{
    __try {
        __try {
            collides_between();
        } __except (note(3), _exception_code() == (unsigned long)ANOTHER_STATUS ? TAKE : DISMISS) {
            note(5);
            report->value = (unsigned)_exception_code();
        }
    } __except (note(1), SEEN(TAKE)) {
        note(99);
    }
}

/* All scopes in one function: only those around the one that failed are left. */
static NOINLINE void collides_once(void)
{
    __try {
        __try {
            __try {
                raise_status(STATUS_OF_OURS);
                BEHIND_CALL();
            } __finally {
                note(2);
                raise_status(ANOTHER_STATUS);
                BEHIND_CALL();
            }
        } __finally {
            note(4);
        }
    } __except (note(_exception_code() == (unsigned long)STATUS_OF_OURS ? 1 : 3), SEEN(TAKE)) {
        note(5);
    }
}

static NOINLINE void raised_in_handler(void)
{
    __try {
        __try {
            raise_status(STATUS_OF_OURS);
        } __except (note(1), TAKE) {
            note(2);
            raise_status(ANOTHER_STATUS);
        }
    } __except (note(3), SEEN(TAKE)) {
        note(4);
    }
}

/* ---- registers ---- */

static NOINLINE void clobber_and_raise(void)
{
    __asm__ volatile("xorps %%xmm6, %%xmm6\n xorps %%xmm7, %%xmm7\n xorps %%xmm8, %%xmm8\n"
                     "xorps %%xmm9, %%xmm9\n xorps %%xmm10, %%xmm10\n xorps %%xmm11, %%xmm11\n"
                     "xorps %%xmm12, %%xmm12\n xorps %%xmm13, %%xmm13\n xorps %%xmm14, %%xmm14\n"
                     "xorps %%xmm15, %%xmm15\n"
                     "xorl %%ebx, %%ebx\n xorl %%esi, %%esi\n xorl %%edi, %%edi\n"
                     "xorl %%r12d, %%r12d\n xorl %%r13d, %%r13d\n xorl %%r14d, %%r14d\n"
                     "xorl %%r15d, %%r15d\n" ::
                         : "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
                           "xmm14", "xmm15", "rbx", "rsi", "rdi", "r12", "r13", "r14", "r15");
    if (report->scenario == SEH_REGISTERS && report->memory)
        fault_now();
}

static NOINLINE void guard_clobbering(void)
{
    __try {
        clobber_and_raise();
        note(99);
    } __except (TAKE) {
        note(1);
    }
}

/* Fill the registers that a callee keeps, call, and compare. Everything in one statement, so that the compiler has no say. */
static NOINLINE u64 registers_kept(void)
{
    u64 wrong = 0;

    __asm__ volatile(
        "subq $40, %%rsp\n"
        "movl $0x101, %%eax\n"
        "movl $101, %%ebx\n movl $102, %%esi\n movl $103, %%edi\n movl $104, %%r12d\n"
        "movl $105, %%r13d\n movl $106, %%r14d\n movl $107, %%r15d\n"
        "movl $6, %%eax\n movq %%rax, %%xmm6\n movl $7, %%eax\n movq %%rax, %%xmm7\n"
        "movl $8, %%eax\n movq %%rax, %%xmm8\n movl $9, %%eax\n movq %%rax, %%xmm9\n"
        "movl $10, %%eax\n movq %%rax, %%xmm10\n movl $11, %%eax\n movq %%rax, %%xmm11\n"
        "movl $12, %%eax\n movq %%rax, %%xmm12\n movl $13, %%eax\n movq %%rax, %%xmm13\n"
        "movl $14, %%eax\n movq %%rax, %%xmm14\n movl $15, %%eax\n movq %%rax, %%xmm15\n"
        "addq $40, %%rsp\n"
        "call *%1\n"
        "subq $101, %%rbx\n subq $102, %%rsi\n subq $103, %%rdi\n subq $104, %%r12\n"
        "subq $105, %%r13\n subq $106, %%r14\n subq $107, %%r15\n"
        "orq %%rsi, %%rbx\n orq %%rdi, %%rbx\n orq %%r12, %%rbx\n orq %%r13, %%rbx\n"
        "orq %%r14, %%rbx\n orq %%r15, %%rbx\n"
        "movq %%xmm6, %%rax\n subq $6, %%rax\n orq %%rax, %%rbx\n"
        "movq %%xmm7, %%rax\n subq $7, %%rax\n orq %%rax, %%rbx\n"
        "movq %%xmm8, %%rax\n subq $8, %%rax\n orq %%rax, %%rbx\n"
        "movq %%xmm9, %%rax\n subq $9, %%rax\n orq %%rax, %%rbx\n"
        "movq %%xmm10, %%rax\n subq $10, %%rax\n orq %%rax, %%rbx\n"
        "movq %%xmm11, %%rax\n subq $11, %%rax\n orq %%rax, %%rbx\n"
        "movq %%xmm12, %%rax\n subq $12, %%rax\n orq %%rax, %%rbx\n"
        "movq %%xmm13, %%rax\n subq $13, %%rax\n orq %%rax, %%rbx\n"
        "movq %%xmm14, %%rax\n subq $14, %%rax\n orq %%rax, %%rbx\n"
        "movq %%xmm15, %%rax\n subq $15, %%rax\n orq %%rax, %%rbx\n"
        "movq %%rbx, %0\n"
        : "=m"(wrong)
        : "c"(guard_clobbering)
        : "rax", "rdx", "r8", "r9", "r10", "r11", "rbx", "rsi", "rdi", "r12", "r13", "r14", "r15",
          "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
          "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
    nothing(); /* room for a callee's arguments exists, since this function calls */
    return wrong;
}

/* ---- many frames ---- */

static NOINLINE unsigned deep_inside(unsigned depth)
{
    volatile unsigned char bytes[200];
    unsigned result;

    bytes[depth % sizeof(bytes)] = (unsigned char)depth;
    if (depth == 0)
        raise_status(STATUS_OF_OURS);
    if (depth % 10 == 0) {
        __try {
            result = deep_inside(depth - 1);
        } __finally {
            report->value++;
        }
    } else {
        result = deep_inside(depth - 1);
    }
    return result + bytes[0];
}

static NOINLINE void deep(void)
{
    __try {
        deep_inside(200);
    } __except (SEEN(TAKE)) {
        note(1);
    }
}

static NOINLINE void dynamic_inside(unsigned bytes)
{
    volatile unsigned char *memory = (volatile unsigned char *)__builtin_alloca(bytes);

    memory[bytes - 1] = 7;
    __try {
        fault_now();
    } __except (note(1), memory[bytes - 1] == 7 ? TAKE : DISMISS) {
        note(2);
        report->value = memory[bytes - 1];
    }
}

static NOINLINE void dynamic_frame(void)
{
    volatile unsigned bytes = 3000;

    dynamic_inside(bytes);
}

static NOINLINE void many(void)
{
    u64 first = 0;

    for (unsigned i = 0; i < 5000; i++) {
        u64 here = (u64)__builtin_frame_address(0);

        __try {
            if (i & 1)
                raise_status(STATUS_OF_OURS);
            else
                fault_now();
        } __except (TAKE) {
            report->value++;
        }
        if (first == 0)
            first = here;
        if (here != first)
            note(99);
    }
    note(1);
}

/* ---- routines ---- */

static NOINLINE void back_trace(void)
{
    void *trace[8] = {0};
    unsigned hash = 0;

    report->value = RtlCaptureStackBackTrace(0, 8, trace, &hash);
    report->parameter[0] = (u64)trace[0];
    report->parameter[1] = (u64)trace[1];
    expect_at((void *)back_trace);
    note(hash != 0);
}

static NOINLINE void virtual_unwind(void)
{
    struct context context;
    u64 base = 0, establisher = 0;
    void *data = 0, *entry;

    RtlCaptureContext(&context);
    expect_at((void *)virtual_unwind);
    report->address = context.rip;
    entry = RtlLookupFunctionEntry(context.rip, &base, 0);
    note(entry != 0);
    RtlVirtualUnwind(0, base, context.rip, entry, &context, &data, &establisher, 0);
    note(context.rip == (u64)__builtin_return_address(0));
}

/* ---- what nobody takes ---- */

static NOINLINE void fails_in_finally(void)
{
    __try {
        raise_status(STATUS_OF_OURS);
    } __finally {
        note(2);
        fault_now();
    }
}

static NOINLINE void unhandled_in_finally(void)
{
    __try {
        fails_in_finally();
    } __except (note(1), _exception_code() == (unsigned long)STATUS_OF_OURS ? TAKE : DISMISS) {
        note(99);
    }
}

static NOINLINE int always_faults(void)
{
    fault_now();
    return TAKE;
}

static NOINLINE void filter_faults_for_ever(void)
{
    __try {
        fault_now();
    } __except (always_faults()) {
        note(99);
    }
}

static NOINLINE void kernel_address(void)
{
    __try {
        read_at((volatile unsigned *)0xFFFFF88000001000);
    } __except (TAKE) {
        note(99);
    }
}

static NOINLINE void raised_level(void)
{
    unsigned char before = KfRaiseIrql(2);

    __try {
        fault_now();
    } __except (TAKE) {
        note(99);
    }
    KeLowerIrql(before);
}

/* As the kernel's header has it. */
struct query {
    int (*routine)(unsigned short *name, unsigned type, void *data, unsigned bytes, void *context,
                   void *entry);
    unsigned flags;
    const unsigned short *name;
    void *entry;
    unsigned default_type;
    const void *default_data;
    unsigned default_bytes;
};

static int queried(unsigned short *name, unsigned type, void *data, unsigned bytes, void *context,
                   void *entry)
{
    (void)name;
    (void)type;
    (void)data;
    (void)bytes;
    (void)context;
    (void)entry;
    note(1);
    fault_now();
    return 0;
}

static NOINLINE void through_host(void)
{
    static const unsigned number = 5;
    const struct query table[2] = {{.routine = queried,
                                    .name = (const unsigned short *)L"absent",
                                    .default_type = 4,
                                    .default_data = &number,
                                    .default_bytes = 4}};

    __try {
        RtlQueryRegistryValues(0, (const unsigned short *)L"\\Registry\\Machine\\Seh",
                               (void *)table, 0, 0);
        note(98);
    } __except (TAKE) {
        note(99);
    }
}

static NOINLINE void fast_fail(void)
{
    __try {
        __asm__ volatile("int $0x29" : : "c"(2));
    } __except (TAKE) {
        note(99);
    }
}

/* ---- */

static void run(void)
{
    switch (report->scenario) {
    case SEH_EXCEPTION_CONTINUED:
        continued();
        break;
    case SEH_REPAIRED:
        repaired();
        break;
    case SEH_NOT_CONTINUABLE:
        not_continuable();
        break;
    case SEH_DISMISSED:
        dismissed();
        break;
    case SEH_FINALLY_ORDER:
        finally_order();
        break;
    case SEH_FINALLY_NORMAL:
        finally_normal();
        break;
    case SEH_LEAVE:
        leave();
        break;
    case SEH_RETURN:
        report->value = return_out();
        break;
    case SEH_GOTO:
        goto_out();
        break;
    case SEH_NESTED_IN_FILTER:
        nested_in_filter();
        break;
    case SEH_ESCAPES_FILTER:
        escapes_filter();
        break;
    case SEH_COLLIDED:
        collided();
        break;
    case SEH_COLLIDED_SAME_FUNCTION:
        collides_once();
        break;
    case SEH_RAISED_IN_HANDLER:
        raised_in_handler();
        break;
    case SEH_REGISTERS:
        report->value = registers_kept();
        break;
    case SEH_DEEP:
        deep();
        break;
    case SEH_DYNAMIC_FRAME:
        dynamic_frame();
        break;
    case SEH_MANY:
        many();
        break;
    case SEH_BACK_TRACE:
        back_trace();
        break;
    case SEH_VIRTUAL_UNWIND:
        virtual_unwind();
        break;
    case SEH_UNHANDLED_READ:
        fault_now();
        break;
    case SEH_UNHANDLED_STATUS:
        raise_status(STATUS_OF_OURS);
        break;
    case SEH_UNHANDLED_IN_FINALLY:
        unhandled_in_finally();
        break;
    case SEH_FILTER_FAULTS_FOR_EVER:
        filter_faults_for_ever();
        break;
    case SEH_KERNEL_ADDRESS:
        kernel_address();
        break;
    case SEH_RAISED_LEVEL:
        raised_level();
        break;
    case SEH_THROUGH_HOST:
        through_host();
        break;
    case SEH_FAST_FAIL:
        fast_fail();
        break;
    default:
        simple(report->scenario);
    }
}

int DriverEntry(void *driver, void *path);
int DriverEntry(void *driver, void *path)
{
    (void)driver;
    report = path;
    run();
    return 0;
}
