/* SPDX-License-Identifier: MIT */
/* --iommu MODE,WORD,...: how devices reach memory. */
#include <string.h>

#include "cli/iommu.h"
#include "cli/number.h"

static bool is(const char *word, size_t bytes, const char *name)
{
    return bytes == strlen(name) && memcmp(word, name, bytes) == 0;
}

static bool parse_flags(const char *text, size_t bytes, uint32_t *flags)
{
    char digits[16];
    uint64_t number;

    if (bytes >= sizeof(digits))
        return false;
    memcpy(digits, text, bytes);
    digits[bytes] = 0;
    if (!cli_parse_number(digits, &number) || number > UINT32_MAX)
        return false;
    *flags = (uint32_t)number;
    return true;
}

static bool parse_word(const char *word, size_t bytes, struct dxgk_machine_config *config)
{
    static const char *const modes[] = {"off", "isolation", "remap"};
    static const char flags[] = "flags=";
    const size_t prefix = sizeof(flags) - 1;

    for (int i = 0; i < 3; i++) {
        if (is(word, bytes, modes[i])) {
            config->iommu = (enum dxgk_iommu)i;
            return true;
        }
    }
    if (bytes > prefix && memcmp(word, flags, prefix) == 0)
        return parse_flags(word + prefix, bytes - prefix, &config->iommu_flags);
    if (is(word, bytes, "present"))
        config->iommu_present = true;
    else if (is(word, bytes, "svm"))
        config->shared_address_space = true;
    else if (is(word, bytes, "opt-out"))
        config->remapping_opt_out = true;
    else if (is(word, bytes, "unjudged"))
        config->dma_unjudged = true;
    else
        return false;
    return true;
}

bool cli_parse_iommu(const char *text, struct dxgk_machine_config *config)
{
    struct dxgk_machine_config parsed = *config;

    parsed.iommu = DXGK_IOMMU_OFF;
    parsed.iommu_flags = 0;
    parsed.iommu_present = parsed.shared_address_space = false;
    parsed.remapping_opt_out = parsed.dma_unjudged = false;
    for (;;) {
        const size_t bytes = strcspn(text, ",");

        if (!parse_word(text, bytes, &parsed))
            return false;
        if (!text[bytes])
            break;
        text += bytes + 1;
    }
    *config = parsed;
    return true;
}
