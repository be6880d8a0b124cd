/* SPDX-License-Identifier: MIT */
/* A driver without contexts, from the client's side: work for the device itself, and for contexts that only the host knows; and
 * losses of power with physical addresses, for a driver with contexts, too. */
#include "../examples/blitter/blitter_hw.h"
#include "bus/window.h"
#include "host/support/machine.h"
#include "port/record/adapter_info.h"
#include "port/record/adapter_record.h"
#include "sim/machine.h"

#define BYTES 65536u

static void begin(struct machine *m, const char *driver)
{
    struct dxgk_machine_config config;

    machine_config(m, &config);
    machine_create(m, &config);
    if (dxgk_machine_add_device(m->dxgk, machine_path("examples/blitter_device.so"), NULL, 0,
                                m->error, sizeof(m->error)) != DXGK_OK)
        fail_msg("device: %s", m->error);
    if (dxgk_machine_load_driver(m->dxgk, machine_path(driver), m->error, sizeof(m->error)) !=
        DXGK_OK)
        fail_msg("driver: %s", m->error);
}

static D3DKMT_HANDLE the_adapter(void)
{
    D3DKMT_ENUMADAPTERS list = {0};

    return D3DKMTEnumAdapters(&list) == STATUS_SUCCESS && list.NumAdapters
               ? list.Adapters[0].hAdapter
               : 0;
}

static D3DKMT_HANDLE make(D3DKMT_HANDLE device)
{
    struct blitter_allocation_data data = {.magic = BLITTER_MAGIC, .bytes = BYTES};
    D3DDDI_ALLOCATIONINFO2 info = {.pPrivateDriverData = &data,
                                   .PrivateDriverDataSize = sizeof(data)};
    D3DKMT_CREATEALLOCATION args = {
        .hDevice = device, .NumAllocations = 1, .pAllocationInfo2 = &info};

    return D3DKMTCreateAllocation2(&args) == STATUS_SUCCESS ? info.hAllocation : 0;
}

static NTSTATUS make_resident(D3DKMT_HANDLE device, D3DKMT_CREATEPAGINGQUEUE *queue,
                              D3DKMT_HANDLE allocation)
{
    D3DDDI_MAKERESIDENT args = {
        .hPagingQueue = queue->hPagingQueue, .NumAllocations = 1, .AllocationList = &allocation};
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU wait = {.hDevice = device,
                                                       .ObjectCount = 1,
                                                       .ObjectHandleArray = &queue->hSyncObject,
                                                       .FenceValueArray = &args.PagingFenceValue};
    NTSTATUS status = D3DKMTMakeResident(&args);

    return status == STATUS_PENDING ? D3DKMTWaitForSynchronizationObjectFromCpu(&wait) : status;
}

/* One fill with `pattern`, by way of a device or a context. */
static NTSTATUS fill(D3DKMT_HANDLE by, void *buffer, D3DDDI_ALLOCATIONLIST *list,
                     D3DKMT_HANDLE allocation, uint32_t pattern)
{
    const struct blitter_command command = {
        .op = BLITTER_OP_FILL, .bytes = BYTES, .pattern = pattern};
    D3DKMT_RENDER args = {.hContext = by, .CommandLength = sizeof(command), .AllocationCount = 1};

    memcpy(buffer, &command, sizeof(command));
    list[0] = (D3DDDI_ALLOCATIONLIST){.hAllocation = allocation, .WriteOperation = 1};
    return D3DKMTRender(&args);
}

static bool holds(D3DKMT_HANDLE device, D3DKMT_HANDLE allocation, uint32_t pattern)
{
    D3DKMT_WAITFORIDLE idle = {.hDevice = device};
    D3DKMT_LOCK2 lock = {.hDevice = device, .hAllocation = allocation};
    D3DKMT_UNLOCK2 unlock = {.hDevice = device, .hAllocation = allocation};
    const uint32_t *words;
    bool right;

    if (D3DKMTWaitForIdle(&idle) != STATUS_SUCCESS || D3DKMTLock2(&lock) != STATUS_SUCCESS)
        return false;
    words = lock.pData;
    right = words[0] == pattern && words[BYTES / 4 - 1] == pattern;
    return D3DKMTUnlock2(&unlock) == STATUS_SUCCESS && right;
}

static void program(struct client *c)
{
    D3DKMT_CREATEDEVICE device = {.hAdapter = the_adapter()};
    D3DKMT_CREATECONTEXT context = {.EngineAffinity = 1}, elsewhere = {.NodeOrdinal = 1};
    D3DKMT_CREATEPAGINGQUEUE queue = {0};
    D3DKMT_DESTROYCONTEXT destroy = {0};
    D3DKMT_HANDLE allocation;

    TRY(c, D3DKMTCreateDevice(&device) == STATUS_SUCCESS);
    SHOW(c, "KMT-115", device.pCommandBuffer && device.CommandBufferSize == 16384);
    SHOW(c, "KMT-115", device.AllocationListSize == 48 && device.PatchLocationListSize == 96);
    queue.hDevice = context.hDevice = elsewhere.hDevice = device.hDevice;
    TRY(c, D3DKMTCreatePagingQueue(&queue) == STATUS_SUCCESS);
    allocation = make(device.hDevice);
    TRY(c, allocation && make_resident(device.hDevice, &queue, allocation) == STATUS_SUCCESS);

    SHOW(c, "KMT-115",
         fill(device.hDevice, device.pCommandBuffer, device.pAllocationList, allocation,
              0x11111111) == STATUS_SUCCESS);
    TRY(c, holds(device.hDevice, allocation, 0x11111111));

    SHOW(c, "KMT-147", D3DKMTCreateContext(&elsewhere) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-147", D3DKMTCreateContext(&context) == STATUS_SUCCESS);
    TRY(c, context.AllocationListSize == 48);
    TRY(c, fill(context.hContext, context.pCommandBuffer, context.pAllocationList, allocation,
                0x22222222) == STATUS_SUCCESS);
    TRY(c, holds(device.hDevice, allocation, 0x22222222));
    destroy.hContext = context.hContext;
    TRY(c, D3DKMTDestroyContext(&destroy) == STATUS_SUCCESS);
    destroy.hContext = device.hDevice; /* its own buffers are no context of the client's */
    TRY(c, D3DKMTDestroyContext(&destroy) != STATUS_SUCCESS);
    {
        D3DKMT_DESTROYDEVICE end = {.hDevice = device.hDevice};
        D3DKMT_CLOSEADAPTER close = {.hAdapter = device.hAdapter};

        TRY(c, D3DKMTDestroyDevice(&end) == STATUS_SUCCESS);
        TRY(c, D3DKMTCloseAdapter(&close) == STATUS_SUCCESS);
    }
}

TEST(devices_have_buffers_and_contexts_are_the_hosts)
{
    struct machine m;

    begin(&m, "tests/drivers/single_engine.so");
    machine_run(&m, program);
    machine_end(&m);
}

/* ---- losses of power ---- */

/* What a loss of power does to the memory of the device. */
static bool wipe_video_memory(void)
{
    struct port_adapter *adapter = port_adapter_first(port_current());
    const DXGK_SEGMENTDESCRIPTOR4 *segment = port_segment(adapter, 0);
    struct bus *bus = adapter->port->config.bus;
    void *bytes = bus_map(bus, (struct phys_addr){(uint64_t)segment->CpuTranslatedAddress.QuadPart},
                          segment->Size);

    if (!bytes)
        return false;
    memset(bytes, 0xDE, segment->Size);
    bus_unmap(bus, bytes);
    return true;
}

static bool power(unsigned state)
{
    char error[256];

    return dxgk_client_set_power(state, DXGK_POWER_SLEEP, error, sizeof(error)) == DXGK_OK &&
           dxgk_client_power() == state;
}

struct work {
    D3DKMT_HANDLE adapter, device, by, allocation[2];
    D3DKMT_CREATEPAGINGQUEUE queue;
    void *commands;
    D3DDDI_ALLOCATIONLIST *list;
};

static bool begin_work(struct work *w)
{
    D3DKMT_CREATEDEVICE device = {.hAdapter = the_adapter()};
    D3DKMT_CREATECONTEXT context = {.EngineAffinity = 1};

    memset(w, 0, sizeof(*w));
    if (D3DKMTCreateDevice(&device) != STATUS_SUCCESS)
        return false;
    context.hDevice = w->queue.hDevice = w->device = device.hDevice;
    w->adapter = device.hAdapter;
    if (D3DKMTCreateContext(&context) != STATUS_SUCCESS ||
        D3DKMTCreatePagingQueue(&w->queue) != STATUS_SUCCESS)
        return false;
    w->by = context.hContext;
    w->commands = context.pCommandBuffer;
    w->list = context.pAllocationList;
    for (unsigned i = 0; i < 2; i++) {
        w->allocation[i] = make(w->device);
        if (!w->allocation[i] ||
            make_resident(w->device, &w->queue, w->allocation[i]) != STATUS_SUCCESS)
            return false;
    }
    return true;
}

static bool end_work(const struct work *w)
{
    D3DKMT_DESTROYDEVICE end = {.hDevice = w->device};
    D3DKMT_CLOSEADAPTER close = {.hAdapter = w->adapter};

    return D3DKMTDestroyDevice(&end) == STATUS_SUCCESS &&
           D3DKMTCloseAdapter(&close) == STATUS_SUCCESS;
}

static void asleep(struct client *c)
{
    D3DKMT_EVICT evict = {.NumAllocations = 1};
    D3DKMT_WAITFORIDLE idle = {0};
    struct work w;

    TRY(c, begin_work(&w));
    for (uint32_t i = 1; i <= 3; i++) { /* D1, D2, D3 */
        TRY(c, fill(w.by, w.commands, w.list, w.allocation[0], 0x01010101 * i) == STATUS_SUCCESS);
        TRY(c, power(i));
        TRY(c, wipe_video_memory());
        TRY(c, power(0));
        SHOW(c, "LIFE-154/c", holds(w.device, w.allocation[0], 0x01010101 * i));
    }
    /* One that nobody wants any more is still on its way out, and stays asleep with the rest. */
    TRY(c, fill(w.by, w.commands, w.list, w.allocation[1], 0x77777777) == STATUS_SUCCESS);
    idle.hDevice = evict.hDevice = w.device;
    TRY(c, D3DKMTWaitForIdle(&idle) == STATUS_SUCCESS);
    evict.AllocationList = &w.allocation[1];
    TRY(c, D3DKMTEvict(&evict) == STATUS_SUCCESS);
    TRY(c, power(3));
    TRY(c, wipe_video_memory());
    dxgk_client_sleep(1000000);
    SHOW(c, "LIFE-155/b", dxgk_client_power() == 3);
    TRY(c, power(0));
    TRY(c, make_resident(w.device, &w.queue, w.allocation[1]) == STATUS_SUCCESS);
    SHOW(c, "LIFE-154/c", holds(w.device, w.allocation[1], 0x77777777));
    TRY(c, end_work(&w));
}

TEST(content_outlives_a_loss_of_power)
{
    static const char *const drivers[] = {"examples/blitter.so", "tests/drivers/single_engine.so"};

    for (unsigned i = 0; i < 2; i++) {
        struct machine m;

        begin(&m, drivers[i]);
        machine_run(&m, asleep);
        machine_end(&m);
    }
}

static void wrong_states(struct client *c)
{
    char error[256];

    TRY(c, dxgk_client_set_power(4, DXGK_POWER_SLEEP, error, sizeof(error)) == DXGK_ERROR);
    TRY(c, strstr(error, "D4") != NULL);
    TRY(c, dxgk_client_power() == 0);
}

/* Whatever request for memory fails: the power goes, or the adapter stays as it was and somebody says why. */
static void short_of_memory(struct client *c)
{
    char error[256];
    struct work w;
    unsigned failed = 0;

    TRY(c, begin_work(&w));
    for (uint64_t n = 1;; n++) {
        enum dxgk_result result;

        TRY(c, fill(w.by, w.commands, w.list, w.allocation[0], (uint32_t)n) == STATUS_SUCCESS);
        TRY(c, holds(w.device, w.allocation[0], (uint32_t)n));
        TRY(c, make_resident(w.device, &w.queue, w.allocation[0]) == STATUS_SUCCESS);
        error[0] = 0;
        sim_current->heap.fail_at = sim_current->heap.requests + n;
        result = dxgk_client_set_power(3, DXGK_POWER_SLEEP, error, sizeof(error));
        if (sim_current->heap.fail_at > sim_current->heap.requests) {
            sim_current->heap.fail_at = 0;
            TRY(c, result == DXGK_OK && failed > 0 && power(0));
            break;
        }
        sim_current->heap.fail_at = 0;
        failed++;
        if (result == DXGK_OK)
            TRY(c, power(0));
        else
            TRY(c, error[0] && dxgk_client_power() == 0);
        TRY(c, holds(w.device, w.allocation[0], (uint32_t)n));
    }
    TRY(c, end_work(&w));
}

TEST(a_shortage_of_memory_is_told)
{
    struct machine m;

    begin(&m, "examples/blitter.so");
    machine_run(&m, short_of_memory);
    machine_end(&m);
}

TEST(only_states_that_there_are)
{
    char error[256];
    struct machine m;

    begin(&m, "examples/blitter.so");
    machine_run(&m, wrong_states);
    CHECK(dxgk_client_set_power(3, DXGK_POWER_SLEEP, error, sizeof(error)) == DXGK_ERROR);
    CHECK(strstr(error, "client"));
    machine_end(&m);
}
