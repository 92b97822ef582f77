/* The output of a health script, read as Hadoop's NodeHealthScriptRunner reads it: a line that
 * begins with ERROR makes the node unhealthy, and the report is all that the script wrote. Of a
 * longer output the report has the first lines with ERROR alone. Any bytes, any number of them:
 * nothing else is stored. */
#ifndef SELVEDGE_NODEMANAGER_HEALTH_SCRIPT_OUTPUT_H
#define SELVEDGE_NODEMANAGER_HEALTH_SCRIPT_OUTPUT_H

#include "common/base.h"

#define NM_SCRIPT_REPORT_MAX 1024 /* bytes of a report, of one script, with its NUL */

struct nm_script_output {
    char head[NM_SCRIPT_REPORT_MAX]; /* the first bytes */
    char errors[NM_SCRIPT_REPORT_MAX];
    size_t n_head, n_errors;
    bool more;        /* `head` is not all */
    bool more_errors; /* `errors` has not all of them */
    bool failed;      /* a line begins with ERROR */
    size_t matched;   /* bytes of "ERROR" at the begin of this line; more: it is another line */
};

void nm_script_output_begin(struct nm_script_output *o);
void nm_script_output_add(struct nm_script_output *o, const char *p, size_t n);
/* UTF-8, "" unless `failed`; ends with "..." where something was left out. */
void nm_script_output_report(const struct nm_script_output *o, char ret[NM_SCRIPT_REPORT_MAX]);

#endif
