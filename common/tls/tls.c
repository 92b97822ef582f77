/* See tls.h. */
#include "common/tls/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/str.h"
#include "common/tls/limits.h"
#include "common/tls/tls-store.h"

struct store_file {
    int dir; /* -1: no file */
    char *name;
    struct stat seen; /* status at the last read, whether it succeeded or not */
};

struct sv_tls {
    struct sv_tls_conf conf;
    struct store_file keys, trust;
    int64_t next_ms;
    pthread_mutex_t lock; /* guards ctx alone */
    SSL_CTX *ctx;
};

static int failed(struct sv_error *err, const char *what)
{
    const char *text = ERR_reason_error_string(ERR_peek_last_error());

    return sv_error_set(err, -EPROTO, "TLS: %s: %s", what, text ? text : "out of memory");
}

/* ---- cipher suites ---- */

/* Java prefixes the names of old suites with SSL_. */
static bool names_suite(char *const *list, const char *standard)
{
    for (; list && *list; list++) {
        const char *name = *list;

        if (sv_streq(name, standard) ||
            (sv_has_prefix(name, "SSL_") && sv_has_prefix(standard, "TLS_") &&
             sv_streq(name + 4, standard + 4)))
            return true;
    }
    return false;
}

static bool is_offered(const struct sv_tls_conf *c, const SSL_CIPHER *suite)
{
    const char *name = SSL_CIPHER_standard_name(suite);

    return name && (!c->included || !c->included[0] || names_suite(c->included, name)) &&
           !names_suite(c->excluded, name);
}

static int add_name(struct sv_buf *list, const char *name)
{
    int r = list->len ? sv_buf_put_str(list, ":") : 0;

    return r < 0 ? r : sv_buf_put_str(list, name);
}

/* Applies the lists to OpenSSL's default suites; TLS 1.3's are set separately. */
static int set_suites(SSL_CTX *ctx, const struct sv_tls_conf *c, struct sv_error *err)
{
    _cleanup_buf_ struct sv_buf old = SV_BUF_INIT(65536), new = SV_BUF_INIT(4096);
    const STACK_OF(SSL_CIPHER) *all = SSL_CTX_get_ciphers(ctx);
    int r = 0;

    for (int i = 0; r == 0 && i < sk_SSL_CIPHER_num(all); i++) {
        const SSL_CIPHER *suite = sk_SSL_CIPHER_value(all, i);
        bool is_new = sv_streq(SSL_CIPHER_get_version(suite), "TLSv1.3");

        if ((is_new ? c->tls13 : c->tls12) && is_offered(c, suite))
            r = add_name(is_new ? &new : &old, SSL_CIPHER_get_name(suite));
    }
    if (r == 0)
        r = sv_buf_put_u8(&old, 0);
    if (r == 0)
        r = sv_buf_put_u8(&new, 0);
    if (r < 0)
        return sv_error_errno(err, r, "TLS: cipher suites");
    if ((c->tls12 && old.len == 1) || (c->tls13 && new.len == 1))
        return sv_error_set(
            err, -EINVAL,
            "ssl.server.include.cipher.list and ssl.server.exclude.cipher.list "
            "leave no cipher suite of %s: take it from hadoop.ssl.enabled.protocols",
            c->tls12 && old.len == 1 ? "TLSv1.2" : "TLSv1.3");
    if ((c->tls12 && SSL_CTX_set_cipher_list(ctx, (const char *)old.data) != 1) ||
        (c->tls13 && SSL_CTX_set_ciphersuites(ctx, (const char *)new.data) != 1))
        return failed(err, "cipher suites");
    return 0;
}

/* ---- a context ---- */

static int set_key(SSL_CTX *ctx, const struct sv_tls_store *s, const char *path,
                   struct sv_error *err)
{
    if (SSL_CTX_use_cert_and_key(ctx, s->cert, s->key, s->others, 1) != 1)
        return sv_error_set(err, -EINVAL, "%s: this key is not usable: %s", path,
                            ERR_reason_error_string(ERR_peek_last_error()));
    /* Puts the chain in the order that clients expect, without certificates outside of it. */
    (void)SSL_CTX_build_cert_chain(ctx, SSL_BUILD_CHAIN_FLAG_CHECK |
                                            SSL_BUILD_CHAIN_FLAG_IGNORE_ERROR |
                                            SSL_BUILD_CHAIN_FLAG_CLEAR_ERROR); /* ignoring */
    if (X509_cmp_current_time(X509_get0_notAfter(s->cert)) < 0)
        sv_log_warning("%s: the certificate has expired: clients will refuse it", path);
    return 0;
}

/* As in Java, any certificate of the truststore is an anchor, a root or not. */
static int set_trust(SSL_CTX *ctx, const struct sv_tls_store *s, struct sv_error *err)
{
    X509_STORE *store = SSL_CTX_get_cert_store(ctx);

    for (int i = 0; i < sk_X509_num(s->others); i++)
        if (X509_STORE_add_cert(store, sk_X509_value(s->others, i)) != 1 ||
            SSL_CTX_add_client_CA(ctx, sk_X509_value(s->others, i)) != 1)
            return failed(err, "certificates of the truststore");
    (void)X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN); /* ignoring: 1 */
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_verify_depth(ctx, TLS_CHAIN_MAX);
    return 0;
}

/* A client must not occupy a thread: no renegotiation, and one record per call (without AUTO_RETRY
 * OpenSSL returns after a record without data). */
static void set_bounds(SSL_CTX *ctx)
{
    static const unsigned char name[] = "selvedge";

    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_clear_mode(ctx, SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_max_cert_list(ctx, TLS_CERTS_MAX);
    SSL_CTX_sess_set_cache_size(ctx, TLS_SESSIONS_MAX);
    SSL_CTX_set_timeout(ctx, TLS_SESSION_SECONDS);
    (void)SSL_CTX_set_session_id_context(ctx, name, sizeof(name) - 1); /* short enough, ignoring */
}

static int make_context(const struct sv_tls_conf *c, const struct sv_tls_store *keys,
                        const struct sv_tls_store *trust, SSL_CTX **ret, struct sv_error *err)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    int r = ctx ? 0 : failed(err, "OpenSSL");

    if (r == 0 &&
        (SSL_CTX_set_min_proto_version(ctx, c->tls12 ? TLS1_2_VERSION : TLS1_3_VERSION) != 1 ||
         SSL_CTX_set_max_proto_version(ctx, c->tls13 ? TLS1_3_VERSION : TLS1_2_VERSION) != 1))
        r = failed(err, "versions");
    if (r == 0) {
        if (c->kernel)
            (void)SSL_CTX_set_options(ctx, SSL_OP_ENABLE_KTLS); /* returns all options, ignoring */
        set_bounds(ctx);
        r = set_suites(ctx, c, err);
    }
    if (r == 0)
        r = set_key(ctx, keys, c->keys.path, err);
    if (r == 0 && c->client_cert)
        r = set_trust(ctx, trust, err);
    ERR_clear_error();
    if (r < 0)
        SSL_CTX_free(ctx);
    else
        *ret = ctx;
    return r;
}

/* ---- files ---- */

static int open_dir(const struct sv_tls_store_conf *conf, struct store_file *ret,
                    struct sv_error *err)
{
    _cleanup_free_ char *dir = strdup(conf->path);
    const char *name = strrchr(conf->path, '/') + 1;

    ret->name = strdup(name);
    if (!dir || !ret->name)
        return sv_error_errno(err, -ENOMEM, "%s", conf->key);
    ret->dir = open(dirname(dir), O_PATH | O_DIRECTORY | O_CLOEXEC);
    return ret->dir < 0 ? sv_error_errno(err, -errno, "%s: %s", conf->key, conf->path) : 0;
}

static bool has_changed(const struct store_file *f)
{
    const struct stat *was = &f->seen;
    struct stat st;

    if (f->dir < 0 || fstatat(f->dir, f->name, &st, 0) < 0)
        return false; /* between two files of the same name: retry later */
    return st.st_ino != was->st_ino || st.st_dev != was->st_dev || st.st_size != was->st_size ||
           st.st_mtim.tv_sec != was->st_mtim.tv_sec || st.st_mtim.tv_nsec != was->st_mtim.tv_nsec;
}

static void note_seen(struct store_file *f)
{
    if (f->dir >= 0)
        (void)fstatat(f->dir, f->name, &f->seen, 0); /* on failure it is read again, ignoring */
}

/* Reads both files and replaces the context. */
static int load(struct sv_tls *t, struct sv_error *err)
{
    struct sv_tls_store keys = { 0 }, trust = { 0 };
    SSL_CTX *ctx = NULL, *old;
    int r;

    note_seen(&t->keys);
    note_seen(&t->trust);
    r = sv_tls_store_read(t->keys.dir, t->keys.name, &t->conf.keys, true, &keys, err);
    if (r == 0 && t->trust.dir >= 0)
        r = sv_tls_store_read(t->trust.dir, t->trust.name, &t->conf.trust, false, &trust, err);
    if (r == 0)
        r = make_context(&t->conf, &keys, &trust, &ctx, err);
    sv_tls_store_free(&keys);
    sv_tls_store_free(&trust);
    if (r < 0)
        return r;
    pthread_mutex_lock(&t->lock);
    old = t->ctx;
    t->ctx = ctx;
    pthread_mutex_unlock(&t->lock);
    SSL_CTX_free(old); /* existing connections keep their reference */
    return 0;
}

static void close_file(struct store_file *f)
{
    (void)sv_close(f->dir);
    free(f->name);
}

struct sv_tls *sv_tls_free(struct sv_tls *t)
{
    if (!t)
        return NULL;
    SSL_CTX_free(t->ctx);
    close_file(&t->keys);
    close_file(&t->trust);
    sv_tls_conf_free(&t->conf);
    (void)pthread_mutex_destroy(&t->lock); /* nobody holds it, ignoring */
    free(t);
    return NULL;
}

int sv_tls_new(struct sv_tls_conf *conf, struct sv_tls **ret, struct sv_error *err)
{
    struct sv_tls *t = calloc(1, sizeof(*t));
    int r;

    if (!t) {
        sv_tls_conf_free(conf);
        return sv_error_errno(err, -ENOMEM, "TLS");
    }
    t->conf = *conf;
    *conf = (struct sv_tls_conf){ 0 };
    t->keys.dir = t->trust.dir = -1;
    r = -pthread_mutex_init(&t->lock, NULL);
    if (r < 0)
        (void)sv_error_errno(err, r, "TLS");
    if (r == 0)
        r = open_dir(&t->conf.keys, &t->keys, err);
    if (r == 0 && t->conf.client_cert)
        r = open_dir(&t->conf.trust, &t->trust, err);
    if (r == 0)
        r = load(t, err);
    t->next_ms = sv_now_ms() + t->conf.reload_ms;
    if (r < 0)
        (void)sv_tls_free(t);
    else
        *ret = t;
    return r;
}

size_t sv_tls_dirs(const struct sv_tls *t, int ret[SV_TLS_DIRS_MAX])
{
    size_t n = 0;

    if (t && t->keys.dir >= 0)
        ret[n++] = t->keys.dir;
    if (t && t->trust.dir >= 0)
        ret[n++] = t->trust.dir;
    return n;
}

SSL *sv_tls_session(struct sv_tls *t, int fd)
{
    SSL *s;

    pthread_mutex_lock(&t->lock);
    s = SSL_new(t->ctx);
    pthread_mutex_unlock(&t->lock);
    if (s && SSL_set_fd(s, fd) != 1) {
        SSL_free(s);
        s = NULL;
    }
    if (s)
        SSL_set_accept_state(s);
    return s;
}

/* Without a connection the protocol is found, and then refused. */
bool sv_tls_in_kernel(void)
{
    _cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return fd >= 0 && setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls")) < 0 &&
           errno == ENOTCONN;
}

bool sv_tls_sends_in_kernel(const SSL *s)
{
    return BIO_get_ktls_send(SSL_get_wbio(s)) > 0;
}

void sv_tls_tick(struct sv_tls *t)
{
    struct sv_error err = { 0 };

    if (!t || sv_now_ms() < t->next_ms)
        return;
    t->next_ms = sv_now_ms() + t->conf.reload_ms;
    if (!has_changed(&t->keys) && !has_changed(&t->trust))
        return;
    if (load(t, &err) < 0)
        sv_log_warning("%s; new connections use the previous keys", err.text);
    else
        sv_log_notice("%s: reloaded; new connections use it", t->conf.keys.path);
}
