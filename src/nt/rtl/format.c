/* SPDX-License-Identifier: MIT */
/*
 * The Windows kernel's printf: `l` means 32 bits, I64 and I32 are sizes, %p prints sixteen digits,
 * %S is the string of the other character size, %ws a wide string, %Z and %wZ counted strings.
 * Arguments are a Microsoft x64 va_list.
 */
#include "nt/rtl/format.h"

enum size { SIZE_INT, SIZE_SHORT, SIZE_CHAR, SIZE_64 };

struct conversion {
    bool left, plus, space, alternate, zero;
    bool has_precision;
    int width, precision;
    enum size size;
    bool narrow_string, wide_string; /* h; l or w */
};

struct scan {
    const void *format;
    size_t at;
    bool wide;
};

static uint32_t peek(const struct scan *scan)
{
    return scan->wide ? ((const uint16_t *)scan->format)[scan->at]
                      : ((const uint8_t *)scan->format)[scan->at];
}

static bool accept(struct scan *scan, char c)
{
    if (peek(scan) != (uint32_t)c)
        return false;
    scan->at++;
    return true;
}

static void put(struct nt_text *text, uint32_t c)
{
    if (text->length < text->capacity) {
        if (text->wide)
            ((uint16_t *)text->buffer)[text->length] = (uint16_t)c;
        else
            ((char *)text->buffer)[text->length] = (char)(c < 0x100 ? c : '?');
    }
    text->length++;
}

static void pad(struct nt_text *text, int count, char c)
{
    while (count-- > 0)
        put(text, (uint32_t)c);
}

/* ---- the specification ---- */

static void scan_flags(struct scan *scan, struct conversion *c)
{
    for (;; scan->at++) {
        switch (peek(scan)) {
        case '-':
            c->left = true;
            break;
        case '+':
            c->plus = true;
            break;
        case ' ':
            c->space = true;
            break;
        case '#':
            c->alternate = true;
            break;
        case '0':
            c->zero = true;
            break;
        default:
            return;
        }
    }
}

static int scan_number(struct scan *scan)
{
    int number = 0;

    while (peek(scan) >= '0' && peek(scan) <= '9') {
        if (number < 100000)
            number = number * 10 + (int)(peek(scan) - '0');
        scan->at++;
    }
    return number;
}

static void scan_size(struct scan *scan, struct conversion *c)
{
    if (accept(scan, 'I')) {
        if (accept(scan, '6')) {
            accept(scan, '4');
            c->size = SIZE_64;
        } else if (accept(scan, '3')) {
            accept(scan, '2');
        } else {
            c->size = SIZE_64;
        }
    } else if (accept(scan, 'l')) {
        c->wide_string = true;
        if (accept(scan, 'l'))
            c->size = SIZE_64;
    } else if (accept(scan, 'h')) {
        c->narrow_string = true;
        c->size = SIZE_SHORT;
        if (accept(scan, 'h'))
            c->size = SIZE_CHAR;
    } else if (accept(scan, 'w')) {
        c->wide_string = true;
    } else if (accept(scan, 'z') || accept(scan, 'j') || accept(scan, 't')) {
        c->size = SIZE_64;
    }
}

/* ---- numbers ---- */

static uint64_t truncate_value(uint64_t value, enum size size, bool is_signed)
{
    switch (size) {
    case SIZE_CHAR:
        return is_signed ? (uint64_t)(int64_t)(int8_t)value : (uint8_t)value;
    case SIZE_SHORT:
        return is_signed ? (uint64_t)(int64_t)(int16_t)value : (uint16_t)value;
    case SIZE_INT:
        return is_signed ? (uint64_t)(int64_t)(int32_t)value : (uint32_t)value;
    default:
        return value;
    }
}

static void put_number(struct nt_text *text, const struct conversion *c, uint64_t value,
                       unsigned base, const char *digits, const char *prefix)
{
    char buffer[24];
    int count = 0, prefix_length = 0, zeroes, spaces;

    while (prefix[prefix_length])
        prefix_length++;
    for (uint64_t rest = value; rest != 0; rest /= base)
        buffer[count++] = digits[rest % base];
    if (count == 0 && !(c->has_precision && c->precision == 0))
        buffer[count++] = '0';
    zeroes = c->has_precision ? c->precision - count : 0;
    if (!c->has_precision && c->zero && !c->left)
        zeroes = c->width - count - prefix_length;
    if (zeroes < 0)
        zeroes = 0;
    spaces = c->width - count - zeroes - prefix_length;
    if (!c->left)
        pad(text, spaces, ' ');
    for (int i = 0; i < prefix_length; i++)
        put(text, (uint32_t)prefix[i]);
    pad(text, zeroes, '0');
    while (count > 0)
        put(text, (uint32_t)buffer[--count]);
    if (c->left)
        pad(text, spaces, ' ');
}

static void put_signed(struct nt_text *text, const struct conversion *c, uint64_t value)
{
    int64_t number = (int64_t)truncate_value(value, c->size, true);
    const char *sign = number < 0 ? "-" : c->plus ? "+" : c->space ? " " : "";

    put_number(text, c, number < 0 ? 0 - (uint64_t)number : (uint64_t)number, 10, "0123456789",
               sign);
}

static void put_unsigned(struct nt_text *text, const struct conversion *c, uint64_t value,
                         uint32_t kind)
{
    uint64_t number = truncate_value(value, c->size, false);

    if (kind == 'u')
        put_number(text, c, number, 10, "0123456789", "");
    else if (kind == 'o')
        put_number(text, c, number, 8, "01234567", c->alternate && number ? "0" : "");
    else if (kind == 'x')
        put_number(text, c, number, 16, "0123456789abcdef", c->alternate && number ? "0x" : "");
    else
        put_number(text, c, number, 16, "0123456789ABCDEF", c->alternate && number ? "0X" : "");
}

static void put_pointer(struct nt_text *text, struct conversion *c, uint64_t value)
{
    c->has_precision = true;
    c->precision = 16;
    put_number(text, c, value, 16, "0123456789ABCDEF", "");
}

/* ---- text ---- */

static uint32_t character_at(const void *string, bool wide, size_t index)
{
    return wide ? ((const uint16_t *)string)[index] : ((const uint8_t *)string)[index];
}

/* `limit`: maximum number of characters; if `terminated`, the string may end earlier. */
static void put_string(struct nt_text *text, const struct conversion *c, const void *string,
                       bool wide, size_t limit, bool terminated)
{
    size_t length = 0;

    if (!string) {
        string = "(null)";
        wide = false;
        limit = 6;
    }
    if (c->has_precision && (size_t)c->precision < limit)
        limit = (size_t)c->precision;
    while (length < limit && (!terminated || character_at(string, wide, length) != 0))
        length++;
    if (!c->left)
        pad(text, c->width - (int)length, ' ');
    for (size_t i = 0; i < length; i++)
        put(text, character_at(string, wide, i));
    if (c->left)
        pad(text, c->width - (int)length, ' ');
}

/* Whether %s, %c mean 16-bit characters; %S, %C mean the size that the format itself does not
 * have. */
static bool is_wide(struct nt_text *text, const struct conversion *c, bool other)
{
    bool wide = c->wide_string ? true : c->narrow_string ? false : text->wide != other;

    if (wide != text->wide || c->wide_string)
        text->used_wide = true;
    return wide;
}

static void put_character(struct nt_text *text, const struct conversion *c, uint32_t value,
                          bool wide)
{
    uint16_t character = (uint16_t)(wide ? value : value & 0xFF);

    put_string(text, c, &character, true, 1, false);
}

static void put_counted(struct nt_text *text, const struct conversion *c, const void *counted)
{
    const STRING *narrow = counted;
    const UNICODE_STRING *wide = counted;

    if (!counted)
        put_string(text, c, NULL, false, 0, false);
    else if (c->wide_string)
        put_string(text, c, wide->Buffer, true, wide->Length / sizeof(WCHAR), false);
    else
        put_string(text, c, narrow->Buffer, false, narrow->Length, false);
    if (c->wide_string)
        text->used_wide = true;
}

/* ---- the whole ---- */

static void convert(struct nt_text *text, struct scan *scan, struct conversion *c,
                    __builtin_ms_va_list *arguments)
{
    uint32_t kind = peek(scan);
    uint64_t value;

    if (kind == 0)
        return;
    scan->at++;
    if (kind == '%') {
        put(text, '%');
        return;
    }
    /* Each argument has a slot of eight bytes, whatever its size. */
    value = __builtin_va_arg(*arguments, uint64_t);
    switch (kind) {
    case 'd':
    case 'i':
        put_signed(text, c, value);
        break;
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        put_unsigned(text, c, value, kind);
        break;
    case 'p':
        put_pointer(text, c, value);
        break;
    case 'c':
    case 'C':
        put_character(text, c, (uint32_t)value, is_wide(text, c, kind == 'C'));
        break;
    case 's':
    case 'S':
        put_string(text, c, (const void *)(uintptr_t)value, is_wide(text, c, kind == 'S'), SIZE_MAX,
                   true);
        break;
    case 'Z':
        put_counted(text, c, (const void *)(uintptr_t)value);
        break;
    case 'e':
    case 'E':
    case 'f':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        text->used_float = true;
        break;
    case 'n':
        break;
    default:
        put(text, kind);
        break;
    }
}

/*
 * `arguments` is a copy already. Without optimization, gcc 12's __builtin_ms_va_copy would copy a
 * list of the other convention here (24 bytes, through the pointer that this one is).
 */
void nt_format(struct nt_text *text, const void *format, __builtin_ms_va_list arguments)
{
    struct scan scan = {.format = format, .wide = text->wide};

    while (peek(&scan) != 0) {
        struct conversion c = {0};

        if (!accept(&scan, '%')) {
            put(text, peek(&scan));
            scan.at++;
            continue;
        }
        scan_flags(&scan, &c);
        if (accept(&scan, '*')) {
            c.width = (int)__builtin_va_arg(arguments, uint64_t);
            if (c.width < 0) {
                c.left = true;
                c.width = c.width > -100000 ? -c.width : 100000;
            }
        } else {
            c.width = scan_number(&scan);
        }
        if (accept(&scan, '.')) {
            c.has_precision = true;
            if (accept(&scan, '*')) {
                c.precision = (int)__builtin_va_arg(arguments, uint64_t);
                c.has_precision = c.precision >= 0;
            } else {
                c.precision = scan_number(&scan);
            }
        }
        scan_size(&scan, &c);
        convert(text, &scan, &c, &arguments);
    }
}
