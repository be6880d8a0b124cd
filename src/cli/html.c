/* SPDX-License-Identifier: MIT */
#include "cli/html.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "cli/utf8.h"

static const char style_sheet[] =
    ":root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;"
    "max-width:80rem;padding:0 1rem}h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}"
    "table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;"
    "padding:.3rem .6rem;border-bottom:1px solid #8884}.good{color:#197a3b}.bad{color:#c02626;"
    "font-weight:600}.rule{font-family:ui-monospace,monospace;white-space:nowrap}.number{"
    "text-align:right;font-variant-numeric:tabular-nums}code,pre{font:13px/1.45 ui-monospace,"
    "monospace}pre{margin:0;white-space:pre-wrap;overflow-wrap:anywhere}.first{background:#e0a80033;"
    "border-left:3px solid #e0a800;padding-left:.4rem}@media(prefers-color-scheme:dark){.good{"
    "color:#5fd38a}.bad{color:#ff7b7b}}";

/* What HTML has no way to write, or readers take as something else: control characters, and codes
 * that are no characters. */
static bool is_bad(const unsigned char *c, size_t length)
{
    if (length == 0 || (c[0] < ' ' && c[0] != '\n' && c[0] != '\t') || c[0] == 127 ||
        (c[0] == 0xC2 && c[1] < 0xA0))
        return true;
    if (length == 3)
        return c[0] == 0xEF &&
               ((c[1] == 0xB7 && c[2] >= 0x90 && c[2] <= 0xAF) || (c[1] == 0xBF && c[2] >= 0xBE));
    return length == 4 && (c[1] & 0x0F) == 0x0F && c[2] == 0xBF && c[3] >= 0xBE;
}

static const char *entity_of(char c)
{
    return c == '<'    ? "&lt;"
           : c == '>'  ? "&gt;"
           : c == '&'  ? "&amp;"
           : c == '"'  ? "&quot;"
           : c == '\'' ? "&#39;"
                       : NULL;
}

void cli_html_put_bytes(const struct cli_html *html, const char *text, size_t length)
{
    const char *end = text + length;

    while (text < end) {
        const char *entity = entity_of(*text);
        char part[5] = "";
        size_t bytes;

        memcpy(part, text, (size_t)(end - text) < 4 ? (size_t)(end - text) : 4);
        bytes = cli_utf8_length(part);
        if (entity)
            fputs(entity, html->file);
        else if (is_bad((const unsigned char *)part, bytes))
            fputs(CLI_UTF8_BAD, html->file);
        else
            fwrite(part, 1, bytes, html->file);
        text += bytes ? bytes : 1;
    }
}

void cli_html_put(const struct cli_html *html, const char *text)
{
    cli_html_put_bytes(html, text, strlen(text));
}

void cli_html_print(const struct cli_html *html, const char *format, ...)
{
    char text[2048];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    cli_html_put(html, text);
}

void cli_html_head(const struct cli_html *html, const char *title, const char *style)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>", html->file);
    cli_html_put(html, title);
    fprintf(html->file,
            "</title>\n<meta name=\"viewport\" content=\"width=device-width\">\n<meta "
            "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
            "'unsafe-inline'; img-src data:\">\n<style>%s%s</style></head>\n<body>\n",
            style_sheet, style);
}

bool cli_html_open(struct cli_html *html, const char *path, const char *title)
{
    html->path = path;
    html->file = fopen(path, "w");
    if (!html->file) {
        fprintf(stderr, "dxgkhost: %s: %s\n", path, strerror(errno));
        return false;
    }
    cli_html_head(html, title, "");
    cli_html_text(html, "h1", "", title);
    return true;
}

void cli_html_text(const struct cli_html *html, const char *element, const char *style,
                   const char *text)
{
    if (style[0])
        fprintf(html->file, "<%s class=\"%s\">", element, style);
    else
        fprintf(html->file, "<%s>", element);
    cli_html_put(html, text);
    fprintf(html->file, "</%s>\n", element);
}

void cli_html_format(const struct cli_html *html, const char *element, const char *style,
                     const char *format, ...)
{
    char text[2048];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    cli_html_text(html, element, style, text);
}

void cli_html_begin(const struct cli_html *html, const char *element)
{
    fprintf(html->file, "<%s>", element);
}

void cli_html_end(const struct cli_html *html, const char *element)
{
    fprintf(html->file, "</%s>\n", element);
}

void cli_html_table(const struct cli_html *html, const char *const *columns)
{
    cli_html_begin(html, "table");
    cli_html_begin(html, "tr");
    for (; *columns; columns++) {
        fputs("<th scope=\"col\">", html->file);
        cli_html_put(html, *columns);
        fputs("</th>\n", html->file);
    }
    cli_html_end(html, "tr");
}

bool cli_html_close(struct cli_html *html)
{
    bool failed;

    fputs("</body></html>\n", html->file);
    failed = ferror(html->file) != 0;
    if (fclose(html->file) != 0 || failed) {
        fprintf(stderr, "dxgkhost: %s: %s\n", html->path,
                errno ? strerror(errno) : "writing failed");
        return false;
    }
    return true;
}
