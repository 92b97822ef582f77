/* Resource types beside memory, vcores and GPUs (resource-types.xml), and the units in which
 * amounts of resources are given: Hadoop's ResourceUtils and UnitsConversionUtil. Hostile: names,
 * units and amounts of messages. */
#ifndef SELVEDGE_WIRE_RESOURCE_TYPES_H
#define SELVEDGE_WIRE_RESOURCE_TYPES_H

#include "common/base.h"

#define YARN_TYPES_MAX 8
#define YARN_TYPE_NAME_MAX 64 /* with its NUL */
#define YARN_UNIT_MAX 3       /* with its NUL */

struct yarn_types {
    size_t n;
    struct yarn_type {
        char name[YARN_TYPE_NAME_MAX], unit[YARN_UNIT_MAX];
    } types[YARN_TYPES_MAX];
};

/* The types of this process, none unless set: once at start, before any message is converted. An
 * amount in struct yarn_resource is in its type's unit. */
void yarn_types_set(const struct yarn_types *t);
const struct yarn_types *yarn_types(void);
/* Adds a type of this process, or sets the unit of one that it has; its index. -EINVAL: the name is
 * too long, or no such unit; -ENOSPC: there are YARN_TYPES_MAX. */
int yarn_types_add(const char *name, const char *unit) _must_use_;
/* Index of a type; -1: there is none of that name. */
int yarn_types_index(const struct yarn_types *t, const char *name);

/* True for p n u m "" k M G T P Ki Mi Gi Ti Pi. */
bool yarn_unit_ok(const char *unit);
/* Converts an amount that is not negative, rounded down as in Hadoop. -EINVAL: not a unit; -ERANGE:
 * the result does not fit. */
int yarn_unit_convert(int64_t value, const char *from, const char *to, int64_t *ret) _must_use_;

#endif
