/* SPDX-License-Identifier: MIT */
/*
 * A driver that allocates and never frees comes to an end of the pool, if need be by the host's own
 * memory. Long before, the machine stops, with a list of leaks: tags and places with most bytes.
 * The same for one that goes on and on asking although nothing is left.
 */
#include "nt/mm/pool_limit.h"

#include <stdio.h>

#include "nt/base/caller.h"
#include "nt/base/image.h"
#include "nt/base/nt_report.h"
#include "nt/base/state.h"
#include "nt/mm/pool.h"
#include "nt/mm/pool_page.h"
#include "util/list.h"
#include "verify/verify.h"

#define GROUPS 256u /* tags and places that are told apart; the rest is one group */
#define SHOWN  3u

/* Blocks of one tag that were taken at one place. */
struct group {
    uint32_t tag;
    const void *caller;
    uint64_t blocks, bytes;
};

static void add(struct group *group, unsigned *groups, const struct nt_block *block)
{
    unsigned i = 0;

    while (i < *groups && (group[i].tag != block->tag || group[i].caller != block->resource.caller))
        i++;
    if (i == *groups && *groups < GROUPS)
        group[(*groups)++] = (struct group){.tag = block->tag, .caller = block->resource.caller};
    else if (i == *groups)
        i = GROUPS - 1;
    group[i].blocks++;
    group[i].bytes += block->bytes;
}

static unsigned gather(struct group *group)
{
    unsigned groups = 0;

    LIST_FOR(node, &nt_state()->images->all) {
        const struct nt_image *image = CONTAINER(node, struct nt_image, link);

        LIST_FOR(link, &image->resources) {
            const struct nt_resource *resource = CONTAINER(link, struct nt_resource, link);

            if (resource->class == nt_state()->pool->block_class)
                add(group, &groups, CONTAINER(resource, struct nt_block, resource));
        }
    }
    return groups;
}

/* "'Leak' 2147483648 bytes in 524288 blocks at refgpu.so!Start+0x10; ..." */
static void describe(char *text, size_t bytes)
{
    struct group group[GROUPS];
    unsigned groups = gather(group), shown;
    size_t used = 0;

    text[0] = '\0';
    for (shown = 0; shown < SHOWN && shown < groups && used < bytes; shown++) {
        unsigned most = shown;
        struct group top;
        char tag[5], place[96];

        for (unsigned i = shown; i < groups; i++)
            if (group[i].bytes > group[most].bytes)
                most = i;
        top = group[most];
        group[most] = group[shown];
        group[shown] = top;
        nt_pool_tag_text(top.tag, tag);
        nt_caller_name(top.caller, place, sizeof(place));
        used += (size_t)snprintf(text + used, bytes - used,
                                 "%s'%s' %llu bytes in %llu block(s) at %s", shown ? "; " : "", tag,
                                 (unsigned long long)top.bytes, (unsigned long long)top.blocks,
                                 place);
    }
}

void nt_pool_limit_check(const struct nt_block *block)
{
    struct nt_pool *pool = nt_state()->pool;
    const struct nt_pool_statistics *now = &pool->statistics;
    uint64_t limit = nt_state()->config.pool_limit ? nt_state()->config.pool_limit
                                                   : NT_POOL_LIMIT_BYTES;
    char text[512];

    if (block)
        pool->failed = 0;
    else
        pool->failed++;
    if (now->live_bytes <= limit && now->live_blocks <= NT_POOL_LIMIT_BLOCKS &&
        pool->failed < NT_POOL_LIMIT_FAILED)
        return;
    describe(text, sizeof(text));
    verify_fatal("NT-200", DRIVER_VERIFIER, 0x62, 0, 0, now->live_blocks,
                 "%llu bytes of pool in %llu blocks were not freed%s: %s",
                 (unsigned long long)now->live_bytes, (unsigned long long)now->live_blocks,
                 block ? "" : ", and requests for more fail again and again", text);
    pool->failed = 0;
}
