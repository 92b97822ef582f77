/* ResourceManagers of a federation for the AMRMProxy's tests: they keep their books as real ones do
 * and answer from the loop, or refuse connections, say nothing, or forget. */
#ifndef SELVEDGE_TESTS_UNIT_NODEMANAGER_FAKE_MEMBERS_H
#define SELVEDGE_TESTS_UNIT_NODEMANAGER_FAKE_MEMBERS_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "common/str.h"
#include "nodemanager/federation/member-line.h"
#include "wire/exceptions.h"
#include "wire/frame.h"
#include "wire/ipc/methods.h"

#define FAKES 3
#define FAKE_CONTAINERS 4096
#define FAKE_APP ((struct yarn_app_id){ 1000, 7 })
#define FAKE_SECOND_TS 1 /* attempt of unmanaged masters */

enum fake_manner {
    FAKE_ANSWERS,
    FAKE_DOWN, /* refuses connections */
    FAKE_MUTE, /* reads nothing and answers nothing */
    FAKE_DEAF, /* does what it is told, and its answers are lost */
};

struct fake {
    char id[8];
    enum fake_manner manner;
    int64_t epoch;
    bool submitted, registered, finished, killed;
    bool ended;  /* the application has: a submission is taken and comes to nothing */
    bool grants; /* allocates what is requested */
    int32_t response_id;
    int n_submitted, n_registered, n_allocated, n_finished, n_killed;
    char submitter[64], name[64], queue[64], token[64];
    int64_t open;          /* containers requested for any place and not allocated */
    int32_t nodes, memory; /* that it reports */
    struct {
        int64_t id;
        bool told, released, ended, end_told, end_acked;
    } containers[FAKE_CONTAINERS];
    size_t n_containers;
    const char *refuse; /* class of an exception for the next heartbeat */
    const char *roll;   /* a new token with the next answer */
    bool java;     /* an unmanaged master that registers again leaves the last answer as it was */
    uint8_t *last; /* answer to a heartbeat, packed; NULL: none since it began */
    size_t n_last;
    bool unregistered_late;
    int64_t seq;
};

struct fake_connection {
    struct fake *fake;
    bool client;
    char token[64];
};

struct fake_call {
    struct fake_connection *c;
    int32_t id;
    const char *method;
    uint8_t *body;
    size_t n;
    const ProtobufCMessageDescriptor *request, *response;
    ipc_done done;
    void *userdata;
    struct fake_call *prev, *next;
};

static struct {
    struct fake v[FAKES];
    struct fake_call *calls;
    int32_t id;
    sd_event *event;
    sd_event_source *pump;
} fakes;

static inline void fake_pump_later(void)
{
    (void)sd_event_source_set_enabled(fakes.pump, SD_EVENT_ONESHOT);
}

/* ---- The wire ---- */

static inline int fake_dial(void *userdata, const struct nm_amrm_dial *d, void **ret,
                            struct sv_error *err)
{
    struct fake_connection *c = calloc(1, sizeof(*c));
    int n = d->address ? d->address[strlen(d->address) - 1] - '1' : 0;

    (void)userdata;
    (void)err;
    c->fake = &fakes.v[n];
    c->client = d->service == YARN_RM_CLIENTS;
    if (c->client)
        (void)snprintf(c->fake->submitter, sizeof(c->fake->submitter), "%s", d->user);
    else
        (void)snprintf(c->token, sizeof(c->token), "%.*s", (int)d->token->id_len,
                       (const char *)d->token->id);
    *ret = c;
    return 0;
}

static inline void fake_end(struct fake_call *call, const struct ipc_result *r,
                            const struct sv_error *err)
{
    DL_DELETE(fakes.calls, call);
    call->done(r, err, call->userdata);
    free(call->body);
    free(call);
}

/* The bytes are gone once the call has ended. */
static inline void fake_end_packed(struct fake_call *call, const ProtobufCMessage *m)
{
    const struct sv_error none = { 0 };
    size_t n = protobuf_c_message_get_packed_size(m);
    uint8_t *p = malloc(n + 1);

    (void)protobuf_c_message_pack(m, p);
    fake_end(call, &(struct ipc_result){ .body = p, .body_len = n }, &none);
    free(p);
}

static inline void fake_fail(struct fake_call *call, int status, const char *class,
                             const char *text)
{
    const struct ipc_result r = { .status = status, .java_class = class };
    struct sv_error err = { .code = status };

    (void)snprintf(err.text, sizeof(err.text), "host:1: %s: %s", call->method, text);
    fake_end(call, &r, &err);
}

static inline void fake_close(void *connection)
{
    struct fake_call *call, *next;

    DL_FOREACH_SAFE (fakes.calls, call, next)
        if (call->c == connection)
            fake_fail(call, -ECANCELED, NULL, "closed");
    free(connection);
}

static inline int fake_call(void *connection, const char *method, const ProtobufCMessage *request,
                            const ProtobufCMessageDescriptor *response, ipc_done done,
                            void *userdata, int32_t *ret_id)
{
    struct fake_call *call = calloc(1, sizeof(*call));
    size_t n = protobuf_c_message_get_packed_size(request);

    *call = (struct fake_call){ .c = connection,
                                .id = ++fakes.id,
                                .method = method,
                                .body = malloc(n + 1),
                                .n = n,
                                .request = request->descriptor,
                                .response = response,
                                .done = done,
                                .userdata = userdata };
    (void)protobuf_c_message_pack(request, call->body);
    DL_APPEND(fakes.calls, call);
    *ret_id = call->id;
    fake_pump_later();
    return 0;
}

static inline void fake_cancel(void *connection, int32_t id)
{
    struct fake_call *call, *next;

    DL_FOREACH_SAFE (fakes.calls, call, next)
        if (call->c == connection && call->id == id)
            fake_fail(call, -ECANCELED, NULL, "cancelled");
}

static const struct nm_member_wire fake_wire = { fake_dial, fake_close, fake_call, fake_cancel };

/* ---- The book of a ResourceManager ---- */

static inline Hadoop__Common__TokenProto *fake_token(struct sv_arena *a, const char *text)
{
    const struct yarn_token t = { .id = (const uint8_t *)text,
                                  .id_len = strlen(text),
                                  .password = (const uint8_t *)"pw",
                                  .password_len = 2,
                                  .kind = YARN_KIND_AMRM,
                                  .service = "" };

    return yarn_token_to(a, &t);
}

static inline Hadoop__Yarn__ContainerProto *fake_container(struct sv_arena *a, int64_t id)
{
    Hadoop__Yarn__ContainerProto *c = sv_new(a, Hadoop__Yarn__ContainerProto);
    Hadoop__Yarn__PriorityProto *p = sv_new(a, Hadoop__Yarn__PriorityProto);

    hadoop__yarn__container_proto__init(c);
    hadoop__yarn__priority_proto__init(p);
    p->has_priority = true;
    p->priority = 1;
    c->id = yarn_container_id_to(a, (struct yarn_container_id){ { FAKE_APP, 1 }, id });
    c->resource = yarn_resource_to(a, (struct yarn_resource){ .memory_mb = 1, .vcores = 1 });
    c->priority = p;
    return c;
}

static inline void fake_allocate_one(struct fake *f)
{
    f->containers[f->n_containers++].id = f->epoch << 40 | ++f->seq;
}

static inline void fake_allocated(struct fake *f, struct sv_arena *a,
                                  Hadoop__Yarn__AllocateResponseProto *m)
{
    m->allocated_containers = sv_newn(a, Hadoop__Yarn__ContainerProto *, FAKE_CONTAINERS);
    m->completed_container_statuses =
        sv_newn(a, Hadoop__Yarn__ContainerStatusProto *, FAKE_CONTAINERS);
    for (; f->grants && f->open && f->n_containers < FAKE_CONTAINERS; f->open--)
        fake_allocate_one(f);
    for (size_t i = 0; i < f->n_containers; i++) {
        Hadoop__Yarn__ContainerStatusProto *s;

        if (!f->containers[i].told && !f->containers[i].ended)
            m->allocated_containers[m->n_allocated_containers++] =
                fake_container(a, f->containers[i].id);
        f->containers[i].told = true;
        if (!f->containers[i].ended || f->containers[i].end_told)
            continue;
        f->containers[i].end_told = true;
        s = sv_new(a, Hadoop__Yarn__ContainerStatusProto);
        hadoop__yarn__container_status_proto__init(s);
        s->container_id = yarn_container_id_to(
            a, (struct yarn_container_id){ { FAKE_APP, 1 }, f->containers[i].id });
        m->completed_container_statuses[m->n_completed_container_statuses++] = s;
    }
}

static inline void fake_read_asks(struct fake *f, const Hadoop__Yarn__AllocateRequestProto *q)
{
    for (size_t i = 0; i < q->n_ask; i++)
        if (sv_streq(q->ask[i]->resource_name, "*"))
            f->open = q->ask[i]->num_containers;
    for (size_t i = 0; i < q->n_release; i++) {
        struct yarn_container_id id;

        if (yarn_container_id_from(q->release[i], &id) < 0)
            continue;
        for (size_t k = 0; k < f->n_containers; k++)
            if (f->containers[k].id == id.id)
                f->containers[k].released = f->containers[k].ended = true;
    }
}

static inline void fake_forget_last(struct fake *f)
{
    free(f->last);
    f->last = NULL;
}

/* The answer to the heartbeat before: its answer was lost. */
static inline ProtobufCMessage *fake_repeat(struct fake *f, struct sv_arena *a)
{
    ProtobufCMessage *m = NULL;

    (void)!ipc_unpack(a, &hadoop__yarn__allocate_response_proto__descriptor, f->last, f->n_last,
                      &m);
    ((Hadoop__Yarn__AllocateResponseProto *)m)->response_id = f->response_id;
    return m;
}

static inline ProtobufCMessage *fake_remember(struct fake *f, ProtobufCMessage *m)
{
    fake_forget_last(f);
    f->n_last = protobuf_c_message_get_packed_size(m);
    f->last = malloc(f->n_last + 1);
    (void)protobuf_c_message_pack(m, f->last);
    return m;
}

/* NULL: *ret_class and the text are the exception. */
static inline ProtobufCMessage *fake_allocate(struct fake *f, struct sv_arena *a,
                                              const Hadoop__Yarn__AllocateRequestProto *q,
                                              const char **ret_class, char text[200])
{
    Hadoop__Yarn__AllocateResponseProto *m = sv_new(a, Hadoop__Yarn__AllocateResponseProto);

    f->n_allocated++;
    *ret_class = f->refuse;
    if (f->refuse) {
        f->refuse = NULL;
        (void)snprintf(text, 200, "refused here");
        return NULL;
    }
    if (!f->registered) {
        *ret_class = JAVA_AM_NOT_REGISTERED;
        return NULL;
    }
    if (f->last && q->response_id + 1 == f->response_id)
        return fake_repeat(f, a);
    if (q->response_id != f->response_id) {
        *ret_class = JAVA_INVALID_AM_REQUEST;
        (void)snprintf(text, 200,
                       "Invalid responseId in AllocateRequest from application attempt: a, expect "
                       "responseId to be %d, but get %d",
                       f->response_id, q->response_id);
        return NULL;
    }
    fake_read_asks(f, q);
    for (size_t i = 0; i < f->n_containers; i++)
        f->containers[i].end_acked |= f->containers[i].end_told;
    hadoop__yarn__allocate_response_proto__init(m);
    m->has_response_id = m->has_num_cluster_nodes = true;
    m->response_id = ++f->response_id;
    m->num_cluster_nodes = f->nodes;
    m->limit = yarn_resource_to(a, (struct yarn_resource){ .memory_mb = f->memory, .vcores = 1 });
    if (f->roll)
        m->am_rm_token = fake_token(a, f->roll);
    f->roll = NULL;
    fake_allocated(f, a, m);
    return fake_remember(f, &m->base);
}

static inline ProtobufCMessage *fake_register(struct fake *f, struct sv_arena *a,
                                              const char **ret_class, char text[200])
{
    Hadoop__Yarn__RegisterApplicationMasterResponseProto *m =
        sv_new(a, Hadoop__Yarn__RegisterApplicationMasterResponseProto);

    if (f->registered && !f->submitted) {
        *ret_class = JAVA_INVALID_AM_REQUEST;
        (void)snprintf(text, 200, "Application Master is already registered : a");
        return NULL;
    }
    f->n_registered++;
    hadoop__yarn__register_application_master_response_proto__init(m);
    m->queue = (char[]){ "root.q" };
    m->queue = sv_arena_strdup(a, "q");
    if (f->submitted && f->n_containers) {
        m->containers_from_previous_attempts =
            sv_newn(a, Hadoop__Yarn__ContainerProto *, f->n_containers);
        for (size_t i = 0; i < f->n_containers; i++)
            if (!f->containers[i].ended)
                m->containers_from_previous_attempts[m->n_containers_from_previous_attempts++] =
                    fake_container(a, f->containers[i].id);
    }
    if (!f->java)
        fake_forget_last(f);
    for (size_t i = 0; !f->java && i < f->n_containers; i++)
        f->containers[i].end_told &= f->containers[i].end_acked;
    f->registered = true;
    f->response_id = 0;
    return &m->base;
}

static inline ProtobufCMessage *fake_report(struct fake *f, struct sv_arena *a)
{
    Hadoop__Yarn__GetApplicationReportResponseProto *m =
        sv_new(a, Hadoop__Yarn__GetApplicationReportResponseProto);
    Hadoop__Yarn__ApplicationReportProto *r = sv_new(a, Hadoop__Yarn__ApplicationReportProto);

    hadoop__yarn__get_application_report_response_proto__init(m);
    hadoop__yarn__application_report_proto__init(r);
    m->application_report = r;
    r->has_yarn_application_state = true;
    r->yarn_application_state = f->ended ? HADOOP__YARN__YARN_APPLICATION_STATE_PROTO__KILLED
                                         : HADOOP__YARN__YARN_APPLICATION_STATE_PROTO__ACCEPTED;
    r->queue = sv_arena_strdup(a, "q");
    r->currentapplicationattemptid = yarn_attempt_id_to(a, (struct yarn_attempt_id){ FAKE_APP, 1 });
    r->am_rm_token = fake_token(a, f->id);
    return &m->base;
}

static inline ProtobufCMessage *fake_new_application(struct sv_arena *a)
{
    Hadoop__Yarn__GetNewApplicationResponseProto *m =
        sv_new(a, Hadoop__Yarn__GetNewApplicationResponseProto);

    hadoop__yarn__get_new_application_response_proto__init(m);
    m->maximumcapability =
        yarn_resource_to(a, (struct yarn_resource){ .memory_mb = 8192, .vcores = 8 });
    return &m->base;
}

static inline ProtobufCMessage *fake_submit(struct fake *f, struct sv_arena *a,
                                            const Hadoop__Yarn__SubmitApplicationRequestProto *q)
{
    Hadoop__Yarn__SubmitApplicationResponseProto *m =
        sv_new(a, Hadoop__Yarn__SubmitApplicationResponseProto);

    (void)snprintf(f->name, sizeof(f->name), "%s",
                   q->application_submission_context->application_name);
    (void)snprintf(f->queue, sizeof(f->queue), "%s", q->application_submission_context->queue);
    f->submitted = true;
    f->finished = f->killed = false;
    f->n_submitted++;
    hadoop__yarn__submit_application_response_proto__init(m);
    return &m->base;
}

static inline ProtobufCMessage *fake_attempt_report(struct sv_arena *a)
{
    Hadoop__Yarn__GetApplicationAttemptReportResponseProto *m =
        sv_new(a, Hadoop__Yarn__GetApplicationAttemptReportResponseProto);
    Hadoop__Yarn__ApplicationAttemptReportProto *r =
        sv_new(a, Hadoop__Yarn__ApplicationAttemptReportProto);

    hadoop__yarn__get_application_attempt_report_response_proto__init(m);
    hadoop__yarn__application_attempt_report_proto__init(r);
    m->application_attempt_report = r;
    r->has_yarn_application_attempt_state = true;
    r->yarn_application_attempt_state =
        HADOOP__YARN__YARN_APPLICATION_ATTEMPT_STATE_PROTO__APP_ATTEMPT_LAUNCHED;
    return &m->base;
}

static inline ProtobufCMessage *fake_finish(struct fake *f, struct sv_arena *a)
{
    Hadoop__Yarn__FinishApplicationMasterResponseProto *m =
        sv_new(a, Hadoop__Yarn__FinishApplicationMasterResponseProto);

    hadoop__yarn__finish_application_master_response_proto__init(m);
    m->has_isunregistered = true;
    m->isunregistered = !f->unregistered_late;
    f->unregistered_late = false;
    f->n_finished++;
    f->finished = true;
    return &m->base;
}

static inline ProtobufCMessage *fake_kill(struct fake *f, struct sv_arena *a)
{
    Hadoop__Yarn__KillApplicationResponseProto *m =
        sv_new(a, Hadoop__Yarn__KillApplicationResponseProto);

    hadoop__yarn__kill_application_response_proto__init(m);
    f->n_killed++;
    f->killed = true;
    return &m->base;
}

static inline ProtobufCMessage *fake_list(struct fake *f, struct sv_arena *a)
{
    Hadoop__Yarn__GetContainersResponseProto *m =
        sv_new(a, Hadoop__Yarn__GetContainersResponseProto);

    hadoop__yarn__get_containers_response_proto__init(m);
    m->containers = sv_newn(a, Hadoop__Yarn__ContainerReportProto *, f->n_containers + 1);
    for (size_t i = 0; i < f->n_containers; i++) {
        Hadoop__Yarn__ContainerReportProto *r = sv_new(a, Hadoop__Yarn__ContainerReportProto);

        hadoop__yarn__container_report_proto__init(r);
        r->container_id = yarn_container_id_to(
            a, (struct yarn_container_id){ { FAKE_APP, 1 }, f->containers[i].id });
        if (!f->containers[i].ended)
            m->containers[m->n_containers++] = r;
    }
    return &m->base;
}

static inline ProtobufCMessage *fake_handle(struct fake *f, struct fake_call *call,
                                            struct sv_arena *a, const char **ret_class,
                                            char text[200])
{
    ProtobufCMessage *q = NULL;

    if (ipc_unpack(a, call->request, call->body, call->n, &q) < 0)
        return NULL;
    if (!call->c->client)
        (void)snprintf(f->token, sizeof(f->token), "%s", call->c->token);
    if (sv_streq(call->method, "allocate"))
        return fake_allocate(f, a, (const void *)q, ret_class, text);
    if (sv_streq(call->method, "registerApplicationMaster"))
        return fake_register(f, a, ret_class, text);
    if (sv_streq(call->method, "submitApplication"))
        return fake_submit(f, a, (const void *)q);
    if (sv_streq(call->method, "getApplicationReport"))
        return fake_report(f, a);
    if (sv_streq(call->method, "getNewApplication"))
        return fake_new_application(a);
    if (sv_streq(call->method, "getResourceTypeInfo")) {
        *ret_class = "org.apache.hadoop.ipc.RpcNoSuchMethodException"; /* of 2.10 */
        return NULL;
    }
    if (sv_streq(call->method, "getApplicationAttemptReport"))
        return fake_attempt_report(a);
    if (sv_streq(call->method, "finishApplicationMaster"))
        return fake_finish(f, a);
    if (sv_streq(call->method, "getContainers"))
        return fake_list(f, a);
    return fake_kill(f, a);
}

static inline void fake_answer(struct fake_call *call)
{
    struct fake *f = call->c->fake;
    struct sv_arena *a = sv_arena_new(0);
    const char *class = NULL;
    char text[200] = "not registered";
    ProtobufCMessage *m = f->manner == FAKE_DOWN ? NULL : fake_handle(f, call, a, &class, text);
    const struct sv_error none = { 0 };

    if (f->manner == FAKE_DOWN)
        fake_fail(call, -ECONNREFUSED, NULL, "refused");
    else if (f->manner == FAKE_DEAF)
        fake_fail(call, -ECONNRESET, NULL, "broken");
    else if (m && !call->response)
        fake_end_packed(call, m);
    else if (m)
        fake_end(call, &(struct ipc_result){ .response = m, .arena = &a }, &none);
    else
        fake_fail(call, -EREMOTEIO, class, text);
    sv_arena_free(a);
}

static inline int fake_pump(sd_event_source *s, void *userdata)
{
    struct fake_call *call;

    (void)userdata;
    DL_FOREACH (fakes.calls, call)
        if (call->c->fake->manner != FAKE_MUTE)
            break;
    if (!call)
        return 0;
    fake_answer(call);
    (void)sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
    return 0;
}

static inline void fakes_open(sd_event *event)
{
    memset(&fakes, 0, sizeof(fakes));
    fakes.event = event;
    for (int i = 0; i < FAKES; i++) {
        fakes.v[i] = (struct fake){ .epoch = i + 1, .grants = true, .nodes = 10, .memory = 1000 };
        (void)snprintf(fakes.v[i].id, sizeof(fakes.v[i].id), "SC-%d", i + 1);
    }
    (void)sd_event_add_defer(event, &fakes.pump, fake_pump, NULL);
    (void)sd_event_source_set_priority(fakes.pump, 1); /* behind timers, for it is always ready */
}

static inline void fakes_close(void)
{
    sd_event_source_disable_unref(fakes.pump);
    for (int i = 0; i < FAKES; i++)
        fake_forget_last(&fakes.v[i]);
}

/* A restart: what a ResourceManager that recovers still has. */
static inline void fake_restart(struct fake *f)
{
    f->registered = false;
    f->response_id = 0;
    fake_forget_last(f);
    f->open = 0;
    for (size_t i = 0; i < f->n_containers; i++)
        f->containers[i].end_told &= f->containers[i].told;
}

#endif
