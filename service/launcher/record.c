/* Requests and statuses of frameworks as rows of the store; see print.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/web/json-text.h"
#include "service/framework/reader.h"
#include "service/framework/status.h"
#include "service/launcher/print.h"

/* ---- Writing ---- */

static char *dump(json_t *o)
{
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;

    json_decref(o);
    return text;
}

static json_t *text_or_null(const char *s)
{
    return s ? sv_json_text(s) : json_null();
}

static json_t *migrates(const struct svc_framework *f)
{
    json_t *list = json_array();
    int bad = !list;

    for (size_t i = 0; i < f->n_migrates; i++)
        bad |= json_array_append_new(list, json_string(f->migrates[i]));
    if (!bad)
        return list;
    json_decref(list);
    return NULL;
}

char *svc_lr_record_request(const struct svc_framework *f)
{
    _cleanup_free_ char *rest = dump(json_pack(
        "{s:s, s:o, s:o, s:I, s:I, s:f, s:o, s:I}", "client", svc_lr_client_name(f->client), "host",
        text_or_null(f->client_host), "user", text_or_null(f->client_user), "first",
        (json_int_t)f->first_ms, "last", (json_int_t)f->last_ms, "progress", f->progress,
        "migrates", migrates(f), "revision", (json_int_t)f->revision));
    char *ret = NULL;

    if (!rest || sv_asprintf(&ret, "{\"descriptor\":%s,%s", f->text, rest + 1) < 0)
        return NULL;
    return ret;
}

static json_t *exit_json(const struct svc_lr_exit *x)
{
    if (!x->known)
        return json_null();
    return json_pack("{s:i, s:s, s:o, s:o, s:o, s:o, s:i}", "code", x->code, "type",
                     svc_fw_type_text(x->type), "description", text_or_null(x->description),
                     "diagnostics", text_or_null(x->diagnostics), "trigger",
                     text_or_null(x->trigger), "role", text_or_null(x->trigger_role), "index",
                     x->trigger_index);
}

char *svc_lr_record_status(const struct svc_framework *f)
{
    const struct svc_lr_status *s = &f->st;
    char app[YARN_ID_TEXT_MAX] = "";

    return dump(json_pack(
        "{s:s, s:o, s:I, s:I, s:I, s:I, s:s, s:o, s:f, s:o, s:o, s:b, s:I, "
        "s:i, s:I}",
        "state", svc_lr_state_name(s->state), "retries", svc_fw_retries_json(&s->retries),
        "created", (json_int_t)s->created_ms, "completed", (json_int_t)s->completed_ms, "launched",
        (json_int_t)s->launched_ms, "appCompleted", (json_int_t)s->app_completed_ms, "app",
        s->app.id ? yarn_app_id_text(s->app, app) : "", "user", text_or_null(s->user), "progress",
        s->progress, "trackingUrl", text_or_null(s->tracking_url), "exit", exit_json(&s->exit),
        "codeKept", s->code_kept, "retryAt", (json_int_t)s->retry_at_ms, "attempt", s->attempt,
        "sequence", (json_int_t)s->sequence));
}

/* ---- Reading ---- */

static int64_t number(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

static char *text(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));

    return s ? strdup(s) : NULL;
}

static double real_of(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);

    return json_is_number(v) ? json_number_value(v) : -1;
}

static int read_migrates(struct svc_framework *f, const json_t *list)
{
    size_t n = json_array_size(list);

    if (n > SVC_LR_MIGRATES_MAX)
        return -EUCLEAN;
    f->migrates = n ? calloc(n, sizeof(*f->migrates)) : NULL;
    for (size_t i = 0; f->migrates && i < n; i++) {
        const char *id = json_string_value(json_array_get(list, i));

        f->migrates[i] = id ? strdup(id) : NULL;
        if (!f->migrates[i])
            return -EUCLEAN;
        f->n_migrates++;
    }
    return n && !f->migrates ? -ENOMEM : 0;
}

static int read_descriptor(struct svc_lr_all *all, struct svc_framework *f, const json_t *o)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    _cleanup_free_ char *body = o ? json_dumps(o, JSON_COMPACT) : NULL, *bad = NULL;
    struct svc_fw_descriptor *d;

    if (!a || !body)
        return o ? -ENOMEM : -EUCLEAN;
    if (svc_fw_parse(body, strlen(body), true, a, &d, &bad) < 0)
        return -EUCLEAN;
    if (svc_lr_set_descriptor(all, f, a, d, body) < 0)
        return -ENOMEM;
    a = NULL;
    body = NULL;
    return 0;
}

int svc_lr_read_request(struct svc_lr_all *all, struct svc_framework *f, const char *row)
{
    json_t *o = json_loads(row, 0, NULL);
    int r = read_descriptor(all, f, json_object_get(o, "descriptor"));

    if (r == 0) {
        const char *client = json_string_value(json_object_get(o, "client"));

        if (!client || svc_lr_client_named(client, &f->client) < 0)
            f->client = SVC_LR_UNKNOWN;
        f->client_host = text(o, "host");
        f->client_user = text(o, "user");
        f->first_ms = number(o, "first");
        f->last_ms = number(o, "last");
        f->progress = real_of(o, "progress");
        f->revision = number(o, "revision");
        r = read_migrates(f, json_object_get(o, "migrates"));
    }
    json_decref(o);
    return r;
}

static int read_exit(struct svc_lr_exit *x, const json_t *o)
{
    const char *type = json_string_value(json_object_get(o, "type"));

    x->trigger_index = -1;
    if (!json_is_object(o))
        return 0;
    if (!type || svc_fw_type_named(type, &x->type) < 0)
        return -EUCLEAN;
    x->known = true;
    x->code = (int32_t)number(o, "code");
    x->description = text(o, "description");
    x->diagnostics = text(o, "diagnostics");
    x->trigger = text(o, "trigger");
    x->trigger_role = text(o, "role");
    x->trigger_index = (int32_t)number(o, "index");
    return 0;
}

static int read_state(const char *name)
{
    for (int i = 1; name && i < SVC_LR_N_STATES; i++)
        if (strcmp(svc_lr_state_name(i), name) == 0)
            return i;
    return -EUCLEAN;
}

static int read_status(struct svc_lr_status *s, const json_t *o)
{
    const char *app = json_string_value(json_object_get(o, "app"));
    int r = s->state = read_state(json_string_value(json_object_get(o, "state")));

    if (r > 0 && app && *app)
        r = yarn_app_id_parse(app, &s->app) < 0 ? -EUCLEAN : 1;
    if (r > 0)
        r = svc_fw_retries_read(json_object_get(o, "retries"), &s->retries);
    if (r >= 0)
        r = read_exit(&s->exit, json_object_get(o, "exit"));
    s->created_ms = number(o, "created");
    s->completed_ms = number(o, "completed");
    s->launched_ms = number(o, "launched");
    s->app_completed_ms = number(o, "appCompleted");
    s->user = text(o, "user");
    s->progress = real_of(o, "progress");
    s->tracking_url = text(o, "trackingUrl");
    s->code_kept = json_is_true(json_object_get(o, "codeKept"));
    s->retry_at_ms = number(o, "retryAt");
    s->attempt = (int32_t)number(o, "attempt");
    s->sequence = number(o, "sequence");
    return r < 0 ? -EUCLEAN : 0;
}

int svc_lr_read_status(struct svc_lr_all *all, struct svc_framework *f, const char *row)
{
    json_t *o = json_loads(row, 0, NULL);
    struct yarn_app_id none = { 0 };
    int r;

    svc_lr_status_free(&f->st);
    r = read_status(&f->st, o);
    json_decref(o);
    if (r < 0)
        f->st.app.id = 0; /* not in the index */
    else
        svc_lr_index_app(all, f, none);
    return r;
}
