/* SPDX-License-Identifier: MIT */
/*
 * A node stands for a mapped range and the gap above it, up to the next range; the gap at the bottom
 * of the space belongs to a node of size 0. `most` is the longest gap in its subtree. Nodes come in
 * chunks, so malloc is not measured.
 */
#include "address_reference.h"

#include <stdlib.h>

#include "bench.h"
#include "util/address.h"
#include "util/min_max.h"

struct node {
    struct node *child[2]; /* [1] links the spare ones */
    uint64_t first, size, gap, most;
    int height;
};

struct chunk {
    struct chunk *next;
    struct node node[1024];
};

struct reference {
    struct node *root, *spare;
    struct chunk *chunks;
    uint64_t end, live;
};

static void *need(void *block)
{
    if (!block)
        bench_die("out of memory");
    return block;
}

static struct node *node_take(struct reference *r)
{
    struct node *node;

    if (!r->spare) {
        struct chunk *chunk = need(malloc(sizeof(*chunk)));

        chunk->next = r->chunks;
        r->chunks = chunk;
        for (unsigned i = 0; i < 1024; i++) {
            chunk->node[i].child[1] = r->spare;
            r->spare = &chunk->node[i];
        }
    }
    node = r->spare;
    r->spare = node->child[1];
    r->live++;
    return node;
}

static int height(const struct node *node)
{
    return node ? node->height : 0;
}

static uint64_t most(const struct node *node)
{
    return node ? node->most : 0;
}

static void refresh(struct node *node)
{
    int a = height(node->child[0]), b = height(node->child[1]);

    node->height = 1 + (a > b ? a : b);
    node->most = max_of(node->gap, max_of(most(node->child[0]), most(node->child[1])));
}

static struct node *rotate(struct node *node, int up)
{
    struct node *child = node->child[up];

    node->child[up] = child->child[!up];
    child->child[!up] = node;
    refresh(node);
    refresh(child);
    return child;
}

static struct node *balance(struct node *node)
{
    int lean = height(node->child[1]) - height(node->child[0]), up = lean > 0;

    if (lean >= -1 && lean <= 1) {
        refresh(node);
        return node;
    }
    if (height(node->child[up]->child[!up]) > height(node->child[up]->child[up]))
        node->child[up] = rotate(node->child[up], !up);
    return rotate(node, up);
}

static struct node *insert(struct node *at, struct node *node)
{
    int up;

    if (!at) {
        node->child[0] = node->child[1] = NULL;
        refresh(node);
        return node;
    }
    up = node->first >= at->first;
    at->child[up] = insert(at->child[up], node);
    return balance(at);
}

static struct node *remove_lowest(struct node *at, struct node **lowest)
{
    if (!at->child[0]) {
        *lowest = at;
        return at->child[1];
    }
    at->child[0] = remove_lowest(at->child[0], lowest);
    return balance(at);
}

static struct node *remove_at(struct node *at, uint64_t first, struct node **removed)
{
    struct node *lowest;

    if (first != at->first || at->size == 0) {
        int up = first >= at->first;

        at->child[up] = remove_at(at->child[up], first, removed);
        return balance(at);
    }
    *removed = at;
    if (!at->child[1])
        return at->child[0];
    at->child[1] = remove_lowest(at->child[1], &lowest);
    lowest->child[0] = at->child[0];
    lowest->child[1] = at->child[1];
    return balance(lowest);
}

/* The gap of the last node that begins at or below the unit ends here now; false: there is none. */
static bool set_gap_below(struct node *at, uint64_t first, uint64_t end)
{
    if (!at)
        return false;
    if (at->first > first) {
        if (!set_gap_below(at->child[0], first, end))
            return false;
    } else if (!set_gap_below(at->child[1], first, end)) {
        at->gap = end - (at->first + at->size);
    }
    refresh(at);
    return true;
}

static bool fits(const struct node *node, const struct extent_request *want, uint64_t *start)
{
    uint64_t low = max_of(node->first + node->size, want->low);
    uint64_t end = min_of(node->first + node->size + node->gap, want->high);

    *start = align_up(low, want->align);
    return *start < end && end - *start >= want->size;
}

static const struct node *search(const struct node *at, const struct extent_request *want,
                                 uint64_t above, uint64_t *start)
{
    const struct node *found;

    if (!at || at->most < want->size || above <= want->low)
        return NULL;
    found = search(at->child[0], want, at->first, start);
    if (found)
        return found;
    if (at->first >= want->high)
        return NULL;
    if (fits(at, want, start))
        return at;
    return search(at->child[1], want, above, start);
}

static void add(struct reference *r, uint64_t start, uint64_t size, uint64_t gap_end)
{
    struct node *node = node_take(r);

    node->first = start;
    node->size = size;
    node->gap = gap_end - (start + size);
    r->root = insert(r->root, node);
}

struct reference *reference_create(uint64_t first, uint64_t end)
{
    struct reference *r = need(calloc(1, sizeof(*r)));

    r->end = end;
    add(r, first, 0, end);
    return r;
}

void reference_destroy(struct reference *r)
{
    while (r->chunks) {
        struct chunk *chunk = r->chunks;

        r->chunks = chunk->next;
        free(chunk);
    }
    free(r);
}

bool reference_take(struct reference *r, const struct extent_request *want, uint64_t *start)
{
    struct extent_request bounded = *want;
    const struct node *node;
    uint64_t gap_end;

    bounded.high = want->high ? want->high : r->end;
    bounded.align = want->align ? want->align : 1;
    node = search(r->root, &bounded, r->end, start);
    if (!node)
        return false;
    gap_end = node->first + node->size + node->gap;
    (void)set_gap_below(r->root, node->first, *start);
    add(r, *start, want->size, gap_end);
    return true;
}

bool reference_take_fixed(struct reference *r, uint64_t start, uint64_t size)
{
    return reference_take(
        r, &(struct extent_request){.size = size, .low = start, .high = start + size}, &start);
}

void reference_give(struct reference *r, uint64_t start)
{
    struct node *node = NULL;
    uint64_t end;

    r->root = remove_at(r->root, start, &node);
    end = node->first + node->size + node->gap;
    node->child[1] = r->spare;
    r->spare = node;
    r->live--;
    (void)set_gap_below(r->root, start, end);
}

uint64_t reference_bytes(const struct reference *r)
{
    return r->live * sizeof(struct node);
}
