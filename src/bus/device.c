/* SPDX-License-Identifier: MIT */
/*
 * A device's life: its model is found and checked, describes itself, gets addresses and memory,
 * and is powered on.
 */
#include <dlfcn.h>
#include <string.h>

#include "bus/device.h"
#include "bus/bus_record.h"
#include "bus/config.h"
#include "bus/device_record.h"
#include "bus/ports.h"
#include "bus/services.h"
#include "bus/timers.h"
#include "bus/window.h"
#include "ram/file.h"
#include "ram/ram.h"
#include "sim/interrupt.h"
#include "trace/trace.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/explain.h"
#include "util/list.h"

#define BUS_TOP          ((uint64_t)1 << 52) /* x64 physical addresses */
#define BUS_MAX_MESSAGES 32u

static void explain_no_memory(struct bus_refusal *refusal, const char *model, const char *where)
{
    util_explain(refusal->text, sizeof(refusal->text), "%s: out of memory%s", model, where);
    refusal->no_memory = true;
}

static bool model_complete(const struct dxgk_device_model *model, struct bus_refusal *refusal)
{
    const char *missing = NULL;

    if (!model->name) {
        util_explain(refusal->text, sizeof(refusal->text), "device model has no name");
        return false;
    }
    if (model->api_version != DXGK_DEVICE_API_VERSION) {
        util_explain(refusal->text, sizeof(refusal->text),
                     "device model %s has interface version %u, this host has %u", model->name,
                     model->api_version, DXGK_DEVICE_API_VERSION);
        return false;
    }
    if (!model->configure)
        missing = "configure";
    else if (!model->create)
        missing = "create";
    else if (!model->destroy)
        missing = "destroy";
    else if (!model->reset)
        missing = "reset";
    else if (!model->read)
        missing = "read";
    else if (!model->write)
        missing = "write";
    else if (!model->timer)
        missing = "timer";
    if (missing)
        util_explain(refusal->text, sizeof(refusal->text), "device model %s has no function %s",
                     model->name, missing);
    return !missing;
}

static bool description_valid(const struct dxgk_device_model *model,
                              const struct dxgk_device_description *description,
                              struct bus_refusal *refusal)
{
    for (unsigned i = 0; i < DXGK_DEVICE_BARS; i++) {
        const struct dxgk_device_bar *bar = &description->bar[i];

        if (bar->kind == DXGK_BAR_NONE)
            continue;
        if (bar->kind != DXGK_BAR_REGISTERS && bar->kind != DXGK_BAR_MEMORY &&
            bar->kind != DXGK_BAR_PORTS) {
            util_explain(refusal->text, sizeof(refusal->text), "%s: BAR %u is of unknown kind %d",
                         model->name, i, (int)bar->kind);
            return false;
        }
        if (bar->kind == DXGK_BAR_PORTS) {
            if (is_power_of_two(bar->bytes) && bar->bytes >= 4 && bar->bytes <= 256)
                continue;
            util_explain(refusal->text, sizeof(refusal->text),
                         "%s: BAR %u has %#llx ports, not a power of two from 4 to 256",
                         model->name, i, (unsigned long long)bar->bytes);
            return false;
        }
        if (!is_power_of_two(bar->bytes) || bar->bytes < PAGE_BYTES || bar->bytes > BUS_TOP / 2) {
            util_explain(refusal->text, sizeof(refusal->text),
                         "%s: BAR %u has %#llx bytes, not a power of two of at least 4096",
                         model->name, i, (unsigned long long)bar->bytes);
            return false;
        }
    }
    if (description->fixed_ports &&
        (uint32_t)description->fixed_port + description->fixed_ports > BUS_FIXED_PORTS) {
        util_explain(refusal->text, sizeof(refusal->text),
                     "%s: %u fixed ports at %#x, of which some are not below %#x", model->name,
                     description->fixed_ports, description->fixed_port, BUS_FIXED_PORTS);
        return false;
    }
    if (description->messages < 1 || description->messages > BUS_MAX_MESSAGES) {
        util_explain(refusal->text, sizeof(refusal->text),
                     "%s: %u interrupt messages, 1 to %u are possible", model->name,
                     description->messages, BUS_MAX_MESSAGES);
        return false;
    }
    if (description->dma_bits < 32 || description->dma_bits > 52) {
        util_explain(refusal->text, sizeof(refusal->text),
                     "%s: %u DMA address bits, 32 to 52 are possible", model->name,
                     description->dma_bits);
        return false;
    }
    return true;
}

/* BARs stand above RAM, each aligned to its size; addresses are not used twice. */
static bool place_bars(struct bus_device *device, struct bus_refusal *refusal)
{
    uint64_t next = device->bus->next_address;

    for (unsigned i = 0; i < DXGK_DEVICE_BARS; i++) {
        struct bus_bar *bar = &device->bar[i];

        bar->kind = device->description.bar[i].kind;
        bar->file = -1;
        if (bar->kind == DXGK_BAR_NONE)
            continue;
        bar->bytes = device->description.bar[i].bytes;
        if (bar->kind == DXGK_BAR_PORTS)
            continue;
        bar->address.value = align_up(next, bar->bytes);
        next = bar->address.value + bar->bytes;
        if (next > BUS_TOP) {
            util_explain(refusal->text, sizeof(refusal->text), "%s: no bus address left for BAR %u",
                         device->model->name, i);
            return false;
        }
    }
    if (!bus_ports_place(device)) {
        util_explain(refusal->text, sizeof(refusal->text), "%s: no ports left", device->model->name);
        return false;
    }
    device->bus->next_address = next;
    return true;
}

/*
 * The first memory BAR shows the start of the device memory; every further one has memory of its
 * own.
 */
static bool create_memory(struct bus_device *device)
{
    struct ram_file *whole = &device->memory[DXGK_DEVICE_BARS];
    struct bus_bar *first = NULL;
    uint64_t bytes = align_up(device->description.device_memory, PAGE_BYTES);
    struct ram_depot *depot = ram_depot(device->bus->ram);

    for (unsigned i = 0; i < DXGK_DEVICE_BARS; i++) {
        struct bus_bar *bar = &device->bar[i];

        if (bar->kind != DXGK_BAR_MEMORY)
            continue;
        if (!first) {
            first = bar;
            continue;
        }
        if (!ram_file_open(depot, bar->bytes, &device->memory[i]))
            return false;
        bar->memory = device->memory[i].bytes;
        bar->file = device->memory[i].file;
    }
    if (first && bytes < first->bytes)
        bytes = first->bytes;
    if (bytes != 0 && !ram_file_open(depot, bytes, whole))
        return false;
    if (first) {
        first->memory = whole->bytes;
        first->file = whole->file;
    }
    return true;
}

/* Undo bus_device_add at any stage. The library is the caller's. */
static void dispose(struct bus_device *device)
{
    bus_timers_cancel(device);
    if (device->state && !device->callout.hangs)
        device->model->destroy(device->state);
    bus_timers_cancel(device);
    for (unsigned i = 0; i <= DXGK_DEVICE_BARS; i++)
        ram_file_close(ram_depot(device->bus->ram), &device->memory[i]);
    util_free(device->interrupt);
    util_free(device);
}

struct bus_device *bus_device_add(struct bus *bus, const struct dxgk_device_model *model,
                                  const struct dxgk_device_config *config,
                                  struct bus_refusal *refusal)
{
    static const struct dxgk_device_config no_options;
    struct bus_device *device;
    const char *reason = NULL;

    if (!model_complete(model, refusal))
        return NULL;
    if (!config)
        config = &no_options;
    device = util_zalloc(1, sizeof(*device));
    if (!device) {
        explain_no_memory(refusal, model->name, "");
        return NULL;
    }
    device->bus = bus;
    device->model = model;
    device->callout.model = model->name;
    device->iommu.requester = ++bus->requesters;
    device->dma_engine = UINT32_MAX;
    bus_timers_init(device);
    if (!model->configure(config, &device->description, &reason)) {
        util_explain(refusal->text, sizeof(refusal->text), "%s: %s", model->name,
                     reason ? reason : "the options are refused");
        goto fail;
    }
    if (!description_valid(model, &device->description, refusal) || !place_bars(device, refusal))
        goto fail;
    device->interrupt = util_zalloc(device->description.messages, sizeof(*device->interrupt));
    if (!device->interrupt || !create_memory(device)) {
        explain_no_memory(refusal, model->name, "");
        goto fail;
    }
    for (uint32_t i = 0; i < device->description.messages; i++) {
        list_init(&device->interrupt[i].link);
        device->interrupt[i].owner = model->name;
    }
    if (!bus_config_init(device, refusal))
        goto fail;
    device->track = trace_track_create("devices", trace_intern(model->name));
    device->state = model->create(config, &bus_services, device);
    if (!device->state) {
        explain_no_memory(refusal, model->name, " in the device model");
        goto fail;
    }
    list_push_back(&bus->devices, &device->link);
    return device;

fail:
    dispose(device);
    return NULL;
}

/* A name without a slash means a file here, not one on the loader's search path. */
static void *open_library(const char *path)
{
    char here[4096];

    if (!strchr(path, '/')) {
        if ((size_t)snprintf(here, sizeof(here), "./%s", path) >= sizeof(here))
            return NULL;
        path = here;
    }
    /* NODELETE: trace records point to names inside the model and outlive the device. */
    return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

struct bus_device *bus_device_load(struct bus *bus, const char *path,
                                   const struct dxgk_device_config *config,
                                   struct bus_refusal *refusal)
{
    const struct dxgk_device_model *model;
    dxgk_device_get_model_fn get_model;
    struct bus_device *device;
    void *library = open_library(path);
    const char *reason;

    if (!library) {
        reason = dlerror();
        util_explain(refusal->text, sizeof(refusal->text), "cannot load device model %s",
                     reason ? reason : path);
        return NULL;
    }
    *(void **)&get_model = dlsym(library, "dxgk_device_get_model");
    if (!get_model) {
        util_explain(refusal->text, sizeof(refusal->text),
                     "%s is no device model: it exports no dxgk_device_get_model", path);
        goto fail;
    }
    model = get_model(DXGK_DEVICE_API_VERSION);
    if (!model) {
        util_explain(refusal->text, sizeof(refusal->text),
                     "%s does not offer version %u of the device model interface", path,
                     DXGK_DEVICE_API_VERSION);
        goto fail;
    }
    device = bus_device_add(bus, model, config, refusal);
    if (!device)
        goto fail;
    device->library = library;
    return device;

fail:
    dlclose(library);
    return NULL;
}

void bus_device_remove(struct bus_device *device)
{
    void *library;

    if (!device)
        return;
    library = device->library;
    for (uint32_t i = 0; i < device->description.messages; i++) {
        if (device->interrupt[i].connected)
            sim_interrupt_disconnect(&device->interrupt[i]);
    }
    bus_window_forget(device);
    list_remove(&device->link);
    dispose(device);
    if (library)
        dlclose(library);
}

const struct dxgk_device_description *bus_device_description(const struct bus_device *device)
{
    return &device->description;
}

struct phys_addr bus_device_bar(const struct bus_device *device, unsigned bar)
{
    return device->bar[bar].address;
}

struct sim_interrupt *bus_device_interrupt(struct bus_device *device, uint32_t message)
{
    return message < device->description.messages ? &device->interrupt[message] : NULL;
}

uint64_t bus_device_interrupts(const struct bus_device *device)
{
    return device->interrupts;
}
