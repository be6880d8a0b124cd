/* SPDX-License-Identifier: MIT */
/* Descriptors of monitors while each request for memory fails in turn: it is told, and nothing is left. */
#include "modes/support/edid_bytes.h"

#include <string.h>

#include "modes/edid_given.h"
#include "modes/edid_make.h"
#include "modes/timing_list.h"
#include "util/alloc.h"

/* Does it all; false: memory was wanting. */
static bool go(bool (*step)(void *context), void *context, uint64_t fail_at)
{
    struct util_heap heap = {.fail_at = fail_at}, *before = util_heap_current;
    bool done;

    util_heap_current = &heap;
    done = step(context);
    util_heap_current = before;
    if (heap.live_blocks || done == (heap.failures != 0))
        fail_msg("%llu blocks are left, and %llu requests failed, request %llu was to",
                 (unsigned long long)heap.live_blocks, (unsigned long long)heap.failures,
                 (unsigned long long)fail_at);
    return done;
}

static unsigned fail_each(bool (*step)(void *context), void *context)
{
    unsigned count = 0;

    while (!go(step, context, ++count))
        ;
    return count - 1;
}

static bool read_modes(void *context)
{
    struct edid_bytes *edid = context;
    struct mode_set *set = mode_set_create(MODE_MONITOR, 1);
    const bool done = set && edid_modes(edid->block[0], edid->blocks, set);

    mode_set_destroy(set);
    return done;
}

static bool read_default_modes(void *context)
{
    struct mode_set *set = mode_set_create(MODE_MONITOR, 1);
    const bool done = set && edid_default_modes(set);

    (void)context;
    mode_set_destroy(set);
    return done;
}

static bool make(void *context)
{
    char error[64] = "";
    unsigned count, blocks;
    struct timing *list = edid_given_modes("1024x768@60,1280x720,1280x721", &count, error,
                                           sizeof(error));
    uint8_t *edid = NULL;

    (void)context;
    if (list)
        edid = edid_make(&(struct edid_wish){.timing = list, .count = count}, &blocks, error,
                         sizeof(error));
    assert_int_equal(edid == NULL, strcmp(error, "out of memory") == 0);
    util_free(edid);
    util_free(list);
    return edid != NULL;
}

TEST(each_request_fails)
{
    static struct edid_bytes edid;

    CHECK(fail_each(make, NULL) == 3);
    CHECK(fail_each(read_default_modes, NULL) == 2); /* the set, and its first 8 modes */
    edid_bytes_init(&edid, 4);
    memset(edid.block[0] + 35, 0xFF, 3);
    edid_bytes_descriptor(&edid, 0)[3] = 0xF7;
    memset(edid_bytes_descriptor(&edid, 0) + 6, 0xFF, 12);
    for (unsigned i = 0; i < 16; i++)
        edid.block[0][38 + i] = (uint8_t)(i % 2 ? 0 : 100 + i);
    edid_bytes_descriptor(&edid, 1)[3] = 0xFA;
    for (unsigned i = 0; i < 12; i++)
        edid_bytes_descriptor(&edid, 1)[5 + i] = (uint8_t)(i % 2 ? 0 : 200 + i);
    edid_bytes_extension(&edid, 36)[4] = 0x5F;
    for (unsigned i = 0; i < 31; i++)
        edid.block[1][5 + i] = (uint8_t)(i + 1);
    for (unsigned i = 0; i < 5; i++)
        edid_bytes_detailed(edid.block[1] + 36 + 18 * i, 6500, 1000 + i, 320, 768, 38, false);
    CHECK(fail_each(read_modes, &edid) == 6); /* 8, 16, 32, 64 and 128 modes */
}
