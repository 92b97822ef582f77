/* Finds a container's log files in all log directories, each on its disk's thread
 * (health/log-disks.h): the list of their names, or one opened file. Hostile: names and contents of
 * the container's directories. */
#ifndef SELVEDGE_NODEMANAGER_SERVICES_LOG_SEARCH_H
#define SELVEDGE_NODEMANAGER_SERVICES_LOG_SEARCH_H

#include "common/error.h"
#include "nodemanager/core/log-files.h"

struct nm_context;
struct nm_log_search;

/* An opened file. Only its disk's thread reads and closes it. */
struct nm_log_file {
    int disk, fd;
    struct stat st;
};

/* `name` NULL: the list. `done`, which may free the search, is called unless it has ended when this
 * returns. -EINVAL: not the name of a file; -ENOMEM. */
int nm_log_search_new(const struct nm_context *ctx, struct yarn_container_id id, const char *name,
                      void (*done)(void *userdata), void *userdata, struct nm_log_search **ret)
    _must_use_;
struct nm_log_search *nm_log_search_free(struct nm_log_search *s);
bool nm_log_search_ended(const struct nm_log_search *s);

/* The rest is valid for a search that has ended. */

/* Why a directory was not searched, in words; NULL: all that were needed were. */
const char *nm_log_search_unread(const struct nm_log_search *s);
/* False: no directory of the container was found. `fn` may be NULL. */
bool nm_log_search_each(const struct nm_log_search *s,
                        void (*fn)(const struct nm_log_entry *e, void *userdata), void *userdata);
/* The entries that were read; `ret_cut`: there may be more. */
int nm_log_search_entries(const struct nm_log_search *s, bool *ret_cut);
/* NULL: it was not found. Owned by the search. */
const struct nm_log_file *nm_log_search_file(const struct nm_log_search *s);
/* False: it was not found. Else the caller owns the file. */
bool nm_log_search_take(struct nm_log_search *s, struct nm_log_file *ret);

#endif
