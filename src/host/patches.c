/* SPDX-License-Identifier: MIT */
/* How drivers write addresses into DMA buffers, as an embedder asks for it. */
#include "dxgkhost/dxgkhost.h"
#include "vidsch/patch_format.h"

const struct dxgk_patch_format *dxgk_patch_format(const char *name)
{
    return name ? patch_format_named(name) : NULL;
}
