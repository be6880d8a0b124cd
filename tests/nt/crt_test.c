/* SPDX-License-Identifier: MIT */
/*
 * The C library functions that Windows images import from the kernel, held against those of this process: the same arguments,
 * the same answers. The wide ones are held against the narrow ones.
 */
#include "nt/routine.h"
#include "support/harness.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

static const char *const words[] = {"",     "a",   "b",    "ab",   "aB",   "AB",    "abc", "abd",
                                    "abab", "bab", "aabb", "zZ[@", "`{az", "a\xFF", "10",  "cab"};
enum { WORDS = RTL_NUMBER_OF(words), ROOM = 24 };

static WCHAR wide[WORDS][ROOM];

static void *find(const char *name)
{
    void *routine = nt_routine_find(name);

    if (!routine)
        fail_msg("there is no %s", name);
    return routine;
}

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

static void widen(void)
{
    for (unsigned i = 0; i < WORDS; i++)
        for (unsigned k = 0; k < ROOM; k++) {
            wide[i][k] = (uint8_t)words[i][k];
            if (!words[i][k])
                break;
        }
}

/* ---- two strings ---- */

typedef int NTAPI compare_two(const void *a, const void *b);
typedef int NTAPI compare_some(const void *a, const void *b, size_t count);

static void hold_two(const char *narrow, const char *broad,
                     int (*library)(const char *, const char *))
{
    compare_two *one = (compare_two *)find(narrow), *two = (compare_two *)find(broad);

    for (unsigned i = 0; i < WORDS; i++)
        for (unsigned k = 0; k < WORDS; k++) {
            int wanted = sign(library(words[i], words[k]));

            CHECK(sign(one(words[i], words[k])) == wanted);
            CHECK(sign(two(wide[i], wide[k])) == wanted);
        }
}

static void hold_some(const char *narrow, const char *broad,
                      int (*library)(const char *, const char *, size_t))
{
    compare_some *one = (compare_some *)find(narrow), *two = (compare_some *)find(broad);

    for (unsigned i = 0; i < WORDS; i++)
        for (unsigned k = 0; k < WORDS; k++)
            for (size_t count = 0; count < 6; count++) {
                int wanted = sign(library(words[i], words[k], count));

                CHECK(sign(one(words[i], words[k], count)) == wanted);
                CHECK(sign(two(wide[i], wide[k], count)) == wanted);
            }
}

TEST_WITH(driver, strings_compare_as_in_the_library)
{
    widen();
    hold_two("strcmp", "wcscmp", strcmp);
    hold_two("_stricmp", "_wcsicmp", strcasecmp);
    hold_some("strncmp", "wcsncmp", strncmp);
    hold_some("_strnicmp", "_wcsnicmp", strncasecmp);
}

/* ---- searching ---- */

typedef const char *NTAPI find_string(const char *s, const char *part);
typedef const WCHAR *NTAPI find_wide(const WCHAR *s, const WCHAR *part);
typedef const char *NTAPI find_letter(const char *s, int letter);
typedef const WCHAR *NTAPI find_wide_letter(const WCHAR *s, WCHAR letter);
typedef size_t NTAPI measure(const void *s);
typedef size_t NTAPI measure_some(const void *s, size_t most);
typedef size_t NTAPI span_of(const char *s, const char *set);

static bool same_place(const WCHAR *found, const WCHAR *start, const char *wanted, const char *from)
{
    return wanted ? found && found - start == wanted - from : !found;
}

static void search_words(unsigned i, unsigned k)
{
    find_string *part = (find_string *)find("strstr");
    find_wide *wide_part = (find_wide *)find("wcsstr");
    span_of *span = (span_of *)find("strspn");

    CHECK(part(words[i], words[k]) == strstr(words[i], words[k]));
    CHECK(same_place(wide_part(wide[i], wide[k]), wide[i], strstr(words[i], words[k]), words[i]));
    CHECK(span(words[i], words[k]) == strspn(words[i], words[k]));
}

static void search_letters(unsigned i)
{
    static const char letters[] = "abB0\xFF";
    find_letter *first = (find_letter *)find("strchr"), *last = (find_letter *)find("strrchr");
    find_wide_letter *wide_first = (find_wide_letter *)find("wcschr"),
                     *wide_last = (find_wide_letter *)find("wcsrchr");

    for (unsigned k = 0; k < sizeof(letters); k++) { /* the last one is the end of the string */
        const char letter = letters[k], *wanted_first = strchr(words[i], letter),
                   *wanted_last = strrchr(words[i], letter);

        CHECK(first(words[i], letter) == wanted_first && last(words[i], letter) == wanted_last);
        CHECK(same_place(wide_first(wide[i], (uint8_t)letter), wide[i], wanted_first, words[i]));
        CHECK(same_place(wide_last(wide[i], (uint8_t)letter), wide[i], wanted_last, words[i]));
    }
}

static void measure_word(unsigned i)
{
    measure *length = (measure *)find("strlen"), *wide_length = (measure *)find("wcslen");
    measure_some *most = (measure_some *)find("strnlen"),
                 *wide_most = (measure_some *)find("wcsnlen");

    CHECK(length(words[i]) == strlen(words[i]));
    CHECK(wide_length(wide[i]) == strlen(words[i]));
    for (size_t count = 0; count < 6; count++) {
        CHECK(most(words[i], count) == strnlen(words[i], count));
        CHECK(wide_most(wide[i], count) == strnlen(words[i], count));
    }
}

TEST_WITH(driver, strings_are_searched_as_in_the_library)
{
    widen();
    for (unsigned i = 0; i < WORDS; i++) {
        measure_word(i);
        search_letters(i);
        for (unsigned k = 0; k < WORDS; k++)
            search_words(i, k);
    }
}

/* ---- copying ---- */

typedef char *NTAPI copy(char *to, const char *from);
typedef WCHAR *NTAPI copy_wide(WCHAR *to, const WCHAR *from);
typedef char *NTAPI copy_some(char *to, const char *from, size_t count);
typedef WCHAR *NTAPI copy_wide_some(WCHAR *to, const WCHAR *from, size_t count);

/* A buffer of either kind, with what is copied to. */
static char made[ROOM], model[ROOM];
static WCHAR broad[ROOM];

static void fill(const char *start)
{
    memset(made, '#', sizeof(made));
    memset(model, '#', sizeof(model));
    strcpy(made, start);
    strcpy(model, start);
    for (unsigned i = 0; i < ROOM; i++)
        broad[i] = (uint8_t)made[i];
}

static bool are_same(void)
{
    for (unsigned i = 0; i < ROOM; i++)
        if (broad[i] != (uint8_t)model[i])
            return false;
    return true;
}

static void copy_word(unsigned i, const char *start)
{
    copy_some *some[2] = {(copy_some *)find("strncpy"), (copy_some *)find("strncat")};
    copy_wide_some *wide_some = (copy_wide_some *)find("wcsncpy");

    fill(start);
    CHECK(((copy *)find("strcpy"))(made, words[i]) == made &&
          memcmp(made, strcpy(model, words[i]), ROOM) == 0);
    CHECK(((copy_wide *)find("wcscpy"))(broad, wide[i]) == broad && are_same());
    fill(start);
    CHECK(((copy *)find("strcat"))(made, words[i]) == made &&
          memcmp(made, strcat(model, words[i]), ROOM) == 0);
    CHECK(((copy_wide *)find("wcscat"))(broad, wide[i]) == broad && are_same());
    for (size_t count = 0; count < 7; count++) {
        fill(start);
        (void)strncat(model, words[i], count);
        CHECK(some[1](made, words[i], count) == made && memcmp(made, model, ROOM) == 0);
        fill(start);
        (void)strncpy(model, words[i], count); /* NOLINT */
        CHECK(some[0](made, words[i], count) == made && memcmp(made, model, ROOM) == 0);
        CHECK(wide_some(broad, wide[i], count) == broad && are_same());
    }
}

TEST_WITH(driver, strings_are_copied_as_in_the_library)
{
    widen();
    for (unsigned i = 0; i < WORDS; i++) {
        copy_word(i, "");
        copy_word(i, "xyz");
    }
}

/* ---- letters and numbers ---- */

typedef int NTAPI of_letter(int letter);
typedef WCHAR NTAPI of_wide_letter(WCHAR letter);
typedef LONG NTAPI to_long(const char *s);
typedef ULONG NTAPI to_ulong(const char *s, char **end, int base);

static void hold_letters(const char *name, int (*library)(int), bool truth)
{
    of_letter *routine = (of_letter *)find(name);

    for (int letter = 0; letter < 128; letter++)
        CHECK(truth ? !routine(letter) == !library(letter) : routine(letter) == library(letter));
}

TEST_WITH(driver, letters_are_told_as_in_the_library)
{
    hold_letters("toupper", toupper, false);
    hold_letters("tolower", tolower, false);
    hold_letters("isdigit", isdigit, true);
    hold_letters("isspace", isspace, true);
    hold_letters("isupper", isupper, true);
    hold_letters("islower", islower, true);
    hold_letters("isxdigit", isxdigit, true);
    for (WCHAR letter = 0; letter < 128; letter++)
        CHECK(((of_wide_letter *)find("towupper"))(letter) == toupper(letter));
}

TEST_WITH(driver, numbers_are_read_as_in_the_library)
{
    static const char *const numbers[] = {
        "",    "0",    "9",          "10",          "077",
        "08",  "0x1f", "0X1F",       "0x",          "0xg",
        "1z",  "zZ",   "-1",         "+5",          " \t\n\v\f\r7",
        "- 1", "--1",  "2147483647", "-2147483648", "4294967295",
        "12a", "/",    ":",          "`",           "g",
        "ab"};
    static const int bases[] = {0, 2, 8, 10, 16, 35, 36};
    to_ulong *routine = (to_ulong *)find("strtoul");

    for (unsigned i = 0; i < RTL_NUMBER_OF(numbers); i++) {
        for (unsigned k = 0; k < RTL_NUMBER_OF(bases); k++) {
            char *end = NULL, *stop = NULL;
            const unsigned long whole = strtoul(numbers[i], &stop, bases[k]);
            const unsigned long size = strchr(numbers[i], '-') ? 0 - whole : whole;
            const ULONG value = size > UINT32_MAX ? UINT32_MAX : (ULONG)whole;

            CHECK(routine(numbers[i], &end, bases[k]) == value && end == stop);
        }
        const long whole = strtol(numbers[i], NULL, 10);
        const LONG library = whole > INT32_MAX ? INT32_MAX : (LONG)whole;

        CHECK(((to_long *)find("atoi"))(numbers[i]) == library);
        CHECK(((to_long *)find("atol"))(numbers[i]) == library);
    }
    CHECK(routine("4294967296", NULL, 10) == 0xFFFFFFFF &&
          routine("-99999999999999999999", NULL, 10) == 0xFFFFFFFF);
}

/* ---- memory and sorting ---- */

typedef int NTAPI order_of(const void *a, const void *b);
typedef void NTAPI sort(void *base, size_t count, size_t bytes, order_of *order);
typedef const void *NTAPI find_byte(const void *bytes, int value, size_t count);

static int NTAPI by_key(const void *a, const void *b)
{
    return sign(((const uint8_t *)a)[0] - ((const uint8_t *)b)[0]);
}

TEST_WITH(driver, elements_are_sorted)
{
    sort *routine = (sort *)find("qsort");

    for (size_t bytes = 1; bytes < 6; bytes++)
        for (size_t count = 0; count < 40; count++) {
            uint8_t element[40 * 6], sum[2] = {0, 0};

            for (size_t i = 0; i < count * bytes; i++)
                sum[0] = (uint8_t)(sum[0] + (element[i] = (uint8_t)(i * 37 % 101 + count)));
            element[count * bytes] = 0xEE;
            routine(element, count, bytes, by_key);
            for (size_t i = 1; i < count; i++)
                CHECK(element[(i - 1) * bytes] <= element[i * bytes]);
            for (size_t i = 0; i < count * bytes; i++)
                sum[1] = (uint8_t)(sum[1] + element[i]);
            CHECK(sum[0] == sum[1] && element[count * bytes] == 0xEE);
        }
}

TEST_WITH(driver, memory_is_handled_as_in_the_library)
{
    compare_some *compare = (compare_some *)find("memcmp");
    find_byte *byte = (find_byte *)find("memchr");
    void *(NTAPI * set)(void *, int, size_t);
    void *(NTAPI * move)(void *, const void *, size_t);
    static const char one[] = "ab\0d", two[] = "ab\0c", text[] = "xy\0z";

    *(void **)&set = find("memset");
    *(void **)&move = find("memmove");
    for (size_t count = 0; count < 5; count++) {
        CHECK(sign(compare(one, two, count)) == sign(memcmp(one, two, count)));
        CHECK(byte(text, 'z', count) == memchr(text, 'z', count));
        fill("abcdefgh");
        CHECK(set(made, 'q', count) == made && memcmp(made, memset(model, 'q', count), ROOM) == 0);
        CHECK(move(made + 1, made, count) == made + 1 &&
              memcmp(made + 1, memmove(model + 1, model, count), ROOM - 1) == 0);
    }
}
