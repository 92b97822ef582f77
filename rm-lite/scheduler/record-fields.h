/* The fields of an event's line in a record (record.h): which ones each event has, where its
 * payload has them, and what the scheduler takes for granted. record.c writes by this table and
 * replay.c reads by it. The names are those of version 1 of the format, in which every truth value
 * is called "flag" and every amount "total". */
#ifndef SELVEDGE_RM_LITE_SCHEDULER_RECORD_FIELDS_H
#define SELVEDGE_RM_LITE_SCHEDULER_RECORD_FIELDS_H

#include <stddef.h>

#include "rm-lite/scheduler/scheduler.h"

enum rm_field_kind {                     /* the member's type */
                     RM_FIELD_NODE,      /* const struct yarn_node_id * */
                     RM_FIELD_NAME,      /* const char * */
                     RM_FIELD_RES,       /* struct rm_res */
                     RM_FIELD_APP,       /* struct yarn_app_id */
                     RM_FIELD_CONTAINER, /* struct yarn_container_id */
                     RM_FIELD_I32,       /* int32_t */
                     RM_FIELD_I64,       /* int64_t */
                     RM_FIELD_SIZE,      /* size_t */
                     RM_FIELD_BOOL,      /* bool */
};

struct rm_record_field {
    enum rm_sched_event_type type;
    const char *name;
    enum rm_field_kind kind;
    size_t offset;    /* in struct rm_sched_event */
    bool needed;      /* an event without it is not valid: NULL or an id of 0 */
    int32_t smallest; /* RM_FIELD_I32: least value in a record */
};

/* The fields of all events, in the order of a line; the last row has name NULL. */
extern const struct rm_record_field rm_record_fields[];

/* The member of the event that the field is about. */
static inline const void *rm_field_of(const struct rm_record_field *f,
                                      const struct rm_sched_event *ev)
{
    return (const char *)ev + f->offset;
}

#endif
