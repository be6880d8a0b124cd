/* SPDX-License-Identifier: MIT */
/* Which primaries of clients fit a source, as the driver describes them; what their creation may say. */
#include "port/support/owner.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

/* ---- what the driver says of them ---- */

static DXGKARG_DESCRIBEALLOCATION asked;
static uint64_t asked_order;
static UINT asked_irql;
static NTSTATUS describe_status;
static probe_hook *inner;

static void describe(struct probe *p, struct probe_call *call)
{
    asked = *(const DXGKARG_DESCRIBEALLOCATION *)(uintptr_t)call->arg[1];
    asked_order = call->order;
    asked_irql = call->irql;
    inner(p, call);
    if (!NT_SUCCESS(describe_status))
        call->result = (uint64_t)describe_status;
}

static HANDLE created;

static void note_created(struct probe *p, struct probe_call *call)
{
    (void)p;
    created =
        ((const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1])->pAllocationInfo[0].hAllocation;
}

static D3DKMT_HANDLE another(void)
{
    D3DKMT_HANDLE handle;

    CHECK(NT_SUCCESS(owner_allocate(0, &handle)));
    return handle;
}

static void described(struct probe *p)
{
    UINT describes;

    owner_begin(p);
    owner_show(owner.primary[0]);
    describes = owner.describes;
    p->after[PROBE_CreateAllocation] = note_created;
    owner.primary[1] = another();
    CHECK(owner.describes == describes);
    CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
    CHECK_RULE("PRES-084", owner.describes == describes + 1 && asked.hAllocation == created &&
                               asked_irql == 0 &&
                               asked_order < probe_nth(p, PROBE_Present, 0)->order);
    CHECK_RULE("PRES-086", asked.Width == 0 && asked.Height == 0 && asked.Format == 0 &&
                               asked.MultisampleMethod.NumSamples == 0 &&
                               asked.RefreshRate.Numerator == 0 &&
                               asked.PrivateDriverFormatAttribute == 0);
    CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
    CHECK_RULE("PRES-085", owner.describes == describes + 1);

    describe_status = STATUS_INVALID_PARAMETER;
    CHECK_RULE("PRES-086", IS(owner_flip(another()), STATUS_INVALID_PARAMETER));
    describe_status = STATUS_NO_MEMORY;
    owner.primary[2] = another();
    CHECK_RULE("PRES-086", IS(owner_flip(owner.primary[2]), STATUS_NO_MEMORY) &&
                               probe_count(p, PROBE_Present) == 2);
    describe_status = STATUS_SUCCESS; /* no answer is kept */
    describes = owner.describes;
    CHECK_RULE("PRES-085", IS(owner_flip(owner.primary[2]), STATUS_SUCCESS) &&
                               owner.describes == describes + 1);
    owner_end();
}

static struct probe *described_by(void)
{
    struct probe *p = owner_create(NULL);

    inner = p->before[PROBE_DescribeAllocation];
    p->before[PROBE_DescribeAllocation] = describe;
    describe_status = STATUS_SUCCESS;
    return p;
}

TEST(the_driver_describes_each_once)
{
    owner_run(described_by(), described);
}

/* ---- what fits ---- */

static NTSTATUS flip_of(UINT width, UINT height, D3DDDIFORMAT format, UINT attribute)
{
    owner.width = width;
    owner.height = height;
    owner.format = format;
    owner.attribute = attribute;
    return owner_flip(another());
}

static void fits(struct probe *p)
{
    UINT calls, presents;

    owner_begin(p);
    owner.attribute = 5;
    owner_show(owner.primary[0]);
    calls = full_seen.addresses;
    CHECK_RULE("PRES-088", IS(flip_of(800, 600, D3DDDIFMT_A8R8G8B8, 5), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PRES-088", IS(flip_of(1024, 767, D3DDDIFMT_A8R8G8B8, 5), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PRES-088", IS(flip_of(1023, 768, D3DDDIFMT_A8R8G8B8, 5), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PRES-088", IS(flip_of(1024, 768, D3DDDIFMT_A8B8G8R8, 5), STATUS_INVALID_PARAMETER));
    presents = (UINT)probe_count(p, PROBE_Present);
    CHECK_RULE("PRES-087", IS(flip_of(1024, 768, D3DDDIFMT_A8R8G8B8, 6),
                              STATUS_GRAPHICS_INCOMPATIBLE_PRIVATE_FORMAT));
    probe_sleep(40000000);
    CHECK_RULE("PRES-088",
               full_seen.addresses == calls && presents == 0 && probe_count(p, PROBE_Present) == 0);
    CHECK_RULE("PRES-087", IS(flip_of(1024, 768, D3DDDIFMT_A8R8G8B8, 5), STATUS_SUCCESS));
    CHECK_RULE("PRES-089", IS(flip_of(1024, 768, D3DDDIFMT_X8R8G8B8, 5), STATUS_SUCCESS));
    probe_sleep(100000000);
    CHECK_RULE("PRES-089", full_seen.addresses == calls + 2);
    owner_end();
}

TEST(only_what_fits_is_flipped_to)
{
    owner_run(owner_create(NULL), fits);
}

/* Without D3DKMTSetDisplayMode before. */
static void first_flip(struct probe *p)
{
    (void)p;
    owner_begin(p);
    CHECK(NT_SUCCESS(owner_own(owner.gpu.device, D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0)));
    CHECK_RULE("PRES-087", IS(flip_of(1024, 768, D3DDDIFMT_A8R8G8B8, 5), STATUS_SUCCESS));
    probe_sleep(40000000);
    CHECK_RULE("PRES-087", IS(flip_of(1024, 768, D3DDDIFMT_A8R8G8B8, 6),
                              STATUS_GRAPHICS_INCOMPATIBLE_PRIVATE_FORMAT));
    CHECK_RULE("PRES-087", IS(flip_of(1024, 768, D3DDDIFMT_A8R8G8B8, 5), STATUS_SUCCESS));
    owner_end();
}

TEST(the_first_flip_says_which_format)
{
    owner_run(owner_create(NULL), first_flip);
}

static void turned(struct probe *p)
{
    owner_begin(p);
    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 1024, 768, 1)));
    CHECK(NT_SUCCESS(owner_own(owner.gpu.device, D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0)));
    CHECK_RULE("PRES-088", IS(flip_of(1024, 768, D3DDDIFMT_A8R8G8B8, 0), STATUS_SUCCESS));
    CHECK_RULE("PRES-088", IS(flip_of(768, 1024, D3DDDIFMT_A8R8G8B8, 0), STATUS_INVALID_PARAMETER));
    owner_end();
}

TEST(whatever_the_rotation)
{
    owner_run(owner_create(NULL), turned);
}

static void undescribed(struct probe *p)
{
    owner_begin(p);
    CHECK(NT_SUCCESS(owner_own(owner.gpu.device, D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0)));
    CHECK_RULE("PRES-085", IS(flip_of(800, 600, D3DDDIFMT_A8R8G8B8, 0), STATUS_SUCCESS) &&
                               owner.describes == 0);
    owner_end();
}

TEST(a_driver_that_describes_nothing)
{
    struct probe *p = owner_create(NULL);

    probe_set_entry(p, PROBE_DescribeAllocation, false);
    owner_run(p, undescribed);
}
