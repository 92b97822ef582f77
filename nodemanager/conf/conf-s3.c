/* See conf-s3.h. */
#include "nodemanager/conf/conf-s3.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

#define NAME_MAX_ 512 /* length of a key with its bucket */

enum { K_ENDPOINT, K_REGION, K_PATH_STYLE, K_SSL, K_ACCESS, K_SECRET, K_SESSION, N_KEYS };

/* clang-format off */
static const struct sv_conf_key keys[N_KEYS] = {
    [K_ENDPOINT] = { "fs.s3a.endpoint", SV_CONF_STRING, "s3.amazonaws.com", .help = "Server of s3a: and s3: resources: host[:port] or http(s)://host[:port]." },
    [K_REGION] = { "fs.s3a.endpoint.region", SV_CONF_STRING, "us-east-1", .help = "Its region, which signatures name." },
    [K_PATH_STYLE] = { "fs.s3a.path.style.access", SV_CONF_BOOL, "false", .help = "The bucket is in the path, not in the host's name." },
    [K_SSL] = { "fs.s3a.connection.ssl.enabled", SV_CONF_BOOL, "true", .help = "https to an endpoint that does not say." },
    [K_ACCESS] = { "fs.s3a.access.key", SV_CONF_STRING, NULL, .help = "The cluster's access key: for PUBLIC resources only. A job's is a secret of that name in its credentials." },
    [K_SECRET] = { "fs.s3a.secret.key", SV_CONF_STRING, NULL, .help = "The same." },
    [K_SESSION] = { "fs.s3a.session.token", SV_CONF_STRING, NULL, .help = "The same; with temporary keys." },
};
/* clang-format on */

const struct sv_conf_key *nm_conf_s3_table(size_t *ret_n)
{
    *ret_n = N_KEYS;
    return keys;
}

/* Inserts the bucket: "fs.s3a.REST" -> "fs.s3a.bucket.BUCKET.REST". */
static void of_bucket(const char *name, const char *bucket, char ret[NAME_MAX_])
{
    (void)snprintf(ret, NAME_MAX_, "fs.s3a.bucket.%s%s", bucket, name + strlen("fs.s3a"));
}

/* The effective row, the bucket's or the general one; `name` is its storage. */
static struct sv_conf_key row(struct sv_conf *c, int key, const char *bucket, char name[NAME_MAX_])
{
    struct sv_conf_key k = keys[key];

    of_bucket(k.name, bucket, name);
    if (sv_conf_raw(c, name))
        k.name = name;
    return k;
}

static int text(struct sv_conf *c, int key, const char *bucket, char *ret, size_t size,
                struct sv_error *err)
{
    char name[NAME_MAX_], origin[512];
    const struct sv_conf_key k = row(c, key, bucket, name);
    const char *v = NULL;
    int r = sv_conf_string(c, &k, &v, err);

    if (r < 0)
        return r;
    if (!v || !v[0] || strlen(v) >= size || strpbrk(v, " \t\r\n@?#\\\"")) {
        sv_conf_origin(c, &k, origin, sizeof origin);
        return sv_error_set(err, -EINVAL, "%s: \"%.200s\" is not a value for it", origin,
                            v ? v : "");
    }
    memcpy(ret, v, strlen(v) + 1);
    return 0;
}

/* "https://host:port" */
static int endpoint(struct sv_conf *c, const char *bucket, bool ssl, struct loc_fetch *f,
                    struct sv_error *err)
{
    char v[300];
    size_t n;
    int r = text(c, K_ENDPOINT, bucket, v, sizeof v, err);

    if (r < 0)
        return r;
    n = strlen(v);
    if (n > 0 && v[n - 1] == '/')
        v[n - 1] = 0;
    if (sv_streq(v, keys[K_ENDPOINT].def) && !sv_streq(f->region, keys[K_REGION].def))
        (void)snprintf(v, sizeof v, "s3.%s.amazonaws.com", f->region);
    (void)snprintf(f->servers, sizeof f->servers, "%s%s",
                   sv_has_prefix(v, "http://") || sv_has_prefix(v, "https://") ? ""
                   : ssl                                                       ? "https://"
                                                                               : "http://",
                   v);
    return 0;
}

int nm_conf_s3_place(struct sv_conf *c, const char *bucket, struct loc_fetch *f,
                     struct sv_error *err)
{
    char name[NAME_MAX_];
    bool path_style = false, ssl = true;
    struct sv_conf_key k = row(c, K_PATH_STYLE, bucket, name);
    int r = sv_conf_bool(c, &k, &path_style, err);

    k = row(c, K_SSL, bucket, name);
    if (r >= 0)
        r = sv_conf_bool(c, &k, &ssl, err);
    if (r >= 0)
        r = text(c, K_REGION, bucket, f->region, sizeof f->region, err);
    if (r >= 0)
        r = endpoint(c, bucket, ssl, f, err);
    if (r >= 0 && path_style)
        f->options |= LOC_OPTION_PATH_STYLE;
    return r < 0 ? r : 0;
}

int nm_conf_s3_keys(const char *bucket,
                    const char *(*find)(void *userdata, const char *name, size_t *ret_len),
                    void *userdata, struct loc_fetch *f, struct sv_error *err)
{
    const struct {
        int key;
        char *to;
        size_t max;
    } parts[] = {
        { K_ACCESS, f->access_key, LOC_ACCESS_KEY_MAX },
        { K_SECRET, f->secret_key, LOC_SECRET_KEY_MAX },
        { K_SESSION, f->session_token, LOC_SESSION_TOKEN_MAX },
    };

    for (size_t i = 0; i < SV_ARRAY_LEN(parts); i++) {
        char name[NAME_MAX_];
        const char *v;
        size_t n = 0;

        of_bucket(keys[parts[i].key].name, bucket, name);
        v = find(userdata, name, &n);
        if (!v)
            v = find(userdata, keys[parts[i].key].name, &n);
        if (!v)
            continue;
        if (n > parts[i].max || memchr(v, 0, n))
            return sv_error_set(err, -EINVAL, "%s is too long or not text",
                                keys[parts[i].key].name);
        memcpy(parts[i].to, v, n);
        parts[i].to[n] = 0;
    }
    if (!f->access_key[0] != !f->secret_key[0])
        return sv_error_set(err, -EINVAL, "%s and %s belong together, and one is missing",
                            keys[K_ACCESS].name, keys[K_SECRET].name);
    return 0;
}

static const char *find_in_conf(void *userdata, const char *name, size_t *ret_len)
{
    const char *v = sv_conf_raw(userdata, name);

    *ret_len = v ? strlen(v) : 0;
    return v;
}

int nm_conf_s3_keys_of_cluster(struct sv_conf *c, const char *bucket, struct loc_fetch *f,
                               struct sv_error *err)
{
    return nm_conf_s3_keys(bucket, find_in_conf, c, f, err);
}
