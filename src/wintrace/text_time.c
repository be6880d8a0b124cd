/* SPDX-License-Identifier: MIT */
#include "wintrace/text_time.h"

#define FIRST_YEAR 1970u
#define LAST_YEAR  2250u /* up to which ns fit into 64 bits with a sign */
#define DAY        INT64_C(86400)
#define NS         INT64_C(1000000000)

/* A number of exactly so many digits, and the letter behind it; 0: none is expected. */
static bool take(struct text *text, unsigned digits, char behind, unsigned *value)
{
    *value = 0;
    if (text->length < digits + (behind ? 1u : 0u))
        return false;
    for (unsigned i = 0; i < digits; i++) {
        if (text->at[i] < '0' || text->at[i] > '9')
            return false;
        *value = *value * 10 + (unsigned)(text->at[i] - '0');
    }
    if (behind && text->at[digits] != behind)
        return false;
    text->at += digits + (behind ? 1u : 0u);
    text->length -= digits + (behind ? 1u : 0u);
    return true;
}

static int64_t days_before(unsigned year, unsigned month, unsigned day)
{
    static const unsigned before[12] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    unsigned passed = year - 1, first = FIRST_YEAR - 1;
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return (int64_t)(year - FIRST_YEAR) * 365 + (passed / 4 - first / 4) -
           (passed / 100 - first / 100) + (passed / 400 - first / 400) + before[month - 1] +
           (leap && month > 2) + day - 1;
}

/* Behind the point: up to 9 digits count, further ones are below a ns. */
static int64_t take_fraction(struct text *text)
{
    int64_t ns = 0, unit = NS / 10;

    if (!text->length || text->at[0] != '.')
        return 0;
    for (text->at++, text->length--; text->length && text->at[0] >= '0' && text->at[0] <= '9';
         text->at++, text->length--, unit /= 10)
        ns += (text->at[0] - '0') * unit;
    return ns;
}

/* Seconds that the zone is ahead. */
static bool take_zone(struct text text, int64_t *seconds)
{
    unsigned hours, minutes;
    bool behind = text.length && text.at[0] == '-';

    *seconds = 0;
    if (text.length == 0 || text_is(text, "Z"))
        return true;
    if (text.at[0] != '+' && text.at[0] != '-')
        return false;
    text.at++;
    text.length--;
    if (!take(&text, 2, ':', &hours) || !take(&text, 2, 0, &minutes) || text.length)
        return false;
    *seconds = (int64_t)(hours * 3600 + minutes * 60) * (behind ? -1 : 1);
    return true;
}

bool text_time(struct text text, uint64_t *ns)
{
    unsigned year, month, day, hour, minute, second;
    int64_t fraction, zone, seconds;

    text = text_trim(text);
    if (!take(&text, 4, '-', &year) || !take(&text, 2, '-', &month) || !take(&text, 2, 'T', &day) ||
        !take(&text, 2, ':', &hour) || !take(&text, 2, ':', &minute) || !take(&text, 2, 0, &second))
        return false;
    if (year < FIRST_YEAR || year > LAST_YEAR || month < 1 || month > 12 || day < 1 || day > 31 ||
        hour > 23 || minute > 59 || second > 60)
        return false;
    fraction = take_fraction(&text);
    if (!take_zone(text, &zone))
        return false;
    seconds = days_before(year, month, day) * DAY + hour * 3600 + minute * 60 + second - zone;
    if (seconds < 0)
        return false;
    *ns = (uint64_t)(seconds * NS + fraction);
    return true;
}
