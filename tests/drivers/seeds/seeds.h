/* SPDX-License-Identifier: MIT */
/*
 * The test driver "seeds": it looks at what the host gives it and compares it with what it worked out by itself.
 *
 *   entry.c       registration, start, stop, power, exclusive access
 *   caps.c        capability queries
 *   object.c      processes, devices, contexts;  allocation.c  allocations
 *   render.c      a client's commands to a DMA buffer, and what Patch will be held to
 *   patch.c       Patch: the probes, and the patching;  location.c  the lists
 *   submit.c      SubmitCommand, preemption, interrupts;  recovery.c  timeouts
 *   paging.c      paging buffers;  mmu.c  page tables and virtual paging
 *   escape.c      services for workloads;  memory.c, object_memory.c, context_memory.c  the callbacks that they ask for
 *   result.c      what the probes came to
 *
 * It is built once for each interface version (SEEDS_VERSION), as drivers are; the rest of its behaviour is read from the
 * device (SEEDS_REG_CONFIG).
 */
#ifndef SEEDS_H
#define SEEDS_H

#include <ntddk.h>

#ifndef DXGKDDI_INTERFACE_VERSION
#define DXGKDDI_INTERFACE_VERSION DXGKDDI_INTERFACE_VERSION_WDDM2_9
#endif
#include <dispmprt.h>
#include <dxgk_seh.h>

#include "probes.h"
#include "seeds_hw.h"

#define SEEDS_2_0 (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_0)
#define SEEDS_2_9 (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_9)

#define SEEDS_TAG              0x64656553u /* "Seed" */
#define SEEDS_SEGMENT_VRAM     1u
#define SEEDS_SEGMENT_APERTURE 2u
#define SEEDS_DMA_BYTES        0x1800u /* no whole number of pages */
#define SEEDS_PAGING_BYTES     0x8000u
#define SEEDS_LIST             16u /* allocations */
#define SEEDS_LOCATIONS        96u /* patch locations */
#define SEEDS_SLOTS            2u  /* 0: destination, 1: source */
#define SEEDS_COMMAND          ((ULONG)sizeof(struct seeds_command))
#define SEEDS_COMMANDS         (SEEDS_DMA_BYTES / SEEDS_COMMAND)
#define SEEDS_BUFFERS          64u
#define SEEDS_PATCHES          128u
#define SEEDS_BUILDS           256u

struct seeds_adapter;

struct seeds_result {
    ULONG passed, failed;
    const char *text; /* of the first failure, else of the last pass; NULL: never made */
    ULONGLONG value[4];
};

struct seeds_node {
    ULONG submitted, completed; /* last fences; under the interrupt lock */
    ULONG preemption;           /* fence asked for; 0: none */
    ULONG faulted;
    ULONG last_patched; /* fence */
};

/* What a slot is bound to. */
struct seeds_slot {
    ULONG element; /* of the allocation list; 0: nothing */
    ULONGLONG address;
};

/* A part of a DMA buffer that was patched, and the slots at its beginning. */
struct seeds_portion {
    ULONG start, end, first, fence;
    struct seeds_slot slot[SEEDS_SLOTS];
};

/* A DMA buffer between its Render and its last portion. */
struct seeds_buffer {
    PUCHAR start, private_start; /* start NULL: free */
    ULONG capacity, private_bytes, used, private_used;
    HANDLE owner; /* hContext, or hDevice */
    ULONG node;
    ULONG generation;
    ULONG allocations, locations;
    DXGK_ALLOCATIONLIST allocation[SEEDS_LIST]; /* as Render saw it */
    D3DDDI_PATCHLOCATIONLIST location[SEEDS_LOCATIONS];
    ULONG offset[SEEDS_COMMANDS][SEEDS_SLOTS]; /* of the operands in their allocations */
    struct seeds_slot slot[SEEDS_SLOTS];       /* after the last portion */
    ULONG next_start, next_location;           /* of the portion to come */
    ULONG portions;
    struct seeds_portion portion[SEEDS_LOCATIONS];
    BOOLEAN live, patched;
};

/* A Patch that has not been submitted yet. */
struct seeds_patch {
    BOOLEAN live;
    DXGKARG_PATCH args;
    ULONG sum;
};

/* What one BuildPagingBuffer wrote. */
struct seeds_build {
    PUCHAR from, to, private_from, private_to; /* from NULL: free */
};

/* The last update of a page of GPU virtual addresses. */
struct seeds_page {
    ULONGLONG va, protection, entry;
};
#define SEEDS_PAGES 512u

struct seeds_init {
    HANDLE allocation;
    ULONG pages, times, segment;
    ULONGLONG address, gpu_address;
    PVOID cpu;
};
#define SEEDS_INITS 64u

/* MiniportDeviceContext */
struct seeds_adapter {
    const VOID *self; /* is it the one? */
    DXGKRNL_INTERFACE dxgk;
    PUCHAR registers; /* NULL: not started */
    PHYSICAL_ADDRESS register_bus, vram_bus;
    SIZE_T vram_bytes;
    ULONG config;
    struct seeds_node node[SEEDS_ENGINES];
    KSPIN_LOCK lock; /* of the peek registers and the results */
    volatile LONG in_class;
    HANDLE system_context;
    ULONG generation, expect_flags, expect_power;
    volatile LONG moved;
    struct seeds_result result[SEEDS_PROBE_COUNT];
    struct seeds_buffer buffer[SEEDS_BUFFERS];
    struct seeds_patch patch[SEEDS_PATCHES];
    ULONG next_patch;
    struct seeds_build build[SEEDS_BUILDS];
    ULONG next_build;
    struct seeds_page page[SEEDS_PAGES];
    ULONG next_page;
    struct seeds_init init[SEEDS_INITS];
    ULONG inits;
    ULONG update_bytes, update_calls;
    ULONGLONG update_word, update_size;
};

struct seeds_allocation {
    struct seeds_allocation_data data;
};

/* hDevice and hContext. */
struct seeds_context {
    struct seeds_adapter *adapter;
    HANDLE dxgk_device, dxgk_context;
    ULONG node;
    BOOLEAN is_virtual;
    ULONGLONG root; /* device address */
};

/* What DxgkCbUpdateContextAllocation carries to its operation. */
struct seeds_update {
    ULONGLONG offset, value;
};

static inline ULONG seeds_read(const struct seeds_adapter *adapter, ULONG reg)
{
    return READ_REGISTER_ULONG((volatile ULONG *)(PVOID)(adapter->registers + reg));
}

static inline void seeds_write(const struct seeds_adapter *adapter, ULONG reg, ULONG value)
{
    WRITE_REGISTER_ULONG((volatile ULONG *)(PVOID)(adapter->registers + reg), value);
}

static inline BOOLEAN seeds_later(ULONG fence, ULONG than)
{
    return (LONG)(fence - than) > 0;
}

/* ---- helpers across files ---- */

PVOID seeds_allocate(SIZE_T bytes); /* zeroed, nonpaged */
void seeds_free(PVOID memory);

/* A probe is made: passed or failed, with a sentence in which Lua's string.format finds the values. Up to DISPATCH_LEVEL. */
BOOLEAN seeds_check(struct seeds_adapter *adapter, enum seeds_probe probe, BOOLEAN good,
                    const char *text, ULONGLONG a, ULONGLONG b, ULONGLONG c, ULONGLONG d);
void seeds_result(struct seeds_adapter *adapter, struct seeds_escape *e);

/* The device reads or writes 8 bytes by itself. FALSE: it cannot. */
BOOLEAN seeds_peek(struct seeds_adapter *adapter, ULONG how, ULONGLONG root, ULONGLONG address,
                   ULONGLONG *value);
/* What the device calls an address that the host gave: segment 0 is the bus. */
ULONGLONG seeds_device_address(UINT segment, ULONGLONG address);
void seeds_hardware_start(struct seeds_adapter *adapter);

/* One routine of the GPU scheduler class is entered, and left. FALSE: another one is inside. */
BOOLEAN seeds_enter_class(struct seeds_adapter *adapter);
void seeds_leave_class(struct seeds_adapter *adapter);

struct seeds_buffer *seeds_find_buffer(struct seeds_adapter *adapter, const VOID *start);
void seeds_settle(struct seeds_adapter *adapter);
ULONG seeds_sum(const VOID *bytes, ULONG count);
void seeds_check_lists(struct seeds_adapter *adapter, const struct seeds_buffer *buffer,
                       const DXGKARG_PATCH *args);
void seeds_check_paging(struct seeds_adapter *adapter, const DXGKARG_PATCH *args);
void seeds_check_submit(struct seeds_adapter *adapter, const DXGKARG_SUBMITCOMMAND *args);

/* Room for one paging command; NULL: none. */
struct seeds_emitter {
    struct seeds_command *at;
    ULONG room; /* commands */
};
struct seeds_command *seeds_emit(struct seeds_emitter *emitter, ULONG op, ULONGLONG dst,
                                 ULONG bytes);
/* What is known of a context allocation; a new entry for a handle that is not known. */
struct seeds_init *seeds_context_allocation(struct seeds_adapter *adapter, HANDLE allocation);
NTSTATUS seeds_build_virtual(struct seeds_adapter *adapter, DXGKARG_BUILDPAGINGBUFFER *args,
                             struct seeds_emitter *emitter);

void seeds_memory_service(struct seeds_adapter *adapter, struct seeds_escape *e);
void seeds_object_service(struct seeds_adapter *adapter, struct seeds_escape *e);
void seeds_context_service(struct seeds_adapter *adapter, struct seeds_context *context,
                           struct seeds_context *device, struct seeds_escape *e);

/* ---- entry points ---- */

DRIVER_INITIALIZE DriverEntry;
DXGKDDI_ADD_DEVICE SeedsAddDevice;
DXGKDDI_START_DEVICE SeedsStartDevice;
DXGKDDI_STOP_DEVICE SeedsStopDevice;
DXGKDDI_REMOVE_DEVICE SeedsRemoveDevice;
DXGKDDI_UNLOAD SeedsUnload;
DXGKDDI_SET_POWER_STATE SeedsSetPowerState;
DXGKDDI_RESET_DEVICE SeedsResetDevice;
DXGKDDI_QUERYADAPTERINFO SeedsQueryAdapterInfo;
DXGKDDI_CREATEDEVICE SeedsCreateDevice;
DXGKDDI_DESTROYDEVICE SeedsDestroyDevice;
DXGKDDI_CREATECONTEXT SeedsCreateContext;
DXGKDDI_DESTROYCONTEXT SeedsDestroyContext;
DXGKDDI_CREATEALLOCATION SeedsCreateAllocation;
DXGKDDI_DESTROYALLOCATION SeedsDestroyAllocation;
DXGKDDI_DESCRIBEALLOCATION SeedsDescribeAllocation;
DXGKDDI_GETSTANDARDALLOCATIONDRIVERDATA SeedsGetStandardAllocationDriverData;
DXGKDDI_OPENALLOCATIONINFO SeedsOpenAllocation;
DXGKDDI_CLOSEALLOCATION SeedsCloseAllocation;
DXGKDDI_BUILDPAGINGBUFFER SeedsBuildPagingBuffer;
DXGKDDI_RENDER SeedsRender;
DXGKDDI_PATCH SeedsPatch;
DXGKDDI_SUBMITCOMMAND SeedsSubmitCommand;
DXGKDDI_PREEMPTCOMMAND SeedsPreemptCommand;
DXGKDDI_QUERYCURRENTFENCE SeedsQueryCurrentFence;
DXGKDDI_INTERRUPT_ROUTINE SeedsInterruptRoutine;
DXGKDDI_DPC_ROUTINE SeedsDpcRoutine;
DXGKDDI_QUERYDEPENDENTENGINEGROUP SeedsQueryDependentEngineGroup;
DXGKDDI_QUERYENGINESTATUS SeedsQueryEngineStatus;
DXGKDDI_RESETENGINE SeedsResetEngine;
DXGKDDI_RESETFROMTIMEOUT SeedsResetFromTimeout;
DXGKDDI_RESTARTFROMTIMEOUT SeedsRestartFromTimeout;
DXGKDDI_COLLECTDBGINFO SeedsCollectDbgInfo;
DXGKDDI_ESCAPE SeedsEscape;
#if SEEDS_2_0
DXGKDDI_GETNODEMETADATA SeedsGetNodeMetadata;
DXGKDDI_CREATEPROCESS SeedsCreateProcess;
DXGKDDI_DESTROYPROCESS SeedsDestroyProcess;
DXGKDDI_SETROOTPAGETABLE SeedsSetRootPageTable;
DXGKDDI_GETROOTPAGETABLESIZE SeedsGetRootPageTableSize;
DXGKDDI_SUBMITCOMMANDVIRTUAL SeedsSubmitCommandVirtual;
#endif
#if SEEDS_2_9
DXGKDDI_BEGINEXCLUSIVEACCESS SeedsBeginExclusiveAccess;
DXGKDDI_ENDEXCLUSIVEACCESS SeedsEndExclusiveAccess;
#endif

#endif
