/* SPDX-License-Identifier: MIT */
/* What code of its drivers a client has made run. */
#include "dxgkhost/fuzz.h"

#include "host/run.h"
#include "loader/breakpoints.h"
#include "loader/coverage.h"
#include "loader/loader.h"

_Static_assert(sizeof(struct dxgk_compare) == sizeof(struct coverage_compare) &&
                   offsetof(struct dxgk_compare, bytes) == offsetof(struct coverage_compare, bytes),
               "pairs are copied as they are");
_Static_assert(DXGK_PLACES == COVERAGE_PLACES, "counters are copied one to one");

static struct coverage *of_client(void)
{
    return host_run_client_machine() ? loader_coverage() : NULL;
}

void dxgk_client_coverage_clear(void)
{
    struct coverage *coverage = of_client();

    if (!coverage)
        return;
    coverage_clear(coverage);
    breakpoints_renew(coverage);
}

bool dxgk_client_coverage_break(void)
{
    return of_client() && breakpoints_place();
}

bool dxgk_client_find_constants(void)
{
    return of_client() && breakpoints_find_constants();
}

uint32_t dxgk_client_coverage(uint8_t *counters)
{
    const struct coverage *coverage = of_client();

    if (!coverage || (!coverage->places && !coverage->by_address))
        return 0;
    coverage_collect(coverage, counters);
    return coverage->by_address || coverage->places > DXGK_PLACES ? DXGK_PLACES : coverage->places;
}

uint32_t dxgk_client_constants(struct dxgk_compare *constants, uint32_t most)
{
    const struct coverage *coverage = of_client();
    uint32_t count = coverage && coverage->constants < most ? coverage->constants : most;

    if (!coverage)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        constants[i] = (struct dxgk_compare){.a = coverage->constant[i].a,
                                             .bytes = coverage->constant[i].bytes};
    return count;
}

uint32_t dxgk_client_compares(struct dxgk_compare *compares, uint32_t most)
{
    const struct coverage *coverage = of_client();

    return coverage ? coverage_pairs(coverage, (struct coverage_compare *)compares, most) : 0;
}
