/* See conf.h. */
#include "shuffle/conf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "shuffle/limits.h"

#define PREFIX "mapreduce.shuffle."

enum {
    PORT,
    BACKLOG,
    KEEP_ALIVE,
    KEEP_ALIVE_S,
    CONNECTIONS,
    THREADS,
    FILES,
    SENDFILE,
    BUFFER,
    CACHE,
    READAHEAD,
    TLS,
    TLS_BUFFER
};

static const struct sv_conf_key keys[] = {
    [PORT] = { PREFIX "port", SV_CONF_INT, "13562", 0, 65535, 0, "TCP port; 0: any" },
    [BACKLOG] = { PREFIX "listen.queue.size", SV_CONF_INT, "128", 1, 65535, 0,
                  "connections that wait to be accepted" },
    [KEEP_ALIVE] = { PREFIX "connection-keep-alive.enable", SV_CONF_BOOL, "false", 0, 0, 0,
                     "keep every connection open after an answer" },
    [KEEP_ALIVE_S] = { PREFIX "connection-keep-alive.timeout", SV_CONF_INT, "5", 1, 3600, 0,
                       "seconds that an open connection waits for the next request" },
    [CONNECTIONS] = { PREFIX "max.connections", SV_CONF_INT, "0", 0, 1000000, 0,
                      "connections at a time; more are answered 429; 0: 16384" },
    [THREADS] = { PREFIX "max.threads", SV_CONF_INT, "0", 0, SHF_THREADS_MAX, 0,
                  "threads that serve; 0: two a processor" },
    [FILES] = { PREFIX "max.session-open-files", SV_CONF_INT, "3", 1, SHF_SESSION_FILES_MAX, 0,
                "files that one answer holds open" },
    [SENDFILE] = { PREFIX "transferTo.allowed", SV_CONF_BOOL, "true", 0, 0, 0,
                   "send files without a copy" },
    [BUFFER] = { PREFIX "transfer.buffer.size", SV_CONF_SIZE, "131072", 0, 0, 0,
                 "bytes read at once where transferTo is not allowed" },
    [CACHE] = { PREFIX "manage.os.cache", SV_CONF_BOOL, "true", 0, 0, 0,
                "drop what was sent from the page cache" },
    [READAHEAD] = { PREFIX "readahead.bytes", SV_CONF_SIZE, "4194304", 0, 0, 0,
                    "bytes read ahead of what is sent; 0: none" },
    [TLS] = { PREFIX "ssl.enabled", SV_CONF_BOOL, "false", 0, 0, 0,
              "TLS, with the keys that hadoop.ssl.server.conf names" },
    [TLS_BUFFER] = { PREFIX "ssl.file.buffer.size", SV_CONF_SIZE, "65536", 0, 0, 0,
                     "bytes read at once with TLS" },
};

/* Known keys without an equivalent here: paths are not cached, and each answer keeps its own. */
static const char *const without_effect[] = {
    PREFIX "pathcache.max-weight",
    PREFIX "pathcache.expire-after-access-minutes",
    PREFIX "pathcache.concurrency-level",
    PREFIX "mapoutput-info.meta.cache.size",
};

struct ignored {
    char *text;
    size_t size;
};

static bool is_known(const char *name)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(keys); i++)
        if (sv_streq(name, keys[i].name))
            return true;
    return false;
}

static int note(const char *name, const char *value, void *userdata)
{
    struct ignored *to = userdata;
    const char *what = "unknown";
    size_t at = strlen(to->text);

    (void)value;
    if (!sv_has_prefix(name, PREFIX) || is_known(name))
        return 0;
    for (size_t i = 0; i < SV_ARRAY_LEN(without_effect); i++)
        if (sv_streq(name, without_effect[i]))
            what = "no effect";
    (void)snprintf(to->text + at, to->size - at, "%s%.128s (%s)", at ? ", " : "", name, what);
    return 0;
}

static int number(struct sv_conf *c, int key, unsigned *ret, struct sv_error *err)
{
    int64_t v;
    int r = sv_conf_int(c, &keys[key], &v, err);

    if (r == 0)
        *ret = (unsigned)v;
    return r;
}

static int size(struct sv_conf *c, int key, uint64_t max, size_t *ret, struct sv_error *err)
{
    uint64_t v;
    int r = sv_conf_size(c, &keys[key], &v, err);

    if (r == 0)
        *ret = (size_t)SV_MIN(v, max);
    return r;
}

int shf_conf_load(struct sv_conf *c, struct shf_conf *ret, char *ret_ignored, size_t ignored_size,
                  struct sv_error *err)
{
    struct shf_conf v = { 0 };
    unsigned port, backlog;

    ret_ignored[0] = 0;
    if (number(c, PORT, &port, err) < 0 || number(c, BACKLOG, &backlog, err) < 0 ||
        sv_conf_bool(c, &keys[KEEP_ALIVE], &v.keep_alive, err) < 0 ||
        number(c, KEEP_ALIVE_S, &v.keep_alive_s, err) < 0 ||
        number(c, CONNECTIONS, &v.max_connections, err) < 0 ||
        number(c, THREADS, &v.threads, err) < 0 || number(c, FILES, &v.session_files, err) < 0 ||
        sv_conf_bool(c, &keys[SENDFILE], &v.sendfile, err) < 0 ||
        size(c, BUFFER, 4u << 20, &v.buffer, err) < 0 ||
        sv_conf_bool(c, &keys[CACHE], &v.manage_cache, err) < 0 ||
        size(c, READAHEAD, 256u << 20, &v.readahead, err) < 0 ||
        sv_conf_bool(c, &keys[TLS], &v.tls, err) < 0 ||
        (v.tls && size(c, TLS_BUFFER, 4u << 20, &v.buffer, err) < 0))
        return -EINVAL;
    v.port = (uint16_t)port;
    v.backlog = (int)backlog;
    v.tls_sendfile = v.sendfile && v.tls;
    v.sendfile = v.sendfile && !v.tls;
    v.buffer = SV_MAX(v.buffer, (size_t)(v.tls ? 16384 : 4096)); /* at least a whole TLS record */
    *ret = v;
    return sv_conf_each(c, note, &(struct ignored){ ret_ignored, ignored_size });
}
