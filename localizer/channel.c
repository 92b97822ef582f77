/* The codec of channel.h and its two socket calls. Either side's datagrams may be hostile, so every
 * field has one rule, checked the same way on writing and reading. */
#include "localizer/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fd.h"

/* One cursor for both directions: the field order is written once. */
struct codec {
    uint8_t *buf;
    size_t len, pos;
    bool writing;
    int r; /* 0, or the first -errno; later calls do nothing */
};

static void bytes(struct codec *c, void *p, size_t n)
{
    if (c->r < 0)
        return;
    if (n > c->len - c->pos) {
        c->r = -EBADMSG;
        return;
    }
    if (c->writing)
        memcpy(c->buf + c->pos, p, n);
    else
        memcpy(p, c->buf + c->pos, n);
    c->pos += n;
}

static void number(struct codec *c, uint64_t *v, size_t n)
{
    uint8_t be[8];

    for (size_t i = 0; i < n; i++)
        be[i] = (uint8_t)(*v >> (8 * (n - 1 - i)));
    bytes(c, be, n);
    if (c->writing || c->r < 0)
        return;
    *v = 0;
    for (size_t i = 0; i < n; i++)
        *v = *v << 8 | be[i];
}

#define NUMBER(c, field)                                                                           \
    do {                                                                                           \
        uint64_t number_ = (uint64_t)(field);                                                      \
        number((c), &number_, sizeof(field));                                                      \
        (field) = (__typeof__(field))number_;                                                      \
    } while (0)

static void text(struct codec *c, char *s, size_t max)
{
    uint16_t n = 0;

    if (c->writing && c->r == 0) {
        size_t len = strnlen(s, max + 1);

        if (len > max)
            c->r = -EBADMSG;
        n = (uint16_t)len;
    }
    NUMBER(c, n);
    if (c->r == 0 && n > max)
        c->r = -EBADMSG;
    bytes(c, s, n);
    if (c->writing || c->r < 0)
        return;
    if (memchr(s, 0, n))
        c->r = -EBADMSG;
    s[n] = 0;
}

bool loc_rel_valid(const char *rel)
{
    size_t n = strnlen(rel, LOC_REL_MAX + 1);

    if (n == 0 || n > LOC_REL_MAX || rel[0] == '/' || rel[n - 1] == '/')
        return false;
    for (size_t i = 0; i < n; i++) {
        bool ok = (rel[i] >= '0' && rel[i] <= '9') || (rel[i] >= 'a' && rel[i] <= 'z');

        if (!ok && (rel[i] != '/' || rel[i + 1] == '/'))
            return false;
    }
    return true;
}

bool loc_limits_valid(const struct loc_limits *l)
{
    return l->bytes > 0 && l->bytes <= INT64_MAX && l->entries > 0 && l->ratio > 0 && l->path > 0 &&
           l->path <= LOC_PATH_MAX && l->depth > 0 && l->depth <= LOC_DEPTH_MAX &&
           l->slowest_rate <= INT32_MAX;
}

static bool fetch_valid(const struct loc_fetch *f)
{
    return f->type >= LOC_ARCHIVE && f->type <= LOC_PATTERN && f->visibility >= LOC_PUBLIC &&
           f->visibility <= LOC_APPLICATION && f->size >= -1 && f->timestamp >= 0 &&
           loc_limits_valid(&f->limits) && f->deadline_ms > 0 && f->url[0] &&
           f->options <= LOC_OPTIONS_ALL && f->io_timeout_ms <= INT32_MAX &&
           f->failovers <= INT32_MAX && f->failover_base_ms <= INT32_MAX &&
           f->failover_max_ms <= INT32_MAX && !f->access_key[0] == !f->secret_key[0] &&
           (f->type == LOC_PATTERN || f->pattern[0] == 0) && f->dir < LOC_DIRS_MAX &&
           loc_rel_valid(f->rel) && fs_name_valid(f->name);
}

static void fields(struct codec *c, struct loc_msg *m)
{
    struct loc_fetch *f = &m->fetch;

    switch (m->type) {
    case LOC_MSG_FETCH:
        NUMBER(c, f->type);
        NUMBER(c, f->visibility);
        NUMBER(c, f->dir);
        NUMBER(c, f->timestamp);
        NUMBER(c, f->size);
        NUMBER(c, f->limits.bytes);
        NUMBER(c, f->limits.entries);
        NUMBER(c, f->limits.ratio);
        NUMBER(c, f->limits.path);
        NUMBER(c, f->limits.depth);
        NUMBER(c, f->limits.slowest_rate);
        NUMBER(c, f->deadline_ms);
        NUMBER(c, f->io_timeout_ms);
        NUMBER(c, f->failovers);
        NUMBER(c, f->failover_base_ms);
        NUMBER(c, f->failover_max_ms);
        NUMBER(c, f->options);
        NUMBER(c, f->protection);
        text(c, f->login, LOC_LOGIN_MAX);
        text(c, f->servers, LOC_SERVERS_MAX);
        text(c, f->region, LOC_REGION_MAX);
        text(c, f->access_key, LOC_ACCESS_KEY_MAX);
        text(c, f->secret_key, LOC_SECRET_KEY_MAX);
        text(c, f->session_token, LOC_SESSION_TOKEN_MAX);
        text(c, f->url, FS_URL_MAX);
        text(c, f->pattern, SV_PATTERN_MAX);
        text(c, f->rel, LOC_REL_MAX);
        text(c, f->name, FS_NAME_MAX);
        if (c->r == 0 && !fetch_valid(f))
            c->r = -EBADMSG;
        break;
    case LOC_MSG_CANCEL:
        break;
    case LOC_MSG_PROGRESS:
        NUMBER(c, m->progress.bytes);
        break;
    case LOC_MSG_DONE:
        NUMBER(c, m->done.size);
        NUMBER(c, m->done.entries);
        NUMBER(c, m->done.tree);
        if (c->r == 0 && (m->done.size > INT64_MAX || m->done.tree > 1))
            c->r = -EBADMSG;
        break;
    case LOC_MSG_FAILED:
        NUMBER(c, m->failed.reason);
        text(c, m->failed.text, LOC_TEXT_MAX);
        if (c->r == 0 && (m->failed.reason < 1 || m->failed.reason > LOC_FAIL_LAST))
            c->r = -EBADMSG;
        break;
    default:
        c->r = -EBADMSG;
    }
}

static void message(struct codec *c, struct loc_msg *m)
{
    uint32_t magic = LOC_CHANNEL_MAGIC;
    uint8_t version = LOC_CHANNEL_VERSION;

    NUMBER(c, magic);
    NUMBER(c, version);
    if (c->r == 0 && (magic != LOC_CHANNEL_MAGIC || version != LOC_CHANNEL_VERSION))
        c->r = -EBADMSG;
    NUMBER(c, m->type);
    NUMBER(c, m->request);
    if (c->r == 0 && m->request == 0)
        c->r = -EBADMSG;
    fields(c, m);
}

int loc_msg_encode(const struct loc_msg *m, uint8_t *buf)
{
    struct codec c = { .buf = buf, .len = LOC_MSG_MAX, .writing = true };

    message(&c, (struct loc_msg *)(uintptr_t)m); /* const: not modified when encoding */
    return c.r < 0 ? -EINVAL : (int)c.pos;
}

int loc_msg_decode(const void *p, size_t n, enum loc_peer from, struct loc_msg *ret)
{
    struct codec c = { .buf = (uint8_t *)(uintptr_t)p, .len = n };
    struct loc_msg m = { 0 };

    if (n > LOC_MSG_MAX)
        return -EBADMSG;
    message(&c, &m);
    if (c.r < 0 || c.pos != n)
        return -EBADMSG;
    if ((m.type < LOC_MSG_PROGRESS) != (from == LOC_PEER_NM))
        return -EBADMSG;
    if (m.type == LOC_MSG_FAILED)
        for (char *s = m.failed.text; *s; s++)
            if ((unsigned char)*s < 0x20 || *s == 0x7f)
                *s = '?';
    *ret = m;
    return 0;
}

int loc_msg_send_with(int fd, const struct loc_msg *m, int credentials)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
    uint8_t buf[LOC_MSG_MAX];
    int n = loc_msg_encode(m, buf);
    struct iovec iov = { .iov_base = buf, .iov_len = n < 0 ? 0 : (size_t)n };
    struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1 };
    ssize_t r;

    if (n < 0)
        return n;
    if (credentials >= 0) {
        h.msg_control = control;
        h.msg_controllen = sizeof(control);
        struct cmsghdr *c = CMSG_FIRSTHDR(&h);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(credentials));
        memcpy(CMSG_DATA(c), &credentials, sizeof(credentials));
    }
    do
        r = sendmsg(fd, &h, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : 0;
}

int loc_msg_send(int fd, const struct loc_msg *m)
{
    return loc_msg_send_with(fd, m, -1);
}

/* Extracts the message's only descriptor; closes all if there are more. -EBADMSG: there were
 * more. */
static int take_descriptor(struct msghdr *h, int *ret)
{
    int n_fds = 0;

    *ret = -1;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
        size_t n;

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
            if (n_fds++ == 0)
                *ret = fd;
            else
                sv_close(fd);
        }
    }
    if (n_fds > 1 || (h->msg_controllen > 0 && n_fds == 0)) {
        *ret = sv_close(*ret);
        return -EBADMSG;
    }
    return 0;
}

/* Only the seals prove that the sender cannot modify or truncate it during a read. */
static bool is_credentials(int fd)
{
    const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    struct stat st;
    int has = fcntl(fd, F_GET_SEALS);

    return has >= 0 && (has & seals) == seals && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           st.st_size <= FS_CREDENTIALS_MAX;
}

int loc_msg_recv_with(int fd, enum loc_peer from, struct loc_msg *ret, int *ret_credentials)
{
    uint8_t buf[LOC_MSG_MAX];
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))];
    struct iovec iov = { .iov_base = buf, .iov_len = sizeof(buf) };
    struct msghdr h = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
    };
    _cleanup_close_ int given = -1;
    struct loc_msg m;
    ssize_t n;
    int r;

    do
        n = recvmsg(fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    if (take_descriptor(&h, &given) < 0 || h.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
        return -EBADMSG;
    if (n == 0) /* an empty datagram is treated as end of file: no message is empty */
        return given < 0 ? 0 : -EBADMSG;
    r = loc_msg_decode(buf, (size_t)n, from, &m);
    if (r < 0)
        return r;
    if (given >= 0 && (!ret_credentials || m.type != LOC_MSG_FETCH || !is_credentials(given)))
        return -EBADMSG;
    if (ret_credentials)
        *ret_credentials = sv_take_fd(&given);
    *ret = m;
    return 1;
}

int loc_msg_recv(int fd, enum loc_peer from, struct loc_msg *ret)
{
    return loc_msg_recv_with(fd, from, ret, NULL);
}
