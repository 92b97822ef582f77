/* See tls-store.h. */
#include "common/tls/tls-store.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/str.h"

#define STORE_MAX ((off_t)4 << 20)
#define CERTS_MAX 4096

static const char *reason(void)
{
    const char *text = ERR_reason_error_string(ERR_peek_last_error());

    return text ? text : "no reason given";
}

static bool last_error_is(int library, int code)
{
    unsigned long e = ERR_peek_last_error();

    return ERR_GET_LIB(e) == library && ERR_GET_REASON(e) == code;
}

/* ---- the file ---- */

/* Uses openat2, the only open that the sandbox allows. The operator's links are followed. */
static int open_store(int dir, const char *name)
{
    struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
                            .resolve = RESOLVE_NO_MAGICLINKS };
    long fd = syscall(SYS_openat2, dir, name, &how, sizeof(how));

    return fd < 0 ? -errno : (int)fd;
}

static int check_file(int fd, const struct sv_tls_store_conf *conf, bool secret, struct stat *ret,
                      struct sv_error *err)
{
    mode_t closed = secret ? S_IRWXO : S_IWOTH;

    if (fstat(fd, ret) < 0)
        return sv_error_errno(err, -errno, "%s: %s", conf->key, conf->path);
    if (!S_ISREG(ret->st_mode))
        return sv_error_set(err, -EINVAL, "%s: %s is not a regular file", conf->key, conf->path);
    if (ret->st_mode & closed)
        return sv_error_set(err, -EPERM,
                            "%s: %s is open to every account of this machine, jobs included: take "
                            "these permissions away (chmod %s FILE)",
                            conf->key, conf->path, secret ? "o=" : "o-w");
    if (ret->st_size < 1 || ret->st_size > STORE_MAX)
        return sv_error_set(err, -EFBIG, "%s: %s has %lld bytes, 1 to %lld are read", conf->key,
                            conf->path, (long long)ret->st_size, (long long)STORE_MAX);
    return 0;
}

static int read_whole(int dir, const char *name, const struct sv_tls_store_conf *conf, bool secret,
                      uint8_t **ret, struct stat *ret_st, struct sv_error *err)
{
    _cleanup_close_ int fd = open_store(dir, name);
    _cleanup_free_ uint8_t *data = NULL;
    off_t at = 0;
    int r = fd < 0 ? sv_error_errno(err, fd, "%s: %s", conf->key, conf->path)
                   : check_file(fd, conf, secret, ret_st, err);

    if (r < 0)
        return r;
    data = malloc((size_t)ret_st->st_size);
    if (!data)
        return sv_error_errno(err, -ENOMEM, "%s", conf->key);
    while (at < ret_st->st_size) {
        ssize_t n = pread(fd, data + at, (size_t)(ret_st->st_size - at), at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return sv_error_set(err, -EIO, "%s: %s was cut while it was read", conf->key,
                                conf->path);
        at += n;
    }
    *ret = SV_TAKE(data);
    return 0;
}

/* ---- Contents ---- */

static bool begins_with(const uint8_t *data, size_t n, const char *magic, size_t len)
{
    return n >= len && memcmp(data, magic, len) == 0;
}

static int refuse_java(const struct sv_tls_store_conf *conf, const char *what, struct sv_error *err)
{
    return sv_error_set(err, -EOPNOTSUPP,
                        "%s: %s is %s, which only Java reads; convert it: keytool -importkeystore "
                        "-srckeystore %s -destkeystore NEW -deststoretype PKCS12",
                        conf->key, conf->path, what, conf->path);
}

static int read_pkcs12(const uint8_t *data, size_t n, const struct sv_tls_store_conf *conf,
                       struct sv_tls_store *ret, struct sv_error *err)
{
    const unsigned char *at = data;
    PKCS12 *p = d2i_PKCS12(NULL, &at, (long)n);
    int r = 0;

    if (!p)
        return sv_error_set(err, -EBADMSG, "%s: %s is neither PKCS12 nor PEM", conf->key,
                            conf->path);
    if (PKCS12_parse(p, conf->password, &ret->key, &ret->cert, &ret->others) != 1)
        r = last_error_is(ERR_LIB_PKCS12, PKCS12_R_MAC_VERIFY_FAILURE)
                ? sv_error_set(err, -EACCES, "%s: %s: wrong password in ssl-server.xml", conf->key,
                               conf->path)
                : sv_error_set(err, -EBADMSG,
                               "%s: %s cannot be decrypted (%s): an old cipher; write it anew with "
                               "keytool -importkeystore of Java 17",
                               conf->key, conf->path, reason());
    PKCS12_free(p);
    return r;
}

static int give_password(char *buf, int size, int writing, void *userdata)
{
    const struct sv_tls_store_conf *conf = userdata;
    size_t n = strlen(conf->password);

    (void)writing;
    if (n > (size_t)size)
        return -1;
    memcpy(buf, conf->password, n);
    return (int)n;
}

/* The key's certificate must come first, as for web servers. */
static int read_pem(const uint8_t *data, size_t n, const struct sv_tls_store_conf *conf,
                    bool secret, struct sv_tls_store *ret, struct sv_error *err)
{
    BIO *bio = BIO_new_mem_buf(data, (int)n);
    X509 *cert;
    int r = 0;

    ret->others = bio ? sk_X509_new_null() : NULL;
    if (!ret->others) {
        BIO_free(bio);
        return sv_error_errno(err, -ENOMEM, "%s", conf->key);
    }
    if (secret) {
        ret->key = PEM_read_bio_PrivateKey(bio, NULL, give_password, (void *)(uintptr_t)conf);
        if (!ret->key)
            r = sv_error_set(err, -EBADMSG, "%s: %s: no private key that its password opens (%s)",
                             conf->key, conf->path, reason());
        (void)BIO_reset(bio); /* certificates may precede the key, ignoring */
    }
    while (r == 0 &&
           (cert = PEM_read_bio_X509(bio, NULL, give_password, (void *)(uintptr_t)conf)) != NULL) {
        if (secret && !ret->cert)
            ret->cert = cert;
        else if (sk_X509_num(ret->others) >= CERTS_MAX || sk_X509_push(ret->others, cert) <= 0)
            r = sv_error_set(err, -E2BIG, "%s: %s has more than %d certificates", conf->key,
                             conf->path, CERTS_MAX);
        if (r < 0)
            X509_free(cert);
    }
    BIO_free(bio);
    return r;
}

static int parse(const uint8_t *data, size_t n, const struct sv_tls_store_conf *conf, bool secret,
                 struct sv_tls_store *ret, struct sv_error *err)
{
    if (begins_with(data, n, "\xfe\xed\xfe\xed", 4))
        return refuse_java(conf, "a JKS file", err);
    if (begins_with(data, n, "\xce\xce\xce\xce", 4))
        return refuse_java(conf, "a JCEKS file", err);
    if (memmem(data, n, "-----BEGIN ", 11))
        return read_pem(data, n, conf, secret, ret, err);
    return read_pkcs12(data, n, conf, ret, err);
}

static int check_content(const struct sv_tls_store_conf *conf, bool secret,
                         const struct sv_tls_store *s, struct sv_error *err)
{
    if (secret && (!s->key || !s->cert))
        return sv_error_set(err, -EINVAL, "%s: %s has no private key with its certificate",
                            conf->key, conf->path);
    if (secret && X509_check_private_key(s->cert, s->key) != 1)
        return sv_error_set(err, -EINVAL,
                            "%s: %s: the first certificate is not that of the private key",
                            conf->key, conf->path);
    if (!secret && sk_X509_num(s->others) <= 0)
        return sv_error_set(err, -EINVAL, "%s: %s has no certificates", conf->key, conf->path);
    return 0;
}

int sv_tls_store_read(int dir, const char *name, const struct sv_tls_store_conf *conf, bool secret,
                      struct sv_tls_store *ret, struct sv_error *err)
{
    struct sv_tls_store s = { 0 };
    uint8_t *data = NULL;
    int r = read_whole(dir, name, conf, secret, &data, &s.st, err);

    ERR_clear_error();
    if (r == 0)
        r = parse(data, (size_t)s.st.st_size, conf, secret, &s, err);
    if (r == 0)
        r = check_content(conf, secret, &s, err);
    ERR_clear_error();
    if (data)
        explicit_bzero(data, (size_t)s.st.st_size);
    free(data);
    if (r < 0)
        sv_tls_store_free(&s);
    else
        *ret = s;
    return r;
}

void sv_tls_store_free(struct sv_tls_store *s)
{
    EVP_PKEY_free(s->key);
    X509_free(s->cert);
    sk_X509_pop_free(s->others, X509_free);
    *s = (struct sv_tls_store){ 0 };
}
