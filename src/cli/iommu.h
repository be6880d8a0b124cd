/* SPDX-License-Identifier: MIT */
/* The option --iommu. */
#ifndef DXGK_CLI_IOMMU_H
#define DXGK_CLI_IOMMU_H

#include <stdbool.h>

#include "dxgkhost/dxgkhost.h"

/* Parses the argument of --iommu: words separated by commas, as listed in the usage text. False:
 * one word is unknown; nothing is set then. */
bool cli_parse_iommu(const char *text, struct dxgk_machine_config *config);
#define CLI_IOMMU_WORDS \
    "--iommu wants off, isolation, remap, flags=N, present, svm, opt-out or unjudged, with commas between"

#endif
