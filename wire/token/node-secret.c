/* The nodes' shared secret and tokens; see node-secret.h. Hostile: the identifier that a peer
 * presents. The file is the operator's, but may be readable to others by mistake. */
#include "wire/token/node-secret.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fd.h"

#define ID_HEAD YARN_KIND_NODE " 1 "
#define ID_LABEL "selvedge node secret id"

static const struct sv_conf_key key = {
    "selvedge.node-secret.file", SV_CONF_STRING, "/etc/selvedge/node-secret",
    .help = "Secret of the ResourceManager and its NodeManagers: at least 32 random bytes, mode "
            "0600, owned by the daemon's account. Empty = none."
};

const struct sv_conf_key *yarn_node_secret_key(void)
{
    return &key;
}

void yarn_node_secret_clear(struct yarn_node_secret *s)
{
    OPENSSL_cleanse(s, sizeof(*s));
}

/* ---- The file ---- */

static int check_file(const struct stat *st, const char *path, struct sv_error *err)
{
    if (!S_ISREG(st->st_mode))
        return sv_error_set(err, -EINVAL, "%s: the node secret is not a regular file", path);
    if (st->st_uid != geteuid())
        return sv_error_set(err, -EPERM,
                            "%s: the node secret belongs to uid %u; it must belong to the daemon's "
                            "account (uid %u)",
                            path, st->st_uid, geteuid());
    if (st->st_mode & (S_IRWXG | S_IRWXO))
        return sv_error_set(err, -EPERM,
                            "%s: the node secret has mode %04o and others may use it; chmod 0600 "
                            "it, and replace it where they may have read it",
                            path, st->st_mode & 07777);
    return 0;
}

static int read_bytes(int fd, const char *path, struct yarn_node_secret *s, struct sv_error *err)
{
    uint8_t extra;
    size_t n = 0;
    ssize_t r;

    while ((r = read(fd, n < sizeof(s->bytes) ? s->bytes + n : &extra,
                     n < sizeof(s->bytes) ? sizeof(s->bytes) - n : 1)) > 0) {
        n += (size_t)r;
        if (n > sizeof(s->bytes))
            return sv_error_set(err, -EFBIG, "%s: the node secret has more than %d bytes", path,
                                YARN_NODE_SECRET_MAX);
    }
    if (r < 0)
        return sv_error_errno(err, -errno, "%s: cannot read the node secret", path);
    while (n > 0 && strchr(" \t\r\n", s->bytes[n - 1]) && s->bytes[n - 1])
        n--;
    s->len = n;
    if (n < YARN_NODE_SECRET_MIN)
        return sv_error_set(err, -EINVAL,
                            "%s: the node secret has %zu bytes; %d random ones are the least", path,
                            n, YARN_NODE_SECRET_MIN);
    return 0;
}

static int hmac(const struct yarn_node_secret *s, const void *p, size_t n, uint8_t ret[32])
{
    unsigned len = 32;
    return HMAC(EVP_sha256(), s->bytes, (int)s->len, p, n, ret, &len) && len == 32 ? 0 : -EIO;
}

static int set_id(struct yarn_node_secret *s)
{
    uint8_t digest[32];
    int r = hmac(s, ID_LABEL, strlen(ID_LABEL), digest);
    for (size_t i = 0; r >= 0 && i < 8; i++)
        snprintf(s->id + 2 * i, 3, "%02x", digest[i]);
    return r;
}

static int read_file(const char *path, struct yarn_node_secret *s, struct sv_error *err)
{
    struct stat st;
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return sv_error_errno(err, -errno, "%s: cannot open the node secret", path);
    if (fstat(fd, &st) < 0)
        return sv_error_errno(err, -errno, "%s", path);
    int r = check_file(&st, path, err);
    if (r >= 0)
        r = read_bytes(fd, path, s, err);
    if (r >= 0 && (r = set_id(s)) < 0)
        return sv_error_set(err, r, "%s: HMAC-SHA256 failed", path);
    return r;
}

int yarn_node_secret_load(struct sv_conf *conf, struct yarn_node_secret *ret, struct sv_error *err)
{
    const char *path;
    struct yarn_node_secret s = { .len = 0 };
    int r = sv_conf_string(conf, &key, &path, err);
    if (r >= 0 && path && *path)
        r = read_file(path, &s, err);
    if (r == -ENOENT && !sv_conf_raw(conf, key.name)) {
        yarn_node_secret_clear(&s);
        r = 0;
    }
    if (r >= 0)
        *ret = s;
    else
        sv_error_wrap(err, "%s", key.name);
    yarn_node_secret_clear(&s);
    return r;
}

/* ---- Tokens ---- */

static bool host_ok(const char *host, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)host[i] <= ' ' || (unsigned char)host[i] > '~')
            return false;
    return n > 0 && n < 256;
}

int yarn_node_token_make(const struct yarn_node_secret *s, const char *host,
                         struct yarn_node_token *ret)
{
    if (s->len == 0 || !host_ok(host, strlen(host)))
        return -EINVAL;
    int n = snprintf(ret->id, sizeof(ret->id), ID_HEAD "%s %s", s->id, host);
    if (n < 0 || (size_t)n >= sizeof(ret->id))
        return -EINVAL;
    ret->token = (struct yarn_token){
        .id = (const uint8_t *)ret->id,
        .id_len = (size_t)n,
        .password = ret->password,
        .password_len = 32,
        .kind = YARN_KIND_NODE,
        .service = "",
    };
    return hmac(s, ret->id, (size_t)n, ret->password);
}

int yarn_node_token_verify(const struct yarn_node_secret *s, const uint8_t *id, size_t id_len,
                           uint8_t ret_password[YARN_TOKEN_PASSWORD_MAX], size_t *ret_password_len,
                           char ret_host[256], struct sv_error *err)
{
    static const size_t head = sizeof(ID_HEAD) - 1, fixed = sizeof(ID_HEAD) - 1 + 17;
    const char *text = (const char *)id;
    if (id_len <= fixed || id_len >= YARN_NODE_TOKEN_ID_MAX || memcmp(id, ID_HEAD, head) != 0 ||
        text[fixed - 1] != ' ' || !host_ok(text + fixed, id_len - fixed))
        return sv_error_set(err, -EACCES, "the token is not a " YARN_KIND_NODE);
    if (memcmp(text + head, s->id, 16) != 0)
        return sv_error_set(err, -EACCES,
                            "the node's secret differs from the ResourceManager's (%s must be the "
                            "same file on both)",
                            key.name);
    int r = hmac(s, id, id_len, ret_password);
    if (r < 0)
        return sv_error_set(err, r, "HMAC-SHA256 failed");
    *ret_password_len = 32;
    memcpy(ret_host, text + fixed, id_len - fixed);
    ret_host[id_len - fixed] = '\0';
    return 0;
}
