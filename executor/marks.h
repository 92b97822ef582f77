/* The marks that the NodeManager replaces in commands and values: <LOG_DIR>, <CPS>, <ADD_OPENS>,
 * {{VAR}}. Used by script.c. */
#ifndef SELVEDGE_EXECUTOR_MARKS_H
#define SELVEDGE_EXECUTOR_MARKS_H

#include "common/arena.h"

#define EXE_SCRIPT_COMMAND_MAX (1024 * 1024)

struct exe_marks {
    const char *log_dir, *add_opens;
};

/* Replaces the marks in `s`, in the arena; NULL when memory is exhausted. */
const char *exe_expand_marks(struct sv_arena *a, const struct exe_marks *m, const char *s);

#endif
