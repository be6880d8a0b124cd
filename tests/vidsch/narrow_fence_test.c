/* SPDX-License-Identifier: MIT */
/* Fences of a GPU that updates 32 bits at once (No64BitAtomics). */
#include "vidsch/support/fixture.h"

static uint64_t value_of(const struct vidsch_sync *fence)
{
    return *fence->slot.kernel;
}

TEST_WITH(fixture, fences_cross_32_bits, .no_64bit_atomics = true)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 0x7FFFFFF0u);
    static const UINT64 steps[] = {0x7FFFFFFF,  0xC0000000,  0xFFFFFFFF,  0x100000000,
                                   0x100000001, 0x17FFFFFFF, 0x1FFFFFFF0, 0x200000010};
    UINT64 before = value_of(fence);

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        CHECK(submit(context, 0x1000 * (i + 1), 16) == STATUS_SUCCESS);
        CHECK(signal_gpu(context, fence, steps[i]) == STATUS_SUCCESS);
        CHECK(wait_cpu(fence, steps[i]) == STATUS_SUCCESS);
        CHECK_RULE("CAPS-051/a", value_of(fence) == steps[i] && value_of(fence) > before);
        before = value_of(fence);
    }
    vidsch_device_destroy(device);
}

/* What lies further away than half the range cannot be told from the past. */
static void far_values(struct fixture *f)
{
    bool narrow = f->options.no_64bit_atomics;
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 0x10);
    const UINT64 near = 0x10 + UINT32_MAX / 2, far = near + 1;
    NTSTATUS refused = narrow ? STATUS_INVALID_PARAMETER : STATUS_SUCCESS;

    CHECK_RULE("CAPS-051/b", wait_gpu(context, fence, far) == refused);
    CHECK_RULE("CAPS-051/c", signal_cpu(fence, far) == refused);
    CHECK_RULE("CAPS-051/c", value_of(fence) == (narrow ? 0x10 : far));
    if (narrow)
        CHECK_RULE("CAPS-051/c",
                   signal_cpu(fence, near) == STATUS_SUCCESS && value_of(fence) == near);
    vidsch_device_destroy(device);
}

TEST(values_stay_within_half_the_range)
{
    fixture_check(&(struct fixture_options){.no_64bit_atomics = true}, far_values);
    fixture_check(&(struct fixture_options){.no_64bit_atomics = false}, far_values);
}
