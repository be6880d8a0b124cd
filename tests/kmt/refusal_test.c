/* SPDX-License-Identifier: MIT */
/* No silent refusal: whatever a client does, a call that fails says why. */
#include "host/support/refgpu_client.h"

#include <dlfcn.h>

typedef NTSTATUS (*call_fn)(void *argument);

#define ARGUMENT_BYTES 4096u /* more than any structure has */
#define HANDLES        8u

static unsigned silent;

/* The reason of the call that just failed; "": there is none. */
static const char *reason(const char *call, NTSTATUS status)
{
    static struct dxgk_refusal refusal;

    if (!dxgk_client_last_refusal(&refusal) || refusal.code != (uint32_t)status ||
        strcmp(refusal.call, call) != 0)
        return "";
    return refusal.reason;
}

/* ---- the walk ---- */

static call_fn function_named(const char *name)
{
    void *address = dlsym(RTLD_DEFAULT, name);
    call_fn function;

    memcpy(&function, &address, sizeof(function));
    return function;
}

static NTSTATUS check_call(call_fn function, const char *name, void *argument, const char *how)
{
    NTSTATUS status = function(argument);

    if (NT_SUCCESS(status) || reason(name, status)[0])
        return status;
    silent++;
    printf("    %s with %s: 0x%08x without a reason\n", name, how, (unsigned)status);
    return status;
}

struct objects {
    struct gpu gpu;
    struct memory memory;
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    D3DKMT_HANDLE handle[HANDLES];
};

static bool create_objects(struct objects *o)
{
    if (gpu_begin(&o->gpu) != STATUS_SUCCESS ||
        gpu_create_fence(&o->gpu, &o->fence) != STATUS_SUCCESS ||
        gpu_create_memory(&o->gpu, 8192, 0, 0, &o->memory) != STATUS_SUCCESS)
        return false;
    o->handle[0] = o->gpu.adapter;
    o->handle[1] = o->gpu.device;
    o->handle[2] = o->gpu.copy;
    o->handle[3] = o->gpu.render;
    o->handle[4] = o->gpu.queue;
    o->handle[5] = o->fence.hSyncObject;
    o->handle[6] = o->memory.handle;
    o->handle[7] = 0x12345678;
    return true;
}

static void destroy_objects(const struct objects *o)
{
    D3DKMT_DESTROYDEVICE device = {o->gpu.device};
    D3DKMT_CLOSEADAPTER adapter = {o->gpu.adapter};

    (void)D3DKMTDestroyDevice(&device);
    (void)D3DKMTCloseAdapter(&adapter);
}

static bool ends_objects(const char *name)
{
    return strstr(name, "Destroy") || strstr(name, "Close") || strstr(name, "Error");
}

/* Each handle in the first or second place, and each of four fillings of the rest. The objects are
 * new after each call that ended one. */
static void call_with_everything(const char *name, call_fn function)
{
    static const uint8_t filling[] = {0x00, 0x01, 0x7F, 0xFF};
    static uint8_t argument[ARGUMENT_BYTES];
    struct objects o;
    char how[64];

    (void)check_call(function, name, NULL, "NULL");
    if (check_call(function, name, (void *)(uintptr_t)0x1000, "a wild pointer") ==
        STATUS_NOT_SUPPORTED)
        return; /* it does not read its argument */
    if (!create_objects(&o))
        fail_msg("no objects for %s", name);
    for (unsigned i = 0; i < sizeof(filling) * HANDLES * 2; i++) {
        unsigned fill = filling[i % 4], which = i / 4 % HANDLES, at = i / 4 / HANDLES * 4;

        memset(argument, (int)fill, sizeof(argument));
        memcpy(argument + at, &o.handle[which], sizeof(o.handle[0]));
        snprintf(how, sizeof(how), "handle %u at %u, rest 0x%02x", which, at, fill);
        if (!NT_SUCCESS(check_call(function, name, argument, how)) || !ends_objects(name))
            continue;
        destroy_objects(&o);
        if (!create_objects(&o))
            fail_msg("no objects after %s with %s", name, how);
    }
    destroy_objects(&o);
}

/* Names of functions of the header that have one argument, a structure. False: no more. */
static bool next_name(FILE *header, char *line, size_t bytes, const char **name)
{
    static const char start[] = "NTSTATUS APIENTRY ";

    while (fgets(line, (int)bytes, header)) {
        char *open = strchr(line, '(');

        if (strncmp(line, start, sizeof(start) - 1) != 0 || !open || strchr(open, ',') ||
            !strstr(open, "*"))
            continue;
        *open = '\0';
        *name = line + sizeof(start) - 1;
        return true;
    }
    return false;
}

static void walk(struct client *c)
{
    const char *source = getenv("DXGK_SOURCE"), *name;
    char path[512], line[1024];
    unsigned found = 0;
    FILE *header;

    snprintf(path, sizeof(path), "%s/include/wdk/d3dkmthk.h", source ? source : ".");
    header = fopen(path, "r");
    TRY(c, header != NULL);
    while (next_name(header, line, sizeof(line), &name)) {
        call_fn function = function_named(name);

        if (!function)
            continue;
        found++;
        call_with_everything(name, function);
    }
    fclose(header);
    TRY(c, found > 150);
    TRY(c, silent == 0);
}

TEST(no_call_fails_without_a_reason)
{
    struct dxgk_machine_config config;
    struct machine m;

    machine_config(&m, &config);
    config.ram_bytes = (uint64_t)256 << 20;
    machine_create(&m, &config);
    machine_add_refgpu(&m);
    machine_run(&m, walk);
    dxgk_machine_shutdown(m.dxgk);
    dxgk_machine_destroy(m.dxgk);
}

/* ---- single reasons ---- */

/* The last call failed with the status, for a reason that has this in it. */
static bool because(const char *call, NTSTATUS got, NTSTATUS status, const char *rule,
                    const char *part)
{
    struct dxgk_refusal refusal;

    if (got == status && dxgk_client_last_refusal(&refusal) && strcmp(refusal.call, call) == 0 &&
        refusal.code == (uint32_t)status && strcmp(refusal.rule, rule) == 0 &&
        strstr(refusal.reason, part))
        return true;
    printf("    %s: 0x%08x, \"%s\" (%s)\n", call, (unsigned)got, reason(call, got), refusal.rule);
    return false;
}

static void ask_for_too_much(struct client *c)
{
    D3DDDI_MAPGPUVIRTUALADDRESS map;
    D3DKMT_RENDER render;
    D3DKMT_EVICT evict;
    D3DKMT_UNLOCK2 unlock;
    D3DKMT_CREATECONTEXTVIRTUAL context;
    struct objects o;

    TRY(c, create_objects(&o));
    memset(&map, 0, sizeof(map));
    map.hPagingQueue = o.gpu.queue;
    map.hAllocation = o.memory.handle;
    map.SizeInPages = 4;
    TRY(c, because("D3DKMTMapGpuVirtualAddress", D3DKMTMapGpuVirtualAddress(&map),
                   STATUS_INVALID_PARAMETER, "",
                   "range of 4 pages from page 0 on, the allocation has 2"));
    map.hPagingQueue = o.gpu.device;
    TRY(c, because("D3DKMTMapGpuVirtualAddress", D3DKMTMapGpuVirtualAddress(&map),
                   STATUS_INVALID_PARAMETER, "KMT-026", "is not that of a paging queue"));

    memset(&render, 0, sizeof(render));
    render.hContext = o.gpu.render;
    render.CommandOffset = 8;
    render.CommandLength = 4;
    TRY(c, because("D3DKMTRender", D3DKMTRender(&render), STATUS_INVALID_PARAMETER, "PATCH-063",
                   "CommandOffset 8, CommandLength 4"));
    render.hContext = o.gpu.copy;
    TRY(c, because("D3DKMTRender", D3DKMTRender(&render), STATUS_INVALID_PARAMETER, "KMT-301",
                   "no command buffer"));

    memset(&evict, 0, sizeof(evict));
    evict.hDevice = o.gpu.device;
    evict.NumAllocations = 1;
    evict.AllocationList = &o.memory.handle;
    while (D3DKMTEvict(&evict) == STATUS_SUCCESS)
        ;
    TRY(c, because("D3DKMTEvict", D3DKMTEvict(&evict), STATUS_INVALID_PARAMETER, "RES-025",
                   "is evicted 1 times, and was made resident 0 times"));
    unlock.hDevice = o.gpu.device;
    unlock.hAllocation = o.memory.handle;
    while (D3DKMTUnlock2(&unlock) == STATUS_SUCCESS)
        ;
    TRY(c, because("D3DKMTUnlock2", D3DKMTUnlock2(&unlock), STATUS_INVALID_PARAMETER, "",
                   "is not locked"));

    memset(&context, 0, sizeof(context));
    context.hDevice = o.gpu.device;
    context.NodeOrdinal = 77;
    TRY(c, because("D3DKMTCreateContextVirtual", D3DKMTCreateContextVirtual(&context),
                   STATUS_INVALID_PARAMETER, "PATCH-022", "node 77, the adapter has 2"));
    destroy_objects(&o);
}

TEST(reasons_have_the_values)
{
    struct dxgk_refusal refusal;
    struct machine m;
    size_t count;

    machine_begin(&m, DXGK_IOMMU_OFF);
    CHECK(dxgk_machine_refusals(m.dxgk) == 0 && !dxgk_machine_refusal(m.dxgk, 0, &refusal));
    machine_run(&m, ask_for_too_much);
    count = dxgk_machine_refusals(m.dxgk);
    CHECK(count >= 7 && count <= 64);
    CHECK(dxgk_machine_refusal(m.dxgk, 0, &refusal));
    CHECK(strcmp(refusal.status, "STATUS_INVALID_PARAMETER") == 0);
    CHECK(strcmp(refusal.call, "D3DKMTCreateContextVirtual") == 0);
    CHECK(dxgk_machine_refusal(m.dxgk, count - 1, &refusal));
    CHECK(strcmp(refusal.call, "D3DKMTMapGpuVirtualAddress") == 0);
    CHECK(!dxgk_machine_refusal(m.dxgk, count, &refusal));
    CHECK(!dxgk_client_last_refusal(&refusal)); /* no client */
    machine_end(&m);
}

/* Each thread of a client is told of its own calls. */
static void other_thread(void *argument)
{
    D3DKMT_DESTROYDEVICE destroy = {0x999};

    (void)argument;
    (void)D3DKMTDestroyDevice(&destroy);
}

TEST_WITH(client, reasons_are_of_the_thread)
{
    D3DKMT_DESTROYCONTEXT destroy = {0x888};
    struct dxgk_refusal refusal;

    TRY(c, !dxgk_client_last_refusal(&refusal));
    TRY(c, D3DKMTDestroyContext(&destroy) == STATUS_INVALID_PARAMETER);
    TRY(c, dxgk_client_thread("other", other_thread, NULL));
    dxgk_client_sleep(1000);
    TRY(c, dxgk_client_last_refusal(&refusal));
    TRY(c, strcmp(refusal.call, "D3DKMTDestroyContext") == 0);
    TRY(c, dxgk_machine_refusal(c->machine->dxgk, 0, &refusal));
    TRY(c, strcmp(refusal.call, "D3DKMTDestroyDevice") == 0);
    TRY(c, strcmp(refusal.thread, "other") == 0);
}
