/* A growing list of names of files in a remote directory. */
#ifndef SELVEDGE_LOGS_NAMES_H
#define SELVEDGE_LOGS_NAMES_H

#include "fs/fs.h"

#define LOGS_REMOTE_FILES_MAX 100000 /* of one application: one per node, and the rolled ones */

struct logs_names {
    char **v; /* NULL-terminated, unsorted; free it with sv_strv_free() */
    size_t n;
};
/* Lists the regular files of a directory, without those under construction (".tmp"). After an error
 * *ret is empty. */
int logs_names_list(struct fs *fs, const char *dir, struct logs_names *ret, struct sv_error *err)
    _must_use_;

#endif
