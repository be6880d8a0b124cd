/* SPDX-License-Identifier: MIT */
/* The tree of spans against an array. */
#include "support/check_rule.h"

#include <stdlib.h>
#include <string.h>

#include "util/list.h"
#include "util/rng.h"
#include "util/span_tree.h"

enum { PAGES = 2000, SPANS = 200 };

struct model {
    int owner[PAGES]; /* 1-based; 0: nobody */
    struct span_node node[SPANS + 1];
    struct rng rng;
};

static uint64_t below(struct model *m, uint32_t bound)
{
    return rng_below(&m->rng, bound);
}

static int first_owner_from(const struct model *m, uint64_t page)
{
    for (; page < PAGES; page++)
        if (m->owner[page])
            return m->owner[page];
    return 0;
}

static void check_tree(struct model *m, const struct span_tree *tree)
{
    struct span_node *node = span_first(tree);
    int last = 0;

    CHECK(span_validate(tree));
    for (uint64_t page = 0; page < PAGES; page++) {
        int owner = m->owner[page], next = first_owner_from(m, page);

        CHECK(span_at(tree, page) == (owner ? &m->node[owner] : NULL));
        CHECK(span_from(tree, page) == (next ? &m->node[next] : NULL));
        if (owner && owner != last) { /* the walk meets the same spans in the same order */
            CHECK(node == &m->node[owner]);
            node = span_next(tree, node);
            last = owner;
        }
    }
    CHECK(node == NULL);
}

static void insert_one(struct model *m, struct span_tree *tree)
{
    int slot = 1 + (int)below(m, SPANS);
    uint64_t first = below(m, PAGES), pages = 1 + below(m, 20);

    if (m->node[slot].pages || first + pages > PAGES)
        return;
    for (uint64_t page = first; page < first + pages; page++)
        if (m->owner[page])
            return;
    m->node[slot].first = first;
    m->node[slot].pages = pages;
    span_insert(tree, &m->node[slot]);
    for (uint64_t page = first; page < first + pages; page++)
        m->owner[page] = slot;
}

static void remove_one(struct model *m, struct span_tree *tree)
{
    int slot = 1 + (int)below(m, SPANS);

    if (!m->node[slot].pages)
        return;
    span_remove(tree, &m->node[slot]);
    memset(&m->owner[m->node[slot].first], 0, m->node[slot].pages * sizeof(m->owner[0]));
    m->node[slot].pages = 0;
}

/* Bounds may shrink in place. */
static void shrink_one(struct model *m)
{
    int slot = 1 + (int)below(m, SPANS);
    struct span_node *node = &m->node[slot];

    if (node->pages < 2)
        return;
    if (below(m, 2)) {
        m->owner[node->first++] = 0;
        node->pages--;
    } else {
        m->owner[span_end(node) - 1] = 0;
        node->pages--;
    }
}

TEST(spans_like_an_array)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct model *m = calloc(1, sizeof(*m));
        struct span_tree tree = {.root = NULL};

        CHECK(m);
        m->rng.state = seed;
        for (int step = 0; step < 1500; step++) {
            uint64_t what = below(m, 10);

            if (what < 5)
                insert_one(m, &tree);
            else if (what < 9)
                remove_one(m, &tree);
            else
                shrink_one(m);
            if (step % 25 == 0)
                check_tree(m, &tree);
        }
        free(m);
    }
}

TEST(ten_thousand_spans_stand_low)
{
    struct span_node *node = calloc(10000, sizeof(*node));
    struct span_tree tree = {.root = NULL};

    CHECK(node);
    for (uint64_t i = 0; i < 10000; i++) {
        node[i].first = i * 2;
        node[i].pages = 1;
        span_insert(&tree, &node[i]);
    }
    CHECK(span_validate(&tree) && tree.count == 10000 && tree.root->height <= 19); /* 1.44 log2 */
    for (uint64_t i = 0; i < 10000; i += 2)
        span_remove(&tree, &node[i]);
    CHECK(span_validate(&tree) && span_first(&tree) == &node[1]);
    free(node);
}
