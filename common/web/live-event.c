/* See live-event.h. Hostile: texts, whose bytes are made valid JSON. */
#include "common/web/live-event.h"

#include <stdio.h>

#include "common/web/json-text.h"

void sv_live_begin(struct sv_live *l)
{
    l->rows = json_array();
    l->facts = json_array();
    l->all = json_object();
}

void sv_live_row(struct sv_live *l, const char *name, double share, const char *text)
{
    (void)json_array_append_new(l->rows,
                                json_pack("[o,f,s]", sv_json_text(name), share, text)); /* without
                                                                           memory, ignoring */
}

void sv_live_fact(struct sv_live *l, const char *id, const char *text, const char *class)
{
    (void)json_array_append_new(l->facts, json_pack("[s,o,s]", id, sv_json_text(text), class));
    /* Without memory it is missing, ignoring. */
}

void sv_live_set(struct sv_live *l, const char *key, json_t *value)
{
    (void)json_object_set_new(l->all, key, value); /* as above, ignoring */
}

void sv_live_end(struct sv_live *l, char ret[static SV_HTTP_EVENT_MAX])
{
    size_t n = 0;

    sv_live_set(l, "rows", l->rows);
    sv_live_set(l, "facts", l->facts);
    if (l->all)
        n = json_dumpb(l->all, ret, SV_HTTP_EVENT_MAX - 1, JSON_COMPACT | JSON_REAL_PRECISION(5));
    json_decref(l->all);
    if (n == 0 || n >= SV_HTTP_EVENT_MAX)
        n = (size_t)snprintf(ret, SV_HTTP_EVENT_MAX, "{\"rows\":[]}");
    ret[n] = '\0';
}
