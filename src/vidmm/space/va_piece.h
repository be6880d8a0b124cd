/* SPDX-License-Identifier: MIT */
/* What the pages of a range say, and how that gets into page-table entries. Lock held. */
#ifndef DXGK_VIDMM_VA_PIECE_H
#define DXGK_VIDMM_VA_PIECE_H

#include "vidmm/space/va_range.h"

struct entry_source;
struct va_job;
struct va_piece;
struct va_range;

/* A piece that is in no tree yet; hold its tables. Fails as tables_hold. */
NTSTATUS piece_create(struct va_range *range, const struct va_piece *values,
                      struct va_piece **piece);
/* Undo piece_create. */
void piece_discard(struct va_piece *piece);
/* The job's turn will do nothing (GPUVA-120); its piece goes. */
void va_job_cancel(struct va_job *job);
/* Take a piece that is in place out of its range; its entries are the caller's to write. */
void piece_remove(struct va_piece *piece);
/* Memory of a piece that is on no list. */
void piece_give(struct va_range *range, struct va_piece *piece);
/* What the entries of its pages say. */
void piece_source(const struct va_piece *piece, struct entry_source *source);
/* Put it in place; what it covers goes. `spare` may be used (*spare becomes NULL). Entries are the
 * caller's to write. */
void piece_apply(struct va_piece *piece, struct va_piece **spare);
/* Write the entries of a piece, or of the initial state of [first, first + pages) (builder's
 * fiber). */
void piece_write(struct va_piece *piece);
void range_write_initial(struct va_range *range, uint64_t first, uint64_t pages);
/* Does placing the piece need operations? */
bool piece_needs_write(const struct va_piece *piece);

/* A waiting piece whose allocation goes: at its turn its pages get the initial state of the
 * range. */
void piece_become_initial(struct va_piece *piece);
/* What page_table_write.c asks of the records of a space. */
extern const struct space_records va_piece_records;

#endif
