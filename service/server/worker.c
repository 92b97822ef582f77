/* See worker.h. */
#include "service/server/worker.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/log.h"
#include "service/cluster/cluster.h"
#include "service/cluster/framework.h"
#include "service/server/request.h"
#include "service/store/store.h"

#define MEMORY_MAX ((rlim_t)1 << 30) /* a definition of 4 MiB as a tree, and a status of 32 MiB */
#define GRACE_MS 2000                /* for the answer that says that time is over */

/* The kernel ends what does not end itself. */
static void set_limits(int64_t ms)
{
    const struct itimerval end = { .it_value = { .tv_sec = (ms + GRACE_MS) / 1000 + 1 } };
    struct rlimit memory = { MEMORY_MAX, MEMORY_MAX }, core = { 0, 0 };

#ifndef SV_SANITIZED
    if (setrlimit(RLIMIT_DATA, &memory) < 0)
        sv_log_debug("request: RLIMIT_DATA: %s", strerror(errno));
#else
    (void)memory;
#endif
    if (setrlimit(RLIMIT_CORE, &core) < 0 || setitimer(ITIMER_REAL, &end, NULL) < 0)
        sv_log_debug("request: limits: %s", strerror(errno));
}

/* Groups, group, user; then a proof. */
static int drop_to(const struct passwd *pw, struct sv_error *err)
{
    if (initgroups(pw->pw_name, pw->pw_gid) < 0 ||
        setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) < 0 ||
        setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid) < 0)
        return sv_error_errno(err, -errno, "becoming %s", pw->pw_name);
    if (setresuid(0, 0, 0) == 0 || geteuid() == 0)
        return sv_error_set(err, -EPERM, "becoming %s: the way back is open", pw->pw_name);
    return 0;
}

/* Root becomes the caller before it touches a file of this machine; another account stays what it
 * is, and the store refuses other callers. */
static int become(struct sv_conf *conf, const char *user, struct sv_error *err)
{
    const struct passwd *pw;
    bool local = false;
    int r = svc_store_is_local(conf, &local, err);

    if (r < 0 || geteuid() != 0)
        return r;
    pw = local ? getpwnam(user) : NULL;
    if (!local)
        return 0;
    if (!pw || pw->pw_uid == 0)
        return sv_error_set(
            err, -EPERM, pw ? "%s: root has no services" : "%s: no account of this machine", user);
    return drop_to(pw, err);
}

/* With Kerberos, before root becomes somebody who may not read its keytab. */
static int log_in(const struct svc_conf *conf, struct svc_cluster *cluster, struct sv_error *err)
{
    return conf->kerberos.on && geteuid() == 0 ? svc_cluster_log_in(cluster, err) : 0;
}

/* An answer without the API. */
static int refuse(int fd, unsigned status, const char *text)
{
    char body[2 * SV_ERROR_TEXT_MAX];
    struct svc_answer a = { .status = status, .body = body };
    size_t n = 0;

    n += (size_t)snprintf(body, sizeof(body), "{\"diagnostics\":\"");
    for (const char *p = text; *p && n < sizeof(body) - 4; p++)
        if ((unsigned char)*p >= ' ' && *p != '"' && *p != '\\' && (unsigned char)*p < 127)
            body[n++] = *p;
    n += (size_t)snprintf(body + n, sizeof(body) - n, "\"}");
    a.body_len = n;
    return svc_answer_write(fd, &a);
}

static int answer(const struct svc_conf *conf, const struct svc_request *q, int fd)
{
    const struct svc_cluster_config cfg = { .conf = conf->conf,
                                            .user = q->user,
                                            .deadline_ms = conf->timeout_ms,
                                            .program = conf->program,
                                            .kerberos =
                                                conf->kerberos.on ? &conf->kerberos : NULL };
    struct svc_cluster *cluster = NULL;
    struct sv_error err = { 0 };
    struct svc_answer a = { 0 };
    int r = svc_cluster_new(&cfg, &cluster, &err);

    if (r == 0)
        r = log_in(conf, cluster, &err);
    if (r == 0)
        r = become(conf->conf, q->user, &err);
    if (r < 0) {
        (void)svc_cluster_free(cluster);
        return refuse(fd, r == -EPERM ? 403 : 500, err.text);
    }
    if (q->launcher)
        svc_framework_work(cluster, q, &a);
    else
        svc_api_answer(svc_cluster_backend(cluster), &conf->settings, q, &a);
    (void)svc_cluster_free(cluster);
    r = svc_answer_write(fd, &a);
    free(a.body);
    return r;
}

int svc_worker_run(const struct svc_conf *conf, int request, int fd)
{
    struct svc_request q;
    int r;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* else it ends by its timer, ignoring */
    set_limits(conf->timeout_ms);
    r = svc_request_get(request, &q);
    if (r == 0)
        r = answer(conf, &q, fd);
    if (r < 0)
        sv_log_debug("request: %s", strerror(-r));
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
