/* See store.h. The places themselves: store-sqlite.c, service/ha/. */
#include "service/launcher/store.h"

#include "service/launcher/store-backend.h"

struct svc_lr_store *svc_lr_store_close(struct svc_lr_store *s)
{
    return s ? s->backend->close(s) : NULL;
}

/* ---- Commits ---- */

void svc_lr_store_begin(struct svc_lr_store *s)
{
    s->open = true;
    s->backend->begin(s);
}

void svc_lr_store_rollback(struct svc_lr_store *s)
{
    s->open = false;
    s->backend->rollback(s);
}

int svc_lr_store_commit(struct svc_lr_store *s)
{
    int r = s->backend->commit(s);

    s->open = false;
    s->commits += r == 0;
    s->failures += r < 0;
    return r;
}

bool svc_lr_store_is_open(const struct svc_lr_store *s)
{
    return s->open;
}

const char *svc_lr_store_why(const struct svc_lr_store *s)
{
    return s->why;
}

uint64_t svc_lr_store_commits(const struct svc_lr_store *s)
{
    return s->commits;
}

uint64_t svc_lr_store_failures(const struct svc_lr_store *s)
{
    return s->failures;
}

uint64_t svc_lr_store_ticket(const struct svc_lr_store *s)
{
    return s->commits + (s->open ? 1 : 0);
}

bool svc_lr_store_keeps(const struct svc_lr_store *s, uint64_t ticket)
{
    return !s->backend->kept || s->backend->kept(s) >= ticket;
}

bool svc_lr_store_may_act(const struct svc_lr_store *s)
{
    return !s->backend->may_act || s->backend->may_act(s);
}

size_t svc_lr_store_value_max(const struct svc_lr_store *s)
{
    return s->backend->value_max ? s->backend->value_max : SIZE_MAX;
}

/* ---- Rows ---- */

static void write_row(struct svc_lr_store *s, struct svc_lr_row row)
{
    s->backend->write(s, &row);
}

void svc_lr_store_request(struct svc_lr_store *s, const char *framework, const char *request,
                          int64_t tasks)
{
    write_row(s, (struct svc_lr_row){ .kind = SVC_LR_ROW_REQUEST,
                                      .name = framework,
                                      .owner = framework,
                                      .value = request,
                                      .tasks = tasks });
}

void svc_lr_store_status(struct svc_lr_store *s, const char *framework, const char *status)
{
    write_row(
        s, (struct svc_lr_row){
               .kind = SVC_LR_ROW_STATUS, .name = framework, .owner = framework, .value = status });
}

void svc_lr_store_remove(struct svc_lr_store *s, const char *framework)
{
    write_row(
        s, (struct svc_lr_row){ .kind = SVC_LR_ROW_REMOVE, .name = framework, .owner = framework });
}

void svc_lr_store_task(struct svc_lr_store *s, int64_t tasks, const char *role, int32_t index,
                       const char *text)
{
    write_row(s, (struct svc_lr_row){ .kind = text ? SVC_LR_ROW_TASK : SVC_LR_ROW_NO_TASK,
                                      .tasks = tasks,
                                      .role = role,
                                      .index = index,
                                      .value = text });
}

void svc_lr_store_drop_tasks(struct svc_lr_store *s, int64_t tasks)
{
    write_row(s, (struct svc_lr_row){ .kind = SVC_LR_ROW_DROP, .tasks = tasks });
}

int svc_lr_store_sweep(struct svc_lr_store *s)
{
    if (!s->backend->has_dropped(s))
        return 0;
    svc_lr_store_begin(s);
    s->backend->sweep(s);
    return svc_lr_store_commit(s);
}

void svc_lr_store_kill(struct svc_lr_store *s, const struct svc_lr_store_kill *k)
{
    write_row(s, (struct svc_lr_row){ .kind = SVC_LR_ROW_KILL,
                                      .name = k->app,
                                      .value = k->user,
                                      .more = k->framework,
                                      .owner = k->owner });
}

void svc_lr_store_killed(struct svc_lr_store *s, const char *app)
{
    write_row(s, (struct svc_lr_row){ .kind = SVC_LR_ROW_KILLED, .name = app });
}

void svc_lr_store_meta(struct svc_lr_store *s, const char *key, const char *value)
{
    write_row(s, (struct svc_lr_row){ .kind = SVC_LR_ROW_META, .name = key, .value = value });
}

int svc_lr_store_load(struct svc_lr_store *s, const struct svc_lr_rows *rows, void *userdata,
                      struct sv_error *err)
{
    return s->backend->load(s, rows, userdata, err);
}
