/* SPDX-License-Identifier: MIT */
#include "wintrace/diff.h"
#include "util/alloc.h"

/*
 * Paths run from (0, 0) to (n, m): a step right leaves an element of a out, one down an element of
 * b, and a diagonal takes one of both. furthest[k] is how far right paths of d differences come on
 * diagonal k = x - y. The rows of all d are kept, row d with 2 d + 1 numbers, for the way back.
 */
struct search {
    const uint64_t *a, *b;
    int64_t n, m;
    int64_t *row[DIFF_MOST + 1];
    size_t *match; /* of a's first element */
    size_t offset; /* of b's first element */
};

/* row[d][k], k from -d to d. */
static int64_t *at(const struct search *s, int64_t d, int64_t k)
{
    return &s->row[d][k + d];
}

/* Where a path of d differences enters diagonal k, from one of d - 1; *down: by leaving out an
 * element of b. */
static int64_t enter(const struct search *s, int64_t d, int64_t k, bool *down)
{
    *down = k == -d || (k != d && *at(s, d - 1, k - 1) < *at(s, d - 1, k + 1));
    return *down ? *at(s, d - 1, k + 1) : *at(s, d - 1, k - 1) + 1;
}

/* True: the end was reached. */
static bool extend(const struct search *s, int64_t d)
{
    for (int64_t k = -d; k <= d; k += 2) {
        bool down;
        int64_t x = d ? enter(s, d, k, &down) : 0, y = x - k;

        while (x < s->n && y >= 0 && y < s->m && s->a[x] == s->b[y]) {
            x++;
            y++;
        }
        *at(s, d, k) = x;
        if (x >= s->n && y >= s->m)
            return true;
    }
    return false;
}

static void walk_back(const struct search *s, int64_t d)
{
    int64_t x = s->n, y = s->m;

    for (; d >= 0; d--) {
        int64_t k = x - y;
        bool down = false;
        int64_t from = d ? enter(s, d, k, &down) : 0;

        for (; x > from && y > 0; x--, y--)
            s->match[x - 1] = s->offset + (size_t)(y - 1);
        if (d) {
            x = down ? from : from - 1;
            y = down ? from - k - 1 : from - k;
        }
    }
}

/* False: out of memory. */
static bool search(struct search *s)
{
    bool good = true, found = false;
    int64_t d = 0;

    for (; good && !found && d <= DIFF_MOST; d++) {
        s->row[d] = util_zalloc((size_t)(2 * d + 1), sizeof(int64_t));
        good = s->row[d] != NULL;
        found = good && extend(s, d);
    }
    if (found)
        walk_back(s, d - 1);
    for (int64_t i = 0; i < d; i++)
        util_free(s->row[i]);
    return good;
}

bool diff_run(const uint64_t *a, size_t n, const uint64_t *b, size_t m, size_t *match)
{
    size_t begin = 0, end = 0;
    struct search *s;
    bool good;

    for (size_t i = 0; i < n; i++)
        match[i] = DIFF_NONE;
    for (; begin < n && begin < m && a[begin] == b[begin]; begin++)
        match[begin] = begin;
    for (; end < n - begin && end < m - begin && a[n - 1 - end] == b[m - 1 - end]; end++)
        match[n - 1 - end] = m - 1 - end;
    if (begin + end == n || begin + end == m)
        return true;
    s = util_zalloc(1, sizeof(*s));
    if (!s)
        return false;
    s->a = a + begin;
    s->b = b + begin;
    s->n = (int64_t)(n - begin - end);
    s->m = (int64_t)(m - begin - end);
    s->match = match + begin;
    s->offset = begin;
    good = search(s);
    util_free(s);
    return good;
}
