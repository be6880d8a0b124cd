/* SPDX-License-Identifier: MIT */
/* A folder of a case's own for the files that it writes. */
#ifndef DXGK_TESTS_IMAGES_SUPPORT_FOLDER_H
#define DXGK_TESTS_IMAGES_SUPPORT_FOLDER_H

#define PATH_BYTES 256

/* The path of a file there; the first call makes the folder. */
void in_folder(char path[PATH_BYTES], const char *name);
/* With all files in it. */
void remove_folder(void);

#endif
