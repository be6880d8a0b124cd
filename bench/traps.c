/* SPDX-License-Identifier: MIT */
/* Cases of what kernel code does inline: device registers through pointers, CR8, the processor block, the shared data page. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "bench.h"
#include "bus/bus.h"
#include "bus/config.h"
#include "bus/device.h"
#include "bus/window.h"
#include "nt/base/nt_config.h"
#include "nt/nt.h"
#include "sim/inside.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/thread.h"
#include "support/inert_device.h"
#include "x64/rewrite/rewrite.h"
#include "x64/x64.h"

#define PAGE 4096u

/* ---- an image of one function that reads CR8 ---- */

static uint64_t (*read_level)(void);

static void make_image(void)
{
    static const uint8_t code[] = {0x44, 0x0F, 0x20, 0xC0, 0xC3}; /* mov rax, cr8; ret */
    static struct x64_function function[2] = {{PAGE, PAGE + sizeof(code), 0},
                                              {PAGE + 32, PAGE + 33, 0}};
    static struct x64_function_table table = {
        .image_bytes = 2 * PAGE, .function = function, .count = 2};
    struct x64_rewriting counts = {0};
    uint8_t *base = mmap(NULL, 3 * (size_t)PAGE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (base == MAP_FAILED)
        bench_die("out of memory");
    memset(base + PAGE, 0xCC, PAGE);
    memcpy(base + PAGE, code, sizeof(code));
    table.base = (uintptr_t)base;
    table.spare = table.base + 2 * PAGE;
    table.spare_bytes = PAGE;
    if (!x64_rewrite(&table, PAGE, 2 * PAGE, &counts) || counts.islands != 1 ||
        mprotect(base + PAGE, PAGE, PROT_READ | PROT_EXEC) != 0)
        bench_die("the image was not rewritten");
    base += PAGE;
    memcpy(&read_level, &base, sizeof(read_level));
}

/* ---- what a signal costs at least ---- */

#define MEASURE(name, count, ...)                            \
    do {                                                     \
        uint64_t count_ = (count);                           \
        double start_ = bench_now();                         \
                                                             \
        for (uint64_t i_ = 0; i_ < count_; i_++) {           \
            __VA_ARGS__;                                     \
        }                                                    \
        bench_result(name, 0, count_, bench_now() - start_); \
    } while (0)

#define PROBE_BYTES 2 /* of `movl (%rdi), %eax` */

static void step_over(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += PROBE_BYTES;
}

/* A fault, a handler that does nothing on a stack of its own, and back: what any emulation of a trap is compared with. */
static void bare_signal(void)
{
    struct sigaction action = {.sa_sigaction = step_over,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER},
                     before;
    stack_t stack = {.ss_size = 64u << 10}, outer;
    uint64_t few = bench_options.quick ? 2000 : 500000;
    void *page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    stack.ss_sp = malloc(stack.ss_size);
    if (page == MAP_FAILED || !stack.ss_sp || sigaltstack(&stack, &outer) != 0 ||
        sigaction(SIGSEGV, &action, &before) != 0)
        bench_die("no signals");
    MEASURE("floor: SIGSEGV and back", few,
            __asm__ volatile("movl (%0), %%eax"
                             :
                             : "D"(page)
                             : "eax"));
    sigaction(SIGSEGV, &before, NULL);
    sigaltstack(&outer, NULL);
    free(stack.ss_sp);
    munmap(page, PAGE);
}

/* ---- the cases ---- */

static volatile uint32_t *registers;

static void body(void *argument)
{
    uint64_t few = bench_options.quick ? 2000 : 500000, many = few * 100, value;
    uint64_t deadline = sim_inside_enter(SIM_FOREVER);

    (void)argument;
    MEASURE("register by routine", many, READ_REGISTER_ULONG((PULONG)(uintptr_t)registers));
    MEASURE("register read", few, (void)registers[0]);
    MEASURE("register write", few, registers[0] = 1);
    MEASURE("register read-modify-write", few,
            __asm__ volatile("orl $1, (%0)"
                             :
                             : "r"(registers)
                             : "memory"));
    MEASURE("register rep movsl of 64", few / 64, {
        uint32_t from[64] = {0};
        const void *s = from;
        void *d = (void *)(uintptr_t)registers;
        uint64_t n = 64;

        __asm__ volatile("rep movsl" : "+S"(s), "+D"(d), "+c"(n) : : "memory");
    });
    MEASURE("CR8 read, trapped", few, __asm__ volatile("movq %%cr8, %0" : "=r"(value)));
    MEASURE("CR8 read, rewritten", many, read_level());
    MEASURE("CR8 raise and lower", few / 2, {
        __asm__ volatile("movq %0, %%cr8" : : "r"(2ull));
        __asm__ volatile("movq %0, %%cr8" : : "r"(0ull));
    });
    MEASURE("processor block read", many, __asm__ volatile("movq %%gs:0x188, %0" : "=r"(value)));
    MEASURE("shared data read", few, /* in a form that no sanitizer looks at first */
            __asm__ volatile("movq (%1), %0"
                             : "=r"(value)
                             : "r"(0xFFFFF78000000320)));
    sim_inside_leave(deadline);
}

void bench_traps(void)
{
    struct sim_config config = {.seed = 1, .processors = 1};
    struct ram_config ram_config = {.bytes = 64u << 20};
    struct sim_machine *machine = sim_machine_create(&config);
    struct nt_config nt_config = {0};
    struct bus_device *device;
    struct nt *nt;

    bare_signal();
    if (!machine)
        bench_die("no machine");
    sim_enter(machine);
    nt_config.ram = ram_create(&ram_config);
    nt_config.bus = bus_create(nt_config.ram);
    nt = nt_create(&nt_config);
    if (!nt || !x64_create())
        bench_die("no machine");
    device = inert_device_add(nt_config.bus, 0);
    if (!device)
        bench_die("no device");
    bus_config_write(device, 4, &(uint16_t){6}, 2);
    registers = bus_map(nt_config.bus, bus_device_bar(device, 0), PAGE);
    make_image();
    sim_thread_release(sim_thread_create("driver", SIM_THREAD_KERNEL, body, NULL));
    sim_run(NULL, NULL, SIM_FOREVER);
    x64_destroy();
    nt_destroy(nt);
    bus_destroy(nt_config.bus);
    ram_destroy(nt_config.ram);
    sim_leave();
    sim_machine_destroy(machine);
}
