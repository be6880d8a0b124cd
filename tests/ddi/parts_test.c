/* SPDX-License-Identifier: MIT */
/* What structures point to is lent as they are: what a driver writes past or before it is reported, and what only
 * goes in comes back as it was. */
#include "ddi/support/catalogue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ddi/loan.h"

#define ROOM     48u
#define ELEMENTS 3u
#define DOOR     port_adapter_ddi(p->adapter[0])
#define HANDLE_1 ((HANDLE)(uintptr_t)1)

/* The host's own. */
static struct {
    uint8_t data[ELEMENTS][ROOM], more[ROOM], third[ROOM];
    DXGK_ALLOCATIONINFO info[ELEMENTS];
    DXGK_OPENALLOCATIONINFO open[ELEMENTS];
    HANDLE handle[ELEMENTS];
    ULONG pasid[2];
    WCHAR name[8];
    DXGK_DEVICEINFO device;
    D3DKMDT_GDISURFACEDATA surface;
    DXGKARG_COLLECTDBGINFO_EXT extension;
    STATUS_BLOCK status;
    GUID type;
    DXGK_QUERYSEGMENTOUT4 segments;
    DXGK_HARDWARERESERVEDRANGES ranges;
    DXGK_QUERYSEGMENTMEMORYSTATE state;
    DXGK_SEGMENTDESCRIPTOR4 segment[ELEMENTS + 1];
    DXGK_PHYSICAL_MEMORY_RANGE range[ELEMENTS];
    DXGK_MEMORYRANGE memory[ELEMENTS];
} host;

/* ---- what the driver writes ---- */

static struct {
    void *(*find)(const struct probe_call *call);
    long offset;
    const void *seen;
} wild;

static void write_wild(struct probe *p, struct probe_call *call)
{
    uint8_t *at = wild.find(call);

    (void)p;
    call->answered = true;
    wild.seen = at;
    if (at)
        at[wild.offset] = (uint8_t)~at[wild.offset];
}

/* ---- the buffers ---- */

#define FIND(name, type, argument, expression)           \
    static void *find_##name(const struct probe_call *c) \
    {                                                    \
        type *s = (type *)(uintptr_t)c->arg[argument];   \
                                                         \
        return (void *)(uintptr_t)(expression);          \
    }

FIND(pasid, DXGKARG_CREATEPROCESS, 1, s->pPasid)
FIND(process_name, DXGKARG_CREATEPROCESS, 1, s->pProcessName)
FIND(device_info, DXGKARG_CREATEDEVICE, 1, s->pInfo)
FIND(context_data, DXGKARG_CREATECONTEXT, 1, s->pPrivateDriverData)
FIND(resource_data, DXGKARG_CREATEALLOCATION, 1, s->pPrivateDriverData)
FIND(info, DXGKARG_CREATEALLOCATION, 1, s->pAllocationInfo)
FIND(first_data, DXGKARG_CREATEALLOCATION, 1, s->pAllocationInfo[0].pPrivateDriverData)
FIND(last_data, DXGKARG_CREATEALLOCATION, 1, s->pAllocationInfo[ELEMENTS - 1].pPrivateDriverData)
FIND(destroyed, DXGKARG_DESTROYALLOCATION, 1, s->pAllocationList)
FIND(open, DXGKARG_OPENALLOCATION, 1, s->pOpenAllocation)
FIND(open_data, DXGKARG_OPENALLOCATION, 1, s->pOpenAllocation[1].pPrivateDriverData)
FIND(open_resource_data, DXGKARG_OPENALLOCATION, 1, s->pPrivateDriverData)
FIND(closed, DXGKARG_CLOSEALLOCATION, 1, s->pOpenHandleList)
FIND(surface, DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA, 1, s->pCreateGdiSurfaceData)
FIND(standard_data, DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA, 1, s->pAllocationPrivateDriverData)
FIND(standard_more, DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA, 1, s->pResourcePrivateDriverData)
FIND(report, DXGKARG_COLLECTDBGINFO, 1, s->pBuffer)
FIND(extension, DXGKARG_COLLECTDBGINFO, 1, s->pExtension)
FIND(escape_data, DXGKARG_ESCAPE, 1, s->pPrivateDriverData)
FIND(descriptor, DXGK_DEVICE_DESCRIPTOR, 2, s->DescriptorBuffer)
FIND(interface_type, QUERY_INTERFACE, 1, s->InterfaceType)
FIND(interface, QUERY_INTERFACE, 1, s->Interface)
FIND(status_block, VIDEO_REQUEST_PACKET, 2, s->StatusBlock)
FIND(request_in, VIDEO_REQUEST_PACKET, 2, s->InputBuffer)
FIND(request_out, VIDEO_REQUEST_PACKET, 2, s->OutputBuffer)
FIND(query_in, DXGKARG_QUERYADAPTERINFO, 1, s->pInputData)
FIND(query_out, DXGKARG_QUERYADAPTERINFO, 1, s->pOutputData)
FIND(segment, DXGKARG_QUERYADAPTERINFO, 1,
     ((DXGK_QUERYSEGMENTOUT4 *)s->pOutputData)->pSegmentDescriptor)
FIND(range, DXGKARG_QUERYADAPTERINFO, 1,
     ((DXGK_HARDWARERESERVEDRANGES *)s->pOutputData)->pPhysicalRanges)
FIND(memory, DXGKARG_QUERYADAPTERINFO, 1,
     ((DXGK_QUERYSEGMENTMEMORYSTATE *)s->pInputData)->pMemoryRanges)
FIND(added_context, PVOID, 1, s)
FIND(start_info, DXGK_START_INFO, 1, s)
FIND(start_interface, DXGKRNL_INTERFACE, 2, s)
FIND(sources, ULONG, 3, s)
FIND(children, ULONG, 4, s)
FIND(relations, DXGK_CHILD_DESCRIPTOR, 1, s)
FIND(acpi_flags, ULONG, 4, s)
FIND(stable_state, DXGKARG_SETSTABLEPOWERSTATE, 1, s)
FIND(control_code, GUID, 1, s)
FIND(returned, SIZE_T, 6, s)

/* ---- the calls ---- */

#define CALL(name, type, function, ...)               \
    static void call_##name(struct ddi_adapter *door) \
    {                                                 \
        type args;                                    \
                                                      \
        memset(&args, 0, sizeof(args));               \
        __VA_ARGS__;                                  \
        (void)function;                               \
    }

CALL(process, DXGKARG_CREATEPROCESS, ddi_create_process(door, &args), args.NumPasid = 2,
     args.pPasid = host.pasid, args.ProcessNameLength = 7, args.pProcessName = host.name)
CALL(device, DXGKARG_CREATEDEVICE, ddi_create_device_with_info(door, &args),
     args.pInfo = &host.device)
CALL(context, DXGKARG_CREATECONTEXT, ddi_create_context(door, HANDLE_1, &args),
     args.pPrivateDriverData = host.more, args.PrivateDriverDataSize = ROOM - 5)
CALL(destroy, DXGKARG_DESTROYALLOCATION, ddi_destroy_allocation(door, &args),
     args.NumAllocations = ELEMENTS, args.pAllocationList = host.handle)
CALL(close, DXGKARG_CLOSEALLOCATION, ddi_close_allocation(door, HANDLE_1, &args),
     args.NumAllocations = ELEMENTS, args.pOpenHandleList = host.handle)
CALL(standard, DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA, ddi_standard_data(door, &args),
     args.StandardAllocationType = D3DKMDT_STANDARDALLOCATION_GDISURFACE,
     args.pCreateGdiSurfaceData = &host.surface, args.pAllocationPrivateDriverData = host.more,
     args.AllocationPrivateDriverDataSize = 12, args.pResourcePrivateDriverData = host.third,
     args.ResourcePrivateDriverDataSize = ROOM)
CALL(debug, DXGKARG_COLLECTDBGINFO, ddi_collect_dbg_info(door, &args), args.pBuffer = host.more,
     args.BufferSize = ROOM, args.pExtension = &host.extension)
CALL(escape, DXGKARG_ESCAPE, ddi_escape(door, &args), args.pPrivateDriverData = host.more,
     args.PrivateDriverDataSize = 8)
CALL(descriptor, DXGK_DEVICE_DESCRIPTOR, ddi_query_device_descriptor(door, 1, &args),
     args.DescriptorBuffer = host.more, args.DescriptorLength = ROOM)
CALL(query_interface, QUERY_INTERFACE, ddi_query_interface(door, &args),
     args.InterfaceType = &host.type, args.Interface = (PINTERFACE)(void *)host.more,
     args.Size = ROOM)
CALL(request, VIDEO_REQUEST_PACKET, ddi_dispatch_io_request(door, 0, &args),
     args.StatusBlock = &host.status, args.InputBuffer = host.more, args.InputBufferLength = 24,
     args.OutputBuffer = host.third, args.OutputBufferLength = 24)
CALL(query, DXGKARG_QUERYADAPTERINFO, ddi_query_adapter_info(door, &args),
     args.Type = DXGKQAITYPE_GPUMMUCAPS, args.pInputData = host.more, args.InputDataSize = 8,
     args.pOutputData = host.third, args.OutputDataSize = 40)
CALL(segments, DXGKARG_QUERYADAPTERINFO, ddi_query_adapter_info(door, &args),
     args.Type = DXGKQAITYPE_QUERYSEGMENT4, args.pOutputData = &host.segments,
     args.OutputDataSize = sizeof(host.segments))
CALL(ranges, DXGKARG_QUERYADAPTERINFO, ddi_query_adapter_info(door, &args),
     args.Type = DXGKQAITYPE_HARDWARERESERVEDRANGES, args.pOutputData = &host.ranges,
     args.OutputDataSize = sizeof(host.ranges))
CALL(memory, DXGKARG_QUERYADAPTERINFO, ddi_query_adapter_info(door, &args),
     args.Type = DXGKQAITYPE_SEGMENTMEMORYSTATE, args.pInputData = &host.state,
     args.InputDataSize = sizeof(host.state), args.pOutputData = host.memory,
     args.OutputDataSize = sizeof(host.memory))

static void call_create(struct ddi_adapter *door)
{
    DXGKARG_CREATEALLOCATION args = {.pPrivateDriverData = host.more,
                                     .PrivateDriverDataSize = ROOM,
                                     .NumAllocations = ELEMENTS,
                                     .pAllocationInfo = host.info};

    for (unsigned i = 0; i < ELEMENTS; i++) {
        host.info[i].pPrivateDriverData = host.data[i];
        host.info[i].PrivateDriverDataSize = 12;
    }
    (void)ddi_create_allocation(door, &args);
    CHECK_RULE("LIFE-192/b",
               args.pAllocationInfo == host.info && args.pPrivateDriverData == host.more);
    for (unsigned i = 0; i < ELEMENTS; i++)
        CHECK_RULE("LIFE-192/b", host.info[i].pPrivateDriverData == host.data[i]);
}

static void call_open(struct ddi_adapter *door)
{
    DXGKARG_OPENALLOCATION args = {.NumAllocations = ELEMENTS,
                                   .pOpenAllocation = host.open,
                                   .pPrivateDriverData = host.more,
                                   .PrivateDriverSize = ROOM};

    for (unsigned i = 0; i < ELEMENTS; i++) {
        host.open[i].pPrivateDriverData = host.data[i];
        host.open[i].PrivateDriverDataSize = ROOM;
    }
    (void)ddi_open_allocation(door, HANDLE_1, &args);
    for (unsigned i = 0; i < ELEMENTS; i++)
        CHECK_RULE("LIFE-192/b", host.open[i].pPrivateDriverData == host.data[i]);
}

static void call_add(struct ddi_adapter *door)
{
    (void)ddi_add_device(door, NULL, (PVOID *)(void *)host.more);
}

static void call_start(struct ddi_adapter *door)
{
    struct ddi_loan info = {.address = NULL}, interface = {.address = NULL};

    CHECK(ddi_loan_init(&info, sizeof(DXGK_START_INFO), "LIFE-061", "x", "") &&
          ddi_loan_init(&interface, sizeof(DXGKRNL_INTERFACE), "LIFE-061", "x", ""));
    (void)ddi_start_device(door, info.address, interface.address, (ULONG *)(void *)host.more,
                           (ULONG *)(void *)host.third);
    ddi_loan_finish(&info);
    ddi_loan_finish(&interface);
}

static void call_relations(struct ddi_adapter *door)
{
    (void)ddi_query_child_relations(door, (PDXGK_CHILD_DESCRIPTOR)(void *)host.more, ROOM);
}

static void call_acpi(struct ddi_adapter *door)
{
    (void)ddi_notify_acpi_event(door, DxgkPowerStateEvent, 1, NULL, (ULONG *)(void *)host.more);
}

static void call_stable(struct ddi_adapter *door)
{
    ddi_set_stable_power_state(door, TRUE);
}

static void call_runtime(struct ddi_adapter *door)
{
    (void)ddi_power_runtime_control_request(door, &host.type, 0);
}

/* ---- each of them ---- */

struct buffer {
    enum probe_ddi ddi;
    void (*call)(struct ddi_adapter *door);
    void *(*find)(const struct probe_call *call);
    size_t bytes;
    const void *own;  /* the host's; NULL: on its stack */
    bool back;        /* changes come back there */
    const char *rule; /* NULL: LIFE-191 */
    const char *constant;
};

/* clang-format off */
static const struct buffer buffers[] = {
    {PROBE_CreateProcess, call_process, find_pasid, 8, host.pasid, false, NULL, NULL},
    {PROBE_CreateProcess, call_process, find_process_name, 16, host.name, false, NULL, NULL},
    {PROBE_CreateDevice, call_device, find_device_info, sizeof(DXGK_DEVICEINFO), &host.device, true, NULL, NULL},
    {PROBE_CreateContext, call_context, find_context_data, ROOM - 5, host.more, false, NULL, NULL},
    {PROBE_CreateAllocation, call_create, find_resource_data, ROOM, host.more, false, NULL, NULL},
    {PROBE_CreateAllocation, call_create, find_first_data, 12, host.data[0], true, NULL, NULL},
    {PROBE_CreateAllocation, call_create, find_last_data, 12, host.data[ELEMENTS - 1], true, NULL, NULL},
    {PROBE_CreateAllocation, call_create, find_info, sizeof(host.info), host.info, true, NULL, NULL},
    {PROBE_DestroyAllocation, call_destroy, find_destroyed, sizeof(host.handle), host.handle, false, NULL, NULL},
    {PROBE_OpenAllocation, call_open, find_open_data, ROOM, host.data[1], true, NULL, NULL},
    {PROBE_OpenAllocation, call_open, find_open, sizeof(host.open), host.open, true, NULL, NULL},
    {PROBE_OpenAllocation, call_open, find_open_resource_data, ROOM, host.more, false, NULL, "ALLOC-073"},
    {PROBE_CloseAllocation, call_close, find_closed, sizeof(host.handle), host.handle, false, NULL, NULL},
    {PROBE_GetStandardAllocationDriverData, call_standard, find_surface, sizeof(host.surface), &host.surface, true, NULL, NULL},
    {PROBE_GetStandardAllocationDriverData, call_standard, find_standard_data, 12, host.more, true, NULL, NULL},
    {PROBE_GetStandardAllocationDriverData, call_standard, find_standard_more, ROOM, host.third, true, NULL, NULL},
    {PROBE_CollectDbgInfo, call_debug, find_report, ROOM, host.more, true, "LIFE-141", NULL},
    {PROBE_CollectDbgInfo, call_debug, find_extension, sizeof(host.extension), &host.extension, true, NULL, NULL},
    {PROBE_Escape, call_escape, find_escape_data, 8, host.more, true, NULL, NULL},
    {PROBE_QueryDeviceDescriptor, call_descriptor, find_descriptor, ROOM, host.more, true, "LIFE-081", NULL},
    {PROBE_QueryInterface, call_query_interface, find_interface_type, sizeof(GUID), &host.type, false, NULL, NULL},
    {PROBE_QueryInterface, call_query_interface, find_interface, ROOM, host.more, true, "LIFE-131", NULL},
    {PROBE_DispatchIoRequest, call_request, find_status_block, sizeof(STATUS_BLOCK), &host.status, true, NULL, NULL},
    {PROBE_DispatchIoRequest, call_request, find_request_in, 24, host.more, false, NULL, NULL},
    {PROBE_DispatchIoRequest, call_request, find_request_out, 24, host.third, true, NULL, NULL},
    {PROBE_QueryAdapterInfo, call_query, find_query_in, 8, host.more, false, NULL, "CAPS-007"},
    {PROBE_QueryAdapterInfo, call_query, find_query_out, 40, host.third, true, "CAPS-005", NULL},
    {PROBE_QueryAdapterInfo, call_segments, find_segment, sizeof(host.segment), host.segment, true, NULL, NULL},
    {PROBE_QueryAdapterInfo, call_ranges, find_range, sizeof(host.range), host.range, true, NULL, NULL},
    {PROBE_QueryAdapterInfo, call_memory, find_memory, sizeof(host.memory), host.memory, true, "CAPS-005", NULL},
    {PROBE_AddDevice, call_add, find_added_context, sizeof(PVOID), host.more, true, NULL, NULL},
    {PROBE_StartDevice, call_start, find_start_info, sizeof(DXGK_START_INFO), NULL, false, NULL, NULL},
    {PROBE_StartDevice, call_start, find_start_interface, sizeof(DXGKRNL_INTERFACE), NULL, false, NULL, NULL},
    {PROBE_StartDevice, call_start, find_sources, sizeof(ULONG), host.more, true, NULL, NULL},
    {PROBE_StartDevice, call_start, find_children, sizeof(ULONG), host.third, true, NULL, NULL},
    {PROBE_QueryChildRelations, call_relations, find_relations, ROOM, host.more, true, NULL, NULL},
    {PROBE_NotifyAcpiEvent, call_acpi, find_acpi_flags, sizeof(ULONG), host.more, true, NULL, NULL},
    {PROBE_SetStablePowerState, call_stable, find_stable_state, sizeof(DXGKARG_SETSTABLEPOWERSTATE), NULL, false, NULL, NULL},
    {PROBE_PowerRuntimeControlRequest, call_runtime, find_control_code, sizeof(GUID), &host.type, false, NULL, NULL},
    {PROBE_PowerRuntimeControlRequest, call_runtime, find_returned, sizeof(SIZE_T), NULL, false, NULL, NULL},
};
/* clang-format on */

static void prepare(void)
{
    memset(&host, 0, sizeof(host));
    memset(host.data, 0x21, sizeof(host.data));
    memset(host.more, 0x42, sizeof(host.more));
    memset(host.third, 0x63, sizeof(host.third));
    host.segments = (DXGK_QUERYSEGMENTOUT4){.NbSegment = ELEMENTS,
                                            .pSegmentDescriptor = (BYTE *)host.segment,
                                            .SegmentDescriptorStride = sizeof(host.segment[0])};
    host.ranges = (DXGK_HARDWARERESERVEDRANGES){.NumRanges = ELEMENTS,
                                                .pPhysicalRanges = host.range};
    host.state.NumInvalidMemoryRanges = ELEMENTS;
    host.state.pMemoryRanges = host.memory;
}

/* Reports of `rule` that one call causes, of a driver that writes one byte there. */
static uint64_t wrong(struct probe *p, const struct buffer *b, long offset, const char *rule)
{
    uint64_t before = probe_rule(p, rule);

    prepare();
    wild.find = b->find;
    wild.offset = offset;
    wild.seen = NULL;
    p->before[b->ddi] = write_wild;
    b->call(DOOR);
    p->before[b->ddi] = NULL;
    CHECK_RULE("LIFE-191", wild.seen && wild.seen != b->own); /* a copy */
    return probe_rule(p, rule) - before;
}

static void each_buffer(struct probe *p)
{
    static uint8_t as_it_was[sizeof(host)];

    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        const struct buffer *b = &buffers[i];
        const char *rule = b->rule ? b->rule : "LIFE-191";
        const long bytes = (long)b->bytes;
        size_t reports;

        prepare();
        memcpy(as_it_was, &host, sizeof(host));
        CHECK_RULE("LIFE-191", wrong(p, b, -1, rule) == 1);
        CHECK_RULE("LIFE-191", wrong(p, b, -64, rule) == 1);
        CHECK_RULE("LIFE-191", wrong(p, b, bytes, rule) == 1);
        CHECK_RULE("LIFE-191", wrong(p, b, bytes + 63, rule) == 1);
        CHECK_RULE("LIFE-191", wrong(p, b, bytes + 3999, rule) == 1);
        reports = probe_reports(p, VERIFY_ERROR);
        if (b->constant)
            CHECK_RULE("ALLOC-073", wrong(p, b, bytes - 1, b->constant) == 1);
        else
            CHECK_RULE("LIFE-191", wrong(p, b, bytes - 1, rule) == 0 &&
                                       probe_reports(p, VERIFY_ERROR) == reports);
        if (b->own) {
            const uint8_t *own = b->own;
            const size_t at = (size_t)(own - (const uint8_t *)&host) + b->bytes - 1;

            CHECK_RULE("LIFE-191",
                       own[b->bytes - 1] == (b->back ? (uint8_t)~as_it_was[at] : as_it_was[at]));
        }
    }
}

TEST(a_write_outside_of_what_is_pointed_to_is_reported)
{
    struct probe *p = probe_create(NULL);

    CHECK(NT_SUCCESS(probe_start(p)));
    catalogue_provide(p);
    probe_set_entry(p, PROBE_QueryInterface, true);
    probe_set_entry(p, PROBE_DispatchIoRequest, true);
    DOOR->table = p->table;
    CHECK(probe_run(p, each_buffer) == SIM_DONE);
    probe_destroy(p);
}

/* ---- fences ---- */

static const struct buffer *fenced;

static void read_past(struct probe *p, struct probe_call *call)
{
    const volatile uint8_t *end = (const uint8_t *)wild.find(call) + fenced->bytes;

    p->before[fenced->ddi] = NULL; /* DxgkDdiCollectDbgInfo comes again */
    call->answered = true;
    (void)*(end - 1); /* is there */
    (void)*end;
}

static void touch_fence(struct probe *p)
{
    prepare();
    wild.find = fenced->find;
    p->before[fenced->ddi] = read_past;
    fenced->call(DOOR);
}

/* With special pool, even a read past the end is found where it is made. */
TEST(what_is_lent_ends_at_a_fence)
{
    const struct probe_options options = {.special_pool = true};

    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        struct probe *p;
        char offset[64];

        fenced = &buffers[i];
        if (fenced->bytes % 8 && fenced->bytes != sizeof(ULONG)) /* see below: odd sizes */
            continue;
        p = probe_create(&options);
        CHECK(NT_SUCCESS(probe_start(p)));
        catalogue_provide(p);
        probe_set_entry(p, PROBE_QueryInterface, true);
        probe_set_entry(p, PROBE_DispatchIoRequest, true);
        DOOR->table = p->table;
        snprintf(offset, sizeof(offset), "of %zu bytes at offset %zu, 0 past its end",
                 fenced->bytes, fenced->bytes);
        CHECK_RULE("LIFE-191", probe_run(p, touch_fence) == SIM_STOPPED);
        CHECK_RULE("LIFE-191", probe_rule(p, "LIFE-191") == 1 && probe_said(p, "LIFE-191", offset));
        CHECK_RULE("LIFE-191",
                   probe_said(p, "LIFE-191", "read from") && probe_rule(p, "NT-002") == 1);
        probe_destroy(p);
    }
}

static void writes_before(struct probe *p)
{
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        const struct buffer *b = &buffers[i];
        const char *rule = b->rule ? b->rule : "LIFE-191";

        CHECK_RULE("LIFE-191", wrong(p, b, -1, rule) == 1);
        CHECK_RULE("LIFE-191", wrong(p, b, -2048, rule) == 1);
        CHECK_RULE("LIFE-191", b->constant || wrong(p, b, (long)b->bytes - 1, rule) == 0);
    }
}

TEST(a_write_before_what_is_fenced_is_reported)
{
    struct probe *p = probe_create(&(struct probe_options){.special_pool = true});

    CHECK(NT_SUCCESS(probe_start(p)));
    catalogue_provide(p);
    probe_set_entry(p, PROBE_QueryInterface, true);
    probe_set_entry(p, PROBE_DispatchIoRequest, true);
    DOOR->table = p->table;
    CHECK(probe_run(p, writes_before) == SIM_DONE);
    probe_destroy(p);
}

/* Opaque data of an odd size: what it begins with is read as the structure that it is, so it is
 * aligned, and a write into what that leaves before the fence is reported. */
static void touch_slack(struct probe *p, struct probe_call *call)
{
    const DXGKARG_ESCAPE *args = (const void *)(uintptr_t)call->arg[1];
    uint8_t *data = args->pPrivateDriverData;

    (void)p;
    call->answered = true;
    CHECK((uintptr_t)data % 8 == 0 && args->PrivateDriverDataSize % 8 == 5);
    wild.seen = data;
    if (wild.offset >= 0)
        data[args->PrivateDriverDataSize + (size_t)wild.offset] ^= 1;
}

static void use_odd_sizes(struct probe *p)
{
    uint8_t data[29] = {0};
    DXGKARG_ESCAPE args = {.pPrivateDriverData = data, .PrivateDriverDataSize = sizeof(data)};

    p->before[PROBE_Escape] = touch_slack;
    for (wild.offset = -1; wild.offset < 3; wild.offset++) {
        size_t before = probe_rule(p, "LIFE-191");

        wild.seen = NULL;
        (void)ddi_escape(DOOR, &args);
        CHECK(wild.seen);
        CHECK_RULE("LIFE-191", probe_rule(p, "LIFE-191") - before == (wild.offset >= 0));
    }
    p->before[PROBE_Escape] = NULL;
}

TEST(what_is_of_odd_size_is_aligned)
{
    struct probe *p = probe_create(&(struct probe_options){.special_pool = true});

    CHECK(NT_SUCCESS(probe_start(p)));
    catalogue_provide(p);
    CHECK(probe_run(p, use_odd_sizes) == SIM_DONE);
    probe_destroy(p);
}

static const volatile uint8_t *kept;

static void keep_private_data(struct probe *p, struct probe_call *call)
{
    const DXGKARG_ESCAPE *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    call->answered = true;
    if (kept)
        (void)*kept;
    kept = args->pPrivateDriverData;
}

static void use_late(struct probe *p)
{
    kept = NULL;
    prepare();
    p->before[PROBE_Escape] = keep_private_data;
    call_escape(DOOR);
    call_escape(DOOR);
}

TEST(what_is_no_longer_lent_is_inaccessible)
{
    struct probe *p = probe_create(&(struct probe_options){.special_pool = true});

    CHECK(NT_SUCCESS(probe_start(p)));
    catalogue_provide(p);
    CHECK_RULE("LIFE-191", probe_run(p, use_late) == SIM_STOPPED &&
                               probe_said(p, "LIFE-191", "which is no longer lent"));
    probe_destroy(p);
}

/* ---- pointers that the driver changes ---- */

static void change_pointers(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATEALLOCATION *args = (DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    call->answered = true;
    args->pAllocationInfo[1].pPrivateDriverData = (void *)(uintptr_t)0x5A5A5A5A5000;
    args->pAllocationInfo[2].hAllocation = HANDLE_1;
    args->pAllocationInfo++;
}

/* An array of a million elements is lent as well: with short zones. */
static void write_in_the_last(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATEALLOCATION *args = (DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];
    const DXGK_ALLOCATIONINFO *last = &args->pAllocationInfo[args->NumAllocations - 1];

    (void)p;
    call->answered = true;
    ((uint8_t *)last->pPrivateDriverData)[last->PrivateDriverDataSize - 1] = 7;
    ((uint8_t *)last->pPrivateDriverData)[last->PrivateDriverDataSize] = 8;
    ((uint8_t *)last[-1].pPrivateDriverData)[-1] = 9;
}

static void pointers_body(struct probe *p)
{
    enum { MANY = 20000 };
    DXGK_ALLOCATIONINFO *info = calloc(MANY, sizeof(*info));
    uint8_t *data = calloc(MANY, 3);
    DXGKARG_CREATEALLOCATION args = {.NumAllocations = MANY, .pAllocationInfo = info};

    prepare();
    p->before[PROBE_CreateAllocation] = change_pointers;
    call_create(DOOR); /* checks the pointers */
    CHECK_RULE("LIFE-192/a", probe_rule(p, "LIFE-192") == 2 &&
                                 probe_record(p, "LIFE-192")->severity == VERIFY_WARNING);
    CHECK_RULE("LIFE-192/b", host.info[2].hAllocation == HANDLE_1);
    p->before[PROBE_CreateAllocation] = write_in_the_last;
    for (unsigned i = 0; i < MANY; i++) {
        info[i].pPrivateDriverData = data + 3 * i;
        info[i].PrivateDriverDataSize = 3;
    }
    (void)ddi_create_allocation(DOOR, &args);
    CHECK_RULE("LIFE-191", probe_rule(p, "LIFE-191") == 2 && data[3 * MANY - 1] == 7 &&
                               data[3 * MANY - 4] == 0 && data[3 * MANY - 7] == 0);
    free(info);
    free(data);
}

TEST(pointers_that_a_driver_changes_are_not_followed)
{
    struct probe *p = probe_create(NULL);

    CHECK(NT_SUCCESS(probe_start(p)));
    catalogue_provide(p);
    CHECK(probe_run(p, pointers_body) == SIM_DONE);
    probe_destroy(p);
}

/* ---- two members that are one buffer ---- */

static void write_both(struct probe *p, struct probe_call *call)
{
    const DXGKARG_QUERYADAPTERINFO *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    call->answered = true;
    CHECK_RULE("CAPS-016", args->pInputData == args->pOutputData);
    *(uint8_t *)args->pInputData = 0x99;
}

static void one_buffer_body(struct probe *p)
{
    DXGKARG_QUERYADAPTERINFO args;

    prepare();
    memset(&args, 0, sizeof(args));
    args.Type = DXGKQAITYPE_UMDRIVERPRIVATE;
    args.pInputData = args.pOutputData = host.more;
    args.InputDataSize = args.OutputDataSize = ROOM;
    p->before[PROBE_QueryAdapterInfo] = write_both;
    (void)ddi_query_adapter_info(DOOR, &args);
    CHECK_RULE("CAPS-016", host.more[0] == 0x99 && probe_rule(p, "CAPS-007") == 0);
}

TEST(one_buffer_stays_one)
{
    struct probe *p = probe_create(NULL);

    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK(probe_run(p, one_buffer_body) == SIM_DONE);
    probe_destroy(p);
}
