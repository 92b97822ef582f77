/* See zk-conf.h. Names and defaults are those of Hadoop 3.4.2. */
#include "common/zookeeper/zk-conf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "common/fd.h"
#include "common/str.h"

#define FILE_MAX 65536 /* bytes of a file "@PATH" */

enum { K_ADDRESS, K_TIMEOUT, K_RETRIES, K_INTERVAL, K_ACL, K_AUTH, K_COUNT };

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_ADDRESS] = { "hadoop.zk.address", SV_CONF_STRING, NULL, .help = "ZooKeeper's servers: HOST:PORT, separated by commas." },
    [K_TIMEOUT] = { "hadoop.zk.timeout-ms", SV_CONF_DURATION, "10000", 1000, 600000, 1, .help = "Timeout of a ZooKeeper session." },
    [K_RETRIES] = { "hadoop.zk.num-retries", SV_CONF_INT, "1000", 0, INT32_MAX, .help = "How often a connection to ZooKeeper is tried again for a request." },
    [K_INTERVAL] = { "hadoop.zk.retry-interval-ms", SV_CONF_DURATION, "1000", 1, 600000, 1, .help = "Pause before that." },
    [K_ACL] = { "hadoop.zk.acl", SV_CONF_STRING, "world:anyone:rwcda", .help = "ACL of what is created in ZooKeeper: SCHEME:ID:PERMISSIONS, separated by commas, or @FILE." },
    [K_AUTH] = { "hadoop.zk.auth", SV_CONF_STRING, NULL, .help = "refused: credentials for ZooKeeper are not supported." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *sv_zk_conf_keys(size_t *ret_n)
{
    *ret_n = K_COUNT;
    return keys;
}

static int permissions_of(const char *text, int32_t *ret)
{
    static const char letters[] = "rwcda";
    int32_t bits = 0;

    for (; *text; text++) {
        const char *at = strchr(letters, *text);

        if (!at)
            return -EINVAL;
        bits |= 1 << (at - letters);
    }
    *ret = bits;
    return bits ? 0 : -EINVAL;
}

/* An id may have colons: the first and the last of the entry count. */
static int parse_entry(char *entry, struct sv_zk_acl *ret)
{
    char *first = strchr(entry, ':'), *last = strrchr(entry, ':');

    if (!first || first == last || first == entry)
        return -EINVAL;
    *first = *last = '\0';
    ret->scheme = entry;
    ret->id = first + 1;
    return permissions_of(last + 1, &ret->permissions);
}

static char *trim(char *s)
{
    static const char blanks[] = " \t\r\n";
    size_t n;

    s += strspn(s, blanks);
    n = strlen(s);
    while (n > 0 && strchr(blanks, s[n - 1]))
        s[--n] = '\0';
    return s;
}

int sv_zk_acl_parse(char *text, struct sv_zk_acl ret[SV_ZK_ACL_MAX], size_t *ret_n,
                    struct sv_error *err)
{
    char *entry, shown[128];
    size_t n = 0;

    while ((entry = strsep(&text, ","))) {
        entry = trim(entry);
        if (!*entry)
            continue;
        sv_escape(shown, sizeof(shown), entry);
        if (n == SV_ZK_ACL_MAX)
            return sv_error_set(err, -EINVAL, "more than %d entries", SV_ZK_ACL_MAX);
        if (parse_entry(entry, &ret[n]) < 0)
            return sv_error_set(err, -EINVAL,
                                "entry \"%s\": SCHEME:ID:PERMISSIONS, permissions of r, w, c, d "
                                "and a",
                                shown);
        n++;
    }
    *ret_n = n;
    return n > 0 ? 0 : sv_error_set(err, -EINVAL, "no entry: SCHEME:ID:PERMISSIONS");
}

/* "@FILE" stands for the file's text. */
static int read_text(const char *value, char **ret, struct sv_error *err)
{
    size_t len;
    int r = 0;

    if (*value != '@')
        *ret = strdup(value);
    else
        r = sv_read_file_at(AT_FDCWD, value + 1, FILE_MAX, ret, &len);
    if (r == 0 && !*ret)
        r = -ENOMEM;
    return r < 0 ? sv_error_errno(err, r, "%s", value) : 0;
}

static int read_acl(struct sv_conf *conf, struct sv_zk_settings *s, struct sv_error *err)
{
    const char *value = NULL;
    int r = sv_conf_string(conf, &keys[K_ACL], &value, err);

    if (r == 0)
        r = read_text(value, &s->acl_text, err);
    if (r == 0)
        r = sv_zk_acl_parse(s->acl_text, s->acl, &s->n_acl, err);
    return r < 0 && err ? sv_error_wrap(err, "%s", keys[K_ACL].name) : r;
}

int sv_zk_settings_read(struct sv_conf *conf, struct sv_zk_settings *ret, struct sv_error *err)
{
    const char *auth = NULL;
    int64_t session = 0;
    int r;

    *ret = (struct sv_zk_settings){ 0 };
    r = sv_conf_string(conf, &keys[K_ADDRESS], &ret->servers, err);
    if (r == 0)
        r = sv_conf_duration_ms(conf, &keys[K_TIMEOUT], &session, err);
    if (r == 0)
        r = sv_conf_int(conf, &keys[K_RETRIES], &ret->retries, err);
    if (r == 0)
        r = sv_conf_duration_ms(conf, &keys[K_INTERVAL], &ret->retry_ms, err);
    if (r == 0)
        r = sv_conf_string(conf, &keys[K_AUTH], &auth, err);
    ret->session_ms = (uint32_t)session;
    if (r == 0 && auth && *auth)
        return sv_error_set(err, -EOPNOTSUPP,
                            "hadoop.zk.auth is set: credentials for ZooKeeper are not supported; "
                            "unset it, with an ACL that needs none");
    return r < 0 ? r : read_acl(conf, ret, err);
}

void sv_zk_settings_free(struct sv_zk_settings *s)
{
    free(s->acl_text);
    *s = (struct sv_zk_settings){ 0 };
}
