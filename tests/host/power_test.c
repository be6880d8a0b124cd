/* SPDX-License-Identifier: MIT */
/* The reference driver and its GPU through a loss of power while clients are at work. */
#include "bus/window.h"
#include "host/support/refgpu_client.h"
#include "port/record/adapter_info.h"
#include "port/record/adapter_record.h"
#include "port/running/power.h"

#include <sys/mman.h>

#define BYTES 65536u

static struct port_adapter *adapter(void)
{
    return port_adapter_first(port_current());
}

/* What a loss of power does to the memory of the device. Pages that nobody has touched are left out: it has many. */
static bool wipe_video_memory(void)
{
    enum { STEP = 512 * 8 }; /* a word a page: enough to notice */
    const DXGK_SEGMENTDESCRIPTOR4 *segment = port_segment(adapter(), 0);
    struct bus *bus = adapter()->port->config.bus;
    uint8_t *bytes = bus_map(
        bus, (struct phys_addr){(uint64_t)segment->CpuTranslatedAddress.QuadPart}, segment->Size);
    unsigned char *there = calloc(segment->Size / STEP, 1);
    bool wiped = bytes && there && mincore(bytes, segment->Size, there) == 0;

    for (uint64_t i = 0; wiped && i < segment->Size / STEP; i++)
        if (there[i] & 1)
            *(volatile uint64_t *)(void *)(bytes + i * STEP) = 0xDEADDEADDEADDEADull;
    free(there);
    if (bytes)
        bus_unmap(bus, bytes);
    return wiped;
}

static NTSTATUS power_cycle(void)
{
    NTSTATUS status = port_adapter_set_power(adapter(), PowerDeviceD3, PowerActionSleep);

    if (!NT_SUCCESS(status))
        return status;
    if (!wipe_video_memory())
        return STATUS_UNSUCCESSFUL;
    return port_adapter_set_power(adapter(), PowerDeviceD0, PowerActionNone);
}

/* ---- content ---- */

struct work {
    struct gpu g;
    struct memory commands, vram, back;
};

static bool begin_work(struct work *w)
{
    return gpu_begin(&w->g) == STATUS_SUCCESS &&
           gpu_memory(&w->g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE,
                      &w->commands) == STATUS_SUCCESS &&
           gpu_memory(&w->g, BYTES, 0, REFGPU_IN_VRAM, &w->vram) == STATUS_SUCCESS &&
           gpu_memory(&w->g, BYTES, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &w->back) ==
               STATUS_SUCCESS;
}

static NTSTATUS run_commands(struct work *w, const struct refgpu_builder *b)
{
    NTSTATUS status = gpu_submit(w->g.copy, w->commands.va, refgpu_builder_bytes(b));

    return NT_SUCCESS(status) ? gpu_wait_idle(&w->g) : status;
}

/* The GPU writes where only it can. */
static bool fill_vram(struct work *w, uint32_t pattern)
{
    struct refgpu_builder b;

    refgpu_builder_init(&b, w->commands.cpu, 4096);
    refgpu_fill(&b, w->vram.va, BYTES, pattern);
    return run_commands(w, &b) == STATUS_SUCCESS;
}

static bool vram_holds(struct work *w, uint32_t pattern)
{
    const uint32_t *words = w->back.cpu;
    struct refgpu_builder b;

    memset(w->back.cpu, 0, BYTES);
    refgpu_builder_init(&b, w->commands.cpu, 4096);
    refgpu_copy(&b, w->back.va, w->vram.va, BYTES);
    if (run_commands(w, &b) != STATUS_SUCCESS)
        return false;
    for (uint32_t i = 0; i < BYTES / 4; i++)
        if (words[i] != pattern)
            return false;
    return true;
}

static void contents(struct client *c)
{
    struct dxgk_statistics before, after;
    struct work w;

    before.size = after.size = sizeof(before);
    TRY(c, begin_work(&w));
    TRY(c, fill_vram(&w, 0x12345678) && vram_holds(&w, 0x12345678));
    for (unsigned i = 0; i < 3; i++) {
        dxgk_machine_statistics(c->machine->dxgk, &before);
        TRY(c, port_adapter_set_power(adapter(), PowerDeviceD3, PowerActionSleep) == STATUS_SUCCESS);
        dxgk_machine_statistics(c->machine->dxgk, &after);
        SHOW(c, "LIFE-154/a", after.bytes_paged_out - before.bytes_paged_out >= BYTES);
        TRY(c, wipe_video_memory());
        TRY(c, port_adapter_set_power(adapter(), PowerDeviceD0, PowerActionNone) == STATUS_SUCCESS);
        SHOW(c, "LIFE-154/c", vram_holds(&w, 0x12345678 + i));
        TRY(c, fill_vram(&w, 0x12345679 + i));
    }
    TRY(c, gpu_end(&w.g) == STATUS_SUCCESS);
}

TEST(video_memory_survives_a_loss_of_power)
{
    struct machine m;

    for (int mode = DXGK_IOMMU_OFF; mode <= DXGK_IOMMU_REMAP; mode++) {
        machine_begin(&m, (enum dxgk_iommu)mode);
        machine_run(&m, contents);
        machine_end(&m);
    }
}

/* ---- under load ---- */

static struct {
    bool stop, ended;
    uint32_t cycles;
    NTSTATUS status;
} cycling;

static void cycle(void *argument)
{
    (void)argument;
    while (!cycling.stop && cycling.cycles < 500 && NT_SUCCESS(cycling.status)) {
        cycling.status = power_cycle();
        cycling.cycles++;
        dxgk_client_sleep(50000);
    }
    cycling.ended = true;
}

static void loaded(struct client *c)
{
    struct work w;

    TRY(c, begin_work(&w));
    TRY(c, dxgk_client_process("power", cycle, NULL));
    for (uint32_t i = 0; cycling.cycles < 3 || i < 20; i++) {
        TRY(c, fill_vram(&w, i));
        TRY(c, vram_holds(&w, i));
        TRY(c, i < 10000);
    }
    cycling.stop = true;
    while (!cycling.ended)
        dxgk_client_sleep(100000);
    SHOW(c, "LIFE-154/c", cycling.status == STATUS_SUCCESS && cycling.cycles >= 3);
    TRY(c, gpu_end(&w.g) == STATUS_SUCCESS);
}

TEST(work_goes_on_after_each)
{
    struct machine m;

    for (unsigned i = 0; i < 4; i++) {
        struct dxgk_machine_config config;

        memset(&cycling, 0, sizeof(cycling));
        machine_config(&m, &config);
        config.seed = 21 + i;
        machine_create(&m, &config);
        machine_add_refgpu(&m);
        machine_run(&m, loaded);
        machine_end(&m);
    }
}

/* ---- asleep ---- */

static NTSTATUS counters(const struct gpu *g, bool asleep_is_fine)
{
    struct refgpu_escape_counters data = {.header.code = REFGPU_ESCAPE_COUNTERS};
    D3DKMT_ESCAPE escape;

    data.header.magic = REFGPU_UMD_MAGIC;
    memset(&escape, 0, sizeof(escape));
    escape.hAdapter = g->adapter;
    escape.Flags.NoAdapterSynchronization = asleep_is_fine;
    escape.pPrivateDriverData = &data;
    escape.PrivateDriverDataSize = sizeof(data);
    return D3DKMTEscape(&escape);
}

TEST_WITH(client, who_wants_the_adapter_wakes_it)
{
    struct memory more;
    struct work w;

    TRY(c, begin_work(&w));
    TRY(c, port_adapter_set_power(adapter(), PowerDeviceD3, PowerActionNone) == STATUS_SUCCESS);
    TRY(c, counters(&w.g, true) == STATUS_DEVICE_NOT_READY); /* the driver says so */
    SHOW(c, "LIFE-139/a", port_adapter_power(adapter()) == PowerDeviceD3);
    TRY(c, counters(&w.g, false) == STATUS_SUCCESS);
    SHOW(c, "LIFE-139/b", port_adapter_power(adapter()) == PowerDeviceD0);
    /* whatever else takes the driver wakes it, too */
    TRY(c, port_adapter_set_power(adapter(), PowerDeviceD3, PowerActionNone) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&w.g, BYTES, 0, REFGPU_IN_VRAM, &more) == STATUS_SUCCESS);
    SHOW(c, "LIFE-156/c", port_adapter_power(adapter()) == PowerDeviceD0);
    TRY(c, port_adapter_set_power(adapter(), PowerDeviceD3, PowerActionNone) == STATUS_SUCCESS);
    TRY(c, gpu_end(&w.g) == STATUS_SUCCESS);
}

/* The process ends, and the adapter stops, while it is asleep. */
TEST_WITH(client, the_end_wakes_it)
{
    struct work w;

    TRY(c, begin_work(&w));
    TRY(c, fill_vram(&w, 1));
    TRY(c, gpu_submit(w.g.copy, w.commands.va, 16) == STATUS_SUCCESS);
    TRY(c, port_adapter_set_power(adapter(), PowerDeviceD3, PowerActionSleep) == STATUS_SUCCESS);
}

/* ---- what a client is told ---- */

static bool says(const char *error, const char *part)
{
    return strstr(error, port_adapter_name(adapter())) && strstr(error, part);
}

TEST_WITH(client, a_failure_names_its_adapter)
{
    char error[256] = "";

    TRY(c, dxgk_client_set_power(3, DXGK_POWER_SLEEP, error, sizeof(error)) == DXGK_OK);
    vidmm_set_lost(adapter()->managers.vidmm);
    TRY(c, dxgk_client_set_power(0, DXGK_POWER_SLEEP, error, sizeof(error)) == DXGK_ERROR);
    TRY(c, dxgk_client_power() == 0 && says(error, " is in D0, but "));
    adapter()->power.unplugged = true;
    TRY(c, dxgk_client_set_power(3, DXGK_POWER_SLEEP, error, sizeof(error)) == DXGK_ERROR);
    adapter()->power.unplugged = false;
    TRY(c, dxgk_client_power() == 0 && says(error, "no change of ") && says(error, "was removed"));
}
