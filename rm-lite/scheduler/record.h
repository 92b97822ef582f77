/* A record of the scheduler: each event with its clock, its result and its decisions, in a file of
 * text lines. The scheduler is a pure library, so replay.c gets the same decisions from the same
 * events, or tells which is the first that differs.
 *
 * Lines; fields are separated by one blank, strings have blanks, % and all that is not printable
 * ASCII as %XX, "%" alone is the empty string, "-" is NULL:
 *
 *     selvedge-rm-record 1 epoch=E      first line: version of the format
 *     k NAME VALUE                      a configuration key of the start, or of a refresh below
 *     e TYPE MS FIELD=VALUE...          an event; fields (record-fields.c) that are zero or NULL
 *                                       are left out
 *     a PRIO ALLOCATION NAME MEM,VCORES,X,Y COUNT RELAX     a row of its asks
 *     + NAME, - NAME                    its blacklist: added, removed
 *     t NAME                            a tag of its application or container
 *     s HEX, c HEX                      a packed SchedulingRequestProto or
 *                                       PlacementConstraintMapEntryProto
 *     = RESULT N                        end of the event: 0 or -errno, number of decisions
 *     d TYPE APP CONTAINER NODE MEM,VCORES,X,Y PRIO ALLOCATION LOCALITY TEXT     each of them
 *     x end                             last line: the daemon stopped, or ...
 *     x limit                           ... the file has its size; the daemon went on
 *
 * Without an x line the daemon was killed or the disk was full: the last event may be cut. */
#ifndef SELVEDGE_RM_LITE_SCHEDULER_RECORD_H
#define SELVEDGE_RM_LITE_SCHEDULER_RECORD_H

#include "rm-lite/scheduler/scheduler.h"

#define RM_RECORD_VERSION 1
#define RM_RECORD_MAGIC "selvedge-rm-record"
#define RM_RECORD_LINE_MAX ((size_t)1 << 20) /* of names and values of keys, escaped */

struct rm_record;

/* Opens `path` anew, readable to the owner alone; a file that is there becomes PATH.old. `limit`:
 * bytes after which the record ends with the event that passed it. `conf` and `epoch` as given to
 * rm_sched_new. */
int rm_record_open(const char *path, uint64_t limit, struct sv_conf *conf, int64_t epoch,
                   struct rm_record **ret, struct sv_error *err) _must_use_;
/* As rm_record_open(), on a descriptor, whose ownership it takes. */
int rm_record_new(int fd, uint64_t limit, struct sv_conf *conf, int64_t epoch,
                  struct rm_record **ret) _must_use_;
struct rm_record *rm_record_free(struct rm_record *rec); /* writes the last line */

/* After rm_sched_handle, with what it returned. A failed write is logged once and ends the record.
 */
void rm_record_event(struct rm_record *rec, const struct rm_sched_event *ev, int64_t now_ms,
                     int result, const struct rm_decision *d, size_t n);
void rm_record_flush(struct rm_record *rec); /* what is still in memory; NULL is fine */

/* For replay.c. NULL: no such type. */
const char *rm_record_event_name(int type);
int rm_record_event_type(const char *name); /* 0: none has the name */
#define RM_DECISION_LINE_MAX 3072
/* The line of a decision without its newline. */
void rm_record_decision(const struct rm_decision *d, char dst[RM_DECISION_LINE_MAX]);

#endif
