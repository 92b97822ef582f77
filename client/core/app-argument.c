#include "client/core/app-argument.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"

#define APP_PREFIX "application_"

/* ---- Texts that need no list ---- */

/* application_<time>_<number>; the number may lack leading zeros. */
static bool whole_id(const char *text, struct yarn_app_id *ret)
{
    const char *p = text + strlen(APP_PREFIX);
    const char *bar = sv_has_prefix(text, APP_PREFIX) ? strchr(p, '_') : NULL;
    char time[24] = "";
    uint64_t cluster, number;

    if (!bar || (size_t)(bar - p) >= sizeof(time))
        return false;
    memcpy(time, p, (size_t)(bar - p));
    if (sv_parse_u64(time, 1, INT64_MAX, &cluster) < 0 ||
        sv_parse_u64(bar + 1, 0, INT32_MAX, &number) < 0)
        return false;
    *ret = (struct yarn_app_id){ (int64_t)cluster, (int32_t)number };
    return true;
}

/* "application_" with digits and at most one more bar behind it. */
static bool begins_id(const char *text)
{
    const char *p = text;

    if (!sv_has_prefix(text, APP_PREFIX))
        return false;
    p += strlen(APP_PREFIX);
    p += strspn(p, "0123456789");
    return *p == '\0' || (*p == '_' && p[1 + strspn(p + 1, "0123456789")] == '\0');
}

/* Texts that look like an id, and nobody's name for a job. */
static bool reserved(const char *text)
{
    return *text == '\0' || *text == '-' || sv_has_prefix(text, APP_PREFIX) ||
           sv_has_prefix(text, "container_") || sv_has_prefix(text, "appattempt_");
}

int cli_app_parse(const char *text, struct cli_app_argument *ret)
{
    struct yarn_container_id container;
    struct yarn_attempt_id attempt;

    if (yarn_container_id_parse(text, &container) >= 0)
        ret->id = container.attempt.app;
    else if (yarn_attempt_id_parse(text, &attempt) >= 0)
        ret->id = attempt.app;
    else if (!whole_id(text, &ret->id)) {
        if (begins_id(text) || !reserved(text))
            return -EAGAIN;
        (void)cli_fail("%s: not an application: expected application_<time>_<number>, the "
                       "beginning of such an id, its number, a name or @last",
                       text);
        return 2;
    }
    (void)yarn_app_id_text(ret->id, ret->text);
    return 0;
}

/* ---- Selection from the list ---- */

static bool fits(const char *text, const struct cli_report *r)
{
    char id[YARN_ID_TEXT_MAX];
    uint64_t number;

    if (sv_parse_u64(text, 0, INT32_MAX, &number) == 0)
        return r->id.id == (int32_t)number;
    return strcmp(r->name, text) == 0 ||
           (begins_id(text) && sv_has_prefix(yarn_app_id_text(r->id, id), text));
}

static bool later(const struct cli_report *a, const struct cli_report *b)
{
    return a->id.cluster_ts != b->id.cluster_ts ? a->id.cluster_ts > b->id.cluster_ts
                                                : a->id.id > b->id.id;
}

static size_t select_last(const char *user, const struct cli_report *reports, size_t n,
                          size_t *hits)
{
    const struct cli_report *last = NULL;

    for (size_t i = 0; i < n; i++)
        if (strcmp(reports[i].user, user) == 0 && (!last || later(&reports[i], last)))
            last = &reports[i];
    if (last)
        hits[0] = (size_t)(last - reports);
    return last ? 1 : 0;
}

struct count { /* of those that fit */
    size_t all, own, live, own_live;
};

static struct count count_fitting(const char *text, const char *user,
                                  const struct cli_report *reports, size_t n)
{
    struct count c = { 0 };

    for (size_t i = 0; i < n; i++)
        if (fits(text, &reports[i])) {
            bool own = strcmp(reports[i].user, user) == 0;
            bool live = !cli_app_ended(reports[i].state);

            c.all++;
            c.own += own;
            c.live += live;
            c.own_live += own && live;
        }
    return c;
}

size_t cli_app_select(const char *text, const char *user, const struct cli_report *reports,
                      size_t n, size_t *hits, size_t max)
{
    const struct count c = count_fitting(text, user, reports, n);
    const bool own = c.own > 0;
    const bool live = own ? c.own > 1 && c.own_live > 0 : c.all > 1 && c.live > 0;
    size_t found = 0;

    if (strcmp(text, "@last") == 0)
        return select_last(user, reports, n, hits);
    for (size_t i = 0; i < n; i++) {
        const struct cli_report *r = &reports[i];

        if (!fits(text, r) || (own && strcmp(r->user, user) != 0) ||
            (live && cli_app_ended(r->state)))
            continue;
        if (found < max)
            hits[found] = i;
        found++;
    }
    return found;
}

/* ---- The ResourceManager's list ---- */

struct search {
    struct cli_ctx *ctx;
    const char *text;
    struct cli_app_argument *ret;
    int code; /* -1 until the answer */
};

void cli_app_ambiguous(const char *text, const struct cli_report *reports, const size_t *hits,
                       size_t n)
{
    char list[CLI_APPS_NAMED * (YARN_ID_TEXT_MAX + 160)] = "", id[YARN_ID_TEXT_MAX];
    size_t used = 0;

    for (size_t i = 0; i < SV_MIN(n, (size_t)CLI_APPS_NAMED) && used < sizeof(list); i++) {
        const struct cli_report *r = &reports[hits[i]];

        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s (%.64s of %.32s, %s)",
                                 i ? ", " : "", yarn_app_id_text(r->id, id), r->name, r->user,
                                 cli_app_state_name(r->state));
    }
    (void)cli_fail("%s: this could be %zu applications: %s%s; give more of the id", text, n, list,
                   n > CLI_APPS_NAMED ? ", …" : "");
}

static void on_reports(int status, const struct cli_report *reports, size_t n,
                       const struct sv_error *err, void *userdata)
{
    struct search *s = userdata;
    size_t hits[CLI_APPS_NAMED], found;

    if (status < 0) {
        cli_stop_error(s->ctx, status, err);
        s->code = 1;
        return;
    }
    found = cli_app_select(s->text, s->ctx->user, reports, n, hits, CLI_APPS_NAMED);
    s->code = found == 1 ? 0 : 1;
    if (found == 1) {
        s->ret->id = reports[hits[0]].id;
        (void)yarn_app_id_text(s->ret->id, s->ret->text);
    } else if (found > 1) {
        cli_app_ambiguous(s->text, reports, hits, found);
    } else if (strcmp(s->text, "@last") == 0) {
        (void)cli_fail("@last: the ResourceManager knows no application of %s", s->ctx->user);
    } else {
        (void)cli_fail("%s: no application has this id, number or name; selvedge ps -a lists "
                       "those that the ResourceManager knows",
                       s->text);
    }
}

int cli_app_resolve(struct cli_ctx *ctx, const char *text, struct cli_app_argument *ret)
{
    struct search s = { .ctx = ctx, .text = text, .ret = ret, .code = -1 };
    int r = cli_app_parse(text, ret);

    if (r != -EAGAIN)
        return r;
    r = cli_rm_applications(ctx->rm, strcmp(text, "@last") == 0 ? ctx->user : NULL, false,
                            on_reports, &s);
    while (r >= 0 && s.code < 0 && sd_event_get_state(ctx->event) != SD_EVENT_FINISHED)
        r = sd_event_run(ctx->event, UINT64_MAX);
    if (r >= 0 && s.code >= 0)
        return s.code;
    ctx->rm = cli_rm_free(ctx->rm); /* the open call has its answer here */
    return r < 0 ? cli_fail("%s: %s", text, strerror(-r)) : ctx->code;
}

int cli_connect_app(struct cli_ctx *ctx, const char *text, struct yarn_app_id *ret)
{
    struct cli_app_argument app = { 0 };
    int code = cli_app_parse(text, &app);

    if (code > 0)
        return code;
    code = cli_connect(ctx);
    if (code == 0)
        code = cli_app_resolve(ctx, text, &app);
    if (code != 0)
        return code;
    *ret = app.id;
    memcpy(ctx->subject_text, app.text, sizeof(app.text));
    ctx->subject = ctx->subject_text;
    return 0;
}
