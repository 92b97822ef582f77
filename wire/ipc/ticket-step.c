/* See ticket.h. Handshakes with the user's tickets: each step is a job on a worker's thread, which
 * knows only the `struct step`. A handshake that is given up lets its step end without effect. */
#include <errno.h>
#include <string.h>

#include "common/loop-guard.h"
#include "common/str.h"
#include "common/worker.h"
#include "wire/ipc/ticket-internal.h"
#include "wire/sasl/gssapi.h"

struct initiator {
    struct ipc_ticket_name name;
    char target[IPC_PRINCIPAL_MAX];
    const char *key;
    gss_ctx_id_t context;
};

struct step {
    const struct gss_ticket_library *gss;
    struct initiator *i; /* owned while the step runs */
    uint8_t *in;
    size_t in_len;
    gss_buffer_desc token, exported;
    OM_uint32 flags;
    int status;
    struct sv_error err;
};

struct ticket_handshake {
    struct gssapi_handshake base;
    struct sv_worker *worker;
    struct initiator *i; /* NULL while a step runs */
    gssapi_told told;
    void *userdata;
};

/* ---- On the thread ---- */

static struct initiator *initiator_free(struct initiator *i)
{
    OM_uint32 minor;

    if (i && i->context != GSS_C_NO_CONTEXT)
        (void)i->name.gss->delete_sec_context(&minor, &i->context, GSS_C_NO_BUFFER); /* ignoring */
    free(i);
    return NULL;
}

static void step_free(void *data)
{
    struct step *s = data;
    OM_uint32 minor;

    (void)s->gss->release_buffer(&minor, &s->token);    /* always succeeds */
    (void)s->gss->release_buffer(&minor, &s->exported); /* as above */
    initiator_free(s->i);
    free(s->in);
    free(s);
}

static int init_context(struct step *s, gss_cred_id_t credential, gss_name_t target)
{
    static const OM_uint32 wanted = GSS_C_MUTUAL_FLAG | GSS_C_REPLAY_FLAG | GSS_C_SEQUENCE_FLAG |
                                    GSS_C_INTEG_FLAG | GSS_C_CONF_FLAG;
    const struct initiator *i = s->i;
    gss_buffer_desc in = { .length = s->in_len, .value = s->in };
    OM_uint32 major, minor;

    major = i->name.gss->init_sec_context(&minor, credential, &s->i->context, target,
                                          (gss_OID)(uintptr_t)ipc_ticket_mechanism(), wanted, 0,
                                          GSS_C_NO_CHANNEL_BINDINGS, s->in_len ? &in : NULL, NULL,
                                          &s->token, &s->flags, NULL);
    if (GSS_ERROR(major))
        return ipc_ticket_error(&i->name, major, minor, i->target, i->key, &s->err);
    if (major & GSS_S_CONTINUE_NEEDED)
        return s->token.length > 0
                   ? 0
                   : sv_error_set(&s->err, -EACCES, "%s: the handshake stops", i->target);
    major = i->name.gss->export_sec_context(&minor, &s->i->context, &s->exported);
    return major == GSS_S_COMPLETE
               ? 0
               : ipc_ticket_error(&i->name, major, minor, i->target, i->key, &s->err);
}

/* The ticket is looked up with each step: it may have been renewed, or come from the keytab. */
static void step_run(void *data)
{
    struct step *s = data;
    const struct ipc_ticket_name *n = &s->i->name;
    gss_cred_id_t credential = GSS_C_NO_CREDENTIAL;
    gss_name_t target = GSS_C_NO_NAME;
    OM_uint32 minor;

    s->status = ipc_ticket_acquire(n, &credential, &s->err);
    if (s->status == 0)
        s->status = ipc_ticket_import(n, s->i->target, &target, &s->err);
    if (s->status == 0)
        s->status = init_context(s, credential, target);
    if (target != GSS_C_NO_NAME)
        (void)n->gss->release_name(&minor, &target); /* frees, ignoring */
    if (credential != GSS_C_NO_CREDENTIAL)
        (void)n->gss->release_cred(&minor, &credential); /* frees, ignoring */
}

/* ---- On the loop ---- */

/* A ticket that has ended since it was found is repeated as a KDC that is away: kinit, in another
 * terminal, lets a long command go on. */
static bool may_pass(int status)
{
    return status == -EAGAIN || status == -ENOKEY || status == -EKEYEXPIRED;
}

static void on_step(int status, void *data, void *userdata)
{
    SV_LOOP_HANDLER();
    static const OM_uint32 ordered = GSS_C_REPLAY_FLAG | GSS_C_SEQUENCE_FLAG;
    struct ticket_handshake *h = userdata;
    struct step *s = data;
    const bool complete = s->exported.length > 0;
    char name[IPC_PRINCIPAL_MAX];
    const struct gssapi_outcome o = {
        .status = s->status == 0        ? 0
                  : may_pass(s->status) ? -EAGAIN
                                        : -EACCES,
        .text = s->err.text,
        .token = s->token.value,
        .token_len = s->token.length,
        .context = complete ? s->exported.value : NULL,
        .context_len = s->exported.length,
        .name = name,
        .mutual = s->flags & GSS_C_MUTUAL_FLAG,
        .integrity = s->flags & GSS_C_INTEG_FLAG,
        .privacy = s->flags & GSS_C_CONF_FLAG,
        .ordered = (s->flags & ordered) == ordered,
    };

    (void)status; /* without a deadline it is 0 */
    memcpy(name, s->i->name.principal, sizeof(name));
    h->i = SV_TAKE(s->i);
    h->told(&o, h->userdata); /* may free the handshake */
}

static int copy_in(struct step *s, const uint8_t *p, size_t n)
{
    if (n == 0)
        return 0;
    s->in = malloc(n);
    if (!s->in)
        return -ENOMEM;
    memcpy(s->in, p, n);
    s->in_len = n;
    return 0;
}

static int on_ask(struct gssapi_handshake *base, const uint8_t *p, size_t n, gssapi_told told,
                  void *userdata, struct sv_error *err)
{
    struct ticket_handshake *h = (struct ticket_handshake *)base;
    struct step *s = calloc(1, sizeof(*s));
    struct sv_job job = {
        .data = s, .userdata = h, .run = step_run, .done = on_step, .free = step_free
    };
    int r = s && h->i ? copy_in(s, p, n) : -ENOMEM;

    if (r == 0) {
        h->told = told;
        h->userdata = userdata;
        s->i = h->i;
        s->gss = h->i->name.gss;
        r = sv_worker_run(h->worker, &job);
    }
    if (r == 0) {
        h->i = NULL;
        return 0;
    }
    if (s) {
        free(s->in);
        free(s);
    }
    return sv_error_errno(err, r, "Kerberos");
}

static void on_free(struct gssapi_handshake *base)
{
    struct ticket_handshake *h = (struct ticket_handshake *)base;

    sv_worker_free(h->worker);
    initiator_free(h->i);
    free(h);
}

static const struct gssapi_handshake_functions functions = { .step = on_ask, .free = on_free };

int ipc_ticket_initiator(const struct ipc_ticket *t, sd_event *event, const char *target,
                         const char *key, struct gssapi_handshake **ret)
{
    struct ticket_handshake *h = calloc(1, sizeof(*h));
    struct initiator *i = calloc(1, sizeof(*i));
    int r = h && i ? sv_worker_new(event, "kerberos", &h->worker) : -ENOMEM;

    if (r == 0 && strlen(target) >= sizeof(i->target))
        r = -ENAMETOOLONG;
    if (r < 0) {
        if (h)
            sv_worker_free(h->worker);
        free(h);
        free(i);
        return r;
    }
    i->name = t->name;
    i->key = key;
    i->context = GSS_C_NO_CONTEXT;
    memcpy(i->target, target, strlen(target) + 1);
    h->base.f = &functions;
    h->i = i;
    *ret = &h->base;
    return 0;
}
