/* See fields.h. Names, types and what is required are those of Hadoop 3.4.2's
 * org.apache.hadoop.yarn.service.api.records. */
#include "service/definition/fields.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "common/edit-distance.h"
#include "service/definition/definition.h"

#define N(a) (sizeof(a) / sizeof *(a))
#define AT(type, field) .offset = offsetof(struct type, field)
#define LIST(type, field) AT(type, field), .n_offset = offsetof(struct type, n_##field)
#define RECORD(name, type, list)                                                                   \
    {                                                                                              \
        name, sizeof(struct type), list, N(list)                                                   \
    }
#define PART(name, list)                                                                           \
    {                                                                                              \
        name, 0, list, N(list)                                                                     \
    }

enum { NAME = SVC_NAME_MAX, WORD = 1024, LINE = 4096, COMMAND = 128 << 10 };

static const char *const artifact_types[] = { "", "TARBALL", "SERVICE", NULL };
static const char *const file_types[] = { "XML",        "PROPERTIES", "JSON",    "YAML", "TEMPLATE",
                                          "HADOOP_XML", "STATIC",     "ARCHIVE", NULL };
static const char *const visibilities[] = { "APPLICATION", "PRIVATE", "PUBLIC", NULL };
static const char *const readiness_types[] = { "", "DEFAULT", "HTTP", "PORT", NULL };
static const char *const restarts[] = { "ALWAYS", "ON_FAILURE", "NEVER", NULL };
static const char *const constraint_types[] = { "AFFINITY", "ANTI_AFFINITY",
                                                "AFFINITY_WITH_CARDINALITY", NULL };
static const char *const scopes[] = { "NODE", "RACK", NULL }; /* Hadoop's REST reads these alone */
static const char *const stored_scopes[] = { "node", "rack",
                                             NULL }; /* readers of its files these */
static_assert(N(artifact_types) == SVC_ARTIFACT_SERVICE + 2, "one name a type");
static_assert(N(file_types) == SVC_FILE_ARCHIVE + 2, "one name a type");
static_assert(N(visibilities) == SVC_PUBLIC + 2, "one name a visibility");
static_assert(N(readiness_types) == SVC_READY_PORT + 2, "one name a type");
static_assert(N(restarts) == SVC_RESTART_NEVER + 2, "one name a policy");
static_assert(N(constraint_types) == SVC_CARDINALITY + 2, "one name a type");
static_assert(N(scopes) == SVC_SCOPE_RACK + 2, "one name a scope");

static const struct svc_field artifact_fields[] = {
    { "id", SVC_TEXT, AT(svc_artifact, id), .required = true, .max = LINE,
      .text = "TARBALL: URL of an archive, which is unpacked into `lib/` of the work directory. "
              "SERVICE: name of a stored service of the same user, whose components are put in the "
              "place of this one." },
    { "type", SVC_ENUM, AT(svc_artifact, type), .required = true, .names = artifact_types,
      .text = "DOCKER, which is meant where Apache's definitions leave the type out, is refused: "
              "programs run in the node's sandbox." },
    { "uri", SVC_TEXT, AT(svc_artifact, uri), .max = LINE,
      .text = "Kept for Apache's readers, not used." },
};
static const struct svc_record artifact = RECORD("artifact", svc_artifact, artifact_fields);

/* Resource and resource types are in the object around them. */
#define IN_RESOURCE(field)                                                                         \
    (offsetof(struct svc_component, field) - offsetof(struct svc_component, resource))
static_assert(IN_RESOURCE(additional) == offsetof(struct svc_definition, additional) -
                                             offsetof(struct svc_definition, resource),
              "one layout in both");
static const struct svc_field resource_fields[] = {
    { "memory", SVC_INT_TEXT, AT(yarn_resource, memory_mb), .required = true, .min = 1,
      .max = INT32_MAX, .text = "MiB of one instance." },
    { "cpus", SVC_INT, AT(yarn_resource, vcores), .small = true, .always = true, .min = 1,
      .max = INT32_MAX, .absent = 1, .def = "1", .text = "Virtual cores of one instance." },
    { "additional", SVC_AMOUNTS, .offset = IN_RESOURCE(additional),
      .n_offset = IN_RESOURCE(n_additional), .max = SVC_AMOUNTS_MAX,
      .text = "Other resource types: `{\"yarn.io/gpu\": {\"value\": 1, \"unit\": \"\"}}`, in the "
              "units of "
              "`resource-types.xml`." },
    { "profile", SVC_REFUSED,
      .text = "resource profiles are not supported, in Hadoop neither: "
              "give memory and cpus" },
    { "uri", SVC_ANSWER, .text = "Not looked at." },
};
static const struct svc_record resource = PART("resource", resource_fields);

static const struct svc_field file_fields[] = {
    { "type", SVC_ENUM, AT(svc_file, type), .required = true, .names = file_types,
      .text = "Format of the file. HADOOP_XML and XML are the same; STATIC and ARCHIVE are "
              "`src_file` as it is, unpacked by the node in the case of ARCHIVE." },
    { "dest_file", SVC_TEXT, AT(svc_file, dest), .required = true, .max = 255,
      .text = "Name of the file below `conf/` of the work directory, of STATIC and ARCHIVE in the "
              "work directory itself; one name without directories. Tokens are replaced." },
    { "src_file", SVC_TEXT, AT(svc_file, src), .max = LINE,
      .text = "URL of a file to begin with: TEMPLATE, XML and HADOOP_XML; required by STATIC and "
              "ARCHIVE." },
    { "visibility", SVC_ENUM, AT(svc_file, visibility), .names = visibilities, .def = "APPLICATION",
      .text = "With whom nodes share the localized file." },
    { "properties", SVC_MAP, AT(svc_file, properties), .max = SVC_PAIRS_MAX,
      .text = "What the file says; tokens are replaced in values. `content` is the text of a "
              "TEMPLATE without `src_file`." },
};
static const struct svc_record file = RECORD("file", svc_file, file_fields);

static const struct svc_field configuration_fields[] = {
    { "properties", SVC_MAP, AT(svc_configuration, properties), .max = SVC_PAIRS_MAX,
      .text = "Properties that steer the master: see [below](#properties-that-steer-the-master); "
              "others are kept." },
    { "env", SVC_MAP, AT(svc_configuration, env), .max = SVC_PAIRS_MAX,
      .text = "Environment variables; tokens are replaced in values." },
    { "files", SVC_OBJECTS, LIST(svc_configuration, files), .max = SVC_FILES_MAX, .record = &file,
      .text = "Files that are written or localized before an instance starts." },
};
static const struct svc_record configuration =
    RECORD("configuration", svc_configuration, configuration_fields);

static const struct svc_field readiness_fields[] = {
    { "type", SVC_ENUM, AT(svc_readiness, type), .names = readiness_types, .def = "DEFAULT",
      .text = "DEFAULT: the container runs and has an address. PORT: it also accepts a connection. "
              "HTTP: it also answers a request." },
    { "properties", SVC_MAP, AT(svc_readiness, properties), .max = 64,
      .text = "See [below](#properties-of-a-readiness-check)." },
    { "artifact", SVC_REFUSED,
      .text = "helper containers of readiness checks are Docker images, "
              "which are not supported: use HTTP or PORT" },
};
static const struct svc_record readiness =
    RECORD("readiness check", svc_readiness, readiness_fields);

static const struct svc_field constraint_fields[] = {
    { "name", SVC_TEXT, AT(svc_constraint, name), .max = WORD, .text = "For people." },
    { "type", SVC_ENUM, AT(svc_constraint, type), .required = true, .names = constraint_types,
      .text =
          "AFFINITY: where an instance of the target runs. ANTI_AFFINITY: where none does. "
          "AFFINITY_WITH_CARDINALITY: where between `min_cardinality` and `max_cardinality` do." },
    { "scope", SVC_ENUM, AT(svc_constraint, scope), .required = true, .names = scopes,
      .stored_names = stored_scopes, .text = "What \"where\" means." },
    { "target_tags", SVC_NAMES, LIST(svc_constraint, target_tags), .max = SVC_NAMES_MAX,
      .text = "Names of components of this service, its own too. Required, but for AFFINITY and "
              "ANTI_AFFINITY with attributes or partitions." },
    { "node_attributes", SVC_LISTS, AT(svc_constraint, node_attributes), .max = 256,
      .text = "Attributes that the node must have: `{\"os\": [\"debian12\", \"debian13\"]}` is any "
              "of these values." },
    { "node_partitions", SVC_NAMES, LIST(svc_constraint, node_partitions), .max = 256,
      .text = "Node labels, any of these." },
    { "min_cardinality", SVC_INT, AT(svc_constraint, min_cardinality), .max = SVC_INSTANCES_MAX,
      .absent = -1, .text = "With AFFINITY_WITH_CARDINALITY." },
    { "max_cardinality", SVC_INT, AT(svc_constraint, max_cardinality), .max = SVC_INSTANCES_MAX,
      .absent = -1, .text = "With AFFINITY_WITH_CARDINALITY." },
};
static const struct svc_record constraint =
    RECORD("placement constraint", svc_constraint, constraint_fields);

static const struct svc_field placement_fields[] = {
    { "constraints", SVC_OBJECTS, LIST(svc_component, constraints), .required = true,
      .max = SVC_CONSTRAINTS_MAX, .record = &constraint,
      .text = "All must hold. As soon as one component has any, every container of the service is "
              "asked for by a scheduling request: the ResourceManager needs "
              "`yarn.resourcemanager.placement-constraints.handler`." },
};
static const struct svc_record placement = PART("placement policy", placement_fields);

static const struct svc_field component_fields[] = {
    { "name", SVC_TEXT, AT(svc_component, name), .required = true, .max = SVC_COMPONENT_NAME_MAX,
      .text = "`[a-z][a-z0-9-]*`, not the service's. Instances are `NAME-0`, `NAME-1`, …" },
    { "number_of_containers", SVC_INT, AT(svc_component, count), .required = true, .always = true,
      .max = SVC_INSTANCES_MAX, .absent = -1,
      .text = "Desired instances; 100,000 of all components together." },
    { "launch_command", SVC_TEXT, AT(svc_component, launch_command), .required = true,
      .max = COMMAND,
      .text =
          "Line of shell that an instance runs; tokens are replaced. It stays in the foreground." },
    { "artifact", SVC_OBJECT, AT(svc_component, artifact), .record = &artifact,
      .def = "the service's", .text = "What is unpacked into the work directory." },
    { "resource", SVC_OBJECT, AT(svc_component, resource), .record = &resource,
      .def = "the service's", .text = "Required here or in the service." },
    { "dependencies", SVC_NAMES, LIST(svc_component, dependencies), .max = SVC_NAMES_MAX,
      .text =
          "Names of components that must be ready before the first instance starts; no cycle." },
    { "readiness_check", SVC_OBJECT, AT(svc_component, readiness), .record = &readiness,
      .text = "When an instance is ready." },
    { "restart_policy", SVC_ENUM, AT(svc_component, restart), .names = restarts, .always = true,
      .def = "ALWAYS",
      .text = "Which instances that ended are started again: all, those that failed, none." },
    { "placement_policy", SVC_OBJECT, .offset = 0, .record = &placement,
      .text = "Where instances may run." },
    { "configuration", SVC_OBJECT, AT(svc_component, configuration), .record = &configuration,
      .text = "Added to the service's; what both say is the component's." },
    { "quicklinks", SVC_NAMES, LIST(svc_component, quicklinks), .max = SVC_NAMES_MAX,
      .text = "Keys of the service's quicklinks that this component serves." },
    { "decommissioned_instances", SVC_NAMES, LIST(svc_component, decommissioned),
      .max = SVC_INSTANCES_MAX,
      .text = "Names of instances that are never started again, as decommissioning writes them." },
    { "run_privileged_container", SVC_REFUSED,
      .text = "no container runs privileged, whoever asks: leave it out" },
    { "state", SVC_TEXT, AT(svc_component, state), .max = NAME,
      .text = "Part of answers; in the body of an update UPGRADING." },
    { "containers", SVC_ANSWER, .text = "The instances; not looked at." },
};
const struct svc_record svc_component_record = RECORD("component", svc_component, component_fields);

static const struct svc_field kerberos_fields[] = {
    { "principal_name", SVC_TEXT, AT(svc_definition, principal), .max = WORD,
      .text = "`NAME/_HOST@REALM`, with a host." },
    { "keytab", SVC_TEXT, AT(svc_definition, keytab), .max = LINE,
      .text = "`hdfs://…`: localized for the master; `file:///…`: on every node." },
};
static const struct svc_record kerberos = PART("kerberos principal", kerberos_fields);

static const struct svc_field definition_fields[] = {
    { "name", SVC_TEXT, AT(svc_definition, name), .required = true, .max = SVC_NAME_MAX,
      .text = "`[a-z][a-z0-9-]*`, one of its user." },
    { "version", SVC_TEXT, AT(svc_definition, version), .required = true, .max = 255,
      .text = "Any word; an upgrade needs another one. It names a directory: no `/` and no `:`." },
    { "description", SVC_TEXT, AT(svc_definition, description), .max = LINE,
      .text = "For people." },
    { "id", SVC_TEXT, AT(svc_definition, id), .max = WORD,
      .text = "Written by the server: the application of the service while it runs." },
    { "state", SVC_TEXT, AT(svc_definition, saved_state), .max = NAME,
      .text = "Part of answers; in the body of an update what to do: STOPPED, STARTED, "
              "UPGRADING, …" },
    { "queue", SVC_TEXT, AT(svc_definition, queue), .max = WORD, .def = "`yarn.service.queue`",
      .text = "Queue of the application." },
    { "lifetime", SVC_INT, AT(svc_definition, lifetime_s), .always = true, .min = -1,
      .max = INT32_MAX, .absent = -1, .def = "-1",
      .text = "Seconds after which the ResourceManager ends the service; -1 and 0: never." },
    { "artifact", SVC_OBJECT, AT(svc_definition, artifact), .record = &artifact,
      .text = "That of components without one; not of type SERVICE." },
    { "resource", SVC_OBJECT, AT(svc_definition, resource), .record = &resource,
      .text = "That of components without one." },
    { "components", SVC_OBJECTS, LIST(svc_definition, components), .required = true,
      .max = SVC_COMPONENTS_MAX, .record = &svc_component_record,
      .text = "What the service consists of." },
    { "configuration", SVC_OBJECT, AT(svc_definition, configuration), .record = &configuration,
      .text = "That of every component, which may add to it." },
    { "quicklinks", SVC_MAP, AT(svc_definition, quicklinks), .max = SVC_PAIRS_MAX,
      .text = "Names and URLs for people; tokens are replaced." },
    { "dependencies", SVC_NAMES, LIST(svc_definition, dependencies), .max = SVC_NAMES_MAX,
      .text = "Names of services of the same user that must be stable before this one starts." },
    { "kerberos_principal", SVC_OBJECT, .offset = 0, .record = &kerberos,
      .text = "Identity of the master in a secure cluster." },
    { "docker_client_config", SVC_REFUSED,
      .text = "Docker images are not supported: programs run in the node's sandbox" },
    { "launch_time", SVC_ANSWER, .text = "Not looked at." },
    { "number_of_running_containers", SVC_ANSWER, .text = "Not looked at." },
    { "uri", SVC_ANSWER, .text = "Not looked at." },
};
const struct svc_record svc_definition_record =
    RECORD("service", svc_definition, definition_fields);

const struct svc_field *svc_field_named(const struct svc_record *r, const char *name)
{
    for (size_t i = 0; i < r->n; i++)
        if (!strcmp(r->fields[i].name, name))
            return &r->fields[i];
    return NULL;
}

const char *svc_field_nearest(const struct svc_record *r, const char *word)
{
    size_t best = SIZE_MAX;
    const char *ret = NULL;

    for (size_t i = 0; i < r->n; i++) {
        size_t d = sv_edit_distance(word, r->fields[i].name);

        if (d < best) {
            best = d;
            ret = r->fields[i].name;
        }
    }
    return best <= 3 && best < strlen(word) ? ret : NULL;
}

static void set_default(const struct svc_field *f, char *at)
{
    switch (f->kind) {
    case SVC_TEXT:
        *(const char **)at = "";
        break;
    case SVC_INT:
    case SVC_INT_TEXT:
        if (f->small)
            *(int32_t *)at = (int32_t)f->absent;
        else
            *(int64_t *)at = f->absent;
        break;
    case SVC_ENUM:
        *(unsigned *)at = (unsigned)f->absent;
        break;
    case SVC_OBJECT:
        svc_record_defaults(f->record, at);
        break;
    default: /* lists and maps: empty, zeroed */
        break;
    }
}

void svc_record_defaults(const struct svc_record *r, void *o)
{
    for (size_t i = 0; i < r->n; i++)
        set_default(&r->fields[i], (char *)o + r->fields[i].offset);
}
