/* SPDX-License-Identifier: MIT */
#include "ram/hole_index.h"

#define ALL UINT64_MAX

_Static_assert(HOLE_CLASSES >= 256 + (28 - 12) * 4, "lengths below 2^28 have a class");

static uint64_t nodes_on(unsigned level, uint64_t frames)
{
    unsigned bits = CHUNK_BITS + 6 * (level + 1);

    return ((frames - 1) >> bits) + 1;
}

size_t hole_index_bytes(uint64_t frames)
{
    uint64_t nodes = 0;

    for (unsigned level = 0; level < HOLE_LEVELS; level++)
        nodes += nodes_on(level, frames);
    return (size_t)nodes * sizeof(struct hole_node);
}

void hole_index_init(struct hole_index *index, void *memory, uint64_t frames)
{
    struct hole_node *next = memory;

    for (unsigned level = HOLE_LEVELS; level-- > 0;) {
        index->nodes[level] = nodes_on(level, frames);
        index->level[level] = next;
        next += index->nodes[level];
    }
}

/* ---- change ---- */

void hole_index_add(struct hole_index *index, unsigned grade, unsigned class, uint64_t chunk)
{
    for (unsigned level = 0; level < HOLE_LEVELS; level++, chunk /= 64) {
        struct hole_node *node = &index->level[level][chunk / 64];
        uint64_t *children = &node->children[grade][class], were = *children;

        *children |= (uint64_t)1 << chunk % 64;
        if (were != 0)
            return;
        node->classes[grade][class / 64] |= (uint64_t)1 << class % 64;
    }
}

void hole_index_remove(struct hole_index *index, unsigned grade, unsigned class, uint64_t chunk)
{
    for (unsigned level = 0; level < HOLE_LEVELS; level++, chunk /= 64) {
        struct hole_node *node = &index->level[level][chunk / 64];
        uint64_t *children = &node->children[grade][class];

        *children &= ~((uint64_t)1 << chunk % 64);
        if (*children != 0)
            return;
        node->classes[grade][class / 64] &= ~((uint64_t)1 << class % 64);
    }
}

bool hole_index_has(const struct hole_index *index, unsigned grade, unsigned class, uint64_t chunk)
{
    return index->level[0][chunk / 64].children[grade][class] >> chunk % 64 & 1;
}

/* ---- search ---- */

/* The children of a node, as a mask, that reach into chunks [low, high]. */
static inline uint64_t children_in(unsigned level, uint64_t node, uint64_t low, uint64_t high)
{
    uint64_t first = low >> 6 * level, last = high >> 6 * level, mask = ALL;

    if (first / 64 == node)
        mask &= ALL << first % 64;
    if (last / 64 == node)
        mask &= ALL >> (63 - last % 64);
    return mask;
}

struct hole_search hole_search_begin(const struct hole_index *index, unsigned grade, uint64_t low,
                                     uint64_t high)
{
    struct hole_search search = {
        .index = index, .level = HOLE_LEVELS - 1, .low = low, .high = high, .grade = grade};

    while (search.level > 0 && low >> 6 * search.level == high >> 6 * search.level) {
        search.node = low >> 6 * search.level;
        search.level--;
    }
    search.children = children_in(search.level, search.node, low, high);
    return search;
}

unsigned hole_search_class_above(const struct hole_search *search, unsigned class)
{
    const struct hole_node *node = &search->index->level[search->level][search->node];
    unsigned word = class / 64;
    uint64_t bits;

    if (class >= HOLE_CLASSES)
        return HOLE_CLASSES;
    bits = node->classes[search->grade][word] & ALL << class % 64;
    for (;;) {
        while (bits) {
            class = word * 64 + (unsigned)__builtin_ctzll(bits);
            if (node->children[search->grade][class] & search->children)
                return class;
            bits &= bits - 1;
        }
        if (++word == HOLE_CLASS_WORDS)
            return HOLE_CLASSES;
        bits = node->classes[search->grade][word];
    }
}

unsigned hole_search_class_below(const struct hole_search *search, unsigned class)
{
    const struct hole_node *node = &search->index->level[search->level][search->node];
    unsigned word = class / 64;
    uint64_t bits = node->classes[search->grade][word] & ALL >> (63 - class % 64);

    for (;;) {
        while (bits) {
            unsigned bit = 63 - (unsigned)__builtin_clzll(bits);

            class = word * 64 + bit;
            if (node->children[search->grade][class] & search->children)
                return class;
            bits &= ~((uint64_t)1 << bit);
        }
        if (word-- == 0)
            return 0;
        bits = node->classes[search->grade][word];
    }
}

/* Below one node; only at the ends of the window a child may turn out to have nothing inside. */
static bool highest_below(const struct hole_search *search, unsigned level, uint64_t node,
                          unsigned class, uint64_t *chunk)
{
    uint64_t bits = search->index->level[level][node].children[search->grade][class] &
                    children_in(level, node, search->low, *chunk);

    while (bits) {
        unsigned bit = 63 - (unsigned)__builtin_clzll(bits);
        uint64_t child = node * 64 + bit;

        if (level == 0) {
            *chunk = child;
            return true;
        }
        if (highest_below(search, level - 1, child, class, chunk))
            return true;
        bits &= ~((uint64_t)1 << bit);
    }
    return false;
}

bool hole_search_chunk(const struct hole_search *search, unsigned class, uint64_t *chunk)
{
    return highest_below(search, search->level, search->node, class, chunk);
}

/* ---- validation ---- */

static bool node_holds(const struct hole_index *index, unsigned level, uint64_t at)
{
    const struct hole_node *node = &index->level[level][at];

    for (unsigned grade = 0; grade < HOLE_GRADES; grade++) {
        for (unsigned class = 0; class < HOLE_CLASSES; class ++) {
            bool some = node->children[grade][class] != 0;

            if ((node->classes[grade][class / 64] >> class % 64 & 1) != some)
                return false;
            if (level + 1 < HOLE_LEVELS &&
                (index->level[level + 1][at / 64].children[grade][class] >> at % 64 & 1) != some)
                return false;
        }
    }
    return true;
}

bool hole_index_validate(const struct hole_index *index)
{
    for (unsigned level = 0; level < HOLE_LEVELS; level++)
        for (uint64_t at = 0; at < index->nodes[level]; at++)
            if (!node_holds(index, level, at))
                return false;
    return true;
}
