/* See node-facts.h. */
#include "nodemanager/web/node-facts.h"

#include <stdio.h>
#include <string.h>

#include "common/web/json-text.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/labels/described.h"

json_t *nm_web_type_names(void)
{
    char text[64 + YARN_TYPES_MAX * (YARN_TYPE_NAME_MAX + 16)] = "memory-mb (unit=Mi), vcores";
    size_t at = strlen(text);

    for (size_t i = 0; i < yarn_types()->n; i++) {
        const struct yarn_type *t = &yarn_types()->types[i];

        at += (size_t)snprintf(text + at, sizeof(text) - at, ", %s%s%s%s", t->name,
                               *t->unit ? " (unit=" : "", t->unit, *t->unit ? ")" : "");
    }
    return json_string(text);
}

/* The sum of a type over containers that have not ended. */
static int64_t given(const struct nm_context *ctx, size_t type)
{
    int64_t sum = 0;

    for (const struct nm_container *c = ctx->containers; c; c = c->hh.next)
        if (!nm_container_is_done(c) && __builtin_add_overflow(sum, c->resource.extra[type], &sum))
            return INT64_MAX;
    return sum;
}

json_t *nm_web_types(const struct nm_context *ctx)
{
    json_t *list = json_array();

    for (size_t i = 0; i < yarn_types()->n; i++) {
        const struct yarn_type *t = &yarn_types()->types[i];

        (void)json_array_append_new(list,
                                    json_pack("{s:s,s:s,s:I,s:I}", "name", t->name, "unit", t->unit,
                                              "total", (json_int_t)ctx->total.extra[i], "given",
                                              (json_int_t)given(ctx, i))); /* ignoring */
    }
    return list;
}

static json_t *list_json(const struct nm_labels *l)
{
    json_t *list = json_array();

    for (size_t i = 0; i < l->n; i++) {
        json_t *e = json_pack("{s:s}", "name", l->list[i].name);

        if (*l->list[i].value)
            (void)json_object_set_new(e, "value", json_string(l->list[i].value));
        (void)json_array_append_new(list, e); /* ignoring */
    }
    return list;
}

json_t *nm_web_described(const struct nm_describer *d)
{
    struct nm_described_view v;

    if (!nm_describer_view(d, &v))
        return json_null();
    return json_pack("{s:s,s:o,s:o,s:s,s:s}", "provider", v.provider, "list",
                     v.labels ? list_json(v.labels) : json_null(), "accepted",
                     v.answer == NM_DESCRIBED_UNTOLD
                         ? json_null()
                         : json_boolean(v.answer == NM_DESCRIBED_ACCEPTED),
                     "refused", v.refused, "failed", v.failed);
}

static void put_described(struct sv_html *h, const char *name, const struct nm_describer *d)
{
    struct nm_described_view v;
    char text[512] = "not known yet";

    if (!nm_describer_view(d, &v))
        return;
    if (v.labels)
        (void)nm_describer_text(v.labels, text, sizeof(text));
    sv_html(h, "<tr><th>%s</th><td>%s <span class=\"dim\">by %s</span>", name,
            *text ? text : "none", v.provider);
    if (v.answer == NM_DESCRIBED_REFUSED)
        sv_html(h, " <span class=\"bad\">refused by the ResourceManager:</span> %s", v.refused);
    if (*v.failed)
        sv_html(h, " <span class=\"bad\">last run:</span> %s", v.failed);
    sv_html(h, "</td></tr>\n");
}

void nm_page_node_facts(struct sv_html *h, const struct nm_web *w)
{
    for (size_t i = 0; i < yarn_types()->n; i++) {
        const struct yarn_type *t = &yarn_types()->types[i];

        sv_html(h, "<tr><th>%s</th><td>%lld of %lld %s given</td></tr>\n", t->name,
                (long long)given(w->ctx, i), (long long)w->ctx->total.extra[i], t->unit);
    }
    put_described(h, "Label", w->labels[NM_LABELS]);
    put_described(h, "Attributes", w->labels[NM_ATTRIBUTES]);
}
