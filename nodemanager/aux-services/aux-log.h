/* Output of an auxiliary service on stdout and stderr, as lines of the daemon's log. Hostile: lines
 * are escaped, cut and counted, so that a flood harms neither the daemon nor its log. */
#ifndef SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_LOG_H
#define SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_LOG_H

#include "common/base.h"

#define NM_AUX_LINE_MAX 1000 /* bytes of a line; the rest is dropped */
#define NM_AUX_LINES_MAX 100 /* lines per second; further ones are counted */

struct nm_aux_log {
    const char *service;
    char line[NM_AUX_LINE_MAX + 1];
    size_t len;
    int64_t second_ms;         /* monotonic start of the current second */
    unsigned written, dropped; /* lines in that second */
};

/* Reads what the pipe has, at most 64 KiB. False: its end. */
bool nm_aux_log_read(struct nm_aux_log *l, int fd);
/* Call it after the end of the pipe: logs an unterminated line, and the count of dropped ones. */
void nm_aux_log_finish(struct nm_aux_log *l);

#endif
