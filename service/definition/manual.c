/* See manual.h. Markdown; the texts of the tables are ours. */
#include "service/definition/manual.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "service/definition/definition.h"
#include "service/definition/fields.h"
#include "service/definition/probe.h"
#include "service/definition/service-keys.h"

/* Collects the first failure. */
struct page {
    struct sv_buf *out;
    int r;
};

static void _printf_(2, 3) put(struct page *p, const char *fmt, ...)
{
    char text[2048];
    va_list ap;

    va_start(ap, fmt);
    if (vsnprintf(text, sizeof text, fmt, ap) >= (int)sizeof text)
        p->r = -EMSGSIZE;
    va_end(ap);
    if (p->r == 0)
        p->r = sv_buf_put_str(p->out, text);
}

/* Digits in groups: 100,000; four stay together. */
static void put_number(struct page *p, int64_t n)
{
    char text[24];
    size_t len = (size_t)snprintf(text, sizeof text, "%" PRId64, n);

    for (size_t i = 0; i < len; i++)
        put(p, "%s%c", n >= 10000 && i && (len - i) % 3 == 0 ? "," : "", text[i]);
}

static void put_range(struct page *p, const struct svc_field *f)
{
    put(p, f->kind == SVC_INT_TEXT ? "number as text, " : "number, ");
    put_number(p, f->min);
    put(p, " to ");
    put_number(p, f->max);
}

static void put_names(struct page *p, const struct svc_field *f)
{
    const char *comma = "";

    for (size_t i = 0; f->names[i]; i++) {
        if (!*f->names[i])
            continue;
        put(p, "%s%s", comma, f->names[i]);
        comma = ", ";
    }
}

/* A heading's anchor: "placement constraint" is "placement-constraint". */
static void put_link(struct page *p, const struct svc_record *r)
{
    put(p, "[%s](#", r->name);
    for (const char *c = r->name; *c; c++)
        put(p, "%c", *c == ' ' ? '-' : *c);
    put(p, ")");
}

static void put_limit(struct page *p, const char *what, int64_t max)
{
    put(p, "%s, at most ", what);
    put_number(p, max);
}

static void put_type(struct page *p, const struct svc_field *f)
{
    switch (f->kind) {
    case SVC_TEXT:
        put_limit(p, "text", f->max);
        put(p, " bytes");
        break;
    case SVC_INT:
    case SVC_INT_TEXT:
        put_range(p, f);
        break;
    case SVC_ENUM:
        put_names(p, f);
        break;
    case SVC_MAP:
        put_limit(p, "object of texts", f->max);
        break;
    case SVC_LISTS:
        put_limit(p, "object of lists of texts", f->max);
        break;
    case SVC_NAMES:
        put_limit(p, "list of texts", f->max);
        break;
    case SVC_AMOUNTS:
        put_limit(p, "object of `{\"value\": number, \"unit\": text}`", f->max);
        break;
    case SVC_OBJECT:
        put_link(p, f->record);
        break;
    case SVC_OBJECTS:
        put(p, "list of ");
        put_link(p, f->record);
        put_limit(p, "", f->max);
        break;
    case SVC_ANSWER:
        put(p, "of answers");
        break;
    case SVC_REFUSED:
        put(p, "refused");
        break;
    }
}

static void put_record(struct page *p, const struct svc_record *r)
{
    put(p, "\n<a id=\"");
    for (const char *c = r->name; *c; c++)
        put(p, "%c", *c == ' ' ? '-' : *c);
    put(p, "\"></a>\n### %c%s\n\n| field | type | default | |\n|---|---|---|---|\n",
        toupper((unsigned char)*r->name), r->name + 1);
    for (size_t i = 0; i < r->n; i++) {
        const struct svc_field *f = &r->fields[i];

        put(p, "| `%s` | ", f->name);
        put_type(p, f);
        put(p, " | %s | %s |\n", f->def ? f->def : f->required ? "required" : "", f->text);
    }
}

/* Each record once, after the one that mentions it first. */
static void put_records(struct page *p)
{
    const struct svc_record *list[16] = { &svc_definition_record };
    size_t n = 1;

    for (size_t at = 0; at < n; at++) {
        put_record(p, list[at]);
        for (size_t i = 0; i < list[at]->n; i++) {
            const struct svc_record *r = list[at]->fields[i].record;
            size_t k = 0;

            while (k < n && list[k] != r)
                k++;
            if (r && k == n && n < sizeof list / sizeof *list)
                list[n++] = r;
        }
    }
}

static void put_keys(struct page *p)
{
    put(p, "\n<a id=\"properties-that-steer-the-master\"></a>\n### Properties that steer the "
           "master\n\nIn `configuration.properties`. The value is the component's, else the "
           "service's, else that of `yarn-site.xml`, else the default; \"of the service\" means "
           "that a component's is not looked at.\n\n| property | type | default | |\n"
           "|---|---|---|---|\n");
    for (int k = 0; k < SVC_KEYS_N; k++) {
        const struct svc_key_row *row = svc_key_row((enum svc_key)k);

        put(p, "| `%s` | ", row->name);
        if (row->type == SVC_KEY_INT) {
            put_number(p, row->min);
            put(p, " to ");
            put_number(p, row->max);
        } else if (row->type == SVC_KEY_CHOICE) {
            for (size_t i = 0; row->names[i]; i++)
                put(p, "%s%s", i ? ", " : "", row->names[i]);
        } else {
            put(p, row->type == SVC_KEY_BOOL ? "true, false" : "text");
        }
        put(p, " | %s | %s%s |\n", row->def, row->text,
            row->per_component ? "" : " Of the service.");
    }
}

static void put_probes(struct page *p)
{
    size_t n;
    const struct svc_probe_row *rows = svc_probe_rows(&n);

    put(p, "\n<a id=\"properties-of-a-readiness-check\"></a>\n### Properties of a readiness "
           "check\n\n| property | of type | range | default | |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < n; i++) {
        put(p, "| `%s` | %s | ", rows[i].name, rows[i].types);
        if (rows[i].max) {
            put_number(p, rows[i].min);
            put(p, " to ");
            put_number(p, rows[i].max);
        }
        put(p, " | %s | %s |\n", rows[i].def ? rows[i].def : "required", rows[i].text);
    }
}

int svc_manual_write(struct sv_buf *out)
{
    struct page p = { .out = out };

    put_records(&p);
    put_keys(&p);
    put_probes(&p);
    return p.r;
}
