/* selvedge-am: the ApplicationMaster of `selvedge run`. Runs in a YARN container as the user, with
 * the job description beside it; starts one container per instance, restarts lost ones, collects
 * their exit codes, and serves its table at its tracking URL:
 *
 *   GET  /status   the table, as JSON (also at /)
 *   POST /end      with the job's secret: the client has read the final table
 *
 * After the last instance it waits for POST /end, or until no client has polled for some seconds,
 * a minute at most; then it reports the job's result to the ResourceManager and exits. With SIGTERM
 * the job is killed: it leaves the table and exits. HTTP clients are hostile: they can read the
 * table, which holds no secret, and nothing else. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "client/am/tasks.h"
#include "client/job/job.h"
#include "client/lib/client.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/str.h"
#include "common/web/http.h"
#include "wire/token/token.h"

#define JOB_FILE_MAX (4u << 20)
#define FIRST_PRIORITY 1 /* of group 0; each group has one of its own, for a size of its own */

struct am {
    sd_event *event;
    struct sv_arena *arena;
    struct cli_job job;
    const char *log_dir;
    struct cli_am *yarn;
    struct cli_tasks *tasks;
    struct sv_http *http;
    sd_event_source *linger;
    int64_t all_done_at, asked_at;     /* monotonic; 0 = not yet */
    bool ended;                        /* the result was sent */
    int32_t asked_for[CLI_GROUPS_MAX]; /* outstanding containers, as last requested */
};

/* ---- The table ---- */

static json_t *task_json(const struct am *am, const struct cli_task *t)
{
    static const char *const states[] = { "", "WAITING", "STARTING", "RUNNING", "DONE" };
    char id[YARN_ID_TEXT_MAX] = "", diagnostics[4 * sizeof(t->diagnostics)];
    json_t *j;

    sv_escape(diagnostics, sizeof(diagnostics), t->diagnostics); /* JSON requires UTF-8 */
    if (t->tries > 0)
        yarn_container_id_text(t->container, id);
    j = json_pack("{s:i, s:s, s:i, s:s, s:s, s:s, s:s, s:I, s:I}", "instance", (int)t->instance,
                  "state", states[t->state], "tries", (int)(t->tries + t->failures), "container",
                  id, "node", t->node, "http", t->http, "diagnostics", diagnostics, "startedTime",
                  (json_int_t)t->started_ms, "finishedTime", (json_int_t)t->ended_ms);
    if (j)
        (void)json_object_set_new(j, "number", json_integer(t->number));
    if (j && *am->job.groups[t->group].name)
        (void)json_object_set_new(j, "group", json_string(am->job.groups[t->group].name));
    if (j && t->state == CLI_TASK_DONE)
        (void)json_object_set_new(j, "exitCode", json_integer(t->exit_status));
    return j;
}

static char *status_text(const struct am *am)
{
    json_t *list = json_array();
    json_t *root;
    char *text;
    int32_t failed;
    int code = cli_tasks_exit_code(am->tasks, &failed, NULL);

    for (int32_t i = 0; i < cli_tasks_count(am->tasks); i++)
        (void)json_array_append_new(list, task_json(am, cli_tasks_get(am->tasks, i)));
    root = json_pack("{s:s, s:i, s:i, s:i, s:b, s:i, s:i, s:o}", "name", am->job.name, "instances",
                     (int)cli_tasks_count(am->tasks), "done", (int)cli_tasks_done(am->tasks),
                     "failed", (int)failed, "finished", cli_tasks_all_done(am->tasks), "exitCode",
                     code, "repeatedExits", (int)cli_am_repeated(am->yarn), "tasks", list);
    text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    return text;
}

/* Writes the final table to the ApplicationMaster's logs, where `selvedge ps` and `selvedge logs`
 * find it after the job has ended. */
static void save_table(const struct am *am)
{
    _cleanup_free_ char *text = status_text(am);
    _cleanup_close_ int dir = open(am->log_dir, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
    int r = !text ? -ENOMEM : dir < 0 ? -errno : 0;

    if (r == 0) {
        fd = openat(dir, CLI_TABLE_FILE, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                    0640);
        r = fd < 0 ? -errno : sv_write_all(fd, text, strlen(text));
    }
    if (r < 0)
        sv_log_warning("%s/%s: cannot write the table: %s", am->log_dir, CLI_TABLE_FILE,
                       strerror(-r));
}

/* ---- Completion ---- */

static void send_result(struct am *am)
{
    const struct cli_task *first;
    char text[1024], id[YARN_ID_TEXT_MAX] = "", group[CLI_GROUP_NAME_MAX + 16] = "";
    int32_t failed, n = cli_tasks_count(am->tasks);
    int code = cli_tasks_exit_code(am->tasks, &failed, &first), r;

    if (am->ended)
        return;
    am->ended = true;
    save_table(am);
    if (!first) {
        snprintf(text, sizeof(text), "exit code 0: all %d instances ended with 0", n);
    } else {
        yarn_container_id_text(first->container, id);
        if (*am->job.groups[first->group].name)
            snprintf(group, sizeof(group), ", %s %d", am->job.groups[first->group].name,
                     first->number);
        snprintf(
            text, sizeof(text),
            "exit code %d: %d of %d instances failed, first instance %d%s (%s on %s) with %d%s%.*s",
            code, failed, n, first->instance, group, id, first->node, first->exit_status,
            first->exit_status < 0 && *first->diagnostics ? ": " : "",
            first->exit_status < 0 ? (int)strcspn(first->diagnostics, "\n") : 0,
            first->diagnostics);
    }
    sv_log_info("%s", text);
    r = cli_am_finish(am->yarn, first ? CLI_FINAL_FAILED : CLI_FINAL_SUCCEEDED, text);
    if (r < 0) {
        sv_log_err("ResourceManager: cannot report the result: %s", strerror(-r));
        sd_event_exit(am->event, 1);
    }
}

/* The NodeManager's signal before it kills the container: the only time to leave the table of a job
 * that is killed or has exceeded its lifetime. */
static int on_terminate(sd_event_source *s, const struct signalfd_siginfo *si, void *userdata)
{
    struct am *am = userdata;

    (void)s;
    if (!am->ended)
        save_table(am);
    return sd_event_exit(am->event, 128 + (int)si->ssi_signo);
}

static int on_linger(sd_event_source *s, uint64_t usec, void *userdata)
{
    struct am *am = userdata;

    if (am->job.detached || !cli_table_awaited(sv_now_ms(), am->all_done_at, am->asked_at)) {
        send_result(am);
        return 0;
    }
    (void)sd_event_source_set_time(s, usec + 200 * 1000);
    (void)sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
    return 0;
}

/* Called after every change: requests missing containers, and completes the job when all instances
 * are done. */
static void update_job(struct am *am)
{
    int32_t wanted[CLI_GROUPS_MAX];
    int r = 0;

    cli_tasks_wanted(am->tasks, wanted);

    cli_am_progress(am->yarn, (float)cli_tasks_done(am->tasks) / (float)cli_tasks_count(am->tasks));
    for (size_t g = 0; r >= 0 && g < am->job.n_groups; g++) {
        if (wanted[g] == am->asked_for[g])
            continue;
        r = cli_am_want(am->yarn, FIRST_PRIORITY + (int32_t)g, am->job.groups[g].resource,
                        wanted[g]);
        am->asked_for[g] = wanted[g];
    }
    if (r >= 0 && cli_tasks_all_done(am->tasks) && am->all_done_at == 0) {
        am->all_done_at = sv_now_ms();
        r = sd_event_add_time_relative(am->event, &am->linger, CLOCK_MONOTONIC, 0, 0, on_linger,
                                       am);
    }
    if (r < 0) {
        sv_log_err("%s", strerror(-r));
        sd_event_exit(am->event, 1);
    }
}

/* ---- Events from YARN ---- */

static int start_task(struct am *am, const struct cli_task *task)
{
    const struct cli_job_group *group = &am->job.groups[task->group];
    char instance[16], instances[16], command[CLI_COMMAND_MAX + 64];
    const struct cli_env env[] = {
        { "SELVEDGE_INSTANCE", instance },
        { "SELVEDGE_INSTANCES", instances },
        { "SELVEDGE_GROUP", group->name },
    };
    struct cli_launch launch = {
        .resources = group->resources,
        .n_resources = group->n_resources,
        .env = env,
        .n_env = SV_ARRAY_LEN(env) - (*group->name == '\0'),
        .command = command,
        .view_acl = am->job.view_acl,
        .modify_acl = am->job.modify_acl,
    };

    launch.tokens = cli_am_tokens(am->yarn, &launch.tokens_len);
    snprintf(command, sizeof(command), "%s 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr",
             group->command ? group->command : "exec /bin/bash " CLI_TASK_FILE);
    snprintf(instance, sizeof(instance), "%d", task->number);
    snprintf(instances, sizeof(instances), "%d", group->instances);
    return cli_am_start(am->yarn, task->container, &launch);
}

static void on_allocated(struct cli_am *yarn, const struct cli_allocation *c, void *userdata)
{
    struct am *am = userdata;
    const size_t group = (size_t)(c->priority - FIRST_PRIORITY); /* out of range: not asked for */
    const struct cli_task *task = cli_tasks_assign(am->tasks, group, c);
    struct yarn_container_id id = c->id;
    int r;

    if (group < am->job.n_groups && am->asked_for[group] > 0)
        am->asked_for[group]--; /* the library counts the same way */
    if (!task) {
        (void)cli_am_release(yarn, id); /* surplus; unknown containers are released too */
        update_job(am);
        return;
    }
    r = start_task(am, task);
    if (r < 0) {
        (void)cli_tasks_started(am->tasks, id, r, strerror(-r));
        (void)cli_am_release(yarn, id);
    }
    update_job(am);
}

static void on_started(struct cli_am *yarn, struct yarn_container_id id, int status,
                       const struct sv_error *err, void *userdata)
{
    struct am *am = userdata;
    char text[YARN_ID_TEXT_MAX];

    if (status < 0) {
        sv_log(SV_LOG_WARNING, yarn_container_id_text(id, text), "%s: not started: %s", text,
               err ? err->text : strerror(-status));
        (void)cli_am_release(yarn, id); /* it may have ended already, ignoring */
    }
    if (cli_tasks_started(am->tasks, id, status, err ? err->text : NULL))
        update_job(am);
}

static void on_completed(struct cli_am *yarn, struct yarn_container_id id, int32_t exit_status,
                         const char *diagnostics, void *userdata)
{
    struct am *am = userdata;
    const struct cli_task *task = cli_tasks_completed(am->tasks, id, exit_status, diagnostics);
    char text[YARN_ID_TEXT_MAX];

    (void)yarn;
    if (!task)
        return;
    sv_log(SV_LOG_INFO, yarn_container_id_text(id, text), "instance %d: %s on %s ended with %d%s",
           task->instance, text, task->node, exit_status,
           task->state == CLI_TASK_WAITING ? ", restarting it" : "");
    update_job(am);
}

static void on_registered(struct cli_am *yarn, const struct cli_registration *r, void *userdata)
{
    struct am *am = userdata;

    (void)yarn;
    sv_log_info("registered; the largest container may have %lld MiB and %d vcores",
                (long long)r->maximum.memory_mb, r->maximum.vcores);
    update_job(am);
}

static void on_finished(struct cli_am *yarn, void *userdata)
{
    struct am *am = userdata;

    (void)yarn;
    sd_event_exit(am->event, 0);
}

static void on_lost(struct cli_am *yarn, const struct sv_error *err, void *userdata)
{
    struct am *am = userdata;

    (void)yarn;
    sv_log_err("ResourceManager: %s", err ? err->text : "lost");
    sd_event_exit(am->event, 1);
}

/* ---- HTTP ---- */

static int on_request(const struct sv_http_request *req, struct sv_http_response *ret,
                      void *userdata)
{
    struct am *am = userdata;
    const char *secret = sv_http_header(req, CLI_SECRET_HEADER);

    if (strcmp(req->path, "/end") == 0) {
        if (strcmp(req->method, "POST") != 0) {
            ret->status = 405;
            return 0;
        }
        if (!secret ||
            !yarn_bytes_equal(secret, strlen(secret), am->job.secret, strlen(am->job.secret))) {
            ret->status = 403;
            return 0;
        }
        ret->status = 200;
        if (cli_tasks_all_done(am->tasks))
            send_result(am);
        return 0;
    }
    if (strcmp(req->path, "/") != 0 && strcmp(req->path, "/status") != 0)
        return 0;
    am->asked_at = sv_now_ms();
    ret->status = 200;
    ret->content_type = "application/json";
    ret->body = status_text(am);
    if (!ret->body)
        return -ENOMEM;
    ret->body_len = strlen(ret->body);
    return 0;
}

/* ---- Startup ---- */

/* Each group's files become those of the job and its own. */
static int share_resources(struct am *am)
{
    for (size_t g = 0; g < am->job.n_groups; g++) {
        struct cli_job_group *group = &am->job.groups[g];
        size_t n = am->job.n_resources + group->n_resources;
        struct cli_resource *all = sv_newn(am->arena, struct cli_resource, n + 1);

        if (!all)
            return -ENOMEM;
        for (size_t i = 0; i < n; i++)
            all[i] = i < am->job.n_resources ? am->job.resources[i]
                                             : group->resources[i - am->job.n_resources];
        group->resources = all;
        group->n_resources = n;
    }
    return 0;
}

static int read_job(struct am *am, struct sv_error *err)
{
    _cleanup_free_ char *text = NULL;
    size_t len;
    int r;

    am->arena = sv_arena_new(0);
    if (!am->arena)
        return sv_error_errno(err, -ENOMEM, "job description");
    r = sv_read_file_at(AT_FDCWD, CLI_JOB_FILE, JOB_FILE_MAX, &text, &len);
    if (r < 0)
        return sv_error_errno(err, r, CLI_JOB_FILE);
    r = cli_job_parse(text, len, am->arena, &am->job, err);
    if (r < 0)
        return sv_error_wrap(err, CLI_JOB_FILE);
    r = share_resources(am);
    am->tasks = r < 0 ? NULL : cli_tasks_new(&am->job);
    return am->tasks ? 0 : sv_error_errno(err, -ENOMEM, "table of instances");
}

/* Returns this container's address towards the ResourceManager: its own in a private network.
 * Connecting a datagram socket finds it without sending. */
static int own_address(const struct am *am, char buf[NI_MAXHOST], struct sv_error *err)
{
    struct addrinfo hints = { .ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICSERV }, *to = NULL;
    struct sockaddr_storage own;
    socklen_t len = sizeof(own);
    char port[8];
    int r;

    snprintf(port, sizeof(port), "%u", am->job.schedulers[0].port);
    r = getaddrinfo(am->job.schedulers[0].host, port, &hints, &to);
    if (r != 0)
        return sv_error_set(err, -EADDRNOTAVAIL, "%s: %s", am->job.schedulers[0].host,
                            gai_strerror(r));
    _cleanup_close_ int fd = socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, to->ai_addr, to->ai_addrlen) < 0 ||
        getsockname(fd, (struct sockaddr *)&own, &len) < 0)
        r = sv_error_errno(err, -errno, "address towards %s", am->job.schedulers[0].host);
    else if (getnameinfo((struct sockaddr *)&own, len, buf, NI_MAXHOST, NULL, 0, NI_NUMERICHOST) !=
             0)
        r = sv_error_set(err, -EADDRNOTAVAIL, "address towards %s", am->job.schedulers[0].host);
    freeaddrinfo(to);
    return r;
}

/* Listens on the node's name, which clients resolve; in a private network that name belongs to the
 * host, so uses the container's own address. */
static int serve(struct am *am, const char **host, char buf[NI_MAXHOST], struct sv_error *err)
{
    int r = sv_http_new(am->event, *host, 0, on_request, am, &am->http, err);

    if (r != -EADDRNOTAVAIL)
        return r;
    r = own_address(am, buf, err);
    if (r < 0)
        return r;
    *host = buf;
    return sv_http_new(am->event, *host, 0, on_request, am, &am->http, err);
}

static int start(struct am *am, struct sv_error *err)
{
    static const struct cli_am_ops ops = {
        .registered = on_registered,
        .allocated = on_allocated,
        .started = on_started,
        .completed = on_completed,
        .finished = on_finished,
        .lost = on_lost,
    };
    const char *host = getenv("NM_HOST");
    struct cli_am_config cfg = { .ops = &ops, .userdata = am };
    char own[NI_MAXHOST], url[NI_MAXHOST + 64];
    int r = read_job(am, err);

    if (r < 0)
        return r;
    if (!host)
        return sv_error_set(err, -ENOKEY,
                            "NM_HOST is not set: this program is started by YARN, "
                            "through `selvedge run`");
    r = serve(am, &host, own, err);
    if (r < 0)
        return r;
    cfg.schedulers = am->job.schedulers;
    cfg.n_schedulers = am->job.n_schedulers;
    r = cli_am_new(am->event, &cfg, &am->yarn, err);
    if (r < 0)
        return r;
    snprintf(url, sizeof(url), "http://%s:%u/status", host, sv_http_port(am->http));
    r = cli_am_register(am->yarn, host, -1, url);
    return r < 0 ? sv_error_errno(err, r, "register") : 0;
}

int main(int argc, char **argv)
{
    struct am am = { 0 };
    struct sv_error err = { 0 };
    sigset_t mask;
    int r;

    sv_log_init("selvedge-am");
    if (argc != 2) {
        sv_log_err("usage: selvedge-am LOG_DIRECTORY: `selvedge run` submits it with its job");
        return 2;
    }
    am.log_dir = argv[1];
    (void)sigemptyset(&mask);
    (void)sigaddset(&mask, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &mask, NULL);
    r = sd_event_new(&am.event);
    if (r >= 0)
        r = sd_event_add_signal(am.event, NULL, SIGTERM, on_terminate, &am);
    if (r >= 0)
        r = start(&am, &err);
    if (r >= 0)
        r = sd_event_loop(am.event);
    else
        sv_log_err("%s", err.code ? err.text : strerror(-r));
    cli_am_free(am.yarn);
    sv_http_free(am.http);
    sd_event_source_disable_unref(am.linger);
    cli_tasks_free(am.tasks);
    sv_arena_free(am.arena);
    sd_event_unref(am.event);
    return r < 0 ? 1 : r;
}
