/* Name resolution for ipc-client.c. The thread shares with the loop only a `struct resolve_job`,
 * which the last user frees; a cancelled look-up ends without effect. */
#include "wire/ipc/resolve.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/loop-guard.h"

struct resolve_job {
    atomic_int refs;
    int fd; /* eventfd, written when done */
    int status;
    struct ipc_addresses list;
    uint16_t port;
    char host[256];
};

struct in6_addr ipc_address_ip(const struct sockaddr_storage *sa)
{
    struct in6_addr ip = { 0 };
    if (sa->ss_family != AF_INET)
        return ((const struct sockaddr_in6 *)sa)->sin6_addr;
    ip.s6_addr[10] = ip.s6_addr[11] = 0xff;
    memcpy(ip.s6_addr + 12, &((const struct sockaddr_in *)sa)->sin_addr, 4);
    return ip;
}

struct ipc_resolve {
    struct resolve_job *job;
    sd_event_source *io;
    ipc_resolved done;
    void *userdata;
};

static void resolve_job_unref(struct resolve_job *j)
{
    if (atomic_fetch_sub(&j->refs, 1) > 1)
        return;
    sv_close(j->fd);
    free(j);
}

static int resolve_host(const char *host, uint16_t port, int flags, struct ipc_addresses *ret)
{
    struct addrinfo hints = { .ai_family = AF_UNSPEC,
                              .ai_socktype = SOCK_STREAM,
                              .ai_flags = flags | AI_NUMERICSERV },
                    *list = NULL;
    char text[8];
    snprintf(text, sizeof text, "%u", port);
    ret->n = 0;
    if (getaddrinfo(host, text, &hints, &list) != 0)
        return -EHOSTUNREACH;
    for (const struct addrinfo *ai = list; ai && ret->n < IPC_RESOLVE_MAX; ai = ai->ai_next) {
        if (ai->ai_addrlen > sizeof ret->sa[0])
            continue;
        memcpy(&ret->sa[ret->n], ai->ai_addr, ai->ai_addrlen);
        ret->len[ret->n++] = ai->ai_addrlen;
    }
    freeaddrinfo(list);
    return ret->n > 0 ? 0 : -EHOSTUNREACH;
}

bool ipc_resolve_numeric(const char *host, uint16_t port, struct ipc_addresses *ret)
{
    if (strcmp(host, "localhost") == 0)
        host = "127.0.0.1";
    return resolve_host(host, port, AI_NUMERICHOST, ret) == 0;
}

static void *resolve_job_run(void *arg)
{
    static const uint64_t one = 1;
    struct resolve_job *j = arg;
    j->status = resolve_host(j->host, j->port, AI_ADDRCONFIG, &j->list);
    if (write(j->fd, &one, sizeof one) < 0)
        j->status = -errno; /* cannot happen with an eventfd; the caller's deadline ends the wait */
    resolve_job_unref(j);
    return NULL;
}

static int thread_start(struct resolve_job *j)
{
    sigset_t all, old;
    pthread_attr_t attr;
    pthread_t thread;
    int r = pthread_attr_init(&attr);
    if (r != 0)
        return -r;
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    sigfillset(&all); /* signals belong to the loop's thread */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    atomic_fetch_add(&j->refs, 1);
    r = pthread_create(&thread, &attr, resolve_job_run, j);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    if (r != 0)
        resolve_job_unref(j);
    return -r;
}

static int on_done(sd_event_source *src, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)fd, (void)revents;
    struct ipc_resolve *r = userdata;
    (void)sd_event_source_set_enabled(src, SD_EVENT_OFF);
    struct ipc_addresses list = r->job->list;
    r->done(r->job->status, &list, r->userdata);
    return 0;
}

int ipc_resolve_start(sd_event *event, const char *host, uint16_t port, ipc_resolved done,
                      void *userdata, struct ipc_resolve **ret)
{
    if (strlen(host) >= sizeof((struct resolve_job *)0)->host)
        return -EHOSTUNREACH;
    struct ipc_resolve *r = calloc(1, sizeof *r);
    struct resolve_job *j = calloc(1, sizeof *j);
    if (!r || !j) {
        free(r);
        free(j);
        return -ENOMEM;
    }
    r->job = j;
    r->done = done;
    r->userdata = userdata;
    atomic_init(&j->refs, 1);
    j->port = port;
    snprintf(j->host, sizeof j->host, "%s", host);
    j->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int k = j->fd < 0 ? -errno : sd_event_add_io(event, &r->io, j->fd, EPOLLIN, on_done, r);
    if (k >= 0)
        k = thread_start(j);
    if (k < 0) {
        ipc_resolve_free(r);
        return k;
    }
    *ret = r;
    return 0;
}

struct ipc_resolve *ipc_resolve_free(struct ipc_resolve *r)
{
    if (!r)
        return NULL;
    sd_event_source_disable_unref(r->io);
    resolve_job_unref(r->job);
    free(r);
    return NULL;
}
