/* SPDX-License-Identifier: MIT */
/* Function tables: an address leads to its image and to the entry that covers it, and to nothing else. */
#include "support/check_rule.h"

#include "sim/machine.h"
#include "sim/sim.h"
#include "x64/unwind/function_table.h"

static const struct x64_function functions[] = {
    {0x1000, 0x1010, 0x3000},
    {0x1010, 0x1011, 0x3008},
    {0x1020, 0x1100, 0x3010},
};

static struct sim_machine *begin(void)
{
    struct sim_config config = {.seed = 1, .processors = 1};
    struct sim_machine *machine = sim_machine_create(&config);

    CHECK(machine != NULL);
    sim_enter(machine);
    return machine;
}

static void end(struct sim_machine *machine)
{
    sim_leave();
    sim_machine_destroy(machine);
}

static struct x64_function_table table_at(uintptr_t base)
{
    return (struct x64_function_table){.name = "a.sys",
                                       .base = base,
                                       .image_bytes = 0x4000,
                                       .function = functions,
                                       .count = sizeof(functions) / sizeof(functions[0])};
}

TEST(addresses_lead_to_their_image)
{
    struct sim_machine *machine = begin();
    struct x64_function_table a = table_at(0x10000), b = table_at(0x14000);

    CHECK(!x64_function_table_find(0x10000));
    CHECK(x64_function_table_add(&a) && x64_function_table_add(&b));
    CHECK(!x64_function_table_find(0xFFFF));
    CHECK(x64_function_table_find(0x10000) == &a && x64_function_table_find(0x13FFF) == &a);
    CHECK(x64_function_table_find(0x14000) == &b && x64_function_table_find(0x17FFF) == &b);
    CHECK(!x64_function_table_find(0x18000));
    x64_function_table_remove(&a);
    CHECK(!x64_function_table_find(0x10000) && x64_function_table_find(0x14000) == &b);
    x64_function_table_remove(&b);
    x64_function_table_remove(&b);
    CHECK(!x64_function_table_find(0x14000));
    end(machine);
}

TEST(addresses_lead_to_their_entry)
{
    struct x64_function_table table = table_at(0x10000);

    CHECK(!x64_function_find(&table, 0x10000) && !x64_function_find(&table, 0x10FFF));
    CHECK(x64_function_find(&table, 0x11000) == &functions[0]);
    CHECK(x64_function_find(&table, 0x1100F) == &functions[0]);
    CHECK(x64_function_find(&table, 0x11010) == &functions[1]);
    CHECK(!x64_function_find(&table, 0x11011) && !x64_function_find(&table, 0x1101F));
    CHECK(x64_function_find(&table, 0x110FF) == &functions[2]);
    CHECK(!x64_function_find(&table, 0x11100));
    table.count = 0;
    CHECK(!x64_function_find(&table, 0x11000));
}

TEST(no_machine_has_no_image)
{
    CHECK(!x64_function_table_find(0x10000));
}

TEST(running_out_of_memory_changes_nothing)
{
    struct sim_machine *machine = begin();
    struct x64_function_table table = table_at(0x10000);

    list_init(&table.link);
    machine->heap.fail_at = machine->heap.requests + 1;
    CHECK(!x64_function_table_add(&table));
    machine->heap.fail_at = 0;
    CHECK(!x64_function_table_find(0x10000));
    x64_function_table_remove(&table);
    CHECK(x64_function_table_add(&table) && x64_function_table_find(0x10000) == &table);
    end(machine);
}
