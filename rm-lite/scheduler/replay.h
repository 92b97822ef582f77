/* Plays a record of the scheduler (record.h) through the scheduler of this program and compares
 * results and decisions. The record may come from anybody: nothing in it is trusted. */
#ifndef SELVEDGE_RM_LITE_SCHEDULER_REPLAY_H
#define SELVEDGE_RM_LITE_SCHEDULER_REPLAY_H

#include <stdint.h>

#include "common/error.h"

enum rm_replay_end {
    RM_REPLAY_END,   /* the daemon stopped */
    RM_REPLAY_LIMIT, /* the record had its size */
    RM_REPLAY_TORN,  /* no last line: what follows the last whole event is left out */
};

struct rm_replay {
    uint64_t events, decisions; /* played */
    enum rm_replay_end end;
    size_t torn_line; /* RM_REPLAY_TORN: the line behind the last whole event */
    bool differs;     /* played up to the first event whose decisions differ: */
    size_t line;      /* of that event */
    char what[8192];  /* recorded and now */
};

/* 0, also when the decisions differ; -EPROTONOSUPPORT: another version of the format; -EBADMSG: not
 * a record, with the line in `err`; -EINVAL: the scheduler refuses its configuration. */
int rm_replay(const char *data, size_t len, struct rm_replay *ret, struct sv_error *err) _must_use_;

#endif
