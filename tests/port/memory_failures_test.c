/* SPDX-License-Identifier: MIT */
/* What the argument of a memory callback holds when the call has failed, for each callback and each way to fail (PHYS-018). */
#include "port/support/memory_calls.h"
#include "sim/sim.h"

#define GARBAGE   ((PVOID)(uintptr_t)0x5A5A5A5A5A5Aull)
#define NO_FIELD  SIZE_MAX
#define ROWS      (sizeof(rows) / sizeof(rows[0]))
#define BYTES     8192u
#define HOST_ONLY ((HANDLE)(uintptr_t)0x77770000) /* no handle of anything */

struct map_memory {
    PHYSICAL_ADDRESS at;
    ULONG length;
    PVOID mapped;
};

union arguments {
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block;
    DXGKARGCB_ALLOCATEPAGESFORMDL pages;
    DXGKARGCB_MAPMDLTOIOMMU mdl;
    DXGKARGCB_PINFRAMEBUFFERFORSAVE pin;
    DXGKARGCB_PINFRAMEBUFFERFORSAVE2 pin2;
    DXGKARGCB_MAPFRAMEBUFFERPOINTER frame;
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT create;
    DXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT open;
    DXGKARGCB_MAP_PHYSICAL_MEMORY map;
    DXGKARGCB_ALLOCATE_ADL adl;
    struct map_memory device;
};

/* What the calls need to succeed. */
static struct {
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT object, closed;
    DXGKARGCB_ALLOCATEPAGESFORMDL pages;
    PHYSICAL_ADDRESS memory; /* of the device; its list is gone after the stop */
} given;

/* ---- the calls: good arguments, the call, how to undo it, bad arguments ---- */

static void good_block(struct probe *p, union arguments *a)
{
    (void)p;
    a->block = (DXGKARGCB_ALLOCATECONTIGUOUSMEMORY){.NumberOfBytes = BYTES,
                                                    .HighestAcceptableAddress.QuadPart = ALL_RAM,
                                                    .CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED,
                                                    .hMemoryHandle = GARBAGE,
                                                    .pMemory = GARBAGE};
}

static NTSTATUS call_block(struct probe *p, HANDLE h, union arguments *a)
{
    return DXGK.DxgkCbAllocateContiguousMemory(h, &a->block);
}

static void undo_block(struct probe *p, union arguments *a)
{
    CHECK(IS(free_block(p, a->block.hMemoryHandle), STATUS_SUCCESS));
}

static void bad_block(union arguments *a)
{
    a->block.CacheType = (DXGK_MEMORY_CACHING_TYPE)3;
}

static void good_pages(struct probe *p, union arguments *a)
{
    (void)p;
    a->pages = (DXGKARGCB_ALLOCATEPAGESFORMDL){.TotalBytes = BYTES,
                                               .HighAddress.QuadPart = ALL_RAM,
                                               .CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED,
                                               .hMemoryHandle = GARBAGE,
                                               .pMdl = GARBAGE};
}

static NTSTATUS call_pages(struct probe *p, HANDLE h, union arguments *a)
{
    return DXGK.DxgkCbAllocatePagesForMdl(h, &a->pages);
}

static void undo_pages(struct probe *p, union arguments *a)
{
    CHECK(IS(free_pages(p, a->pages.hMemoryHandle), STATUS_SUCCESS));
}

static void bad_pages(union arguments *a)
{
    a->pages.TotalBytes = 0;
}

static void good_mdl(struct probe *p, union arguments *a)
{
    (void)p;
    a->mdl = (DXGKARGCB_MAPMDLTOIOMMU){.pMdl = given.pages.pMdl, .hMemoryHandle = GARBAGE};
}

static NTSTATUS call_mdl(struct probe *p, HANDLE h, union arguments *a)
{
    return DXGK.DxgkCbMapMdlToIoMmu(h, &a->mdl);
}

static void undo_mdl(struct probe *p, union arguments *a)
{
    DXGKARGCB_UNMAPMDLFROMIOMMU undo = {.hMemoryHandle = a->mdl.hMemoryHandle};

    DXGK.DxgkCbUnmapMdlFromIoMmu(DXGK.DeviceHandle, &undo);
}

static void bad_mdl(union arguments *a)
{
    a->mdl.pMdl = NULL;
}

static void good_pin(struct probe *p, union arguments *a)
{
    (void)p;
    a->pin = (DXGKARGCB_PINFRAMEBUFFERFORSAVE){.CommitSize = BYTES, .pMdl = GARBAGE};
}

static NTSTATUS call_pin(struct probe *p, HANDLE h, union arguments *a)
{
    return DXGK.DxgkCbPinFrameBufferForSave(h, &a->pin);
}

static void undo_pin(struct probe *p, union arguments *a)
{
    DXGKARGCB_UNPINFRAMEBUFFERFORSAVE undo = {0};

    (void)a;
    CHECK(IS(DXGK.DxgkCbUnpinFrameBufferForSave(DXGK.DeviceHandle, &undo), STATUS_SUCCESS));
}

static void bad_pin(union arguments *a)
{
    a->pin.PhysicalAdapterIndex = 7;
}

static void good_pin2(struct probe *p, union arguments *a)
{
    (void)p;
    a->pin2 = (DXGKARGCB_PINFRAMEBUFFERFORSAVE2){.CommitSize = BYTES, .pAdl = GARBAGE};
}

static NTSTATUS call_pin2(struct probe *p, HANDLE h, union arguments *a)
{
    return DXGK.DxgkCbPinFrameBufferForSave2(h, &a->pin2);
}

static void undo_pin2(struct probe *p, union arguments *a)
{
    undo_pin(p, a);
}

static void bad_pin2(union arguments *a)
{
    a->pin2.Flags.Value = 2;
}

static void good_frame(struct probe *p, union arguments *a)
{
    (void)p;
    a->frame = (DXGKARGCB_MAPFRAMEBUFFERPOINTER){
        .Size = 4096, .Offset = 4096, .pBaseAddress = GARBAGE};
}

static NTSTATUS call_frame(struct probe *p, HANDLE h, union arguments *a)
{
    return DXGK.DxgkCbMapFrameBufferPointer(h, &a->frame);
}

static void undo_frame(struct probe *p, union arguments *a)
{
    DXGKARGCB_UNMAPFRAMEBUFFERPOINTER undo = {.pBaseAddress = a->frame.pBaseAddress};

    CHECK(IS(DXGK.DxgkCbUnmapFrameBufferPointer(DXGK.DeviceHandle, &undo), STATUS_SUCCESS));
}

static void bad_frame(union arguments *a)
{
    a->frame.Offset = 1;
}

static void good_create(struct probe *p, union arguments *a)
{
    a->create = (DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT){
        .hAdapter = DXGK.DeviceHandle,
        .Size = BYTES,
        .Type = DXGK_PHYSICAL_MEMORY_TYPE_MDL,
        .CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED,
        .hPhysicalMemoryObject = GARBAGE,
        .hAdapterMemoryObject = GARBAGE,
    };
    a->create.Mdl.HighAddress.QuadPart = ALL_RAM;
}

static NTSTATUS call_create(struct probe *p, HANDLE h, union arguments *a)
{
    a->create.hAdapter = h;
    return DXGK.DxgkCbCreatePhysicalMemoryObject(&a->create);
}

static void undo_create(struct probe *p, union arguments *a)
{
    destroy_object(p, &a->create);
}

static void bad_create(union arguments *a)
{
    a->create.Type = (DXGK_PHYSICAL_MEMORY_TYPE)99;
}

static void good_open(struct probe *p, union arguments *a)
{
    a->open = (DXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT){
        .hAdapter = DXGK.DeviceHandle,
        .hPhysicalMemoryObject = given.closed.hPhysicalMemoryObject,
        .hAdapterMemoryObject = GARBAGE};
}

static NTSTATUS call_open(struct probe *p, HANDLE h, union arguments *a)
{
    a->open.hAdapter = h;
    return DXGK.DxgkCbOpenPhysicalMemoryObject(&a->open);
}

static void undo_open(struct probe *p, union arguments *a)
{
    DXGKARGCB_CLOSE_PHYSICAL_MEMORY_OBJECT undo = {
        .hAdapterMemoryObject = a->open.hAdapterMemoryObject};

    DXGK.DxgkCbClosePhysicalMemoryObject(&undo);
}

static void bad_open(union arguments *a)
{
    a->open.hPhysicalMemoryObject = HOST_ONLY;
}

static void good_map(struct probe *p, union arguments *a)
{
    (void)p;
    a->map = (DXGKARGCB_MAP_PHYSICAL_MEMORY){
        .hPhysicalMemoryObject = given.object.hPhysicalMemoryObject,
        .Offset = 0x123,
        .Size = 77,
        .pMappedAddress = GARBAGE};
}

/* Without an adapter, the handle is that of the object. */
static NTSTATUS call_map(struct probe *p, HANDLE h, union arguments *a)
{
    if (h != DXGK.DeviceHandle)
        a->map.hPhysicalMemoryObject = h;
    return DXGK.DxgkCbMapPhysicalMemory(&a->map);
}

static void undo_map(struct probe *p, union arguments *a)
{
    DXGKARGCB_UNMAP_PHYSICAL_MEMORY undo = {.hPhysicalMemoryObject = a->map.hPhysicalMemoryObject,
                                            .pBaseAddress = a->map.pMappedAddress,
                                            .Size = a->map.Size};

    DXGK.DxgkCbUnmapPhysicalMemory(&undo);
}

static void bad_map(union arguments *a)
{
    a->map.AccessMode = (DXGK_ACCESS_MODE)2;
}

static void good_adl(struct probe *p, union arguments *a)
{
    (void)p;
    a->adl = (DXGKARGCB_ALLOCATE_ADL){
        .hAdapterMemoryObject = given.object.hAdapterMemoryObject, .Size = BYTES, .pAdl = GARBAGE};
}

static NTSTATUS call_adl(struct probe *p, HANDLE h, union arguments *a)
{
    if (h != DXGK.DeviceHandle)
        a->adl.hAdapterMemoryObject = h;
    return DXGK.DxgkCbAllocateAdl(&a->adl);
}

static void undo_adl(struct probe *p, union arguments *a)
{
    free_adl(p, a->adl.hAdapterMemoryObject, a->adl.pAdl);
}

static void bad_adl(union arguments *a)
{
    a->adl.Offset = 1;
}

static void good_device(struct probe *p, union arguments *a)
{
    (void)p;
    a->device = (struct map_memory){.at = given.memory, .length = 4096, .mapped = GARBAGE};
}

static NTSTATUS call_device(struct probe *p, HANDLE h, union arguments *a)
{
    return DXGK.DxgkCbMapMemory(h, a->device.at, a->device.length, FALSE, FALSE, MmNonCached,
                                &a->device.mapped);
}

static void undo_device(struct probe *p, union arguments *a)
{
    CHECK(IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, a->device.mapped), STATUS_SUCCESS));
}

static void bad_device(union arguments *a)
{
    a->device.length = 0;
}

enum {
    BY_OBJECT = 1,  /* names an object, no adapter */
    WITHOUT = 2,    /* hAdapter may be NULL */
    REFUSED = 4,    /* at DISPATCH_LEVEL; the others are reported and carried out */
    AFTER_STOP = 8, /* needs no adapter */
};

static const struct row {
    const char *name;
    void (*good)(struct probe *p, union arguments *a);
    NTSTATUS (*call)(struct probe *p, HANDLE h, union arguments *a);
    void (*undo)(struct probe *p, union arguments *a);
    void (*bad)(union arguments *a);
    size_t out[2];
    unsigned flags;
} rows[] = {
#define AT(member, field) offsetof(union arguments, member.field)
#define ROW(which, flags, first, second)                                                       \
    {                                                                                          \
#which, good_##which, call_##which, undo_##which, bad_##which, {first, second }, flags \
    }
    ROW(block, 0, AT(block, hMemoryHandle), AT(block, pMemory)),
    ROW(pages, 0, AT(pages, hMemoryHandle), AT(pages, pMdl)),
    ROW(mdl, 0, AT(mdl, hMemoryHandle), NO_FIELD),
    ROW(pin, 0, AT(pin, pMdl), NO_FIELD),
    ROW(pin2, 0, AT(pin2, pAdl), NO_FIELD),
    ROW(frame, 0, AT(frame, pBaseAddress), NO_FIELD),
    ROW(create, WITHOUT, AT(create, hPhysicalMemoryObject), AT(create, hAdapterMemoryObject)),
    ROW(open, 0, AT(open, hAdapterMemoryObject), NO_FIELD),
    ROW(map, BY_OBJECT | AFTER_STOP, AT(map, pMappedAddress), NO_FIELD),
    ROW(adl, BY_OBJECT, AT(adl, pAdl), NO_FIELD),
    ROW(device, REFUSED, AT(device, mapped), NO_FIELD),
};

/* ---- what is looked at ---- */

static PVOID field(const union arguments *a, size_t at)
{
    PVOID value;

    memcpy(&value, (const char *)a + at, sizeof(value));
    return value;
}

/* The call, and whether its argument is as it must be: after a failure NULL where something comes back, and as it was
 * elsewhere. */
static NTSTATUS checked(struct probe *p, const struct row *row, HANDLE h, union arguments *a,
                        const char *how)
{
    union arguments before, after = *a;
    NTSTATUS status = row->call(p, h, &after);
    bool right = true;

    /* What the call itself has put in as handle is no change. */
    before = *a;
    if (row->call == call_create)
        before.create.hAdapter = h;
    else if (row->call == call_open)
        before.open.hAdapter = h;
    else if (row->call == call_map)
        before.map.hPhysicalMemoryObject = after.map.hPhysicalMemoryObject;
    else if (row->call == call_adl)
        before.adl.hAdapterMemoryObject = after.adl.hAdapterMemoryObject;
    for (unsigned i = 0; i < 2 && !NT_SUCCESS(status); i++) {
        if (row->out[i] == NO_FIELD)
            continue;
        right = right && field(&after, row->out[i]) == NULL;
        memcpy((char *)&before + row->out[i], (const char *)&after + row->out[i], sizeof(PVOID));
    }
    if (!NT_SUCCESS(status))
        right = right && memcmp(&before, &after, sizeof(after)) == 0;
    if (!right)
        print_message("%s: %s\n", row->name, how);
    CHECK_RULE("PHYS-018", right);
    *a = after;
    return status;
}

static void fails(struct probe *p, const struct row *row, HANDLE h,
                  void (*spoil)(union arguments *), NTSTATUS wanted, const char *how)
{
    size_t before = held(p);
    union arguments a;
    NTSTATUS status;

    memset(&a, 0, sizeof(a));
    row->good(p, &a);
    if (spoil)
        spoil(&a);
    status = checked(p, row, h, &a, how);
    if (wanted ? status != wanted : NT_SUCCESS(status))
        print_message("%s: %s: status 0x%x\n", row->name, how, (unsigned)status);
    CHECK_RULE("PHYS-018", wanted ? IS(status, wanted) : !NT_SUCCESS(status));
    CHECK_RULE("PHYS-018", held(p) == before);
}

static void prepare(struct probe *p)
{
    DXGKARGCB_CLOSE_PHYSICAL_MEMORY_OBJECT close;

    given.memory = probe_bar(p, 1);
    given.object = make_object(p, BYTES);
    given.closed = make_object(p, BYTES);
    given.pages = make_pages(p, BYTES, DXGK_MEMORY_CACHING_TYPE_CACHED);
    close.hAdapterMemoryObject = given.closed.hAdapterMemoryObject;
    DXGK.DxgkCbClosePhysicalMemoryObject(&close);
    given.closed.hAdapterMemoryObject = NULL;
}

static void release(struct probe *p)
{
    destroy_object(p, &given.object);
    destroy_object(p, &given.closed);
    CHECK(IS(free_pages(p, given.pages.hMemoryHandle), STATUS_SUCCESS));
}

static struct probe *start_saving(void)
{
    struct probe *p = probe_create(NULL);

    p->save_bytes = 4 * 4096;
    CHECK(NT_SUCCESS(probe_start(p)));
    return p;
}

/* ---- the ways ---- */

static void handles_and_arguments(struct probe *p)
{
    prepare(p);
    for (size_t i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        NTSTATUS handle = (row->flags & BY_OBJECT) ? STATUS_INVALID_HANDLE
                                                   : STATUS_INVALID_PARAMETER;

        fails(p, row, A->context, NULL, handle, "the miniport's own context");
        fails(p, row, HOST_ONLY, NULL, handle, "no handle");
        if (!(row->flags & WITHOUT))
            fails(p, row, NULL, NULL, handle, "a NULL handle");
        fails(p, row, DXGK.DeviceHandle, row->bad, 0, "a bad argument");
    }
    release(p);
}

static void each_request(struct probe *p, const struct row *row)
{
    NTSTATUS status = STATUS_UNSUCCESSFUL;

    for (uint64_t n = 1; !NT_SUCCESS(status); n++) {
        uint64_t pages = ram_free_pages(p->ram);
        size_t before = held(p);
        union arguments a;

        memset(&a, 0, sizeof(a));
        row->good(p, &a);
        p->sim->heap.fail_at = p->sim->heap.requests + n;
        status = checked(p, row, DXGK.DeviceHandle, &a, "no memory");
        p->sim->heap.fail_at = 0;
        if (NT_SUCCESS(status))
            row->undo(p, &a);
        CHECK_RULE("PHYS-018", held(p) == before && ram_free_pages(p->ram) == pages);
        CHECK(n < 100);
    }
}

static void shortage(struct probe *p)
{
    prepare(p);
    for (size_t i = 0; i < ROWS; i++)
        each_request(p, &rows[i]);
    release(p);
}

/* Below WDDM 3.2: reported and done, and the same of what undoes it. */
static void carried_out(struct probe *p, const struct row *row)
{
    uint64_t reports = probe_rule(p, "THREAD-049");
    size_t before = held(p);
    union arguments a;
    NTSTATUS status;
    KIRQL level;

    memset(&a, 0, sizeof(a));
    row->good(p, &a);
    KeRaiseIrql(DISPATCH_LEVEL, &level);
    status = row->call(p, DXGK.DeviceHandle, &a);
    KeLowerIrql(level);
    CHECK_RULE("PHYS-013", IS(status, STATUS_SUCCESS) && probe_rule(p, "THREAD-049") == reports + 1);
    KeRaiseIrql(DISPATCH_LEVEL, &level);
    row->undo(p, &a);
    KeLowerIrql(level);
    CHECK_RULE("PHYS-013", probe_rule(p, "THREAD-049") == reports + 2 && held(p) == before);
}

static void at_dispatch_level(struct probe *p)
{
    KIRQL level;

    prepare(p);
    for (size_t i = 0; i < ROWS; i++) {
        if (!(rows[i].flags & REFUSED)) {
            carried_out(p, &rows[i]);
            continue;
        }
        KeRaiseIrql(DISPATCH_LEVEL, &level);
        fails(p, &rows[i], DXGK.DeviceHandle, NULL, STATUS_INVALID_DEVICE_REQUEST,
              "at DISPATCH_LEVEL");
        KeLowerIrql(level);
    }
    release(p);
}

TEST(each_failing_call_clears_its_output)
{
    probe_end(start_saving(), handles_and_arguments);
    probe_end(start_saving(), shortage);
    probe_end(start_saving(), at_dispatch_level);
}

static unsigned calls_made;

static void in_the_isr(struct probe *p, struct probe_call *call)
{
    uint64_t before = probe_rule(p, "THREAD-060");

    (void)call;
    p->before[PROBE_InterruptRoutine] = NULL;
    for (size_t i = 0; i < ROWS; i++, calls_made++)
        fails(p, &rows[i], DXGK.DeviceHandle, NULL, STATUS_INVALID_DEVICE_REQUEST, "in the ISR");
    CHECK_RULE("THREAD-060", probe_rule(p, "THREAD-060") == before + ROWS);
}

static void interrupt(struct probe *p)
{
    prepare(p);
    calls_made = 0;
    p->before[PROBE_InterruptRoutine] = in_the_isr;
    probe_device_cause(0, PROBE_CAUSE_TEST, 0);
    probe_sleep(1000000);
    CHECK_RULE("THREAD-060", calls_made == ROWS);
    release(p);
}

TEST(calls_in_the_isr_clear_their_output)
{
    probe_end(start_saving(), interrupt);
}

static void after_stop(struct probe *p, struct probe_call *call)
{
    (void)call;
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].flags & AFTER_STOP)
            continue;
        fails(p, &rows[i], DXGK.DeviceHandle, NULL, STATUS_INVALID_DEVICE_STATE,
              "of a stopped adapter");
        calls_made++;
    }
    release(p);
}

static void prepare_late(struct probe *p, struct probe_call *call)
{
    (void)call;
    prepare(p);
}

/* DxgkDdiStopDevice has returned; what is left there is reported, fatally for adapter objects (PHYS-143). */
TEST(calls_after_the_stop_clear_their_output)
{
    struct probe *p = start_saving();

    calls_made = 0;
    verify_set_severity(p->log, "PHYS-143", VERIFY_WARNING);
    p->before[PROBE_StopDevice] = prepare_late;
    p->before[PROBE_RemoveDevice] = after_stop;
    (void)probe_stop(p);
    CHECK_RULE("PHYS-018", calls_made == ROWS - 1);
    probe_destroy(p);
}

static void stop_here(struct probe *p)
{
    prepare(p);
    KeBugCheckEx(0xE2, 0, 0, 0, 0);
}

TEST(calls_of_a_stopped_machine_clear_their_output)
{
    struct probe *p = start_saving();

    CHECK(probe_run(p, stop_here) == SIM_STOPPED);
    for (size_t i = 0; i < ROWS; i++)
        fails(p, &rows[i], DXGK.DeviceHandle, NULL, STATUS_DEVICE_REMOVED, "of a stopped machine");
    probe_destroy(p);
}

/* An argument that is nowhere is nobody's to clear, and a NULL one is none. */
static void nowhere(struct probe *p)
{
    CHECK_RULE("PHYS-018",
               IS(DXGK.DxgkCbAllocateContiguousMemory(HOST_ONLY, NULL), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PHYS-018", IS(DXGK.DxgkCbAllocatePagesForMdl(
                                  HOST_ONLY, (DXGKARGCB_ALLOCATEPAGESFORMDL *)(uintptr_t)0x10),
                              STATUS_INVALID_PARAMETER));
    CHECK_RULE("PHYS-018", IS(DXGK.DxgkCbMapMemory(HOST_ONLY, probe_bar(p, 1), 4096, FALSE, FALSE,
                                                   MmNonCached, NULL),
                              STATUS_INVALID_PARAMETER));
    CHECK_RULE("PHYS-018", IS(DXGK.DxgkCbMapMemory(HOST_ONLY, probe_bar(p, 1), 4096, FALSE, FALSE,
                                                   MmNonCached, (PVOID *)(uintptr_t)0x10),
                              STATUS_INVALID_PARAMETER));
}

TEST(arguments_that_are_nowhere)
{
    probe_end(start_saving(), nowhere);
}
