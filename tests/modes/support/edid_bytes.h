/* SPDX-License-Identifier: MIT */
/* EDIDs by hand: a base block with nothing in it, into which a test writes. */
#ifndef DXGK_TESTS_MODES_EDID_BYTES_H
#define DXGK_TESTS_MODES_EDID_BYTES_H

#include "support/check_rule.h"

#include "modes/edid.h"
#include "modes/timing.h"

struct edid_bytes {
    uint8_t block[EDID_MOST_BLOCKS][EDID_BLOCK];
    unsigned blocks;
    struct mode_set *set; /* that edid_bytes_read has made */
};

/* Of EDID 1.<revision>: header, no standard timings, four unused descriptors. */
void edid_bytes_init(struct edid_bytes *edid, unsigned revision);
/* The n-th descriptor of the base block. */
uint8_t *edid_bytes_descriptor(struct edid_bytes *edid, unsigned n);
/* Another block, of CTA-861 revision 3, with its detailed timings from byte `detailed` on. */
uint8_t *edid_bytes_extension(struct edid_bytes *edid, unsigned detailed);
/* 18 bytes of a detailed timing; lines are those of a field. */
void edid_bytes_detailed(uint8_t *at, unsigned units, unsigned width, unsigned blank,
                         unsigned height, unsigned lines, bool interlaced);
/* Set the last byte of each block. */
void edid_bytes_sum(struct edid_bytes *edid);
/* The modes, in edid->set, which the next call destroys; every call must be followed by edid_bytes_end. */
void edid_bytes_read(struct edid_bytes *edid);
void edid_bytes_end(struct edid_bytes *edid);

/* The mode of this signal; NULL: there is none, or more than one. */
const D3DKMDT_MONITOR_SOURCE_MODE *edid_bytes_mode(const struct edid_bytes *edid,
                                                   const struct timing *timing);
/* The index of the only preferred mode; -1: there is none, -2: there are more. */
int edid_bytes_preferred(const struct edid_bytes *edid);

#endif
