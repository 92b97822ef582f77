/* See client-am.h. A change is answered when it was accepted and has been given to the engine; its
 * effects follow. */
#include "service/am/serve/client-am.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "wire/ipc/methods-service.h"

#define NAMES_MAX 10000 /* of one request */
#define STATES_MAX 32   /* each instance is compared with all; there are fewer */

/* True if the caller may; else the call has failed. */
static bool allowed(struct svc_client_am *s, struct ipc_call *call, enum svc_access access)
{
    const char *user = ipc_call_peer(call)->user;

    if (s->control.ops->may(s->control.master, user, access))
        return true;
    ipc_call_fail(call, JAVA_ACCESS_CONTROL, "%.64s may not %s this service", user,
                  access == SVC_VIEW ? "view" : "modify");
    return false;
}

static void fail(struct ipc_call *call, int r, const struct sv_error *err)
{
    ipc_call_fail(call, JAVA_YARN_EXCEPTION, "%s", err->code ? err->text : strerror(-r));
}

static void conclude(struct ipc_call *call, int r, const struct sv_error *err,
                     const ProtobufCMessage *answer)
{
    if (r < 0)
        fail(call, r, err);
    else
        ipc_call_reply(call, answer);
}

static bool few(struct ipc_call *call, size_t n, size_t max, const char *what)
{
    if (n <= max)
        return true;
    ipc_call_fail(call, JAVA_YARN_EXCEPTION, "%zu %s: at most %zu", n, what, max);
    return false;
}

/* ---- Size ---- */

static void on_flexComponents(struct ipc_call *call, const ProtobufCMessage *request,
                              void *userdata)
{
    const Hadoop__Yarn__FlexComponentsRequestProto *m = (const void *)request;
    Hadoop__Yarn__FlexComponentsResponseProto answer =
        HADOOP__YARN__FLEX_COMPONENTS_RESPONSE_PROTO__INIT;
    struct svc_client_am *s = userdata;
    struct svc_flex *list = NULL;
    struct sv_error err = { 0 };
    int r = 0;

    if (!allowed(s, call, SVC_MODIFY))
        return;
    if (m->n_components > SVC_FLEX_MAX)
        r = sv_error_set(&err, -E2BIG, "components: %zu: at most %d", m->n_components,
                         SVC_FLEX_MAX);
    if (r == 0 && !(list = sv_newn(ipc_call_arena(call), struct svc_flex, m->n_components + 1)))
        r = -ENOMEM;
    for (size_t i = 0; r == 0 && i < m->n_components; i++) {
        const Hadoop__Yarn__ComponentCountProto *c = m->components[i];

        list[i] = (struct svc_flex){ c->name ? c->name : "", c->numberofcontainers };
        if (!c->has_numberofcontainers)
            r = sv_error_set(&err, -EINVAL, "components[%zu].numberOfContainers is missing", i);
    }
    if (r == 0) /* the client has stored the counts, as Hadoop's does */
        r = s->control.ops->flex(s->control.master, list, m->n_components, false, &err);
    conclude(call, r, &err, &answer.base);
}

static void on_decommissionCompInstances(struct ipc_call *call, const ProtobufCMessage *request,
                                         void *userdata)
{
    const Hadoop__Yarn__DecommissionCompInstancesRequestProto *m = (const void *)request;
    Hadoop__Yarn__DecommissionCompInstancesResponseProto answer =
        HADOOP__YARN__DECOMMISSION_COMP_INSTANCES_RESPONSE_PROTO__INIT;
    struct svc_client_am *s = userdata;
    struct sv_error err = { 0 };
    int r;

    if (!allowed(s, call, SVC_MODIFY) || !few(call, m->n_compinstances, NAMES_MAX, "instances"))
        return;
    r = s->control.ops->decommission(s->control.master, m->compinstances, m->n_compinstances, &err);
    conclude(call, r, &err, &answer.base);
}

/* ---- Views ---- */

static void reply_status(struct ipc_call *call, const char *text)
{
    Hadoop__Yarn__GetStatusResponseProto answer = HADOOP__YARN__GET_STATUS_RESPONSE_PROTO__INIT;

    answer.status = (char *)(uintptr_t)text;
    ipc_call_reply(call, &answer.base);
}

static void on_getStatus(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    struct svc_client_am *s = userdata;
    struct sv_error err = { 0 };
    const char *text;
    size_t len;
    int r;

    (void)request;
    if (!allowed(s, call, SVC_VIEW))
        return;
    r = svc_status_text(s->status, &text, &len);
    if (r == -EAGAIN && s->n_waiting < SVC_WAITING_MAX)
        s->waiting[s->n_waiting++] = call;
    else if (r < 0)
        fail(call, r, &err);
    else
        reply_status(call, text);
}

void svc_client_am_status_done(struct svc_client_am *s, int status)
{
    struct sv_error err = { 0 };
    size_t n = s->n_waiting, len;
    const char *text = NULL;
    int r = status < 0 ? status : svc_status_text(s->status, &text, &len);

    s->n_waiting = 0;
    for (size_t i = 0; i < n; i++)
        if (r < 0)
            fail(s->waiting[i], r, &err);
        else
            reply_status(s->waiting[i], text);
}

static void on_listed(int status, const char *text, void *userdata)
{
    Hadoop__Yarn__GetCompInstancesResponseProto answer =
        HADOOP__YARN__GET_COMP_INSTANCES_RESPONSE_PROTO__INIT;
    struct sv_error err = { 0 };

    answer.compinstances = (char *)(uintptr_t)text;
    conclude(userdata, status, &err, &answer.base);
}

static void on_getCompInstances(struct ipc_call *call, const ProtobufCMessage *request,
                                void *userdata)
{
    const Hadoop__Yarn__GetCompInstancesRequestProto *m = (const void *)request;
    struct svc_client_am *s = userdata;
    const struct svc_instance_filter f = { m->componentnames, m->n_componentnames, m->version,
                                           m->containerstates, m->n_containerstates };
    struct sv_error err = { 0 };
    int r;

    if (!allowed(s, call, SVC_VIEW) ||
        !few(call, m->n_componentnames, SVC_COMPONENTS_MAX, "components") ||
        !few(call, m->n_containerstates, STATES_MAX, "states"))
        return;
    r = svc_instances_list(s->instances, &f, *s->version, on_listed, call);
    if (r < 0)
        fail(call, r, &err);
}

/* ---- Life ---- */

static void on_stop(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    Hadoop__Yarn__StopResponseProto answer = HADOOP__YARN__STOP_RESPONSE_PROTO__INIT;
    struct svc_client_am *s = userdata;
    struct sv_error err = { 0 };
    char text[128], user[80];
    int r;

    (void)request;
    if (!allowed(s, call, SVC_MODIFY))
        return;
    sv_escape(user, sizeof(user), ipc_call_peer(call)->user);
    (void)snprintf(text, sizeof(text), "Stopped by user %s", user);
    r = s->control.ops->stop(s->control.master, text, &err);
    conclude(call, r, &err, &answer.base);
}

/* Hadoop's clients end an upgrade by it. */
static void on_restartService(struct ipc_call *call, const ProtobufCMessage *request,
                              void *userdata)
{
    Hadoop__Yarn__RestartServiceResponseProto answer =
        HADOOP__YARN__RESTART_SERVICE_RESPONSE_PROTO__INIT;
    struct svc_client_am *s = userdata;
    struct sv_error err = { 0 };
    int r;

    (void)request;
    if (!allowed(s, call, SVC_MODIFY))
        return;
    r = s->control.ops->finalize_upgrade(s->control.master, &err);
    conclude(call, r, &err, &answer.base);
}

/* ---- Upgrades ---- */

/* A refusal is a text of the answer, as with Hadoop's master. */
static void on_upgradeService(struct ipc_call *call, const ProtobufCMessage *request,
                              void *userdata)
{
    const Hadoop__Yarn__UpgradeServiceRequestProto *m = (const void *)request;
    Hadoop__Yarn__UpgradeServiceResponseProto answer =
        HADOOP__YARN__UPGRADE_SERVICE_RESPONSE_PROTO__INIT;
    struct svc_client_am *s = userdata;
    struct sv_error err = { 0 };
    int r;

    if (!allowed(s, call, SVC_MODIFY))
        return;
    r = s->control.ops->upgrade(s->control.master, m->version ? m->version : "", m->autofinalize,
                                m->expressupgrade, call, &err);
    if (r == SVC_LATER)
        return; /* svc_client_am_upgraded() answers */
    if (r < 0)
        answer.error = err.code ? err.text : (char *)(uintptr_t)strerror(-r);
    ipc_call_reply(call, &answer.base);
}

void svc_client_am_upgraded(struct ipc_call *call, int status, const struct sv_error *err)
{
    Hadoop__Yarn__UpgradeServiceResponseProto answer =
        HADOOP__YARN__UPGRADE_SERVICE_RESPONSE_PROTO__INIT;

    if (status < 0)
        answer.error = (char *)(uintptr_t)(err && err->code ? err->text : strerror(-status));
    ipc_call_reply(call, &answer.base);
}

static void on_cancelUpgrade(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    Hadoop__Yarn__CancelUpgradeResponseProto answer =
        HADOOP__YARN__CANCEL_UPGRADE_RESPONSE_PROTO__INIT;
    struct svc_client_am *s = userdata;
    struct sv_error err = { 0 };
    int r;

    (void)request;
    if (!allowed(s, call, SVC_MODIFY))
        return;
    r = s->control.ops->cancel_upgrade(s->control.master, &err);
    conclude(call, r, &err, &answer.base);
}

static void on_upgrade(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    const Hadoop__Yarn__CompInstancesUpgradeRequestProto *m = (const void *)request;
    Hadoop__Yarn__CompInstancesUpgradeResponseProto answer =
        HADOOP__YARN__COMP_INSTANCES_UPGRADE_RESPONSE_PROTO__INIT;
    struct svc_client_am *s = userdata;
    struct sv_error err = { 0 };
    int r;

    if (!allowed(s, call, SVC_MODIFY) || !few(call, m->n_containerids, NAMES_MAX, "containers"))
        return;
    r = s->control.ops->upgrade_containers(s->control.master, m->containerids, m->n_containerids,
                                           &err);
    conclude(call, r, &err, &answer.base);
}

#define ROW(name, request, response)                                                               \
    { #name, &request##__descriptor, &response##__descriptor, on_##name },
static const struct ipc_method methods[] = { YARN_SERVICE_AM_METHODS(ROW) };

const struct ipc_protocol svc_client_am_protocol = {
    .name = YARN_SERVICE_AM_PROTOCOL,
    .version = 1,
    .methods = methods,
    .n_methods = SV_ARRAY_LEN(methods),
};
