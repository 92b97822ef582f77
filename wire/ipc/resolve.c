/* Name resolution for ipc-client.c. A worker's thread knows only the `struct resolve_job`; a
 * cancelled look-up ends without effect. */
#include "wire/ipc/resolve.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/loop-guard.h"
#include "common/worker.h"

struct resolve_job {
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
    struct sv_worker *worker;
    ipc_resolved done;
    void *userdata;
};

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

static void resolve_job_run(void *data)
{
    struct resolve_job *j = data;

    j->status = resolve_host(j->host, j->port, AI_ADDRCONFIG, &j->list);
}

static void on_done(int status, void *data, void *userdata)
{
    SV_LOOP_HANDLER();
    struct resolve_job *j = data;
    struct ipc_resolve *r = userdata;

    (void)status; /* without a deadline it is 0 */
    r->done(j->status, &j->list, r->userdata);
}

int ipc_resolve_start(sd_event *event, const char *host, uint16_t port, ipc_resolved done,
                      void *userdata, struct ipc_resolve **ret)
{
    if (strlen(host) >= sizeof((struct resolve_job *)0)->host)
        return -EHOSTUNREACH;
    struct ipc_resolve *r = calloc(1, sizeof *r);
    struct resolve_job *j = calloc(1, sizeof *j);
    struct sv_job job = {
        .data = j, .userdata = r, .run = resolve_job_run, .done = on_done, .free = free
    };
    int k = r && j ? sv_worker_new(event, "resolve", &r->worker) : -ENOMEM;

    if (k >= 0) {
        r->done = done;
        r->userdata = userdata;
        j->port = port;
        snprintf(j->host, sizeof j->host, "%s", host);
        k = sv_worker_run(r->worker, &job);
    }
    if (k < 0) {
        free(j);
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
    sv_worker_free(r->worker);
    free(r);
    return NULL;
}
