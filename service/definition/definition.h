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
#define SVC_FILES_MAX 256        /* of one configuration */
#define SVC_CONSTRAINTS_MAX 64   /* of one component */

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
    const char *id; /* TARBALL: url of the archive; SERVICE: name of the service */
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
struct svc_file {
    enum svc_file_type type;
    const char *dest; /* below the work directory, or an absolute path of a container's mount */
    const char *src;  /* url; "" = from the properties alone */
    struct svc_map properties;
};
struct svc_configuration {
    struct svc_map properties, env;
    struct svc_file *files;
    size_t n_files;
};

enum svc_readiness_type { SVC_READY_DEFAULT, SVC_READY_HTTP, SVC_READY_PORT, SVC_READY_NONE };
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
    const char **target_tags; /* names of components */
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
    struct yarn_resource resource;
    int64_t count; /* number_of_containers, >= 0 */
    struct svc_constraint *constraints;
    size_t n_constraints;
    struct svc_configuration configuration; /* merged with the service's by svc_resolve() alone */
    enum svc_restart restart;
    const char **decommissioned; /* names of instances */
    size_t n_decommissioned;
};

struct svc_definition {
    const char *name, *version, *description, *id; /* id: application_…, once it was started */
    const char *queue;
    struct svc_artifact artifact;
    struct yarn_resource resource; /* of components without one */
    int64_t lifetime_s;            /* -1 = unlimited */
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
/* Apache's JSON of it, which svc_definition_parse() reads back into the same; malloc'd. */
int svc_definition_print(const struct svc_definition *d, char **ret) _must_use_;
/* Writes what components inherit of the service into each: artifact, resource, configuration
 * (a component's own value wins). Idempotent; for the master, never before it is stored. */
int svc_definition_resolve(struct svc_definition *d, struct sv_arena *a, struct sv_error *err)
    _must_use_;
/* [a-z][a-z0-9-]*, at most 63 bytes (a name is part of DNS names). */
bool svc_name_valid(const char *name);
const struct svc_component *svc_component_named(const struct svc_definition *d, const char *name);
/* The value, or NULL. */
const char *svc_map_get(const struct svc_map *m, const char *name);

#endif
