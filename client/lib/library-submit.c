/* See library.h: submissions, on top of client.h. What the program passes is copied, since an
 * answer of the ResourceManager comes before it is sent. */
#include <errno.h>
#include <string.h>

#include "client/lib/library-internal.h"
#include "common/str.h"
#include "wire/ipc/proxy.h"

/* ---- Answers ---- */

static void tell_submitted(struct lib_request *q, int status, const struct sv_error *err)
{
    char app[YARN_ID_TEXT_MAX] = "";

    if (status >= 0)
        yarn_app_id_text(q->submission->app, app);
    q->rm->o.depth++;
    q->submitted(status, cli_lib_reason(status, err), app, q->userdata);
    q->rm->o.depth--;
    cli_lib_request_free(q);
}

static void on_submitted(int status, const struct sv_error *err, void *userdata)
{
    tell_submitted(userdata, status, err);
}

static void on_new_app(int status, struct yarn_app_id app, struct yarn_resource maximum,
                       const struct sv_error *err, void *userdata)
{
    struct lib_request *q = userdata;
    struct sv_error own = { 0 };

    if (status >= 0 && (q->submission->resource.memory_mb > maximum.memory_mb ||
                        q->submission->resource.vcores > maximum.vcores)) {
        status = sv_error_set(&own, -ERANGE,
                              "the ApplicationMaster: %lld MB and %d vcores are more than a "
                              "container may have here (%lld MB, %d)",
                              (long long)q->submission->resource.memory_mb,
                              q->submission->resource.vcores, (long long)maximum.memory_mb,
                              maximum.vcores);
        err = &own;
    }
    q->submission->app = app;
    if (status >= 0)
        status = cli_rm_submit(q->rm->client, q->submission, on_submitted, q);
    if (status < 0)
        tell_submitted(q, status, err);
}

/* Formats the schedulers as "host:port,host:port", for the master's environment. */
static int schedulers_of(struct lib_rm *rm, struct sv_arena *a, struct cli_env *ret)
{
    struct ipc_proxy_config cfg;
    struct sv_error err = { 0 };
    char *text = sv_arena_strdup(a, "");
    int r = yarn_rm_proxy_config(rm->conf, YARN_RM_SCHEDULER, &cfg, &err);

    for (size_t i = 0; r >= 0 && text && i < cfg.n_servers; i++)
        text = sv_arena_printf(a, "%s%s%s:%u", text, i ? "," : "", cfg.servers[i].host,
                               cfg.servers[i].port);
    if (r >= 0 && !text)
        r = -ENOMEM;
    *ret = (struct cli_env){ .name = "SELVEDGE_SCHEDULERS", .value = text };
    return r;
}

/* ---- Copies of what the program passes ---- */

struct text {
    const char *from, **to;
};

static int copy_texts(struct sv_arena *a, const struct text *texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (texts[i].from && !(*texts[i].to = sv_arena_strdup(a, texts[i].from)))
            return -ENOMEM;
    return 0;
}

static int copy_tags(struct sv_arena *a, const char *const *tags, struct cli_submission *ret)
{
    size_t n = sv_strv_len((char *const *)(uintptr_t)tags);
    const char **list = n <= CLI_TAGS_MAX ? sv_newn(a, const char *, n + 1) : NULL;

    if (n > CLI_TAGS_MAX)
        return -EINVAL;
    for (size_t i = 0; list && i < n; i++)
        if (!(list[i] = sv_arena_strdup(a, tags[i])))
            return -ENOMEM;
    ret->tags = list;
    ret->n_tags = n;
    return list ? 0 : -ENOMEM;
}

static int copy_options(struct sv_arena *a, const struct selvedge_options *o,
                        struct cli_submission *c)
{
    const struct text texts[] = {
        { o->view_acl, &c->launch.view_acl },
        { o->modify_acl, &c->launch.modify_acl },
        { o->label, &c->label },
        { o->am_label, &c->am_label },
        { o->log_include, &c->log_include },
        { o->log_exclude, &c->log_exclude },
        { o->rolled_include, &c->rolled_logs },
        { o->rolled_exclude, &c->rolled_exclude },
    };
    int r = copy_texts(a, texts, SV_ARRAY_LEN(texts));

    c->failure_validity_ms = o->failure_validity_ms;
    c->priority = o->priority;
    c->keep_containers = o->keep_containers != 0;
    if (r >= 0 && o->tags)
        r = copy_tags(a, o->tags, c);
    return r < 0 ? r
                 : cli_lib_resource(c->resource.memory_mb, c->resource.vcores, o->resources,
                                    o->n_resources, &c->resource);
}

static int copy_submission(struct lib_request *q, const struct selvedge_submission *s,
                           const struct selvedge_options *o)
{
    struct cli_env schedulers;
    struct cli_submission *c;
    int r;

    q->arena = sv_arena_new(0);
    q->submission = c = q->arena ? sv_new(q->arena, struct cli_submission) : NULL;
    if (!c)
        return -ENOMEM;
    *c = (struct cli_submission){
        .name = sv_arena_strdup(q->arena, s->name ? s->name : "application"),
        .queue = sv_arena_strdup(q->arena, s->queue ? s->queue : "default"),
        .type = sv_arena_strdup(q->arena, s->type ? s->type : "YARN"),
        .resource = { .memory_mb = s->memory_mb, .vcores = s->vcores },
        .max_attempts = s->max_attempts,
        .lifetime_s = s->lifetime_s,
    };
    if (!c->name || !c->queue || !c->type)
        return -ENOMEM;
    r = schedulers_of(q->rm, q->arena, &schedulers);
    if (r >= 0)
        r = cli_lib_launch(q->arena, &s->launch, &schedulers, &c->launch);
    return r < 0 ? r : copy_options(q->arena, o, c);
}

/* ---- Calls ---- */

/* The launch is the last member: where it grows, a submission of an older program is shorter. */
static int known_submission(const struct selvedge_submission *from, struct selvedge_submission *ret)
{
    const size_t begin = offsetof(struct selvedge_submission, launch);
    struct selvedge_submission s = SELVEDGE_SUBMISSION;

    if (!from || from->struct_size < begin + offsetof(struct selvedge_launch, argv) ||
        from->struct_size > sizeof(s))
        return -EINVAL;
    memcpy(&s, from, from->struct_size);
    if (s.launch.struct_size > from->struct_size - begin || s.memory_mb <= 0 || s.vcores <= 0)
        return -EINVAL;
    *ret = s;
    return 0;
}

static int known_options(const struct selvedge_options *from, struct selvedge_options *ret)
{
    *ret = (struct selvedge_options)SELVEDGE_OPTIONS;
    if (!from)
        return 0;
    if (from->struct_size < offsetof(struct selvedge_options, tags) ||
        from->struct_size > sizeof(*ret))
        return -EINVAL;
    memcpy(ret, from, from->struct_size);
    return ret->priority < 0 || ret->failure_validity_ms < 0 ? -EINVAL : 0;
}

int selvedge_rm_submit_with(selvedge_rm handle, const struct selvedge_submission *s,
                            const struct selvedge_options *o, selvedge_submitted_fn fn,
                            void *userdata)
{
    struct lib_rm *rm = cli_lib_rm(handle);
    struct selvedge_submission submission;
    struct selvedge_options options;
    struct lib_request *q;
    int r;

    if (!rm)
        return -EBADF;
    if (!fn || known_submission(s, &submission) < 0 || known_options(o, &options) < 0)
        return -EINVAL;
    q = cli_lib_request_new(rm, userdata);
    if (!q)
        return -ENOMEM;
    q->submitted = fn;
    r = copy_submission(q, &submission, &options);
    if (r >= 0)
        r = cli_rm_new_application(rm->client, on_new_app, q);
    return cli_lib_begun(r, q);
}

int selvedge_rm_submit(selvedge_rm rm, const struct selvedge_submission *s,
                       selvedge_submitted_fn fn, void *userdata)
{
    return selvedge_rm_submit_with(rm, s, NULL, fn, userdata);
}
