/* A file that the command line names. */
#ifndef SELVEDGE_CLIENT_CORE_INPUT_FILE_H
#define SELVEDGE_CLIENT_CORE_INPUT_FILE_H

#include "common/error.h"

/* Reads FILE, or the standard input for "-", of at most `max` bytes; NUL-terminated, malloc'd.
 * -errno: `err` names the file. */
int cli_file_read(const char *file, size_t max, char **ret, size_t *ret_len, struct sv_error *err)
    _must_use_;

#endif
