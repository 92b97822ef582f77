/* See viewer.h. */
#include "rm-lite/requests/viewer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "common/ldap/ldap-groups.h"
#include "common/str.h"
#include "common/web/http.h"
#include "common/web/web-user.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/requests/answer.h"
#include "rm-lite/requests/reports.h"
#include "rm-lite/security/proxy-users.h"
#include "rm-lite/security/queue-access.h"
#include "rm-lite/store/store-history.h"

struct rm_waiting {
    struct rm_waiting *prev, *next;
    struct ipc_call *call;
    const ProtobufCMessage *request; /* in the call's arena */
    ipc_handler handler;
};

/* ---- Viewers ---- */

static void init(struct rm *rm, struct rm_viewer *v)
{
    v->rm = rm;
    (void)sv_groups_missed(rm->groups); /* missed by others, ignoring */
    v->sees_all =
        !rm->conf.acl_enable || (*v->user && sv_web_is_admin(&rm->conf.auth, v->user, rm->groups));
}

void rm_viewer_of_request(struct rm *rm, const struct sv_http_request *req, struct rm_viewer *ret)
{
    *ret->user = '\0';
    if (rm->conf.acl_enable)
        sv_web_user(&rm->conf.auth, req, ret->user);
    init(rm, ret);
}

void rm_viewer_of_call(struct rm *rm, struct ipc_call *call, struct rm_viewer *ret)
{
    const char *user = ipc_call_peer(call)->user;

    (void)snprintf(ret->user, sizeof(ret->user), "%s", user ? user : "");
    init(rm, ret);
}

static bool sees(const struct rm_viewer *v, const char *owner, const char *view_acl,
                 const char *queue)
{
    if (v->sees_all || !*v->user)
        return v->sees_all;
    return sv_streq(v->user, owner) ||
           (view_acl && sv_acl_admits(view_acl, v->user, v->rm->groups)) ||
           rm_queue_administers(v->rm, queue, v->user);
}

bool rm_viewer_sees(const struct rm_viewer *v, const struct rm_app *app)
{
    return sees(v, app->user, app->view_acl, app->queue);
}

bool rm_viewer_sees_past(const struct rm_viewer *v, const struct rm_past_app *past)
{
    return sees(v, past->user, past->view_acl, past->queue);
}

int rm_viewer_groups(const struct rm_viewer *v)
{
    char *const *names;

    if (rm_viewer_waits(v))
        return -EAGAIN;
    return v->sees_all || !*v->user ? 0 : sv_groups_of(v->rm->groups, v->user, &names);
}

/* ---- Waiting for groups ---- */

bool rm_viewer_waits(const struct rm_viewer *v)
{
    return sv_groups_missed(v->rm->groups);
}

void rm_groups_wait(struct rm *rm, struct ipc_call *call, const ProtobufCMessage *request,
                    ipc_handler handler)
{
    struct rm_waiting *w = calloc(1, sizeof(*w));

    if (!w) {
        rm_answer_no_memory(call);
        return;
    }
    *w = (struct rm_waiting){ .call = call, .request = request, .handler = handler };
    DL_APPEND(rm->waiting, w);
}

static void on_groups_known(void *userdata)
{
    struct rm *rm = userdata;
    struct rm_waiting *w, *tmp, *list = SV_TAKE(rm->waiting);

    rm_proxy_users_known(rm); /* retries requests of the web server, too */
    DL_FOREACH_SAFE (list, w, tmp) {
        struct rm_waiting copy = *w;

        DL_DELETE(list, w);
        free(w);
        copy.handler(copy.call, copy.request, rm); /* may wait again */
    }
}

int rm_viewers_start(struct rm *rm, struct sv_error *err)
{
    struct sv_groups_conf conf = { .cache_ms = rm->conf.auth.groups_cache_ms,
                                   .negative_ms = rm->conf.auth.groups_negative_ms,
                                   .overrides = rm->conf.auth.groups_overrides,
                                   .known = on_groups_known,
                                   .userdata = rm };
    int r = sv_ldap_groups_source(rm->xml, &conf.source, err);

    if (r < 0)
        return r;
    r = sv_groups_new(rm->event, &conf, &rm->groups);
    sv_groups_source_unref(&conf.source);
    return r < 0 ? sv_error_errno(err, r, "groups of users") : 0;
}

void rm_viewers_stop(struct rm *rm)
{
    struct rm_waiting *w, *tmp;

    rm->groups = sv_groups_free(rm->groups);
    DL_FOREACH_SAFE (rm->waiting, w, tmp) {
        DL_DELETE(rm->waiting, w);
        ipc_call_fail(w->call, JAVA_IO_EXCEPTION, "the ResourceManager stops");
        free(w);
    }
}

/* ---- Reports ---- */

static char *literal(const char *s)
{
    return (char *)(uintptr_t)s; /* protobuf-c's messages have no const, and it is only packed */
}

Hadoop__Yarn__ApplicationReportProto *rm_viewer_report(const struct rm_viewer *v,
                                                       struct sv_arena *a, struct rm_app *app)
{
    bool all = rm_viewer_sees(v, app);
    Hadoop__Yarn__ApplicationReportProto *m = rm_app_report(a, app, v->user);

    if (!m || all)
        return m;
    m->host = m->trackingurl = m->originaltrackingurl = literal("N/A");
    m->rpc_port = -1;
    m->diagnostics = literal("");
    m->client_to_am_token = NULL;
    return m;
}
