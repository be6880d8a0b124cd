/* SPDX-License-Identifier: MIT */
/* Translations that the device's TLB kept and used after they were taken away. */
#ifndef DXGK_VIDMM_TRANSLATION_CHECK_H
#define DXGK_VIDMM_TRANSLATION_CHECK_H

struct vidmm;

/* Have the device model's news of them checked, if page tables are; and no longer. */
void translation_check_begin(struct vidmm *vidmm);
void translation_check_end(struct vidmm *vidmm);

#endif
