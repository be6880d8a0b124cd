/* SPDX-License-Identifier: MIT */
/* Arguments are such that the host gets through; the driver's hooks answer before anything reads them. */
#include "ddi/support/catalogue.h"

#include <string.h>

#include "sim/irql.h"

#define HANDLE_1 ((HANDLE)(uintptr_t)1)

/* A call with one structure of arguments. */
#define WITH_ARGS(function, type)                         \
    static void call_##function(struct ddi_adapter *door) \
    {                                                     \
        type args;                                        \
                                                          \
        memset(&args, 0, sizeof(args));                   \
        (void)ddi_##function(door, &args);                \
    }
#define WITH_HANDLE(function)                             \
    static void call_##function(struct ddi_adapter *door) \
    {                                                     \
        (void)ddi_##function(door, HANDLE_1);             \
    }
#define WITH_HANDLE_AND_ARGS(function, type)              \
    static void call_##function(struct ddi_adapter *door) \
    {                                                     \
        type args;                                        \
                                                          \
        memset(&args, 0, sizeof(args));                   \
        (void)ddi_##function(door, HANDLE_1, &args);      \
    }
#define BARE(function)                                    \
    static void call_##function(struct ddi_adapter *door) \
    {                                                     \
        (void)ddi_##function(door);                       \
    }

WITH_ARGS(create_device, DXGKARG_CREATEDEVICE)
WITH_HANDLE(destroy_device)
WITH_HANDLE_AND_ARGS(create_context, DXGKARG_CREATECONTEXT)
WITH_HANDLE(destroy_context)
WITH_ARGS(create_allocation, DXGKARG_CREATEALLOCATION)
WITH_ARGS(destroy_allocation, DXGKARG_DESTROYALLOCATION)
WITH_HANDLE_AND_ARGS(open_allocation, DXGKARG_OPENALLOCATION)
WITH_HANDLE_AND_ARGS(close_allocation, DXGKARG_CLOSEALLOCATION)
WITH_ARGS(describe_allocation, DXGKARG_DESCRIBEALLOCATION)
WITH_ARGS(standard_data, DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA)
WITH_HANDLE_AND_ARGS(render, DXGKARG_RENDER)
WITH_ARGS(query_adapter_info, DXGKARG_QUERYADAPTERINFO)
WITH_ARGS(query_current_fence, DXGKARG_QUERYCURRENTFENCE)
WITH_ARGS(collect_dbg_info, DXGKARG_COLLECTDBGINFO)
WITH_ARGS(create_process, DXGKARG_CREATEPROCESS)
WITH_HANDLE(destroy_process)
WITH_ARGS(build_paging_buffer, DXGKARG_BUILDPAGINGBUFFER)
WITH_ARGS(patch, DXGKARG_PATCH)
WITH_ARGS(submit_command, DXGKARG_SUBMITCOMMAND)
WITH_ARGS(submit_command_virtual, DXGKARG_SUBMITCOMMANDVIRTUAL)
WITH_ARGS(preempt_command, DXGKARG_PREEMPTCOMMAND)
WITH_ARGS(cancel_command, DXGKARG_CANCELCOMMAND)
WITH_ARGS(query_dependent_engine_group, DXGKARG_QUERYDEPENDENTENGINEGROUP)
WITH_ARGS(query_engine_status, DXGKARG_QUERYENGINESTATUS)
WITH_ARGS(reset_engine, DXGKARG_RESETENGINE)
WITH_ARGS(get_root_page_table_size, DXGKARG_GETROOTPAGETABLESIZE)
WITH_ARGS(set_allocation_backing_store, DXGKARG_SETALLOCATIONBACKINGSTORE)
WITH_ARGS(validate_update_allocation_property, DXGKARG_VALIDATEUPDATEALLOCPROPERTY)
WITH_HANDLE_AND_ARGS(validate_submit_command, DXGKARG_VALIDATESUBMITCOMMAND)
WITH_ARGS(acquire_swizzling_range, DXGKARG_ACQUIRESWIZZLINGRANGE)
WITH_ARGS(release_swizzling_range, DXGKARG_RELEASESWIZZLINGRANGE)
WITH_ARGS(map_cpu_host_aperture, DXGKARG_MAPCPUHOSTAPERTURE)
WITH_ARGS(unmap_cpu_host_aperture, DXGKARG_UNMAPCPUHOSTAPERTURE)
WITH_ARGS(set_root_page_table, DXGKARG_SETROOTPAGETABLE)
WITH_ARGS(begin_exclusive_access, DXGKARG_BEGINEXCLUSIVEACCESS)
WITH_ARGS(end_exclusive_access, DXGKARG_ENDEXCLUSIVEACCESS)
WITH_ARGS(exchange_pre_start_info, DXGK_PRE_START_INFO)
WITH_ARGS(escape, DXGKARG_ESCAPE)
BARE(reset_device)
BARE(dpc_routine)
BARE(stop_device)
BARE(remove_device)
BARE(reset_from_timeout)
BARE(restart_from_timeout)

static void call_control_etw_logging(struct ddi_adapter *door)
{
    ddi_control_etw_logging(door, TRUE, 0, 0);
}

static void call_interrupt_routine(struct ddi_adapter *door)
{
    (void)ddi_interrupt_routine(door, 0);
}

static void call_set_power_component_f_state(struct ddi_adapter *door)
{
    (void)ddi_set_power_component_f_state(door, 0, 0, SIM_IRQL_PASSIVE);
}

static void call_power_runtime_control_request(struct ddi_adapter *door)
{
    static const GUID code = {.Data1 = 1};

    (void)ddi_power_runtime_control_request(door, &code, SIM_IRQL_PASSIVE);
}

static void call_notify_surprise_removal(struct ddi_adapter *door)
{
    (void)ddi_notify_surprise_removal(door, DxgkRemovalHibernation);
}

static void call_set_stable_power_state(struct ddi_adapter *door)
{
    ddi_set_stable_power_state(door, TRUE);
}

static void call_get_node_metadata(struct ddi_adapter *door)
{
    DXGKARG_GETNODEMETADATA args = {0};

    (void)ddi_get_node_metadata(door, 0, &args);
}

static void call_link_device(struct ddi_adapter *door)
{
    LINKED_DEVICE linked = {.NumberOfLinksInChain = 1};

    (void)ddi_link_device(door, NULL, &linked);
}

static void query_child(struct ddi_adapter *door, ULONG uid)
{
    DXGK_CHILD_STATUS status = {.ChildUid = uid};

    (void)ddi_query_child_status(door, &status, TRUE);
}

static void describe_child(struct ddi_adapter *door, ULONG uid)
{
    DXGK_DEVICE_DESCRIPTOR descriptor = {0};

    (void)ddi_query_device_descriptor(door, uid, &descriptor);
}

static void call_child_status(struct ddi_adapter *door)
{
    query_child(door, 1);
}

static void call_child_descriptor(struct ddi_adapter *door)
{
    describe_child(door, 1);
}

static void call_other_child_status(struct ddi_adapter *door)
{
    query_child(door, 2);
}

static void call_other_child_descriptor(struct ddi_adapter *door)
{
    describe_child(door, 2);
}

static void call_notify_acpi_event(struct ddi_adapter *door)
{
    ULONG flags = 0;

    (void)ddi_notify_acpi_event(door, DxgkPowerStateEvent, 1, NULL, &flags);
}

static void call_hardware_escape(struct ddi_adapter *door)
{
    DXGKARG_ESCAPE args;

    memset(&args, 0, sizeof(args));
    args.Flags.HardwareAccess = 1;
    (void)ddi_escape(door, &args);
}

static void call_add_device(struct ddi_adapter *door)
{
    PVOID context;

    (void)ddi_add_device(door, NULL, &context);
}

static void call_start_device(struct ddi_adapter *door)
{
    ULONG sources, children;

    (void)ddi_start_device(door, NULL, NULL, &sources, &children);
}

static void call_set_power_state(struct ddi_adapter *door)
{
    (void)ddi_set_power_state(door, 0, PowerDeviceD3, PowerActionSleep);
}

static void call_query_child_relations(struct ddi_adapter *door)
{
    (void)ddi_query_child_relations(door, NULL, 0);
}

#define E(name, group, level, rule, function)                              \
    {                                                                      \
        PROBE_##name, "DxgkDdi" #name, group, level, rule, call_##function \
    }

/* clang-format off */
const struct entry catalogue[] = {
    E(CreateDevice, ZERO, 0, "THREAD-038", create_device),
    E(DestroyDevice, ZERO, 0, "THREAD-038", destroy_device),
    E(CreateContext, ZERO, 0, "THREAD-038", create_context),
    E(DestroyContext, ZERO, 0, "THREAD-038", destroy_context),
    E(CreateAllocation, ZERO, 0, "THREAD-038", create_allocation),
    E(DestroyAllocation, ZERO, 0, "THREAD-038", destroy_allocation),
    E(OpenAllocation, ZERO, 0, "THREAD-038", open_allocation),
    E(CloseAllocation, ZERO, 0, "THREAD-038", close_allocation),
    E(DescribeAllocation, ZERO, 0, "THREAD-038", describe_allocation),
    E(GetStandardAllocationDriverData, ZERO, 0, "THREAD-038", standard_data),
    E(Render, ZERO, 0, "THREAD-038", render),
    E(QueryAdapterInfo, ZERO, 0, "THREAD-038", query_adapter_info),
    E(QueryCurrentFence, ZERO, 0, "THREAD-038", query_current_fence),
    E(ControlEtwLogging, ZERO, 0, "THREAD-038", control_etw_logging),
    E(CollectDbgInfo, EVENT, 0, "THREAD-045/a", collect_dbg_info),
    E(ResetDevice, EVENT, 0, "THREAD-045/b", reset_device),
    E(InterruptRoutine, EVENT, 0, NULL, interrupt_routine), /* where it is called */
    E(DpcRoutine, EVENT, 2, "THREAD-044/a", dpc_routine),
    E(SetPowerComponentFState, ZERO_LATER, 0, "THREAD-046", set_power_component_f_state),
    E(PowerRuntimeControlRequest, ZERO_LATER, 0, "THREAD-046", power_runtime_control_request),
    E(NotifySurpriseRemoval, ZERO_LATER, 0, "THREAD-038", notify_surprise_removal),
    E(CreateProcess, ZERO_OTHER, 0, "THREAD-043", create_process),
    E(DestroyProcess, ZERO_OTHER, 0, "THREAD-043", destroy_process),
    E(SetStablePowerState, ZERO_OTHER, 0, "THREAD-043", set_stable_power_state),
    E(ValidateUpdateAllocationProperty, ZERO_OTHER, 0, "THREAD-043", validate_update_allocation_property),
    E(ValidateSubmitCommand, ZERO_OTHER, 0, "THREAD-043", validate_submit_command),
    E(GetNodeMetadata, ZERO_OTHER, 0, "THREAD-043", get_node_metadata),
    E(LinkDevice, ZERO_OTHER, 0, "THREAD-043", link_device),
    E(ExchangePreStartInfo, ZERO_OTHER, 0, "THREAD-043", exchange_pre_start_info),
    E(Escape, ZERO_OTHER, 0, "THREAD-038", escape),
    E(BuildPagingBuffer, SCHEDULER, 0, "THREAD-038", build_paging_buffer),
    E(Patch, SCHEDULER, 0, "THREAD-038", patch),
    E(SubmitCommand, SCHEDULER, 2, "THREAD-039", submit_command),
    E(PreemptCommand, SCHEDULER, 2, "THREAD-039", preempt_command),
    E(QueryDependentEngineGroup, SCHEDULER, 0, "THREAD-038", query_dependent_engine_group),
    E(QueryEngineStatus, SCHEDULER, 0, "THREAD-038", query_engine_status),
    E(ResetEngine, SCHEDULER, 0, "THREAD-038", reset_engine),
    E(SubmitCommandVirtual, SCHEDULER_LATER, 0, "THREAD-042/a", submit_command_virtual),
    E(CancelCommand, SCHEDULER_LATER, 0, "THREAD-038", cancel_command),
    E(GetRootPageTableSize, VIDMM, 0, "THREAD-043", get_root_page_table_size),
    E(SetAllocationBackingStore, VIDMM, 0, "THREAD-038", set_allocation_backing_store),
    E(AcquireSwizzlingRange, SWIZZLING, 0, "THREAD-038", acquire_swizzling_range),
    E(ReleaseSwizzlingRange, SWIZZLING, 0, "THREAD-038", release_swizzling_range),
    E(MapCpuHostAperture, VIDMM, 0, "THREAD-043", map_cpu_host_aperture),
    E(UnmapCpuHostAperture, VIDMM, 0, "THREAD-043", unmap_cpu_host_aperture),
    E(SetRootPageTable, ROOT, 0, "THREAD-043", set_root_page_table),
    E(QueryChildStatus, CHILD_ONE, 0, "THREAD-038", child_status),
    E(QueryDeviceDescriptor, CHILD_ONE, 0, "THREAD-038", child_descriptor),
    E(QueryChildStatus, CHILD_TWO, 0, "THREAD-038", other_child_status),
    E(QueryDeviceDescriptor, CHILD_TWO, 0, "THREAD-038", other_child_descriptor),
    E(NotifyAcpiEvent, TWO, 0, "THREAD-038", notify_acpi_event),
    E(Escape, TWO, 0, "THREAD-038", hardware_escape),
    E(AddDevice, THREE, 0, "THREAD-038", add_device),
    E(StartDevice, THREE, 0, "THREAD-038", start_device),
    E(StopDevice, THREE, 0, "THREAD-038", stop_device),
    E(RemoveDevice, THREE, 0, "THREAD-038", remove_device),
    E(SetPowerState, THREE, 0, "THREAD-038", set_power_state),
    E(QueryChildRelations, THREE, 0, "THREAD-038", query_child_relations),
    E(ResetFromTimeout, THREE, 0, "THREAD-038", reset_from_timeout),
    E(RestartFromTimeout, THREE, 0, "THREAD-038", restart_from_timeout),
    E(BeginExclusiveAccess, EXCLUSIVE, 0, "THREAD-043", begin_exclusive_access),
    E(EndExclusiveAccess, EXCLUSIVE, 0, "THREAD-043", end_exclusive_access),
};
/* clang-format on */
const size_t catalogue_count = sizeof(catalogue) / sizeof(catalogue[0]);

void catalogue_provide(struct probe *p)
{
    struct ddi_adapter *door = port_adapter_ddi(p->adapter[0]);

    /* not before the start: a driver that has them all has to fit them */
    for (size_t i = 0; i < catalogue_count; i++)
        probe_set_entry(p, catalogue[i].ddi, true);
    door->table = p->table;
}

const struct entry *catalogue_find(enum probe_ddi ddi)
{
    for (size_t i = 0; i < catalogue_count; i++)
        if (catalogue[i].ddi == ddi)
            return &catalogue[i];
    fail_msg("no such entry");
    return NULL;
}
