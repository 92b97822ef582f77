/* Records which log files of a rolling application are already in the remote directory but not
 * deleted here. The list is a file beside the containers' directories on each disk, so it lives as
 * long as the logs. Each upload writes it twice: with the files about to be published under a
 * remote name, and again once they are published. After an interruption between the two, the next
 * reader asks whether the remote name exists.
 *
 * A file is identified by inode, length and modification time: one that has grown is a different
 * file, a renamed one is not. Hostile: the bytes, since the file lies in a directory of the
 * account. */
#ifndef SELVEDGE_LOGS_UPLOADED_LIST_H
#define SELVEDGE_LOGS_UPLOADED_LIST_H

#include <sys/stat.h>

#include "common/base.h"
#include "common/error.h"

#define LOGS_LIST_NAME ".uploaded-logs"
#define LOGS_LIST_FILES_MAX 40000u /* per disk; beyond that, the oldest half is dropped */
#define LOGS_LIST_REMOTE_MAX 320   /* a remote name */

struct logs_list;
/* Reads the list of one disk; a missing or malformed list is empty. Borrows `dir`. */
int logs_list_read(int dir, struct logs_list **ret, bool *ret_malformed, struct sv_error *err)
    _must_use_;
struct logs_list *logs_list_free(struct logs_list *l);
static inline void logs_list_freep(struct logs_list **l)
{
    *l = logs_list_free(*l);
}
/* Remote name that an interrupted upload was about to publish, or "". */
const char *logs_list_unsettled(const struct logs_list *l);
/* `exists`: its files count as those of the current upload; otherwise as not uploaded. */
void logs_list_settle(struct logs_list *l, bool exists);

bool logs_list_has(const struct logs_list *l, const struct stat *st);
/* Adds a file to the current upload. -E2BIG: the upload is full. */
int logs_list_add(struct logs_list *l, const struct stat *st) _must_use_;
void logs_list_start_again(struct logs_list *l); /* clears the current upload */
size_t logs_list_current(const struct logs_list *l);
/* True if the current upload has the file, unchanged since. */
bool logs_list_deletable(const struct logs_list *l, const struct stat *st);
void logs_list_forget(struct logs_list *l, const struct stat *st); /* it was deleted */

/* Both are durable: announce before the rename, write after the deletions. */
int logs_list_announce(struct logs_list *l, const char *remote, struct sv_error *err) _must_use_;
int logs_list_write(struct logs_list *l, struct sv_error *err) _must_use_;

#endif
