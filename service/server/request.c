/* See request.h. */
#include "service/server/request.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fd.h"

enum { USER, METHOD, URI, BODY, N };

struct head {
    uint32_t n[N]; /* bytes of each, without the NUL that ends it */
    uint32_t launcher;
};

static int write_all(int fd, const void *p, size_t n)
{
    const char *at = p;

    while (n > 0) {
        ssize_t k = write(fd, at, n);

        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return -errno;
        at += k;
        n -= (size_t)k;
    }
    return 0;
}

int svc_request_put(const struct svc_request *q)
{
    _cleanup_close_ int fd = memfd_create("request", MFD_CLOEXEC);
    const void *parts[N] = { q->user, q->method, q->uri, q->body };
    struct head h = { { (uint32_t)strlen(q->user), (uint32_t)strlen(q->method),
                        (uint32_t)strlen(q->uri), (uint32_t)q->body_len },
                      q->launcher };
    int r = fd < 0 ? -errno : write_all(fd, &h, sizeof(h));

    for (size_t i = 0; r == 0 && i < N; i++) {
        r = h.n[i] ? write_all(fd, parts[i], h.n[i]) : 0;
        if (r == 0)
            r = write_all(fd, "", 1);
    }
    return r < 0 ? r : sv_take_fd(&fd);
}

int svc_request_get(int fd, struct svc_request *ret)
{
    const char *parts[N];
    struct head h;
    struct stat st;
    const char *p;
    size_t at = sizeof(h);

    if (fstat(fd, &st) < 0)
        return -errno;
    if ((size_t)st.st_size < sizeof(h))
        return -EBADMSG;
    p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return -errno;
    memcpy(&h, p, sizeof(h));
    for (size_t i = 0; i < N; i++) {
        if (h.n[i] >= (size_t)st.st_size - at)
            return -EBADMSG;
        parts[i] = p + at;
        at += h.n[i] + 1;
        if (at > (size_t)st.st_size || parts[i][h.n[i]])
            return -EBADMSG;
    }
    *ret = (struct svc_request){ .user = parts[USER],
                                 .method = parts[METHOD],
                                 .uri = parts[URI],
                                 .body = parts[BODY],
                                 .body_len = h.n[BODY],
                                 .launcher = h.launcher };
    return 0;
}

int svc_answer_write(int fd, const struct svc_answer *a)
{
    struct svc_answer_head h = { .status = a->status, .length = (uint32_t)a->body_len };
    int r = write_all(fd, &h, sizeof(h));

    return r < 0 || !a->body ? r : write_all(fd, a->body, a->body_len);
}
