/* SPDX-License-Identifier: MIT */
/*
 * Index of free runs by length: for each grade of alignment and each class of lengths, the set of
 * chunks (1024 frames, 4 MiB) in which such a run begins.
 *
 * All sets share one tree with 64 children per node. Each node has a word for each set: bit i of
 * the word says that something below child i belongs to the set. A second row of bits in each node
 * tells which of its words are not zero, so the next class that has a run is found without reading
 * them all.
 *
 *     root        1 TiB      children of 16 GiB
 *     middle     16 GiB      children of 256 MiB
 *     low       256 MiB      children of 4 MiB, the chunks
 *
 * Lengths below 512 are classes of their own; 512 to 4095 have 32 classes per octave, longer ones
 * 4.
 */
#ifndef DXGK_RAM_HOLE_INDEX_H
#define DXGK_RAM_HOLE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HOLE_GRADES = 3, /* aligned to 1, 16 and 512 frames: 4 KiB, 64 KiB, 2 MiB */
    HOLE_CLASSES = 704,
    HOLE_CLASS_WORDS = HOLE_CLASSES / 64,
    HOLE_LEVELS = 3,
    CHUNK_BITS = 10,
    CHUNK_FRAMES = 1 << CHUNK_BITS,
    EXACT_LENGTHS = 512, /* below this, a class is one length */
};

struct hole_node {
    uint64_t classes[HOLE_GRADES][HOLE_CLASS_WORDS];
    uint64_t children[HOLE_GRADES][HOLE_CLASSES];
};

/* A node of the lowest level also knows which chunks may have several holes of a class: when the
 * only hole of a chunk goes, there is no need to look for others. */
struct hole_low_node {
    uint64_t classes[HOLE_GRADES][HOLE_CLASS_WORDS];
    struct {
        uint64_t some, several;
    } chunks[HOLE_GRADES][HOLE_CLASSES];
};

struct hole_index {
    uint64_t nodes[HOLE_LEVELS];
    struct hole_low_node *low;
    struct hole_node *level[HOLE_LEVELS]; /* from 1 */
};

/* A search in a window of chunks (inclusive), from the highest chunk down. */
struct hole_search {
    const struct hole_index *index;
    unsigned level; /* of the lowest node that covers the window */
    uint64_t node, children;
    uint64_t low, high;
    unsigned grade;
};

size_t hole_index_bytes(uint64_t frames);
/* `memory`: zeroed, aligned to 8, owned by the caller. All sets are then empty. */
void hole_index_init(struct hole_index *index, void *memory, uint64_t frames);

/* The class of a length, 1 .. 2^28. Grows with the length. */
static inline unsigned hole_class(uint64_t length)
{
    unsigned octave;

    if (length < EXACT_LENGTHS)
        return (unsigned)length;
    octave = 63 - (unsigned)__builtin_clzll(length);
    if (octave < 12)
        return 512 + (octave - 9) * 32 + (unsigned)(length >> (octave - 5) & 31);
    return 608 + (octave - 12) * 4 + (unsigned)(length >> (octave - 2) & 3);
}

/* Record that one more hole of the class begins in the chunk. */
void hole_index_add(struct hole_index *index, unsigned grade, unsigned class, uint64_t chunk);
/* Record that one hole less begins there. False: there may be others, so the caller must count them
 * and call hole_index_tell. */
bool hole_index_remove(struct hole_index *index, unsigned grade, unsigned class, uint64_t chunk);
/* Answers hole_index_remove; a count of 2 means two or more. */
void hole_index_tell(struct hole_index *index, unsigned grade, unsigned class, uint64_t chunk,
                     unsigned count);
/* Whether the index agrees with these numbers of holes of each class in the chunk (2: two or
 * more). */
bool hole_index_agrees(const struct hole_index *index, unsigned grade, uint64_t chunk,
                       const uint8_t count[HOLE_CLASSES]);

static inline void hole_index_prefetch(const struct hole_index *index, unsigned grade,
                                       unsigned class, uint64_t chunk)
{
    __builtin_prefetch(&index->low[chunk / 64].chunks[grade][class], 1);
}

/* The window is chunks [low, high]. */
struct hole_search hole_search_begin(const struct hole_index *index, unsigned grade, uint64_t low,
                                     uint64_t high);
/* The smallest class at or above `class` that may have a chunk in the window; HOLE_CLASSES:
 * none. */
unsigned hole_search_class_above(const struct hole_search *search, unsigned class);
/* The largest class at or below `class` that may have a chunk in the window; 0: none. */
unsigned hole_search_class_below(const struct hole_search *search, unsigned class);
/* The highest chunk of the class in the window that is at most *chunk. */
bool hole_search_chunk(const struct hole_search *search, unsigned class, uint64_t *chunk);

/* Check the upper levels against the lowest; for tests and debug builds. */
bool hole_index_validate(const struct hole_index *index);

#endif
