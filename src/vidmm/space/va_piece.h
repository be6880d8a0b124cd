/* SPDX-License-Identifier: MIT */
/* Pieces: a piece (compare drm_gpuva) says what consecutive pages of a range map; from it their
 * page-table entries are written. Lock held. */
#ifndef DXGK_VIDMM_VA_PIECE_H
#define DXGK_VIDMM_VA_PIECE_H

#include "vidmm/space/va_range.h"

struct entry_source;
struct va_job;
struct va_piece;
struct va_range;

/* Create a piece that is not in the range's tree yet, and hold its tables. Fails as tables_hold. */
NTSTATUS piece_create(struct va_range *range, const struct va_piece *values,
                      struct va_piece **piece);
/* Undo piece_create. */
void piece_discard(struct va_piece *piece);
/* Cancel a job: it will do nothing when it runs (GPUVA-120), and its piece is freed. */
void va_job_cancel(struct va_job *job);
/* It maps nothing any more, and holds no tables: all that is left is its place in the tree. */
void piece_end(struct va_piece *piece);
/* Remove a piece from its range and free it; the caller writes the entries. */
void piece_remove(struct va_piece *piece);
/* Free the memory of a piece that is in no tree or list. */
void piece_give(struct va_range *range, struct va_piece *piece);
/* Get what the entries of its pages should contain. */
void piece_source(const struct va_piece *piece, struct entry_source *source);
/* Insert the piece in its range, cutting or removing pieces that it overlaps. If one is cut in two,
 * *spare is used for the second part and set to NULL. The caller writes the entries. */
void piece_apply(struct va_piece *piece, struct va_piece **spare);
/* Write the entries of a piece; or write the initial state of [first, first + pages)
 * (builder's fiber). */
void piece_write(struct va_piece *piece);
void range_write_initial(struct va_range *range, uint64_t first, uint64_t pages);
/* Called for each part of a range that is in one state; `piece` NULL: the initial state. */
typedef void (*range_stretch_fn)(void *arg, struct va_range *range, struct va_piece *piece,
                                 uint64_t first, uint64_t end);
void range_each_stretch(struct va_range *range, uint64_t first, uint64_t end, range_stretch_fn fn,
                        void *arg);
/* Write the entries of one stretch; or of all pages, also of those that no range has (builder's
 * fiber). */
void range_write_stretch(struct va_range *range, struct va_piece *piece, uint64_t first,
                         uint64_t end);
/* Invalidate the entries of a freed range, each with the protection that it has (GPUVA-099). */
void range_wipe(struct va_range *range);
/* Do the records say that the pages of values->span map what the values say? */
bool space_maps(struct vidmm_space *space, const struct va_piece *values);
void space_write_again(struct vidmm_space *space, uint64_t first, uint64_t pages);
/* Must operations be built when the piece is inserted? */
bool piece_needs_write(const struct va_piece *piece);

/* The allocation of a piece whose job has not run yet is being destroyed: when the job runs, the
 * pages will get the initial state of the range. */
void piece_become_initial(struct va_piece *piece);
/* The callbacks for page_table_write.c. */
extern const struct space_records va_piece_records;

#endif
