/* See relay.h. */
#include "service/server/relay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/web/http.h"

#define ACCEPT_ONCE 16 /* connections a turn of the loop */

struct svc_relay {
    struct sv_http *http;
    int fd;
    uid_t uid;
    sd_event_source *io;
    char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
};

static bool may_connect(const struct svc_relay *r, int fd)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
           (peer.uid == 0 || peer.uid == geteuid() || peer.uid == r->uid);
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_relay *r = userdata;
    const struct sockaddr_in from = { .sin_family = AF_INET,
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

    (void)source;
    (void)events;
    for (int i = 0; i < ACCEPT_ONCE; i++) {
        _cleanup_close_ int got = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (got < 0)
            return 0;
        if (may_connect(r, got))
            sv_http_feed(r->http, sv_take_fd(&got), (const struct sockaddr *)&from, sizeof(from));
    }
    return 0;
}

/* Everybody may connect, so that the account is what decides. */
static int open_socket(struct svc_relay *r)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -errno;
    memcpy(at.sun_path, r->path, sizeof(at.sun_path));
    if (unlink(r->path) < 0 && errno != ENOENT)
        return -errno;
    if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0 || chmod(r->path, 0666) < 0 ||
        listen(fd, 128) < 0)
        return -errno;
    return sv_take_fd(&fd);
}

int svc_relay_new(sd_event *event, const char *path, const char *user, struct sv_http *http,
                  struct svc_relay **ret, struct sv_error *err)
{
    struct svc_relay *s = calloc(1, sizeof(*s));
    const struct passwd *pw = user && *user ? getpwnam(user) : NULL;
    int r = s ? 0 : -ENOMEM;

    if (r == 0) {
        s->http = http;
        s->uid = pw ? pw->pw_uid : geteuid();
        s->fd = -1;
        r = snprintf(s->path, sizeof(s->path), "%s", path) < (int)sizeof(s->path) ? 0
                                                                                  : -ENAMETOOLONG;
    }
    if (r == 0)
        r = s->fd = open_socket(s);
    if (r >= 0)
        r = sd_event_add_io(event, &s->io, s->fd, EPOLLIN, on_io, s);
    if (r < 0) {
        (void)svc_relay_free(s);
        return sv_error_errno(err, r, "selvedge.resourcemanager.services.socket: %s", path);
    }
    if (!pw)
        sv_log_warning("selvedge.services.relay-user=%s: no account of this machine: no other "
                       "account's ResourceManager can connect",
                       user ? user : "");
    *ret = s;
    return 0;
}

struct svc_relay *svc_relay_free(struct svc_relay *s)
{
    if (s) {
        s->io = sd_event_source_disable_unref(s->io);
        if (s->fd >= 0)
            (void)unlink(s->path); /* the next start does, ignoring */
        s->fd = sv_close(s->fd);
        free(s);
    }
    return NULL;
}
