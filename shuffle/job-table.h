/* Jobs whose map outputs may be fetched: their tokens, accounts and directories, as received from
 * the NodeManager. Requests look them up from several threads; references keep a job alive until
 * the requests in progress are done. */
#ifndef SELVEDGE_SHUFFLE_JOB_TABLE_H
#define SELVEDGE_SHUFFLE_JOB_TABLE_H

#include "common/base.h"
#include "common/error.h"
#include "shuffle/limits.h"

#define SHF_NO_UID ((uid_t)-1)

struct shf_job {
    char id[SHF_ID_MAX + 1];           /* "job_<timestamp>_<number>" */
    char app_dir[SHF_APP_DIR_MAX + 1]; /* below each local directory */
    uid_t uid;                         /* of the job's account; SHF_NO_UID: unknown */
    uint8_t secret[SHF_SECRET_MAX];
    size_t secret_len;
};

struct shf_jobs;
struct shf_jobs *shf_jobs_new(void) _must_use_; /* NULL without memory */
struct shf_jobs *shf_jobs_free(struct shf_jobs *t);
/* `token` is the service data that MapReduce's ApplicationMaster sends: a Writable Token whose
 * password is the job's secret. Replaces an earlier one of the application. */
int shf_jobs_add(struct shf_jobs *t, const char *application, const char *app_dir, uid_t uid,
                 const void *token, size_t token_len, struct sv_error *err) _must_use_;
void shf_jobs_remove(struct shf_jobs *t, const char *application);
size_t shf_jobs_count(struct shf_jobs *t);
/* Returns a reference, or NULL: no such job. */
const struct shf_job *shf_jobs_get(struct shf_jobs *t, const char *job) _must_use_;
void shf_job_put(const struct shf_job *job); /* accepts NULL */

#endif
