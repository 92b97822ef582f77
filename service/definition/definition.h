/* The definition of a long-running service, as users of YARN's services API write it: components,
 * how many instances of each, resources, files, placement, restart and readiness. JSON in and out
 * in Apache's field names (3.4.2), so that either side can start what the other saved.
 *
 * A definition is hostile. All memory is the arena's; texts are UTF-8 and, where nothing else is
 * said, never NULL ("" = absent). */
#ifndef SELVEDGE_SERVICE_DEFINITION_DEFINITION_H
#define SELVEDGE_SERVICE_DEFINITION_DEFINITION_H

#include "common/arena.h"
#include "common/error.h"
#include "wire/ids.h"

#define SVC_JSON_MAX ((size_t)4 << 20) /* bytes of a definition */
#define SVC_COMPONENTS_MAX 256
#define SVC_INSTANCES_MAX 100000 /* of all components together */
#define SVC_PAIRS_MAX 4096       /* of one map */
#define SVC_NAMES_MAX 1024       /* of one list of names, as dependencies */
#define SVC_FILES_MAX 256        /* of one configuration */
#define SVC_CONSTRAINTS_MAX 64   /* of one component */
#define SVC_AMOUNTS_MAX 32       /* resource types of one resource */
#define SVC_NAME_MAX 63          /* bytes of a service's name: a DNS label */
/* An instance's name, "<component>-<number>", is a DNS label too: 19 digits, as Apache reserves. */
#define SVC_COMPONENT_NAME_MAX (SVC_NAME_MAX - 19)
#define SVC_TEXT_MAX ((size_t)256 << 10) /* bytes of one text, as a template */

struct svc_pair {
    const char *name, *value;
};
struct svc_map { /* sorted by name, each name once */
    struct svc_pair *pairs;
    size_t n;
};

enum svc_artifact_type { SVC_ARTIFACT_NONE, SVC_ARTIFACT_TARBALL, SVC_ARTIFACT_SERVICE };
struct svc_artifact { /* DOCKER is refused in words */
    enum svc_artifact_type type;
    const char *id;  /* TARBALL: url of the archive; SERVICE: name of the service */
    const char *uri; /* kept for Apache's readers, not used */
};

/* A resource type beside memory and cpus ("resource.additional"). Those that this process knows,
 * yarn.io/gpu and the types of yarn_types(), are in struct yarn_resource too, in their type's unit.
 */
struct svc_amount {
    const char *name, *unit; /* unit "" = none */
    int64_t value;
};

enum svc_file_type {
    SVC_FILE_XML, /* the same as HADOOP_XML */
    SVC_FILE_PROPERTIES,
    SVC_FILE_JSON,
    SVC_FILE_YAML,
    SVC_FILE_TEMPLATE,
    SVC_FILE_HADOOP_XML,
    SVC_FILE_STATIC,  /* src_file as it is */
    SVC_FILE_ARCHIVE, /* src_file, unpacked by the node */
};
enum svc_visibility { SVC_APPLICATION, SVC_PRIVATE, SVC_PUBLIC };
struct svc_file {
    enum svc_file_type type;
    enum svc_visibility visibility;
    const char *dest; /* one name, below conf/ (STATIC, ARCHIVE: in the work directory) */
    const char *src;  /* url; "" = from the properties alone */
    struct svc_map properties;
};
struct svc_configuration {
    struct svc_map properties, env;
    struct svc_file *files;
    size_t n_files;
};

/* NONE: no readiness_check was given; a DEFAULT one is done unless service-keys.h disables that. */
enum svc_readiness_type { SVC_READY_NONE, SVC_READY_DEFAULT, SVC_READY_HTTP, SVC_READY_PORT };
struct svc_readiness {
    enum svc_readiness_type type;
    struct svc_map properties; /* "url", "port", "timeout", "min.success", "max.success", … */
};

enum svc_restart { SVC_RESTART_ALWAYS, SVC_RESTART_ON_FAILURE, SVC_RESTART_NEVER };

enum svc_constraint_type { SVC_AFFINITY, SVC_ANTI_AFFINITY, SVC_CARDINALITY };
enum svc_scope { SVC_SCOPE_NODE, SVC_SCOPE_RACK };
struct svc_constraint {
    const char *name;
    enum svc_constraint_type type;
    enum svc_scope scope;
    const char **target_tags; /* names of components, its own too */
    size_t n_target_tags;
    struct svc_map node_attributes; /* a value is "a,b,c": any of these */
    const char **node_partitions;
    size_t n_node_partitions;
    int64_t min_cardinality, max_cardinality; /* -1 = absent */
};

struct svc_component {
    const char *name;
    const char **dependencies; /* names of components that must be ready first */
    size_t n_dependencies;
    struct svc_readiness readiness;
    struct svc_artifact artifact; /* NONE: the service's */
    const char *launch_command;
    struct yarn_resource resource; /* memory_mb 0: the service's */
    struct svc_amount *additional;
    size_t n_additional;
    int64_t count; /* number_of_containers, >= 0; -1 = absent, after svc_definition_read() alone */
    struct svc_constraint *constraints;
    size_t n_constraints;
    struct svc_configuration configuration; /* merged with the service's by svc_resolve() alone */
    enum svc_restart restart;
    const char **decommissioned; /* names of instances */
    size_t n_decommissioned;
    const char **quicklinks; /* keys of the service's quicklinks */
    size_t n_quicklinks;
    const char *state; /* of a request's body or of a stored file; "" = none */
};

struct svc_definition {
    const char *name, *version, *description, *id; /* id: application_…, once it was started */
    const char *queue;
    struct svc_artifact artifact;
    struct yarn_resource resource; /* of components without one */
    struct svc_amount *additional;
    size_t n_additional;
    int64_t lifetime_s; /* -1 = unlimited */
    struct svc_component *components;
    size_t n_components;
    struct svc_configuration configuration;
    struct svc_map quicklinks;
    const char **dependencies; /* names of services */
    size_t n_dependencies;
    const char *principal, *keytab; /* kerberos_principal */
    const char *saved_state;        /* of the stored file: "STOPPED", …; "" = none */
};

enum svc_dialect {
    SVC_STRICT, /* unknown keys are errors */
    SVC_HADOOP, /* unknown keys are ignored, as by Apache's */
};

/* Reads and checks a definition. -EINVAL: err says path, value and rule
 * ("components[1].readiness_check.type: "FOO": one of DEFAULT, HTTP, PORT"). -EFBIG: too long. */
int svc_definition_parse(const char *json, size_t len, enum svc_dialect dialect, struct sv_arena *a,
                         struct svc_definition **ret, struct sv_error *err) _must_use_;
/* Reads without the rules about what must be there and agree, for the body of an update
 * ({"state": "STOPPED"}, {"components": [{"name": "web", "number_of_containers": 3}]}). */
int svc_definition_read(const char *json, size_t len, enum svc_dialect dialect, struct sv_arena *a,
                        struct svc_definition **ret, struct sv_error *err) _must_use_;
/* The body of an update of one component. */
int svc_component_read(const char *json, size_t len, enum svc_dialect dialect, struct sv_arena *a,
                       struct svc_component *ret, struct sv_error *err) _must_use_;
/* The rules alone. -EINVAL as above. While a component is of type SERVICE, what could refer to a
 * component of that service is left to svc_definition_expand(). */
int svc_definition_check(const struct svc_definition *d, struct sv_error *err) _must_use_;
/* Apache's JSON of it, which svc_definition_parse() reads back into the same; malloc'd. -EFBIG: a
 * resolved definition can be longer than SVC_JSON_MAX, and could not be read again. */
int svc_definition_print(const struct svc_definition *d, char **ret) _must_use_;

/* Loads the stored definition of a service of the same user into the arena. */
typedef int svc_load_fn(void *arg, const char *service, struct sv_arena *a,
                        const struct svc_definition **ret, struct sv_error *err);
/* Replaces each component of type SERVICE by the components of that service and checks the whole;
 * one of the same name in `d` without an artifact overrides parts of what comes. */
int svc_definition_expand(struct svc_definition *d, svc_load_fn *load, void *arg,
                          struct sv_arena *a, struct sv_error *err) _must_use_;
/* Writes what components inherit of the service into each: artifact, resource, configuration
 * (a component's own value wins); checks the result. Idempotent. Apache's masters read what is
 * stored without resolving it, so that a definition is expanded and resolved before. */
int svc_definition_resolve(struct svc_definition *d, struct sv_arena *a, struct sv_error *err)
    _must_use_;
/* [a-z][a-z0-9-]*, at most 63 bytes (a name is part of DNS names). */
bool svc_name_valid(const char *name);
const struct svc_component *svc_component_named(const struct svc_definition *d, const char *name);
/* The value, or NULL. */
const char *svc_map_get(const struct svc_map *m, const char *name);

#endif
