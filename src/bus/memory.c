/* SPDX-License-Identifier: MIT */
/* Device memory: one sparse memory file a piece, mapped once. */
#include <sys/mman.h>
#include <unistd.h>

#include "bus/bus_private.h"

bool bus_memory_create(struct bus_memory *memory, uint64_t bytes)
{
    void *mapped = MAP_FAILED;
    int file;

    if (util_fault_point())
        return false;
    file = memfd_create("dxgkhost-device", MFD_CLOEXEC);
    if (file < 0)
        return false;
    if (ftruncate(file, (off_t)bytes) == 0)
        mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (mapped == MAP_FAILED) {
        close(file);
        return false;
    }
    memory->bytes = mapped;
    memory->size = bytes;
    memory->file = file;
    return true;
}

void bus_memory_destroy(struct bus_memory *memory)
{
    if (!memory->bytes)
        return;
    munmap(memory->bytes, memory->size);
    close(memory->file);
    memory->bytes = NULL;
}

int bus_device_memory_file(const struct bus_device *device, unsigned bar)
{
    if (bar == DXGK_DEVICE_BARS)
        return device->memory[bar].bytes ? device->memory[bar].file : -1;
    return bar < DXGK_DEVICE_BARS ? device->bar[bar].file : -1;
}

void *bus_device_memory(const struct bus_device *device, unsigned bar)
{
    if (bar == DXGK_DEVICE_BARS)
        return device->memory[bar].bytes;
    return bar < DXGK_DEVICE_BARS ? device->bar[bar].memory : NULL;
}
