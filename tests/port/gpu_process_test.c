/* SPDX-License-Identifier: MIT */
/* Processes on an adapter with GPU virtual addresses: when the driver hears of them, and whose addresses are whose. */
#include "port/support/admission.h"
#include "port/support/update_client.h"

/* ---- what the start asks ---- */

static bool zero_output;

static void look_at_output(struct probe *p, struct probe_call *call)
{
    const DXGKARG_QUERYADAPTERINFO *args = (const DXGKARG_QUERYADAPTERINFO *)(uintptr_t)call->arg[1];
    const uint8_t *output = args->pOutputData;

    (void)p;
    if (args->Type != DXGKQAITYPE_GPUMMUCAPS && args->Type != DXGKQAITYPE_PAGETABLELEVELDESC)
        return;
    for (UINT i = 0; i < args->OutputDataSize; i++)
        zero_output &= output[i] == 0;
}

static const DXGK_QUERYPAGETABLELEVELDESCIN *level_query(const struct probe *p, size_t n)
{
    return (const DXGK_QUERYPAGETABLELEVELDESCIN *)(const void *)probe_query(
               p, DXGKQAITYPE_PAGETABLELEVELDESC, n)
        ->query_input;
}

TEST(each_level_is_asked_for_once)
{
    for (UINT levels = 2; levels <= 6; levels++) {
        struct probe *p = probe_create(NULL);
        const struct probe_call *caps;

        p->mmu.PageTableLevelCount = levels;
        p->mmu.VirtualAddressBitCount = levels < 5 ? 12 + 9 * levels : 57;
        if (levels == 6)
            p->level[5].PageTableIndexBitCount = p->level[4].PageTableIndexBitCount = 4;
        p->mmu.VirtualAddressBitCount = levels == 6 ? 12 + 36 + 8 : 12 + 9 * levels;
        p->before[PROBE_QueryAdapterInfo] = look_at_output;
        zero_output = true;
        CHECK_RULE("GPUVA-006", NT_SUCCESS(probe_start(p)) &&
                                    probe_queries(p, DXGKQAITYPE_PAGETABLELEVELDESC) == levels);
        caps = probe_query(p, DXGKQAITYPE_GPUMMUCAPS, 0);
        CHECK_RULE("GPUVA-005", probe_queries(p, DXGKQAITYPE_GPUMMUCAPS) == 1 && zero_output &&
                                    caps->query.InputDataSize == sizeof(DXGK_QUERYGPUMMUCAPSIN) &&
                                    caps->query.OutputDataSize == sizeof(DXGK_GPUMMUCAPS) &&
                                    *(const UINT *)(const void *)caps->query_input == 0);
        for (UINT i = 0; i < levels; i++) {
            const struct probe_call *call = probe_query(p, DXGKQAITYPE_PAGETABLELEVELDESC, i);

            CHECK_RULE("GPUVA-006",
                       call->order > caps->order &&
                           call->query.InputDataSize == sizeof(DXGK_QUERYPAGETABLELEVELDESCIN) &&
                           call->query.OutputDataSize == sizeof(DXGK_PAGE_TABLE_LEVEL_DESC));
            CHECK_RULE("GPUVA-007", level_query(p, i)->LevelIndex == i &&
                                        level_query(p, i)->PhysicalAdapterIndex == 0);
        }
        probe_destroy(p);
    }
}

static UINT failing_level;

static void fail_level(struct probe *p, struct probe_call *call)
{
    const DXGKARG_QUERYADAPTERINFO *args = (const DXGKARG_QUERYADAPTERINFO *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->Type != DXGKQAITYPE_PAGETABLELEVELDESC ||
        ((const DXGK_QUERYPAGETABLELEVELDESCIN *)args->pInputData)->LevelIndex != failing_level)
        return;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)STATUS_NOT_SUPPORTED;
}

TEST(a_driver_describes_every_level)
{
    for (failing_level = 0; failing_level < 4; failing_level++) {
        struct probe *p = probe_create(NULL);

        p->before[PROBE_QueryAdapterInfo] = fail_level;
        CHECK_RULE("GPUVA-008",
                   IS(probe_start(p), STATUS_NOT_SUPPORTED) &&
                       probe_queries(p, DXGKQAITYPE_PAGETABLELEVELDESC) == failing_level + 1);
        probe_destroy(p);
    }
}

static void both_models(struct probe *p, bool same_nodes)
{
    p->caps.MemoryManagementCaps.IoMmuSupported = 1;
    p->physical.Flags.IoMmuSupported = 1;
    for (unsigned i = 0; i <= PROBE_MAX_NODES; i++)
        p->node[i].IoMmuSupported = same_nodes ? p->node[i].GpuMmuSupported
                                               : !p->node[i].GpuMmuSupported;
}

TEST(what_the_caps_say_together)
{
    struct probe *p;

    EXPECTED("GPUVA-002", "CAPS-060", p->caps.MemoryManagementCaps.GpuMmuSupported = 0,
             p->physical.Flags.GpuMmuSupported = 0);
    REPORTED("GPUVA-003", "CAPS-061", VERIFY_WARNING, both_models(p, true));
    EXPECTED("GPUVA-003", "CAPS-061", both_models(p, false));
    REFUSED("GPUVA-028", "CAPS-096", p->physical.Flags.GpuMmuSupported = 0);
}

/* ---- the life of a process ---- */

static struct probe_gpu gpu;
static HANDLE processes[8];
static DXGKARG_CREATEPROCESS created[8];
static unsigned process_count;
static uint8_t create_irql;

static void note_process(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATEPROCESS *args = (DXGKARG_CREATEPROCESS *)(uintptr_t)call->arg[1];

    (void)p;
    create_irql |= call->irql;
    memcpy(&created[process_count], args, offsetof(DXGKARG_CREATEPROCESS, ProcessNameLength));
    processes[process_count++] = args->hKmdProcess;
}

static struct probe *begin(void)
{
    struct probe *p = probe_create(NULL);

    process_count = 0;
    create_irql = 0;
    memset(created, 0, sizeof(created));
    p->after[PROBE_CreateProcess] = note_process;
    return p;
}

static D3DKMT_HANDLE another_device(void)
{
    D3DKMT_CREATEDEVICE args;

    memset(&args, 0, sizeof(args));
    args.hAdapter = gpu.adapter;
    CHECK(NT_SUCCESS(D3DKMTCreateDevice(&args)));
    return args.hDevice;
}

static void life_body(struct probe *p)
{
    D3DKMT_HANDLE device;
    D3DKMT_DESTROYDEVICE destroy;

    CHECK(process_count == 1);
    probe_forget(p);
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    CHECK_RULE("GPUVA-030", probe_count(p, PROBE_CreateProcess) == 1 && create_irql == 0 &&
                                probe_nth(p, PROBE_CreateProcess, 0)->left <=
                                    probe_nth(p, PROBE_CreateDevice, 0)->order);
    device = another_device();
    CHECK_RULE("GPUVA-030",
               probe_count(p, PROBE_CreateProcess) == 1 && probe_count(p, PROBE_CreateDevice) == 2);
    CHECK_RULE("GPUVA-033", created[1].Flags.Value == 0 && !created[1].hKmdVmWorkerProcess);
    CHECK_RULE("GPUVA-034", created[1].NumPasid == 0 && !created[1].pPasid);
    destroy.hDevice = device;
    CHECK(NT_SUCCESS(D3DKMTDestroyDevice(&destroy)));
    CHECK_RULE("GPUVA-037", probe_count(p, PROBE_DestroyProcess) == 0);
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
    CHECK_RULE("GPUVA-037", probe_count(p, PROBE_DestroyProcess) == 1 &&
                                probe_nth(p, PROBE_DestroyProcess, 0)->arg[1] ==
                                    (uint64_t)(uintptr_t)processes[1]);
    CHECK_RULE("GPUVA-037", probe_nth(p, PROBE_DestroyDevice, 1)->left <=
                                    probe_nth(p, PROBE_DestroyProcess, 0)->order &&
                                probe_nth(p, PROBE_DestroyContext, 0)->left <=
                                    probe_nth(p, PROBE_DestroyProcess, 0)->order);
    probe_sleep(PROBE_SECOND / 10);
    CHECK_RULE("GPUVA-037", probe_nth(p, PROBE_DestroyProcess, 0)->order == p->calls - 1);
}

TEST(a_process_is_known_from_its_first_device_to_its_last_handle)
{
    update_finish(begin(), life_body);
}

static void failing_body(struct probe *p)
{
    D3DKMT_ENUMADAPTERS adapters;
    D3DKMT_CREATEDEVICE args;

    memset(&adapters, 0, sizeof(adapters));
    CHECK(NT_SUCCESS(D3DKMTEnumAdapters(&adapters)));
    memset(&args, 0, sizeof(args));
    args.hAdapter = gpu.adapter = adapters.Adapters[0].hAdapter;
    probe_forget(p);
    p->before[PROBE_CreateProcess] = probe_fail_call;
    CHECK_RULE("GPUVA-036", IS(D3DKMTCreateDevice(&args), STATUS_UNSUCCESSFUL) && !args.hDevice);
    CHECK_RULE("GPUVA-036", probe_count(p, PROBE_CreateDevice) == 0 &&
                                probe_count(p, PROBE_DestroyProcess) == 0);
    p->before[PROBE_CreateProcess] = NULL;
    CHECK_RULE("GPUVA-036",
               NT_SUCCESS(D3DKMTCreateDevice(&args)) && probe_count(p, PROBE_CreateProcess) == 2);
    CHECK(NT_SUCCESS(D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){args.hDevice})));
}

TEST(a_device_fails_with_its_process)
{
    update_finish(begin(), failing_body);
}

/* The text is that of the process, with its end behind it, and gone when the call returns. */
static const WCHAR *kept_name;
static UINT kept_length;
static bool named_right;

static void keep_name(struct probe *p, struct probe_call *call)
{
    static const WCHAR expected[] = {'c', 'l', 'i', 'e', 'n', 't', 0};
    const DXGKARG_CREATEPROCESS *args = (const DXGKARG_CREATEPROCESS *)(uintptr_t)call->arg[1];

    (void)p;
    kept_name = args->pProcessName;
    kept_length = args->ProcessNameLength;
    named_right = kept_name && memcmp(kept_name, expected, sizeof(expected)) == 0;
}

static void name_body(struct probe *p)
{
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    if (p->options.version == DXGKDDI_INTERFACE_VERSION_WDDM2_3)
        CHECK(process_count == 2); /* its structure ends before the name */
    else
        CHECK_RULE("GPUVA-035", named_right && kept_length == 6);
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(a_driver_is_told_the_name_of_a_process)
{
    static const UINT versions[] = {DXGKDDI_INTERFACE_VERSION_WDDM2_3,
                                    DXGKDDI_INTERFACE_VERSION_WDDM2_4,
                                    DXGKDDI_INTERFACE_VERSION_WDDM2_9};

    for (size_t i = 0; i < 3; i++) {
        const struct probe_options options = {.version = versions[i]};
        struct probe *p = probe_create(&options);

        process_count = 0;
        p->caps.WDDMVersion = (DXGK_WDDMVERSION)0;
        p->after[PROBE_CreateProcess] = note_process;
        if (i > 0)
            p->before[PROBE_CreateProcess] = keep_name;
        update_finish(p, name_body);
    }
}

/* ---- address spaces ---- */

static uint64_t mapped_at(D3DKMT_HANDLE allocation, uint64_t base)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = gpu.queue;
    args.BaseAddress = base;
    args.hAllocation = allocation;
    args.SizeInPages = 4;
    args.Protection.Write = 1;
    CHECK(NT_SUCCESS(D3DKMTMapGpuVirtualAddress(&args)));
    probe_sleep(PROBE_SECOND / 100);
    return args.VirtualAddress;
}

static struct va_shadow_context *contexts[3];
static DXGK_PTE entries[2];

static void first_body(struct probe *p)
{
    D3DKMT_CREATECONTEXTVIRTUAL virtual;
    D3DKMT_CREATECONTEXT physical;
    D3DKMT_HANDLE allocation;

    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    contexts[0] = &va_shadow.context[va_shadow.contexts - 1];
    CHECK_RULE("GPUVA-044", contexts[0]->flags.Value == 4);
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, 4 * PAGE, &allocation)));
    CHECK(mapped_at(allocation, 1024 * MB) == 1024 * MB);
    entries[0] = va_shadow_walk(contexts[0], 1024 * MB);
    CHECK(entries[0].Valid);
    /* another device of the process runs in the same space; a context of physical addresses in none */
    memset(&virtual, 0, sizeof(virtual));
    virtual.hDevice = another_device();
    virtual.NodeOrdinal = 1;
    CHECK(NT_SUCCESS(D3DKMTCreateContextVirtual(&virtual)));
    contexts[1] = &va_shadow.context[va_shadow.contexts - 1];
    CHECK_RULE("GPUVA-039", contexts[1]->device != contexts[0]->device &&
                                contexts[1]->root == contexts[0]->root);
    memset(&physical, 0, sizeof(physical));
    physical.hDevice = gpu.device;
    CHECK(NT_SUCCESS(D3DKMTCreateContext(&physical)));
    CHECK_RULE("GPUVA-044", va_shadow.context[va_shadow.contexts - 1].flags.Value == 0 &&
                                va_shadow.context[va_shadow.contexts - 1].announced == UINT64_MAX);
}

static void second_body(struct probe *p)
{
    D3DKMT_HANDLE allocation;

    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    contexts[2] = &va_shadow.context[va_shadow.contexts - 1];
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, 4 * PAGE, &allocation)));
    CHECK_RULE("GPUVA-039", !va_shadow_walk(contexts[2], 1024 * MB).Valid);
    CHECK(mapped_at(allocation, 1024 * MB) == 1024 * MB);
    entries[1] = va_shadow_walk(contexts[2], 1024 * MB);
    CHECK_RULE("GPUVA-039", contexts[2]->root != contexts[0]->root && entries[1].Valid &&
                                entries[1].PageAddress != entries[0].PageAddress);
    CHECK_RULE("GPUVA-039",
               va_shadow_walk(contexts[0], 1024 * MB).PageAddress == entries[0].PageAddress);
}

TEST(an_address_means_another_page_in_each_process)
{
    struct probe *p = probe_create(NULL);
    struct probe_client *first, *second;

    va_shadow_begin(p);
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    first = probe_client_run(p, first_body);
    second = probe_client_run(p, second_body);
    probe_client_end(p, first);
    probe_client_end(p, second);
    probe_clients_end(p);
    probe_destroy(p);
}
