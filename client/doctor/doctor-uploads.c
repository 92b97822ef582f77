/* `selvedge doctor`: the remote log directory, if it is one of this machine, and uploads of
 * aggregated logs that failed permanently, from the REST of the node's own daemon. Hostile: the
 * reasons, which come from file systems. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "client/doctor/doctor.h"
#include "client/http/fetch.h"
#include "client/http/node-url.h"
#include "common/str.h"
#include "fs/resolve.h"

#define AREA "logs"
#define PATIENCE_MS 5000
#define ANSWER_MAX (1u << 20)
#define SHOWN_MAX 5

struct answer {
    sd_event *event;
    int status;
    json_t *root; /* NULL: no answer, or not JSON */
};

static void on_answer(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct answer *a = userdata;

    (void)why;
    a->status = status;
    a->root = status == 200 ? json_loadb(body, len, 0, NULL) : NULL;
    (void)sd_event_exit(a->event, 0); /* the loop is this function's own, ignoring */
}

static int url_of(const struct nm_conf *conf, char **ret)
{
    const char *host = conf->web_host, *scheme = conf->web.https ? "https" : "http";
    const struct passwd *pw = getpwuid(geteuid());
    _cleanup_free_ char *query = NULL;
    bool any = sv_streq(host, "0.0.0.0") || sv_streq(host, "::");
    int r = cli_query_user(pw ? pw->pw_name : "", &query);

    if (r >= 0 && (any || !strchr(host, ':')))
        r = sv_asprintf(ret, "%s://%s:%u/ws/v1/node/info%s", scheme, any ? "127.0.0.1" : host,
                        conf->web_port, query);
    else if (r >= 0)
        r = sv_asprintf(ret, "%s://[%s]:%u/ws/v1/node/info%s", scheme, host, conf->web_port, query);
    return r;
}

static int ask(const struct nm_conf *conf, struct answer *a)
{
    _cleanup_free_ char *url = NULL;
    struct cli_fetch *f = NULL;
    int r = url_of(conf, &url);

    if (r >= 0)
        r = sd_event_new(&a->event);
    if (r >= 0)
        r = cli_fetch_new(a->event, &f);
    if (r >= 0) {
        cli_fetch_patience(f, PATIENCE_MS);
        r = cli_fetch_get(f, url, ANSWER_MAX, on_answer, a);
    }
    if (r >= 0)
        r = sd_event_loop(a->event);
    cli_fetch_free(f);
    sd_event_unref(a->event);
    return r;
}

static void report_one(struct doctor *d, const char *directory, json_t *app)
{
    const char *id = json_string_value(json_object_get(app, "id"));
    const char *reason = json_string_value(json_object_get(app, "reason"));
    time_t until = (time_t)(json_integer_value(json_object_get(app, "keptUntil")) / 1000);
    char when[32] = "?", remedy[256];
    struct tm tm;

    if (!id || !reason)
        return;
    if (localtime_r(&until, &tm))
        (void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &tm);
    (void)snprintf(remedy, sizeof(remedy),
                   "mend what the reason names; before that time, `selvedge logs --all %.60s` "
                   "saves these logs",
                   id);
    cli_doctor_report(
        d, DOCTOR_WEAK, AREA, remedy,
        "%s: its logs are not uploaded to %s: %s; they are kept on this node until %s", id,
        directory, reason, when);
}

static void report(struct doctor *d, json_t *uploads)
{
    json_int_t n = json_integer_value(json_object_get(uploads, "failed"));
    const char *directory = json_string_value(json_object_get(uploads, "directory"));
    json_t *list = json_object_get(uploads, "applications");
    size_t shown = SV_MIN(json_array_size(list), (size_t)SHOWN_MAX);

    for (size_t i = 0; i < shown; i++)
        report_one(d, directory ?: d->conf.logs.remote, json_array_get(list, i));
    if (n > (json_int_t)shown)
        cli_doctor_report(
            d, DOCTOR_WEAK, AREA, "/ws/v1/node/info lists up to 100 of them to who may view them",
            "uploads of logs that failed for good: %" PRId64 " more", (int64_t)n - shown);
    if (n == 0)
        cli_doctor_report(d, DOCTOR_OK, AREA, NULL, "no upload of logs has failed for good");
}

/* Users make their directories in it, so it needs 1777; without the sticky bit each of them could
 * replace another one's, and its owner can anyway. */
static void check_root(struct doctor *d)
{
    struct fs_url url;
    struct stat st;
    int r;

    if (fs_resolve_url(d->conf.conf, d->conf.logs.remote, &url, NULL) < 0 ||
        url.scheme != FS_SCHEME_FILE)
        return; /* it is not of this machine */
    r = stat(url.path, &st) < 0 ? -errno : S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
    if (r < 0) {
        cli_doctor_report(d, DOCTOR_WEAK, AREA, "install -d -m 1777, or mount it",
                          "remote log directory %s: %s: no logs are uploaded before it is there",
                          url.path, strerror(-r));
        return;
    }
    if ((st.st_mode & 07777) != 01777)
        cli_doctor_report(d, DOCTOR_WEAK, AREA, "chmod 1777",
                          "remote log directory %s: mode %04o, not 1777: %s", url.path,
                          (unsigned)(st.st_mode & 07777),
                          st.st_mode & S_ISVTX ? "users cannot make their directories there"
                                               : "users can remove or replace those of others");
    else if (st.st_uid != 0 && d->have_daemon && st.st_uid != d->daemon_uid)
        cli_doctor_report(d, DOCTOR_WEAK, AREA, "chown root",
                          "remote log directory %s: belongs to uid %u, who can remove or replace "
                          "users' directories",
                          url.path, (unsigned)st.st_uid);
    else
        cli_doctor_report(d, DOCTOR_OK, AREA, NULL, "remote log directory %s: mode 1777", url.path);
}

void cli_doctor_uploads(struct doctor *d)
{
    struct answer a = { 0 };
    json_t *uploads;

    if (!d->have_conf || !d->conf.logs.aggregate)
        return;
    check_root(d);
    if (d->conf.web_port == 0 || ask(&d->conf, &a) < 0)
        return;
    uploads = json_object_get(json_object_get(json_object_get(a.root, "nodeInfo"), "selvedge"),
                              "logUploads");
    if (uploads)
        report(d, uploads);
    else if (a.status != -ECONNREFUSED)
        cli_doctor_report(d, DOCTOR_NOTE, AREA, NULL,
                          "the NodeManager's web server does not report uploads of logs");
    json_decref(a.root);
}
