/* SPDX-License-Identifier: MIT */
/* The ordered set against an array that is searched. */
#include "support/check_rule.h"

#include "util/order.h"
#include "util/rng.h"

enum { NODES = 300 };

struct model {
    struct order_node node[NODES];
    uint64_t inserted[NODES]; /* when; 0: not in the set */
    uint64_t now;
    struct order_tree tree;
};

/* By key, then by the time of insertion. */
static bool before(const struct model *m, unsigned a, unsigned b)
{
    if (m->node[a].major != m->node[b].major)
        return m->node[a].major < m->node[b].major;
    if (m->node[a].minor != m->node[b].minor)
        return m->node[a].minor < m->node[b].minor;
    return m->inserted[a] < m->inserted[b];
}

static void check_order(const struct model *m)
{
    unsigned walked = 0, members = 0;
    const struct order_node *last = NULL;

    CHECK(order_validate(&m->tree));
    for (unsigned i = 0; i < NODES; i++)
        members += m->inserted[i] != 0;
    for (const struct order_node *n = order_first(&m->tree); n; n = order_next(n), walked++) {
        CHECK(m->inserted[n - m->node]);
        CHECK(!last || before(m, (unsigned)(last - m->node), (unsigned)(n - m->node)));
        last = n;
    }
    CHECK(walked == members && m->tree.count == members);
}

TEST(nodes_stand_by_key_and_then_by_insertion)
{
    static struct model model;
    struct model *m = &model;
    struct rng rng = {.state = 5};

    for (unsigned round = 0; round < 5000; round++) {
        unsigned i = rng_below(&rng, NODES);

        if (m->inserted[i]) {
            order_remove(&m->tree, &m->node[i]);
            m->inserted[i] = 0;
        } else {
            m->inserted[i] = ++m->now;
            order_insert(&m->tree, &m->node[i], rng_below(&rng, 8), rng_below(&rng, 4));
        }
        if (round % 16 == 0)
            check_order(m);
    }
    for (unsigned i = 0; i < NODES; i++)
        if (m->inserted[i]) {
            order_remove(&m->tree, &m->node[i]);
            m->inserted[i] = 0;
        }
    check_order(m);
    CHECK(!order_first(&m->tree));
}
