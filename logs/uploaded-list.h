/* Which files of a log directory a rolling application's uploads have put into the remote directory
 * and not deleted here: a file beside the directories of the application's containers on each disk,
 * so that it lives as long as the logs do. Each upload writes it twice: with the files that it is
 * about to publish under a remote name, then with these as published. Whoever reads it after an
 * upload that was interrupted between the two asks whether the remote name exists.
 *
 * A file is known by its inode, length and time of modification: one that has grown is another one,
 * one that was renamed is not. Hostile: the bytes, since they lie in a directory of the account. */
#ifndef SELVEDGE_LOGS_UPLOADED_LIST_H
#define SELVEDGE_LOGS_UPLOADED_LIST_H

#include <sys/stat.h>

#include "common/base.h"
#include "common/error.h"

#define LOGS_LIST_NAME ".uploaded-logs"
#define LOGS_LIST_FILES_MAX 40000u /* of one disk; the oldest half goes when more come */
#define LOGS_LIST_REMOTE_MAX 320   /* a remote name */

struct logs_list;
/* Reads the list of one disk; none, or one that is malformed, is empty. `dir`: not owned. */
int logs_list_read(int dir, struct logs_list **ret, bool *ret_malformed, struct sv_error *err)
    _must_use_;
struct logs_list *logs_list_free(struct logs_list *l);
static inline void logs_list_freep(struct logs_list **l)
{
    *l = logs_list_free(*l);
}
/* The remote name that an interrupted upload was about to give, or "". */
const char *logs_list_unsettled(const struct logs_list *l);
/* It exists, or not: then its files count as those of the current upload, or as not uploaded. */
void logs_list_settle(struct logs_list *l, bool exists);

bool logs_list_has(const struct logs_list *l, const struct stat *st);
/* Of the current upload. -E2BIG: it has as many as one upload may. */
int logs_list_add(struct logs_list *l, const struct stat *st) _must_use_;
void logs_list_start_again(struct logs_list *l); /* forgets those of the current upload */
size_t logs_list_current(const struct logs_list *l);
/* Is it of the current upload, as it was then? */
bool logs_list_deletable(const struct logs_list *l, const struct stat *st);
void logs_list_forget(struct logs_list *l, const struct stat *st); /* it is deleted */

/* Durable: before the remote name is given, and after the deletions. */
int logs_list_announce(struct logs_list *l, const char *remote, struct sv_error *err) _must_use_;
int logs_list_write(struct logs_list *l, struct sv_error *err) _must_use_;

#endif
