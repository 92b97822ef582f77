/* See output.h. Texts come from applications and peers: no control character reaches the terminal
 * in any format. */
#include "client/ui/output.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "client/ui/table.h"
#include "common/clock.h"
#include "common/str.h"

#define DEPTH_MAX 16 /* of YAML */
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static const struct {
    const char *name;
    enum cli_format format;
} formats[] = {
    { "table", CLI_TABLE }, { "wide", CLI_WIDE }, { "json", CLI_JSON },
    { "yaml", CLI_YAML },   { "csv", CLI_CSV },   { "name", CLI_NAME },
};

int cli_output_parse(const char *text, struct cli_output *ret)
{
    size_t n = strlen(text);

    for (size_t i = 0; i < SV_ARRAY_LEN(formats); i++)
        if (strcmp(text, formats[i].name) == 0) {
            ret->format = formats[i].format;
            return 0;
        }
    if (n == 0 || strspn(text, LETTERS "0123456789,") != n || text[0] == ',' ||
        text[n - 1] == ',' || strstr(text, ",,"))
        return -EINVAL;
    ret->format = CLI_FIELDS;
    ret->fields = text;
    return 0;
}

/* Copies the next field of "a,b,c" to `buf`; false after the last. */
static bool next_field(const char **p, char *buf, size_t size)
{
    size_t n = strcspn(*p, ",");

    if (**p == '\0')
        return false;
    snprintf(buf, size, "%.*s", (int)SV_MIN(n, size - 1), *p);
    *p += n;
    if (**p == ',')
        (*p)++;
    return true;
}

static const struct cli_column *find_column(const struct cli_list *list, const char *key)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->columns[i].key, key) == 0)
            return &list->columns[i];
    return NULL;
}

const char *cli_output_unknown(const struct cli_output *o, const struct cli_list *list, char *buf,
                               size_t size)
{
    const char *p = o->format == CLI_FIELDS ? o->fields : "";

    while (next_field(&p, buf, size))
        if (!find_column(list, buf))
            return buf;
    return NULL;
}

/* ---- A value as text ---- */

static const char *ago(int64_t ms, char *buf, size_t size)
{
    int64_t s = SV_MAX(sv_wall_ms() - ms, (int64_t)0) / 1000;

    if (s < 60)
        snprintf(buf, size, "%llds ago", (long long)s);
    else if (s < 3600)
        snprintf(buf, size, "%lldm ago", (long long)s / 60);
    else if (s < 48 * 3600)
        snprintf(buf, size, "%lldh ago", (long long)s / 3600);
    else
        snprintf(buf, size, "%lldd ago", (long long)s / 86400);
    return buf;
}

static const char *time_text(const struct cli_output *o, int64_t ms, char *buf, size_t size)
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;

    if (ms <= 0)
        return "-";
    if (!o->utc)
        return ago(ms, buf, size);
    if (!gmtime_r(&seconds, &tm) || strftime(buf, size, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
        return "-";
    return buf;
}

/* Formats as in JSON, but strings without quotes. */
static const char *plain(const json_t *v, char *buf, size_t size)
{
    if (json_is_string(v))
        snprintf(buf, size, "%s", json_string_value(v));
    else if (json_is_integer(v))
        snprintf(buf, size, "%lld", (long long)json_integer_value(v));
    else if (json_is_real(v))
        snprintf(buf, size, "%g", json_real_value(v));
    else if (json_is_boolean(v))
        snprintf(buf, size, "%s", json_is_true(v) ? "true" : "false");
    else
        snprintf(buf, size, "%s", "");
    return buf;
}

static const char *shown(const struct cli_output *o, enum cli_kind kind, const json_t *v, char *buf,
                         size_t size)
{
    int64_t n = json_is_integer(v) ? (int64_t)json_integer_value(v) : -1;
    char figure[32];

    switch (kind) {
    case CLI_MIB:
        snprintf(buf, size, "%s",
                 cli_text_bytes(n < 0 || n > INT64_MAX >> 20 ? -1 : n << 20, figure));
        break;
    case CLI_BYTES:
        snprintf(buf, size, "%s", cli_text_bytes(n, figure));
        break;
    case CLI_MILLIS:
        snprintf(buf, size, "%s", cli_text_millis(n, figure));
        break;
    case CLI_HOURS:
        *buf = '\0'; /* unknown */
        if (json_is_number(v))
            snprintf(buf, size, "%.2f", json_number_value(v));
        break;
    case CLI_SHARE:
        *buf = '\0'; /* unknown */
        if (json_is_number(v))
            snprintf(buf, size, "%.1f%%", 100 * json_number_value(v));
        break;
    case CLI_TIME:
        return time_text(o, n, buf, size);
    case CLI_TEXT:
    case CLI_NUMBER:
        plain(v, buf, size);
        break;
    }
    return *buf && strcmp(buf, "UNDEFINED") != 0 ? buf : "-"; /* YARN's value for none yet */
}

/* ---- The formats ---- */

static void print_table(const struct cli_output *o, const struct cli_list *list, const json_t *rows,
                        FILE *out)
{
    const char *heads[32];
    const struct cli_column *columns[SV_ARRAY_LEN(heads)];
    char buf[2200];
    struct cli_table *t;
    size_t n = 0, i;
    json_t *row;

    for (i = 0; i < list->n && n < SV_ARRAY_LEN(heads); i++)
        if (list->columns[i].shown == CLI_ALWAYS ||
            (list->columns[i].shown == CLI_IF_WIDE && o->format == CLI_WIDE)) {
            columns[n] = &list->columns[i];
            heads[n++] =
                list->columns[i].head + (o->format == CLI_WIDE && list->columns[i].head[0] == '?');
        }
    t = cli_table_new(heads, n);
    if (!t)
        return;
    json_array_foreach(rows, i, row)
    {
        for (size_t c = 0; c < n; c++)
            cli_table_add(t, "%s",
                          shown(o, columns[c]->kind, json_object_get(row, columns[c]->key), buf,
                                sizeof(buf)));
    }
    cli_table_print(t, !o->no_headers, o->columns, out);
    cli_table_free(t);
}

/* Prints tab-separated values for programs, with the fields' names above, unformatted. */
static void print_fields(const char *fields, bool heads, const json_t *rows, FILE *out)
{
    char key[64], value[4096], escaped[8192];
    const char *p = fields;
    size_t i;
    json_t *row;

    if (heads) {
        while (next_field(&p, key, sizeof(key)))
            fprintf(out, "%s%c", key, *p ? '\t' : '\n');
    }
    json_array_foreach(rows, i, row)
    {
        p = fields;
        while (next_field(&p, key, sizeof(key))) {
            sv_escape(escaped, sizeof(escaped),
                      plain(json_object_get(row, key), value, sizeof(value)));
            fprintf(out, "%s%c", escaped, *p ? '\t' : '\n');
        }
    }
}

/* ---- CSV ---- */

/* A cell of RFC 4180. A spreadsheet takes a text that begins with one of =+-@ for a formula, and
 * users choose names: an apostrophe before it makes it a text there, too. */
static void csv_text(const char *text, FILE *out)
{
    char escaped[4 * 4096];

    sv_escape(escaped, sizeof(escaped), text);
    fputc('"', out);
    if (*escaped && strchr("=+-@", *escaped))
        fputc('\'', out);
    for (const char *p = escaped; *p; p++) {
        if (*p == '"')
            fputc('"', out);
        fputc(*p, out);
    }
    fputc('"', out);
}

static void csv_cell(const json_t *v, FILE *out)
{
    char buf[64];

    if (json_is_string(v))
        csv_text(json_string_value(v), out);
    else if (json_is_real(v))
        fprintf(out, "%.15g", json_real_value(v));
    else
        fputs(plain(v, buf, sizeof(buf)), out);
}

/* All columns, unformatted, under their keys. */
static void print_csv(const struct cli_list *list, bool heads, const json_t *rows, FILE *out)
{
    size_t i;
    json_t *row;

    for (size_t c = 0; heads && c < list->n; c++)
        fprintf(out, "%s%s", list->columns[c].key, c + 1 < list->n ? "," : "\n");
    json_array_foreach(rows, i, row)
    {
        for (size_t c = 0; c < list->n; c++) {
            csv_cell(json_object_get(row, list->columns[c].key), out);
            fputc(c + 1 < list->n ? ',' : '\n', out);
        }
    }
}

void cli_output_object(const struct cli_output *o, const struct cli_list *list,
                       const json_t *object, FILE *out)
{
    char buf[4096], escaped[4 * sizeof(buf)];
    int width = 0;

    for (size_t i = 0; i < list->n; i++)
        width = SV_MAX(width, (int)strlen(list->columns[i].head));
    for (size_t i = 0; i < list->n; i++) {
        const struct cli_column *c = &list->columns[i];
        const json_t *v = json_object_get(object, c->key);

        if (!v)
            continue;
        sv_escape(escaped, sizeof(escaped), shown(o, c->kind, v, buf, sizeof(buf)));
        fprintf(out, "%-*s  %s\n", width, c->head, escaped);
    }
}

void cli_output_list(const struct cli_output *o, const struct cli_list *list, const json_t *rows,
                     FILE *out)
{
    if (o->format == CLI_JSON || o->format == CLI_YAML)
        cli_output_json(o, json_incref((json_t *)(uintptr_t)rows), out);
    else if (o->format == CLI_FIELDS)
        print_fields(o->fields, !o->no_headers, rows, out);
    else if (o->format == CLI_CSV)
        print_csv(list, !o->no_headers, rows, out);
    else if (o->format == CLI_NAME || o->quiet)
        print_fields(list->name, false, rows, out);
    else
        print_table(o, list, rows, out);
}

/* ---- YAML ---- */

/* Double-quoted; YAML accepts JSON's escapes; non-ASCII as \x, \u or \U. */
static void yaml_string(const char *text, FILE *out)
{
    fputc('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        uint32_t c = *p;
        int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;

        if (more)
            c &= 0x3fu >> more;
        for (; more && p[1]; more--) /* jansson's strings are valid UTF-8 */
            c = c << 6 | (*++p & 0x3f);
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", (int)c);
        else if (c >= ' ' && c < 0x7f)
            fputc((int)c, out);
        else if (c > 0xffff)
            fprintf(out, "\\U%08x", c);
        else
            fprintf(out, "\\u%04x", c);
    }
    fputc('"', out);
}

static void yaml_scalar(const json_t *v, FILE *out)
{
    char buf[64];

    if (json_is_string(v))
        yaml_string(json_string_value(v), out);
    else if (json_is_object(v))
        fputs("{}", out);
    else if (json_is_array(v))
        fputs("[]", out);
    else
        fputs(json_is_null(v) ? "null" : plain(v, buf, sizeof(buf)), out);
    fputc('\n', out);
}

static void yaml_key(const char *key, FILE *out)
{
    bool word = *key && strspn(key, LETTERS) == strlen(key);

    if (word)
        fputs(key, out);
    else
        yaml_string(key, out);
    fputc(':', out);
}

/* Prints block style: one entry of a list or map per line. The first line continues the
 * caller's. */
static void yaml_value(const json_t *v, int depth, FILE *out)
{
    bool map = json_is_object(v), first = true;
    const char *key;
    json_t *item;
    size_t i;

    if ((json_array_size(v) == 0 && json_object_size(v) == 0) || depth == DEPTH_MAX) {
        yaml_scalar(v, out);
        return;
    }
    json_array_foreach(v, i, item)
    {
        fprintf(out, "%*s- ", first ? 0 : 2 * depth, "");
        yaml_value(item, depth + 1, out);
        first = false;
    }
    if (!map)
        return;
    json_object_foreach((json_t *)(uintptr_t)v, key, item)
    {
        bool nested = json_array_size(item) > 0 || json_object_size(item) > 0;

        fprintf(out, "%*s", first ? 0 : 2 * depth, "");
        yaml_key(key, out);
        if (nested)
            fprintf(out, "\n%*s", 2 * (depth + 1), "");
        else
            fputc(' ', out);
        yaml_value(item, depth + 1, out);
        first = false;
    }
}

void cli_output_json(const struct cli_output *o, json_t *value, FILE *out)
{
    if (value && o->format == CLI_YAML) {
        yaml_value(value, 0, out);
    } else if (value) {
        json_dumpf(value, out, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY);
        fputc('\n', out);
    }
    json_decref(value);
}

void cli_output_lines(const char *text, int indent, FILE *out)
{
    char line[2048], shown[4 * sizeof(line)];
    bool first = true;

    while (*text) {
        size_t n = strcspn(text, "\n");

        if (n > 0) {
            snprintf(line, sizeof(line), "%.*s", (int)SV_MIN(n, sizeof(line) - 1), text);
            sv_escape(shown, sizeof(shown), line);
            fprintf(out, "%s%*s%s", first ? "" : "\n", first ? 0 : indent, "", shown);
            first = false;
        }
        text += n + (text[n] == '\n');
    }
    fputc('\n', out);
}

json_t *cli_json_string(const char *text)
{
    json_t *v = json_string(text);
    char escaped[8192];

    if (v)
        return v;
    sv_escape(escaped, sizeof(escaped), text);
    return json_string(escaped);
}

json_t *cli_json_known(int64_t v)
{
    return v < 0 ? json_null() : json_integer(v);
}
