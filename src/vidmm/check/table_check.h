/* SPDX-License-Identifier: MIT */
/* Compares page tables as they stand in memory with what the driver was asked to write. Theory of
 * operation in table_check.c. */
#ifndef DXGK_VIDMM_TABLE_CHECK_H
#define DXGK_VIDMM_TABLE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

struct page_table;
struct table_reader;
struct vidmm;
struct vidmm_process;
struct vidmm_space;

struct table_check {
    uint64_t entries;        /* compared */
    uint64_t wrong;          /* of these */
    uint64_t pending;        /* not compared: their update has not completed */
    uint64_t tables, hidden; /* visited; of these, in memory that the CPU does not see */
};

/* All tables that the GPU can reach, of every space, and what the device model says of its TLB has
 * no part in it. False: nothing was checked: no format is known, or tables are not written just
 * now (in a reset, without power). Takes the lock. */
bool vidmm_check_tables(struct vidmm *vidmm, struct table_check *check);
/* The entries that translate one address, at a fault; where no format is known, the device model's
 * own walk. At any level, without the lock, as vidmm_address_text. */
void vidmm_check_address(const struct vidmm_process *process, uint64_t address);

/* vidmm.table_reader, where tables are checked. */
extern const struct table_reader table_check_reader;

#endif
