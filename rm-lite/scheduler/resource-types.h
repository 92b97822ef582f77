/* The types of resources: memory-mb, vcores, and those of yarn.resource-types (resource-types.xml),
 * of which struct rm_res has RM_RES_EXTRA. Their wire form; the bytes come from nodes and clients.
 */
#ifndef SELVEDGE_RM_LITE_SCHEDULER_RESOURCE_TYPES_H
#define SELVEDGE_RM_LITE_SCHEDULER_RESOURCE_TYPES_H

#include "common/conf.h"
#include "common/error.h"
#include "rm-lite/scheduler/resource.h"

#define RM_TYPE_NAME_MAX 64

struct rm_types {
    int n; /* of extra[] */
    char names[RM_RES_EXTRA][RM_TYPE_NAME_MAX];
    struct rm_res min, max; /* yarn.resource-types.NAME.minimum-allocation, .maximum-allocation */
};

int rm_types_parse(struct sv_conf *conf, struct rm_types *ret, struct sv_error *err) _must_use_;
/* Index in extra[]; -1: not a type. */
int rm_types_index(const struct rm_types *t, const char *name);
bool rm_types_equal(const struct rm_types *a, const struct rm_types *b);

/* The daemon's types, set once at start; conversions of messages use them. */
void rm_types_set(const struct rm_types *t);
const struct rm_types *rm_types(void);
#define RM_RES_TEXT_MAX 256
/* "<memory:1024, vCores:1>", as Hadoop's Resource prints itself. */
const char *rm_res_text(struct rm_res r, char dst[static RM_RES_TEXT_MAX]);
/* -EBADMSG: the message is out of range. Unknown types are dropped: rm_res_unknown. */
int rm_res_from(const Hadoop__Yarn__ResourceProto *m, struct rm_res *ret) _must_use_;
/* The first type with a value above 0 that is neither memory, vcores nor configured, escaped; "" =
 * none. */
void rm_res_unknown(const Hadoop__Yarn__ResourceProto *m, char *dst, size_t size);
/* NULL without memory. */
Hadoop__Yarn__ResourceProto *rm_res_to(struct sv_arena *a, struct rm_res r);

#endif
