/* Selects the log files of a container and writes their bytes. Hostile: the directories' contents,
 * which belong to the job, and the application's patterns. */
#ifndef SELVEDGE_LOGS_UPLOAD_FILES_H
#define SELVEDGE_LOGS_UPLOAD_FILES_H

#include "logs/aggregated.h"
#include "logs/upload-rolling.h"

#define LOGS_FILES_MAX 20000 /* per container; further files are skipped */

struct logs_files;
/* `dirs`: the application's log directories. -EINVAL: an invalid pattern, with the reason. */
int logs_files_new(const struct logs_upload *u, const int *dirs, size_t n_dirs,
                   struct logs_files **ret, struct sv_error *err) _must_use_;
struct logs_files *logs_files_free(struct logs_files *f);
static inline void logs_files_freep(struct logs_files **f)
{
    *f = logs_files_free(*f);
}
/* Writes all containers, except files that are already uploaded. Adds counts and the first reason
 * for a skipped file to `answer`. Errors come from the sink alone. */
int logs_files_write(struct logs_files *f, struct logs_rolling *rolling, struct logs_writer *w,
                     struct logs_answer *answer) _must_use_;

#endif
