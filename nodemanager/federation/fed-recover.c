/* Records of an attempt: its registration, and tokens of its unmanaged masters. After a
 * restart of the NodeManager, or for a later attempt on this node, they are attached again. See
 * fed-attempt.h. Hostile: the records, which a disk may have damaged. */
#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "common/log.h"
#include "common/str.h"
#include "nodemanager/federation/fed-attempt.h"
#include "wire/frame.h"
#include "wire/ipc/methods.h"

typedef Hadoop__Yarn__RegisterApplicationMasterResponseProto response_proto;

#define CONTAINERS "getContainers"

/* ---- Records ---- */

static int copy(const struct nm_amrm_record *r, uint8_t **ret, size_t *ret_n)
{
    uint8_t *p = malloc(r->len + 1);

    if (!p)
        return -ENOMEM;
    memcpy(p, r->data, r->len);
    *ret = p;
    *ret_n = r->len;
    return 0;
}

static int take_request(struct nm_fed *f, const struct nm_amrm_record *r)
{
    ProtobufCMessage *m = NULL;
    int e =
        ipc_unpack(f->arena, &hadoop__yarn__register_application_master_request_proto__descriptor,
                   r->data, r->len, &m);

    if (e < 0)
        return e;
    f->app.registration = (const Hadoop__Yarn__RegisterApplicationMasterRequestProto *)m;
    return copy(r, &f->request, &f->n_request);
}

/* The home's answer, which the master's next registration is answered with. */
static int take_response(struct nm_fed *f, const struct nm_amrm_record *r)
{
    struct nm_fed_reply *reply = calloc(1, sizeof(*reply));
    ProtobufCMessage *m = NULL;
    int e = reply ? 0 : -ENOMEM;

    if (e < 0)
        return e;
    reply->arena = sv_arena_new(0);
    e = reply->arena
            ? ipc_unpack(reply->arena,
                         &hadoop__yarn__register_application_master_response_proto__descriptor,
                         r->data, r->len, &m)
            : -ENOMEM;
    reply->registration = (const response_proto *)m;
    DL_APPEND(f->registrations, reply);
    if (e < 0)
        return e;
    f->app.queue =
        sv_arena_strdup(f->arena, reply->registration->queue && *reply->registration->queue
                                      ? reply->registration->queue
                                      : "default");
    f->response_kept = true;
    return f->app.queue ? copy(r, &f->home_response, &f->n_home_response) : -ENOMEM;
}

/* A later attempt's record is its own. */
static int take_token(struct nm_fed *f, enum nm_amrm_recovery from, const struct nm_amrm_record *r)
{
    _cleanup_free_ char *text = strndup((const char *)r->data, r->len);
    int at = text ? nm_fed_member_add(f, r->name + strlen(NM_FED_TOKEN_RECORD)) : -ENOMEM;

    if (at < 0 || at == NM_FED_HOME)
        return at < 0 ? at : -EBADMSG;
    free(f->members[at].token);
    f->members[at].token = SV_TAKE(text);
    return from == NM_AMRM_SUCCEEDS ? nm_amrm_keep(f->at, r->name, r->data, r->len) : 0;
}

static int take(struct nm_fed *f, enum nm_amrm_recovery from, const struct nm_amrm_record *r)
{
    if (strncmp(r->name, NM_FED_TOKEN_RECORD, strlen(NM_FED_TOKEN_RECORD)) == 0)
        return take_token(f, from, r);
    if (from == NM_AMRM_SUCCEEDS)
        return 0; /* another master registers */
    if (strcmp(r->name, NM_FED_REQUEST_RECORD) == 0)
        return take_request(f, r);
    if (strcmp(r->name, NM_FED_RESPONSE_RECORD) == 0)
        return take_response(f, r);
    if (strncmp(r->name, NM_FED_TOLD_RECORD, strlen(NM_FED_TOLD_RECORD)) == 0)
        return nm_fed_take_told(f, r->name + strlen(NM_FED_TOLD_RECORD), r);
    if (strncmp(r->name, NM_FED_KNOWN_RECORD, strlen(NM_FED_KNOWN_RECORD)) == 0)
        return nm_fed_take_told(f, r->name + strlen(NM_FED_KNOWN_RECORD), r);
    return 0; /* a later version's */
}

int nm_fed_recover(struct nm_fed *f, enum nm_amrm_recovery from, const struct nm_amrm_record *v,
                   size_t n, struct sv_error *err)
{
    size_t tokens = 0;

    for (size_t i = 0; i < n; i++) {
        int r = take(f, from, &v[i]);

        if (r < 0)
            return sv_error_errno(err, r, "%s: record %s of the AMRMProxy cannot be used",
                                  f->at->text, v[i].name);
    }
    for (size_t i = 0; i < f->n_members; i++)
        tokens += f->members[i].token != NULL;
    f->restarted = f->recovered = f->home_unsure = from == NM_AMRM_RESTARTED && f->home_response;
    f->resyncing |= f->told != NULL; /* it had heartbeats: it is registered */
    sv_log_info("%s: recovered%s, with masters in %zu other sub-clusters", f->at->text,
                f->home_response ? " registered" : "", tokens);
    f->step(f);
    return 0;
}

/* ---- Attached again ---- */

static int attach(struct nm_fed *f, size_t i, const char *text)
{
    _cleanup_arena_wipe_ struct sv_arena *a = sv_arena_new(4 * YARN_TOKEN_ID_MAX);
    struct nm_sub_cluster *s;
    struct yarn_token t;
    int r = a ? yarn_token_parse(a, text, &t) : -ENOMEM;

    if (r >= 0)
        r = nm_fed_sub(f, i, &s);
    if (r < 0)
        return r;
    f->members[i].attached = true;
    if (f->restarted)
        nm_sub_recall(s);
    return nm_sub_attach(s, &t);
}

void nm_fed_attach_all(struct nm_fed *f)
{
    for (size_t i = 0; i < f->n_members; i++) {
        _cleanup_free_ char *text = SV_TAKE(f->members[i].token);
        int r = text ? attach(f, i, text) : 0;

        if (r < 0)
            sv_log_warning("%s: its master in sub-cluster %s cannot be attached again: %s",
                           f->at->text, f->members[i].id, strerror(-r));
    }
}

/* ---- The home's containers ---- */

/* Whether the master was told of one is not known: it was unless the home allocates it with a later
 * answer. */
static void on_containers(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct nm_fed *f = userdata;
    const Hadoop__Yarn__GetContainersResponseProto *m = (const void *)r->response;
    struct fed_containers *all = fed_merge_containers(f->merge);
    struct yarn_container_id id;

    if (r->status < 0) {
        sv_log_debug("%s: its containers in the home: %s", f->at->text, err->text);
        nm_fed_flush_members(f);
        nm_fed_later(f);
        return;
    }
    for (size_t i = 0; i < m->n_containers; i++)
        if (yarn_container_id_from(m->containers[i]->container_id, &id) >= 0)
            (void)!fed_containers_know(all, id, NM_FED_HOME, false); /* a clash is found later */
    f->home_unsure = false;
    f->step(f);
}

static void ask_home(struct nm_fed *f)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__GetContainersRequestProto q = HADOOP__YARN__GET_CONTAINERS_REQUEST_PROTO__INIT;
    struct sv_error err = { 0 };
    const struct fed_member *home = nm_fed_listed(f, f->app.home);

    if (f->home_ask.open)
        return;
    q.application_attempt_id = a ? yarn_attempt_id_to(a, f->at->id) : NULL;
    if (!home || !q.application_attempt_id ||
        nm_member_line_set_address(&f->home_ask, home->client) < 0 ||
        nm_member_line_call(&f->home_ask, CONTAINERS, &q.base,
                            &hadoop__yarn__get_containers_response_proto__descriptor, on_containers,
                            f, &err) < 0)
        nm_fed_later(f);
}

static int attach_home(struct nm_fed *f, struct nm_sub_cluster *home)
{
    if (nm_sub_state(home) != FED_UAM_NEW)
        return 0;
    if (f->restarted)
        nm_sub_recall(home);
    return nm_sub_attach(home, &f->at->rm_token);
}

void nm_fed_recover_step(struct nm_fed *f)
{
    struct nm_sub_cluster *home;

    if (!f->members_known) {
        nm_fed_ask_members(f);
        return;
    }
    if (!f->app.registration)
        return;
    nm_fed_attach_all(f);
    if (!f->home_response)
        return;
    if (nm_fed_sub(f, NM_FED_HOME, &home) < 0 || attach_home(f, home) < 0)
        nm_fed_later(f);
    if (f->home_unsure)
        ask_home(f);
}

int nm_fed_owner(void *userdata, struct yarn_container_id id)
{
    const struct nm_fed *f = userdata;
    int owner = fed_containers_owner(fed_merge_containers(f->merge), id);

    return owner < 0 && f->home_unsure ? NM_FED_HOME : owner;
}
