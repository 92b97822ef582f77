/* Values of the FrameworkLauncher's JSON, read with its conversions, and all violations with their
 * paths. Hostile: values and names. */
#ifndef SELVEDGE_SERVICE_FRAMEWORK_READER_H
#define SELVEDGE_SERVICE_FRAMEWORK_READER_H

#include <jansson.h>

#include "common/arena.h"
#include "common/buf.h"

#define SVC_FW_VIOLATIONS_MAX ((size_t)64 << 10) /* bytes of all; more are not told */
#define SVC_FW_JSON_VALUES_MAX 100000            /* bounds the memory of a tree */

struct svc_fw_in {
    struct sv_arena *a;
    struct sv_buf bad; /* violations, one a line */
    size_t n_bad;
    bool no_memory;
};
/* Where a value stands: "up.key" or "up[key]"; a chain on the stack. */
struct svc_fw_at {
    const struct svc_fw_at *up; /* NULL: the body */
    const char *key;
    bool in_map;
};

/* False: svc_fw_load() would say -EFBIG. */
bool svc_fw_fits(const char *json, size_t len);
/* -EINVAL: not JSON, and *ret_violations says where; -EFBIG; -ENOMEM. */
int svc_fw_load(const char *json, size_t len, json_t **ret, char **ret_violations) _must_use_;
/* 0, or -EINVAL with the violations of all that was read, or -ENOMEM. Frees what is left. */
int svc_fw_done(struct svc_fw_in *in, char **ret_violations) _must_use_;

void svc_fw_bad(struct svc_fw_in *in, const struct svc_fw_at *at, const char *fmt, ...)
    _printf_(3, 4);

/* Each reads member `key` of the object `o` (NULL: as absent). Absent: *ret stays. Null is a
 * violation where it is not said to be allowed. */
struct svc_fw_range {
    int64_t min, max;
    bool required;
};
void svc_fw_int(struct svc_fw_in *in, const struct svc_fw_at *up, const json_t *o, const char *key,
                struct svc_fw_range range, int32_t *ret);
void svc_fw_long(struct svc_fw_in *in, const struct svc_fw_at *up, const json_t *o, const char *key,
                 struct svc_fw_range range, int64_t *ret);
void svc_fw_bool(struct svc_fw_in *in, const struct svc_fw_at *up, const json_t *o, const char *key,
                 bool *ret);
/* One of n names, or its number. */
void svc_fw_enum(struct svc_fw_in *in, const struct svc_fw_at *up, const json_t *o, const char *key,
                 const char *const *names, int n, bool required, int *ret);
enum svc_fw_text_kind {
    SVC_FW_TEXT_NULL = 1,     /* null is NULL */
    SVC_FW_TEXT_REQUIRED = 2, /* must be there */
    SVC_FW_TEXT_FULL = 4,     /* not empty */
    SVC_FW_TEXT_NAME = 8      /* matches SVC_FW_NAME_RULE */
};
#define SVC_FW_NAME_RULE "^[A-Za-z0-9\\-._~]{1,256}$"
#define SVC_FW_NO_NAME "is not matched with naming convention regex [" SVC_FW_NAME_RULE "]"
void svc_fw_text(struct svc_fw_in *in, const struct svc_fw_at *up, const json_t *o, const char *key,
                 unsigned kind, size_t max, const char **ret);
/* A member that is an object; NULL: absent or wrong. `null`: null is as absent. */
json_t *svc_fw_object(struct svc_fw_in *in, const struct svc_fw_at *up, const json_t *o,
                      const char *key, bool required, bool null);
/* An object at a map's key; NULL: "Map value is null", a wrong type or a wrong name. */
json_t *svc_fw_map_value(struct svc_fw_in *in, const struct svc_fw_at *map, const char *key,
                         json_t *v);

#endif
