/* SPDX-License-Identifier: MIT */
/* The index of holes by alignment and length. See hole_index.h for the structure. */
#include "ram/hole_index.h"

#define ALL UINT64_MAX

_Static_assert(HOLE_CLASSES >= 608 + (28 - 12) * 4, "lengths below 2^28 have a class");

static uint64_t nodes_on(unsigned level, uint64_t frames)
{
    unsigned bits = CHUNK_BITS + 6 * (level + 1);

    return ((frames - 1) >> bits) + 1;
}

size_t hole_index_bytes(uint64_t frames)
{
    uint64_t upper = 0;

    for (unsigned level = 1; level < HOLE_LEVELS; level++)
        upper += nodes_on(level, frames);
    return (size_t)(upper * sizeof(struct hole_node) +
                    nodes_on(0, frames) * sizeof(struct hole_low_node));
}

void hole_index_init(struct hole_index *index, void *memory, uint64_t frames)
{
    struct hole_node *next = memory;

    for (unsigned level = HOLE_LEVELS; --level > 0;) {
        index->nodes[level] = nodes_on(level, frames);
        index->level[level] = next;
        next += index->nodes[level];
    }
    index->nodes[0] = nodes_on(0, frames);
    index->low = (struct hole_low_node *)(void *)next;
}

/* ---- change ---- */

static inline uint64_t bit_of(uint64_t child)
{
    return (uint64_t)1 << child % 64;
}

/* A node got its first hole of a class, or lost its last: update the nodes above. */
static void tell_some(struct hole_index *index, unsigned grade, unsigned class, uint64_t child)
{
    for (unsigned level = 1; level < HOLE_LEVELS; level++, child /= 64) {
        struct hole_node *node = &index->level[level][child / 64];
        uint64_t *children = &node->children[grade][class], were = *children;

        *children |= bit_of(child);
        if (were != 0)
            return;
        node->classes[grade][class / 64] |= bit_of(class);
    }
}

static void tell_none(struct hole_index *index, unsigned grade, unsigned class, uint64_t child)
{
    for (unsigned level = 1; level < HOLE_LEVELS; level++, child /= 64) {
        struct hole_node *node = &index->level[level][child / 64];
        uint64_t *children = &node->children[grade][class];

        *children &= ~bit_of(child);
        if (*children != 0)
            return;
        node->classes[grade][class / 64] &= ~bit_of(class);
    }
}

void hole_index_add(struct hole_index *index, unsigned grade, unsigned class, uint64_t chunk)
{
    struct hole_low_node *node = &index->low[chunk / 64];
    uint64_t were = node->chunks[grade][class].some;

    node->chunks[grade][class].some = were | bit_of(chunk);
    node->chunks[grade][class].several |= were & bit_of(chunk);
    if (were == 0) {
        node->classes[grade][class / 64] |= bit_of(class);
        tell_some(index, grade, class, chunk / 64);
    }
}

void hole_index_tell(struct hole_index *index, unsigned grade, unsigned class, uint64_t chunk,
                     unsigned count)
{
    struct hole_low_node *node = &index->low[chunk / 64];

    if (count < 2)
        node->chunks[grade][class].several &= ~bit_of(chunk);
    if (count > 0)
        return;
    node->chunks[grade][class].some &= ~bit_of(chunk);
    if (node->chunks[grade][class].some == 0) {
        node->classes[grade][class / 64] &= ~bit_of(class);
        tell_none(index, grade, class, chunk / 64);
    }
}

bool hole_index_remove(struct hole_index *index, unsigned grade, unsigned class, uint64_t chunk)
{
    if (index->low[chunk / 64].chunks[grade][class].several & bit_of(chunk))
        return false;
    hole_index_tell(index, grade, class, chunk, 0);
    return true;
}

bool hole_index_agrees(const struct hole_index *index, unsigned grade, uint64_t chunk,
                       const uint8_t count[HOLE_CLASSES])
{
    const struct hole_low_node *node = &index->low[chunk / 64];
    bool wrong = false;

    for (unsigned class = 0; class < HOLE_CLASSES; class ++) {
        bool some, several;

        /* A class that no chunk of the node has, this chunk cannot have; hole_index_validate checks
         * that. */
        if (count[class] == 0 && !(node->classes[grade][class / 64] >> class % 64 & 1))
            continue;
        some = node->chunks[grade][class].some >> chunk % 64 & 1;
        several = node->chunks[grade][class].several >> chunk % 64 & 1;
        wrong |= some != (count[class] > 0) || several < (count[class] > 1) || some < several;
    }
    return !wrong;
}

/* ---- search ---- */

/* The mask of a node's children that overlap chunks [low, high]. */
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

static inline const uint64_t *classes_of(const struct hole_search *search)
{
    return search->level > 0
               ? search->index->level[search->level][search->node].classes[search->grade]
               : search->index->low[search->node].classes[search->grade];
}

/* The children of a node that have holes of the class. */
static inline uint64_t children_of(const struct hole_index *index, unsigned level, uint64_t node,
                                   unsigned grade, unsigned class)
{
    if (level == 0)
        return index->low[node].chunks[grade][class].some;
    return index->level[level][node].children[grade][class];
}

static inline bool node_has(const struct hole_search *search, unsigned class)
{
    return children_of(search->index, search->level, search->node, search->grade, class) &
           search->children;
}

unsigned hole_search_class_above(const struct hole_search *search, unsigned class)
{
    const uint64_t *classes = classes_of(search);
    unsigned word = class / 64;
    uint64_t bits;

    if (class >= HOLE_CLASSES)
        return HOLE_CLASSES;
    bits = classes[word] & ALL << class % 64;
    for (;;) {
        for (; bits; bits &= bits - 1) {
            class = word * 64 + (unsigned)__builtin_ctzll(bits);
            if (node_has(search, class))
                return class;
        }
        if (++word == HOLE_CLASS_WORDS)
            return HOLE_CLASSES;
        bits = classes[word];
    }
}

unsigned hole_search_class_below(const struct hole_search *search, unsigned class)
{
    const uint64_t *classes = classes_of(search);
    unsigned word = class / 64;
    uint64_t bits = classes[word] & ALL >> (63 - class % 64);

    for (;;) {
        while (bits) {
            unsigned bit = 63 - (unsigned)__builtin_clzll(bits);

            class = word * 64 + bit;
            if (node_has(search, class))
                return class;
            bits &= ~bit_of(bit);
        }
        if (word-- == 0)
            return 0;
        bits = classes[word];
    }
}

/* Search below one node. Only at the ends of the window may a child turn out to have no chunk
 * inside it. */
static bool highest_below(const struct hole_search *search, unsigned level, uint64_t node,
                          unsigned class, uint64_t *chunk)
{
    uint64_t bits = children_of(search->index, level, node, search->grade, class) &
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
        bits &= ~bit_of(bit);
    }
    return false;
}

bool hole_search_chunk(const struct hole_search *search, unsigned class, uint64_t *chunk)
{
    return highest_below(search, search->level, search->node, class, chunk);
}

/* ---- validation ---- */

/* The classes, of those in one word, that children of a node have, as bits. Most words have none
 * and are skipped quickly. */
static uint64_t classes_with_children(const struct hole_index *index, unsigned level, uint64_t at,
                                      unsigned grade, unsigned word)
{
    uint64_t bits = 0, any = 0;

    for (unsigned i = 0; i < 64; i++)
        any |= children_of(index, level, at, grade, word * 64 + i);
    for (unsigned i = 0; i < 64 && any; i++)
        bits |= (uint64_t)(children_of(index, level, at, grade, word * 64 + i) != 0) << i;
    return bits;
}

/* The classes that the parent says this node has. */
static uint64_t classes_told(const struct hole_index *index, unsigned level, uint64_t at,
                             unsigned grade, unsigned word)
{
    const uint64_t *above = &index->level[level + 1][at / 64].children[grade][(size_t)word * 64];
    uint64_t bits = 0, any = 0;

    for (unsigned i = 0; i < 64; i++)
        any |= above[i];
    for (unsigned i = 0; i < 64 && any >> at % 64 & 1; i++)
        bits |= (above[i] >> at % 64 & 1) << i;
    return bits;
}

static bool node_holds(const struct hole_index *index, unsigned level, uint64_t at, unsigned grade)
{
    const struct hole_search node = {.index = index, .level = level, .node = at, .grade = grade};

    for (unsigned word = 0; word < HOLE_CLASS_WORDS; word++) {
        uint64_t has = classes_with_children(index, level, at, grade, word);

        if (classes_of(&node)[word] != has)
            return false;
        if (level + 1 < HOLE_LEVELS && classes_told(index, level, at, grade, word) != has)
            return false;
    }
    return true;
}

bool hole_index_validate(const struct hole_index *index)
{
    for (unsigned level = 0; level < HOLE_LEVELS; level++)
        for (uint64_t at = 0; at < index->nodes[level]; at++)
            for (unsigned grade = 0; grade < HOLE_GRADES; grade++)
                if (!node_holds(index, level, at, grade))
                    return false;
    return true;
}
