/* See link.h. */
#include "service/am/framework/link.h"

#include <errno.h>
#include <string.h>

#include "common/log.h"
#include "common/loop-guard.h"
#include "common/oom.h"
#include "common/str.h"
#include "service/am/framework/post.h"
#include "service/framework/link.h"

#define RETRY_MIN_MS 500
#define RETRY_MAX_MS 15000
#define ANSWER_MS 30000 /* for a request that does not wait */
#define ARENA_MAX ((size_t)256 << 20)

struct svc_link {
    struct svc_post *post;
    struct svc_link_config cfg;
    char *framework, *application;
    char *servers, *server; /* URLs, and the one in use */
    sd_event_source *turn, *retry;
    int64_t sequence, seen, retry_ms;
    bool greeted;             /* the greeting was answered */
    bool open, waits, full;   /* a request; it waits for a revision; it tells tasks */
    bool bare;                /* the next request tells nothing, and asks for the revision alone */
    bool ending, says, ended; /* the application; the request says so; one that did was answered */
    bool silent;
};

/* ---- Requests ---- */

static json_t *request(const struct svc_link *l, bool wait, json_t *roles)
{
    return json_pack("{s:i,s:s,s:i,s:I,s:b,s:I,s:b,s:f,s:b,s:o}", "version", (int)l->cfg.version,
                     "applicationId", l->application, "attempt", (int)l->cfg.attempt, "sequence",
                     (json_int_t)l->sequence, "full", 0, "seen", (json_int_t)l->seen, "wait",
                     (int)wait, "progress", l->cfg.ops->progress(l->cfg.userdata), "ending",
                     (int)l->ending, "taskRoles", roles);
}

static void wake_after(struct svc_link *l, int64_t ms)
{
    (void)sd_event_source_set_time_relative(l->retry, (uint64_t)ms * 1000);
    (void)sd_event_source_set_enabled(l->retry, SD_EVENT_ONESHOT); /* exists, ignoring */
}

static void repeat_later(struct svc_link *l)
{
    l->retry_ms = SV_MIN(SV_MAX(2 * l->retry_ms, (int64_t)RETRY_MIN_MS), (int64_t)RETRY_MAX_MS);
    wake_after(l, l->retry_ms);
}

static bool unsaid(const struct svc_link *l)
{
    return l->ending && !l->ended;
}

static void send(struct svc_link *l)
{
    json_t *roles = json_object(), *body;
    char *text;
    int r;

    if (!roles)
        sv_out_of_memory();
    if (l->greeted && !l->bare)
        l->cfg.ops->fill(roles, l->cfg.userdata);
    l->full = json_object_size(roles) > 0;
    l->says = l->ending;
    /* The first request after a failure is answered at once: what changes meanwhile is told then,
     * not when a wait has ended. */
    l->waits = l->greeted && !l->bare && !l->full && !unsaid(l) && l->retry_ms == 0;
    body = request(l, l->waits, roles);
    text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    json_decref(body);
    if (!text)
        sv_out_of_memory();
    r = svc_post_send(l->post, text, l->waits ? (SVC_FW_LINK_WAIT_S + 30) * 1000 : ANSWER_MS);
    if (r == -ENOMEM)
        sv_out_of_memory();
    l->open = r == 0;
    if (r < 0) {
        sv_log_err("selvedge-services: cannot send a request: %s", strerror(-r));
        if (l->full)
            l->cfg.ops->told(false, l->cfg.userdata);
        repeat_later(l);
    }
}

static int on_turn(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_link *l = userdata;

    (void)s;
    if (l->silent || (l->open && !l->waits))
        return 0;
    if (l->open && !l->cfg.ops->left(l->cfg.userdata) && !unsaid(l))
        return 0;
    if (l->open) {
        svc_post_cancel(l->post);
        l->open = false;
        l->sequence++;
    }
    send(l);
    return 0;
}

static int on_retry(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)usec;
    return on_turn(s, userdata);
}

static void next_turn(struct svc_link *l)
{
    (void)sd_event_source_set_enabled(l->turn, SD_EVENT_ONESHOT); /* exists, ignoring */
}

/* While the launcher is away the timer decides, not each change. */
void svc_link_changed(struct svc_link *l)
{
    if (l->greeted && !l->silent && l->retry_ms == 0)
        next_turn(l);
}

void svc_link_end(struct svc_link *l)
{
    l->ending = true;
    svc_link_changed(l);
}

bool svc_link_ended(const struct svc_link *l)
{
    return l->ended;
}

/* ---- Servers ---- */

/* "http://a:1/" of "http://a:1/,http://b:1". -ENOMEM. */
static int url_of(const struct svc_link *l, char **ret)
{
    size_t n = strcspn(l->server, ",");
    int slash = n > 0 && l->server[n - 1] == '/';

    return sv_asprintf(ret, "%.*s" SVC_FW_LINK_PATH "%s", (int)n - slash, l->server, l->framework);
}

/* Another one may have become active. */
static void next_server(struct svc_link *l)
{
    _cleanup_free_ char *url = NULL;
    const char *comma = strchr(l->server, ',');

    if (!comma && l->server == l->servers)
        return;
    l->server = comma ? l->server + (comma - l->server) + 1 : l->servers;
    if (url_of(l, &url) < 0 || svc_post_set_url(l->post, url) < 0)
        sv_out_of_memory();
}

/* ---- Answers ---- */

static void failed(struct svc_link *l, const char *why)
{
    if (l->retry_ms == 0)
        sv_log_warning("selvedge-services: %s; the request is repeated until it answers", why);
    if (l->full)
        l->cfg.ops->told(false, l->cfg.userdata);
    l->full = false;
    l->sequence += l->greeted; /* it may have been taken: the next one has more to tell */
    if (!l->bare)              /* else this one has answered */
        next_server(l);
    repeat_later(l);
}

static void take(struct svc_link *l, const struct svc_answer *a)
{
    l->seen = SV_MAX(l->seen, a->revision);
    l->sequence++;
    if (l->retry_ms > 2 * RETRY_MIN_MS)
        sv_log_info("selvedge-services answers again");
    l->retry_ms = 0;
    l->greeted = true;
    l->bare = false;
    l->ended |= l->says;
    l->cfg.ops->answered(a, l->cfg.userdata);
    l->cfg.ops->told(true, l->cfg.userdata);
    l->full = false;
    if (a->pause_ms > 0 && !l->cfg.ops->left(l->cfg.userdata) && !unsaid(l))
        wake_after(l, SV_MIN(a->pause_ms, (int64_t)SVC_FW_LINK_WAIT_S * 1000));
    else if (!l->silent)
        next_turn(l);
}

static void on_good(struct svc_link *l, const char *body, size_t len)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(ARENA_MAX);
    struct sv_error err = { 0 };
    struct svc_answer answer;
    int r = a ? svc_answer_parse(body, len, a, &answer, &err) : -ENOMEM;

    if (r == -ENOMEM)
        sv_out_of_memory();
    if (r < 0) {
        failed(l, err.text);
        return;
    }
    take(l, &answer);
    svc_answer_clear(&answer);
}

static void on_answer(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct svc_link *l = userdata;
    char text[256];

    l->open = false;
    if (status == 200) {
        on_good(l, body, len);
    } else if (status == 410 || status == 401) {
        l->silent = true;
        l->cfg.ops->gone(status == 410 ? "the framework has another version or was deleted"
                                       : "selvedge-services does not know this master's token",
                         l->cfg.userdata);
    } else {
        (void)snprintf(text, sizeof(text), status < 0 ? "%s" : "%s status %d",
                       status < 0 ? why : "HTTP", status);
        l->bare = status == 400; /* a task that was removed since, in a later revision */
        failed(l, text);
    }
}

/* ---- Life ---- */

static int make(struct svc_link *l, sd_event *event, struct sv_error *err)
{
    _cleanup_free_ char *url = NULL, *header = NULL;
    int r = url_of(l, &url);

    if (r >= 0)
        r = sv_asprintf(&header, SVC_FW_LINK_HEADER ": %s", l->cfg.token);
    if (r >= 0)
        r = svc_post_new(event, url, header, on_answer, l, &l->post, err);
    if (r < 0)
        return err->code ? r : sv_error_errno(err, r, "link");
    r = sd_event_add_defer(event, &l->turn, on_turn, l);
    if (r >= 0)
        r = sd_event_add_time_relative(event, &l->retry, CLOCK_MONOTONIC, 0, 1000, on_retry, l);
    if (r >= 0)
        r = sd_event_source_set_enabled(l->retry, SD_EVENT_OFF);
    return r < 0 ? sv_error_errno(err, r, "link") : 0;
}

int svc_link_new(sd_event *event, const struct svc_link_config *cfg, struct svc_link **ret,
                 struct sv_error *err)
{
    struct svc_link *l = calloc(1, sizeof(*l));
    int r;

    if (!l)
        return sv_error_errno(err, -ENOMEM, "link");
    l->cfg = *cfg;
    l->framework = strdup(cfg->framework);
    l->application = strdup(cfg->application);
    l->servers = l->server = strdup(cfg->launcher);
    r = l->framework && l->application && l->servers ? make(l, event, err)
                                                     : sv_error_errno(err, -ENOMEM, "link");
    l->cfg.launcher = l->cfg.framework = l->cfg.application = l->cfg.token = NULL;
    if (r < 0) {
        svc_link_free(l);
        return r;
    }
    *ret = l;
    return 0;
}

struct svc_link *svc_link_free(struct svc_link *l)
{
    if (!l)
        return NULL;
    svc_post_free(l->post);
    sd_event_source_disable_unref(l->turn);
    sd_event_source_disable_unref(l->retry);
    free(l->servers);
    free(l->framework);
    free(l->application);
    free(l);
    return NULL;
}
