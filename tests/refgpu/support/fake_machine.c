/* SPDX-License-Identifier: MIT */
#include "fake_machine.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check_rule.h"

#define PAGE REFGPU_PAGE_BYTES

static uint8_t *ram_at(struct fake *fake, uint64_t address)
{
    const uint64_t pages = FAKE_RAM_BYTES / PAGE;
    uint64_t page = address / PAGE;

    if (fake->scatter)
        page = page * 4097u %
               pages; /* odd factor, power of two pages: a permutation without neighbours */
    return fake->ram + page * PAGE + address % PAGE;
}

static bool on_bus(struct fake *fake, uint64_t address)
{
    if (address < FAKE_RAM_BYTES && (!fake->refused_page || address / PAGE != fake->refused_page))
        return true;
    fake->refusals++;
    return false;
}

static uint64_t page_rest(uint64_t address, uint64_t bytes)
{
    const uint64_t rest = PAGE - address % PAGE;

    return bytes < rest ? bytes : rest;
}

static uint64_t fake_now(void *host)
{
    return ((struct fake *)host)->time;
}

static bool fake_dma_read(void *host, uint64_t logical, void *to, size_t bytes)
{
    bool all = true;

    for (size_t done = 0; done < bytes;) {
        const size_t run = page_rest(logical + done, bytes - done);

        if (on_bus(host, logical + done)) {
            memcpy((uint8_t *)to + done, ram_at(host, logical + done), run);
        } else {
            memset((uint8_t *)to + done, 0xFF, run);
            all = false;
        }
        done += run;
    }
    return all;
}

static bool fake_dma_write(void *host, uint64_t logical, const void *from, size_t bytes)
{
    bool all = true;

    for (size_t done = 0; done < bytes;) {
        const size_t run = page_rest(logical + done, bytes - done);

        if (on_bus(host, logical + done))
            memcpy(ram_at(host, logical + done), (const uint8_t *)from + done, run);
        else
            all = false;
        done += run;
    }
    return all;
}

static void *fake_dma_window(void *host, uint64_t logical, enum dxgk_dma_access access,
                             size_t bytes, size_t *run)
{
    (void)access;
    if (!on_bus(host, logical))
        return NULL;
    *run = page_rest(logical, bytes);
    return ram_at(host, logical);
}

static void fake_interrupt(void *host, uint32_t message)
{
    CHECK(message == 0);
    ((struct fake *)host)->interrupts++;
}

static void fake_timer_arm(void *host, unsigned timer, uint64_t delay)
{
    struct fake *fake = host;

    CHECK(timer < DXGK_DEVICE_TIMERS);
    fake->armed[timer] = true;
    fake->due[timer] = fake->time + delay;
}

static void fake_timer_disarm(void *host, unsigned timer)
{
    ((struct fake *)host)->armed[timer] = false;
}

static void *fake_memory(void *host, unsigned bar)
{
    return bar == REFGPU_BAR_VRAM ? ((struct fake *)host)->vram : NULL;
}

static void fake_trace(void *host, const char *name, uint64_t value)
{
    (void)host;
    (void)value;
    CHECK(name != NULL);
}

static void fake_trace_begin(void *host, unsigned engine, const char *name, uint64_t value)
{
    (void)value;
    CHECK(name != NULL && engine < REFGPU_ALL_ENGINES);
    ((struct fake *)host)->trace_depth[engine]++;
}

static void fake_trace_end(void *host, unsigned engine, const char *name)
{
    CHECK(name != NULL);
    CHECK(--((struct fake *)host)->trace_depth[engine] >= 0);
}

static void fake_dma_source(void *host, unsigned engine, uint64_t command)
{
    (void)host;
    (void)engine;
    (void)command;
}

static bool fake_dma_pasid(void *host, uint32_t pasid, uint64_t address,
                           enum dxgk_dma_access access, void *bytes, size_t count)
{
    (void)host;
    (void)pasid;
    (void)address;
    (void)access;
    (void)bytes;
    (void)count;
    return false;
}

static bool service_mmu(void *host, const struct dxgk_device_mmu *mmu)
{
    (void)host;
    (void)mmu;
    return false;
}

static void service_root_in_use(void *host, unsigned node, uint32_t fence, uint64_t root)
{
    (void)host;
    (void)node;
    (void)fence;
    (void)root;
}

static void service_patches(void *host, const struct dxgk_patch_format *format)
{
    (void)host;
    (void)format;
}

static void service_work(void *host, const struct dxgk_device_work *work)
{
    (void)host;
    (void)work;
}

static void fake_outputs(void *host, const struct dxgk_device_outputs *outputs)
{
    ((struct fake *)host)->outputs = outputs;
}

static const struct dxgk_device_services services = {
    .outputs = fake_outputs,
    .work = service_work,
    .root_in_use = service_root_in_use,
    .patches = service_patches,
    .mmu = service_mmu,
    .size = sizeof services,
    .now = fake_now,
    .dma_read = fake_dma_read,
    .dma_write = fake_dma_write,
    .dma_window = fake_dma_window,
    .interrupt = fake_interrupt,
    .timer_arm = fake_timer_arm,
    .timer_disarm = fake_timer_disarm,
    .memory = fake_memory,
    .trace = fake_trace,
    .trace_begin = fake_trace_begin,
    .trace_end = fake_trace_end,
    .dma_source = fake_dma_source,
    .dma_pasid = fake_dma_pasid,
};

struct fake *fake_create(const char *const *options, size_t count)
{
    static const char *const vram[] = {"vram=16777216", "aperture=16777216"};
    const char *all[8];
    struct dxgk_device_config config = {.count = count + 2u, .option = all};
    struct dxgk_device_description description = {0};
    const char *error = NULL, *build = getenv("DXGK_BUILD");
    dxgk_device_get_model_fn get;
    struct fake *fake = calloc(1, sizeof *fake);
    char path[1024];

    CHECK(fake != NULL && count <= 6u);
    memcpy(all, vram, sizeof vram);
    for (size_t i = 0; i < count; i++)
        all[2u + i] = options[i];
    (void)snprintf(path, sizeof path, "%s/devices/refgpu.so", build ? build : ".");
    fake->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!fake->library)
        fail_msg("%s", dlerror());
    *(void **)&get = dlsym(fake->library, "dxgk_device_get_model");
    CHECK(get != NULL);
    fake->model = get(DXGK_DEVICE_API_VERSION);
    CHECK(fake->model != NULL && get(DXGK_DEVICE_API_VERSION + 1u) == NULL);
    CHECK(fake->model->configure(&config, &description, &error));
    CHECK(description.bar[REFGPU_BAR_VRAM].bytes == FAKE_VRAM_BYTES);
    fake->ram = calloc(1, FAKE_RAM_BYTES);
    fake->vram = calloc(1, FAKE_VRAM_BYTES);
    CHECK(fake->ram && fake->vram);
    fake->device = fake->model->create(&config, &services, fake);
    CHECK(fake->device != NULL);
    return fake;
}

void fake_destroy(struct fake *fake)
{
    fake->model->destroy(fake->device);
    free(fake->ram);
    free(fake->vram);
    dlclose(fake->library);
    free(fake);
}

uint32_t fake_read(struct fake *fake, uint32_t reg)
{
    return (uint32_t)fake->model->read(fake->device, REFGPU_BAR_REGISTERS, reg, 4);
}

uint64_t fake_read64(struct fake *fake, uint32_t reg)
{
    return fake->model->read(fake->device, REFGPU_BAR_REGISTERS, reg, 8);
}

void fake_write(struct fake *fake, uint32_t reg, uint32_t value)
{
    fake->model->write(fake->device, REFGPU_BAR_REGISTERS, reg, 4, value);
}

void fake_write64(struct fake *fake, uint32_t reg, uint64_t value)
{
    fake->model->write(fake->device, REFGPU_BAR_REGISTERS, reg, 8, value);
}

uint32_t fake_engine_read(struct fake *fake, uint32_t engine, uint32_t reg)
{
    return fake_read(fake, REFGPU_REG_ENGINE(engine, reg));
}

void fake_engine_write(struct fake *fake, uint32_t engine, uint32_t reg, uint32_t value)
{
    fake_write(fake, REFGPU_REG_ENGINE(engine, reg), value);
}

void fake_ram_write(struct fake *fake, uint64_t address, const void *from, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const size_t run = page_rest(address + done, bytes - done);

        memcpy(ram_at(fake, address + done), (const uint8_t *)from + done, run);
        done += run;
    }
}

void fake_ram_read(struct fake *fake, uint64_t address, void *to, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const size_t run = page_rest(address + done, bytes - done);

        memcpy((uint8_t *)to + done, ram_at(fake, address + done), run);
        done += run;
    }
}

void fake_start(struct fake *fake)
{
    fake->next_fence = 1;
    fake->next_table = FAKE_TABLES + REFGPU_TABLE_BYTES;
    fake_write64(fake, REFGPU_REG_GART_TABLE_LO, FAKE_GART_TABLE);
    fake_write(fake, REFGPU_REG_GART_PAGES, FAKE_GART_PAGES);
    for (uint32_t e = 0; e < REFGPU_ENGINES; e++) {
        fake->tail[e] = 0;
        fake_write64(fake, REFGPU_REG_ENGINE(e, REFGPU_ENG_RING_LO), FAKE_RING(e));
        fake_write64(fake, REFGPU_REG_ENGINE(e, REFGPU_ENG_FENCE_LO), FAKE_FENCE(e));
        fake_engine_write(fake, e, REFGPU_ENG_RING_SIZE, 64);
        fake_engine_write(fake, e, REFGPU_ENG_CONTROL, REFGPU_ENG_CONTROL_ENABLE);
    }
    fake_write(fake, REFGPU_REG_IRQ_ENABLE, REFGPU_IRQ_ALL);
}

/* The timer that is due first; DXGK_DEVICE_TIMERS: none. */
static unsigned next_timer(const struct fake *fake)
{
    unsigned next = DXGK_DEVICE_TIMERS;

    for (unsigned i = 0; i < DXGK_DEVICE_TIMERS; i++) {
        if (fake->armed[i] && (next == DXGK_DEVICE_TIMERS || fake->due[i] < fake->due[next]))
            next = i;
    }
    return next;
}

bool fake_step(struct fake *fake)
{
    const unsigned next = next_timer(fake);

    if (next == DXGK_DEVICE_TIMERS)
        return false;
    fake->armed[next] = false;
    fake->time = fake->due[next];
    fake->model->timer(fake->device, next);
    return true;
}

void fake_run(struct fake *fake, uint64_t limit)
{
    const uint64_t end = fake->time + limit;

    for (;;) {
        const unsigned next = next_timer(fake);

        if (next == DXGK_DEVICE_TIMERS || fake->due[next] > end)
            break;
        (void)fake_step(fake);
    }
}

uint32_t fake_queue(struct fake *fake, uint32_t engine, struct refgpu_ring_entry entry)
{
    entry.fence = fake->next_fence++;
    fake_ram_write(fake, FAKE_RING(engine) + fake->tail[engine] * REFGPU_ENTRY_BYTES, &entry,
                   sizeof entry);
    fake->tail[engine] = (fake->tail[engine] + 1u) % 64u;
    return entry.fence;
}

void fake_doorbell(struct fake *fake, uint32_t engine)
{
    fake_engine_write(fake, engine, REFGPU_ENG_TAIL, fake->tail[engine]);
}

struct refgpu_ring_entry fake_entry(struct fake *fake, uint32_t engine, uint32_t bytes)
{
    struct refgpu_ring_entry entry = {.bytes = bytes,
                                      .flags = REFGPU_ENTRY_INTERRUPT | REFGPU_ENTRY_PRIVILEGED};

    (void)fake;
    entry.address = engine == REFGPU_ENGINE_2D ? FAKE_COMMANDS : FAKE_VA;
    entry.root = engine == REFGPU_ENGINE_2D ? 0 : FAKE_ROOT;
    return entry;
}

void fake_submit(struct fake *fake, uint32_t engine, const struct refgpu_builder *commands)
{
    const uint32_t bytes = refgpu_builder_bytes(commands);

    CHECK(!commands->overflow);
    fake_ram_write(fake, FAKE_COMMANDS, commands->words, bytes);
    if (engine == REFGPU_ENGINE_COPY)
        fake_map_range(fake, FAKE_VA, FAKE_COMMANDS | REFGPU_PTE_VALID | REFGPU_PTE_SYSTEM,
                       bytes / PAGE + 1u);
    (void)fake_queue(fake, engine, fake_entry(fake, engine, bytes));
    fake_doorbell(fake, engine);
    fake_run(fake, 10000000000ull);
}

static uint64_t table_entry(struct fake *fake, uint64_t table, uint64_t index)
{
    uint64_t entry;

    memcpy(&entry, fake->vram + table + index * 8u, 8);
    return entry;
}

void fake_map(struct fake *fake, uint64_t va, uint64_t pte)
{
    uint64_t table = FAKE_ROOT;

    for (unsigned level = REFGPU_LEVELS - 1u; level > 0; level--) {
        const uint64_t index = (va >> (12u + 9u * level)) & 511u;
        uint64_t entry = table_entry(fake, table, index);

        if (!(entry & REFGPU_PTE_VALID)) {
            entry = fake->next_table | REFGPU_PTE_VALID;
            fake->next_table += REFGPU_TABLE_BYTES;
            CHECK(fake->next_table <= FAKE_VRAM_BYTES);
            memcpy(fake->vram + table + index * 8u, &entry, 8);
        }
        table = entry & REFGPU_PTE_ADDRESS_MASK;
    }
    memcpy(fake->vram + table + ((va >> 12) & 511u) * 8u, &pte, 8);
}

void fake_map_range(struct fake *fake, uint64_t va, uint64_t pte, uint32_t pages)
{
    for (uint32_t i = 0; i < pages; i++)
        fake_map(fake, va + (uint64_t)i * PAGE, pte + (uint64_t)i * PAGE);
}

void fake_gart(struct fake *fake, uint32_t page, uint64_t entry)
{
    memcpy(fake->vram + FAKE_GART_TABLE + page * 8u, &entry, 8);
}
