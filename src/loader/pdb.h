/* SPDX-License-Identifier: MIT */
/*
 * The PDB file of a Windows image: the record in the image that names it (CodeView, RSDS), and
 * whether a file is that one. What is in it is read by llvm-symbolizer, which is no part of the
 * host. The layout of the file is that of LLVM's documentation of the PDB format.
 */
#ifndef DXGK_LOADER_PDB_H
#define DXGK_LOADER_PDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pdb_found {
    PDB_NO_RECORD, /* of an image that names none, or is no Windows image */
    PDB_FOUND,
    PDB_ABSENT, /* neither beside the image nor where it was made */
    PDB_OTHER,  /* of another build */
    PDB_DAMAGED,
};

/* Looks for it beside the image, under the name that the image has, and if there is none, at the
 * recorded path; llvm-symbolizer looks in this order, too, but does not compare.
 * `path`: what was found, or the name that was looked for; "" without a record. */
enum pdb_found pdb_find(const char *image, char *path, size_t bytes);

#endif
