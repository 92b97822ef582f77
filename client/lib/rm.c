/* Client of the ResourceManager: ApplicationClientProtocol, to the active one if there are several.
 * Responses come from the ResourceManager, which is trusted; missing fields must not crash a
 * client. */
#include "client/lib/client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/lib/internal.h"
#include "client/lib/login.h"
#include "common/str.h"
#include "proto/yarn.pb-c.h"
#include "proto/yarn_service.pb-c.h"
#include "wire/ipc/methods.h"
#include "wire/ipc/proxy.h"
#include "wire/sasl/auth-conf.h"

struct cli_rm {
    struct ipc_proxy *ipc;
    struct cli_login *own;             /* of a client that has looked for itself */
    struct ipc_ticket_service service; /* with a ticket: the ResourceManager */
    cli_away_fn away;
    void *away_userdata;
    bool answered;
    char exception[128]; /* class of the last exception */
};

static void on_retry(const char *method, const struct sv_error *err, int64_t wait_ms,
                     const struct ipc_proxy_server *failed, const struct ipc_proxy_server *next,
                     void *userdata)
{
    struct cli_rm *rm = userdata;
    char at[360];

    (void)method;
    (void)failed;
    if (rm->away)
        rm->away(err, wait_ms, ipc_proxy_server_text(next, at, sizeof(at)), rm->away_userdata);
}

/* `as`: identity of the client alone. */
static int connect_to(struct cli_rm *rm, sd_event *event, struct sv_conf *conf,
                      const struct ipc_client_config *as, enum yarn_rm_service service,
                      struct sv_error *err)
{
    struct ipc_proxy_config cfg;
    int r = yarn_rm_proxy_config(conf, service, &cfg, err);

    if (r < 0)
        return r;
    cfg.client.protocol =
        service == YARN_RM_ADMIN ? YARN_ADMIN_PROTOCOL : YARN_APPLICATION_CLIENT_PROTOCOL;
    cfg.client.user = as->user;
    cfg.client.for_user = as->for_user;
    cfg.client.kerberos = as->kerberos;
    cfg.client.token = as->token;
    cfg.client.qop_mask = as->qop_mask;
    cfg.notify = on_retry;
    cfg.userdata = rm;
    return ipc_proxy_new(event, &cfg, &rm->ipc, err);
}

static int open_client(sd_event *event, struct sv_conf *conf, const struct ipc_client_config *as,
                       struct cli_rm **ret, struct sv_error *err)
{
    struct cli_rm *rm = calloc(1, sizeof(*rm));
    int r = rm ? connect_to(rm, event, conf, as, YARN_RM_CLIENTS, err)
               : sv_error_errno(err, -ENOMEM, "client");

    if (r < 0)
        cli_rm_free(rm);
    else
        *ret = rm;
    return r;
}

/* With Kerberos a name that is claimed is somebody whom the caller acts for. */
static bool is_another(const struct cli_login *l, const char *user)
{
    const char *own = cli_login_principal(l);
    size_t n = strcspn(own, "/@");

    return user && !sv_streq(user, own) && !(strlen(user) == n && strncmp(user, own, n) == 0);
}

int cli_rm_new_as(sd_event *event, struct sv_conf *conf, const struct cli_login *login,
                  const char *user, enum yarn_rm_service service, struct cli_rm **ret,
                  struct sv_error *err)
{
    struct cli_rm *rm = calloc(1, sizeof(*rm));
    struct ipc_client_config as = { .user = user };
    int r;

    if (!rm)
        return sv_error_errno(err, -ENOMEM, "client");
    if (login) {
        as.token = cli_login_token(login);
        as.qop_mask = cli_login_qop(login);
        as.for_user = as.token ? NULL : is_another(login, user) ? user : cli_login_for_user(login);
        as.user = NULL;
    }
    if (login && !as.token) {
        cli_login_rm_service(login, event, &rm->service);
        as.kerberos = &rm->service.ipc;
    }
    r = connect_to(rm, event, conf, &as, service, err);
    if (r < 0)
        cli_rm_free(rm);
    else
        *ret = rm;
    return r;
}

int cli_rm_new(sd_event *event, struct sv_conf *conf, const char *user, struct cli_rm **ret,
               struct sv_error *err)
{
    struct cli_login *login;
    int r = cli_login_new(conf, YARN_RM_CLIENTS, &login, err);

    if (r < 0)
        return r;
    r = cli_rm_new_as(event, conf, login, user, YARN_RM_CLIENTS, ret, err);
    if (r < 0)
        cli_login_free(login);
    else
        (*ret)->own = login;
    return r;
}

const struct cli_login *cli_rm_login(const struct cli_rm *rm)
{
    return rm->own;
}

int cli_rm_new_for(sd_event *event, struct sv_conf *conf, const char *user, const char *for_user,
                   struct cli_rm **ret, struct sv_error *err)
{
    const struct ipc_client_config as = { .user = user, .for_user = for_user };
    int r = yarn_auth_check(conf, err);

    return r < 0 ? r : open_client(event, conf, &as, ret, err);
}

int cli_rm_new_secure(sd_event *event, struct sv_conf *conf, const struct ipc_kerberos *kerberos,
                      uint32_t qop_mask, const char *for_user, struct cli_rm **ret,
                      struct sv_error *err)
{
    const struct ipc_client_config as = { .kerberos = kerberos,
                                          .qop_mask = qop_mask,
                                          .for_user = for_user };

    return open_client(event, conf, &as, ret, err);
}

struct cli_rm *cli_rm_free(struct cli_rm *rm)
{
    if (rm) {
        ipc_proxy_free(rm->ipc);
        cli_login_free(rm->own);
        free(rm);
    }
    return NULL;
}

void cli_rm_on_away(struct cli_rm *rm, cli_away_fn fn, void *userdata)
{
    rm->away = fn;
    rm->away_userdata = userdata;
}

bool cli_rm_answered(const struct cli_rm *rm)
{
    return rm->answered;
}

const char *cli_rm_exception(const struct cli_rm *rm)
{
    return rm->exception;
}

static void on_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct cli_call *call = userdata;
    const char *class = r->java_class ? r->java_class : "";
    const char *dot = strrchr(class, '.');

    call->rm->answered = call->rm->answered || r->status == 0 || r->status == -EREMOTEIO;
    snprintf(call->rm->exception, sizeof(call->rm->exception), "%s", dot ? dot + 1 : class);
    call->answer(call, r, err);
    free(call);
}

int cli_call_start(struct cli_rm *rm, const char *method, const ProtobufCMessage *request,
                   const ProtobufCMessageDescriptor *response, struct cli_call call)
{
    struct cli_call *copy = malloc(sizeof(*copy));
    int r;

    if (!copy)
        return -ENOMEM;
    *copy = call;
    copy->rm = rm;
    r = ipc_proxy_call(rm->ipc, method, request, response, 0, on_answer, copy, NULL);
    if (r < 0)
        free(copy);
    return r;
}

/* ---- New application, kill ---- */

static void new_app_answer(struct cli_call *call, const struct ipc_result *r,
                           const struct sv_error *err)
{
    const Hadoop__Yarn__GetNewApplicationResponseProto *m = (const void *)r->response;
    struct yarn_app_id app = { 0 };
    struct yarn_resource maximum = { 0 };
    struct sv_error own = { 0 };
    int status = r->status;

    if (status == 0)
        status = yarn_app_id_from(m->application_id, &app);
    if (status == 0)
        status = yarn_resource_from(m->maximumcapability, &maximum);
    if (r->status == 0 && status < 0) {
        sv_error_set(&own, status, "getNewApplication: the answer has no usable application id");
        err = &own;
    }
    call->fn.new_app(status, app, maximum, err, call->userdata);
}

int cli_rm_new_application(struct cli_rm *rm, cli_new_app_fn fn, void *userdata)
{
    Hadoop__Yarn__GetNewApplicationRequestProto request =
        HADOOP__YARN__GET_NEW_APPLICATION_REQUEST_PROTO__INIT;

    return cli_call_start(rm, "getNewApplication", &request.base,
                          &hadoop__yarn__get_new_application_response_proto__descriptor,
                          (struct cli_call){ .answer = new_app_answer,
                                             .fn = { .new_app = fn },
                                             .userdata = userdata });
}

static void kill_answer(struct cli_call *call, const struct ipc_result *r,
                        const struct sv_error *err)
{
    const Hadoop__Yarn__KillApplicationResponseProto *m = (const void *)r->response;

    call->fn.kill(r->status, r->status == 0 && m->is_kill_completed, err, call->userdata);
}

int cli_rm_kill(struct cli_rm *rm, struct yarn_app_id app, const char *reason, cli_kill_fn fn,
                void *userdata)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__KillApplicationRequestProto request =
        HADOOP__YARN__KILL_APPLICATION_REQUEST_PROTO__INIT;

    if (!a || !(request.application_id = yarn_app_id_to(a, app)))
        return -ENOMEM;
    if (reason && !(request.diagnostics = sv_arena_strdup(a, reason)))
        return -ENOMEM;
    return cli_call_start(
        rm, "forceKillApplication", &request.base,
        &hadoop__yarn__kill_application_response_proto__descriptor,
        (struct cli_call){ .answer = kill_answer, .fn = { .kill = fn }, .userdata = userdata });
}
