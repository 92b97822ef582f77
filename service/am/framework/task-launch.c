/* See task-launch.h. Variables have the names of the launcher's code and of its manual, where they
 * differ (TASK_ROLE_NAME, TASKROLE_NAME). */
#include "service/am/framework/task-launch.h"

#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "wire/container-variables.h"

#define STREAMS " 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr"
#define EXIT_TRANSIENT 193
#define EXIT_NON_TRANSIENT 194

/* ---- Shared text ---- */

struct svc_shared_text *svc_shared_text_new(const char *text, size_t len)
{
    struct svc_shared_text *t = malloc(sizeof(*t) + len + 1);

    if (!t)
        return NULL;
    t->users = 1;
    t->len = len;
    memcpy(t->text, text, len);
    t->text[len] = '\0';
    return t;
}

struct svc_shared_text *svc_shared_text_ref(struct svc_shared_text *t)
{
    if (t)
        (void)__atomic_add_fetch(&t->users, 1, __ATOMIC_ACQ_REL);
    return t;
}

struct svc_shared_text *svc_shared_text_unref(struct svc_shared_text *t)
{
    if (t && __atomic_sub_fetch(&t->users, 1, __ATOMIC_ACQ_REL) == 0)
        free(t);
    return NULL;
}

/* ---- Command ---- */

/* The mask of the cards that the node assigned, which is not known before the container starts: a
 * node that does not tell their numbers leaves the variable unset. One of ours gives the cards of
 * YARN_VARIABLE_GPUS or none; what others give is compared here. The node puts the line between
 * double quotes. */
#define MASK                                                                                       \
    "if [ \\${" YARN_VARIABLE_GIVEN_GPUS                                                           \
    ":-} ]; then CONTAINER_GPUS=0; for i in \\${" YARN_VARIABLE_GIVEN_GPUS                         \
    "//,/ }; do CONTAINER_GPUS=\\$((CONTAINER_GPUS|1<<i)); done; export CONTAINER_GPUS; fi; "
#define NOT_TOLD                                                                                   \
    "if [ ! \\${CONTAINER_GPUS:-} ]; then echo this node does not tell the numbers of its GPUs, "  \
    "which gpuAttribute asks for 1>><LOG_DIR>/stderr; exit %d; fi; "
#define OTHERS                                                                                     \
    "if [ \\$CONTAINER_GPUS != %" PRId64 " ]; then echo GPUs \\$CONTAINER_GPUS were assigned, "    \
    "gpuAttribute asks for %" PRId64 " 1>><LOG_DIR>/stderr; exit %d; fi; "

const char *svc_task_command(const struct svc_fw_role *role, struct sv_arena *a)
{
    const int64_t mask = role->resource.gpu_mask;
    const char *line = "";

    if (role->resource.gpus > 0)
        line = MASK;
    if (role->resource.gpus > 0 && mask)
        line = sv_arena_printf(a, MASK NOT_TOLD OTHERS, EXIT_NON_TRANSIENT, mask, mask,
                               EXIT_TRANSIENT);
    return line ? sv_arena_printf(a, "%s%s" STREAMS, line, role->entry_point) : NULL;
}

/* ---- Environment ---- */

#define ENV_MAX 24

struct building {
    const struct svc_task_launch_request *q;
    struct svc_files *files;
    struct sv_arena *a;
    struct cli_env *env;
    size_t n_env;
    struct cli_resource *resources;
    size_t n_resources;
    bool full; /* no memory */
};

static void add(struct building *b, const char *name, const char *value)
{
    if (value)
        b->env[b->n_env++] = (struct cli_env){ name, value };
    else
        b->full = true;
}

static void add_number(struct building *b, const char *name, int64_t n)
{
    add(b, name, sv_arena_printf(b->a, "%" PRId64, n));
}

/* The places of a mask's bits: "0,2". */
static const char *places(struct sv_arena *a, uint64_t mask)
{
    const char *list = "";

    for (; list && mask; mask &= mask - 1)
        list = sv_arena_printf(a, "%s%s%d", list, *list ? "," : "", __builtin_ctzll(mask));
    return list;
}

/* "DIRECTORY/NAME" without NAME. */
static const char *parent(struct sv_arena *a, const char *url)
{
    const char *slash = strrchr(url, '/');

    return sv_arena_printf(a, "%.*s", slash ? (int)(slash - url) : 0, url);
}

static const char *below(const struct building *b, const char *name)
{
    return sv_arena_printf(b->a, "%s/%s", svc_files_url(b->files), name);
}

static int environment(struct building *b, const char *ip)
{
    const struct svc_task_launch_request *q = b->q;

    b->env = sv_newn(b->a, struct cli_env, ENV_MAX);
    if (!b->env)
        return -ENOMEM;
    add(b, "LAUNCHER_LOG_DIR", "<LOG_DIR>");
    add(b, "LAUNCHER_ADDRESS", q->launcher);
    add(b, "HADOOP_USER_NAME", q->user);
    add(b, "FRAMEWORK_NAME", q->framework);
    add_number(b, "FRAMEWORK_VERSION", q->version);
    add(b, "TASK_ROLE_NAME", q->role->name);
    add(b, "TASKROLE_NAME", q->role->name);
    add_number(b, "TASK_INDEX", q->index);
    add(b, "SERVICE_NAME", q->role->name);
    add_number(b, "SERVICE_VERSION", q->role->service_version);
    add(b, "AM_VERSION", "0");
    add(b, "APP_ID", q->application);
    add(b, "ATTEMPT_ID", q->attempt);
    add(b, "HDFS_ROOT_DIR", parent(b->a, svc_files_url(b->files)));
    add(b, "HDFS_USER_STORE_ROOT_DIR", below(b, "UserStore"));
    add(b, "HDFS_FRAMEWORK_INFO_FILE", below(b, SVC_TASK_INFO_FILE));
    add(b, "CONTAINER_PORTS", q->ports);
    if (*ip)
        add(b, "CONTAINER_IP", sv_arena_strdup(b->a, ip)); /* the caller's goes first */
    if (q->role->resource.gpus == 0)
        add(b, "CONTAINER_GPUS", "0");
    else if (q->role->resource.gpu_mask)
        add(b, YARN_VARIABLE_GPUS, places(b->a, (uint64_t)q->role->resource.gpu_mask));
    if (*q->ports)
        add(b, YARN_VARIABLE_PORTS, q->ports);
    return b->full ? -ENOMEM : 0;
}

/* ---- Files ---- */

static const char *base_name(const char *url)
{
    size_t len = strlen(url);

    while (len > 0 && url[len - 1] == '/')
        len--;
    while (len > 0 && url[len - 1] != '/')
        len--;
    return url + len;
}

/* "hdfs:///a/b/" as "hdfs:///a/b". */
static const char *without_slash(struct sv_arena *a, const char *url)
{
    size_t len = strlen(url);

    while (len > 0 && url[len - 1] == '/')
        len--;
    return sv_arena_printf(a, "%.*s", (int)len, url);
}

static int add_source(struct building *b, const char *source, struct sv_error *err)
{
    struct cli_resource *to = &b->resources[b->n_resources];
    const char *url = without_slash(b->a, source);
    int r = url ? svc_files_location(b->files, url, b->a, to, err)
                : sv_error_errno(err, -ENOMEM, "source location");

    if (r < 0)
        return r;
    to->name = base_name(url);
    to->type = sv_has_suffix(url, ".zip") ? CLI_ARCHIVE : CLI_FILE;
    for (size_t i = 0; i < b->n_resources; i++)
        if (strcmp(b->resources[i].name, to->name) == 0)
            return sv_error_set(err, -EEXIST, "%s: a source location before has the name %s", url,
                                to->name);
    b->n_resources++;
    return 0;
}

static int resources(struct building *b, struct sv_error *err)
{
    const struct svc_fw_role *role = b->q->role;
    const struct svc_shared_text *t = b->q->addresses;
    int r = 0;

    b->resources = sv_newn(b->a, struct cli_resource, role->n_sources + 1);
    if (!b->resources)
        return sv_error_errno(err, -ENOMEM, "source locations");
    for (size_t i = 0; r == 0 && i < role->n_sources; i++)
        r = add_source(b, role->sources[i], err);
    if (r < 0 || !t)
        return r;
    r = svc_files_store(b->files, "tasks", SVC_TASK_ADDRESSES_FILE, t->text, t->len, b->a,
                        &b->resources[b->n_resources], err);
    if (r == 0)
        b->resources[b->n_resources++].name = SVC_TASK_ADDRESSES_FILE;
    return r;
}

/* ---- The whole ---- */

static void find_ip(const char *host, char ret[SVC_TASK_IP_MAX])
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *to = NULL;

    ret[0] = '\0';
    if (getaddrinfo(host, NULL, &hints, &to) != 0)
        return;
    if (getnameinfo(to->ai_addr, to->ai_addrlen, ret, SVC_TASK_IP_MAX, NULL, 0, NI_NUMERICHOST))
        ret[0] = '\0';
    freeaddrinfo(to);
}

int svc_task_launch_prepare(struct svc_files *files, const struct svc_task_launch_request *q,
                            struct sv_arena *a, struct cli_launch *ret,
                            char ret_ip[SVC_TASK_IP_MAX], struct sv_error *err)
{
    struct building b = { .q = q, .files = files, .a = a };
    const char *command = svc_task_command(q->role, a);
    char ip[SVC_TASK_IP_MAX];
    int r;

    find_ip(q->host, ip);
    r = command ? environment(&b, ip) : -ENOMEM;
    if (r < 0)
        return sv_error_errno(err, r, "launch of a task");
    r = resources(&b, err);
    if (r < 0)
        return r;
    *ret = (struct cli_launch){
        .resources = b.resources,
        .n_resources = b.n_resources,
        .env = b.env,
        .n_env = b.n_env,
        .command = command,
        .tokens = q->credentials,
        .tokens_len = q->credentials_len,
    };
    memcpy(ret_ip, ip, sizeof(ip));
    return 0;
}
