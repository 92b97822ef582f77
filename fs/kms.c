/* See kms.h. */
#include "fs/kms.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "common/log.h"
#include "fs/credentials.h"
#include "fs/kms-messages.h"
#include "fs/webhdfs-json.h"
#include "hdfs/servers.h"
#include "wire/token/token.h"

#define TOKEN_HEADER "X-Hadoop-Delegation-Token"
#define SECRET "dfs-kms-hdfs://" /* name of the secret that has the provider of a file system */
#define AGAIN_MS 200             /* before the first server is tried once more */
#define TEXT_MAX 300             /* of a server's exception */

/* One key. */
struct request {
    struct fs_kms *kms;
    const struct hdfs_edek *edek;
    struct fs_kms_uri servers;
    const char *user, *token; /* one of them is set, or neither; the token as text */
    char *body;
    uint8_t answer[FS_KMS_ANSWER_MAX];
    size_t n;
};

/* ---- The provider and the caller ---- */

static int provider_of(const struct fs_options *o, const char *host, uint16_t port,
                       struct sv_arena *a, const char **ret, struct sv_error *err)
{
    char name[sizeof(SECRET) + HDFS_HOST_MAX + 8];

    if (port)
        (void)snprintf(name, sizeof(name), SECRET "%s:%u", host, port);
    else
        (void)snprintf(name, sizeof(name), SECRET "%s", host);
    return fs_credentials_secret(o->identity.credentials, name, a, ret, err);
}

/* The provider that the job's client had for this file system, else the NameNode's. */
static int find_provider(const struct fs_options *o, struct sv_arena *a, const char **provider,
                         struct sv_error *err)
{
    const char *found = NULL;
    int r = o->url->host[0] ? provider_of(o, o->url->host, o->url->port, a, &found, err) : 0;

    for (unsigned i = 0; r == 0 && !found && i < o->site->n_servers; i++)
        r = provider_of(o, o->site->servers[i].host, o->site->servers[i].port, a, &found, err);
    if (r == 0 && found)
        *provider = found;
    return r;
}

/* A token's service is the provider's uri, or one of the servers. */
static int find_token(struct request *q, const char *provider, struct sv_arena *a,
                      struct sv_error *err)
{
    static const char *const kinds[] = { "kms-dt", "KMS_DELEGATION_TOKEN" };
    struct fs_service services[1 + FS_KMS_HOSTS_MAX] = { { provider, 0 } };
    const struct yarn_token *found = NULL;
    int r = 0;

    for (unsigned i = 0; i < q->servers.n; i++)
        services[1 + i] = (struct fs_service){ q->servers.hosts[i], q->servers.port };
    for (size_t i = 0; r == 0 && !found && i < SV_ARRAY_LEN(kinds); i++)
        r = fs_credentials_find(q->kms->options->identity.credentials, kinds[i], services,
                                1 + q->servers.n, a, &found, err);
    if (r == 0 && found)
        r = yarn_token_text(a, found, &q->token) < 0 ? sv_error_errno(err, -ENOMEM, "token") : 0;
    if (r < 0 || found)
        return r;
    if (q->kms->options->site->secure) /* nobody would prove the name */
        return sv_error_set(err, -EKEYREJECTED,
                            "KMS %s: the cluster is secure, and there is no token of kind kms-dt "
                            "for it among the job's credentials",
                            provider);
    q->user = q->kms->options->identity.user;
    return 0;
}

static int open_web(struct fs_kms *k, bool secure, struct sv_error *err)
{
    struct fs_options o = *k->options;
    int r = 0;

    if (k->open && k->web.secure == secure)
        return 0;
    fs_kms_close(k);
    if (!o.curl && o.load_curl)
        r = o.load_curl(&o.curl, err);
    if (r < 0)
        return r;
    if (o.limits.io_timeout_ms == 0)
        o.limits.io_timeout_ms = o.site->io_timeout_ms;
    o.limits.slowest_rate = 0; /* of files */
    r = fs_web_open(&k->web, &o, secure, err);
    k->open = r == 0;
    if (r < 0)
        fs_web_close(&k->web);
    return r;
}

/* ---- One server ---- */

static CURLcode add_headers(void *userdata, const char *range, struct curl_slist **headers)
{
    const struct request *q = userdata;
    CURLcode r = fs_web_header(&q->kms->web, headers, "Content-Type", "application/json");

    (void)range; /* nothing is resumed */
    return r == CURLE_OK && q->token ? fs_web_header(&q->kms->web, headers, TOKEN_HEADER, q->token)
                                     : r;
}

static int on_answer(void *userdata, const void *p, size_t n)
{
    struct request *q = userdata;

    memcpy(q->answer + q->n, p, n); /* at most the stream's limit in all */
    q->n += n;
    return 0;
}

/* The error of an answer that has no key. */
static int refused(const struct request *q, int status, struct sv_error *err)
{
    const struct fs_web *w = &q->kms->web;
    char text[TEXT_MAX] = "";
    int r = fs_webhdfs_parse_exception(w->answer, w->answer_n, text, sizeof(text));

    if (r == -EBADMSG) /* a page in place of an exception: the login was refused */
        r = status == 401 || status == 403 ? -EKEYREJECTED : -EREMOTEIO;
    return sv_error_set(err, r, "%s (HTTP status %d)",
                        *text             ? text
                        : r == -EREMOTEIO ? "it answers no key"
                        : q->token        ? "it refuses the job's delegation token"
                                          : "it refuses the login",
                        status);
}

static int exchange(struct request *q, const char *url, uint8_t ret[HDFS_KEY_MAX],
                    struct sv_error *err)
{
    const struct fs_options *o = q->kms->options;
    struct fs_stream to = { .sink = on_answer, .userdata = q };
    const struct fs_web_get g = { .url = url,
                                  .timeout_ms = o->site->io_timeout_ms,
                                  .to = &to,
                                  .max = sizeof(q->answer),
                                  .one_host = true,
                                  .post = q->body,
                                  .sign = add_headers,
                                  .userdata = q };
    int r;

    q->n = 0;
    r = fs_web_get(&q->kms->web, &g, err);
    if (r == -EFBIG)
        return sv_error_set(err, -EBADMSG, "its answer is too long");
    if (r < 0)
        return r;
    if (r != 200)
        return refused(q, r, err);
    r = fs_kms_answer((const char *)q->answer, q->n, q->edek->n, ret);
    return r < 0 ? sv_error_set(err, r, "its answer has no key of %zu bytes", q->edek->n) : 0;
}

/* The caller's policy is about urls of files, and about addresses, which web.c checks. */
static int ask(struct request *q, unsigned host, uint8_t ret[HDFS_KEY_MAX], struct sv_error *err)
{
    char url[FS_URL_MAX + 1];
    int r = fs_kms_url(&q->servers, host, q->edek, q->user ? q->user : "", url);

    if (r < 0)
        return sv_error_errno(err, r, "url of a KMS");
    r = exchange(q, url, ret, err);
    explicit_bzero(q->answer, q->n);
    if (r < 0)
        (void)sv_error_wrap(err, "KMS %s:%u", q->servers.hosts[host], q->servers.port);
    return r;
}

/* ---- All of them ---- */

/* True if another server, with the same rules and tokens, would answer the same. */
static bool is_final(int r)
{
    return r == 0 || r == -EACCES || r == -EKEYREJECTED || r == -EINVAL || r == -ENAMETOOLONG ||
           r == -ENOMEM;
}

static int ask_all(struct request *q, uint8_t ret[HDFS_KEY_MAX], struct sv_error *err)
{
    unsigned first = 0;
    int r = -EIO;

    if (getrandom(&first, sizeof(first), 0) != sizeof(first))
        first = 0; /* any one will do */
    for (unsigned i = 0; i <= q->servers.n; i++) {
        if (i == q->servers.n)
            (void)poll(NULL, 0, AGAIN_MS); /* only a delay, ignoring */
        r = ask(q, (first % q->servers.n + i) % q->servers.n, ret, err);
        if (is_final(r))
            return r;
        sv_log_debug("%s", err ? err->text : "a KMS failed");
    }
    return r;
}

int fs_kms_decrypt(void *userdata, const char *provider, const struct hdfs_edek *e,
                   uint8_t ret[HDFS_KEY_MAX], struct sv_error *err)
{
    struct fs_kms *k = userdata;
    struct request q = { .kms = k, .edek = e };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    int r = a ? find_provider(k->options, a, &provider, err) : sv_error_errno(err, -ENOMEM, "KMS");

    if (r == 0)
        r = fs_kms_uri_parse(provider, &q.servers, err);
    if (r == 0)
        r = find_token(&q, provider, a, err);
    if (r == 0)
        r = open_web(k, q.servers.secure, err);
    if (r < 0)
        return r;
    r = fs_kms_request(e, &q.body);
    if (r < 0)
        return sv_error_errno(err, r, "KMS");
    r = ask_all(&q, ret, err);
    free(q.body);
    return r < 0 ? r : 0;
}

void fs_kms_close(struct fs_kms *k)
{
    if (k->open)
        fs_web_close(&k->web);
    k->open = false;
}
