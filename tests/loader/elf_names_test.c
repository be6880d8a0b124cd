/* SPDX-License-Identifier: MIT */
/* The functions of a shared object by address, and its description. */
#include "loader/support/tiny_elf.h"

#include "loader/symbols.h"
#include "sim/machine.h"
#include "sim/sim.h"

#include <unistd.h>

static struct sim_machine *machine;

static void begin(void)
{
    const struct sim_config config = {.seed = 1, .processors = 1};

    machine = sim_machine_create(&config);
    CHECK(machine);
    sim_enter(machine);
}

static void end(void)
{
    CHECK(machine->heap.live_blocks == 0 || machine->heap.live_blocks == 1);
    sim_leave();
    sim_machine_destroy(machine);
}

static const char *name_at(const struct symbol_table *table, uint64_t address)
{
    const struct symbol *symbol = symbol_table_find(table, address);

    return symbol ? table->names + symbol->name : "";
}

TEST(names_come_from_the_full_table_if_there_is_one)
{
    struct symbol_table table;
    struct tiny *t = make();

    begin();
    CHECK(parse(t) == STATUS_SUCCESS && symbol_table_init_elf(&table, &parsed) == STATUS_SUCCESS);
    CHECK(table.count == 1 && strcmp(name_at(&table, AT + 0x40), "hidden") == 0);
    symbol_table_finish(&table);
    CHECK(table.count == 0 && !table.symbol && !table.names);
    /* one without functions, and none: what is exported */
    t->all[1].st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT);
    CHECK(parse(t) == STATUS_SUCCESS && symbol_table_init_elf(&table, &parsed) == STATUS_SUCCESS);
    CHECK(table.count == 1 && strcmp(name_at(&table, AT + 0x10), "second") == 0);
    symbol_table_finish(&table);
    t->header.e_shoff = 0;
    CHECK(parse(t) == STATUS_SUCCESS && symbol_table_init_elf(&table, &parsed) == STATUS_SUCCESS);
    CHECK(table.count == 1 && strcmp(name_at(&table, AT + 0x2F), "second") == 0);
    symbol_table_finish(&table);
    /* only functions that are defined and have a name; one that is chosen at run time is one */
    t = make();
    t->all[1].st_info = ELF64_ST_INFO(STB_LOCAL, STT_GNU_IFUNC);
    t->all[2] = t->all[1];
    t->all[2].st_name = 0;
    CHECK(parse(t) == STATUS_SUCCESS && symbol_table_init_elf(&table, &parsed) == STATUS_SUCCESS);
    CHECK(table.count == 1);
    symbol_table_finish(&table);
    t->all[2].st_name = 8;
    t->all[2].st_shndx = SHN_UNDEF;
    CHECK(parse(t) == STATUS_SUCCESS && symbol_table_init_elf(&table, &parsed) == STATUS_SUCCESS);
    CHECK(table.count == 1);
    symbol_table_finish(&table);
    end();
}

TEST(functions_are_found_from_their_first_byte_to_behind_their_last)
{
    struct symbol_table table;

    begin();
    CHECK(symbol_table_init(&table, 4, 4 + 2 + 2) == STATUS_SUCCESS);
    symbol_table_add(&table, "two", 3, 0x200, 0x10);
    symbol_table_add(&table, "one", 1, 0x100, 0x20);
    symbol_table_add(&table, "tailored", 1, 0x300, 0);
    symbol_table_add(&table, "", 0, 0x400, 1); /* no room is left for its name */
    CHECK(table.count == 3 && table.name_bytes == 8);
    symbol_table_sort(&table);
    CHECK(!symbol_table_find(&table, 0xFF));
    CHECK(strcmp(name_at(&table, 0x100), "o") == 0 && strcmp(name_at(&table, 0x120), "o") == 0);
    CHECK(!symbol_table_find(&table, 0x121) && !symbol_table_find(&table, 0x1FF));
    CHECK(strcmp(name_at(&table, 0x200), "two") == 0 && strcmp(name_at(&table, 0x210), "two") == 0);
    CHECK(!symbol_table_find(&table, 0x211));
    CHECK(strcmp(name_at(&table, 0x300), "t") == 0 && !symbol_table_find(&table, 0x301));
    symbol_table_finish(&table);
    CHECK(!symbol_table_find(&table, 0x200));
    end();
}

/* Always the same one: the longest, and of those the last that was added. */
TEST(one_of_several_names_is_chosen)
{
    struct symbol_table table;

    begin();
    CHECK(symbol_table_init(&table, 4, 16) == STATUS_SUCCESS);
    symbol_table_add(&table, "b", 1, 0x200, 0x10);
    symbol_table_add(&table, "c", 1, 0x200, 0x10);
    symbol_table_add(&table, "a", 1, 0x200, 0x08);
    symbol_table_add(&table, "d", 1, 0x100, 0x08);
    symbol_table_sort(&table);
    CHECK(strcmp(name_at(&table, 0x200), "c") == 0 && strcmp(name_at(&table, 0x108), "d") == 0);
    symbol_table_add(&table, "e", 1, 0x500, 0x08); /* more than was asked for */
    CHECK(table.count == 4);
    symbol_table_finish(&table);
    CHECK(symbol_table_init(&table, 0, 16) == STATUS_SUCCESS && !table.symbol);
    CHECK(symbol_table_init(&table, UINT64_C(1) << 32, 16) == STATUS_SUCCESS && !table.symbol);
    CHECK(symbol_table_init(&table, 1, UINT64_C(1) << 32) == STATUS_SUCCESS && !table.symbol);
    symbol_table_add(&table, "f", 1, 0x500, 0x08);
    CHECK(table.count == 0);
    end();
}

/* ---- descriptions ---- */

static char described[2048];

static void add_line(void *context, const char *line)
{
    CHECK(context == described && strlen(described) + strlen(line) + 2 < sizeof(described));
    strcat(strcat(described, line), "\n");
}

static NTSTATUS describe(const struct tiny *tiny, size_t size)
{
    static char folder[] = "/tmp/dxgkhost-tiny-XXXXXX";
    char path[64];
    NTSTATUS status;
    FILE *file;

    strcpy(folder + sizeof(folder) - 7, "XXXXXX");
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/tiny.so", folder);
    file = fopen(path, "wb");
    CHECK(file && fwrite(tiny, 1, size, file) == size && fclose(file) == 0);
    described[0] = why[0] = '\0';
    status = loader_describe(path, add_line, described, why, sizeof(why));
    remove(path);
    rmdir(folder);
    return status;
}

TEST(a_file_is_described_part_by_part)
{
    struct tiny *t = make();
    char expected[1024];

    begin();
    CHECK(describe(t, sizeof(*t)) == STATUS_SUCCESS);
    snprintf(expected, sizeof(expected),
             "tiny.so: ELF shared object for x86-64, %zu bytes\n"
             "  symbols                    3\n"
             "segments\n"
             "  0x00001000, %8u bytes, %8u in the file, r-x\n"
             "  0x00009000,      256 bytes,       16 in the file, rw-\n"
             "imports\n"
             "    optional first\n"
             "  1 provided or optional, 0 missing\n",
             sizeof(*t), OFFSET(section), OFFSET(section));
    assert_string_equal(described, expected);
    /* stripped; something that is missing, and something that is there */
    t->header.e_shoff = 0;
    t->program[0].p_flags = PF_W;
    t->program[1].p_flags = PF_R | PF_W | PF_X;
    t->symbol[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    t->symbol[2].st_shndx = SHN_UNDEF;
    memcpy(t->strings + 7, "strlen", 7);
    CHECK(describe(t, sizeof(*t)) == STATUS_SUCCESS);
    CHECK(strstr(described, "\n  symbols                    4\n"));
    CHECK(strstr(described, " in the file, -w-\n") && strstr(described, " in the file, rwx\n"));
    CHECK(strstr(described, "\nimports\n    missing  first\n    provided strlen\n"
                            "  1 provided or optional, 1 missing\n"));
    end();
}

TEST(what_cannot_be_described_is_told)
{
    struct tiny *t = make();

    begin();
    CHECK(loader_describe("/nowhere/tiny.so", add_line, described, why, sizeof(why)) ==
          STATUS_OBJECT_NAME_NOT_FOUND);
    CHECK(strcmp(why, "/nowhere/tiny.so: No such file or directory") == 0);
    CHECK(describe(t, 1) == STATUS_INVALID_IMAGE_FORMAT && !described[0]);
    CHECK(strcmp(why, "tiny.so: neither an ELF file nor a Windows image") == 0);
    CHECK(describe(t, 0) == STATUS_INVALID_IMAGE_FORMAT && strcmp(why, "tiny.so: empty file") == 0);
    machine->heap.fail_at = machine->heap.requests + 1;
    CHECK(describe(t, sizeof(*t)) == STATUS_NO_MEMORY && strcmp(why, "tiny.so: out of memory") == 0);
    machine->heap.fail_at = 0;
    end();
}
