/* SPDX-License-Identifier: MIT */
/*
 * A Windows image of which every byte may lie. It is loaded and looked at, never run.
 *
 * What must hold: it is refused with one line and nothing of it is kept, or it is loaded, and then its names and its function
 * table can be asked about any address; and everything comes back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bus/bus.h"
#include "loader/loader.h"
#include "nt/nt.h"
#include "ram/ram.h"
#include "sim/sim.h"
#include "x64/unwind/function_table.h"
#include "x64/x64.h"

#define MUST(condition)                                                                   \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            abort();                                                                      \
        }                                                                                 \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const struct loader_image *image)
{
    uintptr_t entry = (uintptr_t)loader_image_entry(image);
    const struct x64_function_table *table = x64_function_table_find(entry);
    char text[128];

    MUST(table && loader_image_contains(image, entry));
    for (uint32_t i = 0; i < table->count; i++) {
        const struct x64_function *function = &table->function[i];

        MUST(x64_function_find(table, table->base + function->begin) == function);
        MUST(loader_symbolize(table->base + function->begin, text, sizeof(text)));
    }
    MUST(loader_symbolize(table->base + table->image_bytes - 1, text, sizeof(text)));
    MUST(!loader_image_imports(image, "no such routine"));
}

static void load(const uint8_t *data, size_t size)
{
    const unsigned options = size % 2 ? LOADER_STUB_MISSING : 0;
    struct loader_image *image = NULL;
    char path[64], error[512];
    int file = memfd_create("image", MFD_CLOEXEC);

    MUST(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    if (NT_SUCCESS(loader_image_load(path, options, &image, error, sizeof(error)))) {
        look_at(image);
        loader_image_unload(image);
    } else {
        MUST(!image && error[0] && !strchr(error, '\n'));
    }
    close(file);
}

/* One machine for all inputs: it is whole again after each. */
static struct sim_machine *machine_of_all(void)
{
    static struct sim_machine *machine;
    const struct sim_config config = {.seed = 1, .processors = 1};
    const struct ram_config ram = {.bytes = 64u << 20};
    struct nt_config nt = {0};

    if (machine)
        return machine;
    machine = sim_machine_create(&config);
    MUST(machine != NULL);
    sim_enter(machine);
    nt.ram = ram_create(&ram);
    nt.bus = bus_create(nt.ram);
    MUST(nt_create(&nt) && x64_create());
    sim_leave();
    return machine;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sim_machine *machine;
    uint64_t live;

    if (size < 2 || memcmp(data, "MZ", 2) != 0)
        return 0; /* what is no Windows image might be one of the dynamic linker's */
    machine = machine_of_all();
    sim_enter(machine);
    live = machine->heap.live_blocks;
    load(data, size);
    MUST(machine->heap.live_blocks <=
         live + 2); /* what loader and x64 keep for the machine, made at their first use */
    sim_leave();
    return 0;
}
