#include "tests/lib/rm-peer.h"

#include <stdarg.h>

struct peer peer = { .name = "FAIL ", .patience_ms = 120000 };

void check(bool good, const char *fmt, ...)
{
    va_list ap;

    printf("%s ", good ? "ok" : "FAIL");
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    (void)fflush(stdout);
    peer.failed += !good;
}

void die(const char *what, const struct sv_error *err)
{
    (void)fprintf(peer.errors ? peer.errors : stdout, "%s%s: %s\n", peer.name, what,
                  err ? err->text : "");
    exit(EXIT_FAILURE);
}

void peer_start(char **ports, int n_ports)
{
    uint64_t port;

    for (int i = 0; i < n_ports; i++) {
        if (sv_parse_u64(ports[i], 1, UINT16_MAX, &port) < 0)
            die("not a port", NULL);
        peer.port[i] = (uint16_t)port;
    }
    if (sd_event_new(&peer.event) < 0)
        die("event loop", NULL);
}

int64_t peer_deadline(void)
{
    return sv_now_ms() + peer.patience_ms;
}

bool peer_pause(int64_t until, uint64_t ms)
{
    if (sd_event_run(peer.event, ms * 1000) < 0)
        die("event loop", NULL);
    return sv_now_ms() < until;
}

/* ---- Messages and calls ---- */

struct method {
    const char *name;
    const ProtobufCMessageDescriptor *request, *response;
};

#define ROW(name, request, response) { #name, &request##__descriptor, &response##__descriptor },
static const struct method methods[] = {
    YARN_RESOURCE_TRACKER_METHODS(ROW) YARN_APPLICATION_MASTER_METHODS(ROW)
        YARN_APPLICATION_CLIENT_METHODS(ROW) YARN_ADMIN_METHODS(ROW) HADOOP_HA_SERVICE_METHODS(ROW)
};

static const struct method *find_method(const char *name)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(methods); i++)
        if (sv_streq(methods[i].name, name))
            return &methods[i];
    die(name, NULL);
}

void *peer_new(struct sv_arena *a, const ProtobufCMessageDescriptor *d)
{
    void *m = sv_arena_alloc(a, d->sizeof_message);

    if (!m)
        die("memory of a message", NULL);
    protobuf_c_message_init(d, m);
    return m;
}

void *peer_request(struct sv_arena *a, const char *method)
{
    return peer_new(a, find_method(method)->request);
}

const ProtobufCMessageDescriptor *peer_response(const char *method)
{
    return find_method(method)->response;
}

char *peer_text(const char *constant)
{
    return (char *)(uintptr_t)constant;
}

struct ipc_client *peer_open(enum peer_service service, const char *user,
                             const struct yarn_token *token)
{
    static const char *const protocols[] = { YARN_APPLICATION_CLIENT_PROTOCOL,
                                             YARN_RESOURCE_TRACKER_PROTOCOL,
                                             YARN_APPLICATION_MASTER_PROTOCOL,
                                             YARN_ADMIN_PROTOCOL };
    struct ipc_client_config cfg = { .host = "127.0.0.1",
                                     .port = peer.port[service],
                                     .protocol = protocols[service],
                                     .version = 1,
                                     .user = user,
                                     .token = token,
                                     .idle_ms = -1,
                                     .call_ms = peer.patience_ms };
    struct sv_error err = { 0 };
    struct ipc_client *c;

    if (ipc_client_new(peer.event, &cfg, &c, &err) < 0)
        die("connection", &err);
    return c;
}

const void *peer_call(struct sv_arena *a, struct ipc_client *c, const char *method,
                      const void *request)
{
    const struct method *found = find_method(method);
    const ProtobufCMessage *q = request ? request : peer_new(a, found->request);
    ProtobufCMessage *m = NULL;

    peer.method = method;
    peer.class = NULL;
    peer.err = (struct sv_error){ 0 };
    if (ipc_client_call_sync(c, method, q, found->response, a, &m, &peer.class, &peer.err) < 0)
        m = NULL;
    peer.class = peer.class ? peer.class : "";
    return m;
}

const void *peer_good(const void *answer)
{
    if (!answer)
        die(peer.method, &peer.err);
    return answer;
}

const void *peer_must(struct sv_arena *a, struct ipc_client *c, const char *method,
                      const void *request)
{
    return peer_good(peer_call(a, c, method, request));
}

void peer_send(struct ipc_client *c, const char *method, const void *request, ipc_done done,
               void *userdata)
{
    if (ipc_client_call(c, method, request, peer_response(method), 0, done, userdata) < 0)
        die(method, NULL);
}

/* ---- Clients ---- */

SubmissionContext *peer_submission(struct sv_arena *a, struct ipc_client *c,
                                   struct yarn_app_id *ret)
{
    const Hadoop__Yarn__GetNewApplicationResponseProto *resp =
        peer_must(a, c, "getNewApplication", NULL);
    SubmissionContext *m = PEER_NEW(a, hadoop__yarn__application_submission_context_proto);
    Hadoop__Yarn__ContainerLaunchContextProto *launch =
        PEER_NEW(a, hadoop__yarn__container_launch_context_proto);

    if (yarn_app_id_from(resp->application_id, ret) < 0)
        die("getNewApplication: no id", NULL);
    launch->command = sv_newn(a, char *, 1);
    launch->command[launch->n_command++] = peer_text("true");
    m->application_id = resp->application_id;
    m->queue = peer_text("default");
    m->am_container_spec = launch;
    m->resource = yarn_resource_to(a, (struct yarn_resource){ 1024, 1, 0 });
    return m;
}

void peer_submit(struct sv_arena *a, struct ipc_client *c, SubmissionContext *m)
{
    Hadoop__Yarn__SubmitApplicationRequestProto *q = peer_request(a, "submitApplication");

    q->application_submission_context = m;
    (void)peer_must(a, c, "submitApplication", q);
}

const ApplicationReport *peer_report(struct sv_arena *a, struct ipc_client *c,
                                     struct yarn_app_id id)
{
    Hadoop__Yarn__GetApplicationReportRequestProto *q = peer_request(a, "getApplicationReport");
    const Hadoop__Yarn__GetApplicationReportResponseProto *resp;

    q->application_id = yarn_app_id_to(a, id);
    resp = peer_must(a, c, "getApplicationReport", q);
    return resp->application_report;
}

/* ---- ApplicationMasters ---- */

void peer_submit_unmanaged(struct ipc_client *c, struct peer_master *m, const char *name)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    SubmissionContext *context = peer_submission(a, c, &m->app);

    context->application_name = peer_text(name);
    context->has_unmanaged_am = context->unmanaged_am = true;
    peer_submit(a, c, context);
}

static bool take_token(struct peer_master *m, const uint8_t *id, size_t id_len,
                       const uint8_t *password, size_t password_len)
{
    if (id_len > sizeof(m->id) || password_len > sizeof(m->password))
        return false;
    memcpy(m->id, id, id_len);
    memcpy(m->password, password, password_len);
    m->id_len = id_len;
    m->password_len = password_len;
    return true;
}

bool peer_reported_token(struct ipc_client *c, struct peer_master *m)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Common__TokenProto *t = peer_report(a, c, m->app)->am_rm_token;

    return t &&
           take_token(m, t->identifier.data, t->identifier.len, t->password.data, t->password.len);
}

void peer_launch_token(struct peer_master *m,
                       const Hadoop__Yarn__ContainerLaunchContextProto *launch)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_credentials cred = { 0 };

    if (yarn_credentials_parse(launch->tokens.data, launch->tokens.len, a, &cred, NULL) < 0)
        return;
    for (size_t i = 0; i < cred.n_tokens; i++) {
        const struct yarn_token *t = &cred.tokens[i].token;

        if (sv_streq(t->kind, YARN_KIND_AMRM))
            (void)take_token(m, t->id, t->id_len, t->password, t->password_len);
    }
}

struct ipc_client *peer_open_master(const struct peer_master *m)
{
    struct yarn_token token = {
        m->id, m->id_len, m->password, m->password_len, YARN_KIND_AMRM, ""
    };

    return peer_open(PEER_MASTERS, NULL, &token);
}

const MasterRegistered *peer_register_master(struct sv_arena *a, struct peer_master *m,
                                             const char *tracking_url)
{
    Hadoop__Yarn__RegisterApplicationMasterRequestProto *q =
        peer_request(a, "registerApplicationMaster");

    if (!m->rm)
        m->rm = peer_open_master(m);
    q->host = peer_text("127.0.0.1");
    q->has_rpc_port = true;
    q->rpc_port = 4711;
    q->tracking_url = peer_text(tracking_url);
    m->response_id = 0;
    return peer_call(a, m->rm, "registerApplicationMaster", q);
}

ResourceRequest *peer_ask(struct sv_arena *a, const char *place, struct yarn_resource size,
                          int32_t count)
{
    ResourceRequest *m = PEER_NEW(a, hadoop__yarn__resource_request_proto);

    m->priority = PEER_NEW(a, hadoop__yarn__priority_proto);
    m->priority->has_priority = true;
    m->priority->priority = 1;
    m->resource_name = peer_text(place);
    m->capability = yarn_resource_to(a, size);
    m->has_num_containers = true;
    m->num_containers = count;
    return m;
}

const AllocateResponse *peer_allocate(struct sv_arena *a, struct peer_master *m, AllocateRequest *q)
{
    const AllocateResponse *resp;

    if (!q)
        q = peer_request(a, "allocate");
    q->has_response_id = q->has_progress = true;
    q->response_id = m->response_id;
    q->progress = 0.5f;
    resp = peer_call(a, m->rm, "allocate", q);
    if (resp)
        m->response_id = resp->response_id;
    return resp;
}

bool peer_finish(struct peer_master *m, const char *diagnostics)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__FinishApplicationMasterRequestProto *q =
        peer_request(a, "finishApplicationMaster");
    const Hadoop__Yarn__FinishApplicationMasterResponseProto *resp;

    q->has_final_application_status = true;
    q->final_application_status = HADOOP__YARN__FINAL_APPLICATION_STATUS_PROTO__APP_SUCCEEDED;
    q->diagnostics = peer_text(diagnostics);
    resp = peer_must(a, m->rm, "finishApplicationMaster", q);
    return resp->isunregistered;
}
