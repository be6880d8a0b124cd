/* SPDX-License-Identifier: MIT */
/* Scheduling logs: what the driver gets, what is read when it says so, and what is wrong in one. */
#include "port/support/hardware.h"
#include "port/support/va_shadow.h"
#include "trace/trace.h"
#include "vidsch/vidsch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDLE    DXGK_SCHEDULING_LOG_CONTEXT_STATE_IDLE
#define RUNNING DXGK_SCHEDULING_LOG_CONTEXT_STATE_RUNNING
#define READY   DXGK_SCHEDULING_LOG_CONTEXT_STATE_READY
#define STANDBY DXGK_SCHEDULING_LOG_CONTEXT_STATE_READY_STANDBY

static struct hardware_client client;
static DXGKARG_SETSCHEDULINGLOGBUFFER log_of[4]; /* as the driver got them */
static unsigned logs;
static bool clean; /* each was empty, and its entries held anything */

/* ---- the driver and its GPU ---- */

static DXGK_SCHEDULING_LOG_BUFFER *buffer(unsigned index)
{
    return log_of[index].LogBufferCpuVa;
}

static void take_log(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETSCHEDULINGLOGBUFFER *args = (const DXGKARG_SETSCHEDULINGLOGBUFFER *)(uintptr_t)
                                                     call->arg[1];
    const DXGK_SCHEDULING_LOG_HEADER *header = &args->LogBufferCpuVa->Header;
    const DXGK_SCHEDULING_LOG_ENTRY *last = &args->LogBufferCpuVa->Entries[args->NumberOfEntries - 1];

    (void)p;
    CHECK(logs < 4);
    clean &= header->FirstFreeEntryIndex == 0 && header->WraparoundCount == 0 &&
             header->NumberOfEntries == args->NumberOfEntries &&
             args->LogBufferCpuVa->Entries[0].GpuTimeStamp != 0 && last->GpuTimeStamp != 0;
    log_of[logs++] = *args;
}

static HANDLE driver_handle(void)
{
    return hardware.context[hardware.contexts - 1].driver;
}

static void advance(unsigned index)
{
    DXGK_SCHEDULING_LOG_HEADER *header = &buffer(index)->Header;

    if (++header->FirstFreeEntryIndex == log_of[index].NumberOfEntries) {
        header->FirstFreeEntryIndex = 0;
        header->WraparoundCount++;
    }
}

static DXGK_SCHEDULING_LOG_ENTRY *free_entry(unsigned index)
{
    return &buffer(index)->Entries[buffer(index)->Header.FirstFreeEntryIndex];
}

static void put(unsigned index, HANDLE context, DXGK_SCHEDULING_LOG_CONTEXT_STATE state, UINT64 time)
{
    DXGK_SCHEDULING_LOG_ENTRY *entry = free_entry(index);

    memset(entry, 0, sizeof(*entry));
    entry->GpuTimeStamp = time;
    entry->ContextStateChange.hKmdContext = context;
    entry->ContextStateChange.newContextState = state;
}

static void write_entry(unsigned index, HANDLE context, DXGK_SCHEDULING_LOG_CONTEXT_STATE state,
                        UINT64 time)
{
    put(index, context, state, time);
    advance(index);
}

static void write_entries(unsigned index, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        write_entry(index, driver_handle(), i % 2 ? IDLE : RUNNING, i);
}

static void notify(unsigned node)
{
    hardware.extra.InterruptType = DXGK_INTERRUPT_SCHEDULING_LOG_INTERRUPT;
    hardware.extra.SchedulingLogInterrupt.NodeOrdinal = node;
    hardware_notify();
}

/* ---- the host ---- */

static uint64_t entries_read(const struct probe *p)
{
    struct vidsch_statistics statistics;

    vidsch_statistics(port_adapter_vidsch(p->adapter[0]), &statistics);
    return statistics.log_entries;
}

static struct probe *create(void)
{
    struct probe *p = hardware_create(NULL);

    memset(log_of, 0, sizeof(log_of));
    logs = 0;
    clean = true;
    probe_set_entry(p, PROBE_SetSchedulingLogBuffer, true);
    p->before[PROBE_SetSchedulingLogBuffer] = take_log;
    return p;
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *process;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, body);
    probe_client_end(p, process);
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- the driver gets one ---- */

static void start_body(struct probe *p)
{
    const struct probe_call *call = probe_nth(p, PROBE_SetSchedulingLogBuffer, 0);
    const uint64_t page = (uint64_t)MmGetPhysicalAddress(log_of[0].LogBufferCpuVa).QuadPart >> 12;

    CHECK_RULE("SUBMIT-121", logs == 1 && clean && call->irql == PASSIVE_LEVEL);
    CHECK_RULE("SUBMIT-121", log_of[0].NodeOrdinal == HARDWARE_NODE &&
                                 log_of[0].EngineOrdinal == 0 &&
                                 log_of[0].InterruptEntry < log_of[0].NumberOfEntries);
    CHECK_RULE("SUBMIT-121",
               va_shadow.context[0].flags.SystemContext &&
                   va_shadow_is(&va_shadow.context[0], log_of[0].LogBufferGpuVa, 0, page));
}

TEST(the_driver_gets_a_log_of_each_hardware_scheduled_node)
{
    struct probe *p = create();

    va_shadow_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_end(p, start_body);
}

static void without_body(struct probe *p)
{
    notify(HARDWARE_NODE);
    CHECK_RULE("SUBMIT-086", probe_said(p, "SUBMIT-086", "for node 1, which has no scheduling log"));
}

static void packets_body(struct probe *p)
{
    notify(HARDWARE_NODE);
    CHECK_RULE("SUBMIT-073", probe_said(p, "SUBMIT-073", "interrupt type 15"));
}

static void fails_body(struct probe *p)
{
    CHECK_RULE("SUBMIT-121",
               logs == 1 && probe_said(p, "SUBMIT-121", "of node 1 answered STATUS_UNSUCCESSFUL"));
    without_body(p);
}

/* None: no node that is scheduled so; no entry; an entry that fails. */
TEST(without_a_log_there_is_nothing_to_read)
{
    struct probe *p = create();

    p->node[HARDWARE_NODE].Flags.ContextSchedulingSupported = 0;
    run(p, packets_body);
    CHECK_RULE("SUBMIT-121", logs == 0);
    p = create();
    probe_set_entry(p, PROBE_SetSchedulingLogBuffer, false);
    run(p, without_body);
    p = create();
    p->after[PROBE_SetSchedulingLogBuffer] = take_log;
    p->before[PROBE_SetSchedulingLogBuffer] = probe_fail_call;
    run(p, fails_body);
}

/* ---- entries ---- */

static void three_body(struct probe *p)
{
    CHECK(NT_SUCCESS(hardware_begin(&client)));
    write_entry(0, driver_handle(), READY, 1001);
    write_entry(0, hardware.context[hardware.contexts - 1].host, RUNNING, 1002);
    write_entry(0, driver_handle(), STANDBY, 1003);
    put(0, driver_handle(), IDLE, 1004); /* not counted yet */
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("SUBMIT-086", entries_read(p) == 0);
    notify(HARDWARE_NODE);
    CHECK_RULE("SUBMIT-086", entries_read(p) == 3 && probe_rule(p, "SUBMIT-086") == 0);
    notify(HARDWARE_NODE);
    CHECK_RULE("SUBMIT-086", entries_read(p) == 3);
    advance(0);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
    CHECK_RULE("SUBMIT-086", entries_read(p) == 4); /* with the context, too */
}

static uint64_t trace_clock;

static char *trace_of(void (*body)(struct probe *p))
{
    struct trace_sink *sink = trace_sink_create();
    char *text = NULL;
    size_t bytes;
    FILE *file;

    trace_sink_install(sink, &trace_clock);
    run(create(), body);
    file = open_memstream(&text, &bytes);
    CHECK(file && trace_write_json(sink, file));
    fclose(file);
    trace_sink_destroy(sink);
    return text;
}

static const char *entry_in(const char *trace, const char *name, const char *time)
{
    const char *event = strstr(trace, name);

    return event && strstr(event, time) && strstr(event, time) < event + 200 ? event : NULL;
}

TEST(new_entries_are_read_when_the_driver_says_so)
{
    char *trace = trace_of(three_body);
    const char *first = entry_in(trace, "GPU: ready\"", "1001");
    const char *second = first ? entry_in(first, "GPU: running\"", "1002") : NULL;
    const char *third = second ? entry_in(second, "GPU: ready, standby\"", "1003") : NULL;

    CHECK_RULE("SUBMIT-086", third && entry_in(third, "GPU: idle\"", "1004"));
    free(trace);
}

static void bad_body(struct probe *p)
{
    CHECK(NT_SUCCESS(hardware_begin(&client)));
    put(0, driver_handle(), RUNNING, 1);
    free_entry(0)->OperationType = 1;
    advance(0);
    notify(HARDWARE_NODE);
    CHECK_RULE("SUBMIT-086", entries_read(p) == 0 && probe_said(p, "SUBMIT-086", "OperationType 1"));
    write_entry(0, driver_handle(), (DXGK_SCHEDULING_LOG_CONTEXT_STATE)4, 2);
    notify(HARDWARE_NODE);
    CHECK_RULE("SUBMIT-086",
               entries_read(p) == 0 && probe_said(p, "SUBMIT-086", "newContextState 4"));
    write_entry(0, (HANDLE)(uintptr_t)0x1230, RUNNING, 3);
    notify(HARDWARE_NODE);
    CHECK_RULE("SUBMIT-086",
               entries_read(p) == 1 && probe_said(p, "SUBMIT-086", "an entry names the context"));
    notify(0);
    CHECK_RULE("SUBMIT-086", probe_said(p, "SUBMIT-086", "for node 0, which has no scheduling log"));
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

TEST(entries_that_say_nothing_are_reported)
{
    run(create(), bad_body);
}

/* ---- lost entries ---- */

static void wrap_body(struct probe *p)
{
    const UINT room = log_of[0].NumberOfEntries;

    CHECK(NT_SUCCESS(hardware_begin(&client)));
    write_entries(0, 5);
    notify(HARDWARE_NODE);
    write_entries(0, room); /* around the end, to where it began */
    notify(HARDWARE_NODE);
    CHECK_RULE("SUBMIT-087", entries_read(p) == 5 + room && probe_rule(p, "SUBMIT-087") == 0);
    CHECK(logs == 1);
    buffer(0)->Header.FirstFreeEntryIndex--;
    notify(HARDWARE_NODE);
    CHECK_RULE("SUBMIT-087", entries_read(p) == 5 + room && probe_rule(p, "SUBMIT-087") == 1);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

static void overrun_body(struct probe *p)
{
    const UINT room = log_of[0].NumberOfEntries;
    DXGK_SCHEDULING_LOG_ENTRY *beside = &buffer(0)->Entries[room];

    CHECK(NT_SUCCESS(hardware_begin(&client)));
    write_entries(0, room + 1);
    notify(HARDWARE_NODE);
    CHECK_RULE("SUBMIT-087", entries_read(p) == 1 && probe_rule(p, "SUBMIT-087") == 1);
    CHECK_RULE("SUBMIT-121", logs == 2 && clean && log_of[1].NumberOfEntries > room &&
                                 log_of[1].LogBufferGpuVa != log_of[0].LogBufferGpuVa);
    write_entries(1, room + 1);
    notify(HARDWARE_NODE);
    CHECK_RULE("SUBMIT-087", entries_read(p) == room + 2 && probe_rule(p, "SUBMIT-087") == 1);
    CHECK_RULE("SUBMIT-121", probe_rule(p, "SUBMIT-121") == 0);
    put(0, driver_handle(), IDLE, 77);
    notify(HARDWARE_NODE);
    CHECK_RULE("SUBMIT-121", probe_said(p, "SUBMIT-121", "the previous scheduling log of node 1"));
    write_entries(1, log_of[1].NumberOfEntries + 1); /* there is no third */
    notify(HARDWARE_NODE);
    CHECK_RULE("SUBMIT-087", probe_rule(p, "SUBMIT-087") == 2 && logs == 2);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
    memset(beside, 0, sizeof(*beside));
}

static void remove_body(struct probe *p)
{
    probe_remove(p, 0);
}

TEST(a_log_that_is_not_read_in_time_loses_entries)
{
    struct probe *p = create();

    run(p, wrap_body);
    p = create();
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_client_end(p, probe_client_run(p, overrun_body));
    probe_clients_end(p);
    CHECK(probe_rule(p, "SUBMIT-121") == 1);
    CHECK(probe_run(p, remove_body) == SIM_DONE);
    CHECK_RULE("SUBMIT-121", probe_said(p, "SUBMIT-121", "memory beside the scheduling log"));
    probe_destroy(p);
}
