/* See job-table.h. */
#include "shuffle/job-table.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <uthash.h>

#include "common/str.h"
#include "wire/token/token.h"
#include "wire/token/writable.h"

struct entry {
    struct shf_job job; /* first: shf_job_put finds the entry */
    atomic_uint references;
    UT_hash_handle hh;
};

struct shf_jobs {
    pthread_mutex_t lock;
    struct entry *entries;
};

struct shf_jobs *shf_jobs_new(void)
{
    struct shf_jobs *t = calloc(1, sizeof(*t));

    if (t && pthread_mutex_init(&t->lock, NULL) != 0) {
        free(t);
        return NULL;
    }
    return t;
}

void shf_job_put(const struct shf_job *job)
{
    struct entry *e = (struct entry *)(uintptr_t)job;

    if (!e || atomic_fetch_sub(&e->references, 1) != 1)
        return;
    OPENSSL_cleanse(e->job.secret, sizeof(e->job.secret));
    free(e);
}

static void drop(struct shf_jobs *t, struct entry *e)
{
    HASH_DEL(t->entries, e);
    shf_job_put(&e->job);
}

struct shf_jobs *shf_jobs_free(struct shf_jobs *t)
{
    struct entry *e, *next;

    if (!t)
        return NULL;
    HASH_ITER (hh, t->entries, e, next)
        drop(t, e);
    (void)pthread_mutex_destroy(&t->lock); /* nobody holds it, ignoring */
    free(t);
    return NULL;
}

/* "application_1_2" names "job_1_2". */
static int job_of(const char *application, char ret[SHF_ID_MAX + 1], struct sv_error *err)
{
    const char *prefix = "application_";
    int n = -1;

    if (sv_has_prefix(application, prefix))
        n = snprintf(ret, SHF_ID_MAX + 1, "job_%s", application + strlen(prefix));
    return n > 0 && n <= SHF_ID_MAX
               ? 0
               : sv_error_set(err, -EINVAL, "%.100s: not an application's id", application);
}

/* True for a relative path without empty, "." and ".." components. */
static bool is_beneath(const char *path)
{
    for (const char *p = path;; p++) {
        size_t n = strcspn(p, "/");

        if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
            return false;
        p += n;
        if (!*p)
            return strlen(path) <= SHF_APP_DIR_MAX;
    }
}

static int read_secret(struct shf_job *job, const void *token, size_t len, struct sv_error *err)
{
    _cleanup_(sv_arena_freep) struct sv_arena *arena = sv_arena_new(0);
    struct sv_buf in = SV_BUF_VIEW(token, len);
    struct yarn_token t = { 0 };

    if (!arena)
        return sv_error_set(err, -ENOMEM, "%s: out of memory", job->id);
    if (ipc_writable_get_token(&in, arena, &t) < 0 || sv_buf_left(&in) > 0 || t.password_len == 0 ||
        t.password_len > SHF_SECRET_MAX)
        return sv_error_set(err, -EBADMSG, "%s: its service data is not a job token", job->id);
    memcpy(job->secret, t.password, t.password_len);
    job->secret_len = t.password_len;
    return 0;
}

int shf_jobs_add(struct shf_jobs *t, const char *application, const char *app_dir, uid_t uid,
                 const void *token, size_t token_len, struct sv_error *err)
{
    struct entry *e = calloc(1, sizeof(*e)), *before;
    int r = e ? job_of(application, e->job.id, err) : sv_error_set(err, -ENOMEM, "out of memory");

    if (r == 0 && !is_beneath(app_dir))
        r = sv_error_set(err, -EINVAL, "%.100s: not a path below a local directory", app_dir);
    if (r == 0)
        r = read_secret(&e->job, token, token_len, err);
    if (r < 0) {
        free(e);
        return r;
    }
    (void)snprintf(e->job.app_dir, sizeof(e->job.app_dir), "%s", app_dir);
    e->job.uid = uid;
    atomic_init(&e->references, 1);
    pthread_mutex_lock(&t->lock);
    HASH_FIND_STR(t->entries, e->job.id, before);
    if (before)
        drop(t, before);
    if (HASH_COUNT(t->entries) < SHF_JOBS_MAX)
        HASH_ADD_STR(t->entries, job.id, e);
    else
        r = sv_error_set(err, -E2BIG, "%s: there are %d jobs already", e->job.id, SHF_JOBS_MAX);
    pthread_mutex_unlock(&t->lock);
    if (r < 0)
        shf_job_put(&e->job);
    return r;
}

void shf_jobs_remove(struct shf_jobs *t, const char *application)
{
    char id[SHF_ID_MAX + 1];
    struct entry *e;

    if (job_of(application, id, NULL) < 0)
        return;
    pthread_mutex_lock(&t->lock);
    HASH_FIND_STR(t->entries, id, e);
    if (e)
        drop(t, e);
    pthread_mutex_unlock(&t->lock);
}

size_t shf_jobs_count(struct shf_jobs *t)
{
    size_t n;

    pthread_mutex_lock(&t->lock);
    n = HASH_COUNT(t->entries);
    pthread_mutex_unlock(&t->lock);
    return n;
}

const struct shf_job *shf_jobs_get(struct shf_jobs *t, const char *job)
{
    struct entry *e;

    pthread_mutex_lock(&t->lock);
    HASH_FIND_STR(t->entries, job, e);
    if (e)
        atomic_fetch_add(&e->references, 1);
    pthread_mutex_unlock(&t->lock);
    return e ? &e->job : NULL;
}
