/* SPDX-License-Identifier: MIT */
#include "bus/bus.h"
#include "bus/config.h"
#include "bus/device.h"
#include "bus/window.h"
#include "nt/base/image.h"
#include "nt/base/nt_config.h"
#include "nt/io/image_life.h"
#include "nt/nt.h"
#include "sim/fault.h"
#include "sim/inside.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/stop.h"
#include "sim/thread.h"
#include "support/inert_device.h"
#include "x64/support/rig.h"

#include <stdio.h>
#include <sys/mman.h>

struct rig rig;

/* ---- the device ---- */

static void note(bool write, uint64_t offset, unsigned width, uint64_t value)
{
    if (rig.accesses < RIG_ACCESSES)
        rig.access[rig.accesses++] = (struct rig_access){write, width, offset, value};
    if (rig.on_access)
        rig.on_access();
}

static uint64_t read_register(void *device, unsigned bar, uint64_t offset, unsigned width)
{
    uint64_t value = 0;

    (void)device;
    (void)bar;
    memcpy(&value, rig.value + offset, width);
    note(false, offset, width, value);
    return value;
}

static void write_register(void *device, unsigned bar, uint64_t offset, unsigned width,
                           uint64_t value)
{
    (void)device;
    (void)bar;
    memcpy(rig.value + offset, &value, width);
    note(true, offset, width, value);
}

static const struct dxgk_device_model model = {
    .api_version = DXGK_DEVICE_API_VERSION,
    .name = "registers",
    .configure = inert_device_configure,
    .create = inert_device_create,
    .destroy = inert_device_destroy,
    .reset = inert_device_reset,
    .read = read_register,
    .write = write_register,
    .timer = inert_device_timer,
};

/* ---- the machine ---- */

static void on_fault(const struct sim_fault *fault)
{
    rig.faulted = true;
    rig.fault = *fault;
    if (fault->registers)
        rig.registers_then = *fault->registers;
    sim_stop();
}

static void on_bugcheck(const struct verify_bugcheck *bugcheck)
{
    (void)bugcheck;
    sim_stop();
}

/* A place of its own for each report, so that none are merged. */
static void describe(struct verify_record *record)
{
    static unsigned count;

    snprintf(record->where, sizeof(record->where), "report %u", ++count);
    record->irql = sim_irql();
}

void rig_boot(uint64_t seed, unsigned processors)
{
    static const struct verify_place place = {.describe = describe, .bugcheck = on_bugcheck};
    const struct sim_config machine = {.seed = seed, .processors = processors};
    const struct ram_config ram = {.bytes = 64u << 20};
    struct nt_config nt = {0};
    struct bus_refusal error;

    memset(&rig, 0, sizeof(rig));
    rig.log = verify_log_create();
    verify_log_install(rig.log);
    verify_set_place(rig.log, &place);
    rig.machine = sim_machine_create(&machine);
    CHECK(rig.machine);
    sim_enter(rig.machine);
    rig.ram = ram_create(&ram);
    rig.bus = bus_create(rig.ram);
    nt.ram = rig.ram;
    nt.bus = rig.bus;
    rig.nt = nt_create(&nt);
    CHECK(rig.nt);
    CHECK(x64_create());
    sim_on_fault(on_fault);
    rig.image = nt_image_create("driver");
    rig.device = bus_device_add(rig.bus, &model, NULL, &error);
    CHECK(rig.device);
    bus_config_write(rig.device, 4, &(uint16_t){6}, 2); /* decode memory, master */
    rig.registers = bus_map(rig.bus, bus_device_bar(rig.device, 0), RIG_REGISTERS);
    CHECK(rig.registers);
}

int rig_setup(void)
{
    rig_boot(11, 1);
    return 0;
}

int rig_setup_smp(void)
{
    rig_boot(11, 4);
    return 0;
}

int rig_teardown(void)
{
    x64_destroy();
    nt_destroy(rig.nt);
    bus_destroy(rig.bus);
    ram_destroy(rig.ram);
    sim_leave();
    sim_machine_destroy(rig.machine);
    verify_log_install(NULL);
    verify_log_destroy(rig.log);
    return 0;
}

/* ---- running ---- */

static bool ended;

static void body(void *arg)
{
    void (*fn)(void);
    uint64_t deadline;

    memcpy(&fn, arg, sizeof(fn));
    util_free(arg);
    nt_image_enter(rig.image);
    deadline = sim_inside_enter(SIM_FOREVER);
    fn();
    sim_inside_leave(deadline);
    nt_image_enter(NULL);
    ended = true;
}

void rig_start(void (*fn)(void))
{
    void *arg = util_alloc(sizeof(fn));
    struct sim_thread *thread;

    memcpy(arg, &fn, sizeof(fn));
    thread = sim_thread_create("driver", SIM_THREAD_KERNEL, body, arg);
    CHECK(thread);
    sim_thread_release(thread);
}

/* cmocka has put its own handlers of faults in place: the machine must be entered anew. */
bool rig_run(void (*fn)(void))
{
    ended = false;
    sim_leave();
    sim_enter(rig.machine);
    rig_start(fn);
    sim_run(NULL, NULL, SIM_FOREVER);
    return ended;
}

void rig_forget_accesses(void)
{
    rig.accesses = 0;
}

bool rig_accessed(unsigned index, bool write, uint64_t offset, unsigned width, uint64_t value)
{
    const struct rig_access *access = &rig.access[index];

    return index < rig.accesses && access->write == write && access->offset == offset &&
           access->width == width && access->value == value;
}

uint64_t rig_reported(const char *rule)
{
    return verify_rule_count(rig.log, rule);
}

const char *rig_said(const char *rule)
{
    for (size_t i = verify_records(rig.log); i-- > 0;) {
        const struct verify_record *record = verify_record_at(rig.log, i);

        if (strcmp(record->rule, rule) == 0)
            return record->seen;
    }
    return "";
}

/* ---- single instructions ---- */

__asm__(".text\n"
        ".globl rig_call\n"
        ".type rig_call, @function\n"
        "rig_call:\n"
        "    pushq %rbx\n    pushq %rbp\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    pushq %rdi\n    pushq %rsi\n    subq $8, %rsp\n"
        ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
        "    movups 144+16*\\n(%rdi), %xmm\\n\n"
        ".endr\n"
        "    pushq 128(%rdi)\n    popfq\n"
        "    movq 0(%rdi), %rax\n    movq 8(%rdi), %rcx\n    movq 16(%rdi), %rdx\n"
        "    movq 24(%rdi), %rbx\n    movq 40(%rdi), %rbp\n    movq 48(%rdi), %rsi\n"
        ".irp n, 8,9,10,11,12,13,14,15\n"
        "    movq 8*\\n(%rdi), %r\\n\n"
        ".endr\n"
        "    movq 56(%rdi), %rdi\n"
        "    call *8(%rsp)\n"
        "    pushq %rax\n    movq 24(%rsp), %rax\n"
        "    popq 0(%rax)\n    pushfq\n    popq 128(%rax)\n    cld\n"
        "    movq %rcx, 8(%rax)\n    movq %rdx, 16(%rax)\n    movq %rbx, 24(%rax)\n"
        "    movq %rbp, 40(%rax)\n    movq %rsi, 48(%rax)\n    movq %rdi, 56(%rax)\n"
        ".irp n, 8,9,10,11,12,13,14,15\n"
        "    movq %r\\n, 8*\\n(%rax)\n"
        ".endr\n"
        ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
        "    movups %xmm\\n, 144+16*\\n(%rax)\n"
        ".endr\n"
        "    addq $24, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbp\n    popq %rbx\n"
        "    ret\n"
        ".size rig_call, . - rig_call\n");

void rig_execute(struct rig_registers *registers, const uint8_t *code, size_t bytes)
{
    static uint8_t *page;

    if (!page)
        page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                    0);
    memcpy(page, code, bytes);
    page[bytes] = 0xC3; /* ret */
    rig_call(registers, page);
}
