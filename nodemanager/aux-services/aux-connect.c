/* See aux-connect.h. */
#include "nodemanager/aux-services/aux-connect.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/fd.h"
#include "common/listen-fds.h"

void nm_aux_listen_find(const struct sv_listen_fds *held, const char *service,
                        struct nm_aux_listen *ret)
{
    int fd = sv_listen_fds_find(held, service);

    *ret = (struct nm_aux_listen){ .fds = { fd }, .names = { service }, .n = fd >= 0 };
}

int nm_aux_connect(const struct nm_aux_conf *conf, int *ret_fd, struct sv_error *err)
{
    _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    struct ucred peer;
    socklen_t size = sizeof(peer);

    memcpy(name.sun_path, conf->socket, strlen(conf->socket) + 1);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&name, sizeof(name)) < 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return sv_error_errno(err, -errno, "%s", conf->socket);
    if (peer.uid != conf->socket_uid)
        return sv_error_set(err, -EPERM, "%s: account %u is behind it instead of %u", conf->socket,
                            peer.uid, conf->socket_uid);
    *ret_fd = sv_take_fd(&fd);
    return 0;
}
