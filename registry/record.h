/* A record of YARN's service registry: who serves what at which addresses, with attributes. As
 * JSON it is byte for byte what Hadoop's RegistryOperations stores of the same record (the order of
 * attributes is that of Java's HashMap). Hostile: JSON that others stored. */
#ifndef SELVEDGE_REGISTRY_RECORD_H
#define SELVEDGE_REGISTRY_RECORD_H

#include "common/arena.h"
#include "common/buf.h"
#include "common/error.h"

#define REG_RECORD_MAX ((size_t)256 << 10) /* bytes of JSON */
#define REG_LIST_MAX 256                   /* attributes; endpoints of a kind; their addresses */
#define REG_ADDRESS_FIELDS_MAX 16

/* Attributes of YARN. */
#define REG_YARN_ID "yarn:id"
#define REG_YARN_PERSISTENCE "yarn:persistence"
#define REG_YARN_IP "yarn:ip"
#define REG_YARN_HOSTNAME "yarn:hostname"
#define REG_YARN_COMPONENT "yarn:component"
/* Until somebody removes it; the end of the application, of its attempt, of the container in
 * yarn:id. */
#define REG_PERMANENT "permanent"
#define REG_APPLICATION "application"
#define REG_APPLICATION_ATTEMPT "application-attempt"
#define REG_CONTAINER "container"

/* Types of addresses, with the names of their fields, and protocols. */
#define REG_ADDRESS_URI "uri"
#define REG_URI "uri"
#define REG_ADDRESS_HOST_PORT "host/port"
#define REG_HOST "host"
#define REG_PORT "port"
#define REG_PROTOCOL_WEB "webui"
#define REG_PROTOCOL_REST "REST"
#define REG_PROTOCOL_IPC "hadoop/IPC"

struct reg_pair {
    const char *name, *value;
};
struct reg_address {
    const struct reg_pair *fields;
    size_t n;
};
struct reg_endpoint {
    const char *api, *address_type, *protocol;
    const struct reg_address *addresses;
    size_t n;
};
struct reg_record {
    const char *description;           /* NULL: none */
    const struct reg_pair *attributes; /* each name once, in the order in which they were set */
    size_t n_attributes;
    const struct reg_endpoint *external, *internal; /* for clients; within the application */
    size_t n_external, n_internal;
};

/* Bytes that are not UTF-8 become U+FFFD. -EMSGSIZE: more than the buffer's maximum. */
int reg_record_print(const struct reg_record *r, struct sv_buf *out) _must_use_;
/* Texts are the arena's. -ENODATA: no record, as a node that is only a folder; -EBADMSG: broken,
 * err says where. */
int reg_record_parse(const void *json, size_t len, struct sv_arena *a, struct reg_record *ret,
                     struct sv_error *err) _must_use_;

#endif
