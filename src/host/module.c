/* SPDX-License-Identifier: MIT */
/* Modules that drivers bring along (export drivers, kernel-mode DLLs): DllInitialize before the
 * first driver that imports from one is entered, DllUnload after the last one is gone. What they
 * allocate counts as the driver's. */
#include "host/module.h"
#include "ddi/ddi.h"
#include "host/log.h"
#include "host/machine_record.h"
#include "loader/loader.h"
#include "nt/base/image.h"
#include "nt/base/status_name.h"
#include "nt/io/image_life.h"
#include "nt/ke/driver_call.h"
#include "port/record/cause.h"
#include "sim/inside.h"
#include "sim/machine.h"
#include "trace/trace.h"
#include "util/alloc.h"
#include "util/array.h"
#include "util/list.h"

#define LIMIT_NS 60000000000u /* as for DriverEntry */

typedef NTSTATUS NTAPI dll_initialize(PUNICODE_STRING RegistryPath);
typedef NTSTATUS NTAPI dll_unload(void);

/* A call of an entry that no DDI has. Takes the place of one in reports. */
struct module_call {
    struct ddi_frame *frame;
    struct nt_call_state state;
    struct nt_call_guard guard;
    struct nt_image *outer;
    uint64_t deadline;
};

static void enter(struct module_call *call, struct nt_image *owner, const char *name)
{
    call->frame = ddi_frame_push(sizeof(*call->frame), name);
    call->frame->track = TRACE_PROCESSOR(sim_current->processor);
    call->outer = nt_image_enter(owner);
    nt_call_state(&call->state);
    trace_begin(call->frame->track, name, NULL, 0);
    nt_call_guard(&call->guard, true);
    call->frame->guard = &call->guard;
    call->deadline = sim_inside_enter(LIMIT_NS);
}

static void leave(struct module_call *call)
{
    nt_call_returned(&call->guard, true, call->frame->name);
    sim_inside_leave(call->deadline);
    trace_end(call->frame->track, call->frame->name);
    nt_call_check(&call->state, call->frame->name);
    nt_image_enter(call->outer);
    ddi_frame_end(call->frame);
}

static void service_path(const struct loader_image *module, WCHAR *buffer, size_t capacity,
                         UNICODE_STRING *path)
{
    char text[160];
    size_t length;

    snprintf(text, sizeof(text), "\\Registry\\Machine\\System\\CurrentControlSet\\Services\\%s",
             loader_image_service(module));
    for (length = 0; text[length] && length + 1 < capacity; length++)
        buffer[length] = (WCHAR)(unsigned char)text[length];
    buffer[length] = 0;
    path->Buffer = buffer;
    path->Length = (USHORT)(length * sizeof(WCHAR));
    path->MaximumLength = (USHORT)((length + 1) * sizeof(WCHAR));
}

static struct host_module *find(const struct dxgk_machine *machine, const struct loader_image *image)
{
    LIST_FOR(node, &machine->modules) {
        struct host_module *module = CONTAINER(node, struct host_module, link);

        if (module->image == image)
            return module;
    }
    return NULL;
}

static struct host_module *create(struct dxgk_machine *machine, struct loader_image *image)
{
    struct host_module *module = util_zalloc(1, sizeof(*module));
    uintptr_t base;
    uint64_t bytes;

    if (!module)
        return NULL;
    module->image = image;
    module->nt_image = nt_image_create(loader_image_name(image));
    if (!module->nt_image) {
        util_free(module);
        return NULL;
    }
    bytes = loader_image_place(module->image, &base);
    nt_image_place(module->nt_image, base, bytes);
    list_push_back(&machine->modules, &module->link);
    return module;
}

static void destroy(struct host_module *module)
{
    list_remove(&module->link);
    if (!sim_current->stopped)
        nt_image_destroy(module->nt_image);
    util_free(module);
}

static NTSTATUS call_initialize(const struct dxgk_machine *machine, const struct host_module *module)
{
    void *address = loader_image_export(module->image, "DllInitialize");
    dll_initialize *entry = (dll_initialize *)(uintptr_t)address;
    WCHAR buffer[160];
    UNICODE_STRING path;
    struct module_call call;
    NTSTATUS status;

    if (!entry)
        return STATUS_SUCCESS;
    service_path(module->image, buffer, ARRAY_COUNT(buffer), &path);
    enter(&call, module->nt_image, "DllInitialize");
    status = entry(&path);
    leave(&call);
    if (!NT_SUCCESS(status))
        port_cause(machine->port, "DllInitialize of %s returned %s",
                   loader_image_name(module->image), nt_status_text(status).text);
    return status;
}

static void call_unload(const struct host_module *module)
{
    void *address = loader_image_export(module->image, "DllUnload");
    dll_unload *entry = (dll_unload *)(uintptr_t)address;
    struct module_call call;

    if (!entry)
        return;
    enter(&call, module->nt_image, "DllUnload");
    (void)entry();
    leave(&call);
}

NTSTATUS host_module_initialize_all(struct dxgk_machine *machine, const struct loader_image *image)
{
    for (uint32_t i = 0; i < loader_image_modules(image); i++) {
        struct loader_image *used = loader_image_module(image, i);
        struct host_module *module = find(machine, used);
        NTSTATUS status;

        if (module)
            continue;
        module = create(machine, used);
        if (!module)
            return STATUS_NO_MEMORY;
        status = host_module_initialize_all(machine, used);
        if (NT_SUCCESS(status))
            status = call_initialize(machine, module);
        if (!NT_SUCCESS(status)) {
            host_log(machine, "%s: its initialisation failed with 0x%08x", loader_image_name(used),
                     (unsigned)status);
            machine->leaks += nt_image_leak_check(module->nt_image);
            destroy(module);
            host_module_unload_all(machine, used);
            return status;
        }
    }
    return STATUS_SUCCESS;
}

void host_module_unload_all(struct dxgk_machine *machine, const struct loader_image *image)
{
    for (uint32_t i = loader_image_modules(image); i-- > 0;) {
        const struct loader_image *used = loader_image_module(image, i);
        struct host_module *module = find(machine, used);

        if (!module || !loader_module_last_use(used))
            continue;
        call_unload(module);
        machine->leaks += nt_image_leak_check(module->nt_image);
        destroy(module);
        host_module_unload_all(machine, used);
    }
}

void host_module_free_all(struct dxgk_machine *machine)
{
    while (!list_empty(&machine->modules))
        destroy(CONTAINER(machine->modules.next, struct host_module, link));
}
