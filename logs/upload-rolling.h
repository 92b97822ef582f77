/* Extra work for an application whose logs are rolled
 * (log-aggregation.roll-monitoring-interval-seconds): tracks which logs are already in the remote
 * directory (uploaded-list.h), deletes uploaded logs while the application runs, and deletes the
 * node's oldest remote files.
 *
 * While the application runs, the log directories are writable; its last upload has read-only
 * access. */
#ifndef SELVEDGE_LOGS_UPLOAD_ROLLING_H
#define SELVEDGE_LOGS_UPLOAD_ROLLING_H

#include "executor/request.h"
#include "logs/upload-store.h"
#include "logs/uploaded-list.h"

struct logs_rolling {
    const struct logs_upload *u;
    const int *dirs; /* the application's log directories */
    size_t n;
    struct logs_list *lists[EXE_DIRS_MAX]; /* one per directory; NULL: no rolling */
};

/* Reads the lists. If an upload was interrupted, asks the store whether its file exists and
 * finishes the bookkeeping and deletions. `note` names a malformed list. */
int logs_rolling_start(struct logs_rolling *r, struct logs_store *s, const int *dirs, size_t n,
                       char note[LOGS_UPLOAD_TEXT_MAX], struct sv_error *err) _must_use_;
void logs_rolling_end(struct logs_rolling *r);

/* For an opened file: true if it must be written. *ret_full: the list is full, so the file is left
 * to the next upload. */
bool logs_rolling_wants(struct logs_rolling *r, size_t dir, const struct stat *st, bool *ret_full);
/* Call before another attempt at the same upload. */
void logs_rolling_again(struct logs_rolling *r);
/* Call before and after the rename of the remote file. */
int logs_rolling_announce(struct logs_rolling *r, const struct logs_store *s, struct sv_error *err)
    _must_use_;
int logs_rolling_done(struct logs_rolling *r, struct sv_error *err) _must_use_;

/* Deletes the node's oldest remote files beyond files_max; they are kept if an error occurs. */
void logs_rolling_remove_oldest(struct logs_store *s);

#endif
