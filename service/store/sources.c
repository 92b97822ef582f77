/* See sources.h. */
#include "service/store/sources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/configured.h"
#include "fs/resolve.h"

#define PROGRAM "selvedge-services"
#define IO_TIMEOUT_MS 20000

struct svc_sources {
    struct sv_conf *conf;
    const char *user;
    int credentials;
    struct fs_url root; /* a url of the default file system */
    bool asked;         /* it is one that is asked */
    struct fs *fs;      /* NULL until it is needed */
};

int svc_sources_open(struct sv_conf *conf, const char *user, int credentials,
                     struct svc_sources **ret, struct sv_error *err)
{
    struct svc_sources *s = calloc(1, sizeof(*s));
    struct sv_error none = { 0 };

    if (!s)
        return sv_error_errno(err, -ENOMEM, "sources");
    s->conf = conf;
    s->user = user;
    s->credentials = credentials;
    s->asked = fs_resolve_url(conf, "/user", &s->root, &none) >= 0 &&
               (s->root.scheme == FS_SCHEME_HDFS || s->root.scheme == FS_SCHEME_WEBHDFS ||
                s->root.scheme == FS_SCHEME_SWEBHDFS);
    *ret = s;
    return 0;
}

struct svc_sources *svc_sources_close(struct svc_sources *s)
{
    if (s) {
        s->fs = fs_close(s->fs);
        free(s);
    }
    return NULL;
}

/* hdfs:///path is on the default file system, too. */
static bool is_here(const struct svc_sources *s, const struct fs_url *at)
{
    if (at->scheme != s->root.scheme)
        return false;
    if (!*at->host)
        return true;
    return strcmp(at->host, s->root.host) == 0 && at->port == s->root.port;
}

static int open_root(struct svc_sources *s, struct sv_error *err)
{
    struct fs_options o = { .url = &s->root,
                            .path = "",
                            .root = -1,
                            .program = PROGRAM,
                            .identity = { .user = s->user, .credentials = s->credentials },
                            .limits = { .io_timeout_ms = IO_TIMEOUT_MS } };

    return s->fs ? 0 : fs_open_configured(s->conf, &o, &s->fs, err);
}

/* A name that is no URL of a file system is left to the node, which refuses it in words. */
int svc_sources_look(struct svc_sources *s, const char *name, struct sv_error *err)
{
    struct sv_error none = { 0 };
    struct fs_status st;
    struct fs_url at;
    int r;

    if (!s->asked || fs_resolve_url(s->conf, name, &at, &none) < 0 || !is_here(s, &at))
        return SVC_SOURCE_ELSEWHERE;
    r = open_root(s, err);
    if (r >= 0)
        r = fs_status(s->fs, at.path + 1, &st, NULL, err);
    if (r < 0)
        return r;
    return st.kind == FS_DIRECTORY ? SVC_SOURCE_DIRECTORY : SVC_SOURCE_FILE;
}
