/* What an upload of a rolling application adds (log-aggregation.roll-monitoring-interval-seconds):
 * which logs are in the remote directory already, deletion of those that were uploaded while the
 * application runs, and of the node's oldest remote files. See uploaded-list.h.
 *
 * While the application runs, the log directories are writable; its last upload reads them only. */
#ifndef SELVEDGE_LOGS_UPLOAD_ROLLING_H
#define SELVEDGE_LOGS_UPLOAD_ROLLING_H

#include "executor/request.h"
#include "logs/upload-store.h"
#include "logs/uploaded-list.h"

struct logs_rolling {
    const struct logs_upload *u;
    const int *dirs; /* the application's log directories */
    size_t n;
    struct logs_list *lists[EXE_DIRS_MAX]; /* one a directory; NULL: nothing is rolled */
};

/* Reads the lists; what an upload that was interrupted has left is settled by asking the store, and
 * deleted here. A malformed list is named in `note`. */
int logs_rolling_start(struct logs_rolling *r, struct logs_store *s, const int *dirs, size_t n,
                       char note[LOGS_UPLOAD_TEXT_MAX], struct sv_error *err) _must_use_;
void logs_rolling_end(struct logs_rolling *r);

/* The file was opened: is it to be written? *ret_full: it is left to the next upload. */
bool logs_rolling_wants(struct logs_rolling *r, size_t dir, const struct stat *st, bool *ret_full);
/* Another attempt at the same upload. */
void logs_rolling_again(struct logs_rolling *r);
/* Around the rename of the remote file. */
int logs_rolling_announce(struct logs_rolling *r, const struct logs_store *s, struct sv_error *err)
    _must_use_;
int logs_rolling_done(struct logs_rolling *r, struct sv_error *err) _must_use_;

/* The node's oldest files of the application, beyond files_max: in a problem they stay. */
void logs_rolling_remove_oldest(struct logs_store *s);

#endif
