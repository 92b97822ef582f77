/* See handshake.h. Hostile: tokens of the daemon's peers, which libgssapi_krb5 parses here and in
 * no other process; numbers, names and the order of requests are the daemon's. */
#include "gss/handshake.h"

#include <errno.h>
#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <uthash.h>

#include "common/clock.h"
#include "common/str.h"
#include "gss/login.h"
#include "gss/words.h"

struct sgss_handshake {
    uint64_t number;
    enum sgss_kind kind;
    char principal[SGSS_NAME_MAX + 1], target[SGSS_NAME_MAX + 1];
    gss_ctx_id_t context;
    struct sgss_ticket *ticket; /* INIT: that it began with */
    const struct sgss_handshakes *owner;
    int64_t since_ms; /* the last step's end */
    bool runs, forgotten;
    UT_hash_handle hh;
};

struct sgss_handshakes {
    const struct sgss_keytabs *keytabs;
    struct sgss_tickets *tickets;
    pthread_mutex_t lock;
    struct sgss_handshake *table;
};

int sgss_handshakes_new(const struct sgss_keytabs *k, struct sgss_tickets *t,
                        struct sgss_handshakes **ret)
{
    struct sgss_handshakes *all = calloc(1, sizeof(*all));

    if (!all)
        return -ENOMEM;
    all->keytabs = k;
    all->tickets = t;
    pthread_mutex_init(&all->lock, NULL);
    *ret = all;
    return 0;
}

/* ---- The table ---- */

static void handshake_free(struct sgss_handshake *h)
{
    OM_uint32 minor;

    if (h->context != GSS_C_NO_CONTEXT)
        (void)gss_delete_sec_context(&minor, &h->context, GSS_C_NO_BUFFER); /* frees, ignoring */
    sgss_ticket_release(h->ticket);
    free(h);
}

static struct sgss_handshake *begin(struct sgss_handshakes *all, const struct sgss_request *m)
{
    struct sgss_handshake *h = calloc(1, sizeof(*h));

    if (!h)
        return NULL;
    h->number = m->handshake;
    h->kind = m->kind;
    h->owner = all;
    h->context = GSS_C_NO_CONTEXT;
    snprintf(h->principal, sizeof(h->principal), "%s", m->principal);
    snprintf(h->target, sizeof(h->target), "%s", m->target);
    HASH_ADD(hh, all->table, number, sizeof(h->number), h);
    return h;
}

static int take(struct sgss_handshakes *all, const struct sgss_request *m,
                struct sgss_handshake **ret)
{
    struct sgss_handshake *h;

    HASH_FIND(hh, all->table, &m->handshake, sizeof(m->handshake), h);
    if (!h && HASH_COUNT(all->table) >= SGSS_HANDSHAKES_MAX)
        return -EBUSY;
    if (!h)
        h = begin(all, m);
    if (!h)
        return -ENOMEM;
    if (h->runs || h->forgotten)
        return -EBUSY;
    if (h->kind != m->kind || !sv_streq(h->principal, m->principal) ||
        !sv_streq(h->target, m->target))
        return -EINVAL;
    h->runs = true;
    *ret = h;
    return 0;
}

int sgss_handshake_take(struct sgss_handshakes *all, const struct sgss_request *m,
                        struct sgss_handshake **ret)
{
    int r;

    pthread_mutex_lock(&all->lock);
    r = take(all, m, ret);
    pthread_mutex_unlock(&all->lock);
    return r;
}

void sgss_handshake_give(struct sgss_handshakes *all, struct sgss_handshake *h, bool over)
{
    pthread_mutex_lock(&all->lock);
    h->runs = false;
    h->since_ms = sv_now_ms();
    over |= h->forgotten;
    if (over)
        HASH_DELETE(hh, all->table, h);
    pthread_mutex_unlock(&all->lock);
    if (over)
        handshake_free(h);
}

void sgss_handshake_forget(struct sgss_handshakes *all, uint64_t number)
{
    struct sgss_handshake *h;

    pthread_mutex_lock(&all->lock);
    HASH_FIND(hh, all->table, &number, sizeof(number), h);
    if (h && h->runs) {
        h->forgotten = true;
        h = NULL;
    } else if (h) {
        HASH_DELETE(hh, all->table, h);
    }
    pthread_mutex_unlock(&all->lock);
    if (h)
        handshake_free(h);
}

void sgss_handshakes_prune(struct sgss_handshakes *all)
{
    struct sgss_handshake *h, *next, *dead = NULL;
    int64_t before = sv_now_ms() - SGSS_HANDSHAKE_IDLE_MS;

    pthread_mutex_lock(&all->lock);
    HASH_ITER (hh, all->table, h, next) {
        if (h->runs || h->since_ms > before)
            continue;
        HASH_DELETE(hh, all->table, h);
        HASH_ADD(hh, dead, number, sizeof(h->number), h);
    }
    pthread_mutex_unlock(&all->lock);
    HASH_ITER (hh, dead, h, next) {
        HASH_DELETE(hh, dead, h);
        handshake_free(h);
    }
}

/* ---- A step ---- */

/* The key is read from the file with each handshake, so that a keytab may be exchanged at any time.
 * No replay cache: docs/adr/0042-kerberos-helper.md. */
static int acceptor(const struct sgss_handshake *h, gss_cred_id_t *ret, struct sv_error *err)
{
    char file[PATH_MAX + 8];
    gss_key_value_element_desc elements[] = { { .key = "keytab", .value = file },
                                              { .key = "rcache", .value = "none:" } };
    gss_key_value_set_desc store = { .count = SV_ARRAY_LEN(elements), .elements = elements };
    gss_OID_set_desc krb5 = { .count = 1, .elements = (gss_OID)(uintptr_t)gss_mech_krb5 };
    gss_name_t name = GSS_C_NO_NAME;
    OM_uint32 major, minor, ignored;
    const char *path;
    int r = sgss_keytab_find(h->owner->keytabs, h->principal, &path, err);

    if (r == 0)
        r = sgss_import_name(h->principal, &name, err);
    if (r < 0)
        return r;
    snprintf(file, sizeof(file), "FILE:%s", path);
    major = gss_acquire_cred_from(&minor, name, GSS_C_INDEFINITE, &krb5, GSS_C_ACCEPT, &store, ret,
                                  NULL, NULL);
    if (major != GSS_S_COMPLETE)
        r = sgss_gss_error(err, -EIO, major, minor, "keytab %s, key of %s", path, h->principal);
    (void)gss_release_name(&ignored, &name); /* frees, ignoring */
    return r;
}

struct step {
    OM_uint32 major, minor, flags, lifetime;
    gss_buffer_desc token;
    gss_name_t peer;
};

static int accept_step(struct sgss_handshake *h, const struct sgss_request *m, struct step *s,
                       struct sv_error *err)
{
    gss_buffer_desc in = { .length = m->token_len, .value = (void *)(uintptr_t)m->token };
    gss_cred_id_t credential = GSS_C_NO_CREDENTIAL;
    OM_uint32 ignored;
    int r = acceptor(h, &credential, err);

    if (r < 0)
        return r;
    s->major =
        gss_accept_sec_context(&s->minor, &h->context, credential, &in, GSS_C_NO_CHANNEL_BINDINGS,
                               &s->peer, NULL, &s->token, &s->flags, &s->lifetime, NULL);
    if (GSS_ERROR(s->major))
        r = sgss_gss_error(err, -EACCES, s->major, s->minor, "%s: the client's ticket",
                           h->principal);
    (void)gss_release_cred(&ignored, &credential); /* frees, ignoring */
    return r;
}

static int init_step(struct sgss_handshake *h, const struct sgss_request *m, int64_t wait_ms,
                     struct step *s, struct sv_error *err)
{
    static const OM_uint32 wanted = GSS_C_MUTUAL_FLAG | GSS_C_REPLAY_FLAG | GSS_C_SEQUENCE_FLAG |
                                    GSS_C_INTEG_FLAG | GSS_C_CONF_FLAG;
    gss_buffer_desc in = { .length = m->token_len, .value = (void *)(uintptr_t)m->token };
    gss_name_t target = GSS_C_NO_NAME;
    int r = 0;

    if ((m->token_len == 0) != (h->context == GSS_C_NO_CONTEXT))
        return sv_error_set(err, -EINVAL, "%s: a step out of turn", h->target);
    if (!h->ticket)
        r = sgss_ticket_take(h->owner->tickets, h->principal, wait_ms, &h->ticket, err);
    if (r == 0)
        r = sgss_import_name(h->target, &target, err);
    if (r < 0)
        return r;
    s->major = gss_init_sec_context(&s->minor, sgss_ticket_credential(h->ticket), &h->context,
                                    target, (gss_OID)(uintptr_t)gss_mech_krb5, wanted, 0,
                                    GSS_C_NO_CHANNEL_BINDINGS, m->token_len ? &in : NULL, NULL,
                                    &s->token, &s->flags, &s->lifetime);
    if (GSS_ERROR(s->major))
        r = sgss_gss_error(err, m->token_len ? -EACCES : -EIO, s->major, s->minor, "%s for %s",
                           h->principal, h->target);
    s->peer = target;
    return r;
}

static uint8_t flags_of(OM_uint32 flags)
{
    uint32_t ordered = GSS_C_REPLAY_FLAG | GSS_C_SEQUENCE_FLAG;

    return (uint8_t)((flags & GSS_C_MUTUAL_FLAG ? SGSS_MUTUAL : 0) |
                     (flags & GSS_C_INTEG_FLAG ? SGSS_INTEGRITY : 0) |
                     (flags & GSS_C_CONF_FLAG ? SGSS_PRIVACY : 0) |
                     ((flags & ordered) == ordered ? SGSS_ORDERED : 0));
}

/* The context leaves this process: it is deleted here. */
static int export(struct sgss_handshake *h, struct step *s, struct sgss_made *made,
                  struct sv_error *err)
{
    gss_buffer_desc context = GSS_C_EMPTY_BUFFER;
    OM_uint32 major, minor;
    int r = sgss_made_name(made, s->peer, h->principal, err);

    if (r < 0)
        return r;
    major = gss_export_sec_context(&minor, &h->context, &context);
    if (major != GSS_S_COMPLETE)
        return sgss_gss_error(err, -EIO, major, minor, "%s: export of the context", h->principal);
    r = sgss_made_keep(&context, SGSS_CONTEXT_MAX, &made->context, &made->context_len);
    return r < 0 ? sv_error_errno(err, r, "%s: export of the context", h->principal) : 0;
}

static int finish(struct sgss_handshake *h, struct step *s, struct sgss_made *made,
                  struct sgss_answer *ret, struct sv_error *err)
{
    int r = sgss_made_keep(&s->token, SGSS_TOKEN_MAX, &made->token, &made->token_len);

    if (r < 0)
        return sv_error_errno(err, r, "%s: token of the handshake", h->principal);
    ret->token = made->token;
    ret->token_len = made->token_len;
    if (s->major & GSS_S_CONTINUE_NEEDED) {
        ret->status = SGSS_MORE;
        return made->token_len > 0
                   ? 0
                   : sv_error_set(err, -EIO, "%s: the handshake stops", h->principal);
    }
    r = export(h, s, made, err);
    if (r < 0)
        return r;
    ret->status = SGSS_OK;
    ret->flags = flags_of(s->flags);
    ret->until = (uint64_t)(sv_wall_ms() / 1000) + s->lifetime;
    ret->name = made->name;
    ret->context = made->context;
    ret->context_len = made->context_len;
    return 0;
}

void sgss_handshake_step(struct sgss_handshake *h, const struct sgss_request *m, int64_t wait_ms,
                         struct sgss_made *made, struct sgss_answer *ret, struct sv_error *err)
{
    struct step s = { .token = GSS_C_EMPTY_BUFFER, .peer = GSS_C_NO_NAME };
    OM_uint32 minor;
    int r = h->kind == SGSS_ACCEPT ? accept_step(h, m, &s, err) : init_step(h, m, wait_ms, &s, err);

    if (r == 0)
        r = finish(h, &s, made, ret, err);
    if (r < 0)
        *ret = (struct sgss_answer){ .status = r == -EACCES      ? SGSS_REFUSED
                                               : r == -ETIMEDOUT ? SGSS_LATE
                                                                 : SGSS_NOT_ABLE };
    (void)gss_release_buffer(&minor, &s.token); /* always succeeds */
    if (s.peer != GSS_C_NO_NAME)
        (void)gss_release_name(&minor, &s.peer); /* frees, ignoring */
}
