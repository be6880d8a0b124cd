/* SPDX-License-Identifier: MIT */
/* Packets with virtual addresses: what the driver is given of them, and what a client may ask. */
#include "sim/irql.h"
#include "vidsch/support/fixture.h"

#include <string.h>

struct one_packet {
    struct vidsch_device *device;
    struct vidsch_context *context;
};

/* The client has submitted one packet to node 1, and has not waited. */
static struct one_packet submit_one(struct fixture *f)
{
    struct one_packet one = {.device = make_device(f)};

    one.context = make_context(one.device, 1);
    CHECK(submit(one.context, 0x10000, 256) == STATUS_SUCCESS);
    return one;
}

/* The same, and the packet has ended. */
static struct one_packet run_one(struct fixture *f)
{
    struct one_packet one = submit_one(f);

    idle(one.device);
    return one;
}

TEST_WITH(fixture, a_submission_returns_before_its_packet_runs)
{
    struct one_packet one = submit_one(f);

    CHECK_RULE("KMT-324", calls_of(f, CALL_SUBMIT_VIRTUAL) == 0 && one.context->pending == 1);
    CHECK_RULE("SUBMIT-146",
               vidsch_device_wait_idle(one.device) == STATUS_SUCCESS && one.context->pending == 0);
    vidsch_device_destroy(one.device);
}

TEST_WITH(fixture, the_level_of_virtual_packets_can_be_raised)
{
    f->ddi.raised_submit = true;
    vidsch_device_destroy(run_one(f).device);
    CHECK_RULE("THREAD-042/b", call_at(f, CALL_SUBMIT_VIRTUAL, 0)->irql == SIM_IRQL_DISPATCH);
}

TEST_WITH(fixture, a_virtual_packet_is_one_call_at_passive_level)
{
    struct one_packet one = run_one(f);
    const struct call *call = call_at(f, CALL_SUBMIT_VIRTUAL, 0);

    CHECK_RULE("SUBMIT-104", calls_of(f, CALL_SUBMIT_VIRTUAL) == 1 &&
                                 calls_of(f, CALL_PATCH) == 0 && calls_of(f, CALL_SUBMIT) == 0);
    CHECK_RULE("SUBMIT-105", call->irql == SIM_IRQL_PASSIVE && call->handle == f->ddi.context);
    vidsch_device_destroy(one.device);
}

TEST_WITH(fixture, a_virtual_packet_says_what_runs_where)
{
    struct one_packet one = run_one(f);

    CHECK_RULE("SUBMIT-109", sent_virtual(f, 0)->DmaBufferVirtualAddress == 0x10000 &&
                                 sent_virtual(f, 0)->DmaBufferSize == 256);
    CHECK(sent_virtual(f, 0)->hContext == one.context->mm.driver_handle &&
          sent_virtual(f, 0)->NodeOrdinal == 1 && sent_virtual(f, 0)->EngineOrdinal == 0);
    CHECK_RULE("SUBMIT-035", sent_virtual(f, 0)->Flags.Value == 0);
    vidsch_device_destroy(one.device);
}

TEST_WITH(fixture, a_packet_is_in_flight_until_its_fence_is_reported)
{
    struct one_packet one = run_one(f);

    CHECK_RULE("SUBMIT-027", call_at(f, CALL_SUBMIT_VIRTUAL, 0)->submit_virtual.in_flight == 1);
    CHECK_RULE("SUBMIT-039/a", sent_virtual(f, 0)->SubmissionFenceId == 1);
    CHECK(f->vidsch->node[1].last_completed == 1);
    vidsch_device_destroy(one.device);
}

TEST_WITH(fixture, private_data_of_virtual_packets)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    uint8_t data[33];
    D3DKMT_SUBMITCOMMAND args = {
        .Commands = 0x1000, .CommandLength = 16, .PrivateDriverDataSize = 32};

    memset(data, 0xAA, sizeof(data));
    CHECK(vidsch_submit_command(&context, 1, &args, data) == STATUS_SUCCESS);
    idle(device);
    args.PrivateDriverDataSize = 33;
    CHECK_RULE("SUBMIT-111",
               vidsch_submit_command(&context, 1, &args, data) == STATUS_INVALID_PARAMETER);
    args.PrivateDriverDataSize = 5;
    CHECK_RULE("SUBMIT-111", vidsch_submit_command(&context, 1, &args, data) == STATUS_SUCCESS);
    idle(device);
    CHECK_RULE("SUBMIT-110",
               sent_virtual(f, 0)->DmaBufferPrivateDataSize == 32 &&
                   sent_virtual(f, 0)->DmaBufferUmdPrivateDataSize == 32 &&
                   call_at(f, CALL_SUBMIT_VIRTUAL, 0)->submit_virtual.private_data[31] == 0xAA);
    CHECK_RULE("SUBMIT-110",
               sent_virtual(f, 1)->DmaBufferUmdPrivateDataSize == 5 &&
                   call_at(f, CALL_SUBMIT_VIRTUAL, 1)->submit_virtual.private_data[4] == 0xAA);
    CHECK_RULE("SUBMIT-111",
               call_at(f, CALL_SUBMIT_VIRTUAL, 1)->submit_virtual.private_data[5] == 0 &&
                   call_at(f, CALL_SUBMIT_VIRTUAL, 1)->submit_virtual.private_data[31] == 0);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, the_private_block_lives_to_the_fence)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);

    f->driver.engine[1].hang = true;
    submit(context, 0x1000, 16);
    submit(context, 0x2000, 16);
    pass(MS);
    CHECK_RULE("SUBMIT-110", calls_of(f, CALL_SUBMIT_VIRTUAL) == 2 &&
                                 sent_virtual(f, 0)->pDmaBufferPrivateData !=
                                     sent_virtual(f, 1)->pDmaBufferPrivateData);
    driver_run(f, 1);
    idle(device);
    submit(context, 0x3000, 16);
    idle(device);
    CHECK(sent_virtual(f, 2)->pDmaBufferPrivateData == sent_virtual(f, 0)->pDmaBufferPrivateData ||
          sent_virtual(f, 2)->pDmaBufferPrivateData == sent_virtual(f, 1)->pDmaBufferPrivateData);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, virtual_arguments_are_checked)
{
    struct vidsch_device *device = make_device(f), *other = make_device(f);
    struct vidsch_context *context = make_context(device, 1), *second = make_context(device, 1),
                          *physical = make_context(device, 0);
    struct vidsch_context *both[3] = {context, second, context},
                          *mixed[2] = {context, make_context(other, 1)};
    D3DKMT_SUBMITCOMMAND args = {.Commands = 0x1000, .CommandLength = 16};

    CHECK_RULE("SUBMIT-112",
               vidsch_submit_command(both, 0, &args, NULL) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("SUBMIT-112",
               vidsch_submit_command(both, 65, &args, NULL) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("KMT-316",
               vidsch_submit_command(both, 3, &args, NULL) == STATUS_INVALID_PARAMETER &&
                   vidsch_submit_command(mixed, 2, &args, NULL) == STATUS_INVALID_PARAMETER &&
                   vidsch_submit_command(&physical, 1, &args, NULL) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("KMT-317", submit(context, UINT64_MAX - 8, 16) == STATUS_INVALID_PARAMETER &&
                              submit(context, 0, 0) == STATUS_SUCCESS);
    CHECK_RULE("SUBMIT-112", vidsch_submit_command(both, 2, &args, NULL) == STATUS_SUCCESS);
    idle(device);
    CHECK_RULE("SUBMIT-112",
               calls_of(f, CALL_SUBMIT_VIRTUAL) == 3 &&
                   sent_virtual(f, 1)->hContext != sent_virtual(f, 2)->hContext &&
                   sent_virtual(f, 1)->SubmissionFenceId != sent_virtual(f, 2)->SubmissionFenceId);
    args.Flags.PresentRedirected = 1;
    CHECK_RULE("KMT-320", vidsch_submit_command(both, 1, &args, NULL) == STATUS_NOT_SUPPORTED);
    vidsch_device_destroy(other);
    vidsch_device_destroy(device);
}

static NTSTATUS refuse_second(struct fixture *f, const DXGKARG_SUBMITCOMMANDVIRTUAL *args)
{
    (void)f;
    return args->SubmissionFenceId == 2 ? STATUS_INVALID_PARAMETER : STATUS_SUCCESS;
}

TEST_WITH(fixture, a_refused_packet_ends_in_its_turn, .cancel_aware = true)
{
    struct vidsch_device *device = make_device(f), *bad = make_device(f);
    struct vidsch_context *context = make_context(device, 1), *culprit = make_context(bad, 1);

    f->driver.on_submit_virtual = refuse_second;
    f->driver.engine[1].hang = true;
    submit(context, 0x1000, 16);
    pass(MS);
    submit(culprit, 0x2000, 16);
    pass(MS);
    CHECK_RULE("SUBMIT-107", vidsch_device_state(bad) == D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT &&
                                 f->vidsch->node[1].last_completed == 0);
    CHECK_RULE("SUBMIT-088", submit(culprit, 0x2000, 16) == STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE);
    driver_run(f, 1);
    idle(device);
    pass(MS);
    CHECK_RULE("SUBMIT-107", f->vidsch->node[1].last_completed == 2);
    f->driver.engine[1].completed = 2; /* the driver takes it as completed, too */
    CHECK_RULE("SUBMIT-089", submit(context, 0x3000, 16) == STATUS_SUCCESS);
    idle(device);
    CHECK(f->vidsch->node[1].last_completed == 3 && verify_count(f->log, VERIFY_ERROR) == 0);
    vidsch_device_destroy(bad);
    vidsch_device_destroy(device);
}

static void set_virtual_fails(struct fixture *f)
{
    f->driver.status[CALL_SUBMIT_VIRTUAL] = STATUS_NO_MEMORY;
}

static NTSTATUS scribble(struct fixture *f, const DXGKARG_SUBMITCOMMANDVIRTUAL *args)
{
    (void)f;
    ((uint8_t *)args->pDmaBufferPrivateData)[-1] ^= 1;
    return STATUS_SUCCESS;
}

static void set_scribble(struct fixture *f)
{
    f->driver.on_submit_virtual = scribble;
}

static void one_packet_runs(struct fixture *f)
{
    (void)run_one(f);
}

TEST(a_failed_submission_is_fatal)
{
    FATAL_AS("SUBMIT-108", (&(struct fixture_options){.prepare = set_virtual_fails}),
             one_packet_runs, "SUBMIT-037", 0x119, 0x2);
}

TEST(a_write_outside_of_private_data_is_fatal)
{
    FATAL((&(struct fixture_options){.prepare = set_scribble}), one_packet_runs, "PATCH-066", 0x10E,
          0x13);
}
