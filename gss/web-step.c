/* See web-step.h. Hostile: the token, which libgssapi_krb5 parses. */
#include "gss/web-step.h"

#include <errno.h>
#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "common/clock.h"
#include "common/str.h"
#include "gss/login.h"
#include "gss/words.h"

/* RFC 4178; the library's headers do not name it. */
#define SPNEGO_OID "\x2b\x06\x01\x05\x05\x02"

/* libkrb5 opens and locks a file by its name. This one has no other name, so that the process needs
 * no directory to write in: docs/adr/0042-kerberos-helper.md. */
static char replay_cache[64];

int sgss_web_prepare(void)
{
    int fd = replay_cache[0] ? -1 : memfd_create("replays", MFD_CLOEXEC);

    if (replay_cache[0])
        return 0;
    if (fd < 0)
        return -errno;
    snprintf(replay_cache, sizeof(replay_cache), "file2:/proc/self/fd/%d", fd); /* kept open */
    return 0;
}

/* The key is that of `name`, or any in the file; `krb5` is what SPNEGO may agree on. */
static int acquire(const char *path, gss_name_t name, const char *principal, gss_cred_id_t *ret,
                   struct sv_error *err)
{
    char file[PATH_MAX + 8];
    gss_OID_desc mechanisms[] = { *gss_mech_krb5,
                                  { .length = sizeof(SPNEGO_OID) - 1,
                                    .elements = (void *)(uintptr_t)SPNEGO_OID } };
    gss_OID_set_desc both = { .count = SV_ARRAY_LEN(mechanisms), .elements = mechanisms };
    gss_OID_set_desc krb5 = { .count = 1, .elements = mechanisms };
    gss_key_value_element_desc elements[] = { { .key = "keytab", .value = file },
                                              { .key = "rcache", .value = replay_cache } };
    gss_key_value_set_desc store = { .count = SV_ARRAY_LEN(elements), .elements = elements };
    OM_uint32 major, minor;

    snprintf(file, sizeof(file), "FILE:%s", path);
    major = gss_acquire_cred_from(&minor, name, GSS_C_INDEFINITE, &both, GSS_C_ACCEPT, &store, ret,
                                  NULL, NULL);
    if (major == GSS_S_COMPLETE)
        major = gss_set_neg_mechs(&minor, *ret, &krb5);
    if (major == GSS_S_COMPLETE)
        return 0;
    return sgss_gss_error(err, -EIO, major, minor, "keytab %s, key of %s", path, principal);
}

static int credential(const struct sgss_keytabs *k, const char *principal, gss_cred_id_t *ret,
                      struct sv_error *err)
{
    gss_name_t name = GSS_C_NO_NAME;
    OM_uint32 ignored;
    const char *path;
    int r = sgss_keytab_find(k, principal, &path, err);

    if (r == 0 && !sv_streq(principal, SGSS_WEB_ANY))
        r = sgss_import_name(principal, &name, err);
    if (r == 0)
        r = acquire(path, name, principal, ret, err);
    if (name != GSS_C_NO_NAME)
        (void)gss_release_name(&ignored, &name); /* frees, ignoring */
    return r;
}

/* A keytab may have keys of RPC, too: a ticket for one of them must not do for the web. */
static int check_target(gss_ctx_id_t context, const char *principal, struct sv_error *err)
{
    struct sgss_made own = { 0 };
    gss_name_t target = GSS_C_NO_NAME;
    OM_uint32 major, minor;
    int r;

    major = gss_inquire_context(&minor, context, NULL, &target, NULL, NULL, NULL, NULL, NULL);
    if (major != GSS_S_COMPLETE)
        return sgss_gss_error(err, -EIO, major, minor, "%s: the ticket's service", principal);
    r = sgss_made_name(&own, target, principal, err);
    if (r == 0 && !sv_has_prefix(own.name, SGSS_WEB_PREFIX))
        r = sv_error_set(err, -EACCES, "the ticket is for %s, which is no web server",
                         (const char *)own.name);
    sgss_made_free(&own);
    (void)gss_release_name(&minor, &target); /* frees, ignoring */
    return r;
}

struct step {
    gss_ctx_id_t context;
    gss_name_t peer;
    gss_buffer_desc token;
    OM_uint32 major, lifetime;
};

static int accept_token(const struct sgss_keytabs *k, const struct sgss_request *m, struct step *s,
                        struct sv_error *err)
{
    gss_buffer_desc in = { .length = m->token_len, .value = (void *)(uintptr_t)m->token };
    gss_cred_id_t key = GSS_C_NO_CREDENTIAL;
    OM_uint32 minor;
    int r = credential(k, m->principal, &key, err);

    if (r == 0) {
        s->major = gss_accept_sec_context(&minor, &s->context, key, &in, GSS_C_NO_CHANNEL_BINDINGS,
                                          &s->peer, NULL, &s->token, NULL, &s->lifetime, NULL);
        if (GSS_ERROR(s->major))
            r = sgss_gss_error(err, -EACCES, s->major, minor, "%s: the client's ticket",
                               m->principal);
    }
    if (key != GSS_C_NO_CREDENTIAL)
        (void)gss_release_cred(&minor, &key); /* frees, ignoring */
    return r;
}

static int finish(const struct sgss_request *m, struct step *s, struct sgss_made *made,
                  struct sgss_answer *ret, struct sv_error *err)
{
    int r = sgss_made_keep(&s->token, SGSS_TOKEN_MAX, &made->token, &made->token_len);

    if (r < 0)
        return sv_error_errno(err, r, "%s: token of the handshake", m->principal);
    ret->token = made->token;
    ret->token_len = made->token_len;
    ret->status = SGSS_MORE;
    if (s->major & GSS_S_CONTINUE_NEEDED)
        return made->token_len > 0
                   ? 0
                   : sv_error_set(err, -EACCES, "%s: the handshake stops", m->principal);
    r = check_target(s->context, m->principal, err);
    if (r == 0)
        r = sgss_made_name(made, s->peer, m->principal, err);
    if (r < 0)
        return r;
    ret->status = SGSS_OK;
    ret->until = (uint64_t)(sv_wall_ms() / 1000) + s->lifetime;
    ret->name = made->name;
    return 0;
}

void sgss_web_step(const struct sgss_keytabs *k, const struct sgss_request *m,
                   struct sgss_made *made, struct sgss_answer *ret, struct sv_error *err)
{
    struct step s = { .context = GSS_C_NO_CONTEXT,
                      .peer = GSS_C_NO_NAME,
                      .token = GSS_C_EMPTY_BUFFER };
    OM_uint32 minor;
    int r = accept_token(k, m, &s, err);

    if (r == 0)
        r = finish(m, &s, made, ret, err);
    if (r < 0)
        *ret = (struct sgss_answer){ .status = r == -EACCES ? SGSS_REFUSED : SGSS_NOT_ABLE };
    (void)gss_release_buffer(&minor, &s.token); /* always succeeds */
    if (s.peer != GSS_C_NO_NAME)
        (void)gss_release_name(&minor, &s.peer); /* frees, ignoring */
    if (s.context != GSS_C_NO_CONTEXT)
        (void)gss_delete_sec_context(&minor, &s.context, GSS_C_NO_BUFFER); /* frees, ignoring */
}
