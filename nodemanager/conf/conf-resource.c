/* Keys of the node's resource: memory and virtual cores, set or detected, and the types of
 * resource-types.xml with their amounts in node-resources.xml. See conf-parts.h. Hadoop:
 * NodeManagerHardwareUtils, ResourceUtils. */
#include "nodemanager/conf/conf-parts.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/str.h"

#define NM "yarn.nodemanager."
#define AMOUNT NM "resource-type." /* and a type */
#define TYPES "yarn.resource-types"
#define MAX_MB ((int64_t)1 << 40)

enum { K_MEMORY, K_VCORES, K_DETECT, K_RESERVED, K_LOGICAL, K_MULTIPLIER, K_TYPES, K_COUNT };

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_MEMORY] = { NM "resource.memory-mb", SV_CONF_INT, "-1", -1, MAX_MB, .help = "Memory for containers; -1 = 8192, or the machine's part with detect-hardware-capabilities." },
    [K_VCORES] = { NM "resource.cpu-vcores", SV_CONF_INT, "-1", -1, INT32_MAX, .help = "Virtual cores for containers; -1 = 8, or the machine's part with detect-hardware-capabilities." },
    [K_DETECT] = { NM "resource.detect-hardware-capabilities", SV_CONF_BOOL, "false", .help = "Memory and virtual cores that are -1 follow from the machine, or from the cgroups around the daemon where they give less." },
    [K_RESERVED] = { NM "resource.system-reserved-memory-mb", SV_CONF_INT, "-1", -1, MAX_MB, .help = "Detected memory that containers do not get; -1 = a fifth, and before it 2000 MB for the daemons, as Hadoop's with a heap of 1000 MB." },
    [K_LOGICAL] = { NM "resource.count-logical-processors-as-cores", SV_CONF_BOOL, "false", .help = "Detected virtual cores count hyperthreads, not cores." },
    [K_MULTIPLIER] = { NM "resource.pcores-vcores-multiplier", SV_CONF_FLOAT, "1.0", .help = "Virtual cores of a detected core." },
    [K_TYPES] = { TYPES, SV_CONF_LIST, "", .help = "Types of resources beside memory and vcores, usually in resource-types.xml; yarn.resource-types.TYPE.units is a type's unit. The node's amount is yarn.nodemanager.resource-type.TYPE, usually in node-resources.xml: a number and a unit (p n u m k M G T P Ki Mi Gi Ti Pi)." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *nm_conf_resource_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

int nm_conf_resource_load(struct sv_conf *c, struct sv_error *err)
{
    static const char *const files[] = { "resource-types.xml", "node-resources.xml" };
    char path[PATH_MAX];
    int r = 0;

    for (size_t i = 0; r >= 0 && i < SV_ARRAY_LEN(files); i++) {
        int n = snprintf(path, sizeof(path), "%s/%s", sv_conf_dir(c), files[i]);

        if (n < 0 || (size_t)n >= sizeof(path))
            return sv_error_errno(err, -ENAMETOOLONG, "%s", files[i]);
        r = sv_conf_load_file(c, path, err);
        if (r == -ENOENT)
            r = 0;
    }
    return r;
}

/* ---- memory and virtual cores ---- */

static int detect_memory(struct nm_conf *c, struct sv_error *err)
{
    int64_t reserved;
    int r;

    NM_CONF_GET(sv_conf_int, K_RESERVED, &reserved);
    c->resource.memory_mb = nm_hardware_memory(&c->hardware, reserved);
    if (c->resource.memory_mb > 0)
        return 0;
    return sv_error_set(err, -EINVAL,
                        "%s: of the %lld MB of this %s none are left for containers; set it, or %s "
                        "to less",
                        keys[K_MEMORY].name, (long long)c->hardware.memory_mb,
                        c->hardware.confined ? "cgroup" : "machine", keys[K_RESERVED].name);
}

static int detect_vcores(struct nm_conf *c, struct sv_error *err)
{
    double multiplier;
    bool logical;
    int r;

    NM_CONF_GET(sv_conf_bool, K_LOGICAL, &logical);
    NM_CONF_GET(sv_conf_float, K_MULTIPLIER, &multiplier);
    if (!(multiplier > 0 && multiplier <= 1e6))
        return sv_error_set(err, -EINVAL, "%s: a number above 0, and at most a million, is needed",
                            keys[K_MULTIPLIER].name);
    c->resource.vcores = nm_hardware_vcores(&c->hardware, logical, c->cpu_percent, multiplier);
    return 0;
}

static int read_hardware(struct nm_conf *c, const struct nm_conf *known, struct sv_error *err)
{
    struct sv_error why = { 0 };
    int r = 0;

    if (known) /* a machine of a thousand processors has as many files */
        c->hardware = known->hardware;
    else
        r = nm_hardware_detect(c->cgroup_root, &c->hardware, &why);
    if (!c->detect_hardware || c->hardware.memory_mb)
        return 0; /* otherwise it is told to the ResourceManager alone, which does without it */
    return sv_error_set(err, r < 0 ? r : -ENODATA, "%s: %s", keys[K_DETECT].name,
                        r < 0 ? why.text : "the kernel did not tell at the start");
}

static int read_size(struct nm_conf *c, const struct nm_conf *known, struct sv_error *err)
{
    int64_t memory, vcores;
    int r;

    NM_CONF_GET(sv_conf_int, K_MEMORY, &memory);
    NM_CONF_GET(sv_conf_int, K_VCORES, &vcores);
    NM_CONF_GET(sv_conf_bool, K_DETECT, &c->detect_hardware);
    if (memory == 0 || vcores == 0)
        return sv_error_set(err, -EINVAL, "%s and %s must not be 0", keys[K_MEMORY].name,
                            keys[K_VCORES].name);
    c->resource.memory_mb = memory < 0 ? 8192 : memory;
    c->resource.vcores = vcores < 0 ? 8 : (int32_t)vcores;
    r = read_hardware(c, known, err);
    if (r < 0 || !c->detect_hardware)
        return r;
    r = memory < 0 ? detect_memory(c, err) : 0;
    return r >= 0 && vcores < 0 ? detect_vcores(c, err) : r;
}

/* ---- types ---- */

/* Hadoop's names: a letter, then letters, digits, "_", "." and "-"; in front of it perhaps a name
 * space and a slash. */
static bool name_ok(const char *name)
{
    const char *slash = strchr(name, '/'), *own = slash ? slash + 1 : name;

    for (const char *p = name; p < own - 1; p++)
        if (!isalnum((unsigned char)*p) && *p != '.' && *p != '-')
            return false;
    if (slash == name || !isalpha((unsigned char)*own) || strlen(name) >= YARN_TYPE_NAME_MAX)
        return false;
    for (const char *p = own; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("_.-", *p))
            return false;
    return true;
}

static bool is_builtin(const char *name)
{
    return sv_streq(name, "memory") || sv_streq(name, "memory-mb") || sv_streq(name, "vcores");
}

/* A property of a type: "" where it is not set. */
static int property(struct nm_conf *c, const char *name, const char *what, const char **ret)
{
    _cleanup_free_ char *key = NULL;
    int r = sv_asprintf(&key, TYPES ".%s.%s", name, what);

    if (r >= 0)
        *ret = sv_conf_raw(c->conf, key) ?: "";
    return r;
}

static int add_type(struct nm_conf *c, const char *name, struct sv_error *err)
{
    struct yarn_type *t = &c->types.types[c->types.n];
    const char *unit, *kind;
    int r = property(c, name, "units", &unit);

    if (r >= 0)
        r = property(c, name, "type", &kind);
    if (r < 0)
        return sv_error_errno(err, r, TYPES);
    if (!name_ok(name) || is_builtin(name))
        return sv_error_set(err, -EINVAL, TYPES ": \"%.80s\" cannot be a type's name", name);
    if (!yarn_unit_ok(unit) || (sv_streq(name, YARN_GPU) && *unit))
        return sv_error_set(err, -EINVAL, TYPES ".%s.units: \"%.20s\" is not a unit of it", name,
                            unit);
    if (*kind && !sv_streq(kind, "COUNTABLE"))
        return sv_error_set(err, -EINVAL, TYPES ".%s.type: \"%.20s\" is not COUNTABLE", name, kind);
    if (sv_streq(name, YARN_GPU)) /* counted by the plugin */
        return 0;
    if (yarn_types_index(&c->types, name) >= 0)
        return sv_error_set(err, -EINVAL, TYPES ": %s is there twice", name);
    if (c->types.n == YARN_TYPES_MAX)
        return sv_error_set(err, -E2BIG, TYPES ": %s: at most %d types are supported", name,
                            YARN_TYPES_MAX);
    (void)snprintf(t->name, sizeof(t->name), "%s", name);
    (void)snprintf(t->unit, sizeof(t->unit), "%s", unit);
    c->types.n++;
    return 0;
}

/* "5Gi" in the type's unit. -EDOM: it is a part of one. */
static int parse_amount(const char *text, const struct yarn_type *t, int64_t *ret)
{
    const size_t digits = strspn(text, "0123456789");
    _cleanup_free_ char *number = strndup(text, digits);
    int64_t value;
    int r;

    if (!number)
        return -ENOMEM;
    if (sv_parse_i64(number, 0, INT64_MAX, &value) < 0)
        return -EINVAL;
    r = yarn_unit_convert(value, text + digits, t->unit, ret);
    return r >= 0 && value > 0 && *ret == 0 ? -EDOM : r;
}

struct amounts {
    struct nm_conf *c;
    struct sv_error *err;
};

static int refuse(const struct amounts *a, const char *key, int r, const char *why)
{
    char at[512];

    sv_conf_origin(a->c->conf, &(struct sv_conf_key){ .name = key }, at, sizeof(at));
    return sv_error_set(a->err, r, "%s: %s", at, why);
}

static int on_key(const char *key, const char *value, void *userdata)
{
    const struct amounts *a = userdata;
    const char *name = key + strlen(AMOUNT);
    int k, r;

    if (!sv_has_prefix(key, AMOUNT))
        return 0;
    if (is_builtin(name))
        return refuse(a, key, -EINVAL,
                      "memory and vcores are set by yarn.nodemanager.resource.memory-mb and "
                      "….cpu-vcores");
    if (sv_streq(name, YARN_GPU)) {
        if (a->c->gpus)
            return 0; /* the devices that are there count */
        return refuse(a, key, -EOPNOTSUPP,
                      "GPUs are counted where yarn.nodemanager.resource-plugins has yarn.io/gpu; "
                      "set that, or take the key away");
    }
    k = yarn_types_index(&a->c->types, name);
    if (k < 0)
        return refuse(a, key, -EINVAL,
                      "the type is not in yarn.resource-types (resource-types.xml)");
    r = parse_amount(value ? value : "", &a->c->types.types[k], &a->c->resource.extra[k]);
    if (r == -EINVAL)
        return refuse(a, key, r,
                      "a number and a unit are needed, such as 5, 10G or 2Ti: p n u m k M G T P Ki "
                      "Mi Gi Ti Pi");
    if (r == -EDOM)
        return refuse(a, key, -EINVAL,
                      "less than one of the type's unit (yarn.resource-types.TYPE.units); a number "
                      "alone has no unit");
    return r < 0 ? refuse(a, key, -EINVAL, "too large in the type's unit") : 0;
}

int nm_conf_resource_read(struct nm_conf *c, const struct nm_conf *known, struct sv_error *err)
{
    _cleanup_strv_ char **names = NULL;
    int r = read_size(c, known, err);

    if (r < 0)
        return r;
    NM_CONF_GET(sv_conf_list, K_TYPES, &names);
    for (char **n = names; r >= 0 && n && *n; n++)
        r = add_type(c, *n, err);
    return r < 0 ? r : sv_conf_each(c->conf, on_key, &(struct amounts){ c, err });
}
