/* SPDX-License-Identifier: MIT */
/*
 * What a driver compiled by gcc with -fsanitize-coverage=trace-pc calls at each branch: a counter for each place, in a section of
 * its own, .dxgkpc, by which dxgkhost fuzz finds them. (trace-cmp: coverage.c)
 */
#define PLACES 65536u

extern char __ImageBase[];

__attribute__((section(".dxgkpc"), used)) unsigned char dxgk_places[PLACES] = {0};

void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
    unsigned long long place = (unsigned long long)__builtin_return_address(0) -
                               (unsigned long long)__ImageBase;
    unsigned char *count = &dxgk_places[(place ^ place >> 16) % PLACES];

    if (*count != 255)
        ++*count;
}
