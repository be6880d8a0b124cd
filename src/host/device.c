/* SPDX-License-Identifier: MIT */
/* Devices: a copy of the options, which the model may keep, and the device on the bus. */
#include "host/device.h"

#include <string.h>
#include <unistd.h>

#include "bus/device.h"
#include "bus/null_device.h"
#include "dxgkhost/dxgkhost.h"
#include "host/enter.h"
#include "host/machine_record.h"
#include "host/recorder.h"
#include "util/alloc.h"
#include "util/explain.h"
#include "util/is_file.h"
#include "util/list.h"

#define MAX_MODEL ((uint64_t)1 << 30)

static void free_device(struct host_device *device)
{
    for (size_t i = 0; i < device->options; i++)
        util_free(device->option[i]);
    util_free(device->option);
    util_free(device);
}

static struct host_device *alloc_device(const char *const *options, size_t count)
{
    struct host_device *device = util_zalloc(1, sizeof(*device));

    if (!device)
        return NULL;
    device->option = util_zalloc(count ? count : 1, sizeof(*device->option));
    if (!device->option) {
        util_free(device);
        return NULL;
    }
    for (; device->options < count; device->options++) {
        device->option[device->options] = util_strdup(options[device->options]);
        if (!device->option[device->options]) {
            free_device(device);
            return NULL;
        }
    }
    return device;
}

static enum dxgk_result add(struct dxgk_machine *machine, const char *path,
                            const struct dxgk_device_model *model, const char *const *options,
                            size_t count, char *error, size_t error_bytes)
{
    struct bus_refusal why = {.text = ""};
    struct host_device *device = alloc_device(options, count);
    struct dxgk_device_config config;

    if (!device) {
        util_explain(error, error_bytes, "out of memory");
        return DXGK_OUT_OF_MEMORY;
    }
    config.count = count;
    config.option = (const char *const *)device->option;
    device->bus = path ? bus_device_load(machine->bus, path, &config, &why)
                       : bus_device_add(machine->bus, model, &config, &why);
    if (!device->bus) {
        free_device(device);
        util_explain(error, error_bytes, "%s", why.text);
        return why.no_memory ? DXGK_OUT_OF_MEMORY : DXGK_ERROR;
    }
    list_push_back(&machine->devices, &device->link);
    return DXGK_OK;
}

static const char *wrong_arguments(const char *path, const struct dxgk_device_model *model,
                                   const char *const *options, size_t count)
{
    if (!path && !model)
        return "no device model was given";
    if (count && !options)
        return "there are no options, but a number of them";
    for (size_t i = 0; i < count; i++)
        if (!options[i])
            return "an option is NULL";
    return NULL;
}

static enum dxgk_result add_entered(struct dxgk_machine *machine, const char *path,
                                    const struct dxgk_device_model *model,
                                    const char *const *options, size_t count, char *error,
                                    size_t error_bytes)
{
    const char *wrong = wrong_arguments(path, model, options, count);
    char why[256];

    if (path && strcmp(path, BUS_NULL_DEVICE) == 0) {
        model = &bus_null_device;
        path = NULL;
    }
    if (machine->shut_down || machine->sim->stopped)
        wrong = "the machine was shut down";
    if (wrong) {
        util_explain(error, error_bytes, "%s", wrong);
        return DXGK_ERROR;
    }
    if (path && access(path, F_OK) == 0 && !util_is_file(path, MAX_MODEL, why, sizeof(why))) {
        util_explain(error, error_bytes, "%s: %s", path, why);
        return DXGK_ERROR;
    }
    host_recorder_doing(machine->config.recorder, "adding the device %s", path ? path : "model");
    return add(machine, path, model, options, count, error, error_bytes);
}

static enum dxgk_result add_device(struct dxgk_machine *machine, const char *path,
                                   const struct dxgk_device_model *model, const char *const *options,
                                   size_t count, char *error, size_t error_bytes)
{
    enum dxgk_result result;

    if (!host_begin(machine, error, error_bytes))
        return DXGK_ERROR;
    result = add_entered(machine, path, model, options, count, error, error_bytes);
    host_leave(true);
    return result;
}

enum dxgk_result dxgk_machine_add_device(struct dxgk_machine *machine, const char *path,
                                         const char *const *options, size_t count, char *error,
                                         size_t error_bytes)
{
    return add_device(machine, path, NULL, options, count, error, error_bytes);
}

enum dxgk_result dxgk_machine_add_device_model(struct dxgk_machine *machine,
                                               const struct dxgk_device_model *model,
                                               const char *const *options, size_t count,
                                               char *error, size_t error_bytes)
{
    return add_device(machine, NULL, model, options, count, error, error_bytes);
}
