/* Hadoop configuration: XML files with <property><name/><value/><final/></property>.
 *
 * Parsed by expat without DTD, entities, XInclude or network, with depth and size limits
 * (CVE-2017-15713). Later files override earlier ones except <final> keys; ${var} and ${env.X},
 * ${env.X-default}, ${env.X:-default} are expanded on read (20 levels at most, as Hadoop's
 * Configuration). An error names file, line, key and the expected format. */
#ifndef SELVEDGE_COMMON_CONF_H
#define SELVEDGE_COMMON_CONF_H

#include "common/base.h"
#include "common/error.h"

struct sv_conf;

/* One row per key: drives reading, --print-config and the manual. */
enum sv_conf_type {
    SV_CONF_STRING,
    SV_CONF_BOOL,
    SV_CONF_INT, /* decimal */
    SV_CONF_FLOAT,
    SV_CONF_DURATION, /* stored in milliseconds; a plain number has the row's plain_unit_ms */
    SV_CONF_SIZE,     /* stored in bytes */
    SV_CONF_LIST,     /* comma-separated */
    SV_CONF_ADDRESS,  /* host:port; a missing port comes from the default */
};

struct sv_conf_key {
    const char *name; /* "yarn.nodemanager.address" */
    enum sv_conf_type type;
    const char *def;       /* default as text (may hold ${…}); NULL = unset */
    int64_t min, max;      /* for numbers and durations; both 0 = no range */
    int64_t plain_unit_ms; /* SV_CONF_DURATION */
    const char *help;      /* one line */
};

struct sv_conf *sv_conf_new(void);
struct sv_conf *sv_conf_free(struct sv_conf *c);
static inline void sv_conf_freep(struct sv_conf **c)
{
    *c = sv_conf_free(*c);
}
/* -ENOENT: no such file. */
int sv_conf_load_file(struct sv_conf *c, const char *path, struct sv_error *err) _must_use_;
int sv_conf_load_string(struct sv_conf *c, const char *xml, size_t len, const char *name,
                        struct sv_error *err) _must_use_;
/* Loads core-site.xml and yarn-site.xml (either may be missing) of `dir`, else of $HADOOP_CONF_DIR,
 * else of /etc/hadoop/conf. sv_conf_dir returns the directory that was used. */
int sv_conf_load_hadoop(struct sv_conf *c, const char *dir, struct sv_error *err) _must_use_;
const char *sv_conf_dir(const struct sv_conf *c);
/* Replaces the value of the files loaded so far. */
int sv_conf_set(struct sv_conf *c, const char *name, const char *value) _must_use_;
/* -D KEY=VALUE of a command line: overrides all files, including those loaded later. */
int sv_conf_override(struct sv_conf *c, const char *name, const char *value) _must_use_;
/* Copies the overrides of `from` to `c`, which is being reloaded from the files. */
int sv_conf_copy_overrides(struct sv_conf *c, const struct sv_conf *from) _must_use_;

/* Expanded text of any key (also without a row), or NULL. Owned by the configuration. */
const char *sv_conf_raw(struct sv_conf *c, const char *name);
/* Typed reads. On a bad value: -EINVAL and an error that names the file and line that set it. */
int sv_conf_string(struct sv_conf *c, const struct sv_conf_key *k, const char **ret,
                   struct sv_error *err) _must_use_; /* NULL when unset */
/* As sv_conf_string(), with the blanks around the text: a list of groups alone begins with one. */
int sv_conf_text(struct sv_conf *c, const struct sv_conf_key *k, const char **ret,
                 struct sv_error *err) _must_use_;
/* Returns the index of the value among n names; a name may be NULL. */
int sv_conf_choice(struct sv_conf *c, const struct sv_conf_key *k, const char *const *names,
                   size_t n, size_t *ret, struct sv_error *err) _must_use_;
int sv_conf_bool(struct sv_conf *c, const struct sv_conf_key *k, bool *ret, struct sv_error *err)
    _must_use_;
int sv_conf_int(struct sv_conf *c, const struct sv_conf_key *k, int64_t *ret, struct sv_error *err)
    _must_use_;
int sv_conf_float(struct sv_conf *c, const struct sv_conf_key *k, double *ret, struct sv_error *err)
    _must_use_;
int sv_conf_duration_ms(struct sv_conf *c, const struct sv_conf_key *k, int64_t *ret,
                        struct sv_error *err) _must_use_;
int sv_conf_size(struct sv_conf *c, const struct sv_conf_key *k, uint64_t *ret,
                 struct sv_error *err) _must_use_;
int sv_conf_list(struct sv_conf *c, const struct sv_conf_key *k, char ***ret, struct sv_error *err)
    _must_use_; /* malloc'd strv */
/* Formats the source of a key's value for messages: "/etc/hadoop/conf/core-site.xml:12: key". */
void sv_conf_origin(const struct sv_conf *c, const struct sv_conf_key *k, char *dst, size_t size);
/* Splits host and port; ret_host is owned by the configuration. Port 0 = any. */
int sv_conf_address(struct sv_conf *c, const struct sv_conf_key *k, const char **ret_host,
                    uint16_t *ret_port, struct sv_error *err) _must_use_;
/* Calls fn for each key that is set in a file or by sv_conf_set, sorted by name. */
int sv_conf_each(struct sv_conf *c, int (*fn)(const char *name, const char *value, void *userdata),
                 void *userdata) _must_use_;

#endif
