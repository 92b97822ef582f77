/* Which files of a container are uploaded, and their bytes. Hostile: the directories' contents,
 * which belong to the job, and the application's patterns. */
#ifndef SELVEDGE_LOGS_UPLOAD_FILES_H
#define SELVEDGE_LOGS_UPLOAD_FILES_H

#include "logs/aggregated.h"
#include "logs/upload-rolling.h"

#define LOGS_FILES_MAX 20000 /* of one container; the rest is skipped */

struct logs_files;
/* `dirs`: the application's log directories. -EINVAL: a pattern cannot be used, with the reason. */
int logs_files_new(const struct logs_upload *u, const int *dirs, size_t n_dirs,
                   struct logs_files **ret, struct sv_error *err) _must_use_;
struct logs_files *logs_files_free(struct logs_files *f);
static inline void logs_files_freep(struct logs_files **f)
{
    *f = logs_files_free(*f);
}
/* Writes all containers, without what is uploaded already. Counts and the first reason for a
 * skipped file are added to `answer`. An error is the sink's. */
int logs_files_write(struct logs_files *f, struct logs_rolling *rolling, struct logs_writer *w,
                     struct logs_answer *answer) _must_use_;

#endif
