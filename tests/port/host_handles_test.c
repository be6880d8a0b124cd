/* SPDX-License-Identifier: MIT */
/*
 * Host handles of drivers on started adapters: every kind, and what merely looks like one, against every callback that takes
 * a handle. Each callback takes its own kind and nothing else, and says what it was given.
 */
#include "port/support/context_calls.h"

#include <sys/mman.h>

#define G    (&context_rig.gpu)
#define DXGK p->state[0].dxgk

/* ---- what there is ---- */

enum kind {
    K_NULL,
    K_CLIENT_DEVICE, /* D3DKMT handles of the calling process */
    K_CLIENT_CONTEXT,
    K_CLIENT_ALLOCATION,
    K_CUT_DOWN, /* the low 32 bits of a context allocation's */
    K_OWN,      /* of the driver's, or any address */
    K_ADDRESS,  /* one whose lower half looks like a host's handle cut down */
    K_PHYSICAL,
    K_ADAPTER,
    K_PROCESS,
    K_DEVICE,
    K_CONTEXT,
    K_ITEM,
    K_RETIRED,
    K_FOREIGN, /* a context allocation of another adapter */
    K_FOREIGN_CONTEXT,
    K_ACQUIRED,
    KINDS
};

static HANDLE handle[KINDS];
static D3DKMT_HANDLE allocation;

static const char *const said[KINDS] = {
    [K_NULL] = "is NULL",
    [K_CLIENT_DEVICE] = "a D3DKMT handle, of a device",
    [K_CLIENT_CONTEXT] = "a D3DKMT handle, of a context",
    [K_CLIENT_ALLOCATION] = "a D3DKMT handle, of an allocation",
    [K_CUT_DOWN] = "cut down to 32 bits",
    [K_OWN] = "no handle of the host's",
    [K_ADDRESS] = "no handle of the host's",
    [K_PHYSICAL] = "a handle of physical memory",
    [K_ADAPTER] = "the handle of an adapter (DeviceHandle)",
    [K_PROCESS] = "the handle of a process",
    [K_DEVICE] = "the handle of a device",
    [K_CONTEXT] = "the handle of a context",
    [K_ITEM] = "the handle of a context allocation",
    [K_RETIRED] = "the retired handle of a context allocation",
    [K_FOREIGN] = "the handle of a context allocation of another adapter",
    [K_FOREIGN_CONTEXT] = "the handle of a context of another adapter",
    [K_ACQUIRED] = "the handle of an acquired allocation",
};

/* ---- the callbacks; true: the handle was taken ---- */

static bool take_as_device_handle(struct probe *p, HANDLE h)
{
    DXGK_DEVICE_INFO info;

    return DXGK.DxgkCbGetDeviceInformation(h, &info) == STATUS_SUCCESS;
}

static bool create_of_device(struct probe *p, HANDLE h)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

    args.hDevice = h;
    if (context_create(p, &args) != STATUS_SUCCESS) {
        CHECK_RULE("CTXA-028", args.hAllocation == NULL);
        return false;
    }
    CHECK(context_destroy(p, args.hAllocation) == STATUS_SUCCESS);
    return true;
}

static bool create_of_context(struct probe *p, HANDLE h)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

    args.hContext = h;
    if (context_create(p, &args) != STATUS_SUCCESS) {
        CHECK_RULE("CTXA-028", args.hAllocation == NULL);
        return false;
    }
    CHECK(context_destroy(p, args.hAllocation) == STATUS_SUCCESS);
    return true;
}

static bool create_on_adapter(struct probe *p, HANDLE h)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

    args.hAdapter = h;
    if (context_create(p, &args) != STATUS_SUCCESS) {
        CHECK_RULE("CTXA-028", args.hAllocation == NULL);
        return false;
    }
    CHECK(context_destroy(p, args.hAllocation) == STATUS_SUCCESS);
    return true;
}

static bool map_item(struct probe *p, HANDLE h)
{
    DXGKARGCB_MAPCONTEXTALLOCATION args = context_map_request(h);

    return context_map(p, &args) != 0;
}

static bool update_item(struct probe *p, HANDLE h)
{
    return context_update(p, h) == STATUS_SUCCESS;
}

static bool destroy_item(struct probe *p, HANDLE h)
{
    return context_destroy(p, h) == STATUS_SUCCESS;
}

static bool signal_in_process(struct probe *p, HANDLE h)
{
    DXGKARGCB_SIGNALEVENT args;

    memset(&args, 0, sizeof(args));
    args.hDxgkProcess = h;
    args.hEvent = (HANDLE)(uintptr_t)0x1234; /* no event, which is not what a wrong process is told */
    return DXGK.DxgkCbSignalEvent(&args) != STATUS_SUCCESS &&
           probe_record(p, "LIFE-129")->severity == VERIFY_NOTE;
}

static bool signal_object(struct probe *p, HANDLE h)
{
    DXGKARGCB_SIGNALEVENT args;

    memset(&args, 0, sizeof(args));
    args.CpuEventObject = 1;
    args.hEvent = h;
    return DXGK.DxgkCbSignalEvent(&args) == STATUS_SUCCESS;
}

static bool release_acquired(struct probe *p, HANDLE h)
{
    DXGKARGCB_RELEASEHANDLEDATA args = {.ReleaseHandle = h, .Type = DXGK_HANDLE_ALLOCATION};
    uint64_t before = probe_rule(p, "ALLOC-102");

    DXGK.DxgkCbReleaseHandleData(args);
    return probe_rule(p, "ALLOC-102") == before;
}

static const struct {
    const char *rule; /* a wrong kind is told as a breach of it */
    bool (*take)(struct probe *p, HANDLE h);
    enum kind own;
} callbacks[] = {
    {"LIFE-063", take_as_device_handle, K_ADAPTER},
    {"LIFE-063", create_on_adapter, K_ADAPTER},
    {"CTXA-010", create_of_device, K_DEVICE},
    {"CTXA-010", create_of_context, K_CONTEXT},
    {"CTXA-045", map_item, K_ITEM},
    {"CTXA-058", update_item, K_ITEM},
    {"CTXA-063", destroy_item, K_ITEM},
    {"LIFE-129", signal_in_process, K_PROCESS},
    {"LIFE-130", signal_object, KINDS},
    {"ALLOC-102", release_acquired, K_ACQUIRED},
};

#define CALLBACKS (sizeof(callbacks) / sizeof(callbacks[0]))

/* ---- one callback, one kind, one machine: reports of equal place merge ---- */

static size_t callback;
static enum kind kind;

static void acquire(struct probe *p)
{
    DXGKARGCB_GETHANDLEDATA args;

    memset(&args, 0, sizeof(args));
    args.hObject = allocation;
    args.Type = DXGK_HANDLE_ALLOCATION;
    CHECK(DXGK.DxgkCbAcquireHandleData(&args, &handle[K_ACQUIRED]) != NULL);
}

static void collect(struct probe *p)
{
    handle[K_CLIENT_DEVICE] = (HANDLE)(uintptr_t)G->device;
    handle[K_CLIENT_CONTEXT] = (HANDLE)(uintptr_t)G->context;
    handle[K_CLIENT_ALLOCATION] = (HANDLE)(uintptr_t)allocation;
    handle[K_OWN] = p->state[0].context;
    handle[K_ADDRESS] = (HANDLE)(uintptr_t)0x7F0080000000u;
    handle[K_PHYSICAL] = (HANDLE)(uintptr_t)0x0D3D000000000010u;
    handle[K_ADAPTER] = DXGK.DeviceHandle;
    handle[K_PROCESS] = context_rig.process;
    handle[K_DEVICE] = context_rig.device;
    handle[K_CONTEXT] = context_rig.context;
    handle[K_RETIRED] = context_make(p);
    CHECK(context_destroy(p, handle[K_RETIRED]) == STATUS_SUCCESS);
    handle[K_ITEM] = context_make(p);
    handle[K_CUT_DOWN] = (HANDLE)(uintptr_t)(uint32_t)(uintptr_t)handle[K_ITEM];
    acquire(p);
}

static bool is_own(void)
{
    /* an escape's own MiniportDeviceContext is named as such */
    return callbacks[callback].own == kind;
}

/* Callbacks that name no adapter know kinds alone. */
static const char *words(void)
{
    bool of_machine = strncmp(callbacks[callback].rule, "LIFE", 4) == 0;

    if (of_machine && (kind == K_RETIRED || kind == K_FOREIGN))
        return said[K_ITEM];
    if (of_machine && kind == K_FOREIGN_CONTEXT)
        return said[K_CONTEXT];
    return said[kind];
}

static void try_it(struct probe *p)
{
    const char *rule = callbacks[callback].rule;
    bool taken = callbacks[callback].take(p, handle[kind]);

    CHECK_RULE("CTXA-069", taken == is_own());
    if (taken)
        return;
    CHECK_RULE("CTXA-069",
               probe_rule(p, rule) == 1 && probe_record(p, rule)->severity == VERIFY_ERROR);
    if (kind == K_OWN && strcmp(rule, "LIFE-063") == 0)
        CHECK_RULE("CTXA-004", probe_said(p, rule, "MiniportDeviceContext"));
    else if (kind == K_ADDRESS)
        CHECK_RULE("CTXA-069", probe_said(p, rule, words()) && !probe_said(p, rule, "cut down"));
    else
        CHECK_RULE("CTXA-069", probe_said(p, rule, words()) &&
                                   probe_said(p, rule, "another adapter") ==
                                       (strstr(words(), "another adapter") != NULL));
}

static void clean_up(struct probe *p)
{
    DXGKARGCB_RELEASEHANDLEDATA args = {.ReleaseHandle = handle[K_ACQUIRED],
                                        .Type = DXGK_HANDLE_ALLOCATION};

    if (!is_own() || callbacks[callback].take != destroy_item) /* unharmed by what was tried */
        CHECK_RULE("CTXA-069", context_destroy(p, handle[K_ITEM]) == STATUS_SUCCESS);
    if (!is_own() || callbacks[callback].take != release_acquired)
        DXGK.DxgkCbReleaseHandleData(args);
}

/* The second adapter's, made first, since the rig keeps the latest. */
static void make_foreign(struct probe *p)
{
    D3DKMT_ENUMADAPTERS adapters;
    D3DKMT_CREATEDEVICE device;
    D3DKMT_CREATECONTEXTVIRTUAL context;
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    memset(&adapters, 0, sizeof(adapters));
    CHECK(NT_SUCCESS(D3DKMTEnumAdapters(&adapters)) && adapters.NumAdapters == 2);
    memset(&device, 0, sizeof(device));
    device.hAdapter = adapters.Adapters[1].hAdapter;
    CHECK(NT_SUCCESS(D3DKMTCreateDevice(&device)));
    memset(&context, 0, sizeof(context));
    context.hDevice = device.hDevice;
    context.NodeOrdinal = 1;
    CHECK(NT_SUCCESS(D3DKMTCreateContextVirtual(&context)));
    args = context_request(p);
    args.hAdapter = p->state[1].dxgk.DeviceHandle;
    CHECK(p->state[1].dxgk.DxgkCbCreateContextAllocation(&args) == STATUS_SUCCESS);
    handle[K_FOREIGN] = args.hAllocation;
    handle[K_FOREIGN_CONTEXT] = context_rig.context;
}

static void body(struct probe *p)
{
    make_foreign(p);
    CHECK(NT_SUCCESS(probe_gpu_begin(G)) && NT_SUCCESS(probe_gpu_allocate(G, 4096, &allocation)));
    context_rig_inside(0, collect);
    context_rig_inside(0, try_it);
    context_rig_inside(0, clean_up);
    CHECK_RULE("CTXA-069", p->state[1].dxgk.DxgkCbDestroyContextAllocation(
                               p->state[1].dxgk.DeviceHandle, handle[K_FOREIGN]) == STATUS_SUCCESS);
    CHECK(NT_SUCCESS(probe_gpu_end(G)));
}

TEST(every_callback_takes_its_own_kind_alone)
{
    const struct probe_options options = {.adapters = 2};

    for (callback = 0; callback < CALLBACKS; callback++)
        for (kind = 0; kind < KINDS; kind++) {
            memset(handle, 0, sizeof(handle));
            context_rig_run(context_rig_create(&options), body);
        }
}

/* ---- values ---- */

static void values(struct probe *p)
{
    static const enum kind host[] = {K_ADAPTER, K_PROCESS, K_DEVICE, K_CONTEXT, K_ITEM, K_ACQUIRED};

    (void)p;
    for (size_t i = 0; i < sizeof(host) / sizeof(host[0]); i++) {
        uint64_t value = (uintptr_t)handle[host[i]];

        /* no address, of user or kernel; no D3DKMT handle, whole or cut down */
        CHECK_RULE("CTXA-069", value >> 48 == 0xD3D1 && value >> 32 != 0);
        CHECK_RULE("CTXA-069", (value & 0xC0000000u) == 0 && (value & 0x3FFFFFFFu) != 0);
        for (size_t j = 0; j < i; j++)
            CHECK_RULE("CTXA-069", handle[host[i]] != handle[host[j]] &&
                                       value >> 44 != (uintptr_t)handle[host[j]] >> 44);
    }
    CHECK_RULE("CTXA-069", (uintptr_t)handle[K_ITEM] >> 32 != (uintptr_t)handle[K_FOREIGN] >> 32);
}

/* D3DKMT handles, by the driver: what is a host handle cut down is none. */
static void client_lookups(struct probe *p)
{
    for (unsigned i = 0; i < KINDS; i++) {
        D3DKMT_HANDLE low = (D3DKMT_HANDLE)(uintptr_t)handle[i];
        bool own = i == K_CLIENT_ALLOCATION;
        DXGKARGCB_ENUMHANDLECHILDREN children;
        DXGKARGCB_GETHANDLEDATA args;
        HANDLE release = (HANDLE)(uintptr_t)1;
        void *data;

        memset(&args, 0, sizeof(args));
        args.hObject = low;
        args.Type = DXGK_HANDLE_ALLOCATION;
        CHECK_RULE("CTXA-069", (DXGK.DxgkCbGetHandleData(&args) != NULL) == own);
        data = DXGK.DxgkCbAcquireHandleData(&args, &release);
        CHECK_RULE("ALLOC-100", (data != NULL) == own && (release != NULL) == own);
        if (data)
            CHECK_RULE("ALLOC-101", release_acquired(p, release) && !release_acquired(p, release));
        args.Type = DXGK_HANDLE_RESOURCE;
        CHECK_RULE("CTXA-069", DXGK.DxgkCbGetHandleData(&args) == NULL);
        CHECK_RULE("CTXA-069", DXGK.DxgkCbGetHandleParent(low) == 0);
        memset(&children, 0, sizeof(children));
        children.hObject = low;
        CHECK_RULE("CTXA-069", DXGK.DxgkCbEnumHandleChildren(&children) == 0);
    }
}

static void values_body(struct probe *p)
{
    make_foreign(p);
    CHECK(NT_SUCCESS(probe_gpu_begin(G)) && NT_SUCCESS(probe_gpu_allocate(G, 4096, &allocation)));
    context_rig_inside(0, collect);
    context_rig_inside(0, values);
    context_rig_inside(0, client_lookups);
    callback = CALLBACKS - 1;
    kind = K_NULL;
    context_rig_inside(0, clean_up);
    CHECK(p->state[1].dxgk.DxgkCbDestroyContextAllocation(p->state[1].dxgk.DeviceHandle,
                                                          handle[K_FOREIGN]) == STATUS_SUCCESS);
    CHECK(NT_SUCCESS(probe_gpu_end(G)));
}

TEST(values_say_kind_and_adapter)
{
    const struct probe_options options = {.adapters = 2};

    memset(handle, 0, sizeof(handle));
    context_rig_run(context_rig_create(&options), values_body);
}

/* ---- hDxgkProcess of a reservation ---- */

static unsigned reservation_round;
static HANDLE earlier_process;

/* Where the answer cannot be written. */
static void reserve_read_only(struct probe *p, const DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE *args)
{
    DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK((void *)page != MAP_FAILED);
    *page = *args;
    CHECK(mprotect(page, 4096, PROT_READ) == 0);
    CHECK_RULE("GPUVA-046", DXGK.DxgkCbReserveGpuVirtualAddressRange(DXGK.DeviceHandle, page) ==
                                    STATUS_INVALID_PARAMETER &&
                                probe_rule(p, "GPUVA-046") == 5 &&
                                probe_said(p, "GPUVA-046", "cannot be written"));
    (void)munmap(page, 4096);
}

static void reserve_in_create_process(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEPROCESS *created = (const DXGKARG_CREATEPROCESS *)(uintptr_t)call->arg[1];
    DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE args;
    const HANDLE wrong[] = {NULL, (HANDLE)(uintptr_t)0x40000001u, DXGK.DeviceHandle,
                            earlier_process};

    if (created->Flags.SystemProcess) {
        earlier_process = created->hDxgkProcess;
        return;
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        memset(&args, 0, sizeof(args));
        args.hDxgkProcess = wrong[i];
        args.SizeInBytes = 2 << 20;
        args.StartVirtualAddress = 77;
        CHECK_RULE("GPUVA-046", DXGK.DxgkCbReserveGpuVirtualAddressRange(DXGK.DeviceHandle, &args) ==
                                        STATUS_INVALID_PARAMETER &&
                                    args.StartVirtualAddress == 77);
    }
    CHECK_RULE("GPUVA-046", probe_rule(p, "GPUVA-046") == 4 &&
                                probe_said(p, "GPUVA-046", "hDxgkProcess is NULL"));
    args.hDxgkProcess = created->hDxgkProcess;
    args.BaseAddress = 2 << 20; /* the lowest there is */
    CHECK_RULE("GPUVA-051", DXGK.DxgkCbReserveGpuVirtualAddressRange(DXGK.DeviceHandle, &args) ==
                                    STATUS_SUCCESS &&
                                args.StartVirtualAddress == 2 << 20);
    args.BaseAddress = 0;
    CHECK_RULE("GPUVA-052", DXGK.DxgkCbReserveGpuVirtualAddressRange(DXGK.DeviceHandle, &args) ==
                                    STATUS_SUCCESS &&
                                args.StartVirtualAddress == 4 << 20);
    reserve_read_only(p, &args);
    reservation_round++;
}

static void reservation_body(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(G)) && NT_SUCCESS(probe_gpu_end(G)));
    CHECK(reservation_round == 1);
}

TEST(reservations_name_their_process)
{
    struct probe *p = context_rig_create(NULL);

    p->before[PROBE_CreateProcess] = reserve_in_create_process;
    context_rig_run(p, reservation_body);
}
